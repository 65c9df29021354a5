//! A night as its schedule wants it: once, whoever starts it, and over in time.

use std::time::Duration;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};
use skillopt_core::schedule::Rule;
use skillopt_core::{Instant, Problem, Retry};
use skillopt_models::CancelToken;
use skillopt_sleep::context::Context;
use skillopt_sleep::run::{self, Plan};
use skillopt_sleep::{NightReport, Stop};
use skillopt_store::nights::{self, Outcome};
use skillopt_store::scheduled::{self, Ended, State};
use skillopt_store::{Clock, locks};

use crate::supervisor::Schedule;

/// How often a night is begun whose process does not live to say how it ended.
pub(crate) const MOST_TRIES: u64 = 3;
/// How long the first pause between tries is; each further one is twice as long, up to an hour.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(5);
/// How often the clock is looked at while a night must be over in time.
const TICK: Duration = Duration::from_secs(20);

/// Which night of its schedule a run is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ScheduledNight", optional_fields = nullable))]
pub struct Scheduled {
    /// The local time of its rule; the latest that has come when empty, as for a run that cron starts.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub slot: Option<DateTime>,
    /// It was missed and is caught up.
    #[serde(default)]
    pub caught_up: bool,
    /// When it must be over.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub finish_by: Option<Instant>,
}

/// Runs the night unless it is over already, and writes down how it ended.
///
/// Errors: those of the store and of the schedule's settings. A night that cannot begin is a report.
pub(crate) async fn run(
    context: &Context,
    plan: Plan,
    asked: Scheduled,
) -> Result<NightReport, Problem> {
    let schedule = Schedule::of(&context.settings)?;
    let project = context.project.id.as_str();
    let now = context.clock.now();
    // Held from looking whether the night is over to writing down that it is.
    let _lock = match locks::schedule(&context.paths, project, "running a scheduled night", now) {
        Ok(lock) => lock,
        Err(problem) => return Ok(NightReport::unbegun(context, &Stop::from(problem))),
    };
    let latest = Rule::believable(now, &schedule.zone);
    let slot = asked
        .slot
        .or_else(|| schedule.rule.slot_at(now, &schedule.zone))
        .unwrap_or_else(|| schedule.zone.to_datetime(now));
    let completed = context
        .store
        .read(|db| scheduled::completed(db, project, latest))?;
    if !schedule.rule.is_new(slot, completed) {
        return Ok(NightReport::not_needed(
            context,
            format!(
                "The night of {} has already run.",
                slot.strftime("%Y-%m-%d")
            ),
        ));
    }
    context.store.commit("begin scheduled night", |tx| {
        scheduled::begin(tx, project, slot, asked.caught_up)
    })?;
    let context = &Context {
        finish_at: asked.finish_by.or(context.finish_at),
        ..context.clone()
    };
    let (mut report, late) = in_time(context, plan, asked.finish_by).await;
    if late {
        say_late(context, &mut report, &schedule)?;
    }
    let tries = context
        .store
        .read(|db| scheduled::get(db, project, slot))?
        .map_or(1, |row| row.tries);
    let ended = ended(context, &report, late, tries)?;
    context.store.commit("scheduled night ended", |tx| {
        scheduled::end(tx, project, slot, &ended)
    })?;
    Ok(report)
}

/// Runs a night, and tells it to stop when its time is over; whether that is why it stopped.
async fn in_time(context: &Context, plan: Plan, end: Option<Instant>) -> (NightReport, bool) {
    let Some(end) = end else {
        return (run::run(context, plan).await, false);
    };
    // A token of its own: the end of its time is not the end of the program.
    let stop = CancelToken::new();
    let bounded = Context {
        cancel: stop.clone(),
        ..context.clone()
    };
    let night = run::run(&bounded, plan);
    tokio::pin!(night);
    let mut late = false;
    loop {
        let left = left(context.clock.as_ref(), end);
        let over = left.is_zero() && !stop.is_cancelled();
        if over {
            late = true;
            stop.cancel();
        }
        tokio::select! {
            report = &mut night => {
                let stopped = report.outcome == Outcome::Interrupted;
                return (report, late && stopped);
            }
            () = context.cancel.cancelled(), if !stop.is_cancelled() => stop.cancel(),
            () = tokio::time::sleep(left.min(TICK)), if !stop.is_cancelled() => {}
        }
    }
}

fn left(clock: &dyn Clock, end: Instant) -> Duration {
    Duration::try_from(end.duration_since(clock.now())).unwrap_or(Duration::ZERO)
}

/// A night whose time was over is one that was put off, not one that somebody interrupted.
fn say_late(
    context: &Context,
    report: &mut NightReport,
    schedule: &Schedule,
) -> Result<(), Problem> {
    let here = schedule.zone.to_datetime(context.clock.now());
    report.outcome = Outcome::Deferred;
    report.reason = format!(
        "Its time was over at {}; the next night goes on where it was.",
        here.strftime("%H:%M")
    );
    let Some(id) = report.night_id else {
        return Ok(());
    };
    context.store.commit("night out of time", |tx| {
        // Somebody may have ended it meanwhile.
        if nights::required(tx, id)?.state == nights::State::Stopped {
            nights::stop(tx, id, report.outcome, &report.reason, None)?;
        }
        Ok(())
    })
}

/// What a report means for the night of the schedule: whether it is over, or when it is tried again.
fn ended(
    context: &Context,
    report: &NightReport,
    late: bool,
    tries: u64,
) -> Result<Ended, Problem> {
    let spent = report
        .problem
        .as_ref()
        .is_some_and(|problem| skillopt_sleep::is_budget(&problem.code));
    let ended_by_user = || -> Result<bool, Problem> {
        let Some(id) = report.night_id else {
            return Ok(false);
        };
        let night = context.store.read(|db| nights::get(db, id))?;
        Ok(night.is_some_and(|night| night.state == nights::State::Ended))
    };
    let (state, not_before) = match report.outcome {
        Outcome::Proposed
        | Outcome::NotImproved
        | Outcome::Inconclusive
        | Outcome::NothingToDo
        | Outcome::WaitingForAnswers
        | Outcome::Failed => (State::Done, None),
        Outcome::Interrupted if ended_by_user()? => (State::Done, None),
        Outcome::Interrupted => (State::Open, None),
        Outcome::Deferred if late || spent => (State::Done, None),
        Outcome::Deferred => {
            let again = report
                .until
                .unwrap_or_else(|| later(context.clock.now(), tries));
            (State::Open, Some(again))
        }
    };
    Ok(Ended {
        state,
        night: report.night_id,
        outcome: report.outcome,
        reason: report.reason.clone(),
        needs: report.problem.as_ref().and_then(needs),
        not_before,
    })
}

/// The code of a problem that stays until a person changes something.
fn needs(problem: &Problem) -> Option<String> {
    match problem.retry {
        Retry::Permanent => Some(problem.code.to_string()),
        Retry::Temporary => None,
    }
}

/// When a night is tried again that could not run now, after so many tries.
pub(crate) fn later(now: Instant, tries: u64) -> Instant {
    let doublings = u32::try_from(tries.saturating_sub(1))
        .unwrap_or(u32::MAX)
        .min(4);
    let pause = (FIRST_PAUSE * 2_i32.pow(doublings)).min(SignedDuration::from_hours(1));
    now.saturating_add(pause).unwrap_or(Instant::MAX)
}
