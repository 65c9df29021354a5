//! Settings: show, change, explain.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_models::{Description, Loaded, Templates};
use skillopt_settings::{Explanation, Layer, Layers, ProjectRef, ROWS, Resolved, row};
use skillopt_store::files;

use crate::context::App;
use crate::project::Which;

/// One setting with its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingRow {
    /// Its name.
    pub key: String,
    /// The value that holds.
    pub value: Value,
    /// The layer that decided.
    pub layer: Layer,
    /// What it does.
    pub text: String,
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
            file: None,
            warnings: Vec::new(),
        })
        .collect()
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
pub struct SetInput {
    /// Its name.
    pub key: String,
    /// Its new value as text; `None` takes it out of the file.
    pub value: Option<String>,
    /// Change it for this project only.
    #[serde(default)]
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
    let before = match files::read_pinned(&file)? {
        Some(pinned) => String::from_utf8(pinned.bytes).map_err(|_| {
            Problem::permanent(
                "config_broken",
                format!("{} is not UTF-8 text.", file.display()),
                "Save it as UTF-8; nothing was changed.",
            )
        })?,
        None => String::new(),
    };
    // What holds without this file: a value equal to it needs no line of its own.
    let layer = if input.for_project {
        Layer::Project
    } else {
        Layer::User
    };
    let below = Layers::below(&app.config(), layer)?;
    let after = match &input.value {
        Some(value) => skillopt_settings::set(&before, &file, &input.key, value, &below)?,
        None => skillopt_settings::unset(&before, &file, &input.key)?,
    };
    if let Some(parent) = file.parent() {
        files::create_private_dir(parent)?;
    }
    files::write_private(&file, after.as_bytes())?;
    let resolved = resolved(app, input.project.as_deref())?;
    let row = row(&input.key)
        .map_or(input.key.as_str(), |row| row.key)
        .to_owned();
    let mut changed = rows(&resolved)
        .into_iter()
        .find(|candidate| candidate.key == row)
        .ok_or_else(|| {
            Problem::permanent(
                "setting_unknown",
                format!("There is no setting \"{}\".", input.key.escape_debug()),
                "`skillopt config show` lists all of them.",
            )
        })?;
    changed.file = Some(file);
    Ok(changed)
}

/// A setting to explain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    Layers::load(
        &app.config(),
        Some(&reference),
        &app.environment,
        &app.flags,
    )
}
