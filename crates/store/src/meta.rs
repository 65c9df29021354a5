//! Single words about the whole store, by name.

use rusqlite::{Connection, OptionalExtension};

use crate::fault::Fault;
use crate::store::Tx;

/// What is kept under `name`.
pub fn get(db: &Connection, name: &str) -> Result<Option<String>, Fault> {
    Ok(db
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?)
}

/// Keeps `value` under `name`, in the place of what was there.
pub fn set(tx: &Tx<'_>, name: &str, value: &str) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (name, value),
    )?;
    Ok(())
}
