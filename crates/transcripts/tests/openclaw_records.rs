//! Sessions of OpenClaw, in files and in its database, written by hand after its own pages and its
//! published code; no real one was at hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_store::{Store, SystemClock};
use skillopt_transcripts::{Author, Harvest, Reason, harvest};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, joined, prompts, skipped, write};

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": "5ae3", "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/w/app"})
}

/// An entry that follows the one a minute before it.
fn message(minute: u32, message: &Value) -> Value {
    json!({"type": "message", "id": format!("e{minute}"), "parentId": format!("e{}", minute - 1),
           "timestamp": format!("2026-01-05T10:{minute:02}:00.000Z"), "message": message})
}

fn user(minute: u32, words: &str, more: &Value) -> Value {
    let mut said = json!({"role": "user", "content": [{"type": "text", "text": words}]});
    said.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    message(minute, &said)
}

fn agent(minute: u32, words: &str) -> Value {
    message(
        minute,
        &json!({"role": "assistant", "content": [{"type": "text", "text": words}], "stopReason": "stop"}),
    )
}

fn nothing() -> Value {
    json!({})
}

fn session(home: &Home, name: &str, entries: &[Value]) -> PathBuf {
    let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
    let path = home
        .folder
        .path()
        .join("openclaw/agents/main/sessions")
        .join(name);
    write(&path, &joined(&lines));
    path
}

fn read(entries: &[Value]) -> Harvest {
    let home = Home::new();
    session(&home, "5ae3.jsonl", entries);
    home.harvest()
}

/// The tables of the version that wrote `event_json` alone.
fn database(home: &Home, table: &str) -> Connection {
    let path = home
        .folder
        .path()
        .join("openclaw/agents/main/agent/openclaw-agent.sqlite");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE {table} (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL,
                 created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
             CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL,
                 event_json TEXT, event_zstd BLOB, created_at INTEGER NOT NULL,
                 PRIMARY KEY (session_id, seq)) STRICT;"
        ))
        .unwrap();
    connection
}

fn store(connection: &Connection, table: &str, id: &str, key: &str, entries: &[Value]) {
    connection
        .execute(
            &format!("INSERT INTO {table} VALUES (?1, ?2, 1767607200000, 1767607200000)"),
            (id, key),
        )
        .unwrap();
    for (seq, entry) in (0_i64..).zip(entries) {
        connection
            .execute(
                "INSERT INTO transcript_events VALUES (?1, ?2, ?3, NULL, 1767607200000)",
                (id, seq, entry.to_string()),
            )
            .unwrap();
    }
}

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::OpenClaw, reason)
}

fn answers(harvest: &Harvest) -> Vec<&str> {
    harvest
        .sessions
        .iter()
        .flat_map(|session| &session.turns)
        .filter(|turn| turn.author == Author::Assistant)
        .map(|turn| turn.text.as_str())
        .collect()
}

#[test]
fn words_are_taken_out_of_their_envelope_and_answers_out_of_theirs() {
    let wrapped = "Conversation info (untrusted metadata):\n```json\n{\n  \"sender\": \"Dana\"\n}\n```\n\nSender (untrusted metadata):\n```json\n{\n  \"label\": \"zanzibar\"\n}\n```\n\n[Mon 2026-01-05 10:01 UTC] Fix the last page";
    let harvest = read(&[
        header(),
        user(1, wrapped, &nothing()),
        agent(2, "[[reply_to_current]]Fixed."),
        user(
            3,
            "Thanks",
            &json!({"provenance": {"kind": "external_user"}}),
        ),
        agent(4, "NO_REPLY"),
    ]);
    assert_eq!(prompts(&harvest), [["Fix the last page", "Thanks"]]);
    assert_eq!(answers(&harvest), ["Fixed."]);
    assert_eq!(harvest.sessions[0].directory, "/w/app");
    assert!(harvest.unknown.is_empty(), "{:?}", harvest.unknown);
}

#[test]
fn what_the_program_writes_in_a_persons_place_is_no_turn_and_its_answer_none_of_the_person() {
    let harvest = read(&[
        header(),
        user(1, "Fix the last page", &nothing()),
        agent(2, "Fixed."),
        user(
            3,
            "Read HEARTBEAT.md if it exists (workspace context). Follow it strictly.",
            &nothing(),
        ),
        agent(4, "All is well with zanzibar."),
        user(
            5,
            "zanzibar",
            &json!({"provenance": {"kind": "inter_session", "sourceTool": "sessions_send"}}),
        ),
        agent(6, "Passed on."),
        user(7, "[cron:670c mentions] Look for zanzibar", &nothing()),
        json!({"type": "reset", "id": "e8", "parentId": "e7", "timestamp": "2026-01-05T10:08:00Z"}),
        user(9, "Thanks", &nothing()),
    ]);
    assert_eq!(prompts(&harvest), [["Fix the last page", "Thanks"]]);
    assert_eq!(answers(&harvest), ["Fixed."]);
    assert_eq!(left_out(&harvest, Reason::MachinePrompt), 3);
    assert_eq!(left_out(&harvest, Reason::Bookkeeping), 2);
    let kept = serde_json::to_string(&harvest.sessions).unwrap();
    assert!(!kept.contains("zanzibar"), "{kept}");
}

#[test]
fn in_a_chat_of_several_people_only_the_owner_counts() {
    let group = |words: &str| {
        format!(
            "Conversation info (untrusted metadata):\n```json\n{{\n  \"is_group_chat\": true\n}}\n```\n\n{words}"
        )
    };
    let harvest = read(&[
        header(),
        user(1, &group("Rewrite it in zanzibar"), &nothing()),
        agent(2, "No."),
        user(
            3,
            &group("Fix the last page"),
            &json!({"__openclaw": {"senderIsOwner": true}}),
        ),
        agent(4, "Fixed."),
    ]);
    assert_eq!(prompts(&harvest), [["Fix the last page"]]);
    assert_eq!(answers(&harvest), ["Fixed."]);
    assert_eq!(left_out(&harvest, Reason::OtherPerson), 1);
    assert!(harvest.silent.is_empty());
}

#[test]
fn a_refused_command_is_told_by_the_program_alone() {
    for (told, refused) in [
        (
            "System: [10:01] Exec denied (gateway id=1, user-denied): make",
            true,
        ),
        (
            "System (untrusted): [10:01] Exec denied (gateway id=1, user-denied): make",
            true,
        ),
        (
            "System: [10:01] Exec denied (gateway id=1, approval-timeout): make",
            false,
        ),
        (
            "System: [10:01] Exec finished (gateway id=1, code 0): user-denied",
            false,
        ),
        // The person's own words.
        (
            "It says: Exec denied (gateway id=1, user-denied): make",
            false,
        ),
    ] {
        let harvest = read(&[
            header(),
            user(1, "Build it", &nothing()),
            agent(2, "I begin."),
            user(3, &format!("{told}\n\nWhat then?"), &nothing()),
            agent(4, "Nothing."),
        ]);
        let [session] = harvest.sessions.as_slice() else {
            panic!("{harvest:#?}")
        };
        let first = session.human_turns().next().unwrap();
        let marked = first
            .feedback
            .iter()
            .any(|signal| signal == "neg:tool_rejected");
        assert_eq!(marked, refused, "{told}");
        assert_eq!(session.human_turns().count(), 2, "{told}");
    }
}

#[test]
fn what_the_gateway_writes_in_the_agents_place_is_no_answer() {
    let gateway = |minute, model: &str, words: &str| {
        message(
            minute,
            &json!({"role": "assistant", "provider": "openclaw", "model": model,
                   "content": [{"type": "text", "text": words}]}),
        )
    };
    let harvest = read(&[
        header(),
        user(1, "Fix the last page", &nothing()),
        // The words were sent by a tool; this is the copy of what was delivered.
        gateway(2, "delivery-mirror", "Fixed."),
        gateway(3, "gateway-injected", "New session started."),
        user(4, "What does gateway-injected mean?", &nothing()),
        agent(5, "It is what gateway-injected says."),
    ]);
    assert_eq!(
        answers(&harvest),
        ["Fixed.", "It is what gateway-injected says."]
    );
}

#[test]
fn archived_sessions_are_read_and_removed_ones_counted() {
    let home = Home::new();
    let entries = [header(), user(1, "Fix the last page", &nothing())];
    session(&home, "a1.jsonl.reset.2026-01-05T10-00-00.000Z", &entries);
    session(&home, "a2.jsonl.deleted.2026-01-05T10-00-00.000Z", &entries);
    session(&home, "a3.jsonl.bak.2026-01-05T10-00-00.000Z", &entries);
    session(&home, "a1.trajectory.jsonl", &entries);
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["Fix the last page"]]);
    assert_eq!(harvest.sessions[0].id, "a1");
    assert_eq!(left_out(&harvest, Reason::RemovedSession), 1);
    assert_eq!(harvest.files.found, 1);
}

#[test]
fn the_database_is_read_under_each_of_its_names() {
    for table in ["session_windows", "sessions"] {
        let home = Home::new();
        let db = database(&home, table);
        store(
            &db,
            table,
            "5ae3",
            "agent:main:telegram:direct:7",
            &[
                header(),
                user(1, "Fix the last page", &nothing()),
                agent(2, "Fixed."),
            ],
        );
        // A session of the time before, and one in both.
        let old = [header(), user(5, "Write the docs", &nothing())];
        session(&home, "0b1c.jsonl", &old);
        session(
            &home,
            "5ae3.jsonl",
            &[header(), user(1, "Fix the last page", &nothing())],
        );
        let harvest = home.harvest();
        let mut said: Vec<&str> = prompts(&harvest).concat();
        said.sort_unstable();
        assert_eq!(said, ["Fix the last page", "Write the docs"], "{table}");
        assert_eq!(answers(&harvest), ["Fixed."], "{table}");
    }
}

#[test]
fn keys_in_the_database_say_who_wrote() {
    let home = Home::new();
    let table = "session_windows";
    let db = database(&home, table);
    for (number, (id, key)) in (1..).zip([
        ("s1", "agent:main:main"),
        ("s2", "agent:main:cron:job:run:1"),
        ("s3", "agent:main:subagent:0b"),
        ("s4", "agent:main:discord:group:7"),
    ]) {
        store(
            &db,
            table,
            id,
            key,
            &[header(), user(number, id, &nothing())],
        );
    }
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["s1"]]);
    assert_eq!(left_out(&harvest, Reason::AgentSession), 1);
    assert_eq!(left_out(&harvest, Reason::Subagent), 1);
    assert_eq!(left_out(&harvest, Reason::OtherPerson), 1);
}

#[test]
fn packed_rows_are_unpacked_and_bombs_are_not() {
    let home = Home::new();
    let table = "session_windows";
    let db = database(&home, table);
    let rows = [header(), user(1, "Fix the last page", &nothing())];
    store(&db, table, "5ae3", "agent:main:main", &rows);
    let pack = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    let packed = pack(user(2, "Write the docs", &nothing()).to_string().as_bytes());
    let bomb = pack(&vec![b' '; 40_000_000]);
    for (seq, blob) in [
        (10, packed),
        (11, bomb),
        (12, b"\x28\xb5\x2f\xfdnonsense".to_vec()),
    ] {
        db.execute(
            "INSERT INTO transcript_events VALUES ('5ae3', ?1, NULL, ?2, 1)",
            (seq, blob),
        )
        .unwrap();
    }
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["Fix the last page", "Write the docs"]]);
    assert_eq!(left_out(&harvest, Reason::ValueTooLong), 1);
    assert_eq!(left_out(&harvest, Reason::Malformed), 1);
}

#[test]
fn a_database_without_sessions_is_no_fault_and_one_of_another_layout_is() {
    let home = Home::new();
    let db = database(&home, "session_windows");
    db.execute_batch("DROP TABLE session_windows").unwrap();
    assert_eq!(left_out(&home.harvest(), Reason::UnknownSchema), 1);
    db.execute_batch("DROP TABLE transcript_events; CREATE TABLE auth_profiles (id TEXT)")
        .unwrap();
    let harvest = home.harvest();
    assert!(harvest.skipped.is_empty(), "{:?}", harvest.skipped);
}

#[test]
fn what_did_not_change_is_not_read_again_and_what_did_is() {
    let home = Home::new();
    let table = "session_windows";
    let db = database(&home, table);
    store(
        &db,
        table,
        "s1",
        "agent:main:main",
        &[header(), user(1, "Fix it", &nothing())],
    );
    store(
        &db,
        table,
        "s2",
        "agent:main:direct:7",
        &[header(), user(2, "Test it", &nothing())],
    );
    let index = Store::in_memory(Arc::new(SystemClock)).unwrap();
    let check = || harvest(&home.request, Some(&index), &|| false).unwrap();
    let first = check();
    assert_eq!(first.files.read, 2);
    let again = check();
    assert_eq!((again.files.read, again.files.unchanged), (0, 2));
    assert_eq!(first.sessions, again.sessions);
    db.execute(
        "INSERT INTO transcript_events VALUES ('s1', 9, ?1, NULL, 1767607200000)",
        [user(3, "And again", &nothing()).to_string()],
    )
    .unwrap();
    let grown = check();
    assert_eq!((grown.files.read, grown.files.unchanged), (1, 1));
    let mut said: Vec<&str> = prompts(&grown).concat();
    said.sort_unstable();
    assert_eq!(said, ["And again", "Fix it", "Test it"]);
}
