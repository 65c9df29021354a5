//! The rows of the adoption journal.

use std::path::PathBuf;

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use skillopt_core::{Instant, Problem};

use super::{Kind, Plan};
use crate::blobs::{self, Keep};
use crate::fault::Fault;
use crate::files::Pinned;
use crate::paths::Paths;
use crate::receipts::{self, Receipt};
use crate::row::{At, from_json, to_json};
use crate::store::Tx;
use crate::words::words;

words! {
    /// Where an adoption stands.
    State {
        /// Documents may have been written; under way, or left by a process that died.
        Intended = "intended",
        /// All documents were written.
        Committed = "committed",
        /// All documents are as before, except those a person changed meanwhile.
        Undone = "undone",
    }
}

/// An adoption in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adoption {
    /// Its id in the store.
    pub id: i64,
    /// Which way it goes.
    pub kind: Kind,
    /// The proposal.
    pub proposal: String,
    /// Id of the project.
    pub project: String,
    /// Where it stands.
    pub state: State,
    /// When the intent was committed.
    pub started_at: Instant,
    /// When it was committed or undone.
    pub ended_at: Option<Instant>,
    /// What could not be undone, in words.
    pub note: String,
}

/// One document of an adoption in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalTarget {
    /// Id of the target within the proposal.
    pub target: String,
    /// Where the agent looks for the document.
    pub live_path: String,
    /// The file.
    pub real_path: PathBuf,
    /// SHA-256 before; empty when there was no file.
    pub before_sha256: String,
    /// Permission bits before.
    pub before_mode: Option<u32>,
    /// SHA-256 after; empty when the file is removed.
    pub after_sha256: String,
    /// Folders this adoption made for it.
    pub created_dirs: Vec<CreatedDir>,
    /// Where a plain copy of the bytes before is.
    pub backup_path: String,
}

/// A folder an adoption made, so that only that one is removed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedDir {
    /// Its path.
    pub path: String,
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
}

/// Adoptions whose documents may be half written, oldest first.
pub fn unfinished(db: &Connection) -> Result<Vec<Adoption>, Fault> {
    select(db, "state = 'intended' ORDER BY id", [])
}

/// The adoption with this id.
pub fn get(db: &Connection, id: i64) -> Result<Option<Adoption>, Fault> {
    Ok(select(db, "id = ?1", [id])?.pop())
}

/// The adoptions and rollbacks of a proposal, oldest first.
pub fn of_proposal(db: &Connection, proposal: &str) -> Result<Vec<Adoption>, Fault> {
    select(db, "proposal = ?1 ORDER BY id", [proposal])
}

/// The documents of an adoption in the order they are written.
pub fn targets(db: &Connection, adoption: i64) -> Result<Vec<JournalTarget>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT target, live_path, real_path, before_sha256, before_mode, after_sha256, created_dirs, backup_path
         FROM adoption_target WHERE adoption = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([adoption])?;
    let mut targets = Vec::new();
    while let Some(row) = rows.next()? {
        targets.push(JournalTarget {
            target: row.get(0)?,
            live_path: row.get(1)?,
            real_path: PathBuf::from(row.get::<_, String>(2)?),
            before_sha256: row.get(3)?,
            before_mode: row.get(4)?,
            after_sha256: row.get(5)?,
            created_dirs: from_json("folders", &row.get::<_, String>(6)?)?,
            backup_path: row.get(7)?,
        });
    }
    Ok(targets)
}

fn select(
    db: &Connection,
    rest: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<Adoption>, Fault> {
    let mut statement = db.prepare_cached(&format!(
        "SELECT id, kind, proposal, project, state, started_at, ended_at, note FROM adoption WHERE {rest}"
    ))?;
    let adoptions = statement
        .query_map(params, |row| {
            Ok(Adoption {
                id: row.get(0)?,
                kind: row.get(1)?,
                proposal: row.get(2)?,
                project: row.get(3)?,
                state: row.get(4)?,
                started_at: row.get::<_, At>(5)?.0,
                ended_at: row.get::<_, Option<At>>(6)?.map(|at| at.0),
                note: row.get(7)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(adoptions)
}

pub(super) fn intend(
    tx: &Tx<'_>,
    paths: &Paths,
    plan: &Plan,
    before: &[Option<Pinned>],
) -> Result<i64, Fault> {
    tx.execute(
        "INSERT INTO adoption (kind, proposal, project, state, started_at) VALUES (?1, ?2, ?3, 'intended', ?4)",
        (plan.kind, &plan.proposal, &plan.project, At(tx.now())),
    )?;
    let adoption = tx.last_insert_rowid();
    for (position, (change, pinned)) in plan.changes.iter().zip(before).enumerate() {
        let before_sha256 = match pinned {
            Some(pinned) => blobs::put(tx, &pinned.bytes, Keep::ForGood)?,
            None => String::new(),
        };
        let after_sha256 = match &change.after {
            Some(bytes) => blobs::put(tx, bytes, Keep::ForGood)?,
            None => String::new(),
        };
        let backup = pinned.as_ref().map_or_else(String::new, |_| {
            let name = change
                .real_path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy();
            paths
                .backups()
                .join(adoption.to_string())
                .join(format!("{position}-{name}"))
                .to_string_lossy()
                .into_owned()
        });
        let file = pinned.as_ref().map_or_else(String::new, |pinned| {
            format!("{}:{}", pinned.file.dev, pinned.file.ino)
        });
        tx.execute(
            "INSERT INTO adoption_target (adoption, position, target, live_path, real_path, before_sha256, before_mode,
                 before_file, after_sha256, backup_path) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            rusqlite::params![
                adoption,
                i64::try_from(position).unwrap_or(i64::MAX),
                change.target,
                change.live_path,
                change.real_path.to_string_lossy(),
                before_sha256,
                pinned.as_ref().map(|pinned| pinned.mode),
                file,
                after_sha256,
                backup,
            ],
        )?;
    }
    Ok(adoption)
}

pub(super) fn note_dirs(
    tx: &Tx<'_>,
    adoption: i64,
    position: usize,
    created: &[CreatedDir],
) -> Result<(), Fault> {
    tx.execute(
        "UPDATE adoption_target SET created_dirs = ?3 WHERE adoption = ?1 AND position = ?2",
        (
            adoption,
            i64::try_from(position).unwrap_or(i64::MAX),
            to_json("folders", created)?,
        ),
    )?;
    Ok(())
}

/// Step 4.
pub(super) fn commit(tx: &Tx<'_>, adoption: i64, plan: &Plan) -> Result<Vec<Receipt>, Fault> {
    let journal = targets(tx, adoption)?;
    if plan.kind == Kind::Adopt {
        for (target, change) in journal.iter().zip(&plan.changes) {
            let dirs: Vec<&str> = target
                .created_dirs
                .iter()
                .map(|dir| dir.path.as_str())
                .collect();
            tx.execute(
                "INSERT INTO receipt (adoption, proposal, project, target, live_path, real_path, sha256_before,
                     sha256_after, mode_before, created_dirs, backup_path, edits, adopted_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                rusqlite::params![
                    adoption,
                    plan.proposal,
                    plan.project,
                    target.target,
                    target.live_path,
                    target.real_path.to_string_lossy(),
                    target.before_sha256,
                    target.after_sha256,
                    target.before_mode,
                    to_json("folders", &dirs)?,
                    target.backup_path,
                    to_json("edits", &change.edits)?,
                    At(tx.now()),
                ],
            )?;
        }
    }
    for receipt in &plan.undoes {
        let changed = tx.execute(
            "UPDATE receipt SET undone_at = ?2, undone_by = ?3 WHERE id = ?1 AND undone_at IS NULL",
            (receipt, At(tx.now()), adoption),
        )?;
        if changed == 0 {
            return Err(Problem::refused(
                "already_rolled_back",
                "This adoption was rolled back before.",
                "`skillopt proposal show` says when.",
            )
            .into());
        }
    }
    tx.execute(
        "UPDATE adoption SET state = 'committed', ended_at = ?2 WHERE id = ?1",
        (adoption, At(tx.now())),
    )?;
    receipts::of_adoption(tx, adoption)
}
