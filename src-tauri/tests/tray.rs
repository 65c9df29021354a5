//! The real app on a real bus: a night from the tray, decided from the notification, undone, with the
//! files looked at after each step.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test writes its own files, and fails where something is missing"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use skillopt_app::commands::{self, Command as Asked, Output};
use skillopt_app::context::App;
use skillopt_app::demo::DemoInput;
use skillopt_app::project::Which;
use skillopt_app::types::SystemClock;
use skillopt_tests::brain::honest;
use skillopt_tests::desktop::{Notifications, TrayHost, WebDriver, until};
use skillopt_tests::session::{Screen, Session};
use skillopt_tests::stub_server::{Behaviour, StubServer};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-desktop");
const PROJECT: &str = "customer-letters";

/// Somebody with the sample sessions, a registered project, and no night yet.
struct Person {
    folder: TempDir,
}

impl Person {
    fn new() -> Self {
        let person = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let environment = [(
            "HOME".to_owned(),
            person.folder.path().to_str().unwrap().to_owned(),
        )]
        .into();
        let apart = App::apart(
            environment,
            person.folder.path().to_owned(),
            Arc::new(SystemClock),
            None,
        )
        .unwrap();
        let folder = Some(person.home());
        block_on(commands::execute(&apart, Asked::Demo(DemoInput { folder }))).unwrap();
        std::fs::remove_dir_all(person.home().join("skillopt-data")).unwrap();
        let _ = std::fs::remove_dir_all(person.skill().parent().unwrap());
        let app = person.app();
        let which = Which {
            project: Some(person.home().join("work").join(PROJECT)),
        };
        block_on(commands::execute(&app, Asked::ProjectAdd(which))).unwrap();
        person
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("sample")
    }

    fn skill(&self) -> PathBuf {
        self.home()
            .join(".claude/skills/skillopt-sleep-learned/SKILL.md")
    }

    fn variables(&self) -> Vec<(String, String)> {
        let home = self.home();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        vec![
            ("HOME".to_owned(), text(&home)),
            (
                "SKILLOPT_DATA_DIR".to_owned(),
                text(&home.join("skillopt-data")),
            ),
            (
                "SKILLOPT_CONFIG_DIR".to_owned(),
                text(&home.join("skillopt-config")),
            ),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("LANG".to_owned(), "en_GB.UTF-8".to_owned()),
        ]
    }

    fn app(&self) -> App {
        App::open(
            self.variables().into_iter().collect(),
            self.home(),
            Arc::new(SystemClock),
        )
        .unwrap()
    }

    fn set(&self, key: &str, value: &str) {
        let input = skillopt_app::config::SetInput {
            key: key.to_owned(),
            value: Some(value.to_owned()),
            for_project: false,
            project: None,
        };
        block_on(commands::execute(&self.app(), Asked::ConfigSet(input))).unwrap();
    }

    /// How the newest night ended, once it has.
    fn outcome(&self) -> Option<String> {
        let input = skillopt_app::night::ListInput {
            project: None,
            everywhere: true,
            limit: 1,
        };
        let Output::NightList(rows) =
            block_on(commands::execute(&self.app(), Asked::NightList(input))).unwrap()
        else {
            panic!("a list")
        };
        let row = serde_json::to_value(rows.first()?).unwrap();
        row["outcome"].as_str().map(str::to_owned)
    }

    fn start(&self, session: &Session, words: &[&str]) -> Running {
        let log = std::fs::File::create(self.folder.path().join("app.log")).unwrap();
        let child = Command::new(PROGRAM)
            .args(words)
            .env_clear()
            .envs(self.variables())
            .envs(session.variables())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Running(child)
    }
}

struct Running(Child);

impl Running {
    /// Asks it to end, as the session does when the user signs out, and waits for that.
    fn end(&mut self) -> i32 {
        let id = self.0.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        self.wait()
    }

    fn wait(&mut self) -> i32 {
        until("the end of the app", || self.0.try_wait().unwrap())
            .code()
            .unwrap_or(-1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
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
        card.body.starts_with("skillopt-sleep-learned ") && card.body.contains('→'),
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
    notifications.say_pressed(card.id + 1, "1");
    notifications.say_pressed(card.id + 1, "1.0123456789abcdef");
    // Whoever listens misses what comes on the heels of something else.
    std::thread::sleep(Duration::from_secs(1));
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
fn signing_out_during_a_night_leaves_it_interrupted_and_nothing_running() {
    let person = Person::new();
    let server = StubServer::start();
    server.brain(honest);
    server.standing(Behaviour::Answer.after(Duration::from_secs(3)));
    person.set("models.backend", "openai_compatible");
    person.set("models.endpoint", &server.url());
    person.set("models.model", "stub");
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let mut app = person.start(&session, &["--quiet"]);
    tray.click(&["Run now", PROJECT]);
    until("a question to the model", || {
        (!server.asked().is_empty()).then_some(())
    });
    until("the face of a night at work", || {
        tray.title().contains("running").then_some(())
    });
    assert_eq!(app.end(), 0);
    assert_eq!(person.outcome().as_deref(), Some("interrupted"));
    let asked = server.asked().len();
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(server.asked().len(), asked, "nobody asks any more");
}

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
    let which = Which {
        project: Some(person.home().join("work").join(PROJECT)),
    };
    let app = person.app();
    block_on(commands::execute(&app, Asked::NightStart(which))).unwrap();
    until("a night without a tray", || person.outcome());
    assert!(child.try_wait().unwrap().is_none(), "it runs on");
    let mut running = Running(child);
    assert_eq!(running.end(), 0);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut running.0.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.contains("No tray icon can be shown"), "{said}");
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
fn a_proposal_is_read_adopted_and_taken_back_in_its_window() {
    let person = Person::new();
    let which = Some(person.home().join("work").join(PROJECT));
    let input = skillopt_app::sleep::RunInput {
        project: which,
        ..Default::default()
    };
    block_on(commands::execute(&person.app(), Asked::SleepRun(input))).unwrap();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let mut variables = person.variables();
    variables.extend(session.variables());
    variables.push(("DISPLAY".to_owned(), screen.display().to_owned()));
    let window = WebDriver::open(PROGRAM, &["window", "review"], &variables);
    window.wait_for("skillopt-sleep-learned");
    assert!(!person.skill().exists());
    window.press("Adopt");
    until("the file", || person.skill().exists().then_some(()));
    window.press("Undo");
    until("the file as it was", || {
        (!person.skill().exists()).then_some(())
    });
}
