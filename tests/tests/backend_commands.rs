//! `skillopt backend`, what `doctor` finds on this computer, and `skillopt spend`.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::path::Path;

use serde_json::Value;
use skillopt_tests::home::Home;
use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};
use skillopt_tests::stub_server::{Behaviour, StubServer};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");
const KEY: &str = "sk-canary-0123456789";

/// A home whose settings name this server, with a key.
fn configured(server: &StubServer) -> Home {
    let mut home = Home::empty(PROGRAM);
    home.set("THE_KEY", KEY);
    for (key, value) in [
        ("models.backend", "openai_compatible"),
        ("models.endpoint", &server.url()),
        ("models.api_key_env", "THE_KEY"),
        ("models.model", "stub-model"),
    ] {
        let set = home.run(&["config", "set", key, value]);
        assert_eq!(set.code, 0, "{}", set.err);
    }
    home
}

fn test(home: &Home, words: &[&str]) -> (Value, i32) {
    let ran = home.run(&[&["backend", "test", "--json"], words].concat());
    assert!(!format!("{}{}", ran.out, ran.err).contains("canary"));
    (ran.json(), ran.code)
}

#[test]
fn a_test_asks_one_question_and_says_what_it_took_and_cost() {
    let server = StubServer::start();
    server.require_key(KEY).brain(|_| "Ready".into());
    let home = configured(&server);
    let (json, code) = test(&home, &["--input-price", "1", "--output-price", "10"]);
    assert_eq!((code, &json["works"]), (0, &Value::Bool(true)), "{json}");
    let tested = &json["tested"][0];
    assert_eq!(json["tested"].as_array().unwrap().len(), 1);
    assert_eq!(
        tested["sides"],
        serde_json::json!(["target", "optimizer", "judge"])
    );
    assert_eq!(tested["asked_model"], "stub-model");
    let trial = &tested["trial"];
    assert_eq!(trial["reply"], "Ready");
    assert_eq!(trial["model"], "stub-model-2026");
    // The stub counts a token for four characters: "Ready" has two, and one of the input is cached.
    assert_eq!(trial["output_tokens"], 2);
    let input = trial["input_tokens"].as_u64().unwrap();
    assert_eq!(trial["cost_micros"], input + 2 * 10);
    assert!(trial["took_ms"].is_u64());
    assert_eq!(server.asked().len(), 1);
    let text = home.run(&["backend", "test"]);
    assert!(
        text.out.starts_with(
            "ok  openai_compatible stub-model (target, optimizer and judge): \"Ready\" in "
        ),
        "{}",
        text.out
    );
    assert!(
        text.out.contains("answered by stub-model-2026"),
        "{}",
        text.out
    );
    // Nothing of it is in the history.
    assert_eq!(
        home.run(&["night", "list", "--json"]).json(),
        serde_json::json!([])
    );
}

#[test]
fn a_backend_that_fails_is_asked_once_and_says_why() {
    let server = StubServer::start();
    server.standing(Behaviour::rate_limited(Some("1")));
    let home = configured(&server);
    let (json, code) = test(&home, &[]);
    assert_eq!(code, 1);
    assert_eq!(
        json["tested"][0]["problem"]["code"], "rate_limited",
        "{json}"
    );
    assert_eq!(server.asked().len(), 1);
    let (json, code) = test(&home, &["nonsense"]);
    assert_eq!((code, json["error"].as_str()), (2, Some("backend_unknown")));
}

#[test]
fn another_backend_does_not_get_the_key_and_address_of_the_configured_one() {
    let server = StubServer::start();
    let home = configured(&server);
    for name in ["anthropic", "minimax"] {
        let (json, code) = test(&home, &[name]);
        assert_eq!(code, 1);
        assert_eq!(
            json["tested"][0]["problem"]["code"], "api_key_missing",
            "{json}"
        );
    }
    assert_eq!(server.requests().len(), 0);
    // Unless the user says so here and now.
    server.require_key(KEY);
    let url = server.url();
    for name in ["anthropic", "minimax", "qwen", "azure_openai"] {
        let words = [
            name,
            "--endpoint",
            &url,
            "--api-key-env",
            "THE_KEY",
            "--model",
            "m",
        ];
        let (json, code) = test(&home, &words);
        assert_eq!(code, 0, "{name}: {json}");
        assert_eq!(json["tested"][0]["backend"], name);
    }
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn every_other_backend_can_be_tested_as_well() {
    let home = Home::empty(PROGRAM);
    for dialect in Dialect::ALL {
        let stub = StubCli::install(
            dialect,
            Path::new(env!("CARGO_BIN_EXE_stub-agent")),
            [Mode::reply("ready")],
        );
        let name = dialect.backend();
        let flag = format!("--{name}-path={}", stub.path().display());
        let (json, code) = test(&home, &[name, &flag]);
        assert_eq!(code, 0, "{name}: {json}");
        let trial = &json["tested"][0]["trial"];
        assert_eq!(trial["reply"], "ready", "{name}");
        assert_eq!(trial["output_tokens"], 3, "{name}");
        let billed = if name == "copilot" { 1_000 } else { 0 };
        assert_eq!(trial["request_thousandths"], billed, "{name}");
        let text = home.run(&["backend", "test", name, &flag]).out;
        assert!(text.starts_with(&format!("ok  {name}")), "{text}");
        assert_eq!(text.contains("1 request of the plan"), billed > 0, "{text}");
        assert_eq!(stub.asked().len(), 2, "{name}: one question for each test");
    }
    for name in ["mock", "persona-sim", "handoff"] {
        let (json, code) = test(&home, &[name]);
        assert_eq!(code, 0, "{name}: {json}");
        assert_eq!(json["tested"][0]["trial"].is_null(), name == "handoff");
    }
    let handoff = home.run(&["backend", "test", "handoff"]);
    assert!(handoff.out.contains("a person answers"), "{}", handoff.out);
}

#[test]
fn both_sides_are_tested_when_they_differ() {
    let (one, two) = (StubServer::start(), StubServer::start());
    two.standing(Behaviour::unauthorized());
    let home = configured(&one);
    let (json, code) = test(&home, &["--optimizer-endpoint", &two.url()]);
    assert_eq!(code, 1);
    let tested = json["tested"].as_array().unwrap();
    assert_eq!(tested.len(), 2, "{json}");
    assert_eq!(tested[0]["sides"], serde_json::json!(["target"]));
    assert!(tested[0]["problem"].is_null());
    assert_eq!(
        tested[1]["sides"],
        serde_json::json!(["optimizer", "judge"])
    );
    assert_eq!(tested[1]["problem"]["code"], "sign_in_needed");
}

#[test]
fn the_list_says_what_is_missing_and_asks_nothing() {
    let server = StubServer::start();
    let home = configured(&server);
    let rows = home.run(&["backend", "list", "--json"]).json();
    let row = |name: &str| {
        let rows = rows.as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(
        rows.as_array().unwrap().len(),
        skillopt_settings::BACKENDS.words.len()
    );
    assert!(row("openai_compatible")["problem"].is_null());
    assert_eq!(row("openai_compatible")["model"], "stub-model");
    assert_eq!(
        row("openai_compatible")["sides"],
        serde_json::json!(["target", "optimizer", "judge"])
    );
    assert_eq!(row("anthropic")["problem"]["code"], "api_key_missing");
    assert_eq!(
        row("azure_openai")["problem"]["code"],
        "azure_deployment_invalid"
    );
    // Whoever runs this may have a server there.
    let listens = std::net::TcpStream::connect(("localhost", 8000)).is_ok();
    assert_eq!(row("qwen")["problem"].is_null(), listens);
    assert_eq!(server.asked().len(), 0);
    let text = home.run(&["backend", "list"]).out;
    assert!(text.contains("* openai_compatible"), "{text}");
    assert!(
        text.contains("used as target, optimizer and judge"),
        "{text}"
    );
}

#[test]
fn the_list_says_of_a_server_on_this_computer_that_nobody_listens() {
    let server = StubServer::start();
    let home = configured(&server);
    drop(server);
    let rows = home.run(&["backend", "list", "--json"]).json();
    let rows = rows.as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "openai_compatible");
    let row = row.unwrap();
    assert_eq!(row["problem"]["code"], "model_unavailable", "{row}");
    // It may be there at any time.
    assert_eq!(row["problem"]["retry"], "temporary", "{row}");
    assert_eq!(row["model"], "stub-model");
}

#[test]
fn doctor_finds_model_servers_on_this_computer() {
    let server = StubServer::start();
    server.models(&["a", "b"]);
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let mut home = Home::empty(PROGRAM);
    let finding = |home: &Home| {
        let findings = home.run(&["doctor", "--json"]).json();
        let findings = findings["findings"].as_array().unwrap().clone();
        let found = findings
            .iter()
            .find(|one| one["subject"] == "local model servers");
        found.unwrap().clone()
    };
    home.set(
        "SKILLOPT_LOCAL_PORTS",
        &format!("{},{nobody}", server.address().port()),
    );
    let found = finding(&home);
    assert_eq!(found["health"], "good");
    assert_eq!(
        found["message"],
        format!("a model server answers at {} with 2 models.", server.url())
    );
    assert_eq!(found["detail"][0]["models"], serde_json::json!(["a", "b"]));
    assert_eq!(found["detail"].as_array().unwrap().len(), 1);
    home.set("SKILLOPT_LOCAL_PORTS", &nobody.to_string());
    let message = finding(&home)["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("No model server answers"), "{message}");
    home.set("SKILLOPT_LOCAL_PORTS", "http");
    let refused = home.run(&["doctor", "--json"]).json().to_string();
    assert!(refused.contains("models.local_ports"), "{refused}");
    assert!(refused.contains("from 1 to 65535"), "{refused}");
}

fn write_prices(home: &Home, text: &str) {
    let folder = home.home().join("skillopt-config");
    std::fs::create_dir_all(&folder).expect("a folder for the settings");
    std::fs::write(folder.join("prices.toml"), text).expect("a table of prices");
}

#[test]
fn money_is_counted_per_stage_night_project_and_month() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(skillopt_tests::brain::honest);
    write_prices(
        &home,
        "[[model]]\nnames = [\"stub\"]\ninput = 1000.0\ncached = 0.0\noutput = 0.0\nas_of = \"2026-11-29\"\n",
    );
    let report = home.night_against(&server, &[]).json();
    let spend = &report["spend"];
    let calls = server.asked().len() as u64;
    assert_eq!(spend["calls"].as_u64(), Some(calls), "{report}");
    // One token of each call came from a cache, and costs nothing; replies cost nothing either.
    assert_eq!(spend["cached_tokens"].as_u64(), Some(calls));
    let shown = home.run(&["night", "show", "--json"]).json();
    assert_eq!(&shown["spend"], spend);
    let sum = |name: &str| -> u64 {
        let stages = shown["stages"].as_array().unwrap();
        stages
            .iter()
            .map(|stage| stage["spend"][name].as_u64().unwrap())
            .sum()
    };
    for name in ["calls", "tokens", "cached_tokens", "cost_micros"] {
        assert_eq!(Some(sum(name)), spend[name].as_u64(), "{name}: {shown}");
    }
    assert!(spend["cost_micros"].as_u64() > Some(0));
    assert_eq!(spend["cost_micros"].as_u64().unwrap() % 1000, 0);
    let spent = home.run(&["spend", "--json"]).json();
    assert_eq!(spent["rows"].as_array().unwrap().len(), 1, "{spent}");
    assert_eq!(spent["rows"][0]["nights"], 1);
    assert_eq!(spent["rows"][0]["cost_micros"], spend["cost_micros"]);
    assert_eq!(spent["total"], *spend);
    let text = home.run(&["spend"]).out;
    assert!(text.contains("1 night, "), "{text}");
    // A simulation costs nothing and is no row.
    let free = Home::with_sample(PROGRAM);
    assert_eq!(free.run(&["sleep", "run"]).code, 0);
    assert_eq!(
        free.run(&["spend"]).out,
        "No night has paid for a model yet.\n"
    );
}

#[test]
fn a_price_that_is_not_known_counts_as_the_dearest_and_is_said() {
    let home = Home::with_sample(PROGRAM);
    let preview = home.run(&[
        "sleep",
        "dry-run",
        "--backend",
        "anthropic",
        "--model",
        "claude-nobody-knows",
        "--api-key-env",
        "THE_KEY",
        "--json",
    ]);
    // Without a key what it would cost is not known; with one nothing is sent for it.
    assert_eq!(preview.json()["budget_problem"]["code"], "api_key_missing");
    let with_key = |model: &str| {
        let words = [
            "sleep",
            "dry-run",
            "--backend",
            "anthropic",
            "--model",
            model,
            "--api-key-env",
            "THE_KEY",
            "--json",
        ];
        home.run_with(&words, &[("THE_KEY", KEY)]).json()
    };
    let said = |preview: &Value| {
        let notes = preview["notes"].as_array().unwrap().clone();
        notes
            .iter()
            .any(|note| note.as_str().unwrap().contains("counts as the dearest"))
    };
    let (unknown, known) = (
        with_key("claude-nobody-knows"),
        with_key("claude-haiku-4-5"),
    );
    assert!(said(&unknown) && !said(&known), "{unknown}");
    assert!(
        unknown["forecast"]["cost_micros_high"].as_u64()
            > known["forecast"]["cost_micros_high"].as_u64()
    );
    write_prices(&home, "model = 3");
    let broken = home.run(&["sleep", "dry-run", "--json"]);
    assert_eq!(broken.json()["error"], "prices_broken", "{}", broken.out);
}

#[test]
fn a_server_that_is_found_is_used_with_one_command_and_works() {
    let server = StubServer::start();
    server.models(&["small", "large"]).brain(|_| "Ready".into());
    let home = Home::empty(PROGRAM);
    let url = server.url();
    let port = url
        .trim_end_matches("/v1")
        .rsplit(':')
        .next()
        .expect("a port");
    let port = format!("--local-port={port}");
    let found = home.run(&["backend", "servers", "--json", &port]).json();
    let one = &found[0];
    assert_eq!(
        one["models"],
        serde_json::json!(["large", "small"]),
        "{found}"
    );
    let endpoint = one["endpoint"].as_str().expect("an address");
    let none = home.run(&["backend", "servers", "--local-port=9"]);
    assert!(none.out.contains("models.local_ports"), "{}", none.out);

    let words = [
        "backend",
        "use",
        "openai_compatible",
        "--endpoint",
        endpoint,
    ];
    let used = home.run(&[&words[..], &["--model", "small"]].concat());
    assert_eq!(used.code, 0, "{}", used.err);
    assert!(
        used.out.contains("models.model = \"small\""),
        "{}",
        used.out
    );
    let (json, code) = test(&home, &[]);
    assert_eq!(
        (code, &json["tested"][0]["asked_model"]),
        (0, &"small".into()),
        "{json}"
    );
    let again = home.run(&["backend", "use", "claude"]);
    assert!(
        again.out.contains("models.endpoint = \"\""),
        "{}",
        again.out
    );
    let wrong = home.run(&["backend", "use", "nobody", "--json"]);
    assert_eq!(
        (wrong.code, wrong.json()["error"].as_str()),
        (2, Some("backend_unknown"))
    );
}

#[test]
fn the_log_and_the_report_are_shown_and_the_report_is_written_once() {
    let home = Home::empty(PROGRAM);
    let empty = home.run(&["log"]);
    assert!(empty.out.contains("cron.log"), "{}", empty.out);
    assert_eq!(home.run(&["project", "add"]).code, 0);
    std::fs::write(
        home.data().join("cron.log"),
        format!("begun\nAuthorization: Bearer {KEY}\nended\n"),
    )
    .expect("a log");
    let log = home.run(&["log", "--lines", "2"]);
    assert!(
        log.out.ends_with("ended\n") && !log.out.contains("begun"),
        "{}",
        log.out
    );
    let shown = home.run(&["report", "show"]);
    assert!(shown.out.contains("customer-letters"), "{}", shown.out);
    let file = home.home().join("report.txt");
    let to = file.to_str().expect("text");
    let first = home.run(&["report", "export", to]);
    assert_eq!(first.code, 0, "{}", first.err);
    let written = std::fs::read_to_string(&file).expect("a report");
    for text in [&log.out, &shown.out, &first.out, &written] {
        assert!(!text.contains("canary"), "{text}");
    }
    let second = home.run(&["report", "export", to, "--json"]);
    assert_eq!(
        (second.code, second.json()["error"].as_str()),
        (2, Some("report_exists"))
    );
    assert_eq!(home.run(&["report", "export", to, "--replace"]).code, 0);
}
