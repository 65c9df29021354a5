//! `skillopt daemon` and what goes with it, as a user runs them.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use skillopt_tests::brain::honest;
use skillopt_tests::desktop::until;
use skillopt_tests::home::Home;
use skillopt_tests::stub_server::{Behaviour, StubServer};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// A home whose computer has no bus, and nights without conditions.
fn home() -> Home {
    let mut home = Home::with_sample(PROGRAM);
    home.set("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere");
    home.set("SKILLOPT_BATTERY_AT_LEAST", "0");
    home.set("SKILLOPT_UNMETERED_ONLY", "false");
    home.set("SKILLOPT_KEEP_AWAKE", "false");
    assert_eq!(home.run(&["project", "add"]).code, 0);
    home
}

/// A daemon that is ended with the test.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn daemon(home: &Home) -> (Daemon, impl Iterator<Item = Value>) {
    let mut child = Command::new(PROGRAM)
        .args(["daemon", "--json"])
        .current_dir(home.project())
        .env_clear()
        .env("HOME", home.home())
        .env("PATH", "/usr/bin:/bin")
        .env("SKILLOPT_DATA_DIR", home.data())
        .env("SKILLOPT_CONFIG_DIR", home.home().join("skillopt-config"))
        .env("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nowhere")
        .env("SKILLOPT_KEEP_AWAKE", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the daemon starts");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let states = lines.map(|line| {
        serde_json::from_str(&line.expect("a line")).expect("every line is one document")
    });
    (Daemon(child), states)
}

#[test]
fn the_daemon_runs_what_is_asked_for_and_ends_when_it_is_told_to() {
    let home = home();
    let nobody = home.run(&["status", "--json"]).json();
    assert_eq!(nobody["supervising"]["by"], "nobody");
    let (mut daemon, mut states) = daemon(&home);
    assert!(states.any(|state| state["supervising"]["by"] == "here"));
    assert_eq!(
        home.run(&["status", "--json"]).json()["supervising"]["by"],
        "another"
    );

    let asked = home.run(&["night", "start", "--json"]).json();
    assert_eq!(asked["supervised"], true, "{asked}");
    assert!(states.any(|state| state["overall"] == "working"));
    let done = states.find(|state| state["projects"][0]["last"]["outcome"] == "proposed");
    assert_eq!(done.expect("a proposal")["pending_proposals"], 1);

    // A second one says who starts nights, and ends without doing anything.
    let second = home.run(&["daemon", "--once"]);
    assert_eq!(second.code, 0);
    assert!(
        second.err.contains("Another process starts the nights"),
        "{}",
        second.err
    );

    let pid = daemon.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .expect("kill")
            .success()
    );
    // Whatever it still says, no night runs any more.
    assert!(states.all(|state| state["projects"][0]["running"].is_null()));
    assert!(daemon.0.wait().expect("it ends").success());
    assert_eq!(
        home.run(&["status", "--json"]).json()["supervising"]["by"],
        "nobody"
    );
}

#[test]
fn a_night_at_work_says_how_long_it_still_takes() {
    let server = StubServer::start();
    server
        .brain(honest)
        .standing(Behaviour::Answer.after(Duration::from_secs(1)));
    let home = home();
    for (key, value) in [
        ("models.backend", "openai_compatible"),
        ("models.model", "stub"),
        ("models.endpoint", &server.url()),
        ("models.concurrency", "1"),
        ("mines.model_miner", "false"),
    ] {
        assert_eq!(home.run(&["config", "set", key, value]).code, 0, "{key}");
    }
    let (daemon, mut states) = daemon(&home);
    assert_eq!(home.run(&["night", "start"]).code, 0);
    let known = |state: &Value| {
        let running = &state["projects"][0]["running"];
        running["seconds_left"]
            .as_u64()
            .is_some_and(|left| left > 0)
    };
    let state = states.find(known).expect("a night with a pace");
    let running = &state["projects"][0]["running"];
    assert!(
        running["calls_expected"].as_u64() > running["calls_of_night"].as_u64(),
        "{running}"
    );
    assert_eq!(state["first_line"]["seconds_left"], running["seconds_left"]);
    let sentence = state["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("at most about"), "{sentence}");
    let said = home.run(&["status"]).out;
    assert!(said.contains(", at most about "), "{said}");
    drop(daemon);
    assert_eq!(home.run(&["night", "cancel"]).code, 0);
    until("the end of the night", || {
        let state = home.run(&["status", "--json"]).json();
        state["projects"][0]["running"].is_null().then_some(())
    });
}

#[test]
fn cron_and_daemon_run_the_night_of_a_date_once() {
    let mut home = home();
    home.set("SKILLOPT_RANDOM_DELAY_MINUTES", "0");
    home.set("SKILLOPT_TIME_ZONE", "UTC");
    // Its time came some minutes to an hour ago.
    let hour = jiff::tz::TimeZone::UTC
        .to_datetime(jiff::Timestamp::now())
        .hour();
    home.set("SKILLOPT_HOUR", &hour.to_string());
    home.set("SKILLOPT_MINUTE", "0");
    let by_cron = ["sleep", "run", "--scheduled", "--json"];
    assert_eq!(home.run(&by_cron).json()["outcome"], "proposed");
    let again = home.run(&by_cron);
    assert_eq!(again.code, 0, "{}", again.err);
    let again = again.json();
    assert_eq!(again["outcome"], "nothing_to_do");
    assert!(again.to_string().contains("has already run"), "{again}");
    // The daemon knows as well, although the rule has held for long.
    assert_eq!(home.run(&["daemon", "--once"]).code, 0);
    let database = rusqlite::Connection::open(home.data().join("skillopt.db")).expect("a database");
    let changed = database.execute("UPDATE schedule_rule SET since = 0", []);
    assert_eq!(changed.expect("a rule"), 1);
    drop(database);
    let state = home.run(&["daemon", "--once", "--json"]).json();
    assert_eq!(state["projects"][0]["due"], false, "{state:#}");
    assert_eq!(
        home.run(&["night", "list", "--json"])
            .json()
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    // A night of one's own always runs.
    assert!(!home.run(&["sleep", "run"]).out.contains("has already run"));
}

#[test]
fn a_pause_is_said_everywhere_and_ended() {
    let home = home();
    for (word, code) in [("1h", 0), ("tomorrow", 0), ("2099-01-01", 0), ("soon", 2)] {
        let ran = home.run(&["pause", word]);
        assert_eq!(ran.code, code, "{word}: {} {}", ran.out, ran.err);
    }
    let state = home.run(&["status", "--json"]).json();
    assert_eq!(state["overall"], "paused");
    assert_eq!(state["pause"]["kind"], "until");
    let once = home.run(&["daemon", "--once"]);
    assert!(once.out.contains("Paused until 1 Jan 2099"), "{}", once.out);
    assert!(home.run(&["resume"]).out.contains("again"));
    assert!(home.run(&["resume"]).out.contains("Nothing was paused"));
    assert_eq!(home.run(&["status", "--json"]).json()["pause"], Value::Null);
}

#[test]
fn a_night_that_must_be_over_stops_in_time_and_its_date_is_done() {
    let home = home();
    let slot = "2026-06-10T03:17:00";
    let request = serde_json::json!({
        "project": home.project(), "tasks_file": null,
        "scheduled": {"slot": slot, "caught_up": false, "finish_by": "2026-06-10T07:00:00Z"},
    });
    let request = request.to_string();
    let ran = home.run(&["sleep", "run", "--json", "--request", &request]);
    let report = ran.json();
    assert_eq!(report["outcome"], "deferred", "{report:#}");
    assert!(
        report["reason"]
            .as_str()
            .expect("words")
            .contains("Its time was over")
    );
    assert_eq!(ran.code, 75);
    let again = home
        .run(&["sleep", "run", "--json", "--request", &request])
        .json();
    assert_eq!(again["outcome"], "nothing_to_do", "{again:#}");
    // The next night goes on with it.
    let next = request
        .replace("06-10", "06-11")
        .replace("\"2026-06-11T07:00:00Z\"", "null");
    let next = home
        .run(&["sleep", "run", "--json", "--request", &next])
        .json();
    assert_eq!(
        (&next["outcome"], &next["resumed"]),
        (&"proposed".into(), &true.into()),
        "{next:#}"
    );
    let wrong = home.run(&["sleep", "run", "--json", "--request", "{"]);
    assert_eq!(
        (wrong.code, &wrong.json()["error"]),
        (2, &"invalid_selection".into())
    );
}

fn unit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../installers/systemd/skillopt.service")
}

#[test]
fn the_systemd_unit_starts_a_command_there_is() {
    let text = std::fs::read_to_string(unit()).expect("the unit");
    let start = text
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="))
        .expect("what it starts");
    let words: Vec<&str> = start.split_whitespace().collect();
    assert_eq!(words[..2], ["/usr/bin/env", "skillopt"]);
    let home = Home::empty(PROGRAM);
    let help = home.run(&[&words[2..], &["--help"]].concat());
    assert_eq!(help.code, 0, "{}", help.err);
    assert!(help.out.contains("--once"), "{}", help.out);
    // The system gives it longer than a night may take to end.
    let patience = text
        .lines()
        .find_map(|line| line.strip_prefix("TimeoutStopSec="));
    assert!(patience.and_then(|seconds| seconds.parse::<u32>().ok()) > Some(20));
    // Where systemd is, it has nothing to say against the unit.
    let verify = Command::new("systemd-analyze")
        .args(["--user", "verify"])
        .arg(unit())
        .env("XDG_RUNTIME_DIR", home.path())
        .output();
    if let Ok(verify) = verify {
        let said = String::from_utf8_lossy(&verify.stderr);
        let about_it: Vec<&str> = said
            .lines()
            .filter(|line| line.contains("skillopt.service"))
            .collect();
        assert!(about_it.is_empty(), "{about_it:?}");
    }
}
