//! Our own data: size, copy, deletion, another place.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_store::data::{self as store_data, Size};

use crate::Nothing;
use crate::context::App;

/// A folder to copy or move to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToInput {
    /// The folder; must be new or empty.
    pub to: PathBuf,
}

/// What is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeInput {
    /// Everything of one project.
    pub project: Option<PathBuf>,
    /// Prompts, replies and digests of every project; verdicts, proposals and backups stay.
    #[serde(default)]
    pub evidence: bool,
    /// Everything.
    #[serde(default)]
    pub everything: bool,
    /// Do it; otherwise only show what would be deleted.
    #[serde(default)]
    pub apply: bool,
}

/// What was, or would be, done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Done {
    /// Whether it was done.
    pub applied: bool,
    /// What, in one sentence.
    pub message: String,
    /// The details.
    pub detail: Value,
}

/// How much space is used.
pub async fn size(app: &App, _: Nothing) -> Result<Size, Problem> {
    store_data::size(&app.paths)
}

/// Copies all data into a folder.
pub async fn export(app: &App, input: ToInput) -> Result<Done, Problem> {
    let to = app.directory.join(input.to);
    let exported = store_data::export(&app.store, &app.paths, &to)?;
    Ok(Done {
        applied: true,
        message: format!("Everything was copied to {}.", to.display()),
        detail: serde_json::json!(exported),
    })
}

/// Deletes data, or shows what would be deleted.
pub async fn purge(app: &App, input: PurgeInput) -> Result<Done, Problem> {
    let what = match (&input.project, input.evidence, input.everything) {
        (Some(project), false, false) => {
            let project = app
                .known_project(Some(project))?
                .ok_or_else(crate::project::not_registered)?;
            store_data::Purge::Project(project.id)
        }
        (None, true, false) => store_data::Purge::Evidence { before: None },
        (None, false, true) => store_data::Purge::Everything,
        _ => {
            return Err(Problem::permanent(
                "invalid_selection",
                "Say what to delete: --project FOLDER, --evidence or --everything, one of them.",
                "Without --yes it is only shown.",
            ));
        }
    };
    let plan = store_data::plan_purge(&app.store, &app.paths, &what)?;
    let detail = serde_json::json!(plan);
    if !input.apply {
        return Ok(Done {
            applied: false,
            message: "This would be deleted; --yes deletes it.".to_owned(),
            detail,
        });
    }
    store_data::apply_purge(&app.store, &app.paths, &plan)?;
    Ok(Done {
        applied: true,
        message: "It was deleted.".to_owned(),
        detail,
    })
}

/// Moves all data to another folder.
pub async fn relocate(app: &App, input: ToInput) -> Result<Done, Problem> {
    let to = app.directory.join(input.to);
    store_data::move_to(&app.store, &app.paths, &to)?;
    Ok(Done {
        applied: true,
        message: format!("The data is in {} from now on.", to.display()),
        detail: Value::Null,
    })
}
