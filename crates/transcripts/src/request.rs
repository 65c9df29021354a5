//! What is asked of a harvest.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use jiff::SignedDuration;
use skillopt_core::Instant;
use skillopt_core::agent::Agent;

use crate::reader;
use crate::surroundings::Surroundings;

/// Where each agent keeps its state. Several folders per agent are read as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Homes(BTreeMap<Agent, Vec<PathBuf>>);

impl Homes {
    /// The folders a setting names for an agent, or those where the agent itself would look.
    #[must_use]
    pub fn find<'s>(at: &Surroundings<'_>, setting: impl Fn(Agent) -> &'s [String]) -> Self {
        Agent::ALL
            .into_iter()
            .map(|agent| match setting(agent) {
                [] => (agent, reader::homes(agent, at)),
                folders => (agent, folders.iter().map(|it| at.path(it)).collect()),
            })
            .collect()
    }

    /// The folders of one agent.
    #[must_use]
    pub fn of(&self, agent: Agent) -> &[PathBuf] {
        self.0.get(&agent).map_or(&[], Vec::as_slice)
    }
}

impl FromIterator<(Agent, Vec<PathBuf>)> for Homes {
    fn from_iter<T: IntoIterator<Item = (Agent, Vec<PathBuf>)>>(homes: T) -> Self {
        let distinct = |(agent, folders): (Agent, Vec<PathBuf>)| (agent, distinct(folders));
        Self(homes.into_iter().map(distinct).collect())
    }
}

/// Each folder once, under the first of its names: one may be linked from another.
fn distinct(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut met = HashSet::new();
    folders
        .into_iter()
        .filter(|folder| met.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone())))
        .collect()
}

/// Which turns belong to the project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// Turns typed in one of the roots or below.
    #[default]
    Project,
    /// Also turns typed in a folder above a root (never the root of the file system).
    Parents,
    /// Every turn, wherever it was typed.
    All,
}

/// The project whose turns are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectScope {
    /// The project's folder and its git worktrees, absolute.
    pub roots: Vec<PathBuf>,
    /// How wide to look.
    pub scope: Scope,
}

/// What to harvest.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Where the agents keep their state.
    pub homes: Homes,
    /// The agents to read, in any order; each is read once.
    pub agents: Vec<Agent>,
    /// The project.
    pub project: ProjectScope,
    /// Leaves out sessions whose last turn lies before this moment.
    pub since: Option<Instant>,
    /// The moment of the harvest. What is dated more than a day later was written by a wrong clock, and
    /// says nothing about what is newest.
    pub now: Option<Instant>,
    /// Globs on the folder a turn was typed in, on transcript files and on touched files. A pattern
    /// without wildcards also covers everything below it. Absolute, or relative to any folder.
    pub exclude: Vec<String>,
    /// Texts that mark a session as made by a program when its first prompt contains one of them.
    pub agent_markers: Vec<String>,
    /// Further words of complaint.
    pub negative_words: Vec<String>,
    /// Further words of praise.
    pub positive_words: Vec<String>,
    /// Texts that look like secrets and are none.
    pub false_alarms: Vec<String>,
    /// Reader threads; 0 takes as many as there are cores, at most four, and one on battery.
    pub threads: usize,
    /// The machine runs on battery: one thread reads, and steps back for other programs.
    pub on_battery: bool,
}

impl Request {
    /// Whether something may have been written then. A day is left for clocks and zones that differ.
    pub(crate) fn may_be(&self, at: Instant) -> bool {
        self.now
            .and_then(|now| now.checked_add(SignedDuration::from_hours(24)).ok())
            .is_none_or(|latest| at <= latest)
    }
}
