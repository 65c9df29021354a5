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

/// What names the moment at which a night ran, and so differs on every run: the only things in a report
/// that do. What is printed of a run has the last two only.
const MOMENT: [&str; 4] = ["started_at", "ended_at", "proposal", "staging_dir"];

/// A report as text, without what names the moment.
fn timeless(report: &Value) -> String {
    let mut report = report.clone();
    for name in MOMENT {
        if report[name].as_str().is_some_and(|text| !text.is_empty()) {
            report[name] = name.into();
        }
    }
    serde_json::to_string_pretty(&report).expect("it is JSON")
}

/// The stored report of the newest night, and what `night show` prints of it.
fn shown(home: &Home) -> (String, String) {
    let shown = home.run(&["night", "show", "--json"]).json();
    let report = &shown["report"];
    let printed = home.run(&["night", "show"]).out;
    // The first line has the minute in which the night began in front of its outcome.
    let (first, rest) = printed.split_once('\n').expect("some lines");
    let (_, outcome) = first.rsplit_once("  ").expect("columns");
    let printed = match report["proposal"].as_str() {
        Some(proposal) => rest.replace(proposal, "proposal"),
        None => rest.to_owned(),
    };
    (timeless(report), format!("{outcome}\n{printed}"))
}

#[test]
fn a_recorded_night_has_the_same_report_without_a_network() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(brain).script([Behaviour::Answer]);
    let url = server.url();
    let ran = home.night_against(&server, &["--input-price", "2"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let first = (timeless(&ran.json()), shown(&home));
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
    let second = (timeless(&ran.json()), shown(&home));
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

#[cfg(unix)]
#[test]
fn a_night_with_an_agent_is_the_same_again_with_the_requests_it_was_billed() {
    use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_stub-agent"));
    let stub = StubCli::install(Dialect::Copilot, program, [Mode::Honest]);
    let home = Home::with_sample(PROGRAM);
    let copilot = format!("--copilot-path={}", stub.path().display());
    let file = home.path().join("night.cassette.json");
    let file = file.to_string_lossy().into_owned();
    let ran = home.run(&[
        "sleep",
        "run",
        "--backend=copilot",
        &copilot,
        "--accept-terms=copilot",
        "--model-miner=false",
        "--json",
    ]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let first = (timeless(&ran.json()), shown(&home));
    assert!(first.0.contains("\"request_thousandths\": "), "{}", first.0);
    assert!(
        !first.0.contains("\"request_thousandths\": 0"),
        "{}",
        first.0
    );
    let recorded = home.run(&[
        "night",
        "record",
        "--to",
        &file,
        "--backend=copilot",
        &copilot,
    ]);
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    let asked = stub.asked().len();
    std::fs::remove_dir_all(home.data()).expect("the data of the night");
    let cassette = format!("--cassette={file}");
    let ran = home.run(&[
        "sleep",
        "run",
        "--backend=cassette",
        &cassette,
        "--model-miner=false",
        "--json",
    ]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!(first, (timeless(&ran.json()), shown(&home)));
    assert_eq!(stub.asked().len(), asked, "nobody is asked again");
}
