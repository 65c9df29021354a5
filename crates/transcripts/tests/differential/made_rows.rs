//! Databases made by chance: everything an agent writes into them, in any order.

use std::path::Path;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::File;
use crate::made::{answer, minute, words};
use crate::opencode_rows::{START, database, message, session, text};
use crate::rows::made;

/// A message of OpenCode, but for its id and time, and its parts.
pub(crate) type Message = (Value, Vec<Value>);

/// A session of OpenCode, and perhaps a fork of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenCode {
    pub(crate) messages: Vec<Message>,
    /// Where it is; `/w/app` if that is empty.
    pub(crate) folder: String,
    /// How many messages the fork begins with, and what was written in it.
    pub(crate) fork: Option<(usize, Vec<Message>)>,
    /// The branch, where the database has a column for it.
    pub(crate) branch: Option<&'static str>,
}

impl OpenCode {
    pub(crate) fn file(&self) -> File {
        let folder = match self.folder.as_str() {
            "" => "/w/app",
            folder => folder,
        };
        made("opencode.db", database, |db| {
            session(db, "one", folder, 0);
            let end = write(db, "one", 1, &self.messages);
            if let Some((copied, more)) = &self.fork {
                let copied = &self.messages[..self.messages.len().min(*copied)];
                session(db, "two", folder, end);
                write(db, "two", 1, copied);
                write(db, "two", end, more);
            }
            // None of these two is a person's.
            for (id, column, value) in [
                ("child", "parent_id", "one"),
                (
                    "engine",
                    "agent",
                    "skillopt-sleep-0123456789abcdef0123456789abcdef",
                ),
            ] {
                session(db, id, folder, end);
                write(db, id, end, &[says("Count the files")]);
                let query = format!("UPDATE session SET {column} = ?2 WHERE id = ?1");
                db.execute(&query, (id, value)).unwrap();
            }
            if let Some(branch) = self.branch {
                db.execute_batch("ALTER TABLE session ADD COLUMN metadata text")
                    .unwrap();
                let metadata = json!({"gitBranch": branch}).to_string();
                db.execute("UPDATE session SET metadata = ?1", [metadata])
                    .unwrap();
            }
        })
    }
}

/// Writes messages, one a minute; returns the minute after the last.
fn write(db: &Connection, session: &str, from: i64, messages: &[Message]) -> i64 {
    let mut at = from;
    for (data, parts) in messages {
        let mut data = data.clone();
        if data.is_object() {
            let created = START + at * 60_000;
            data["time"] = json!({"created": created});
            if data["role"] == "assistant" {
                data["time"]["completed"] = json!(created + 30_000);
            }
        }
        message(db, session, &format!("{session}{at:03}"), at, &data, parts);
        at += 1;
    }
    at
}

fn user(parts: Vec<Value>) -> Message {
    (json!({"role": "user"}), parts)
}

pub(crate) fn says(words: &str) -> Message {
    user(vec![text(words)])
}

pub(crate) fn answers(parts: Vec<Value>) -> Message {
    let data = json!({"role": "assistant", "mode": "build", "agent": "build",
        "path": {"cwd": "/w/app"}});
    (data, parts)
}

pub(crate) fn with(mut message: Message, key: &str, value: Value) -> Message {
    message.0[key] = value;
    message
}

pub(crate) fn tool(name: &str, input: Value) -> Value {
    let mut part = json!({"type": "tool", "tool": name, "state": {"status": "completed"}});
    part["state"]["input"] = input;
    part
}

pub(crate) fn refused(said: &str) -> Value {
    json!({"type": "tool", "tool": "bash", "state": {"status": "error", "input": {}, "error":
        format!("The user rejected permission to use this specific tool call with the following feedback: {said}")}})
}

fn added(words: &str, key: &str) -> Value {
    let mut part = text(words);
    part[key] = json!(true);
    part
}

fn opencode_part() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => answer().prop_map(|words| text(&words)),
        1 => answer().prop_map(|words| added(&words, "synthetic")),
        1 => Just(json!({"type": "reasoning", "text": "hm"})),
        1 => Just(json!({"type": "step-finish"})),
        2 => select(vec!["read", "grep", "task"]).prop_map(|name| tool(name, json!({}))),
        1 => Just(tool("skill", json!({"name": "lint"}))),
        1 => select(vec!["/w/app/a.rs", "b.rs"])
            .prop_map(|path| tool("write", json!({"filePath": path}))),
        1 => Just(json!({"type": "tool-invocation", "toolInvocation": {"toolName": "list"}})),
        1 => words().prop_map(|words| refused(&words)),
        1 => Just(json!("no object")),
        1 => Just(json!({"type": "something-new"})),
    ]
}

fn opencode_message() -> impl Strategy<Value = Message> {
    let answered = || vec(opencode_part(), 0..4).prop_map(answers);
    prop_oneof![
        6 => words().prop_map(|words| says(&words)),
        2 => words().prop_map(|words| says(&format!("\"{words}\""))),
        1 => words().prop_map(|words| user(vec![text(&words), text("and more")])),
        1 => words().prop_map(|words| user(vec![text(&words), added("A file", "synthetic")])),
        1 => words().prop_map(|words| user(vec![added(&words, "synthetic")])),
        1 => words().prop_map(|words| user(vec![added(&words, "ignored")])),
        1 => Just(user(vec![json!({"type": "compaction"})])),
        1 => Just(user(vec![json!({"type": "file"})])),
        6 => answered(),
        1 => answered().prop_map(|it| with(it, "mode", json!("compaction"))),
        1 => answered().prop_map(|it| with(it, "error", json!({"name": "MessageAbortedError"}))),
        1 => answered().prop_map(|it| with(it, "error", json!({"name": "APIError"}))),
        1 => Just((json!("no object"), vec![text("Lost")])),
        1 => Just((json!({"role": "something-new"}), vec![text("Lost")])),
    ]
}

/// A whole database of OpenCode.
pub(crate) fn opencode() -> impl Strategy<Value = OpenCode> {
    (
        vec(opencode_message(), 1..16),
        select(vec!["", "/w/app", "/w/other"]),
        option::weighted(0.3, (0_usize..16, vec(opencode_message(), 0..6))),
        option::of(select(vec!["main", ""])),
    )
        .prop_map(|(messages, folder, fork, branch)| OpenCode {
            messages,
            folder: folder.to_owned(),
            fork,
            branch,
        })
}

/// A turn of Copilot CLI: what was asked and answered, and the tool that wrote a file.
pub(crate) type Turn = (Option<String>, Option<String>, Option<&'static str>);

/// A session of Copilot CLI.
#[derive(Debug, Clone, Default)]
pub(crate) struct Copilot {
    pub(crate) turns: Vec<Turn>,
    pub(crate) folder: Option<&'static str>,
    /// Moments are written as older versions did.
    pub(crate) old: bool,
}

impl Copilot {
    pub(crate) fn file(&self) -> File {
        let at = |number: usize| {
            let at = minute(number);
            if self.old {
                at.replace('T', " ").replace('Z', "")
            } else {
                at
            }
        };
        made("session-store.db", copilot_database, |db| {
            let last = at(self.turns.len());
            db.execute(
                "INSERT INTO sessions VALUES ('one', ?1, 'main', ?2, ?3)",
                (self.folder, at(0), last),
            )
            .unwrap();
            for (number, (asked, answered, tool)) in (1_usize..).zip(&self.turns) {
                let turn = i64::try_from(number).unwrap();
                db.execute(
                    "INSERT INTO turns VALUES ('one', ?1, ?2, ?3, ?4)",
                    (turn, asked, answered, at(number)),
                )
                .unwrap();
                // The later a file is written, the earlier its name comes.
                let file = format!("/w/app/{}.rs", 99 - turn);
                if let Some(tool) = tool {
                    db.execute(
                        "INSERT INTO session_files VALUES ('one', ?1, ?2, ?3)",
                        (file, tool, turn),
                    )
                    .unwrap();
                }
            }
        })
    }
}

fn copilot_database(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, branch TEXT, created_at TEXT,
             updated_at TEXT);
         CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT,
             assistant_response TEXT, timestamp TEXT, UNIQUE (session_id, turn_index));
         CREATE TABLE session_files (session_id TEXT, file_path TEXT, tool_name TEXT,
             turn_index INTEGER, UNIQUE (session_id, file_path));",
    )
    .unwrap();
    db
}

/// A whole database of Copilot CLI.
pub(crate) fn copilot() -> impl Strategy<Value = Copilot> {
    let turn = (
        option::weighted(0.9, words()),
        option::weighted(0.9, answer()),
        option::weighted(0.3, select(vec!["create", "edit", "apply_patch"])),
    );
    let folder = select(vec![Some("/w/app"), Some("/w/app"), Some("/w/other"), None]);
    (vec(turn, 1..20), folder, any::<bool>()).prop_map(|(turns, folder, old)| Copilot {
        turns,
        folder,
        old,
    })
}
