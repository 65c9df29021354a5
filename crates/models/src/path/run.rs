//! One pass over the rows of a stage.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use skillopt_core::call::{Call, Message, Side};
use skillopt_core::tool::{self, MOST_ROUNDS, ToolReply};
use skillopt_core::{Instant, Problem};
use skillopt_store::attempts::{self, Within};
use skillopt_store::calls::{self, NightCall, State};
use skillopt_store::{nights, orders};
use tokio::task::JoinSet;

use super::{CallEvent, Inner, Reply};
use crate::backend::{Backend, Usage};
use crate::budget::Budget;
use crate::cancel::CancelToken;
use crate::error::{CallError, Cap};
use skillopt_core::reply::{Expect, Parsed, Unreadable, parse};

/// Calls in a row that fail for want of a provider before it is left alone for this pass.
const FAILURES_IN_A_ROW: u32 = 4;

/// Why a row has no reply: the row's own error, or one that ends the pass.
pub(super) enum Stop {
    Call(CallError),
    Pass(Problem),
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Pass(problem)
    }
}

/// One position of the stage.
pub(super) struct Row {
    pub(super) at: NightCall,
    pub(super) call: Call,
    /// What followed up on its reply in an earlier pass, in order.
    followed: VecDeque<(NightCall, Call)>,
}

/// A reply and what became of reading it.
pub(super) struct Heard {
    pub(super) attempt: i64,
    pub(super) text: String,
    pub(super) usage: Usage,
    pub(super) fresh: bool,
    pub(super) parsed: Result<Parsed, Unreadable>,
}

impl Heard {
    pub(super) fn into_reply(self, key: &str) -> Result<Reply, CallError> {
        let parsed = self
            .parsed
            .map_err(|Unreadable(reason)| CallError::Unreadable { reason })?;
        Ok(Reply {
            call: key.to_owned(),
            attempt: self.attempt,
            text: match &parsed {
                Parsed::Text(answer) => answer.clone(),
                Parsed::Calls(_) => {
                    return Err(CallError::Unreadable {
                        reason: format!("it goes on calling tools after {MOST_ROUNDS} rounds"),
                    });
                }
                Parsed::Mined(_) | Parsed::Score { .. } | Parsed::Edits(_) => self.text,
            },
            parsed,
            called: None,
            fresh: self.fresh,
            usage: self.usage,
        })
    }
}

/// What stops calls that were not begun.
#[derive(Default)]
struct Halt {
    night: Option<CallError>,
    providers: BTreeMap<String, CallError>,
    failing: BTreeMap<String, u32>,
    /// Calls that failed in this pass: an equal one is not paid for again.
    failed: HashMap<String, CallError>,
    /// Models that answered on a side in the place of the one that was asked.
    models: BTreeSet<(&'static str, String, String)>,
    /// Whose plan was heard of, and as of when; nothing for a reply that says nothing of it.
    readings: BTreeSet<(String, Option<Option<Instant>>)>,
}

pub(super) struct Run {
    pub(super) path: Arc<Inner>,
    pub(super) night: i64,
    /// The night and those whose place it took: of one date, they draw the same samples.
    nights: Vec<i64>,
    pub(super) stage: String,
    pub(super) budget: Arc<Budget>,
    /// Raised when the process or this night is told to stop.
    pub(super) stop: CancelToken,
    /// How many tries are under way.
    pub(super) under_way: AtomicUsize,
    /// Time at work when the pass began, and when that was by the steady clock.
    active: (Duration, Duration),
    rows: Mutex<Vec<Row>>,
    halt: Mutex<Halt>,
}

impl Run {
    pub(super) fn open(path: Arc<Inner>, night: i64, stage: &str) -> Result<Arc<Self>, Problem> {
        path.turns.tidy();
        let budget = path.budget(night)?;
        let now = path.store.clock().now();
        let steady = path.store.clock().steady();
        let worked = path.store.worked(night);
        let (rows, active, nights) = path.store.read(|db| {
            let Some(found) = nights::get(db, night)? else {
                return Err(unknown_night(night).into());
            };
            let mut rows: Vec<Row> = Vec::new();
            let mut planned = path.take_planned(night, stage);
            for at in calls::rows(db, night, stage)? {
                let kept = if at.ask == 0 { planned.next() } else { None };
                let call = match kept {
                    Some(call) => call,
                    None => calls::get(db, &at.key)?.ok_or_else(|| request_gone(&at))?,
                };
                match rows.last_mut() {
                    Some(row) if at.ask > 0 && row.at.position == at.position => {
                        row.followed.push_back((at, call));
                    }
                    _ => rows.push(Row {
                        at,
                        call,
                        followed: VecDeque::new(),
                    }),
                }
            }
            let mut one_date = nights::replaced_by(db, night)?;
            one_date.push(night);
            Ok((rows, nights::active(&found, worked, now), one_date))
        })?;
        let run = Self {
            path,
            night,
            nights,
            stage: stage.to_owned(),
            budget,
            stop: CancelToken::new(),
            under_way: AtomicUsize::new(0),
            active: (active, steady),
            rows: Mutex::new(rows),
            halt: Mutex::default(),
        };
        run.same_backends()?;
        Ok(Arc::new(run))
    }

    /// The stage was planned for the backends there are now. A command line that was updated since is
    /// still the same backend.
    fn same_backends(&self) -> Result<(), Problem> {
        let rows = self.rows();
        for row in rows.iter() {
            let planned = &row.call.backend;
            let now = self.path.roles.of(row.call.subject.side()).id();
            if (&planned.kind, &planned.address, &planned.model)
                != (&now.kind, &now.address, &now.model)
            {
                return Err(Problem::permanent(
                    "backend_changed",
                    format!(
                        "The stage {} was planned for {} {}, and {} {} is configured now.",
                        self.stage, planned.kind, planned.model, now.kind, now.model
                    ),
                    "Set the backend and model the night began with, or cancel the night and start another.",
                ));
            }
        }
        Ok(())
    }

    /// Answers every row and gives the results in their order.
    pub(super) async fn all(self: Arc<Self>) -> Result<Vec<Result<Reply, CallError>>, Problem> {
        let rows = std::mem::take(&mut *self.rows());
        let mut results: BTreeMap<u32, Result<Reply, CallError>> = BTreeMap::new();
        let (instant, others): (Vec<Row>, Vec<Row>) = rows
            .into_iter()
            .partition(|row| self.backend(&row.call).instant());
        results.extend(self.instant(&instant).await?);
        let mut asking = JoinSet::new();
        for row in others {
            let run = Arc::clone(&self);
            asking.spawn(async move { run.row(row).await });
        }
        let watching = self.watch();
        tokio::pin!(watching);
        loop {
            let joined = tokio::select! {
                biased;
                stopped = &mut watching => match stopped? {},
                joined = asking.join_next() => joined,
            };
            match joined {
                Some(Ok(answered)) => {
                    let (position, result) = answered?;
                    results.insert(position, result);
                }
                Some(Err(error)) if error.is_panic() => {
                    std::panic::resume_unwind(error.into_panic())
                }
                // Only dropping the set cancels, and it is still here.
                Some(Err(_)) => {}
                None => break,
            }
        }
        self.publish()?;
        Ok(results.into_values().collect())
    }

    async fn row(&self, row: Row) -> Result<(u32, Result<Reply, CallError>), Problem> {
        let position = row.at.position;
        let result = match self.reply(row).await {
            Ok(reply) => Ok(reply),
            Err(Stop::Call(error)) => Err(error),
            Err(Stop::Pass(problem)) => return Err(problem),
        };
        self.tell_result(position, &result);
        Ok((position, result))
    }

    pub(super) fn tell_result(&self, position: u32, result: &Result<Reply, CallError>) {
        let stage = self.stage.clone();
        self.path.tell(&match result {
            Ok(reply) => CallEvent::Answered {
                stage,
                position,
                fresh: reply.fresh,
                spent: self.budget.spent(),
            },
            Err(error) => CallEvent::Failed {
                stage,
                position,
                error: error.clone(),
            },
        });
    }

    /// Asks, and asks on while there is something to follow up on.
    async fn reply(&self, row: Row) -> Result<Reply, Stop> {
        let Row {
            mut at,
            mut call,
            mut followed,
        } = row;
        let backend = Arc::clone(self.backend(&call));
        let mut called = Vec::new();
        loop {
            let heard = self.question(backend.as_ref(), &at, &call).await?;
            let offered = !call.tools().is_empty();
            if offered && let Some(said) = ToolReply::from_json(&heard.text) {
                called.extend(names(&call, &said));
            }
            let Some(next) = self.follow_up(&call, &heard.text, &heard.parsed) else {
                return Ok(Reply {
                    called: offered.then_some(called),
                    ..heard.into_reply(&at.key)?
                });
            };
            (at, call) = match followed.pop_front() {
                Some(planned) => planned,
                // Planned by whoever recorded the reply, in the same transaction; or now, when it was looked up.
                None => self.follow(&at, next)?,
            };
        }
    }

    /// What is asked after this reply: the one repeat when it cannot be read, and with the results when
    /// it calls tools; `None` when nothing is.
    pub(super) fn follow_up(
        &self,
        call: &Call,
        text: &str,
        parsed: &Result<Parsed, Unreadable>,
    ) -> Option<Call> {
        match parsed {
            Ok(Parsed::Calls(said)) if call.rounds.len() < MOST_ROUNDS => {
                Some(self.next_round(call, said))
            }
            Err(Unreadable(reason)) if call.ask == 0 && call.tools().is_empty() => {
                Some(self.repeat_call(call, text, reason))
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// The row of a call that follows up.
    fn follow(&self, at: &NightCall, call: Call) -> Result<(NightCall, Call), Problem> {
        let key = self.path.store.commit("plan follow-up", |tx| {
            calls::plan_follow_up(tx, self.night, &self.stage, at.position, &call)
        })?;
        let at = NightCall {
            ask: call.ask,
            key,
            state: State::Planned,
            attempt: None,
            ..at.clone()
        };
        Ok((at, call))
    }

    /// The same question with what was called, whose results the tools give.
    fn next_round(&self, call: &Call, said: &ToolReply) -> Call {
        let mut next = call.clone();
        next.ask += 1;
        next.rounds.push(self.path.round_without_secrets(said));
        next
    }

    fn repeat_call(&self, call: &Call, reply: &str, reason: &str) -> Call {
        let messages = self
            .path
            .templates
            .repeat(call, reply, reason)
            .into_iter()
            .map(|message| Message {
                text: self.path.redacted(&message.text),
                ..message
            })
            .collect();
        Call {
            messages,
            ask: 1,
            ..call.clone()
        }
    }

    /// Looks up, hands off or sends one call.
    async fn question(
        &self,
        backend: &dyn Backend,
        at: &NightCall,
        call: &Call,
    ) -> Result<Heard, Stop> {
        let _turn = self.path.turns.take(&at.key).await;
        if let Some(heard) = self.known(backend, at, call)? {
            return Ok(heard);
        }
        if let Some(error) = self.halt().failed.get(&at.key) {
            return Err(Stop::Call(error.clone()));
        }
        let result = match backend.handoff() {
            Some(handoff) => self.hand_off(handoff, at, call),
            None => self.send(backend, at, call).await,
        };
        if let Err(Stop::Call(error)) = &result {
            self.halt().failed.insert(at.key.clone(), error.clone());
        }
        result
    }

    /// The answer there is already, within what its purpose allows: a judge's and a miner's for ever,
    /// others within the night and those whose place it took.
    fn known(
        &self,
        backend: &dyn Backend,
        at: &NightCall,
        call: &Call,
    ) -> Result<Option<Heard>, Stop> {
        let found = self
            .path
            .store
            .read(|db| attempts::answered(db, &at.key, self.within(call)))?;
        let Some(found) = found else { return Ok(None) };
        let Some(heard) = self.reused(at, call, found) else {
            return Ok(None);
        };
        if (at.state, at.attempt) != (state_of(&heard), Some(heard.attempt)) {
            self.path.store.commit("reuse reply", |tx| {
                self.settle(tx, at, state_of(&heard), Some(heard.attempt))
            })?;
        }
        if let Some(handoff) = backend.handoff() {
            self.report_change(handoff, at, call, &heard.text)?;
        }
        Ok(Some(heard))
    }

    pub(super) fn within(&self, call: &Call) -> Within<'_> {
        match call.subject.kind() {
            "mine" | "judge" => Within::Ever,
            _ => Within::Nights(&self.nights),
        }
    }

    /// What was found as a reply to the row. A reply of another night that cannot be read is none:
    /// it must not fail this night as well.
    pub(super) fn reused(
        &self,
        at: &NightCall,
        call: &Call,
        found: attempts::Answered,
    ) -> Option<Heard> {
        let parsed = parse(&Expect::of(&call.subject), &found.text);
        if parsed.is_err() && found.night != self.night {
            return None;
        }
        Some(Heard {
            attempt: found.attempt,
            fresh: at.state == State::Fresh && at.attempt == Some(found.attempt),
            usage: Usage {
                input_tokens: found.usage.input_tokens,
                cached_tokens: found.usage.cached_tokens,
                output_tokens: found.usage.output_tokens,
            },
            text: found.text,
            parsed,
        })
    }

    /// Whether a call to `provider` may begin: no order to stop, nothing that halted the pass.
    pub(super) fn may_start(&self, provider: &str) -> Result<(), Stop> {
        if self.is_told_to_stop() {
            return Err(self.stop_night(CallError::Cancelled));
        }
        {
            let halt = self.halt();
            if let Some(error) = halt.night.as_ref().or_else(|| halt.providers.get(provider)) {
                return Err(Stop::Call(error.clone()));
            }
        }
        if self
            .path
            .store
            .read(|db| orders::pending(db, self.night))?
            .is_some()
        {
            return Err(self.stop_night(CallError::Cancelled));
        }
        if let Some(at) = self.path.options.finish_at
            && self.path.store.clock().now() >= at
        {
            return Err(self.stop_night(CallError::FinishTime { at }));
        }
        if self.time_left().is_some_and(|left| left.is_zero()) {
            return Err(self.stop_night(CallError::BudgetExhausted { cap: Cap::Minutes }));
        }
        Ok(())
    }

    /// How much longer the night may be at work; `None` without a limit.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let (active, since) = self.active;
        let gone = self.path.store.clock().steady().saturating_sub(since);
        self.budget
            .caps()
            .time
            .map(|limit| limit.saturating_sub(active.saturating_add(gone)))
    }

    /// Nothing of the night begins any more in this pass.
    pub(super) fn stop_night(&self, error: CallError) -> Stop {
        self.halt().night.get_or_insert_with(|| error.clone());
        Stop::Call(error)
    }

    /// Nothing is asked of `provider` any more in this pass.
    pub(super) fn stop_provider(&self, provider: &str, error: CallError) {
        self.halt()
            .providers
            .entry(provider.to_owned())
            .or_insert(error);
    }

    /// A call to `provider` failed for good for want of it; after a few in a row it is left alone.
    pub(super) fn count_failure(&self, provider: &str, error: &CallError) {
        let mut halt = self.halt();
        let failing = halt.failing.entry(provider.to_owned()).or_default();
        *failing += 1;
        if *failing >= FAILURES_IN_A_ROW {
            let detail = format!("{failing} calls in a row failed, the last because: {error}");
            halt.providers
                .entry(provider.to_owned())
                .or_insert(CallError::Unavailable {
                    provider: provider.to_owned(),
                    detail,
                    sent: false,
                });
        }
    }

    /// A call to `provider` was answered.
    pub(super) fn count_answer(&self, provider: &str) {
        self.halt().failing.remove(provider);
    }

    /// Whether it is new in this pass that on `side` `answered` answers for `asked`.
    pub(super) fn first_answer_by(&self, side: Side, asked: &str, answered: &str) -> bool {
        !answered.is_empty()
            && asked != answered
            && self
                .halt()
                .models
                .insert((side.id(), asked.to_owned(), answered.to_owned()))
    }

    /// Whether it is new in this pass that `provider` tells of its plan as of then, or not at all.
    pub(super) fn first_reading(&self, provider: &str, as_of: Option<Option<Instant>>) -> bool {
        self.halt().readings.insert((provider.to_owned(), as_of))
    }

    pub(super) fn settle(
        &self,
        tx: &skillopt_store::Tx<'_>,
        at: &NightCall,
        state: State,
        attempt: Option<i64>,
    ) -> Result<(), skillopt_store::Fault> {
        calls::settle(
            tx,
            self.night,
            &self.stage,
            at.position,
            at.ask,
            state,
            attempt,
        )
    }

    pub(super) fn backend(&self, call: &Call) -> &Arc<dyn Backend> {
        self.path.roles.of(call.subject.side())
    }

    fn rows(&self) -> MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn halt(&self) -> MutexGuard<'_, Halt> {
        // Every change is complete before anything can panic.
        self.halt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tools that a reply calls, as the task names them; what was not offered is none.
fn names(call: &Call, said: &ToolReply) -> Vec<String> {
    let made = said.calls.iter().map(|made| &made.name);
    said.answered
        .iter()
        .chain(made)
        .filter_map(|name| tool::named(call.tools(), name))
        .map(|tool| tool.name.clone())
        .collect()
}

pub(super) fn state_of(heard: &Heard) -> State {
    if heard.fresh {
        State::Fresh
    } else {
        State::Reused
    }
}

fn unknown_night(night: i64) -> Problem {
    Problem::refused(
        "night_unknown",
        format!("There is no night {night}."),
        "`skillopt night list` shows the nights.",
    )
}

fn request_gone(at: &NightCall) -> skillopt_store::Fault {
    Problem::permanent(
        "request_expired",
        format!(
            "The question at place {} of the stage {} has expired.",
            at.position, at.stage
        ),
        "Cancel the night with `skillopt night cancel` and start another.",
    )
    .into()
}
