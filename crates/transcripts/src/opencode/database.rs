//! The databases of OpenCode 1.2 and later.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row};

use super::conversation::Conversation;
use super::record::{Metadata, Revert};
use crate::collection::{Collection, Listed, PATIENCE, SESSION_LIMIT, version};
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
    /// The queries, which depend on the columns there are.
    sessions: String,
    session: String,
    messages: String,
    parts: String,
    conversation: String,
    /// Versions of sessions that were read, until they are asked for.
    versions: HashMap<String, State>,
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
    let metadata = column("session", "metadata", "NULL")?;
    let message = column("message", "time_updated", "time_created")?;
    let part = if database.has("part", &["time_updated"])? {
        "part.time_updated"
    } else {
        "0"
    };
    Ok(Box::new(OpenCode {
        sessions: "SELECT id, parent_id, directory, time_updated FROM session
                   ORDER BY time_updated DESC, id DESC LIMIT ?1"
            .to_owned(),
        session: format!(
            "SELECT directory, time_created, time_updated, {agent}, {program},
                    CASE WHEN octet_length({revert}) <= ?2 THEN {revert} END,
                    CASE WHEN octet_length({metadata}) <= ?2 THEN {metadata} END
             FROM session WHERE id = ?1"
        ),
        messages: format!(
            "SELECT {message}, octet_length(data) FROM message WHERE session_id = ?1"
        ),
        parts: format!(
            "SELECT {part}, octet_length(part.data)
             FROM message JOIN part ON part.message_id = message.id
             WHERE message.session_id = ?1"
        ),
        conversation: format!(
            "SELECT message.id, message.time_created, message.{message}, octet_length(message.data),
                    CASE WHEN octet_length(message.data) <= ?2 THEN message.data END,
                    {part}, octet_length(part.data),
                    CASE WHEN octet_length(part.data) <= ?2 THEN part.data END, part.id IS NOT NULL
             FROM message LEFT JOIN part ON part.message_id = message.id
             WHERE message.session_id = ?1
             ORDER BY message.time_created, message.id, part.id"
        ),
        versions: HashMap::new(),
        database,
    }))
}

/// A row of the table of sessions.
struct SessionRow {
    directory: String,
    created: Number,
    updated: Number,
    agent: String,
    /// Version of the program that began it.
    program: String,
    /// Where the conversation was taken back to, if it was.
    revert: String,
    /// What other programs noted on it.
    metadata: String,
}

impl SessionRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            directory: text(row.get_ref(0)?).to_owned(),
            created: number(row.get_ref(1)?),
            updated: number(row.get_ref(2)?),
            agent: text(row.get_ref(3)?).to_owned(),
            program: text(row.get_ref(4)?).to_owned(),
            revert: text(row.get_ref(5)?).to_owned(),
            metadata: text(row.get_ref(6)?).to_owned(),
        })
    }

    /// What changes whenever the session or one of its rows does.
    fn version(&self, messages: &Rows, parts: &Rows) -> State {
        version(
            &[
                &messages.numbers()[..],
                &parts.numbers()[..],
                &[self.created.0, self.updated.0],
            ]
            .concat(),
            &[&self.directory, &self.agent, &self.revert, &self.metadata],
        )
    }
}

/// What is seen of the rows of a session without reading them.
#[derive(Debug, Default)]
struct Rows {
    count: i64,
    /// When the last of them was changed.
    latest: Option<i64>,
    /// It changes with the time or the size of any of them.
    sum: i64,
}

impl Rows {
    fn add(&mut self, changed: Number, bytes: u64) {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let changed_at = changed.0.unwrap_or_default();
        self.count += 1;
        self.latest = self.latest.max(changed.0);
        self.sum = self
            .sum
            .wrapping_add(changed_at.wrapping_mul(31).wrapping_add(bytes) & 0xFFFF_FFFF);
    }

    fn numbers(&self) -> [Option<i64>; 3] {
        [Some(self.count), self.latest, Some(self.sum)]
    }
}

impl OpenCode {
    fn listed(&self, project: &Project, counts: &mut Counts) -> rusqlite::Result<Vec<Listed>> {
        let mut statement = self.database.connection().prepare(&self.sessions)?;
        let limit = i64::try_from(SESSION_LIMIT + 1).unwrap_or(i64::MAX);
        let mut rows = statement.query([limit])?;
        let mut listed = Vec::new();
        while let Some(row) = rows.next()? {
            let id = text(row.get_ref(0)?);
            let directory = text(row.get_ref(2)?);
            if id.is_empty() {
                counts.add(Reason::Malformed);
            } else if !matches!(row.get_ref(1)?, ValueRef::Null) {
                counts.add(Reason::Subagent);
            } else {
                listed.push(Listed {
                    id: id.to_owned(),
                    // What a person types is typed where the session is. One that does not say
                    // where that is may say so in its messages.
                    elsewhere: !directory.is_empty() && !project.covers(directory),
                    ended: number(row.get_ref(3)?).instant(),
                });
            }
        }
        Ok(listed)
    }

    fn session(&self, id: &str) -> rusqlite::Result<Option<SessionRow>> {
        let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
        self.database
            .connection()
            .prepare_cached(&self.session)?
            .query_row((id, limit), SessionRow::of)
            .optional()
    }

    fn rows(&self, query: &str, id: &str) -> rusqlite::Result<Rows> {
        let mut statement = self.database.connection().prepare_cached(query)?;
        let mut found = statement.query([id])?;
        let mut rows = Rows::default();
        while let Some(row) = found.next()? {
            rows.add(number(row.get_ref(0)?), size(row.get_ref(1)?));
        }
        Ok(rows)
    }

    fn looks(&self, id: &str) -> rusqlite::Result<State> {
        let Some(session) = self.session(id)? else {
            return Ok(State::default());
        };
        let messages = self.rows(&self.messages, id)?;
        let parts = self.rows(&self.parts, id)?;
        Ok(session.version(&messages, &parts))
    }
}

impl Collection for OpenCode {
    fn list(&mut self, project: &Project, counts: &mut Counts) -> Result<Vec<Listed>, Reason> {
        self.listed(project, counts).map_err(|error| why(&error))
    }

    fn version(&mut self, id: &str) -> Result<State, Reason> {
        match self.versions.remove(id) {
            Some(version) => Ok(version),
            None => self.looks(id).map_err(|error| why(&error)),
        }
    }

    fn read(
        &mut self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> Result<u64, Reason> {
        self.read_session(id, recorder, cancel)
            .map_err(|error| why(&error))
    }

    fn holds(&self) -> bool {
        self.database.holds()
    }
}

impl OpenCode {
    fn read_session(
        &mut self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> rusqlite::Result<u64> {
        let Some(session) = self.session(id)? else {
            return Ok(0);
        };
        recorder.version(&session.program);
        if own_calls::is_engine_agent(&session.agent) {
            recorder.condemn(Reason::EngineCall);
        }
        let mut statement = self
            .database
            .connection()
            .prepare_cached(&self.conversation)?;
        let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
        let mut rows = statement.query((id, limit))?;
        let mut noted = Vec::new();
        let metadata = parse::<Metadata<'_>>(session.metadata.as_bytes(), &mut noted);
        let branch = metadata
            .as_ref()
            .map_or("", |(noted, _)| &*noted.git_branch);
        let created = session.created.instant();
        let mut conversation = Conversation::new(recorder, &session.directory, branch, created);
        let (mut messages, mut parts) = (Rows::default(), Rows::default());
        let mut at_hand = None;
        let mut looked_at = 0;
        let mut seen = 0_usize;
        while let Some(row) = rows.next()? {
            seen += 1;
            if seen.is_multiple_of(PATIENCE) && cancel() {
                break;
            }
            let id = text(row.get_ref(0)?);
            if at_hand.as_deref() != Some(id) {
                at_hand = Some(id.to_owned());
                let size = size(row.get_ref(3)?);
                looked_at += size;
                messages.add(number(row.get_ref(2)?), size);
                let created = number(row.get_ref(1)?).instant();
                match bytes(row.get_ref(4)?) {
                    Some(data) => conversation.message(id, created, data),
                    None => conversation.no_message(Reason::ValueTooLong),
                }
            }
            if number(row.get_ref(8)?).0 != Some(1) {
                continue;
            }
            let size = size(row.get_ref(6)?);
            looked_at += size;
            parts.add(number(row.get_ref(5)?), size);
            match bytes(row.get_ref(7)?) {
                Some(data) => conversation.part(data),
                None if size > 0 => conversation.no_part(Reason::ValueTooLong),
                None => {}
            }
        }
        let mut spare = Vec::new();
        let revert = parse::<Revert<'_>>(session.revert.as_bytes(), &mut spare);
        conversation.end(revert.as_ref().map_or("", |(revert, _)| &*revert.message));
        drop(rows);
        drop(statement);
        self.versions
            .insert(id.to_owned(), session.version(&messages, &parts));
        Ok(looked_at)
    }
}
