//! What is due, what runs, and why something waits: read from the store, the settings, the locks and the
//! computer, and from nothing a process remembers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use skillopt_core::schedule::{
    Conditions, Decision, Due, Pause, Readiness, Rule, Surroundings, Unknown,
};
use skillopt_core::{Instant, Problem};
use skillopt_models::Roles;
use skillopt_sleep::{harvesting, mine};
use skillopt_store::nights::{self, Kind, Night, Outcome};
use skillopt_store::projects::{self, Project};
use skillopt_store::scheduled::{self, ScheduledNight, State};
use skillopt_store::{Connection, Fault, attempts, calls, locks, proposals, stages, tasks};

use super::rules::Schedule;
use super::state::{
    ATTENTION_AFTER, FirstLine, Last, Overall, ProjectState, Running, Supervising, SupervisorState,
    Why,
};
use super::surroundings;
use crate::context::App;

/// How many of a project's latest nights are looked at.
const LATEST: usize = 10;
/// How long a night that was begun is tried again.
const PERSISTENCE: SignedDuration = SignedDuration::from_hours(24);
/// How far ahead projects are counted with the next one.
const TOGETHER: SignedDuration = SignedDuration::from_hours(12);

/// A night that may begin now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    /// Id of the project.
    pub(super) project: String,
    /// Its folder.
    pub(super) root: String,
    /// The night of its schedule; `None` when it was asked for and none is due.
    pub(super) due: Option<Due>,
    /// It was missed and is caught up.
    pub(super) caught_up: bool,
    /// How often it was begun before.
    pub(super) tries: u64,
    /// Whether it was asked for by hand.
    pub(super) requested: bool,
    /// Whether the computer is kept awake meanwhile.
    pub(super) keep_awake: bool,
}

/// The state, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// For whoever shows it.
    pub(super) state: SupervisorState,
    /// What may begin now, in this order.
    pub(super) starts: Vec<Start>,
    /// When something changes by itself next: a night is due, a try may be made again, a pause ends.
    pub(super) next: Option<Instant>,
}

/// What is known of one project.
pub(super) struct Facts {
    project: Project,
    present: bool,
    schedule: Result<Schedule, Problem>,
    decision: Decision,
    /// The row of the night that is due.
    row: Option<ScheduledNight>,
    /// Another night was begun and is not over.
    left_over: bool,
    /// Its rule has not been seen before.
    new_rule: bool,
    requested: bool,
    holder: Option<String>,
    running: Option<Running>,
    last: Option<Last>,
    pending: usize,
    failures: u32,
}

/// What is known of all projects.
pub(super) struct Survey {
    now: Instant,
    pause: Option<Pause>,
    projects: Vec<Facts>,
}

impl Survey {
    /// Reads everything. `ours` are the projects whose night a child of this process runs. Blocks on the disk.
    pub(super) fn take(app: &App, ours: &BTreeSet<String>) -> Result<Self, Problem> {
        let now = app.clock.now();
        let (pause, requests, projects) = app.store.read(|db| {
            Ok((
                scheduled::paused(db, now)?,
                scheduled::requests(db)?,
                projects::list(db)?,
            ))
        })?;
        let requests: BTreeSet<String> = requests.into_iter().map(|(project, _)| project).collect();
        let projects = projects
            .into_iter()
            .map(|project| {
                let requested = requests.contains(&project.id);
                let ours = ours.contains(&project.id);
                facts(app, now, project, requested, ours)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            now,
            pause,
            projects,
        })
    }

    /// The projects of which a night is due whose conditions ask for something that must be looked at.
    pub(super) fn asks_for_sessions(&self) -> Vec<Project> {
        self.due()
            .filter(|(_, schedule)| schedule.conditions.new_sessions.is_some())
            .map(|(facts, _)| facts.project.clone())
            .collect()
    }

    /// Whether a night is due that asks about power, network or idleness.
    pub(super) fn asks_for_surroundings(&self) -> bool {
        self.due()
            .any(|(_, schedule)| asks_about_the_computer(&schedule.conditions))
    }

    /// Nights that are due, were not asked for by hand, and do not run.
    fn due(&self) -> impl Iterator<Item = (&Facts, &Schedule)> {
        self.projects
            .iter()
            .filter(|facts| facts.is_due() && !facts.requested && facts.running.is_none())
            .filter_map(|facts| Some((facts, facts.schedule.as_ref().ok()?)))
    }

    /// Projects with nights whose time is over, and the slot that is due meanwhile: they are not tried again.
    pub(super) fn over(&self) -> impl Iterator<Item = (&str, Option<DateTime>)> {
        self.projects
            .iter()
            .filter(|facts| facts.left_over && facts.running.is_none())
            .map(|facts| (facts.project.id.as_str(), facts.due_slot()))
    }

    /// Projects whose night waits for answers of a person or another program.
    pub(super) fn waiting_for_answers(&self) -> impl Iterator<Item = &Project> {
        self.projects
            .iter()
            .filter(|facts| self.pause.is_none() && facts.running.is_none() && !facts.requested)
            .filter(|facts| {
                let last = facts.last.as_ref().map(|last| last.outcome);
                last == Some(Outcome::WaitingForAnswers)
            })
            .map(|facts| &facts.project)
    }

    /// Projects whose rule is another than the last that was seen, with that rule.
    pub(super) fn new_rules(&self) -> impl Iterator<Item = (&str, String)> {
        self.projects
            .iter()
            .filter(|facts| facts.new_rule)
            .filter_map(|facts| {
                let schedule = facts.schedule.as_ref().ok()?;
                Some((facts.project.id.as_str(), schedule.fingerprint()))
            })
    }

    /// The state and what may begin. `sessions` are the counts of new sessions by project.
    pub(super) fn plan(
        &self,
        around: &Surroundings,
        sessions: &BTreeMap<String, u64>,
        supervising: Supervising,
        trouble: Option<String>,
    ) -> Plan {
        let mut busy: BTreeMap<String, String> = BTreeMap::new();
        for facts in self.projects.iter().filter(|facts| facts.running.is_some()) {
            facts.occupy(&mut busy);
        }
        let mut order: Vec<usize> = (0..self.projects.len()).collect();
        order.sort_by_key(|index| self.projects[*index].place());
        let mut starts = Vec::new();
        let mut waits: BTreeMap<usize, (Vec<Why>, Vec<_>)> = BTreeMap::new();
        for index in order {
            let facts = &self.projects[index];
            let around = Surroundings {
                new_sessions: sessions.get(&facts.project.id).copied(),
                ..*around
            };
            let Some((mut why, unknown)) = self.readiness(facts, &around) else {
                continue;
            };
            if why.is_empty()
                && let Some(other) = facts.blocked_by(&busy)
            {
                why.push(Why::Provider { busy: other });
            }
            if why.is_empty() {
                facts.occupy(&mut busy);
                starts.push(facts.start());
                if supervising == Supervising::Nobody {
                    why.push(Why::NobodySupervises);
                }
            }
            waits.insert(index, (why, unknown));
        }
        let projects: Vec<ProjectState> = self
            .projects
            .iter()
            .enumerate()
            .map(|(index, facts)| {
                let (why, unknown) = waits.remove(&index).unwrap_or_default();
                facts.state(why, unknown)
            })
            .collect();
        let pending_proposals = projects.iter().map(|project| project.pending).sum();
        let first_line = self.first_line(&projects, pending_proposals);
        let state = SupervisorState {
            overall: overall(&first_line, self.pause, pending_proposals),
            sentence: first_line.sentence(self.now, &TimeZone::system()),
            first_line,
            pending_proposals,
            pause: self.pause,
            supervising,
            trouble,
            projects,
        };
        Plan {
            next: self.next(&state),
            state,
            starts,
        }
    }

    /// Why a night that is due or was asked for waits, and what could not be looked at; `None` when none
    /// is to begin.
    fn readiness(&self, facts: &Facts, around: &Surroundings) -> Option<(Vec<Why>, Vec<Unknown>)> {
        if facts.running.is_some() || !(facts.requested || facts.is_due()) {
            return None;
        }
        if !facts.requested && self.pause.is_some() {
            return None;
        }
        let mut why = Vec::new();
        let mut unknown = Vec::new();
        if !facts.present {
            why.push(Why::FolderMissing);
        }
        if let Some(holder) = &facts.holder {
            why.push(Why::Busy {
                holder: holder.clone(),
            });
        }
        if !facts.requested {
            if let Some(until) = facts.put_off(self.now) {
                why.push(until);
            }
            if let Ok(schedule) = &facts.schedule {
                let found = schedule.conditions.look(around, self.now, &schedule.zone);
                why.extend(found.waits.into_iter().map(Why::Condition));
                unknown = found.unknown;
            }
        }
        Some((why, unknown))
    }

    fn first_line(&self, projects: &[ProjectState], pending: usize) -> FirstLine {
        let running: Vec<&ProjectState> = projects
            .iter()
            .filter(|project| project.running.is_some())
            .collect();
        if let Some(first) = running.first() {
            return FirstLine::Working {
                project: first.name.clone(),
                nights: running.len(),
            };
        }
        let wrong = projects
            .iter()
            .find(|project| project.failures >= ATTENTION_AFTER || project.problem.is_some());
        if let Some(project) = wrong {
            let said = project.last.as_ref().map(|last| last.reason.clone());
            return FirstLine::Attention {
                project: project.name.clone(),
                failures: project.failures,
                reason: project.problem.clone().or(said).unwrap_or_default(),
            };
        }
        if let Some(pause) = self.pause {
            return FirstLine::Paused {
                until: match pause {
                    Pause::Until(until) => Some(until),
                    Pause::Forever => None,
                },
            };
        }
        if pending > 0 {
            return FirstLine::Proposals { count: pending };
        }
        let waiting = projects
            .iter()
            .find_map(|project| Some((project, project.waits.first()?)));
        if let Some((project, reason)) = waiting {
            return FirstLine::Waiting {
                project: project.name.clone(),
                reason: reason.clone(),
            };
        }
        let next = projects
            .iter()
            .filter_map(|project| Some(project.next.as_ref()?.at));
        let Some(at) = next.clone().min() else {
            return FirstLine::Nothing;
        };
        let until = at.saturating_add(TOGETHER).unwrap_or(Instant::MAX);
        FirstLine::Next {
            at: at.max(self.now),
            projects: next.filter(|other| *other <= until).count(),
        }
    }

    fn next(&self, state: &SupervisorState) -> Option<Instant> {
        let due = state.projects.iter().filter_map(|project| {
            let next = project.next.as_ref().filter(|_| !project.due)?;
            Some(next.at)
        });
        let put_off = state.projects.iter().flat_map(|project| {
            project.waits.iter().filter_map(|why| match why {
                Why::PutOff { until, .. } => Some(*until),
                Why::Condition(_)
                | Why::Provider { .. }
                | Why::Busy { .. }
                | Why::FolderMissing
                | Why::NobodySupervises => None,
            })
        });
        let paused = match self.pause {
            Some(Pause::Until(until)) => Some(until),
            Some(Pause::Forever) | None => None,
        };
        due.chain(put_off).chain(paused).min()
    }
}

fn overall(first: &FirstLine, pause: Option<Pause>, pending: usize) -> Overall {
    match first {
        FirstLine::Working { .. } => Overall::Working,
        FirstLine::Attention { .. } => Overall::Attention,
        FirstLine::Paused { .. } => Overall::Paused,
        FirstLine::Proposals { .. } => Overall::WaitingForReview,
        FirstLine::Waiting { .. } | FirstLine::Next { .. } | FirstLine::Nothing => {
            debug_assert!(pause.is_none() && pending == 0);
            Overall::Asleep
        }
    }
}

impl Facts {
    fn is_due(&self) -> bool {
        matches!(self.decision, Decision::Run { .. })
    }

    fn due_slot(&self) -> Option<DateTime> {
        due_slot(&self.decision)
    }

    /// Those that were asked for come first, then those that are due longest.
    fn place(&self) -> (bool, Instant) {
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

    fn occupy(&self, busy: &mut BTreeMap<String, String>) {
        for provider in self.providers() {
            busy.insert(provider, self.project.name.clone());
        }
    }

    fn blocked_by(&self, busy: &BTreeMap<String, String>) -> Option<String> {
        self.providers()
            .iter()
            .find_map(|provider| busy.get(provider).cloned())
    }

    fn put_off(&self, now: Instant) -> Option<Why> {
        let row = self.row.as_ref()?;
        let until = row.not_before.filter(|until| *until > now)?;
        Some(Why::PutOff {
            until,
            reason: row.reason.clone(),
        })
    }

    fn start(&self) -> Start {
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
            requested: self.requested,
            keep_awake: self
                .schedule
                .as_ref()
                .is_ok_and(|schedule| schedule.keep_awake),
        }
    }

    fn state(&self, waits: Vec<Why>, unknown: Vec<Unknown>) -> ProjectState {
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
            pending: self.pending,
            failures: self.failures,
            problem: self
                .schedule
                .as_ref()
                .err()
                .map(|problem| problem.message.clone()),
        }
    }
}

fn facts(
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
    let (rows, nights, pending, completed, since) = app.store.read(|db| {
        let latest = match &schedule {
            Ok(schedule) => Rule::believable(now, &schedule.zone),
            Err(_) => DateTime::MAX,
        };
        let since = match &schedule {
            Ok(schedule) => scheduled::rule_since(db, &id, &schedule.fingerprint())?,
            Err(_) => None,
        };
        let waiting = proposals::list(db, Some(&id), 500)?;
        Ok((
            scheduled::list(db, &id, LATEST)?,
            nights::list(db, Some(&id), LATEST)?,
            waiting.iter().filter(|one| one.state.waits()).count(),
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
    let at_work = nights.iter().find(|night| {
        night.state == nights::State::Running
            && match &holder {
                Some(locks::Holder::Known { pid, .. }) => *pid == night.pid,
                Some(locks::Holder::Unknown) => true,
                None => false,
            }
    });
    let running = match at_work {
        Some(night) => Some(app.store.read(|db| progress(db, night, now, ours))?),
        None if ours => Some(Running {
            night: None,
            since: None,
            stage: None,
            calls_done: 0,
            calls: 0,
            calls_of_night: 0,
            tokens: 0,
            supervised: true,
        }),
        None => None,
    };
    let nights: Vec<&Night> = nights
        .iter()
        .filter(|night| night.kind == Kind::Run)
        .collect();
    Ok(Facts {
        present: Path::new(&project.root).is_dir(),
        row: due.and_then(|slot| rows.iter().find(|row| row.slot == slot).cloned()),
        left_over: rows
            .iter()
            .any(|row| row.state == State::Open && Some(row.slot) != due),
        new_rule: since.is_none(),
        requested,
        holder: holder
            .filter(|_| running.is_none())
            .map(|holder| holder.to_string()),
        failures: failures(&rows, &nights),
        last: last(&rows, &nights),
        running,
        pending,
        decision,
        schedule,
        project,
    })
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
    let supervised = ours
        || scheduled::list(db, &night.project, 1)?
            .first()
            .is_some_and(|row| row.state == State::Open && row.outcome.is_none());
    Ok(Running {
        night: Some(night.id),
        since: Some(night.resumed_at.min(now)),
        stage: stage.map(|stage| stage.name),
        calls_done: (rows.len() - open) as u64,
        calls: rows.len() as u64,
        calls_of_night: spend.calls,
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
        .filter(|row| row.state != State::Open)
        .take_while(|row| row.outcome == Some(Outcome::Failed))
        .filter(|row| row.ended_at > good_since)
        .count();
    u32::try_from(series).unwrap_or(u32::MAX)
}

/// The last night of whatever origin. One of the schedule that could not even begin has no night.
fn last(rows: &[ScheduledNight], nights: &[&Night]) -> Option<Last> {
    let night = nights.iter().find(|night| night.outcome.is_some());
    let row = rows.iter().find(|row| row.outcome.is_some());
    let of_row = |row: &ScheduledNight, outcome| Last {
        night: row.night,
        outcome,
        reason: row.reason.clone(),
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
                ended_at: night.ended_at,
                caught_up_for: None,
            })
        }
        (None, Some(row)) => Some(of_row(row, row.outcome?)),
        (None, None) => None,
    }
}

/// The state of the whole, from any process; nothing is started.
///
/// Errors: those of the store.
pub async fn look(app: &App) -> Result<SupervisorState, Problem> {
    let supervising = match locks::supervisor_holder(&app.paths) {
        Some(holder) => Supervising::Another(holder.to_string()),
        None => Supervising::Nobody,
    };
    let survey = Survey::take(app, &BTreeSet::new())?;
    let around = if survey.asks_for_surroundings() {
        surroundings::read(&app.environment, app.clock.now()).await
    } else {
        Surroundings::default()
    };
    let sessions = survey
        .asks_for_sessions()
        .into_iter()
        .filter_map(|project| {
            let id = project.id.clone();
            Some((id, new_sessions(app, project)?))
        })
        .collect();
    Ok(survey.plan(&around, &sessions, supervising, None).state)
}

/// What a night of a project would wait for if it were due now.
pub(crate) async fn readiness(app: &App, project: &Project, schedule: &Schedule) -> Readiness {
    let now = app.clock.now();
    let conditions = &schedule.conditions;
    let mut around = if asks_about_the_computer(conditions) {
        surroundings::read(&app.environment, now).await
    } else {
        Surroundings::default()
    };
    if conditions.new_sessions.is_some() {
        around.new_sessions = new_sessions(app, project.clone());
    }
    conditions.look(&around, now, &schedule.zone)
}

const fn asks_about_the_computer(conditions: &Conditions) -> bool {
    conditions.battery_at_least.is_some() || conditions.unmetered || conditions.idle.is_some()
}

/// How many sessions of a project have a turn that no night has looked at; `None` when they cannot be
/// read. Blocks on the disk.
pub(super) fn new_sessions(app: &App, project: Project) -> Option<u64> {
    let context = app.night(project).ok()?;
    let harvest = harvesting::read(&context, false).ok()?;
    let simulated = Roles::simulated_by_settings(&context.settings);
    let known = app
        .store
        .read(|db| tasks::mined_turns(db, &context.project.id, simulated))
        .ok()?;
    let new = harvest.sessions.iter().filter(|session| {
        session
            .human_turns()
            .any(|turn| !known.contains(&mine::source_turn(session, turn)))
    });
    Some(new.count() as u64)
}
