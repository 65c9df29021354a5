//! Nights whose tasks have tools: what is offered, what counts as a call, what is said.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

#[cfg(unix)]
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use skillopt_tests::brain::honest_reply;
use skillopt_tests::home::{Home, Ran};
#[cfg(unix)]
use skillopt_tests::stub_cli::{Called, Dialect, Mode, StubCli};
use skillopt_tests::stub_server::{Behaviour, Request, StubServer};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// What makes the agent call the tool.
const RULE: &str = "Call the tool \"ci.status\".";

/// Tasks that are done once `ci.status` was asked and its answer is in the reply.
fn tasks(home: &Home) -> String {
    let task = |id: &str, split: &str, intent: &str| {
        json!({
            "id": id, "project": "", "intent": intent, "reference_kind": "rule", "split": split,
            "judge": {"kind": "rule", "checks": [
                {"op": "tool_called", "arg": "ci.status"},
                {"op": "contains", "arg": "build 4711"},
            ]},
            "tools": [
                {"name": "ci.status", "description": "Asks the build server.", "result": "build 4711 is green"},
                {"name": "deploy", "description": "Puts it live."},
            ],
        })
    };
    let tasks = json!({"reviewed": true, "tasks": [
        task("t1", "train", "Is main fine?"),
        task("t2", "train", "Can we release the app?"),
        task("t3", "val", "May I merge this?"),
        task("t4", "val", "What does the build say?"),
        task("t5", "val", "Is the nightly build through?"),
    ]});
    let file = home.home().join("tasks.json");
    std::fs::write(&file, tasks.to_string()).expect("a tasks file");
    file.to_string_lossy().into_owned()
}

/// Calls the tool when its documents say so, tells what the tool said, and knows nothing else.
fn agent(request: &Request) -> Behaviour {
    let everything = request.body.to_string();
    if everything.contains("\\\"edits\\\"") {
        let edit = json!({"op": "add", "content": RULE, "anchor": "", "rationale": "It was missed.", "tasks": []});
        return Behaviour::Reply(json!({"edits": [edit]}).to_string());
    }
    let offered = !request.body["tools"].is_null();
    if everything.contains("build 4711 is green") {
        return Behaviour::Reply("The server says: build 4711 is green.".to_owned());
    }
    match (everything.contains(&RULE.replace('"', "\\\"")), offered) {
        (true, true) => Behaviour::calls(&["ci_status"]),
        (true, false) => Behaviour::Reply("TOOL_CALL: ci.status\nbuild 4711, I guess.".to_owned()),
        (false, _) => Behaviour::Reply(honest_reply(&request.prompt())),
    }
}

fn night(home: &Home, server: &StubServer, more: &[&str]) -> Ran {
    server.standing(Behaviour::Decide(Arc::new(agent)));
    home.night_against(server, &[&["--tasks-file", &tasks(home)], more].concat())
}

fn notes(report: &Value) -> String {
    report["notes"].to_string()
}

#[test]
fn a_rule_that_makes_the_agent_use_its_tool_is_found_and_proposed() {
    for (more, path) in [
        (&[][..], "/v1/chat/completions"),
        (&["--api", "responses"], "/v1/responses"),
        (&["--backend", "anthropic"], "/v1/messages"),
    ] {
        let home = Home::with_sample(PROGRAM);
        let server = StubServer::start();
        let ran = night(&home, &server, &[&["--replay-tools"], more].concat());
        let report = ran.json();
        assert_eq!(report["outcome"], "proposed", "{path}: {report:#}");
        assert!(
            notes(&report).contains(
                "5 tasks ran with the tools ci.status, deploy. Their results are fixed; nothing was executed."
            ),
            "{}",
            notes(&report)
        );
        let asked = server.asked();
        assert!(asked.iter().all(|request| request.path == path));
        assert_eq!(
            report["spend"]["calls"].as_u64(),
            Some(asked.len() as u64),
            "every round is a call"
        );
        // Tools are for those who do the task.
        for request in &asked {
            let reflects = request.prompt().contains("\"edits\"");
            assert_eq!(request.body["tools"].is_null(), reflects);
        }
        shows_what_was_called(&home, "The server says: build 4711 is green.");
    }
}

/// Who looks at the proposal sees what was called, and what was said then.
fn shows_what_was_called(home: &Home, said_after: &str) {
    let shown = home.run(&["proposal", "show", "--json"]).json();
    let replies = &shown["documents"][0]["replies"]["t3"];
    let said = |side: &str| replies[side]["why"].as_str().unwrap_or_default().to_owned();
    assert!(said("before").ends_with("(called: no tool)"), "{replies}");
    assert!(said("after").ends_with("(called: ci.status)"), "{replies}");
    assert_eq!(replies["after"]["text"], said_after);
}

/// OpenCode makes all rounds of a task in one start: that is one call, whose reply says what was called.
#[cfg(unix)]
#[test]
fn a_night_in_which_opencode_calls_the_tools_itself() {
    let home = Home::with_sample(PROGRAM);
    let stub = StubCli::install(
        Dialect::OpenCode,
        Path::new(env!("CARGO_BIN_EXE_stub-agent")),
        [Mode::follows(RULE, &["tool1_ci_status"])],
    );
    let path = format!("--opencode-path={}", stub.path().display());
    let run = |command: &str| {
        let words = [
            "sleep",
            command,
            "--json",
            "--backend=opencode",
            &path,
            "--accept-terms=opencode",
            "--model-miner=false",
            "--input-price=1",
            "--output-price=2",
            "--replay-tools",
            "--tasks-file",
            &tasks(&home),
        ];
        home.run(&words).json()
    };
    let forecast = run("dry-run")["forecast"].clone();
    let report = run("run");
    assert_eq!(report["outcome"], "proposed", "{report:#}");
    assert!(
        notes(&report).contains(
            "5 tasks ran with the tools ci.status, deploy. Their results are fixed; nothing was executed."
        ),
        "{}",
        notes(&report)
    );
    let asked = stub.asked();
    let text = |call: &Called| {
        let system = call.system.as_deref().unwrap_or_default();
        format!("{system}\n{}", call.input)
    };
    let (mut calling, mut requests) = (0, 0);
    for call in &asked {
        // Tools are for those who do the task.
        let offered = call.environment["OPENCODE_PERMISSION"].contains("tool1_ci_status");
        let reflects = text(call).contains("\"edits\"");
        assert_ne!(offered, reflects, "{call:?}");
        let calls = offered && text(call).contains(RULE);
        calling += u64::from(calls);
        requests += 1 + u64::from(calls);
    }
    assert!(calling >= 3, "every held-out task with the rule: {calling}");
    // A request reads 15 tokens, 5 of them from a cache, and writes 3; one that calls a tool is followed by
    // another, whose tokens count as well.
    let spend = &report["spend"];
    for (field, expected) in [
        ("calls", asked.len() as u64),
        ("tokens", 18 * requests),
        ("cached_tokens", 5 * requests),
        ("cost_micros", 21 * requests),
    ] {
        assert_eq!(spend[field].as_u64(), Some(expected), "{field}: {spend}");
    }
    assert_eq!(
        home.run(&["spend", "--json"]).json()["total"]["cost_micros"],
        spend["cost_micros"]
    );
    let given =
        json!({"offered": ["tool1_ci_status", "tool2_deploy"], "given": ["build 4711 is green"]});
    shows_what_was_called(&home, &given.to_string());
    // What was foretold is what such a night makes at most; over HTTP every round is a call.
    assert!(
        spend["calls"].as_u64() <= forecast["calls"].as_u64(),
        "{forecast}"
    );
    let server = StubServer::start();
    let over_http = home
        .run(&[
            "sleep",
            "dry-run",
            "--json",
            "--backend=openai_compatible",
            "--model=stub",
            "--model-miner=false",
            "--replay-tools",
            "--tasks-file",
            &tasks(&home),
            &format!("--endpoint={}", server.url()),
        ])
        .json();
    assert_eq!(
        over_http["forecast"]["gate_calls"].as_u64(),
        forecast["gate_calls"].as_u64().map(|calls| 5 * calls),
        "{over_http:#}"
    );
    assert_eq!(server.asked().len(), 0, "a preview asks nothing");
    // Its recording is the same night.
    let cassette = home.home().join("night.json");
    let cassette = cassette.to_string_lossy();
    let words = [
        "night",
        "record",
        "--to",
        &cassette,
        "--backend=opencode",
        &path,
        "--accept-terms=opencode",
    ];
    let recorded = home.run(&words);
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    std::fs::remove_dir_all(home.data()).expect("the data of the night");
    let words = [
        "sleep",
        "run",
        "--json",
        "--backend=cassette",
        "--cassette",
        &cassette,
        "--input-price=1",
        "--output-price=2",
        "--replay-tools",
        "--tasks-file",
        &tasks(&home),
    ];
    let again = home.run(&words).json();
    for field in ["outcome", "reason", "gate_trials", "notes", "spend"] {
        assert_eq!(again[field], report[field], "{field}");
    }
    assert_eq!(stub.asked().len(), asked.len(), "nothing is asked again");
}

#[test]
fn without_the_setting_nothing_is_offered_and_the_marker_counts() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    let report = night(&home, &server, &[]).json();
    assert_eq!(report["outcome"], "proposed", "{report:#}");
    assert!(
        notes(&report).contains("replays.tools is off"),
        "{report:#}"
    );
    assert!(
        server
            .asked()
            .iter()
            .all(|request| request.body["tools"].is_null())
    );
}

#[test]
fn a_recorded_night_with_tools_is_the_same_again() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    let first = night(&home, &server, &["--replay-tools"]);
    assert_eq!(first.json()["outcome"], "proposed", "{}", first.out);
    let cassette = home.home().join("night.json");
    let cassette = cassette.to_string_lossy();
    let endpoint = format!("--endpoint={}", server.url());
    let words = ["--backend=openai_compatible", "--model=stub", &endpoint];
    let recorded = home.run(&[&["night", "record", "--to", &cassette], &words[..]].concat());
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    drop(server);
    let file = tasks(&home);
    let words = [
        "sleep",
        "run",
        "--json",
        "--backend=cassette",
        "--replay-tools",
        "--cassette",
        &cassette,
        "--tasks-file",
        &file,
    ];
    let again = home.run(&words).json();
    assert_eq!(again["outcome"], "proposed", "{again:#}");
    for field in ["outcome", "gate_trials", "spend", "n_tasks"] {
        assert_eq!(again[field], first.json()[field], "{field}");
    }
}

#[test]
fn a_model_that_takes_no_tools_says_which_setting_asked_for_them() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.standing(Behaviour::error(
        400,
        "This model does not support tools.",
        "unsupported_parameter",
    ));
    let ran = home.night_against(&server, &["--tasks-file", &tasks(&home), "--replay-tools"]);
    let report = ran.json();
    assert_eq!(
        report["problem"]["code"], "backend_misconfigured",
        "{report:#}"
    );
    let guidance = report["problem"]["guidance"].as_str().unwrap_or_default();
    assert!(guidance.contains("replays.tools"), "{guidance}");
}
