//! Keys in a real keyring: kept, used by a night, and never anywhere else; locked and missing ones.

#![cfg(target_os = "linux")]

use std::path::Path;

use skillopt_tests::brain::honest;
use skillopt_tests::desktop::until;
use skillopt_tests::home::Home;
use skillopt_tests::session::Session;
use skillopt_tests::stub_server::StubServer;

#[path = "keyring/untrue.rs"]
mod untrue;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");
const KEY: &str = "sk-canary-31415926535";
const PASSWORD: &str = "opens it";

fn in_session(home: &mut Home, session: &Session) {
    for (name, value) in session.variables() {
        home.set(&name, &value);
    }
}

#[test]
fn a_key_is_kept_used_by_a_night_and_nowhere_else() {
    let mut home = Home::with_sample(PROGRAM);
    let mut session = Session::start(&home.home());
    session.keyring(Some(PASSWORD));
    in_session(&mut home, &session);

    let empty = home.run(&["key", "list", "--json"]).json();
    assert_eq!(empty["state"], "ready");
    assert_eq!(empty["names"], serde_json::json!([]));
    let kept = home.run_given(&["key", "set", "WORK_KEY"], &format!("{KEY}\n"));
    assert_eq!(kept.code, 0, "{} {}", kept.out, kept.err);
    assert_eq!(home.run(&["key", "list"]).out, "WORK_KEY\n");

    let server = StubServer::start();
    server.brain(honest);
    let night = home.night_against(&server, &["--api-key-env=WORK_KEY"]);
    assert_eq!(night.code, 0, "{} {}", night.out, night.err);
    assert_eq!(night.json()["outcome"], "proposed");
    assert!(!server.asked().is_empty());
    for request in server.asked() {
        assert_eq!(
            request.header("authorization"),
            Some(format!("Bearer {KEY}").as_str())
        );
    }
    // The environment comes first.
    let other = home.run_with(
        &[
            "backend",
            "test",
            "openai_compatible",
            "--model=stub",
            "--api-key-env=WORK_KEY",
            &format!("--endpoint={}", server.url()),
        ],
        &[("WORK_KEY", "sk-from-the-environment")],
    );
    assert_eq!(other.code, 0, "{} {}", other.out, other.err);
    let last = server.asked().pop().unwrap();
    assert_eq!(
        last.header("authorization"),
        Some("Bearer sk-from-the-environment")
    );

    assert_eq!(
        holding_the_key(&home.home(), &[".local/share/keyrings"]),
        Vec::<String>::new()
    );
    assert_eq!(home.run(&["key", "remove", "WORK_KEY"]).code, 0);
    let again = home.run(&["key", "remove", "WORK_KEY", "--json"]);
    assert_eq!(
        (again.code, again.json()["error"].as_str()),
        (2, Some("key_unknown"))
    );
    let without = home.night_against(&server, &["--api-key-env=WORK_KEY"]);
    assert_eq!(
        without.json()["problem"]["code"],
        "api_key_missing",
        "{}",
        without.out
    );
}

/// Files below `folder` that have the key in them, as far as that can be seen.
fn holding_the_key(folder: &Path, but: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if but.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        if path.is_dir() {
            found.extend(holding_the_key(&path, but));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes
                .windows(KEY.len())
                .any(|window| window == KEY.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_locked_keyring_puts_the_night_off_and_raises_no_dialog() {
    let mut home = Home::with_sample(PROGRAM);
    {
        let mut session = Session::start(&home.home());
        session.keyring(Some(PASSWORD));
        let mut first = Vec::new();
        first.extend(session.variables());
        for (name, value) in &first {
            home.set(name, value);
        }
        let kept = home.run_given(&["key", "set", "WORK_KEY"], KEY);
        assert_eq!(kept.code, 0, "{} {}", kept.out, kept.err);
    }
    let mut session = Session::start(&home.home());
    session.keyring(None);
    in_session(&mut home, &session);
    assert_eq!(
        home.run(&["key", "list", "--json"]).json()["state"],
        "locked"
    );
    let server = StubServer::start();
    server.brain(honest);
    let night = home.night_against(&server, &["--api-key-env=WORK_KEY"]);
    let report = night.json();
    assert_eq!(
        (night.code, report["outcome"].as_str()),
        (75, Some("deferred")),
        "{}",
        night.out
    );
    assert!(night.out.contains("keyring_locked"), "{}", night.out);
    assert!(server.asked().is_empty());
    // One that needs no key does not care.
    assert_eq!(home.run(&["sleep", "run", "--json"]).code, 0);
}

#[test]
fn keys_that_are_kept_at_once_are_all_kept() {
    let mut home = Home::with_sample(PROGRAM);
    let mut session = Session::start(&home.home());
    session.keyring(Some(PASSWORD));
    in_session(&mut home, &session);
    let names: Vec<String> = (0..6).map(|n| format!("KEY_{n}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            let home = &home;
            scope.spawn(move || {
                let kept = home.run_given(&["key", "set", name], KEY);
                assert_eq!(kept.code, 0, "{} {}", kept.out, kept.err);
            });
        }
    });
    let kept = home.run(&["key", "list", "--json"]).json();
    assert_eq!(kept["names"], serde_json::json!(names));
}

#[test]
fn a_dialog_that_is_not_answered_refuses_and_keeps_nothing() {
    let mut home = Home::with_sample(PROGRAM);
    {
        let mut session = Session::start(&home.home());
        session.keyring(Some(PASSWORD));
        in_session(&mut home, &session);
        assert_eq!(home.run_given(&["key", "set", "WORK_KEY"], KEY).code, 0);
    }
    // It wants to ask, and nothing in this session can show its dialog: that is as if it were closed.
    let mut session = Session::start(&home.home());
    session.keyring(None);
    in_session(&mut home, &session);
    let refused = home.run_given(&["key", "set", "OTHER_KEY", "--json"], KEY);
    assert_eq!(refused.json()["error"], "keyring_denied", "{}", refused.out);
}

#[test]
fn a_keyring_that_lets_nobody_in_fails_the_night_with_its_sentence() {
    let mut home = Home::with_sample(PROGRAM);
    let mut session = Session::start_refusing(&home.home(), "org.freedesktop.secrets");
    session.keyring(Some(PASSWORD));
    in_session(&mut home, &session);
    assert_eq!(
        home.run(&["key", "list", "--json"]).json()["state"],
        "denied"
    );
    let refused = home.run_given(&["key", "set", "WORK_KEY", "--json"], KEY);
    assert_eq!(refused.json()["error"], "keyring_denied", "{}", refused.out);
    let server = StubServer::start();
    server.brain(honest);
    let night = home.night_against(&server, &["--api-key-env=WORK_KEY"]);
    let report = night.json();
    assert_eq!(
        (
            report["outcome"].as_str(),
            report["problem"]["code"].as_str()
        ),
        (Some("failed"), Some("keyring_denied")),
        "{}",
        night.out
    );
    assert!(server.asked().is_empty());
}

#[test]
fn without_a_keyring_it_says_so() {
    let mut home = Home::empty(PROGRAM);
    let session = Session::start(&home.home());
    in_session(&mut home, &session);
    assert_eq!(
        home.run(&["key", "list", "--json"]).json()["state"],
        "missing"
    );
    let refused = home.run_given(&["key", "set", "WORK_KEY", "--json"], KEY);
    assert_eq!(refused.json()["error"], "keyring_missing");
    let pasted = home.run_given(&["key", "set", KEY, "--json"], KEY);
    assert_eq!(pasted.json()["error"], "key_name_unusable");
    assert!(!pasted.out.contains(KEY));
    let nothing = home.run_given(&["key", "set", "WORK_KEY", "--json"], " \n");
    assert_eq!(nothing.json()["error"], "key_empty");
}

#[test]
fn a_night_reads_the_keyring_once() {
    let mut home = Home::with_sample(PROGRAM);
    let mut session = Session::start(&home.home());
    session.keyring(Some(PASSWORD));
    in_session(&mut home, &session);
    let kept = home.run_given(&["key", "set", "WORK_KEY"], KEY);
    assert_eq!(kept.code, 0, "{} {}", kept.out, kept.err);
    let log = home.path().join("bus.log");
    session.spawn(
        "/bin/sh",
        &[
            "-c",
            "exec dbus-monitor --address \"$0\" \"type='method_call',member='GetSecret'\" \
             \"type='method_call',member='GetSecrets'\" > \"$1\"",
            session.address().to_owned().as_str(),
            log.to_str().unwrap(),
        ],
        None,
    );
    let said = |words: &str| {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        said.matches(words).count()
    };
    // It loses its name when it begins to listen.
    until("somebody who listens", || {
        (said("member=NameLost") > 0).then_some(())
    });

    let server = StubServer::start();
    server.brain(honest);
    let night = home.night_against(&server, &["--api-key-env=WORK_KEY"]);
    assert_eq!(night.code, 0, "{} {}", night.out, night.err);
    assert!(server.asked().len() > 5, "every question carries the key");
    // The bus keeps the order: whatever the night read stands before this.
    let _ = home.run(&["key", "list"]);
    let read = until("what was read", || {
        let read = said("member=GetSecret");
        (read >= 2).then_some(read)
    });
    assert_eq!(read, 2, "once by the night, once by the list");
}
