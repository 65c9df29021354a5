//! What else a reviewer needs to know about a night, in order.

use rusqlite::{Connection, Row};
use serde::Serialize;
use serde_json::Value;
use skillopt_core::Instant;

use crate::fault::Fault;
use crate::row::{At, Count, from_json, to_json};
use crate::store::Tx;

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "NightEvent"))]
pub struct Event {
    /// Its place in the night, from 1.
    pub seq: u64,
    /// When it happened.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub at: Instant,
    /// What happened, for example `gate/decision`.
    pub kind: String,
    /// The rest, redacted by whoever appends it.
    pub body: Value,
}

/// Appends an event; gives its place.
pub fn append(tx: &Tx<'_>, night: i64, kind: &str, body: &Value) -> Result<u64, Fault> {
    let seq = tx
        .prepare_cached(
            "INSERT INTO event (night, seq, at, kind, body)
             VALUES (?1, (SELECT 1 + coalesce(max(seq), 0) FROM event WHERE night = ?1), ?2, ?3, ?4) RETURNING seq",
        )?
        .query_row((night, At(tx.now()), kind, to_json("event", body)?), |row| row.get::<_, Count>(0))?;
    Ok(seq.0)
}

/// The first event of this kind.
pub fn first(db: &Connection, night: i64, kind: &str) -> Result<Option<Event>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT seq, at, kind, body FROM event WHERE night = ?1 AND kind = ?2 ORDER BY seq LIMIT 1",
    )?;
    let mut rows = statement.query((night, kind))?;
    rows.next()?.map(event).transpose()
}

/// The last event of this kind.
pub fn last(db: &Connection, night: i64, kind: &str) -> Result<Option<Event>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT seq, at, kind, body FROM event WHERE night = ?1 AND kind = ?2 ORDER BY seq DESC LIMIT 1",
    )?;
    let mut rows = statement.query((night, kind))?;
    rows.next()?.map(event).transpose()
}

/// The events of a night, in order.
pub fn list(db: &Connection, night: i64) -> Result<Vec<Event>, Fault> {
    select(db, night, None)
}

/// The events of one kind, in order.
pub fn of_kind(db: &Connection, night: i64, kind: &str) -> Result<Vec<Event>, Fault> {
    select(db, night, Some(kind))
}

fn select(db: &Connection, night: i64, kind: Option<&str>) -> Result<Vec<Event>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT seq, at, kind, body FROM event WHERE night = ?1 AND (?2 IS NULL OR kind = ?2) ORDER BY seq",
    )?;
    let mut rows = statement.query((night, kind))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(event(row)?);
    }
    Ok(events)
}

fn event(row: &Row<'_>) -> Result<Event, Fault> {
    Ok(Event {
        seq: row.get::<_, Count>(0)?.0,
        at: row.get::<_, At>(1)?.0,
        kind: row.get(2)?,
        body: from_json("event", &row.get::<_, String>(3)?)?,
    })
}
