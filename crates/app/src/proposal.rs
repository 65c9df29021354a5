//! Proposals in the morning: list, show, adopt, reject, take back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_core::document::TargetKind;
use skillopt_core::edit::Edit;
use skillopt_core::gate::Decision;
use skillopt_settings::Settings;
use skillopt_sleep::adopt::{self, PlannedDocument, RejectedRules, Selection};
use skillopt_sleep::context::Context;
use skillopt_sleep::evidence::Evidence;
use skillopt_sleep::replies::{self, Replies};
use skillopt_sleep::revalidate;
use skillopt_sleep::selection::rejected_rules;
use skillopt_store::blobs;
use skillopt_store::files::{self, Pinned};
use skillopt_store::proposals::{self, Proposal, ProposalTarget};
use skillopt_store::receipts::{self, Receipt};

use crate::context::App;
use crate::diff::{self, DiffLine};
use crate::sleep::as_problem;

/// Which proposals.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ProposalListInput", optional_fields = nullable))]
pub struct ListInput {
    /// Of one project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Also those that were decided.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub all: bool,
    /// Of every project.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub everywhere: bool,
}

/// One proposal in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProposalRow {
    /// The proposal.
    #[serde(flatten)]
    pub proposal: Proposal,
    /// Its documents.
    pub targets: Vec<TargetRow>,
}

/// One document of a proposal in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TargetRow {
    /// Id of the target.
    pub id: String,
    /// Where the agent looks for it.
    pub path: String,
    /// Held-out score of the document as it is.
    pub before: Option<f64>,
    /// Held-out score of the proposed document.
    pub after: Option<f64>,
    /// Where it stands.
    pub state: proposals::TargetState,
    /// How many rules it changes.
    pub rules: usize,
    /// How many places of it the scan has flagged: adopting it needs a confirmation.
    pub flags: usize,
    /// How many of them are adopted and stand.
    pub adopted: usize,
    /// It waits, and its file has changed since it was proposed: it cannot be adopted any more.
    pub stale: bool,
}

/// Lists proposals, newest first.
pub async fn list(app: &App, input: ListInput) -> Result<Vec<ProposalRow>, Problem> {
    let found = app.listed(input.project.as_deref(), input.everywhere, |db, project| {
        let mut found = Vec::new();
        for proposal in proposals::list(db, project, 500)? {
            if !(input.all || proposal.state.waits()) {
                continue;
            }
            let targets = proposals::targets(db, &proposal.id)?;
            let standing = receipts::standing(db, &proposal.id)?;
            found.push((proposal, targets, standing));
        }
        Ok(found)
    })?;
    // Files are read afterwards: no disk keeps the store waiting.
    let rows = found
        .into_iter()
        .map(|(proposal, targets, standing)| ProposalRow {
            proposal,
            targets: targets
                .into_iter()
                .map(|target| row_of(target, &standing))
                .collect(),
        });
    Ok(rows.collect())
}

fn row_of(target: ProposalTarget, standing: &[Receipt]) -> TargetRow {
    TargetRow {
        stale: is_stale(&target),
        adopted: standing
            .iter()
            .filter(|receipt| receipt.target == target.target)
            .map(|receipt| receipt.edits.len())
            .sum(),
        flags: flags(&target),
        id: target.target,
        path: target.live_path,
        before: target.before,
        after: target.after,
        state: target.state,
        rules: target.edits.len(),
    }
}

/// How many places of a document the scan has flagged.
pub(crate) fn flags(target: &ProposalTarget) -> usize {
    match &target.flags {
        Value::Array(flags) => flags.len(),
        Value::Null => 0,
        // No night writes anything else; whoever did has something to be looked at.
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => 1,
    }
}

/// Which proposal; the newest that waits when empty, or else the newest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ProposalShowInput", optional_fields = nullable))]
pub struct ShowInput {
    /// Its id.
    pub id: Option<String>,
    /// The project whose newest is meant.
    pub project: Option<PathBuf>,
}

/// One document of a proposal, for review.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ShownDocument {
    /// Id of the target.
    pub target: String,
    /// The agent that reads it.
    pub agent: Agent,
    /// Skill or memory.
    pub kind: TargetKind,
    /// Where the agent looks for it.
    pub path: String,
    /// `pending`, `adopted`, …
    pub state: proposals::TargetState,
    /// Why it was rejected; empty when it was not, or when no reason was given.
    pub reason: String,
    /// The verdict in a sentence.
    pub sentence: String,
    /// Held-out score of the document as it is.
    pub before: Option<f64>,
    /// Held-out score of the proposed document.
    pub after: Option<f64>,
    /// The per-task table.
    #[cfg_attr(feature = "typescript", ts(as = "Option<Decision>"))]
    pub decision: Value,
    /// The requests of the tasks in the table, redacted, by id.
    pub requests: BTreeMap<String, String>,
    /// What was answered to these tasks before and after, by id; empty once the replies have expired.
    pub replies: BTreeMap<String, Replies>,
    /// Rules with the numbers they are chosen by.
    pub rules: Vec<Rule>,
    /// What the scan found.
    #[cfg_attr(
        feature = "typescript",
        ts(type = "Array<{ kind: FlagKind, line: number, excerpt: string, sentence: string }>")
    )]
    pub flags: Value,
    /// What the loader would warn about.
    #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<String>>"))]
    pub warnings: Value,
    /// The document as it was when the proposal was made.
    pub text_before: String,
    /// What the document becomes, or became: with the rules that you did not reject while it waits, with those
    /// that were taken once it is adopted, else as it was proposed.
    pub text_after: String,
    /// Both documents line by line.
    pub diff: Vec<DiffLine>,
    /// Whether the file is still as it was; otherwise what waits cannot be adopted.
    pub unchanged: bool,
    /// The file is below the project's root and a repository's: the change is everyone's once it is
    /// committed, and nothing is committed for the user.
    pub under_version_control: bool,
}

/// One rule of a proposal.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Rule {
    /// Its number over the whole proposal, from 1.
    pub number: usize,
    /// You said no to it; it is adopted only when it is named.
    pub rejected: bool,
    /// The edit, with the tasks and turns it came from.
    #[serde(flatten)]
    pub edit: Edit,
    /// Corrections behind it, in the user's own redacted words; empty once they have expired.
    pub quotes: Vec<String>,
    /// Whether it was adopted and still stands.
    pub adopted: bool,
}

/// A proposal for review.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "ProposalShown")
)]
pub struct Shown {
    /// The proposal.
    #[serde(flatten)]
    pub proposal: Proposal,
    /// Its documents.
    pub documents: Vec<ShownDocument>,
    /// The scores come from a built-in simulation.
    pub simulated: bool,
    /// None was named and none waits: this is the newest one that was decided.
    pub instead: bool,
}

/// Shows a proposal, and remembers that it was looked at. When none is named and none waits, the newest
/// one that was decided.
pub async fn show(app: &App, input: ShowInput) -> Result<Box<Shown>, Problem> {
    let found = find(app, input.id.as_deref(), input.project.as_deref());
    let (context, id, instead) = match found {
        Ok((context, id)) => (context, id, false),
        Err(problem) if problem.code == "no_staging" => {
            let (context, id) = newest_decided(app, input.project.as_deref())?.ok_or(problem)?;
            (context, id, true)
        }
        Err(problem) => return Err(problem),
    };
    let (proposal, targets) = adopt::find(&context, &id)?;
    let rejected = rejected_rules(&context, &proposal, &targets)?;
    let (evidence, standing) = app.store.read(|db| {
        let held_out = compared(&targets);
        Ok((
            Evidence::of(db, proposal.night, &proposal.project, &held_out)?,
            receipts::standing(db, &id)?,
        ))
    })?;
    let mut number = 0;
    let mut documents = Vec::new();
    let mut simulated = false;
    for target in targets {
        let live = live(&target);
        let unchanged = is_unchanged(&target, live.as_ref());
        let text_before = if unchanged || target.live_sha256.is_empty() {
            live.filter(|_| unchanged).map(|pinned| pinned.bytes)
        } else {
            // An adoption kept the bytes it replaced; otherwise the file as it is now is all there is.
            app.store
                .read(|db| blobs::get(db, &target.live_sha256))?
                .or_else(|| live.map(|pinned| pinned.bytes))
        };
        let text_before = text_before
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default();
        simulated |= target.detail.get("simulated") == Some(&Value::Bool(true));
        let rules: Vec<Rule> = target
            .edits
            .iter()
            .map(|edit| {
                number += 1;
                Rule {
                    number,
                    rejected: rejected.contains(&number),
                    quotes: evidence.quotes(edit),
                    adopted: standing.iter().any(|receipt| {
                        receipt.target == target.target && receipt.edits.contains(edit)
                    }),
                    edit: edit.clone(),
                }
            })
            .collect();
        let text_after = text_after(&context, &target, &rules, &text_before)?;
        documents.push(ShownDocument {
            replies: app
                .store
                .read(|db| replies::of(db, proposal.night, target.agent, target.kind))?,
            diff: diff::lines(&text_before, &text_after),
            text_after,
            text_before,
            unchanged,
            under_version_control: adopt::is_under_version_control(
                &context.project.root,
                &target.real_path,
            ),
            sentence: target
                .detail
                .get("sentence")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            requests: compared(std::slice::from_ref(&target))
                .into_iter()
                .filter_map(|task| Some((task.to_owned(), evidence.request(task)?.to_owned())))
                .collect(),
            decision: target.detail.get("decision").cloned().unwrap_or_default(),
            warnings: target.detail.get("warnings").cloned().unwrap_or_default(),
            rules,
            target: target.target,
            agent: target.agent,
            kind: target.kind,
            path: target.live_path,
            state: target.state,
            reason: target.reason,
            before: target.before,
            after: target.after,
            flags: target.flags,
        });
    }
    app.store.commit("proposal viewed", |tx| {
        proposals::mark_viewed(tx, &proposal.id)
    })?;
    Ok(Box::new(Shown {
        proposal,
        documents,
        simulated,
        instead,
    }))
}

/// What a document becomes with those of its rules that count, or as it was proposed when they cannot be had
/// without the others.
fn text_after(
    context: &Context,
    target: &ProposalTarget,
    rules: &[Rule],
    before: &str,
) -> Result<String, Problem> {
    let counts = |rule: &&Rule| match target.state {
        proposals::TargetState::Pending => !rule.rejected,
        proposals::TargetState::Adopted => rule.adopted,
        proposals::TargetState::Rejected
        | proposals::TargetState::Superseded
        | proposals::TargetState::RolledBack => true,
    };
    let edits: Vec<Edit> = rules
        .iter()
        .filter(counts)
        .map(|rule| rule.edit.clone())
        .collect();
    if !edits.is_empty() && edits.len() < rules.len() {
        let file = (!target.live_sha256.is_empty()).then(|| before.to_owned());
        if let Some(text) = adopt::text_with(target, file, &edits)? {
            return Ok(text);
        }
    }
    adopt::proposed_text(context, target)
}

/// Whether a document waits and its file is not as it was when it was proposed. Reads the file.
pub(crate) fn is_stale(target: &ProposalTarget) -> bool {
    target.state == proposals::TargetState::Pending && !is_unchanged(target, live(target).as_ref())
}

/// The file of a document; nothing when it is not there or cannot be read.
fn live(target: &ProposalTarget) -> Option<Pinned> {
    let read = files::read_pinned(std::path::Path::new(&target.real_path));
    read.ok().flatten()
}

fn is_unchanged(target: &ProposalTarget, live: Option<&Pinned>) -> bool {
    live.map_or("", |pinned| pinned.sha256.as_str()) == target.live_sha256
}

/// Ids of the held-out tasks these documents were compared on.
pub(crate) fn compared(targets: &[ProposalTarget]) -> Vec<&str> {
    targets
        .iter()
        .filter_map(|target| target.detail.get("decision")?.get("deltas")?.as_array())
        .flatten()
        .filter_map(|delta| delta.get("task")?.as_str())
        .collect()
}

/// The newest proposal of a project that was decided, if there is one.
fn newest_decided(
    app: &App,
    project: Option<&std::path::Path>,
) -> Result<Option<(Context, String)>, Problem> {
    let project = app.registered(project)?;
    let newest = app
        .store
        .read(|db| proposals::list(db, Some(&project.id), 1))?
        .pop();
    newest
        .map(|proposal| Ok((app.night(project)?, proposal.id)))
        .transpose()
}

/// What is adopted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct AdoptInput {
    /// Id of the proposal; the newest that waits when empty.
    pub id: Option<String>,
    /// The project whose newest is meant.
    pub project: Option<PathBuf>,
    /// Ids of documents, or names of skills; all when empty.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub targets: Vec<String>,
    /// Only documents of this kind.
    #[serde(default)]
    pub kind: Option<TargetKind>,
    /// Numbers of rules; all that were not rejected when empty.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub rules: Vec<usize>,
    /// Only show what would be written.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub plan_only: bool,
    /// Flags were read and are accepted.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub confirm_flags: bool,
    /// Test a chosen subset on the held-out tasks first, and adopt it only when it is better.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub validate: bool,
}

/// What was, or would be, written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AdoptOutput {
    /// Id of the proposal.
    pub proposal: String,
    /// Folder of its bundle.
    pub staging_dir: String,
    /// The documents, before and after.
    pub documents: Vec<PlannedDocument>,
    /// Things to know.
    pub notes: Vec<String>,
    /// A built-in simulation made and scored these rules, not a model.
    pub simulated: bool,
    /// Paths of the documents that agents read in all projects, not only in this one.
    pub read_everywhere: Vec<String>,
    /// The verdict on a subset that was tested.
    pub validated: Option<Vec<(Agent, Decision)>>,
    /// What was written; empty when only planned, or when the test did not show an improvement.
    pub receipts: Vec<Receipt>,
    /// Whether anything was written.
    pub adopted: bool,
    /// Nothing was written because the test did not show an improvement.
    pub refused: bool,
}

/// Adopts a proposal or some of its rules.
pub async fn adopt(app: &App, input: AdoptInput) -> Result<Box<AdoptOutput>, Problem> {
    let (context, id) = find(app, input.id.as_deref(), input.project.as_deref())?;
    let selection = Selection {
        targets: input.targets,
        kind: input.kind,
        rules: input.rules,
    };
    let planned = adopt::plan(&context, &id, &selection)?;
    let (proposal, targets) = adopt::find(&context, &id)?;
    let mut output = AdoptOutput {
        proposal: id,
        staging_dir: proposal.dir,
        documents: planned.documents.clone(),
        notes: planned.notes.clone(),
        simulated: targets
            .iter()
            .any(|target| target.detail.get("simulated") == Some(&Value::Bool(true))),
        read_everywhere: outside(&context, &planned.documents),
        validated: None,
        receipts: Vec::new(),
        adopted: false,
        refused: false,
    };
    if planned.is_untested() && !input.validate {
        output.notes.push(
            if input.plan_only {
                "Only some of the rules are taken: the gate has not seen this combination. \
                 Add --validate to test it first."
            } else {
                "Only some of the rules were taken: the gate has not seen this combination, \
                 since --validate was not given."
            }
            .to_owned(),
        );
    }
    let mut worth_it = true;
    // A plan shows and spends nothing.
    if input.validate && planned.is_untested() && !input.plan_only {
        let result = revalidate::revalidate(&context, &planned)
            .await
            .map_err(as_problem)?;
        worth_it = result.is_better();
        for (agent, decision) in &result.decisions {
            output
                .notes
                .push(format!("{}: {}", agent.title(), decision.sentence()));
        }
        output.validated = Some(result.decisions);
        output.refused = !worth_it;
        if !worth_it {
            output.notes.push(
                "Not adopted: the chosen rules alone are not better on the held-out tasks."
                    .to_owned(),
            );
        }
    }
    if !input.plan_only && worth_it {
        output.receipts = adopt::apply(&context, &planned, input.confirm_flags)?;
        output.adopted = true;
    }
    Ok(Box::new(output))
}

/// Paths of the documents that lie outside the project.
fn outside(context: &Context, documents: &[PlannedDocument]) -> Vec<String> {
    let root = Path::new(&context.project.root);
    documents
        .iter()
        .filter(|document| {
            let places = [&document.path, &document.real_path];
            !places.iter().any(|path| Path::new(path).starts_with(root))
        })
        .map(|document| document.path.clone())
        .collect()
}

/// What is rejected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct RejectInput {
    /// Id of the proposal; the newest that waits when empty.
    pub id: Option<String>,
    /// The project whose newest is meant.
    pub project: Option<PathBuf>,
    /// Ids of documents; all when empty.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub targets: Vec<String>,
    /// Numbers of rules; all when empty.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub rules: Vec<usize>,
    /// Why; the optimizer is reminded of it.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub reason: String,
}

/// What was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Rejected {
    /// Id of the proposal.
    pub proposal: String,
    /// Ids of the documents.
    pub targets: Vec<String>,
    /// Which rules of them, and whether any is left.
    pub documents: Vec<RejectedRules>,
    /// The reason.
    pub reason: String,
}

/// Says no, with a reason.
pub async fn reject(app: &App, input: RejectInput) -> Result<Rejected, Problem> {
    let (context, id) = find(app, input.id.as_deref(), input.project.as_deref())?;
    let selection = Selection {
        targets: input.targets,
        kind: None,
        rules: input.rules,
    };
    let documents = adopt::reject(&context, &id, &selection, &input.reason)?;
    Ok(Rejected {
        proposal: id,
        targets: documents
            .iter()
            .map(|document| document.target.clone())
            .collect(),
        documents,
        reason: input.reason,
    })
}

/// What is taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct RollbackInput {
    /// Id of the proposal; the newest adopted one of the project when empty.
    pub id: Option<String>,
    /// The project.
    pub project: Option<PathBuf>,
    /// Only show what would be written.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub plan_only: bool,
}

/// What was, or would be, taken back.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RolledBack {
    /// Id of the proposal.
    pub proposal: String,
    /// The files that get their earlier bytes back.
    pub files: Vec<PathBuf>,
    /// Whether it was done; otherwise only planned.
    pub applied: bool,
}

/// Takes an adoption back, byte for byte.
pub async fn rollback(app: &App, input: RollbackInput) -> Result<Box<RolledBack>, Problem> {
    let project = match &input.id {
        Some(id) => project_of(app, id)?,
        None => app.registered(input.project.as_deref())?,
    };
    let context = app.night_under(project, Settings::default());
    let (id, plan) = adopt::rollback_plan(&context, input.id.as_deref())?;
    let files = plan
        .changes
        .iter()
        .map(|change| change.real_path.clone())
        .collect();
    if input.plan_only {
        adopt::can_roll_back(&context, &plan)?;
    } else {
        adopt::rollback(&context, &id, &plan)?;
    }
    Ok(Box::new(RolledBack {
        proposal: id,
        files,
        applied: !input.plan_only,
    }))
}

/// The proposal that is meant, and what its project works with.
fn find(
    app: &App,
    id: Option<&str>,
    project: Option<&std::path::Path>,
) -> Result<(Context, String), Problem> {
    if let Some(id) = id {
        return Ok((app.night(project_of(app, id)?)?, id.to_owned()));
    }
    let project = app.registered(project)?;
    let newest = app
        .store
        .read(|db| proposals::newest_waiting(db, &project.id))?;
    let Some(proposal) = newest else {
        return Err(Problem::permanent(
            "no_staging",
            "No proposal waits in this project.",
            "`skillopt sleep run` makes one when something can be improved; `skillopt proposal list --all` shows earlier ones.",
        ));
    };
    Ok((app.night(project)?, proposal.id))
}

pub(crate) fn project_of(
    app: &App,
    id: &str,
) -> Result<skillopt_store::projects::Project, Problem> {
    let proposal = app.store.read(|db| proposals::required(db, id))?;
    app.store
        .read(|db| skillopt_store::projects::get(db, &proposal.project))?
        .ok_or_else(crate::project::not_registered)
}

/// The differences between two texts as a unified diff with three lines of context. Where nothing was before,
/// the file is new, as every tool that reads such a diff takes it.
#[must_use]
pub fn unified(before: &str, after: &str, path: &str) -> String {
    let old = if before.is_empty() { "/dev/null" } else { path };
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(old, path)
        .to_string()
}
