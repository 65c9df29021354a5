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

/// What a server says of its model's window is learnt by a night, and is on its cassette: else the
/// prompts of the second one would be others.
#[test]
fn prompts_are_cut_to_the_window_that_the_server_tells_and_so_they_are_again() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.says(
        "/v1/models",
        [json!({"data": [{"id": "stub", "max_model_len": 1_800}]})],
    );
    server.standing(Behaviour::Answer).brain(|request| {
        let said = brain(request);
        if said == "Dear customer." {
            format!("Dear customer. {}", "It is done. ".repeat(100))
        } else {
            said
        }
    });
    let ran = home.night_against(&server, &["--concurrency=1"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let first = timeless(&ran.json());
    assert!(first.contains("to fit the model"), "{first}");
    let file = home.path().join("night.cassette.json");
    let file = file.to_string_lossy().into_owned();
    let recorded = home.run(&["night", "record", "--to", &file]);
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    drop(server);
    std::fs::remove_dir_all(home.data()).expect("the data of the night");
    let again = replay(&home, &file, &["--model-miner=false", "--concurrency=1"]);
    assert_eq!(again.code, 0, "{} {}", again.out, again.err);
    assert_eq!(first, timeless(&again.json()));
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

#[test]
fn a_night_whose_replies_were_deleted_is_not_said_to_have_asked_nobody() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(brain).standing(Behaviour::Answer);
    let ran = home.night_against(&server, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let purged = home.run(&["data", "purge", "--evidence", "--yes"]);
    assert_eq!(purged.code, 0, "{} {}", purged.out, purged.err);
    let path = home.path().join("c.json").to_string_lossy().into_owned();
    let recorded = home.run(&["night", "record", "--to", &path, "--json"]);
    assert_eq!(recorded.json()["error"], "cassette_expired");
}

#[test]
fn a_test_of_chosen_rules_that_asked_a_model_is_recorded() {
    let home = Home::after_demo(PROGRAM);
    let server = StubServer::start();
    server.brain(brain).standing(Behaviour::Answer);
    let endpoint = format!("--endpoint={}", server.url());
    let backend = ["--backend=openai_compatible", "--model=stub", &endpoint];
    let adopt = ["proposal", "adopt", "--rule=1", "--validate", "--json"];
    let tested = home.run(&[&adopt[..], &backend].concat());
    let decisions = tested.json()["validated"].clone();
    assert!(decisions.is_array(), "{} {}", tested.out, tested.err);
    let path = home.path().join("c.json").to_string_lossy().into_owned();
    let recorded = home.run(&["night", "record", "--to", &path, "--json"]);
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    assert!(recorded.json()["replies"].as_u64() > Some(0));
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
    let asked = stub.asked().len();
    // By then the agent may be another version, or gone, and the settings name somebody else.
    std::fs::remove_file(stub.path()).expect("the program");
    let recorded = home.run(&["night", "record", "--to", &file]);
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
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

#[test]
fn a_night_that_a_person_answered_is_the_same_again() {
    let home = Home::with_sample(PROGRAM);
    let night = ["sleep", "run", "--backend=handoff", "--model-miner=false"];
    let words = [&night[..], &["--json"]].concat();
    let mut ran = home.run(&words);
    for _ in 0..20 {
        if ran.code != 3 {
            break;
        }
        let open = home.run(&["handoff", "--json", "--backend=handoff"]).json();
        for question in open["pending"].as_array().expect("questions") {
            let answer = brain(&json!({"prompt": question["prompt"]}));
            let file = question["answer_file"].as_str().expect("a file");
            std::fs::write(file, answer).expect("an answer");
        }
        ran = home.run(&words);
    }
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let report = ran.json();
    assert!(report["n_rejected_edits"].as_u64() > Some(0), "{report:#}");
    let file = home.path().join("night.cassette.json");
    let file = file.to_string_lossy().into_owned();
    let recorded = home.run(&["night", "record", "--to", &file, "--json"]);
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    std::fs::remove_dir_all(home.data()).expect("the data of the night");
    let again = replay(&home, &file, &["--model-miner=false"]);
    assert_eq!(again.code, 0, "{} {}", again.out, again.err);
    assert_eq!(lasting(&again.json()), lasting(&report));
    let tried = |report: &Value| report["targets"].clone();
    assert_eq!(tried(&again.json()), tried(&report));
}

/// The words of a replay of `file`.
fn replay(home: &Home, file: &str, more: &[&str]) -> skillopt_tests::home::Ran {
    let cassette = format!("--cassette={file}");
    let words = ["sleep", "run", "--backend=cassette", &cassette, "--json"];
    home.run(&[&words, more].concat())
}

#[test]
fn tries_that_failed_and_notes_on_the_plan_are_on_it_too() {
    let home = Home::with_sample(PROGRAM);
    let target = StubServer::start();
    // The first questions fail at first; one never gets an answer it could have had.
    target.brain(brain).script([
        Behaviour::status(500),
        Behaviour::rate_limited(Some("1")),
        Behaviour::Answer,
        Behaviour::ended(
            "I can't help with that.",
            skillopt_tests::stub_server::Ending::Refusal,
        ),
    ]);
    target.answered_by("small-1").standing(Behaviour::Answer);
    let optimizer = StubServer::start();
    optimizer.brain(brain).script([Behaviour::status(529)]);
    optimizer.answered_by("large-1").standing(Behaviour::Answer);
    let (near, far) = (
        format!("--target-endpoint={}", target.url()),
        format!("--optimizer-endpoint={}", optimizer.url()),
    );
    // 127.0.0.1 is free unless a price is given; a reserve is kept with whoever tells what is left.
    target.headers(&[
        ("x-ratelimit-limit-tokens", "1000"),
        ("x-ratelimit-remaining-tokens", "900"),
        ("x-ratelimit-reset-tokens", "1h"),
    ]);
    let sides = [
        "--target-backend=openai_compatible",
        "--target-model=small",
        &near,
        "--optimizer-backend=openai_compatible",
        "--optimizer-model=large",
        &far,
    ];
    let same = [
        "--model-miner=false",
        "--concurrency=1",
        "--input-price=2",
        "--reserve-percent=10",
    ];
    let ran = home.run(&[&["sleep", "run", "--json"], &sides[..], &same].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let report = ran.json();
    let asked = target.asked().len() + optimizer.asked().len();
    assert_eq!(report["spend"]["calls"].as_u64(), Some(asked as u64));
    assert!(
        report["spend"]["unknown"].as_u64() > Some(0),
        "a try whose fate is unknown counts: {report:#}"
    );
    assert_eq!(report["models"]["target"], "small-1", "{report:#}");
    assert_eq!(report["models"]["optimizer"], "large-1", "{report:#}");
    let first = (timeless(&report), shown(&home));
    let file = home.path().join("night.cassette.json");
    let file = file.to_string_lossy().into_owned();
    let recorded = home.run(&[&["night", "record", "--to", &file], &sides[..]].concat());
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    drop((target, optimizer));
    std::fs::remove_dir_all(home.data()).expect("the data of the night");

    let again = replay(&home, &file, &same);
    assert_eq!(again.code, 0, "{} {}", again.out, again.err);
    assert_eq!(first, (timeless(&again.json()), shown(&home)));
    // The provider is not held back by what it said then.
    let real = skillopt_tests::stub_server::StubServer::start();
    real.brain(brain).standing(Behaviour::Answer);
    let next = home.night_against(&real, &["--again"]).json();
    assert_ne!(next["outcome"], "deferred", "{next:#}");
    assert!(next["spend"]["calls"].as_u64() > Some(0), "{next:#}");
}

/// A task and its place, the same on every computer.
fn write_tasks(home: &Home) -> String {
    let task = |id: &str, split: &str, intent: &str| {
        json!({
            "id": id, "project": "", "intent": intent, "reference_kind": "rule", "split": split,
            "judge": {"kind": "rule", "checks": [{"op": "section_present", "arg": "Known issues"}]},
        })
    };
    let tasks = json!({"reviewed": true, "tasks": [
        task("t1", "train", "Write to a customer about the new export."),
        task("t2", "train", "Tell a customer that the invoice was wrong."),
        task("t3", "val", "Tell a customer about the maintenance on Sunday."),
        task("t4", "val", "Thank a customer for a bug report."),
        task("t5", "val", "Tell a customer that the old app goes away."),
    ]});
    let file = home.home().join("tasks.json");
    std::fs::write(&file, tasks.to_string()).expect("a tasks file");
    file.to_string_lossy().into_owned()
}

/// What of a report must stay as it was when the fixture was recorded, on every computer and in every
/// version: a change here changes what nights do.
fn lasting(report: &Value) -> Value {
    let keep = [
        "outcome",
        "gate_trials",
        "spend",
        "n_tasks",
        "models",
        "simulated",
    ];
    keep.map(|name| (name.to_owned(), report[name].clone()))
        .into_iter()
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A night that was recorded once and is kept: what is asked, what is made of the answers and what is
/// counted are the same ever since. Where they are to change, it is recorded again:
/// `cargo test -p skillopt-tests --test cassette record_the_fixture -- --ignored`.
#[test]
fn a_night_recorded_long_ago_is_still_the_same() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cassette");
    let home = Home::with_sample(PROGRAM);
    let tasks = write_tasks(&home);
    let file = folder.join("night.json").to_string_lossy().into_owned();
    let ran = replay(&home, &file, &["--tasks-file", &tasks, "--input-price=2"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let kept = std::fs::read_to_string(folder.join("report.json")).expect("the kept report");
    let kept: Value = serde_json::from_str(&kept).expect("it is JSON");
    assert_eq!(lasting(&ran.json()), kept);
}

#[test]
#[ignore = "writes the fixture of the test above again"]
fn record_the_fixture() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cassette");
    std::fs::create_dir_all(&folder).expect("a folder");
    let home = Home::with_sample(PROGRAM);
    let tasks = write_tasks(&home);
    let server = StubServer::start();
    server.brain(brain).script([Behaviour::status(500)]);
    server.standing(Behaviour::Answer);
    let given = ["--tasks-file", &tasks, "--input-price=2", "--concurrency=1"];
    let ran = home.night_against(&server, &given);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let file = folder.join("night.json").to_string_lossy().into_owned();
    let endpoint = format!("--endpoint={}", server.url());
    let words = ["--backend=openai_compatible", "--model=stub", &endpoint];
    let recorded = home.run(&[&["night", "record", "--to", &file], &words[..]].concat());
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    let report = serde_json::to_string_pretty(&lasting(&ran.json())).expect("it is JSON");
    std::fs::write(folder.join("report.json"), report + "\n").expect("a file");
}
