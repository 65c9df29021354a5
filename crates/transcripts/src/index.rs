//! What is remembered of a file, so that an unchanged one is not opened again.
//!
//! The facts of every file are needed each time, to find copies and to know where it belongs; they
//! are small. Its exchanges are fetched only when its session belongs to the project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skillopt_core::agent::Agent;
use skillopt_core::{Instant, Problem};
use skillopt_store::index::{self as rows, Entry, Stamp};
use skillopt_store::{Fault, Store};

use crate::collection::Whole;
use crate::file::{FileRead, Resume};
use crate::files::State;
use crate::reader::version;
use crate::reading::{Counts, Exchange, Place, Reading};
use crate::reason::Reason;

/// Raised whenever facts or exchanges are stored differently. Part of the reader's version.
const SHAPE: u32 = 7;

/// One exchange, as far as copies and scope are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FactRow", into = "FactRow")]
pub(crate) struct Fact {
    pub(crate) key: u64,
    /// Hash of its words.
    pub(crate) words: u64,
    pub(crate) place: u32,
    /// A person typed it.
    pub(crate) typed: bool,
    /// It has no id of its own.
    pub(crate) nameless: bool,
    /// When the last of it was written, in milliseconds.
    pub(crate) ended: Option<i64>,
}

/// A fact as it is stored.
type FactRow = (u64, u64, u32, bool, bool, Option<i64>);

impl From<FactRow> for Fact {
    fn from((key, words, place, typed, nameless, ended): FactRow) -> Self {
        Self {
            key,
            words,
            place,
            typed,
            nameless,
            ended,
        }
    }
}

impl From<Fact> for FactRow {
    fn from(fact: Fact) -> Self {
        (
            fact.key,
            fact.words,
            fact.place,
            fact.typed,
            fact.nameless,
            fact.ended,
        )
    }
}

/// What is known of a file without its words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    #[serde(rename = "s")]
    pub(crate) session: String,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    #[serde(rename = "c", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) copied: bool,
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub(crate) written: Option<i64>,
    #[serde(rename = "v", default, skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<Reason>,
    #[serde(rename = "l", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) places: Vec<Place>,
    #[serde(rename = "x", default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) exchanges: Vec<Fact>,
    #[serde(rename = "n", default)]
    pub(crate) counts: Counts,
    /// When the last record was written, in milliseconds.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<i64>,
    /// A conversation in which nobody said anything ([`Reading::is_silent`]).
    #[serde(rename = "q", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) silent: bool,
    /// It counts only where the session was found nowhere else.
    #[serde(rename = "f", default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) fallback: bool,
}

impl Facts {
    pub(crate) fn of(reading: &Reading) -> Self {
        let millis = |at: Option<Instant>| at.map(Instant::as_millisecond);
        Self {
            session: reading.session.clone(),
            parent: reading.parent.clone(),
            copied: reading.copied,
            fallback: reading.fallback,
            written: millis(reading.written),
            verdict: reading.verdict,
            places: reading.places.clone(),
            exchanges: reading
                .exchanges
                .iter()
                .map(|exchange| Fact {
                    key: exchange.key,
                    words: exchange.words,
                    place: exchange.place,
                    typed: exchange.prompt.is_some(),
                    nameless: exchange.id.is_empty(),
                    ended: millis(exchange.ended()),
                })
                .collect(),
            counts: reading.counts.clone(),
            last: millis(reading.last()),
            silent: reading.is_silent(),
        }
    }

    /// When the last exchange ended, in milliseconds.
    pub(crate) fn ended(&self) -> Option<i64> {
        self.exchanges.iter().filter_map(|fact| fact.ended).max()
    }
}

/// The folder an exchange was typed in; empty when the transcript does not say.
pub(crate) fn place_of(facts: &Facts, place: u32) -> &str {
    facts
        .places
        .get(place as usize)
        .map_or("", |place| place.directory.as_str())
}

/// What is stored of a file beside its facts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Body {
    pub(crate) exchanges: Vec<Exchange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) resume: Option<Resume>,
}

/// The remembered files of one agent.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: HashMap<PathBuf, Entry>,
}

/// What the index knows of a file that was found.
#[derive(Debug)]
pub(crate) enum Known {
    /// It has not changed: its facts, and where its exchanges are.
    Unchanged(Box<Facts>, i64),
    /// It has changed since, and was read in the same way.
    Changed(i64),
    /// It was never read, or would now be read differently.
    New,
}

impl Index {
    /// Errors: those of the store.
    pub(crate) fn load(store: &Store, agent: Agent) -> Result<Self, Problem> {
        let entries = store.read(|db| rows::entries(db, agent))?;
        Ok(Self { entries })
    }

    /// What is known of a file; each is asked for once.
    pub(crate) fn take(&mut self, path: &Path, stamp: &Stamp) -> Known {
        let Some(entry) = self.entries.remove(path) else {
            return Known::New;
        };
        if entry.stamp.reader_version != stamp.reader_version
            || entry.stamp.settings != stamp.settings
        {
            return Known::New;
        }
        if entry.stamp != *stamp {
            return Known::Changed(entry.id);
        }
        // Facts that cannot be read are made again.
        facts(&entry.facts).map_or(Known::New, |facts| {
            Known::Unchanged(Box::new(facts), entry.id)
        })
    }

    /// What is known of a store that holds many sessions, and of these; each is asked for once.
    pub(crate) fn take_store(&mut self, path: &Path) -> Remembered {
        let mut within = path.as_os_str().to_owned();
        within.push("#");
        let within = within.as_encoded_bytes();
        Remembered {
            store: self.entries.remove(path),
            sessions: self
                .entries
                .extract_if(|path, _| path.as_os_str().as_encoded_bytes().starts_with(within))
                .collect(),
        }
    }

    /// Ids of files below `folder` that nobody asked for.
    pub(crate) fn left_below(&self, folder: &Path) -> Vec<i64> {
        self.entries
            .iter()
            .filter(|(path, _)| path.starts_with(folder))
            .map(|(_, entry)| entry.id)
            .collect()
    }
}

/// What is remembered of a store that holds many sessions.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    store: Option<Entry>,
    pub(crate) sessions: HashMap<PathBuf, Entry>,
}

impl Remembered {
    /// What was said of the store as a whole, if it looks the same as then.
    pub(crate) fn unchanged(&self, stamp: &Stamp) -> Option<Whole> {
        let store = self.store.as_ref().filter(|store| store.stamp == *stamp)?;
        let facts = facts(&store.facts)?;
        Some(Whole {
            counts: facts.counts,
            newest: facts
                .last
                .and_then(|last| Instant::from_millisecond(last).ok()),
        })
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = i64> {
        self.store
            .iter()
            .chain(self.sessions.values())
            .map(|entry| entry.id)
    }
}

/// The row of a store as a whole.
pub(crate) fn store_row(path: &Path, stamp: Stamp, whole: Whole) -> rows::Reading {
    let facts = Facts {
        counts: whole.counts,
        last: whole.newest.map(Instant::as_millisecond),
        ..Facts::default()
    };
    rows::Reading {
        path: path.to_owned(),
        stamp,
        facts: serde_json::to_string(&facts).unwrap_or_default(),
        digest: Vec::new(),
    }
}

pub(crate) fn facts(stored: &str) -> Option<Facts> {
    serde_json::from_str(stored).ok()
}

/// What a file must look like to count as unchanged.
pub(crate) fn stamp(agent: Agent, state: State, settings: &Arc<str>) -> Stamp {
    Stamp {
        dev: state.dev,
        ino: state.ino,
        size: state.size,
        mtime_ns: state.mtime_ns,
        reader_version: version(agent) * 1000 + SHAPE,
        settings: Arc::clone(settings),
    }
}

/// The row of a file that was read.
pub(crate) fn row(
    agent: Agent,
    path: &Path,
    read: FileRead,
    facts: &Facts,
    settings: &Arc<str>,
) -> rows::Reading {
    let body = Body {
        exchanges: if read.reading.verdict.is_none() {
            read.reading.exchanges
        } else {
            Vec::new()
        },
        resume: read.resume,
    };
    rows::Reading {
        path: path.to_owned(),
        stamp: stamp(agent, read.state, settings),
        // These types have string keys and no failing serializers.
        facts: serde_json::to_string(facts).unwrap_or_default(),
        digest: serde_json::to_vec(&body).unwrap_or_default(),
    }
}

/// What is stored of some files beside their facts; empty for one that is gone or cannot be read.
///
/// Errors: those of the store.
pub(crate) fn bodies(store: &Store, ids: &[i64]) -> Result<Vec<Body>, Problem> {
    let stored = store.read(|db| rows::digests(db, ids))?;
    let body = |bytes: Option<Vec<u8>>| serde_json::from_slice(&bytes?).ok();
    Ok(stored
        .into_iter()
        .map(|bytes| body(bytes).unwrap_or_default())
        .collect())
}

/// Stores what was read, and forgets files that are gone.
///
/// Errors: those of the store.
pub(crate) fn save(
    store: &Store,
    agent: Agent,
    readings: &[rows::Reading],
    gone: &[i64],
) -> Result<(), Problem> {
    if readings.is_empty() && gone.is_empty() {
        return Ok(());
    }
    store.commit("remember transcript files", |tx| -> Result<(), Fault> {
        rows::put(tx, agent, readings)?;
        rows::forget(tx, gone)
    })
}
