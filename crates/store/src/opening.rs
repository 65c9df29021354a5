//! Opening the database: making it, bringing it up to date, and refusing what must not be touched.
//!
//! A new database is built under another name and takes its own in one step, so a file that is there
//! but empty was damaged from outside and is not silently replaced, and neither is one that is missing
//! beside what belongs to it. A migration first makes a copy. Making and migrating are done by one process
//! at a time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Monotonic};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use skillopt_core::{Instant, Problem};

use crate::failpoints::{Family, step};
use crate::fault::{Fault, corrupt, io_problem};
use crate::files;
use crate::locks::Locked;
use crate::paths::Paths;

/// The scripts that lead from an empty database to today's, one per schema version from 1.
const SCRIPTS: &[&str] = &[
    include_str!("schema/001.sql"),
    include_str!("schema/002.sql"),
    include_str!("schema/003.sql"),
    include_str!("schema/004.sql"),
];

/// The schema version of this program.
pub const SCHEMA_VERSION: usize = SCRIPTS.len();

/// Marks a database as ours (`PRAGMA application_id`): "SkOp".
const APPLICATION_ID: i64 = 0x536b_4f70;

/// How many copies made before migrations are kept.
const COPIES_KEPT: usize = 5;
/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens the database of `paths` at today's schema.
pub(crate) fn open(paths: &Paths, now: Instant) -> Result<Connection, Problem> {
    open_with(paths, now, SCRIPTS)
}

fn open_with(paths: &Paths, now: Instant, scripts: &[&str]) -> Result<Connection, Problem> {
    let path = paths.database();
    let named = |fault: Fault| fault.into_problem(&path);
    if exists(&paths.restored())? {
        let _alone = alone(paths)?;
        finish_restoring(paths)?;
    }
    if !exists(&path)? {
        refuse_if_orphaned(paths)?;
        create(paths, scripts)?;
    }
    files::make_private(&path).map_err(|error| data_problem(&error, &path))?;
    let mut connection = connect(&path).map_err(named)?;
    let version = inspect(&connection, &path, scripts.len())?;
    configure(&connection).map_err(named)?;
    if version < scripts.len() {
        let _alone = alone(paths)?;
        // Another process may have done it meanwhile.
        let version = inspect(&connection, &path, scripts.len())?;
        if version < scripts.len() {
            copy_before(paths, &connection, version, now)?;
            for (older, script) in scripts.iter().enumerate().skip(version) {
                migrate(&mut connection, script, older + 1).map_err(named)?;
            }
        }
    }
    Ok(connection)
}

/// A database in memory at today's schema.
pub(crate) fn in_memory() -> Result<Connection, Fault> {
    let mut connection = Connection::open_in_memory()?;
    configure(&connection)?;
    for (older, script) in SCRIPTS.iter().enumerate() {
        migrate(&mut connection, script, older + 1)?;
    }
    Ok(connection)
}

/// Opens an existing file without changing it.
pub(crate) fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // Until the version is known, closing must not write either.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// The schema version of a database that is ours and not newer than this program.
pub(crate) fn inspect(
    connection: &Connection,
    path: &Path,
    known: usize,
) -> Result<usize, Problem> {
    let number = |pragma: &str| -> Result<i64, Problem> {
        connection
            .pragma_query_value(None, pragma, |row| row.get(0))
            .map_err(|error| Fault::Sql(error).into_problem(path))
    };
    let version = number("user_version")?;
    if number("application_id")? != APPLICATION_ID || version < 1 {
        return Err(corrupt(path, "it is empty or not a database of SkillOpt"));
    }
    match usize::try_from(version) {
        Ok(version) if version <= known => Ok(version),
        _ => Err(newer(connection, path, version, known)),
    }
}

/// A database this program must not touch.
pub(crate) fn newer(connection: &Connection, path: &Path, version: i64, known: usize) -> Problem {
    let written_by: String = connection
        .query_row(
            "SELECT value FROM meta WHERE key = 'written_by'",
            [],
            |row| row.get(0),
        )
        .unwrap_or_else(|_| "a newer version".to_owned());
    Problem::permanent(
        "database_newer",
        format!(
            "{} has schema {version}, written by SkillOpt {written_by}; this is SkillOpt {} and knows schemas up to {known}.",
            path.display(),
            env!("CARGO_PKG_VERSION"),
        ),
        format!(
            "Nothing was changed. Use SkillOpt {written_by} or newer, or set SKILLOPT_DATA_DIR to another folder."
        ),
    )
}

/// Settings of a connection.
fn configure(connection: &Connection) -> Result<(), Fault> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Plans do not depend on what is bound: otherwise some statements, kept as they are, are prepared anew
    // each time they are used.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(128);
    // temp_store: nothing private goes to the system's temporary folder.
    // wal_autocheckpoint: a call writes some ten pages, and each time the log is moved into the file every
    // other call waits for the disk twice; so not after 1,000 pages, as usual, but after 64 MiB.
    connection.execute_batch(
        "PRAGMA journal_mode = wal; PRAGMA synchronous = normal; PRAGMA foreign_keys = on; PRAGMA temp_store = memory;
         PRAGMA trusted_schema = off; PRAGMA wal_autocheckpoint = 16384;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    Ok(())
}

/// One script and its version number, in one transaction.
fn migrate(connection: &mut Connection, script: &str, version: usize) -> Result<(), Fault> {
    // Tables are rebuilt while the references to them stay.
    connection.pragma_update(None, "foreign_keys", false)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(script)?;
    transaction.execute(
        "INSERT INTO meta (key, value) VALUES ('written_by', ?1), ('created_by', ?1) ON CONFLICT (key) DO UPDATE
             SET value = excluded.value WHERE key = 'written_by'",
        [env!("CARGO_PKG_VERSION")],
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(
        None,
        "user_version",
        i64::try_from(version).unwrap_or(i64::MAX),
    )?;
    step(Family::Commit, "migrate", || transaction.commit())?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// Builds a new database beside its place and moves it there.
fn create(paths: &Paths, scripts: &[&str]) -> Result<(), Problem> {
    let path = paths.database();
    create_data_dir(paths)?;
    let _alone = alone(paths)?;
    if exists(&path)? {
        return Ok(());
    }
    let building = build(paths, scripts)?;
    publish(paths, &building, &path, "publish database")
}

/// Files without their database are not beside a new one: somebody removed it, and a new one would make
/// them nobody's without a word.
fn refuse_if_orphaned(paths: &Paths) -> Result<(), Problem> {
    let holds_something = |folder: &PathBuf| {
        std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
    };
    let left: Vec<String> = [paths.copies(), paths.backups(), paths.staging()]
        .iter()
        .filter(|folder| holds_something(folder))
        .map(|folder| folder.display().to_string())
        .collect();
    if left.is_empty() {
        return Ok(());
    }
    Err(Problem::permanent(
        "database_missing",
        format!(
            "The database {} is missing, but there is what belongs to it: {}.",
            paths.database().display(),
            left.join(", ")
        ),
        "Put it back if you moved it. `skillopt data restore --yes` goes on from the newest sound copy, or \
         begins anew when there is none.",
    ))
}

/// An empty database beside its place, closed; gives its path. The caller is alone.
fn build(paths: &Paths, scripts: &[&str]) -> Result<PathBuf, Problem> {
    let building = place_to_build(paths)?;
    files::open_private(&building).map_err(|error| data_problem(&error, &building))?;
    let built = (|| -> Result<(), Fault> {
        let mut connection = connect(&building)?;
        // Nobody knows this file yet: it is synced as a whole before it gets its name.
        connection.pragma_update(None, "synchronous", "off")?;
        configure(&connection)?;
        connection.pragma_update(None, "synchronous", "off")?;
        for (older, script) in scripts.iter().enumerate() {
            migrate(&mut connection, script, older + 1)?;
        }
        // Closing moves what was written into the one file only as well as it can: a full disk is no
        // error there.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            match row.get(0)? {
                0_i64 => Ok(()),
                _ => Err(rusqlite::Error::QueryReturnedNoRows),
            }
        })?;
        connection.close().map_err(|(_, error)| Fault::Sql(error))
    })();
    built.map_err(|fault| fault.into_problem(&building))?;
    let log = paths.data.join("skillopt.db.new-wal");
    if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return Err(crate::fault::disk_full(&paths.database()));
    }
    Ok(building)
}

/// Where a database is built; what an earlier try left there is gone.
fn place_to_build(paths: &Paths) -> Result<PathBuf, Problem> {
    for leftover in [
        "skillopt.db.new",
        "skillopt.db.new-wal",
        "skillopt.db.new-shm",
        "skillopt.db.new-journal",
    ] {
        let leftover = paths.data.join(leftover);
        if leftover.exists() {
            std::fs::remove_file(&leftover).map_err(|error| data_problem(&error, &leftover))?;
        }
    }
    Ok(paths.data.join("skillopt.db.new"))
}

/// Syncs the file `built` and gives it the name `to` in one step.
fn publish(paths: &Paths, built: &Path, to: &Path, name: &str) -> Result<(), Problem> {
    let publish = || -> std::io::Result<()> {
        // Windows flushes only what is open for writing.
        File::options().write(true).open(built)?.sync_all()?;
        step(Family::Write, name, || std::fs::rename(built, to))?;
        sync_folder(&paths.data)
    };
    publish().map_err(|error| data_problem(&error, to))
}

fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}

/// Puts a copy of our database, or an empty one, in the place of the database. Once its copy has a name of
/// its own, whoever opens the database next finishes what was interrupted; before that nothing has changed.
/// The caller holds the data folder as a whole and has kept what is there.
pub(crate) fn replace(paths: &Paths, copy: Option<&Path>) -> Result<(), Problem> {
    let _alone = alone(paths)?;
    let built = match copy {
        None => build(paths, SCRIPTS)?,
        Some(copy) => {
            let connection = connect(copy).map_err(|fault| fault.into_problem(copy))?;
            inspect(&connection, copy, SCHEMA_VERSION)?;
            let building = place_to_build(paths)?;
            vacuum_into(&connection, &building)?;
            building
        }
    };
    publish(paths, &built, &paths.restored(), "restored copy")?;
    finish_restoring(paths)
}

/// Gives a restored database its name. The log of the one before goes first: SQLite would take it for the
/// new one's. Doing it again changes nothing. The caller is alone.
pub(crate) fn finish_restoring(paths: &Paths) -> Result<(), Problem> {
    let restored = paths.restored();
    if !exists(&restored)? {
        return Ok(());
    }
    for beside in ["-wal", "-shm", "-journal"] {
        let beside = paths.data.join(format!("skillopt.db{beside}"));
        match step(Family::Write, "remove log", || {
            std::fs::remove_file(&beside)
        }) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(data_problem(&error, &beside));
            }
            Ok(()) | Err(_) => {}
        }
    }
    sync_folder(&paths.data).map_err(|error| data_problem(&error, &paths.data))?;
    publish(paths, &restored, &paths.database(), "restored database")
}

/// Makes the data folder (0700) when it is missing.
pub(crate) fn create_data_dir(paths: &Paths) -> Result<(), Problem> {
    files::create_private_dir(&paths.data).map_err(|problem| match problem.code.as_ref() {
        "file_permission" => crate::fault::read_only(&paths.data),
        "file_io" => unusable(&paths.data, &problem.message),
        _ => problem,
    })
}

/// Lets one process at a time make or migrate the database.
fn alone(paths: &Paths) -> Result<Locked, Problem> {
    files::create_private_dir(&paths.locks())?;
    let path = paths.locks().join("database.lock");
    let file = files::open_private(&path).map_err(|error| data_problem(&error, &path))?;
    let begun = Monotonic::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Locked(file)),
            Err(std::fs::TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(Problem::temporary(
                    "database_busy",
                    format!(
                        "Another process has been preparing {} for too long.",
                        paths.database().display()
                    ),
                    "Try again; if it stays busy, see which SkillOpt processes are running.",
                ));
            }
            Err(std::fs::TryLockError::Error(error)) => {
                return Err(io_problem(&error, "lock", &path));
            }
        }
    }
}

/// A copy of the database as it is now, beside it; gives its path.
pub(crate) fn copy_before(
    paths: &Paths,
    connection: &Connection,
    version: usize,
    now: Instant,
) -> Result<PathBuf, Problem> {
    let folder = paths.copies();
    files::create_private_dir(&folder)?;
    let stamp = now.strftime("%Y%m%d-%H%M%S");
    let mut copy = folder.join(format!("schema-{version:03}-{stamp}.db"));
    let mut suffix = 2_u32;
    while copy.exists() {
        copy = folder.join(format!("schema-{version:03}-{stamp}-{suffix}.db"));
        suffix += 1;
    }
    vacuum_into(connection, &copy)?;
    prune_copies(&folder);
    Ok(copy)
}

/// Writes a consistent, compact copy of the database to `to`, which must not exist; 0600, synced.
pub(crate) fn vacuum_into(connection: &Connection, to: &Path) -> Result<(), Problem> {
    let failed = |error: std::io::Error| io_problem(&error, "write", to);
    // SQLite fills an empty file and would make a new one readable for everybody.
    files::open_private(to).map_err(failed)?;
    let written = connection
        .execute("VACUUM INTO ?1", [to.to_string_lossy()])
        .map_err(|error| Fault::Sql(error).into_problem(to));
    if let Err(problem) = written {
        let _ = std::fs::remove_file(to);
        return Err(problem);
    }
    // Windows flushes only what is open for writing.
    File::options()
        .write(true)
        .open(to)
        .and_then(|file| file.sync_all())
        .map_err(failed)
}

/// Keeps the newest copies. Failing to delete one is no reason not to migrate.
fn prune_copies(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut copies: Vec<_> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "db"))
        .collect();
    // Names sort by schema and time.
    copies.sort();
    for old in copies.iter().rev().skip(COPIES_KEPT) {
        let _ = std::fs::remove_file(old);
    }
}

fn exists(path: &Path) -> Result<bool, Problem> {
    path.try_exists()
        .map_err(|error| data_problem(&error, path))
}

fn unusable(path: &Path, why: &str) -> Problem {
    Problem::permanent(
        "data_dir_unusable",
        format!("The data folder {} cannot be used: {}", path.display(), why),
        "Set SKILLOPT_DATA_DIR to a folder that can be created.",
    )
}

fn data_problem(error: &std::io::Error, path: &Path) -> Problem {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => crate::fault::read_only(path),
        std::io::ErrorKind::NotADirectory => unusable(path, &format!("{error}.")),
        _ => io_problem(error, "open", path),
    }
}

#[cfg(test)]
#[path = "opening/tests.rs"]
mod tests;
