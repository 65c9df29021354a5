//! Tasks as a miner writes them: `[{intent, checks, rubric, satisfied, needs, turns}]` (§4.2).

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::check::RuleJudge;
use crate::task::Check;
use crate::text::head;

use super::{Mined, MinedTask, Needs, Unreadable, entries, has_key, unreadable};

/// Most tasks of one session (§4.2).
const MOST_TASKS: usize = 3;
/// Shortest request, in code points (§4.1).
const SHORTEST_INTENT: usize = 8;
/// Longest request and rubric, in code points (§4.1).
const LONGEST_TEXT: usize = 800;
/// Most checks of one task.
const MOST_CHECKS: usize = 16;

#[derive(Deserialize)]
struct Entry {
    intent: String,
    #[serde(default)]
    checks: Option<Vec<Value>>,
    #[serde(default)]
    rubric: Option<String>,
    #[serde(default)]
    satisfied: Option<bool>,
    #[serde(default)]
    needs: Option<Needs>,
    #[serde(default)]
    turns: Option<Vec<Value>>,
}

/// Whether `value` is meant as a list of tasks, among other JSON in the same reply.
pub(super) fn is_meant(value: &str) -> bool {
    entries(value, "tasks")
        .is_some_and(|list| list.is_empty() || list.iter().any(|entry| has_key(entry, &["intent"])))
}

/// Reads a list of tasks. A malformed entry drops only itself; when all are malformed the reply is
/// unreadable, while an empty list is an answer.
pub(super) fn read(value: &str, shown: usize) -> Result<Mined, Unreadable> {
    let list = entries(value, "tasks").ok_or_else(|| unreadable("it is not a list of tasks"))?;
    let mut mined = Mined::default();
    let mut malformed = 0;
    for raw in &list {
        match task(raw, shown, &mut mined.dropped_checks) {
            Ok(task) if mined.tasks.len() < MOST_TASKS => mined.tasks.push(task),
            Ok(_) => mined.dropped.push("more than three tasks".to_owned()),
            Err(dropped) => {
                malformed += usize::from(dropped.malformed);
                mined.dropped.push(dropped.why);
            }
        }
    }
    if malformed > 0 && malformed == list.len() {
        return Err(unreadable("none of its entries is a task"));
    }
    Ok(mined)
}

struct Dropped {
    why: String,
    malformed: bool,
}

fn task(raw: &RawValue, shown: usize, dropped_checks: &mut u32) -> Result<MinedTask, Dropped> {
    let malformed = |why: String| Dropped {
        why,
        malformed: true,
    };
    // An array would be read field by field.
    if !raw.get().starts_with('{') {
        return Err(malformed("not an object".to_owned()));
    }
    let entry: Entry =
        serde_json::from_str(raw.get()).map_err(|error| malformed(error.to_string()))?;
    let intent = head(entry.intent.trim(), LONGEST_TEXT)
        .trim_end()
        .to_owned();
    if intent.chars().count() < SHORTEST_INTENT {
        return Err(Dropped {
            why: "the request is too short".to_owned(),
            malformed: false,
        });
    }
    let mut checks: Vec<Check> = Vec::new();
    for value in entry.checks.unwrap_or_default() {
        match usable(value) {
            Some(check) if checks.len() < MOST_CHECKS => {
                if !checks.contains(&check) {
                    checks.push(check);
                }
            }
            _ => *dropped_checks += 1,
        }
    }
    let mut turns = Vec::new();
    for value in entry.turns.unwrap_or_default() {
        let index = value.as_u64().and_then(|index| usize::try_from(index).ok());
        if let Some(index) = index.filter(|index| *index < shown && !turns.contains(index)) {
            turns.push(index);
        }
    }
    Ok(MinedTask {
        intent,
        checks,
        rubric: head(entry.rubric.unwrap_or_default().trim(), LONGEST_TEXT).to_owned(),
        satisfied: entry.satisfied.unwrap_or(false),
        needs: entry.needs.unwrap_or_default(),
        turns,
    })
}

/// A check that a rule judge can use without tools.
fn usable(value: Value) -> Option<Check> {
    let check: Check = serde_json::from_value(value).ok()?;
    if check.op == "tool_called" {
        return None;
    }
    RuleJudge::compile(std::slice::from_ref(&check))
        .is_ok()
        .then_some(check)
}
