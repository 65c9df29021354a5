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

/// Writes a copy of the database into the folder of copies; gives its path.
pub fn keep_copy(store: &Store, paths: &Paths) -> Result<PathBuf, Problem> {
    store.with_connection(|db| {
        Ok(opening::copy_before(
            paths,
            db,
            crate::SCHEMA_VERSION,
            store.clock().now(),
        )?)
    })
}

/// Puts the database and what belongs to it aside, bytes untouched, so that a new one can be made or
/// a copy restored. Gives the folder. No program may have it open.
pub fn set_aside(paths: &Paths, now: Instant) -> Result<PathBuf, Problem> {
    let _alone = crate::locks::whole(paths)?;
    let stamp = now.strftime("%Y%m%d-%H%M%S");
    let mut folder = paths.copies().join(format!("damaged-{stamp}"));
    let mut suffix = 2_u32;
    while folder.exists() {
        folder = paths.copies().join(format!("damaged-{stamp}-{suffix}"));
        suffix += 1;
    }
    files::create_private_dir(&folder)?;
    for file in database_files(paths) {
        let name = file.file_name().unwrap_or_default();
        match std::fs::rename(&file, folder.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io_problem(&error, "move aside", &file));
            }
            _ => {}
        }
    }
    Ok(folder)
}

/// Makes a copy the database again. There must be none: see [`set_aside`]. Error: `database_exists`.
pub fn restore(paths: &Paths, copy: &Path) -> Result<(), Problem> {
    let _alone = crate::locks::whole(paths)?;
    let database = paths.database();
    if database.exists() {
        return Err(Problem::permanent(
            "database_exists",
            format!("{} exists.", database.display()),
            "Put it aside first.",
        ));
    }
    let new = paths.data.join("skillopt.db.new");
    std::fs::remove_file(&new)
        .or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
        .map_err(|error| io_problem(&error, "remove", &new))?;
    let connection = opening::connect(copy).map_err(|fault| fault.into_problem(copy))?;
    opening::inspect(&connection, copy, crate::SCHEMA_VERSION)?;
    opening::vacuum_into(&connection, &new)?;
    std::fs::rename(&new, &database).map_err(|error| io_problem(&error, "restore", &database))
}
