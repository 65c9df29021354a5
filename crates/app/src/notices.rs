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
mod tests {
    use skillopt_store::nights::Outcome;

    use super::*;
    use crate::supervisor::{Last, Missed};
    use crate::test_home::TestHome;

    fn proposal(nonce: &str) -> WaitingProposal {
        WaitingProposal {
            id: format!("id-{nonce}"),
            nonce: nonce.to_owned(),
            documents: Vec::new(),
            unflagged: true,
        }
    }

    fn project(failures: u32, outcome: Outcome) -> ProjectState {
        ProjectState {
            id: "p".into(),
            name: "shop".into(),
            root: "/shop".into(),
            nightly: true,
            next: None,
            due: false,
            catching_up: false,
            requested: false,
            waits: Vec::new(),
            unknown: Vec::new(),
            running: None,
            last: Some(Last {
                night: None,
                outcome,
                reason: "It broke.".into(),
                needs: None,
                refused_answer: None,
                ended_at: None,
                caught_up_for: None,
            }),
            pending: 0,
            stale: 0,
            cron: None,
            failures,
            missed: None,
            problem: None,
        }
    }

    fn state(overall: Overall, projects: Vec<ProjectState>) -> SupervisorState {
        SupervisorState {
            overall,
            projects,
            ..SupervisorState::nothing_yet()
        }
    }

    fn remember_all(app: &App, notices: &[Notice], today: Date) {
        for notice in notices {
            remember(app, notice, today).unwrap();
        }
    }

    fn day(day: i8) -> Date {
        jiff::civil::date(2026, 12, day)
    }

    #[test]
    fn the_proposals_of_a_night_come_together_and_once() {
        let home = TestHome::new();
        let waiting = [proposal("b"), proposal("a")];
        let working = state(Overall::Working, Vec::new());
        assert_eq!(due(&working, &waiting, false, &Told::default(), day(1)), []);
        let over = state(Overall::WaitingForReview, Vec::new());
        let notices = due(&over, &waiting, false, &Told::default(), day(1));
        assert_eq!(
            notices,
            [Notice::Proposals {
                proposals: waiting.to_vec()
            }]
        );
        remember_all(&home.app, &notices, day(1));
        let remembered = told(&home.app).unwrap();
        assert_eq!(due(&over, &waiting, false, &remembered, day(2)), []);
        let third = [proposal("c"), proposal("b"), proposal("a")];
        assert_eq!(
            due(&over, &third, false, &remembered, day(2)),
            [Notice::Proposals {
                proposals: vec![proposal("c")]
            }]
        );
    }

    #[test]
    fn trouble_is_told_once_a_day_and_only_when_it_lasts() {
        let home = TestHome::new();
        let quiet = Told::default();
        for (failures, outcome) in [
            (0, Outcome::NothingToDo),
            (2, Outcome::Failed),
            (0, Outcome::Deferred),
        ] {
            let calm = state(Overall::Asleep, vec![project(failures, outcome)]);
            assert_eq!(due(&calm, &[], false, &quiet, day(1)), [], "{outcome:?}");
        }
        let failing = state(Overall::Attention, vec![project(3, Outcome::Failed)]);
        let notices = due(&failing, &[], false, &quiet, day(1));
        assert!(matches!(
            &notices[..],
            [Notice::Attention { failures: 3, .. }]
        ));
        remember_all(&home.app, &notices, day(1));
        let remembered = told(&home.app).unwrap();
        assert_eq!(due(&failing, &[], false, &remembered, day(1)), []);
        assert_eq!(due(&failing, &[], false, &remembered, day(2)).len(), 1);
        // What only a person can end is told at once, unless the night ran and failed.
        let needing = |outcome, night| {
            let mut needing = project(0, outcome);
            let last = needing.last.as_mut().unwrap();
            last.needs = Some("a_code".into());
            last.night = night;
            state(Overall::Attention, vec![needing])
        };
        for (outcome, night, told) in [
            (Outcome::Deferred, Some(1), true),
            (Outcome::Deferred, None, true),
            (Outcome::Failed, None, true),
            (Outcome::Failed, Some(1), false),
        ] {
            let notices = due(&needing(outcome, night), &[], false, &quiet, day(1));
            let is_told = matches!(
                &notices[..],
                [Notice::Attention { failures: 0, reason, .. }] if reason == "It broke."
            );
            assert_eq!(is_told, told, "{outcome:?} {night:?}");
        }
        let asking = state(
            Overall::Attention,
            vec![project(0, Outcome::WaitingForAnswers)],
        );
        assert!(matches!(
            &due(&asking, &[], false, &quiet, day(1))[..],
            [Notice::Answers { .. }]
        ));
        let mut refusing = asking;
        let last = refusing.projects[0].last.as_mut().unwrap();
        last.refused_answer = Some(RefusedAnswer {
            id: "0123456789abcdef".into(),
            reason: "the file is blank".into(),
        });
        let notices = due(&refusing, &[], false, &quiet, day(1));
        assert!(
            matches!(&notices[..], [Notice::Answers { .. }, Notice::AnswerRefused { answer, .. }] if answer.reason == "the file is blank"),
            "{notices:?}"
        );
        // Once; that answers are waited for is said again on another day.
        remember_all(&home.app, &notices, day(1));
        let remembered = told(&home.app).unwrap();
        assert!(matches!(
            &due(&refusing, &[], false, &remembered, day(2))[..],
            [Notice::Answers { .. }]
        ));
    }

    #[test]
    fn a_night_that_was_left_out_and_a_desktop_without_trays_are_told_once() {
        let home = TestHome::new();
        let slot = day(1).at(3, 17, 0, 0);
        let mut waited = project(0, Outcome::Deferred);
        waited.missed = Some(Missed {
            slot,
            reason: "Missed: it waited for power.".into(),
        });
        let calm = state(Overall::Asleep, vec![waited]);
        let notices = due(&calm, &[], true, &Told::default(), day(2));
        assert!(
            matches!(&notices[..], [Notice::Missed { slot: told, .. }, Notice::NoTray] if *told == slot),
            "{notices:?}"
        );
        remember_all(&home.app, &notices, day(2));
        let remembered = told(&home.app).unwrap();
        assert_eq!(due(&calm, &[], true, &remembered, day(3)), []);
        // Years later, too, nobody is told again that there is no tray.
        let answers = Notice::Answers {
            project: "p".into(),
            name: "shop".into(),
        };
        remember(&home.app, &answers, jiff::civil::date(2030, 1, 1)).unwrap();
        let remembered = told(&home.app).unwrap();
        let nobody = state(Overall::Asleep, Vec::new());
        assert_eq!(due(&nobody, &[], true, &remembered, day(3)), []);
    }

    #[test]
    fn what_was_told_long_ago_is_forgotten() {
        let home = TestHome::new();
        let notice = Notice::Answers {
            project: "p".into(),
            name: "shop".into(),
        };
        remember(&home.app, &notice, jiff::civil::date(2026, 1, 1)).unwrap();
        let proposals = Notice::Proposals {
            proposals: vec![proposal("n")],
        };
        remember(&home.app, &proposals, day(1)).unwrap();
        assert_eq!(
            told(&home.app).unwrap().0.keys().collect::<Vec<_>>(),
            ["proposal:n"]
        );
    }

    /// What is told on the first of December at this hour, under these settings.
    fn told_under(settings: &str, hour: i8) -> Vec<&'static str> {
        let home = TestHome::new();
        let file = home.app.config().user;
        crate::config::change(&home.app, &file, |_| Ok(settings.to_owned())).unwrap();
        let failing = project(3, Outcome::Failed);
        let asking = project(0, Outcome::WaitingForAnswers);
        let state = state(Overall::Attention, vec![failing, asking]);
        let now = day(1).at(hour, 0, 0, 0);
        to_be_told(
            &home.app,
            &state,
            &[proposal("a")],
            false,
            &Told::default(),
            now,
        )
        .iter()
        .map(|notice| match notice {
            Notice::Proposals { .. } => "proposals",
            Notice::Trouble { .. } => "trouble",
            Notice::Attention { .. } => "attention",
            Notice::Answers { .. } => "answers",
            Notice::AnswerRefused { .. } => "answer refused",
            Notice::Missed { .. } => "missed",
            Notice::NoTray => "no tray",
        })
        .collect()
    }

    #[test]
    fn nothing_comes_in_silent_hours_and_quiet_hours_are_for_nights() {
        assert_eq!(told_under("", 3).len(), 3);
        let no_nights = "[schedule]\nquiet_hours = \"22:00-07:00\"\n";
        assert_eq!(told_under(no_nights, 3).len(), 3);
        let quiet = "[desktop]\nsilent_hours = \"22:00-07:00\"\n";
        for (hour, count) in [(3, 0), (22, 0), (7, 3), (21, 3)] {
            assert_eq!(told_under(quiet, hour).len(), count, "{hour}");
        }
    }

    #[test]
    fn only_what_is_wanted_is_told() {
        let told = |word: &str| told_under(&format!("[desktop]\nnotifications = {word:?}\n"), 12);
        assert_eq!(told("all"), ["proposals", "attention", "answers"]);
        assert_eq!(told("decisions"), ["proposals", "answers"]);
        assert_eq!(told("off"), [""; 0]);
    }

    #[tokio::test]
    async fn settings_that_cannot_be_read_are_told_once_a_day_and_once_for_all_projects() {
        let home = TestHome::new();
        let app = &home.app;
        app.project(None).unwrap();
        let file = app.config().user;
        crate::config::change(app, &file, |_| Ok("[desktop\n".to_owned())).unwrap();
        let state = crate::supervisor::look(app).await.unwrap();
        assert_eq!(state.overall, Overall::Attention);
        let FirstLine::Trouble { reason } = &state.first_line else {
            panic!("{state:?}")
        };
        assert_eq!(state.trouble.as_ref(), Some(reason));
        let now = day(1).at(12, 0, 0, 0);
        let tell = |unwritten: &Told, now| to_be_told(app, &state, &[], false, unwritten, now);
        let notices = tell(&Told::default(), now);
        assert!(
            matches!(&notices[..], [Notice::Trouble { .. }]),
            "{notices:?}"
        );
        // What could not be written down is known to this process alone.
        let mut unwritten = Told::default();
        unwritten.add(&notices[0], day(1));
        assert_eq!(tell(&unwritten, now), []);
        assert_eq!(tell(&Told::default(), now).len(), 1);
        remember_all(app, &notices, day(1));
        assert_eq!(tell(&Told::default(), now), []);
        assert_eq!(tell(&Told::default(), day(2).at(12, 0, 0, 0)).len(), 1);
    }

    #[test]
    fn documents_have_the_names_people_use() {
        assert_eq!(
            document_name("/home/a/.claude/skills/deploy/SKILL.md"),
            "deploy"
        );
        assert_eq!(document_name("/shop/CLAUDE.md"), "CLAUDE.md");
    }
}
