//! Every bad input of a night has its sentence, its guidance and its code, and loses nothing.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::fs;

use skillopt_tests::home::Home;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// The command fails with this code and exit code, and says a sentence and what to do.
fn refuses(home: &Home, words: &[&str], code: &str, exit: i32) {
    let ran = home.run(&[words, &["--json"]].concat());
    let json = ran.json();
    let problem = if json["problem"].is_object() {
        json["problem"].clone()
    } else {
        json.clone()
    };
    let found = problem["code"].as_str().or(problem["error"].as_str());
    assert_eq!(found, Some(code), "{words:?}: {}", ran.out);
    assert_eq!(ran.code, exit, "{words:?}: {}", ran.out);
    assert!(
        problem["message"]
            .as_str()
            .is_some_and(|message| message.ends_with(['.', '?'])),
        "{}",
        ran.out
    );
    assert!(
        problem["guidance"]
            .as_str()
            .is_some_and(|guidance| !guidance.is_empty()),
        "{}",
        ran.out
    );
    // The same for a person: the sentence first, the code small behind it, nothing on stdout.
    let text = home.run(words);
    assert!(
        text.err.contains(code) || text.out.contains(code),
        "{words:?}: {} {}",
        text.out,
        text.err
    );
}

#[test]
fn a_broken_configuration_names_file_and_line() {
    let home = Home::with_sample(PROGRAM);
    let file = home.home().join("skillopt-config/settings.toml");
    fs::write(&file, "[reads]\nsource = \"claude\nscope = 1\n").unwrap();
    refuses(&home, &["sleep", "run"], "config_broken", 2);
    assert!(home.run(&["sleep", "run"]).err.contains("settings.toml"));
    assert!(
        fs::read_to_string(&file).unwrap().contains("scope = 1"),
        "the file is as it was"
    );
}

#[test]
fn unknown_backends_and_wrong_values_are_refused() {
    let home = Home::with_sample(PROGRAM);
    refuses(
        &home,
        &["sleep", "run", "--backend", "cluade"],
        "backend_unknown",
        2,
    );
    assert!(
        home.run(&["sleep", "run", "--backend", "cluade"])
            .err
            .contains("claude"),
        "with a suggestion"
    );
    refuses(
        &home,
        &["sleep", "run", "--max-tasks", "ten"],
        "setting_invalid",
        2,
    );
    refuses(
        &home,
        &["sleep", "run", "--max-tasks", "0"],
        "setting_invalid",
        2,
    );
    let later = home.run(&["sleep", "run", "--gate-mode", "confident"]);
    assert_eq!(later.code, 2);
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    assert_eq!(
        first(&later.err),
        "gate.mode (set by --gate-mode) is \"confident\", which this version does not have: it takes strict or off.",
    );
    for (flag, sentence) in [
        (
            "--opencode-tool-replay",
            "There is no flag --opencode-tool-replay; the setting is now replays.tools.",
        ),
        (
            "--vscode-workspace-storage",
            "There is no flag --vscode-workspace-storage: reads.vscode_home names the folder above User/workspaceStorage.",
        ),
        (
            "--copilot-cli-session-store",
            "There is no flag --copilot-cli-session-store: reads.copilot_home names the folder it lies in.",
        ),
    ] {
        let words = ["sleep", "run", flag, "x"];
        refuses(&home, &words, "usage", 2);
        assert_eq!(first(&home.run(&words).err), sentence);
    }
    let misspelt = home.run(&["sleep", "run", "--no-such-flag"]);
    assert_eq!(misspelt.code, 2);
    assert!(
        misspelt.err.contains("'--no-such-flag'"),
        "{}",
        misspelt.err
    );
}

#[test]
fn what_is_asked_for_wrongly_ends_as_wrong_usage() {
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["project", "add"]).code, 0);
    let odd = home.path().join("odd");
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("state.json"), "{").unwrap();
    for (words, code) in [
        (&["pause", "a while"][..], "pause_unreadable"),
        (
            &["handoff", "answer", "0123456789abcdef", "answer.md"],
            "handoff_unknown",
        ),
        (
            &["import", "--from", odd.to_str().unwrap(), "--yes"],
            "import_broken",
        ),
        (&["proposal", "show", "nothing"], "proposal_unknown"),
        (&["night", "show", "7"], "night_unknown"),
        (&["man", "nothing"], "usage"),
    ] {
        refuses(&home, words, code, 2);
    }
}

#[test]
fn what_a_night_cannot_read_of_earlier_ones_is_said() {
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["sleep", "run"]).code, 0);
    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).unwrap();
    let changed = database.execute("UPDATE cluster_text SET body = '{}'", []);
    let requests = changed.unwrap();
    assert!(requests > 1, "{requests}");
    let preview = home.run(&["sleep", "dry-run", "--json"]).json();
    let said = format!("{requests} requests of earlier nights cannot be read any more");
    assert!(preview["notes"].to_string().contains(&said), "{preview}");

    // Without what was rejected before, the same would be proposed again and again.
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["project", "add"]).code, 0);
    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).unwrap();
    let odd = "INSERT INTO rejected_edit (project, target, key, edit, rejected_by, reason, at) \
               SELECT id, target, 'k', '{}', 'user', 'no', 0 FROM project, \
               (SELECT 'claude:skill' AS target UNION SELECT 'claude:memory')";
    assert_eq!(database.execute(odd, []).unwrap(), 2);
    let ran = home.run(&["sleep", "run", "--json"]);
    assert_eq!(
        (ran.code, ran.json()["problem"]["code"].as_str()),
        (1, Some("stored_value_unreadable")),
        "{}",
        ran.out
    );
}

#[test]
fn an_empty_transcript_folder_is_nothing_to_do() {
    let home = Home::empty(PROGRAM);
    let ran = home.run(&["sleep", "run", "--json"]);
    assert_eq!(
        (ran.code, ran.json()["outcome"].as_str()),
        (0, Some("nothing_to_do"))
    );
    assert!(
        !home.project().join(".skillopt-sleep").exists(),
        "nothing of ours enters the project"
    );
}

#[test]
fn an_endpoint_that_refuses_defers_the_night() {
    let home = Home::with_sample(PROGRAM);
    let words = [
        "sleep",
        "run",
        "--backend",
        "openai_compatible",
        "--model",
        "m",
        "--endpoint",
        "http://127.0.0.1:9",
    ];
    let ran = home.run(&[&words[..], &["--json"]].concat());
    assert_eq!(ran.code, 75, "{}", ran.out);
    let json = ran.json();
    assert_eq!(json["outcome"], "deferred");
    assert_eq!(json["problem"]["code"], "model_unavailable");
    // No input is lost: the same sessions are there for the next night.
    let next = home.run(&["sleep", "run", "--json"]).json();
    assert_eq!(next["outcome"], "proposed", "{next}");
}

#[test]
fn a_budget_too_small_for_a_verdict_spends_nothing() {
    let home = Home::with_sample(PROGRAM);
    let server = skillopt_tests::stub_server::StubServer::start();
    let ran = home.night_against(&server, &["--max-calls", "3"]);
    assert_eq!(ran.code, 75, "{}", ran.out);
    assert_eq!(ran.json()["problem"]["code"], "budget_too_small");
    assert_eq!(server.asked().len(), 0, "not one call was made");
}

#[test]
fn a_database_from_a_newer_version_is_left_alone() {
    let home = Home::after_demo(PROGRAM);
    let database = home.data().join("skillopt.db");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .pragma_update(None, "user_version", 9_999)
        .unwrap();
    drop(connection);
    let before = fs::read(&database).unwrap();
    refuses(&home, &["sleep", "status"], "database_newer", 1);
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn a_damaged_database_is_left_alone() {
    let home = Home::after_demo(PROGRAM);
    let database = home.data().join("skillopt.db");
    for extra in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.data().join(format!("skillopt.db{extra}")));
    }
    fs::write(
        &database,
        b"this is no database, but it is long enough to be looked at twice",
    )
    .unwrap();
    refuses(&home, &["sleep", "status"], "database_corrupt", 1);
    assert!(
        fs::read(&database)
            .unwrap()
            .starts_with(b"this is no database")
    );
}

#[test]
fn a_home_folder_is_no_project() {
    let home = Home::after_demo(PROGRAM);
    let folder = home.home();
    refuses(
        &home,
        &["sleep", "run", "--project", folder.to_str().unwrap()],
        "project_is_home",
        2,
    );
}

#[test]
fn unreviewed_tasks_never_reach_a_model() {
    let home = Home::with_sample(PROGRAM);
    let file = home.path().join("tasks.json");
    let harvest = home.run(&[
        "sleep",
        "harvest",
        "--all-time",
        "--output",
        file.to_str().unwrap(),
    ]);
    assert_eq!(harvest.code, 0, "{}", harvest.err);
    let server = skillopt_tests::stub_server::StubServer::start();
    let url = server.url();
    // Weakness 16: also when only one side is a real backend.
    let words = [
        "sleep",
        "run",
        "--tasks-file",
        file.to_str().unwrap(),
        "--optimizer-backend",
        "openai_compatible",
        "--optimizer-model",
        "m",
        "--endpoint",
        &url,
        "--json",
    ];
    let ran = home.run(&words);
    assert_eq!(
        ran.json()["problem"]["code"],
        "tasks_not_reviewed",
        "{}",
        ran.out
    );
    assert_eq!(server.asked().len(), 0);
    let mock = home
        .run(&[
            "sleep",
            "run",
            "--tasks-file",
            file.to_str().unwrap(),
            "--json",
        ])
        .json();
    assert_eq!(
        mock["outcome"], "proposed",
        "a simulation may use it: {mock}"
    );
}

#[test]
fn a_repository_cannot_choose_backend_or_adopt() {
    let home = Home::with_sample(PROGRAM);
    fs::write(
        home.project().join(".skillopt.toml"),
        "[models]\nbackend = \"claude\"\nclaude_path = \"/bin/evil\"\n[changes]\nauto_adopt = true\nmemory = false\n",
    )
    .unwrap();
    let shown = home.run(&["config", "show", "--json"]).json();
    let value = |key: &str| {
        shown
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["key"] == key)
            .map(|row| row["value"].clone())
            .unwrap()
    };
    assert_eq!(value("models.backend"), "mock");
    assert_eq!(value("models.claude_path"), "");
    assert_eq!(value("changes.auto_adopt"), false);
    assert_eq!(value("changes.memory"), false, "it may restrict");
    assert!(
        shown[0]["warnings"].to_string().contains("models.backend"),
        "{}",
        shown[0]["warnings"]
    );
    // Whatever reads the settings says so, to people once and to programs as well.
    for (words, place) in [
        (&["sleep", "run"][..], "notes"),
        (&["sleep", "dry-run"], "notes"),
        (&["sleep", "harvest"], "notes"),
        (&["doctor"], "findings"),
    ] {
        let json = home.run(&[words, &["--json"]].concat()).json();
        let told = json[place].to_string();
        assert!(told.contains("models.claude_path"), "{words:?}: {told}");
        let text = home.run(words);
        let text = format!("{}{}", text.out, text.err);
        assert_eq!(
            text.matches("models.claude_path").count(),
            1,
            "{words:?}: {text}"
        );
    }
}

#[test]
fn doctor_says_what_would_fail_tonight() {
    let home = Home::with_sample(PROGRAM);
    let finding = |ran: &skillopt_tests::home::Ran| {
        let json = ran.json();
        let findings = json["findings"].as_array().unwrap().clone();
        findings
            .into_iter()
            .find(|finding| finding["subject"] == "models")
            .unwrap()
    };
    let server = skillopt_tests::stub_server::StubServer::start();
    server.models(&["small"]);
    let url = server.url();
    let words = |model: &'static str| {
        [
            "doctor",
            "--json",
            "--backend",
            "openai_compatible",
            "--endpoint",
            &url,
            "--model",
            model,
        ]
        .map(str::to_owned)
    };
    let run = |words: &[String]| home.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let good = run(&words("small"));
    assert_eq!(
        (good.code, finding(&good)["health"].as_str()),
        (0, Some("good")),
        "{}",
        good.out
    );
    let missing = run(&words("large"));
    assert_eq!(missing.code, 1);
    assert!(
        finding(&missing)["message"]
            .as_str()
            .unwrap()
            .contains("large"),
        "{}",
        missing.out
    );
    drop(server);
    let gone = run(&words("small"));
    assert_eq!(finding(&gone)["health"], "bad", "{}", gone.out);
    // As cron would start it: the environment of the terminal is gone.
    let bare = home.run_with(
        &["doctor", "--as-scheduled", "--json"],
        &[("SKILLOPT_BACKEND", "claude")],
    );
    assert_eq!(finding(&bare)["detail"]["target"], "mock", "{}", bare.out);
}

#[test]
fn a_setting_that_is_set_twice_is_still_set() {
    let home = Home::with_sample(PROGRAM);
    for _ in 0..2 {
        assert_eq!(
            home.run(&["config", "set", "gate.min_validation_tasks", "5"])
                .code,
            0
        );
    }
    let explained = home
        .run(&["config", "explain", "gate.min_validation_tasks", "--json"])
        .json();
    assert_eq!(
        (explained["value"].as_u64(), explained["layer"].as_str()),
        (Some(5), Some("user"))
    );
}

#[test]
fn prompts_of_ones_own_are_shown_and_broken_ones_refused() {
    let home = Home::empty(PROGRAM);
    let file = home.home().join("words.json");
    let flag = format!("--prompts={}", file.display());
    let ours = home.run(&["config", "prompts", "--json"]).json();
    let prompts = ours["prompts"].as_array().expect("prompts");
    assert!(prompts.iter().all(|prompt| prompt["override"].is_null()));

    std::fs::write(&file, r#"{"attempt": "__SKILL__ __MEMORY__ __INTENT__"}"#).unwrap();
    let mine = home.run(&["config", "prompts", &flag, "--json"]).json();
    let attempt = mine["prompts"]
        .as_array()
        .and_then(|prompts| prompts.iter().find(|prompt| prompt["name"] == "attempt"))
        .expect("the prompt");
    assert_eq!(attempt["effective"], "__SKILL__ __MEMORY__ __INTENT__");
    assert_eq!(mine["file"], file.to_string_lossy().as_ref());
    let text = home.run(&["config", "prompts", &flag]).out;
    assert!(text.contains("attempt (your words)"), "{text}");
    assert!(text.contains("__RUBRIC__ __RESPONSE__"), "{text}");

    std::fs::write(&file, r#"{"attempt": "no placeholders"}"#).unwrap();
    refuses(&home, &["config", "prompts", &flag], "prompts_invalid", 2);
    refuses(&home, &["sleep", "run", &flag], "prompts_invalid", 2);
}

/// Makes the database a file that is none.
fn damage(home: &Home) {
    for extra in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.data().join(format!("skillopt.db{extra}")));
    }
    fs::write(
        home.data().join("skillopt.db"),
        b"this is no database, but it is long enough to be looked at twice",
    )
    .expect("a file");
}

#[test]
fn doctor_leads_out_of_a_damaged_database() {
    let home = Home::after_demo(PROGRAM);
    refuses(&home, &["data", "restore"], "database_sound", 2);
    let kept = home.run(&["data", "copy", "--json"]).json();
    let copy = kept["detail"]["copy"].as_str().unwrap().to_owned();
    damage(&home);
    let ran = home.run(&["doctor", "--json"]);
    let json = ran.json();
    assert_eq!(ran.code, 1, "{json}");
    let database = &json["findings"][0];
    assert_eq!(
        (database["subject"].as_str(), database["health"].as_str()),
        (Some("database"), Some("bad"))
    );
    let guidance = database["guidance"].as_str().unwrap();
    assert!(
        guidance.contains("data restore") && guidance.contains(&copy),
        "{guidance}"
    );
    assert!(
        json["findings"].as_array().unwrap().len() > 3,
        "the rest is looked at all the same: {json}"
    );
    let text = home.run(&["doctor"]).out;
    assert!(
        text.contains("data restore") && text.contains(&copy),
        "{text}"
    );

    let plan = home.run(&["data", "restore", "--json"]).json();
    assert_eq!(plan["applied"], false);
    refuses(&home, &["sleep", "status"], "database_corrupt", 1);
    let done = home.run(&["data", "restore", "--yes", "--json"]).json();
    assert_eq!(done["applied"], true, "{done}");
    let aside = std::path::PathBuf::from(done["detail"]["aside"].as_str().unwrap());
    assert!(
        fs::read(aside.join("skillopt.db"))
            .unwrap()
            .starts_with(b"this is no database")
    );
    assert_eq!(home.run(&["sleep", "status", "--json"]).json()["night"], 1);
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
}

#[test]
fn a_damaged_database_without_a_copy_gives_way_to_an_empty_one() {
    let home = Home::after_demo(PROGRAM);
    damage(&home);
    assert!(home.run(&["doctor"]).out.contains("begins anew"));
    let file = home.data().join("skillopt.db");
    let file = file.to_str().unwrap();
    refuses(
        &home,
        &["data", "restore", "--from", file],
        "copy_unsound",
        2,
    );
    assert_eq!(home.run(&["data", "restore", "--yes"]).code, 0);
    assert_eq!(home.run(&["sleep", "status", "--json"]).json()["night"], 0);
}

#[test]
fn json_is_one_document_also_for_digests() {
    let home = Home::with_sample(PROGRAM);
    let words = ["sleep", "harvest", "--digests"];
    let json = home.run(&[&words[..], &["--json"]].concat()).json();
    let digests = json["digests"].as_array().unwrap();
    assert!(digests.len() > 1, "{json}");
    let lines = home.run(&words).out;
    assert_eq!(lines.lines().count(), digests.len() + 1);
    for (line, digest) in lines.lines().zip(digests) {
        assert_eq!(
            &serde_json::from_str::<serde_json::Value>(line).unwrap(),
            digest
        );
    }
}

#[test]
fn an_experiment_calls_no_model_unasked() {
    let home = Home::with_sample(PROGRAM);
    let server = skillopt_tests::stub_server::StubServer::start();
    for (key, value) in [
        ("models.endpoint", server.url().as_str()),
        ("models.target_backend", "openai_compatible"),
        ("models.optimizer_backend", "openai_compatible"),
        ("models.judge_backend", "openai_compatible"),
        ("models.judge_model", "dearest of all"),
        ("models.judge_api_key_env", "A_VARIABLE_THAT_IS_NOT_SET"),
        ("models.model", "dear"),
        ("models.target_model", "dearer"),
        ("models.optimizer_model", "dearest"),
    ] {
        assert_eq!(home.run(&["config", "set", key, value]).code, 0, "{key}");
    }
    let words = [
        "experiment",
        "--nights",
        "1",
        "--limit-tasks",
        "4",
        "--json",
    ];
    let ran = home.run(&words);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert_eq!(ran.json()["model"], "", "{}", ran.out);
    assert!(server.requests().is_empty());
}

#[test]
fn a_file_somebody_worked_on_is_not_replaced() {
    let home = Home::with_sample(PROGRAM);
    let file = home.path().join("tasks.json");
    let words = ["sleep", "harvest", "--output", file.to_str().unwrap()];
    assert_eq!(home.run(&words).code, 0);
    assert_eq!(home.run(&words).code, 0, "nobody has looked at it yet");
    let reviewed = fs::read_to_string(&file)
        .unwrap()
        .replace("\"reviewed\": false", "\"reviewed\": true");
    for mine in [reviewed.as_str(), "my notes\n", "{}"] {
        fs::write(&file, mine).unwrap();
        refuses(&home, &words, "output_exists", 2);
        assert_eq!(fs::read_to_string(&file).unwrap(), mine);
    }
    let folder = home.path().join("mine");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("letter.txt"), "dear\n").unwrap();
    let words = ["demo", "--folder", folder.to_str().unwrap()];
    refuses(&home, &words, "demo_folder_unusable", 2);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}
