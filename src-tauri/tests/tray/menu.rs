//! A menu that changes while somebody looks at it.

use serde_json::{Value, json};
use skillopt_app::commands::{self, Command};
use skillopt_app::supervisor;
use skillopt_tests::desktop::{Entry, TrayHost, until};
use skillopt_tests::session::{Screen, Session};

use crate::person::{PROJECT, Person, block_on};

/// The number of the entry that these words lead to.
fn number(mut entries: Vec<Entry>, words: &[&str]) -> Option<i32> {
    let (last, above) = words.split_last()?;
    let find = |entries: Vec<Entry>, word: &str| {
        entries
            .into_iter()
            .find(|entry| entry.label.starts_with(word))
    };
    for word in above {
        entries = find(entries, word)?.below;
    }
    Some(find(entries, last)?.id)
}

fn run(person: &Person, name: &str, input: &Value) {
    let command: Command =
        serde_json::from_value(json!({"command": name, "input": input})).unwrap();
    let app = person.app();
    block_on(commands::execute(&app, command)).unwrap();
}

#[test]
fn a_click_on_what_was_there_hits_nothing_else() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let tray = TrayHost::serve(session.address());
    let mut app = person.start(&session, &["--quiet"]);
    let there = |words: &[&str]| until("an entry", || number(tray.menu(), words));
    let runs_old = there(&["Run now", PROJECT]);

    // Another project in the place of the one, from one look to the next: the menu has the same shape.
    let other = person.home().join("work").join("another-one");
    std::fs::create_dir(&other).unwrap();
    run(&person, "project add", &json!({ "project": other }));
    run(
        &person,
        "project remove",
        &json!({"project": person.project()}),
    );
    let runs_new = there(&["Run now", "another-one"]);
    assert_ne!(runs_new, runs_old);
    assert!(!tray.click_number(runs_old), "it was for the other project");
    let state = block_on(supervisor::look(&person.app())).unwrap();
    assert!(
        state.projects.iter().all(|project| !project.requested
            && project.running.is_none()
            && project.last.is_none())
    );

    // An entry keeps its number as long as the menu means the same, whatever its words are.
    let quit = there(&["Quit"]);
    run(
        &person,
        "config set",
        &json!({"key": "desktop.language", "value": "zh"}),
    );
    assert_eq!(there(&["退出"]), quit);
    assert!(tray.click_number(quit));
    assert_eq!(app.wait(), 0);
}

#[test]
fn the_menu_leads_to_where_a_day_is_chosen() {
    let person = Person::new();
    let session = Session::start(&person.home());
    let screen = Screen::start();
    let tray = TrayHost::serve(session.address());
    let window = person.drive(&session, &screen, &["--open", "overview"]);
    window.wait_for(PROJECT);
    for _ in 0..2 {
        tray.click(&["Pause", "Until a day"]);
        window.wait_for("Until the day");
        window.press("Cancel");
    }
    tray.click(&["Pause", "Until a day"]);
    window.wait_for("Until the day");
    let _ = window.run(
        "const field = document.getElementById('pause-date');
         field.value = '2999-12-24';
         field.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    window.press("Pause");
    let paused = until("the pause", || {
        block_on(supervisor::look(&person.app())).unwrap().pause
    });
    assert!(
        json!(paused).to_string().contains("2999-12-2"),
        "{paused:?}"
    );
    tray.click(&["Resume"]);
    until("the end of the pause", || {
        let state = block_on(supervisor::look(&person.app())).unwrap();
        state.pause.is_none().then_some(())
    });
    tray.click(&["Quit"]);
}
