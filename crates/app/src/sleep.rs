//! `sleep …`: the night, its preview, where a project stands, what would be read.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::agent::Agent;
use skillopt_core::schedule::Unknown;
use skillopt_core::task::SourceTurn;
use skillopt_core::text::{counted, cut, one_line};
use skillopt_core::{Instant, Problem};
use skillopt_models::Roles;
use skillopt_sleep::preview::{self, Material, Preview as NightPreview};
use skillopt_sleep::report::SkipCount;
use skillopt_sleep::run::Plan;
use skillopt_sleep::sources::{self, SourceStatus};
use skillopt_sleep::{NightReport, Stop, harvesting, mine, targets, tasks_file};
use skillopt_store::nights::{self, Kind, Night};
use skillopt_store::proposals::{self, TargetState};
use skillopt_store::{files, locks, tasks};
use skillopt_transcripts::{Author, Digest, Session};

use crate::context::App;
use crate::night::NightRow;
use crate::project::Which;
use crate::proposal::is_stale;
use crate::schedule;
use crate::scheduled::{self, Scheduled};
use crate::supervisor::{self, Schedule, Upcoming};

pub use skillopt_sleep::preview::Preview;

/// How many of the next nights are shown.
const NIGHTS_SHOWN: usize = 5;
/// How much of a session's first turn is shown, in code points.
const FIRST_WORDS: usize = 60;

/// What is asked of a night.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct RunInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Tasks given in a file.
    pub tasks_file: Option<PathBuf>,
    /// Spend like a night, propose nothing.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub rehearsal: bool,
    /// Go on with the night that was stopped, and begin none.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub resume: bool,
    /// Look once more at what earlier nights have dealt with.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub again: bool,
    /// It is the night of the project's schedule, which runs once.
    #[serde(default)]
    pub scheduled: Option<Scheduled>,
}

/// A night and the exit code it stands for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunOutput {
    /// The report.
    pub report: NightReport,
    /// Exit code of the command.
    pub exit_code: u8,
    /// The project had no night before.
    pub first: bool,
}

/// Runs a night.
pub async fn run(app: &App, input: RunInput) -> Result<Box<RunOutput>, Problem> {
    let project = app.project(input.project.as_deref())?;
    let first = app
        .store
        .read(|db| nights::list(db, Some(&project.id), 1))?
        .is_empty();
    let context = app.untold_night(project)?;
    // Words that cannot be used are a fault of the settings, not of the night.
    skillopt_models::Templates::from_settings(&context.settings, &context.paths)?;
    skillopt_store::data::bound_log(&app.paths)?;
    let tasks = input
        .tasks_file
        .map(|path| tasks_file::read(&app.directory.join(path)))
        .transpose()?;
    let plan = Plan {
        tasks,
        rehearsal: input.rehearsal,
        resume: input.resume,
        again: input.again,
    };
    let report = match input.scheduled {
        Some(asked) => scheduled::run(&context, plan, asked).await?,
        None => skillopt_sleep::run::run(&context, plan).await,
    };
    if let Some(problem) = &report.problem
        && problem.code == "night_unknown"
    {
        // There was none to resume: wrong words, not a night that failed.
        return Err(problem.clone());
    }
    let exit_code = skillopt_sleep::exit_code(report.outcome);
    Ok(Box::new(RunOutput {
        report,
        exit_code,
        first,
    }))
}

/// What is asked of a preview.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct DryRunInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Tasks given in a file.
    pub tasks_file: Option<PathBuf>,
    /// Look once more at what earlier nights have dealt with.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub again: bool,
}

/// What a night would do, at no cost.
pub async fn dry_run(app: &App, input: DryRunInput) -> Result<Box<NightPreview>, Problem> {
    let project = app.looked_at(input.project.as_deref())?;
    let context = app.untold_night(project)?;
    let file = input
        .tasks_file
        .map(|path| tasks_file::read(&app.directory.join(path)))
        .transpose()?;
    let material = match &file {
        Some(file) => Material::Given(file),
        None => Material::Harvested(Box::new(harvesting::read(&context, false)?)),
    };
    preview::preview(&context, material, input.again)
        .await
        .map(Box::new)
        .map_err(as_problem)
}

/// What stopped something, as a problem.
pub(crate) fn as_problem(stop: Stop) -> Problem {
    match stop {
        Stop::Failed(problem) | Stop::Deferred { problem, .. } => problem,
        Stop::Interrupted => Problem::temporary(
            "cancelled",
            "It was stopped.",
            "Run it again; it resumes where it was.",
        ),
        Stop::Waiting { questions } => Problem::temporary(
            "waiting_for_answers",
            format!(
                "Waiting for an answer: {}.",
                counted(questions as u64, "question")
            ),
            "See `skillopt handoff`; then run it again.",
        ),
    }
}

/// Where a project stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Status {
    /// Number of the last night that had tasks.
    pub night: u64,
    /// How many nights there were, with or without tasks.
    pub nights: u64,
    /// The database.
    pub state_path: PathBuf,
    /// Folder of the project.
    pub project: String,
    /// The newest five nights, oldest first.
    pub history_tail: Vec<Value>,
    /// Folder of the newest proposal that waits.
    pub latest_staging: Option<String>,
    /// The reference's slow memory; this version keeps none.
    pub slow_memory_chars: usize,
    /// Skills that wait for a decision.
    pub staged_skills: Vec<String>,
    /// Documents that were adopted.
    pub adopted_skills: Vec<String>,
    /// Whether a skill or memory proposal waits.
    pub has_managed_proposal: bool,
    /// Id of the newest proposal that waits.
    pub proposal: Option<String>,
    /// A file of it has changed since it was proposed: it cannot be adopted any more.
    pub stale: bool,
    /// Who works on the project now, in words.
    pub running: Option<String>,
    /// The unfinished night, if there is one.
    pub unfinished: Option<NightRow>,
    /// The local time at which cron runs the night of this project every day, as `HH:MM`; the five fields
    /// of its line when that is not every day.
    pub scheduled: Option<String>,
    /// Its next nights, as the app or the daemon starts them; none when it is not to run by itself.
    pub upcoming: Vec<Upcoming>,
    /// What a night would wait for if it were due now, in words.
    pub waits: Vec<String>,
    /// Conditions that cannot be looked at now; they count as met.
    pub unknown: Vec<Unknown>,
    /// How the last night ended, in a sentence.
    pub last: Option<String>,
    /// Rules in the user's own words, untested, from the last night that had some.
    #[cfg_attr(
        feature = "typescript",
        ts(as = "Option<Vec<skillopt_sleep::report::Suggestion>>")
    )]
    pub suggestions: Value,
    /// Id of that night.
    pub suggestions_of: Option<i64>,
    /// What is still missing, from the last night that said so.
    #[cfg_attr(feature = "typescript", ts(as = "Option<Vec<String>>"))]
    pub missing: Value,
}

/// Where a project stands. Nothing is registered or written.
pub async fn status(app: &App, which: Which) -> Result<Box<Status>, Problem> {
    let project = app.known_project(which.project.as_deref())?;
    let folder = which
        .project
        .map_or_else(|| app.directory.clone(), |path| app.directory.join(path));
    let Some(project) = project else {
        return Ok(Box::new(Status {
            state_path: app.paths.database(),
            project: folder.to_string_lossy().into_owned(),
            ..Status::default()
        }));
    };
    let (count, nights, proposals) = app.store.read(|db| {
        let nights = nights::list(db, Some(&project.id), 20)?;
        let mut proposals = Vec::new();
        for proposal in proposals::list(db, Some(&project.id), 50)? {
            let targets = proposals::targets(db, &proposal.id)?;
            proposals.push((proposal, targets));
        }
        let count = nights::count(db, &project.id, Kind::Run)?;
        Ok((count, nights, proposals))
    })?;
    let runs: Vec<&Night> = nights
        .iter()
        .filter(|night| night.kind == Kind::Run)
        .collect();
    let named = |state: TargetState| -> Vec<String> {
        proposals
            .iter()
            .flat_map(|(_, targets)| targets)
            .filter(|target| target.state == state)
            .map(|target| target.target.clone())
            .collect()
    };
    let waiting = proposals.iter().find(|(_, targets)| {
        targets
            .iter()
            .any(|target| target.state == TargetState::Pending)
    });
    // A night without anything new says nothing, which does not take back what was said before.
    let last_with = |key: &str| {
        runs.iter()
            .filter_map(|night| Some((night.id, night.report.as_ref()?.get(key)?.clone())))
            .find(|(_, rows)| rows.as_array().is_some_and(|rows| !rows.is_empty()))
    };
    let (suggestions_of, suggestions) = last_with("suggestions").unzip();
    let settings = app.settings(Some(&project))?.settings;
    let schedule = Schedule::of(&settings)?;
    let now = app.clock.now();
    let ready = supervisor::readiness(app, &project, &schedule).await;
    Ok(Box::new(Status {
        night: runs
            .iter()
            .filter_map(|night| night.number)
            .max()
            .unwrap_or(0),
        nights: count,
        state_path: app.paths.database(),
        project: project.root.clone(),
        history_tail: runs
            .iter()
            .take(5)
            .rev()
            .map(|night| history(night))
            .collect(),
        latest_staging: waiting.map(|(proposal, _)| proposal.dir.clone()),
        slow_memory_chars: 0,
        staged_skills: named(TargetState::Pending),
        adopted_skills: named(TargetState::Adopted),
        has_managed_proposal: waiting.is_some(),
        proposal: waiting.map(|(proposal, _)| proposal.id.clone()),
        stale: waiting.is_some_and(|(_, targets)| targets.iter().any(is_stale)),
        running: locks::project_holder(&app.paths, &project.id).map(|holder| holder.to_string()),
        unfinished: runs
            .iter()
            .find(|night| night.state != nights::State::Ended)
            .map(|night| (*night).clone().into()),
        scheduled: schedule::time(Path::new(&project.root)),
        upcoming: supervisor::upcoming(&schedule, &project.id, now, NIGHTS_SHOWN),
        waits: ready.waits.iter().map(|wait| wait.sentence()).collect(),
        unknown: ready.unknown,
        last: runs.first().map(|night| night.reason.clone()),
        suggestions: suggestions.unwrap_or_default(),
        suggestions_of,
        missing: last_with("missing").map_or(Value::Null, |(_, rows)| rows),
    }))
}

/// A night as the reference keeps it in its history.
fn history(night: &Night) -> Value {
    let from = |key: &str| {
        night
            .report
            .as_ref()
            .and_then(|report| report.get(key))
            .cloned()
    };
    serde_json::json!({
        "night": night.number,
        "night_id": night.id,
        "outcome": night.outcome,
        "reason": night.reason,
        "started_at": night.started_at,
        "ended_at": night.ended_at,
        "n_tasks": from("n_tasks"),
        "staging": from("staging_dir"),
    })
}

/// What is asked of a harvest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct HarvestInput {
    /// The project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Ignore the look-back.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub all_time: bool,
    /// Give the digests of the sessions rather than their tasks.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub digests: bool,
    /// Write a tasks file for review.
    pub output: Option<PathBuf>,
}

/// What a night would read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Harvested {
    /// The tasks file's content (§1.15), redacted.
    #[serde(flatten)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub payload: Value,
    /// The digests of §1.1, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digests: Option<Vec<Digest>>,
    /// The sessions, oldest first.
    pub sessions: Vec<SessionRow>,
    /// What was left out.
    pub skipped: Vec<SkipCount>,
    /// What was found of each agent.
    pub sources: Vec<SourceStatus>,
    /// Further lines: what in the settings is not used, and why.
    pub notes: Vec<String>,
    /// The file written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
}

/// One session in a harvest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SessionRow {
    /// The agent that recorded it.
    pub agent: Agent,
    /// Its id as the agent names it.
    pub id: String,
    /// When its first turn was written.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub started: Option<Instant>,
    /// The first words somebody typed in it, redacted, on one line.
    pub first_words: String,
    /// How many turns a person typed.
    pub turns: usize,
    /// How many turns each author wrote: the person, the agent, tools, the agent's program, and
    /// programs in the person's place. Only the first two have words here.
    pub wrote: BTreeMap<Author, u64>,
    /// How many of them an earlier night has looked at.
    pub used: usize,
}

impl SessionRow {
    fn of(session: &Session, known: &HashSet<SourceTurn>) -> Self {
        let turns: Vec<_> = session.human_turns().collect();
        Self {
            agent: session.agent,
            id: session.id.clone(),
            started: session.started,
            first_words: turns
                .first()
                .map_or_else(String::new, |turn| cut(&one_line(&turn.text), FIRST_WORDS)),
            used: turns
                .iter()
                .filter(|turn| known.contains(&mine::source_turn(session, turn)))
                .count(),
            turns: turns.len(),
            wrote: session.wrote.clone(),
        }
    }
}

/// Lists what a night would read.
pub async fn harvest(app: &App, input: HarvestInput) -> Result<Box<Harvested>, Problem> {
    let project = app.looked_at(input.project.as_deref())?;
    let context = app.untold_night(project)?;
    let mut harvest = harvesting::read(&context, input.all_time)?;
    // Oldest first, as a night takes them: the first wording of a request names its task.
    harvest
        .sessions
        .sort_by(|a, b| a.started.cmp(&b.started).then_with(|| a.id.cmp(&b.id)));
    let simulated = Roles::simulated_by_settings(&context.settings);
    let known = app
        .store
        .read(|db| tasks::mined_turns(db, &context.project.id, simulated))?;
    let sessions = harvest
        .sessions
        .iter()
        .map(|session| SessionRow::of(session, &known))
        .collect();
    let mined = mine::heuristic(&harvest.sessions, &|_| false);
    // A document that cannot be used keeps nobody from listing sessions; a night says what is wrong with it.
    let targets = targets::resolve(&context, &harvesting::agents(&context, &[]))
        .map_or_else(|_| Vec::new(), |(targets, _)| targets);
    let prepared = skillopt_sleep::tonight::gathered(&context, &mined, &targets)?.tasks;
    let payload = tasks_file::to_json(
        &context.project.root,
        context.settings.source.id(),
        harvest.sessions.len(),
        &context.settings.target_skill_path,
        &prepared,
    );
    let output = input.output.map(|path| app.directory.join(path));
    if let Some(path) = &output {
        may_replace(path)?;
        write_tasks(path, &payload)?;
    }
    Ok(Box::new(Harvested {
        payload,
        digests: input.digests.then(|| {
            harvest
                .sessions
                .iter()
                .map(skillopt_transcripts::Session::digest)
                .collect()
        }),
        sessions,
        skipped: SkipCount::of(&harvest, &context),
        sources: sources::statuses(&context, &harvest),
        notes: context.warnings,
        output,
    }))
}

/// Only a tasks file that nobody has reviewed gives way to a new one.
fn may_replace(path: &Path) -> Result<(), Problem> {
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        read => read.unwrap_or_default(),
    };
    let there: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if there["format"] == tasks_file::FORMAT && there["reviewed"] == false {
        return Ok(());
    }
    Err(Problem::refused(
        "output_exists",
        format!(
            "{} is there, and is not a tasks file that waits for its review.",
            path.display()
        ),
        "Name another file with --output, or move this one away.",
    ))
}

fn write_tasks(path: &Path, payload: &Value) -> Result<(), Problem> {
    let mut text = serde_json::to_string_pretty(payload).unwrap_or_default();
    text.push('\n');
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| {
            Problem::permanent(
                "output_unwritable",
                format!("The folder {} cannot be made: {error}.", parent.display()),
                "Name another file with --output.",
            )
        })?;
    }
    files::write_private(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::test_home::TestHome;

    /// Nights and harvests ask in the same place what the machine runs on.
    #[test]
    fn a_harvest_steps_back_where_the_machine_is_said_to_run_on_battery() {
        let mut home = TestHome::new();
        let supply = home.path("sys/class/power_supply/BAT0");
        std::fs::create_dir_all(&supply).unwrap();
        let mut on_battery = |status: &str| {
            for (name, text) in [("type", "Battery"), ("status", status)] {
                let mut file = std::fs::File::create(supply.join(name)).unwrap();
                writeln!(file, "{text}").unwrap();
            }
            let mut environment = (*home.app.environment).clone();
            let sys = home.path("sys").to_str().unwrap().to_owned();
            environment.insert("SYSFS_PATH".to_owned(), sys);
            home.app.environment = environment.into();
            let project = home.app.looked_at(None).unwrap();
            let context = home.app.night(project).unwrap();
            harvesting::request(&context, false).unwrap().on_battery
        };
        assert!(on_battery("Discharging"));
        assert!(!on_battery("Full"));
    }
}
