//! Files that are dragged from another program onto the questions of a night are their answers.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use skillopt_app::commands::{self, Command as Asked};
use skillopt_tests::desktop::until;
use skillopt_tests::session::{Screen, Session};

use crate::person::{Person, block_on};

/// A window whose whole surface can be dragged: the files that are named on its command line.
const OTHER_PROGRAM: &str = "
import sys, gi
gi.require_version('Gtk', '3.0')
from gi.repository import Gtk, Gdk
window = Gtk.Window(title='Another program')
window.set_default_size(300, 300)
surface = Gtk.EventBox()
surface.add(Gtk.Label(label='drag me'))
window.add(surface)
surface.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
surface.drag_source_add_uri_targets()
surface.connect('drag-data-get', lambda widget, drag, data, kind, time: data.set_uris(sys.argv[1:]))
window.show_all()
Gtk.main()
";

/// A program on the screen, ended with the test.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn on(screen: &Screen, program: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(words)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("NO_AT_BRIDGE", "1")
        .env("DISPLAY", screen.display())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Runs a small program that works on the screen.
fn run_on(screen: &Screen, program: &str, words: &[&str]) {
    let done = on(screen, program, words).status().unwrap();
    assert!(done.success(), "{program} {words:?}");
}

fn questions(person: &Person) -> Value {
    let asked: Asked = serde_json::from_value(
        json!({"command": "handoff", "input": {"project": person.project()}}),
    )
    .unwrap();
    let output = block_on(commands::execute(&person.app(), asked)).unwrap();
    serde_json::to_value(output).unwrap()
}

#[test]
fn files_of_another_program_answer_the_questions_they_are_named_by() {
    let person = Person::new();
    person.set("models.backend", "handoff");
    person.run_a_night();
    assert_eq!(person.outcome().as_deref(), Some("waiting_for_answers"));
    let asked = questions(&person);
    let pending = asked["pending"].as_array().unwrap();
    let ids: Vec<&str> = pending
        .iter()
        .map(|question| question["id"].as_str().unwrap())
        .collect();
    assert!(ids.len() >= 3, "{ids:?}");
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let place = format!("handoff/{}", person.project_id());
    let window = person.drive(&session, &screen, &["window", &place]);
    window.wait_for("0 of ");

    let file = |name: &str| person.home().join(name);
    std::fs::write(file(&format!("{}.md", ids[0])), "[] dropped by a test").unwrap();
    // What else can be let go over a window: of no question, a folder, and far too much.
    std::fs::write(file("holiday.md"), "of no question").unwrap();
    std::fs::create_dir(file(&format!("{}.md", ids[1]))).unwrap();
    let huge = std::fs::File::create(file(&format!("{}.txt", ids[2]))).unwrap();
    huge.set_len(2 << 30).unwrap();
    let addresses: Vec<String> = [
        format!("{}.md", ids[0]),
        "holiday.md".to_owned(),
        format!("{}.md", ids[1]),
        format!("{}.txt", ids[2]),
    ]
    .iter()
    .map(|name| format!("file://{}", file(name).display()))
    .collect();
    let mut words = vec!["-c", OTHER_PROGRAM];
    words.extend(addresses.iter().map(String::as_str));
    let other = on(&screen, "/usr/bin/python3", &words)
        .env("HOME", person.home())
        .spawn();
    let _other = Other(other.unwrap());
    screen.wait_for_window("Another program");
    // As slowly as a hand: both programs answer each other at every step.
    until("an answer that was dropped", || {
        // A window that has just appeared may still be placed by its manager.
        for (title, place) in [
            ("Questions", "0,0,0,900,700"),
            ("Another program", "0,1000,0,300,300"),
        ] {
            run_on(&screen, "wmctrl", &["-r", title, "-e", place]);
        }
        for step in [
            "mousemove 1150 200",
            "mousedown 1",
            "mousemove 1130 210",
            "mousemove 1090 230",
            "mousemove 700 300",
            "mousemove 450 350",
            "mousemove 452 352",
            "mouseup 1",
        ] {
            run_on(&screen, "xdotool", &step.split(' ').collect::<Vec<_>>());
            std::thread::sleep(Duration::from_millis(250));
        }
        window.text().contains("1 of ").then_some(())
    });
    // Each of the others is said where it belongs, and kept nowhere.
    for words in [
        "holiday.md is not named by one of these questions",
        "is a folder; an answer is one file",
        "An answer has at most 1 MiB",
    ] {
        window.wait_for(words);
    }
    let asked = questions(&person);
    // The page stays where it is.
    assert_eq!(
        window.run("return location.hash"),
        json!(format!("#/{place}"))
    );
    let answered: Vec<&Value> = asked["pending"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|question| question["answered"] == true)
        .collect();
    assert_eq!(answered.len(), 1, "{answered:?}");
    assert_eq!(answered[0]["id"], json!(ids[0]));
    let kept = std::fs::read_to_string(answered[0]["answer_file"].as_str().unwrap()).unwrap();
    assert!(kept.contains("dropped by a test"), "{kept}");
}
