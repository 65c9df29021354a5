//! Orders to a running night: rows, read at every call boundary.

use rusqlite::{Connection, OptionalExtension};

use crate::fault::Fault;
use crate::row::At;
use crate::store::Tx;
use crate::words::words;

words! {
    /// What a night is told to do.
    Order {
        /// Stop and do not go on by itself.
        Cancel = "cancel",
        /// Stop; the next run goes on.
        Pause = "pause",
    }
}

/// Gives an order to a night, whoever runs it.
pub fn give(tx: &Tx<'_>, night: i64, order: Order) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO night_order (night, kind, at) VALUES (?1, ?2, ?3)",
        (night, order, At(tx.now())),
    )?;
    Ok(())
}

/// The strongest order a night has not handled yet: cancel before pause.
pub fn pending(db: &Connection, night: i64) -> Result<Option<Order>, Fault> {
    Ok(db
        .prepare_cached("SELECT kind FROM night_order WHERE night = ?1 AND handled_at IS NULL ORDER BY kind LIMIT 1")?
        .query_row([night], |row| row.get(0))
        .optional()?)
}

/// What a night that stops was told, which is done now: earlier orders are spent.
pub fn take(tx: &Tx<'_>, night: i64) -> Result<Option<Order>, Fault> {
    let order = pending(tx, night)?;
    handled(tx, night)?;
    Ok(order)
}

/// The night has done what it was told; earlier orders are spent.
pub fn handled(tx: &Tx<'_>, night: i64) -> Result<(), Fault> {
    tx.execute(
        "UPDATE night_order SET handled_at = ?2 WHERE night = ?1 AND handled_at IS NULL",
        (night, At(tx.now())),
    )?;
    Ok(())
}
