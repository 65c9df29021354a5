//! Tasks given in a file, reviewed by a person (§1.15 of the reference).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::check::RuleJudge;
use skillopt_core::task::{Judge, Split, Task};
use skillopt_core::text::cut;
use skillopt_core::tool;

/// Name of the format.
pub const FORMAT: &str = "skillopt_sleep.tasks.v1";
/// Largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// A tasks file that can be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TasksFile {
    /// Absolute path.
    pub path: PathBuf,
    /// Whether a person has looked at it: the key `reviewed` is literally `true`.
    pub reviewed: bool,
    /// The skill it was made for; empty when it names none.
    pub target_skill_path: String,
    /// The tasks, with the splits they carry.
    pub tasks: Vec<Task>,
    /// No task carries `val` or `test`, so that splits have to be assigned.
    pub needs_splits: bool,
    /// What works but deserves a look.
    pub warnings: Vec<String>,
}

/// Reads a tasks file: the object of §1.15 or a bare list of tasks.
///
/// Errors: `tasks_file_unreadable`, `tasks_file_broken` (all faults in one message).
pub fn read(path: &Path) -> Result<TasksFile, Problem> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let unreadable = |why: String| {
        Problem::refused(
            "tasks_file_unreadable",
            format!("The tasks file {} cannot be read: {why}.", path.display()),
            "Check the path given with --tasks-file.",
        )
    };
    let size = std::fs::metadata(&path)
        .map_err(|error| unreadable(error.to_string()))?
        .len();
    if size > LARGEST {
        return Err(unreadable(format!(
            "it has {size} bytes, at most {LARGEST} are read"
        )));
    }
    let bytes = std::fs::read(&path).map_err(|error| unreadable(error.to_string()))?;
    parse(&bytes, &path)
}

fn parse(bytes: &[u8], path: &Path) -> Result<TasksFile, Problem> {
    let broken = |why: &str| {
        Problem::refused(
            "tasks_file_broken",
            format!("The tasks file {} cannot be used: {why}.", path.display()),
            "Correct the entries named here, or harvest the file anew with `skillopt sleep harvest --output`.",
        )
    };
    let value: Value = serde_json::from_slice(bytes).map_err(|error| broken(&error.to_string()))?;
    let (rows, meta) = match &value {
        Value::Array(rows) => (rows, &Value::Null),
        Value::Object(object) => match object.get("tasks") {
            Some(Value::Array(rows)) => (rows, &value),
            _ => return Err(broken("its key \"tasks\" is not a list")),
        },
        _ => return Err(broken("it is neither an object nor a list")),
    };
    let mut tasks = Vec::new();
    let mut faults = Vec::new();
    let mut warnings = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        match serde_json::from_value::<Task>(row.clone()) {
            Ok(task) => {
                check(&task, &mut faults, &mut warnings);
                tasks.push(task);
            }
            Err(error) => faults.push(format!("entry {}: {error}", position + 1)),
        }
    }
    let mut ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        faults.push(format!("the id \"{}\" occurs twice", pair[0]));
    }
    if !faults.is_empty() {
        return Err(broken(&cut(&faults.join("; "), 2_000)));
    }
    let held_out = |task: &Task| matches!(task.split, Split::Validation | Split::Test);
    Ok(TasksFile {
        path: path.to_owned(),
        reviewed: meta.get("reviewed") == Some(&Value::Bool(true)),
        target_skill_path: meta
            .get("target_skill_path")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        needs_splits: tasks.len() >= 2 && !tasks.iter().any(held_out),
        tasks,
        warnings,
    })
}

/// Whether a reply to this task can be judged; a judge that cannot is refused here, not scored 0.
fn check(task: &Task, faults: &mut Vec<String>, warnings: &mut Vec<String>) {
    faults.extend(
        tool::faults(&task.tools)
            .iter()
            .map(|fault| format!("task {}: {fault}", task.id)),
    );
    match &task.judge {
        Judge::Rule(checks) => match RuleJudge::compile(checks) {
            Ok(compiled) => {
                warnings.extend(
                    compiled
                        .warnings
                        .iter()
                        .map(|warning| format!("task {}: {warning}", task.id)),
                );
            }
            Err(errors) => faults.extend(
                errors
                    .iter()
                    .map(|error| format!("task {}: {error}", task.id)),
            ),
        },
        Judge::None => warnings.push(format!(
            "task {}: nothing can judge it, so it is left out",
            task.id
        )),
        Judge::Exact(_) | Judge::Rubric(_) | Judge::Answer(_) => {}
    }
}

/// The JSON of a tasks file, not reviewed (§1.15).
#[must_use]
pub fn to_json(
    project: &str,
    source: &str,
    sessions: usize,
    target_skill_path: &str,
    tasks: &[Task],
) -> Value {
    json!({
        "format": FORMAT,
        "project": project,
        "transcript_source": source,
        "n_sessions": sessions,
        "target_skill_path": target_skill_path,
        "reviewed": false,
        "tasks": tasks,
    })
}

/// Refuses an unreviewed file wherever a real model would see it (§1.15; also with separate
/// optimizer and target backends, weakness 16).
pub fn require_review(file: &TasksFile, simulated: bool) -> Result<(), Problem> {
    if file.reviewed || simulated {
        return Ok(());
    }
    Err(Problem::refused(
        "tasks_not_reviewed",
        format!(
            "The tasks file {} has not been reviewed.",
            file.path.display()
        ),
        "Read it, remove what must not be sent to a model, and set \"reviewed\": true in it.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<TasksFile, Problem> {
        parse(text.as_bytes(), Path::new("/t/tasks.json"))
    }

    #[test]
    fn both_forms_are_read_and_splits_respected() {
        let list = r#"[{"id":"a","project":"","intent":"x","reference_kind":"exact","reference":"1"},
                       {"id":"b","project":"","intent":"y","reference_kind":"exact","reference":"2","split":"holdout"}]"#;
        let file = read_text(list).unwrap();
        assert!(!file.reviewed && !file.needs_splits);
        let object = format!(
            r#"{{"reviewed": true, "tasks": {}}}"#,
            list.replace(r#","split":"holdout""#, "")
        );
        let file = read_text(&object).unwrap();
        assert!(file.reviewed && file.needs_splits);
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let text = r#"[{"id":"a","project":"","intent":"x","reference_kind":"rule",
                        "judge":{"checks":[{"op":"contians","arg":"z"}]}},
                       {"id":"a","project":"","intent":"y","split":"dev"},
                       {"id":"b","project":"","intent":"y","tools":[{"name":"a tool"}]}]"#;
        let problem = read_text(text).unwrap_err();
        assert_eq!(problem.code, "tasks_file_broken");
        assert!(problem.message.contains("contians"), "{}", problem.message);
        assert!(
            problem.message.contains("no name of a tool"),
            "{}",
            problem.message
        );
        assert!(
            problem.message.contains("unknown split"),
            "{}",
            problem.message
        );
    }

    #[test]
    fn only_a_literal_true_is_a_review() {
        // §1.15: must be literally JSON true.
        let file = read_text(r#"{"reviewed": "yes", "tasks": []}"#).unwrap();
        assert_eq!(
            require_review(&file, false).unwrap_err().code,
            "tasks_not_reviewed"
        );
        assert!(require_review(&file, true).is_ok());
    }
}
