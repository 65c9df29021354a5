//! One night from its lock to its report.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use jiff::SignedDuration;

use serde::Serialize;
use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::document::Target;
use skillopt_core::task::{SourceTurn, Task};
use skillopt_models::{Handoff, Roles, Terms, handoff_folder, terms};
use skillopt_store::clusters::ClusterText;
use skillopt_store::nights::{self, Outcome};
use skillopt_store::orders::Order;
use skillopt_store::rejected::{self, By};
use skillopt_store::{attempts, blobs, clusters, events, locks, proposals, tasks};

use crate::adopt;
use crate::begin::{self, begin_or_resume, resumed};
use crate::consolidate;
use crate::context::{Context, Progress};
use crate::estimate;
use crate::gather::Gathered;
use crate::harvesting;
use crate::mine::Mined;
use crate::model_notes;
use crate::night::{self, Night};
use crate::outcome::Stop;
use crate::report::NightReport;
use crate::staging;
use crate::targets;
use crate::tasks_file::{self, TasksFile};
use crate::time_left;
use crate::tonight::{self, Prepared};

/// Version of the rule that assigns splits; stored with every task.
const SPLIT_VERSION: u32 = 1;
/// Why a night ended that was told to.
pub const ENDED_BY_USER: &str = "Ended by you before it came to a verdict.";
/// How many rejected edits an optimizer is reminded of.
const REMINDERS: usize = 12;

/// What is asked of a night.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Tasks given by the user instead of mined ones.
    pub tasks: Option<TasksFile>,
    /// A preview that spends like a night and proposes nothing.
    pub rehearsal: bool,
    /// Go on with the night that was stopped, with the tasks it was given; begin none.
    pub resume: bool,
    /// Look once more at what earlier nights have dealt with.
    pub again: bool,
}

/// Runs a night, or goes on with the one that was stopped or killed.
///
/// Always gives a report; a night that cannot even begin (another one is running, a document cannot
/// be read) is reported as deferred or failed with its problem.
pub async fn run(context: &Context, plan: Plan) -> NightReport {
    let mut report = NightReport::new(context);
    let lock = match locks::project(
        &context.paths,
        &context.project.id,
        "running a night",
        context.clock.now(),
    ) {
        Ok(lock) => lock,
        Err(problem) => {
            report.stop(&Stop::from(problem));
            return report;
        }
    };
    let ended = night(context, plan, &mut report).await;
    if let Err(stop) = ended {
        report.stop(&stop);
        if let Some(night) = report.night_id
            && let Err(problem) = record_stop(context, night, &stop, &mut report)
        {
            report.notes.push(format!(
                "The end of the night could not be written down: {problem}"
            ));
        }
    }
    if let Err(problem) = expire_evidence(context) {
        report
            .notes
            .push(format!("Old evidence could not be deleted: {problem}"));
    }
    drop(lock);
    report
}

fn record_stop(
    context: &Context,
    night: i64,
    stop: &Stop,
    report: &mut NightReport,
) -> Result<(), Problem> {
    report.spend = context.store.read(|db| attempts::spend(db, night))?;
    context.store.commit("night stopped", |tx| {
        let order = skillopt_store::orders::take(tx, night)?;
        match stop {
            Stop::Failed(_) => {
                nights::end(tx, night, Outcome::Failed, &report.reason, &report.json()?)
            }
            Stop::Deferred { .. } | Stop::Waiting { .. } | Stop::Interrupted
                if order == Some(Order::Cancel) =>
            {
                report.outcome = Outcome::Interrupted;
                report.until = None;
                ENDED_BY_USER.clone_into(&mut report.reason);
                nights::end(tx, night, report.outcome, &report.reason, &report.json()?)
            }
            Stop::Deferred { until, problem } => {
                if begin::is_budget(&problem.code) {
                    let body = json!({"limits": begin::limits(context)});
                    events::append(tx, night, begin::SPENT, &body)?;
                }
                nights::stop(tx, night, Outcome::Deferred, &report.reason, *until)
            }
            Stop::Waiting { .. } | Stop::Interrupted => {
                nights::stop(tx, night, stop.outcome(), &report.reason, None)
            }
        }
    })
}

async fn night(context: &Context, plan: Plan, report: &mut NightReport) -> Result<(), Stop> {
    let (roles, templates) = night::models(context).await?;
    report.terms = terms::missing(&roles, &context.settings.terms_accepted);
    if let Some(first) = report.terms.first() {
        // Only a person can agree; what was mined waits until then.
        return Err(Stop::Deferred {
            problem: first.problem(),
            until: None,
        });
    }
    let plan = if plan.resume {
        resumed(context, &plan)?
    } else {
        plan
    };
    report.backends(&roles);
    if let Some(file) = &plan.tasks {
        tasks_file::require_review(file, roles.simulated())?;
        report.tasks_file = Some(file.path.to_string_lossy().into_owned());
        report.notes.extend(file.warnings.iter().cloned());
    }
    let named = plan.tasks.as_ref().map_or(&[][..], |file| &file.tasks);
    let agents = harvesting::agents(context, named);
    let (targets, unusable) = targets::resolve(context, &agents)?;
    report.notes.extend(
        unusable
            .iter()
            .map(|problem| format!("Left out: {problem} {}", problem.guidance)),
    );
    if !plan.rehearsal {
        staging::ready(context)?;
    }
    let pins = begin::pins(context, &plan, &templates, &roles, &targets);
    let id = begin_or_resume(context, &plan, &pins, report)?;
    report.night_id = Some(id);
    skillopt_models::cassette::note_backends(&context.store, id, &roles)?;
    let night = Night::new(context, id, roles, templates)?;
    report.notes.extend(night.path.price_notes());
    let unheard = model_notes::unheard(night.path.roles());
    report.notes.extend(unheard.iter().map(ToString::to_string));

    let (prepared, mined) = match &plan.tasks {
        Some(file) => (
            night.local("tasks", || Ok(tonight::given(context, file)))?,
            Mined::default(),
        ),
        None => tonight::harvested(&night, plan.again, &targets, report).await?,
    };
    report.tasks(&prepared.tasks, &prepared.gathered, &mined);
    report.notes.extend(prepared.notes.iter().cloned());
    report
        .notes
        .extend(model_notes::judging(&prepared.tasks, night.path.roles()));
    report.notes.extend(model_notes::tools(
        &prepared.tasks,
        night.path.roles(),
        context.settings.tools,
    ));

    let mut consolidated = Vec::new();
    let groups = tonight::groups(context, &prepared.tasks, &targets);
    let (groups, fixed): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(_, _, targets)| {
        targets
            .iter()
            .any(|target| consolidate::changeable(&context.settings, target.kind))
    });
    for (agent, slices, _) in &fixed {
        report.notes.push(format!(
            "{} tasks of {} were not tried: no document of it may change.",
            slices.train.len() + slices.validation.len() + slices.test.len(),
            agent.title()
        ));
    }
    if !groups.is_empty() {
        let asked = groups
            .iter()
            .map(|(_, slices, targets)| (slices, targets.as_slice()));
        let (forecast, hold) = estimate::forecast(context, &night.path, asked);
        report.forecast = forecast;
        let calls = time_left::note(&night, forecast)?;
        (context.listener)(&Progress::Outlook { calls });
        // Where a person answers nothing is paid, and how much is left to ask is said by the questions.
        if forecast.calls > 0 && !report.simulated {
            context.note(format!(
                "About {} more model calls, {} to {} tokens.",
                forecast.calls, forecast.tokens_low, forecast.tokens_high
            ));
        }
        // What the gate needs is reserved first; a budget too small for a verdict spends nothing beyond what
        // looking for tasks took.
        if let Err(error) = night.hold(hold)? {
            return Err(estimate::too_small(context, &forecast, &error));
        }
    }
    for (agent, slices, targets) in &groups {
        let mut rejected_before = BTreeMap::new();
        for target in targets {
            rejected_before.insert(target.id.as_str(), reminders(context, &target.id)?);
        }
        let result =
            consolidate::consolidate(&night, agent.id(), slices, targets, &rejected_before).await?;
        consolidated.push((*agent, result, slices.validation.len()));
    }
    report.consolidated(&consolidated, &prepared.tasks);
    finish(&night, &plan, report, &prepared, &mined, &targets)?;
    if context.settings.auto_adopt && !plan.rehearsal {
        auto_adopt(context, report);
        let json = report.json()?;
        context.store.commit("note adoption", |tx| {
            nights::set_report(tx, night.id, &json)
        })?;
    }
    Ok(())
}

/// Adopts what was staged without being asked, within the rules: better, unflagged, no skill the user
/// wrote, no simulation. A refusal is noted; the proposal then waits like any other.
fn auto_adopt(context: &Context, report: &mut NightReport) {
    let Some(id) = report.proposal.clone() else {
        return;
    };
    let adopted = adopt::plan(context, &id, &adopt::Selection::default()).and_then(|planned| {
        if let Some(why) = adopt::not_without_asking(context, &planned, report.simulated) {
            report
                .notes
                .push(format!("Not adopted without asking: {why}."));
            return Ok(Vec::new());
        }
        adopt::apply(context, &planned, false)
    });
    match adopted {
        Ok(receipts) => {
            report.adopted = receipts
                .into_iter()
                .map(|receipt| receipt.real_path)
                .collect();
        }
        Err(problem) => report
            .notes
            .push(format!("Not adopted without asking: {problem}")),
    }
}

pub(crate) fn to_value<T: Serialize>(value: &T) -> Result<Value, Problem> {
    serde_json::to_value(value).map_err(|error| {
        Problem::permanent(
            "not_serialisable",
            format!("A value could not be written as JSON: {error}."),
            "This is a fault of SkillOpt; please report it.",
        )
    })
}

/// What the user rejected of a document before, for the optimizer to mind.
fn reminders(context: &Context, target: &str) -> Result<Vec<String>, Problem> {
    let rows = context
        .store
        .read(|db| rejected::list(db, &context.project.id, Some(target), REMINDERS))?;
    Ok(rows
        .into_iter()
        .map(|row| format!("{} (rejected: {})", row.edit.content, row.reason))
        .collect())
}

/// What the night says about the models it asked.
fn about_models(night: &Night<'_>, report: &mut NightReport) -> Result<(), Problem> {
    let context = night.context;
    let roles = night.path.roles();
    if roles.simulated() {
        return Ok(());
    }
    let (models, notes) = model_notes::of(&context.store, &context.project.id, night.id, roles)?;
    report.models = models;
    report.notes.extend(notes);
    Ok(())
}

/// Stages what improved and ends the night in one transaction: what was mined, what was learned,
/// what was rejected and what is proposed become true together.
fn finish(
    night: &Night<'_>,
    plan: &Plan,
    report: &mut NightReport,
    prepared: &Prepared,
    mined: &Mined,
    targets: &[Target],
) -> Result<(), Stop> {
    let context = night.context;
    report.spend = night.spent()?;
    about_models(night, report)?;
    report.conclude(context.clock.now(), plan.rehearsal);
    if !plan.rehearsal {
        put_handoff_aside(night)?;
    }
    let project = context.project.id.as_str();
    // The project is locked: the number is still the next one when the night ends.
    if !plan.rehearsal && !prepared.tasks.is_empty() && report.outcome != Outcome::Failed {
        report.night = Some(context.store.read(|db| nights::next_number(db, project))?);
    }
    let staged = if plan.rehearsal {
        None
    } else {
        match staging::stage(night, report, targets) {
            Ok(staged) => staged,
            Err(problem) => {
                report.proposal = None;
                report.staging_dir.clear();
                // Everything was paid for: with the same answers it only has to be written again.
                return Err(Stop::Deferred {
                    problem,
                    until: None,
                });
            }
        }
    };
    // A night that failed has looked at its sessions in vain: they are looked at again.
    let counts = !plan.rehearsal && report.outcome != Outcome::Failed;
    if !counts {
        report.night = None;
    }
    let json = report.json()?;
    let ended = context.store.commit("end night", |tx| {
        if counts {
            if report.night.is_some() {
                nights::number(tx, night.id)?;
            }
            let real: Vec<Task> = prepared
                .tasks
                .iter()
                .filter(|task| task.derived_from.is_empty() && plan.tasks.is_none())
                .cloned()
                .collect();
            tasks::keep(tx, project, Some(night.id), &real, SPLIT_VERSION)?;
            tasks::mark_mined(
                tx,
                project,
                night.id,
                mined_turns(mined, &prepared.gathered),
            )?;
            clusters::remember(tx, project, night.id, &cluster_rows(&prepared.gathered)?)?;
            for target in report.targets.iter().filter(|target| target.was_compared()) {
                for edit in &target.rejected {
                    rejected::remember(
                        tx,
                        project,
                        &target.id,
                        edit,
                        By::Gate,
                        &target.sentence,
                        Some(night.id),
                    )?;
                }
            }
            if let Some(staged) = &staged {
                proposals::publish(tx, &staged.id, &staged.targets)?;
            }
        }
        skillopt_store::orders::handled(tx, night.id)?;
        nights::end(tx, night.id, report.outcome, &report.reason, &json)
    });
    if let (Err(_), Some(staged)) = (&ended, &staged) {
        staging::discard(context, staged, report)?;
    }
    ended.map_err(Stop::from)
}

/// Whether a person answers on any side.
pub(crate) fn handed_off(roles: &Roles) -> bool {
    roles
        .each()
        .iter()
        .any(|backend| backend.handoff().is_some())
}

/// Answered hand-off questions leave their folder before the night is reported as complete.
fn put_handoff_aside(night: &Night<'_>) -> Result<(), Problem> {
    let context = night.context;
    let roles = night.path.roles();
    if !handed_off(roles) {
        return Ok(());
    }
    let root = Path::new(&context.project.root);
    let folder = handoff_folder(&context.settings, &context.paths, &context.project.id, root);
    let number = context
        .store
        .read(|db| nights::next_number(db, &context.project.id))?;
    Handoff::new(folder)
        .archive(number, context.clock.now())
        .map(|_| ())
}

/// Removes the bodies of prompts and replies that are older than the user wants to keep them.
fn expire_evidence(context: &Context) -> Result<(), Problem> {
    let days = SignedDuration::from_hours(24 * i64::from(context.settings.evidence_days));
    let Ok(before) = context.clock.now().checked_sub(days) else {
        return Ok(());
    };
    let project = context.project.id.as_str();
    skillopt_store::data::expire_handoffs(&context.store, &context.paths, project, before)?;
    context.store.commit("expire evidence", |tx| {
        blobs::expire_bodies(tx, Some(project), before).map(|_| ())
    })
}

/// Every turn that was looked at, except those of tasks beyond tonight's limit.
fn mined_turns<'a>(mined: &'a Mined, gathered: &Gathered) -> Vec<&'a SourceTurn> {
    let kept: HashSet<&SourceTurn> = gathered
        .occurrences
        .iter()
        .flat_map(|o| &o.candidate.turns)
        .collect();
    let candidates: HashSet<&SourceTurn> = mined.candidates.iter().flat_map(|c| &c.turns).collect();
    mined
        .looked_at
        .iter()
        .filter(|turn| !candidates.contains(turn) || kept.contains(turn))
        .collect()
}

fn cluster_rows(gathered: &Gathered) -> Result<Vec<ClusterText>, Problem> {
    gathered
        .occurrences
        .iter()
        .filter_map(|occurrence| {
            let turn = occurrence.candidate.turns.first()?.clone();
            Some(to_value(occurrence).map(|body| ClusterText {
                cluster: occurrence.cluster.clone(),
                turn,
                text: occurrence.candidate.intent.clone(),
                body,
            }))
        })
        .collect()
}

/// Who would answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answering {
    /// On the target side.
    pub target: String,
    /// On the optimizer side.
    pub optimizer: String,
    /// Who judges.
    pub judge: String,
    /// Whether all are simulations.
    pub simulated: bool,
    /// The providers that are asked.
    pub providers: BTreeSet<String>,
    /// What the user has not agreed to yet.
    pub terms: Vec<Terms>,
    /// The paid providers that do not say how much of a plan is left.
    pub silent: Vec<String>,
    /// What backends cannot be told.
    pub unheard: Vec<model_notes::Unheard>,
}

/// Who would answer, after asking the backends whether they could.
///
/// Errors: those of the backends.
pub async fn who_answers(context: &Context) -> Result<Answering, Problem> {
    let (roles, _) = night::models(context).await?;
    for backend in roles.each() {
        backend
            .check(&context.cancel)
            .await
            .map_err(|error| error.problem())?;
    }
    let mut report = NightReport::new(context);
    report.backends(&roles);
    Ok(Answering {
        target: report.target_backend,
        optimizer: report.optimizer_backend,
        judge: report.judge_backend,
        simulated: report.simulated,
        providers: roles.each().iter().map(|each| each.provider()).collect(),
        terms: terms::missing(&roles, &context.settings.terms_accepted),
        silent: silent(&roles),
        unheard: model_notes::unheard(&roles),
    })
}

/// The paid providers of a night that do not say how much of a plan is left, each once.
fn silent(roles: &Roles) -> Vec<String> {
    let silent: BTreeSet<String> = roles
        .each()
        .into_iter()
        .filter(|backend| backend.paid() && !backend.local() && !backend.tells_allowance())
        .filter(|backend| backend.recording().is_none())
        .map(|backend| backend.provider())
        .collect();
    silent.into_iter().collect()
}
