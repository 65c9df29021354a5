//! Nights whose replies a model grades: which one it is, what it costs, and how each side is asked.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::path::Path;

use serde_json::{Value, json};
use skillopt_tests::brain::honest;
use skillopt_tests::home::{Home, Ran};
use skillopt_tests::stub_cli::{Called, Dialect, Mode, StubCli};
use skillopt_tests::stub_server::StubServer;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");
const GRADES: &str = "Grade one reply";

fn honest_program(dialect: Dialect) -> StubCli {
    StubCli::install(
        dialect,
        Path::new(env!("CARGO_BIN_EXE_stub-agent")),
        [Mode::Honest],
    )
}

/// Tasks whose replies a model grades.
fn graded_tasks(home: &Home) -> String {
    let task = |id: &str, split: &str, intent: &str| {
        json!({
            "id": id, "project": "", "intent": intent, "split": split, "reference_kind": "rubric",
            "reference": "Give the reply a section called \"Risks\".",
        })
    };
    let tasks = json!({"reviewed": true, "tasks": [
        task("t1", "train", "Write about the search page"),
        task("t2", "val", "Write about the new logo"),
        task("t3", "val", "Write about the billing model"),
        task("t4", "val", "Write about the maintenance window"),
    ]});
    let file = home.home().join("tasks.json");
    std::fs::write(&file, tasks.to_string()).expect("a tasks file");
    format!("--tasks-file={}", file.display())
}

/// A home with both programs, of which one does the tasks.
struct Two {
    home: Home,
    writer: &'static str,
    claude: StubCli,
    codex: StubCli,
}

impl Two {
    fn new() -> Self {
        Self::with_codex(honest_program(Dialect::Codex))
    }

    fn with_codex(codex: StubCli) -> Self {
        Self {
            home: Home::with_sample(PROGRAM),
            writer: "claude",
            claude: honest_program(Dialect::Claude),
            codex,
        }
    }

    /// Codex does the tasks with a model of known price; Claude Code is found as their judge.
    fn judged_by(claude: StubCli) -> Self {
        let two = Self {
            writer: "codex",
            claude,
            ..Self::new()
        };
        let folder = two.home.home().join("skillopt-config");
        std::fs::create_dir_all(&folder).expect("a settings folder");
        let prices = r#"
            [[model]]
            names = ["gpt-5.4"]
            input = 1.0
            output = 2.0
            as_of = "2026-11-29"
            [[model]]
            names = ["sonnet"]
            input = 100.0
            cached = 10.0
            output = 1000.0
            as_of = "2026-11-29"
        "#;
        std::fs::write(folder.join("prices.toml"), prices).expect("prices");
        two
    }

    fn run(&self, command: &[&str], accepted: &str, more: &[&str]) -> Ran {
        let claude = format!("--claude-path={}", self.claude.path().display());
        let codex = format!("--codex-path={}", self.codex.path().display());
        let accepted: Vec<String> = accepted
            .split(',')
            .map(|provider| format!("--accept-terms={provider}"))
            .collect();
        let accepted: Vec<&str> = accepted.iter().map(String::as_str).collect();
        let writer = format!("--backend={}", self.writer);
        let words = [command, &[&writer, &claude, &codex], &accepted, more];
        self.home.run(&words.concat())
    }

    fn night(&self, accepted: &str, more: &[&str]) -> Value {
        let tasks = graded_tasks(&self.home);
        let ran = self.run(
            &["sleep", "run", "--json", &tasks],
            accepted,
            &[&["--concurrency=2"], more].concat(),
        );
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        ran.json()
    }

    fn graded(called: &[Called]) -> usize {
        called
            .iter()
            .filter(|call| format!("{:?} {}", call.system, call.input).contains(GRADES))
            .count()
    }
}

fn notes(report: &Value) -> Vec<&str> {
    let notes = report["notes"].as_array().expect("notes");
    notes.iter().filter_map(Value::as_str).collect()
}

const FOUND: &str = "Replies are judged by codex (GPT), since claude (Claude) wrote them and models tend to like their own; models.judge_of_another_family = false leaves it to the model that proposes.";
const KIN: &str = "Replies are judged by a model of the family that wrote them (Claude)";

#[test]
fn replies_are_judged_by_another_family_that_was_agreed_to() {
    let two = Two::new();
    let tasks = graded_tasks(&two.home);
    let preview = two.run(&["sleep", "dry-run", "--json", &tasks], "claude,codex", &[]);
    assert!(notes(&preview.json()).contains(&FOUND), "{}", preview.out);
    assert!(two.codex.asked().is_empty(), "a preview asks nothing");

    let report = two.night("claude,codex", &[]);
    assert_eq!(report["outcome"], "proposed", "{report:#}");
    assert!(notes(&report).contains(&FOUND), "{report:#}");
    let (claude, codex) = (two.claude.asked(), two.codex.asked());
    assert_eq!(Two::graded(&claude), 0, "the writer grades nothing");
    assert_eq!(Two::graded(&codex), codex.len(), "the judge only grades");
    // Four replies of the pinned document and at least three of the candidate's.
    assert!(codex.len() >= 7, "{}", codex.len());
    for (field, kind) in [
        ("target_backend", "claude"),
        ("optimizer_backend", "claude"),
        ("judge_backend", "codex"),
    ] {
        let said = report[field].as_str().unwrap_or_default();
        assert!(said.starts_with(kind), "{field}: {said}");
    }
    assert_eq!(
        report["spend"]["calls"].as_u64(),
        Some((claude.len() + codex.len()) as u64),
        "every start of either program is counted"
    );
    let shown = two.home.run(&["night", "show"]).out;
    assert!(shown.contains("judged by codex (GPT)"), "{shown}");

    let list = two.run(&["backend", "list", "--json"], "claude,codex", &[]);
    let sides = |name: &str| {
        let list = list.json();
        let rows = list.as_array().expect("rows").clone();
        rows.into_iter()
            .find(|row| row["name"] == name)
            .map(|row| row["sides"].clone())
    };
    assert_eq!(sides("claude"), Some(json!(["target", "optimizer"])));
    assert_eq!(sides("codex"), Some(json!(["judge"])));
    let tested = two
        .run(&["backend", "test", "--json"], "claude,codex", &[])
        .json();
    assert_eq!(tested["works"], true, "{tested:#}");
    assert_eq!(tested["tested"][1]["sides"], json!(["judge"]), "{tested:#}");
    let doctor = two.run(&["doctor", "--json"], "claude,codex", &[]).json();
    let findings = doctor["findings"].as_array().expect("findings");
    let models = findings
        .iter()
        .find(|finding| finding["subject"] == "models")
        .expect("a finding");
    assert_eq!(models["health"], "good", "{models:#}");
    let judge = models["detail"]["judge"].as_str().unwrap_or_default();
    assert!(judge.starts_with("codex"), "{models:#}");
}

/// What a call costs in [`Two::judged_by`]: each reads 15 tokens, 5 of them from a cache, and writes 3.
const WRITING: u64 = 15 + 3 * 2;
const JUDGING: u64 = 10 * 100 + 5 * 10 + 3 * 1000;

#[test]
fn a_judge_that_was_found_is_counted_at_its_own_price() {
    let two = Two::judged_by(honest_program(Dialect::Claude));
    let report = two.night("claude,codex", &["--model=gpt-5.4"]);
    assert_eq!(report["judge_backend"], "claude (sonnet)", "{report:#}");
    let (judging, writing) = (two.claude.asked().len(), two.codex.asked().len());
    assert_eq!(Two::graded(&two.claude.asked()), judging);
    assert!(judging >= 7 && writing >= 7, "{judging} {writing}");
    let cost = judging as u64 * JUDGING + writing as u64 * WRITING;
    let spent = two.home.run(&["spend", "--json"]).json();
    for spend in [&report["spend"], &spent["total"]] {
        assert_eq!(spend["cost_micros"].as_u64(), Some(cost), "{spend}");
        assert_eq!(
            spend["calls"].as_u64(),
            Some((judging + writing) as u64),
            "{spend}"
        );
    }
}

#[test]
fn a_judge_that_was_found_is_asked_no_more_once_its_own_reserve_is_reached() {
    let reset = jiff::Timestamp::now().as_second() + 3 * 3600;
    let limit = json!({
        "type": "rate_limit_event",
        "rate_limit_info": {
            "status": "allowed", "resetsAt": reset, "rateLimitType": "five_hour",
            "unifiedWindows": { "five_hour": { "utilization": 0.78, "resetsAt": reset } },
        },
    });
    let two = Two::judged_by(StubCli::install(
        Dialect::Claude,
        Path::new(env!("CARGO_BIN_EXE_stub-agent")),
        [Mode::honest_with(limit)],
    ));
    let tasks = graded_tasks(&two.home);
    let night = |reserve: &str| {
        let more = [
            "--model=gpt-5.4",
            "--concurrency=1",
            &format!("--reserve-percent={reserve}"),
        ];
        two.run(&["sleep", "run", "--json", &tasks], "claude,codex", &more)
    };
    let first = night("30");
    let json = first.json();
    assert_eq!(
        (json["outcome"].as_str(), first.code),
        (Some("deferred"), 75),
        "{json:#}"
    );
    assert_eq!(json["problem"]["code"], "quota_reserved", "{json:#}");
    let message = json["problem"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("claude"), "whose it is: {message}");
    assert_eq!(
        json["until"].as_str().map(str::to_owned),
        jiff::Timestamp::from_second(reset)
            .ok()
            .map(|at| at.to_string()),
        "it says when it goes on"
    );
    let writing = two.codex.asked().len();
    assert!(writing > 0, "the writer's plan is another one");
    assert_eq!(
        two.claude.asked().len(),
        1,
        "the reply that showed it is the last"
    );
    night("30");
    assert_eq!(
        (two.claude.asked().len(), two.codex.asked().len()),
        (1, writing),
        "nothing is asked before it is whole again"
    );
    let json = night("20").json();
    assert_eq!(
        (json["outcome"].as_str(), json["resumed"].as_bool()),
        (Some("proposed"), Some(true)),
        "{json:#}"
    );
    assert_eq!(
        json["spend"]["calls"].as_u64(),
        Some((two.claude.asked().len() + two.codex.asked().len()) as u64)
    );
}

#[test]
fn the_writer_is_only_left_the_judging_where_the_user_wants_or_has_no_other() {
    let chosen = ["--optimizer-model=opus"];
    let off = ["--judge-of-another-family=false"];
    for (accepted, more) in [
        ("claude", &[][..]),
        ("claude,codex", &off),
        ("claude,codex", &chosen),
    ] {
        let two = Two::new();
        let report = two.night(accepted, more);
        assert_eq!(two.codex.asked().len(), 0, "{accepted} {more:?}");
        assert!(Two::graded(&two.claude.asked()) >= 7, "{accepted} {more:?}");
        let said = notes(&report);
        assert!(said.iter().any(|note| note.starts_with(KIN)), "{said:?}");
    }
    // One that was agreed to and cannot answer is named.
    let two = Two::with_codex(honest_program(Dialect::Codex).signed_out());
    let report = two.night("claude,codex", &[]);
    assert_eq!(two.codex.asked().len(), 0);
    let said = notes(&report);
    assert!(said.iter().any(|note| note.starts_with(KIN)), "{said:?}");
    assert!(
        said.iter()
            .any(|note| note.starts_with("codex cannot judge now: ")),
        "{said:?}"
    );
}

#[test]
fn a_chosen_judge_is_asked_whatever_its_family() {
    let two = Two::new();
    let report = two.night(
        "claude,codex",
        &["--judge-backend=codex", "--judge-model=gpt-5.4"],
    );
    assert_eq!(report["judge_backend"], "codex (gpt-5.4)", "{report:#}");
    assert!(Two::graded(&two.codex.asked()) >= 7);
    let said = notes(&report);
    assert!(
        !said.iter().any(|note| note.contains("judged by")),
        "{said:?}"
    );
    // Without agreement it is asked nothing: then the night waits for it.
    let two = Two::new();
    let tasks = graded_tasks(&two.home);
    let ran = two.run(
        &["sleep", "run", "--json", &tasks],
        "claude",
        &["--judge-backend=codex"],
    );
    assert_eq!(
        ran.json()["problem"]["code"],
        "terms_not_accepted",
        "{}",
        ran.out
    );
    assert!(two.claude.asked().is_empty());
}

#[test]
fn a_night_with_a_judge_that_was_found_can_be_gone_through_again_from_its_recording() {
    let two = Two::new();
    let first = two.night("claude,codex", &[]);
    let file = two.home.home().join("night.json");
    let to = file.display().to_string();
    let recorded = two.run(&["night", "record", "--to", &to], "claude,codex", &[]);
    assert_eq!(recorded.code, 0, "{} {}", recorded.out, recorded.err);
    std::fs::remove_dir_all(two.home.data()).expect("the data of the night");
    let asked = (two.claude.asked().len(), two.codex.asked().len());
    let tasks = graded_tasks(&two.home);
    let cassette = format!("--cassette={to}");
    let again = two.home.run(&[
        "sleep",
        "run",
        "--json",
        "--backend=cassette",
        &cassette,
        &tasks,
        "--concurrency=2",
    ]);
    let again = again.json();
    for field in [
        "outcome",
        "reason",
        "notes",
        "models",
        "judge_backend",
        "edits",
        "gate_trials",
        "spend",
    ] {
        assert_eq!(again[field], first[field], "{field}");
    }
    assert_eq!(
        (two.claude.asked().len(), two.codex.asked().len()),
        asked,
        "nothing is asked again"
    );
}

#[test]
fn each_side_is_asked_in_its_own_manner() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest);
    let tasks = graded_tasks(&home);
    let ran = home.night_against(
        &server,
        &[
            &tasks,
            "--temperature=0.5",
            "--target-temperature=0.9",
            "--judge-temperature=0",
            "--optimizer-reply-tokens=3000",
            "--judge-reply-tokens=77",
            "--optimizer-api=responses",
            "--judge-api=chat",
            "--judge-model=j",
        ],
    );
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let mut seen = [0, 0, 0];
    for request in server.asked() {
        let prompt = request.prompt();
        let (side, path, model, limit, tokens, temperature) = if prompt.contains(GRADES) {
            (2, "/v1/chat/completions", "j", "max_tokens", 77, 0.0)
        } else if prompt.contains("\"edits\"") {
            (1, "/v1/responses", "stub", "max_output_tokens", 3_000, 0.5)
        } else {
            (0, "/v1/chat/completions", "stub", "max_tokens", 1_024, 0.9)
        };
        seen[side] += 1;
        assert_eq!(request.path, path);
        assert_eq!(request.body["model"], model);
        assert_eq!(request.body[limit], tokens, "{}", request.body);
        assert_eq!(request.body["temperature"], temperature, "{}", request.body);
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn the_model_that_answered_is_known_for_each_side() {
    let home = Home::with_sample(PROGRAM);
    let (server, judge) = (StubServer::start(), StubServer::start());
    server.brain(honest).answered_by("writer-2026");
    judge.brain(honest).answered_by("grader-2026");
    let tasks = graded_tasks(&home);
    // Both call their model by the same name.
    let endpoint = format!("--judge-endpoint={}", judge.url());
    let report = home.night_against(&server, &[&tasks, &endpoint]).json();
    assert_eq!(
        report["models"],
        json!({"target": "writer-2026", "optimizer": "writer-2026", "judge": "grader-2026"}),
        "{report:#}"
    );
    judge.answered_by("grader-2027");
    let report = home
        .night_against(&server, &[&tasks, &endpoint, "--again", "--seed=7"])
        .json();
    let said = report["notes"].to_string();
    assert!(!judge.asked().is_empty());
    assert!(!said.contains("What does the tasks"), "{said}");
}
