//! How long nights take beside the model: mock nights of 40 and 400 tasks, a night of 40 tasks against a
//! server that takes 200 ms per call, and `sleep status`. Prints; asserts nothing about time.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillopt_tests::home::Home;
use skillopt_tests::stub_server::{Behaviour, StubServer};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

fn tasks(count: usize) -> Value {
    let rows: Vec<Value> = (0..count)
        .map(|number| {
            json!({
                "id": format!("bench_{number}"),
                "project": "bench",
                "intent": format!("Write note number {number} to the team about topic {}", number * 7919 % 1000),
                "reference_kind": "rule",
                "judge": {"kind": "rule", "checks": [{"op": "section_present", "arg": "Risks"}]},
                "source_sessions": [format!("session-{number}")],
            })
        })
        .collect();
    json!({"format": "skillopt_sleep.tasks.v1", "reviewed": true, "tasks": rows})
}

/// A home whose project has a tasks file of `count` tasks.
fn home(count: usize) -> (Home, String) {
    let home = Home::empty(PROGRAM);
    let file = home.path().join("tasks.json");
    let text = tasks(count).to_string();
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark writes its own input"
    )]
    std::fs::write(&file, text).expect("a tasks file");
    let file = file.to_string_lossy().into_owned();
    (home, file)
}

fn timed(home: &Home, words: &[&str]) -> (Duration, Value) {
    let start = Instant::now();
    let ran = home.run(words);
    let took = start.elapsed();
    assert!(ran.code == 0, "{} {}", ran.out, ran.err);
    (took, ran.json())
}

/// The median of five runs, each on new data.
fn median(mut run: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..5).map(|_| run()).collect();
    times.sort_unstable();
    times[2]
}

fn main() {
    let start = median(|| {
        let (home, _) = home(1);
        let start = Instant::now();
        assert!(home.run(&["--version"]).code == 0);
        start.elapsed()
    });
    println!("program start: {start:.1?}");
    let (sample, _) = home(1);
    let _ = sample.run(&["sleep", "status"]);
    let status = median(|| timed(&sample, &["sleep", "status", "--json"]).0);
    println!("sleep status: {status:.1?} (program start included)");

    for count in [40, 400] {
        let mut calls = 0;
        let took = median(|| {
            let (home, file) = home(count);
            let (took, report) = timed(&home, &["sleep", "run", "--tasks-file", &file, "--json"]);
            calls = report["spend"]["calls"].as_u64().unwrap_or(0);
            took
        });
        println!("mock night, {count} tasks, {calls} calls: {took:.1?} (program start included)");
    }

    let delay = Duration::from_millis(200);
    let server = StubServer::start();
    server
        .brain(|request| {
            let text = request.to_string();
            if text.contains("edits") && text.contains("What failed") {
                let edit = json!({"op": "add", "content": "Give the reply a section called \"Risks\".", "anchor": "", "rationale": "", "tasks": []});
                return json!({"edits": [edit]}).to_string();
            }
            if text.contains("section called \\\\\\\"Risks") || text.contains("section called \\\"Risks") {
                return "Note.\n\n## Risks\n\nNone.".to_owned();
            }
            "Note.".to_owned()
        })
        .standing(Behaviour::Answer.after(delay));
    let (home, file) = home(40);
    let url = server.url();
    let words = [
        "sleep",
        "run",
        "--tasks-file",
        &file,
        "--backend",
        "openai_compatible",
        "--model",
        "stub",
        "--endpoint",
        &url,
        "--concurrency",
        "8",
        "--json",
    ];
    let (took, report) = timed(&home, &words);
    let shown = home.run(&["night", "show", "--json"]).json();
    let mut ideal = Duration::ZERO;
    let mut stages = Vec::new();
    for stage in shown["stages"].as_array().into_iter().flatten() {
        let fresh: u64 = stage["calls"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(_, count)| count.as_u64())
            .sum();
        if fresh > 0 {
            stages.push(format!("{} {fresh}", stage["name"].as_str().unwrap_or("")));
            ideal += delay * u32::try_from(fresh.div_ceil(8)).unwrap_or(u32::MAX);
        }
    }
    println!(
        "night of 40 tasks, 200 ms per call, 8 in flight: {took:.2?}; ideal {ideal:.2?}; ratio {:.3} ({}; outcome {})",
        took.as_secs_f64() / ideal.as_secs_f64(),
        stages.join(", "),
        report["outcome"]
    );
}
