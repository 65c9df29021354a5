//! Hand-off: the questions that wait for a person or another program.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use skillopt_core::Problem;

use crate::context::App;
use crate::project::Which;

/// The open questions of a project.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Questions {
    /// The folder they lie in.
    pub folder: PathBuf,
    /// Where answers go: one file per question, named by its id.
    pub answers: PathBuf,
    /// The questions as in `pending.json`, each with whether its answer file is there.
    pub pending: Vec<Value>,
    /// The same for a person to read.
    pub prompts: PathBuf,
}

/// Shows the open questions.
pub async fn questions(app: &App, which: Which) -> Result<Questions, Problem> {
    let project = app
        .known_project(which.project.as_deref())?
        .ok_or_else(crate::project::not_registered)?;
    let context = app.night(project)?;
    let folder = skillopt_models::handoff_folder(
        &context.settings,
        &context.paths,
        &context.project.id,
        Path::new(&context.project.root),
    );
    let mut pending = match std::fs::read(folder.join("pending.json")) {
        Ok(bytes) => {
            let file: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            file.get("pending")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        }
        Err(_) => Vec::new(),
    };
    let answers = folder.join("answers");
    for question in &mut pending {
        let id = question
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let plain = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let answered = plain && answers.join(format!("{id}.md")).is_file();
        question["answered"] = Value::Bool(answered);
    }
    Ok(Questions {
        prompts: folder.join("PROMPTS.md"),
        answers,
        folder,
        pending,
    })
}
