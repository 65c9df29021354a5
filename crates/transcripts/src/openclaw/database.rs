//! The database in which OpenClaw keeps the sessions of an agent since July 2026. Its rows hold the
//! lines of the files it took the place of.

use std::io::Read;
use std::path::Path;

use rusqlite::OptionalExtension;

use super::dialect::OpenClaw;
use super::keys::{Writes, writes};
use crate::collection::{Collection, Listed, PATIENCE, SESSION_LIMIT, version};
use crate::database::{Database, DatabaseFiles, VALUE_LIMIT, bytes, number, size, text, why};
use crate::files::State;
use crate::reading::{Counts, Recorder};
use crate::reason::Reason;
use crate::scope::Project;
use crate::source::WINDOW;
use crate::tree_log::Reader;

/// What the table of sessions was called, the newest name first.
const SESSIONS: [&str; 2] = ["session_windows", "sessions"];
const SESSION_COLUMNS: &[&str] = &["session_id", "session_key", "updated_at"];
const EVENTS: &str = "transcript_events";

struct Sessions {
    database: Database,
    /// The queries, which depend on the tables and columns there are.
    list: String,
    key: String,
    looks: String,
    events: String,
}

pub(super) fn open(path: &Path) -> Result<Box<dyn Collection>, Reason> {
    let database = Database::open(path, DatabaseFiles::of(path)?)?;
    let mut table = None;
    for name in SESSIONS {
        if table.is_none() && database.has(name, SESSION_COLUMNS)? {
            table = Some(name);
        }
    }
    // Before July 2026 there is a database with sign-ins and memory alone.
    let Some(table) = table else {
        return if database.has(EVENTS, &[])? {
            Err(Reason::UnknownSchema)
        } else {
            Ok(Box::new(None))
        };
    };
    if !database.has(EVENTS, &["session_id", "seq", "event_json", "created_at"])?
        || !database.finds_by(EVENTS, "session_id")?
    {
        return Err(Reason::UnknownSchema);
    }
    let packed = if database.has(EVENTS, &["event_zstd"])? {
        "event_zstd"
    } else {
        "NULL"
    };
    Ok(Box::new(Some(Sessions {
        list: format!(
            "SELECT session_id, updated_at FROM {table}
             ORDER BY updated_at DESC, session_id DESC LIMIT ?1"
        ),
        key: format!("SELECT session_key, updated_at FROM {table} WHERE session_id = ?1"),
        looks: format!(
            "SELECT count(*), max(seq), max(created_at),
                    sum(octet_length(coalesce(event_json, {packed}, ''))) & 0xFFFFFFFFFFFF
             FROM {EVENTS} WHERE session_id = ?1"
        ),
        events: format!(
            "SELECT octet_length(coalesce(event_json, {packed})),
                    CASE WHEN octet_length(event_json) <= ?2 THEN event_json END,
                    CASE WHEN octet_length({packed}) <= ?2 THEN {packed} END
             FROM {EVENTS} WHERE session_id = ?1 ORDER BY seq"
        ),
        database,
    })))
}

impl Sessions {
    fn listed(&self, counts: &mut Counts) -> rusqlite::Result<Vec<Listed>> {
        let limit = i64::try_from(SESSION_LIMIT + 1).unwrap_or(i64::MAX);
        let mut statement = self.database.connection().prepare(&self.list)?;
        let mut rows = statement.query([limit])?;
        let mut listed = Vec::new();
        while let Some(row) = rows.next()? {
            let id = text(row.get_ref(0)?);
            if id.is_empty() {
                counts.add(Reason::Malformed);
                continue;
            }
            listed.push(Listed {
                id: id.to_owned(),
                // Where it was begun stands in its first row only.
                elsewhere: false,
                ended: number(row.get_ref(1)?).instant(),
            });
        }
        Ok(listed)
    }

    /// The key of a session and when it was last written.
    fn session(&self, id: &str) -> rusqlite::Result<Option<(String, Option<i64>)>> {
        self.database
            .connection()
            .prepare_cached(&self.key)?
            .query_row([id], |row| {
                Ok((text(row.get_ref(0)?).to_owned(), number(row.get_ref(1)?).0))
            })
            .optional()
    }

    fn looks(&self, id: &str) -> rusqlite::Result<State> {
        let Some((key, updated)) = self.session(id)? else {
            return Ok(State::default());
        };
        let mut numbers = vec![updated];
        self.database
            .connection()
            .prepare_cached(&self.looks)?
            .query_row([id], |row| {
                for column in 0..4 {
                    numbers.push(number(row.get_ref(column)?).0);
                }
                Ok(())
            })?;
        Ok(version(&numbers, &[&key]))
    }

    fn read_session(
        &self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> rusqlite::Result<u64> {
        let Some((key, _)) = self.session(id)? else {
            return Ok(0);
        };
        let group = match writes(&key) {
            Writes::Person => false,
            Writes::Group => true,
            Writes::Nobody(reason) => {
                recorder.condemn(reason);
                return Ok(0);
            }
        };
        let mut reader = Reader::new(OpenClaw { group });
        let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
        let mut statement = self.database.connection().prepare_cached(&self.events)?;
        let mut rows = statement.query((id, limit))?;
        let (mut looked_at, mut seen) = (0, 0_usize);
        let mut unpacked = Vec::new();
        while let Some(row) = rows.next()? {
            seen += 1;
            if seen.is_multiple_of(PATIENCE) && cancel() {
                break;
            }
            looked_at += size(row.get_ref(0)?);
            let plain = bytes(row.get_ref(1)?);
            let packed = bytes(row.get_ref(2)?);
            match (plain, packed) {
                (Some(event), _) => reader.line(event, recorder),
                (None, Some(packed)) => match unpack(packed, &mut unpacked) {
                    Ok(()) => reader.line(&unpacked, recorder),
                    Err(reason) => recorder.skip(reason),
                },
                (None, None) => recorder.skip(Reason::ValueTooLong),
            }
        }
        reader.end(recorder);
        Ok(looked_at)
    }
}

/// Unpacks an event.
fn unpack(packed: &[u8], into: &mut Vec<u8>) -> Result<(), Reason> {
    into.clear();
    let damaged = |_| Reason::Malformed;
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(damaged)?;
    decoder.window_log_max(WINDOW).map_err(damaged)?;
    let limit = VALUE_LIMIT as u64;
    decoder.take(limit + 1).read_to_end(into).map_err(damaged)?;
    if into.len() > VALUE_LIMIT {
        return Err(Reason::ValueTooLong);
    }
    Ok(())
}

impl Collection for Option<Sessions> {
    fn list(&mut self, _: &Project, counts: &mut Counts) -> Result<Vec<Listed>, Reason> {
        match self {
            Some(sessions) => sessions.listed(counts).map_err(|error| why(&error)),
            None => Ok(Vec::new()),
        }
    }

    fn version(&mut self, id: &str) -> Result<State, Reason> {
        match self {
            Some(sessions) => sessions.looks(id).map_err(|error| why(&error)),
            None => Ok(State::default()),
        }
    }

    fn read(
        &mut self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> Result<u64, Reason> {
        match self {
            Some(sessions) => sessions
                .read_session(id, recorder, cancel)
                .map_err(|error| why(&error)),
            None => Ok(0),
        }
    }

    fn holds(&self) -> bool {
        self.as_ref()
            .is_none_or(|sessions| sessions.database.holds())
    }
}
