//! Is the database sound, and what to go on from when it is not.

use std::path::{Path, PathBuf};

use skillopt_core::{Instant, Problem};

use crate::data::database_files;
use crate::fault::{Fault, io_problem};
use crate::files;
use crate::opening;
use crate::paths::Paths;
use crate::store::Store;

/// What is wrong with the database, in SQLite's words; empty when it is sound. Reads all of it.
pub fn check(store: &Store) -> Result<Vec<String>, Problem> {
    store.read(|db| {
        let mut statement = db.prepare("PRAGMA integrity_check(20)")?;
        let words: Vec<String> = statement
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut faults: Vec<String> = words.into_iter().filter(|word| word != "ok").collect();
        let mut statement = db.prepare("PRAGMA foreign_key_check")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
            faults.push(format!(
                "a row of {table} refers to a missing row of {parent}"
            ));
        }
        Ok(faults)
    })
}

/// A copy of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseCopy {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it opens and is sound.
    pub sound: bool,
}

/// The copies made before migrations and by [`keep_copy`], newest first by the time of writing.
pub fn copies(paths: &Paths) -> Vec<DatabaseCopy> {
    let Ok(entries) = std::fs::read_dir(paths.copies()) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(|entry| {
            entry
                .path()
                .extension()
                .is_some_and(|extension| extension == "db")
        })
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    found.sort();
    found
        .into_iter()
        .rev()
        .map(|(_, path)| DatabaseCopy {
            sound: is_sound(&path),
            path,
        })
        .collect()
}

/// The newest copy that is sound.
#[must_use]
pub fn newest_sound_copy(paths: &Paths) -> Option<PathBuf> {
    copies(paths)
        .into_iter()
        .find(|copy| copy.sound)
        .map(|copy| copy.path)
}

/// Whether the file at `path` is a database of ours that this program knows, without a fault.
#[must_use]
pub fn is_sound(path: &Path) -> bool {
    let sound = || -> Result<bool, Fault> {
        let connection = opening::connect(path)?;
        opening::inspect(&connection, path, crate::SCHEMA_VERSION)?;
        let verdict: String =
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(verdict == "ok")
    };
    sound().unwrap_or(false)
}

/// Writes a copy of the database into the folder of copies; gives its path. Error: `data_dir_busy` while the
/// data is purged or moved, which waits for a copy in turn.
pub fn keep_copy(store: &Store, paths: &Paths) -> Result<PathBuf, Problem> {
    let _alone = crate::locks::copying(paths, store.clock().now())?;
    store.with_connection(|db| {
        Ok(opening::copy_before(
            paths,
            db,
            crate::SCHEMA_VERSION,
            store.clock().now(),
        )?)
    })
}

/// How the database is, as far as that can be told without opening the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It opens and has no fault.
    Sound,
    /// It is damaged.
    Damaged,
    /// There is none.
    Missing,
}

/// How the database is.
///
/// # Errors
/// What says nothing about damage: `database_newer`, `data_dir_unusable`, `data_dir_read_only`, …
pub fn condition(paths: &Paths) -> Result<Condition, Problem> {
    let path = paths.database();
    let exists = |path: &Path| {
        path.try_exists()
            .map_err(|error| io_problem(&error, "open", path))
    };
    if exists(&paths.restored())? {
        // An interrupted restore: what is in the place of the database is what it gives way to.
        return Ok(Condition::Damaged);
    }
    if !exists(&path)? {
        return Ok(Condition::Missing);
    }
    // SQLite may only say that it cannot open it, and says of a folder that it is damaged.
    std::fs::File::open(&path).map_err(|error| io_problem(&error, "read", &path))?;
    let verdict = || -> Result<String, Fault> {
        let connection = opening::connect(&path)?;
        opening::inspect(&connection, &path, crate::SCHEMA_VERSION)?;
        Ok(connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?)
    };
    match verdict().map_err(|fault| fault.into_problem(&path)) {
        Ok(verdict) if verdict == "ok" => Ok(Condition::Sound),
        Ok(_) => Ok(Condition::Damaged),
        Err(problem) if problem.code == "database_corrupt" => Ok(Condition::Damaged),
        Err(problem) => Err(problem),
    }
}

/// Puts `copy` in the place of the database, or an empty one when there is no copy. What was there is
/// kept, bytes untouched, in a folder whose path is given; `None` when there was nothing. No program may
/// have it open. Interrupted at any point, either nothing has changed or the next start finishes it.
pub fn replace(
    paths: &Paths,
    copy: Option<&Path>,
    now: Instant,
) -> Result<Option<PathBuf>, Problem> {
    opening::create_data_dir(paths)?;
    let _whole = crate::locks::whole(paths)?;
    let kept = keep(paths, now)?;
    opening::replace(paths, copy)?;
    Ok(kept)
}

/// Gives the database and what belongs to it a second name in a folder of its own.
fn keep(paths: &Paths, now: Instant) -> Result<Option<PathBuf>, Problem> {
    let there: Vec<PathBuf> = database_files(paths)
        .into_iter()
        .filter(|file| file.exists())
        .collect();
    if there.is_empty() {
        return Ok(None);
    }
    let stamp = now.strftime("%Y%m%d-%H%M%S");
    let mut folder = paths.copies().join(format!("damaged-{stamp}"));
    let mut suffix = 2_u32;
    while folder.exists() {
        folder = paths.copies().join(format!("damaged-{stamp}-{suffix}"));
        suffix += 1;
    }
    files::create_private_dir(&folder)?;
    for file in there {
        let kept = folder.join(file.file_name().unwrap_or_default());
        // Not every file system has second names.
        std::fs::hard_link(&file, &kept)
            .or_else(|_| {
                std::fs::copy(&file, &kept)?;
                std::fs::File::options().write(true).open(&kept)?.sync_all()
            })
            .map_err(|error| io_problem(&error, "keep", &file))?;
    }
    Ok(Some(folder))
}
