//! What the user is told without asking, and when: one notice per cause and day, all proposals of a
//! night in one, nothing at hours that shall be silent, and nothing when there is nothing to do.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::civil::{Date, DateTime, Time};
use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::schedule::{hours, is_between};
use skillopt_settings::{Notifications, Settings};
use skillopt_sleep::adopt::is_under_version_control;
use skillopt_store::proposals::{self, State, TargetState};
use skillopt_store::{meta, projects};

use crate::context::App;
use crate::handoff::RefusedAnswer;
use crate::proposal::{compared, flags, is_stale};
use crate::supervisor::{FirstLine, Overall, ProjectState, SupervisorState};

/// Where the store keeps what was told.
const TOLD: &str = "notices";
/// A desktop that shows no trays: told once, and never forgotten.
const NO_TRAY: &str = "no tray";
/// Nights that cannot be looked after.
const TROUBLE: &str = "trouble";
/// How long that is remembered, in days. Another cause that is still there is told again after that.
const REMEMBERED: i32 = 60;

/// A proposal that waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitingProposal {
    /// Its id.
    pub id: String,
    /// What an action on it must carry: every process of the session can forge one.
    pub nonce: String,
    /// The documents that wait.
    pub documents: Vec<WaitingDocument>,
    /// Whether it can be adopted without a confirmation: the scan found nothing.
    pub unflagged: bool,
}

/// One document of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WaitingDocument {
    /// What people call it: the folder of a skill, the file of a memory document.
    pub name: String,
    /// Held-out score as it is, from 0 to 1.
    pub before: Option<f64>,
    /// Held-out score as it would be.
    pub after: Option<f64>,
    /// How many held-out tasks the scores are of.
    pub tasks: usize,
    /// Its file has changed since it was proposed: it cannot be adopted any more.
    pub stale: bool,
    /// Its file is the project's and a repository's: the change is everyone's.
    pub under_version_control: bool,
}

impl WaitingProposal {
    /// Whether one click may adopt it: there is nothing to be read or confirmed first, and every file is as
    /// it was.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.unflagged && self.documents.iter().all(|document| !document.stale)
    }
}

/// Every proposal that waits, newest first.
pub fn waiting(app: &App) -> Result<Vec<WaitingProposal>, Problem> {
    let found = app.store.read(|db| {
        let mut found = Vec::new();
        for proposal in proposals::waiting(db, None)? {
            let mut targets = proposals::targets(db, &proposal.id)?;
            targets.retain(|target| target.state == TargetState::Pending);
            if targets.is_empty() {
                continue;
            }
            let project = projects::get(db, &proposal.project)?;
            found.push((proposal, targets, project));
        }
        Ok(found)
    })?;
    // Files are read afterwards: no disk keeps the store waiting.
    let waiting = found
        .into_iter()
        .map(|(proposal, targets, project)| WaitingProposal {
            documents: targets
                .iter()
                .map(|target| WaitingDocument {
                    name: document_name(&target.live_path),
                    before: target.before,
                    after: target.after,
                    tasks: compared(std::slice::from_ref(target)).len(),
                    stale: is_stale(target),
                    under_version_control: project.as_ref().is_some_and(|project| {
                        is_under_version_control(&project.root, &target.real_path)
                    }),
                })
                .collect(),
            unflagged: targets.iter().all(|target| flags(target) == 0),
            id: proposal.id,
            nonce: proposal.nonce,
        });
    Ok(waiting.collect())
}

/// `deploy` for `…/skills/deploy/SKILL.md`, else the name of the file.
fn document_name(path: &str) -> String {
    let path = Path::new(path);
    let named = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let file = named(path).unwrap_or_default();
    if file == "SKILL.md" {
        path.parent().and_then(named).unwrap_or(file)
    } else {
        file
    }
}

/// Something to tell the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Notice {
    /// Proposals came since the last one.
    Proposals {
        /// Newest first; at least one.
        proposals: Vec<WaitingProposal>,
    },
    /// No night can be looked after.
    Trouble {
        /// What is wrong, in a sentence.
        reason: String,
    },
    /// A project needs the user.
    Attention {
        /// Id of the project.
        project: String,
        /// Its name.
        name: String,
        /// How many of its nights failed in a row.
        failures: u32,
        /// What the last one said, in a sentence.
        reason: String,
    },
    /// A night waits for answers by hand.
    Answers {
        /// Id of the project.
        project: String,
        /// Its name.
        name: String,
    },
    /// An answer to a night that waits was not taken.
    AnswerRefused {
        /// Id of the project.
        project: String,
        /// Its name.
        name: String,
        /// Which, and why.
        answer: RefusedAnswer,
    },
    /// A night was left out: what it waited for did not come in time.
    Missed {
        /// Id of the project.
        project: String,
        /// Its name.
        name: String,
        /// The local time of its rule.
        slot: DateTime,
        /// What it waited for, in a sentence.
        reason: String,
    },
    /// Nothing on this desktop shows the tray's icon.
    NoTray,
}

/// What was told: the cause, and the local date.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told(BTreeMap<String, Date>);

impl Notice {
    /// What makes it the same notice as an earlier one.
    fn causes(&self) -> Vec<String> {
        match self {
            Self::Proposals { proposals } => proposals
                .iter()
                .map(|proposal| proposal_cause(&proposal.nonce))
                .collect(),
            Self::Trouble { .. } => vec![TROUBLE.to_owned()],
            Self::Attention { project, .. } => vec![format!("attention:{project}")],
            Self::Answers { project, .. } => vec![format!("answers:{project}")],
            Self::AnswerRefused {
                project, answer, ..
            } => vec![format!("answer:{project}:{}:{}", answer.id, answer.reason)],
            Self::Missed { project, slot, .. } => vec![format!("missed:{project}:{slot}")],
            Self::NoTray => vec![NO_TRAY.to_owned()],
        }
    }

    fn is_wanted(&self, notifications: Notifications) -> bool {
        match notifications {
            Notifications::All => true,
            Notifications::Decisions => match self {
                Self::Proposals { .. } | Self::Answers { .. } | Self::AnswerRefused { .. } => true,
                Self::Trouble { .. }
                | Self::Attention { .. }
                | Self::Missed { .. }
                | Self::NoTray => false,
            },
            Notifications::Off => false,
        }
    }
}

fn proposal_cause(nonce: &str) -> String {
    format!("proposal:{nonce}")
}

/// What is to be told now. Trouble is told once a day while it lasts, everything else once. `no_tray` when
/// nothing shows the tray's icon.
///
/// While a night runs, proposals are held back, so that those of one night come together.
#[must_use]
pub fn due(
    state: &SupervisorState,
    waiting: &[WaitingProposal],
    no_tray: bool,
    told: &Told,
    today: Date,
) -> Vec<Notice> {
    let mut notices = Vec::new();
    if state.overall != Overall::Working {
        let new: Vec<_> = waiting
            .iter()
            .filter(|proposal| !told.0.contains_key(&proposal_cause(&proposal.nonce)))
            .cloned()
            .collect();
        if !new.is_empty() {
            notices.push(Notice::Proposals { proposals: new });
        }
    }
    let trouble = match &state.first_line {
        FirstLine::Trouble { reason } => Some(reason),
        FirstLine::Working { .. }
        | FirstLine::Attention { .. }
        | FirstLine::Paused { .. }
        | FirstLine::Proposals { .. }
        | FirstLine::Answers { .. }
        | FirstLine::Waiting { .. }
        | FirstLine::Next { .. }
        | FirstLine::Nothing => None,
    };
    notices.extend(trouble.map(|reason| Notice::Trouble {
        reason: reason.clone(),
    }));
    // What is wrong with all of them is told once.
    let of_its_own = state
        .projects
        .iter()
        .filter(|project| trouble.is_none() || project.problem.as_ref() != trouble);
    notices.extend(of_its_own.filter_map(of_project));
    notices.extend(state.projects.iter().filter_map(refused_answer));
    notices.extend(state.projects.iter().filter_map(missed));
    notices.extend(no_tray.then_some(Notice::NoTray));
    notices.retain(|notice| {
        let last = || {
            notice
                .causes()
                .iter()
                .filter_map(|cause| told.0.get(cause))
                .max()
        };
        match notice {
            Notice::Proposals { .. } => true,
            Notice::Trouble { .. } | Notice::Attention { .. } | Notice::Answers { .. } => {
                last() != Some(&today)
            }
            Notice::AnswerRefused { .. } | Notice::Missed { .. } | Notice::NoTray => {
                last().is_none()
            }
        }
    });
    notices
}

fn refused_answer(project: &ProjectState) -> Option<Notice> {
    let waiting = project
        .last
        .as_ref()
        .filter(|_| project.waits_for_answers())?;
    Some(Notice::AnswerRefused {
        project: project.id.clone(),
        name: project.name.clone(),
        answer: waiting.refused_answer.clone()?,
    })
}

fn missed(project: &ProjectState) -> Option<Notice> {
    let missed = project.missed.as_ref()?;
    Some(Notice::Missed {
        project: project.id.clone(),
        name: project.name.clone(),
        slot: missed.slot,
        reason: missed.reason.clone(),
    })
}

fn of_project(project: &ProjectState) -> Option<Notice> {
    use skillopt_store::nights::Outcome;
    if project.running.is_some() {
        return None;
    }
    if let Some(problem) = &project.problem {
        return Some(Notice::Attention {
            project: project.id.clone(),
            name: project.name.clone(),
            failures: 0,
            reason: problem.clone(),
        });
    }
    if project.needs_the_user() {
        return Some(Notice::Attention {
            project: project.id.clone(),
            name: project.name.clone(),
            failures: project.failures,
            reason: project
                .last
                .as_ref()
                .map_or_else(String::new, |last| last.reason.clone()),
        });
    }
    let last = project.last.as_ref()?;
    (last.outcome == Outcome::WaitingForAnswers).then(|| Notice::Answers {
        project: project.id.clone(),
        name: project.name.clone(),
    })
}

/// What the user is told by itself now, by their settings: nothing within silent hours, and only what they
/// want to hear of. What is not told is not remembered as told, and comes when it may. `unwritten` is what
/// this process told and could not write down.
///
/// Settings or a store that cannot be read are trouble to be told of, and keep nothing from being told.
#[must_use]
pub fn to_be_told(
    app: &App,
    state: &SupervisorState,
    waiting: &[WaitingProposal],
    no_tray: bool,
    unwritten: &Told,
    now: DateTime,
) -> Vec<Notice> {
    let settings = app
        .settings(None)
        .map_or_else(|_| Settings::default(), |resolved| resolved.settings);
    if is_silent(&settings, now.time()) {
        return Vec::new();
    }
    let mut known = told(app).unwrap_or_default();
    known.0.extend(unwritten.0.clone());
    let mut notices = due(state, waiting, no_tray, &known, now.date());
    notices.retain(|notice| notice.is_wanted(settings.notifications));
    notices
}

fn is_silent(settings: &Settings, now: Time) -> bool {
    hours(&settings.silent_hours).is_some_and(|(from, to)| is_between(now, from, to))
}

impl Told {
    /// Adds what was told today.
    pub fn add(&mut self, notice: &Notice, today: Date) {
        let causes = notice.causes().into_iter();
        self.0.extend(causes.map(|cause| (cause, today)));
    }
}

/// What was told until now.
pub fn told(app: &App) -> Result<Told, Problem> {
    let text = app.store.read(|db| meta::get(db, TOLD))?;
    // What cannot be read is told once more, which is better than never.
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

/// Remembers that this was told today.
pub fn remember(app: &App, notice: &Notice, today: Date) -> Result<(), Problem> {
    let mut told = told(app)?;
    told.0
        .retain(|cause, date| cause == NO_TRAY || (today - *date).get_days() < REMEMBERED);
    told.add(notice, today);
    let text = serde_json::json!(told).to_string();
    app.store
        .commit("notices told", |tx| meta::set(tx, TOLD, &text))
}

/// The proposal an action was about, while it still waits.
pub fn by_nonce(app: &App, nonce: &str) -> Result<Option<WaitingProposal>, Problem> {
    Ok(waiting(app)?
        .into_iter()
        .find(|proposal| proposal.nonce == nonce))
}

/// What was decided about a proposal, and can be taken back; by the proposal's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// It, or a part of it, is adopted.
    Adopted(String),
    /// It is rejected.
    Rejected(String),
}

/// Where the proposal stands that an offer to take a decision back was about; nothing when there is
/// nothing to take back.
pub fn decided(app: &App, nonce: &str) -> Result<Option<Decided>, Problem> {
    let proposal = app.store.read(|db| proposals::by_nonce(db, nonce))?;
    Ok(proposal.and_then(|proposal| match proposal.state {
        State::Adopted | State::PartlyAdopted => Some(Decided::Adopted(proposal.id)),
        State::Rejected => Some(Decided::Rejected(proposal.id)),
        State::Draft | State::Pending | State::Superseded | State::RolledBack => None,
    }))
}

#[cfg(test)]
mod tests;
