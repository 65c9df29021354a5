//! Devin's database, made for one test.

#![allow(dead_code, reason = "every test file uses a part of this one")]

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

/// Minutes are counted from here, in seconds: 2026-01-05 10:00 UTC.
pub(crate) const START: i64 = 1_767_607_200;

/// A database with the tables that are read, in the form of 3000.3.27.
pub(crate) fn database(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY,
                 working_directory TEXT NOT NULL, backend_type TEXT NOT NULL, model TEXT NOT NULL,
                 agent_mode TEXT NOT NULL, created_at INTEGER NOT NULL,
                 last_activity_at INTEGER NOT NULL, title TEXT, main_chain_id INTEGER,
                 hidden INTEGER NOT NULL DEFAULT 0);
             CREATE TABLE IF NOT EXISTS message_nodes (row_id INTEGER PRIMARY KEY AUTOINCREMENT,
                 session_id TEXT NOT NULL, node_id INTEGER NOT NULL, parent_node_id INTEGER,
                 chat_message TEXT NOT NULL, created_at INTEGER NOT NULL, metadata TEXT,
                 UNIQUE (session_id, node_id));",
        )
        .unwrap();
    connection
}

/// A session on the branch that ends with the node `tip`.
pub(crate) fn session(connection: &Connection, id: &str, directory: &str, tip: i64) {
    connection
        .execute(
            "INSERT INTO sessions VALUES (?1, ?2, 'b', 'm', 'normal', ?3, ?4, NULL, ?5, 0)",
            (id, directory, START, START + tip * 60, tip),
        )
        .unwrap();
}

/// A node that follows `parent`, as many minutes after the start as its number says.
pub(crate) fn node(
    connection: &Connection,
    session: &str,
    node: i64,
    parent: Option<i64>,
    mut message: Value,
) {
    message["message_id"] = json!(format!("m{node}"));
    connection
        .execute(
            "INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (session, node, parent, message.to_string(), START + node * 60),
        )
        .unwrap();
}

/// A person's message.
pub(crate) fn said(
    connection: &Connection,
    session: &str,
    number: i64,
    parent: Option<i64>,
    words: &str,
) {
    let message = json!({"role": "user", "content": words, "metadata": {"is_user_input": true}});
    node(connection, session, number, parent, message);
}

/// The agent's words and calls.
pub(crate) fn answered(
    connection: &Connection,
    session: &str,
    number: i64,
    parent: i64,
    words: &str,
    calls: &Value,
) {
    let message = json!({"role": "assistant", "content": words, "tool_calls": calls,
                         "thinking": {"signature": "s", "thinking": "hm"}, "metadata": {}});
    node(connection, session, number, Some(parent), message);
}
