//! What `doctor`, `sleep harvest` and a night say about the sessions of each agent.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;
use skillopt_core::agent::Agent;
use skillopt_tests::home::{Home, Ran};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");
const THREAD: &str = "01a22847-3db6-71d3-9c36-e48a42ef3d0f";

/// A home in which Claude Code has changed its format and deleted an older session, and Codex is as
/// it was.
fn home() -> Home {
    let home = Home::empty(PROGRAM);
    let project = home.project();
    let project = project.to_str().expect("text");
    let write = |path: &str, lines: &[String]| {
        let path = home.home().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, lines.join("\n") + "\n").expect("a file");
    };
    write(
        ".claude/settings.json",
        &[r#"{"cleanupPeriodDays": 90}"#.to_owned()],
    );
    write(
        ".claude/history.jsonl",
        &[format!(
            r#"{{"display":"Long ago","timestamp":1700000000000,"project":"{project}","sessionId":"gone"}}"#
        )],
    );
    write(
        ".claude/projects/-p/s1.jsonl",
        &[
            format!(
                r#"{{"type":"speech","uuid":"u1","timestamp":"2026-01-05T10:00:00Z","cwd":"{project}","version":"3.0.0","message":{{"role":"user","content":"Write the parser"}}}}"#
            ),
            format!(
                r#"{{"type":"assistant","uuid":"a1","timestamp":"2026-01-05T10:01:00Z","cwd":"{project}","version":"3.0.0","message":{{"id":"m1","role":"assistant","content":[{{"type":"text","text":"Written."}}]}}}}"#
            ),
        ],
    );
    write(
        &format!(".codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-{THREAD}.jsonl"),
        &[
            format!(
                r#"{{"timestamp":"2026-01-05T10:00:00Z","type":"session_meta","payload":{{"id":"{THREAD}","cwd":"{project}","source":"cli"}}}}"#
            ),
            r#"{"timestamp":"2026-01-05T10:01:00Z","type":"event_msg","payload":{"type":"user_message","message":"Write the tests"}}"#.to_owned(),
            r#"{"timestamp":"2026-01-05T10:02:00Z","type":"event_msg","payload":{"type":"agent_message","message":"Written."}}"#.to_owned(),
        ],
    );
    home
}

/// Where the other agents keep their sessions on Linux, below the user's home.
const OTHERS: [(Agent, &str); 7] = [
    (Agent::Copilot, ".copilot"),
    (Agent::Vscode, ".config/Code"),
    (Agent::Cursor, ".cursor"),
    (Agent::Pi, ".pi/agent"),
    (Agent::OpenCode, ".local/share/opencode"),
    (Agent::OpenClaw, ".openclaw"),
    (Agent::Devin, ".local/share/devin/cli"),
];

/// Puts the sessions of every other agent beside those of [`home`], each where it keeps them.
fn add_others(home: &Home) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts");
    for (agent, folder) in OTHERS {
        copy(&fixtures.join(agent.id()), &home.home().join(folder));
    }
}

/// Copies a folder. Every file was written at the same moment, for agents that have no other time.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("folders");
    for entry in fs::read_dir(from).expect("a folder") {
        let from = entry.expect("an entry").path();
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a file");
            fs::File::options()
                .append(true)
                .open(&to)
                .and_then(|file| file.set_modified(UNIX_EPOCH + Duration::from_secs(1_767_607_200)))
                .expect("its time");
        }
    }
}

/// What a command prints under `--json`, with the home folder by another name.
fn json(home: &Home, words: &[&str]) -> Value {
    let ran = home.run(&[words, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    let folder = home.home().canonicalize().expect("a folder");
    let out = ran
        .out
        .replace(folder.to_str().expect("text"), "[home]")
        .replace(home.home().to_str().expect("text"), "[home]");
    Ran { out, ..ran }.json()
}

fn sources(doctor: &Value) -> Vec<&Value> {
    doctor["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["detail"]["agent"].is_string())
        .collect()
}

/// Compares with `fixtures/doctor-sources.json`, or writes it when `SKILLOPT_WRITE_PAGES` is set.
fn same_as_written(findings: &[&Value]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/doctor-sources.json");
    let found = serde_json::to_string_pretty(findings).expect("JSON") + "\n";
    if std::env::var_os("SKILLOPT_WRITE_PAGES").is_some() {
        fs::write(&path, &found).expect("a page");
    }
    let written = fs::read_to_string(&path).expect("a page");
    assert_eq!(
        written, found,
        "look at what changed, then run this test with SKILLOPT_WRITE_PAGES=1"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn doctor_says_what_each_agent_has_and_why_it_may_be_nothing() {
    let home = home();
    add_others(&home);
    let doctor = json(&home, &["doctor"]);
    let sources = sources(&doctor);
    let agents: Vec<&str> = sources
        .iter()
        .filter_map(|source| source["detail"]["agent"].as_str())
        .collect();
    assert_eq!(agents, Agent::ALL.map(Agent::id));
    for source in &sources {
        let newest = &source["detail"]["newest"];
        let agent = &source["detail"]["agent"];
        // Nobody said anything in Claude Code's only session.
        assert_eq!(newest.is_null(), agent == "claude", "{source}");
    }
    same_as_written(&sources);
    let text = home.run(&["doctor"]).out;
    assert!(
        text.contains("!   sessions of Claude Code: In the newest session"),
        "{text}"
    );
    assert!(text.contains("speech (version 3.0.0)"), "{text}");
    assert!(
        text.contains("The newest session of any project was written on 2026-01-05 10:02 UTC."),
        "{text}"
    );
    for place in [
        ".claude/projects.",
        ".codex/sessions; another place is not there.",
    ] {
        assert!(text.contains(place), "{text}");
    }
}

#[test]
fn harvest_says_the_same_of_each_agent() {
    let home = home();
    let doctor = json(&home, &["doctor"]);
    let harvest = json(&home, &["sleep", "harvest", "--all-time"]);
    let details: Vec<Value> = sources(&doctor)
        .into_iter()
        .map(|finding| {
            let mut detail = finding["detail"].clone();
            // Doctor says as well what the first night would leave out for its age.
            let skipped = detail["skipped"].as_array_mut().expect("rows");
            skipped.retain(|row| row["reason"] != "before_since");
            detail
        })
        .collect();
    assert_eq!(harvest["sources"].as_array().unwrap(), &details);
    let text = home.run(&["sleep", "harvest", "--all-time"]).out;
    assert!(text.contains("its format has probably changed"), "{text}");
    assert!(
        text.contains("not known: speech (version 3.0.0) x1."),
        "{text}"
    );
    // One agent alone, and the reference's choice.
    for (source, agents) in [("claude", ["claude"]), ("reference-auto", ["codex"])] {
        let harvest = json(
            &home,
            &["sleep", "harvest", "--all-time", "--source", source],
        );
        let found: Vec<&Value> = harvest["sources"]
            .as_array()
            .unwrap()
            .iter()
            .map(|source| &source["agent"])
            .collect();
        assert_eq!(found, agents, "{source}");
    }
}

/// A session of Claude Code in another home, typed in the project.
fn second_home(home: &Home, name: &str) -> std::path::PathBuf {
    let folder = home.home().join(name);
    let file = folder.join(format!("projects/-p/{name}.jsonl"));
    fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
    let project = home.project();
    let line = format!(
        r#"{{"type":"user","uuid":"{name}","timestamp":"2026-01-06T10:00:00Z","cwd":"{}","version":"2.1.332","message":{{"role":"user","content":"Write the docs of {name}"}}}}"#,
        project.to_str().expect("text")
    );
    fs::write(file, line + "\n").expect("a file");
    folder
}

#[test]
fn an_agent_may_have_several_homes() {
    let home = home();
    let (work, spare) = (second_home(&home, "work"), second_home(&home, "spare"));
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    let claude = |words: &[&str]| -> Value {
        let doctor = json(&home, words);
        let found = sources(&doctor)
            .into_iter()
            .find(|finding| finding["detail"]["agent"] == "claude");
        found.expect("Claude Code").clone()
    };
    let homes = |finding: &Value| -> Vec<String> {
        let looked = finding["detail"]["looked"].as_array().expect("folders");
        let folder = |looked: &Value| looked["folder"].as_str().expect("text").to_owned();
        looked.iter().map(folder).collect()
    };
    // By flags, one of them a second name of the other.
    let again = format!("{}/../work", text(&spare));
    let flags = [
        format!("--claude-home={}", text(&work)),
        format!("--claude-home={again}"),
        format!("--claude-home={}", text(&spare)),
    ];
    let words: Vec<&str> = ["doctor"]
        .into_iter()
        .chain(flags.iter().map(String::as_str))
        .collect();
    let finding = claude(&words);
    assert_eq!(
        homes(&finding),
        ["[home]/work/projects", "[home]/spare/projects"]
    );
    assert_eq!(finding["detail"]["sessions"], 2);
    let message = finding["message"].as_str().expect("a sentence");
    assert!(message.contains("[home]/work, [home]/spare"), "{message}");
    // By the settings file, as a list and as one folder alone.
    let list = format!("{}, {}", text(&work), text(&spare));
    for (value, expected) in [(list, 2), (text(&work), 1)] {
        json(&home, &["config", "set", "reads.claude_home", &value]);
        assert_eq!(homes(&claude(&["doctor"])).len(), expected);
    }
}

#[test]
fn a_dry_run_says_the_same_of_each_agent_as_a_harvest() {
    let home = home();
    for flags in [&[][..], &["--source=codex"]] {
        let dry = json(&home, &[&["sleep", "dry-run"], flags].concat());
        let harvest = json(&home, &[&["sleep", "harvest"], flags].concat());
        assert!(!dry["sources"].as_array().expect("sources").is_empty());
        assert_eq!(dry["sources"], harvest["sources"], "{flags:?}");
    }
}

/// A type that is not known is named even where enough else is read for no warning.
#[test]
fn a_record_that_is_not_known_is_named_with_its_version_and_number() {
    let home = home();
    let file = home.home().join(format!(
        ".codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-{THREAD}.jsonl"
    ));
    let strange = r#"{"timestamp":"2026-01-05T10:03:00Z","type":"dream","payload":{}}"#;
    let mut lines = fs::read_to_string(&file).expect("a rollout");
    lines += &format!("{strange}\n{strange}\n");
    fs::write(&file, lines).expect("a rollout");
    for words in [
        &["doctor"][..],
        &["sleep", "harvest", "--all-time"],
        &["sleep", "dry-run"],
    ] {
        let text = home.run(words).out;
        assert!(text.contains("not known: dream x2."), "{words:?}: {text}");
        assert!(!text.contains("of Codex no word"), "{words:?}: {text}");
    }
}

#[test]
fn a_night_tells_that_a_format_has_changed() {
    let home = home();
    for words in [&["sleep", "run"], &["sleep", "dry-run"]] {
        let report = json(&home, words);
        let notes = report["notes"].to_string();
        assert!(notes.contains("Claude Code no word of a person"), "{notes}");
        assert!(!notes.contains("of Codex no word"), "{notes}");
    }
}

#[test]
fn every_agent_is_a_source_of_every_command_that_reads() {
    let home = home();
    for agent in Agent::ALL {
        for words in [
            &["sleep", "harvest"][..],
            &["sleep", "dry-run"],
            &["sleep", "run"],
        ] {
            let words = [words, &["--source", agent.id()]].concat();
            let ran = home.run(&words);
            assert_eq!(ran.code, 0, "{words:?}: {} {}", ran.out, ran.err);
        }
    }
}
