//! Calls, and which night used which call at which stage.
//!
//! A call is immutable and shared by all nights. The rows of a stage are written before the first of
//! its calls is asked; from then on the stage works off its rows and never renders anything again.

use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use skillopt_core::call::Call;

use crate::blobs::{self, Keep};
use crate::fault::{Fault, unreadable};
use crate::row::{At, Count, to_json};
use crate::stages;
use crate::store::Tx;
use crate::words::words;

words! {
    /// Where a planned call stands.
    State {
        /// Not answered yet.
        Planned = "planned",
        /// Answered by a paid try of this night.
        Fresh = "fresh",
        /// Answered by an earlier try.
        Reused = "reused",
        /// A hand-off question is open.
        Waiting = "waiting",
        /// It has failed; a resume may set it back to planned.
        Failed = "failed",
    }
}

/// One row of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NightCall {
    /// The stage.
    pub stage: String,
    /// Place in the stage, from 0. Calls that follow up on a reply have the same place.
    pub position: u32,
    /// 0; of calls that follow up, their number from 1.
    pub ask: u8,
    /// Key of the call.
    pub key: String,
    /// Where it stands.
    pub state: State,
    /// The attempt that answered it, or failed last.
    pub attempt: Option<i64>,
}

/// Writes the calls of a stage in order, with the stage itself, in the caller's transaction.
///
/// A stage that was planned before is left as it is. Gives the number of positions it has.
pub fn plan(tx: &Tx<'_>, night: i64, stage: &str, calls: &[Call]) -> Result<usize, Fault> {
    if stages::plan(tx, night, stage)? {
        for (position, call) in calls.iter().enumerate() {
            insert(tx, night, stage, position as u64, call)?;
        }
    }
    let count = tx
        .prepare_cached(
            "SELECT count(*) FROM night_call WHERE night = ?1 AND stage = ?2 AND ask = 0",
        )?
        .query_row((night, stage), |row| row.get::<_, Count>(0))?;
    usize::try_from(count.0).map_err(|error| unreadable("count", error))
}

/// Writes a call that follows up on a reply, at the same position: the one repeat after an unreadable
/// reply, or the next round after one that called tools. `call.ask` is its number, from 1. Doing it
/// again changes nothing.
pub fn plan_follow_up(
    tx: &Tx<'_>,
    night: i64,
    stage: &str,
    position: u32,
    call: &Call,
) -> Result<String, Fault> {
    insert(tx, night, stage, u64::from(position), call)
}

fn insert(
    tx: &Tx<'_>,
    night: i64,
    stage: &str,
    position: u64,
    call: &Call,
) -> Result<String, Fault> {
    let key = call.key();
    let request = blobs::put_json(tx, call, Keep::Evidence)?;
    tx.prepare_cached(
        "INSERT INTO call (key, purpose, backend_kind, backend, request, sample, ask)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key) DO NOTHING",
    )?
    .execute((
        &key,
        call.subject.kind(),
        &call.backend.kind,
        to_json("backend", &call.backend)?,
        request,
        call.sample,
        call.ask,
    ))?;
    tx.prepare_cached(
        "INSERT INTO night_call (night, stage, position, ask, key, state) VALUES (?1, ?2, ?3, ?4, ?5, 'planned')
         ON CONFLICT (night, stage, position, ask) DO NOTHING",
    )?
    .execute((night, stage, Count(position), call.ask, &key))?;
    Ok(key)
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<NightCall> {
    Ok(NightCall {
        stage: row.get(0)?,
        position: row.get(1)?,
        ask: row.get(2)?,
        key: row.get(3)?,
        state: row.get(4)?,
        attempt: row.get(5)?,
    })
}

/// The rows of a stage, by position and then by ask.
pub fn rows(db: &Connection, night: i64, stage: &str) -> Result<Vec<NightCall>, Fault> {
    let mut rows = db.prepare_cached(
        "SELECT stage, position, ask, key, state, attempt FROM night_call
         WHERE night = ?1 AND stage = ?2 ORDER BY position, ask",
    )?;
    let calls = rows
        .query_map((night, stage), from_row)?
        .collect::<Result<_, _>>()?;
    Ok(calls)
}

/// Every row of a night in the order of its stages.
pub fn rows_of_night(db: &Connection, night: i64) -> Result<Vec<NightCall>, Fault> {
    let mut rows = db.prepare_cached(
        "SELECT night_call.stage, night_call.position, ask, key, night_call.state, attempt
         FROM night_call JOIN stage ON stage.night = night_call.night AND stage.name = night_call.stage
         WHERE night_call.night = ?1 ORDER BY stage.position, night_call.position, ask",
    )?;
    let calls = rows
        .query_map([night], from_row)?
        .collect::<Result<_, _>>()?;
    Ok(calls)
}

/// The call with this key; `None` when it is unknown or its request has expired.
pub fn get(db: &Connection, key: &str) -> Result<Option<Call>, Fault> {
    let request = db
        .prepare_cached("SELECT request FROM call WHERE key = ?1")?
        .query_row([key], |row| row.get::<_, String>(0))
        .optional()?;
    request.map_or(Ok(None), |hash| blobs::get_json(db, &hash))
}

/// Says where a row of a stage stands now. `attempt` is what answered it or failed last. A reply that
/// is reused is kept from expiring for as long again.
pub fn settle(
    tx: &Tx<'_>,
    night: i64,
    stage: &str,
    position: u32,
    ask: u8,
    state: State,
    attempt: Option<i64>,
) -> Result<(), Fault> {
    tx.prepare_cached(
        "UPDATE night_call SET state = ?5, attempt = ?6 WHERE night = ?1 AND stage = ?2 AND position = ?3 AND ask = ?4",
    )?
    .execute((night, stage, position, ask, state, attempt))?;
    if let (State::Reused, Some(attempt)) = (state, attempt) {
        tx.prepare_cached(
            "UPDATE blob SET used_at = max(used_at, ?2) WHERE hash = (SELECT reply FROM attempt WHERE id = ?1)",
        )?
        .execute((attempt, At(tx.now())))?;
    }
    Ok(())
}

/// How many rows of a night stand where, for progress and reports.
pub fn counts(
    db: &Connection,
    night: i64,
) -> Result<std::collections::BTreeMap<State, u64>, Fault> {
    let mut rows = db
        .prepare_cached("SELECT state, count(*) FROM night_call WHERE night = ?1 GROUP BY state")?;
    let counts = rows
        .query_map([night], |row| Ok((row.get(0)?, row.get::<_, Count>(1)?.0)))?
        .collect::<Result<_, _>>()?;
    Ok(counts)
}
