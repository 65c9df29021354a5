//! `session-store.db`, for sessions that left no event log.
//!
//! The event log beside it is complete; the database is not: turns are missing where the program
//! ended before it wrote them. So what is read here counts only where there is no log.

use std::path::Path;

use rusqlite::{OptionalExtension, Row};
use skillopt_core::Instant;

use crate::collection::{Collection, Listed, PATIENCE, Place, SESSION_LIMIT, version};
use crate::database::{Database, DatabaseFiles, VALUE_LIMIT, bytes, number, text, why};
use crate::files::State;
use crate::meta::no_prompt;
use crate::reading::{Counts, Recorder, instant};
use crate::reason::Reason;
use crate::scope::Project;

/// The tables that are read, with the columns without which nothing can be said.
const TABLES: [(&str, &[&str]); 2] = [
    (
        "sessions",
        &["id", "cwd", "branch", "created_at", "updated_at"],
    ),
    (
        "turns",
        &[
            "session_id",
            "turn_index",
            "user_message",
            "assistant_response",
        ],
    ),
];

/// The database of a home.
pub(crate) fn place(home: &Path) -> Place {
    Place {
        path: home.join("session-store.db"),
        open,
        database: true,
        by_project: false,
    }
}

struct SessionStore {
    database: Database,
    turns: String,
    /// There is a table of touched files.
    files: bool,
}

fn open(path: &Path) -> Result<Box<dyn Collection>, Reason> {
    let database = Database::open(path, DatabaseFiles::of(path)?)?;
    for (table, columns) in TABLES {
        if !database.has(table, columns)? {
            return Err(Reason::UnknownSchema);
        }
    }
    if !database.finds_by("turns", "session_id")? {
        return Err(Reason::UnknownSchema);
    }
    let files = database.has(
        "session_files",
        &["session_id", "file_path", "tool_name", "turn_index"],
    )? && database.finds_by("session_files", "session_id")?;
    let timestamp = if database.has("turns", &["timestamp"])? {
        "timestamp"
    } else {
        "NULL"
    };
    Ok(Box::new(SessionStore {
        turns: format!(
            "SELECT turn_index, {timestamp},
                    octet_length(user_message), CASE WHEN octet_length(user_message) <= ?2 THEN user_message END,
                    octet_length(assistant_response), CASE WHEN octet_length(assistant_response) <= ?2 THEN assistant_response END
             FROM turns WHERE session_id = ?1 ORDER BY turn_index"
        ),
        files,
        database,
    }))
}

/// A row of the table of sessions.
struct SessionRow {
    id: String,
    directory: String,
    branch: String,
    created: String,
    updated: String,
}

impl SessionRow {
    const COLUMNS: &str = "id, cwd, branch, created_at, updated_at";

    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let column =
            |index| -> rusqlite::Result<String> { Ok(text(row.get_ref(index)?).to_owned()) };
        Ok(Self {
            id: column(0)?,
            directory: column(1)?,
            branch: column(2)?,
            created: column(3)?,
            updated: column(4)?,
        })
    }
}

impl SessionStore {
    fn sessions(&self) -> rusqlite::Result<Vec<SessionRow>> {
        let query = format!(
            "SELECT {} FROM sessions ORDER BY updated_at DESC, id DESC LIMIT ?1",
            SessionRow::COLUMNS
        );
        let limit = i64::try_from(SESSION_LIMIT + 1).unwrap_or(i64::MAX);
        self.database
            .connection()
            .prepare(&query)?
            .query_map([limit], SessionRow::of)?
            .collect()
    }

    /// What changes whenever a session does.
    fn looks(&self, id: &str) -> rusqlite::Result<State> {
        let connection = self.database.connection();
        let Some(session) = self.session(id)? else {
            return Ok(State::default());
        };
        let turns: [Option<i64>; 3] = connection
            .prepare_cached(
                "SELECT count(*), max(turn_index),
                        sum(ifnull(octet_length(user_message), 0) + ifnull(octet_length(assistant_response), 0))
                 FROM turns WHERE session_id = ?1",
            )?
            .query_row([&session.id], |row| {
                Ok([0, 1, 2].map(|column| number(row.get_ref_unwrap(column)).0))
            })?;
        let files: Option<i64> = if self.files {
            connection
                .prepare_cached("SELECT count(*) FROM session_files WHERE session_id = ?1")?
                .query_row([&session.id], |row| Ok(number(row.get_ref(0)?).0))?
        } else {
            None
        };
        Ok(version(
            &[&turns[..], &[files]].concat(),
            &[
                &session.directory,
                &session.branch,
                &session.created,
                &session.updated,
            ],
        ))
    }

    fn session(&self, id: &str) -> rusqlite::Result<Option<SessionRow>> {
        self.database
            .connection()
            .prepare_cached(&format!(
                "SELECT {} FROM sessions WHERE id = ?1",
                SessionRow::COLUMNS
            ))?
            .query_row([id], SessionRow::of)
            .optional()
    }

    fn read_session(
        &self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> rusqlite::Result<u64> {
        let connection = self.database.connection();
        let Some(session) = self.session(id)? else {
            return Ok(0);
        };
        recorder.is_fallback();
        recorder.time(moment(&session.created));
        recorder.place(&session.directory, &session.branch);
        let mut statement = connection.prepare_cached(&self.turns)?;
        let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
        let mut rows = statement.query((id, limit))?;
        let mut looked_at = 0;
        let mut seen = 0_usize;
        while let Some(row) = rows.next()? {
            seen += 1;
            if seen.is_multiple_of(PATIENCE) && cancel() {
                break;
            }
            let turn = number(row.get_ref(0)?).0.unwrap_or(-1);
            let at = moment(text(row.get_ref(1)?));
            let name = format!("{id}/{turn}");
            for (size, value) in [(2, 3), (4, 5)] {
                let size = crate::database::size(row.get_ref(size)?);
                looked_at += size;
                if size > 0 && bytes(row.get_ref(value)?).is_none() {
                    recorder.skip(Reason::ValueTooLong);
                }
            }
            // Slash commands and what programs put in stand here as they do in the event log.
            let words = text(row.get_ref(3)?);
            match no_prompt(words) {
                None => recorder.human(&name, at, words),
                Some(reason) => {
                    recorder.skip(reason);
                    recorder.aside(&name, at);
                }
            }
            if self.files {
                self.touched(id, turn, recorder)?;
            }
            recorder.reply(&format!("{name}:answer"), at, text(row.get_ref(5)?));
        }
        recorder.time(moment(&session.updated));
        Ok(looked_at)
    }

    /// The files of a turn, with the tools that wrote them.
    fn touched(&self, id: &str, turn: i64, recorder: &mut Recorder<'_>) -> rusqlite::Result<()> {
        let connection = self.database.connection();
        let mut statement = connection.prepare_cached(
            "SELECT tool_name, file_path FROM session_files
             WHERE session_id = ?1 AND turn_index = ?2 ORDER BY rowid",
        )?;
        let mut rows = statement.query((id, turn))?;
        while let Some(row) = rows.next()? {
            recorder.tool(text(row.get_ref(0)?));
            recorder.file(text(row.get_ref(1)?));
        }
        Ok(())
    }
}

impl Collection for SessionStore {
    fn list(&mut self, _: &Project, counts: &mut Counts) -> Result<Vec<Listed>, Reason> {
        let sessions = self.sessions().map_err(|error| why(&error))?;
        let mut listed = Vec::new();
        for session in sessions {
            if session.id.is_empty() {
                counts.add(Reason::Malformed);
                continue;
            }
            listed.push(Listed {
                id: session.id,
                elsewhere: false,
                ended: moment(&session.updated),
            });
        }
        Ok(listed)
    }

    fn version(&mut self, id: &str) -> Result<State, Reason> {
        self.looks(id).map_err(|error| why(&error))
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

/// A moment as different versions write it: ISO 8601, or `YYYY-MM-DD HH:MM:SS` in UTC.
fn moment(text: &str) -> Option<Instant> {
    instant(text).or_else(|| instant(&format!("{}Z", text.trim().replacen(' ', "T", 1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_every_version_are_read() {
        let expected = instant("2026-01-05T10:00:00Z");
        assert!(expected.is_some());
        for text in [
            "2026-01-05T10:00:00.000Z",
            "2026-01-05 10:00:00",
            " 2026-01-05T11:00:00+01:00",
        ] {
            assert_eq!(moment(text), expected, "{text}");
        }
        assert_eq!(moment(""), None);
        assert_eq!(moment("yesterday"), None);
    }
}
