//! What helps others to help: versions, checks, settings, the last nights and the log, in one text without
//! secrets that its user reads before it goes anywhere.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::iter;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::redact::redact;
use skillopt_core::text::{counted, cut, one_line, plain};
use skillopt_settings::{Kind, Layer, ROWS, Resolved};
use skillopt_store::files::{self, Expected, NewFile};
use skillopt_store::nights;
use skillopt_store::projects::{self, Project};

use crate::Nothing;
use crate::context::App;
use crate::doctor::{self, DoctorInput, Health};
use crate::log::{self, LogInput};

/// Projects that are looked at closely.
const PROJECTS: usize = 5;
/// Nights of a project.
const NIGHTS: usize = 10;
/// Lines of the log.
const LINES: usize = 200;
/// The longest sentence of a night or a check, in characters.
const SENTENCE: usize = 600;
/// The shortest value of a variable that is looked for in the text.
const SHORTEST_SECRET: usize = 8;

/// The report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Report {
    /// All of it, as it would be written.
    pub text: String,
    /// How many marks of values that were taken out stand in it.
    pub redacted: usize,
}

/// Where the report is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ReportExportInput", optional_fields = nullable))]
pub struct ExportInput {
    /// The file; its folder must be there.
    pub to: PathBuf,
    /// Write over a file that is there.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub replace: bool,
}

/// A report that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "ReportExported")
)]
pub struct Exported {
    /// The file.
    pub file: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many marks of values that were taken out stand in it.
    pub redacted: usize,
}

/// Shows the report; nothing is written and nothing is sent.
///
/// Errors: those of the store.
pub async fn show(app: &App, _: Nothing) -> Result<Report, Problem> {
    let mut text = String::new();
    let projects: Vec<Project> = match app.unopened {
        Some(_) => Vec::new(),
        None => app.store.read(projects::list)?,
    };
    // Writing into a text cannot fail.
    let _ = head(app, &projects, &mut text);
    let _ = checks(app, &projects, &mut text).await;
    let _ = settings(app, &projects, &mut text);
    let _ = nights_of(app, &projects, &mut text);
    let _ = log_lines(app, &mut text).await;
    Ok(clean(app, &projects, &text))
}

/// Writes the report into one file, for its owner alone, whole or not at all.
///
/// Errors: `report_exists`, `report_folder_unusable`, and those of writing a file.
pub async fn export(app: &App, input: ExportInput) -> Result<Exported, Problem> {
    let to = app.directory.join(&input.to);
    let folder = to.parent().unwrap_or(Path::new("/"));
    let name = to.file_name().unwrap_or_default();
    // The folder may be reached by a link; the file itself may not be one.
    let file = folder
        .canonicalize()
        .map(|folder| folder.join(name))
        .map_err(|error| {
            Problem::refused(
                "report_folder_unusable",
                format!(
                    "The report cannot be written into {}: {error}.",
                    folder.display()
                ),
                "Name a file in a folder that is there.",
            )
        })?;
    let report = show(app, Nothing {}).await?;
    let bytes = report.text.as_bytes();
    if input.replace {
        files::atomic_replace(&file, bytes, NewFile::Private)?;
    } else {
        files::replace_pinned(&file, Expected::Absent, bytes, NewFile::Private).map_err(
            |problem| match &*problem.code {
                "file_changed" => Problem::refused(
                    "report_exists",
                    format!("{} is there already.", to.display()),
                    "Name another file, or say that this one may be replaced.",
                ),
                _ => problem,
            },
        )?;
    }
    Ok(Exported {
        file,
        bytes: bytes.len() as u64,
        redacted: report.redacted,
    })
}

fn head(app: &App, projects: &[Project], out: &mut String) -> std::fmt::Result {
    writeln!(out, "SkillOpt report")?;
    writeln!(out, "===============")?;
    writeln!(
        out,
        "\nSecrets were taken out, and your home folder is written ~. It holds names of projects and \
         folders, settings and sentences about nights, and no prompts, replies or documents. Read it before \
         you pass it on."
    )?;
    section("Versions and folders", out)?;
    writeln!(out, "SkillOpt {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(
        out,
        "{} on {}",
        std::env::consts::OS,
        std::env::consts::ARCH
    )?;
    writeln!(out, "made at {}", app.clock.now())?;
    writeln!(out, "data in {}", app.paths.data.display())?;
    writeln!(out, "settings in {}", app.paths.config.display())?;
    writeln!(out, "{}", counted(projects.len() as u64, "project"))
}

fn section(title: &str, out: &mut String) -> std::fmt::Result {
    let line = "-".repeat(title.len());
    writeln!(out, "\n{title}\n{line}")
}

fn sentence(text: &str) -> String {
    one_line(&cut(text, SENTENCE))
}

async fn checks(app: &App, projects: &[Project], out: &mut String) -> std::fmt::Result {
    section("Checks", out)?;
    if let Some(problem) = &app.unopened {
        writeln!(out, "BAD database: {} ({})", problem.message, problem.code)?;
    }
    for project in projects.iter().take(PROJECTS) {
        writeln!(out, "\n{} in {}", project.name, project.root)?;
        let input = DoctorInput {
            project: Some(PathBuf::from(&project.root)),
            as_scheduled: false,
        };
        match doctor::doctor(app, input).await {
            Err(problem) => writeln!(out, "BAD {} ({})", sentence(&problem.message), problem.code)?,
            Ok(diagnosis) => {
                for finding in &diagnosis.findings {
                    let mark = match finding.health {
                        Health::Good => "ok ",
                        Health::Warning => "!  ",
                        Health::Bad => "BAD",
                    };
                    writeln!(
                        out,
                        "{mark} {}: {}",
                        finding.about(),
                        sentence(&format!("{} {}", finding.message, finding.guidance))
                    )?;
                }
                writeln!(out, "tonight would {}", sentence(&diagnosis.tonight))?;
            }
        }
    }
    more(projects, out)
}

/// Says that not all projects are shown.
fn more(projects: &[Project], out: &mut String) -> std::fmt::Result {
    match projects.len().saturating_sub(PROJECTS) {
        0 => Ok(()),
        left => writeln!(out, "\nand {}", counted(left as u64, "more project")),
    }
}

fn settings(app: &App, projects: &[Project], out: &mut String) -> std::fmt::Result {
    section("Settings that are not the default", out)?;
    layers(app.settings(None), |_| true, out)?;
    for project in projects.iter().take(PROJECTS) {
        writeln!(out, "\nonly in {}", project.name)?;
        let own = |layer| matches!(layer, Layer::Project | Layer::Repository);
        layers(app.settings(Some(project)), own, out)?;
    }
    more(projects, out)
}

fn layers(
    resolved: Result<Resolved, Problem>,
    shown: impl Fn(Layer) -> bool,
    out: &mut String,
) -> std::fmt::Result {
    let resolved = match resolved {
        Ok(resolved) => resolved,
        Err(problem) => {
            return writeln!(out, "BAD {} ({})", sentence(&problem.message), problem.code);
        }
    };
    for row in ROWS {
        let layer = resolved.layer(row);
        if layer == Layer::Default || !shown(layer) {
            continue;
        }
        // What looks like a secret and is none stays its user's all the same.
        let value = match row.key {
            "privacy.false_alarms" => counted(resolved.settings.false_alarms.len() as u64, "text"),
            _ => sentence(&resolved.settings.get(row).to_string()),
        };
        writeln!(out, "{} = {value} ({})", row.key, layer.title())?;
    }
    for warning in &resolved.warnings {
        writeln!(out, "!   {} ({})", sentence(&warning.message), warning.code)?;
    }
    Ok(())
}

fn nights_of(app: &App, projects: &[Project], out: &mut String) -> std::fmt::Result {
    section("The last nights", out)?;
    for project in projects.iter().take(PROJECTS) {
        writeln!(out, "\n{}", project.name)?;
        let nights = app
            .store
            .read(|db| nights::list(db, Some(&project.id), NIGHTS));
        match nights {
            Err(problem) => writeln!(out, "BAD {} ({})", sentence(&problem.message), problem.code)?,
            Ok(nights) => {
                for night in nights {
                    let report = night.report.unwrap_or_default();
                    writeln!(
                        out,
                        "{} {} {} {}: {} {}",
                        night.started_at,
                        night.id,
                        word(&night.state),
                        night.outcome.as_ref().map_or_else(|| "–".to_owned(), word),
                        sentence(&night.reason),
                        report["problem"]["code"].as_str().unwrap_or_default()
                    )?;
                }
            }
        }
    }
    more(projects, out)
}

/// The word of a value that is one.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(_) | Err(_) => String::new(),
    }
}

async fn log_lines(app: &App, out: &mut String) -> std::fmt::Result {
    section("The end of the log", out)?;
    match log::show(app, LogInput { lines: LINES }).await {
        Err(problem) => writeln!(out, "BAD {} ({})", problem.message, problem.code),
        Ok(end) => end
            .lines
            .iter()
            .try_for_each(|line| writeln!(out, "{line}")),
    }
}

/// The text without secrets: those that look like one, and the values of variables that hold one.
fn clean(app: &App, projects: &[Project], text: &str) -> Report {
    let mut text = plain(text);
    let keys = variables_of_keys(app, projects);
    for (name, value) in app.environment.iter() {
        if value.len() >= SHORTEST_SECRET && (is_of_a_secret(name) || keys.contains(name)) {
            text = text.replace(value.as_str(), "[REDACTED]");
        }
    }
    let mut text = redact(&text).text.into_owned();
    let home = app.home.to_string_lossy();
    if home.len() > 1 {
        text = text.replace(home.as_ref(), "~");
    }
    // The log was gone over as a whole before: what counts is what stands there now.
    let redacted = text.matches("[REDACTED").count();
    Report { text, redacted }
}

/// The variables that settings name for a key: the user's, and those of every project that is shown.
fn variables_of_keys(app: &App, projects: &[Project]) -> BTreeSet<String> {
    let shown = projects.iter().take(PROJECTS).map(Some);
    iter::once(None)
        .chain(shown)
        // Settings that cannot be read name no variable, and say so where they would be shown.
        .filter_map(|project| app.settings(project).ok())
        .flat_map(|resolved| {
            let rows = ROWS.iter().filter(|row| row.kind == Kind::Variable);
            rows.filter_map(move |row| Some(resolved.settings.get(row).as_str()?.to_owned()))
        })
        .collect()
}

fn is_of_a_secret(variable: &str) -> bool {
    let name = variable.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::test_home::{TestHome, block_on};

    fn to(home: &TestHome, name: &str, replace: bool) -> Result<Exported, Problem> {
        let input = ExportInput {
            to: home.path(name),
            replace,
        };
        block_on(export(&home.app, input))
    }

    #[test]
    fn planted_secrets_are_not_in_it() {
        let mut home = TestHome::new();
        let known = format!("sk-ant-api03-{}", "A1b2C3d4".repeat(8));
        // Nothing about this one looks like a secret but the name of its variable.
        let unknown = "correct horse battery";
        let mut environment = (*home.app.environment).clone();
        environment.insert("GATEWAY_TOKEN".to_owned(), unknown.to_owned());
        home.app.environment = Arc::new(environment);
        home.app.project(None).unwrap();
        let file = home.app.config().user;
        let prefer = |words: &str| {
            let text = format!(
                "[changes]\npreferences = \"{words}\"\n[privacy]\nfalse_alarms = [\"not-a-secret-0815\"]\n"
            );
            files::write_private(&file, text.as_bytes()).unwrap();
        };
        prefer(&format!("use {unknown}"));
        let log = format!("asked with {known}\n{unknown}\nAuthorization: Bearer {known}\n");
        files::write_private(&home.app.paths.log(), log.as_bytes()).unwrap();
        let report = block_on(show(&home.app, Nothing {})).unwrap();
        let home_folder = home.app.home.to_string_lossy().into_owned();
        for secret in [&known, unknown, "not-a-secret-0815", &home_folder] {
            assert!(!report.text.contains(secret), "{secret}: {}", report.text);
        }
        assert!(report.redacted >= 4, "{}", report.redacted);
        for told in [
            "SkillOpt ",
            "ok  database: The database is sound.",
            "changes.preferences = \"use [REDACTED",
            "privacy.false_alarms = 1 text",
            "~/project",
            "asked with [REDACTED",
        ] {
            assert!(report.text.contains(told), "{told}: {}", report.text);
        }
        // A setting that holds one is refused, which the report says without it.
        prefer(&format!("use {known}"));
        let report = block_on(show(&home.app, Nothing {})).unwrap();
        assert!(!report.text.contains(&known), "{}", report.text);
        let told = "changes.preferences (set in ";
        assert!(report.text.contains(told), "{}", report.text);
    }

    #[test]
    fn the_value_of_every_variable_that_settings_name_for_a_key_is_taken_out() {
        let mut home = TestHome::new();
        let rows: Vec<_> = ROWS
            .iter()
            .filter(|row| row.kind == Kind::Variable)
            .collect();
        assert!(rows.len() >= 4, "{}", rows.len());
        let project = home.app.project(None).unwrap();
        let files = [
            home.app.config().user,
            home.app.config().project(&project.id),
        ];
        let mut environment = (*home.app.environment).clone();
        let mut values = Vec::new();
        for (place, file) in files.iter().enumerate() {
            for row in &rows {
                // Neither the names nor the values look like those of a secret.
                let name = format!("PLAIN_{place}_{}", values.len());
                let value = format!("correct horse battery {}", values.len());
                environment.insert(name.clone(), value.clone());
                values.push(value);
                let below = skillopt_settings::Settings::default();
                crate::config::change(&home.app, file, |before| {
                    skillopt_settings::set(before, file, row.key, &name, &below)
                })
                .unwrap();
            }
        }
        home.app.environment = Arc::new(environment);
        let log = values.join(".\n");
        files::write_private(&home.app.paths.log(), log.as_bytes()).unwrap();
        let report = block_on(show(&home.app, Nothing {})).unwrap();
        for value in &values {
            assert!(
                !report.text.contains(&format!("{value}.")),
                "{value}: {}",
                report.text
            );
        }
        assert!(!report.text.contains("horse"), "{}", report.text);
        assert!(report.redacted >= values.len(), "{}", report.redacted);
    }

    #[test]
    fn it_is_written_whole_and_never_over_a_file_unasked() {
        let home = TestHome::new();
        let written = to(&home, "report.txt", false).unwrap();
        let text = std::fs::read_to_string(home.path("report.txt")).unwrap();
        assert_eq!(written.bytes, text.len() as u64);
        assert!(text.contains("0 projects"), "{text}");
        std::fs::remove_file(home.path("report.txt")).unwrap();
        files::write_private(&home.path("report.txt"), b"mine").unwrap();
        assert_eq!(
            to(&home, "report.txt", false).unwrap_err().code,
            "report_exists"
        );
        assert_eq!(std::fs::read(home.path("report.txt")).unwrap(), b"mine");
        to(&home, "report.txt", true).unwrap();
        assert_ne!(std::fs::read(home.path("report.txt")).unwrap(), b"mine");
        assert_eq!(
            to(&home, "none/report.txt", false).unwrap_err().code,
            "report_folder_unusable"
        );
        let left: Vec<_> = std::fs::read_dir(home.path(""))
            .unwrap()
            .flatten()
            .collect();
        let names: Vec<_> = left.iter().map(std::fs::DirEntry::file_name).collect();
        assert!(
            names
                .iter()
                .all(|name| !name.to_string_lossy().contains("tmp")),
            "{names:?}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_it_and_a_link_is_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let home = TestHome::new();
        to(&home, "report.txt", false).unwrap();
        let mode = std::fs::metadata(home.path("report.txt"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        std::os::unix::fs::symlink(home.path("elsewhere"), home.path("link")).unwrap();
        for replace in [false, true] {
            to(&home, "link", replace).unwrap_err();
            assert!(!home.path("elsewhere").exists());
        }
    }
}
