//! Projects: registered folders whose documents are improved.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillopt_core::{Instant, Problem};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::projects::{self, Project};
use skillopt_store::proposals;

use crate::Nothing;
use crate::context::App;
use crate::schedule;

/// Which project; the folder the user is in when empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct Which {
    /// Its folder.
    pub project: Option<PathBuf>,
}

/// A new place of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct MoveInput {
    /// Id of the project, or the folder it was in.
    pub project: String,
    /// The folder it is in now.
    pub to: PathBuf,
}

/// One project with where it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProjectRow {
    /// The project.
    #[serde(flatten)]
    pub project: Project,
    /// Whether its folder is there.
    pub present: bool,
    /// When its last night ended or stopped.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub last_night: Option<Instant>,
    /// How it ended.
    pub last_outcome: Option<Outcome>,
    /// Proposals that wait.
    pub waiting: usize,
    /// What happened to its line in the crontab, when the project was removed or moved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

fn row(app: &App, project: Project) -> Result<ProjectRow, Problem> {
    let (night, waiting) = app.store.read(|db| {
        let nights = nights::list(db, Some(&project.id), 10)?;
        let night = nights.into_iter().find(|night| night.kind == Kind::Run);
        Ok((night, proposals::waiting(db, Some(&project.id))?.len()))
    })?;
    Ok(ProjectRow {
        present: PathBuf::from(&project.root).is_dir(),
        last_night: night.as_ref().and_then(|night| night.ended_at),
        last_outcome: night.and_then(|night| night.outcome),
        waiting,
        project,
        notes: Vec::new(),
    })
}

/// Every registered project.
pub async fn list(app: &App, _: Nothing) -> Result<Vec<ProjectRow>, Problem> {
    app.store
        .read(projects::list)?
        .into_iter()
        .map(|project| row(app, project))
        .collect()
}

/// Registers a project, or puts it back.
pub async fn add(app: &App, which: Which) -> Result<ProjectRow, Problem> {
    let root = app.project_root(which.project.as_deref())?;
    let project = app
        .store
        .commit("register project", |tx| projects::register(tx, &root))?;
    row(app, project)
}

/// Takes a project off the list and off the schedule.
pub async fn remove(app: &App, which: Which) -> Result<ProjectRow, Problem> {
    let project = app.registered(which.project.as_deref())?;
    app.store
        .commit("remove project", |tx| projects::remove(tx, &project.id))?;
    let root = PathBuf::from(&project.root);
    let mut row = row(app, project)?;
    row.notes.extend(crontab_note(
        schedule::forget(&root),
        "Its line was taken out of your crontab.",
    ));
    Ok(row)
}

/// Says where a project's folder is now; its line in the crontab follows.
pub async fn relocate(app: &App, input: MoveInput) -> Result<ProjectRow, Problem> {
    let all = app.store.read(projects::list)?;
    let old = app.directory.join(&input.project);
    let project = all
        .into_iter()
        .find(|project| project.id == input.project || Path::new(&project.root) == old)
        .ok_or_else(not_registered)?;
    let to = app.directory.join(&input.to);
    let moved = app.store.commit("move project", |tx| {
        projects::relocate(tx, &project.id, &to)
    })?;
    let followed = schedule::follow(Path::new(&project.root), Path::new(&moved.root));
    let mut row = row(app, moved)?;
    row.notes.extend(crontab_note(
        followed,
        "Its line in your crontab names the new folder.",
    ));
    Ok(row)
}

/// The registry is right already when the crontab is changed, so that a failure there is only told.
fn crontab_note(changed: Result<bool, Problem>, done: &str) -> Option<String> {
    match changed {
        Ok(true) => Some(done.to_owned()),
        Ok(false) => None,
        Err(problem) => Some(format!(
            "If the night of this project is scheduled, its line stays as it was. {problem}"
        )),
    }
}

pub(crate) fn not_registered() -> Problem {
    Problem::refused(
        "project_unknown",
        "This folder is not registered as a project.",
        "`skillopt project list` shows the registered ones; the first `skillopt sleep run` registers a folder.",
    )
}
