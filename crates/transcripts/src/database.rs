//! Opening the SQLite databases of other programs: reading what is committed, leaving no trace, and
//! never in anybody's way.
//!
//! A program may be using its database at this moment, or may have died in the middle. Merely opening
//! one in the usual way would make files beside it, wait for locks, or move its log into it. So it
//! depends on what lies there how a database is opened:
//!
//! - nothing waits in a log: the file alone is read, without locks;
//! - a log and its shared index are there: SQLite's own read-only way, which sees what is committed
//!   and keeps nobody from writing;
//! - a log without an index, as in copies: the index is made in memory, without locks.
//!
//! No file of a database is opened but by SQLite: closing it would drop locks this process holds.
//! Without locks nothing keeps the files from changing while they are read; so what was read counts
//! only if they look the same afterwards ([`Database::holds`]).

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::files::{State, unopened};
use crate::lenient::Number;
use crate::reason::Reason;

/// How long a lock is waited for. A harvest can come back tomorrow.
const PATIENCE: Duration = Duration::from_millis(50);
/// Memory for pages, in KiB.
const CACHE_KIB: u32 = 4096;
/// A log shorter than its header holds nothing.
const LOG_HEADER: u64 = 32;

/// SQLite's way of opening files that takes no locks.
#[cfg(unix)]
const WITHOUT_LOCKS: &str = "unix-none";
/// SQLite's way of opening files that takes no locks.
#[cfg(windows)]
const WITHOUT_LOCKS: &str = "win32-none";

/// What the files of a database look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DatabaseFiles {
    main: State,
    log: Option<State>,
}

impl DatabaseFiles {
    pub(crate) fn of(path: &Path) -> Result<Self, Reason> {
        let metadata = fs::metadata(path).map_err(|error| unopened(&error))?;
        if !metadata.is_file() {
            return Err(Reason::NotAFile);
        }
        let log = fs::metadata(beside(path, "-wal"))
            .ok()
            .map(|metadata| State::of(&metadata))
            .filter(|log| log.size >= LOG_HEADER);
        Ok(Self {
            main: State::of(&metadata),
            log,
        })
    }

    /// Both files as one, for the index.
    pub(crate) fn state(&self) -> State {
        let log = self.log.unwrap_or_default();
        State {
            size: self.main.size.wrapping_add(log.size),
            mtime_ns: self.main.mtime_ns.max(log.mtime_ns),
            ..self.main
        }
    }
}

/// How a database was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Nothing waits in a log.
    FileAlone,
    /// Under the locks of the shared index.
    Shared,
    /// With an index of its own in memory.
    LogWithoutIndex,
}

/// A database in one unchanging state.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
    files: DatabaseFiles,
    way: Way,
}

impl Database {
    /// Opens the database at `path`. `files` is what its files looked like before.
    pub(crate) fn open(path: &Path, files: DatabaseFiles) -> Result<Self, Reason> {
        if rolls_back(&beside(path, "-journal")) {
            return Err(Reason::BusyDatabase);
        }
        let way = match files.log {
            None => Way::FileAlone,
            Some(_) if beside(path, "-shm").exists() => Way::Shared,
            Some(_) => Way::LogWithoutIndex,
        };
        let address = address(path, way).ok_or(Reason::Unreadable)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(address, flags).map_err(|error| why(&error))?;
        let database = Self {
            connection,
            path: path.to_owned(),
            files,
            way,
        };
        database.begin().map_err(|error| why(&error))?;
        database.is_whole()?;
        Ok(database)
    }

    /// A file that ends in the middle of a page was cut. SQLite takes the rest of that page for
    /// zeros, and its rows for absent.
    fn is_whole(&self) -> Result<(), Reason> {
        let page: u32 = self
            .connection
            .query_row("PRAGMA page_size", [], |row| row.get(0))
            .map_err(|error| why(&error))?;
        match self.way {
            Way::FileAlone if !self.files.main.size.is_multiple_of(page.into()) => {
                Err(Reason::DamagedDatabase)
            }
            // What is missing of the file may be in the log.
            Way::FileAlone | Way::Shared | Way::LogWithoutIndex => Ok(()),
        }
    }

    fn begin(&self) -> rusqlite::Result<()> {
        let connection = &self.connection;
        connection.busy_timeout(PATIENCE)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        // The schema is somebody else's: its views and triggers run nothing.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        if self.way == Way::LogWithoutIndex {
            connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
        }
        connection.execute_batch(&format!(
            "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;
             PRAGMA temp_store = MEMORY; PRAGMA cache_size = -{CACHE_KIB}; BEGIN"
        ))?;
        // The first read settles which state is seen until the end.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Whether everything read so far is what was committed when the database was opened.
    pub(crate) fn holds(&self) -> bool {
        match self.way {
            Way::Shared => true,
            Way::FileAlone | Way::LogWithoutIndex => {
                DatabaseFiles::of(&self.path) == Ok(self.files)
            }
        }
    }

    /// Whether a table has these columns. Views, virtual tables and computed columns do not count:
    /// what they would run is somebody else's.
    pub(crate) fn has(&self, table: &str, columns: &[&str]) -> Result<bool, Reason> {
        let is_table = self
            .connection
            .prepare_cached(
                "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?1",
            )
            .and_then(|mut statement| statement.exists([table]))
            .map_err(|error| why(&error))?;
        if !is_table {
            return Ok(false);
        }
        let known = self
            .connection
            .prepare_cached("SELECT name FROM pragma_table_info(?1)")
            .and_then(|mut statement| {
                statement
                    .query_map([table], |row| row.get::<_, String>(0))?
                    .collect::<rusqlite::Result<Vec<_>>>()
            })
            .map_err(|error| why(&error))?;
        Ok(columns
            .iter()
            .all(|column| known.iter().any(|known| known == column)))
    }

    /// Whether rows of a table are found by a column without looking through all of them.
    pub(crate) fn finds_by(&self, table: &str, column: &str) -> Result<bool, Reason> {
        self.connection
            .prepare_cached(
                "SELECT 1 FROM pragma_index_list(?1) AS list, pragma_index_info(list.name) AS info
                 WHERE info.seqno = 0 AND info.name = ?2 AND list.partial = 0",
            )
            .and_then(|mut statement| statement.exists([table, column]))
            .map_err(|error| why(&error))
    }
}

/// Most bytes that are read of one value.
pub(crate) const VALUE_LIMIT: usize = 16 * 1024 * 1024;

/// A value's bytes, if it is text or a blob.
pub(crate) fn bytes(value: ValueRef<'_>) -> Option<&[u8]> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => None,
    }
}

/// A value's text; empty if it is anything else.
pub(crate) fn text(value: ValueRef<'_>) -> &str {
    bytes(value)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .unwrap_or_default()
}

/// A value's number, if it is one.
pub(crate) fn number(value: ValueRef<'_>) -> Number {
    match value {
        ValueRef::Integer(number) => Number(Some(number)),
        ValueRef::Real(number) => Number::of_float(number),
        ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => Number(None),
    }
}

/// A size as SQLite reports it; none if there is no value.
pub(crate) fn size(value: ValueRef<'_>) -> u64 {
    number(value)
        .0
        .and_then(|size| u64::try_from(size).ok())
        .unwrap_or_default()
}

/// Why a database could not be read.
pub(crate) fn why(error: &rusqlite::Error) -> Reason {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ReadOnly) => {
            Reason::BusyDatabase
        }
        Some(ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => Reason::Unreadable,
        // What SQLite says of a query that does not fit the tables.
        Some(ErrorCode::Unknown) => Reason::UnknownSchema,
        _ => Reason::DamagedDatabase,
    }
}

/// Whether a journal holds what must be taken back before the database can be read.
fn rolls_back(journal: &Path) -> bool {
    let mut first = [0];
    // A journal that was dealt with is empty or begins with zeros.
    File::open(journal)
        .is_ok_and(|mut file| matches!(file.read(&mut first), Ok(1) if first[0] != 0))
}

/// The file beside a database with something added to its name.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// The address under which SQLite opens a file in this way.
fn address(path: &Path, way: Way) -> Option<String> {
    let mut address = "file:".to_owned();
    for byte in path_bytes(path)? {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b':' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
                address.push(char::from(byte));
            }
            other => {
                let _ = write!(address, "%{other:02X}");
            }
        }
    }
    address.push_str("?mode=ro&");
    match way {
        Way::FileAlone => address.push_str("immutable=1"),
        Way::Shared => address.push_str("readonly_shm=1"),
        Way::LogWithoutIndex => {
            address.push_str("vfs=");
            address.push_str(WITHOUT_LOCKS);
        }
    }
    Some(address)
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    path.is_absolute().then(|| bytes.to_vec())
}

/// `C:\a` is addressed as `/C:/a`.
#[cfg(windows)]
fn path_bytes(path: &Path) -> Option<Vec<u8>> {
    let text = path.to_str()?.replace('\\', "/");
    path.is_absolute().then(|| format!("/{text}").into_bytes())
}

#[cfg(test)]
mod tests;
