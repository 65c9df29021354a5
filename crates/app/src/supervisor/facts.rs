//! What is known of one project: its schedule, its nights, what is due and what runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use skillopt_core::schedule::{Decision, Due, Rule, Unknown};
use skillopt_core::{Instant, Problem};
use skillopt_sleep::time_left;
use skillopt_store::nights::{self, Kind, Night, Outcome};
use skillopt_store::projects::Project;
use skillopt_store::scheduled::{self, Refusal, ScheduledNight, State};
use skillopt_store::{Connection, Fault, attempts, calls, locks, proposals, stages};

use super::rules::Schedule;
use super::state::{Last, Missed, ProjectState, Running, Why, minutes_left};
use super::survey::Start;
use crate::context::App;
use crate::handoff;
use crate::night::is_of;
use crate::proposal::is_stale;

/// How many of a project's latest nights are looked at.
const LATEST: usize = 10;
/// How long it is said that a night was left out.
const NEWS: SignedDuration = SignedDuration::from_hours(24);
/// How long a night that was begun is tried again.
const PERSISTENCE: SignedDuration = SignedDuration::from_hours(24);

/// How long a night that has its answers is not gone on with after going on was refused.
const REFUSED_FOR: SignedDuration = SignedDuration::from_hours(1);

/// What is known of one project.
pub(super) struct Facts {
    pub(super) project: Project,
    pub(super) present: bool,
    pub(super) schedule: Result<Schedule, Problem>,
    pub(super) decision: Decision,
    /// The row of the night that is due.
    pub(super) row: Option<ScheduledNight>,
    /// Another night was begun and is not over.
    pub(super) left_over: bool,
    /// Its rule has not been seen before.
    pub(super) new_rule: bool,
    pub(super) requested: bool,
    pub(super) holder: Option<String>,
    pub(super) running: Option<Running>,
    pub(super) last: Option<Last>,
    pub(super) missed: Option<Missed>,
    /// Its last night waits for answers by hand, and going on with it has not just been refused.
    pub(super) waits_for_answers: bool,
    /// How often a night of it was begun or gone on with.
    pub(super) begun: u64,
    pub(super) pending: usize,
    pub(super) stale: usize,
    pub(super) failures: u32,
}

impl Facts {
    pub(super) fn is_due(&self) -> bool {
        matches!(self.decision, Decision::Run { .. })
    }

    pub(super) fn due_slot(&self) -> Option<DateTime> {
        due_slot(&self.decision)
    }

    /// Those that were asked for come first, then those that are due longest.
    pub(super) fn place(&self) -> (bool, Instant) {
        let at = match &self.decision {
            Decision::Run { due, .. } | Decision::Sleep(due) => due.at,
            Decision::Never => Instant::MAX,
        };
        (!self.requested, at)
    }

    fn providers(&self) -> BTreeSet<String> {
        self.schedule
            .as_ref()
            .map(|schedule| schedule.providers.clone())
            .unwrap_or_default()
    }

    pub(super) fn occupy(&self, busy: &mut BTreeMap<String, String>) {
        for provider in self.providers() {
            busy.insert(provider, self.project.name.clone());
        }
    }

    pub(super) fn blocked_by(&self, busy: &BTreeMap<String, String>) -> Option<String> {
        self.providers()
            .iter()
            .find_map(|provider| busy.get(provider).cloned())
    }

    pub(super) fn put_off(&self, now: Instant) -> Option<Why> {
        let row = self.row.as_ref()?;
        let until = row.not_before.filter(|until| *until > now)?;
        Some(Why::PutOff {
            until,
            reason: row.reason.clone(),
        })
    }

    pub(super) fn start(&self) -> Start {
        let (due, caught_up) = match &self.decision {
            Decision::Run { due, caught_up } => (Some(due.clone()), *caught_up),
            Decision::Sleep(_) | Decision::Never => (None, false),
        };
        Start {
            project: self.project.id.clone(),
            root: self.project.root.clone(),
            due,
            caught_up: caught_up && !self.requested,
            tries: self.row.as_ref().map_or(0, |row| row.tries),
            begun: self.begun,
            requested: self.requested,
            keep_awake: self
                .schedule
                .as_ref()
                .is_ok_and(|schedule| schedule.keep_awake),
        }
    }

    pub(super) fn state(&self, waits: Vec<Why>, unknown: Vec<Unknown>) -> ProjectState {
        let (next, due, catching_up) = match &self.decision {
            Decision::Run { due, caught_up } => (Some(due.clone()), true, *caught_up),
            Decision::Sleep(due) => (Some(due.clone()), false, false),
            Decision::Never => (None, false, false),
        };
        ProjectState {
            id: self.project.id.clone(),
            name: self.project.name.clone(),
            root: self.project.root.clone(),
            nightly: self
                .schedule
                .as_ref()
                .is_ok_and(|schedule| schedule.nightly),
            next,
            due,
            catching_up,
            requested: self.requested,
            waits,
            unknown,
            running: self.running.clone(),
            last: self.last.clone(),
            missed: self.missed.clone(),
            pending: self.pending,
            stale: self.stale,
            cron: None,
            failures: self.failures,
            problem: self.problem(),
        }
    }

    /// What the user has to put right before another night can run.
    fn problem(&self) -> Option<String> {
        match &self.schedule {
            Err(problem) => Some(problem.message.clone()),
            Ok(schedule) if !self.present && (schedule.nightly || self.requested) => Some(format!(
                "Its folder {} is not there: put it back, say where it is now (`skillopt project move`), or remove the project.",
                self.project.root
            )),
            Ok(_) => None,
        }
    }
}

/// Reads what is known of a project. Blocks on the disk.
pub(super) fn facts(
    app: &App,
    now: Instant,
    project: Project,
    requested: bool,
    ours: bool,
) -> Result<Facts, Problem> {
    let schedule = app
        .settings(Some(&project))
        .and_then(|resolved| Schedule::of(&resolved.settings));
    let holder = locks::project_holder(&app.paths, &project.id);
    let id = project.id.clone();
    let (rows, nights, begun, refused, waiting, completed, since) = app.store.read(|db| {
        let latest = match &schedule {
            Ok(schedule) => Rule::believable(now, &schedule.zone),
            Err(_) => DateTime::MAX,
        };
        let since = match &schedule {
            Ok(schedule) => scheduled::rule_since(db, &id, &schedule.fingerprint())?,
            Err(_) => None,
        };
        let mut waiting = Vec::new();
        for proposal in proposals::waiting(db, Some(&id))? {
            waiting.push(proposals::targets(db, &proposal.id)?);
        }
        Ok((
            scheduled::list(db, &id, LATEST)?,
            nights::list(db, Some(&id), LATEST)?,
            nights::begun(db, &id, Kind::Run)?,
            scheduled::refused(db, &id)?,
            waiting,
            scheduled::completed(db, &id, latest)?,
            since,
        ))
    })?;
    let decision = match &schedule {
        Ok(schedule) if schedule.nightly => {
            decide(schedule, now, &id, &rows, completed, since.unwrap_or(now))
        }
        Ok(_) | Err(_) => Decision::Never,
    };
    let due = due_slot(&decision);
    let at_work = nights.iter().find(|night| is_of(night, holder.as_ref()));
    let running = match at_work {
        Some(night) => Some(app.store.read(|db| progress(db, night, now, ours))?),
        None if ours => Some(Running {
            night: None,
            since: None,
            stage: None,
            calls_done: 0,
            calls: 0,
            calls_of_night: 0,
            calls_expected: None,
            seconds_left: None,
            minutes_left: None,
            tokens: 0,
            supervised: true,
        }),
        None => None,
    };
    let nights: Vec<&Night> = nights
        .iter()
        .filter(|night| night.kind == Kind::Run)
        .collect();
    let mut last = last_begun(&rows, &nights);
    if let Some(last) = &mut last
        && last.outcome == Outcome::WaitingForAnswers
        && let Some(night) = last.night
    {
        last.refused_answer = handoff::refused_answer(app, night)?;
    }
    let just_refused = refused.as_ref().is_some_and(|refused| {
        let since = now.duration_since(refused.at);
        !since.is_negative() && since < REFUSED_FOR
    });
    Ok(Facts {
        waits_for_answers: !just_refused
            && last
                .as_ref()
                .is_some_and(|last| last.outcome == Outcome::WaitingForAnswers),
        begun,
        present: Path::new(&project.root).is_dir(),
        row: due.and_then(|slot| rows.iter().find(|row| row.slot == slot).cloned()),
        left_over: rows.iter().any(|row| {
            row.state == State::Open && Some(row.slot) != due && !is_to_come(row, &decision)
        }),
        new_rule: since.is_none(),
        requested,
        holder: holder
            .filter(|_| running.is_none())
            .map(|holder| holder.to_string()),
        failures: failures(&rows, &nights),
        // One that is there is newer than every night.
        last: refused.map(of_refusal).or(last),
        missed: missed(&rows, now),
        running,
        pending: waiting.len(),
        stale: waiting
            .iter()
            .filter(|targets| targets.iter().any(is_stale))
            .count(),
        decision,
        schedule,
        project,
    })
}

/// Whether a night that waited is to come once more: the clock was set back.
fn is_to_come(row: &ScheduledNight, decision: &Decision) -> bool {
    row.tries == 0 && matches!(decision, Decision::Sleep(next) if next.slot == row.slot)
}

const fn due_slot(decision: &Decision) -> Option<DateTime> {
    match decision {
        Decision::Run { due, .. } => Some(due.slot),
        Decision::Sleep(_) | Decision::Never => None,
    }
}

/// What is due, or the night that was begun and is not over, as long as it is not old.
fn decide(
    schedule: &Schedule,
    now: Instant,
    project: &str,
    rows: &[ScheduledNight],
    completed: Option<DateTime>,
    since: Instant,
) -> Decision {
    let rule = &schedule.rule;
    let decision = rule.decide(now, &schedule.zone, project, completed, since);
    if matches!(decision, Decision::Run { .. }) {
        return decision;
    }
    let begun = rows.iter().find(|row| {
        row.state == State::Open
            && row.tries > 0
            && rule.is_new(row.slot, completed)
            && row.slot <= Rule::believable(now, &schedule.zone)
    });
    begun
        .map(|row| (row, rule.due(row.slot, &schedule.zone, project)))
        .filter(|(_, due)| now.duration_since(due.at) <= PERSISTENCE)
        .map_or(decision, |(row, due)| {
            let finish_by = due.finish_by.filter(|end| *end > now);
            Decision::Run {
                due: Due { finish_by, ..due },
                caught_up: row.caught_up,
            }
        })
}

fn progress(db: &Connection, night: &Night, now: Instant, ours: bool) -> Result<Running, Fault> {
    let stage = stages::list(db, night.id)?
        .into_iter()
        .rfind(|stage| stage.state == stages::State::Planned);
    let rows = match &stage {
        Some(stage) => calls::rows(db, night.id, &stage.name)?,
        None => Vec::new(),
    };
    let open = rows
        .iter()
        .filter(|row| matches!(row.state, calls::State::Planned | calls::State::Waiting))
        .count();
    let spend = attempts::spend(db, night.id)?;
    let way = time_left::way(db, night, now)?;
    let supervised = ours
        || scheduled::list(db, &night.project, 1)?
            .first()
            .is_some_and(|row| row.state == State::Open && row.tries > 0 && row.outcome.is_none());
    let seconds_left = way.and_then(|way| way.left).map(|left| left.as_secs());
    Ok(Running {
        night: Some(night.id),
        since: Some(night.resumed_at.min(now)),
        stage: stage.map(|stage| stage.name),
        calls_done: (rows.len() - open) as u64,
        calls: rows.len() as u64,
        calls_of_night: spend.calls,
        calls_expected: way.map(|way| way.expected),
        seconds_left,
        minutes_left: seconds_left.map(minutes_left),
        tokens: spend.tokens,
        supervised,
    })
}

/// How many scheduled nights failed one after the other, up to now; a good night of whatever origin ends
/// the series.
fn failures(rows: &[ScheduledNight], nights: &[&Night]) -> u32 {
    let good_since = nights
        .iter()
        .filter(|night| night.state == nights::State::Ended)
        .filter(|night| {
            !matches!(
                night.outcome,
                Some(Outcome::Failed | Outcome::Interrupted) | None
            )
        })
        .filter_map(|night| night.ended_at)
        .max();
    let series = rows
        .iter()
        .filter(|row| row.state != State::Open && row.tries > 0)
        .take_while(|row| row.outcome == Some(Outcome::Failed))
        .filter(|row| row.ended_at > good_since)
        .count();
    u32::try_from(series).unwrap_or(u32::MAX)
}

/// The newest night that was left out, for a day.
fn missed(rows: &[ScheduledNight], now: Instant) -> Option<Missed> {
    rows.iter()
        .filter(|row| row.state == State::GivenUp && row.tries == 0)
        .find(|row| row.ended_at.is_some_and(|at| now.duration_since(at) < NEWS))
        .map(|row| Missed {
            slot: row.slot,
            reason: row.reason.clone(),
        })
}

fn of_refusal(refused: Refusal) -> Last {
    Last {
        night: None,
        outcome: refused.outcome,
        reason: refused.reason,
        needs: refused.needs,
        refused_answer: None,
        ended_at: Some(refused.at),
        caught_up_for: None,
    }
}

/// The last night of whatever origin. One of the schedule that could not even begin has no night. One that
/// was left out changes nothing about an earlier one that waits for the user.
fn last_begun(rows: &[ScheduledNight], nights: &[&Night]) -> Option<Last> {
    let begun = last_of(rows.iter().filter(|row| row.tries > 0), nights);
    begun
        .filter(|last| last.needs.is_some() || last.outcome == Outcome::WaitingForAnswers)
        .or_else(|| last_of(rows.iter(), nights))
}

/// The last one of these.
fn last_of<'a>(
    mut rows: impl Iterator<Item = &'a ScheduledNight>,
    nights: &[&Night],
) -> Option<Last> {
    let night = nights.iter().find(|night| night.outcome.is_some());
    let row = rows.find(|row| row.outcome.is_some());
    let of_row = |row: &ScheduledNight, outcome| Last {
        night: row.night,
        outcome,
        reason: row.reason.clone(),
        needs: row.needs.clone(),
        refused_answer: None,
        ended_at: row.ended_at,
        caught_up_for: row.caught_up.then_some(row.slot),
    };
    match (night, row) {
        (Some(night), row) => {
            let row =
                row.filter(|row| row.night == Some(night.id) || row.ended_at > night.ended_at);
            if let Some(row) = row {
                return Some(of_row(row, row.outcome?));
            }
            Some(Last {
                night: Some(night.id),
                outcome: night.outcome?,
                reason: night.reason.clone(),
                needs: None,
                refused_answer: None,
                ended_at: night.ended_at,
                caught_up_for: None,
            })
        }
        (None, Some(row)) => Some(of_row(row, row.outcome?)),
        (None, None) => None,
    }
}
