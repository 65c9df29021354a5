//! OpenCode's database, made for one test.

#![allow(dead_code, reason = "every test file uses a part of this one")]

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Homes, ProjectScope, Request, Scope, harvest};
use tempfile::TempDir;

/// Minutes are counted from here, in milliseconds: 2026-01-05 10:00 UTC.
pub(crate) const START: i64 = 1_767_607_200_000;

/// A home of OpenCode in a folder of its own.
pub(crate) struct OpenCode {
    pub(crate) folder: TempDir,
    pub(crate) request: Request,
}

impl OpenCode {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let request = Request {
            homes: homes_at(folder.path()),
            agents: vec![Agent::OpenCode],
            project: ProjectScope {
                roots: Vec::new(),
                scope: Scope::All,
            },
            threads: 1,
            ..Request::default()
        };
        Self { folder, request }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("opencode.db")
    }

    /// Opens the database for writing, with its tables.
    pub(crate) fn database(&self) -> Connection {
        database(&self.path())
    }

    pub(crate) fn harvest(&self) -> Harvest {
        harvest(&self.request, None, &|| false).unwrap()
    }
}

pub(crate) fn homes_at(folder: &Path) -> Homes {
    Homes::from_iter([(Agent::OpenCode, vec![folder.to_owned()])])
}

/// A database with the tables that are read, in the form of 1.18.
pub(crate) fn database(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, project_id text NOT NULL,
                 parent_id text, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
                 revert text, agent text, time_created integer NOT NULL, time_updated integer NOT NULL);
             CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text NOT NULL,
                 time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
             CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text NOT NULL,
                 session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
                 data text NOT NULL);
             CREATE INDEX IF NOT EXISTS message_session_time_created_id_idx
                 ON message (session_id, time_created, id);
             CREATE INDEX IF NOT EXISTS part_message_id_id_idx ON part (message_id, id);
             CREATE INDEX IF NOT EXISTS part_session_idx ON part (session_id);",
        )
        .unwrap();
    connection
}

pub(crate) fn session(connection: &Connection, id: &str, directory: &str, minute: i64) {
    connection
        .execute(
            "INSERT INTO session VALUES (?1, 'p', NULL, ?2, 't', '1.18.33', NULL, 'build', ?3, ?3)",
            (id, directory, START + minute * 60_000),
        )
        .unwrap();
}

/// A message with its parts, `{minute}` after the start.
pub(crate) fn message(
    connection: &Connection,
    session: &str,
    id: &str,
    minute: i64,
    data: &Value,
    parts: &[Value],
) {
    let at = START + minute * 60_000;
    connection
        .execute(
            "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
            (id, session, at, data.to_string()),
        )
        .unwrap();
    for (number, part) in parts.iter().enumerate() {
        connection
            .execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                (
                    format!("prt_{id}_{number:03}"),
                    id,
                    session,
                    at,
                    part.to_string(),
                ),
            )
            .unwrap();
    }
    connection
        .execute(
            "UPDATE session SET time_updated = max(time_updated, ?2) WHERE id = ?1",
            (session, at),
        )
        .unwrap();
}

pub(crate) fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

/// A person's message.
pub(crate) fn said(connection: &Connection, session: &str, minute: i64, words: &str) {
    let id = format!("msg_{session}_{minute:03}");
    message(
        connection,
        session,
        &id,
        minute,
        &json!({"role": "user", "time": {"created": START + minute * 60_000}}),
        &[text(words)],
    );
}

/// An answer, half a minute later.
pub(crate) fn answered(connection: &Connection, session: &str, minute: i64, parts: &[Value]) {
    let id = format!("msg_{session}_{minute:03}a");
    let created = START + minute * 60_000 + 1000;
    message(
        connection,
        session,
        &id,
        minute,
        &json!({"role": "assistant", "mode": "build", "agent": "build", "path": {"cwd": "/w/app"},
                "time": {"created": created, "completed": created + 29_000}}),
        parts,
    );
}
