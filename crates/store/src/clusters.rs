//! Requests seen so far. One occurrence is a candidate; when a near-duplicate comes in a later
//! session or night, the request is known to recur although the first turn was mined long ago.

use rusqlite::Connection;
use serde_json::Value;
use skillopt_core::task::SourceTurn;

use crate::fault::Fault;
use crate::row::{At, from_json, to_json};
use crate::store::Tx;

/// One request of a user, redacted.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterText {
    /// The cluster of near-duplicates it belongs to.
    pub cluster: String,
    /// Where it was said.
    pub turn: SourceTurn,
    /// The text that is compared.
    pub text: String,
    /// Whatever else is needed to make a task of it later, for example the candidate itself.
    pub body: Value,
}

/// Stores requests; one seen before (same turn) is replaced, since clusters can grow together.
pub fn remember(
    tx: &Tx<'_>,
    project: &str,
    night: i64,
    texts: &[ClusterText],
) -> Result<(), Fault> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO cluster_text (project, session, turn, cluster, text, body, night, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (project, session, turn) DO UPDATE SET
             cluster = excluded.cluster, text = excluded.text, body = excluded.body",
    )?;
    for text in texts {
        insert.execute((
            project,
            &text.turn.session,
            &text.turn.turn,
            &text.cluster,
            &text.text,
            to_json("request", &text.body)?,
            night,
            At(tx.now()),
        ))?;
    }
    Ok(())
}

/// Every stored request of a project, in the order they were stored.
pub fn all(db: &Connection, project: &str) -> Result<Vec<ClusterText>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT cluster, session, turn, text, body FROM cluster_text WHERE project = ?1 ORDER BY at, session, turn",
    )?;
    let mut rows = statement.query([project])?;
    let mut texts = Vec::new();
    while let Some(row) = rows.next()? {
        texts.push(ClusterText {
            cluster: row.get(0)?,
            turn: SourceTurn {
                session: row.get(1)?,
                turn: row.get(2)?,
            },
            text: row.get(3)?,
            body: from_json("request", &row.get::<_, String>(4)?)?,
        });
    }
    Ok(texts)
}
