//! Edits that were tried and rejected, by the gate or by the user, so that they are not proposed again.

use rusqlite::{Connection, Row};
use serde::Serialize;
use skillopt_core::Instant;
use skillopt_core::edit::{Edit, EditOp};
use skillopt_core::hash::sha256_parts;
use skillopt_core::text::one_line;

use crate::fault::Fault;
use crate::row::{At, Count, from_json, to_json};
use crate::store::Tx;
use crate::words::words;

words! {
    /// Who rejected an edit.
    By {
        /// It did not help on held-out tasks.
        Gate = "gate",
        /// The user said no.
        User = "user",
    }
}

/// One rejected edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectedEdit {
    /// Id of the target document, for example `claude:skill`.
    pub target: String,
    /// See [`key`].
    pub key: String,
    /// The edit.
    pub edit: Edit,
    /// Who rejected it. A user's no is never weakened by a later verdict of the gate.
    pub by: By,
    /// Why, in words.
    pub reason: String,
    /// In which night; `None` outside of one, or when the night was purged.
    pub night: Option<i64>,
    /// When.
    pub at: Instant,
}

/// What makes two edits the same: operation, rule and anchor, whatever their white space and case.
#[must_use]
pub fn key(edit: &Edit) -> String {
    let op = match edit.op {
        EditOp::Add => "add",
        EditOp::Delete => "delete",
        EditOp::Replace => "replace",
    };
    let plain = |text: &str| one_line(text).to_lowercase();
    sha256_parts(&[
        op.as_bytes(),
        b"\n",
        plain(&edit.content).as_bytes(),
        b"\n",
        plain(&edit.anchor).as_bytes(),
    ])
}

/// Remembers a rejected edit. The same edit again takes over the new reason.
pub fn remember(
    tx: &Tx<'_>,
    project: &str,
    target: &str,
    edit: &Edit,
    by: By,
    reason: &str,
    night: Option<i64>,
) -> Result<(), Fault> {
    tx.prepare_cached(
        "INSERT INTO rejected_edit (project, target, key, edit, rejected_by, reason, night, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (project, target, key) DO UPDATE SET edit = excluded.edit, rejected_by = excluded.rejected_by,
             reason = excluded.reason, night = excluded.night, at = excluded.at
             WHERE NOT (rejected_edit.rejected_by = 'user' AND excluded.rejected_by = 'gate')",
    )?
    .execute((project, target, key(edit), to_json("edit", edit)?, by, reason, night, At(tx.now())))?;
    Ok(())
}

/// Forgets a rejected edit, for example because the user adopted it after all.
pub fn forget(tx: &Tx<'_>, project: &str, target: &str, edit: &Edit) -> Result<(), Fault> {
    tx.execute(
        "DELETE FROM rejected_edit WHERE project = ?1 AND target = ?2 AND key = ?3",
        (project, target, key(edit)),
    )?;
    Ok(())
}

/// The newest `limit` rejected edits of one target, or of all targets, newest first.
pub fn list(
    db: &Connection,
    project: &str,
    target: Option<&str>,
    limit: usize,
) -> Result<Vec<RejectedEdit>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT target, key, edit, rejected_by, reason, night, at FROM rejected_edit
         WHERE project = ?1 AND (?2 IS NULL OR target = ?2) ORDER BY at DESC, key LIMIT ?3",
    )?;
    let mut rows = statement.query((project, target, Count(limit as u64)))?;
    let mut edits = Vec::new();
    while let Some(row) = rows.next()? {
        edits.push(from_row(row)?);
    }
    Ok(edits)
}

fn from_row(row: &Row<'_>) -> Result<RejectedEdit, Fault> {
    Ok(RejectedEdit {
        target: row.get(0)?,
        key: row.get(1)?,
        edit: from_json("edit", &row.get::<_, String>(2)?)?,
        by: row.get(3)?,
        reason: row.get(4)?,
        night: row.get(5)?,
        at: row.get::<_, At>(6)?.0,
    })
}
