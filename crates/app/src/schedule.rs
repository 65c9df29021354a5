//! The nightly run as a line in the user's crontab, for machines on which neither the app nor the daemon
//! runs. Where one does as well, the night still runs once: the line says `--scheduled`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;
use skillopt_core::schedule::{Days, When};
use skillopt_store::Paths;
use skillopt_store::paths::{CONFIG_VARIABLE, DATA_VARIABLE};

use crate::context::App;
use crate::crontab;
use crate::doctor::{self, DoctorInput};
use crate::shell;
use crate::supervisor::Schedule;

/// The variables cron gives to a program, besides a short `PATH`.
const OF_CRON: [&str; 4] = ["HOME", "LOGNAME", "USER", "SHELL"];

/// What is scheduled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct ScheduleInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Only show the line.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub plan_only: bool,
    /// The program to start: the one that is running.
    pub program: PathBuf,
}

/// What is taken off the schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct UnscheduleInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Every project.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub all: bool,
}

/// The schedule after a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
    let rule = Schedule::of(&app.settings(Some(&project))?.settings)?;
    let times = fields(&rule.rule.when);
    let line = line(app, &input.program, Path::new(&project.root), &times)?;
    let marker = marker(Path::new(&project.root));
    if input.plan_only {
        // Where there is no cron, the line is still of use for another scheduler.
        let (crontab, unreadable) = match crontab::read() {
            Ok(text) => (text, None),
            Err(problem) => (String::new(), Some(problem.to_string())),
        };
        let mut warnings = tonight(app, &project.root).await?;
        warnings.extend(zone_warning(&rule));
        warnings.extend(unreadable);
        return Ok(Scheduled {
            changed: false,
            message: if crontab::ours(&crontab)
                .iter()
                .any(|entry| entry.ends_with(&marker))
            {
                "This line would take the place of the project's line in your crontab.".to_owned()
            } else {
                "This line would be added to your crontab.".to_owned()
            },
            line,
            entries: crontab::ours(&crontab),
            reference_entries: crontab::of_reference(&crontab),
            warnings,
        });
    }
    let before = crontab::read()?;
    let mut entries = crontab::ours(&before);
    let reference_entries = crontab::of_reference(&before);
    entries.retain(|entry| !entry.ends_with(&marker));
    entries.push(line.clone());
    let changed = crontab::write(&before, &entries)?;
    Ok(Scheduled {
        changed,
        message: match time_of(&line) {
            Some(time) if times.ends_with("* * *") => {
                format!("The night runs every day at {time}.")
            }
            Some(_) | None => format!("The night runs as cron reads \"{times}\"."),
        },
        line,
        entries,
        reference_entries,
        warnings: {
            let mut warnings = tonight(app, &project.root).await?;
            warnings.extend(zone_warning(&rule));
            warnings
        },
    })
}

/// The five fields of a crontab for the times of a rule.
fn fields(when: &When) -> String {
    match when {
        When::Daily { time, days } => {
            let list: Vec<String> = days
                .iter()
                .map(|day| day.to_monday_one_offset().to_string())
                .collect();
            let days = if *days == Days::ALL {
                "*".to_owned()
            } else {
                list.join(",")
            };
            format!("{} {} * * {days}", time.minute(), time.hour())
        }
        When::Cron(cron) => cron.fields().to_owned(),
    }
}

/// cron knows only the computer's time zone.
fn zone_warning(rule: &Schedule) -> Option<String> {
    let system = jiff::tz::TimeZone::system();
    (rule.zone != system).then(|| {
        "cron runs by the time zone of the computer, whatever schedule.time_zone says.".to_owned()
    })
}

/// What would fail tonight.
async fn tonight(app: &App, root: &str) -> Result<Vec<String>, Problem> {
    let input = DoctorInput {
        project: Some(PathBuf::from(root)),
        as_scheduled: true,
    };
    Ok(doctor::doctor(app, input).await?.warnings())
}

/// Removes the line of a project, or all lines of ours.
pub async fn unschedule(app: &App, input: UnscheduleInput) -> Result<Scheduled, Problem> {
    let before = crontab::read()?;
    let mut entries = crontab::ours(&before);
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
    let changed = removed > 0 && crontab::write(&before, &entries)?;
    Ok(Scheduled {
        changed,
        message: match removed {
            0 => "Nothing was scheduled here.".to_owned(),
            1 => "The line was removed.".to_owned(),
            n => format!("{n} lines were removed."),
        },
        line: String::new(),
        entries,
        reference_entries: crontab::of_reference(&before),
        warnings: Vec::new(),
    })
}

/// When the night of a project runs, as its line in the crontab says; `None` when it has none, or when
/// there is no crontab to be read.
pub(crate) fn time(project: &Path) -> Option<String> {
    times(&[project]).pop()?
}

/// The same for several projects, in their order.
pub(crate) fn times(projects: &[&Path]) -> Vec<Option<String>> {
    // Where there is no crontab to be read nothing is scheduled.
    let lines = crontab::read().map_or_else(|_| Vec::new(), |crontab| crontab::ours(&crontab));
    projects
        .iter()
        .map(|project| time_of(with_marker(&lines, project)?))
        .collect()
}

/// What keeps the line of a project from running its night, in one sentence; `None` when nothing does, or
/// when there is no line.
pub(crate) fn broken(project: &Path) -> Option<String> {
    let words = command_of(&line_of(project)?);
    let program = words.iter().find(|word| assigned(word).is_none())?;
    if !Path::new(program).is_file() {
        return Some(format!(
            "The line in your crontab cannot run: there is no program {program}."
        ));
    }
    // The shell opens the log before it starts anything.
    let log = words.iter().skip_while(|word| *word != ">>").nth(1)?;
    let folder = Path::new(log).parent()?;
    (!folder.is_dir()).then(|| {
        format!(
            "The line in your crontab cannot run: the folder of its log, {}, does not exist.",
            folder.display()
        )
    })
}

/// The line of a project; `None` when it has none, or when there is no crontab to be read.
fn line_of(project: &Path) -> Option<String> {
    let lines = crontab::ours(&crontab::read().ok()?);
    with_marker(&lines, project).cloned()
}

fn with_marker<'a>(lines: &'a [String], project: &Path) -> Option<&'a String> {
    let marker = marker(project);
    lines.iter().find(|line| line.ends_with(&marker))
}

/// `HH:MM` of a line for every day, else its five fields.
fn time_of(line: &str) -> Option<String> {
    let fields: Vec<&str> = line.split_whitespace().take(5).collect();
    let [minute, hour, day, month, weekday] = fields.as_slice() else {
        return None;
    };
    let time = minute.parse::<u32>().ok().zip(hour.parse::<u32>().ok());
    match time {
        Some((minute, hour)) if [*day, *month, *weekday] == ["*"; 3] => {
            Some(format!("{hour:02}:{minute:02}"))
        }
        Some(_) | None => Some(fields.join(" ")),
    }
}

fn marker(project: &Path) -> String {
    format!(
        "# project-sha256={}",
        sha256_hex(project.to_string_lossy().as_bytes())
    )
}

/// The cron line of a project. Every word is quoted where it has to be, and `%`, which cron turns into a line break, is
/// escaped.
fn line(app: &App, program: &Path, project: &Path, times: &str) -> Result<String, Problem> {
    let mut words = vec![
        quote(program)?,
        "sleep".into(),
        "run".into(),
        "--scheduled".into(),
        "--project".into(),
        quote(project)?,
    ];
    for (flag, value) in &app.flags {
        // The times are in the line already.
        if !["hour", "minute", "days", "cron"].contains(&flag.as_str()) {
            words.push(format!("--{flag}={}", quote(Path::new(value))?));
        }
    }
    let mut prefix = String::new();
    for (name, value) in assignments(app)? {
        prefix.push_str(&format!("{name}={} ", quote(Path::new(&value))?));
    }
    Ok(format!(
        "{times}  {prefix}{} >> {} 2>&1  {}",
        words.join(" "),
        quote(&app.paths.log())?,
        marker(project)
    ))
}

/// The environment of a program that cron starts, before the line sets anything.
fn of_cron(app: &App) -> BTreeMap<String, String> {
    let mut bare: BTreeMap<String, String> = app
        .environment
        .iter()
        .filter(|(name, _)| OF_CRON.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    bare.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    bare
}

/// What a line sets so that the night uses the folders of this shell. The data folder is only named
/// when it would be another one otherwise: `data move` must go on to take effect.
fn assignments(app: &App) -> Result<Vec<(String, String)>, Problem> {
    let text = |path: &Path| -> Result<String, Problem> {
        path.to_str()
            .map(str::to_owned)
            .ok_or_else(|| unusable(path))
    };
    let mut set = vec![(CONFIG_VARIABLE.to_owned(), text(&app.paths.config)?)];
    let mut bare = of_cron(app);
    bare.extend(set.iter().cloned());
    if Paths::from_env(&bare).map(|paths| paths.data).ok().as_ref() != Some(&app.paths.data) {
        set.push((DATA_VARIABLE.to_owned(), text(&app.paths.data)?));
    }
    Ok(set)
}

/// The environment the scheduled run of a project will have: with what its line in the crontab sets,
/// or would set if it has none.
pub(crate) fn environment(app: &App, root: &Path) -> Result<BTreeMap<String, String>, Problem> {
    let mut environment = of_cron(app);
    match line_of(root) {
        Some(line) => environment.extend(set_in(&line)),
        None => environment.extend(assignments(app)?),
    }
    Ok(environment)
}

/// The variables a line of ours sets: words of the form `NAME=value` after the five fields of time.
fn set_in(line: &str) -> Vec<(String, String)> {
    command_of(line)
        .iter()
        .map_while(|word| assigned(word))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The words of a line of ours after the five fields of time, as the shell reads them.
fn command_of(line: &str) -> Vec<String> {
    let mut rest = line;
    for _ in 0..5 {
        rest = rest.trim_start();
        rest = &rest[rest.find(' ').unwrap_or(rest.len())..];
    }
    shell::words(&rest.replace("\\%", "%")).collect()
}

/// Name and value of a word of the form `NAME=value`.
fn assigned(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.bytes().all(|c| c.is_ascii_uppercase() || c == b'_');
    is_name.then_some((name, value))
}

/// Takes the line of a folder out of the crontab; whether there was one.
pub(crate) fn forget(root: &Path) -> Result<bool, Problem> {
    let marker = marker(root);
    rewrite(|entry| (!entry.ends_with(&marker)).then_some(entry))
}

/// Lets the line of a folder run the night in the folder where the project is now; whether there was one.
pub(crate) fn follow(from: &Path, to: &Path) -> Result<bool, Problem> {
    let old = (format!("--project {}", quote(from)?), marker(from));
    let new = (format!("--project {}", quote(to)?), marker(to));
    rewrite(|entry| {
        Some(if entry.ends_with(&old.1) {
            entry.replacen(&old.0, &new.0, 1).replace(&old.1, &new.1)
        } else {
            entry
        })
    })
}

/// Lets the lines that use the data folder of `from` use that of `to`; whether there were any. Each names
/// the log in it, and some the folder itself.
pub(crate) fn follow_data(from: &Paths, to: &Paths) -> Result<bool, Problem> {
    let log = |paths: &Paths| -> Result<String, Problem> {
        Ok(format!(" >> {} 2>&1 ", quote(&paths.log())?))
    };
    let set = |paths: &Paths| -> Result<String, Problem> {
        Ok(format!(" {DATA_VARIABLE}={} ", quote(&paths.data)?))
    };
    let changes = [(log(from)?, log(to)?), (set(from)?, set(to)?)];
    rewrite(|entry| {
        Some(changes.iter().fold(entry, |entry, (old, new)| {
            entry.replacen(old.as_str(), new, 1)
        }))
    })
}

/// Changes our lines; whether that changed the crontab. Where there is no cron nothing is scheduled.
fn rewrite(change: impl Fn(String) -> Option<String>) -> Result<bool, Problem> {
    let before = match crontab::read() {
        Err(problem) if problem.code == "cron_unavailable" => return Ok(false),
        read => read?,
    };
    let entries: Vec<String> = crontab::ours(&before)
        .into_iter()
        .filter_map(change)
        .collect();
    crontab::write(&before, &entries)
}

/// One word of a POSIX shell inside a crontab.
fn quote(word: &Path) -> Result<String, Problem> {
    let text = word
        .to_str()
        .filter(|text| !text.chars().any(char::is_control))
        .ok_or_else(|| unusable(word))?;
    Ok(shell::word(text).replace('%', "\\%"))
}

fn unusable(path: &Path) -> Problem {
    Problem::refused(
        "schedule_path_unusable",
        format!(
            "{} has characters that cannot stand in a crontab.",
            path.to_string_lossy().escape_debug()
        ),
        "Rename the folder so that its path is plain text.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_read_from_a_line() {
        assert_eq!(time_of("7 3 * * *  x").as_deref(), Some("03:07"));
        assert_eq!(time_of("@daily x"), None);
    }

    #[test]
    fn words_are_quoted_for_shell_and_cron() {
        // Field notes 59 and 60: control characters and `%`.
        assert_eq!(
            quote(Path::new("/a b/50%/o'k")).unwrap(),
            "'/a b/50\\%/o'\\''k'"
        );
        let refused = quote(Path::new("/a\nb")).unwrap_err();
        assert_eq!(refused.code, "schedule_path_unusable");
        assert!(refused.refused, "as any other setting that cannot be used");
    }

    #[test]
    fn what_a_line_sets_is_read_back() {
        let odd = "/a b/50%/o'k";
        let line = format!(
            "17 3 * * *  A={} B=/plain '/bin/skillopt' sleep run --backend=x >> log",
            quote(Path::new(odd)).unwrap()
        );
        assert_eq!(
            set_in(&line),
            [
                ("A".to_owned(), odd.to_owned()),
                ("B".to_owned(), "/plain".to_owned())
            ]
        );
        assert_eq!(set_in("17 3 * * *"), []);
    }
}
