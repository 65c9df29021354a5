//! The adoption journal: writing to several documents of the user as one transaction.
//!
//! 1. The documents are locked, what a dead process left of them is undone, and each is compared
//!    with what the change was made for.
//! 2. The intent is committed durably, with the bytes before and after of every document.
//! 3. Backups, folders and documents are written, each document in one step and only over the bytes
//!    it was made for; then all are read back.
//! 4. Receipts, and what the caller has to say in the same transaction, are committed durably. This
//!    is the commit point.
//!
//! A failure in step 3 undoes what was written. A process that dies there leaves an intended
//! adoption, which [`recover`] undoes at the next start. Undoing never overwrites what a person
//! wrote meanwhile: such a document is left as it is and named, and its earlier bytes stay in the
//! store. A rollback is the same thing with before and after exchanged.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::Serialize;
use skillopt_core::Problem;
use skillopt_core::edit::Edit;

use crate::blobs;
use crate::fault::{Fault, unreadable};
use crate::files::{self, Expected, NewFile, Pinned};
use crate::locks;
use crate::paths::Paths;
use crate::proposals;
use crate::receipts::Receipt;
use crate::row::At;
use crate::store::{Store, Tx};
use crate::words::words;

#[path = "adoption/journal.rs"]
mod journal;

pub use journal::{
    Adoption, CreatedDir, JournalTarget, State, get, of_proposal, targets, unfinished,
};

words! {
    /// Which way an adoption goes.
    Kind {
        /// Proposed bytes take the place of live ones.
        Adopt = "adopt",
        /// Earlier bytes come back.
        Rollback = "rollback",
    }
}

/// What is to become of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Id of the target within the proposal.
    pub target: String,
    /// Where the agent looks for the document.
    pub live_path: String,
    /// The file that is written: see [`crate::documents::resolve`].
    pub real_path: PathBuf,
    /// SHA-256 it must have now; empty when there must be no file.
    pub expected_sha256: String,
    /// What it becomes; `None` removes the file (the rollback of a file that was new).
    pub after: Option<Vec<u8>>,
    /// Permission bits for a file that comes back; `None` as any editor would make it.
    pub mode: Option<u32>,
    /// The edits that make the difference, for the receipt.
    pub edits: Vec<Edit>,
    /// Folders to remove afterwards if they are empty, outermost first (rollback).
    pub remove_dirs: Vec<String>,
}

/// Several changes that happen together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Which way it goes.
    pub kind: Kind,
    /// The proposal.
    pub proposal: String,
    /// Id of the project.
    pub project: String,
    /// The documents; each file once.
    pub changes: Vec<Change>,
    /// Receipts that are rolled back by it.
    pub undoes: Vec<i64>,
}

/// An adoption that was found unfinished and undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recovered {
    /// Its id.
    pub adoption: i64,
    /// The proposal.
    pub proposal: String,
    /// Files that are as they were before it.
    pub restored: Vec<PathBuf>,
    /// Files a person changed meanwhile, left as they are; and files that hold what was set aside.
    pub left: Vec<PathBuf>,
}

impl Recovered {
    /// What whoever was at work is told: that it was undone, and of each file that was left.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let undone = format!(
            "An adoption of {} that was cut short was taken back.",
            self.proposal
        );
        let left = self.left.iter().map(|path| {
            format!(
                "{} was changed meanwhile and was left as it is.",
                path.display()
            )
        });
        std::iter::once(undone).chain(left).collect()
    }
}

/// Writes all documents of `plan`, or none. `finish` runs in the transaction that commits it.
///
/// Errors: `document_busy`, `file_changed`, `file_is_link`, `folder_is_link`, `file_has_links`,
/// `disk_full`, …; then every document is as before. `adoption_conflict` when a document could not
/// be put back because a person changed it meanwhile.
pub fn perform(
    store: &Store,
    paths: &Paths,
    plan: &Plan,
    finish: impl FnOnce(&Tx<'_>, &[Receipt]) -> Result<(), Fault>,
) -> Result<Vec<Receipt>, Problem> {
    let doing = match plan.kind {
        Kind::Adopt => "adopting a proposal",
        Kind::Rollback => "rolling back a proposal",
    };
    let files: Vec<PathBuf> = plan
        .changes
        .iter()
        .map(|change| change.real_path.clone())
        .collect();
    let _locks = locks::documents(paths, &files, doing, store.clock().now())?;
    for left in store.read(unfinished)? {
        let targets = store.read(|db| targets(db, left.id))?;
        if targets
            .iter()
            .any(|target| files.contains(&target.real_path))
        {
            let others: Vec<PathBuf> = targets
                .into_iter()
                .map(|target| target.real_path)
                .filter(|path| !files.contains(path))
                .collect();
            let _others = locks::documents(paths, &others, doing, store.clock().now())?;
            undo(store, &left)?;
        }
    }
    let before = plan
        .changes
        .iter()
        .map(pin)
        .collect::<Result<Vec<_>, _>>()?;
    let adoption = store.commit_durably("adoption intended", |tx| {
        journal::intend(tx, paths, plan, &before)
    })?;
    let written = write_all(store, adoption, plan, &before).and_then(|()| {
        store.commit_durably("adoption committed", |tx| {
            let receipts = journal::commit(tx, adoption, plan)?;
            finish(tx, &receipts)?;
            Ok(receipts)
        })
    });
    match written {
        Ok(receipts) => {
            remove_empty_dirs(plan);
            Ok(receipts)
        }
        Err(problem) => {
            let journal = store.read(|db| get(db, adoption))?;
            let Some(journal) = journal.filter(|journal| journal.state == State::Intended) else {
                return Err(problem);
            };
            let recovered = undo(store, &journal)?;
            if recovered.left.is_empty() {
                Err(problem)
            } else {
                Err(conflict(&problem, &recovered))
            }
        }
    }
}

/// Undoes what dead processes left unfinished, and deletes their temporary files; for the start of
/// every program. What another process is working on now is not touched.
pub fn recover(store: &Store, paths: &Paths) -> Result<Vec<Recovered>, Problem> {
    let mut recovered = Vec::new();
    for folder in [&paths.config, &paths.config.join("projects")] {
        files::sweep(folder);
    }
    for folder in store.read(unfinished_folders)? {
        files::sweep(&folder);
    }
    for left in store.read(unfinished)? {
        let targets = store.read(|db| targets(db, left.id))?;
        let files: Vec<PathBuf> = targets.into_iter().map(|target| target.real_path).collect();
        let _locks = match locks::documents(
            paths,
            &files,
            "undoing an unfinished adoption",
            store.clock().now(),
        ) {
            Ok(locks) => locks,
            Err(problem) if problem.code == "document_busy" => continue,
            Err(problem) => return Err(problem),
        };
        // Its process may have finished it before it let go of the locks.
        if let Some(left) = store
            .read(|db| get(db, left.id))?
            .filter(|left| left.state == State::Intended)
        {
            recovered.push(undo(store, &left)?);
        }
    }
    Ok(recovered)
}

/// The folders of bundles and backups that were begun and not finished. Those that are whole are not
/// looked at, so that a start costs the same however many there are.
fn unfinished_folders(db: &Connection) -> Result<BTreeSet<PathBuf>, Fault> {
    let mut folders = BTreeSet::new();
    folders.extend(proposals::draft_folders(db)?);
    for left in unfinished(db)? {
        let backups = targets(db, left.id)?;
        folders.extend(
            backups
                .iter()
                .filter_map(|target| Path::new(&target.backup_path).parent())
                .map(Path::to_owned),
        );
    }
    Ok(folders)
}

/// The plan that takes back what `receipts` say, newest first. A file that was changed since then is refused with `file_changed` when the plan is performed.
///
/// Error: `before_image_missing` when bytes were purged.
pub fn rollback_plan(db: &Connection, receipts: &[Receipt]) -> Result<Plan, Fault> {
    let mut changes = Vec::with_capacity(receipts.len());
    for receipt in receipts {
        let after = if receipt.sha256_before.is_empty() {
            None
        } else {
            Some(blobs::get(db, &receipt.sha256_before)?.ok_or_else(|| {
                Problem::permanent(
                    "before_image_missing",
                    format!(
                        "The bytes of {} before the adoption were purged.",
                        receipt.real_path
                    ),
                    format!("A copy may still be at {}.", receipt.backup_path),
                )
            })?)
        };
        changes.push(Change {
            target: receipt.target.clone(),
            live_path: receipt.live_path.clone(),
            real_path: PathBuf::from(&receipt.real_path),
            expected_sha256: receipt.sha256_after.clone(),
            after,
            mode: receipt.mode_before,
            edits: Vec::new(),
            remove_dirs: receipt.created_dirs.clone(),
        });
    }
    let first = receipts.first();
    Ok(Plan {
        kind: Kind::Rollback,
        proposal: first
            .map(|receipt| receipt.proposal.clone())
            .unwrap_or_default(),
        project: first
            .map(|receipt| receipt.project.clone())
            .unwrap_or_default(),
        changes,
        undoes: receipts.iter().map(|receipt| receipt.id).collect(),
    })
}

/// Whether every document is still what `plan` was made for. Errors as [`perform`]; nothing is changed.
pub fn check(plan: &Plan) -> Result<(), Problem> {
    plan.changes
        .iter()
        .try_for_each(|change| pin(change).map(|_| ()))
}

/// What the document is now, when it is what the change was made for.
fn pin(change: &Change) -> Result<Option<Pinned>, Problem> {
    let path = &change.real_path;
    if path.to_str().is_none() {
        return Err(Problem::permanent(
            "path_not_text",
            format!("The path {} is not valid Unicode.", path.display()),
            "Rename the folder so that its path is plain text.",
        ));
    }
    let pinned = files::read_pinned(path)?;
    let found = pinned.as_ref().map_or("", |pinned| pinned.sha256.as_str());
    if found != change.expected_sha256 {
        return Err(files::changed(path));
    }
    match &pinned {
        Some(pinned) if pinned.links > 1 => Err(files::has_links(path, pinned.links)),
        _ => Ok(pinned),
    }
}

/// Step 3: backups, folders, documents; then all are read back.
fn write_all(
    store: &Store,
    adoption: i64,
    plan: &Plan,
    before: &[Option<Pinned>],
) -> Result<(), Problem> {
    let journal = store.read(|db| targets(db, adoption))?;
    for (target, pinned) in journal.iter().zip(before) {
        if let Some(pinned) = pinned {
            files::write_private(Path::new(&target.backup_path), &pinned.bytes)?;
        }
    }
    for (position, change) in plan.changes.iter().enumerate() {
        if change.after.is_some() {
            let created = files::create_document_dirs(&change.real_path)?;
            if !created.is_empty() {
                store.commit_durably("adoption folders", |tx| {
                    journal::note_dirs(tx, adoption, position, &created)
                })?;
            }
        }
    }
    for change in &plan.changes {
        match &change.after {
            Some(bytes) => {
                let mode = change.mode.map_or(NewFile::Document, NewFile::Mode);
                files::replace_pinned(
                    &change.real_path,
                    Expected::from_sha256(&change.expected_sha256),
                    bytes,
                    mode,
                )?;
            }
            None => files::remove_pinned(&change.real_path, &change.expected_sha256)?,
        }
    }
    for change in &plan.changes {
        let found = files::read_pinned(&change.real_path)?;
        let same = match (&found, &change.after) {
            (Some(found), Some(bytes)) => &found.bytes == bytes,
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Err(files::changed(&change.real_path));
        }
    }
    Ok(())
}

/// Puts every document of an intended adoption back as it was, last one first. The caller holds
/// the locks of all its documents.
fn undo(store: &Store, journal: &Adoption) -> Result<Recovered, Problem> {
    let targets = store.read(|db| targets(db, journal.id))?;
    let mut recovered = Recovered {
        adoption: journal.id,
        proposal: journal.proposal.clone(),
        restored: Vec::new(),
        left: Vec::new(),
    };
    for target in targets.iter().rev() {
        let before = store.read(|db| bytes(db, &target.before_sha256))?;
        let after = store.read(|db| bytes(db, &target.after_sha256))?;
        put_back(
            target,
            before.as_deref(),
            after.as_deref().unwrap_or_default(),
            &mut recovered,
        )?;
    }
    for dir in targets.iter().flat_map(|target| &target.created_dirs).rev() {
        files::remove_created_dir(dir);
    }
    let note = if recovered.left.is_empty() {
        String::new()
    } else {
        let names: Vec<_> = recovered
            .left
            .iter()
            .map(|path| path.to_string_lossy())
            .collect();
        format!("left as found: {}", names.join(", "))
    };
    store.commit_durably("adoption undone", |tx| {
        tx.execute(
            "UPDATE adoption SET state = 'undone', ended_at = ?2, note = ?3 WHERE id = ?1 AND state = 'intended'",
            (journal.id, At(tx.now()), &note),
        )?;
        Ok(())
    })?;
    Ok(recovered)
}

fn put_back(
    target: &JournalTarget,
    before: Option<&[u8]>,
    after: &[u8],
    recovered: &mut Recovered,
) -> Result<(), Problem> {
    let path = &target.real_path;
    recovered.left.extend(files::clear_temporaries(
        path,
        &target.before_sha256,
        after,
    )?);
    let Ok(found) = files::read_pinned(path) else {
        // A link or a folder took its place: not our doing.
        recovered.left.push(path.clone());
        return Ok(());
    };
    let found_sha256 = found.as_ref().map_or("", |pinned| pinned.sha256.as_str());
    if found_sha256 == target.before_sha256 {
        recovered.restored.push(path.clone());
        return Ok(());
    }
    if found_sha256 != target.after_sha256 {
        recovered.left.push(path.clone());
        return Ok(());
    }
    let restored = match before {
        Some(bytes) => {
            let mode = target.before_mode.map_or(NewFile::Document, NewFile::Mode);
            files::replace_pinned(
                path,
                Expected::from_sha256(&target.after_sha256),
                bytes,
                mode,
            )
            .map(|_| ())
        }
        None => files::remove_pinned(path, &target.after_sha256),
    };
    match restored {
        Ok(()) => recovered.restored.push(path.clone()),
        Err(problem)
            if ["file_changed", "file_is_link", "folder_is_link"]
                .contains(&problem.code.as_ref()) =>
        {
            recovered.left.push(path.clone());
        }
        Err(problem) => return Err(problem),
    }
    Ok(())
}

fn bytes(db: &Connection, sha256: &str) -> Result<Option<Vec<u8>>, Fault> {
    if sha256.is_empty() {
        return Ok(None);
    }
    let bytes =
        blobs::get(db, sha256)?.ok_or_else(|| unreadable("document", "its bytes are missing"))?;
    Ok(Some(bytes))
}

/// After a rollback, folders that were made for a document go again if they are empty.
fn remove_empty_dirs(plan: &Plan) {
    for dir in plan
        .changes
        .iter()
        .flat_map(|change| change.remove_dirs.iter().rev())
    {
        // Not empty, or gone: both are fine.
        let _ = std::fs::remove_dir(dir);
    }
}

fn conflict(problem: &Problem, recovered: &Recovered) -> Problem {
    let names: Vec<_> = recovered
        .left
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Problem::permanent(
        "adoption_conflict",
        format!(
            "{} {} changed meanwhile and was left as it is; the other documents are as before.",
            problem.message,
            names.join(", ")
        ),
        "Look at the named files; `skillopt proposal show` names the copies of what was there before.",
    )
}

#[cfg(test)]
#[path = "adoption/tests.rs"]
mod tests;
