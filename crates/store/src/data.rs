//! What belongs to the user about their data: how much there is, taking it out, deleting it, and
//! moving it elsewhere.

use std::path::{Path, PathBuf};

use serde::Serialize;
use skillopt_core::Problem;

use crate::fault::io_problem;
use crate::paths::Paths;

#[path = "data/export.rs"]
mod export;
#[path = "data/handoffs.rs"]
mod handoffs;
#[path = "data/moving.rs"]
mod moving;
#[path = "data/purge.rs"]
mod purge;
#[path = "data/tree.rs"]
mod tree;

pub use export::{Exported, export};
pub use handoffs::expire as expire_handoffs;
pub use moving::{Left, Moved, left_behind, move_to, remove_left_behind};
pub use purge::{Note, Purge, PurgePlan, apply_purge, plan_purge};

/// Bytes on disk, by what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Size {
    /// The database with its journal.
    pub database: u64,
    /// Copies of the database made before migrations.
    pub copies: u64,
    /// Staged bundles.
    pub staging: u64,
    /// Documents of the user before adoptions.
    pub backups: u64,
    /// Questions and answers of the hand-off backend.
    pub handoff: u64,
    /// The log: what the app said, and what nights printed.
    pub log: u64,
    /// All of the above.
    pub total: u64,
}

/// How much is stored. Folders that do not exist count as nothing.
pub fn size(paths: &Paths) -> Result<Size, Problem> {
    let bytes = |file: &Path| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
    let mut size = Size::default();
    for file in database_files(paths) {
        size.database += bytes(&file);
    }
    size.log = paths.logs().iter().map(|log| bytes(log)).sum();
    size.copies = tree::bytes(&paths.copies())?;
    size.staging = tree::bytes(&paths.staging())?;
    size.backups = tree::bytes(&paths.backups())?;
    size.handoff = tree::bytes(&handoff(paths))?;
    size.total =
        size.database + size.copies + size.staging + size.backups + size.handoff + size.log;
    Ok(size)
}

/// The database and the files SQLite keeps beside it.
pub(crate) fn database_files(paths: &Paths) -> [PathBuf; 3] {
    let beside = |suffix: &str| paths.data.join(format!("skillopt.db{suffix}"));
    [paths.database(), beside("-wal"), beside("-shm")]
}

/// Largest log, in bytes; as much again is kept of what was in it before.
const LARGEST_LOG: u64 = 1_000_000;

/// Puts the log aside when it has grown large, and makes it private: the shell that cron
/// starts made it. It may be open for appending meanwhile, so what is in it is copied and the file stays.
pub fn bound_log(paths: &Paths) -> Result<(), Problem> {
    let log = paths.log();
    let bounded = || -> std::io::Result<()> {
        let file = std::fs::File::options().append(true).open(&log)?;
        crate::files::make_private(&log)?;
        if file.metadata()?.len() > LARGEST_LOG {
            let earlier = paths.earlier_log();
            std::fs::copy(&log, &earlier)?;
            crate::files::make_private(&earlier)?;
            file.set_len(0)?;
        }
        Ok(())
    };
    match bounded() {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io_problem(&error, "shorten", &log))
        }
        _ => Ok(()),
    }
}

/// Opens the log for appending; it is made when it is missing, for its owner only.
pub fn open_log(paths: &Paths) -> Result<std::fs::File, Problem> {
    let log = paths.log();
    crate::files::create_private_dir(&paths.data)?;
    std::fs::File::options()
        .create(true)
        .append(true)
        .open(&log)
        .and_then(|file| crate::files::make_private(&log).map(|()| file))
        .map_err(|error| io_problem(&error, "open", &log))
}

/// Makes the data folder and the one of the locks in it, for their owner only, when they are missing.
///
/// Errors: `data_dir_read_only`, `data_dir_unusable`, and those of making folders.
pub fn make_folders(paths: &Paths) -> Result<(), Problem> {
    crate::opening::create_data_dir(paths)?;
    crate::files::create_private_dir(&paths.locks())
}

/// The folder of all hand-offs.
fn handoff(paths: &Paths) -> PathBuf {
    paths.data.join("handoff")
}

/// The folders that hold files of ours besides the database.
fn folders(paths: &Paths) -> [(&'static str, PathBuf); 4] {
    [
        ("copies", paths.copies()),
        ("staging", paths.staging()),
        ("backups", paths.backups()),
        ("handoff", handoff(paths)),
    ]
}

/// A folder that something is copied to: absolute, missing or empty, and not inside `data`.
fn empty_destination(to: &Path, data: &Path) -> Result<(), Problem> {
    if !to.is_absolute() || to.starts_with(data) || data.starts_with(to) {
        return Err(Problem::refused(
            "destination_unusable",
            format!(
                "{} cannot take the data: it is not a folder of its own.",
                to.display()
            ),
            "Name the whole path of a folder outside the data folder.",
        ));
    }
    let entries = match std::fs::read_dir(to) {
        Ok(mut entries) => entries.next(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(io_problem(&error, "use", to)),
    };
    match entries {
        None => Ok(()),
        Some(_) => Err(Problem::refused(
            "destination_not_empty",
            format!("{} is not empty.", to.display()),
            "Name a folder that does not exist yet, or an empty one.",
        )),
    }
}

#[cfg(test)]
#[path = "data/tests.rs"]
mod tests;
