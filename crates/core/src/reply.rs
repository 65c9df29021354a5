//! From the text of a reply to what it says, typed by what was asked.
//!
//! Strict JSON first. Else a value is taken out of prose, fences or small damage, but only when
//! exactly one reading is possible. A reply that leaves a choice is unreadable: it is asked for once
//! more, and never guessed.

mod json;
mod mined;
mod proposed;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::call::Subject;
use crate::edit::Edit;
use crate::task::Check;
use crate::text::head;
use crate::tool::ToolReply;

use json::Found;

/// Longest reply that is read, in bytes.
pub const LONGEST_REPLY: usize = 4 << 20;
/// Longest reason of a grade that is kept, in code points (§5.4).
const REASON_LIMIT: usize = 200;

/// What a reply must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// Any text that is not blank.
    Text,
    /// Such a text, or calls of the tools that were offered.
    Tools,
    /// Tasks found in a session with so many human turns.
    Mined {
        /// How many turns were shown; turn numbers beyond are dropped.
        turns: usize,
    },
    /// A grade.
    Score,
    /// Edits of one document.
    Edits {
        /// How many are kept.
        budget: usize,
        /// Ids of the tasks that were shown; others are dropped.
        tasks: Vec<String>,
    },
}

impl Expect {
    /// What a reply to `subject` must be.
    #[must_use]
    pub fn of(subject: &Subject) -> Self {
        match subject {
            Subject::Attempt { task, .. } if task.tools.is_empty() => Self::Text,
            Subject::Attempt { .. } => Self::Tools,
            Subject::Mine { prompts, .. } => Self::Mined {
                turns: prompts.len(),
            },
            Subject::Judge { .. } => Self::Score,
            Subject::Reflect {
                edit_budget,
                failures,
                contrasts,
                ..
            } => Self::Edits {
                budget: usize::try_from(*edit_budget).unwrap_or(usize::MAX),
                tasks: failures
                    .iter()
                    .map(|failure| failure.task.clone())
                    .chain(contrasts.iter().map(|contrast| contrast.task.clone()))
                    .collect(),
            },
        }
    }
}

/// What a reply says. Only a real reply can become one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Parsed {
    /// The answer of an attempt, without its reasoning.
    Text(String),
    /// Calls of tools in the place of an answer.
    Calls(ToolReply),
    /// Tasks found in a session.
    Mined(Mined),
    /// A grade.
    Score {
        /// 1 when every point is met. Finite and in [0, 1].
        score: f64,
        /// Why, in the grader's words, cut.
        reason: String,
    },
    /// Edits of one document.
    Edits(Proposed),
}

/// What a miner named.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Mined {
    /// At most three tasks (§4.2).
    pub tasks: Vec<MinedTask>,
    /// Why others were left out, one entry each.
    pub dropped: Vec<String>,
    /// How many checks were left out because no judge can use them.
    pub dropped_checks: u32,
}

/// One request a miner named.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MinedTask {
    /// The request, on its own.
    pub intent: String,
    /// Checks that compile.
    pub checks: Vec<Check>,
    /// What a good reply has; empty when the miner gave none.
    pub rubric: String,
    /// Whether the user was content in the end.
    pub satisfied: bool,
    /// What a reply needs besides the request.
    pub needs: Needs,
    /// Indexes into the turns that were shown: the request first, then its corrections.
    pub turns: Vec<usize>,
}

/// What a reply to a request needs besides the request itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Nothing: it can be replayed.
    #[default]
    None,
    /// Files of the project.
    Files,
    /// Commands, a network, other tools.
    Tools,
}

/// What an optimizer proposed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Proposed {
    /// At most as many edits as were asked for. Whether they apply is for the document to say.
    pub edits: Vec<Edit>,
    /// How many entries are no edits.
    pub dropped: u32,
    /// How many edits came after the last one that is kept.
    pub beyond_budget: u32,
}

/// Why a reply cannot be read; completes "the reply cannot be read: …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// Reads a reply. Never fails on hostile text otherwise than by saying that it is unreadable; takes
/// time linear in its length.
pub fn parse(expect: &Expect, reply: &str) -> Result<Parsed, Unreadable> {
    if reply.len() > LONGEST_REPLY {
        return Err(unreadable("it is longer than 4 MiB"));
    }
    let text =
        without_reasoning(reply.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}'));
    if text.is_empty() {
        return Err(unreadable("it is empty"));
    }
    match expect {
        // The reasoning, if there is any, is inside of it.
        Expect::Tools => with_tools(text),
        Expect::Text => Ok(Parsed::Text(text.to_owned())),
        Expect::Mined { turns } => {
            read(text, mined::is_meant, |value| mined::read(value, *turns)).map(Parsed::Mined)
        }
        Expect::Score => read(text, is_grade, grade),
        Expect::Edits { budget, tasks } => read(text, proposed::is_meant, |value| {
            proposed::read(value, *budget, tasks)
        })
        .map(Parsed::Edits),
    }
}

/// Reads a reply to a question that offers tools, which is kept as JSON.
fn with_tools(reply: &str) -> Result<Parsed, Unreadable> {
    let Some(said) = ToolReply::from_json(reply) else {
        return Err(unreadable(
            "it is not kept in the form of replies that may call tools",
        ));
    };
    if let Some(excess) = said.excess() {
        return Err(Unreadable(excess));
    }
    if said.calls.is_empty() {
        return parse(&Expect::Text, &said.text);
    }
    Ok(Parsed::Calls(said))
}

/// [`parse`] for any bytes; the entry point for fuzzing.
pub fn parse_bytes(expect: &Expect, bytes: &[u8]) -> Result<Parsed, Unreadable> {
    parse(expect, &String::from_utf8_lossy(bytes))
}

/// Reads the one JSON value of `text`. `is_meant` tells a value of the expected kind from others.
fn read<T>(
    text: &str,
    is_meant: impl Fn(&str) -> bool,
    typed: impl FnOnce(&str) -> Result<T, Unreadable>,
) -> Result<T, Unreadable> {
    if serde_json::from_str::<&RawValue>(text).is_ok() {
        return typed(text);
    }
    match json::find(text, is_meant) {
        Found::One(value) => typed(&value),
        Found::Nothing => Err(unreadable("it contains no JSON of the asked form")),
        Found::Several => Err(unreadable(
            "it contains more than one JSON value of the asked form",
        )),
        Found::Broken => Err(unreadable("its JSON is damaged or cut off")),
    }
}

/// `text` without the reasoning some models put in front of their answer.
fn without_reasoning(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("<think>") else {
        return text;
    };
    match rest.split_once("</think>") {
        Some((_, answer)) => answer.trim(),
        None => "",
    }
}

#[derive(Deserialize)]
struct GradeReply<'a> {
    #[serde(borrow)]
    score: &'a RawValue,
    #[serde(borrow, default)]
    reason: Option<&'a RawValue>,
}

/// A value with two scores is meant as a grade as well, and then not read.
fn is_grade(value: &str) -> bool {
    pairs(value).is_some_and(|pairs| pairs.iter().any(|(name, _)| name == "score"))
}

fn grade(value: &str) -> Result<Parsed, Unreadable> {
    // An array would be read field by field.
    if !value.starts_with('{') {
        return Err(unreadable("it is not an object with one score"));
    }
    let reply: GradeReply<'_> = serde_json::from_str(value)
        .map_err(|error| unreadable(&format!("it is not an object with one score ({error})")))?;
    let token = reply.score.get();
    let score = match serde_json::from_str::<serde_json::Value>(token) {
        Ok(serde_json::Value::Number(number)) => number.as_f64(),
        _ => None,
    };
    let Some(score) = score else {
        return Err(unreadable(&format!(
            "its score is {}, not a number",
            head(token, 40)
        )));
    };
    if !(0.0..=1.0).contains(&score) {
        return Err(unreadable(&format!(
            "its score is {}, not between 0 and 1",
            head(token, 40)
        )));
    }
    let reason = reply
        .reason
        .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
        .unwrap_or_default();
    // abs() turns -0 into 0.
    Ok(Parsed::Score {
        score: score.abs(),
        reason: head(reason.trim(), REASON_LIMIT).to_owned(),
    })
}

fn unreadable(reason: &str) -> Unreadable {
    Unreadable(reason.to_owned())
}

/// The entries of `[…]` or of `{"<key>": […]}`; `None` when `value` is neither.
fn entries<'a>(value: &'a str, key: &str) -> Option<Vec<&'a RawValue>> {
    if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(value) {
        return Some(list);
    }
    let object: Vec<(String, &RawValue)> = pairs(value)?;
    let mut lists = object.into_iter().filter(|(name, _)| name == key);
    let (_, list) = lists.next()?;
    // Two lists are two readings.
    if lists.next().is_some() {
        return None;
    }
    serde_json::from_str(list.get()).ok()
}

/// The keys and values of an object, repetitions included.
fn pairs(value: &str) -> Option<Vec<(String, &RawValue)>> {
    struct Pairs;
    impl<'de> serde::de::Visitor<'de> for Pairs {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut map: A,
        ) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(value);
    serde::Deserializer::deserialize_map(&mut deserializer, Pairs).ok()
}

/// Whether `raw` is an object with one of `keys`.
fn has_key(raw: &RawValue, keys: &[&str]) -> bool {
    pairs(raw.get())
        .is_some_and(|pairs| pairs.iter().any(|(name, _)| keys.contains(&name.as_str())))
}

#[cfg(test)]
mod tests;
