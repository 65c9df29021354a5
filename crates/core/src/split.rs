//! Which slice of the evidence a task belongs to (§4.6).
//!
//! A slice follows from the task's id alone, so it is the same every night, and a stored one is never
//! changed. Beyond the reference, near-duplicates (one cluster) are always in one slice, and a training
//! task that shares a session with a held-out one is left out of the night: what was said there would
//! tell the optimizer about the exam.

use std::collections::{BTreeMap, HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::problem::Problem;
use crate::task::{Origin, Split, Task};

/// Shares of validation and test, in whole percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fractions {
    validation: u64,
    test: u64,
}

impl Fractions {
    /// Fractions in `[0, 1]` whose sum is below 1; rounded half to even to whole percent (§4.6).
    ///
    /// Error: `fractions_invalid`.
    pub fn new(validation: f64, test: f64) -> Result<Self, Problem> {
        let unit = 0.0..=1.0;
        if !unit.contains(&validation) || !unit.contains(&test) || validation + test >= 1.0 {
            return Err(Problem::permanent(
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
        })
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

/// What `assign` had to leave out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assigned {
    /// Ids of training tasks that share a session with a held-out task; removed from the list.
    pub excluded: Vec<String>,
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

/// One cluster of tonight's tasks, or a task without a cluster.
struct Group {
    bucket: Bucket,
    members: Vec<usize>,
    split: Split,
    stored: bool,
}

/// Assigns a slice to every task and removes the training tasks that share a session with a held-out
/// one. `archive` are the tasks of earlier nights, whose slices hold: by id, by the reference's id, by
/// cluster.
pub fn assign(
    tasks: &mut Vec<Task>,
    archive: &[Task],
    fractions: Fractions,
    seed: u64,
) -> Assigned {
    let stored = Stored::of(archive);
    let mut groups = groups(tasks, &stored, fractions, seed);
    promote(&mut groups);
    for group in &groups {
        for &member in &group.members {
            tasks[member].split = group.split;
        }
    }
    for task in tasks.iter_mut().filter(|task| task.origin == Origin::Dream) {
        task.split = Split::Train;
    }
    let held_sessions: HashSet<String> = tasks
        .iter()
        .chain(archive)
        .filter(|task| task.split != Split::Train)
        .flat_map(|task| task.sessions.iter().cloned())
        .collect();
    let mut excluded = Vec::new();
    tasks.retain(|task| {
        let clean = task.split != Split::Train
            || !task
                .sessions
                .iter()
                .any(|session| held_sessions.contains(session));
        if !clean {
            excluded.push(task.id.clone());
        }
        clean
    });
    Assigned { excluded }
}

fn groups(tasks: &[Task], stored: &Stored<'_>, fractions: Fractions, seed: u64) -> Vec<Group> {
    let mut members: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (position, task) in tasks
        .iter()
        .enumerate()
        .filter(|(_, task)| task.origin == Origin::Real)
    {
        let key = if task.cluster.is_empty() {
            ("id", task.id.as_str())
        } else {
            ("cluster", task.cluster.as_str())
        };
        members.entry(key).or_default().push(position);
    }
    members
        .into_values()
        .map(|members| {
            let known = members
                .iter()
                .filter_map(|&member| stored.split(&tasks[member]))
                .max();
            // The smallest id speaks for its cluster: a task alone decides as in the reference.
            let speaker = members
                .iter()
                .map(|&member| tasks[member].id.as_str())
                .min()
                .unwrap_or("");
            let bucket = bucket(seed, speaker);
            let position = modulo_100(&bucket);
            let drawn = if position < fractions.validation {
                Split::Validation
            } else if position < fractions.validation + fractions.test {
                Split::Test
            } else {
                Split::Train
            };
            Group {
                bucket,
                members,
                split: known.unwrap_or(drawn),
                stored: known.is_some(),
            }
        })
        .collect()
}

/// With two groups or more, neither validation nor training may be empty (§4.6). Test is never moved,
/// nor is a stored slice.
fn promote(groups: &mut [Group]) {
    if groups.len() < 2 {
        return;
    }
    for (missing, from) in [
        (Split::Validation, Split::Train),
        (Split::Train, Split::Validation),
    ] {
        if groups.iter().any(|group| group.split == missing) {
            continue;
        }
        let smallest = groups
            .iter_mut()
            .filter(|group| group.split == from && !group.stored)
            .min_by_key(|group| group.bucket);
        if let Some(group) = smallest {
            group.split = missing;
        }
    }
}

/// Slices of the archive. Where rows disagree the strictest holds: test, validation, training.
struct Stored<'a> {
    ids: HashMap<&'a str, Split>,
    clusters: HashMap<&'a str, Split>,
}

impl<'a> Stored<'a> {
    fn of(archive: &'a [Task]) -> Self {
        let mut stored = Self {
            ids: HashMap::new(),
            clusters: HashMap::new(),
        };
        for task in archive {
            for id in [task.id.as_str(), task.legacy_id.as_str()] {
                strictest(&mut stored.ids, id, task.split);
            }
            strictest(&mut stored.clusters, &task.cluster, task.split);
        }
        stored
    }

    fn split(&self, task: &Task) -> Option<Split> {
        [
            self.ids.get(task.id.as_str()),
            self.ids.get(task.legacy_id.as_str()),
            self.clusters.get(task.cluster.as_str()),
        ]
        .into_iter()
        .flatten()
        .copied()
        .max()
    }
}

fn strictest<'a>(map: &mut HashMap<&'a str, Split>, key: &'a str, split: Split) {
    if !key.is_empty() {
        let entry = map.entry(key).or_insert(split);
        *entry = (*entry).max(split);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::personas::Persona;
    use proptest::prelude::*;

    fn usual() -> Fractions {
        Fractions::new(0.34, 0.0).unwrap()
    }

    fn validation_positions(persona: Persona) -> Vec<usize> {
        let mut tasks = persona.tasks();
        let assigned = assign(&mut tasks, &[], usual(), 42);
        assert!(assigned.excluded.is_empty());
        tasks
            .iter()
            .enumerate()
            .filter(|(_, task)| task.split == Split::Validation)
            .map(|(at, _)| at)
            .collect()
    }

    #[test]
    fn splits_of_the_personas_are_the_references() {
        // §13.1: researcher val = 0,1,2,4,6,7; programmer val = 1,3,7.
        assert_eq!(
            validation_positions(Persona::Researcher),
            [0, 1, 2, 4, 6, 7]
        );
        assert_eq!(validation_positions(Persona::Programmer), [1, 3, 7]);
    }

    #[test]
    fn one_task_stays_where_it_is_hashed_and_three_always_have_a_validation_task() {
        // §15.6: id `solo`, seed 42 → train; three tasks with fraction 0 → one promoted.
        let mut solo = vec![Task::new("solo", "p", "x")];
        assign(&mut solo, &[], usual(), 42);
        assert_eq!(solo[0].split, Split::Train);
        let mut three: Vec<Task> = ["a", "b", "c"].map(|id| Task::new(id, "p", "x")).into();
        assign(&mut three, &[], Fractions::new(0.0, 0.0).unwrap(), 42);
        assert_eq!(
            three
                .iter()
                .filter(|task| task.split == Split::Validation)
                .count(),
            1
        );
    }

    #[test]
    fn fractions_are_checked_and_rounded_half_to_even() {
        // §4.6: each within [0, 1], sum below 1. 0.125 × 100 = 12.5 → 12, 0.135 × 100 = 13.5 → 14.
        assert_eq!(
            Fractions::new(0.125, 0.135).unwrap(),
            Fractions {
                validation: 12,
                test: 14
            }
        );
        for (validation, test) in [(-0.1, 0.0), (0.5, 0.5), (1.2, 0.0), (f64::NAN, 0.0)] {
            assert_eq!(
                Fractions::new(validation, test).unwrap_err().code,
                "fractions_invalid"
            );
        }
    }

    #[test]
    fn an_imported_held_out_task_does_not_come_back_as_training() {
        let mut archived = Task::new("task_old", "p", "x");
        archived.split = Split::Validation;
        let mut again = Task::new("t_new", "p", "x");
        again.legacy_id = "task_old".into();
        let mut tasks = vec![again, Task::new("other", "p", "y")];
        assign(
            &mut tasks,
            &[archived],
            Fractions::new(0.0, 0.0).unwrap(),
            42,
        );
        assert_eq!(tasks[0].split, Split::Validation);
    }

    fn arbitrary_tasks() -> impl Strategy<Value = Vec<Task>> {
        prop::collection::vec((0_u8..6, prop::collection::vec(0_u8..12, 0..3)), 0..25).prop_map(
            |rows| {
                rows.into_iter()
                    .enumerate()
                    .map(|(position, (cluster, sessions))| {
                        let mut task = Task::new(format!("t{position}"), "p", "x");
                        if cluster > 0 {
                            task.cluster = format!("c{cluster}");
                        }
                        task.sessions = sessions
                            .iter()
                            .map(|session| format!("s{session}"))
                            .collect();
                        task
                    })
                    .collect()
            },
        )
    }

    proptest! {
        #[test]
        fn clusters_and_sessions_never_straddle(mut tasks in arbitrary_tasks(), seed in 0_u64..1000) {
            assign(&mut tasks, &[], usual(), seed);
            for train in tasks.iter().filter(|task| task.split == Split::Train) {
                for held in tasks.iter().filter(|task| task.split != Split::Train) {
                    prop_assert!(train.cluster.is_empty() || train.cluster != held.cluster);
                    prop_assert!(!train.sessions.iter().any(|session| held.sessions.contains(session)));
                }
            }
        }

        #[test]
        fn stored_slices_never_change(mut tasks in arbitrary_tasks(), more in arbitrary_tasks(), seed in 0_u64..1000) {
            assign(&mut tasks, &[], usual(), seed);
            let mut again: Vec<Task> = tasks.clone();
            again.extend(more.into_iter().map(|mut task| { task.id = format!("n{}", task.id); task }));
            for task in &mut again {
                task.split = Split::Train;
            }
            assign(&mut again, &tasks, usual(), seed);
            for stored in &tasks {
                if let Some(now) = again.iter().find(|task| task.id == stored.id) {
                    prop_assert_eq!(now.split, stored.split);
                }
            }
        }
    }
}
