//! From candidates to tonight's tasks: near-duplicates over sessions, recurrence, the archive.
//!
//! A task is a cluster of requests that recurs. One occurrence is a candidate and waits, without cost,
//! until it recurs; a cluster that has become a task keeps its id, its cluster and its split for good.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use skillopt_core::cluster;
use skillopt_core::hash::sha256_parts;
use skillopt_core::task::{Judge, Outcome, Task};

use crate::mine::{Candidate, add_check};

/// A candidate of this or an earlier night with the cluster it was put in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The cluster of near-duplicates.
    pub cluster: String,
    /// What was found.
    pub candidate: Candidate,
}

/// Tonight's tasks and what has to be remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gathered {
    /// Tasks with at least one new occurrence, most frequent first; splits not yet assigned for new ones.
    pub tasks: Vec<Task>,
    /// The new occurrences, with their clusters; stored when the night ends.
    pub occurrences: Vec<Occurrence>,
    /// New candidates whose cluster has not recurred often enough yet.
    pub waiting: u64,
    /// Tasks beyond tonight's limit; their turns stay unmined.
    pub beyond_limit: u64,
}

/// What `gather` needs to know besides the candidates.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Sessions a request must occur in before it is worth money.
    pub min_recurrence: usize,
    /// Tasks per night.
    pub max_tasks: usize,
}

/// Puts new candidates beside what earlier nights saw and picks the tasks of this night.
///
/// `seen` are the occurrences of earlier nights, `archive` the tasks they became.
pub fn gather(
    new: Vec<Candidate>,
    seen: &[Occurrence],
    archive: &[Task],
    project: &str,
    limits: Limits,
) -> Gathered {
    let known: Vec<(String, String)> = archive
        .iter()
        .map(|task| (task.cluster.clone(), task.intent.clone()))
        .chain(
            seen.iter()
                .map(|o| (o.cluster.clone(), o.candidate.intent.clone())),
        )
        .filter(|(cluster, _)| !cluster.is_empty())
        .collect();
    let texts: Vec<&str> = new
        .iter()
        .map(|candidate| candidate.intent.as_str())
        .collect();
    let clusters = cluster::assign(&known, &texts);
    let occurrences: Vec<Occurrence> = clusters
        .into_iter()
        .zip(new)
        .map(|(cluster, candidate)| Occurrence { cluster, candidate })
        .collect();

    let mut by_cluster: BTreeMap<&str, Vec<&Occurrence>> = BTreeMap::new();
    for occurrence in seen.iter().chain(&occurrences) {
        by_cluster
            .entry(&occurrence.cluster)
            .or_default()
            .push(occurrence);
    }
    let touched: BTreeSet<&str> = occurrences.iter().map(|o| o.cluster.as_str()).collect();
    let archived: BTreeMap<&str, &Task> = archive
        .iter()
        .map(|task| (task.cluster.as_str(), task))
        .collect();

    let mut waiting = 0;
    let mut tasks = Vec::new();
    for name in touched {
        let members = &by_cluster[name];
        let sessions: BTreeSet<&str> = members
            .iter()
            .map(|o| o.candidate.session.as_str())
            .collect();
        match archived.get(name) {
            Some(task) => tasks.push(task_of(name, members, project, Some(task))),
            None if sessions.len() >= limits.min_recurrence => {
                tasks.push(task_of(name, members, project, None));
            }
            None => waiting += occurrences.iter().filter(|o| o.cluster == name).count() as u64,
        }
    }
    // Most frequent first; the id breaks ties so that the order never depends on reading order.
    tasks.sort_by(|a, b| {
        b.sessions
            .len()
            .cmp(&a.sessions.len())
            .then_with(|| a.id.cmp(&b.id))
    });
    let beyond_limit = tasks.len().saturating_sub(limits.max_tasks) as u64;
    let left_out: BTreeSet<String> = tasks
        .drain(tasks.len().min(limits.max_tasks)..)
        .map(|task| task.cluster)
        .collect();
    Gathered {
        occurrences: occurrences
            .into_iter()
            .filter(|o| !left_out.contains(&o.cluster))
            .collect(),
        tasks,
        waiting,
        beyond_limit,
    }
}

/// One task for a cluster: the wording of its first member, the criteria of all of them.
fn task_of(cluster: &str, members: &[&Occurrence], project: &str, archived: Option<&Task>) -> Task {
    let first = &members[0].candidate;
    let mut task = archived.cloned().unwrap_or_else(|| {
        let mut task = Task::new(
            task_id(project, &first.intent),
            project,
            first.intent.clone(),
        );
        task.legacy_id = legacy_id(project, &first.intent);
        task.agent = Some(agent_of(members));
        task.cluster = cluster.to_owned();
        task.attempted_solution
            .clone_from(&first.attempted_solution);
        task.skill_hint = common_hint(members);
        task.tags.clone_from(&first.tags);
        task
    });
    for member in members {
        let candidate = &member.candidate;
        if !task.sessions.contains(&candidate.session) {
            task.sessions.push(candidate.session.clone());
        }
        for turn in &candidate.turns {
            if !task.turns.contains(turn) {
                task.turns.push(turn.clone());
            }
        }
        task.outcome = better_known(task.outcome, candidate.outcome);
        merge_judge(&mut task.judge, &candidate.judge);
    }
    task
}

/// The agent that was asked most often; the first one on a tie.
fn agent_of(members: &[&Occurrence]) -> skillopt_core::agent::Agent {
    let mut counts = BTreeMap::new();
    for member in members {
        *counts.entry(member.candidate.agent).or_insert(0_usize) += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(agent, count)| (count, std::cmp::Reverse(agent)))
        .map_or(members[0].candidate.agent, |(agent, _)| agent)
}

/// The hint all members agree on (§4.3), else none.
fn common_hint(members: &[&Occurrence]) -> String {
    let hints: BTreeSet<&str> = members
        .iter()
        .map(|o| o.candidate.skill_hint.as_str())
        .collect();
    match hints.into_iter().collect::<Vec<_>>().as_slice() {
        [only] => (*only).to_owned(),
        _ => String::new(),
    }
}

/// A rubric wins over checks (§4.2); checks are united.
fn merge_judge(known: &mut Judge, new: &Judge) {
    match (&mut *known, new) {
        (Judge::Rule(checks), Judge::Rule(more)) => {
            for check in more {
                add_check(checks, check.clone());
            }
        }
        (Judge::None, _) | (Judge::Rule(_), Judge::Rubric(_)) => *known = new.clone(),
        _ => {}
    }
}

/// The better known outcome: success, then fail, then mixed (§4.3).
fn better_known(a: Outcome, b: Outcome) -> Outcome {
    let rank = |outcome| match outcome {
        Outcome::Success => 3,
        Outcome::Fail => 2,
        Outcome::Mixed => 1,
        Outcome::Unknown => 0,
    };
    if rank(b) > rank(a) { b } else { a }
}

/// Own stable id: of the redacted request on one line and the canonical project.
pub fn task_id(project: &str, intent: &str) -> String {
    let line = skillopt_core::text::one_line(intent);
    format!(
        "t_{}",
        &sha256_parts(&[project.as_bytes(), b"\n", line.as_bytes()])[..16]
    )
}

/// The id the reference's heuristic miner gives the same request (§4.1).
pub fn legacy_id(project: &str, intent: &str) -> String {
    format!(
        "task_{}",
        &sha256_parts(&[project.as_bytes(), b"::", intent.as_bytes()])[..12]
    )
}
