//! What somebody new to the program did, one after the other, and what they have to be told.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use skillopt_tests::home::Home;
use skillopt_tests::stub_server::{Behaviour, StubServer};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// A second project in the same home, with sessions of its own that say what those of the first say.
fn second_project(home: &Home) -> PathBuf {
    let (first, second) = (home.project(), home.home().join("work/mails"));
    fs::create_dir_all(&second).expect("a file");
    let all = home.home().join(".claude/projects");
    let sessions: Vec<PathBuf> = fs::read_dir(&all)
        .expect("a file")
        .flat_map(|folder| fs::read_dir(folder.expect("a file").path()).expect("a file"))
        .map(|file| file.expect("a file").path())
        .collect();
    let folder = all.join("mails");
    fs::create_dir_all(&folder).expect("a file");
    for file in sessions {
        let id = file
            .file_stem()
            .expect("a file")
            .to_str()
            .expect("a file")
            .to_owned();
        let other = format!("ffffffff{}", &id[8..]);
        let text: String = fs::read_to_string(&file)
            .expect("a file")
            .replace(
                first.to_str().expect("a path"),
                second.to_str().expect("a path"),
            )
            .replace(&id, &other)
            .lines()
            .map(of_its_own)
            .collect();
        fs::write(folder.join(format!("{other}.jsonl")), text).expect("a file");
    }
    second
}

/// A record with an id of its own: one that is there already would be a copy.
fn of_its_own(record: &str) -> String {
    let mut record: Value = serde_json::from_str(record).expect("a record");
    let id = record["uuid"].as_str().expect("an id");
    record["uuid"] = json!(format!("ffffffff{}", &id[8..]));
    format!("{record}\n")
}

/// A home in which two projects propose changes to the one learned skill. The gate is off, so that both do.
fn rivals() -> (Home, PathBuf, String) {
    let home = Home::with_sample(PROGRAM);
    let second = second_project(&home);
    let words = ["sleep", "run", "--gate-mode=off", "--json"];
    let one = home.run(&words);
    assert_eq!(one.json()["outcome"], "proposed", "{}", one.out);
    let two = home.run_in(&second, &words);
    assert_eq!(two.json()["outcome"], "proposed", "{}", two.out);
    (home, second, two.json()["notes"].to_string())
}

#[test]
fn a_proposal_that_another_project_has_made_useless_is_said_to_be_so() {
    let (home, second, notes) = rivals();
    assert!(
        notes.contains("of customer-letters waits for"),
        "said when the second was made: {notes}"
    );
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
    let told = |words: &[&str]| home.run_in(&second, words).out;
    assert!(told(&["status"]).contains("1 of them cannot be adopted any more"));
    for words in [
        &["sleep", "status"][..],
        &["proposal", "list"],
        &["proposal", "show"],
    ] {
        let out = told(words);
        assert!(out.contains("changed since"), "{words:?} {out}");
        assert!(!out.contains("proposal adopt"), "{words:?} {out}");
    }
}

#[test]
fn a_rollback_in_the_wrong_order_names_what_comes_first_and_so_does_its_plan() {
    let (home, second, _) = rivals();
    // One rule; the others are what the second project teaches.
    let first = home.run(&["proposal", "adopt", "--rule", "1"]);
    assert_eq!(first.code, 0, "{} {}", first.out, first.err);
    let again = ["sleep", "run", "--gate-mode=off", "--again", "--json"];
    let made = home.run_in(&second, &again);
    assert_eq!(made.json()["outcome"], "proposed", "{}", made.out);
    let adopted = home.run_in(&second, &["proposal", "adopt"]);
    assert_eq!(adopted.code, 0, "{} {}", adopted.out, adopted.err);
    for words in [
        &["rollback", "--plan", "--json"][..],
        &["rollback", "--json"],
    ] {
        let refused = home.run(words);
        assert_eq!(refused.json()["error"], "file_changed", "{}", refused.out);
        assert!(refused.out.contains("of mails"), "{}", refused.out);
    }
    assert_eq!(home.run_in(&second, &["rollback"]).code, 0);
    let planned = home.run(&["rollback", "--plan"]);
    assert_eq!(planned.code, 0, "{} {}", planned.out, planned.err);
    let mut text = fs::read_to_string(home.skill()).unwrap();
    text.push_str("my own line\n");
    fs::write(home.skill(), text).unwrap();
    let planned = home.run(&["rollback", "--plan", "--json"]);
    assert_eq!(
        (planned.code, planned.json()["error"].as_str()),
        (2, Some("file_changed")),
        "{}",
        planned.out
    );
    assert!(planned.out.contains("your own edit"), "{}", planned.out);
}

#[test]
fn what_is_shown_of_a_proposal_is_what_would_be_written() {
    let home = Home::after_demo(PROGRAM);
    let shown = |words: &[&str]| home.run(words).json();
    let whole = shown(&["proposal", "show", "--json"]);
    let rules = whole["documents"][0]["rules"].as_array().unwrap();
    assert!(rules.len() > 1, "{whole}");
    let second = rules[1]["content"].as_str().unwrap();
    let first = rules[0]["content"].as_str().unwrap();
    assert!(home.run(&["proposal", "diff"]).out.contains(second));
    assert_eq!(home.run(&["proposal", "reject", "--rule", "2"]).code, 0);
    let diff = home.run(&["proposal", "diff"]).out;
    assert!(diff.contains(first) && !diff.contains(second), "{diff}");
    assert!(diff.contains("--- /dev/null"), "the file is new: {diff}");
    let text = shown(&["proposal", "show", "--json"])["documents"][0]["text_after"].clone();
    let adopted = home.run(&["proposal", "adopt", "--rule", "1"]);
    assert_eq!(adopted.code, 0, "{} {}", adopted.out, adopted.err);
    assert!(
        !adopted.out.contains("Add --validate"),
        "it is written already: {}",
        adopted.out
    );
    let written = fs::read_to_string(home.skill()).unwrap();
    let after = shown(&["proposal", "show", "--json"])["documents"][0]["text_after"].clone();
    assert_eq!(after, written);
    if rules.len() == 2 {
        assert_eq!(text, written);
    }
    let listed = home.run(&["proposal", "list", "--all"]).out;
    assert!(
        listed.contains(&format!("with all {} rules, 1 of them", rules.len())),
        "{listed}"
    );
    for words in [&["sleep", "status"][..], &["night", "list"], &["status"]] {
        let out = home.run(words).out;
        assert!(!out.contains("Review it"), "{words:?} {out}");
    }
}

#[test]
fn a_night_without_a_new_edit_says_that_tasks_failed() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    // It answers everything, and knows no edit.
    server.brain(|request| {
        if request.to_string().contains("\\\"edits\\\"") {
            json!({"edits": []}).to_string()
        } else {
            "Here is the text.".to_owned()
        }
    });
    let report = home.night_against(&server, &[]).json();
    let reason = report["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("failed, but no edit was proposed"),
        "{report}"
    );
    assert!(
        report["targets"]
            .to_string()
            .contains("failed, but no edit"),
        "{report}"
    );
}

#[test]
fn what_was_tested_is_no_untested_suggestion() {
    let home = Home::after_demo(PROGRAM);
    let night = home.run(&["night", "show", "--json"]).json();
    let applied: Vec<&str> = night["report"]["targets"][0]["applied"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| edit["content"].as_str().unwrap())
        .collect();
    assert!(
        applied.iter().any(|rule| rule.contains("Risks")),
        "{applied:?}"
    );
    let suggestions = night["report"]["suggestions"].to_string();
    assert!(!suggestions.contains("Risks"), "{suggestions}");
    // And a rule is not said to come from the corrections of another.
    let shown = home.run(&["proposal", "show", "--json"]).json();
    for rule in shown["documents"][0]["rules"].as_array().unwrap() {
        let quotes = rule["quotes"].to_string();
        assert_eq!(
            rule["content"].as_str().unwrap().contains("Risks"),
            quotes.contains("Risks"),
            "{rule}"
        );
    }
}

#[test]
fn a_miner_that_counts_turns_from_one_or_has_no_criterion_costs_no_task() {
    let home = Home::with_sample(PROGRAM);
    let literal = home.run(&["sleep", "dry-run", "--json"]).json()["n_tasks"].clone();
    assert_ne!(literal, 0);
    let server = StubServer::start();
    server.brain(|request| {
        let text: String = request["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|message| message["content"].as_str())
            .collect();
        if text.contains("Name at most 3 requests") {
            let asked = text.lines().find_map(|line| line.strip_prefix("[0] "));
            let task = json!({
                "intent": asked, "turns": [1], "needs": "none", "checks": [], "rubric": "",
            });
            json!({"tasks": [task]}).to_string()
        } else {
            skillopt_tests::brain::honest(request)
        }
    });
    let found = home.night_against(&server, &["--model-miner=true"]).json();
    assert_eq!(found["n_tasks"], literal, "{found}");
}

#[test]
fn a_preview_needs_no_key_and_says_what_is_missing() {
    let home = Home::with_sample(PROGRAM);
    let used = home.run(&["backend", "use", "anthropic"]);
    assert_eq!(used.code, 0, "{} {}", used.out, used.err);
    assert!(
        used.out.contains("cannot yet") && used.out.contains("ANTHROPIC_API_KEY"),
        "{}",
        used.out
    );
    let preview = home.run(&["sleep", "dry-run", "--json"]);
    assert_eq!(preview.code, 0, "{} {}", preview.out, preview.err);
    let preview = preview.json();
    assert_eq!(preview["n_sessions"], 20, "{preview}");
    assert_eq!(preview["budget_problem"]["code"], "api_key_missing");
    assert_eq!(preview["simulated"], false);
    let used = home.run(&["backend", "use", "openai_compatible"]);
    assert!(used.out.contains("models.endpoint"), "{}", used.out);
}

#[test]
fn a_rehearsal_leaves_nothing_to_review() {
    let home = Home::with_sample(PROGRAM);
    let ran = home.run(&["sleep", "dry-run", "--full", "--gate-mode=off"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let listed = home.run(&["night", "list"]).out;
    assert!(
        listed.contains("rehearsal, proposed") && listed.contains("nothing waits for you"),
        "{listed}"
    );
    let none = home.run(&["proposal", "list", "--all"]).out;
    assert!(none.contains("There is no proposal yet"), "{none}");
}

#[test]
fn doctor_checks_every_project_from_a_folder_that_is_none() {
    let home = Home::with_sample(PROGRAM);
    let doctor = || home.run_in(&home.home(), &["doctor", "--json"]);
    let before = doctor();
    assert_eq!(before.code, 0, "{} {}", before.out, before.err);
    let subjects = |json: &Value| -> Vec<String> {
        let findings = json["findings"].as_array().unwrap().iter();
        findings
            .map(|finding| finding["subject"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        subjects(&before.json()),
        [
            "database",
            "settings",
            "local model servers",
            "models",
            "projects"
        ]
    );
    assert_eq!(home.run(&["project", "add"]).code, 0);
    let second = second_project(&home);
    assert_eq!(home.run_in(&second, &["project", "add"]).code, 0);
    let both = doctor().json();
    assert_eq!(both["healthy"], true, "{both}");
    let tonight = both["tonight"].as_str().unwrap();
    assert!(
        tonight.contains("customer-letters: read 20 sessions") && tonight.contains("mails: "),
        "{tonight}"
    );
    let once = subjects(&both);
    assert_eq!(
        once.iter().filter(|subject| *subject == "models").count(),
        1,
        "{once:?}"
    );
}

#[test]
fn a_refused_key_is_seen_by_doctor() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    // Whoever asks only for the list of models is not told.
    server.models(&["stub"]).standing(Behaviour::unauthorized());
    let endpoint = server.url();
    let used = home.run(&[
        "backend",
        "use",
        "openai_compatible",
        "--endpoint",
        &endpoint,
        "--model",
        "stub",
    ]);
    assert_eq!(used.code, 0, "{}", used.err);
    let last_night = |words: &[&str]| {
        let ran = home.run(&[&["doctor", "--json"], words].concat());
        let json = ran.json();
        let findings = json["findings"].as_array().unwrap().clone();
        let found = findings
            .into_iter()
            .find(|finding| finding["subject"] == "last night")
            .unwrap();
        let tonight = json["tonight"].as_str().unwrap().to_owned();
        (ran.code, found, tonight)
    };
    let night = home.run(&["sleep", "run", "--model-miner=false"]);
    assert_ne!(night.code, 0);
    let (code, found, tonight) = last_night(&[]);
    assert_eq!(
        (code, found["health"].as_str()),
        (1, Some("bad")),
        "{found}"
    );
    assert_eq!(found["code"], "sign_in_needed");
    let said = found["message"].as_str().unwrap();
    assert!(
        said.contains("did not get through") && said.contains("Incorrect API key"),
        "{said}"
    );
    assert!(tonight.starts_with("fail: "), "{tonight}");
    // Another backend is not refused by that one.
    let (code, found, _) = last_night(&["--backend=mock"]);
    assert_eq!(
        (code, found["health"].as_str()),
        (0, Some("warning")),
        "{found}"
    );
    // Whether what the user did since has helped is not known before the next night, or a test that gets through.
    server.standing(Behaviour::Reply("ready".into()));
    assert_eq!(home.run(&["backend", "test"]).code, 0);
    let (code, found, _) = last_night(&[]);
    assert_eq!(
        (code, found["health"].as_str()),
        (0, Some("warning")),
        "{found}"
    );
}

#[test]
fn open_questions_are_named() {
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["sleep", "run", "--backend=handoff"]).code, 3);
    let open = home.run(&["handoff", "--json"]).json();
    let listed = home.run(&["handoff"]).out;
    for question in open["pending"].as_array().unwrap() {
        assert!(
            listed.contains(question["id"].as_str().unwrap()),
            "{listed}"
        );
    }
}

#[test]
fn a_night_that_was_asked_for_can_be_called_off() {
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["project", "add"]).code, 0);
    assert_eq!(home.run(&["night", "start"]).code, 0);
    let cancelled = home.run(&["night", "cancel"]);
    assert_eq!(cancelled.code, 0, "{} {}", cancelled.out, cancelled.err);
    assert!(cancelled.out.contains("asked for"), "{}", cancelled.out);
    assert_eq!(
        home.run(&["night", "cancel", "--json"]).json()["error"],
        "night_unknown"
    );
    assert!(!home.run(&["status"]).out.contains("Asked for by hand"));
}

#[test]
fn a_project_that_moved_keeps_its_sessions() {
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["project", "add"]).code, 0);
    let (old, new) = (home.project(), home.home().join("work/letters"));
    fs::rename(&old, &new).unwrap();
    let (from, to) = (old.to_str().unwrap(), new.to_str().unwrap());
    let moved = home.run_in(&new, &["project", "move", from, to]);
    assert_eq!(moved.code, 0, "{} {}", moved.out, moved.err);
    let found = home.run_in(&new, &["sleep", "dry-run", "--json"]).json();
    assert_eq!(found["n_sessions"], 20, "{found}");
    // A new project in the old folder has them itself.
    fs::create_dir_all(&old).unwrap();
    let found = home.run_in(&new, &["sleep", "dry-run", "--json"]).json();
    assert_eq!(found["n_sessions"], 0, "{found}");
}

#[test]
fn the_name_of_a_backend_stands_for_whoever_it_asks() {
    let home = Home::with_sample(PROGRAM);
    let accepted = home.run_with(
        &["backend", "accept", "anthropic", "--json"],
        &[("ANTHROPIC_API_KEY", "dummy")],
    );
    assert_eq!(accepted.code, 0, "{} {}", accepted.out, accepted.err);
    assert_eq!(
        accepted.json()["accepted"],
        json!(["anthropic:api.anthropic.com"])
    );
}

#[test]
fn sessions_of_an_excluded_folder_were_typed_by_somebody() {
    let home = Home::with_sample(PROGRAM);
    let project = home.project();
    let exclude = format!("--exclude={}", project.display());
    let harvest = home.run(&["sleep", "harvest", &exclude, "--json"]).json();
    let reasons = harvest["skipped"].to_string();
    assert!(reasons.contains("excluded_directory"), "{reasons}");
    assert!(!reasons.contains("no_human_turn"), "{reasons}");
}
