//! Going on with a night, and looking once more at what earlier nights have dealt with.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use serde_json::{Value, json};
use skillopt_tests::brain::honest;
use skillopt_tests::home::{Home, Ran};
use skillopt_tests::stub_server::StubServer;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

fn run(home: &Home, words: &[&str]) -> Ran {
    home.run(&[words, &["--json"]].concat())
}

fn nights(home: &Home) -> Vec<(String, String)> {
    let listed = run(home, &["night", "list"]).json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = listed.as_array().expect("a list").iter();
    rows.map(|row| (text(&row["state"]), text(&row["outcome"])))
        .collect()
}

#[test]
fn to_resume_never_ends_the_night_it_should_resume() {
    let home = Home::with_sample(PROGRAM);
    let none = run(&home, &["night", "resume"]);
    assert_eq!(none.json()["error"], "night_unknown", "{}", none.out);
    assert_eq!(none.code, 2);
    assert!(nights(&home).is_empty());

    let begun = run(&home, &["sleep", "run", "--backend=handoff"]);
    assert_eq!(begun.code, 3, "{}", begun.out);
    let waiting = vec![("stopped".to_owned(), "waiting_for_answers".to_owned())];
    assert_eq!(nights(&home), waiting);

    let other = run(&home, &["night", "resume"]).json();
    assert_eq!(other["problem"]["code"], "night_changed", "{other}");
    let message = other["problem"]["message"].as_str().expect("a sentence");
    assert!(message.contains("models.backend"), "{message}");
    assert_eq!(nights(&home), waiting, "it still waits");

    let same = run(&home, &["night", "resume", "--backend=handoff"]);
    assert_eq!(same.code, 3, "{}", same.out);
    assert_eq!(same.json()["resumed"], true);
    assert_eq!(nights(&home), waiting);
}

#[test]
fn a_night_with_a_tasks_file_is_resumed_with_it_and_stores_no_text_of_it() {
    let home = Home::with_sample(PROGRAM);
    let secret = "a sentence that only this file holds";
    let task = json!({
        "id": "t1", "project": "", "intent": secret, "reference_kind": "exact", "reference": "x",
    });
    let file = home.project().join("tasks.json");
    let text = json!({"format": "skillopt_sleep.tasks.v1", "reviewed": true, "tasks": [task]});
    std::fs::write(&file, text.to_string()).unwrap();
    let words = ["sleep", "run", "--backend=handoff", "--tasks-file"];
    let begun = run(&home, &[&words[..], &[&file.to_string_lossy()]].concat());
    assert_eq!(begun.code, 3, "{}", begun.out);

    let same = run(&home, &["night", "resume", "--backend=handoff"]);
    assert_eq!(same.code, 3, "{}", same.out);
    assert_eq!(same.json()["resumed"], true);

    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).unwrap();
    let pins: String = database
        .query_row("SELECT pins FROM night", [], |row| row.get(0))
        .unwrap();
    assert!(!pins.contains(secret), "{pins}");

    std::fs::write(&file, text.to_string().replace("only", "hardly")).unwrap();
    let changed = run(&home, &["night", "resume", "--backend=handoff"]).json();
    assert_eq!(changed["problem"]["code"], "night_changed", "{changed}");
}

#[test]
fn a_simulation_uses_up_no_session_for_a_model() {
    let home = Home::with_sample(PROGRAM);
    assert_eq!(run(&home, &["sleep", "run"]).json()["outcome"], "proposed");
    let second = run(&home, &["sleep", "run"]).json();
    assert_eq!(second["outcome"], "nothing_to_do", "{second}");

    let server = StubServer::start();
    server.brain(honest);
    let real = home.night_against(&server, &[]).json();
    assert_eq!(real["simulated"], false);
    assert_eq!(real["n_sessions"], 20, "{real}");
    assert_eq!(real["outcome"], "proposed", "{real}");
    let next = home.night_against(&server, &[]).json();
    assert_eq!(next["outcome"], "nothing_to_do", "{next}");
}

#[test]
fn again_proposes_from_what_earlier_nights_have_dealt_with() {
    let home = Home::with_sample(PROGRAM);
    let first = run(&home, &["sleep", "run"]).json();
    let preview = run(&home, &["sleep", "dry-run"]).json();
    assert_eq!(preview["n_sessions"], 0, "{preview}");
    let preview = run(&home, &["sleep", "dry-run", "--again"]).json();
    assert_eq!(preview["n_tasks"], first["n_tasks"], "{preview}");
    let again = run(&home, &["sleep", "run", "--again"]).json();
    assert_eq!(again["outcome"], "proposed", "{again}");
    assert_eq!(again["n_tasks"], first["n_tasks"]);
    assert_ne!(again["proposal"], first["proposal"]);
}

#[test]
fn a_verdict_that_cannot_come_is_not_paid_for() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest);
    let night = home
        .night_against(&server, &["--min-validation-tasks=100"])
        .json();
    assert_eq!(night["outcome"], "inconclusive", "{night}");
    let shown = home.run(&["night", "show", "--json"]).json();
    let stages: Vec<&str> = shown["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .filter_map(|stage| stage["name"].as_str().or(stage["stage"].as_str()))
        .collect();
    assert!(
        stages.iter().any(|stage| stage.ends_with("/train")),
        "{shown}"
    );
    assert!(
        !stages.iter().any(|stage| stage.ends_with("/baseline")),
        "{stages:?}"
    );
    assert!(
        !stages.iter().any(|stage| stage.contains("trial")),
        "{stages:?}"
    );
}

#[test]
fn a_night_that_came_to_its_limits_does_not_stand_in_the_way_of_the_next() {
    // With the same limits a new night has a budget of its own; with higher ones the night goes on. Either
    // way what was answered is not asked again.
    for (then, resumed) in [("15", false), ("40", true)] {
        let home = Home::with_sample(PROGRAM);
        let server = StubServer::start();
        server.brain(honest);
        let night = |calls: &str| home.night_against(&server, &["--max-calls", calls]).json();
        // Enough for the gate (15 calls at most), not for the training tasks besides.
        let first = night("15");
        assert_eq!(first["outcome"], "deferred", "{first}");
        let paid = server.asked().len();
        assert!(paid > 0);
        let mut next = night(then);
        assert_eq!(next["resumed"], resumed, "{next}");
        // How many calls are left besides the gate's differs with how the tasks were drawn.
        for _ in 0..3 {
            if next["outcome"] == "deferred" {
                next = night(then);
            }
        }
        assert_eq!(next["outcome"], "proposed", "{next}");
        let more = server.asked().len() - paid;
        assert!((1..21).contains(&more), "{more}");
        let keys: std::collections::BTreeSet<String> = server
            .asked()
            .iter()
            .map(skillopt_tests::stub_server::Request::prompt)
            .collect();
        assert_eq!(keys.len(), paid + more);
    }
}
