//! Hand-off: the questions that wait for a person or another program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};
use skillopt_core::Problem;
use skillopt_models::{Handoff, handoff};
use skillopt_store::nights::{self, Kind};
use skillopt_store::projects::Project;

use crate::context::App;
use crate::project::Which;

/// The open questions of a project.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Questions {
    /// The folder they lie in.
    pub folder: PathBuf,
    /// Where answers go: one file per question, named by its id.
    pub answers: PathBuf,
    /// The questions as in `pending.json`, each with whether its answer file is there and why it is
    /// no answer.
    #[cfg_attr(
        feature = "typescript",
        ts(
            type = "Array<{ id: string, answer_file: string, max_tokens: number, prompt: string, kind: string, sample: number, refused: string | null, answered: boolean }>"
        )
    )]
    pub pending: Vec<Value>,
    /// The same for a person to read.
    pub prompts: PathBuf,
}

/// Shows the open questions.
pub async fn questions(app: &App, which: Which) -> Result<Questions, Problem> {
    let project = app
        .known_project(which.project.as_deref())?
        .ok_or_else(crate::project::not_registered)?;
    of(app, project)
}

/// Whether every open question of a project has an answer that could be one; `false` when there is none.
pub(crate) fn is_answered(app: &App, project: Project) -> Result<bool, Problem> {
    let pending = of(app, project)?.pending;
    Ok(!pending.is_empty() && pending.iter().all(|question| question["answered"] == true))
}

fn of(app: &App, project: Project) -> Result<Questions, Problem> {
    let context = app.night(project)?;
    let folder = skillopt_models::handoff_folder(
        &context.settings,
        &context.paths,
        &context.project.id,
        Path::new(&context.project.root),
    );
    let file = folder.join("pending.json");
    let mut pending = match std::fs::read(&file) {
        Ok(bytes) => open_questions(&bytes)
            .ok_or_else(|| broken(&file, "it is not a list of questions as a night writes it"))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(broken(&file, &error.to_string())),
    };
    let answers = folder.join("answers");
    let refused = refused(app, &context.project.id, &folder)?;
    for question in &mut pending {
        let id = question
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let plain = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let why = refused.get(id).cloned();
        let answered = plain && why.is_none() && answers.join(format!("{id}.md")).is_file();
        question.insert("refused".to_owned(), why.map_or(Value::Null, Value::String));
        question.insert("answered".to_owned(), Value::Bool(answered));
    }
    Ok(Questions {
        prompts: folder.join("PROMPTS.md"),
        answers,
        folder,
        pending: pending.into_iter().map(Value::Object).collect(),
    })
}

/// The questions of `pending.json`; `None` when it is something else.
fn open_questions(bytes: &[u8]) -> Option<Vec<Map<String, Value>>> {
    let file: Value = serde_json::from_slice(bytes).ok()?;
    let questions = file.get("pending")?.as_array()?;
    questions
        .iter()
        .map(|question| question.as_object().cloned())
        .collect()
}

fn broken(file: &Path, why: &str) -> Problem {
    Problem::permanent(
        "handoff_broken",
        format!("{} cannot be read: {why}.", file.display()),
        "Remove it; the next `skillopt sleep run` writes it anew, and answers that are there stay.",
    )
}

/// Answers that are there and are none, by the question's id: what the next run would say of them.
fn refused(app: &App, project: &str, folder: &Path) -> Result<BTreeMap<String, String>, Problem> {
    let handoff = Handoff::new(folder.to_owned());
    let mut refused = BTreeMap::new();
    for kind in [Kind::Run, Kind::DryRun] {
        let Some(night) = app.store.read(|db| nights::open(db, project, kind))? else {
            continue;
        };
        for question in skillopt_models::open_questions(&app.store, night.id, &handoff)? {
            if let Some(why) = question.refused {
                refused.insert(handoff::id(&question.call.key()).to_owned(), why);
            }
        }
    }
    Ok(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, block_on};
    use skillopt_store::files;

    #[test]
    fn an_odd_file_of_questions_is_a_problem() {
        let home = TestHome::new();
        let project = home.app.project(None).unwrap();
        let file = home.app.paths.handoff(&project.id).join("pending.json");
        let ask = || block_on(questions(&home.app, Which::default()));
        assert_eq!(ask().unwrap().pending, [] as [Value; 0]);
        for odd in [
            "{",
            "[]",
            r#"{"pending": {}}"#,
            r#"{"pending": ["x"]}"#,
            r#"{"pending": [[]]}"#,
        ] {
            files::write_private(&file, odd.as_bytes()).unwrap();
            assert_eq!(ask().unwrap_err().code, "handoff_broken", "{odd}");
        }
        let good = r#"{"pending": [{"id": "0123456789abcdef"}, {}]}"#;
        files::write_private(&file, good.as_bytes()).unwrap();
        let found = ask().unwrap().pending;
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|question| question["answered"] == false));
    }
}
