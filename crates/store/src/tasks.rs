//! The task archive, and which human turns have been mined.
//!
//! A stored split never changes: what was held out once stays held out.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use skillopt_core::task::{SourceTurn, Split, Task};

use crate::fault::{Fault, unreadable};
use crate::row::{At, Count, from_json, to_json};
use crate::store::Tx;

/// A task of the archive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Archived {
    /// The task, with its stored split.
    pub task: Task,
    /// Version of the rule that chose the split.
    pub split_version: u32,
    /// The night that found it; `None` for imported tasks, or when the night was purged.
    pub first_night: Option<i64>,
    /// The night that used it last.
    pub last_night: Option<i64>,
}

/// A split as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredSplit {
    /// The slice.
    pub split: Split,
    /// Version of the rule that chose it.
    pub version: u32,
}

const fn word(split: Split) -> &'static str {
    match split {
        Split::Train => "train",
        Split::Validation => "val",
        Split::Test => "test",
    }
}

fn split(text: &str) -> Result<Split, Fault> {
    match text {
        "train" => Ok(Split::Train),
        "val" => Ok(Split::Validation),
        "test" => Ok(Split::Test),
        other => Err(unreadable("split", format!("unknown word \"{other}\""))),
    }
}

/// Adds tasks to the archive, or marks known ones as used by `night`. The stored split wins: by id,
/// then by the reference's id (an imported held-out task), then by cluster. Gives the tasks with the
/// splits that hold, in the same order.
pub fn keep(
    tx: &Tx<'_>,
    project: &str,
    night: Option<i64>,
    tasks: &[Task],
    split_version: u32,
) -> Result<Vec<Task>, Fault> {
    let mut kept = Vec::with_capacity(tasks.len());
    for task in tasks {
        let mut task = task.clone();
        let stored = stored_split(tx, project, &task)?;
        let version = stored.map_or(split_version, |stored| stored.version);
        if let Some(stored) = stored {
            task.split = stored.split;
        }
        tx.prepare_cached(
            "INSERT INTO task (project, id, legacy_id, body, split, split_version, cluster, first_night, last_night, added_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)
             ON CONFLICT (project, id) DO UPDATE SET
                 body = excluded.body,
                 legacy_id = CASE WHEN legacy_id = '' THEN excluded.legacy_id ELSE legacy_id END,
                 cluster = CASE WHEN cluster = '' THEN excluded.cluster ELSE cluster END,
                 last_night = coalesce(excluded.last_night, last_night)",
        )?
        .execute((
            project,
            &task.id,
            &task.legacy_id,
            to_json("task", &task)?,
            word(task.split),
            version,
            &task.cluster,
            night,
            At(tx.now()),
        ))?;
        kept.push(task);
    }
    Ok(kept)
}

/// The split this task has for ever, when it (by id, by the reference's id, or by its cluster) is in
/// the archive. When rows disagree the strictest slice wins: test, then validation.
pub fn stored_split(
    db: &Connection,
    project: &str,
    task: &Task,
) -> Result<Option<StoredSplit>, Fault> {
    let found = db
        .prepare_cached(
            "SELECT split, split_version FROM (
                 SELECT split, split_version, 0 AS rank FROM task WHERE project = ?1 AND id = ?2
                 UNION ALL SELECT split, split_version, 1 FROM task
                     WHERE project = ?1 AND legacy_id = ?3 AND legacy_id <> ''
                 UNION ALL SELECT split, split_version, 2 FROM task
                     WHERE project = ?1 AND cluster = ?4 AND cluster <> '')
             ORDER BY rank, CASE split WHEN 'test' THEN 0 WHEN 'val' THEN 1 ELSE 2 END LIMIT 1",
        )?
        .query_row((project, &task.id, &task.legacy_id, &task.cluster), |row| {
            Ok((row.get::<_, String>(0)?, row.get(1)?))
        })
        .optional()?;
    found
        .map(|(text, version)| {
            Ok(StoredSplit {
                split: split(&text)?,
                version,
            })
        })
        .transpose()
}

struct Raw {
    body: String,
    split: String,
    split_version: u32,
    first_night: Option<i64>,
    last_night: Option<i64>,
}

fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    Ok(Raw {
        body: row.get(0)?,
        split: row.get(1)?,
        split_version: row.get(2)?,
        first_night: row.get(3)?,
        last_night: row.get(4)?,
    })
}

fn whole(raw: &Raw) -> Result<Archived, Fault> {
    let mut task: Task = from_json("task", &raw.body)?;
    task.split = split(&raw.split)?;
    Ok(Archived {
        task,
        split_version: raw.split_version,
        first_night: raw.first_night,
        last_night: raw.last_night,
    })
}

/// The newest `limit` tasks of a project's archive, oldest of them first.
pub fn archive(db: &Connection, project: &str, limit: usize) -> Result<Vec<Archived>, Fault> {
    let mut rows = db.prepare_cached(
        "SELECT body, split, split_version, first_night, last_night FROM task WHERE project = ?1
         ORDER BY added_at DESC, id DESC LIMIT ?2",
    )?;
    let found: Vec<Raw> = rows
        .query_map((project, Count(limit as u64)), raw)?
        .collect::<Result<_, _>>()?;
    found.iter().rev().map(whole).collect()
}

/// One task of a project's archive.
pub fn get(db: &Connection, project: &str, id: &str) -> Result<Option<Archived>, Fault> {
    db.prepare_cached(
        "SELECT body, split, split_version, first_night, last_night FROM task WHERE project = ?1 AND id = ?2",
    )?
    .query_row((project, id), raw)
    .optional()?
    .as_ref()
    .map(whole)
    .transpose()
}

/// Marks turns as mined; written in the transaction that ends the night. A turn keeps the night
/// that mined it first.
pub fn mark_mined<'a>(
    tx: &Tx<'_>,
    project: &str,
    night: i64,
    turns: impl IntoIterator<Item = &'a SourceTurn>,
) -> Result<(), Fault> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO mined_turn (project, session, turn, night) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (project, session, turn) DO UPDATE SET night = excluded.night",
    )?;
    for turn in turns {
        insert.execute((project, &turn.session, &turn.turn, night))?;
    }
    Ok(())
}

/// Every turn of a project that was mined in an earlier night. What a simulation looked at counts
/// only for another simulation: somebody who then takes a real model has not used anything up.
pub fn mined_turns(
    db: &Connection,
    project: &str,
    simulated: bool,
) -> Result<HashSet<SourceTurn>, Fault> {
    let mut rows = db.prepare_cached(
        "SELECT session, turn FROM mined_turn WHERE project = ?1 AND (?2 OR night NOT IN (
             SELECT id FROM night WHERE project = ?1 AND coalesce(json_extract(report, '$.simulated'), 0)))",
    )?;
    let turns = rows
        .query_map((project, simulated), |row| {
            Ok(SourceTurn {
                session: row.get(0)?,
                turn: row.get(1)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(turns)
}
