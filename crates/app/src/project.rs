//! Projects: registered folders whose documents are improved.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillopt_core::{Instant, Problem};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::projects::{self, Project};
use skillopt_store::proposals;

use crate::Nothing;
use crate::context::App;

/// Which project; the folder the user is in when empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Which {
    /// Its folder.
    pub project: Option<PathBuf>,
}

/// A new place of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveInput {
    /// Id of the project, or the folder it was in.
    pub project: String,
    /// The folder it is in now.
    pub to: PathBuf,
}

/// One project with where it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProjectRow {
    /// The project.
    #[serde(flatten)]
    pub project: Project,
    /// Whether its folder is there.
    pub present: bool,
    /// When its last night ended or stopped.
    pub last_night: Option<Instant>,
    /// How it ended.
    pub last_outcome: Option<Outcome>,
    /// Proposals that wait.
    pub waiting: usize,
}

fn row(app: &App, project: Project) -> Result<ProjectRow, Problem> {
    let (night, waiting) = app.store.read(|db| {
        let nights = nights::list(db, Some(&project.id), 10)?;
        let night = nights.into_iter().find(|night| night.kind == Kind::Run);
        Ok((
            night,
            proposals::list(db, Some(&project.id), 500)?
                .iter()
                .filter(|proposal| {
                    matches!(
                        proposal.state,
                        proposals::State::Pending | proposals::State::PartlyAdopted
                    )
                })
                .count(),
        ))
    })?;
    Ok(ProjectRow {
        present: PathBuf::from(&project.root).is_dir(),
        last_night: night.as_ref().and_then(|night| night.ended_at),
        last_outcome: night.and_then(|night| night.outcome),
        waiting,
        project,
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

/// Registers a project.
pub async fn add(app: &App, which: Which) -> Result<ProjectRow, Problem> {
    row(app, app.project(which.project.as_deref())?)
}

/// Takes a project off the list.
pub async fn remove(app: &App, which: Which) -> Result<ProjectRow, Problem> {
    let project = app
        .known_project(which.project.as_deref())?
        .ok_or_else(not_registered)?;
    app.store
        .commit("remove project", |tx| projects::remove(tx, &project.id))?;
    row(app, project)
}

/// Says where a project's folder is now.
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
    row(app, moved)
}

pub(crate) fn not_registered() -> Problem {
    Problem::permanent(
        "project_unknown",
        "This folder is not registered as a project.",
        "`skillopt project list` shows the registered ones; the first `skillopt sleep run` registers a folder.",
    )
}
