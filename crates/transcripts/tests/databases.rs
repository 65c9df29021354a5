//! Databases: what is remembered gives the same as reading everything again, and nothing in one makes
//! a harvest fail.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::json;
use skillopt_core::agent::Agent;
use skillopt_store::{Store, SystemClock};
use skillopt_transcripts::{Harvest, Homes, Reason, Request, harvest};

#[path = "support/homes.rs"]
mod homes;
#[path = "support/opencode.rs"]
mod opencode;

use homes::{prompts, skipped, write};
use opencode::{OpenCode, answered, message, said, session, text};

fn store() -> Store {
    Store::in_memory(Arc::new(SystemClock)).unwrap()
}

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::OpenCode, reason)
}

/// Harvests with the index and from scratch, and compares.
fn check(home: &OpenCode, store: &Store) -> Harvest {
    let incremental = harvest(&home.request, Some(store), &|| false).unwrap();
    let scratch = home.harvest();
    assert_eq!(incremental.sessions, scratch.sessions);
    assert_eq!(incremental.skipped, scratch.skipped);
    assert_eq!(incremental.unknown, scratch.unknown);
    assert_eq!(incremental.newest, scratch.newest);
    assert_eq!(incremental.looked, scratch.looked);
    assert_eq!(incremental.files.found, scratch.files.found);
    incremental
}

/// A database with `sessions` sessions of two turns.
fn filled(home: &OpenCode, sessions: i64) -> Connection {
    let db = home.database();
    for number in 0..sessions {
        let id = format!("ses_{number}");
        session(&db, &id, "/w/app", number);
        for turn in 0..2 {
            let minute = number * 10 + turn;
            said(&db, &id, minute, &format!("session {number} turn {turn}"));
            answered(&db, &id, minute, &[text("done")]);
        }
    }
    db
}

#[test]
fn only_what_changed_is_read_again() {
    let home = OpenCode::new();
    let store = store();
    let db = filled(&home, 5);
    let files = |harvest: Harvest| {
        (
            harvest.files.found,
            harvest.files.unchanged,
            harvest.files.read,
        )
    };
    assert_eq!(files(check(&home, &store)), (5, 0, 5));
    assert_eq!(files(check(&home, &store)), (5, 5, 0));
    // A new turn, in the log.
    said(&db, "ses_3", 60, "one more");
    let harvest = check(&home, &store);
    assert_eq!(harvest.sessions[0].human_turns().count(), 3);
    assert_eq!(files(harvest), (5, 4, 1));
    // A part that grew, without anybody saying so.
    db.execute(
        "UPDATE part SET data = ?1 WHERE message_id = 'msg_ses_1_010a'",
        [text("done, and more").to_string()],
    )
    .unwrap();
    assert_eq!(files(check(&home, &store)), (5, 4, 1));
    // A change that only its time shows.
    db.execute(
        "UPDATE part SET data = ?1, time_updated = time_updated + 1 WHERE message_id = 'msg_ses_2_020a'",
        [text("gone").to_string()],
    )
    .unwrap();
    assert_eq!(files(check(&home, &store)), (5, 4, 1));
    // Moved, deleted, and back into the file.
    db.execute(
        "UPDATE session SET directory = '/w/other' WHERE id = 'ses_0'",
        [],
    )
    .unwrap();
    assert_eq!(files(check(&home, &store)), (5, 4, 1));
    db.execute_batch(
        "DELETE FROM part WHERE session_id = 'ses_4'; DELETE FROM message WHERE session_id = 'ses_4';
         DELETE FROM session WHERE id = 'ses_4'",
    )
    .unwrap();
    assert_eq!(files(check(&home, &store)), (4, 4, 0));
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    assert_eq!(files(check(&home, &store)), (4, 4, 0));
    assert_eq!(files(check(&home, &store)), (4, 4, 0));
}

/// What was not read and what was, of a harvest with the index, which gives what one from scratch gives.
fn counted(request: &Request, store: &Store) -> (u64, u64) {
    let with = harvest(request, Some(store), &|| false).unwrap();
    let scratch = harvest(request, None, &|| false).unwrap();
    assert_eq!(with.sessions, scratch.sessions);
    assert_eq!(with.skipped, scratch.skipped);
    (with.files.unchanged, with.files.read)
}

#[test]
fn of_copilots_database_only_what_changed_is_read_again() {
    let home = OpenCode::new();
    let store = store();
    let request = Request {
        homes: Homes::from_iter([(Agent::Copilot, vec![home.folder.path().to_owned()])]),
        agents: vec![Agent::Copilot],
        ..home.request
    };
    let db = Connection::open(home.folder.path().join("session-store.db")).unwrap();
    db.execute_batch(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, branch TEXT, created_at TEXT, updated_at TEXT);
         CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT, assistant_response TEXT,
             UNIQUE (session_id, turn_index));
         CREATE TABLE session_files (session_id TEXT, file_path TEXT, tool_name TEXT, turn_index INTEGER,
             UNIQUE (session_id, file_path));
         INSERT INTO sessions VALUES ('s1', '/w/app', 'main', '2026-01-05 10:00:00', '2026-01-05 10:05:00');
         INSERT INTO sessions VALUES ('s2', '/w/app', 'main', '2026-01-05 11:00:00', '2026-01-05 11:05:00');
         INSERT INTO turns VALUES ('s1', 0, 'one', 'first');
         INSERT INTO turns VALUES ('s2', 0, 'two', 'second');",
    )
    .unwrap();
    assert_eq!(counted(&request, &store), (0, 2));
    assert_eq!(counted(&request, &store), (2, 0));
    for change in [
        "INSERT INTO turns VALUES ('s1', 1, 'three', NULL)",
        // An answer that came later.
        "UPDATE turns SET assistant_response = 'third' WHERE user_message = 'three'",
        "INSERT INTO session_files VALUES ('s1', '/w/app/a.rs', 'create', 1)",
        "UPDATE sessions SET branch = 'other' WHERE id = 's1'",
    ] {
        db.execute(change, []).unwrap();
        assert_eq!(counted(&request, &store), (1, 1), "{change}");
    }
    // The file is another one, its rows are as they were.
    db.execute_batch("CREATE TABLE beside (x); INSERT INTO beside VALUES (1)")
        .unwrap();
    assert_eq!(counted(&request, &store), (2, 0));
    db.execute_batch(
        "DELETE FROM turns WHERE session_id = 's2'; DELETE FROM sessions WHERE id = 's2'",
    )
    .unwrap();
    assert_eq!(counted(&request, &store), (1, 0));
}

#[test]
fn of_opencodes_files_only_sessions_that_changed_are_read_again() {
    let home = OpenCode::new();
    let store = store();
    let storage = home.folder.path().join("storage");
    let file = |name: &str, value: &serde_json::Value| {
        write(&storage.join(name), value.to_string().as_bytes());
    };
    for session in ["ses_1", "ses_2"] {
        let message = format!("msg_{session}");
        file(
            &format!("session/p/{session}.json"),
            &json!({"id": session, "directory": "/w/app", "time": {"created": opencode::START}}),
        );
        file(
            &format!("message/{session}/{message}.json"),
            &json!({"id": message, "role": "user", "time": {"created": opencode::START}}),
        );
        file(&format!("part/{message}/prt_1.json"), &text(session));
    }
    assert_eq!(counted(&home.request, &store), (0, 2));
    assert_eq!(counted(&home.request, &store), (2, 0));
    // A part that grew, one more, and a message.
    file("part/msg_ses_1/prt_1.json", &text("one, and more"));
    assert_eq!(counted(&home.request, &store), (1, 1));
    file("part/msg_ses_1/prt_2.json", &text("a second one"));
    assert_eq!(counted(&home.request, &store), (1, 1));
    file(
        "message/ses_2/msg_z.json",
        &json!({"id": "msg_z", "role": "user", "time": {"created": opencode::START + 1}}),
    );
    file("part/msg_z/prt_1.json", &text("after that"));
    assert_eq!(counted(&home.request, &store), (1, 1));
    fs::remove_file(storage.join("part/msg_z/prt_1.json")).unwrap();
    assert_eq!(counted(&home.request, &store), (1, 1));
    fs::remove_file(storage.join("session/p/ses_2.json")).unwrap();
    assert_eq!(counted(&home.request, &store), (1, 0));
    assert_eq!(counted(&home.request, &store), (1, 0));
}

#[test]
fn a_backup_a_cut_and_a_crash_give_what_is_there() {
    let home = OpenCode::new();
    let store = store();
    let path = home.path();
    drop(filled(&home, 2));
    check(&home, &store);
    let backup = fs::read(&path).unwrap();
    let db = home.database();
    said(&db, "ses_0", 50, "after the backup");
    drop(db);
    assert_eq!(check(&home, &store).sessions[0].human_turns().count(), 3);
    // The older state comes back, with an older time.
    write(&path, &backup);
    fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let harvest = check(&home, &store);
    assert!(
        harvest
            .sessions
            .iter()
            .all(|session| session.human_turns().count() == 2)
    );
    // Cut in the middle: what is left of it is read.
    write(&path, &backup[..backup.len() / 2]);
    let harvest = check(&home, &store);
    assert_eq!(left_out(&harvest, Reason::DamagedDatabase), 1);
    // Whole again, and the index knows it.
    write(&path, &backup);
    assert_eq!(check(&home, &store).sessions.len(), 2);
    // Gone with its folder still there; then with it.
    fs::remove_file(&path).unwrap();
    assert!(check(&home, &store).sessions.is_empty());
    write(&path, &backup);
    let harvest = check(&home, &store);
    assert_eq!((harvest.sessions.len(), harvest.files.read), (2, 2));
}

/// Not a test: what the other process of `another_process_is_never_in_the_way` does.
#[test]
fn the_other_process() {
    let Ok(path) = std::env::var("SKILLOPT_TEST_DATABASE") else {
        return;
    };
    let db = opencode::database(std::path::Path::new(&path));
    let mut orders = std::io::stdin().lines();
    let mut done = || {
        let mut out = std::io::stdout();
        writeln!(out, "done").unwrap();
        out.flush().unwrap();
        orders.next().unwrap().unwrap();
    };
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "committed");
    done();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    said(&db, "ses_1", 2, "not yet");
    done();
    db.execute_batch("COMMIT").unwrap();
    done();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    said(&db, "ses_1", 3, "lost");
    done();
    std::process::abort();
}

#[test]
fn another_process_is_never_in_the_way() {
    let home = OpenCode::new();
    let store = store();
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_other_process", "--nocapture"])
        .env("SKILLOPT_TEST_DATABASE", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut says = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut orders = writer.stdin.take().unwrap();
    let mut wait = || while !says.next().unwrap().unwrap().ends_with("done") {};
    let look = || {
        let mut names: Vec<_> = fs::read_dir(home.folder.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let metadata = entry.metadata().unwrap();
                (
                    entry.file_name(),
                    metadata.len(),
                    metadata.modified().unwrap(),
                )
            })
            .collect();
        names.sort();
        names
    };
    for expected in [
        &["committed"][..],
        &["committed"],
        &["committed", "not yet"],
        &["committed", "not yet"],
    ] {
        wait();
        let before = look();
        assert_eq!(prompts(&check(&home, &store)), [expected]);
        assert_eq!(look(), before);
        writeln!(orders, "on").unwrap();
    }
    writer.wait().unwrap();
    // It died in the middle of a transaction; its log and index lie there.
    let before = look();
    assert_eq!(before.len(), 3);
    assert_eq!(prompts(&check(&home, &store)), [["committed", "not yet"]]);
    assert_eq!(look(), before);
}

#[test]
fn tables_that_are_missing_or_of_the_future_are_said() {
    for change in [
        "DROP TABLE part",
        "DROP TABLE message",
        "DROP TABLE session",
        "ALTER TABLE part RENAME COLUMN data TO body",
        "ALTER TABLE session RENAME COLUMN directory TO place",
        "DROP INDEX part_message_id_id_idx",
        "DROP INDEX message_session_time_created_id_idx",
        "ALTER TABLE message RENAME TO old; CREATE VIEW message AS SELECT * FROM old",
        "DROP TABLE part; CREATE TABLE part (id, message_id, session_id, time_updated, data AS (zeroblob(900000000)));
         CREATE INDEX i ON part (message_id)",
    ] {
        let home = OpenCode::new();
        let store = store();
        let db = filled(&home, 1);
        check(&home, &store);
        db.execute_batch(change).unwrap();
        let harvest = check(&home, &store);
        assert_eq!(left_out(&harvest, Reason::UnknownSchema), 1, "{change}");
        assert!(harvest.sessions.is_empty());
    }
    // Columns that came later are not needed, and new ones do not matter.
    let home = OpenCode::new();
    let db = filled(&home, 1);
    db.execute_batch(
        "ALTER TABLE session DROP COLUMN agent; ALTER TABLE session DROP COLUMN revert;
         ALTER TABLE message DROP COLUMN time_updated; ALTER TABLE part ADD COLUMN mood text",
    )
    .unwrap();
    assert_eq!(home.harvest().sessions.len(), 1);
}

#[test]
fn values_of_every_kind_cost_only_themselves() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "before");
    let odd: Vec<(String, Reason)> = vec![
        ("nonsense".to_owned(), Reason::Malformed),
        ("[1, 2]".to_owned(), Reason::NotAnObject),
        ("null".to_owned(), Reason::NotAnObject),
        (
            format!(r#"{{"type":"text","text":{}}}"#, "9".repeat(5001)),
            Reason::Malformed,
        ),
    ];
    for (number, (data, _)) in odd.iter().enumerate() {
        message(
            &db,
            "ses_1",
            &format!("msg_ses_1_001x{number}"),
            1,
            &json!({"role": "assistant"}),
            &[text("x")],
        );
        db.execute(
            "UPDATE part SET data = ?2 WHERE message_id = ?1",
            (format!("msg_ses_1_001x{number}"), data),
        )
        .unwrap();
    }
    let before = home.harvest();
    for reason in [Reason::Malformed, Reason::NotAnObject] {
        let expected = odd.iter().filter(|(_, because)| *because == reason).count() as u64;
        assert_eq!(left_out(&before, reason), expected, "{reason:?}");
    }
    // Nested as deep as you like where nobody looks.
    let deep = format!(
        r#"{{"type":"tool","tool":"x","state":{{"input":{{"filePath":{}{}}}}}}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    answered(&db, "ses_1", 1, &[text("x")]);
    db.execute(
        "UPDATE part SET data = ?1 WHERE message_id = 'msg_ses_1_001a'",
        [deep],
    )
    .unwrap();
    assert_eq!(home.harvest().skipped, before.skipped);
    assert_eq!(home.harvest().sessions[0].tools, ["x"]);
    // Numbers and blobs where text belongs, nothing at all, ids twice, times from another world.
    db.execute_batch(
        "UPDATE part SET data = x'FFFE00' WHERE message_id = 'msg_ses_1_001x0';
         UPDATE part SET data = 17.5 WHERE message_id = 'msg_ses_1_001x1';
         UPDATE part SET time_updated = 'yesterday' WHERE message_id = 'msg_ses_1_001x2';
         UPDATE message SET time_created = -9223372036854775808 WHERE id = 'msg_ses_1_001x3';
         UPDATE message SET time_created = 9223372036854775807 WHERE id = 'msg_ses_1_001x4';
         INSERT OR REPLACE INTO session VALUES ('', 'p', NULL, '/w/app', 't', 'v', NULL, NULL, 'x', 'y');
         INSERT OR REPLACE INTO session VALUES ('ses_ü', 'p', NULL, x'FF', 't', 'v', 5, 6, 7, 0.5);",
    )
    .unwrap();
    said(&db, "ses_1", 2, "after");
    let store = store();
    let harvest = check(&home, &store);
    assert_eq!(prompts(&harvest), [["before", "after"]]);
}

#[test]
fn a_huge_value_is_not_read() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "before");
    answered(&db, "ses_1", 1, &[text("short")]);
    let huge = json!({"type": "tool", "tool": "bash", "state": {"output": "x".repeat(17_000_000)}});
    db.execute(
        "UPDATE part SET data = ?1 WHERE message_id = 'msg_ses_1_001a'",
        [huge.to_string()],
    )
    .unwrap();
    let huge = json!({"role": "user", "summary": "x".repeat(17_000_000)});
    message(&db, "ses_1", "msg_ses_1_002", 2, &huge, &[text("unseen")]);
    said(&db, "ses_1", 3, "after");
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["before", "after"]]);
    assert_eq!(left_out(&harvest, Reason::ValueTooLong), 2);
}

#[test]
fn a_stop_is_obeyed_and_what_was_read_is_remembered() {
    let home = OpenCode::new();
    let store = store();
    drop(filled(&home, 200));
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Relaxed) >= 150;
    let problem = harvest(&home.request, Some(&store), &stop).unwrap_err();
    assert_eq!(problem.code, "harvest_cancelled");
    let harvest = check(&home, &store);
    assert!(
        harvest.files.unchanged >= 100 && harvest.files.read >= 50,
        "{:?}",
        harvest.files
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn bytes_that_changed_anywhere_never_make_it_fail(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in prop::option::of(any::<prop::sample::Index>()),
        log in any::<bool>(),
    ) {
        let home = OpenCode::new();
        let db = filled(&home, 3);
        let copy = OpenCode::new();
        let file = if log { "opencode.db-wal" } else { "opencode.db" };
        if !log {
            db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        }
        for name in ["opencode.db", "opencode.db-wal"] {
            let _ = fs::copy(home.folder.path().join(name), copy.folder.path().join(name));
        }
        let path = copy.folder.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        write(&path, &bytes);
        let store = store();
        check(&copy, &store);
        check(&copy, &store);
    }
}

/// One session may be as long as a whole harvest.
#[test]
fn a_harvest_can_be_stopped_within_one_session() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    for minute in 0..200 {
        said(&db, "ses_1", minute, &format!("request {minute}"));
        answered(&db, "ses_1", minute, &[text("done")]);
    }
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let stop_at = |limit: usize| {
        asked.store(0, Relaxed);
        let store = store();
        let outcome = harvest(&home.request, Some(&store), &|| {
            asked.fetch_add(1, Relaxed) >= limit
        });
        outcome.map(|harvest| harvest.sessions.len())
    };
    assert_eq!(stop_at(usize::MAX), Ok(1));
    // Often enough for a session of four hundred messages.
    assert!(asked.load(Relaxed) > 5, "{}", asked.load(Relaxed));
    for limit in 0..asked.load(Relaxed) - 1 {
        let problem = stop_at(limit).expect_err("it was stopped");
        assert_eq!(problem.code, "harvest_cancelled", "after {limit}");
    }
    // What was stopped in the middle is not remembered as read.
    let store = store();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let stopped = harvest(&home.request, Some(&store), &|| {
        asked.fetch_add(1, Relaxed) >= 3
    });
    assert!(stopped.is_err());
    let found = check(&home, &store);
    assert_eq!(
        (found.files.read, found.sessions[0].human_turns().count()),
        (1, 200)
    );
}

#[test]
fn sessions_of_other_projects_are_not_read() {
    let mut home = OpenCode::new();
    let store = store();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "here");
    answered(&db, "ses_1", 1, &[text("done")]);
    session(&db, "ses_2", "/w/other", 0);
    said(&db, "ses_2", 2, "there");
    // One that does not say where it is says so in its answers.
    session(&db, "ses_3", "", 0);
    said(&db, "ses_3", 3, "before");
    answered(&db, "ses_3", 3, &[text("done")]);
    said(&db, "ses_3", 4, "after");
    let project = |root: &str| skillopt_transcripts::ProjectScope {
        roots: vec![root.into()],
        scope: skillopt_transcripts::Scope::Project,
    };
    home.request.project = project("/w/app");
    let here = check(&home, &store);
    assert_eq!(prompts(&here), [vec!["after"], vec!["here"]]);
    assert_eq!(left_out(&here, Reason::OtherProject), 1);
    assert_eq!(here.files.read, 2);
    // When something of any project was written is known all the same.
    let newest = here.newest[&Agent::OpenCode];
    assert_eq!(check(&home, &store).newest[&Agent::OpenCode], newest);
    home.request.project = project("/w/other");
    let there = check(&home, &store);
    assert_eq!(prompts(&there), [["there"]]);
    assert_eq!(there.newest[&Agent::OpenCode], newest);
    // Back again: nothing has changed.
    home.request.project = project("/w/app");
    assert_eq!(check(&home, &store).files.read, 0);
}
