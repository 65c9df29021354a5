//! What a page of the real window can do, and what it is told.

use std::net::TcpListener;
use std::time::Duration;

use serde_json::json;
use skillopt_app::commands::{self, Command, Output};
use skillopt_tests::desktop::{WebDriver, until};
use skillopt_tests::session::{Screen, Session};

use crate::person::{PROJECT, Person, block_on};

/// Gives a command as a page would that was made to say what it likes; the code of the problem, or "done".
fn ask(window: &WebDriver, command: &str, input: &serde_json::Value) -> String {
    let call = json!({"command": {"command": command, "input": input}});
    let _ = window.run(&format!(
        "delete window.answered;
         window.__TAURI_INTERNALS__.invoke('execute', {call})
           .then(() => {{ window.answered = 'done'; }}, (problem) => {{ window.answered = problem.code; }});"
    ));
    until("an answer", || {
        let answered = window.run("return window.answered ?? null");
        answered.as_str().map(str::to_owned)
    })
}

/// Types into a field of the page.
fn fill(window: &WebDriver, id: &str, text: &str) {
    let _ = window.run(&format!(
        "const field = document.getElementById({});
         field.value = {};
         field.dispatchEvent(new Event('input', {{ bubbles: true }}));",
        json!(id),
        json!(text)
    ));
}

/// What the list of backends says of one of them; nothing while it is not in the list.
fn said_of(window: &WebDriver, backend: &str) -> Option<String> {
    let said = window.run(&format!(
        "const row = [...document.querySelectorAll('.backend')].find((row) => row.querySelector('strong').innerText === {});
         return row ? row.innerText : null;",
        json!(backend)
    ));
    said.as_str().map(str::to_owned)
}

#[test]
fn a_window_sees_what_is_done_in_it_and_does_nothing_else() {
    let person = Person::new();
    let mut session = Session::start(&person.home());
    session.keyring(Some("password of the session"));
    let screen = Screen::start();
    let window = person.drive(&session, &screen, &["window", "settings"]);
    until("the list of backends", || said_of(&window, "mock"));

    // What it did itself is shown like what another process did.
    let language = |value: &str| json!({"key": "desktop.language", "value": value});
    assert_eq!(ask(&window, "config set", &language("zh")), "done");
    window.wait_for("设置");
    assert_eq!(ask(&window, "config set", &language("en")), "done");
    window.wait_for("Settings");

    // A key that is kept here is there for the next command, without a new start.
    assert_eq!(said_of(&window, "anthropic"), None);
    fill(&window, "key-name", "ANTHROPIC_API_KEY");
    fill(&window, "key-secret", "made-up-by-a-test");
    window.press("Store");
    until("a backend that nights may not ask yet", || {
        said_of(&window, "anthropic").filter(|said| said.contains("Terms not agreed to"))
    });
    let providers = json!({"providers": ["anthropic"]});
    assert_eq!(ask(&window, "backend accept", &providers), "done");
    until("a backend that can be used now", || {
        said_of(&window, "anthropic").filter(|said| said.contains("Ready"))
    });

    // Commands that no window uses are not carried out for one.
    let elsewhere = person.home().join("elsewhere");
    assert_eq!(
        ask(&window, "data move", &json!({"to": elsewhere})),
        "command_refused"
    );
    assert!(!elsewhere.exists());

    // Nor does it go anywhere.
    let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    server.set_nonblocking(true).unwrap();
    let address = json!(format!("http://{}/", server.local_addr().unwrap()));
    for script in [
        format!("location.href = {address};"),
        format!("window.open({address});"),
        format!(
            "const form = document.createElement('form');
             form.action = {address};
             document.body.append(form);
             form.submit();"
        ),
    ] {
        let _ = window.run(&script);
        // As long as a page needs that may go there; it would be gone then.
        std::thread::sleep(Duration::from_secs(1));
        assert!(server.accept().is_err(), "{script}");
        assert!(said_of(&window, "mock").is_some(), "{script}");
    }
}

/// Chooses something of a list by its value, once the list has it.
fn choose(window: &WebDriver, list: &str, value: &str) {
    until("a choice", || {
        let chosen = window.run(&format!(
            "const list = document.querySelector('select[aria-label=' + JSON.stringify({list}) + ']');
             if (![...(list?.options ?? [])].some((option) => option.value === {value})) return null;
             list.value = {value};
             list.dispatchEvent(new Event('change', {{ bubbles: true }}));
             return true;",
            list = json!(list),
            value = json!(value)
        ));
        chosen.as_bool()
    });
}

#[test]
fn a_project_is_deleted_once_its_name_was_typed() {
    let person = Person::new();
    person.run_a_night();
    let app = person.app();
    let projects = || {
        let command = json!({"command": "project list", "input": {}});
        let command: Command = serde_json::from_value(command).unwrap();
        match block_on(commands::execute(&app, command)).unwrap() {
            Output::ProjectList(projects) => projects.len(),
            _ => panic!("a list"),
        }
    };
    let staged = || {
        let staging = std::fs::read_dir(person.home().join("skillopt-data/staging"));
        staging.into_iter().flatten().count()
    };
    let skill = std::fs::read(person.skill()).ok();
    assert_eq!((projects(), staged()), (1, 1));

    let mut session = Session::start(&person.home());
    session.keyring(Some("password of the session"));
    let screen = Screen::start();
    let window = person.drive(&session, &screen, &["window", "settings"]);
    choose(&window, "What is deleted", "project");
    let folder = person.project();
    choose(&window, "Of which project", folder.to_str().unwrap());
    window.press("Show what would go…");
    window.wait_for("1 project");
    window.wait_for("1 proposal");
    assert_eq!((projects(), staged()), (1, 1), "it was only shown");

    let pressed = window.run(
        "const button = [...document.querySelectorAll('button')].find((one) => one.innerText === 'Delete this project');
         button.click();
         return button.disabled;",
    );
    assert_eq!(pressed, json!(true), "the name was not typed");
    let _ = window.run(&format!(
        "const field = document.querySelector('form.bad input');
         field.value = {};
         field.dispatchEvent(new Event('input', {{ bubbles: true }}));",
        json!(PROJECT)
    ));
    window.press("Delete this project");
    window.wait_for("It was deleted.");
    assert_eq!((projects(), staged()), (0, 0));
    assert_eq!(
        std::fs::read(person.skill()).ok(),
        skill,
        "files of the user stay"
    );
}

#[test]
fn looking_tells_no_window_to_look_again() {
    let person = Person::new();
    person.run_a_night();
    let app = person.app();
    let run = |name: &str, input: serde_json::Value| {
        let command: Command =
            serde_json::from_value(json!({"command": name, "input": input})).unwrap();
        let writes = command.writes();
        (writes, block_on(commands::execute(&app, command)).unwrap())
    };
    let (_, Output::ProposalList(proposals)) = run("proposal list", json!({"everywhere": true}))
    else {
        panic!("a list")
    };
    let id = serde_json::to_value(&proposals[0]).unwrap()["id"].clone();
    // That it was looked at for the first time is written down.
    let _ = run("proposal show", json!({"id": id}));

    let others =
        rusqlite::Connection::open(person.home().join("skillopt-data/skillopt.db")).unwrap();
    let state = || {
        let version: i64 = others
            .query_row("PRAGMA data_version", (), |row| row.get(0))
            .unwrap();
        let settings: Vec<_> = std::fs::read_dir(person.home().join("skillopt-config"))
            .into_iter()
            .flatten()
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap_or_default())
            .collect();
        (version, settings)
    };
    let project = json!({"project": person.project()});
    for (name, input) in [
        ("status", json!({})),
        ("project list", json!({})),
        ("project find", json!({})),
        ("proposal list", json!({"everywhere": true})),
        ("proposal show", json!({"id": id})),
        ("proposal adopt", json!({"id": id, "plan_only": true})),
        ("night list", json!({"everywhere": true, "limit": 9})),
        ("night show", project.clone()),
        ("spend", json!({"everywhere": true, "months": 1})),
        ("config show", project.clone()),
        ("sleep status", project.clone()),
        ("backend list", json!({})),
        ("handoff", project.clone()),
        ("log", json!({"lines": 9})),
        ("data size", json!({})),
    ] {
        let before = state();
        let (writes, _) = run(name, input);
        assert!(!writes, "{name}");
        assert_eq!(state(), before, "{name}");
    }
    for (name, input) in [
        ("config set", json!({"key": "schedule.hour", "value": "4"})),
        ("pause", json!({"until": "1h"})),
        ("resume", json!({})),
        ("night start", project),
        ("proposal reject", json!({"id": id, "reason": "no"})),
        ("proposal reopen", json!({"id": id})),
        ("proposal adopt", json!({"id": id})),
        ("rollback", json!({"id": id})),
    ] {
        let before = state();
        let (writes, _) = run(name, input);
        assert!(writes, "{name}");
        assert_ne!(state(), before, "{name}");
    }
}
