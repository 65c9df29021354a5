//! From the tray to the file and back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillopt_tests::desktop::{Notifications, TrayHost, until};
use skillopt_tests::session::{Screen, Session};

use crate::person::{PROJECT, Person};

/// Every file below the folders a night reads or an adoption may write, with its bytes.
fn files(person: &Person) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else {
                found.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    for folder in [".claude", "work"] {
        collect(&person.home().join(folder), &mut found);
    }
    found
}

#[test]
fn a_night_from_the_tray_is_adopted_from_its_notification_and_undone_in_the_window() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let before = files(&person);

    // The driver starts the tray, and takes hold of the window that the tray opens.
    let window = person.drive(&session, &screen, &["--open", "review"]);
    tray.click(&["Run now", PROJECT]);
    let card = notifications.wait_for("1 proposal");
    assert_eq!(
        files(&person),
        before,
        "a night writes nothing of the user's"
    );
    // The window that was open all the time shows it by itself.
    window.wait_for("skillopt-sleep-learned");

    notifications.press(&card, "Adopt");
    let adopted = notifications.wait_for("Adopted");
    assert!(
        adopted.body.starts_with("skillopt-sleep-learned "),
        "{adopted:?}"
    );
    let mut written = files(&person);
    let skill = written.remove(&person.skill()).unwrap();
    assert!(String::from_utf8(skill).unwrap().contains("learned"));
    assert_eq!(written, before, "nothing else is written");

    window.press("Undo adoption");
    until("the file as it was", || {
        (!person.skill().exists()).then_some(())
    });
    until("the end of the undoing", || {
        (!window.text().contains("Undo adoption")).then_some(())
    });
    assert_eq!(files(&person), before);
    // What was undone in the window cannot be undone in the notification.
    notifications.press(&adopted, "Undo");
    let _ = notifications.wait_for("Already decided");
    assert_eq!(files(&person), before);
    until("an empty menu", || {
        (!tray.labels().iter().any(|label| label.ends_with("/Adopt"))).then_some(())
    });
    tray.click(&["Quit"]);
}

#[test]
fn a_night_from_the_tray_is_adopted_from_its_notification_and_undone() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let mut app = person.start(&session, &["--quiet"]);

    tray.click(&["Run now", PROJECT]);
    let card = notifications.wait_for("1 proposal");
    assert!(
        card.body.starts_with("skillopt-sleep-learned ")
            && card.body.contains('→')
            && card.body.contains(" tasks)"),
        "{card:?}"
    );
    let labels: Vec<_> = card
        .actions
        .iter()
        .filter(|(key, _)| key != "default")
        .map(|(_, label)| label.as_str())
        .collect();
    assert_eq!(labels, ["Review…", "Adopt", "Reject"]);
    until("the face of a waiting proposal", || {
        tray.title().contains("review").then_some(())
    });
    assert!(!person.skill().exists());

    // Anybody can say that a button was pressed; only who knows the proposal is believed.
    let (key, _) = card
        .actions
        .iter()
        .find(|(_, label)| label == "Adopt")
        .unwrap();
    let nonce = key.strip_prefix("1.").unwrap();
    let turned: String = nonce.chars().rev().collect();
    assert!(nonce.len() >= 16 && nonce != turned, "{nonce}");
    let forged = ["1", "1.", "1.0123456789abcdef", "2", nonce];
    for key in forged
        .map(str::to_owned)
        .into_iter()
        .chain([format!("1.{turned}")])
    {
        notifications.say_pressed(card.id, &key);
    }
    // By then each of them would have done something.
    tray.click(&["Pause", "Until I resume"]);
    until("the face of a pause", || {
        tray.title().contains("Paused").then_some(())
    });
    tray.click(&["Resume"]);
    until("the end of the pause", || {
        tray.title().contains("review").then_some(())
    });
    assert!(!person.skill().exists());
    assert_eq!(
        notifications.shown().len(),
        1,
        "{:?}",
        notifications.shown()
    );
    // None of them keeps the one who knows it from pressing.
    notifications.press(&card, "Adopt");
    let adopted = notifications.wait_for("Adopted");
    assert!(
        std::fs::read_to_string(person.skill())
            .unwrap()
            .contains("learned"),
        "the file is written"
    );
    until("an empty menu", || {
        (!tray.labels().iter().any(|label| label.ends_with("/Adopt"))).then_some(())
    });

    notifications.press(&adopted, "Undo");
    let _ = notifications.wait_for("Taken back");
    assert!(!person.skill().exists(), "as before, byte for byte");

    tray.click(&["Pause", "Until I resume"]);
    until("the face of a pause", || {
        tray.title().contains("Paused").then_some(())
    });
    tray.click(&["Resume"]);
    tray.click(&["Quit"]);
    assert_eq!(app.wait(), 0);
}
