//! Receipts: what was written to the user's files, and what was there before.

use rusqlite::{Connection, Row};
use serde::Serialize;
use skillopt_core::Instant;
use skillopt_core::edit::Edit;

use crate::fault::Fault;
use crate::row::{At, Count, from_json};

/// One document that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Receipt {
    /// Its id in the store.
    pub id: i64,
    /// The adoption that wrote it.
    pub adoption: i64,
    /// The proposal it came from.
    pub proposal: String,
    /// Id of the project.
    pub project: String,
    /// Id of the target within the proposal.
    pub target: String,
    /// Where the agent looks for the document.
    pub live_path: String,
    /// The file that was written.
    pub real_path: String,
    /// SHA-256 before; empty when there was no file. The bytes are in [`crate::blobs`].
    pub sha256_before: String,
    /// SHA-256 after; empty when the file was removed. The bytes are in [`crate::blobs`].
    pub sha256_after: String,
    /// Permission bits before; `None` when there was no file.
    pub mode_before: Option<u32>,
    /// Folders that were made for it, outermost first.
    pub created_dirs: Vec<String>,
    /// A plain copy of the bytes before; empty when there was no file.
    pub backup_path: String,
    /// The edits that were written.
    pub edits: Vec<Edit>,
    /// When it was written.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub adopted_at: Instant,
    /// When it was rolled back.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub undone_at: Option<Instant>,
}

fn select(
    db: &Connection,
    rest: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<Receipt>, Fault> {
    let mut statement = db.prepare_cached(&format!(
        "SELECT id, adoption, proposal, project, target, live_path, real_path, sha256_before, sha256_after, mode_before,
             created_dirs, backup_path, edits, adopted_at, undone_at FROM receipt WHERE {rest}"
    ))?;
    let mut rows = statement.query(params)?;
    let mut receipts = Vec::new();
    while let Some(row) = rows.next()? {
        receipts.push(from_row(row)?);
    }
    Ok(receipts)
}

fn from_row(row: &Row<'_>) -> Result<Receipt, Fault> {
    Ok(Receipt {
        id: row.get(0)?,
        adoption: row.get(1)?,
        proposal: row.get(2)?,
        project: row.get(3)?,
        target: row.get(4)?,
        live_path: row.get(5)?,
        real_path: row.get(6)?,
        sha256_before: row.get(7)?,
        sha256_after: row.get(8)?,
        mode_before: row.get(9)?,
        created_dirs: from_json("folders", &row.get::<_, String>(10)?)?,
        backup_path: row.get(11)?,
        edits: from_json("edits", &row.get::<_, String>(12)?)?,
        adopted_at: row.get::<_, At>(13)?.0,
        undone_at: row.get::<_, Option<At>>(14)?.map(|at| at.0),
    })
}

/// The receipts of one adoption, in the order the documents were written.
pub fn of_adoption(db: &Connection, adoption: i64) -> Result<Vec<Receipt>, Fault> {
    select(db, "adoption = ?1 ORDER BY id", [adoption])
}

/// The receipts of a proposal that were not rolled back, newest first.
pub fn standing(db: &Connection, proposal: &str) -> Result<Vec<Receipt>, Fault> {
    select(
        db,
        "proposal = ?1 AND undone_at IS NULL ORDER BY id DESC",
        [proposal],
    )
}

/// The newest receipt of a project that was not rolled back.
pub fn newest_standing(db: &Connection, project: &str) -> Result<Option<Receipt>, Fault> {
    Ok(select(
        db,
        "project = ?1 AND undone_at IS NULL ORDER BY id DESC LIMIT 1",
        [project],
    )?
    .pop())
}

/// The newest receipts of a project, or of all projects, rolled back or not, newest first.
pub fn list(db: &Connection, project: Option<&str>, limit: usize) -> Result<Vec<Receipt>, Fault> {
    select(
        db,
        "?1 IS NULL OR project = ?1 ORDER BY id DESC LIMIT ?2",
        (project, Count(limit as u64)),
    )
}
