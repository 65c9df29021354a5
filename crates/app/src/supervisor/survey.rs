//! What is known of all projects, what follows for the whole, and what may begin.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use skillopt_core::schedule::{Decision, Due, Pause, Surroundings, Unknown};
use skillopt_core::{Instant, Problem};
use skillopt_models::Prices;
use skillopt_store::projects::{self, Project};
use skillopt_store::scheduled;

use super::facts::{Facts, facts};
use super::look::asks_about_the_computer;
use super::rules::Schedule;
use super::state::{FirstLine, Overall, ProjectState, Supervising, SupervisorState, Why};
use crate::context::App;

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
    /// How often a night of the project was begun or gone on with.
    pub(super) begun: u64,
    /// Whether it was asked for by hand.
    pub(super) requested: bool,
    /// Whether the computer is kept awake meanwhile.
    pub(super) keep_awake: bool,
}

/// A night that is due and waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Held {
    /// Id of the project.
    pub(super) project: String,
    /// The local time of its rule.
    pub(super) slot: DateTime,
    /// It was missed and is to be caught up.
    pub(super) caught_up: bool,
    /// Why it was left out, should it come to that, in a sentence.
    pub(super) reason: String,
}

/// The state, and what follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// For whoever shows it.
    pub(super) state: SupervisorState,
    /// What may begin now, in this order.
    pub(super) starts: Vec<Start>,
    /// Nights that wait, as far as that is not written down.
    pub(super) held: Vec<Held>,
    /// When something changes by itself next: a night is due, a try may be made again, a pause ends.
    pub(super) next: Option<Instant>,
}

/// What is known of all projects.
pub(super) struct Survey {
    now: Instant,
    pause: Option<Pause>,
    projects: Vec<Facts>,
    /// What is wrong as a whole, in a sentence: first of all that the user's own settings cannot be read.
    pub(super) trouble: Option<String>,
    currency: String,
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
            trouble: app.settings(None).err().map(|problem| problem.message),
            // A table that is broken is told of by the nights it keeps from beginning.
            currency: Prices::load(&app.paths.config)
                .map(|prices| prices.currency)
                .unwrap_or_default(),
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

    /// The projects that nobody works on.
    pub(super) fn idle(&self) -> impl Iterator<Item = &str> {
        self.projects
            .iter()
            .filter(|facts| facts.running.is_none() && facts.holder.is_none())
            .map(|facts| facts.project.id.as_str())
    }

    /// Projects whose night waits for answers of a person or another program.
    pub(super) fn waiting_for_answers(&self) -> impl Iterator<Item = &Project> {
        self.projects
            .iter()
            .filter(|facts| self.pause.is_none() && facts.running.is_none() && !facts.requested)
            .filter(|facts| facts.waits_for_answers)
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

    /// The state and what may begin. `sessions` are the counts of new sessions by project, `sleepless` is why
    /// the computer could not be kept awake.
    pub(super) fn plan(
        &self,
        around: &Surroundings,
        sessions: &BTreeMap<String, u64>,
        supervising: Supervising,
        sleepless: Option<String>,
    ) -> Plan {
        let mut busy: BTreeMap<String, String> = BTreeMap::new();
        for facts in self.projects.iter().filter(|facts| facts.running.is_some()) {
            facts.occupy(&mut busy);
        }
        let mut order: Vec<usize> = (0..self.projects.len()).collect();
        order.sort_by_key(|index| self.projects[*index].place());
        let mut starts = Vec::new();
        let mut held = Vec::new();
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
            held.extend(why.first().and_then(|why| self.held(facts, why)));
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
            overall: overall(&first_line),
            sentence: first_line.sentence(self.now, &TimeZone::system()),
            first_line,
            pending_proposals,
            pause: self.pause,
            supervising,
            trouble: self.trouble.clone().or(sleepless),
            currency: self.currency.clone(),
            projects,
        };
        Plan {
            next: self.next(&state),
            state,
            starts,
            held,
        }
    }

    /// What is to be written down of a night that is due and waits; nothing of one that was begun.
    fn held(&self, facts: &Facts, why: &Why) -> Option<Held> {
        let Decision::Run { due, caught_up } = &facts.decision else {
            return None;
        };
        let reason = why.missed(self.now, &TimeZone::system());
        let known = facts
            .row
            .as_ref()
            .is_some_and(|row| row.tries > 0 || row.reason == reason);
        (!known).then(|| Held {
            project: facts.project.id.clone(),
            slot: due.slot,
            caught_up: *caught_up,
            reason,
        })
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
                seconds_left: running
                    .iter()
                    .map(|project| project.running.as_ref()?.seconds_left)
                    .collect::<Option<Vec<u64>>>()
                    .and_then(|left| left.into_iter().max()),
            };
        }
        if let Some(reason) = &self.trouble {
            return FirstLine::Trouble {
                reason: reason.clone(),
            };
        }
        let wrong = projects.iter().find(|project| project.needs_the_user());
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
        if let Some(project) = projects.iter().find(|project| project.waits_for_answers()) {
            return FirstLine::Answers {
                project: project.name.clone(),
            };
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

const fn overall(first: &FirstLine) -> Overall {
    match first {
        FirstLine::Working { .. } => Overall::Working,
        FirstLine::Trouble { .. } | FirstLine::Attention { .. } => Overall::Attention,
        FirstLine::Paused { .. } => Overall::Paused,
        FirstLine::Proposals { .. } | FirstLine::Answers { .. } => Overall::WaitingForReview,
        FirstLine::Waiting { .. } | FirstLine::Next { .. } | FirstLine::Nothing => Overall::Asleep,
    }
}
