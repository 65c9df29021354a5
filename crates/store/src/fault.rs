//! Errors inside a transaction, and how SQLite's words become a [`Problem`].

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;
use skillopt_core::Problem;

/// Why a read or a transaction did not succeed. Leaves this crate as a [`Problem`].
#[derive(Debug)]
pub enum Fault {
    /// SQLite refused.
    Sql(rusqlite::Error),
    /// A rule of ours refused.
    Problem(Problem),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        fault.into_problem(Path::new("the database"))
    }
}

impl Fault {
    /// The problem shown to a user, naming the database at `path`.
    #[must_use]
    pub fn into_problem(self, path: &Path) -> Problem {
        match self {
            Self::Problem(problem) => problem,
            Self::Sql(error) => sql_problem(&error, path),
        }
    }
}

/// What SQLite's error means for a user.
fn sql_problem(error: &rusqlite::Error, path: &Path) -> Problem {
    let shown = path.display();
    if let rusqlite::Error::FromSqlConversionFailure(_, _, why) = error {
        return stored_value_unreadable("value", why);
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => disk_full(path),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => read_only(path),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            corrupt(path, &error.to_string())
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Problem::temporary(
            "database_busy",
            format!("Another process kept {shown} busy for too long."),
            "Try again; if it stays busy, see which SkillOpt processes are running.",
        ),
        Some(ErrorCode::CannotOpen) => Problem::permanent(
            "data_dir_unusable",
            format!("{shown} cannot be opened: {error}."),
            "Check that the data folder exists and belongs to you, or set SKILLOPT_DATA_DIR to another folder.",
        ),
        // SQLite only says "full" where the write itself failed, not for syncs and shared memory.
        Some(ErrorCode::SystemIoFailure) if is_full(path) => disk_full(path),
        Some(ErrorCode::SystemIoFailure) => Problem::temporary(
            "database_io",
            format!("Reading or writing {shown} failed: {error}."),
            "Check the disk; nothing that was committed before is lost.",
        ),
        _ => Problem::permanent(
            "database_error",
            format!("The database refused a request: {error}."),
            "This is a fault of SkillOpt; please report it with this message.",
        ),
    }
}

/// Whether the disk that holds `path` has no room worth the name.
fn is_full(path: &Path) -> bool {
    const ROOM: u64 = 1 << 20;
    room(path).is_some_and(|room| room < ROOM)
}

/// How many bytes may still be written to the disk that holds `path`; `None` where that is not known. A
/// quota of the user is not seen.
#[cfg(unix)]
pub(crate) fn room(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path.parent()?).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// How many bytes may still be written to the disk that holds `path`: the system does not say so without
/// unsafe code.
#[cfg(not(unix))]
pub(crate) fn room(_path: &Path) -> Option<u64> {
    None
}

/// The disk that holds `path` is full.
pub(crate) fn disk_full(path: &Path) -> Problem {
    Problem::temporary(
        "disk_full",
        format!("There is no space left to write {}.", path.display()),
        "Free some space (`skillopt data size` shows what SkillOpt uses), then try again; nothing was lost.",
    )
}

/// The folder that holds `path` cannot be written.
pub(crate) fn read_only(path: &Path) -> Problem {
    Problem::permanent(
        "data_dir_read_only",
        format!("{} cannot be written.", path.display()),
        "Make the data folder writable for you, or set SKILLOPT_DATA_DIR to another folder.",
    )
}

/// The database at `path` is not one, or is damaged.
pub(crate) fn corrupt(path: &Path, why: &str) -> Problem {
    Problem::permanent(
        "database_corrupt",
        format!("The database {} is damaged: {why}.", path.display()),
        "It is left untouched. Run `skillopt doctor`: it names the newest good copy and how to go on from it.",
    )
}

/// What an I/O error on `path` means for a user. `doing` completes "Could not …".
pub(crate) fn io_problem(error: &io::Error, doing: &str, path: &Path) -> Problem {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            disk_full(path)
        }
        io::ErrorKind::ReadOnlyFilesystem => read_only(path),
        kind => Problem::permanent(
            if kind == io::ErrorKind::PermissionDenied {
                "file_permission"
            } else {
                "file_io"
            },
            format!("Could not {doing} {}: {error}.", path.display()),
            "Check that the path exists and that you may read and write it, then try again.",
        ),
    }
}

/// A stored value that today's code cannot read.
pub(crate) fn unreadable(what: &str, why: impl std::fmt::Display) -> Fault {
    Fault::Problem(stored_value_unreadable(what, why))
}

fn stored_value_unreadable(what: &str, why: impl std::fmt::Display) -> Problem {
    Problem::permanent(
        "stored_value_unreadable",
        format!("A stored {what} cannot be read: {why}."),
        "A newer version of SkillOpt may have written it; use that version, or report it with this message.",
    )
}
