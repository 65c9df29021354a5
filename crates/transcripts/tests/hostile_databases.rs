//! Whatever a database of any agent holds, and whatever happens to it: nothing aborts the harvest, the
//! rest is read, and the reason is counted. One table over all agents that keep sessions in databases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Reason, harvest};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, skipped, typed, write};

/// How one agent keeps a session in a database.
struct Form {
    agent: Agent,
    /// The database, below the agent's home.
    path: &'static str,
    /// Its tables, with a session in it. Every name that a change to the tables needs is `main.`.
    tables: &'static str,
    /// Adds one value of a message; `?1` is its number, `?2` the value.
    add: &'static str,
    /// The value of a prompt; `ID` and `WORDS` are filled in.
    prompt: &'static str,
    /// What is done when the last message is added, whose number is `?1`.
    last: &'static str,
    /// The table of messages.
    messages: &'static str,
    /// Values are JSON.
    json: bool,
}

const FORMS: [Form; 5] = [
    Form {
        agent: Agent::OpenCode,
        path: "opencode.db",
        tables: "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text,
                     time_created integer, time_updated integer);
                 CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data);
                 CREATE TABLE part (id text PRIMARY KEY, message_id text, data);
                 CREATE INDEX messages ON message (session_id); CREATE INDEX parts ON part (message_id);
                 INSERT INTO session VALUES ('s', NULL, '/w/app', 1767607200000, 1767607200000);
                 CREATE TRIGGER of_message AFTER INSERT ON part BEGIN
                     INSERT INTO message VALUES (new.message_id, 's',
                         1767607200000 + substr(new.message_id, 2) * 60000, '{\"role\":\"user\"}'); END;",
        add: "INSERT INTO part VALUES ('p' || ?1, 'm' || ?1, ?2)",
        prompt: r#"{"type":"text","text":"WORDS"}"#,
        last: "UPDATE session SET time_updated = time_updated + ?1",
        messages: "part",
        json: true,
    },
    Form {
        agent: Agent::Copilot,
        path: "session-store.db",
        tables: "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, repository TEXT, branch TEXT,
                     created_at TEXT, updated_at TEXT);
                 CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT,
                     assistant_response TEXT, UNIQUE (session_id, turn_index));
                 INSERT INTO sessions VALUES ('s', '/w/app', 'r', 'main', '2026-01-05 10:00:00',
                     '2026-01-05 10:05:00');",
        add: "INSERT INTO turns VALUES ('s', ?1, ?2, 'ok')",
        prompt: "WORDS",
        last: "UPDATE sessions SET updated_at = '2026-01-05 10:05:0' || ?1",
        messages: "turns",
        json: false,
    },
    Form {
        agent: Agent::Cursor,
        path: "User/globalStorage/state.vscdb",
        tables: r#"CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                   CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                   INSERT INTO ItemTable VALUES ('composer.composerHeaders',
                       '{"allComposers":[{"composerId":"s","workspaceIdentifier":{"id":"w","uri":{"scheme":"file","fsPath":"/w/app"}}}]}');
                   INSERT INTO cursorDiskKV VALUES ('composerData:s',
                       '{"_v":10,"composerId":"s","createdAt":1767607200000,"fullConversationHeadersOnly":[
                         {"bubbleId":"b1","type":1},{"bubbleId":"b2","type":1},{"bubbleId":"b3","type":1}]}');"#,
        add: "INSERT INTO cursorDiskKV VALUES ('bubbleId:s:b' || ?1, ?2)",
        prompt: r#"{"_v":3,"type":1,"bubbleId":"ID","text":"WORDS","createdAt":"2026-01-05T10:01:00.000Z"}"#,
        last: "UPDATE ItemTable SET value = value WHERE ?1 > 0",
        messages: "cursorDiskKV",
        json: true,
    },
    Form {
        agent: Agent::OpenClaw,
        path: "agents/main/agent/openclaw-agent.sqlite",
        tables: r#"CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, updated_at INTEGER);
                   CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT,
                       created_at INTEGER, PRIMARY KEY (session_id, seq));
                   INSERT INTO session_windows VALUES ('s', 'agent:main:main', 1767607200000);
                   INSERT INTO transcript_events VALUES ('s', 0,
                       '{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T10:00:00Z","cwd":"/w/app"}', 1);"#,
        add: "INSERT INTO transcript_events VALUES ('s', ?1, ?2, 1767607200000)",
        prompt: r#"{"type":"message","id":"ID","parentId":"gone","timestamp":"2026-01-05T10:01:00Z","message":{"role":"user","content":"WORDS"}}"#,
        last: "UPDATE session_windows SET updated_at = updated_at + ?1",
        messages: "transcript_events",
        json: true,
    },
    Form {
        agent: Agent::Devin,
        path: "sessions.db",
        tables: "CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT,
                     last_activity_at INTEGER, main_chain_id INTEGER);
                 CREATE TABLE message_nodes (session_id TEXT, node_id INTEGER, parent_node_id INTEGER,
                     chat_message TEXT, UNIQUE (session_id, node_id));
                 INSERT INTO sessions VALUES ('s', '/w/app', 1767607200, NULL);",
        add: "INSERT INTO message_nodes VALUES ('s', ?1, ?1 - 1, ?2)",
        prompt: r#"{"message_id":"ID","role":"user","content":"WORDS","metadata":{"is_user_input":true}}"#,
        last: "UPDATE sessions SET main_chain_id = ?1",
        messages: "message_nodes",
        json: true,
    },
];

impl Form {
    fn path(&self, home: &Home) -> PathBuf {
        home.folder.path().join(self.agent.id()).join(self.path)
    }

    /// A database with a session in which nothing was said yet.
    fn open(&self, home: &Home) -> Connection {
        let path = self.path(home);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let db = Connection::open(path).unwrap();
        db.execute_batch(&format!("PRAGMA journal_mode = WAL; {}", self.tables))
            .unwrap();
        db
    }

    fn add(&self, db: &Connection, number: i64, value: &[u8]) {
        let text = std::str::from_utf8(value).ok();
        match text {
            Some(text) => db.execute(self.add, (number, text)),
            None => db.execute(self.add, (number, value)),
        }
        .unwrap();
        // Not every agent writes there for every message.
        let _ = db.execute(self.last, [number]).unwrap();
    }

    fn say(&self, db: &Connection, number: i64, words: &str) {
        let value = self
            .prompt
            .replace("WORDS", words)
            .replace("ID", &format!("b{number}"));
        self.add(db, number, value.as_bytes());
    }

    /// A database in which two things were said.
    fn filled(&self, home: &Home) -> Connection {
        let db = self.open(home);
        self.say(&db, 1, "before");
        self.say(&db, 3, "after");
        db
    }

    fn left_out(&self, harvest: &Harvest, reason: Reason) -> u64 {
        skipped(harvest, self.agent, reason)
    }
}

/// Everything typed, in the order of sessions and turns.
fn said(harvest: &Harvest) -> Vec<&str> {
    homes::prompts(harvest).concat()
}

/// A home that has a session of Claude Code besides, which must be read whatever happens.
fn home() -> Home {
    let home = Home::new();
    home.claude("s1.jsonl", &[typed(1, "beside")]);
    home
}

/// What was typed in the database. The session beside it must have been read.
fn in_database(harvest: &Harvest) -> Vec<&str> {
    let mut said = said(harvest);
    let beside = said.iter().position(|words| *words == "beside").unwrap();
    said.remove(beside);
    said
}

#[test]
fn every_agent_with_a_database_is_in_the_table() {
    let home = home();
    for form in &FORMS {
        form.filled(&home);
    }
    let harvest = home.harvest();
    for form in &FORMS {
        let found = harvest
            .sessions
            .iter()
            .filter(|one| one.agent == form.agent);
        assert_eq!(found.count(), 1, "{}", form.agent);
    }
    let databases: BTreeSet<Agent> = harvest
        .looked
        .iter()
        .filter(|looked| looked.folder.is_file())
        .map(|looked| looked.agent)
        .collect();
    assert_eq!(databases, FORMS.iter().map(|form| form.agent).collect());
}

#[test]
fn values_of_every_kind_cost_only_themselves() {
    let giant = format!("1{}", "0".repeat(5000));
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let in_object = |value: &str| format!(r#"{{"type":{value},"text":{value},"role":{value}}}"#);
    let cut = |prompt: &str| prompt.as_bytes()[..prompt.len() / 2].to_vec();
    for form in FORMS.iter().filter(|form| form.json) {
        for (value, reason) in [
            (b"nonsense".to_vec(), Some(Reason::Malformed)),
            (b"\xFF\xFE\x00\x01".to_vec(), Some(Reason::Malformed)),
            (cut(form.prompt), Some(Reason::Malformed)),
            (b"[1,2]".to_vec(), Some(Reason::NotAnObject)),
            (b"null".to_vec(), Some(Reason::NotAnObject)),
            (deep.clone().into_bytes(), None),
            (in_object(&giant).into_bytes(), None),
            (in_object(&deep).into_bytes(), None),
            (vec![b'x'; 17_000_000], Some(Reason::ValueTooLong)),
        ] {
            let home = home();
            let db = form.open(&home);
            form.say(&db, 1, "before");
            form.add(&db, 2, &value);
            form.say(&db, 3, "after");
            let harvest = home.harvest();
            let shown = String::from_utf8_lossy(&value[..value.len().min(40)]).into_owned();
            assert_eq!(
                in_database(&harvest),
                ["before", "after"],
                "{}: {shown}",
                form.agent
            );
            if let Some(reason) = reason {
                // Cursor's values are known by their keys, so all that are no message are alike.
                let counted: u64 = BTreeSet::from([reason, Reason::Malformed])
                    .into_iter()
                    .map(|reason| form.left_out(&harvest, reason))
                    .sum();
                assert_eq!(counted, 1, "{}: {shown}: {:?}", form.agent, harvest.skipped);
            }
        }
    }
}

#[test]
fn damaged_databases_are_said_and_the_rest_is_read() {
    for form in &FORMS {
        let whole = home();
        let db = form.filled(&whole);
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(db);
        let bytes = fs::read(form.path(&whole)).unwrap();
        let noise: Vec<u8> = (0..bytes.len())
            .map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[2])
            .collect();
        let mut forms = vec![noise.clone(), b"SQLite format 3\0".to_vec()];
        // Cut off anywhere, and overwritten anywhere.
        for part in 1..8 {
            let at = bytes.len() * part / 8;
            forms.push(bytes[..at].to_vec());
            let mut overwritten = bytes.clone();
            let end = (at + 600).min(bytes.len());
            overwritten[at..end].copy_from_slice(&noise[at..end]);
            forms.push(overwritten);
        }
        for (number, bytes) in forms.iter().enumerate() {
            let home = home();
            write(&form.path(&home), bytes);
            let harvest = home.harvest();
            let found = in_database(&harvest);
            let counted: u64 = [
                Reason::DamagedDatabase,
                Reason::UnknownSchema,
                Reason::Malformed,
                Reason::NotAnObject,
                Reason::Repaired,
            ]
            .into_iter()
            .map(|reason| form.left_out(&harvest, reason))
            .sum();
            assert!(
                found == ["before", "after"] || counted > 0 || found.len() < 2,
                "{}, form {number}: {found:?} {:?}",
                form.agent,
                harvest.skipped
            );
            if number < 2 {
                assert!(found.is_empty() && counted > 0, "{} {number}", form.agent);
            }
        }
    }
}

#[test]
fn missing_tables_are_said_and_later_ones_do_not_matter() {
    for form in &FORMS {
        let home = home();
        let db = form.filled(&home);
        db.execute_batch(&format!(
            "PRAGMA user_version = 4000; CREATE TABLE of_the_future (id);
             ALTER TABLE {} ADD COLUMN of_the_future",
            form.messages
        ))
        .unwrap();
        assert_eq!(
            in_database(&home.harvest()),
            ["before", "after"],
            "{}",
            form.agent
        );
        db.execute_batch(&format!("DROP TABLE {}", form.messages))
            .unwrap();
        let harvest = home.harvest();
        assert!(in_database(&harvest).is_empty(), "{}", form.agent);
        assert_eq!(
            form.left_out(&harvest, Reason::UnknownSchema),
            1,
            "{}",
            form.agent
        );
    }
}

#[test]
fn who_writes_is_neither_waited_for_nor_in_the_way() {
    for form in &FORMS {
        let home = home();
        let db = form.open(&home);
        form.say(&db, 1, "before");
        // In the middle of writing, with every lock there is.
        db.execute_batch("BEGIN EXCLUSIVE").unwrap();
        form.say(&db, 3, "after");
        assert_eq!(in_database(&home.harvest()), ["before"], "{}", form.agent);
        db.execute_batch("COMMIT").unwrap();
        assert_eq!(
            in_database(&home.harvest()),
            ["before", "after"],
            "{}",
            form.agent
        );
        drop(db);
        // A journal that must be taken back first, which a program left behind.
        let path = form.path(&home);
        let mut journal = path.clone().into_os_string();
        journal.push("-journal");
        write(Path::new(&journal), b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7rest");
        let harvest = home.harvest();
        assert!(in_database(&harvest).is_empty(), "{}", form.agent);
        assert_eq!(
            form.left_out(&harvest, Reason::BusyDatabase),
            1,
            "{}",
            form.agent
        );
        fs::remove_file(&journal).unwrap();
        assert_eq!(in_database(&home.harvest()).len(), 2, "{}", form.agent);
    }
}

#[test]
fn the_same_messages_in_two_homes_count_once() {
    for form in &FORMS {
        let home = home();
        drop(form.filled(&home));
        let second = home.folder.path().join("second");
        let path = second.join(form.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(form.path(&home), &path).unwrap();
        let mut request = home.request.clone();
        let first = home.folder.path().join(form.agent.id());
        let claude = home.folder.path().join("claude");
        request.homes = [
            (form.agent, vec![first, second]),
            (Agent::Claude, vec![claude]),
        ]
        .into_iter()
        .collect();
        let harvest = harvest(&request, None, &|| false).unwrap();
        assert_eq!(in_database(&harvest), ["before", "after"], "{}", form.agent);
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_and_names_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    for form in &FORMS {
        // A link to itself in the place of the database.
        let looped = home();
        let path = form.path(&looped);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&path, &path).unwrap();
        assert!(in_database(&looped.harvest()).is_empty(), "{}", form.agent);

        let mut home = home();
        drop(form.filled(&home));
        let odd = home.folder.path().join(OsStr::from_bytes(b"\xFF\xFE"));
        fs::rename(home.folder.path().join(form.agent.id()), &odd).unwrap();
        let claude = home.folder.path().join("claude");
        home.request.homes = [(form.agent, vec![odd]), (Agent::Claude, vec![claude])]
            .into_iter()
            .collect();
        assert_eq!(
            in_database(&home.harvest()),
            ["before", "after"],
            "{}",
            form.agent
        );
    }
}

#[test]
fn a_database_that_goes_away_meanwhile_costs_only_itself() {
    for form in &FORMS {
        let home = home();
        drop(form.filled(&home));
        let path = form.path(&home);
        // Claude Code's come first, so everything is listed by then, or nothing of this one is.
        let deleted = std::cell::Cell::new(false);
        let delete = || {
            if !deleted.replace(true) {
                fs::remove_file(&path).unwrap();
            }
            false
        };
        let harvest = harvest(&home.request, None, &delete).unwrap();
        assert!(deleted.get());
        assert!(in_database(&harvest).is_empty(), "{}", form.agent);
    }
}
