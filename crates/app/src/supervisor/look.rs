//! A look from any process: read from the store, the settings, the locks and the computer, and from nothing
//! a process remembers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use skillopt_core::Problem;
use skillopt_core::schedule::{Conditions, Readiness, Surroundings};
use skillopt_models::Roles;
use skillopt_sleep::{harvesting, mine};
use skillopt_store::projects::Project;
use skillopt_store::{locks, tasks};

use super::rules::Schedule;
use super::state::{Supervising, SupervisorState};
use super::surroundings;
use super::survey::Survey;
use crate::context::App;
use crate::schedule;

/// The state of the whole, from any process; nothing is started.
///
/// Errors: those of the store.
pub async fn look(app: &App) -> Result<SupervisorState, Problem> {
    let supervising = match locks::supervisor_holder(&app.paths) {
        Some(holder) => Supervising::Another(holder.to_string()),
        None => Supervising::Nobody,
    };
    let own = app.clone();
    let survey = aside(move || Survey::take(&own, &BTreeSet::new())).await??;
    let around = if survey.asks_for_surroundings() {
        surroundings::read(&app.environment, app.clock.now()).await
    } else {
        Surroundings::default()
    };
    let (own, asked) = (app.clone(), survey.asks_for_sessions());
    let sessions: BTreeMap<String, u64> = aside(move || {
        let counted = asked.into_iter().filter_map(|project| {
            let id = project.id.clone();
            Some((id, new_sessions(&own, project)?))
        });
        counted.collect()
    })
    .await?;
    let mut state = survey.plan(&around, &sessions, supervising, None).state;
    if state.supervising == Supervising::Nobody {
        let roots: Vec<&Path> = state
            .projects
            .iter()
            .map(|project| Path::new(&project.root))
            .collect();
        let times = schedule::times(&roots);
        for (project, time) in state.projects.iter_mut().zip(times) {
            project.cron = time;
        }
    }
    Ok(state)
}

/// Does what blocks on the disk where nothing else waits for it.
///
/// Error: `supervisor_failed`.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Problem::temporary(
            "supervisor_failed",
            format!("Looking at the schedule failed: {error}."),
            "It is tried again within a minute; if it stays, please report it.",
        )
    })
}

/// What a night of a project would wait for if it were due now.
pub(crate) async fn readiness(app: &App, project: &Project, schedule: &Schedule) -> Readiness {
    let now = app.clock.now();
    let conditions = &schedule.conditions;
    let mut around = if asks_about_the_computer(conditions) {
        surroundings::read(&app.environment, now).await
    } else {
        Surroundings::default()
    };
    if conditions.new_sessions.is_some() {
        let (own, project) = (app.clone(), project.clone());
        // A count that failed is one that is not known.
        let counted = aside(move || new_sessions(&own, project)).await;
        around.new_sessions = counted.ok().flatten();
    }
    conditions.look(&around, now, &schedule.zone)
}

/// Whether a condition asks about power, network or idleness.
pub(super) const fn asks_about_the_computer(conditions: &Conditions) -> bool {
    conditions.battery_at_least.is_some() || conditions.unmetered || conditions.idle.is_some()
}

/// How many sessions of a project have a turn that no night has looked at; `None` when they cannot be
/// read. Blocks on the disk.
pub(super) fn new_sessions(app: &App, project: Project) -> Option<u64> {
    let context = app.night(project).ok()?;
    let harvest = harvesting::read(&context, false).ok()?;
    let simulated = Roles::simulated_by_settings(&context.settings);
    let known = app
        .store
        .read(|db| tasks::mined_turns(db, &context.project.id, simulated))
        .ok()?;
    let new = harvest.sessions.iter().filter(|session| {
        session
            .human_turns()
            .any(|turn| !known.contains(&mine::source_turn(session, turn)))
    });
    Some(new.count() as u64)
}
