//! JSON schemas of the replies, for servers that can enforce one.
//!
//! Every object closes itself and requires all of its keys, as strict modes ask for.

use serde_json::{Value, json};
use skillopt_core::call::Subject;

/// The schema a reply to `subject` must follow; `None` when any text will do.
pub(crate) fn schema(subject: &Subject) -> Option<Value> {
    match subject {
        Subject::Attempt { .. } => None,
        Subject::Mine { .. } => Some(object(&[(
            "tasks",
            list(object(&[
                ("intent", json!({"type": "string"})),
                ("turns", list(json!({"type": "integer"}))),
                (
                    "needs",
                    json!({"type": "string", "enum": ["none", "files", "tools"]}),
                ),
                (
                    "checks",
                    list(object(&[
                        ("op", json!({"type": "string"})),
                        ("arg", json!({"type": ["string", "number", "null"]})),
                    ])),
                ),
                ("rubric", json!({"type": "string"})),
                ("satisfied", json!({"type": "boolean"})),
            ])),
        )])),
        Subject::Judge { .. } => Some(object(&[
            ("score", json!({"type": "number"})),
            ("reason", json!({"type": "string"})),
        ])),
        Subject::Reflect { .. } => Some(object(&[(
            "edits",
            list(object(&[
                (
                    "op",
                    json!({"type": "string", "enum": ["add", "delete", "replace"]}),
                ),
                ("content", json!({"type": "string"})),
                ("anchor", json!({"type": "string"})),
                ("rationale", json!({"type": "string"})),
                ("tasks", list(json!({"type": "string"}))),
            ])),
        )])),
    }
}

fn object(properties: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> = properties
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "json! takes it by reference, callers make it on the spot"
)]
fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}
