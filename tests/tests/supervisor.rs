//! The supervisor with a clock that is set by hand, and nights in processes of their own.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::time::Duration;

use serde_json::json;
use skillopt_app::backend::AcceptInput;
use skillopt_app::commands::{self, Command};
use skillopt_app::supervisor::{
    FirstLine, Launch, Overall, Supervising, Supervisor, SupervisorState, Why, order,
};
use skillopt_core::schedule::{Pause, Wait};
use skillopt_store::nights::{self, Outcome};
use skillopt_store::scheduled::State;
use skillopt_tests::brain::honest;
use skillopt_tests::stub_server::{Behaviour, StubServer};

#[path = "supervisor/answers.rs"]
mod answers;
#[path = "supervisor/attention.rs"]
mod attention;
#[path = "supervisor/awake.rs"]
mod awake;
#[path = "supervisor/place.rs"]
mod place;

use place::{PATIENCE, Place, at, has_ended, is_here, launch, only, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

#[tokio::test(flavor = "multi_thread")]
async fn a_test_whose_window_was_killed_is_not_left_running() {
    let place = Place::new();
    let project = place.register();
    let begun = place.app().store.commit("begin", |tx| {
        nights::begin(tx, &project, nights::Kind::Revalidation, &json!({}))
    });
    begun.expect("a test");
    let supervisor = place.start();
    let state = until(&supervisor, is_here).await;
    assert_eq!(state.currency, "USD");
    let test = &place.nights(&project)[0];
    assert_eq!(
        (test.state, test.outcome),
        (nights::State::Stopped, Some(Outcome::Interrupted))
    );
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_that_is_due_runs_once_and_a_missed_one_is_caught_up_once() {
    let place = Place::new();
    let project = place.register();
    let supervisor = place.start();
    let state = until(&supervisor, is_here).await;
    assert_eq!(state.overall, Overall::Asleep);
    let next = only(&state).next.clone().expect("a next night");
    assert_eq!(next.at, at("2026-06-10T03:17:00Z"));
    assert!(matches!(
        state.first_line,
        FirstLine::Next { projects: 1, .. }
    ));

    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    let state = until(&supervisor, has_ended).await;
    assert_eq!(state.overall, Overall::WaitingForReview, "{state:#?}");
    assert_eq!(state.pending_proposals, 1);
    let next = only(&state).next.clone().expect("a next night");
    assert_eq!(next.at, at("2026-06-11T03:17:00Z"));
    // Looking again, later the same day, and after the clock was set back, begins no other.
    for time in [
        "2026-06-10T03:18:00Z",
        "2026-06-10T23:59:00Z",
        "2026-06-10T01:30:00Z",
        "2026-06-10T03:17:00Z",
    ] {
        place.go_to(&supervisor, time);
        let day = only(&until(&supervisor, |state| state.sentence.contains("proposal")).await)
            .next
            .clone()
            .expect("a next night");
        assert_eq!(day.slot.date().to_string(), "2026-06-11", "{time}");
    }
    let rows = place.rows(&project);
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert_eq!((rows[0].state, rows[0].tries), (State::Done, 1));
    assert_eq!(rows[0].outcome, Some(Outcome::Proposed));
    assert_eq!(place.nights(&project).len(), 1);

    // The computer sleeps for nine days.
    place.go_to(&supervisor, "2026-06-19T09:00:00Z");
    until(&supervisor, |state| {
        has_ended(state)
            && only(state)
                .last
                .as_ref()
                .is_some_and(|last| last.caught_up_for.is_some())
    })
    .await;
    let rows = place.rows(&project);
    assert_eq!(rows.len(), 2, "{rows:#?}");
    assert_eq!(rows[0].slot.to_string(), "2026-06-19T03:17:00");
    assert!(rows[0].caught_up && rows[0].state == State::Done);
    assert_eq!(place.nights(&project).len(), 2);
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_that_is_cut_short_is_interrupted_and_goes_on() {
    let mut place = Place::new();
    let server = StubServer::start();
    server
        .brain(honest)
        .standing(Behaviour::Answer.after(Duration::from_millis(300)));
    let url = server.url();
    for (field, value) in [
        ("BACKEND", "openai_compatible"),
        ("MODEL", "stub"),
        ("ENDPOINT", url.as_str()),
        ("MODEL_MINER", "false"),
        ("CONCURRENCY", "1"),
    ] {
        place.set(field, value);
    }
    let project = place.register();
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    let state = until(&supervisor, |state| {
        only(state)
            .running
            .as_ref()
            .is_some_and(|running| running.calls_of_night > 1)
    })
    .await;
    assert_eq!(state.overall, Overall::Working);
    assert!(
        only(&state)
            .running
            .as_ref()
            .is_some_and(|running| running.stage.is_some())
    );
    supervisor.shutdown().await;
    let night = &place.nights(&project)[0];
    assert_eq!(
        (night.state, night.outcome),
        (nights::State::Stopped, Some(Outcome::Interrupted)),
        "{night:#?}"
    );
    let rows = place.rows(&project);
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].state, rows[0].outcome),
        (State::Open, Some(Outcome::Interrupted))
    );

    // Whoever starts next goes on with that very night.
    let supervisor = place.start();
    until(&supervisor, |state| {
        has_ended(state)
            && only(state)
                .last
                .as_ref()
                .is_some_and(|last| last.outcome == Outcome::Proposed)
    })
    .await;
    let nights = place.nights(&project);
    assert_eq!(nights.len(), 1, "{nights:#?}");
    assert_eq!(
        (nights[0].state, nights[0].resumes),
        (nights::State::Ended, 1)
    );
    let rows = place.rows(&project);
    assert_eq!((rows[0].state, rows[0].tries), (State::Done, 2));
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_survives_a_restart_and_holds_nothing_asked_for_by_hand() {
    let place = Place::new();
    let project = place.register();
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    order::pause(&place.app(), Pause::Forever).expect("a pause");
    supervisor.shutdown().await;

    place.clock.set(at("2026-06-10T04:00:00Z"));
    let supervisor = place.start();
    let state = until(&supervisor, is_here).await;
    assert_eq!(state.overall, Overall::Paused);
    assert_eq!(state.first_line, FirstLine::Paused { until: None });
    assert!(only(&state).due && only(&state).running.is_none());
    assert_eq!(place.rows(&project), []);

    order::run_now(&place.app(), &project).expect("a request");
    until(&supervisor, |state| {
        has_ended(state) && !only(state).requested
    })
    .await;
    // It was the night that was due.
    let rows = place.rows(&project);
    assert_eq!((rows.len(), rows[0].state), (1, State::Done));
    assert!(order::resume(&place.app()).expect("the end of the pause"));
    until(&supervisor, |state| {
        state.pause.is_none() && has_ended(state)
    })
    .await;
    assert_eq!(place.nights(&project).len(), 1);
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_supervisors_one_starts_nights_and_the_other_takes_over() {
    let place = Place::new();
    let project = place.register();
    let first = place.start();
    until(&first, is_here).await;
    let second = place.start();
    let state = until(&second, |state| !state.sentence.is_empty()).await;
    assert!(matches!(state.supervising, Supervising::Another(_)));
    place.clock.set(at("2026-06-10T03:17:00Z"));
    second.poke();
    first.poke();
    until(&first, has_ended).await;
    second.poke();
    until(&second, |state| only(state).last.is_some()).await;
    assert_eq!(place.nights(&project).len(), 1);
    // An order given at the second is carried out by the first.
    order::run_now(&place.app(), &project).expect("a request");
    until(&first, |state| {
        has_ended(state) && place.nights(&project).len() == 2
    })
    .await;
    first.shutdown().await;
    second.poke();
    until(&second, is_here).await;
    place.go_to(&second, "2026-06-11T03:17:00Z");
    until(&second, |state| {
        has_ended(state) && place.rows(&project).len() == 2
    })
    .await;
    second.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nights_of_one_provider_run_one_after_the_other() {
    let mut place = Place::new();
    let server = StubServer::start();
    server
        .brain(honest)
        .standing(Behaviour::Answer.after(Duration::from_millis(100)));
    place.set("BACKEND", "openai_compatible");
    place.set("MODEL", "stub");
    place.set("ENDPOINT", &server.url());
    place.set("MODEL_MINER", "false");
    // Both projects read the sample's sessions.
    place.set("SCOPE", "all");
    let one = place.register();
    let other = place.register_at(&place.home.home().join("work/other"));
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    order::run_now(&place.app(), &one).expect("a request");
    order::run_now(&place.app(), &other).expect("a request");
    let mut state = supervisor.state();
    let mut waited = false;
    let both = async {
        loop {
            {
                let now = state.borrow_and_update();
                let running = now
                    .projects
                    .iter()
                    .filter(|project| project.running.is_some());
                assert!(running.count() <= 1, "{now:#?}");
                waited |= now.projects.iter().any(|project| {
                    project
                        .waits
                        .iter()
                        .any(|why| matches!(why, Why::Provider { .. }))
                });
                if now
                    .projects
                    .iter()
                    .all(|project| project.last.is_some() && !project.requested)
                {
                    break;
                }
            }
            state.changed().await.expect("the supervisor runs");
        }
    };
    tokio::time::timeout(PATIENCE, both)
        .await
        .expect("both nights end");
    assert!(waited, "the second said what it waits for");
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_waits_for_its_conditions_and_says_so_unless_it_is_asked_for() {
    let mut place = Place::new();
    let battery = place.battery();
    battery("30");
    place.set("UNMETERED_ONLY", "true");
    let project = place.register();
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    let state = until(&supervisor, |state| {
        only(state).due && !only(state).waits.is_empty()
    })
    .await;
    assert_eq!(only(&state).waits, [Why::Condition(Wait::Power)]);
    assert_eq!(state.sentence, "customer-letters: Waiting for power");
    // There is no bus: the network is not known, which is allowed and said.
    assert_eq!(
        only(&state).unknown,
        [skillopt_core::schedule::Unknown::Network]
    );
    assert_eq!(place.nights(&project).len(), 0);

    // The battery is charged: the night of three o'clock runs.
    battery("80");
    place.go_to(&supervisor, "2026-06-10T05:00:00Z");
    until(&supervisor, has_ended).await;
    assert!(place.rows(&project)[0].caught_up);

    // Asked for by hand, nothing is waited for.
    battery("3");
    order::run_now(&place.app(), &project).expect("a request");
    until(&supervisor, |state| {
        has_ended(state) && place.nights(&project).len() == 2
    })
    .await;
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_that_waited_until_its_time_was_over_is_recorded_and_blocks_no_other() {
    let mut place = Place::new();
    let battery = place.battery();
    battery("12");
    place.set("CATCH_UP_HOURS", "6");
    let project = place.register();
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    place.go_to(&supervisor, "2026-06-10T03:20:00Z");
    until(&supervisor, |state| !only(state).waits.is_empty()).await;
    // The clock is set back two hours: the night is to come once more, and was not missed.
    place.go_to(&supervisor, "2026-06-10T01:20:00Z");
    let state = until(&supervisor, |state| only(state).waits.is_empty()).await;
    assert_eq!(only(&state).missed, None);
    // Nine hours of sleep: its time is over when the computer wakes up.
    place.go_to(&supervisor, "2026-06-10T10:20:00Z");
    let state = until(&supervisor, |state| only(state).missed.is_some()).await;
    let missed = only(&state).missed.clone().expect("a night left out");
    assert_eq!(missed.reason, "Missed: waiting for power.");
    assert_eq!(missed.slot.to_string(), "2026-06-10T03:17:00");
    assert_eq!(only(&state).failures, 0);
    let rows = place.rows(&project);
    assert_eq!(
        (rows.len(), rows[0].state, rows[0].tries),
        (1, State::GivenUp, 0)
    );

    // The next one runs, and a day later nobody speaks of the other.
    battery("90");
    place.go_to(&supervisor, "2026-06-11T03:17:00Z");
    until(&supervisor, |state| {
        has_ended(state)
            && only(state)
                .last
                .as_ref()
                .is_some_and(|last| last.outcome == Outcome::Proposed)
    })
    .await;
    place.go_to(&supervisor, "2026-06-11T11:00:00Z");
    until(&supervisor, |state| only(state).missed.is_none()).await;
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_whose_process_dies_is_tried_again_given_up_and_told_after_three() {
    let place = Place::new();
    let project = place.register();
    let supervisor = Supervisor::start(place.app(), launch("/bin/false"));
    until(&supervisor, is_here).await;
    for (day, failures) in [(10, 1), (11, 2), (12, 3)] {
        for (try_number, time) in ["03:17:00", "03:23:00", "03:40:00"].into_iter().enumerate() {
            place.go_to(&supervisor, &format!("2026-06-{day}T{time}Z"));
            until(&supervisor, |_| {
                place.rows(&project).first().is_some_and(|row| {
                    row.slot.day() == day
                        && row.tries == try_number as u64 + 1
                        && row.outcome == Some(Outcome::Failed)
                })
            })
            .await;
        }
        let row = &place.rows(&project)[0];
        assert_eq!(row.state, State::GivenUp, "{row:#?}");
        assert!(row.reason.contains("ended unexpectedly"), "{}", row.reason);
        supervisor.poke();
        until(&supervisor, |state| only(state).failures == failures).await;
    }
    let state = until(&supervisor, |state| state.overall == Overall::Attention).await;
    assert!(
        state
            .sentence
            .starts_with("3 nights of customer-letters failed in a row"),
        "{}",
        state.sentence
    );
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_cannot_be_written_down_is_told_as_long_as_it_cannot() {
    let place = Place::new();
    place.register();
    let database = rusqlite::Connection::open(place.app().paths.database()).expect("the database");
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE OF outcome ON scheduled_night \
                  BEGIN SELECT RAISE(ABORT, 'nothing more fits'); END;";
    database.execute_batch(refuse).expect("a trigger");
    let supervisor = Supervisor::start(place.app(), launch("/bin/false"));
    until(&supervisor, is_here).await;
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    until(&supervisor, |state| state.trouble.is_some()).await;
    // Later looks, which see something new, say so as well.
    place.register_at(&place.home.path().join("another"));
    supervisor.poke();
    let state = until(&supervisor, |state| state.projects.len() == 2).await;
    let trouble = state.trouble.clone().expect("the trouble stays");
    assert!(trouble.contains("nothing more fits"), "{trouble}");
    assert_eq!(state.overall, Overall::Attention);
    assert_eq!(
        state.first_line,
        FirstLine::Trouble { reason: trouble },
        "{state:#?}"
    );
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_were_moved_and_cannot_be_opened_are_told_and_the_old_ones_left_alone() {
    let mut place = Place::new();
    // The folder that a move decides, not a variable.
    place.set("DATA_DIR", "");
    let project = place.register();
    let paths = place.app().paths;
    let supervisor = Supervisor::start(place.app(), launch("/bin/false"));
    until(&supervisor, is_here).await;
    let elsewhere = place.home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    std::fs::write(elsewhere.join("skillopt.db"), vec![7; 8_192]).expect("no database");
    std::fs::write(paths.location(), elsewhere.to_str().expect("text")).expect("a location");
    // Its night is due, and must not begin over data that are only a copy by now.
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    let state = until(&supervisor, |state| state.trouble.is_some()).await;
    assert_eq!(state.overall, Overall::Attention, "{state:#?}");
    std::fs::remove_file(elsewhere.join("skillopt.db")).expect("removed");
    supervisor.poke();
    let state = until(&supervisor, |state| {
        is_here(state) && state.trouble.is_none()
    })
    .await;
    assert_eq!(state.projects, [], "the new data have none");
    supervisor.shutdown().await;
    std::fs::remove_file(paths.location()).expect("removed");
    assert_eq!(place.rows(&project), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_is_cancelled_for_good() {
    let mut place = Place::new();
    let server = StubServer::start();
    server
        .brain(honest)
        .standing(Behaviour::Answer.after(Duration::from_secs(2)));
    place.set("BACKEND", "openai_compatible");
    place.set("MODEL", "stub");
    place.set("ENDPOINT", &server.url());
    place.set("MODEL_MINER", "false");
    let project = place.register();
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    until(&supervisor, |state| {
        only(state)
            .running
            .as_ref()
            .is_some_and(|running| running.night.is_some())
    })
    .await;
    assert!(supervisor.cancel(&place.app(), &project).expect("an order"));
    until(&supervisor, has_ended).await;
    let nights = place.nights(&project);
    assert_eq!((nights.len(), nights[0].state), (1, nights::State::Ended));
    assert_eq!(nights[0].outcome, Some(Outcome::Interrupted));
    // The user ended the night of this date.
    assert_eq!(place.rows(&project)[0].state, State::Done);
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asked_for_a_night_hears_why_it_could_not_begin() {
    let mut place = Place::new();
    place.set("BACKEND", "anthropic");
    place.set("MODEL", "claude-made-up");
    let key = ("ANTHROPIC_API_KEY".to_owned(), "made-up".to_owned());
    place.settings.push(key);
    let project = place.register();
    let supervisor = place.start();
    until(&supervisor, is_here).await;
    order::run_now(&place.app(), &project).expect("a request");
    let needed = |state: &SupervisorState| {
        let last = only(state).last.as_ref();
        last.and_then(|last| last.needs.as_deref()) == Some("terms_not_accepted")
    };
    let state = until(&supervisor, needed).await;
    assert_eq!(state.overall, Overall::Attention, "{state:#?}");
    assert!(state.sentence.contains("Anthropic"), "{}", state.sentence);
    let one = only(&state);
    assert!(!one.requested && one.running.is_none(), "{one:#?}");
    assert!(place.nights(&project).is_empty());
    // The night of the schedule says the same, and is tried again once it can be otherwise.
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    until(&supervisor, |_| {
        place
            .rows(&project)
            .first()
            .is_some_and(|row| row.outcome == Some(Outcome::Deferred))
    })
    .await;
    let row = &place.rows(&project)[0];
    assert_eq!(row.state, State::Open);
    assert_eq!(row.needs.as_deref(), Some("terms_not_accepted"));
    supervisor.poke();
    // It is written down before its process is gone.
    let over = |state: &SupervisorState| needed(state) && only(state).running.is_none();
    let state = until(&supervisor, over).await;
    assert_eq!(state.overall, Overall::Attention, "{state:#?}");
    // Once they have agreed, nothing is wanted of them any more.
    let agreed = AcceptInput {
        project: Some(place.home.project()),
        providers: Vec::new(),
    };
    commands::execute(&place.app(), Command::BackendAccept(agreed))
        .await
        .expect("a consent");
    supervisor.poke();
    let state = until(&supervisor, |state| !needed(state)).await;
    assert_ne!(state.overall, Overall::Attention, "{state:#?}");
    supervisor.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_that_is_stopped_before_it_is_written_down_is_over_all_the_same() {
    let mut place = Place::new();
    place.set("BACKEND", "handoff");
    let project = place.register();
    let hold = place.home.home().join("hold");
    let wait = format!("while [ -e '{}' ]; do sleep 0.05; done;", hold.display());
    let (launch, started) = counted(&place, &wait);
    let supervisor = Supervisor::start(place.app(), launch);
    until(&supervisor, is_here).await;
    assert!(
        !supervisor.cancel(&place.app(), &project).expect("an order"),
        "nothing runs"
    );
    let begins = |state: &SupervisorState| {
        let running = only(state).running.as_ref();
        running.is_some_and(|running| running.night.is_none())
    };
    let rests = |state: &SupervisorState| only(state).running.is_none() && !only(state).requested;

    // Asked for by hand: nothing is left of it.
    std::fs::write(&hold, "").expect("a file");
    order::run_now(&place.app(), &project).expect("a request");
    until(&supervisor, begins).await;
    assert!(supervisor.cancel(&place.app(), &project).expect("an order"));
    let state = until(&supervisor, rests).await;
    assert_eq!(only(&state).last, None);
    assert_eq!(place.nights(&project), []);

    // A night that waits, and would have been gone on with, is over.
    std::fs::remove_file(&hold).expect("a file");
    order::run_now(&place.app(), &project).expect("a request");
    until(&supervisor, has_ended).await;
    assert_eq!(place.nights(&project)[0].state, nights::State::Stopped);
    std::fs::write(&hold, "").expect("a file");
    order::run_now(&place.app(), &project).expect("a request");
    until(&supervisor, begins).await;
    supervisor.cancel(&place.app(), &project).expect("an order");
    until(&supervisor, rests).await;
    let night = &place.nights(&project)[0];
    assert_eq!(
        (night.state, night.outcome),
        (nights::State::Ended, Some(Outcome::Interrupted)),
        "{night:#?}"
    );

    // So is the night of a date, which is not begun again.
    place.go_to(&supervisor, "2026-06-10T03:17:00Z");
    until(&supervisor, begins).await;
    supervisor.cancel(&place.app(), &project).expect("an order");
    until(&supervisor, rests).await;
    for _ in 0..10 {
        supervisor.poke();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let rows = place.rows(&project);
    assert_eq!(
        (rows.len(), rows[0].state, rows[0].outcome),
        (1, State::Done, Some(Outcome::Interrupted)),
        "{rows:#?}"
    );
    assert_eq!(started(), 4);
    assert_eq!(place.nights(&project).len(), 1);
    supervisor.shutdown().await;
}

/// Starts nights by way of a shell that first does `before`, and counts how many were started.
fn counted(place: &Place, before: &str) -> (Launch, impl Fn() -> usize + use<>) {
    let starts = place.home.home().join("starts");
    let script = format!("echo start >> '{}'; {before} exec \"$@\"", starts.display());
    let mut night = launch(PROGRAM);
    let words = [
        "-c".into(),
        script.into(),
        "sh".into(),
        night.program.into_os_string(),
    ];
    night.arguments.splice(0..0, words);
    night.program = "/bin/sh".into();
    let started = move || {
        let text = std::fs::read_to_string(&starts).unwrap_or_default();
        text.lines().count()
    };
    (night, started)
}
