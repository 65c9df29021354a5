//! One night from its lock to its report.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_core::document::Target;
use skillopt_core::hash::sha256_hex;
use skillopt_core::task::{SourceTurn, Task};
use skillopt_core::text::counted;
use skillopt_core::{Problem, split};
use skillopt_models::{Handoff, Roles, Templates, handoff_folder};
use skillopt_store::clusters::{self, ClusterText};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::orders::Order;
use skillopt_store::rejected::{self, By};
use skillopt_store::{blobs, events, locks, proposals, tasks};
use skillopt_transcripts::Session;

use crate::adopt;
use crate::consolidate::{self, Slices};
use crate::context::Context;
use crate::estimate;
use crate::gather::{self, Gathered, Limits, Occurrence};
use crate::harvesting;
use crate::mine::{self, Mined};
use crate::mine_model;
use crate::night::{self, Night};
use crate::outcome::Stop;
use crate::report::{NightReport, SkipCount};
use crate::sources;
use crate::staging;
use crate::target_filter;
use crate::targets;
use crate::tasks_file::{self, TasksFile};

/// Version of the rule that assigns splits; stored with every task.
const SPLIT_VERSION: u32 = 1;
/// How many archived tasks are looked at (§15.2: the reference keeps 300).
const ARCHIVE: usize = 3_000;
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

/// What a night froze before it asked anything, as it is stored: texts by their hashes, since they may
/// hold what must not be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pins {
    /// Everything a night depends on as one hash; it is only resumed under the same.
    fingerprint: String,
    settings: Value,
    templates: String,
    backends: Value,
    /// Hash of each document, by target.
    targets: BTreeMap<String, String>,
    tasks_file: Option<PathBuf>,
    again: bool,
}

/// What was harvested, frozen.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Harvested {
    sessions: Vec<Session>,
    skipped: Vec<SkipCount>,
    #[serde(default)]
    warnings: Vec<String>,
}

/// Tonight's tasks with their splits, frozen.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Prepared {
    /// All of them: mined, recalled, dreamt.
    pub tasks: Vec<Task>,
    pub(crate) gathered: Gathered,
    /// What was left out or joined them, in sentences.
    pub notes: Vec<String>,
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
                if is_budget(&problem.code) {
                    let body = json!({"limits": limits(context)});
                    events::append(tx, night, SPENT, &body)?;
                }
                nights::stop(tx, night, Outcome::Deferred, &report.reason, *until)
            }
            Stop::Waiting { .. } | Stop::Interrupted => {
                nights::stop(tx, night, stop.outcome(), &report.reason, None)
            }
        }
    })
}

/// Name of the event that a night came to its limits.
const SPENT: &str = "night/limits_reached";

fn is_budget(code: &str) -> bool {
    code.starts_with("budget_")
}

/// What one night may spend, by the settings now.
fn limits(context: &Context) -> Value {
    let settings = &context.settings;
    json!([
        settings.max_calls_per_night,
        settings.max_minutes_per_night,
        settings.max_tokens_per_night,
        settings.max_cost_per_night
    ])
}

/// Whether a night has come to the limits that still hold: it could go on only to stop again.
fn is_spent(context: &Context, night: i64) -> Result<bool, Problem> {
    let events = context
        .store
        .read(|db| events::list(db, night, 0, usize::MAX >> 1))?;
    let reached = events.iter().rfind(|event| event.kind == SPENT);
    Ok(reached.is_some_and(|event| event.body["limits"] == limits(context)))
}

async fn night(context: &Context, plan: Plan, report: &mut NightReport) -> Result<(), Stop> {
    let (roles, templates) = night::models(context).await?;
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
    let pins = pins(context, &plan, &templates, &roles, &targets);
    let id = begin_or_resume(context, &plan, &pins, report)?;
    report.night_id = Some(id);
    let night = Night::new(context, id, roles, templates);

    let (prepared, mined) = match &plan.tasks {
        Some(file) => (
            night.local("tasks", || Ok(given(context, file)))?,
            Mined::default(),
        ),
        None => harvested(&night, plan.again, report).await?,
    };
    report.tasks(&prepared.tasks, &prepared.gathered, &mined);
    report.notes.extend(prepared.notes.iter().cloned());

    let mut consolidated = Vec::new();
    let groups = groups(context, &prepared.tasks, &targets);
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
        if !report.simulated {
            context.note(format!(
                "About {} more model calls, {} to {} tokens.",
                forecast.calls, forecast.tokens_low, forecast.tokens_high
            ));
        }
        // What the gate needs is reserved first; a budget too small for a verdict spends nothing.
        if let Err(error) = night.hold(hold)? {
            return Err(estimate::too_small(context, &forecast, &error));
        }
    }
    for (agent, slices, targets) in &groups {
        let remembered = |target: &Target| reminders(context, &target.id);
        let result =
            consolidate::consolidate(&night, agent.id(), slices, targets, remembered).await?;
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

/// The plan of the unfinished night: its tasks file is read again, and must be as it was.
fn resumed(context: &Context, plan: &Plan) -> Result<Plan, Problem> {
    let open = context
        .store
        .read(|db| nights::open(db, &context.project.id, kind(plan)))?
        .ok_or_else(|| {
            Problem::permanent(
                "night_unknown",
                "No night of this project is unfinished.",
                "`skillopt sleep run` begins one.",
            )
        })?;
    let file = open.pins.get("tasks_file").and_then(Value::as_str);
    Ok(Plan {
        tasks: file
            .map(|file| tasks_file::read(Path::new(file)))
            .transpose()?,
        again: open.pins.get("again") == Some(&Value::Bool(true)),
        ..*plan
    })
}

const fn kind(plan: &Plan) -> Kind {
    if plan.rehearsal {
        Kind::DryRun
    } else {
        Kind::Run
    }
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

/// Freezes what the night depends on.
fn pins(
    context: &Context,
    plan: &Plan,
    templates: &Templates,
    roles: &Roles,
    targets: &[Target],
) -> Pins {
    let settings = context.settings.pinned();
    let backends = json!({"target": roles.target.id(), "optimizer": roles.optimizer.id()});
    let templates = templates.hash();
    let whole = json!([
        settings, templates, backends, targets, plan.tasks, plan.again
    ]);
    Pins {
        fingerprint: sha256_hex(whole.to_string().as_bytes()),
        settings,
        templates,
        backends,
        targets: targets
            .iter()
            .map(|target| (target.id.clone(), target.pin()))
            .collect(),
        tasks_file: plan.tasks.as_ref().map(|file| file.path.clone()),
        again: plan.again,
    }
}

/// Goes on with the unfinished night when nothing it depends on has changed, else ends it and
/// begins anew; only to resume, it is left as it is and what changed is told. Nothing paid is lost
/// either way: its answers stay, and its turns were not marked.
fn begin_or_resume(
    context: &Context,
    plan: &Plan,
    pins: &Pins,
    report: &mut NightReport,
) -> Result<i64, Problem> {
    let pins_json = to_value(pins)?;
    let open = context
        .store
        .read(|db| nights::open(db, &context.project.id, kind(plan)))?;
    if let Some(open) = open {
        let spent = !plan.resume && is_spent(context, open.id)?;
        if !spent
            && open.pins.get("fingerprint").and_then(Value::as_str)
                == Some(pins.fingerprint.as_str())
        {
            context.store.commit("resume night", |tx| {
                skillopt_store::orders::handled(tx, open.id)?;
                nights::resume(tx, open.id)
            })?;
            report.started_at = open.started_at;
            report.resumed = true;
            context.note(format!("Going on with the night of {}.", open.started_at));
            return Ok(open.id);
        }
        let what = differences(&open.pins, &pins_json);
        if plan.resume {
            return Err(Problem::permanent(
                "night_changed",
                format!("The unfinished night depends on what has changed since: {what}."),
                "Give the flags it was begun with, or let `skillopt sleep run` begin a new one; \
                 answers that still fit are used again.",
            ));
        }
        let (reason, note) = if spent {
            (
                "It came to its limits; a new night took its place.".to_owned(),
                "came to its limits; this one has its own.".to_owned(),
            )
        } else {
            (
                format!("Changed since: {what}; a new night took its place."),
                format!("was ended, since this has changed: {what}."),
            )
        };
        let old = json!({"outcome": Outcome::Interrupted, "reason": reason});
        context.store.commit("replace night", |tx| {
            nights::end(tx, open.id, Outcome::Interrupted, &reason, &old)
        })?;
        report.notes.push(format!(
            "The unfinished night of {} {note}",
            open.started_at
        ));
    }
    context.store.commit("begin night", |tx| {
        nights::begin(tx, &context.project.id, kind(plan), &pins_json)
    })
}

/// What differs between the pins of two nights, in words.
fn differences(before: &Value, after: &Value) -> String {
    let mut found = Vec::new();
    let settings = |pins: &Value| pins.get("settings").and_then(Value::as_object).cloned();
    let (old, new) = (
        settings(before).unwrap_or_default(),
        settings(after).unwrap_or_default(),
    );
    found.extend(
        new.iter()
            .filter(|(key, value)| old.get(*key) != Some(*value))
            .map(|(key, _)| key.clone()),
    );
    for (field, words) in [
        ("templates", "the prompts"),
        ("backends", "the models"),
        ("targets", "a document"),
        ("tasks_file", "the tasks file"),
        ("again", "--again"),
    ] {
        if before.get(field) != after.get(field) {
            found.push(words.to_owned());
        }
    }
    if found.is_empty() {
        found.push("the tasks in the tasks file".to_owned());
    }
    found.join(", ")
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

/// Harvest, mine, gather, split: every step stored before the next begins.
async fn harvested(
    night: &Night<'_>,
    again: bool,
    report: &mut NightReport,
) -> Result<(Prepared, Mined), Stop> {
    let context = night.context;
    let simulated = night.path.roles().simulated();
    let known = known_turns(context, simulated, again)?;
    let harvested: Harvested = night.local("harvest", || {
        let harvest = harvesting::read(context, false).map_err(|problem| {
            if context.cancel.is_cancelled() {
                Stop::Interrupted
            } else {
                problem.into()
            }
        })?;
        Ok(Harvested {
            skipped: SkipCount::of(&harvest, context),
            warnings: sources::warnings(&harvest),
            sessions: with_news(harvest.sessions, &known, session_limit(context)),
        })
    })?;
    report.n_sessions = harvested.sessions.len();
    report.skipped.clone_from(&harvested.skipped);
    report.notes.extend(harvested.warnings.iter().cloned());

    let is_mined = |turn: &SourceTurn| known.contains(turn);
    let mined: Mined = if context.settings.model_miner && !simulated {
        mine_model::mine(night, &harvested.sessions, &is_mined).await?
    } else {
        night.local("mine", || {
            Ok(mine::heuristic(&harvested.sessions, &is_mined))
        })?
    };

    let prepared: Prepared = night.local("tasks", || Ok(gathered(context, &mined)?))?;
    Ok((prepared, mined))
}

/// The turns that earlier nights have dealt with; none when they are looked at once more.
pub(crate) fn known_turns(
    context: &Context,
    simulated: bool,
    again: bool,
) -> Result<HashSet<SourceTurn>, Problem> {
    if again {
        return Ok(HashSet::new());
    }
    context
        .store
        .read(|db| tasks::mined_turns(db, &context.project.id, simulated))
}

/// Tonight's tasks: what was found now beside what earlier nights saw.
pub fn gathered(context: &Context, mined: &Mined) -> Result<Prepared, Problem> {
    let archive: Vec<Task> = context
        .store
        .read(|db| tasks::archive(db, &context.project.id, ARCHIVE))?
        .into_iter()
        .map(|archived| archived.task)
        .collect();
    let seen: Vec<Occurrence> = context
        .store
        .read(|db| clusters::all(db, &context.project.id))?
        .into_iter()
        .filter_map(|row| serde_json::from_value(row.body).ok())
        .collect();
    let limits = Limits {
        min_recurrence: context.settings.min_recurrence as usize,
        max_tasks: context.settings.max_tasks_per_night as usize,
    };
    let gathered = gather::gather(
        mined.candidates.clone(),
        &seen,
        &archive,
        &context.project.root,
        limits,
    );
    Ok(prepare(context, gathered, &archive))
}

/// Splits for new tasks, archived held-out tasks beside them, recalled and dreamt ones behind.
fn prepare(context: &Context, gathered: Gathered, archive: &[Task]) -> Prepared {
    let settings = &context.settings;
    let mut notes = Vec::new();
    let mut tonight = gathered.tasks.clone();
    if settings.target_task_filter && !settings.target_skill_path.is_empty() {
        let file = targets::below_project(context, &settings.target_skill_path);
        let skill = std::fs::read_to_string(file).unwrap_or_default();
        tonight = target_filter::related(tonight, &settings.target_skill_path, &skill);
    }
    if tonight.is_empty() {
        return Prepared {
            tasks: Vec::new(),
            gathered,
            notes,
        };
    }
    let assigned = split::assign(&mut tonight, archive, settings.fractions(), settings.seed);
    if !assigned.excluded.is_empty() {
        notes.push(format!(
            "{} left out: they share a session with a held-out one.",
            counted(assigned.excluded.len() as u64, "task")
        ));
    }
    // Held-out tasks of earlier nights make the verdict surer and are never trained on.
    let room = (settings.max_tasks_per_night as usize).saturating_sub(tonight.len());
    let ids: HashSet<String> = tonight.iter().map(|task| task.id.clone()).collect();
    let held: Vec<Task> = archive
        .iter()
        .rev()
        .filter(|task| {
            task.split == skillopt_core::task::Split::Validation && !ids.contains(&task.id)
        })
        .take(room)
        .cloned()
        .collect();
    if !held.is_empty() {
        notes.push(format!(
            "The gate also compares {} of earlier nights.",
            counted(held.len() as u64, "held-out task")
        ));
    }
    tonight.extend(held);
    let recalled = skillopt_core::recall::recall(&tonight, archive, settings.recall as usize);
    tonight.extend(recalled);
    let dreams = skillopt_core::dream::variants(&tonight, settings.dream_factor);
    tonight.extend(dreams);
    Prepared {
        tasks: tonight,
        gathered,
        notes,
    }
}

/// The tasks a user gave in a file.
pub(crate) fn given(context: &Context, file: &TasksFile) -> Prepared {
    let mut tasks = file.tasks.clone();
    let mut notes = Vec::new();
    if file.needs_splits {
        let assigned = split::assign(
            &mut tasks,
            &[],
            context.settings.fractions(),
            context.settings.seed,
        );
        notes.extend(
            assigned
                .excluded
                .iter()
                .map(|id| format!("Task {id} was left out: it straddles the splits.")),
        );
    }
    let dreams = skillopt_core::dream::variants(&tasks, context.settings.dream_factor);
    tasks.extend(dreams);
    Prepared {
        tasks,
        notes,
        ..Prepared::default()
    }
}

pub(crate) fn session_limit(context: &Context) -> usize {
    match context.settings.max_sessions_per_night {
        0 => 3 * context.settings.max_tasks_per_night as usize,
        limit => limit as usize,
    }
}

/// The sessions in which somebody said something new, oldest first, at most `limit`: what is beyond
/// it is not marked and comes another night.
pub(crate) fn with_news(
    mut sessions: Vec<Session>,
    known: &HashSet<SourceTurn>,
    limit: usize,
) -> Vec<Session> {
    sessions.retain(|session| {
        session
            .human_turns()
            .any(|turn| !known.contains(&mine::source_turn(session, turn)))
    });
    sessions.sort_by(|a, b| a.started.cmp(&b.started).then_with(|| a.id.cmp(&b.id)));
    sessions.truncate(limit);
    sessions
}

/// Tonight's tasks by the agent whose documents they can improve.
pub(crate) fn groups(
    context: &Context,
    tasks: &[Task],
    targets: &[Target],
) -> Vec<(Agent, Slices, Vec<Target>)> {
    let agents = harvesting::agents(context, tasks);
    let default = match agents.first() {
        Some(first) if !agents.contains(&Agent::Claude) => *first,
        Some(_) | None => Agent::Claude,
    };
    let mut by_agent: BTreeMap<Agent, Vec<Task>> = BTreeMap::new();
    for task in tasks {
        let asked = task.agent.unwrap_or(default);
        // The agent whose documents are the ones that the asked one reads.
        let named = targets
            .iter()
            .map(|target| target.agent)
            .find(|&agent| targets::share(agent, asked));
        by_agent
            .entry(named.unwrap_or(asked))
            .or_default()
            .push(task.clone());
    }
    by_agent
        .into_iter()
        .map(|(agent, tasks)| {
            let targets = targets
                .iter()
                .filter(|target| target.agent == agent)
                .cloned()
                .collect();
            (agent, Slices::of(&tasks), targets)
        })
        .collect()
}

fn reminders(context: &Context, target: &str) -> Vec<String> {
    let rows = context
        .store
        .read(|db| rejected::list(db, &context.project.id, Some(target), REMINDERS))
        .unwrap_or_default();
    rows.into_iter()
        .map(|row| format!("{} (rejected: {})", row.edit.content, row.reason))
        .collect()
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
    report.conclude(context.clock.now());
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
        staging::stage(night, report, targets)?
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
            for target in report.targets.iter().filter(|target| target.was_refuted()) {
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

/// Whether a person answers on either side.
pub(crate) fn handed_off(roles: &Roles) -> bool {
    [&roles.target, &roles.optimizer]
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

/// Who would answer (target side, optimizer side, whether both are simulations), after asking the
/// backends whether they could.
pub async fn who_answers(context: &Context) -> Result<(String, String, bool), Problem> {
    let (roles, _) = night::models(context).await?;
    for backend in [&roles.target, &roles.optimizer] {
        backend
            .check(&context.cancel)
            .await
            .map_err(|error| error.problem())?;
    }
    let mut report = NightReport::new(context);
    report.backends(&roles);
    Ok((
        report.target_backend,
        report.optimizer_backend,
        report.simulated,
    ))
}
