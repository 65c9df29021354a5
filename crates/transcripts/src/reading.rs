//! What one file holds, in a form every agent shares.
//!
//! The readers of the agents translate records into calls of a [`Recorder`]; it keeps human turns
//! with their answers as [`Exchange`]s, counts what is left out, and never holds more of one file
//! than its limits.

mod others;
mod recorder;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use skillopt_core::Instant;
use skillopt_core::feedback::Happened;

pub(crate) use self::others::Others;
pub(crate) use self::recorder::Recorder;
pub(crate) use crate::names::{instant, short};
use crate::reason::Reason;

/// Counts of what was left out, and of record types nobody knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    #[serde(rename = "r", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) reasons: BTreeMap<Reason, u64>,
    /// By the version of the agent that wrote them, then by name.
    #[serde(rename = "u", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) unknown: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Counts {
    pub(crate) fn add(&mut self, reason: Reason) {
        self.add_many(reason, 1);
    }

    pub(crate) fn add_many(&mut self, reason: Reason, number: u64) {
        if number > 0 {
            *self.reasons.entry(reason).or_default() += number;
        }
    }

    pub(crate) fn has(&self, reason: Reason) -> bool {
        self.reasons.contains_key(&reason)
    }
}

/// Where a turn was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    #[serde(rename = "d")]
    pub(crate) directory: String,
    #[serde(rename = "b", default, skip_serializing_if = "String::is_empty")]
    pub(crate) branch: String,
    /// The user excluded it; then nothing else about it is kept.
    #[serde(rename = "e", default, skip_serializing_if = "std::ops::Not::not")]
    excluded: bool,
}

/// What a person typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prompt {
    #[serde(rename = "t")]
    pub(crate) text: String,
    #[serde(rename = "f", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) feedback: Vec<String>,
    #[serde(rename = "i", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) interrupted: bool,
}

/// The agent's last words to a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    #[serde(rename = "n", default, skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Instant>,
    #[serde(rename = "l", default)]
    pub(crate) place: u32,
    #[serde(rename = "t")]
    pub(crate) text: String,
}

/// A prompt with everything the agent did until the next one. Without a prompt it is what a slash
/// command or a program set off; its words are not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exchange {
    /// Message id as the agent names it; empty when it has none.
    #[serde(rename = "n", default, skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<Instant>,
    #[serde(rename = "l", default)]
    pub(crate) place: u32,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<Prompt>,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Answer>,
    #[serde(rename = "c", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<String>,
    #[serde(rename = "s", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) skills: Vec<String>,
    #[serde(rename = "f", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<String>,
    /// By what copies of it are recognised, in whatever file.
    #[serde(rename = "k")]
    pub(crate) key: u64,
    /// Hash of its words alone, for copies that got new ids and times.
    #[serde(rename = "w", default)]
    pub(crate) words: u64,
    /// Hash of the id of the message it follows; 0 when that is not known.
    #[serde(rename = "b", default)]
    pub(crate) after: u64,
    /// What others wrote meanwhile.
    #[serde(rename = "o", default, skip_serializing_if = "Others::is_empty")]
    pub(crate) others: Others,
}

impl Exchange {
    /// Whether there is a prompt, or anything was done without one.
    fn says_something(&self) -> bool {
        self.prompt.is_some()
            || !(self.tools.is_empty() && self.skills.is_empty() && self.files.is_empty())
    }

    /// Notes what happened to it, once.
    fn mark(&mut self, happened: Happened) {
        let Some(prompt) = &mut self.prompt else {
            return;
        };
        prompt.interrupted |= happened == Happened::Interrupted;
        let signal = happened.signal();
        if !prompt.feedback.iter().any(|known| known == signal) {
            prompt.feedback.push(signal.to_owned());
        }
    }

    /// Whether there is a prompt that was not taken back.
    fn stands(&self) -> bool {
        let gone = [Happened::Undone, Happened::Resent];
        self.prompt.is_some() && !self.happened(&gone)
    }

    /// Whether it still stands, and the person ended it before the agent did.
    fn was_stopped(&self) -> bool {
        self.stands() && self.happened(&[Happened::Interrupted, Happened::ToolRejected])
    }

    /// Whether the person ended it before the agent did, or took it back.
    fn was_ended(&self) -> bool {
        self.prompt.is_some() && (self.was_stopped() || !self.stands())
    }

    /// Whether one of these happened to it.
    fn happened(&self, any: &[Happened]) -> bool {
        let signals = self.prompt.iter().flat_map(|prompt| &prompt.feedback);
        signals
            .filter_map(|signal| Happened::of(signal))
            .any(|happened| any.contains(&happened))
    }

    /// When the last of it was written.
    pub(crate) fn ended(&self) -> Option<Instant> {
        self.answer
            .as_ref()
            .and_then(|answer| answer.at)
            .max(self.at)
    }
}

/// Everything kept of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// Session id as the agent names it.
    pub(crate) session: String,
    /// The session this one was forked from, if it says so.
    pub(crate) parent: Option<String>,
    /// It holds copies of records that another session made.
    pub(crate) copied: bool,
    /// It counts only where the session was found nowhere else.
    pub(crate) fallback: bool,
    /// Time of the first record, in file order: copies keep their times, new records do not.
    pub(crate) written: Option<Instant>,
    pub(crate) places: Vec<Place>,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) counts: Counts,
    /// Why no person made it, if none did.
    pub(crate) verdict: Option<Reason>,
    entrypoint: String,
    headless: bool,
    /// Version of the agent that wrote the last record, if it says so.
    version: String,
    /// The agent said something.
    spoken: bool,
    first_at: Option<Instant>,
    last_at: Option<Instant>,
    text_bytes: usize,
    place: u32,
    /// The last exchange still goes on.
    open: bool,
    /// What others wrote before the exchange that comes next.
    before: Others,
    /// The last prompt was not kept, so what others write until the next one is not counted.
    lost: bool,
    /// Calls of `git commit` whose result has not come yet, by the hash of the call's id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    committing: Vec<u64>,
}

impl Reading {
    /// When the last record was written.
    pub(crate) fn last(&self) -> Option<Instant> {
        self.last_at.or(self.written)
    }

    /// Whether it seems to be a conversation, and yet nobody said anything in it, for no reason that
    /// is known: what a transcript looks like whose format has changed.
    pub(crate) fn is_silent(&self) -> bool {
        let counts = &self.counts;
        let typed = self
            .exchanges
            .iter()
            .any(|exchange| exchange.prompt.is_some());
        let accounted_for = [
            Reason::SlashCommand,
            Reason::LocalCommand,
            Reason::MachinePrompt,
            Reason::Private,
            Reason::ExcludedDirectory,
        ]
        .into_iter()
        .any(|reason| counts.has(reason));
        let strange = [Reason::UnknownType, Reason::Malformed, Reason::NotAnObject]
            .into_iter()
            .any(|reason| counts.has(reason));
        self.verdict.is_none() && !typed && !accounted_for && (strange || self.spoken)
    }
}
