//! Tonight's tasks: harvest, mine, gather, split.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use skillopt_core::agent::Agent;
use skillopt_core::document::{Target, TargetKind};
use skillopt_core::task::{SourceTurn, Task};
use skillopt_core::text::counted;
use skillopt_core::{Problem, split};
use skillopt_store::{clusters, tasks};
use skillopt_transcripts::Session;

use crate::consolidate::Slices;
use crate::context::Context;
use crate::gather::{self, Gathered, Limits, Occurrence};
use crate::harvesting;
use crate::mine::{self, Mined};
use crate::mine_model;
use crate::night::Night;
use crate::outcome::Stop;
use crate::report::{NightReport, SkipCount};
use crate::sources;
use crate::target_filter;
use crate::targets;
use crate::tasks_file::TasksFile;

/// How many archived tasks are looked at (§15.2: the reference keeps 300).
const ARCHIVE: usize = 3_000;

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

/// Harvest, mine, gather, split: every step stored before the next begins.
pub(crate) async fn harvested(
    night: &Night<'_>,
    again: bool,
    targets: &[Target],
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

    let prepared: Prepared = night.local("tasks", || Ok(gathered(context, &mined, targets)?))?;
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
pub fn gathered(context: &Context, mined: &Mined, targets: &[Target]) -> Result<Prepared, Problem> {
    let archive: Vec<Task> = context
        .store
        .read(|db| tasks::archive(db, &context.project.id, ARCHIVE))?
        .into_iter()
        .map(|archived| archived.task)
        .collect();
    let stored = context
        .store
        .read(|db| clusters::all(db, &context.project.id))?;
    let n_stored = stored.len();
    let seen: Vec<Occurrence> = stored
        .into_iter()
        .filter_map(|row| serde_json::from_value(row.body).ok())
        .collect();
    let unreadable = n_stored - seen.len();
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
    let mut prepared = prepare(context, gathered, &archive, targets);
    if unreadable > 0 {
        prepared.notes.push(format!(
            "{} of earlier nights cannot be read any more; whether something recurs is told without.",
            counted(unreadable as u64, "request")
        ));
    }
    Ok(prepared)
}

/// Splits for new tasks, archived held-out tasks beside them, recalled and dreamt ones behind.
fn prepare(
    context: &Context,
    gathered: Gathered,
    archive: &[Task],
    targets: &[Target],
) -> Prepared {
    let settings = &context.settings;
    let mut notes = Vec::new();
    let mut tonight = gathered.tasks.clone();
    // A skill that had to be left out is not what this night is about.
    let skill = targets
        .iter()
        .find(|target| target.kind == TargetKind::Skill);
    if settings.target_task_filter
        && !settings.target_skill_path.is_empty()
        && let Some(skill) = skill
    {
        tonight = target_filter::related(tonight, &settings.target_skill_path, skill.text());
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
