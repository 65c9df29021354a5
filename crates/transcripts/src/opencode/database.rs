//! The databases of OpenCode 1.2 and later.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row};

use super::conversation::Conversation;
use super::record::Revert;
use crate::collection::{Collection, Listed, SESSION_LIMIT, version};
use crate::database::{Database, DatabaseFiles, VALUE_LIMIT, bytes, number, size, text, why};
use crate::files::State;
use crate::lenient::{Number, parse};
use crate::own_calls;
use crate::reading::{Counts, Recorder};
use crate::reason::Reason;
use crate::scope::Project;

/// The tables that are read, with the columns without which nothing can be said.
const TABLES: [(&str, &[&str]); 3] = [
    (
        "session",
        &[
            "id",
            "parent_id",
            "directory",
            "time_created",
            "time_updated",
        ],
    ),
    ("message", &["id", "session_id", "time_created", "data"]),
    ("part", &["id", "message_id", "data"]),
];
/// What finds the rows of a session. Without them every session would cost a pass over everything.
const FOUND_BY: [(&str, &str); 2] = [("message", "session_id"), ("part", "message_id")];

/// A database of OpenCode.
struct OpenCode {
    database: Database,
    sessions: String,
    session: String,
    messages_version: String,
    parts_version: String,
}

pub(super) fn open(path: &Path) -> Result<Box<dyn Collection>, Reason> {
    let database = Database::open(path, DatabaseFiles::of(path)?)?;
    for (table, columns) in TABLES {
        if !database.has(table, columns)? {
            return Err(Reason::UnknownSchema);
        }
    }
    for (table, column) in FOUND_BY {
        if !database.finds_by(table, column)? {
            return Err(Reason::UnknownSchema);
        }
    }
    // Columns that older versions do not have.
    let column = |table, column, otherwise| -> Result<&'static str, Reason> {
        Ok(if database.has(table, &[column])? {
            column
        } else {
            otherwise
        })
    };
    let agent = column("session", "agent", "NULL")?;
    let revert = column("session", "revert", "NULL")?;
    let program = column("session", "version", "NULL")?;
    let message = column("message", "time_updated", "time_created")?;
    let part = if database.has("part", &["time_updated"])? {
        "part.time_updated"
    } else {
        "0"
    };
    let columns = format!(
        "id, parent_id, directory, time_created, time_updated, {agent}, {revert}, {program}"
    );
    Ok(Box::new(OpenCode {
        sessions: format!(
            "SELECT {columns} FROM session ORDER BY time_updated DESC, id DESC LIMIT ?1"
        ),
        session: format!("SELECT {columns} FROM session WHERE id = ?1"),
        messages_version: format!(
            "SELECT count(*), max({message}), sum(({message} * 31 + octet_length(data)) & 4294967295)
             FROM message WHERE session_id = ?1"
        ),
        parts_version: format!(
            "SELECT count(*), max({part}), sum(({part} * 31 + octet_length(part.data)) & 4294967295)
             FROM message JOIN part ON part.message_id = message.id
             WHERE message.session_id = ?1"
        ),
        database,
    }))
}

/// A row of the table of sessions.
struct SessionRow {
    id: String,
    child: bool,
    directory: String,
    created: Number,
    updated: Number,
    agent: String,
    /// Where the conversation was taken back to, if it was.
    revert: String,
    /// Version of the program that began it.
    program: String,
}

impl SessionRow {
    /// `None` for a row that names no session.
    fn of(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let id = text(row.get_ref(0)?);
        if id.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            id: id.to_owned(),
            child: !matches!(row.get_ref(1)?, ValueRef::Null),
            directory: text(row.get_ref(2)?).to_owned(),
            created: number(row.get_ref(3)?),
            updated: number(row.get_ref(4)?),
            agent: text(row.get_ref(5)?).to_owned(),
            revert: text(row.get_ref(6)?).to_owned(),
            program: text(row.get_ref(7)?).to_owned(),
        }))
    }
}

impl OpenCode {
    /// How many rows a query is about, their latest change, and a number that changes with the time
    /// or the size of any of them.
    fn numbers(&self, query: &str, id: &str) -> Result<[Option<i64>; 3], Reason> {
        self.database
            .connection()
            .prepare_cached(query)
            .and_then(|mut statement| {
                statement.query_row([id], |row| {
                    Ok([0, 1, 2].map(|column| number(row.get_ref_unwrap(column)).0))
                })
            })
            .map_err(|error| why(&error))
    }

    fn version(&self, session: &SessionRow) -> Result<State, Reason> {
        let messages = self.numbers(&self.messages_version, &session.id)?;
        let parts = self.numbers(&self.parts_version, &session.id)?;
        let session_row = [session.created.0, session.updated.0];
        Ok(version(
            &[&messages[..], &parts[..], &session_row[..]].concat(),
            &[&session.directory, &session.agent, &session.revert],
        ))
    }
}

impl Collection for OpenCode {
    fn list(&mut self, _: &Project, counts: &mut Counts) -> Result<Vec<Listed>, Reason> {
        let mut sessions = Vec::new();
        {
            let mut statement = self
                .database
                .connection()
                .prepare(&self.sessions)
                .map_err(|error| why(&error))?;
            let limit = i64::try_from(SESSION_LIMIT + 1).unwrap_or(i64::MAX);
            let mut rows = statement.query([limit]).map_err(|error| why(&error))?;
            while let Some(row) = rows.next().map_err(|error| why(&error))? {
                match SessionRow::of(row).map_err(|error| why(&error))? {
                    None => counts.add(Reason::Malformed),
                    Some(session) if session.child => counts.add(Reason::Subagent),
                    Some(session) => sessions.push(session),
                }
            }
        }
        sessions
            .into_iter()
            .map(|session| {
                let version = match self.version(&session) {
                    // Reading it will say so.
                    Err(Reason::DamagedDatabase) => State::default(),
                    version => version?,
                };
                Ok(Listed {
                    id: session.id,
                    version,
                    elsewhere: false,
                })
            })
            .collect()
    }

    fn read(&mut self, id: &str, recorder: &mut Recorder<'_>) -> Result<u64, Reason> {
        self.read_session(id, recorder).map_err(|error| why(&error))
    }

    fn holds(&self) -> bool {
        self.database.holds()
    }
}

impl OpenCode {
    fn read_session(&self, id: &str, recorder: &mut Recorder<'_>) -> rusqlite::Result<u64> {
        let connection = self.database.connection();
        let session = connection
            .prepare_cached(&self.session)?
            .query_row([id], SessionRow::of)
            .optional()?
            .flatten();
        let Some(session) = session else {
            return Ok(0);
        };
        recorder.version(&session.program);
        if own_calls::is_engine_agent(&session.agent) {
            recorder.condemn(Reason::EngineCall);
        }
        let mut statement = connection.prepare_cached(
            "SELECT message.id, message.time_created, octet_length(message.data),
                    CASE WHEN octet_length(message.data) <= ?2 THEN message.data END,
                    octet_length(part.data),
                    CASE WHEN octet_length(part.data) <= ?2 THEN part.data END
             FROM message LEFT JOIN part ON part.message_id = message.id
             WHERE message.session_id = ?1
             ORDER BY message.time_created, message.id, part.id",
        )?;
        let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
        let mut rows = statement.query((id, limit))?;
        let mut conversation =
            Conversation::new(recorder, &session.directory, session.created.instant());
        let mut at_hand = None;
        let mut looked_at = 0;
        while let Some(row) = rows.next()? {
            let id = text(row.get_ref(0)?);
            if at_hand.as_deref() != Some(id) {
                at_hand = Some(id.to_owned());
                looked_at += size(row.get_ref(2)?);
                let created = number(row.get_ref(1)?).instant();
                match bytes(row.get_ref(3)?) {
                    Some(data) => conversation.message(id, created, data),
                    None => conversation.message_too_long(),
                }
            }
            let size = size(row.get_ref(4)?);
            looked_at += size;
            match bytes(row.get_ref(5)?) {
                Some(data) => conversation.part(data),
                None if size > 0 => conversation.part_too_long(),
                None => {}
            }
        }
        let mut spare = Vec::new();
        let revert = parse::<Revert<'_>>(session.revert.as_bytes(), &mut spare);
        conversation.end(revert.as_ref().map_or("", |(revert, _)| &*revert.message));
        Ok(looked_at)
    }
}
