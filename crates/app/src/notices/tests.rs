//! What is told, when, and how often.

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
