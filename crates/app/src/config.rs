//! Settings: show, change, explain.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_models::{Description, Loaded, Templates};
use skillopt_settings::{
    BACKENDS, Explanation, Kind, Layer, Layers, ProjectRef, ROWS, Resolved, row,
};
use skillopt_store::files::{self, Expected, NewFile};
use skillopt_store::locks;

use crate::context::App;
use crate::project::Which;

/// One setting with its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SettingRow {
    /// Its name.
    pub key: String,
    /// The value that holds.
    pub value: Value,
    /// The layer that decided.
    pub layer: Layer,
    /// What it does.
    pub text: String,
    /// The words it may be, when these are few; empty for anything else.
    pub choices: Vec<&'static str>,
    /// The file it was written to, when it was just changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// What was not used, and why; only on the first row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

fn rows(resolved: &Resolved) -> Vec<SettingRow> {
    ROWS.iter()
        .map(|row| SettingRow {
            key: row.key.to_owned(),
            value: resolved.settings.get(row),
            layer: resolved.layer(row),
            text: row.text.trim().to_owned(),
            choices: choices(&row.kind).to_vec(),
            file: None,
            warnings: Vec::new(),
        })
        .collect()
}

/// The words a setting takes, when these are few.
fn choices(kind: &Kind) -> &'static [&'static str] {
    if let Kind::Choice(choices) = kind {
        choices.words
    } else if matches!(kind, Kind::Backend { .. }) {
        BACKENDS.words
    } else {
        &[]
    }
}

/// Every setting and where its value comes from.
pub async fn show(app: &App, which: Which) -> Result<Vec<SettingRow>, Problem> {
    let resolved = resolved(app, which.project.as_deref())?;
    let mut rows = rows(&resolved);
    if let Some(first) = rows.first_mut() {
        first.warnings = resolved
            .warnings
            .into_iter()
            .map(|warning| warning.message)
            .collect();
    }
    Ok(rows)
}

/// A setting to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct SetInput {
    /// Its name.
    pub key: String,
    /// Its new value as text; `None` takes it out of the file.
    pub value: Option<String>,
    /// Change it for this project only.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub for_project: bool,
    /// The project.
    pub project: Option<PathBuf>,
}

/// Changes a setting in the user's or the project's file; comments stay.
pub async fn set(app: &App, input: SetInput) -> Result<SettingRow, Problem> {
    let file = if input.for_project {
        app.config()
            .project(&app.project(input.project.as_deref())?.id)
    } else {
        app.config().user
    };
    // What holds without this file: a value equal to it needs no line of its own.
    let layer = if input.for_project {
        Layer::Project
    } else {
        Layer::User
    };
    let below = Layers::below(&app.config(), layer, &app.invocation())?;
    // A path typed here would mean another file where it is written.
    let value = input.value.as_ref().map(|text| match row(&input.key) {
        Some(row) => row.kind.typed_in(text, &app.directory),
        None => text.clone(),
    });
    change(app, &file, |before| match &value {
        Some(value) => skillopt_settings::set(before, &file, &input.key, value, &below),
        None => skillopt_settings::unset(before, &file, &input.key),
    })?;
    let resolved = resolved(app, input.project.as_deref())?;
    let row = row(&input.key)
        .map_or(input.key.as_str(), |row| row.key)
        .to_owned();
    let mut changed = rows(&resolved)
        .into_iter()
        .find(|candidate| candidate.key == row)
        .ok_or_else(|| {
            Problem::refused(
                "setting_unknown",
                format!("There is no setting \"{}\".", input.key.escape_debug()),
                "`skillopt config show` lists all of them.",
            )
        })?;
    changed.file = Some(file);
    Ok(changed)
}

/// Changes a settings file: `edit` makes the new text from the one that is there, empty when there is no
/// file. Our own writers wait for each other, and what anybody else writes meanwhile is not overwritten.
///
/// Errors: those of `edit`, `config_broken`, `config_changed`, `document_busy`, `file_…`.
pub(crate) fn change(
    app: &App,
    file: &Path,
    edit: impl FnOnce(&str) -> Result<String, Problem>,
) -> Result<(), Problem> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    files::create_private_dir(folder)?;
    // The settings folder may be reached by a link, as people who keep their settings in a repository
    // have it; the file itself may not be one.
    let real = folder.canonicalize().map_or_else(
        |_| file.to_owned(),
        |folder| folder.join(file.file_name().unwrap_or_default()),
    );
    let _one_at_a_time = locks::document(&app.paths, &real, "changing settings", app.clock.now())?;
    files::sweep_file(&real);
    let pinned = files::read_pinned(&real)?;
    let (before, expected) = match &pinned {
        Some(pinned) => (
            std::str::from_utf8(&pinned.bytes).map_err(|_| {
                Problem::refused(
                    "config_broken",
                    format!("{} is not UTF-8 text.", file.display()),
                    "Save it as UTF-8; nothing was changed.",
                )
            })?,
            Expected::Bytes(&pinned.sha256),
        ),
        None => ("", Expected::Absent),
    };
    let after = edit(before)?;
    if after == before {
        return Ok(());
    }
    match files::replace_pinned(&real, expected, after.as_bytes(), NewFile::Private) {
        Err(problem) if problem.code == "file_changed" => Err(Problem::temporary(
            "config_changed",
            format!(
                "{} was changed by another program meanwhile.",
                file.display()
            ),
            "Nothing was written; try again.",
        )),
        written => written.map(|_| ()),
    }
}

/// A setting to explain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct ExplainInput {
    /// Its name.
    pub key: String,
    /// The project.
    pub project: Option<PathBuf>,
}

/// Says what a setting does and which layer decided.
pub async fn explain(app: &App, input: ExplainInput) -> Result<Box<Explanation>, Problem> {
    resolved(app, input.project.as_deref())?
        .explain(&input.key)
        .map(Box::new)
}

/// The prompts of a night, and where words of the user's own are looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Prompts {
    /// The file: one JSON object of names and texts.
    pub file: PathBuf,
    /// What was ignored in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Every prompt.
    pub prompts: Vec<Description>,
}

/// Shows the words of every prompt.
pub async fn prompts(app: &App, which: Which) -> Result<Box<Prompts>, Problem> {
    let settings = resolved(app, which.project.as_deref())?.settings;
    let Loaded {
        templates,
        warnings,
    } = Templates::from_settings(&settings, &app.paths)?;
    Ok(Box::new(Prompts {
        file: Templates::file(&settings, &app.paths),
        warnings,
        prompts: templates.describe(),
    }))
}

/// The settings of the project the user is in, if it is one. A repository is read even when its
/// project is not registered yet.
fn resolved(app: &App, project: Option<&Path>) -> Result<Resolved, Problem> {
    let known = app.known_project(project).ok().flatten();
    let root = project.map_or_else(|| app.directory.clone(), |path| app.directory.join(path));
    let reference = ProjectRef {
        id: known.map_or_else(String::new, |project| project.id),
        root,
    };
    Layers::load(&app.config(), Some(&reference), &app.invocation())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    #[test]
    fn a_change_made_meanwhile_is_not_overwritten() {
        let home = TestHome::new();
        let file = home.app.config().user;
        let write = |text: &str| files::write_private(&file, text.as_bytes()).unwrap();
        let read = || std::fs::read_to_string(&file).unwrap();
        for there in [false, true] {
            let lost = change(&home.app, &file, |before| {
                assert_eq!(before.is_empty(), !there);
                write("# mine\n");
                Ok(format!("{before}# ours\n"))
            });
            assert_eq!(lost.unwrap_err().code, "config_changed");
            assert_eq!(read(), "# mine\n");
            write("# first\n");
        }
        change(&home.app, &file, |before| Ok(format!("{before}# ours\n"))).unwrap();
        assert_eq!(read(), "# first\n# ours\n");
    }

    #[test]
    fn two_changes_at_a_time_exclude_each_other() {
        let home = TestHome::new();
        let file = home.app.config().user;
        change(&home.app, &file, |_| {
            let second = change(&home.app, &file, |_| Ok("# second\n".to_owned()));
            assert_eq!(second.unwrap_err().code, "document_busy");
            Ok("# first\n".to_owned())
        })
        .unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# first\n");
    }
}
