//! What can be missing or wrong around the app.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use skillopt_app::Nothing;
use skillopt_app::commands::{self, Command as Asked};
use skillopt_app::context::App;
use skillopt_app::data::ToInput;
use skillopt_app::project::Which;
use skillopt_app::types::SystemClock;
use skillopt_tests::desktop::{Notifications, TrayHost, until};
use skillopt_tests::session::{Screen, Session};

use crate::person::{PROGRAM, PROJECT, Person, Running, block_on};

#[test]
fn without_a_bus_it_says_so_and_keeps_the_schedule() {
    let person = Person::new();
    let mut child = Command::new(PROGRAM)
        .arg("--quiet")
        .env_clear()
        .envs(person.variables())
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    person.ask_for_a_night();
    until("a night without a tray", || person.outcome());
    assert!(child.try_wait().unwrap().is_none(), "it runs on");
    let mut running = Running(child);
    assert_eq!(running.end(), 0);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut running.0.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.contains("No tray icon can be shown"), "{said}");
    // Nobody reads the standard error of what the session starts.
    let log = std::fs::read_to_string(person.app().paths.log()).unwrap();
    assert!(
        log.contains("Z skillopt-desktop: No tray icon can be shown"),
        "{log}"
    );
}

#[test]
fn settings_that_cannot_be_read_are_the_face_of_the_tray_and_told() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let file = person.app().config().user;
    let before = std::fs::read(&file).unwrap();
    std::fs::write(&file, "[schedule\n").unwrap();
    let mut app = person.start(&session, &["--quiet"]);
    let card = notifications.wait_for("Nights cannot run");
    assert!(card.body.contains(file.to_str().unwrap()), "{card:?}");
    until("the face of attention", || {
        tray.title().contains("attention").then_some(())
    });
    std::fs::write(&file, before).unwrap();
    tray.click(&["Run now", PROJECT]);
    let _ = notifications.wait_for("1 proposal");
    let told = notifications.shown();
    assert!(
        told.iter()
            .all(|shown| !shown.summary.ends_with("needs you")),
        "{told:?}"
    );
    assert_eq!(app.end(), 0);
}

#[test]
fn after_the_data_was_moved_the_app_goes_on_there() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    // A folder that the variable names cannot be moved.
    let mut variables = person.variables();
    variables.retain(|(name, _)| name != "SKILLOPT_DATA_DIR");
    variables.extend(session.variables());
    let open = || {
        let environment = variables.iter().cloned().collect();
        App::open(environment, person.home(), Arc::new(SystemClock)).unwrap()
    };
    let app = open();
    let project = Some(person.project());
    block_on(commands::execute(
        &app,
        Asked::ProjectAdd(Which { project }),
    ))
    .unwrap();
    let mut running = person.start_with(&session, &["--quiet"], &[("SKILLOPT_DATA_DIR", "")]);
    let _ = tray.title();
    let to = person.home().join("elsewhere");
    let input = ToInput { to: to.clone() };
    block_on(commands::execute(&app, Asked::DataMove(input))).unwrap();
    let card = notifications.wait_for("The data was moved");
    assert!(card.body.contains(to.to_str().unwrap()), "{card:?}");
    let remove = Asked::DataRemoveOld(Nothing {});
    block_on(commands::execute(&open(), remove)).unwrap();
    tray.click(&["Run now", PROJECT]);
    let _ = notifications.wait_for("1 proposal");
    tray.click(&["skillopt-sleep-learned", "Adopt"]);
    let _ = notifications.wait_for("Adopted");
    // A further start finds it in its new place.
    let mut second = person.start_with(&session, &["--quiet"], &[("SKILLOPT_DATA_DIR", "")]);
    assert_eq!(second.wait(), 0);
    assert_eq!(running.end(), 0);
}

#[test]
fn a_second_start_tells_the_first_and_ends() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let mut first = person.start(&session, &["--quiet"]);
    let _ = tray.title();
    let mut second = person.start(&session, &["--open", "settings"]);
    assert_eq!(second.wait(), 0);
    assert!(first.0.try_wait().unwrap().is_none());
    assert_eq!(first.end(), 0);
}

#[test]
fn without_a_display_the_nights_go_on_and_a_window_says_why_not() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let mut app = person.start(&session, &["--quiet"]);
    tray.click(&["Open SkillOpt"]);
    let card = notifications.wait_for("That did not work");
    assert!(
        card.body.contains("no display") && card.body.contains("skillopt"),
        "{card:?}"
    );
    assert!(person.said().contains("no_display"), "{}", person.said());
    tray.click(&["Run now", PROJECT]);
    let _ = notifications.wait_for("1 proposal");
    assert_eq!(app.end(), 0);

    let window = Command::new(PROGRAM)
        .args(["window", "overview"])
        .env_clear()
        .envs(person.variables())
        .output()
        .unwrap();
    assert_eq!(window.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&window.stderr).contains("(no_display)"));
}

#[test]
fn a_display_that_has_gone_is_said() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let gone = Screen::start().display().to_owned();
    let mut app = person.start_with(&session, &["--quiet"], &[("DISPLAY", &gone)]);
    tray.click(&["Open SkillOpt"]);
    let card = notifications.wait_for("That did not work");
    assert!(card.body.contains("window could not be opened"), "{card:?}");
    assert!(app.0.try_wait().unwrap().is_none(), "the tray stays");
    assert_eq!(app.end(), 0);
}

#[test]
fn a_window_opens_on_the_display_it_was_asked_for_on() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let (here, there) = (Screen::start(), Screen::start());
    let tray = TrayHost::serve(session.address());
    let mut app = person.start_with(&session, &["--quiet"], &[("DISPLAY", here.display())]);
    let _ = tray.title();
    let mut second = person.start_with(&session, &[], &[("DISPLAY", there.display())]);
    assert_eq!(second.wait(), 0);
    there.wait_for_window("SkillOpt");
    assert!(!here.shows("SkillOpt"));
    // From the tray, it opens where the tray is.
    tray.click(&["Open SkillOpt"]);
    here.wait_for_window("SkillOpt");
    assert_eq!(app.end(), 0);
    for screen in [here, there] {
        until("the end of the windows", || {
            (!screen.shows("SkillOpt")).then_some(())
        });
    }
}

/// Makes the database one that a later version has written.
fn make_newer(data: &Path) -> std::path::PathBuf {
    let path = data.join("skillopt.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    let version = i64::try_from(skillopt_store::SCHEMA_VERSION).unwrap() + 1;
    database
        .pragma_update(None, "user_version", version)
        .unwrap();
    let written = "UPDATE meta SET value = '9.9.9' WHERE key = 'written_by'";
    assert_eq!(database.execute(written, []).unwrap(), 1);
    database
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    path
}

#[test]
fn data_of_a_newer_version_is_named_by_tray_and_window_and_left_alone() {
    let person = Person::new();
    person.run_a_night();
    let database = make_newer(&person.home().join("skillopt-data"));
    let before = std::fs::read(&database).unwrap();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let mut app = person.start_on(&session, &screen, &["--quiet"]);
    let card = notifications.wait_for("That did not work");
    assert!(
        card.body.contains("9.9.9") && card.body.contains("Nothing was changed"),
        "{card:?}"
    );
    let labels = tray.labels();
    assert!(
        labels
            .iter()
            .any(|label| label.contains("skillopt.db has schema")),
        "{labels:?}"
    );
    assert!(
        !labels.iter().any(|label| label.starts_with("Run now")),
        "{labels:?}"
    );
    // A second start is heard by this one, too.
    let mut second = person.start_on(&session, &screen, &[]);
    assert_eq!(second.wait(), 0);
    screen.wait_for_window("SkillOpt");
    tray.click(&["Quit"]);
    assert_eq!(app.wait(), 1);

    let window = person.drive(&session, &screen, &["window", "overview"]);
    window.wait_for("written by SkillOpt 9.9.9");
    window.wait_for("Nothing was changed");
    drop(window);
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[test]
fn a_folder_that_has_gone_is_said_with_what_to_do() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let notifications = Notifications::serve(session.address());
    let aside = person.home().join("aside");
    std::fs::rename(person.project(), &aside).unwrap();
    let _app = person.start(&session, &["--quiet"]);
    let card = notifications.wait_for(&format!("{PROJECT} needs you"));
    assert!(
        card.body.contains("is not there") && card.body.contains("project move"),
        "{card:?}"
    );
    until("the face of attention", || {
        tray.title().contains("attention").then_some(())
    });
    std::fs::rename(&aside, person.project()).unwrap();
    tray.click(&["Run now", PROJECT]);
    let _ = notifications.wait_for("1 proposal");
}

#[test]
fn the_window_says_whether_the_keyring_is_missing_or_locked() {
    let person = Person::new();
    for (has_keyring, words) in [
        (false, "No keyring answers here"),
        (true, "The keyring is locked. Unlock it"),
    ] {
        let mut session = Session::start(&person.home());
        if has_keyring {
            // Made by a first sign-in with a password, and locked at the next one without.
            session.keyring(Some("password of the session"));
            drop(session);
            session = Session::start(&person.home());
            session.keyring(None);
        }
        let screen = Screen::start();
        let window = person.drive(&session, &screen, &["window", "settings"]);
        window.wait_for(words);
    }
}
