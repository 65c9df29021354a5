//! The model miner: one question per session, for sessions in which a request could be replayed.

use skillopt_core::call::Subject;
use skillopt_core::reply::{Needs, Parsed};
use skillopt_core::task::{Judge, SourceTurn};
use skillopt_core::text::{cut, head};
use skillopt_models::Ask;
use skillopt_transcripts::{Author, Session, Turn};

use crate::mine::{self, Mined, NotReplayable};
use crate::night::Night;
use crate::outcome::Stop;

/// What a miner is shown of a session (§15.2).
const PROMPTS: usize = 6;
const PROMPT_EXCERPT: usize = 240;
const REPLY_EXCERPT: usize = 400;
const SIGNALS: usize = 6;

/// Asks the optimizer for the tasks of every session with something new that could be replayed.
///
/// A session in which every answer needed tools or files is counted without a question: no reply
/// could make it replayable. A reply that cannot be read, or of which nothing can be used, costs that
/// session its model-mined tasks; what the corrections state literally is taken from it all the same.
pub(crate) async fn mine(
    night: &Night<'_>,
    sessions: &[Session],
    is_mined: &dyn Fn(&SourceTurn) -> bool,
) -> Result<Mined, Stop> {
    if let Some(mined) = night.output("mine")? {
        return Ok(mined);
    }
    let mut mined = Mined::default();
    let mut asked = Vec::new();
    for session in sessions {
        mine::look_at(session, is_mined, &mut mined);
        let mut replayable = false;
        for request in mine::new_requests(session, is_mined) {
            match mine::needs(&request) {
                Some(reason) => mined.count(reason),
                None => replayable = true,
            }
        }
        if replayable {
            asked.push(session);
        }
    }
    let replies = if asked.is_empty() {
        Vec::new()
    } else {
        night
            .ask("mine/ask", || {
                asked
                    .iter()
                    .map(|session| Ask {
                        subject: subject(night, session),
                        sample: 0,
                    })
                    .collect()
            })
            .await?
    };
    for (session, reply) in asked.into_iter().zip(replies) {
        match reply.map(|reply| reply.parsed) {
            Ok(Parsed::Mined(found)) => {
                if !take(session, found, is_mined, &mut mined) {
                    mined.unusable += 1;
                    literally(session, is_mined, &mut mined);
                }
            }
            Ok(Parsed::Text(_) | Parsed::Calls(_) | Parsed::Score { .. } | Parsed::Edits(_))
            | Err(_) => literally(session, is_mined, &mut mined),
        }
    }
    night.finish("mine", &mined)?;
    Ok(mined)
}

/// Takes what the corrections of a session state literally.
fn literally(session: &Session, is_mined: &dyn Fn(&SourceTurn) -> bool, mined: &mut Mined) {
    let literal = mine::heuristic(std::slice::from_ref(session), is_mined);
    mined.candidates.extend(literal.candidates);
}

fn subject(night: &Night<'_>, session: &Session) -> Subject {
    let last = session
        .turns
        .iter()
        .rev()
        .find(|turn| turn.author == Author::Assistant && !turn.text.trim().is_empty());
    Subject::Mine {
        project: night.context.project.name.clone(),
        session: session.id.clone(),
        prompts: shown(session)
            .iter()
            .map(|turn| cut(turn.text.trim(), PROMPT_EXCERPT))
            .collect(),
        last_reply: last.map_or_else(String::new, |turn| cut(turn.text.trim(), REPLY_EXCERPT)),
        feedback: session
            .human_turns()
            .flat_map(|turn| turn.feedback.iter().cloned())
            .take(SIGNALS)
            .collect(),
    }
}

/// The human turns a miner is shown; its reply refers to them by position.
fn shown(session: &Session) -> Vec<&Turn> {
    session.human_turns().take(PROMPTS).collect()
}

/// Takes the tasks of one reply. What the model says is never trusted beyond what can be verified:
/// turns must exist, at least one must be new, and the criterion must be usable; without one, that of
/// the corrections holds. Whether the reply was of use: it had a task, or said why there is none.
fn take(
    session: &Session,
    found: skillopt_core::reply::Mined,
    is_mined: &dyn Fn(&SourceTurn) -> bool,
    mined: &mut Mined,
) -> bool {
    let turns = shown(session);
    let (mut taken, mut unusable) = (0, 0);
    for task in found.tasks {
        match task.needs {
            Needs::Files => {
                mined.count(NotReplayable::NeedsFiles);
                continue;
            }
            Needs::Tools => {
                mined.count(NotReplayable::NeedsTools);
                continue;
            }
            Needs::None => {}
        }
        let named: Vec<&Turn> = task
            .turns
            .iter()
            .filter_map(|&position| turns.get(position).copied())
            .collect();
        let Some(&first) = named.first().or_else(|| turns.first()) else {
            continue;
        };
        let requests = mine::requests(session);
        // A correction belongs to the request that it corrects.
        let Some(request) = requests.into_iter().find(|request| request.has(&first.id)) else {
            mined.count(NotReplayable::NoCriterion);
            unusable += 1;
            continue;
        };
        if let Some(reason) = mine::needs(&request) {
            // Counted when the session was looked at; the model does not overrule the tools used.
            debug_assert!(reason != NotReplayable::NoCriterion);
            continue;
        }
        let judge = if !task.rubric.trim().is_empty() {
            Judge::Rubric(task.rubric.trim().to_owned())
        } else if !task.checks.is_empty() {
            Judge::Rule(task.checks.clone())
        } else {
            let stated = mine::criterion(&request);
            if stated.is_empty() {
                mined.count(NotReplayable::NoCriterion);
                unusable += 1;
                continue;
            }
            Judge::Rule(stated)
        };
        taken += 1;
        let mut candidate = mine::candidate(session, &request, judge);
        if candidate.turns.iter().all(is_mined) {
            continue;
        }
        head(task.intent.trim(), mine::INTENT_LIMIT).clone_into(&mut candidate.intent);
        candidate.tags.push("mined:llm".to_owned());
        mined.candidates.push(candidate);
    }
    taken > 0 || unusable == 0
}
