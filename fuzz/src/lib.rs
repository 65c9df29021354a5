//! What must hold for any bytes at all. Each function is a fuzz target, and an ordinary test runs
//! the same functions over the seeds and over simple mutations of them.

use std::io::Write;
use std::path::Path;

use rusqlite::Connection;
use skillopt_core::agent::Agent;
use skillopt_core::python_regex::PythonRegex;
use skillopt_core::redact::{redact, redact_json};
use skillopt_core::region::{rules, tidy, with_rules};
use skillopt_core::reply::{Expect, Parsed, parse_bytes};
use skillopt_core::task::Task;
use skillopt_transcripts::{Homes, ProjectScope, Request, Scope, Session, harvest};

/// A function that must return for any input.
pub type Target = fn(&[u8]);

/// Every target, by the name of its folder in `seeds/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("claude", claude),
    ("codex", codex),
    ("copilot", copilot),
    ("vscode", vscode),
    ("cursor", cursor),
    ("pi", pi),
    ("openclaw", openclaw),
    ("devin", devin),
    ("databases", databases),
    ("opencode", opencode),
    ("opencode_files", opencode_files),
    ("copilot_database", copilot_database),
    ("openclaw_database", openclaw_database),
    ("cursor_editor", cursor_editor),
    ("python_regex", python_regex),
    ("redaction", redaction),
    ("region", region),
    ("reply", reply),
    ("tasks", tasks),
];

/// The text up to the first NUL, and what stands behind it.
fn two_texts(data: &[u8]) -> (String, String) {
    let split = data
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(data.len());
    let (first, second) = data.split_at(split);
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(first), text(second.get(1..).unwrap_or_default()))
}

/// Whatever is read from a transcript is bounded, redacted, and can be written.
pub fn claude(data: &[u8]) {
    session(skillopt_transcripts::claude::read_bytes(data));
}

/// As [`claude`]; the bytes may be compressed.
pub fn codex(data: &[u8]) {
    session(skillopt_transcripts::codex::read_bytes(data));
}

/// As [`claude`]; branches of a tree in the file are told apart.
pub fn pi(data: &[u8]) {
    session(skillopt_transcripts::pi::read_bytes(data));
}

/// As [`pi`], of OpenClaw: words stand in envelopes, and the program writes in a person's place.
pub fn openclaw(data: &[u8]) {
    session(skillopt_transcripts::openclaw::read_bytes(data));
}

/// As [`claude`], of GitHub Copilot CLI.
pub fn copilot(data: &[u8]) {
    session(skillopt_transcripts::copilot::read_bytes(data));
}

/// As [`claude`], of Copilot Chat in VS Code.
pub fn vscode(data: &[u8]) {
    session(skillopt_transcripts::vscode::read_bytes(data));
}

/// As [`claude`], of Cursor.
pub fn cursor(data: &[u8]) {
    session(skillopt_transcripts::cursor::read_bytes(data));
}

/// A database may be anything at all, whoever's it seems to be: nothing fails, and nothing lies
/// beside it afterwards.
pub fn databases(data: &[u8]) {
    for (agent, file) in [
        (Agent::OpenCode, "opencode.db"),
        (Agent::Cursor, "User/globalStorage/state.vscdb"),
        (Agent::Copilot, "session-store.db"),
        (Agent::OpenClaw, "agents/main/agent/openclaw-agent.sqlite"),
        (Agent::Devin, "sessions.db"),
    ] {
        let home = tempfile::tempdir().expect("a folder for a while");
        let path = home.path().join(file);
        let folder = path.parent().expect("the file is in a folder");
        std::fs::create_dir_all(folder).expect("a folder in our own");
        std::fs::File::create(&path)
            .and_then(|mut file| file.write_all(data))
            .expect("a file in our own folder");
        sessions(agent, home.path());
        assert_eq!(std::fs::read(&path).expect("the file is still there"), data);
        let beside = std::fs::read_dir(folder).expect("our own folder");
        assert_eq!(beside.count(), 1, "something was made beside the database");
    }
}

/// Rows of OpenCode: each line is one, and its first letter says of which table. `s` is what the
/// session was taken back to, `m` a message, `p` a part of the message before it.
pub fn opencode(data: &[u8]) {
    let home = tempfile::tempdir().expect("a folder for a while");
    let database = rows(&home.path().join("opencode.db"));
    database
        .execute_batch(
            "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, agent text,
                 revert, version text, time_created integer, time_updated integer);
             CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer,
                 time_updated integer, data);
             CREATE TABLE part (id text PRIMARY KEY, message_id text, time_updated integer, data);
             CREATE INDEX messages ON message (session_id, time_created, id);
             CREATE INDEX parts ON part (message_id, id);
             INSERT INTO session VALUES ('ses', NULL, '/w/app', 'build', NULL, '1.18', 1, 2);",
        )
        .expect("tables of our own");
    let mut message = String::new();
    for (number, line) in (0_i64..200).zip(data.split(|byte| *byte == b'\n')) {
        let Some((kind, value)) = line.split_first() else {
            continue;
        };
        let id = format!("msg_{number:04}");
        let added = match kind {
            b's' => database.execute("UPDATE session SET revert = ?1", [value]),
            b'p' => database.execute(
                "INSERT INTO part VALUES (?1, ?2, 1, ?3)",
                (format!("prt_{number:04}"), &message, value),
            ),
            _ => {
                message.clone_from(&id);
                database.execute(
                    "INSERT INTO message VALUES (?1, 'ses', ?2, 1, ?3)",
                    (&id, number, value),
                )
            }
        };
        added.expect("a row of our own");
    }
    drop(database);
    sessions(Agent::OpenCode, home.path());
}

/// Files of OpenCode before 1.2: each line is one, and its first letter says of which kind. `s` is the
/// session, `m` a message, `p` a part of the message before it.
pub fn opencode_files(data: &[u8]) {
    let home = tempfile::tempdir().expect("a folder for a while");
    let storage = home.path().join("storage");
    let put = |path: &str, value: &[u8]| {
        let path = storage.join(path);
        std::fs::create_dir_all(path.parent().expect("the file is in a folder"))
            .and_then(|()| std::fs::File::create(&path))
            .and_then(|mut file| file.write_all(value))
            .expect("a file in our own folder");
    };
    put("session/p/ses.json", br#"{"directory":"/w/app"}"#);
    let mut message = "msg_none".to_owned();
    for (number, line) in (0..200).zip(data.split(|byte| *byte == b'\n')) {
        let Some((kind, value)) = line.split_first() else {
            continue;
        };
        match kind {
            b's' => put("session/p/ses.json", value),
            b'p' => put(&format!("part/{message}/prt_{number:04}.json"), value),
            _ => {
                message = format!("msg_{number:04}");
                put(&format!("message/ses/{message}.json"), value);
            }
        }
    }
    sessions(Agent::OpenCode, home.path());
}

/// Rows of Copilot's database: each line is a value, and its first letter says where it stands. `u` is
/// what a person said, with which a turn begins, `a` the answer to it, `t` its time, `n` its number,
/// `f` a file, `d` the folder and `b` the branch of the session.
pub fn copilot_database(data: &[u8]) {
    const LAST: &str = "WHERE rowid = (SELECT max(rowid) FROM turns)";
    let home = tempfile::tempdir().expect("a folder for a while");
    let database = rows(&home.path().join("session-store.db"));
    database
        .execute_batch(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd, branch, created_at, updated_at);
             CREATE TABLE turns (session_id TEXT, turn_index, user_message, assistant_response, timestamp);
             CREATE TABLE session_files (session_id TEXT, file_path, tool_name, turn_index);
             CREATE INDEX turns_of ON turns (session_id, turn_index);
             CREATE INDEX files_of ON session_files (session_id);
             INSERT INTO sessions VALUES ('one', '/w/app', 'main', '2026-01-05T10:00:00Z', NULL);",
        )
        .expect("tables of our own");
    for (number, line) in (0_i64..200).zip(data.split(|byte| *byte == b'\n')) {
        let Some((kind, value)) = line.split_first() else {
            continue;
        };
        // Some values are texts, others bytes.
        let text = std::str::from_utf8(value).ok().filter(|_| number % 4 > 0);
        let value: &dyn rusqlite::ToSql = match &text {
            Some(text) => text,
            None => &value,
        };
        let change = match kind {
            b'a' => format!("UPDATE turns SET assistant_response = ?1 {LAST}"),
            b't' => format!("UPDATE turns SET timestamp = ?1 {LAST}"),
            b'n' => format!("UPDATE turns SET turn_index = ?1 {LAST}"),
            b'f' => format!("INSERT INTO session_files VALUES ('one', ?1, 'edit', {number})"),
            b'd' => "UPDATE sessions SET cwd = ?1".to_owned(),
            b'b' => "UPDATE sessions SET branch = ?1".to_owned(),
            _ => format!("INSERT INTO turns VALUES ('one', {number}, ?1, NULL, NULL)"),
        };
        database
            .execute(&change, [value])
            .expect("a row of our own");
    }
    drop(database);
    sessions(Agent::Copilot, home.path());
}

/// Rows of OpenClaw's database: each line is an event, or, behind `z`, one that is compressed, or,
/// behind `k`, the key of the session.
pub fn openclaw_database(data: &[u8]) {
    let home = tempfile::tempdir().expect("a folder for a while");
    let folder = home.path().join("agents/main/agent");
    std::fs::create_dir_all(&folder).expect("a folder in our own");
    let database = rows(&folder.join("openclaw-agent.sqlite"));
    database
        .execute_batch(
            "CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key, updated_at);
             CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json, event_zstd,
                 created_at INTEGER, PRIMARY KEY (session_id, seq));
             INSERT INTO session_windows VALUES ('one', 'agent:main:main', 1767607200000);",
        )
        .expect("tables of our own");
    for (number, line) in (0_i64..200).zip(data.split(|byte| *byte == b'\n')) {
        let added = match line.split_first() {
            Some((b'k', key)) => database.execute(
                "UPDATE session_windows SET session_key = ?1",
                [String::from_utf8_lossy(key)],
            ),
            Some((b'z', packed)) => database.execute(
                "INSERT INTO transcript_events VALUES ('one', ?1, NULL, ?2, 1)",
                (number, packed),
            ),
            _ => database.execute(
                "INSERT INTO transcript_events VALUES ('one', ?1, ?2, NULL, 1)",
                (number, String::from_utf8_lossy(line)),
            ),
        };
        added.expect("a row of our own");
    }
    drop(database);
    sessions(Agent::OpenClaw, home.path());
}

/// Nodes of Devin: each line is one. Its first byte says how far back the node is that it follows, and
/// the last line's that the session is on; what stands behind it is the message.
pub fn devin(data: &[u8]) {
    let home = tempfile::tempdir().expect("a folder for a while");
    let database = rows(&home.path().join("sessions.db"));
    database
        .execute_batch(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT,
                 last_activity_at INTEGER, main_chain_id INTEGER, hidden INTEGER);
             CREATE TABLE message_nodes (session_id TEXT, node_id INTEGER, parent_node_id INTEGER,
                 chat_message, created_at INTEGER, UNIQUE (session_id, node_id));
             INSERT INTO sessions VALUES ('one', '/w/app', 1, NULL, 0);",
        )
        .expect("tables of our own");
    for (number, line) in (0_i64..200).zip(data.split(|byte| *byte == b'\n')) {
        let Some((back, message)) = line.split_first() else {
            continue;
        };
        // Forwards as well, so that there are circles.
        let parent = number - i64::from(*back % 8) + 2;
        database
            .execute(
                "INSERT INTO message_nodes VALUES ('one', ?1, ?2, ?3, 1767607200)",
                (number, parent, message),
            )
            .expect("a row of our own");
        database
            .execute("UPDATE sessions SET main_chain_id = ?1", [parent])
            .expect("a row of our own");
    }
    drop(database);
    sessions(Agent::Devin, home.path());
}

/// Values of Cursor's editor: each line is a key, a space and what stands under it. What stands under
/// `list` is the list of chats.
pub fn cursor_editor(data: &[u8]) {
    let home = tempfile::tempdir().expect("a folder for a while");
    let folder = home.path().join("User/globalStorage");
    std::fs::create_dir_all(&folder).expect("a folder in our own");
    let database = rows(&folder.join("state.vscdb"));
    database
        .execute_batch(
            "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
             CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
        )
        .expect("tables of our own");
    for line in data.split(|byte| *byte == b'\n').take(200) {
        let space = line.iter().position(|byte| *byte == b' ');
        let (key, value) = line.split_at(space.unwrap_or(line.len()));
        let value = value.get(1..).unwrap_or_default();
        let added = if key == b"list" {
            database.execute(
                "INSERT INTO ItemTable VALUES ('composer.composerHeaders', ?1)",
                [value],
            )
        } else {
            database.execute(
                "INSERT INTO cursorDiskKV VALUES (?1, ?2)",
                (String::from_utf8_lossy(key), value),
            )
        };
        added.expect("a row of our own");
    }
    drop(database);
    sessions(Agent::Cursor, home.path());
}

fn rows(path: &Path) -> Connection {
    let database = Connection::open(path).expect("a database of our own");
    database
        .execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;")
        .expect("nobody else has it");
    database
}

/// Everything that is found in a home is bounded and redacted, as what [`claude`] finds.
fn sessions(agent: Agent, home: &Path) {
    let request = Request {
        homes: Homes::from_iter([(agent, vec![home.to_owned()])]),
        agents: vec![agent],
        project: ProjectScope {
            roots: Vec::new(),
            scope: Scope::All,
        },
        threads: 1,
        ..Request::default()
    };
    let found = harvest(&request, None, &|| false).expect("no content makes a harvest fail");
    for one in found.sessions {
        session(Some(one));
    }
}

fn session(session: Option<Session>) {
    for turn in session.iter().flat_map(|session| &session.turns) {
        let length = turn.text.chars().count();
        assert!(length <= 16_000);
        assert!(
            !turn.text.contains("<private>"),
            "a private span was kept: {:?}",
            turn.text
        );
        // Text is redacted before it is cut, and half a mark may look like a value.
        assert!(
            length >= 8_000 || redact(&turn.text).count == 0,
            "not redacted: {:?}",
            turn.text
        );
    }
    if let Some(session) = session {
        serde_json::to_string(&session.digest()).expect("a digest can be written");
    }
}

/// A pattern is refused or searched; both come to an end. `pattern NUL text`.
pub fn python_regex(data: &[u8]) {
    let (pattern, text) = two_texts(data);
    if let Ok(regex) = PythonRegex::new(&pattern) {
        let _ = regex.found(&text);
    }
}

/// What was redacted once has nothing more to redact.
pub fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let once = redact(&text);
    let twice = redact(&once.text);
    assert_eq!((&twice.text, twice.count), (&once.text, 0));
    if once.count == 0 {
        assert_eq!(once.text, text);
    }
    if let Ok(mut value) = serde_json::from_str(&text) {
        redact_json(&mut value);
        let once = value.clone();
        assert_eq!(redact_json(&mut value), 0);
        assert_eq!(value, once);
    }
}

/// Rules that were written are read back, every byte around them stays, and taking them away gives
/// the document back. `document NUL rules`, each rule ended by the byte 1.
pub fn region(data: &[u8]) {
    let (document, text) = two_texts(data);
    let new: Vec<String> = text.split('\u{1}').map(str::to_owned).collect();
    let Ok(old) = rules(&document) else {
        assert!(with_rules(&document, &new).is_err());
        return;
    };
    assert_eq!(
        with_rules(&document, &old).as_deref(),
        Ok(document.as_str())
    );
    let Ok(written) = with_rules(&document, &new) else {
        return;
    };
    let wanted: Vec<String> = new
        .iter()
        .map(|rule| tidy(rule))
        .filter(|rule| !rule.is_empty())
        .collect();
    assert_eq!(rules(&written), Ok(wanted));
    if !document.contains(skillopt_core::region::START) {
        assert_eq!(with_rules(&written, &[]), Ok(document));
    }
}

/// A reply is unreadable, or keeps the bounds of what was asked. The first byte says what that was.
pub fn reply(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else {
        return;
    };
    let shown = ["t1".to_owned(), "t2".to_owned()];
    let expect = match first % 5 {
        0 => Expect::Text,
        4 => Expect::Tools,
        1 => Expect::Mined { turns: 3 },
        2 => Expect::Score,
        _ => Expect::Edits {
            budget: 2,
            tasks: shown.to_vec(),
        },
    };
    match parse_bytes(&expect, bytes) {
        Err(_) => {}
        Ok(Parsed::Text(text)) => assert!(!text.trim().is_empty()),
        Ok(Parsed::Calls(said)) => {
            assert!(!said.calls.is_empty() && said.excess().is_none());
        }
        Ok(Parsed::Mined(mined)) => {
            assert!(mined.tasks.len() <= 3);
            assert!(
                mined
                    .tasks
                    .iter()
                    .flat_map(|task| &task.turns)
                    .all(|turn| *turn < 3)
            );
        }
        Ok(Parsed::Score { score, .. }) => assert!((0.0..=1.0).contains(&score)),
        Ok(Parsed::Edits(proposed)) => {
            assert!(proposed.edits.len() <= 2);
            assert!(
                proposed
                    .edits
                    .iter()
                    .flat_map(|edit| &edit.tasks)
                    .all(|task| shown.contains(task))
            );
        }
    }
}

/// A task that can be read can be written, and reads the same again.
pub fn tasks(data: &[u8]) {
    if let Ok(task) = serde_json::from_slice::<Task>(data) {
        let text = serde_json::to_string(&task).expect("what was read can be written");
        assert_eq!(
            serde_json::from_str::<Task>(&text).expect("what was written can be read"),
            task
        );
    }
}
