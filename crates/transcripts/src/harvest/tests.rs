//! What needs limits that are reached sooner.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillopt_core::agent::Agent;
use skillopt_store::{Store, SystemClock};
use tempfile::TempDir;

use super::*;
use crate::request::{ProjectScope, Scope};

struct Bench {
    home: TempDir,
    store: Store,
    request: Request,
    limits: Limits,
}

impl Bench {
    fn new(limits: Limits) -> Self {
        let home = tempfile::tempdir().unwrap();
        let request = Request {
            homes: Agent::ALL
                .into_iter()
                .map(|agent| (agent, vec![home.path().join(agent.id())]))
                .collect(),
            agents: Agent::ALL.to_vec(),
            project: ProjectScope {
                roots: Vec::new(),
                scope: Scope::All,
            },
            ..Request::default()
        };
        let store = Store::in_memory(Arc::new(SystemClock)).unwrap();
        Self {
            home,
            store,
            request,
            limits,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn append(&self, path: &Path, bytes: &[u8]) {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        file.write_all(bytes).unwrap();
    }

    /// Harvests with the index and from scratch, and compares.
    fn check(&self) -> Harvest {
        let with =
            harvest_within(&self.request, Some(&self.store), &|| false, &self.limits).unwrap();
        let scratch = harvest_within(&self.request, None, &|| false, &self.limits).unwrap();
        assert_eq!(with.sessions, scratch.sessions);
        assert_eq!(with.skipped, scratch.skipped);
        with
    }
}

fn huge_from(bytes: u64) -> Limits {
    Limits {
        huge: bytes,
        ..Limits::default()
    }
}

fn claude_lines() -> Vec<u8> {
    fixture("claude/projects/-home-dana-work-acme-api/7ec72649-5a3f-4723-b59c-e47ad56f7fec.jsonl")
}

fn codex_lines() -> Vec<u8> {
    fixture(
        "codex/sessions/2026/11/29/rollout-2026-11-29T17-07-42-01a22846-dc3d-7bb1-aa75-f52fad91452d.jsonl",
    )
}

fn copilot_lines() -> Vec<u8> {
    fixture("copilot/session-state/13e3412d-674f-4690-ad06-5a1987a3730d/events.jsonl")
}

fn pi_lines() -> Vec<u8> {
    fixture(
        "pi/sessions/--home-dana-work-acme-api--/2026-11-29T17-13-45-866Z_01a2284c-6889-7240-a7b5-3b9ad4b3e64a.jsonl",
    )
}

fn fixture(name: &str) -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/transcripts");
    std::fs::read(fixtures.join(name)).unwrap()
}

#[test]
fn a_huge_file_is_gone_on_with_wherever_it_was_cut() {
    for (name, bytes) in [
        ("claude/projects/-w-app/s1.jsonl", claude_lines()),
        ("codex/sessions/2026/rollout-s1.jsonl", codex_lines()),
        ("copilot/session-state/s1/events.jsonl", copilot_lines()),
        ("pi/sessions/--w-app--/s1.jsonl", pi_lines()),
    ] {
        let bench = Bench::new(huge_from(1));
        let path = bench.path(name);
        let mut done = 0;
        // Steps that end in lines, at line ends, and between the forms of one message.
        for step in [1, 1700, 5000, 3, 20_000, 900, 1, 40_000, usize::MAX] {
            let end = bytes.len().min(done + step.min(bytes.len()));
            if end == done {
                break;
            }
            bench.append(&path, &bytes[done..end]);
            done = end;
            let harvest = bench.check();
            assert_eq!(harvest.files.read, 1);
        }
        assert_eq!(done, bytes.len());
        let last = bench.check();
        assert_eq!(last.files.unchanged, 1);
        assert!(last.sessions[0].human_turns().count() >= 3);
    }
}

/// A log of changes, of which every line can change any turn.
fn vscode_lines() -> Vec<u8> {
    let mut lines = String::from(
        r#"{"kind":0,"v":{"sessionId":"s1","creationDate":1767607200000,"requests":[]}}"#,
    );
    for number in 0..30 {
        let at = 1_767_607_260_000_u64 + number * 60_000;
        lines.push_str(&format!(
            "\n{{\"kind\":2,\"k\":[\"requests\"],\"v\":[{{\"requestId\":\"r{number}\",\"message\":{{\"text\":\"request {number}\"}},\"timestamp\":{at},\"response\":[]}}]}}"
        ));
        lines.push_str(&format!(
            "\n{{\"kind\":2,\"k\":[\"requests\",{number},\"response\"],\"v\":[{{\"value\":\"answer {number}\"}}]}}"
        ));
        // What was asked first is changed last.
        lines.push_str(&format!(
            "\n{{\"kind\":1,\"k\":[\"requests\",0,\"message\",\"text\"],\"v\":\"changed {number} times\"}}"
        ));
    }
    lines.push('\n');
    lines.into_bytes()
}

fn cursor_lines() -> Vec<u8> {
    let mut lines = String::new();
    for number in 0..60 {
        for (role, words) in [
            ("user", "<user_query>go on</user_query>"),
            ("assistant", "done"),
        ] {
            lines.push_str(&format!(
                "{{\"role\":\"{role}\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{words} {number}\"}}]}}}}\n"
            ));
        }
    }
    lines.into_bytes()
}

#[test]
fn a_huge_file_of_an_editor_gives_the_same_wherever_it_was_cut() {
    for (name, bytes, goes_on) in [
        (
            "vscode/User/workspaceStorage/w/chatSessions/s1.jsonl",
            vscode_lines(),
            true,
        ),
        (
            "cursor/projects/w/agent-transcripts/s1/s1.jsonl",
            cursor_lines(),
            false,
        ),
    ] {
        let bench = Bench::new(huge_from(1));
        let path = bench.path(name);
        let mut done = 0;
        let mut continued = 0;
        for (time, step) in [1, 900, 33, 2000, 1, usize::MAX].into_iter().enumerate() {
            let end = bytes.len().min(done + step.min(bytes.len()));
            bench.append(&path, &bytes[done..end]);
            done = end;
            // The same file, written at another time.
            let at =
                std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_767_607_200 + time as u64);
            OpenOptions::new()
                .append(true)
                .open(&path)
                .unwrap()
                .set_modified(at)
                .unwrap();
            continued += bench.check().files.continued;
        }
        assert_eq!(done, bytes.len());
        assert_eq!(continued > 0, goes_on, "{name}");
        let last = bench.check();
        assert_eq!(last.files.unchanged, 1);
        assert!(last.sessions[0].human_turns().count() >= 30);
    }
}

#[test]
fn only_the_new_end_of_a_huge_file_is_read() {
    let bench = Bench::new(huge_from(100_000));
    let path = bench.path("claude/projects/-w-app/s1.jsonl");
    let bytes = claude_lines();
    bench.append(&path, &bytes[..150_000]);
    assert_eq!(bench.check().files.continued, 0);
    bench.append(&path, &bytes[150_000..]);
    let harvest = bench.check();
    assert_eq!(harvest.files.continued, 1);
    assert!(harvest.files.bytes < 60_000, "{:?}", harvest.files);
}

#[test]
fn a_huge_file_that_was_rewritten_is_read_from_its_start() {
    let bench = Bench::new(huge_from(1));
    let path = bench.path("claude/projects/-w-app/s1.jsonl");
    let bytes = claude_lines();
    bench.append(&path, &bytes);
    bench.check();
    for change in [
        // Truncated, replaced by other records, and grown with another past.
        bytes[..80_000].to_vec(),
        fixture(
            "claude/projects/-home-dana-work-acme-api/9fba7ba3-0478-41a3-a71a-2f28ba013e09.jsonl",
        ),
        [&bytes[1000..], &bytes[..]].concat(),
    ] {
        std::fs::remove_file(&path).unwrap();
        bench.append(&path, &change);
        assert_eq!(bench.check().files.continued, 0);
    }
}

#[test]
fn a_compressed_file_is_read_to_the_limit() {
    let bench = Bench::new(Limits {
        decompressed: 100_000,
        ..Limits::default()
    });
    let path = bench.path("claude/projects/-w-app/s1.jsonl.zst");
    bench.append(
        &path,
        &zstd::encode_all(claude_lines().as_slice(), 3).unwrap(),
    );
    let harvest = bench.check();
    assert_eq!(harvest.skipped[&(Agent::Claude, Reason::TooMuch)], 1);
    assert_eq!(
        harvest.skipped.get(&(Agent::Claude, Reason::HalfWritten)),
        None
    );
    assert_eq!(harvest.sessions.len(), 1);
    assert!(harvest.files.bytes <= 100_000);
}

#[test]
fn what_was_read_before_a_stop_is_remembered() {
    let bench = Bench::new(Limits::default());
    let bytes = claude_lines();
    for number in 0..20 {
        bench.append(
            &bench.path(&format!("claude/projects/-w-app/s{number}.jsonl")),
            &bytes,
        );
    }
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 5
    };
    let request = Request {
        threads: 1,
        ..bench.request.clone()
    };
    let problem = harvest_within(&request, Some(&bench.store), &stop, &bench.limits).unwrap_err();
    assert_eq!(problem.code, "harvest_cancelled");
    let harvest = bench.check();
    assert!(
        harvest.files.unchanged > 0 && harvest.files.unchanged < 20,
        "{:?}",
        harvest.files
    );
}
