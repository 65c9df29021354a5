//! The first steps in a real window.

use skillopt_tests::desktop::{TrayHost, until};
use skillopt_tests::session::{Screen, Session};

use crate::person::Person;

#[test]
fn whoever_takes_the_first_steps_has_nights_after_the_next_sign_in() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let entry = person
        .home()
        .join(".config/autostart/skillopt-desktop.desktop");
    let window = person.drive(&session, &screen, &["--open", "first-run"]);
    for step in 1..5 {
        window.wait_for(&format!("Step {step} of 5"));
        window.press("Next");
    }
    window.wait_for("Start with the session");
    assert!(!entry.exists(), "only who goes through with it gets it");
    window.press("Done");
    until("the entry of the session", || entry.exists().then_some(()));
    window.wait_for("Overview");
    tray.click(&["Quit"]);
}
