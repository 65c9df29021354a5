//! Exchanges become a session.

use std::collections::BTreeMap;
use std::path::Path;

use skillopt_core::Instant;
use skillopt_core::agent::Agent;
use skillopt_core::feedback::Happened;

use crate::reading::{Answer, Exchange, Place};
use crate::session::{Author, Session, Turn};

/// What one file contributes to a session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) path: &'a Path,
    pub(crate) places: &'a [Place],
    pub(crate) exchanges: &'a [Exchange],
    /// Whether each exchange counts in this file.
    pub(crate) counted: &'a [bool],
}

/// The session made of what counts in `parts` and was typed where `covers` says; `None` when no
/// prompt is left. The first part is the most complete one.
pub(crate) fn session(
    agent: Agent,
    id: &str,
    parts: &[Part<'_>],
    covers: &dyn Fn(&str) -> bool,
) -> Option<Session> {
    let nowhere = Place::default();
    // Position in its file, exchange, place.
    let mut chosen: Vec<(usize, &Exchange, &Place, &Part<'_>)> = Vec::new();
    for part in parts {
        for (position, (exchange, &counted)) in part.exchanges.iter().zip(part.counted).enumerate()
        {
            let place = part.places.get(exchange.place as usize).unwrap_or(&nowhere);
            if counted && covers(&place.directory) {
                chosen.push((position, exchange, place, part));
            }
        }
    }
    if parts.len() > 1 {
        // A stable sort: exchanges without a time stay behind those of their file before them.
        let mut latest = None;
        let mut keyed: Vec<(Option<Instant>, _)> = Vec::new();
        for (index, one) in chosen.into_iter().enumerate() {
            if index > 0 && one.0 == 0 {
                latest = None;
            }
            latest = one.1.at.or(latest);
            keyed.push((latest, one));
        }
        keyed.sort_by_key(|(at, _)| *at);
        chosen = keyed.into_iter().map(|(_, one)| one).collect();
    }
    let (_, _, first, part) = chosen
        .iter()
        .find(|(_, exchange, ..)| exchange.prompt.is_some())?;
    let mut session = Session {
        agent,
        id: id.to_owned(),
        directory: first.directory.clone(),
        branch: first.branch.clone(),
        started: None,
        ended: None,
        turns: Vec::new(),
        wrote: BTreeMap::new(),
        tools: Vec::new(),
        skills: Vec::new(),
        files: Vec::new(),
        path: part.path.to_owned(),
    };
    for (position, exchange, place, part) in chosen {
        add_new(&mut session.tools, &exchange.tools);
        add_new(&mut session.skills, &exchange.skills);
        add_new(&mut session.files, &exchange.files);
        for (author, turns) in exchange.others.counts() {
            wrote(&mut session, author, turns);
        }
        let Some(prompt) = &exchange.prompt else {
            continue;
        };
        let id = |id: &str| {
            if id.is_empty() {
                format!("#{position}")
            } else {
                id.to_owned()
            }
        };
        session.started = session.started.or(exchange.at);
        session.ended = session.ended.max(exchange.ended());
        wrote(&mut session, Author::Human, 1);
        session.turns.push(Turn {
            author: Author::Human,
            id: id(&exchange.id),
            at: exchange.at,
            directory: place.directory.clone(),
            branch: place.branch.clone(),
            text: prompt.text.clone(),
            tools: exchange.tools.clone(),
            skills: exchange.skills.clone(),
            files: exchange.files.clone(),
            interrupted: prompt.interrupted,
            feedback: prompt.feedback.clone(),
        });
        let silent = Answer::default();
        let answer = match &exchange.answer {
            Some(answer) => answer,
            None if !exchange.tools.is_empty() => &silent,
            None => continue,
        };
        let place = match &exchange.answer {
            Some(answer) => part.places.get(answer.place as usize).unwrap_or(place),
            None => place,
        };
        wrote(&mut session, Author::Assistant, 1);
        session.turns.push(Turn {
            author: Author::Assistant,
            id: if answer.id.is_empty() {
                format!("{}:answer", id(&exchange.id))
            } else {
                answer.id.clone()
            },
            at: answer.at,
            directory: place.directory.clone(),
            branch: place.branch.clone(),
            text: answer.text.clone(),
            tools: exchange.tools.clone(),
            skills: exchange.skills.clone(),
            files: exchange.files.clone(),
            interrupted: false,
            feedback: Vec::new(),
        });
    }
    if let Some(last) = session
        .turns
        .iter()
        .rposition(|turn| turn.author == Author::Human)
        && is_abandoned(&session.turns[last..])
    {
        let signal = Happened::Abandoned.signal().to_owned();
        session.turns[last].feedback.push(signal);
    }
    Some(session)
}

fn wrote(session: &mut Session, author: Author, turns: u32) {
    if turns > 0 {
        *session.wrote.entry(author).or_default() += u64::from(turns);
    }
}

/// Whether a session that ends with these turns, a person's and perhaps the answer to it, was left
/// without a result: the agent was stopped, or worked and never came to an answer. A session that
/// still goes on looks the same until it has its answer.
fn is_abandoned(end: &[Turn]) -> bool {
    let stopped = end.iter().any(|turn| {
        turn.feedback.iter().any(|signal| {
            matches!(
                Happened::of(signal),
                Some(Happened::Interrupted | Happened::ToolRejected)
            )
        })
    });
    let worked = end
        .iter()
        .any(|turn| !(turn.tools.is_empty() && turn.files.is_empty()));
    let answered = end
        .iter()
        .any(|turn| turn.author == Author::Assistant && !turn.text.is_empty());
    stopped || (worked && !answered)
}

/// Most names a session keeps of each kind.
const NAME_LIMIT: usize = 1000;

/// Adds the names that are not there yet, in order.
fn add_new(names: &mut Vec<String>, more: &[String]) {
    for name in more {
        if names.len() < NAME_LIMIT && !names.contains(name) {
            names.push(name.clone());
        }
    }
}
