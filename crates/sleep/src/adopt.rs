//! After the night: adopting a proposal or some of its rules, rejecting it, taking it back.
//!
//! Everything that writes to the user's files goes plan → show → apply. A plan is made against the
//! bytes that are there now and refuses when they are not those the proposal was made for; applying it
//! is one transaction over all documents (`skillopt_store::adoption`).

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::apply;
use skillopt_core::document::{Target, TargetKind};
use skillopt_core::edit::Edit;
use skillopt_core::hash::sha256_hex;
use skillopt_core::scan;
use skillopt_store::adoption::{self, Change, Kind, Plan};
use skillopt_store::proposals::{self, Proposal, ProposalTarget, TargetState};
use skillopt_store::receipts::{self, Receipt};
use skillopt_store::rejected::{self, By};
use skillopt_store::{blobs, documents, files};

use crate::consolidate;
use crate::context::Context;
use crate::selection::{Chosen, Refused, choose, refusal, refused, rules_words};
use crate::staging;

pub use crate::selection::Selection;

/// One document of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PlannedDocument {
    /// Id of the target.
    pub target: String,
    /// Skill or memory.
    pub kind: TargetKind,
    /// Where the agent looks for it.
    pub path: String,
    /// The file that would be written.
    pub real_path: String,
    /// What is there now; empty when there is no file.
    pub before: String,
    /// What would be there.
    pub after: String,
    /// The rules it takes over.
    pub edits: Vec<Edit>,
    /// Only some of the proposal's rules: the gate has not seen this document.
    pub subset: bool,
    /// What the scan found in the chosen rules; needs a confirmation.
    #[cfg_attr(
        feature = "typescript",
        ts(type = "Array<{ kind: FlagKind, line: number, excerpt: string, sentence: string }>")
    )]
    pub flags: Vec<Value>,
    /// The file is marked as not to be written; it is replaced all the same, and stays marked.
    pub read_only: bool,
    /// It is somebody else's now, and would be ours.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    changes_owner: bool,
    /// The file is below the project's root and a repository's: the change is everyone's once it is
    /// committed, and nothing is committed for the user.
    pub under_version_control: bool,
}

/// What an adoption would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Planned {
    /// The proposal.
    pub proposal: String,
    /// One per document.
    pub documents: Vec<PlannedDocument>,
    /// Things to know before saying yes.
    pub notes: Vec<String>,
    #[serde(skip)]
    plan: Plan,
    /// What the user had rejected when it was made.
    #[serde(skip)]
    refused: Refused,
}

impl Planned {
    /// Whether a person has to confirm it, naming the flags.
    #[must_use]
    pub fn is_flagged(&self) -> bool {
        self.documents
            .iter()
            .any(|document| !document.flags.is_empty())
    }

    /// Whether the gate has not seen what would be written.
    #[must_use]
    pub fn is_untested(&self) -> bool {
        self.documents.iter().any(|document| document.subset)
    }
}

/// The proposal with this id, with its documents. Error: `proposal_unknown`.
pub fn find(context: &Context, id: &str) -> Result<(Proposal, Vec<ProposalTarget>), Problem> {
    context
        .store
        .read(|db| Ok((proposals::required(db, id)?, proposals::targets(db, id)?)))
}

/// What adopting this selection would do. Nothing is changed.
///
/// Errors: `proposal_unknown`, `proposal_decided`, `selection_unknown`, `selection_empty`,
/// `proposal_tampered`, `target_outside_roots`, `target_moved`, `document_changed`, `file_…`.
pub fn plan(context: &Context, id: &str, selection: &Selection) -> Result<Planned, Problem> {
    let (proposal, targets) = find(context, id)?;
    untampered(&proposal, &targets)?;
    let refused = context.store.read(|db| refused(db, &proposal.project))?;
    let chosen = choose(&proposal, &targets, selection, &refused)?;
    let roots: Vec<PathBuf> = proposal.roots.iter().map(PathBuf::from).collect();
    let mut documents = Vec::new();
    let mut changes = Vec::new();
    let mut notes = Vec::new();
    for Chosen {
        target,
        rules,
        left_out,
    } in chosen
    {
        if !left_out.is_empty() {
            notes.push(format!(
                "Left out, because you rejected them: {}.",
                rules_words(&left_out)
            ));
        }
        let edits: Vec<Edit> = rules.into_iter().map(|(_, edit)| edit.clone()).collect();
        let subset = edits.len() < target.edits.len();
        let planned = document(context, &proposal, target, edits, subset, &roots)?;
        if planned.read_only {
            notes.push(format!(
                "{} is read-only: it is changed all the same, and stays read-only.",
                planned.real_path
            ));
        }
        if planned.changes_owner {
            notes.push(format!(
                "{} belongs to another user of this computer; what takes its place belongs to you.",
                planned.real_path
            ));
        }
        changes.push(Change {
            target: planned.target.clone(),
            live_path: planned.path.clone(),
            real_path: PathBuf::from(&planned.real_path),
            expected_sha256: target.live_sha256.clone(),
            after: Some(planned.after.clone().into_bytes()),
            mode: None,
            edits: planned.edits.clone(),
            remove_dirs: Vec::new(),
        });
        documents.push(planned);
    }
    let plan = Plan {
        kind: Kind::Adopt,
        proposal: proposal.id.clone(),
        project: proposal.project.clone(),
        changes,
        undoes: Vec::new(),
    };
    Ok(Planned {
        proposal: proposal.id,
        documents,
        notes,
        plan,
        refused,
    })
}

/// Writes what `planned` says, all of it or nothing.
///
/// Errors: `confirmation_needed` when something is flagged and `confirmed` is false; `file_changed`
/// when a document changed since the plan was made; `proposal_decided` when somebody adopted or rejected
/// it meanwhile; those of [`adoption::perform`].
pub fn apply(
    context: &Context,
    planned: &Planned,
    confirmed: bool,
) -> Result<Vec<Receipt>, Problem> {
    if planned.is_flagged() && !confirmed {
        let sentences: Vec<&str> = planned
            .documents
            .iter()
            .flat_map(|document| &document.flags)
            .filter_map(|flag| flag.get("sentence").and_then(Value::as_str))
            .collect();
        return Err(Problem::refused(
            "confirmation_needed",
            format!(
                "The proposed text needs your confirmation: {}",
                sentences.join(" ")
            ),
            "Read it with `skillopt proposal show`; if it is what you want, adopt it with --confirm-flags.",
        ));
    }
    let project = planned.plan.project.clone();
    let adopted = adoption::perform(&context.store, &context.paths, &planned.plan, |tx, _| {
        let refused = refused(tx, &project)?;
        for document in &planned.documents {
            proposals::decide(
                tx,
                &planned.proposal,
                &document.target,
                TargetState::Adopted,
                "",
            )?;
            for edit in &document.edits {
                let rule = (document.target.clone(), rejected::key(edit));
                if refused.contains(&rule) && !planned.refused.contains(&rule) {
                    return Err(rejected_meanwhile(planned, edit).into());
                }
                rejected::forget(tx, &project, &document.target, edit)?;
            }
        }
        Ok(())
    });
    adopted.map_err(|problem| decided_meanwhile(context, planned, problem))
}

fn rejected_meanwhile(planned: &Planned, edit: &Edit) -> Problem {
    Problem::refused(
        "proposal_decided",
        format!(
            "The rule \"{}\" of proposal {} was rejected meanwhile.",
            edit.content.escape_debug(),
            planned.proposal
        ),
        "Nothing was changed. Adopt again for the other rules.",
    )
}

/// Why a document is no longer what the plan was made for, when it is this proposal that was written.
fn decided_meanwhile(context: &Context, planned: &Planned, problem: Problem) -> Problem {
    if problem.code != "file_changed" {
        return problem;
    }
    let id = &planned.proposal;
    planned
        .documents
        .iter()
        .find_map(|document| {
            let state = context
                .store
                .read(|db| proposals::target_state(db, id, &document.target))
                .ok()?;
            (state != TargetState::Pending).then(|| proposals::decided(id, &document.target, state))
        })
        .unwrap_or(problem)
}

/// What was said no to in one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RejectedRules {
    /// Id of the target.
    pub target: String,
    /// Numbers of the rules.
    pub rules: Vec<usize>,
    /// No rule of it is left: the document does not wait any more.
    pub closed: bool,
}

/// Says no to what still waits, with a reason the optimizer is reminded of. A document of which every
/// rule was rejected, now or before, is closed. What is adopted meanwhile, or was, stays so.
///
/// Errors: `proposal_unknown`, `proposal_decided`, `selection_unknown`, `selection_empty`.
pub fn reject(
    context: &Context,
    id: &str,
    selection: &Selection,
    reason: &str,
) -> Result<Vec<RejectedRules>, Problem> {
    let why = if reason.is_empty() {
        "no reason given"
    } else {
        reason
    };
    context.store.commit("reject proposal", |tx| {
        let (proposal, targets) = (proposals::required(tx, id)?, proposals::targets(tx, id)?);
        let refused = refused(tx, &proposal.project)?;
        // Saying no again replaces the reason, so that nothing is left out here.
        let chosen = choose(&proposal, &targets, selection, &Refused::new())?;
        let mut rejected = Vec::new();
        for Chosen { target, rules, .. } in &chosen {
            for (_, edit) in rules {
                rejected::remember(
                    tx,
                    &proposal.project,
                    &target.target,
                    edit,
                    By::User,
                    why,
                    Some(proposal.night),
                )?;
            }
            let closed = target.edits.iter().all(|edit| {
                refused.contains(&refusal(target, edit))
                    || rules.iter().any(|(_, chosen)| *chosen == edit)
            });
            if closed {
                proposals::decide(tx, id, &target.target, TargetState::Rejected, reason)?;
            }
            rejected.push(RejectedRules {
                target: target.target.clone(),
                rules: rules.iter().map(|(number, _)| *number).collect(),
                closed,
            });
        }
        Ok(rejected)
    })
}

/// What taking back an adoption would do: of a proposal, or of the newest one of the project.
///
/// Errors: `nothing_to_roll_back`, `already_rolled_back`, `before_image_missing`.
pub fn rollback_plan(context: &Context, proposal: Option<&str>) -> Result<(String, Plan), Problem> {
    let standing = context.store.read(|db| match proposal {
        Some(id) => receipts::standing(db, id),
        None => {
            let newest = receipts::newest_standing(db, &context.project.id)?;
            newest.map_or(Ok(Vec::new()), |receipt| {
                receipts::standing(db, &receipt.proposal)
            })
        }
    })?;
    let Some(first) = standing.first() else {
        if let Some(id) = proposal
            && find(context, id)?
                .1
                .iter()
                .any(|target| target.state == TargetState::RolledBack)
        {
            return Err(Problem::refused(
                "already_rolled_back",
                format!("The adoption of proposal {id} was rolled back before."),
                "`skillopt proposal show` says when.",
            ));
        }
        return Err(Problem::refused(
            "nothing_to_roll_back",
            match proposal {
                Some(id) => format!("Nothing of proposal \"{}\" is adopted.", id.escape_debug()),
                None => "Nothing is adopted in this project.".to_owned(),
            },
            "`skillopt proposal list --all` shows what was adopted and when.",
        ));
    };
    let id = first.proposal.clone();
    let plan = context
        .store
        .read(|db| adoption::rollback_plan(db, &standing))?;
    Ok((id, plan))
}

/// Takes an adoption back, byte for byte. Refuses with `file_changed` when a file was edited since.
pub fn rollback(context: &Context, id: &str, plan: &Plan) -> Result<Vec<Receipt>, Problem> {
    let taken_back = adoption::perform(&context.store, &context.paths, plan, |tx, _| {
        for change in &plan.changes {
            proposals::decide(tx, id, &change.target, TargetState::RolledBack, "")?;
        }
        Ok(())
    });
    taken_back.map_err(|problem| changed_since_adoption(context, plan, problem))
}

/// Whether an adoption can be taken back now. Errors as [`rollback`]; nothing is written.
pub fn can_roll_back(context: &Context, plan: &Plan) -> Result<(), Problem> {
    adoption::check(plan).map_err(|problem| changed_since_adoption(context, plan, problem))
}

/// The store speaks of what a change was made for; here that is the adoption, not the proposal. A later
/// adoption, of this project or of another that shares the document, is not the user's own edit.
fn changed_since_adoption(context: &Context, plan: &Plan, problem: Problem) -> Problem {
    if problem.code != "file_changed" {
        return problem;
    }
    match adopted_later(context, plan) {
        Ok(Some((receipt, project))) => {
            return Problem::refused(
                "file_changed",
                format!(
                    "{} was changed again when proposal {} of {project} was adopted.",
                    receipt.real_path, receipt.proposal
                ),
                format!(
                    "Nothing was written. Take that one back first: `skillopt rollback {}`.",
                    receipt.proposal
                ),
            );
        }
        Ok(None) => {}
        Err(problem) => return problem,
    }
    Problem::refused(
        "file_changed",
        problem
            .message
            .replace("since the proposal was made", "since it was adopted"),
        "Nothing was written. Undo your own edit first, or take the rules out by hand; the text from \
         before the adoption is in the backups of the data folder.",
    )
}

/// The newest adoption that stands, came after what `plan` takes back, and left one of its documents as
/// it is now; with the name of its project.
fn adopted_later(context: &Context, plan: &Plan) -> Result<Option<(Receipt, String)>, Problem> {
    /// More than are adopted in years.
    const MOST: usize = 10_000;
    let newest = plan.undoes.iter().max().copied().unwrap_or(i64::MAX);
    let later: Vec<Receipt> = context
        .store
        .read(|db| receipts::list(db, None, MOST))?
        .into_iter()
        .filter(|receipt| receipt.id > newest && receipt.undone_at.is_none())
        .filter(|receipt| {
            plan.changes
                .iter()
                .any(|change| change.real_path == Path::new(&receipt.real_path))
        })
        .collect();
    for receipt in later {
        let now = files::read_pinned(Path::new(&receipt.real_path))?;
        if now.is_some_and(|pinned| pinned.sha256 == receipt.sha256_after) {
            let project = context
                .store
                .read(|db| skillopt_store::projects::get(db, &receipt.project))?;
            let name = project.map_or_else(|| "another project".to_owned(), |known| known.name);
            return Ok(Some((receipt, name)));
        }
    }
    Ok(None)
}

/// Plans one document against what is there now.
fn document(
    context: &Context,
    proposal: &Proposal,
    target: &ProposalTarget,
    edits: Vec<Edit>,
    subset: bool,
    roots: &[PathBuf],
) -> Result<PlannedDocument, Problem> {
    let resolved = documents::resolve(Path::new(&target.live_path), roots)?;
    if resolved.real_path != Path::new(&target.real_path) {
        return Err(Problem::refused(
            "target_moved",
            format!(
                "{} now leads to {}, but the proposal was made for {}.",
                target.live_path,
                resolved.real_path.display(),
                target.real_path
            ),
            "`skillopt sleep run --again` proposes against the file that is read now.",
        ));
    }
    let pinned = files::read_pinned(&resolved.real_path)?;
    let found = pinned.as_ref().map_or("", |pinned| pinned.sha256.as_str());
    if found != target.live_sha256 {
        return Err(Problem::refused(
            "document_changed",
            format!(
                "{} was changed after proposal {} was made.",
                target.live_path, proposal.id
            ),
            "Nothing was written. `skillopt sleep run --again` makes a new proposal; or reject this one.",
        ));
    }
    let read_only = pinned.as_ref().is_some_and(files::Pinned::is_read_only);
    let changes_owner = pinned.as_ref().is_some_and(|pinned| !pinned.keeps_owner);
    let before = pinned.map(|pinned| String::from_utf8_lossy(&pinned.bytes).into_owned());
    let after = if subset {
        let applied = with_edits(target, before.clone(), &edits)?;
        if let Some((edit, _)) = applied.unmatched.first() {
            return Err(Problem::refused(
                "selection_unusable",
                format!(
                    "The rule \"{}\" builds on another rule that is not selected.",
                    edit.content.escape_debug()
                ),
                "Select both, or neither.",
            ));
        }
        applied.document
    } else {
        proposed_text(context, target)?
    };
    let added: Vec<&str> = edits.iter().map(|edit| edit.content.as_str()).collect();
    Ok(PlannedDocument {
        target: target.target.clone(),
        kind: target.kind,
        path: target.live_path.clone(),
        real_path: target.real_path.clone(),
        under_version_control: is_under_version_control(&context.project.root, &target.real_path),
        before: before.unwrap_or_default(),
        after,
        flags: scan::scan(&added.join("\n"))
            .iter()
            .map(staging::flag_json)
            .collect(),
        edits,
        subset,
        read_only,
        changes_owner,
    })
}

/// A document as it would be with some of the edits of a proposal; `before` is the file, if there is one.
fn with_edits(
    target: &ProposalTarget,
    before: Option<String>,
    edits: &[Edit],
) -> Result<apply::Applied, Problem> {
    let live = Target {
        id: target.target.clone(),
        agent: target.agent,
        kind: target.kind,
        path: target.live_path.clone(),
        real_path: target.real_path.clone(),
        text: before,
    };
    apply::apply(&consolidate::base_text(&live), edits)
        .map_err(skillopt_core::region::RegionFault::problem)
}

/// The document as it would be with these edits of a proposal alone; `None` when one of them builds on another
/// that is not among them. `before` is the file, if there is one.
pub fn text_with(
    target: &ProposalTarget,
    before: Option<String>,
    edits: &[Edit],
) -> Result<Option<String>, Problem> {
    let applied = with_edits(target, before, edits)?;
    Ok(applied.unmatched.is_empty().then_some(applied.document))
}

/// The proposed document from the store. Error: `stored_value_unreadable` when it is gone.
pub fn proposed_text(context: &Context, target: &ProposalTarget) -> Result<String, Problem> {
    let bytes = context
        .store
        .read(|db| blobs::get(db, &target.proposed_sha256))?;
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| {
            Problem::permanent(
                "proposal_gone",
                format!(
                    "The proposed text of {} is no longer stored.",
                    target.live_path
                ),
                "`skillopt sleep run --again` makes a new proposal.",
            )
        })
}

/// Refuses when the bundle says something else than the store: somebody changed it.
fn untampered(proposal: &Proposal, targets: &[ProposalTarget]) -> Result<(), Problem> {
    let folder = Path::new(&proposal.dir);
    let tampered = |what: String| {
        Err(Problem::refused(
            "proposal_tampered",
            format!(
                "The bundle of proposal {} was changed after it was staged: {what}.",
                proposal.id
            ),
            "Nothing was written. Reject the proposal; another night makes a new one.",
        ))
    };
    let Some(manifest) = files::read_pinned(&folder.join("manifest.json"))? else {
        // A bundle that was deleted proves nothing; the store has everything.
        return Ok(());
    };
    let Ok(manifest) = serde_json::from_slice::<Value>(&manifest.bytes) else {
        return tampered("its manifest cannot be read".to_owned());
    };
    let rows = manifest
        .get("targets")
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    if rows.len() != targets.len() {
        return tampered("its manifest lists other documents".to_owned());
    }
    for (row, target) in rows.iter().zip(targets) {
        let expected = [
            ("id", target.target.as_str()),
            ("live_path", target.live_path.as_str()),
            ("live_realpath", target.real_path.as_str()),
            ("live_sha256", target.live_sha256.as_str()),
            ("sha256", target.proposed_sha256.as_str()),
        ];
        for (key, value) in expected {
            if row.get(key).and_then(Value::as_str) != Some(value) {
                return tampered(format!(
                    "{key} of {} differs in its manifest",
                    target.target
                ));
            }
        }
        let file = staging::proposed_path(folder, target.agent, target.kind);
        let staged = files::read_pinned(&file)?;
        let hash = staged.map(|staged| sha256_hex(&staged.bytes));
        if hash.is_some_and(|hash| hash != target.proposed_sha256) {
            return tampered(format!("{} has another text", file.display()));
        }
    }
    Ok(())
}

/// Whether a file of the project at `root` is a repository's, and so the whole team's.
#[must_use]
pub fn is_under_version_control(root: &str, real_path: &str) -> bool {
    let file = Path::new(real_path);
    file.starts_with(root) && file.ancestors().any(|folder| folder.join(".git").exists())
}

/// Why a plan may not be adopted without asking; `None` when it may.
pub(crate) fn not_without_asking(
    context: &Context,
    planned: &Planned,
    simulated: bool,
) -> Option<&'static str> {
    let own_skill = planned.documents.iter().any(|document| {
        document.kind == TargetKind::Skill
            && !document.before.is_empty()
            && consolidate::skill_name(&document.real_path) != context.settings.managed_skill_name
    });
    if planned.is_flagged() {
        Some("the scan flagged the proposed text")
    } else if own_skill {
        Some("it changes a skill you wrote")
    } else if planned.documents.iter().any(|document| document.read_only) {
        Some("a document is read-only")
    } else if planned
        .documents
        .iter()
        .any(|document| document.changes_owner)
    {
        Some("a document belongs to another user of this computer")
    } else if simulated {
        Some("its scores come from a simulation")
    } else if context.settings.mode == skillopt_settings::GateMode::Off {
        Some("the gate is off")
    } else {
        None
    }
}
