//! The bundle of a proposal: the proposed documents, the manifest, the report, the evidence.
//!
//! The rows in the store are the truth; the bundle is what a person, an editor or the reference can
//! read. It lies in our data folder unless the user asked for the project (`changes.staging`).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_core::document::{Target, TargetKind};
use skillopt_core::hash::sha256_hex;
use skillopt_core::redact::Redactor;
use skillopt_core::scan::{self, Flag};
use skillopt_core::skill_file;
use skillopt_models::Roles;
use skillopt_settings::Staging;
use skillopt_store::proposals::{self, NewTarget, ProposalTarget, TargetState};
use skillopt_store::{events, files};

use crate::consolidate;
use crate::context::Context;
use crate::night::Night;
use crate::report::{NightReport, TargetReport, reference_edit};
use crate::report_text;
use crate::targets;

/// A bundle that was written and waits to be published.
pub(crate) struct Staged {
    pub(crate) id: String,
    pub(crate) targets: Vec<NewTarget>,
}

/// Takes back a bundle that could not be published: nothing points to it.
pub(crate) fn discard(
    context: &Context,
    staged: &Staged,
    report: &mut NightReport,
) -> Result<(), Problem> {
    context.store.commit("discard draft", |tx| {
        proposals::discard_draft(tx, &staged.id)
    })?;
    // What cannot be removed is only a folder nobody names.
    let _ = std::fs::remove_dir_all(&report.staging_dir);
    report.proposal = None;
    report.staging_dir.clear();
    Ok(())
}

/// Writes the bundle of what improved; `None` when nothing did, or nothing of it may be staged.
pub(crate) fn stage(
    night: &Night<'_>,
    report: &mut NightReport,
    pinned: &[Target],
) -> Result<Option<Staged>, Problem> {
    let context = night.context;
    let mut rows = Vec::new();
    for position in 0..report.targets.len() {
        if report.targets[position].applied.is_empty() {
            continue;
        }
        let id = report.targets[position].id.clone();
        let Some(target) = pinned.iter().find(|target| target.id == id) else {
            continue;
        };
        if let Some(row) = row(context, &mut report.targets[position], target)? {
            rows.push(row);
        }
    }
    if rows.is_empty() {
        if report.outcome == skillopt_store::nights::Outcome::Proposed {
            report.outcome = skillopt_store::nights::Outcome::Failed;
            let why = report
                .targets
                .iter()
                .find_map(|target| target.not_staged.clone())
                .unwrap_or_default();
            report.reason = format!("An improvement was found but cannot be staged: {why}");
            report.problem = Some(Problem::refused(
                "proposal_unusable",
                report.reason.clone(),
                "Correct the document named here; the answers are kept, so running again costs little.",
            ));
        }
        return Ok(None);
    }
    let folder = folder(context);
    let roots: Vec<String> = targets::allowed_roots(context)
        .iter()
        .map(|root| root.to_string_lossy().into_owned())
        .collect();
    let draft = context.store.commit("reserve proposal", |tx| {
        proposals::reserve(tx, night.id, &folder, &roots)
    })?;
    report.notes.extend(rivals(context, &rows)?);
    report.proposal = Some(draft.id.clone());
    report.staging_dir.clone_from(&draft.dir);
    write(night, &PathBuf::from(&draft.dir), report, &rows, &roots)?;
    Ok(Some(Staged {
        id: draft.id,
        targets: rows,
    }))
}

/// The folder of the bundles.
fn folder(context: &Context) -> PathBuf {
    match context.settings.staging {
        Staging::Data => context.paths.staging(),
        Staging::Project => Path::new(&context.project.root)
            .join(".skillopt-sleep")
            .join("staging"),
    }
}

/// Whether a bundle could be written; asked before anything is spent.
///
/// Errors: those of [`files::check_writable`].
pub fn ready(context: &Context) -> Result<(), Problem> {
    files::check_writable(&folder(context))
}

/// Why no change of this document could be staged, as it is now.
pub(crate) fn obstacle(context: &Context, target: &Target) -> Option<Problem> {
    let now = consolidate::base_text(target);
    let mut problem = objections(context, target, &now)
        .into_iter()
        .find(|objection| objection.blocks)?
        .problem;
    problem.message = format!("{}: {}", target.real_path, problem.message);
    Some(problem)
}

/// What is to be said of other projects' proposals that wait for the same files.
fn rivals(context: &Context, rows: &[NewTarget]) -> Result<Vec<String>, Problem> {
    context.store.read(|db| {
        let mut notes = Vec::new();
        for other in proposals::waiting(db, None)? {
            if other.project == context.project.id {
                continue;
            }
            let shared = proposals::targets(db, &other.id)?
                .into_iter()
                .filter(|target| target.state == TargetState::Pending)
                .find(|target| rows.iter().any(|row| row.target.real_path == target.real_path));
            if let Some(target) = shared {
                let project = skillopt_store::projects::get(db, &other.project)?;
                notes.push(format!(
                    "Proposal {} of {} waits for {} as well: once one of the two is adopted, the other cannot be.",
                    other.id,
                    project.map_or_else(|| "another project".to_owned(), |known| known.name),
                    target.live_path
                ));
            }
        }
        Ok(notes)
    })
}

/// One target's row, or `None` with the reason noted in the report.
fn row(
    context: &Context,
    report: &mut TargetReport,
    target: &Target,
) -> Result<Option<NewTarget>, Problem> {
    let base = consolidate::base_text(target);
    let applied = skillopt_core::apply::apply(&base, &report.applied)
        .map_err(skillopt_core::region::RegionFault::problem)?;
    let proposed = applied.document;
    let objections = objections(context, target, &proposed);
    if let Some(objection) = objections.iter().find(|objection| objection.blocks) {
        report.not_staged = Some(objection.problem.message.clone());
        return Ok(None);
    }
    let flags = flags(report);
    report.flags = flags.iter().map(flag_json).collect();
    let decision = report.decision.as_ref();
    Ok(Some(NewTarget {
        target: ProposalTarget {
            target: target.id.clone(),
            agent: target.agent,
            kind: target.kind,
            live_path: target.path.clone(),
            real_path: target.real_path.clone(),
            live_sha256: target.pin(),
            proposed_sha256: String::new(),
            verdict: decision
                .map_or("untested", |decision| decision.verdict.id())
                .to_owned(),
            before: decision.and_then(|decision| decision.before),
            after: decision.and_then(|decision| decision.after),
            edits: report.applied.clone(),
            flags: json!(report.flags),
            detail: json!({
                "sentence": report.sentence,
                "n_validation": report.n_validation,
                "decision": report.decision,
                "warnings": objections.iter().map(|objection| objection.problem.message.as_str()).collect::<Vec<_>>(),
                "simulated": Roles::simulated_by_settings(&context.settings),
            }),
            state: TargetState::Pending,
            reason: String::new(),
        },
        proposed: proposed.into_bytes(),
    }))
}

/// What the loader of a document would object to.
struct Objection {
    /// The loader would skip it: it is not staged.
    blocks: bool,
    problem: Problem,
}

/// What the loader of the document would object to.
fn objections(context: &Context, target: &Target, proposed: &str) -> Vec<Objection> {
    let size = |fault: skill_file::SizeFault| Objection {
        blocks: fault.blocks,
        problem: fault.problem(),
    };
    match (target.kind, target.agent) {
        (TargetKind::Skill, _) => {
            skill_file::check_skill(proposed, consolidate::skill_name(&target.real_path))
                .into_iter()
                .map(|fault| Objection {
                    blocks: fault.blocks(),
                    problem: fault.problem(),
                })
                .collect()
        }
        (TargetKind::Memory, Agent::Claude) => skill_file::check_claude_memory(proposed)
            .map(size)
            .into_iter()
            .collect(),
        (TargetKind::Memory, Agent::Codex) => {
            let chain = targets::memory_chain(context, target);
            let changed = (target.path.as_str(), proposed.len() as u64);
            skill_file::check_chain(&chain, changed, skill_file::CODEX_CHAIN_BYTES)
                .map(size)
                .into_iter()
                .collect()
        }
        // They read the whole file, however long.
        (
            TargetKind::Memory,
            Agent::Copilot
            | Agent::Vscode
            | Agent::Cursor
            | Agent::Pi
            | Agent::OpenCode
            | Agent::OpenClaw
            | Agent::Devin,
        ) => Vec::new(),
    }
}

/// What the scan of the added text finds.
fn flags(report: &TargetReport) -> Vec<Flag> {
    let added: Vec<&str> = report
        .applied
        .iter()
        .map(|edit| edit.content.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    scan::scan(&added.join("\n"))
}

pub(crate) fn flag_json(flag: &Flag) -> Value {
    json!({"kind": flag.kind, "line": flag.line, "excerpt": flag.excerpt, "sentence": flag.kind.sentence()})
}

/// Name of the proposed document in the bundle: the reference's for Claude Code (§1.9).
fn proposed_file(agent: Agent, kind: TargetKind) -> String {
    match (agent, kind) {
        (Agent::Claude, TargetKind::Skill) => "proposed_SKILL.md".to_owned(),
        (Agent::Claude, TargetKind::Memory) => "proposed_CLAUDE.md".to_owned(),
        (agent, TargetKind::Skill) => format!("proposed_SKILL.{agent}.md"),
        (
            Agent::Codex
            | Agent::Copilot
            | Agent::Vscode
            | Agent::Cursor
            | Agent::Pi
            | Agent::OpenCode
            | Agent::OpenClaw
            | Agent::Devin,
            TargetKind::Memory,
        ) => "proposed_AGENTS.md".to_owned(),
    }
}

/// Writes the bundle, manifest last: a folder without one is not a proposal.
fn write(
    night: &Night<'_>,
    folder: &Path,
    report: &NightReport,
    rows: &[NewTarget],
    roots: &[String],
) -> Result<(), Problem> {
    let proposed: Vec<(String, &[u8])> = rows
        .iter()
        .map(|row| {
            let name = proposed_file(row.target.agent, row.target.kind);
            (name, row.proposed.as_slice())
        })
        .collect();
    let mut report_json = report.report_json();
    let redactor = Redactor::with_false_alarms(&night.context.settings.false_alarms);
    redactor.redact_json(&mut report_json);
    let report_json = pretty(&report_json);
    let report_md = report_text::markdown(report);
    let evidence = evidence(night, &redactor)?;
    let manifest = pretty(&manifest(report, rows, roots));
    let mut bundle: Vec<(&str, &[u8])> = proposed
        .iter()
        .map(|(name, bytes)| (name.as_str(), *bytes))
        .collect();
    bundle.extend([
        ("report.json", report_json.as_bytes()),
        ("report.md", report_md.as_bytes()),
        ("evidence.jsonl", evidence.as_bytes()),
        ("manifest.json", manifest.as_bytes()),
    ]);
    files::write_private_set(folder, &bundle)
}

fn pretty(value: &Value) -> String {
    // A `Value` always serialises.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The night's events, one per line, in order.
fn evidence(night: &Night<'_>, redactor: &Redactor) -> Result<String, Problem> {
    let events = night.context.store.read(|db| events::list(db, night.id))?;
    let mut text = String::new();
    for event in events {
        let mut line = json!({"ts": event.at, "event": event.kind, "seq": event.seq});
        if let (Some(line), Value::Object(body)) = (line.as_object_mut(), event.body) {
            line.extend(body);
        }
        redactor.redact_json(&mut line);
        text.push_str(&line.to_string());
        text.push('\n');
    }
    Ok(text)
}

/// Manifest schema 2 (§1.10) with `targets[]`, which is the truth; `legacy` is filled only for what
/// the reference could adopt as well.
fn manifest(report: &NightReport, rows: &[NewTarget], roots: &[String]) -> Value {
    let mut legacy = serde_json::Map::new();
    let claude = |kind: TargetKind| {
        rows.iter()
            .find(|row| row.target.agent == Agent::Claude && row.target.kind == kind)
    };
    for (key, kind) in [("skill", TargetKind::Skill), ("memory", TargetKind::Memory)] {
        if let Some(row) = claude(kind) {
            legacy.insert(
                key.to_owned(),
                json!({
                    "proposed_file": proposed_file(Agent::Claude, kind),
                    "live_path": row.target.real_path,
                    "sha256": sha256_hex(&row.proposed),
                    "live_sha256": row.target.live_sha256,
                    "live_realpath": row.target.real_path,
                }),
            );
        }
    }
    let path = |kind| claude(kind).map_or_else(String::new, |row| row.target.live_path.clone());
    json!({
        "schema": "skillopt-sleep-staging",
        "schema_version": 2,
        "live_skill_path": path(TargetKind::Skill),
        "live_memory_path": path(TargetKind::Memory),
        "has_skill": false,
        "has_memory": false,
        "has_managed_skill": claude(TargetKind::Skill).is_some(),
        "has_managed_memory": claude(TargetKind::Memory).is_some(),
        "accepted": true,
        "legacy": legacy,
        "proposal": report.proposal,
        "roots": roots,
        "targets": rows.iter().map(|row| json!({
            "id": row.target.target,
            "agent": row.target.agent,
            "kind": row.target.kind,
            "proposed_file": proposed_file(row.target.agent, row.target.kind),
            "live_path": row.target.live_path,
            "live_realpath": row.target.real_path,
            "live_sha256": row.target.live_sha256,
            "sha256": sha256_hex(&row.proposed),
            "verdict": row.target.verdict,
            "before": row.target.before,
            "after": row.target.after,
            "flags": row.target.flags,
            "edits": row.target.edits.iter().map(|edit| reference_edit(row.target.kind, edit)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}

/// The file in the bundle that holds a target's proposed document, and its name in the manifest.
#[must_use]
pub fn proposed_path(folder: &Path, agent: Agent, kind: TargetKind) -> PathBuf {
    folder.join(proposed_file(agent, kind))
}
