//! Which session a message belongs to, when several files hold it.
//!
//! Resumed and forked sessions hold copies of another session's records; a session can also lie in
//! two places, plain and compressed. Every exchange is counted once, in the session that started
//! first. This is decided when every file is known, so it does not depend on the order of reading.

use std::collections::{BTreeMap, HashSet};

use skillopt_core::agent::Agent;

use crate::index::Facts;

/// An agent's session, by its id.
type Name<'a> = (Agent, &'a str);

/// One file, as far as ownership is concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Holder<'a> {
    pub(crate) agent: Agent,
    pub(crate) facts: &'a Facts,
}

/// The sessions of all files, and what counts in which file.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    /// The files of each session, the most complete one first; the session that started first
    /// comes first.
    pub(crate) sessions: Vec<Vec<usize>>,
    /// For each file, whether each of its exchanges counts there.
    pub(crate) counts: Vec<Vec<bool>>,
}

/// Decides who owns what.
pub(crate) fn owners(files: &[Holder<'_>]) -> Owners {
    let mut sessions: BTreeMap<Name<'_>, Vec<usize>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        let name = (file.agent, file.facts.session.as_str());
        sessions.entry(name).or_default().push(index);
    }
    for members in sessions.values_mut() {
        let first_hand = |index: &usize| {
            let facts = files[*index].facts;
            !facts.fallback && facts.exchanges.iter().any(|fact| fact.typed)
        };
        if members.iter().any(first_hand) {
            members.retain(|&index| !files[index].facts.fallback);
        }
        // Of several files of one session the one that goes on longest is the most complete.
        members.sort_by_key(|&index| {
            let facts = files[index].facts;
            std::cmp::Reverse((facts.ended(), facts.exchanges.len()))
        });
    }
    let mut ranked: Vec<(&Name<'_>, &Vec<usize>)> = sessions.iter().collect();
    ranked.sort_by_cached_key(|(name, members)| (standing(members, files), **name));

    let mut taken: HashSet<u64> = HashSet::new();
    let mut counts: Vec<Vec<bool>> = vec![Vec::new(); files.len()];
    for ((agent, _), members) in &ranked {
        for &index in *members {
            let facts = files[index].facts;
            let copied = copied_prefix(facts, *agent, &sessions, files);
            counts[index] = facts
                .exchanges
                .iter()
                .enumerate()
                .map(|(position, fact)| position >= copied && taken.insert(fact.key))
                .collect();
        }
    }
    Owners {
        sessions: ranked
            .into_iter()
            .map(|(_, members)| members.clone())
            .collect(),
        counts,
    }
}

/// Smaller owns: the session whose first record was written first. A fork's first record may be a
/// copy, with the time of the original; then the one without copies owns, then the one that ended
/// first.
fn standing(members: &[usize], files: &[Holder<'_>]) -> (i64, bool, i64) {
    let facts = || members.iter().map(|&index| files[index].facts);
    let unknown = i64::MAX;
    (
        facts()
            .filter_map(|facts| facts.written)
            .min()
            .unwrap_or(unknown),
        facts().any(|facts| facts.copied),
        facts().filter_map(Facts::ended).max().unwrap_or(unknown),
    )
}

/// How many exchanges at the beginning repeat the parent's words. Older forks write their parent's
/// messages again, with new times and without ids, so only the words tell.
fn copied_prefix(
    facts: &Facts,
    agent: Agent,
    sessions: &BTreeMap<Name<'_>, Vec<usize>>,
    files: &[Holder<'_>],
) -> usize {
    let Some(parent) = &facts.parent else {
        return 0;
    };
    if facts.session == *parent {
        return 0;
    }
    let parents = sessions.get(&(agent, parent.as_str()));
    let longest = parents.into_iter().flatten().map(|&index| {
        facts
            .exchanges
            .iter()
            .zip(&files[index].facts.exchanges)
            .take_while(|(own, theirs)| own.nameless && own.typed && own.words == theirs.words)
            .count()
    });
    longest.max().unwrap_or(0)
}
