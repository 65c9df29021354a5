//! Deleting: shown first, applied afterwards, and then really gone from the file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::Connection;
use serde::Serialize;
use skillopt_core::{Instant, Problem};

use super::{export, folders, handoffs, tree};
use crate::blobs;
use crate::fault::Fault;
use crate::locks;
use crate::paths::Paths;
use crate::row::{At, Count};
use crate::store::{Store, Tx};

/// What is to be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Purge {
    /// Everything about one project, by id: nights, tasks, proposals, receipts, backups.
    Project(String),
    /// Prompts, replies, stage outputs and events of nights that ended, used last before an instant
    /// (`None`: all of them), hand-off folders no night waits for, and what is remembered of
    /// transcripts, which are read again. Verdicts and hashes stay.
    Evidence {
        /// Only of this project, by id; transcripts are read again for all.
        project: Option<String>,
        /// Only what was used last before.
        #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
        before: Option<Instant>,
    },
    /// Everything about every project. Settings stay.
    Everything,
}

/// What a purge deletes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PurgePlan {
    /// What was asked for.
    pub what: Purge,
    /// Rows that are deleted, by table. For evidence, `blob` counts bodies.
    pub rows: BTreeMap<String, u64>,
    /// Folders that are deleted.
    pub folders: Vec<PathBuf>,
    /// Files that are deleted.
    pub files: Vec<PathBuf>,
    /// Bytes of these folders and files.
    pub bytes: u64,
    /// What the user should know before it is applied.
    pub notes: Vec<Note>,
}

/// Something to know before data is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "PurgeNote"))]
pub struct Note {
    /// Names what it says, for whoever says it in other words.
    pub code: String,
    /// The folder or the number it is about; empty when there is none.
    pub about: String,
    /// One sentence.
    pub message: String,
}

impl Note {
    /// A note about a folder or a number; the sentence names it itself.
    pub fn new(code: &str, about: &impl ToString, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            about: about.to_string(),
            message: message.into(),
        }
    }
}

/// What would be deleted. Nothing is changed. Error: `project_unknown`.
pub fn plan_purge(store: &Store, paths: &Paths, what: &Purge) -> Result<PurgePlan, Problem> {
    let (mut dirs, mut notes) = match what {
        Purge::Project(id) => store.read(|db| project_folders(db, paths, id))?,
        Purge::Evidence { project, before } => {
            let before = before.unwrap_or(Instant::MAX);
            let mut folders = store.read(|db| handoffs::done(db, paths, before))?;
            if let Some(project) = project {
                let own = handoffs::of_project(paths, project)?;
                folders.retain(|folder| own.contains(folder));
            }
            (folders, Vec::new())
        }
        Purge::Everything => (
            folders(paths)
                .into_iter()
                .map(|(_, folder)| folder)
                .chain([paths.agents()])
                .collect(),
            Vec::new(),
        ),
    };
    // Copies of the database and the log hold the words of every project; none can be taken out of them.
    if !dirs.contains(&paths.copies()) {
        dirs.push(paths.copies());
    }
    dirs.retain(|folder| folder.exists());
    let files: Vec<PathBuf> = paths
        .logs()
        .into_iter()
        .filter(|file| file.exists())
        .collect();
    if dirs.contains(&paths.copies()) {
        notes.push(Note::new(
            "copies_go",
            &"",
            "Earlier copies of the database go as well; they hold the same.",
        ));
    }
    if !files.is_empty() {
        notes.push(Note::new(
            "log_goes",
            &"",
            "The log of the app and of its nights goes as well; it holds words of every project.",
        ));
    }
    let mut bytes = 0;
    for folder in &dirs {
        bytes += tree::bytes(folder)?;
    }
    for file in &files {
        bytes += std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    }
    let standing: u64 = store.read(|db| {
        let project = match what {
            Purge::Project(id) => Some(id.as_str()),
            Purge::Evidence { .. } => return Ok(0),
            Purge::Everything => None,
        };
        Ok(db
            .query_row(
                "SELECT count(*) FROM receipt WHERE undone_at IS NULL AND (?1 IS NULL OR project = ?1)",
                [project],
                |row| row.get::<_, Count>(0),
            )?
            .0)
    })?;
    if standing > 0 {
        notes.push(Note::new(
            "adopted_stay",
            &standing,
            format!("{standing} adopted documents cannot be rolled back afterwards; they stay as they are."),
        ));
    }
    // The only way to know exactly what goes is to do it; the transaction is never committed.
    let rows = store.read_uncommitted(|tx| {
        let before = export::counts(tx)?;
        let bodies = delete(tx, what)?;
        let after = export::counts(tx)?;
        let mut rows: BTreeMap<String, u64> = before
            .into_iter()
            .map(|(table, count)| {
                let left = after.get(&table).copied().unwrap_or(0);
                (table, count.saturating_sub(left))
            })
            .filter(|(_, count)| *count > 0)
            .collect();
        if bodies > 0 {
            rows.insert("blob".to_owned(), bodies);
        }
        Ok(rows)
    })?;
    Ok(PurgePlan {
        what: what.clone(),
        rows,
        folders: dirs,
        files,
        bytes,
        notes,
    })
}

/// Deletes what `plan` says: the rows in one transaction, then the folders, and then the freed pages
/// of the database, which are overwritten. Nothing else may run: `data_dir_busy`.
pub fn apply_purge(store: &Store, paths: &Paths, plan: &PurgePlan) -> Result<(), Problem> {
    let _alone = locks::whole(paths)?;
    let unfinished = store.read(crate::adoption::unfinished)?;
    if !unfinished.is_empty() {
        return Err(Problem::temporary(
            "adoption_unfinished",
            "An adoption was interrupted and has not been undone yet.",
            "Run `skillopt sleep status` once; it undoes it.",
        ));
    }
    store.with_connection(|db| Ok(db.pragma_update(None, "secure_delete", true)?))?;
    store.commit("purge", |tx| delete(tx, &plan.what))?;
    // A copy may have been made since the plan was, and the log begun.
    for folder in plan.folders.iter().chain([&paths.copies()]) {
        tree::remove(folder)?;
    }
    for file in plan.files.iter().chain(&paths.logs()) {
        tree::remove_file(file)?;
    }
    // What was deleted is overwritten already; this gives the space back when there is room for it.
    store.with_connection(|db| {
        let _ = db
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA secure_delete = off;");
        Ok(())
    })
}

/// Deletes the rows; gives the number of bodies for evidence.
fn delete(tx: &Tx<'_>, what: &Purge) -> Result<u64, Fault> {
    match what {
        Purge::Project(id) => {
            tx.execute("DELETE FROM receipt WHERE project = ?1", [id])?;
            tx.execute("DELETE FROM adoption WHERE project = ?1", [id])?;
            tx.execute("DELETE FROM project WHERE id = ?1", [id])?;
            tx.execute(
                "DELETE FROM meta WHERE key IN (?1, ?2)",
                [
                    crate::projects::former_key(id),
                    crate::scheduled::mended_key(Some(id)),
                ],
            )?;
            sweep(tx)?;
            Ok(0)
        }
        Purge::Evidence { project, before } => {
            let before = before.unwrap_or(Instant::MAX);
            tx.execute(
                "DELETE FROM event WHERE night IN (SELECT id FROM night
                     WHERE state = 'ended' AND ended_at < ?1 AND (?2 IS NULL OR project = ?2))",
                (At(before), project),
            )?;
            tx.execute_batch("DELETE FROM transcript_file")?;
            Ok(blobs::expire_bodies(tx, project.as_deref(), before)? as u64)
        }
        Purge::Everything => {
            // Children before parents, so that no reference dangles on the way.
            for table in [
                "receipt",
                "adoption",
                "project",
                "transcript_file",
                "pause",
                "nights_pause",
            ] {
                tx.execute(&format!("DELETE FROM {table}"), [])?;
            }
            tx.execute(
                "DELETE FROM meta WHERE key LIKE ?1 OR key LIKE ?2",
                [
                    crate::projects::former_key("%"),
                    crate::scheduled::mended_key(Some("%")),
                ],
            )?;
            sweep(tx)?;
            Ok(0)
        }
    }
}

/// Deletes calls no night uses, and bytes nothing refers to. References are also looked for in the
/// pins and reports of nights, which name bytes by their hash.
fn sweep(tx: &Tx<'_>) -> Result<(), Fault> {
    tx.execute_batch(
        "DELETE FROM call WHERE NOT EXISTS (SELECT 1 FROM night_call WHERE night_call.key = call.key)
             AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.key = call.key);
         DELETE FROM blob WHERE hash NOT IN (
             SELECT request FROM call
             UNION SELECT reply FROM attempt WHERE reply IS NOT NULL
             UNION SELECT output FROM stage WHERE output IS NOT NULL
             UNION SELECT proposed_sha256 FROM proposal_target
             UNION SELECT live_sha256 FROM proposal_target
             UNION SELECT before_sha256 FROM adoption_target
             UNION SELECT after_sha256 FROM adoption_target
             UNION SELECT sha256_before FROM receipt
             UNION SELECT sha256_after FROM receipt
             UNION SELECT atom FROM night, json_tree(night.pins) WHERE length(atom) = 64
             UNION SELECT atom FROM night, json_tree(night.report) WHERE length(atom) = 64);",
    )?;
    Ok(())
}

/// The folders of one project, and what is not ours to delete.
fn project_folders(
    db: &Connection,
    paths: &Paths,
    id: &str,
) -> Result<(Vec<PathBuf>, Vec<Note>), Fault> {
    if crate::projects::get(db, id)?.is_none() {
        return Err(crate::projects::unknown(id));
    }
    let texts = |sql: &str| -> Result<Vec<String>, Fault> {
        let mut statement = db.prepare(sql)?;
        let texts = statement
            .query_map([id], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok(texts)
    };
    let mut dirs = Vec::new();
    let mut notes = Vec::new();
    for dir in texts("SELECT dir FROM proposal WHERE project = ?1 ORDER BY id")? {
        let dir = PathBuf::from(dir);
        if dir.parent() == Some(&paths.staging()) {
            dirs.push(dir);
        } else {
            let message = format!("{} is inside the project and stays.", dir.display());
            notes.push(Note::new("staging_stays", &dir.display(), message));
        }
    }
    for adoption in texts("SELECT CAST(id AS TEXT) FROM adoption WHERE project = ?1 ORDER BY id")? {
        dirs.push(paths.backups().join(adoption));
    }
    dirs.extend(handoffs::of_project(paths, id)?);
    Ok((dirs, notes))
}
