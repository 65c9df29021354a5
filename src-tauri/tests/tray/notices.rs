//! Buttons of notifications, and desktops that show none.

use std::time::Duration;

use skillopt_tests::desktop::{Notifications, TrayHost, hanging_notifications, until};
use skillopt_tests::session::{Screen, Session};

use crate::person::{PROJECT, Person};

#[test]
fn a_proposal_is_rejected_from_the_menu_and_a_late_button_changes_nothing() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let _app = person.start(&session, &["--quiet"]);
    tray.click(&["Run now", PROJECT]);
    let card = notifications.wait_for("1 proposal");
    tray.click(&["skillopt-sleep-learned", "Reject"]);
    let _ = notifications.wait_for("Rejected");
    notifications.press(&card, "Adopt");
    let _ = notifications.wait_for("Already decided");
    assert!(!person.skill().exists());
}

#[test]
fn a_rejection_is_taken_back_once() {
    let person = Person::new();
    person.run_a_night();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let _app = person.start(&session, &["--quiet"]);
    let card = notifications.wait_for("1 proposal");
    notifications.press(&card, "Reject");
    let rejected = notifications.wait_for("Rejected");
    until("an empty menu", || {
        (!tray.labels().iter().any(|label| label.ends_with("/Adopt"))).then_some(())
    });
    notifications.press(&rejected, "Undo");
    let _ = notifications.wait_for("Waits again");
    tray.click(&["skillopt-sleep-learned", "Reject"]);
    let again = until("another rejection", || {
        let mut shown = notifications.shown();
        shown.retain(|shown| shown.summary == "Rejected");
        (shown.len() == 2).then(|| shown.remove(1))
    });
    notifications.press(&again, "Undo");
    until("the proposal in the menu", || {
        tray.labels()
            .iter()
            .any(|label| label.ends_with("/Adopt"))
            .then_some(())
    });
    assert!(!person.skill().exists());
}

#[test]
fn a_click_on_a_notification_opens_the_review_window() {
    let person = Person::new();
    person.run_a_night();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let _tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let mut app = person.start_on(&session, &screen, &["--quiet"]);
    let card = notifications.wait_for("1 proposal");
    assert!(!screen.shows("SkillOpt"));
    notifications.say_pressed(card.id, "default");
    screen.wait_for_window("SkillOpt");
    assert_eq!(app.end(), 0);
    until("the end of its window", || {
        (!screen.shows("SkillOpt")).then_some(())
    });
}

#[test]
fn where_notifications_have_no_buttons_they_say_where_to_decide_and_a_click_opens_the_review() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve_without_buttons(session.address());
    let _app = person.start_on(&session, &screen, &["--quiet"]);
    tray.click(&["Run now", PROJECT]);
    let card = notifications.wait_for("1 proposal");
    assert!(
        !card.actions.iter().any(|(_, label)| label == "Adopt"),
        "{card:?}"
    );
    assert!(card.body.contains("menu of the tray"), "{card:?}");
    tray.click(&["skillopt-sleep-learned", "Adopt"]);
    let _ = notifications.wait_for("Adopted");
    assert!(person.skill().exists());
    assert!(!screen.shows("SkillOpt"));
    // Some of these servers tell of a click all the same.
    notifications.say_pressed(card.id, "default");
    screen.wait_for_window("SkillOpt");
}

#[test]
fn what_is_out_of_date_is_not_offered_for_adoption() {
    let person = Person::new();
    person.run_a_night();
    std::fs::create_dir_all(person.skill().parent().unwrap()).unwrap();
    std::fs::write(person.skill(), "---\nname: x\ndescription: mine\n---\n").unwrap();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let _app = person.start(&session, &["--quiet"]);
    let card = notifications.wait_for("1 proposal");
    assert!(card.body.contains("Its file has changed since"), "{card:?}");
    let labels: Vec<_> = card
        .actions
        .iter()
        .map(|(_, label)| label.as_str())
        .collect();
    assert_eq!(labels, ["1 proposal", "Review…", "Reject"]);
    let menu = tray.labels();
    assert!(
        menu.iter().any(|label| label.ends_with("/Reject")),
        "{menu:?}"
    );
    assert!(
        !menu.iter().any(|label| label.ends_with("/Adopt")),
        "{menu:?}"
    );
}

#[test]
fn a_night_that_waits_for_answers_is_in_the_menu_and_its_entry_opens_the_questions() {
    let person = Person::new();
    person.set("models.backend", "handoff");
    person.run_a_night();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let _app = person.start_on(&session, &screen, &["--quiet"]);
    until("the face of a decision", || {
        tray.title().contains("answers").then_some(())
    });
    let menu = tray.labels();
    assert_eq!(menu[0], format!("{PROJECT} waits for your answers"));
    let tip = tray.tooltip();
    assert!(menu[1].starts_with("Last: Questions wait, "), "{menu:?}");
    assert_eq!(tip, format!("{}\n{}", menu[0], menu[1]));
    tray.click(&["Answer questions…"]);
    screen.wait_for_window("SkillOpt");
}

#[test]
fn a_button_is_heard_that_is_pressed_as_soon_as_it_is_shown() {
    let person = Person::new();
    person.run_a_night();
    let session = Session::start(&person.home());
    let _tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve_pressing(session.address(), "Adopt");
    let _app = person.start(&session, &["--quiet"]);
    let _ = notifications.wait_for("Adopted");
    assert!(person.skill().exists());
}

#[test]
fn what_could_not_be_shown_is_told_when_it_can_be() {
    let person = Person::new();
    person.run_a_night();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let _app = person.start(&session, &["--quiet"]);
    until("the word in the menu", || {
        tray.labels()
            .iter()
            .any(|label| label.starts_with("No notifications here"))
            .then_some(())
    });
    let notifications = Notifications::serve(session.address());
    let _ = notifications.wait_for("1 proposal");
    until("a menu without the word", || {
        (!tray
            .labels()
            .iter()
            .any(|label| label.starts_with("No notifications here")))
        .then_some(())
    });
    // Once it was shown, it is not told again.
    tray.click(&["Pause", "Until I resume"]);
    until("the face of a pause", || {
        tray.title().contains("Paused").then_some(())
    });
    assert_eq!(notifications.shown().len(), 1);
}

#[test]
fn a_notification_server_that_hangs_keeps_nothing_else_waiting() {
    let person = Person::new();
    person.run_a_night();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let _hanging = hanging_notifications(session.address());
    let mut app = person.start(&session, &["--quiet"]);
    tray.click(&["skillopt-sleep-learned", "Adopt"]);
    until("the file", || person.skill().exists().then_some(()));
    until("the word in the menu", || {
        tray.labels()
            .iter()
            .any(|label| label.starts_with("No notifications here"))
            .then_some(())
    });
    tray.click(&["Quit"]);
    assert_eq!(app.wait(), 0);
}

#[test]
fn without_a_notification_server_the_menu_says_so_and_has_it_all() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let _app = person.start(&session, &["--quiet"]);
    tray.click(&["Run now", PROJECT]);
    until("the word in the menu", || {
        tray.labels()
            .iter()
            .any(|label| label.starts_with("No notifications here"))
            .then_some(())
    });
    tray.click(&["skillopt-sleep-learned", "Adopt"]);
    until("the file", || person.skill().exists().then_some(()));
}

#[test]
fn without_a_tray_host_it_is_told_once_how_to_reach_the_window() {
    const NO_TRAY: &str = "SkillOpt is running without a tray icon";
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let display = [("DISPLAY", screen.display())];
    let notifications = Notifications::serve(session.address());
    let mut app = person.start_with(&session, &["--quiet"], &display);
    let card = notifications.wait_for(NO_TRAY);
    assert!(card.body.contains("Start SkillOpt again"), "{card:?}");
    assert!(!screen.shows("SkillOpt"));
    let mut second = person.start_with(&session, &[], &display);
    assert_eq!(second.wait(), 0);
    screen.wait_for_window("SkillOpt");
    assert_eq!(app.end(), 0);

    // It is not told again; started by hand, the app shows its window at once.
    let mut app = person.start_with(&session, &[], &display);
    screen.wait_for_window("SkillOpt");
    // Longer than the app waits for something that shows trays.
    std::thread::sleep(Duration::from_secs(12));
    // A panel that comes later gets the icon.
    let tray = TrayHost::serve(session.address());
    assert!(tray.title().contains("SkillOpt"));
    let told = notifications.shown();
    assert_eq!(
        told.iter().filter(|shown| shown.summary == NO_TRAY).count(),
        1
    );
    assert_eq!(app.end(), 0);
}
