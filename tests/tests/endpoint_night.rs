//! A whole night against a local server: honest, slow, lying and limiting.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use skillopt_tests::brain::honest;
use skillopt_tests::home::Home;
use skillopt_tests::stub_server::{Behaviour, Request, StubServer};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

#[test]
fn an_honest_server_gives_a_proposal_that_is_no_simulation() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest);
    let ran = home.night_against(&server, &[]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let json = ran.json();
    assert_eq!(json["outcome"], "proposed", "{json}");
    assert_eq!(json["simulated"], false);
    assert_eq!(
        json["spend"]["calls"].as_u64(),
        Some(server.asked().len() as u64),
        "every request is a row"
    );
    assert!(
        json["spend"]["tokens"].as_u64() > Some(0),
        "usage is read from the replies"
    );
    // Nothing of the judge is in an attempt's prompt, and no secret of the environment anywhere.
    for request in server.asked() {
        let prompt = request.prompt();
        if prompt.contains("\"edits\"") {
            continue;
        }
        assert!(!prompt.contains("section_present"), "{prompt}");
    }
    // The gate's evidence is there to be shown.
    let shown = home.run(&["proposal", "show", "--json"]).json();
    assert_eq!(shown["documents"][0]["decision"]["losses"], 0);
}

#[test]
fn a_night_that_came_to_nothing_keeps_what_was_tried_and_answered() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    // A model that proposes rules and follows none of them.
    server.brain(|request| {
        let reply = honest(request);
        if reply.contains("\"edits\"") {
            reply
        } else {
            "No.".to_owned()
        }
    });
    let ran = home.night_against(&server, &[]);
    assert_eq!(ran.json()["outcome"], "not_improved", "{}", ran.out);

    let shown = home.run(&["night", "show", "--json"]).json();
    let target = &shown["report"]["targets"][0];
    let tried = target["rejected"].as_array().unwrap();
    assert!(!tried.is_empty(), "{target}");
    let evidence = &shown["evidence"][0];
    assert_eq!(evidence["target"], target["id"]);
    let deltas = target["decision"]["deltas"].as_array().unwrap();
    assert!(!deltas.is_empty(), "{target}");
    for delta in deltas {
        let task = delta["task"].as_str().unwrap();
        assert!(evidence["requests"][task].as_str().unwrap().len() > 10);
        for side in ["before", "after"] {
            assert_eq!(evidence["replies"][task][side]["text"], "No.", "{evidence}");
        }
    }
    let text = home.run(&["night", "show"]).out;
    let rule = tried[0]["content"].as_str().unwrap();
    assert!(text.contains(&format!("did not help: {rule}")), "{text}");
}

#[test]
fn every_backend_over_http_makes_a_whole_night() {
    const KEY: &str = "sk-canary-0123456789";
    let rows: [(&str, &[&str], &str); 5] = [
        (
            "openai_compatible",
            &["--api", "responses"],
            "/v1/responses",
        ),
        ("anthropic", &[], "/v1/messages"),
        ("azure_openai", &[], "/v1/chat/completions"),
        ("qwen", &["--thinking", "disabled"], "/v1/chat/completions"),
        ("minimax", &[], "/v1/chat/completions"),
    ];
    for (backend, more, path) in rows {
        let home = Home::with_sample(PROGRAM);
        let server = StubServer::start();
        server.require_key(KEY).brain(honest);
        let url = server.url();
        let words = [
            &[
                "sleep",
                "run",
                "--backend",
                backend,
                "--model",
                "stub",
                "--endpoint",
                &url,
            ][..],
            &["--api-key-env", "THE_KEY", "--model-miner=false", "--json"],
            more,
        ]
        .concat();
        let ran = home.run_with(&words, &[("THE_KEY", KEY)]);
        let json = ran.json();
        assert_eq!(json["outcome"], "proposed", "{backend}: {json}");
        assert!(!ran.out.contains("canary") && !ran.err.contains("canary"));
        let asked = server.asked();
        assert_eq!(json["spend"]["calls"].as_u64(), Some(asked.len() as u64));
        for request in asked {
            assert_eq!(request.path, path, "{backend}");
            let thinking = match backend {
                "qwen" => json!({ "enable_thinking": false }),
                _ => Value::Null,
            };
            assert_eq!(request.body["chat_template_kwargs"], thinking);
            assert_eq!(
                request.body["thinking"]["type"].as_str(),
                (backend == "minimax").then_some("disabled")
            );
        }
    }
}

#[test]
fn calls_are_made_side_by_side_within_the_limit() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server
        .brain(honest)
        .standing(Behaviour::Answer.after(Duration::from_millis(60)));
    let ran = home.night_against(&server, &["--concurrency", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(
        (2..=3).contains(&server.most_in_flight()),
        "{} in flight",
        server.most_in_flight()
    );
}

#[test]
fn failures_of_a_server_are_typed_and_lose_nothing() {
    let prose = Behaviour::Answer;
    let table: [(&str, Behaviour, &str, &str, i32); 6] = [
        (
            "401",
            Behaviour::unauthorized(),
            "deferred",
            "sign_in_needed",
            75,
        ),
        (
            "429 quota",
            Behaviour::out_of_quota(None),
            "deferred",
            "quota_exhausted",
            75,
        ),
        (
            "429",
            Behaviour::rate_limited(Some("3600")),
            "deferred",
            "",
            75,
        ),
        (
            "a limit as a reply",
            Behaviour::limit_as_reply(),
            "deferred",
            "quota_exhausted",
            75,
        ),
        (
            "unknown model",
            Behaviour::no_such_model(),
            "failed",
            "backend_misconfigured",
            1,
        ),
        ("prose", prose, "", "", -2),
    ];
    for (name, behaviour, outcome, code, exit) in table {
        let home = Home::with_sample(PROGRAM);
        let server = StubServer::start();
        // The brain of the last row answers every question with prose, also the reflection.
        server
            .brain(|_| "I would rather chat about the weather.".to_owned())
            .standing(behaviour);
        let ran = home.night_against(&server, &[]);
        let json = ran.json();
        if name == "prose" {
            // Replies to attempts are real replies; the reflection cannot be read, twice.
            assert_eq!(
                (json["outcome"].as_str(), ran.code),
                (Some("failed"), 1),
                "{name}: {json}"
            );
            assert_eq!(json["problem"]["code"], "reply_unreadable", "{name}");
        } else {
            assert_eq!(
                (json["outcome"].as_str(), ran.code),
                (Some(outcome), exit),
                "{name}: {json}"
            );
            if !code.is_empty() {
                assert_eq!(json["problem"]["code"], code, "{name}: {json}");
            }
            assert!(
                server.asked().len() <= 12,
                "{name}: {} requests",
                server.asked().len()
            );
        }
        if ran.code == 1 {
            assert_eq!(
                json["problem"]["retry"], "permanent",
                "{name}: nobody waits for a night that has failed"
            );
        }
        assert!(!home.skill().exists(), "{name}");
        let next = home.run(&["sleep", "run", "--json"]).json();
        assert_eq!(
            next["outcome"], "proposed",
            "{name}: nothing was lost: {next}"
        );
    }
}

#[test]
fn a_night_goes_on_after_a_failure_and_pays_only_for_what_was_not_answered() {
    pays_only_for_what_was_not_answered(false);
}

#[test]
fn a_night_that_was_cancelled_is_not_paid_for_again_by_the_one_in_its_place() {
    pays_only_for_what_was_not_answered(true);
}

fn pays_only_for_what_was_not_answered(cancelled: bool) {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest);
    // Some answers, then no more.
    server
        .script(std::iter::repeat_n(Behaviour::Answer, 5))
        .standing(Behaviour::unauthorized());
    let first = home.night_against(&server, &["--concurrency", "1"]);
    assert_eq!(first.json()["outcome"], "deferred", "{}", first.out);
    let paid = server.asked().len();
    server.standing(Behaviour::Answer);
    if cancelled {
        assert_eq!(home.run(&["night", "cancel"]).code, 0);
    }
    let second = home.night_against(&server, &["--concurrency", "1"]);
    let json = second.json();
    assert_eq!(json["outcome"], "proposed", "{json}");
    assert_eq!(json["resumed"], !cancelled);
    // A whole night elsewhere tells how many calls there are.
    let elsewhere = Home::with_sample(PROGRAM);
    let fresh = StubServer::start();
    fresh.brain(honest);
    assert_eq!(
        elsewhere
            .night_against(&fresh, &["--concurrency", "1"])
            .code,
        0
    );
    let refused = paid - 5;
    assert_eq!(
        server.asked().len() - refused,
        fresh.asked().len(),
        "five answers were used again"
    );
}

#[test]
fn a_running_night_that_is_cancelled_ends_and_does_not_go_on() {
    let home = Arc::new(Home::with_sample(PROGRAM));
    let server = StubServer::start();
    let told = Arc::new(OnceLock::new());
    let (caller, said) = (Arc::clone(&home), Arc::clone(&told));
    // The user cancels while the first question is being answered.
    server.brain(move |request| {
        said.get_or_init(|| caller.run(&["night", "cancel", "--json"]).json());
        honest(request)
    });
    let ran = home.night_against(&server, &[]);
    let told = told.get().expect("something was asked");
    assert_eq!(told["told"], true, "{told}");
    let json = ran.json();
    assert_eq!(
        (ran.code, json["outcome"].as_str()),
        (130, Some("interrupted")),
        "{json}"
    );
    assert!(
        json["reason"].as_str().unwrap().contains("Ended by you"),
        "{json}"
    );
    let list = home.run(&["night", "list", "--json"]).json();
    assert_eq!(
        (list[0]["id"].as_i64(), list[0]["state"].as_str()),
        (told["id"].as_i64(), Some("ended"))
    );
    // What was read is not lost: a new night takes it up.
    let next = home.night_against(&server, &[]).json();
    assert_eq!(next["outcome"], "proposed", "{next}");
    assert_ne!(next["night_id"], told["id"]);
}

#[test]
fn a_rehearsal_that_waits_can_be_cancelled_too() {
    let home = Home::with_sample(PROGRAM);
    let words = [
        "sleep",
        "dry-run",
        "--full",
        "--backend",
        "handoff",
        "--json",
    ];
    let ran = home.run(&[&words[..], &["--model-miner=false"]].concat());
    assert_eq!(ran.code, 3, "{} {}", ran.out, ran.err);
    let ended = home.run(&["night", "cancel", "--json"]).json();
    assert_eq!(ended["told"], false, "{ended}");
    let list = home.run(&["night", "list", "--json"]).json();
    assert_eq!(
        (list[0]["kind"].as_str(), list[0]["state"].as_str()),
        (Some("dry_run"), Some("ended"))
    );
    let none = home.run(&["night", "cancel", "--json"]);
    assert_eq!(
        (none.code, none.json()["error"].as_str()),
        (2, Some("night_unknown"))
    );
}

#[test]
fn a_handoff_night_is_answered_by_files() {
    let home = Home::with_sample(PROGRAM);
    let mut rounds = 0;
    let last = loop {
        let ran = home.run(&[
            "sleep",
            "run",
            "--backend",
            "handoff",
            "--model-miner=false",
            "--json",
        ]);
        if ran.code != 3 {
            break ran;
        }
        assert_eq!(ran.json()["outcome"], "waiting_for_answers");
        let questions = home
            .run(&["handoff", "--backend", "handoff", "--json"])
            .json();
        let answers = std::path::PathBuf::from(questions["answers"].as_str().unwrap());
        std::fs::create_dir_all(&answers).unwrap();
        let mut open = 0;
        for question in questions["pending"].as_array().unwrap() {
            if question["answered"] == false {
                open += 1;
                let request = json!({"messages": [{"content": question["prompt"]}]});
                let file = answers.join(format!("{}.md", question["id"].as_str().unwrap()));
                std::fs::write(file, honest(&request)).unwrap();
            }
        }
        assert!(open > 0, "a waiting night has open questions");
        rounds += 1;
        assert!(rounds < 12, "it comes to an end");
    };
    assert_eq!(last.code, 0, "{} {}", last.out, last.err);
    assert_eq!(last.json()["outcome"], "proposed", "{}", last.out);
    assert!(
        rounds >= 3,
        "attempts, reflection and trial are rounds of their own, not {rounds}"
    );
}

#[test]
fn progress_tells_what_was_spent_until_now() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest);
    let url = format!("--endpoint={}", server.url());
    let ran = home.run(&[
        "sleep",
        "run",
        "--progress",
        "--backend=openai_compatible",
        "--model=stub",
        "--model-miner=false",
        "--input-price=1000",
        "--output-price=1000",
        &url,
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let calls = server.asked().len();
    let last = ran
        .err
        .lines()
        .rfind(|line| line.contains(" in money"))
        .unwrap_or_else(|| panic!("no spend: {}", ran.err));
    let spent = format!("{calls} model calls, ");
    assert!(last.contains(&spent), "{last}");
    assert!(ran.out.contains(&spent), "{}", ran.out);
}

#[test]
fn a_paused_night_stops_at_the_next_call_and_goes_on_where_it_was() {
    let whole = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest);
    assert_eq!(whole.night_against(&server, &[]).code, 0);
    let calls = server.asked().len();

    let home = Home::with_sample(PROGRAM);
    let slow = StubServer::start();
    slow.brain(|body| {
        std::thread::sleep(Duration::from_millis(300));
        honest(body)
    });
    let nothing = home.run(&["night", "pause", "--json"]);
    assert_eq!(nothing.code, 2, "{}", nothing.out);
    let stopped = std::thread::scope(|scope| {
        let night = scope.spawn(|| home.night_against(&slow, &["--concurrency=1"]));
        while slow.asked().is_empty() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let told = home.run(&["night", "pause"]);
        assert_eq!(told.code, 0, "{}", told.err);
        assert!(told.out.contains("was told to stop"), "{}", told.out);
        night.join().unwrap()
    });
    assert_eq!(stopped.code, 130, "{}", stopped.out);
    assert_eq!(stopped.json()["outcome"], "interrupted");
    assert!(slow.asked().len() < calls, "it stopped before its end");
    let waits = home.run(&["night", "pause"]);
    assert!(waits.out.contains("is not at work"), "{}", waits.out);

    let endpoint = format!("--endpoint={}", slow.url());
    let resumed = home.run(&[
        "night",
        "resume",
        "--backend=openai_compatible",
        "--model=stub",
        "--model-miner=false",
        "--json",
        &endpoint,
    ]);
    assert_eq!(resumed.json()["outcome"], "proposed", "{}", resumed.out);
    assert_eq!(slow.asked().len(), calls, "no answered call is asked again");
}

#[test]
fn a_night_whose_data_folder_is_removed_meanwhile_does_not_say_that_it_is_kept() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    let data = home.data();
    let removed = std::sync::Once::new();
    server.brain(move |body| {
        removed.call_once(|| std::fs::remove_dir_all(&data).unwrap());
        honest(body)
    });
    let ran = home.night_against(&server, &[]);
    assert_eq!(ran.code, 1, "{} {}", ran.out, ran.err);
    let json = ran.json();
    assert_eq!(json["outcome"], "failed", "{json}");
    assert_eq!(json["problem"]["code"], "data_dir_gone", "{json}");
    assert_eq!(json["proposal"], Value::Null, "{json}");

    // Nothing is in the way of the next night.
    server.brain(honest);
    let next = home.night_against(&server, &[]);
    assert_eq!(next.json()["outcome"], "proposed", "{}", next.out);
}

#[test]
fn another_model_under_the_same_name_is_noticed() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.brain(honest);
    let notes = |more: &[&str]| {
        let report = home.night_against(&server, more).json();
        assert_eq!(report["simulated"], false, "{report:#}");
        (
            report["models"]["target"].clone(),
            report["notes"].to_string(),
        )
    };
    let (model, said) = notes(&[]);
    assert_eq!(model, "stub-model-2026");
    assert!(!said.contains("is now"), "{said}");
    let (_, said) = notes(&["--again"]);
    assert!(!said.contains("is now"), "nothing has changed: {said}");
    server.answered_by("stub-model-2027");
    let (model, said) = notes(&["--again"]);
    assert_eq!(model, "stub-model-2027");
    for what in ["does the tasks", "mines, judges and proposes"] {
        let sentence = format!(
            "What {what} is now stub-model-2027; in the night before it was stub-model-2026. Scores of the two are not comparable."
        );
        assert!(said.contains(&sentence), "{said}");
    }
}

#[test]
fn two_samples_of_a_question_are_handed_off_apart() {
    let home = Home::with_sample(PROGRAM);
    let words = [
        "--backend=handoff",
        "--model-miner=false",
        "--rollouts=2",
        "--json",
    ];
    let mut twice = 0;
    let mut ran = home.run(&[&["sleep", "run"], &words[..]].concat());
    for _ in 0..12 {
        if ran.code != 3 {
            break;
        }
        let asked = home.run(&["handoff", "--backend=handoff", "--json"]).json();
        let answers = std::path::PathBuf::from(asked["answers"].as_str().unwrap());
        let page = std::fs::read_to_string(answers.parent().unwrap().join("PROMPTS.md")).unwrap();
        assert!(
            page.contains("independent samples: answer each afresh"),
            "{page}"
        );
        std::fs::create_dir_all(&answers).unwrap();
        let mut ids: std::collections::BTreeMap<String, Vec<&str>> = Default::default();
        for question in asked["pending"].as_array().unwrap() {
            let id = question["id"].as_str().unwrap();
            assert!(page.contains(&format!("----- BEGIN PROMPT {id} -----")));
            let alike = ids.entry(question["prompt"].to_string()).or_default();
            assert!(!alike.contains(&id), "each sample has an id of its own");
            alike.push(id);
            let request = json!({"messages": [{"content": question["prompt"]}]});
            std::fs::write(answers.join(format!("{id}.md")), honest(&request)).unwrap();
        }
        twice += ids.values().filter(|alike| alike.len() == 2).count();
        ran = home.run(&[&["sleep", "run"], &words[..]].concat());
    }
    assert!(twice > 0, "no question was asked for two samples");
    assert_eq!(ran.json()["outcome"], "proposed", "{}", ran.out);
}

#[test]
fn a_night_that_stopped_says_what_it_has_spent() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server
        .brain(honest)
        .script(std::iter::repeat_n(Behaviour::Answer, 5))
        .standing(Behaviour::unauthorized());
    let json = home.night_against(&server, &["--concurrency=1"]).json();
    assert_eq!(json["outcome"], "deferred", "{json:#}");
    let asked = server.asked().len() as u64;
    assert!(asked > 5, "{asked}");
    assert_eq!(json["spend"]["calls"].as_u64(), Some(asked), "{json:#}");
    assert!(json["spend"]["tokens"].as_u64() > Some(0), "{json:#}");
    let shown = home.run(&["night", "show", "--json"]).json();
    for field in ["calls", "tokens", "cost_micros"] {
        assert_eq!(json["spend"][field], shown["spend"][field], "{field}");
    }
}

#[test]
fn prompts_are_cut_to_a_small_window_and_the_night_says_so() {
    const WINDOW: u64 = 4_400;
    /// As a server with a window counts: three bytes are a token.
    fn answers(request: &Request) -> Behaviour {
        let reply = request.body["max_tokens"].as_u64().expect("a bound");
        if request.prompt().len() as u64 / 3 + reply > WINDOW {
            return Behaviour::too_long();
        }
        Behaviour::Answer
    }
    let night = |more: &[&str]| {
        let home = Home::with_sample(PROGRAM);
        // An attempt has room for it, a proposal does not have room for it besides all the rest.
        let memory = "We write to customers in plain words.\n".repeat(160);
        std::fs::write(home.project().join("CLAUDE.md"), memory).expect("a memory file");
        let server = StubServer::start();
        server
            .brain(honest)
            .standing(Behaviour::Decide(Arc::new(answers)));
        let ran = home.night_against(&server, &[&["--memory=false"], more].concat());
        (home, ran.json())
    };
    let (_, unknown) = night(&[]);
    assert_eq!(
        unknown["problem"]["code"], "context_overflow",
        "{unknown:#}"
    );

    let window = format!("--context-tokens={WINDOW}");
    let (home, report) = night(&[&window]);
    assert_eq!(report["outcome"], "proposed", "{report:#}");
    let is_cut = |text: &str| {
        text.contains("prompts were cut by") && text.contains("bytes together, to fit the model.")
    };
    let notes = report["notes"].as_array().expect("notes");
    assert!(
        notes.iter().any(|note| note.as_str().is_some_and(is_cut)),
        "{report:#}"
    );
    let shown = home.run(&["night", "show"]).out;
    assert!(is_cut(&shown), "{shown}");
    let staged = report["staging_dir"].as_str().expect("a folder");
    let page = std::fs::read_to_string(Path::new(staged).join("report.md")).expect("a report");
    assert!(is_cut(&page), "{page}");
}
