//! The nightly run as a line in the user's crontab, until the desktop has its own schedule.
//!
//! The reference took any failure of `crontab -l` for an empty crontab and wrote over it (§14 #1).
//! Here a crontab is only written when it could be read, or when cron says that there is none.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;

use crate::context::App;
use crate::doctor::{self, DoctorInput};

const BEGIN: &str = "# >>> skillopt (managed) >>>";
const END: &str = "# <<< skillopt (managed) <<<";
/// The block of the reference (§9.8): reported, never touched.
const REFERENCE_BEGIN: &str = "# >>> skillopt-sleep (managed) >>>";

/// What is scheduled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Only show the line.
    #[serde(default)]
    pub plan_only: bool,
    /// The program to start: the one that is running.
    pub program: PathBuf,
}

/// What is taken off the schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnscheduleInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Every project.
    #[serde(default)]
    pub all: bool,
}

/// The schedule after a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scheduled {
    /// Whether the crontab was changed.
    pub changed: bool,
    /// What happened, in one sentence.
    pub message: String,
    /// The line of this project; empty when it has none.
    pub line: String,
    /// Every line of ours that is there now.
    pub entries: Vec<String>,
    /// Lines of the reference system, which run its own nights.
    pub reference_entries: Vec<String>,
    /// What would fail tonight, as far as can be told now.
    pub warnings: Vec<String>,
}

/// Adds or replaces the line of a project.
pub async fn schedule(app: &App, input: ScheduleInput) -> Result<Scheduled, Problem> {
    let project = app.project(input.project.as_deref())?;
    let settings = app.settings(Some(&project))?.settings;
    let line = line(
        app,
        &input.program,
        Path::new(&project.root),
        settings.hour,
        settings.minute,
    )?;
    let marker = marker(Path::new(&project.root));
    let doctor_input = DoctorInput {
        project: Some(PathBuf::from(&project.root)),
        as_scheduled: true,
    };
    let warnings = doctor::doctor(app, doctor_input).await?.warnings();
    if input.plan_only {
        // Where there is no cron, the line is still of use for another scheduler.
        let crontab = read().unwrap_or_default();
        return Ok(Scheduled {
            changed: false,
            message: "This line would be added to your crontab.".to_owned(),
            line,
            entries: ours(&crontab),
            reference_entries: of_reference(&crontab),
            warnings,
        });
    }
    let before = read()?;
    let mut entries = ours(&before);
    let reference_entries = of_reference(&before);
    entries.retain(|entry| !entry.ends_with(&marker));
    entries.push(line.clone());
    let changed = write(&before, &entries)?;
    Ok(Scheduled {
        changed,
        message: format!(
            "The night runs every day at {:02}:{:02}.",
            settings.hour, settings.minute
        ),
        line,
        entries,
        reference_entries,
        warnings,
    })
}

/// Removes the line of a project, or all lines of ours.
pub async fn unschedule(app: &App, input: UnscheduleInput) -> Result<Scheduled, Problem> {
    let before = read()?;
    let mut entries = ours(&before);
    let count = entries.len();
    if input.all {
        entries.clear();
    } else {
        let folder = input
            .project
            .map_or_else(|| app.directory.clone(), |path| app.directory.join(path));
        let marker = marker(&folder.canonicalize().unwrap_or(folder));
        entries.retain(|entry| !entry.ends_with(&marker));
    }
    let removed = count - entries.len();
    let changed = removed > 0 && write(&before, &entries)?;
    Ok(Scheduled {
        changed,
        message: match removed {
            0 => "Nothing was scheduled here.".to_owned(),
            1 => "The line was removed.".to_owned(),
            n => format!("{n} lines were removed."),
        },
        line: String::new(),
        entries,
        reference_entries: of_reference(&before),
        warnings: Vec::new(),
    })
}

fn marker(project: &Path) -> String {
    format!(
        "# project-sha256={}",
        sha256_hex(project.to_string_lossy().as_bytes())
    )
}

/// The cron line of a project. Every word is quoted, and `%`, which cron turns into a line break, is
/// escaped.
fn line(
    app: &App,
    program: &Path,
    project: &Path,
    hour: u32,
    minute: u32,
) -> Result<String, Problem> {
    let log = app.paths.data.join("cron.log");
    let mut words = vec![
        quote(program)?,
        "sleep".into(),
        "run".into(),
        "--project".into(),
        quote(project)?,
    ];
    for (flag, value) in &app.flags {
        // The hour and the minute are in the line already.
        if flag != "hour" && flag != "minute" {
            words.push(format!("--{flag}={}", quote(Path::new(value))?));
        }
    }
    let mut prefix = String::new();
    for name in ["SKILLOPT_DATA_DIR", "SKILLOPT_CONFIG_DIR"] {
        if let Some(value) = app.environment.get(name) {
            prefix.push_str(&format!("{name}={} ", quote(Path::new(value))?));
        }
    }
    Ok(format!(
        "{minute} {hour} * * *  {prefix}{} >> {} 2>&1  {}",
        words.join(" "),
        quote(&log)?,
        marker(project)
    ))
}

/// One word of a POSIX shell inside a crontab.
fn quote(word: &Path) -> Result<String, Problem> {
    let text = word
        .to_str()
        .filter(|text| !text.chars().any(char::is_control))
        .ok_or_else(|| {
            Problem::permanent(
                "schedule_path_unusable",
                format!(
                    "{} has characters that cannot stand in a crontab.",
                    word.to_string_lossy().escape_debug()
                ),
                "Rename the folder so that its path is plain text.",
            )
        })?;
    Ok(format!("'{}'", text.replace('\'', "'\\''")).replace('%', "\\%"))
}

/// The user's crontab; empty only when cron says that there is none.
fn read() -> Result<String, Problem> {
    let output = Command::new("crontab")
        .arg("-l")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| unavailable(&error.to_string()))?;
    if output.status.success() {
        return String::from_utf8(output.stdout).map_err(|_| unreadable("it is not UTF-8 text"));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.to_lowercase().contains("no crontab for") {
        return Ok(String::new());
    }
    Err(unreadable(said.trim()))
}

fn unavailable(why: &str) -> Problem {
    Problem::permanent(
        "cron_unavailable",
        format!("The program crontab cannot be started: {why}."),
        "Install cron, or run `skillopt sleep run` from any other scheduler; --plan shows the line.",
    )
}

fn unreadable(why: &str) -> Problem {
    Problem::temporary(
        "crontab_unreadable",
        format!("Your crontab could not be read, so it was not touched: {why}."),
        "Try `crontab -l`; when it works, schedule again.",
    )
}

/// The lines between our markers.
fn ours(crontab: &str) -> Vec<String> {
    block(crontab, BEGIN, END)
}

fn of_reference(crontab: &str) -> Vec<String> {
    block(
        crontab,
        REFERENCE_BEGIN,
        "# <<< skillopt-sleep (managed) <<<",
    )
}

fn block(crontab: &str, begin: &str, end: &str) -> Vec<String> {
    crontab
        .lines()
        .skip_while(|line| line.trim() != begin)
        .skip(1)
        .take_while(|line| line.trim() != end)
        .map(str::to_owned)
        .collect()
}

/// Every byte outside our block stays.
fn replaced(crontab: &str, entries: &[String]) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in crontab.split_inclusive('\n') {
        match line.trim() {
            BEGIN => inside = true,
            END if inside => inside = false,
            _ if !inside => kept.push_str(line),
            _ => {}
        }
    }
    if entries.is_empty() {
        return kept;
    }
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    format!("{kept}{BEGIN}\n{}\n{END}\n", entries.join("\n"))
}

fn write(before: &str, entries: &[String]) -> Result<bool, Problem> {
    let after = replaced(before, entries);
    if after == before {
        return Ok(false);
    }
    let mut child = Command::new("crontab")
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| unavailable(&error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin
            .write_all(after.as_bytes())
            .map_err(|error| unavailable(&error.to_string()))?;
    }
    let output = child
        .wait_with_output()
        .map_err(|error| unavailable(&error.to_string()))?;
    if output.status.success() {
        return Ok(true);
    }
    Err(Problem::temporary(
        "crontab_unwritable",
        format!(
            "cron did not take the new crontab: {}.",
            String::from_utf8_lossy(&output.stderr).trim()
        ),
        "Your crontab is as it was.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lines_keep_every_byte_and_ours_come_and_go() {
        let user = "MAILTO=me\n\n\n0 1 * * * backup  \n";
        let with = replaced(user, &["17 3 * * *  x".to_owned()]);
        assert!(with.starts_with(user), "{with}");
        assert_eq!(ours(&with), ["17 3 * * *  x"]);
        assert_eq!(replaced(&with, &[]), user);
        let no_newline = "0 1 * * * backup";
        assert_eq!(
            replaced(&replaced(no_newline, &["a".into()]), &[]),
            "0 1 * * * backup\n"
        );
    }

    #[test]
    fn words_are_quoted_for_shell_and_cron() {
        // Field notes 59 and 60: control characters and `%`.
        assert_eq!(
            quote(Path::new("/a b/50%/o'k")).unwrap(),
            "'/a b/50\\%/o'\\''k'"
        );
        assert_eq!(
            quote(Path::new("/a\nb")).unwrap_err().code,
            "schedule_path_unusable"
        );
    }
}
