//! The database of this process: one connection, one place where transactions commit.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use skillopt_core::{Instant, Problem};

use crate::clock::Clock;
use crate::failpoints::{self, Family};
use crate::fault::{self, Fault, io_problem};
use crate::files::{self, FileId};
use crate::opening::{self, SCHEMA_VERSION};
use crate::paths::Paths;

/// The store. Cheap to share in an `Arc`; one connection behind a mutex, never held while waiting
/// for anything but the disk.
pub struct Store {
    connection: Mutex<Connection>,
    clock: Arc<dyn Clock>,
    path: PathBuf,
    /// The file that was opened; `None` for a store in memory.
    file: Option<FileId>,
    work: Work,
}

/// Since when this process has been at work on nights, by the steady clock.
type Work = Mutex<BTreeMap<i64, Duration>>;

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

thread_local! {
    /// The stores this thread is inside of; more than two at once are not looked for.
    static INSIDE: Cell<[Option<usize>; 2]> = const { Cell::new([None; 2]) };
}

/// The connection, for one read or transaction.
struct Turn<'a> {
    connection: MutexGuard<'a, Connection>,
    outer: [Option<usize>; 2],
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        INSIDE.set(self.outer);
    }
}

impl Deref for Turn<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Turn<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

/// A transaction that writes. Also a connection, so that readers work inside it.
pub struct Tx<'a> {
    transaction: Transaction<'a>,
    now: Instant,
    steady: Duration,
    work: &'a Work,
}

impl Tx<'_> {
    /// The instant at which the transaction began, by the store's clock.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// This process is at work on a night from now on.
    pub(crate) fn begin_work(&self, night: i64) {
        locked(self.work).insert(night, self.steady);
    }

    /// How long this process has been at work on a night, whatever was done to the computer's clock
    /// meanwhile; `None` when another one began.
    pub(crate) fn worked(&self, night: i64) -> Option<Duration> {
        let began = *locked(self.work).get(&night)?;
        Some(self.steady.saturating_sub(began))
    }
}

fn locked(work: &Work) -> MutexGuard<'_, BTreeMap<i64, Duration>> {
    // Every change is complete before anything can panic.
    work.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Deref for Tx<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.transaction
    }
}

impl Store {
    /// Opens the database of `paths`, creating folders (0700) and file (0600) as needed, and brings
    /// an older schema up to date after making a copy.
    ///
    /// Errors: `database_newer`, `database_corrupt`, `data_dir_unusable`, `data_dir_read_only`,
    /// `disk_full`, `database_busy`.
    pub fn open(paths: &Paths, clock: Arc<dyn Clock>) -> Result<Self, Problem> {
        let connection = crate::opening::open(paths, clock.now())?;
        let path = paths.database();
        let file = files::file_id(&path).map_err(|error| io_problem(&error, "open", &path))?;
        Ok(Self {
            connection: Mutex::new(connection),
            clock,
            path,
            file: Some(file),
            work: Work::default(),
        })
    }

    /// A real SQLite database in memory; for tests and for what must leave nothing behind.
    pub fn in_memory(clock: Arc<dyn Clock>) -> Result<Self, Problem> {
        let path = PathBuf::from(":memory:");
        let connection = crate::opening::in_memory().map_err(|fault| fault.into_problem(&path))?;
        Ok(Self {
            connection: Mutex::new(connection),
            clock,
            path,
            file: None,
            work: Work::default(),
        })
    }

    /// Reads one consistent state of the database.
    pub fn read<R>(&self, f: impl FnOnce(&Connection) -> Result<R, Fault>) -> Result<R, Problem> {
        let mut connection = self.connection();
        let result = connection
            .transaction_with_behavior(TransactionBehavior::Deferred)
            .map_err(Fault::from)
            .and_then(|transaction| f(&transaction));
        result.map_err(|fault| fault.into_problem(&self.path))
    }

    /// A number that changes whenever another process has written.
    pub fn version(&self) -> Result<i64, Problem> {
        self.read(|db| Ok(db.query_row("PRAGMA data_version", (), |row| row.get(0))?))
    }

    /// Runs `f` in one transaction: all of it is stored, or, when `f` fails or the process dies,
    /// nothing. The only place where transactions commit. Must not be nested.
    pub fn commit<R>(
        &self,
        label: &'static str,
        f: impl FnOnce(&Tx<'_>) -> Result<R, Fault>,
    ) -> Result<R, Problem> {
        let mut connection = self.connection();
        self.run(&mut connection, label, f)
            .map_err(|fault| fault.into_problem(&self.path))
    }

    /// Like [`commit`](Self::commit), and on return the transaction has reached the disk even if the
    /// power fails now (`synchronous=FULL`).
    pub fn commit_durably<R>(
        &self,
        label: &'static str,
        f: impl FnOnce(&Tx<'_>) -> Result<R, Fault>,
    ) -> Result<R, Problem> {
        let mut connection = self.connection();
        let result = connection
            .pragma_update(None, "synchronous", "full")
            .map_err(Fault::from)
            .and_then(|()| self.run(&mut connection, label, f));
        // Should this fail, later commits are slower, not less safe; what was committed stays so.
        let _ = connection.pragma_update(None, "synchronous", "normal");
        if matches!(result, Err(Fault::Sql(_))) {
            overwrite_failed(&connection);
        }
        result.map_err(|fault| fault.into_problem(&self.path))
    }

    /// How long this process has been at work on a night it began or resumed, whatever was done to the
    /// computer's clock meanwhile; `None` when another one did.
    #[must_use]
    pub fn worked(&self, night: i64) -> Option<Duration> {
        let began = *locked(&self.work).get(&night)?;
        Some(self.clock.steady().saturating_sub(began))
    }

    /// The clock of the store.
    #[must_use]
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The database file; `:memory:` for a store in memory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes may still be written where the database is; `None` where that is not known, and for a
    /// store in memory.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        self.file.and_then(|_| fault::room(&self.path))
    }

    /// The folder of locks beside the database; `None` for a store in memory.
    #[must_use]
    pub fn locks(&self) -> Option<PathBuf> {
        let folder = self.path.parent()?;
        folder.is_absolute().then(|| folder.join("locks"))
    }

    /// Runs `f` in a transaction that is rolled back, to see what it would do.
    pub(crate) fn read_uncommitted<R>(
        &self,
        f: impl FnOnce(&Tx<'_>) -> Result<R, Fault>,
    ) -> Result<R, Problem> {
        let mut connection = self.connection();
        let result = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Fault::from)
            .and_then(|transaction| {
                f(&Tx {
                    transaction,
                    now: self.clock.now(),
                    steady: self.clock.steady(),
                    work: &self.work,
                })
            });
        result.map_err(|fault| fault.into_problem(&self.path))
    }

    /// The bare connection, for what cannot run inside a transaction (`VACUUM`, copies).
    pub(crate) fn with_connection<R>(
        &self,
        f: impl FnOnce(&Connection) -> Result<R, Fault>,
    ) -> Result<R, Problem> {
        f(&self.connection()).map_err(|fault| fault.into_problem(&self.path))
    }

    /// # Panics
    /// When this thread is inside another read or commit of the same store: it would wait for itself
    /// for ever.
    fn connection(&self) -> Turn<'_> {
        let store = std::ptr::from_ref(self).addr();
        assert!(
            !INSIDE.get().contains(&Some(store)),
            "Store::read and Store::commit must not be nested"
        );
        // A panic inside a transaction rolled it back; the connection is as good as before.
        let connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let outer = INSIDE.get();
        INSIDE.set([Some(store), outer[0]]);
        Turn { connection, outer }
    }

    fn run<R>(
        &self,
        connection: &mut Connection,
        label: &'static str,
        f: impl FnOnce(&Tx<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.refuse_if_gone(&transaction)?;
        let tx = Tx {
            transaction,
            now: self.clock.now(),
            steady: self.clock.steady(),
            work: &self.work,
        };
        let value = f(&tx)?;
        self.refuse_if_replaced(&tx)?;
        failpoints::step(Family::Commit, label, || tx.transaction.commit())?;
        Ok(value)
    }

    /// The database can be deleted or replaced while it is open: what is written to it then is gone with
    /// this process, and nobody may be told that it was kept.
    fn refuse_if_replaced(&self, db: &Connection) -> Result<(), Fault> {
        let Some(opened) = self.file else {
            return Ok(());
        };
        let why = match files::file_id(&self.path) {
            Ok(found) if found == opened => return Ok(()),
            Ok(_) => "was replaced by another file".to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => "was removed".to_owned(),
            Err(error) => format!("can no longer be reached ({error})"),
        };
        // Closing would remove a log by its name, and that may be the log of the database there now.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Err(Problem::permanent(
            "data_dir_gone",
            format!("{} {why} while SkillOpt worked with it.", self.path.display()),
            "What was being done could not be kept. Put the data folder back if you moved it, and start again.",
        )
        .into())
    }

    /// While this process had the database open, another may have migrated it or moved it away.
    fn refuse_if_gone(&self, db: &Connection) -> Result<(), Fault> {
        let version: i64 = db
            .prepare_cached("PRAGMA user_version")?
            .query_row([], |row| row.get(0))?;
        if usize::try_from(version) != Ok(SCHEMA_VERSION) {
            return Err(opening::newer(db, &self.path, version, SCHEMA_VERSION).into());
        }
        let moved = db
            .prepare_cached("SELECT value FROM meta WHERE key = 'moved_to'")?
            .query_row([], |row| row.get::<_, String>(0))
            .optional()?;
        moved.map_or(Ok(()), |to| {
            Err(Problem::permanent(
                "data_moved",
                format!("The data folder was moved to {to}."),
                "Start SkillOpt again.",
            )
            .into())
        })
    }
}

/// Writes another transaction over one that failed.
///
/// When a commit cannot be flushed, SQLite takes it back, but all of it stays in the log, where the next
/// start would find it whole and take it for committed. The next transaction is written in its place, and
/// no flush is needed for that.
fn overwrite_failed(connection: &Connection) {
    // Something has to change: what is written as it was is not written. Should this fail as well, the next
    // commit of this process does it.
    let _ = connection.execute(
        "INSERT INTO meta (key, value) VALUES ('failed_flushes', '1') ON CONFLICT (key)
             DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)",
        [],
    );
}

#[cfg(test)]
#[path = "store/tests.rs"]
mod tests;
