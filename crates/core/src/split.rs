//! Which slice of the evidence a task belongs to (§4.6).
//!
//! A slice follows from the task's id alone, so it is the same every night, and a stored one is never
//! changed. Beyond the reference, near-duplicates (one cluster) and tasks of one session are drawn
//! together, and a training task that still shares a cluster or a session with a held-out one is left
//! out of the night: what was said there would tell the optimizer about the exam.

use std::collections::{BTreeMap, HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::problem::Problem;
use crate::task::{Origin, Split, Task};

/// Shares of validation and test, in whole percent, and how many tasks a verdict needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fractions {
    validation: u64,
    test: u64,
    least_held_out: usize,
}

impl Fractions {
    /// Fractions in `[0, 1]` whose sum is below 1; rounded half to even to whole percent (§4.6).
    ///
    /// Error: `fractions_invalid`.
    pub fn new(validation: f64, test: f64) -> Result<Self, Problem> {
        let unit = 0.0..=1.0;
        if !unit.contains(&validation) || !unit.contains(&test) || validation + test >= 1.0 {
            return Err(Problem::refused(
                "fractions_invalid",
                format!(
                    "A validation share of {validation} and a test share of {test} leave nothing to train on."
                ),
                "Set splits.validation_fraction and splits.test_fraction between 0 and 1, together below 1.",
            ));
        }
        Ok(Self {
            validation: percent(validation),
            test: percent(test),
            least_held_out: 1,
        })
    }

    /// Hold out at least so many tasks for validation, those of earlier nights counted, where enough
    /// can be spared. The reference is content with one (§4.6); then a night of ten tasks can be paid
    /// for and end without a verdict.
    #[must_use]
    pub fn holding_out(self, tasks: u32) -> Self {
        Self {
            least_held_out: tasks as usize,
            ..self
        }
    }
}

fn percent(fraction: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 100"
    )]
    let percent = (fraction * 100.0).round_ties_even() as u64;
    percent
}

/// What `assign` did besides drawing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assigned {
    /// Ids of training tasks that are held back because a held-out task shares their session or
    /// their cluster; removed from the list.
    pub excluded: Vec<String>,
    /// Ids of tasks that are not in the slice their own id draws: they follow their group, or were
    /// promoted because a slice would have been empty.
    pub moved: Vec<String>,
}

/// SHA-256 of seed and id; compared as a whole 256-bit number.
type Bucket = [u8; 32];

fn bucket(seed: u64, id: &str) -> Bucket {
    Sha256::digest(format!("{seed}{id}").as_bytes()).into()
}

/// The whole 256-bit number modulo 100 (§4.6).
fn modulo_100(bucket: &Bucket) -> u64 {
    bucket
        .iter()
        .fold(0, |rest, &byte| (rest * 256 + u64::from(byte)) % 100)
}

/// Tasks that are assigned together.
#[derive(Clone)]
struct Unit {
    members: Vec<usize>,
    bucket: Bucket,
    split: Split,
    stored: bool,
}

/// Assigns a slice to every task and removes the training tasks that share a session or a cluster
/// with a held-out one. `archive` are the tasks of earlier nights, whose slices hold: by id, by the
/// reference's id, by cluster.
///
/// Tasks of one cluster are one unit, and so are tasks of one session, so that little is lost. Where
/// the sessions tie everything into one unit, so that nothing could be validated or nothing trained,
/// the clusters are drawn one by one, and what straddles then is left out. A unit of one task is drawn
/// as in the reference (§4.6).
pub fn assign(
    tasks: &mut Vec<Task>,
    archive: &[Task],
    fractions: Fractions,
    seed: u64,
) -> Assigned {
    let stored = Stored::of(archive);
    let draw = Draw {
        tasks,
        stored: &stored,
        fractions,
        seed,
    };
    let clusters = draw.clusters();
    let sessions = draw.joined_by_session(&clusters);
    let together = draw.outcome(sessions);
    let outcome = if together.is_complete() {
        together
    } else {
        let apart = draw.outcome(clusters);
        if apart.is_complete() || apart.train > together.train {
            apart
        } else {
            together
        }
    };
    let mut assigned = Assigned::default();
    for (position, split) in outcome.splits.iter().enumerate() {
        let task = &tasks[position];
        let Some(split) = split else {
            assigned.excluded.push(task.id.clone());
            continue;
        };
        let drawn = || slice(modulo_100(&bucket(seed, &task.id)), fractions);
        if task.origin == Origin::Real && *split != stored.by_id(task).unwrap_or_else(drawn) {
            assigned.moved.push(task.id.clone());
        }
    }
    let mut splits = outcome.splits.into_iter();
    tasks.retain_mut(|task| match splits.next().flatten() {
        Some(split) => {
            task.split = split;
            true
        }
        None => false,
    });
    assigned
}

fn slice(position: u64, fractions: Fractions) -> Split {
    if position < fractions.validation {
        Split::Validation
    } else if position < fractions.validation + fractions.test {
        Split::Test
    } else {
        Split::Train
    }
}

struct Draw<'a> {
    tasks: &'a [Task],
    stored: &'a Stored<'a>,
    fractions: Fractions,
    seed: u64,
}

/// A way to assign all tasks: `None` is left out.
struct Outcome {
    splits: Vec<Option<Split>>,
    train: usize,
    validation: usize,
}

impl Outcome {
    const fn is_complete(&self) -> bool {
        self.train > 0 && self.validation > 0
    }
}

impl Draw<'_> {
    /// The real tasks, by cluster; one without a cluster stands alone.
    fn clusters(&self) -> Vec<Vec<usize>> {
        let mut members: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (position, task) in self.tasks.iter().enumerate() {
            if task.origin == Origin::Real {
                let key = if task.cluster.is_empty() {
                    ("id", task.id.as_str())
                } else {
                    ("cluster", task.cluster.as_str())
                };
                members.entry(key).or_default().push(position);
            }
        }
        members.into_values().collect()
    }

    /// Clusters that share a session, directly or over others, in one.
    fn joined_by_session(&self, clusters: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let mut parent: Vec<usize> = (0..clusters.len()).collect();
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (cluster, members) in clusters.iter().enumerate() {
            for session in members
                .iter()
                .flat_map(|&member| &self.tasks[member].sessions)
            {
                let other = *first.entry(session).or_insert(cluster);
                let (a, b) = (root(&mut parent, cluster), root(&mut parent, other));
                parent[a.max(b)] = a.min(b);
            }
        }
        let mut joined: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (cluster, members) in clusters.iter().enumerate() {
            let root = root(&mut parent, cluster);
            joined.entry(root).or_default().extend(members);
        }
        joined.into_values().collect()
    }

    /// Draws for each group, promotes, and leaves out what would straddle.
    fn outcome(&self, groups: Vec<Vec<usize>>) -> Outcome {
        let mut units: Vec<Unit> = groups
            .into_iter()
            .map(|members| self.unit(members))
            .collect();
        let dreams = self.tasks.iter().any(|task| task.origin == Origin::Dream);
        promote(&mut units, dreams);
        let archived = self.stored.validation;
        hold_out(
            &mut units,
            self.fractions.least_held_out.saturating_sub(archived),
        );
        let mut splits = vec![Some(Split::Train); self.tasks.len()];
        for unit in &units {
            for &member in &unit.members {
                splits[member] = match self.stored.by_id(&self.tasks[member]) {
                    // It was trained on: it can neither be held out now nor stay beside its group.
                    Some(Split::Train) if unit.split != Split::Train => None,
                    Some(own) => Some(own),
                    None => Some(unit.split),
                };
            }
        }
        let held: HashSet<&str> = self
            .tasks
            .iter()
            .zip(&splits)
            .filter(|(_, split)| matches!(split, Some(Split::Validation | Split::Test)))
            .map(|(task, _)| task)
            .flat_map(|task| task.sessions.iter().map(String::as_str))
            .chain(self.stored.held_sessions.iter().copied())
            .collect();
        for (task, split) in self.tasks.iter().zip(&mut splits) {
            let shares = task
                .sessions
                .iter()
                .any(|session| held.contains(session.as_str()));
            if *split == Some(Split::Train) && shares {
                *split = None;
            }
        }
        let count = |wanted| {
            splits
                .iter()
                .filter(|split| **split == Some(wanted))
                .count()
        };
        Outcome {
            train: count(Split::Train),
            validation: count(Split::Validation),
            splits,
        }
    }

    fn unit(&self, members: Vec<usize>) -> Unit {
        let known = members
            .iter()
            .filter_map(|&member| self.stored.split(&self.tasks[member]))
            .max();
        // The smallest id speaks for its group: a task alone decides as in the reference.
        let speaker = members
            .iter()
            .map(|&member| self.tasks[member].id.as_str())
            .min();
        let bucket = bucket(self.seed, speaker.unwrap_or_default());
        Unit {
            members,
            bucket,
            split: known.unwrap_or_else(|| slice(modulo_100(&bucket), self.fractions)),
            stored: known.is_some(),
        }
    }
}

fn root(parent: &mut [usize], mut position: usize) -> usize {
    while parent[position] != position {
        parent[position] = parent[parent[position]];
        position = parent[position];
    }
    position
}

/// With two units or more, neither validation nor training may be empty (§4.6); dreams are training.
/// Test is never moved, nor is a stored slice.
fn promote(units: &mut [Unit], dreams: bool) {
    if units.len() < 2 {
        return;
    }
    for (missing, from) in [
        (Split::Validation, Split::Train),
        (Split::Train, Split::Validation),
    ] {
        let trained = missing == Split::Train && dreams;
        if trained || units.iter().any(|unit| unit.split == missing) {
            continue;
        }
        let smallest = units
            .iter_mut()
            .filter(|unit| unit.split == from && !unit.stored)
            .min_by_key(|unit| unit.bucket);
        if let Some(unit) = smallest {
            unit.split = missing;
        }
    }
}

/// Moves training units to validation, smallest first, until `least` tasks are held out; not at all
/// where the last training unit would have to go.
fn hold_out(units: &mut [Unit], least: usize) {
    let mut held: usize = units
        .iter()
        .filter(|unit| unit.split == Split::Validation)
        .map(|unit| unit.members.len())
        .sum();
    let mut spare: Vec<usize> = (0..units.len())
        .filter(|&at| units[at].split == Split::Train && !units[at].stored)
        .collect();
    spare.sort_by_key(|&at| units[at].bucket);
    let stays = units
        .iter()
        .any(|unit| unit.split == Split::Train && unit.stored);
    if !stays {
        spare.pop();
    }
    let movable: usize = spare.iter().map(|&at| units[at].members.len()).sum();
    if held + movable < least {
        return;
    }
    for at in spare {
        if held >= least {
            return;
        }
        units[at].split = Split::Validation;
        held += units[at].members.len();
    }
}

/// Slices of the archive. Where rows disagree the strictest holds: test, validation, training.
struct Stored<'a> {
    /// Held-out tasks, for the gate of every later night.
    validation: usize,
    ids: HashMap<&'a str, Split>,
    clusters: HashMap<&'a str, Split>,
    held_sessions: HashSet<&'a str>,
}

impl<'a> Stored<'a> {
    fn of(archive: &'a [Task]) -> Self {
        let held = |task: &&Task| task.split == Split::Validation;
        let mut stored = Self {
            validation: archive.iter().filter(held).count(),
            ids: HashMap::new(),
            clusters: HashMap::new(),
            held_sessions: HashSet::new(),
        };
        for task in archive {
            if task.split != Split::Train {
                let sessions = task.sessions.iter().map(String::as_str);
                stored.held_sessions.extend(sessions);
            }
            for id in [task.id.as_str(), task.legacy_id.as_str()] {
                strictest(&mut stored.ids, id, task.split);
            }
            strictest(&mut stored.clusters, &task.cluster, task.split);
        }
        stored
    }

    /// The slice of the task itself.
    fn by_id(&self, task: &Task) -> Option<Split> {
        [task.id.as_str(), task.legacy_id.as_str()]
            .into_iter()
            .filter_map(|id| self.ids.get(id).copied())
            .max()
    }

    /// The slice of the task or of its cluster.
    fn split(&self, task: &Task) -> Option<Split> {
        self.by_id(task)
            .max(self.clusters.get(task.cluster.as_str()).copied())
    }
}

fn strictest<'a>(map: &mut HashMap<&'a str, Split>, key: &'a str, split: Split) {
    if !key.is_empty() {
        let entry = map.entry(key).or_insert(split);
        *entry = (*entry).max(split);
    }
}

#[cfg(test)]
mod tests;
