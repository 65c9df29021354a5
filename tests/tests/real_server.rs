//! A whole night against a real model server, for example llama.cpp's with a small model.
//! `SKILLOPT_TEST_SERVER` is its base address on this computer (`http://127.0.0.1:8080/v1`), and a model
//! is chosen with `SKILLOPT_TEST_SERVER_MODEL` where the server has several. It takes minutes, so it is
//! only run when it is asked for:
//! `cargo test -p skillopt-tests --test real_server -- --ignored --nocapture` says what came of it.
use std::time::Instant;

use serde_json::Value;
use skillopt_tests::home::Home;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// What is asked of the server: a few tasks, one call at a time, as long as it takes.
fn words<'a>(command: &[&'a str], endpoint: &'a str, model: &'a str) -> Vec<&'a str> {
    let settings = [
        "--backend=openai_compatible",
        endpoint,
        model,
        "--concurrency=1",
        "--first-byte-seconds=600",
        "--call-seconds=1200",
        "--json",
    ];
    [command, &settings].concat()
}

/// A model of any size: what it proposes is its own affair. What the program makes of it is not.
#[test]
#[ignore = "needs a model server on this computer, named by SKILLOPT_TEST_SERVER"]
fn a_night_comes_to_an_end_that_says_what_was_asked() {
    let address = std::env::var("SKILLOPT_TEST_SERVER")
        .expect("SKILLOPT_TEST_SERVER is the base address of a server");
    assert!(
        address.starts_with("http://127.0.0.1:") || address.starts_with("http://localhost:"),
        "only a server on this computer"
    );
    let endpoint = format!("--endpoint={address}");
    let model = std::env::var("SKILLOPT_TEST_SERVER_MODEL").unwrap_or_default();
    let model = format!("--model={model}");
    let home = Home::with_sample(PROGRAM);

    let tried = home.run(&words(&["backend", "test"], &endpoint, &model));
    println!("backend test: {}", tried.out);
    assert_eq!(tried.code, 0, "{} {}", tried.out, tried.err);

    let began = Instant::now();
    let night = home.run(&words(
        &["sleep", "run", "--model-miner=false", "--max-tasks=4"],
        &endpoint,
        &model,
    ));
    let report = night.json();
    println!(
        "night: exit {} after {:.0} s, outcome {}, {} tasks, spend {}, models {}, notes {:#}, problem {}",
        night.code,
        began.elapsed().as_secs_f64(),
        report["outcome"],
        report["n_tasks"],
        report["spend"],
        report["models"],
        report["notes"],
        report["problem"],
    );
    let outcome = report["outcome"].as_str().unwrap_or_default();
    let expected = match outcome {
        "proposed" | "not_improved" | "inconclusive" | "nothing_to_do" => 0,
        other => panic!("the night ended as {other}: {report:#}"),
    };
    assert_eq!(night.code, expected);
    assert_eq!(report["simulated"], false);
    let count = |name: &str| report["spend"][name].as_u64().unwrap_or_default();
    assert!(count("calls") > 0 && count("tokens") > 0, "{report:#}");
    assert_eq!(count("cost_micros"), 0, "a server on this computer is free");
    assert_ne!(report["models"]["target"], Value::from(""), "{report:#}");
}
