//! The harvest: find files, read those that changed, decide what counts, put sessions together.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use skillopt_core::agent::Agent;
use skillopt_core::{Instant, Problem};
use skillopt_store::Store;

use crate::assembly::{Part, session};
use crate::claude;
use crate::file::{self, Conditions};
use crate::gather::{Gathering, Held, Kept};
use crate::index::{self, place_of};
use crate::lines::Limits;
use crate::owners::{Holder, owners};
use crate::power;
use crate::reading::{Counts, Exchange};
use crate::reason::Reason;
use crate::request::Request;
use crate::rules::Rules;
use crate::scope::Project;
use crate::session::Session;

/// Most different unknown record types counted by name.
const UNKNOWN_LIMIT: usize = 256;
/// How many silent transcripts one after the other are a sign that a format has changed.
const SILENT: usize = 3;
/// Sessions whose words are fetched from the index at a time.
const FETCHED: usize = 256;

/// What a harvest found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Harvest {
    /// The sessions of the project, the one that ended last first.
    pub sessions: Vec<Session>,
    /// How much was left out, per agent and reason.
    pub skipped: BTreeMap<(Agent, Reason), u64>,
    /// Record types this version does not know: a sign that a format changed.
    pub unknown: BTreeMap<UnknownRecord, u64>,
    /// How many of an agent's newest sessions, one after the other, are conversations in which
    /// nobody said anything. Only agents of which that holds for the newest three, or for all there
    /// are: their format has probably changed.
    pub silent: BTreeMap<Agent, u64>,
    /// What was done with the files.
    pub files: FileCounts,
    /// Where was looked.
    pub looked: Vec<Looked>,
    /// When the last turn of any project was written, per agent.
    pub newest: BTreeMap<Agent, Instant>,
}

/// A record type this version does not know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownRecord {
    /// Whose transcripts.
    pub agent: Agent,
    /// Its name, behind that of its family if it has one.
    pub name: String,
    /// Version of the agent that wrote it; empty when the transcript does not say.
    pub version: String,
}

/// What was done with the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Transcript files there are.
    pub found: u64,
    /// Files that have not changed since they were read, and were not opened.
    pub unchanged: u64,
    /// Files that were read.
    pub read: u64,
    /// Files among those of which only the new end was read.
    pub continued: u64,
    /// Bytes that were read, decompressed.
    pub bytes: u64,
}

/// One folder that was looked through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// Whose it is.
    pub agent: Agent,
    /// The folder.
    pub folder: PathBuf,
    /// Whether it is there.
    pub present: bool,
    /// Transcript files in it.
    pub files: u64,
}

/// Reads the transcripts of some agents and returns the sessions of one project.
///
/// With a store, files that have not changed since the last harvest are not opened, and what is read
/// now is remembered. `cancel` is asked every few milliseconds; what was read until then is
/// remembered.
///
/// On battery everything is done by one thread that steps back for all others, on Linux; the threads
/// it starts are as nice as it is. The caller's own thread only waits for it.
///
/// Errors: `exclude_invalid`, `harvest_cancelled`, and those of the store. Nothing in a transcript is
/// an error: it is counted in [`Harvest::skipped`].
pub fn harvest(
    request: &Request,
    store: Option<&Store>,
    cancel: &(dyn Fn() -> bool + Sync),
) -> Result<Harvest, Problem> {
    if !request.on_battery {
        return harvest_within(request, store, cancel, &Limits::default());
    }
    let stepped_back = || {
        power::step_back();
        harvest_within(request, store, cancel, &Limits::default())
    };
    match std::thread::scope(|scope| scope.spawn(stepped_back).join()) {
        Ok(outcome) => outcome,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// [`harvest`] with other limits, for tests.
pub(crate) fn harvest_within(
    request: &Request,
    store: Option<&Store>,
    cancel: &dyn Fn() -> bool,
    limits: &Limits,
) -> Result<Harvest, Problem> {
    let rules = Rules::new(request)?;
    let project = Project::new(&request.project);
    let mut harvest = Harvest::default();
    let mut held = Vec::new();
    let mut agents = request.agents.clone();
    agents.sort_unstable();
    agents.dedup();
    for agent in agents {
        let gathering = Gathering {
            agent,
            request,
            store,
            cancel,
            limits,
            rules: &rules,
            project: &project,
        };
        gathering.run(&mut harvest, &mut held)?;
    }
    count_lost(request, &rules, &project, &held, &mut harvest);
    put_together(request, store, &project, &mut held, &mut harvest)?;
    Ok(harvest)
}

/// Counts the prompts of the project whose sessions are gone, where an agent keeps a list of them.
fn count_lost(
    request: &Request,
    rules: &Rules,
    project: &Project,
    held: &[Held],
    harvest: &mut Harvest,
) {
    for &agent in &request.agents {
        match agent {
            Agent::Claude => {
                let sessions: HashSet<&str> = held
                    .iter()
                    .filter(|held| held.agent == agent)
                    .map(|held| held.facts.session.as_str())
                    .collect();
                let wanted = |folder: &str| project.covers(folder) && !rules.exclude.covers(folder);
                let known = |session: &str| sessions.contains(session);
                for home in request.homes.of(agent) {
                    let lost = claude::lost(home, request.since, &known, &wanted);
                    harvest.skip(agent, Reason::OnlyInHistory, lost);
                }
            }
            // Its list does not say where a prompt was typed.
            Agent::Codex => {}
            // They keep no list beside their sessions.
            Agent::Copilot
            | Agent::Vscode
            | Agent::Cursor
            | Agent::Pi
            | Agent::OpenCode
            | Agent::OpenClaw
            | Agent::Devin => {}
        }
    }
}

impl Harvest {
    /// What a harvest since a moment would have found, of one without such a moment. Only prompts whose
    /// sessions are gone ([`Reason::OnlyInHistory`]) stay counted whenever they were typed.
    #[must_use]
    pub fn since(mut self, since: Instant) -> Self {
        let is_new = |session: &Session| {
            let ended = session.ended.map(Instant::as_millisecond);
            ended.is_none_or(|ended| ended >= since.as_millisecond())
        };
        let (new, old): (Vec<_>, Vec<_>) = std::mem::take(&mut self.sessions)
            .into_iter()
            .partition(is_new);
        self.sessions = new;
        for session in old {
            self.skip(session.agent, Reason::BeforeSince, 1);
        }
        self
    }

    /// Adds what was left out of a file.
    pub(crate) fn count(&mut self, agent: Agent, counts: &Counts) {
        for (&reason, &number) in &counts.reasons {
            self.skip(agent, reason, number);
        }
        for (version, names) in &counts.unknown {
            for (name, &number) in names {
                let record = UnknownRecord {
                    agent,
                    name: name.clone(),
                    version: version.clone(),
                };
                if self.unknown.len() < UNKNOWN_LIMIT || self.unknown.contains_key(&record) {
                    *self.unknown.entry(record).or_default() += number;
                }
            }
        }
    }

    /// Something of an agent was written then.
    pub(crate) fn written(&mut self, agent: Agent, at: Option<Instant>) {
        if let Some(at) = at {
            let newest = self.newest.entry(agent).or_insert(at);
            *newest = at.max(*newest);
        }
    }

    pub(crate) fn skip(&mut self, agent: Agent, reason: Reason, number: u64) {
        if number > 0 {
            *self.skipped.entry((agent, reason)).or_default() += number;
        }
    }
}

/// Decides what counts, and makes sessions of it.
fn put_together(
    request: &Request,
    store: Option<&Store>,
    project: &Project,
    held: &mut [Held],
    harvest: &mut Harvest,
) -> Result<(), Problem> {
    let holders: Vec<Holder<'_>> = held
        .iter()
        .map(|held| Holder {
            agent: held.agent,
            facts: &held.facts,
        })
        .collect();
    let owners = owners(&holders);
    for held in &*held {
        harvest.count(held.agent, &held.facts.counts);
        let ended = held
            .facts
            .ended()
            .and_then(|at| Instant::from_millisecond(at).ok())
            .filter(|at| request.may_be(*at));
        harvest.written(held.agent, ended);
    }
    harvest.silent = silent(held, request);
    let mut chosen = Vec::new();
    for members in &owners.sessions {
        if is_chosen(
            members,
            held,
            &owners.counts,
            project,
            request.since,
            harvest,
        ) {
            chosen.push(members.as_slice());
        }
    }
    for some in chosen.chunks(FETCHED) {
        fetch(some, held, store)?;
        for members in some {
            harvest
                .sessions
                .extend(assemble(members, held, &owners.counts, project));
        }
    }
    harvest
        .sessions
        .sort_by(|a, b| (b.ended, a.agent, &a.id).cmp(&(a.ended, b.agent, &b.id)));
    Ok(())
}

/// How many of the newest transcripts of each agent are silent, where that is a sign of something.
fn silent(held: &[Held], request: &Request) -> BTreeMap<Agent, u64> {
    // One from the future would stay the newest for ever, whatever is written after it.
    let believed = |at: &i64| Instant::from_millisecond(*at).is_ok_and(|at| request.may_be(at));

    let mut newest: BTreeMap<Agent, Vec<(Option<i64>, bool)>> = BTreeMap::new();
    for held in held.iter().filter(|held| held.facts.verdict.is_none()) {
        let facts = &held.facts;
        newest
            .entry(held.agent)
            .or_default()
            .push((facts.last.filter(believed), facts.silent));
    }
    newest.retain(|_, transcripts| {
        transcripts.sort_unstable_by_key(|transcript| std::cmp::Reverse(*transcript));
        let silent = transcripts.iter().take_while(|(_, silent)| *silent).count();
        let enough = silent >= SILENT.min(transcripts.len());
        transcripts.truncate(silent);
        enough
    });
    newest
        .into_iter()
        .map(|(agent, transcripts)| (agent, transcripts.len() as u64))
        .collect()
}

/// Gets the exchanges of some sessions out of the index.
fn fetch(sessions: &[&[usize]], held: &mut [Held], store: Option<&Store>) -> Result<(), Problem> {
    let Some(store) = store else { return Ok(()) };
    let (mut indices, mut ids) = (Vec::new(), Vec::new());
    for &index in sessions.iter().copied().flatten() {
        if let Kept::InIndex(id) = held[index].exchanges {
            indices.push(index);
            ids.push(id);
        }
    }
    for (index, body) in indices.into_iter().zip(index::bodies(store, &ids)?) {
        held[index].exchanges = Kept::Here(body.exchanges);
    }
    Ok(())
}

/// Makes a session of its files, and lets go of what they held.
fn assemble(
    members: &[usize],
    held: &mut [Held],
    counts: &[Vec<bool>],
    project: &Project,
) -> Option<Session> {
    let exchanges: Vec<Vec<Exchange>> = members
        .iter()
        .map(
            |&index| match std::mem::replace(&mut held[index].exchanges, Kept::Nowhere) {
                Kept::Here(exchanges) => exchanges,
                Kept::InIndex(_) | Kept::Nowhere => Vec::new(),
            },
        )
        .collect();
    let parts: Vec<Part<'_>> = members
        .iter()
        .zip(&exchanges)
        .map(|(&index, exchanges)| Part {
            path: &held[index].path,
            places: &held[index].facts.places,
            exchanges,
            counted: &counts[index],
        })
        .collect();
    let first = &held[*members.first()?];
    session(first.agent, &first.facts.session, &parts, &|directory| {
        project.covers(directory)
    })
}

/// Whether a session belongs to the harvest; counts it under its reason if it does not.
fn is_chosen(
    members: &[usize],
    held: &[Held],
    counts: &[Vec<bool>],
    project: &Project,
    since: Option<Instant>,
    harvest: &mut Harvest,
) -> bool {
    let Some(&first) = members.first() else {
        return false;
    };
    let agent = held[first].agent;
    let verdict = members.iter().find_map(|&index| held[index].facts.verdict);
    if let Some(reason) = verdict {
        harvest.skip(agent, reason, 1);
        return false;
    }
    let reason = match choose(members, held, counts, project, harvest) {
        Chosen::Some { ended } => {
            let since = since.map(Instant::as_millisecond);
            match ended.zip(since) {
                Some((ended, since)) if ended < since => Reason::BeforeSince,
                _ => return true,
            }
        }
        Chosen::NoneHere => Reason::OtherProject,
        // They were counted one by one, too.
        Chosen::NoneAtAll if is_excluded(members, held) => return false,
        Chosen::NoneAtAll => Reason::NoHumanTurn,
        // They were counted one by one.
        Chosen::Copies => return false,
    };
    harvest.skip(agent, reason, 1);
    false
}

/// Whether turns of a session were typed where the user lets nobody look.
fn is_excluded(members: &[usize], held: &[Held]) -> bool {
    members
        .iter()
        .any(|&index| held[index].facts.counts.has(Reason::ExcludedDirectory))
}

/// What of a session counts and belongs to the project.
enum Chosen {
    Some {
        ended: Option<i64>,
    },
    NoneHere,
    NoneAtAll,
    /// Everything in it is counted elsewhere.
    Copies,
}

fn choose(
    members: &[usize],
    held: &[Held],
    counts: &[Vec<bool>],
    project: &Project,
    harvest: &mut Harvest,
) -> Chosen {
    let mut ended = None;
    let (mut here, mut elsewhere, mut copies) = (0, 0, 0);
    for &index in members {
        let facts = &held[index].facts;
        for (fact, &counted) in facts.exchanges.iter().zip(&counts[index]) {
            if !fact.typed {
                continue;
            }
            if !counted {
                copies += 1;
            } else if project.covers(place_of(facts, fact.place)) {
                here += 1;
                ended = ended.max(fact.ended);
            } else {
                elsewhere += 1;
            }
        }
    }
    let Some(&first) = members.first() else {
        return Chosen::NoneAtAll;
    };
    let agent = held[first].agent;
    harvest.skip(agent, Reason::Copy, copies);
    match (here, elsewhere, copies) {
        (0, 0, 0) => Chosen::NoneAtAll,
        (0, 0, _) => Chosen::Copies,
        (0, _, _) => Chosen::NoneHere,
        _ => {
            harvest.skip(agent, Reason::OtherDirectory, elsewhere);
            Chosen::Some { ended }
        }
    }
}

/// Reads a transcript that is in memory, as its own harvest of everything.
pub(crate) fn read_bytes(agent: Agent, bytes: &[u8]) -> Option<Session> {
    let rules = Rules::new(&Request::default()).ok()?;
    let conditions = Conditions {
        rules: &rules,
        limits: &Limits::default(),
        stop: &AtomicBool::new(false),
    };
    let reading = file::read_memory(agent, bytes, &conditions);
    if reading.verdict.is_some() {
        return None;
    }
    let counted = vec![true; reading.exchanges.len()];
    let part = Part {
        path: Path::new("memory"),
        places: &reading.places,
        exchanges: &reading.exchanges,
        counted: &counted,
    };
    session(agent, &reading.session, &[part], &|_| true)
}

#[cfg(test)]
mod tests;
