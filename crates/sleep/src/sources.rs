//! What was found of each agent, and why it may be nothing.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use skillopt_core::Instant;
use skillopt_core::agent::Agent;
use skillopt_settings::Source;
use skillopt_transcripts::{Harvest, Retention};

use crate::context::Context;
use crate::harvesting;
use crate::report::SkipCount;

/// Names of unknown record types a sentence lists.
const NAMED: usize = 5;

/// One agent in a harvest.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceStatus {
    /// The agent.
    pub agent: Agent,
    /// Its name for a person.
    pub title: &'static str,
    /// Whether one of its folders is there.
    pub present: bool,
    /// The folders that were looked through.
    pub looked: Vec<Folder>,
    /// Sessions of the project.
    pub sessions: usize,
    /// When the last turn of any project was written.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub newest: Option<Instant>,
    /// What was left out, by reason.
    pub skipped: Vec<SkipCount>,
    /// Record types this version does not know.
    pub unknown_records: Vec<UnknownType>,
    /// What the agent does with old sessions.
    pub retention: Retention,
    /// Why its format has probably changed, if so.
    pub warning: Option<Warning>,
}

/// A folder that was looked through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "SourceFolder"))]
pub struct Folder {
    /// The folder.
    pub folder: PathBuf,
    /// Whether it is there.
    pub present: bool,
    /// Transcript files in it.
    pub files: u64,
}

/// A record type this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct UnknownType {
    /// Its name.
    pub r#type: String,
    /// Version of the agent that wrote it; empty when the transcript does not say.
    pub version: String,
    /// How often it was met.
    pub count: u64,
}

impl UnknownType {
    /// Its name, with the version that wrote it where that is known.
    fn name(&self) -> String {
        match self.version.as_str() {
            "" => self.r#type.clone(),
            version => format!("{} (version {version})", self.r#type),
        }
    }
}

/// Something about a source that deserves a look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "SourceWarning")
)]
pub struct Warning {
    /// In how many of the newest sessions no word of a person was found.
    pub sessions: u64,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub guidance: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.message, self.guidance)
    }
}

impl SourceStatus {
    /// The records this version does not know, by name, version and number; `None` when there are
    /// none.
    #[must_use]
    pub fn unknown(&self) -> Option<String> {
        let mut names: Vec<String> = self
            .unknown_records
            .iter()
            .take(NAMED)
            .map(|unknown| format!("{} x{}", unknown.name(), unknown.count))
            .collect();
        if names.is_empty() {
            return None;
        }
        let more = self.unknown_records.len() - names.len();
        if more > 0 {
            names.push(format!("{more} more under --json"));
        }
        Some(format!("Types of records not known: {}.", names.join(", ")))
    }
}

/// What a harvest found of each agent it was asked for.
#[must_use]
pub fn statuses(context: &Context, harvest: &Harvest) -> Vec<SourceStatus> {
    let homes = harvesting::homes(context);
    let skipped = SkipCount::of(harvest, context);
    let source = context.settings.source;
    harvesting::asked(source)
        .into_iter()
        .filter(|&agent| {
            // The second one of the reference's choice is looked at only when the first has nothing.
            source != Source::ReferenceAuto
                || harvest.looked.iter().any(|looked| looked.agent == agent)
        })
        .map(|agent| {
            let looked: Vec<Folder> = harvest
                .looked
                .iter()
                .filter(|looked| looked.agent == agent)
                .map(|looked| Folder {
                    folder: looked.folder.clone(),
                    present: looked.present,
                    files: looked.files,
                })
                .collect();
            SourceStatus {
                agent,
                title: agent.title(),
                present: looked.iter().any(|folder| folder.present),
                looked,
                sessions: harvest
                    .sessions
                    .iter()
                    .filter(|session| session.agent == agent)
                    .count(),
                newest: harvest.newest.get(&agent).copied(),
                skipped: skipped
                    .iter()
                    .filter(|count| count.agent == agent)
                    .cloned()
                    .collect(),
                unknown_records: unknown_types(harvest, agent),
                retention: Retention::of(agent, homes.of(agent)),
                warning: warning(harvest, agent),
            }
        })
        .collect()
}

/// The warnings of all sources, as sentences.
#[must_use]
pub fn warnings(harvest: &Harvest) -> Vec<String> {
    harvest
        .silent
        .keys()
        .filter_map(|&agent| warning(harvest, agent))
        .map(|warning| warning.to_string())
        .collect()
}

fn unknown_types(harvest: &Harvest, agent: Agent) -> Vec<UnknownType> {
    harvest
        .unknown
        .iter()
        .filter(|(record, _)| record.agent == agent)
        .map(|(record, &count)| UnknownType {
            r#type: record.name.clone(),
            version: record.version.clone(),
            count,
        })
        .collect()
}

fn warning(harvest: &Harvest, agent: Agent) -> Option<Warning> {
    let &silent = harvest.silent.get(&agent)?;
    let sessions = match silent {
        1 => "session".to_owned(),
        many => format!("{many} sessions"),
    };
    let unknown = unknown_types(harvest, agent);
    let names: Vec<String> = unknown.iter().take(NAMED).map(UnknownType::name).collect();
    let strange = match names.as_slice() {
        [] => String::new(),
        names => format!(" It has records that are not known: {}.", names.join(", ")),
    };
    Some(Warning {
        sessions: silent,
        message: format!(
            "In the newest {sessions} of {} no word of a person was found; its format has probably changed.{strange}",
            agent.title()
        ),
        guidance: "Look for a newer SkillOpt; until then its new sessions are not learned from."
            .to_owned(),
    })
}
