//! Ends in the middle of something: of a night, of an adoption, twice.

use std::time::Duration;

use skillopt_app::commands::{self, Command as Asked, Output};
use skillopt_app::night::ListInput;
use skillopt_tests::brain::honest;
use skillopt_tests::desktop::{Notifications, TrayHost, until};
use skillopt_tests::processes::signal;
use skillopt_tests::session::{Screen, Session};
use skillopt_tests::stub_server::{Behaviour, StubServer};

use crate::person::{PROJECT, Person, Running, block_on};
use crate::windows::{wait_for_end_of, windows_of};

/// Nights ask this server, which takes its time.
fn slow_model(person: &Person, seconds: u64) -> StubServer {
    let server = StubServer::start();
    server.brain(honest);
    server.standing(Behaviour::Answer.after(Duration::from_secs(seconds)));
    person.set("models.backend", "openai_compatible");
    person.set("models.endpoint", &server.url());
    person.set("models.model", "stub");
    person.set("mines.model_miner", "false");
    server
}

/// A night from the tray, in the middle of its first questions.
fn in_the_middle(
    person: &Person,
    session: &Session,
    tray: &TrayHost,
    server: &StubServer,
) -> Running {
    let app = person.start(session, &["--quiet"]);
    tray.click(&["Run now", PROJECT]);
    until("a question to the model", || {
        (!server.asked().is_empty()).then_some(())
    });
    until("the face of a night at work", || {
        tray.title().contains("running").then_some(())
    });
    app
}

#[test]
fn signing_out_during_a_night_leaves_it_interrupted_and_the_next_start_goes_on() {
    let person = Person::new();
    let server = slow_model(&person, 3);
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let mut app = in_the_middle(&person, &session, &tray, &server);
    assert_eq!(app.end(), 0);
    assert_eq!(person.outcome().as_deref(), Some("interrupted"));
    let asked = server.asked().len();
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(server.asked().len(), asked, "nobody asks any more");

    server.standing(Behaviour::Answer);
    let _app = person.start(&session, &["--quiet"]);
    let _ = notifications.wait_for("1 proposal");
    assert_eq!(nights(&person).len(), 1, "it was that very night");
}

/// Whoever signs out of some sessions takes the bus away and sends nobody a signal.
#[test]
fn an_app_whose_session_has_gone_ends_as_when_signing_out() {
    let person = Person::new();
    let server = slow_model(&person, 600);
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let words = ["--open", "settings"];
    let mut app = person.start_on(&session, &screen, &words);
    screen.wait_for_window("SkillOpt");
    let windows = windows_of(app.0.id());
    tray.click(&["Run now", PROJECT]);
    until("a question to the model", || {
        (!server.asked().is_empty()).then_some(())
    });
    drop(session);
    assert_eq!(app.wait(), 0);
    assert_eq!(person.outcome().as_deref(), Some("interrupted"));
    assert!(
        person.said().contains("The session has ended"),
        "{}",
        person.said()
    );
    wait_for_end_of(windows);
    // Its place is free for the app of the next session.
    let next = Session::start(&person.home());
    let tray = TrayHost::serve(next.address());
    let mut app = person.start(&next, &["--quiet"]);
    until("the tray of the next session", || {
        tray.title().contains("SkillOpt").then_some(())
    });
    assert_eq!(app.end(), 0);
}

#[test]
fn windows_that_hang_keep_no_night_from_its_end_and_are_ended() {
    let person = Person::new();
    let server = slow_model(&person, 600);
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let words = ["--open", "settings"];
    let mut app = person.start_on(&session, &screen, &words);
    screen.wait_for_window("SkillOpt");
    let windows = windows_of(app.0.id());
    signal(windows, "STOP");
    tray.click(&["Run now", PROJECT]);
    until("a question to the model", || {
        (!server.asked().is_empty()).then_some(())
    });
    app.signal("TERM");
    until("the end of the night", || {
        (person.outcome().as_deref() == Some("interrupted")).then_some(())
    });
    assert_eq!(app.wait(), 0);
    wait_for_end_of(windows);
}

#[test]
fn a_second_signal_waits_for_nothing() {
    let person = Person::new();
    let server = slow_model(&person, 600);
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let mut app = in_the_middle(&person, &session, &tray, &server);
    app.signal("TERM");
    until("the second signal", || {
        app.signal("TERM");
        app.0.try_wait().unwrap()
    });
    assert_eq!(person.outcome().as_deref(), Some("interrupted"));
    // Its process wrote nothing any more: the app wrote for it.
    let night = &nights(&person)[0];
    assert_eq!(
        night["reason"],
        "It was stopped together with the app; it resumes where it was."
    );
}

fn nights(person: &Person) -> Vec<serde_json::Value> {
    let input = ListInput {
        project: None,
        everywhere: true,
        limit: 10,
    };
    let listed = block_on(commands::execute(&person.app(), Asked::NightList(input))).unwrap();
    let Output::NightList(rows) = listed else {
        panic!("a list")
    };
    rows.iter()
        .map(|row| serde_json::to_value(row).unwrap())
        .collect()
}

/// The app, held in the middle of writing an adopted document, and the file that holds it.
fn in_an_adoption(
    person: &Person,
    session: &Session,
    notifications: &Notifications,
) -> (Running, std::path::PathBuf) {
    let held = person.folder.path().join("held");
    let hold = format!("create:{}", held.display());
    let app = person.start_with(session, &["--quiet"], &[("SKILLOPT_HOLD_AT", &hold)]);
    let card = notifications.wait_for("1 proposal");
    notifications.press(&card, "Adopt");
    until("the middle of the adoption", || held.exists().then_some(()));
    assert!(!person.skill().exists());
    (app, held)
}

#[test]
fn signing_out_during_an_adoption_ends_it_first() {
    let person = Person::new();
    person.run_a_night();
    let session = Session::start(&person.home());
    let _tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let (mut app, held) = in_an_adoption(&person, &session, &notifications);
    app.signal("TERM");
    std::fs::remove_file(held).unwrap();
    assert_eq!(app.wait(), 0);
    let text = std::fs::read_to_string(person.skill()).unwrap();
    assert!(text.starts_with("---\n") && text.ends_with('\n'), "{text}");
    let left: Vec<_> = std::fs::read_dir(person.skill().parent().unwrap())
        .unwrap()
        .collect();
    assert_eq!(left.len(), 1, "no temporary file: {left:?}");
    // Nothing was cut short, so the next start has nothing to take back.
    assert!(person.app().recovered.is_empty());
    assert!(person.skill().exists());
}

#[test]
fn an_app_that_is_killed_in_an_adoption_takes_it_back_at_the_next_start_and_says_so() {
    let person = Person::new();
    person.run_a_night();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let (mut app, held) = in_an_adoption(&person, &session, &notifications);
    app.signal("KILL");
    app.wait();
    std::fs::remove_file(held).unwrap();
    let _app = person.start(&session, &["--quiet"]);
    let card = notifications.wait_for("An adoption was taken back");
    assert!(card.body.contains("as they were before"), "{card:?}");
    assert!(!person.skill().exists());
    assert!(person.said().contains("was cut short"), "{}", person.said());
    // It still waits, and can be adopted.
    tray.click(&["skillopt-sleep-learned", "Adopt"]);
    until("the file", || person.skill().exists().then_some(()));
}
