//! Proposals: what a night staged, per target, and what the user decided.

use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;
use serde_json::Value;
use skillopt_core::agent::Agent;
use skillopt_core::document::TargetKind;
use skillopt_core::edit::Edit;
use skillopt_core::{Instant, Problem};

use crate::blobs::{self, Keep};
use crate::fault::{Fault, unreadable};
use crate::row::{At, Count, from_json, to_json};
use crate::store::Tx;
use crate::words::words;

words! {
    /// Where a proposal stands.
    #[cfg_attr(feature = "typescript", ts(rename = "ProposalState"))]
    State {
        /// Its bundle is being written; nobody is shown it.
        Draft = "draft",
        /// It waits for the user.
        Pending = "pending",
        /// Some targets were adopted, others still wait.
        PartlyAdopted = "partly_adopted",
        /// Every target was decided, and at least one adopted.
        Adopted = "adopted",
        /// The user said no.
        Rejected = "rejected",
        /// A newer proposal took its place.
        Superseded = "superseded",
        /// It was adopted and taken back.
        RolledBack = "rolled_back",
    }
}

impl State {
    /// Whether something of it still waits for the user.
    #[must_use]
    pub const fn waits(self) -> bool {
        match self {
            Self::Pending | Self::PartlyAdopted => true,
            Self::Draft | Self::Adopted | Self::Rejected | Self::Superseded | Self::RolledBack => {
                false
            }
        }
    }
}

words! {
    /// Where one target of a proposal stands.
    TargetState {
        /// It waits for the user.
        Pending = "pending",
        /// It was written to the user's file.
        Adopted = "adopted",
        /// The user said no.
        Rejected = "rejected",
        /// A newer proposal took its place.
        Superseded = "superseded",
        /// It was adopted and taken back.
        RolledBack = "rolled_back",
    }
}

/// A proposal without its targets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Proposal {
    /// `20261129-031500`, with `-2`, `-3`, … when one exists already. UTC.
    pub id: String,
    /// The night that made it.
    pub night: i64,
    /// Id of the project.
    pub project: String,
    /// Where it stands.
    pub state: State,
    /// When it was reserved.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub created_at: Instant,
    /// Folder of its bundle.
    pub dir: String,
    /// Random; an action from outside (a notification) must carry it.
    pub nonce: String,
    /// Folders its documents must be in.
    pub roots: Vec<String>,
    /// When the user looked at it first.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub viewed_at: Option<Instant>,
    /// When it was decided.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub decided_at: Option<Instant>,
    /// Why it was rejected.
    pub reason: String,
}

/// One document of a proposal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProposalTarget {
    /// Unique within the proposal: `claude:skill`, ….
    pub target: String,
    /// The agent that reads the document.
    pub agent: Agent,
    /// Skill or memory.
    pub kind: TargetKind,
    /// Where the agent looks for it.
    pub live_path: String,
    /// The file that is really written.
    pub real_path: String,
    /// SHA-256 of the bytes the proposal was made against; empty when there was no file.
    pub live_sha256: String,
    /// SHA-256 of the proposed bytes; they are in [`blobs`] under this hash.
    pub proposed_sha256: String,
    /// The gate's verdict.
    pub verdict: String,
    /// Score of the live document on held-out tasks.
    pub before: Option<f64>,
    /// Score of the proposed document.
    pub after: Option<f64>,
    /// The edits that make the difference, in order.
    pub edits: Vec<Edit>,
    /// What the scan found; empty when nothing needs a confirmation.
    pub flags: Value,
    /// Whatever else the review shows.
    pub detail: Value,
    /// Where it stands.
    pub state: TargetState,
    /// Why it was rejected.
    pub reason: String,
}

/// Reserves a proposal for a night, as a draft, and gives it. A second request for the same night
/// gives the draft again, so that a resumed night stages once. `root_of_dirs` is the folder that
/// will hold the bundle's folder, which is named by the id.
pub fn reserve(
    tx: &Tx<'_>,
    night: i64,
    root_of_dirs: &std::path::Path,
    roots: &[String],
) -> Result<Proposal, Fault> {
    let draft: Option<String> = tx
        .query_row(
            "SELECT id FROM proposal WHERE night = ?1 AND state = 'draft'",
            [night],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(id) = draft {
        return required(tx, &id);
    }
    let stamp = tx.now().strftime("%Y%m%d-%H%M%S").to_string();
    let mut id = stamp.clone();
    let mut suffix = 2_u32;
    while get(tx, &id)?.is_some() {
        id = format!("{stamp}-{suffix}");
        suffix += 1;
    }
    let dir = root_of_dirs.join(&id);
    tx.execute(
        "INSERT INTO proposal (id, night, project, state, created_at, dir, nonce, roots)
         VALUES (?1, ?2, (SELECT project FROM night WHERE id = ?2), 'draft', ?3, ?4, lower(hex(randomblob(16))), ?5)",
        (&id, night, At(tx.now()), dir.to_string_lossy(), to_json("roots", roots)?),
    )?;
    required(tx, &id)
}

/// The folders of bundles that are being written, or were when their process died.
pub(crate) fn draft_folders(db: &Connection) -> Result<Vec<std::path::PathBuf>, Fault> {
    let mut rows = db.prepare_cached("SELECT dir FROM proposal WHERE state = 'draft'")?;
    let found = rows.query_map([], |row| row.get::<_, String>(0))?;
    found
        .map(|dir| Ok(dir.map(std::path::PathBuf::from)?))
        .collect()
}

/// A target with the bytes that are proposed for it. `state` and `reason` of `target` are ignored:
/// it begins as pending. `proposed_sha256` is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTarget {
    /// The target's row.
    pub target: ProposalTarget,
    /// The whole proposed document.
    pub proposed: Vec<u8>,
}

/// Publishes a draft with its targets: from now on it is shown. Older proposals of the project that
/// still wait for the same documents are superseded there. Error: `proposal_not_draft`.
pub fn publish(tx: &Tx<'_>, id: &str, targets: &[NewTarget]) -> Result<(), Fault> {
    let proposal = required(tx, id)?;
    if proposal.state != State::Draft {
        return Err(Problem::refused(
            "proposal_not_draft",
            format!("Proposal {id} was published before."),
            "Nothing needs to be done.",
        )
        .into());
    }
    for (position, new) in targets.iter().enumerate() {
        let hash = blobs::put(tx, &new.proposed, Keep::ForGood)?;
        let target = &new.target;
        tx.execute(
            "INSERT INTO proposal_target (proposal, target, position, agent, kind, live_path, real_path, live_sha256,
                 proposed_sha256, verdict, before, after, edits, flags, detail, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 'pending')",
            rusqlite::params![
                id,
                target.target,
                Count(position as u64),
                target.agent.id(),
                target.kind.id(),
                target.live_path,
                target.real_path,
                target.live_sha256,
                hash,
                target.verdict,
                target.before,
                target.after,
                to_json("edits", &target.edits)?,
                to_json("flags", &target.flags)?,
                to_json("detail", &target.detail)?,
            ],
        )?;
        supersede(tx, &proposal, &target.real_path)?;
    }
    tx.execute("UPDATE proposal SET state = 'pending' WHERE id = ?1", [id])?;
    Ok(())
}

/// Older waiting targets of the same document give way to `newer`.
fn supersede(tx: &Tx<'_>, newer: &Proposal, real_path: &str) -> Result<(), Fault> {
    let mut statement = tx.prepare(
        "UPDATE proposal_target SET state = 'superseded' WHERE real_path = ?1 AND state = 'pending' AND proposal IN
             (SELECT id FROM proposal WHERE project = ?2 AND id <> ?3 AND state IN ('pending', 'partly_adopted'))
         RETURNING proposal",
    )?;
    let changed: Vec<String> = statement
        .query_map((real_path, &newer.project, &newer.id), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in changed {
        settle(tx, &id)?;
    }
    Ok(())
}

/// A draft that will never be published is removed, so that its id is free again.
pub fn discard_draft(tx: &Tx<'_>, id: &str) -> Result<(), Fault> {
    tx.execute(
        "DELETE FROM proposal WHERE id = ?1 AND state = 'draft'",
        [id],
    )?;
    Ok(())
}

/// Says what was decided about one target, and brings the proposal's state in line. What another process
/// decided meanwhile stands.
///
/// Errors: `proposal_decided` when the target is not where such a decision begins, `target_unknown`.
pub fn decide(
    tx: &Tx<'_>,
    id: &str,
    target: &str,
    state: TargetState,
    reason: &str,
) -> Result<(), Fault> {
    let found = target_state(tx, id, target)?;
    let follows = match state {
        TargetState::Adopted | TargetState::Rejected | TargetState::Superseded => {
            found == TargetState::Pending
        }
        TargetState::RolledBack => found == TargetState::Adopted,
        TargetState::Pending => matches!(found, TargetState::Pending | TargetState::Rejected),
    };
    if !follows {
        return Err(decided(id, target, found).into());
    }
    tx.execute(
        "UPDATE proposal_target SET state = ?3, reason = ?4 WHERE proposal = ?1 AND target = ?2",
        (id, target, state, reason),
    )?;
    // One that waits again has no reason any more.
    if matches!(state, TargetState::Rejected | TargetState::Pending) {
        tx.execute(
            "UPDATE proposal SET reason = ?2 WHERE id = ?1",
            (id, reason),
        )?;
    }
    settle(tx, id)
}

/// Where a target stands. Error: `target_unknown`.
pub fn target_state(db: &Connection, id: &str, target: &str) -> Result<TargetState, Fault> {
    db.query_row(
        "SELECT state FROM proposal_target WHERE proposal = ?1 AND target = ?2",
        (id, target),
        |row| row.get(0),
    )
    .optional()?
    .ok_or_else(|| {
        Fault::Problem(Problem::refused(
            "target_unknown",
            format!("Proposal {id} has no document \"{target}\"."),
            "`skillopt proposal show` lists its documents.",
        ))
    })
}

/// Another process was first.
#[must_use]
pub fn decided(id: &str, target: &str, state: TargetState) -> Problem {
    Problem::refused(
        "proposal_decided",
        format!(
            "Proposal {id} was decided meanwhile: {target} is {}.",
            state.id().replace('_', " ")
        ),
        "Nothing was changed. `skillopt proposal show` says where it stands.",
    )
}

/// The proposal's state follows from its targets'.
fn settle(tx: &Tx<'_>, id: &str) -> Result<(), Fault> {
    let count = |state: TargetState| -> Result<i64, Fault> {
        Ok(tx.query_row(
            "SELECT count(*) FROM proposal_target WHERE proposal = ?1 AND state = ?2",
            (id, state),
            |row| row.get(0),
        )?)
    };
    let (pending, adopted) = (count(TargetState::Pending)?, count(TargetState::Adopted)?);
    let state = match (pending > 0, adopted > 0) {
        (true, false) => State::Pending,
        (true, true) => State::PartlyAdopted,
        (false, true) => State::Adopted,
        (false, false) if count(TargetState::RolledBack)? > 0 => State::RolledBack,
        (false, false) if count(TargetState::Rejected)? > 0 => State::Rejected,
        (false, false) => State::Superseded,
    };
    let decided = if pending > 0 {
        None
    } else {
        Some(At(tx.now()))
    };
    tx.execute(
        "UPDATE proposal SET state = ?2, decided_at = ?3 WHERE id = ?1 AND state <> 'draft'",
        (id, state, decided),
    )?;
    Ok(())
}

/// The user looked at it; the first time counts.
pub fn mark_viewed(tx: &Tx<'_>, id: &str) -> Result<(), Fault> {
    tx.execute(
        "UPDATE proposal SET viewed_at = coalesce(viewed_at, ?2) WHERE id = ?1",
        (id, At(tx.now())),
    )?;
    Ok(())
}

const COLUMNS: &str =
    "id, night, project, state, created_at, dir, nonce, roots, viewed_at, decided_at, reason";

fn from_row(row: &Row<'_>) -> Result<Proposal, Fault> {
    Ok(Proposal {
        id: row.get(0)?,
        night: row.get(1)?,
        project: row.get(2)?,
        state: row.get(3)?,
        created_at: row.get::<_, At>(4)?.0,
        dir: row.get(5)?,
        nonce: row.get(6)?,
        roots: from_json("roots", &row.get::<_, String>(7)?)?,
        viewed_at: row.get::<_, Option<At>>(8)?.map(|at| at.0),
        decided_at: row.get::<_, Option<At>>(9)?.map(|at| at.0),
        reason: row.get(10)?,
    })
}

fn select(
    db: &Connection,
    rest: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<Proposal>, Fault> {
    let mut statement =
        db.prepare_cached(&format!("SELECT {COLUMNS} FROM proposal WHERE {rest}"))?;
    let mut rows = statement.query(params)?;
    let mut proposals = Vec::new();
    while let Some(row) = rows.next()? {
        proposals.push(from_row(row)?);
    }
    Ok(proposals)
}

/// The proposal with this id, drafts included.
pub fn get(db: &Connection, id: &str) -> Result<Option<Proposal>, Fault> {
    Ok(select(db, "id = ?1", [id])?.pop())
}

/// Like [`get`]. Error: `proposal_unknown`.
pub fn required(db: &Connection, id: &str) -> Result<Proposal, Fault> {
    get(db, id)?.ok_or_else(|| {
        Fault::Problem(Problem::refused(
            "proposal_unknown",
            format!("There is no proposal \"{}\".", id.escape_debug()),
            "`skillopt proposal list` shows what waits.",
        ))
    })
}

/// The published proposals of a project, or of all projects, newest first.
pub fn list(db: &Connection, project: Option<&str>, limit: usize) -> Result<Vec<Proposal>, Fault> {
    select(
        db,
        "state <> 'draft' AND (?1 IS NULL OR project = ?1) ORDER BY created_at DESC, id DESC LIMIT ?2",
        (project, Count(limit as u64)),
    )
}

/// The proposals of a project, or of all projects, that wait for the user, newest first.
pub fn waiting(db: &Connection, project: Option<&str>) -> Result<Vec<Proposal>, Fault> {
    select(
        db,
        "state IN ('pending', 'partly_adopted') AND (?1 IS NULL OR project = ?1)
         ORDER BY created_at DESC, id DESC",
        [project],
    )
}

/// The newest proposal of a project that still waits for the user, whatever came after it.
pub fn newest_waiting(db: &Connection, project: &str) -> Result<Option<Proposal>, Fault> {
    Ok(waiting(db, Some(project))?.into_iter().next())
}

/// The published proposal that was offered under this word.
pub fn by_nonce(db: &Connection, nonce: &str) -> Result<Option<Proposal>, Fault> {
    Ok(select(db, "nonce = ?1 AND state <> 'draft'", [nonce])?.pop())
}

/// The proposals a night made, drafts included.
pub fn of_night(db: &Connection, night: i64) -> Result<Vec<Proposal>, Fault> {
    select(db, "night = ?1 ORDER BY created_at, id", [night])
}

/// The documents of a proposal in the order they were published.
pub fn targets(db: &Connection, id: &str) -> Result<Vec<ProposalTarget>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT target, agent, kind, live_path, real_path, live_sha256, proposed_sha256, verdict, before, after,
             edits, flags, detail, state, reason FROM proposal_target WHERE proposal = ?1 ORDER BY position",
    )?;
    let mut rows = statement.query([id])?;
    let mut targets = Vec::new();
    while let Some(row) = rows.next()? {
        targets.push(target_from_row(row)?);
    }
    Ok(targets)
}

fn target_from_row(row: &Row<'_>) -> Result<ProposalTarget, Fault> {
    let agent: String = row.get(1)?;
    let kind: String = row.get(2)?;
    Ok(ProposalTarget {
        target: row.get(0)?,
        agent: Agent::from_id(&agent).ok_or_else(|| unreadable("agent", &agent))?,
        kind: match kind.as_str() {
            "skill" => TargetKind::Skill,
            "memory" => TargetKind::Memory,
            other => return Err(unreadable("kind of document", other)),
        },
        live_path: row.get(3)?,
        real_path: row.get(4)?,
        live_sha256: row.get(5)?,
        proposed_sha256: row.get(6)?,
        verdict: row.get(7)?,
        before: row.get(8)?,
        after: row.get(9)?,
        edits: from_json("edits", &row.get::<_, String>(10)?)?,
        flags: from_json("flags", &row.get::<_, String>(11)?)?,
        detail: from_json("detail", &row.get::<_, String>(12)?)?,
        state: row.get(13)?,
        reason: row.get(14)?,
    })
}
