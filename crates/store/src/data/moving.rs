//! Moving the data folder: copy, verify, switch; the old one stays until it is removed by request.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use skillopt_core::Problem;

use super::{database_files, empty_destination, export, folders, tree};
use crate::fault::{Fault, io_problem};
use crate::files;
use crate::locks;
use crate::paths::Paths;
use crate::store::Store;

/// The file in a new folder that says whose unfinished copy it is; it goes when the copy is whole.
const UNFINISHED: &str = ".skillopt-move-unfinished";

/// A move that took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The old folder; it still has everything.
    pub from: PathBuf,
    /// The new one.
    pub to: PathBuf,
    /// Files copied besides the database.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Moves the data to the new folder `to`. From the next start on it is used; what is still running
/// on the old folder is refused with `data_moved` when it wants to write.
///
/// Errors: `data_dir_fixed` (`SKILLOPT_DATA_DIR` names the folder), `data_left_behind` (an earlier move
/// has not been cleaned up), `data_dir_busy`, `destination_unusable`, `destination_not_empty`,
/// `copy_differs`, and those of writing; then the old folder is in use as before. What an interrupted move
/// left in `to` is removed first.
pub fn move_to(store: &Store, paths: &Paths, to: &Path) -> Result<Moved, Problem> {
    if paths.data_fixed {
        return Err(Problem::permanent(
            "data_dir_fixed",
            format!(
                "SKILLOPT_DATA_DIR names {}; moving would have no effect.",
                paths.data.display()
            ),
            "Unset it, or copy the folder yourself and set it to the new place.",
        ));
    }
    if let Some(left) = left_behind(store, paths)? {
        return Err(Problem::permanent(
            "data_left_behind",
            format!(
                "{} still has the data from before the last move.",
                left.folder.display()
            ),
            "`skillopt data move --remove-old` deletes it; then move again.",
        ));
    }
    let new = Paths {
        data: to.to_owned(),
        ..paths.clone()
    };
    let _alone = locks::whole(paths)?;
    remove_unfinished(paths, &new)?;
    empty_destination(to, &paths.data)?;
    let mark = to.join(UNFINISHED);
    let ours = paths.data.as_os_str().as_encoded_bytes();
    files::write_private(&mark, ours)?;
    let mut moved = Moved {
        from: paths.data.clone(),
        to: to.to_owned(),
        files: 0,
        bytes: 0,
    };
    for (name, folder) in folders(paths) {
        let (files, bytes) = tree::copy(&folder, &to.join(name))?;
        moved.files += files;
        moved.bytes += bytes;
    }
    for (log, copy) in paths.logs().iter().zip(new.logs()) {
        if let Some(bytes) = tree::copy_file(log, &copy)? {
            moved.files += 1;
            moved.bytes += bytes;
        }
    }
    let earlier = match std::fs::read(paths.location()) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(io_problem(&error, "read", &paths.location())),
    };
    // This transaction keeps every other writer out until the copy is the one that counts.
    let result = store.commit("data moved", |tx| {
        copy_database(paths, &new)?;
        tree::remove_file(&mark)?;
        files::write_private(
            &paths.location(),
            format!("{}\n", to.to_string_lossy()).as_bytes(),
        )?;
        tx.execute(
            "INSERT INTO meta (key, value) VALUES ('moved_to', ?1)",
            [to.to_string_lossy()],
        )?;
        Ok(())
    });
    if let Err(problem) = result {
        // Without it the next try only says that the folder is not empty.
        let _ = files::write_private(&mark, ours);
        match earlier {
            Some(bytes) => files::write_private(&paths.location(), &bytes)?,
            None => tree::remove_file(&paths.location())?,
        }
        return Err(problem);
    }
    Ok(moved)
}

/// Removes the copy that an interrupted move from `paths` left in the folder of `new`.
fn remove_unfinished(paths: &Paths, new: &Paths) -> Result<(), Problem> {
    let mark = new.data.join(UNFINISHED);
    let whose = std::fs::read(&mark).unwrap_or_default();
    if whose != paths.data.as_os_str().as_encoded_bytes() {
        return Ok(());
    }
    for (_, folder) in folders(new) {
        tree::remove(&folder)?;
    }
    for file in new.logs().into_iter().chain(database_files(new)) {
        tree::remove_file(&file)?;
    }
    files::sweep(&new.data);
    // Last: it is how the rest is recognised when this is interrupted.
    tree::remove_file(&mark)
}

/// A folder that still has everything from before a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Left {
    /// The folder.
    pub folder: PathBuf,
    /// Bytes of the files of ours in it.
    pub bytes: u64,
}

/// What the last move left in its old place; `None` when nothing of it is there. Whatever else has
/// moved into that folder meanwhile is not ours.
pub fn left_behind(store: &Store, paths: &Paths) -> Result<Option<Left>, Problem> {
    let from: Option<String> = store.read(|db| {
        Ok(db
            .query_row(
                "SELECT value FROM meta WHERE key = 'moved_from'",
                [],
                |row| row.get(0),
            )
            .optional()?)
    })?;
    let Some(folder) = from.map(PathBuf::from) else {
        return Ok(None);
    };
    let old = Paths {
        data: folder.clone(),
        ..paths.clone()
    };
    let here = folder != paths.data && is_moved_to(&old, &paths.data);
    here.then(|| {
        Ok(Left {
            bytes: super::size(&old)?.total,
            folder,
        })
    })
    .transpose()
}

/// Whether the database of `old` says that it was moved to `data`.
fn is_moved_to(old: &Paths, data: &Path) -> bool {
    let said = || -> Result<String, Fault> {
        let db = crate::opening::connect(&old.database())?;
        Ok(
            db.query_row("SELECT value FROM meta WHERE key = 'moved_to'", [], |row| {
                row.get(0)
            })?,
        )
    };
    said().is_ok_and(|to| Path::new(&to) == data)
}

/// Removes what the last move left in its old place: our files, and the folder if nothing else is in
/// it. Gives what was removed. Error: `data_dir_busy` when something still runs there.
pub fn remove_left_behind(store: &Store, paths: &Paths) -> Result<Option<Left>, Problem> {
    let Some(left) = left_behind(store, paths)? else {
        return Ok(None);
    };
    let old = Paths {
        data: left.folder.clone(),
        ..paths.clone()
    };
    let alone = locks::whole(&old)?;
    for (_, folder) in folders(&old) {
        tree::remove(&folder)?;
    }
    tree::remove(&old.agents())?;
    for log in old.logs() {
        tree::remove_file(&log)?;
    }
    // The database goes last: it is how the rest is recognised when this is interrupted.
    for file in database_files(&old) {
        tree::remove_file(&file)?;
    }
    drop(alone);
    tree::remove(&old.locks())?;
    let _ = std::fs::remove_dir(&old.data);
    Ok(Some(left))
}

/// Copies the database with SQLite's own means, checks the copy, and turns paths that point into the
/// old folder to the new one.
fn copy_database(paths: &Paths, new: &Paths) -> Result<(), Fault> {
    let target = new.database();
    let open = |path: &Path| -> Result<Connection, Fault> { crate::opening::connect(path) };
    files::write_private(&target, b"")?;
    let source = open(&paths.database())?;
    let mut copy = open(&target)?;
    // What fails here is the copy, not the database that is read.
    let copied = rusqlite::backup::Backup::new(&source, &mut copy)
        .and_then(|backup| backup.run_to_completion(1024, Duration::ZERO, None));
    copied.map_err(|error| Fault::Sql(error).into_problem(&target))?;
    let verdict: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" || export::counts(&source)? != export::counts(&copy)? {
        return Err(Problem::permanent(
            "copy_differs",
            format!(
                "{} differs from the database that was copied there.",
                target.display()
            ),
            "Check the disk; the original is unchanged.",
        )
        .into());
    }
    let (from, to) = (
        format!("{}/", paths.data.display()),
        format!("{}/", new.data.display()),
    );
    for (table, column) in [
        ("proposal", "dir"),
        ("receipt", "backup_path"),
        ("adoption_target", "backup_path"),
    ] {
        copy.execute(
            &format!(
                "UPDATE {table} SET {column} = ?2 || substr({column}, length(?1) + 1)
                 WHERE substr({column}, 1, length(?1)) = ?1"
            ),
            (&from, &to),
        )?;
    }
    copy.execute(
        "INSERT INTO meta (key, value) VALUES ('moved_from', ?1) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [paths.data.to_string_lossy()],
    )?;
    copy.close().map_err(|(_, error)| Fault::Sql(error))?;
    tree::sync(&new.data)?;
    Ok(())
}
