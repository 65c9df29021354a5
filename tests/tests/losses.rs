//! What somebody found who tried to make the program lose things, pay twice, or keep secrets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use skillopt_store::{Paths, Store, SystemClock, attempts, nights};
use skillopt_tests::brain::honest;
use skillopt_tests::home::{Home, Ran};
use skillopt_tests::stub_server::StubServer;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// The sample's sessions, each in its folder.
#[cfg(unix)]
fn sessions(home: &Home) -> Vec<PathBuf> {
    let projects = home.home().join(".claude/projects");
    let folders = fs::read_dir(projects).unwrap().map(|entry| entry.unwrap());
    folders
        .flat_map(|folder| fs::read_dir(folder.path()).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect()
}

#[cfg(unix)]
#[test]
fn a_session_file_whose_name_is_no_text_takes_part_in_a_night() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let home = Home::with_sample(PROGRAM);
    let sessions = sessions(&home);
    for (number, session) in sessions.iter().enumerate() {
        let name = [
            &[0xff, 0xfe, b'a' + u8::try_from(number).unwrap()][..],
            b".jsonl",
        ]
        .concat();
        fs::rename(session, session.with_file_name(OsStr::from_bytes(&name))).unwrap();
    }
    let ran = home.run(&["sleep", "run", "--json"]);
    let json = ran.json();
    assert_eq!(
        (ran.code, &json["outcome"]),
        (0, &"proposed".into()),
        "{json}"
    );
    assert_eq!(json["n_sessions"], sessions.len(), "{json}");
}

/// Every reply that was kept.
fn replies(home: &Home) -> Vec<String> {
    let mut paths = Paths::at(home.path());
    paths.data = home.data();
    let store = Store::open(&paths, Arc::new(SystemClock)).unwrap();
    store
        .read(|db| {
            let mut replies = Vec::new();
            for night in nights::list(db, None, 9)? {
                for attempt in attempts::of_night(db, night.id)? {
                    replies.extend(attempts::reply(db, attempt.id)?);
                }
            }
            Ok(replies)
        })
        .unwrap()
}

/// Every file below a folder that holds `text`.
fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if fs::read(&path).is_ok_and(|bytes| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        }) {
            found.push(path);
        }
    }
    found
}

#[test]
fn secrets_in_replies_are_not_kept() {
    // No pattern knows this key; the server repeats it, as some do in what they log.
    const KEY: &str = "canary.of.a.server.of.our.own";
    let token = concat!("glpat", "-canary0123456789ABCD");
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    server.require_key(KEY).brain(move |request| {
        let reply = honest(request);
        match serde_json::from_str::<Value>(&reply) {
            Ok(mut edits) => {
                let mut more = edits["edits"][0].clone();
                more["content"] = format!("Sign in with {token}.").into();
                edits["edits"].as_array_mut().unwrap().push(more);
                edits.to_string()
            }
            Err(_) => format!("{reply}\n\nYou sent Bearer {KEY}, and I use {token}."),
        }
    });
    let words = Home::words_against(&server, &["--api-key-env", "THE_KEY"]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = home.run_with(&words, &[("THE_KEY", KEY)]);
    let json = ran.json();
    assert_eq!(json["outcome"], "proposed", "{json}");
    let replies = replies(&home);
    assert_eq!(replies.len(), server.asked().len());
    let marked = replies
        .iter()
        .filter(|reply| reply.contains("[REDACTED_API_KEY]"));
    assert!(marked.count() > 1, "{replies:?}");
    let shown = home.run(&["proposal", "show", "--json"]);
    for secret in [KEY, token] {
        assert!(!ran.out.contains(secret));
        assert!(!shown.out.contains(secret));
        assert!(!replies.iter().any(|reply| reply.contains(secret)));
        assert_eq!(holding(&home.data(), secret), [] as [PathBuf; 0]);
    }
}

#[cfg(unix)]
#[test]
fn what_keeps_a_proposal_from_being_staged_is_said_before_anything_is_paid_for() {
    let server = StubServer::start();
    server.brain(honest);
    let front = "---\nname: skillopt-sleep-learned\ndescription: mine\n---\n";
    for skill in [
        format!("\u{feff}{front}"),
        front.replace("learned", "another"),
    ] {
        let home = Home::with_sample(PROGRAM);
        fs::create_dir_all(home.skill().parent().unwrap()).unwrap();
        fs::write(home.skill(), &skill).unwrap();
        let ran = home.night_against(&server, &["--memory=false"]);
        let json = ran.json();
        assert_eq!(json["problem"]["code"], "skill_invalid", "{json}");
        let message = json["problem"]["message"].as_str().unwrap();
        assert!(message.contains("SKILL.md"), "{message}");
        let dry = home.run(&["sleep", "dry-run", "--memory=false", "--json"]);
        assert_eq!(dry.json()["error"], "skill_invalid", "{}", dry.out);
        assert_eq!(server.asked().len(), 0);

        // With another document to improve the night goes on, and says what it left out.
        let doctor = home.run(&["doctor"]).out;
        assert!(doctor.contains("SKILL.md"), "{doctor}");
        let json = home.run(&["sleep", "run", "--json"]).json();
        let notes = json["notes"].to_string();
        assert!(
            notes.contains("Left out: ") && notes.contains("SKILL.md"),
            "{json}"
        );
        assert_eq!(json["outcome"], "proposed", "{json}");
    }
    // Modes do not stop root; a file in the place of the folder stops everybody.
    let home = Home::with_sample(PROGRAM);
    assert_eq!(home.run(&["sleep", "status"]).code, 0);
    fs::write(home.data().join("staging"), "").unwrap();
    let json = home.night_against(&server, &[]).json();
    assert_eq!(json["problem"]["code"], "file_io", "{json}");
    assert_eq!(server.asked().len(), 0);
    let doctor = home.run(&["doctor", "--json"]).json();
    assert!(doctor.to_string().contains("staging"), "{doctor}");
    assert_eq!(doctor["healthy"], false);
}

#[test]
fn a_night_that_could_not_be_staged_in_the_end_is_not_paid_for_again() {
    let home = Home::with_sample(PROGRAM);
    let server = StubServer::start();
    let staging = home.data().join("staging");
    let in_the_way = staging.clone();
    server.brain(move |request| {
        if !in_the_way.exists() {
            fs::write(&in_the_way, "").unwrap();
        }
        honest(request)
    });
    let first = home.night_against(&server, &[]);
    let json = first.json();
    assert_eq!(
        (first.code, &json["outcome"]),
        (75, &"deferred".into()),
        "{json}"
    );
    assert_eq!(json["problem"]["code"], "file_io", "{json}");
    assert_eq!(json["proposal"], Value::Null, "{json}");
    let paid = server.asked().len();
    fs::remove_file(&staging).unwrap();
    let second = home.night_against(&server, &[]).json();
    assert_eq!(second["outcome"], "proposed", "{second}");
    assert_eq!(second["resumed"], true);
    assert_eq!(server.asked().len(), paid);
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
}

#[test]
fn a_no_while_an_adoption_runs_is_kept_and_the_adoption_is_undone() {
    let mut home = Home::after_demo(PROGRAM);
    let held = home.path().join("held");
    let hold = format!("create:{}", held.display());
    home.set("SKILLOPT_HOLD_AT", &hold);
    let mut adopting = home.start(&["proposal", "adopt", "--json"]);
    while !held.exists() {
        assert!(adopting.try_wait().unwrap().is_none(), "it is held");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    home.set("SKILLOPT_HOLD_AT", "nothing:/nowhere");
    let other = home.run(&["proposal", "adopt", "--json"]);
    assert_eq!(other.json()["error"], "document_busy", "{}", other.out);
    let rejected = home.run(&["proposal", "reject", "--reason", "too formal", "--json"]);
    assert_eq!(rejected.code, 0, "{}", rejected.out);
    fs::remove_file(&held).unwrap();
    let adopted = Ran::from(adopting.wait_with_output().unwrap());
    assert_eq!(
        (adopted.code, adopted.json()["error"].as_str()),
        (2, Some("proposal_decided")),
        "{}",
        adopted.out
    );
    assert!(!home.skill().exists(), "nothing was written");
    let all = home.run(&["proposal", "list", "--all", "--json"]).json();
    assert_eq!(all[0]["state"], "rejected", "{all}");
    assert!(all.to_string().contains("too formal"), "{all}");
}

#[test]
fn a_database_that_is_gone_is_missed_and_gone_on_with_from_a_copy() {
    let home = Home::after_demo(PROGRAM);
    assert_eq!(home.run(&["proposal", "adopt"]).code, 0);
    assert_eq!(home.run(&["data", "copy"]).code, 0);
    for file in ["skillopt.db", "skillopt.db-wal", "skillopt.db-shm"] {
        let _ = fs::remove_file(home.data().join(file));
    }
    let status = home.run(&["sleep", "status", "--json"]);
    assert_eq!(
        (status.code, status.json()["error"].as_str()),
        (1, Some("database_missing")),
        "{}",
        status.out
    );
    assert!(!home.data().join("skillopt.db").exists());
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.out.contains("data restore --yes"), "{}", doctor.out);
    let plan = home.run(&["data", "restore", "--json"]).json();
    assert_eq!(plan["applied"], false);
    assert!(
        plan["message"].as_str().unwrap().contains("missing"),
        "{plan}"
    );
    let done = home.run(&["data", "restore", "--yes", "--json"]);
    assert_eq!(done.code, 0, "{}", done.out);
    assert_eq!(home.run(&["sleep", "status", "--json"]).json()["night"], 1);
    assert_eq!(home.run(&["rollback"]).code, 0);
    assert!(!home.skill().exists());
}

#[test]
fn a_database_of_a_newer_version_is_not_restored_over() {
    let home = Home::after_demo(PROGRAM);
    assert_eq!(home.run(&["data", "copy"]).code, 0);
    {
        let database = rusqlite::Connection::open(home.data().join("skillopt.db")).unwrap();
        database.pragma_update(None, "user_version", 9_999).unwrap();
    }
    for words in [
        &["data", "restore", "--json"][..],
        &["data", "restore", "--yes", "--json"],
    ] {
        let ran = home.run(words);
        assert_eq!(ran.json()["error"], "database_newer", "{}", ran.out);
    }
    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).unwrap();
    let version: i64 = database
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 9_999);
}
