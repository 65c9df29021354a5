//! Stages of a night. A stage that exists has frozen its input; a stage that is done has its output.

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use serde::de::DeserializeOwned;
use skillopt_core::Instant;

use crate::blobs::{self, Keep};
use crate::fault::Fault;
use crate::row::At;
use crate::store::Tx;
use crate::words::words;

words! {
    /// Where a stage stands.
    #[cfg_attr(feature = "typescript", ts(rename = "StageState"))]
    State {
        /// Its calls are written; they may be answered or not.
        Planned = "planned",
        /// Its output is stored.
        Done = "done",
    }
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Stage {
    /// Unique within the night, for example `attempt:baseline`.
    pub name: String,
    /// Order of planning, from 0.
    pub position: u32,
    /// Where it stands.
    pub state: State,
    /// Hash of its output; the body may have expired.
    pub output: Option<String>,
    /// When its calls were written.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub planned_at: Instant,
    /// When its output was stored.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub done_at: Option<Instant>,
}

/// Opens the stage unless it is there already. `true` when it is new: only then may its calls be
/// written. [`crate::calls::plan`] does both.
pub fn plan(tx: &Tx<'_>, night: i64, name: &str) -> Result<bool, Fault> {
    let added = tx
        .prepare_cached(
            "INSERT INTO stage (night, name, position, state, planned_at)
             VALUES (?1, ?2, (SELECT coalesce(max(position) + 1, 0) FROM stage WHERE night = ?1), 'planned', ?3)
             ON CONFLICT (night, name) DO NOTHING",
        )?
        .execute((night, name, At(tx.now())))?;
    Ok(added > 0)
}

/// Stores the output of a stage (opened now if it had no calls). Doing it again changes nothing:
/// the first output stays.
pub fn finish<T: Serialize + ?Sized>(
    tx: &Tx<'_>,
    night: i64,
    name: &str,
    output: &T,
) -> Result<(), Fault> {
    plan(tx, night, name)?;
    let hash = blobs::put_json(tx, output, Keep::Evidence)?;
    tx.prepare_cached(
        "UPDATE stage SET state = 'done', output = ?3, done_at = ?4 WHERE night = ?1 AND name = ?2 AND state = 'planned'",
    )?
    .execute((night, name, hash, At(tx.now())))?;
    Ok(())
}

/// The output of a stage; `None` when it is not done (or has expired long after the night ended).
pub fn output<T: DeserializeOwned>(
    db: &Connection,
    night: i64,
    name: &str,
) -> Result<Option<T>, Fault> {
    let hash = db
        .prepare_cached(
            "SELECT output FROM stage WHERE night = ?1 AND name = ?2 AND state = 'done'",
        )?
        .query_row((night, name), |row| row.get::<_, String>(0))
        .optional()?;
    hash.map_or(Ok(None), |hash| blobs::get_json(db, &hash))
}

/// Whether the stage was opened, with or without calls.
pub fn planned(db: &Connection, night: i64, name: &str) -> Result<bool, Fault> {
    Ok(db
        .prepare_cached("SELECT 1 FROM stage WHERE night = ?1 AND name = ?2")?
        .exists((night, name))?)
}

/// The stages of a night in the order they were planned.
pub fn list(db: &Connection, night: i64) -> Result<Vec<Stage>, Fault> {
    let mut rows = db.prepare_cached(
        "SELECT name, position, state, output, planned_at, done_at FROM stage WHERE night = ?1 ORDER BY position",
    )?;
    let stages = rows
        .query_map([night], |row| {
            Ok(Stage {
                name: row.get(0)?,
                position: row.get(1)?,
                state: row.get(2)?,
                output: row.get(3)?,
                planned_at: row.get::<_, At>(4)?.0,
                done_at: row.get::<_, Option<At>>(5)?.map(|at| at.0),
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(stages)
}
