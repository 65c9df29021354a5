//! What a new user sees and is told in the first hour.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::fs;

use skillopt_tests::home::Home;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

#[test]
fn a_proposal_says_what_it_is_and_what_it_rests_on() {
    let home = Home::after_demo(PROGRAM);
    let json = home.run(&["proposal", "show", "--json"]).json();
    let id = json["id"].as_str().unwrap();
    let document = &json["documents"][0];
    let delta = document["decision"]["deltas"][0]["task"].as_str().unwrap();
    let request = document["requests"][delta].as_str().unwrap();
    let quote = document["rules"][0]["quotes"][0].as_str().unwrap();
    assert!(!request.is_empty() && !quote.is_empty(), "{document}");
    // The window shows both replies to a task, and the documents line by line.
    for side in ["before", "after"] {
        let reply = document["replies"][delta][side]["text"].as_str();
        assert!(reply.is_some_and(|text| !text.is_empty()), "{document}");
    }
    let added: Vec<_> = document["diff"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line["change"] == "added")
        .collect();
    let rule = document["rules"][0]["content"].as_str().unwrap();
    assert!(
        added
            .iter()
            .any(|line| line["parts"][0]["text"] == format!("- {rule}")),
        "{added:?}"
    );

    let text = home.run(&["proposal", "show"]).out;
    assert!(
        text.starts_with(&format!("Proposal {id}: pending, made ")),
        "{text}"
    );
    let start = |text: &str| text.chars().take(30).collect::<String>();
    assert!(text.contains(&start(request)), "{request}: {text}");
    assert!(
        text.contains(&format!("you said: {}", start(quote))),
        "{quote}: {text}"
    );
}

#[test]
fn a_decided_proposal_is_still_shown_and_not_as_one_that_waits() {
    let home = Home::after_demo(PROGRAM);
    assert_eq!(home.run(&["proposal", "adopt", "--rule", "1"]).code, 0);
    let shown = home.run(&["proposal", "show"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out.starts_with("No proposal waits."), "{}", shown.out);
    assert!(shown.out.contains("Adopted rules: 1\n"), "{}", shown.out);
    assert!(!shown.out.contains("cannot be adopted"), "{}", shown.out);

    let home = Home::after_demo(PROGRAM);
    let reason = "too formal for us";
    assert_eq!(
        home.run(&["proposal", "reject", "--reason", reason]).code,
        0
    );
    let shown = home.run(&["proposal", "show"]).out;
    assert!(
        shown.contains(": rejected, made ") && shown.contains(&format!("Reason: {reason}")),
        "{shown}"
    );
    let json = home.run(&["proposal", "show", "--json"]).json();
    assert_eq!(
        (json["instead"].as_bool(), json["state"].as_str()),
        (Some(true), Some("rejected"))
    );

    // A no can be taken back; once it waits, there is nothing left to take back.
    let id = json["id"].as_str().unwrap();
    let reopened = home.run(&["proposal", "reopen", id]).out;
    assert!(reopened.contains("waits again"), "{reopened}");
    let json = home.run(&["proposal", "show", "--json"]).json();
    assert_eq!(
        (
            json["instead"].as_bool(),
            json["state"].as_str(),
            json["reason"].as_str()
        ),
        (Some(false), Some("pending"), Some(""))
    );
    assert_eq!(json["documents"][0]["rules"][0]["rejected"], false);
    let again = home.run(&["proposal", "reopen", id]);
    assert!(again.err.contains("Nothing of proposal"), "{}", again.err);
    assert_eq!(home.run(&["proposal", "adopt", id]).code, 0);
}

#[test]
fn adopting_says_where_the_rules_count_and_who_made_them() {
    let home = Home::after_demo(PROGRAM);
    let plan = home.run(&["proposal", "adopt", "--plan"]).out;
    assert!(plan.contains("in all your projects"), "{plan}");
    assert!(plan.contains("simulation"), "{plan}");
    let json = home.run(&["proposal", "adopt", "--plan", "--json"]).json();
    assert_eq!(json["simulated"], true);
    assert_eq!(
        json["read_everywhere"],
        serde_json::json!([json["documents"][0]["path"]])
    );
    // Each is said once, whoever says it.
    assert_eq!(json["notes"], serde_json::json!([]));
    let tested = home
        .run(&["proposal", "adopt", "--rule", "1", "--validate", "--plan"])
        .out;
    assert!(!tested.contains("Add --validate"), "{tested}");
}

#[test]
fn taking_back_speaks_of_the_adoption() {
    let home = Home::after_demo(PROGRAM);
    let id = home.run(&["proposal", "show", "--json"]).json()["id"].clone();
    let id = id.as_str().unwrap();
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
    let adopted = fs::read_to_string(home.skill()).unwrap();
    fs::write(home.skill(), format!("{adopted}my own line\n")).unwrap();
    let edited = home.run(&["rollback"]);
    assert_eq!(edited.code, 2);
    assert!(
        edited.err.contains("since it was adopted") && !edited.err.contains("reject the proposal"),
        "{}",
        edited.err
    );
    fs::write(home.skill(), adopted).unwrap();
    assert_eq!(home.run(&["rollback", id]).code, 0);
    let again = home.run(&["rollback", id, "--json"]);
    assert_eq!(
        (again.code, again.json()["error"].as_str()),
        (2, Some("already_rolled_back"))
    );
}

#[test]
fn a_night_is_shown_in_plain_words() {
    let home = Home::after_demo(PROGRAM);
    let shown = home.run(&["night", "show"]).out;
    assert!(shown.contains("training tasks as things are"), "{shown}");
    assert!(
        shown.contains("Proposal ") && shown.contains("skillopt proposal show"),
        "{shown}"
    );
    // Names of the engine. What the tasks themselves say stands at the end of the lines of their scores.
    let ours = shown.lines().filter(|line| !line.contains("  t_"));
    for line in ours {
        for internal in [
            "train_again",
            "/scored",
            "planned",
            "claude/train",
            "accept_new",
        ] {
            assert!(!line.contains(internal), "{internal}: {shown}");
        }
    }
    let second = home.run(&["sleep", "run", "--progress"]);
    assert!(
        second.err.contains("[sleep] reading sessions"),
        "{}",
        second.err
    );
    assert!(!second.err.contains("0 calls"), "{}", second.err);
    // Nothing is new: what is left out every night is not listed again.
    assert!(!second.out.contains("left out 1"), "{}", second.out);
    assert!(
        second.out.starts_with("No session has anything new."),
        "{}",
        second.out
    );
    assert!(home.run(&["sleep", "status"]).out.contains(": 2 nights\n"));
}

#[test]
fn what_was_suggested_stays_in_sight_when_a_later_night_has_nothing_new() {
    let home = Home::with_sample(PROGRAM);
    let few = home.run(&["sleep", "run", "--min-validation-tasks=100"]);
    assert_eq!(few.code, 0, "{}", few.err);
    assert!(few.out.contains("too little to tell"), "{}", few.out);
    assert_eq!(
        home.run(&["sleep", "run", "--min-validation-tasks=100"])
            .code,
        0
    );
    let status = home.run(&["sleep", "status", "--json"]).json();
    assert_eq!(status["nights"], 2);
    assert!(
        !status["suggestions"].as_array().unwrap().is_empty(),
        "{status}"
    );
    assert_eq!(status["suggestions_of"], 1);
    let shown = home.run(&["night", "show", "1"]).out;
    assert!(
        shown.contains("Untested suggestions") && shown.contains("Still missing"),
        "{shown}"
    );
}

#[test]
fn looking_registers_nothing() {
    let home = Home::with_sample(PROGRAM);
    for words in [
        &["sleep", "dry-run"][..],
        &["sleep", "harvest"],
        &["doctor"],
    ] {
        assert_eq!(home.run(words).code, 0);
    }
    let projects = home.run(&["project", "list", "--json"]).json();
    assert_eq!(projects.as_array().unwrap().len(), 0);
}

#[test]
fn a_harvest_lists_its_sessions_and_what_was_used() {
    let home = Home::after_demo(PROGRAM);
    let json = home.run(&["sleep", "harvest", "--json"]).json();
    let session = &json["sessions"][0];
    assert!(session["turns"].as_u64().unwrap() > 0);
    assert_eq!(session["used"], session["turns"]);
    let text = home.run(&["sleep", "harvest"]).out;
    let words: String = session["first_words"]
        .as_str()
        .unwrap()
        .chars()
        .take(30)
        .collect();
    assert!(
        text.contains(&words) && text.contains("used by an earlier night"),
        "{text}"
    );
}

#[test]
fn old_sessions_are_named_with_the_flag_that_reads_them() {
    // The sessions of the sample are from a week long ago.
    let home = Home::with_sample(PROGRAM);
    for words in [
        &["sleep", "dry-run", "--lookback-hours=72"][..],
        &["sleep", "run", "--lookback-hours=72"],
    ] {
        let out = home.run(words).out;
        assert!(
            out.contains("older than 72 hours; read them with --lookback-hours 0"),
            "{out}"
        );
    }
}

#[test]
fn an_answer_that_cannot_be_read_is_said_and_waits() {
    let home = Home::with_sample(PROGRAM);
    let words = ["sleep", "run", "--backend=handoff"];
    let first = home.run(&words);
    assert_eq!(first.code, 3, "{} {}", first.out, first.err);
    assert!(!first.out.contains("0 tasks"), "{}", first.out);
    let open = home.run(&["handoff", "--json"]).json();
    let pending = open["pending"].as_array().unwrap();
    let question = &pending[0];
    let id = question["id"].as_str().unwrap();
    fs::write(question["answer_file"].as_str().unwrap(), "TODO\n").unwrap();

    let said = format!("Answer {id} was not taken: ");
    let shown = home.run(&["handoff"]).out;
    assert!(shown.contains(&said), "{shown}");
    assert!(
        shown.contains(&format!(
            "Waiting for an answer: {0} of {0} question",
            pending.len()
        )),
        "{shown}"
    );
    let second = home.run(&words);
    assert_eq!(second.code, 3);
    assert!(second.err.contains(&said), "{}", second.err);
}

#[test]
fn the_demonstration_leaves_the_users_own_folders_alone_and_says_how_to_go_on() {
    let home = Home::empty(PROGRAM);
    let folder = home.path().join("sample of mine");
    let text = folder.to_str().unwrap();
    let ran = home.run(&["demo", "--folder", text]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // The program was told of the data folder of its user.
    let mine = home.path().join("skillopt-data");
    assert!(!mine.exists());
    let shell = |lines: &str| {
        let script = lines.replace("skillopt ", &format!("'{PROGRAM}' "));
        std::process::Command::new("sh")
            .args(["-ec", &script])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap()
    };
    let from = ran.out.find("  cd '").unwrap();
    let to = ran.out.find("\nDelete the sample").unwrap();
    let gone_on = shell(&ran.out[from..to]);
    assert!(gone_on.status.success(), "{gone_on:?}");
    let delete = ran.out[to..].lines().nth(2).unwrap();
    assert!(shell(delete).status.success(), "{delete}");
    assert!(!folder.exists());
}

#[test]
fn the_doctor_names_folders_settings_and_what_tonight_would_do() {
    let home = Home::with_sample(PROGRAM);
    let out = home.run(&["doctor"]).out;
    let claude = home.home().join(".claude");
    assert!(
        out.contains(&format!("below {} (reads.claude_home)", claude.display())),
        "{out}"
    );
    let codex = home.home().join(".codex");
    assert!(
        out.contains(&format!("Codex has no folder at {}.", codex.display()))
            && out.contains("reads.codex_home names its folder"),
        "{out}"
    );
    let last = out.lines().last().unwrap();
    assert!(
        last.starts_with("Tonight would: read ") && last.contains("replay"),
        "{out}"
    );

    let dead = home.run(&[
        "doctor",
        "--backend=openai_compatible",
        "--model=x",
        "--endpoint=http://127.0.0.1:9/v1",
    ]);
    assert!(
        dead.out
            .lines()
            .last()
            .unwrap()
            .starts_with("Tonight would: fail: "),
        "{}",
        dead.out
    );
    assert!(
        !dead.out.contains("goes on where it was") && !dead.out.contains("?."),
        "{}",
        dead.out
    );
}

#[test]
fn a_scheduled_night_without_its_key_is_told_how_cron_gets_it() {
    let home = Home::with_sample(PROGRAM);
    let ran = home.run_with(
        &[
            "doctor",
            "--as-scheduled",
            "--backend=openai_compatible",
            "--model=x",
            "--endpoint=http://127.0.0.1:9/v1",
            "--api-key-env=MADE_UP_KEY",
        ],
        &[("MADE_UP_KEY", "made-up")],
    );
    assert!(
        ran.out.contains("MADE_UP_KEY") && ran.out.contains("crontab -e"),
        "{}",
        ran.out
    );
}

#[test]
fn a_purge_is_shown_in_words() {
    let home = Home::after_demo(PROGRAM);
    let project = home.project();
    let shown = home
        .run(&["data", "purge", "--project", project.to_str().unwrap()])
        .out;
    assert!(
        shown.contains("  1 night\n") && shown.contains("  1 proposal\n"),
        "{shown}"
    );
    for internal in ["{", "night_call", "\"rows\""] {
        assert!(!shown.contains(internal), "{internal}: {shown}");
    }
    let help = home.run(&["data", "purge", "--help"]).out;
    assert!(help.contains("everything of one project"), "{help}");
}

#[test]
fn an_import_is_shown_in_words() {
    let home = Home::empty(PROGRAM);
    let old = home.path().join(".skillopt-sleep");
    fs::create_dir(&old).unwrap();
    let config = r#"{"lookback_hours": 24, "made_up": 1}"#;
    fs::write(old.join("config.json"), config).unwrap();
    let shown = home.run(&["import"]).out;
    assert!(
        shown.contains("reads.lookback_hours = 24  (was lookback_hours)"),
        "{shown}"
    );
    assert!(
        shown.contains("left out: made_up, because ") && !shown.contains('{'),
        "{shown}"
    );
}
