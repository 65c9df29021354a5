//! Edits as an optimizer writes them: `[{op, content, anchor, rationale, tasks}]` (§6.4).

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::edit::{Edit, EditOp};

use super::{Proposed, Unreadable, entries, has_key, unreadable};

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    op: Option<String>,
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    anchor: Option<String>,
    #[serde(default)]
    rationale: Value,
    #[serde(default)]
    tasks: Value,
}

/// Whether `value` is meant as a list of edits, among other JSON in the same reply.
pub(super) fn is_meant(value: &str) -> bool {
    entries(value, "edits").is_some_and(|list| {
        list.is_empty()
            || list
                .iter()
                .any(|entry| has_key(entry, &["op", "content", "anchor"]))
    })
}

/// Reads a list of edits. The first `budget` are kept; what is no edit is counted. Without a single
/// edit among several entries the reply is unreadable, while an empty list is an answer.
pub(super) fn read(value: &str, budget: usize, shown: &[String]) -> Result<Proposed, Unreadable> {
    let list = entries(value, "edits").ok_or_else(|| unreadable("it is not a list of edits"))?;
    let mut proposed = Proposed::default();
    for raw in &list {
        match edit(raw, shown) {
            Some(edit) if proposed.edits.len() < budget => proposed.edits.push(edit),
            Some(_) => proposed.beyond_budget += 1,
            None => proposed.dropped += 1,
        }
    }
    if proposed.dropped > 0 && proposed.edits.is_empty() && proposed.beyond_budget == 0 {
        return Err(unreadable("none of its entries is an edit"));
    }
    Ok(proposed)
}

fn edit(raw: &RawValue, shown: &[String]) -> Option<Edit> {
    // An array would be read field by field.
    if !raw.get().starts_with('{') {
        return None;
    }
    let entry: Entry = serde_json::from_str(raw.get()).ok()?;
    let op = match entry.op.unwrap_or_default().trim().to_lowercase().as_str() {
        "" | "add" => EditOp::Add,
        "delete" => EditOp::Delete,
        "replace" => EditOp::Replace,
        _ => return None,
    };
    let content = entry.content.unwrap_or_default();
    let tasks = match entry.tasks {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    Some(Edit {
        op,
        content: if op == EditOp::Delete {
            String::new()
        } else {
            content.trim().to_owned()
        },
        anchor: entry.anchor.unwrap_or_default().trim().to_owned(),
        rationale: entry
            .rationale
            .as_str()
            .unwrap_or_default()
            .trim()
            .to_owned(),
        tasks: tasks
            .iter()
            .filter_map(Value::as_str)
            .filter(|task| shown.iter().any(|known| known == task))
            .map(str::to_owned)
            .collect(),
        turns: Vec::new(),
    })
}
