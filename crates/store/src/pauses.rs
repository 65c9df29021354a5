//! Providers that said "not before": a pause belongs to the provider, not to a project.

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use skillopt_core::Instant;

use crate::fault::Fault;
use crate::row::At;
use crate::store::Tx;

/// A pause of one provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pause {
    /// The provider's key, as the backend names it.
    pub provider: String,
    /// Not before.
    pub until: Instant,
    /// Why, in words or as an error code.
    pub reason: String,
}

/// No calls to `provider` before `until`. What ends later or with it replaces a pause, never the reverse.
pub fn set(tx: &Tx<'_>, provider: &str, until: Instant, reason: &str) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO pause (provider, until, reason, at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (provider) DO UPDATE SET until = excluded.until, reason = excluded.reason, at = excluded.at
             WHERE excluded.until >= pause.until",
        (provider, At(until), reason, At(tx.now())),
    )?;
    Ok(())
}

/// The pause of `provider` that is not over at `now`.
pub fn active(db: &Connection, provider: &str, now: Instant) -> Result<Option<Pause>, Fault> {
    Ok(db
        .prepare_cached("SELECT until, reason FROM pause WHERE provider = ?1 AND until > ?2")?
        .query_row((provider, At(now)), |row| {
            Ok(Pause {
                provider: provider.to_owned(),
                until: row.get::<_, At>(0)?.0,
                reason: row.get(1)?,
            })
        })
        .optional()?)
}
