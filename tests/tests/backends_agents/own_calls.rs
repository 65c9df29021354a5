//! Calls of ours that a program keeps as sessions although it was told to keep none: by each of the marks
//! that they carry, our readers leave them out.

use std::path::Path;

use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_models::{Backend as _, CancelToken};
use skillopt_tests::stub_cli::{Dialect, Mode};
use skillopt_transcripts::{Harvest, Homes, ProjectScope, Reason, Request, Scope, harvest};

use super::agents::options;
use super::question::call;
use super::{install, open};

const QUESTION: &str = "Please rename the flag.";
const AT: &str = "2026-01-05T10:01:00.000Z";

const fn agent(dialect: Dialect) -> Agent {
    match dialect {
        Dialect::Claude => Agent::Claude,
        Dialect::Codex => Agent::Codex,
        Dialect::Copilot => Agent::Copilot,
        Dialect::Cursor => Agent::Cursor,
        Dialect::OpenCode => Agent::OpenCode,
        Dialect::Pi => Agent::Pi,
    }
}

/// Writes the session that the program would keep below `home` of these prompts, typed in `directory`.
fn keep(dialect: Dialect, home: &Path, directory: &str, prompts: &[&str]) {
    let each = |record: &dyn Fn(usize, &str) -> Value| -> Vec<Value> {
        let numbered = prompts.iter().enumerate();
        numbered
            .map(|(number, words)| record(number, words))
            .collect()
    };
    let text = |words: &str| json!([{"type": "text", "text": words}]);
    let (path, start, records) = match dialect {
        Dialect::Claude => (
            "projects/-w-app/s1.jsonl",
            None,
            each(&|number, words| {
                json!({
                    "parentUuid": null, "isSidechain": false, "type": "user", "uuid": format!("u{number}"),
                    "message": {"role": "user", "content": words}, "timestamp": AT, "sessionId": "s1",
                    "origin": {"kind": "human"}, "promptSource": "sdk", "entrypoint": "sdk-cli",
                    "cwd": directory, "version": "2.1.332",
                })
            }),
        ),
        Dialect::Codex => (
            "sessions/2026/01/05/rollout-2026-01-05T10-00-00-01a22847-3db6-71d3-9c36-e48a42ef3d0f.jsonl",
            Some(json!({"timestamp": AT, "type": "session_meta", "payload": {
                "id": "01a22847-3db6-71d3-9c36-e48a42ef3d0f", "cwd": directory, "source": "exec"}})),
            each(&|number, words| {
                json!({"timestamp": AT, "type": "event_msg", "payload": {"type": "item_completed",
                    "item": {"type": "UserMessage", "id": format!("i{number}"), "content": text(words)}}})
            }),
        ),
        Dialect::Copilot => (
            "session-state/c1/events.jsonl",
            Some(json!({"type": "session.start", "id": "e", "timestamp": AT,
                "data": {"sessionId": "c1", "context": {"cwd": directory}}})),
            each(&|number, words| {
                json!({"type": "user.message", "id": format!("e{number}"), "timestamp": AT,
                    "data": {"content": words, "delivery": "idle"}})
            }),
        ),
        Dialect::Cursor => {
            let trusted = json!({"workspacePath": directory});
            write(&home.join("projects/w-app/.workspace-trusted"), &[trusted]);
            (
                "projects/w-app/agent-transcripts/c1/c1.jsonl",
                None,
                each(&|_, words| {
                    let words = format!("<user_query>\n{words}\n</user_query>");
                    json!({"role": "user", "message": {"content": text(&words)}})
                }),
            )
        }
        Dialect::OpenCode => return keep_in_database(home, directory, prompts),
        Dialect::Pi => (
            "sessions/--w-app--/p1.jsonl",
            Some(
                json!({"type": "session", "version": 3, "id": "p1", "timestamp": AT, "cwd": directory}),
            ),
            each(&|number, words| {
                let parent = number.checked_sub(1).map(|before| format!("m{before}"));
                json!({"type": "message", "id": format!("m{number}"), "parentId": parent, "timestamp": AT,
                    "message": {"role": "user", "content": text(words)}})
            }),
        ),
    };
    let lines: Vec<Value> = start.into_iter().chain(records).collect();
    write(&home.join(path), &lines);
}

#[expect(clippy::disallowed_methods, reason = "a test writes its own files")]
fn write(path: &Path, lines: &[Value]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, lines).unwrap();
}

/// OpenCode's database, as 1.18.33 lays it out.
fn keep_in_database(home: &Path, directory: &str, prompts: &[&str]) {
    std::fs::create_dir_all(home).unwrap();
    let db = rusqlite::Connection::open(home.join("opencode.db")).unwrap();
    let at = 1_767_607_260_000_i64;
    db.execute_batch(
        "CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
             directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text, agent text,
             time_created integer NOT NULL, time_updated integer NOT NULL);
         CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
             time_updated integer NOT NULL, data text NOT NULL);
         CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
             time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
         CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
         CREATE INDEX part_message_id_id_idx ON part (message_id, id);
         CREATE INDEX part_session_idx ON part (session_id);",
    )
    .unwrap();
    db.execute(
        "INSERT INTO session VALUES ('ses_1', 'p', NULL, ?1, 'skillopt', '1.18.33', NULL, 'skillopt', ?2, ?2)",
        (directory, at),
    )
    .unwrap();
    for (number, words) in prompts.iter().enumerate() {
        let (message, part) = (format!("msg_{number}"), format!("prt_{number}"));
        let said = json!({"role": "user", "time": {"created": at}}).to_string();
        db.execute(
            "INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)",
            (&message, at, said),
        )
        .unwrap();
        let words = json!({"type": "text", "text": words}).to_string();
        db.execute(
            "INSERT INTO part VALUES (?1, ?2, 'ses_1', ?3, ?3, ?4)",
            (part, message, at, words),
        )
        .unwrap();
    }
}

fn read(dialect: Dialect, home: &Path) -> Harvest {
    let request = Request {
        homes: Homes::from_iter([(agent(dialect), vec![home.to_owned()])]),
        agents: vec![agent(dialect)],
        project: ProjectScope {
            roots: Vec::new(),
            scope: Scope::All,
        },
        threads: 1,
        ..Request::default()
    };
    harvest(&request, None, &|| false).unwrap()
}

#[tokio::test]
async fn a_call_that_a_program_keeps_is_left_out_by_any_of_its_marks() {
    for dialect in Dialect::ALL {
        let stub = install(dialect, [Mode::reply("OK.")]);
        let backend = open(dialect, options(stub.path())).await.unwrap();
        let asked = backend.ask(&call(QUESTION), &CancelToken::new()).await;
        assert_eq!(asked.unwrap().text, "OK.");
        let called = stub.asked().pop().unwrap();
        let folder = called.directory.to_str().unwrap();
        let input = called.input.as_str();
        assert!(input.contains(QUESTION));
        let long = format!("{input}\n{}", "And the other one. ".repeat(20_000));
        // Where, what, and whether it is a call of ours.
        for (directory, prompts, ours) in [
            ("/w/app", vec![QUESTION], false),
            ("/w/app", vec![input], true),
            (folder, vec![QUESTION], true),
            // A reader keeps the beginning of what is long.
            ("/w/app", vec![long.as_str()], true),
            // Somebody opened it and went on.
            (
                "/w/app",
                vec![input, "And now in the docs.", "Thanks."],
                true,
            ),
        ] {
            let home = tempfile::tempdir().unwrap();
            keep(dialect, home.path(), directory, &prompts);
            let found = read(dialect, home.path());
            let at = format!("{dialect:?} in {directory}: {} prompts", prompts.len());
            assert_eq!(
                found.sessions.len(),
                usize::from(!ours),
                "{at}: {:?}",
                found.skipped
            );
            let left_out = found.skipped.get(&(agent(dialect), Reason::OwnCall));
            assert_eq!(
                left_out.copied(),
                ours.then_some(1),
                "{at}: {:?}",
                found.skipped
            );
        }
    }
}
