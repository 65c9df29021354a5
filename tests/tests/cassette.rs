//! A night is recorded and gone through again without a network.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use serde_json::{Value, json};
use skillopt_tests::home::Home;
use skillopt_tests::stub_server::{Behaviour, StubServer};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// A model that keeps to one rule once it is told, and proposes that rule.
fn brain(request: &Value) -> String {
    let text = request.to_string();
    if text.contains("\\\"edits\\\"") {
        let edit = json!({
            "op": "add", "content": "Give the reply a section called \"Known issues\".",
            "anchor": "", "rationale": "It was missed.", "tasks": [],
        });
        return json!({ "edits": [edit] }).to_string();
    }
    if text.contains("Known issues") {
        return "Dear customer.\n\n## Known issues\n\nNone. The key is ghp_0123456789abcdefghijABCDEFGHIJ012345.".to_owned();
    }
    "Dear customer.".to_owned()
}

/// The report of the newest night as text, without what a clock decides.
fn report(home: &Home) -> String {
    let shown = home.run(&["night", "show", "--json"]).json();
    let mut report = shown["report"].clone();
    assert!(report.is_object(), "{shown}");
    for name in ["started_at", "ended_at", "proposal", "staging_dir"] {
        report[name] = Value::Null;
    }
    serde_json::to_string_pretty(&report).expect("it is JSON")
}

#[test]
fn a_recorded_night_has_the_same_report_without_a_network() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(brain).script([Behaviour::Answer]);
    let url = server.url();
    let ran = home.night_against(&server, &["--input-price", "2"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let first = report(&home);
    let calls = server.asked().len();
    let file = home.path().join("night.cassette.json");
    let path = file.to_string_lossy().into_owned();
    let recorded = home.run(&[
        "night",
        "record",
        "--to",
        &path,
        "--backend",
        "openai_compatible",
        "--model",
        "stub",
        "--endpoint",
        &url,
        "--json",
    ]);
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    assert!(recorded.json()["replies"].as_u64() > Some(0));
    assert_eq!(server.asked().len(), calls, "recording asks nothing");
    drop(server);

    // No prompt is in it, and no secret.
    let text = std::fs::read_to_string(&file).expect("the cassette");
    assert!(
        !text.contains("ghp_0123456789"),
        "a secret is in the cassette"
    );
    assert!(!text.contains("untrusted") && !text.contains("messages"));

    let again = |home: &Home| {
        std::fs::remove_dir_all(home.data()).expect("the data of the night");
        home.run(&[
            "sleep",
            "run",
            "--backend",
            "cassette",
            "--cassette",
            &path,
            "--model-miner=false",
            "--input-price",
            "2",
            "--json",
        ])
    };
    let ran = again(&home);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let second = report(&home);
    assert_eq!(first, second);

    // What is not on it is not made up.
    let mut cassette: Value = serde_json::from_str(&text).expect("it is JSON");
    cassette["replies"].as_array_mut().expect("a list").clear();
    std::fs::write(&file, cassette.to_string()).expect("a file");
    let ran = again(&home);
    assert_eq!(
        ran.json()["problem"]["code"],
        "backend_misconfigured",
        "{}",
        ran.out
    );
}

#[test]
fn a_simulated_night_is_not_recorded() {
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["sleep", "run"]).code, 0);
    let path = home.path().join("c.json").to_string_lossy().into_owned();
    let recorded = home.run(&["night", "record", "--to", &path, "--json"]);
    assert_eq!(recorded.json()["error"], "night_not_recordable");
    assert_eq!(recorded.code, 2);
}
