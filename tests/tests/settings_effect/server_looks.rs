//! How settings are seen to matter to nights that ask a server.

use std::time::Duration;

use serde_json::{Value, json};
use skillopt_tests::brain::honest;
use skillopt_tests::home::Home;
use skillopt_tests::stub_server::{Behaviour, StubServer};

use super::{ASKED, decisions, run};

/// A night against a server; what it was asked is part of the view.
fn against(server: &StubServer, home: &Home, words: &[&str]) -> String {
    let url = server.url();
    let endpoint = format!("--endpoint={url}");
    let command = [
        "sleep",
        "run",
        "--json",
        "--backend=openai_compatible",
        "--model=stub",
        "--concurrency=1",
        &endpoint,
    ];
    // The last of several flags counts.
    let ran = run(home, &command, words);
    let mut seen = decisions(home, &ran);
    // Calls of one stage are sent in any order.
    let mut asked: Vec<String> = server
        .asked()
        .iter()
        .map(|request| {
            let key = request.header("authorization").unwrap_or("no key");
            format!("{key} {}\n", request.body)
        })
        .collect();
    asked.sort_unstable();
    seen.extend(asked);
    seen.replace(&url, "ENDPOINT")
}

/// A night with an honest model behind a server.
pub(super) fn asked(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    server.brain(honest);
    against(&server, home, words)
}

/// Whether calls were made side by side.
pub(super) fn side_by_side(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    server
        .brain(honest)
        .standing(Behaviour::Answer.after(Duration::from_millis(60)));
    against(&server, home, words);
    (server.most_in_flight() > 1).to_string()
}

/// A server that lets the first call wait for a while.
pub(super) fn slow_once(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    server
        .brain(honest)
        .script([Behaviour::Answer.after(Duration::from_secs(3))]);
    against(&server, home, words)
}

/// A night of these tasks.
fn on_tasks(server: &StubServer, home: &Home, tasks: &Value, words: &[&str]) -> String {
    let file = home.home().join("tasks.json");
    std::fs::write(&file, tasks.to_string()).expect("a tasks file");
    let file = format!("--tasks-file={}", file.display());
    against(server, home, &[&[file.as_str()], words].concat())
}

/// A model that is worse at one thing as soon as it follows rules.
pub(super) fn spoiled(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    server.brain(|request| {
        let text = request.to_string();
        let reply = honest(request);
        match text.contains("maintenance window") && !text.contains("edits") {
            true if reply.contains("## Risks") => "No.".to_owned(),
            true => "It is done.\n\n## Risks\n\nNone.".to_owned(),
            false => reply,
        }
    });
    // Slices that do not follow from where the temporary home lies.
    let task = |id: &str, split: &str, intent: &str| {
        json!({
            "id": id, "project": "", "intent": intent, "reference_kind": "rule", "split": split,
            "judge": {"kind": "rule", "checks": [{"op": "section_present", "arg": "Risks"}]},
        })
    };
    let tasks = json!({"format": "skillopt_sleep.tasks.v1", "reviewed": true, "tasks": [
        task("t1", "train", "Write about the search page"),
        task("t2", "val", "Write about the new logo"),
        task("t3", "val", "Write about the billing model"),
        task("t4", "val", "Write about the maintenance window"),
    ]});
    on_tasks(&server, home, &tasks, words)
}

/// A night of tasks whose replies, which are long, a model grades.
pub(super) fn graded(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    server.brain(|request| {
        let reply = honest(request);
        if reply.starts_with('{') {
            reply
        } else {
            format!("{reply}\n\n{}", "It is a fine day. ".repeat(20))
        }
    });
    let task = |id: &str, split: &str| {
        json!({
            "id": id, "project": "", "intent": format!("Write letter {id}"), "split": split,
            "reference_kind": "rubric", "reference": "Give the reply a section called \"Risks\".",
        })
    };
    let tasks = ["t2", "t3", "t4"].map(|id| task(id, "val"));
    let tasks: Vec<_> = std::iter::once(task("t1", "train")).chain(tasks).collect();
    let tasks = json!({"reviewed": true, "tasks": tasks});
    on_tasks(&server, home, &tasks, words)
}

/// A night of tasks that want a tool to be called.
pub(super) fn with_a_tool(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    server.brain(honest);
    let task = |id: &str, split: &str| {
        json!({
            "id": id, "project": "", "intent": "Is the build green?", "reference_kind": "rule",
            "split": split, "judge": {"checks": [{"op": "tool_called", "arg": "ci"}]},
        })
    };
    let tasks = json!({"reviewed": true, "tasks": [task("t1", "train"), task("t2", "val")]});
    on_tasks(&server, home, &tasks, words)
}

/// A server with a plan of which little is left.
pub(super) fn almost_used_up(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    server.brain(honest).headers(&[
        ("anthropic-ratelimit-unified-7d-utilization", "0.8"),
        // In the year 2100.
        ("anthropic-ratelimit-unified-7d-reset", "4102444800"),
    ]);
    let seen = against(&server, home, words);
    // It is paused for a month at most, counted from now.
    let ending: Vec<&str> = seen.lines().take(2).collect();
    ending.join("\n")
}

/// A night that begins a few seconds before midnight and whose first reply comes after it.
pub(super) fn across_midnight(home: &Home, words: &[&str]) -> String {
    const BEFORE: i64 = 6;
    const DAY: i64 = 24 * 60 * 60;
    let server = StubServer::start();
    server
        .brain(honest)
        .script([Behaviour::Answer.after(Duration::from_secs(7))]);
    let now = jiff::Timestamp::now().as_second();
    let east = (DAY - BEFORE - now % DAY + DAY / 2).rem_euclid(DAY) - DAY / 2;
    let zone = format!(
        "<HERE>{}{:02}:{:02}:{:02}",
        if east < 0 { '+' } else { '-' },
        east.abs() / 3600,
        east.abs() / 60 % 60,
        east.abs() % 60
    );
    let endpoint = format!("--endpoint={}", server.url());
    let command = [
        "sleep",
        "run",
        "--json",
        "--backend=openai_compatible",
        "--model=stub",
        "--concurrency=1",
        &endpoint,
    ];
    let ran = home.run_with(&[&command, words].concat(), &[("TZ", &zone)]);
    let report = ran.json();
    format!("{} {}", ran.code, report["problem"]["code"])
}

/// A night that was at work for ten minutes when its key was refused.
pub(super) fn after_ten_minutes(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    server
        .brain(honest)
        .script([Behaviour::Answer, Behaviour::unauthorized()]);
    let first = against(&server, home, &["--model-miner=false"]);
    assert!(first.contains("deferred"), "{first}");
    let ten_minutes = 600_000_000;
    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).expect("a database");
    let changed = database
        .execute("UPDATE night SET active_us = ?1", [ten_minutes])
        .expect("a night");
    assert_eq!(changed, 1);
    drop(database);
    // Which calls were asked before the refusal varies; how the night ends does not.
    let seen = against(&server, home, words);
    let ending: Vec<&str> = seen.lines().take(2).collect();
    ending.join("\n")
}

/// What the identity service of a machine is asked. It has no token, so nothing else is.
pub(super) fn identity(home: &Home, words: &[&str]) -> String {
    let server = StubServer::start();
    let service = server.url().replace("/v1", "/identity");
    let command = ["backend", "test", "--json", "--azure-auth=managed_identity"];
    let ran = home.run_with(
        &[&command, words].concat(),
        &[
            ("IDENTITY_ENDPOINT", &service),
            ("IDENTITY_HEADER", "made-up"),
        ],
    );
    assert_eq!(ran.code, 1, "{}", ran.out);
    let requests = server.requests();
    requests
        .iter()
        .map(|request| request.path.clone())
        .collect()
}

/// A night in a project whose memory file is long.
pub(super) fn long_memory(home: &Home, words: &[&str]) -> String {
    let text = "We write to customers in plain words.\n".repeat(100);
    std::fs::write(home.project().join("CLAUDE.md"), text).expect("a memory file");
    let server = StubServer::start();
    server.brain(honest);
    against(&server, home, &[ASKED, words].concat())
}
