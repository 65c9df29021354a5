//! The database of this process: one connection, one place where transactions commit.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use skillopt_core::{Instant, Problem};

use crate::clock::Clock;
use crate::fault::Fault;
use crate::paths::Paths;

/// The store. Cheap to share in an `Arc`; one connection behind a mutex, never held while waiting
/// for anything but the disk.
pub struct Store {
    connection: Mutex<Connection>,
    clock: Arc<dyn Clock>,
    path: PathBuf,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A transaction that writes. Also a connection, so that readers work inside it.
pub struct Tx<'a> {
    transaction: Transaction<'a>,
    now: Instant,
}

impl Tx<'_> {
    /// The instant at which the transaction began, by the store's clock.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }
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
        let path = paths.database();
        let opened = (|| -> Result<Connection, Fault> {
            std::fs::create_dir_all(&paths.data)
                .map_err(|error| crate::fault::io_problem(&error, "create", &paths.data))?;
            let connection = Connection::open(&path)?;
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "normal")?;
            prepare(&connection)?;
            Ok(connection)
        })();
        let connection = opened.map_err(|fault| fault.into_problem(&path))?;
        Ok(Self {
            connection: Mutex::new(connection),
            clock,
            path,
        })
    }

    /// A real SQLite database in memory; for tests and for what must leave nothing behind.
    pub fn in_memory(clock: Arc<dyn Clock>) -> Result<Self, Problem> {
        let path = PathBuf::from(":memory:");
        let connection = Connection::open_in_memory()
            .map_err(Fault::from)
            .and_then(|connection| prepare(&connection).map(|()| connection))
            .map_err(|fault| fault.into_problem(&path))?;
        Ok(Self {
            connection: Mutex::new(connection),
            clock,
            path,
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
        let back = connection
            .pragma_update(None, "synchronous", "normal")
            .map_err(Fault::from);
        result
            .and_then(|value| back.map(|()| value))
            .map_err(|fault| fault.into_problem(&self.path))
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

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction rolled it back; the connection is as good as before.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn run<R>(
        &self,
        connection: &mut Connection,
        _label: &'static str,
        f: impl FnOnce(&Tx<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let tx = Tx {
            transaction,
            now: self.clock.now(),
        };
        let value = f(&tx)?;
        tx.transaction.commit()?;
        Ok(value)
    }
}

fn prepare(connection: &Connection) -> Result<(), Fault> {
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.busy_timeout(std::time::Duration::from_secs(10))?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 {
        connection.execute_batch(include_str!("schema/001.sql"))?;
        connection.pragma_update(None, "user_version", 1)?;
    }
    Ok(())
}
