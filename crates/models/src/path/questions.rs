//! Rows a person or another program answers, through the files of [`crate::handoff`].

use std::collections::BTreeSet;

use serde_json::json;
use skillopt_core::Problem;
use skillopt_core::call::Call;
use skillopt_store::calls::{self, NightCall, State};
use skillopt_store::{attempts, events};

use skillopt_store::Store;

use super::CallEvent;
use super::run::{Heard, Run, Stop};
use crate::backend::{Backend, Usage};
use crate::error::CallError;
use crate::handoff::{Answer, Handoff, Question, id};
use skillopt_core::reply::{Expect, Unreadable, parse};

/// Kind of the event that tells of an answer that was changed after it was used.
const CHANGED: &str = "handoff/changed";

impl Run {
    /// Takes the answer from its file, or leaves the row waiting for it.
    pub(super) fn hand_off(
        &self,
        handoff: &Handoff,
        at: &NightCall,
        call: &Call,
    ) -> Result<Heard, Stop> {
        self.may_start(&handoff.provider())?;
        let refused = match self.answer(handoff, at, call) {
            Answer::Given(text) => match parse(&Expect::of(&call.subject), &text) {
                Ok(parsed) => {
                    let attempt = self.path.store.commit("take answer", |tx| {
                        let attempt =
                            attempts::start(tx, self.night, &at.key, attempts::Cost::default())?;
                        attempts::answer(tx, attempt, &text, attempts::Usage::default(), Some(0))?;
                        self.settle(tx, at, State::Fresh, Some(attempt))?;
                        Ok(attempt)
                    })?;
                    return Ok(Heard {
                        attempt,
                        text,
                        usage: Usage::default(),
                        fresh: true,
                        parsed: Ok(parsed),
                    });
                }
                Err(Unreadable(reason)) => Some(reason),
            },
            Answer::Missing => None,
            Answer::Refused(why) => Some(why),
        };
        if at.state != State::Waiting {
            self.path.store.commit("wait for answer", |tx| {
                self.settle(tx, at, State::Waiting, None)
            })?;
        }
        Err(CallError::WaitingForAnswer {
            id: id(&at.key).to_owned(),
            refused,
        }
        .into())
    }

    /// The answer in its file, without what looks like a secret.
    fn answer(&self, handoff: &Handoff, at: &NightCall, call: &Call) -> Answer {
        match handoff.answer(call, &at.key) {
            Answer::Given(text) => Answer::Given(self.path.reply_without_secrets(call, text)),
            answer @ (Answer::Missing | Answer::Refused(_)) => answer,
        }
    }

    /// Says once that the file of an answer that was taken has changed since. A file that is gone or
    /// cannot be an answer has not.
    pub(super) fn report_change(
        &self,
        handoff: &Handoff,
        at: &NightCall,
        call: &Call,
        taken: &str,
    ) -> Result<(), Problem> {
        match self.answer(handoff, at, call) {
            Answer::Given(now) if now != taken => {}
            Answer::Given(_) | Answer::Missing | Answer::Refused(_) => return Ok(()),
        }
        let id = id(&at.key).to_owned();
        let body = json!({"id": id, "stage": self.stage, "file": handoff.answer_file(&id)});
        self.path.store.commit("report changed answer", |tx| {
            let known = events::of_kind(tx, self.night, CHANGED)?;
            if !known.iter().any(|event| event.body == body) {
                events::append(tx, self.night, CHANGED, &body)?;
            }
            Ok(())
        })?;
        self.path.tell(&CallEvent::AnswerChanged { id });
        Ok(())
    }

    /// Writes every question of the night that waits into the hand-off folder.
    pub(super) fn publish(&self) -> Result<(), Problem> {
        let roles = &self.path.roles;
        let Some(handoff) = roles
            .each()
            .into_iter()
            .find_map(|backend| backend.handoff())
        else {
            return Ok(());
        };
        let questions = open_questions(&self.path.store, self.night, handoff)?;
        let published = handoff.publish(&questions)?;
        if published.open > 0 {
            self.path.tell(&CallEvent::Questions {
                open: published.open,
                folder: handoff.folder().to_owned(),
                refused: questions
                    .into_iter()
                    .filter_map(|question| {
                        let why = question.refused?;
                        Some((id(&question.call.key()).to_owned(), why))
                    })
                    .collect(),
            });
        }
        Ok(())
    }
}

/// The questions of a night that wait, each once, with why the file that is there now is no answer.
pub fn open_questions(
    store: &Store,
    night: i64,
    handoff: &Handoff,
) -> Result<Vec<Question>, Problem> {
    let waiting = store.read(|db| {
        let mut seen = BTreeSet::new();
        let mut waiting = Vec::new();
        for at in calls::rows_of_night(db, night)? {
            if at.state == State::Waiting && seen.insert(at.key.clone()) {
                waiting.extend(calls::get(db, &at.key)?.map(|call| (at.key, call)));
            }
        }
        Ok(waiting)
    })?;
    Ok(waiting
        .into_iter()
        .map(|(key, call)| {
            let refused = match handoff.answer(&call, &key) {
                Answer::Refused(why) => Some(why),
                Answer::Given(text) => parse(&Expect::of(&call.subject), &text)
                    .err()
                    .map(|error| error.0),
                Answer::Missing => None,
            };
            Question { call, refused }
        })
        .collect())
}
