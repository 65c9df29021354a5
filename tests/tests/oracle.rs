//! `harvest --digests` against what people really typed, on sessions written by real command lines.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts")
}

/// Runs the program in an empty project of a home of its own, on the sessions of these folders, each
/// with its agent.
fn skillopt(homes: &[(&str, &str)], words: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("project")).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(words).args(["--scope", "all"]);
    for (agent, folder) in homes {
        command
            .arg(format!("--{agent}-home"))
            .arg(fixtures().join(folder));
    }
    let output = command
        .current_dir(home.path().join("project"))
        .env_clear()
        .env("HOME", home.path())
        .env("SKILLOPT_DATA_DIR", home.path().join("data"))
        .env("SKILLOPT_CONFIG_DIR", home.path().join("config"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The digests and the counts that `sleep harvest --digests` prints for every project at once.
fn digests(source: &str) -> (Vec<Value>, Value) {
    let words = [
        "sleep",
        "harvest",
        "--digests",
        "--all-time",
        "--source",
        source,
    ];
    let text = skillopt(&[(source, source)], &words);
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let counts = lines.pop().unwrap();
    (lines, counts)
}

/// A session of the oracle.
struct Typed {
    id: String,
    prompts: Vec<String>,
    directory: String,
    /// `None` where the oracle does not say.
    branch: Option<String>,
}

/// The sessions of the oracle, without what an optimizer made and without sub-agents.
fn expected(source: &str) -> Vec<Typed> {
    let oracle: Value =
        serde_json::from_slice(&std::fs::read(fixtures().join("ground-truth.json")).unwrap())
            .unwrap();
    oracle[source]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, session)| session["engine"] != true && session["subagent"] != true)
        .map(|(id, session)| Typed {
            id: id.clone(),
            prompts: session["prompts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|prompt| prompt.as_str().unwrap().to_owned())
                .collect(),
            directory: session["cwd"].as_str().unwrap().to_owned(),
            branch: session["branch"].as_str().map(str::to_owned),
        })
        .collect()
}

/// Compares with `fixtures/digests/`, or writes it when `SKILLOPT_WRITE_PAGES` is set. Every one of
/// them was looked at beside the transcript it is made of.
fn same_as_written(source: &str, digests: &[Value], counts: &Value) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/digests/{source}.json"));
    let all = serde_json::json!({ "digests": digests, "counts": counts });
    let found = serde_json::to_string_pretty(&all).unwrap() + "\n";
    let mut found = found.replace(fixtures().to_str().unwrap(), "[transcripts]");
    // Its transcripts have no times: those of the files stand there.
    if source == "cursor" {
        let written = digests[0]["ended_at"].as_str().unwrap();
        found = found.replace(written, "[when the file was written]");
    }
    if std::env::var_os("SKILLOPT_WRITE_PAGES").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(found.as_bytes()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, found,
        "look at what changed, then run this test with SKILLOPT_WRITE_PAGES=1"
    );
}

fn exact(source: &str) {
    let (found, counts) = digests(source);
    let expected = expected(source);
    let ids: BTreeSet<&str> = found
        .iter()
        .map(|digest| digest["session_id"].as_str().unwrap())
        .collect();
    let wanted: BTreeSet<&str> = expected.iter().map(|typed| typed.id.as_str()).collect();
    assert_eq!(ids, wanted);
    assert_eq!(found.len(), expected.len(), "each once");
    for Typed {
        id,
        prompts,
        directory,
        branch,
    } in &expected
    {
        let digest = found
            .iter()
            .find(|digest| digest["session_id"] == id.as_str())
            .unwrap();
        let redacted: Vec<String> = prompts
            .iter()
            .map(|prompt| skillopt_core::redact::redact(prompt).text.into_owned())
            .collect();
        let found: Vec<&str> = digest["user_prompts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|prompt| prompt.as_str().unwrap())
            .collect();
        assert_eq!(found, redacted, "{id}");
        assert_eq!(digest["n_user_turns"], prompts.len(), "{id}");
        assert_eq!(digest["project"], directory.as_str(), "{id}");
        if let Some(branch) = branch {
            assert_eq!(digest["git_branch"], branch.as_str(), "{id}");
        }
    }
    assert!(
        !counts["skipped"].as_array().unwrap().is_empty(),
        "what was left out is counted"
    );
    same_as_written(source, &found, &counts);
}

#[test]
fn every_agent_is_in_the_oracle_and_in_this_file() {
    let oracle: Value =
        serde_json::from_slice(&std::fs::read(fixtures().join("ground-truth.json")).unwrap())
            .unwrap();
    let digests = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/digests");
    for agent in skillopt_core::agent::Agent::ALL {
        assert!(oracle[agent.id()].is_object(), "{agent}");
        let snapshot = digests.join(format!("{}.json", agent.id()));
        assert!(snapshot.is_file(), "{agent} has no snapshot");
    }
}

#[test]
fn claude_code_is_exact() {
    exact("claude");
}

#[test]
fn codex_is_exact() {
    exact("codex");
}

#[test]
fn copilot_cli_is_exact() {
    exact("copilot");
}

#[test]
fn copilot_chat_is_exact() {
    exact("vscode");
}

#[test]
fn cursor_is_exact() {
    exact("cursor");
}

#[test]
fn pi_is_exact() {
    exact("pi");
}

#[test]
fn opencode_is_exact() {
    exact("opencode");
}

#[test]
fn openclaw_is_exact() {
    exact("openclaw");
}

#[test]
fn devin_is_exact() {
    exact("devin");
}

#[test]
fn secrets_never_reach_the_digests() {
    for source in ["claude", "copilot", "pi"] {
        let (found, _) = digests(source);
        let text = serde_json::to_string(&found).unwrap();
        assert!(!text.contains("sk-proj-Fk3"), "{source}: a key was printed");
        assert!(
            text.contains("[REDACTED"),
            "{source}: the place where it stood is marked"
        );
    }
}

#[test]
fn a_first_night_on_real_sessions_shows_suggestions_and_what_is_missing() {
    let text = skillopt(
        &[("claude", "claude"), ("codex", "codex")],
        &["sleep", "run", "--json", "--lookback-hours", "0"],
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    // Coding sessions: every request needed files or tools, which is said, not scored.
    assert_eq!(report["outcome"], "nothing_to_do", "{report}");
    assert!(report["n_sessions"].as_u64() > Some(10), "{report}");
    assert!(
        report["not_replayable"]["needs files"].as_u64() > Some(0),
        "{report}"
    );
    let suggestions = report["suggestions"].as_array().unwrap();
    assert!(
        suggestions
            .iter()
            .any(|row| row["words"].as_str().unwrap().contains("snake_case")),
        "{suggestions:?}"
    );
    assert!(!report["missing"].as_array().unwrap().is_empty());
    assert_eq!(report["spend"]["calls"], 0);
}

#[test]
fn sessions_an_optimizer_made_are_absent() {
    let words = ["sleep", "harvest", "--digests", "--all-time"];
    let homes = [("claude", "engine-claude"), ("codex", "engine-codex")];
    let text = skillopt(&homes, &words);
    assert_eq!(text.lines().count(), 1, "only the counts: {text}");
    assert!(
        text.contains("engine_call") || text.contains("own_call"),
        "{text}"
    );
}
