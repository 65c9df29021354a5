//! A task as it stands in files: the shape of the reference (§1.2), with additive keys.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::task::{Check, Judge, Origin, Outcome, SourceTurn, Split, Task};
use crate::tool::Tool;

/// The row of a tasks file. Unknown keys are ignored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct TaskRow {
    id: String,
    project: String,
    intent: String,
    #[serde(default)]
    context_excerpt: String,
    #[serde(default)]
    system: String,
    #[serde(default)]
    attempted_solution: String,
    #[serde(default)]
    outcome: Outcome,
    #[serde(default = "no_reference")]
    reference_kind: String,
    #[serde(default)]
    reference: Value,
    #[serde(default)]
    judge: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    source_sessions: Vec<String>,
    #[serde(default)]
    split: String,
    #[serde(default)]
    origin: Origin,
    #[serde(default)]
    derived_from: String,
    #[serde(default)]
    skill_hint: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    legacy_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<Agent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    source_turns: Vec<SourceTurn>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    cluster: String,
}

fn no_reference() -> String {
    "none".to_owned()
}

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if !text.is_empty() => vec![text.clone()],
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

impl TryFrom<TaskRow> for Task {
    type Error = String;

    fn try_from(row: TaskRow) -> Result<Self, String> {
        let split = match row.split.as_str() {
            "" | "train" | "replay" => Split::Train,
            "val" | "holdout" => Split::Validation,
            "test" => Split::Test,
            other => return Err(format!("task {}: unknown split \"{other}\"", row.id)),
        };
        let text = || {
            strings(&row.reference)
                .into_iter()
                .next()
                .unwrap_or_default()
        };
        let judge = match row.reference_kind.as_str() {
            "none" | "" => Judge::None,
            "exact" => Judge::Exact(text()),
            "rubric" => Judge::Rubric(text()),
            "answer" => Judge::Answer(strings(&row.reference)),
            "rule" => {
                let checks = row.judge.get("checks").cloned().unwrap_or(Value::Null);
                let checks: Vec<Check> = serde_json::from_value(checks).map_err(|error| {
                    format!("task {}: its checks cannot be read: {error}", row.id)
                })?;
                Judge::Rule(checks)
            }
            other => {
                return Err(format!(
                    "task {}: unknown reference_kind \"{other}\"",
                    row.id
                ));
            }
        };
        Ok(Self {
            id: row.id,
            legacy_id: row.legacy_id,
            project: row.project,
            agent: row.agent,
            intent: row.intent,
            context: row.context_excerpt,
            system: row.system,
            attempted_solution: row.attempted_solution,
            outcome: row.outcome,
            judge,
            tools: row.tools,
            tags: row.tags,
            sessions: row.source_sessions,
            turns: row.source_turns,
            split,
            origin: row.origin,
            derived_from: row.derived_from,
            skill_hint: row.skill_hint,
            cluster: row.cluster,
        })
    }
}

impl From<Task> for TaskRow {
    fn from(task: Task) -> Self {
        let (reference_kind, reference, judge) = match task.judge {
            Judge::None => ("none", json!(""), json!({})),
            Judge::Exact(text) => ("exact", json!(text), json!({})),
            Judge::Rubric(text) => ("rubric", json!(text), json!({})),
            Judge::Answer(golds) => ("answer", json!(golds), json!({})),
            Judge::Rule(checks) => ("rule", json!(""), json!({"kind": "rule", "checks": checks})),
        };
        let split = match task.split {
            Split::Train => "train",
            Split::Validation => "val",
            Split::Test => "test",
        };
        Self {
            id: task.id,
            project: task.project,
            intent: task.intent,
            context_excerpt: task.context,
            system: task.system,
            attempted_solution: task.attempted_solution,
            outcome: task.outcome,
            reference_kind: reference_kind.to_owned(),
            reference,
            judge,
            tools: task.tools,
            tags: task.tags,
            source_sessions: task.sessions,
            split: split.to_owned(),
            origin: task.origin,
            derived_from: task.derived_from,
            skill_hint: task.skill_hint,
            legacy_id: task.legacy_id,
            agent: task.agent,
            source_turns: task.turns,
            cluster: task.cluster,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_judge_survives_the_file() {
        for judge in [
            Judge::None,
            Judge::Exact("42".into()),
            Judge::Rubric("is polite".into()),
            Judge::Answer(vec!["a".into(), "b".into()]),
            Judge::Rule(vec![Check {
                op: "max_chars".into(),
                arg: json!(80),
            }]),
        ] {
            let mut task = Task::new("t1", "/w/app", "Say it");
            task.judge = judge;
            task.split = Split::Validation;
            task.tools = vec![Tool::new("search", "42")];
            let json = serde_json::to_string(&task).unwrap();
            assert_eq!(serde_json::from_str::<Task>(&json).unwrap(), task);
        }
    }

    #[test]
    fn legacy_splits_are_read_and_unknown_ones_refused() {
        // §1.2: replay → train, holdout → val. §14 #86: an unknown label must not vanish.
        let read = |split: &str| {
            serde_json::from_value::<Task>(
                json!({"id": "a", "project": "", "intent": "x", "split": split}),
            )
        };
        assert_eq!(read("replay").unwrap().split, Split::Train);
        assert_eq!(read("holdout").unwrap().split, Split::Validation);
        assert!(
            read("dev")
                .unwrap_err()
                .to_string()
                .contains("unknown split")
        );
    }
}
