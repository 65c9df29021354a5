//! What is on this computer already: agents with their sessions, and the folders those were had in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use skillopt_core::agent::Agent;
use skillopt_core::{Instant, Problem};
use skillopt_settings::Scope;
use skillopt_sleep::harvesting;
use skillopt_sleep::sources::{self, SourceStatus};
use skillopt_store::projects::{self, Project};
use skillopt_store::real_path;
use skillopt_transcripts::Session;

use crate::Nothing;
use crate::context::App;

/// How far back sessions are looked for: what is older says little about where somebody works now.
const HOURS: u32 = 24 * 90;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Discovered {
    /// Each agent that is known, with what was found of it.
    pub agents: Vec<SourceStatus>,
    /// Folders with sessions, those with most sessions first.
    pub projects: Vec<FoundProject>,
    /// How many days were looked back.
    pub days: u32,
}

/// A folder in which agents were used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FoundProject {
    /// The repository the sessions were had in, or their folder.
    pub root: String,
    /// How many sessions.
    pub sessions: usize,
    /// When the newest one ended.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub newest: Option<Instant>,
    /// Whose.
    pub agents: Vec<Agent>,
    /// Whether it is a project already.
    pub registered: bool,
}

/// Finds agents and projects. Registers nothing.
///
/// Errors: those of the settings and of reading.
pub async fn find(app: &App, _: Nothing) -> Result<Discovered, Problem> {
    let registered: Vec<Project> = app.store.read(projects::list)?;
    // Nobody's project: every session counts.
    let nobody = Project {
        id: String::new(),
        name: String::new(),
        root: app.home.to_string_lossy().into_owned(),
        first_seen: app.clock.now(),
    };
    let mut settings = app.settings(None)?.settings;
    settings.scope = Scope::All;
    settings.lookback_hours = HOURS;
    let context = app.night_under(nobody, settings);
    let harvest = harvesting::read(&context, false)?;
    Ok(Discovered {
        agents: sources::statuses(&context, &harvest),
        projects: folders(&harvest.sessions, &app.home, &registered),
        days: HOURS / 24,
    })
}

/// The folders of sessions, without those that are gone and without the home folder itself.
fn folders(sessions: &[Session], home: &Path, registered: &[Project]) -> Vec<FoundProject> {
    let mut roots: BTreeMap<&str, Option<PathBuf>> = BTreeMap::new();
    let mut found: BTreeMap<PathBuf, FoundProject> = BTreeMap::new();
    for session in sessions {
        let root = roots
            .entry(&session.directory)
            .or_insert_with(|| root_of(Path::new(&session.directory), home));
        let Some(root) = root else { continue };
        let text = root.to_string_lossy().into_owned();
        let project = found.entry(root.clone()).or_insert_with(|| FoundProject {
            registered: registered.iter().any(|known| known.root == text),
            root: text,
            sessions: 0,
            newest: None,
            agents: Vec::new(),
        });
        project.sessions += 1;
        project.newest = project.newest.max(session.ended);
        if !project.agents.contains(&session.agent) {
            project.agents.push(session.agent);
        }
    }
    let mut found: Vec<FoundProject> = found.into_values().collect();
    found.sort_by(|a, b| {
        (b.sessions, b.newest)
            .cmp(&(a.sessions, a.newest))
            .then_with(|| a.root.cmp(&b.root))
    });
    found
}

/// The repository a folder is in, or the folder; `None` when it cannot be a project.
fn root_of(directory: &Path, home: &Path) -> Option<PathBuf> {
    if directory.as_os_str().is_empty() {
        return None;
    }
    let directory = real_path(directory).ok()?;
    let home = real_path(home).ok();
    let is_project = |folder: &Path| folder.parent().is_some() && home.as_deref() != Some(folder);
    directory
        .ancestors()
        .take_while(|folder| is_project(folder))
        .find(|folder| folder.join(".git").exists())
        .or_else(|| is_project(&directory).then_some(directory.as_path()))
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, block_on};

    fn session(directory: &Path, ended: &str) -> Session {
        Session {
            agent: Agent::Claude,
            id: ended.to_owned(),
            directory: directory.to_string_lossy().into_owned(),
            branch: String::new(),
            started: None,
            ended: ended.parse().ok(),
            turns: Vec::new(),
            wrote: std::collections::BTreeMap::new(),
            tools: Vec::new(),
            skills: Vec::new(),
            files: Vec::new(),
            path: PathBuf::new(),
        }
    }

    #[test]
    fn sessions_are_counted_by_the_repository_they_were_had_in() {
        let home = TestHome::new();
        let (repository, plain) = (home.path("repository"), home.path("plain"));
        std::fs::create_dir_all(repository.join(".git")).unwrap();
        std::fs::create_dir_all(repository.join("deep/down")).unwrap();
        std::fs::create_dir_all(&plain).unwrap();
        let sessions = [
            session(&repository.join("deep/down"), "2026-11-02T00:00:00Z"),
            session(&repository, "2026-11-01T00:00:00Z"),
            session(&plain, "2026-11-03T00:00:00Z"),
            session(&home.path("gone"), "2026-11-04T00:00:00Z"),
            session(&home.app.home, "2026-11-05T00:00:00Z"),
            session(Path::new(""), "2026-11-06T00:00:00Z"),
        ];
        let found = folders(&sessions, &home.app.home, &[]);
        let rows: Vec<_> = found
            .iter()
            .map(|row| (Path::new(&row.root), row.sessions, row.newest))
            .collect();
        let canonical = |path: &Path| path.canonicalize().unwrap();
        assert_eq!(
            rows,
            [
                (
                    canonical(&repository).as_path(),
                    2,
                    "2026-11-02T00:00:00Z".parse().ok()
                ),
                (
                    canonical(&plain).as_path(),
                    1,
                    "2026-11-03T00:00:00Z".parse().ok()
                ),
            ]
        );
    }

    #[test]
    fn a_project_is_known_and_nothing_is_registered() {
        let home = TestHome::new();
        let found = block_on(find(&home.app, Nothing {})).unwrap();
        assert_eq!(found.projects, []);
        assert_eq!(found.agents.len(), Agent::ALL.len());
        assert_eq!(home.app.store.read(projects::list).unwrap(), []);
        let project = home.app.project(None).unwrap();
        let sessions = [session(Path::new(&project.root), "2026-11-01T00:00:00Z")];
        assert!(folders(&sessions, &home.app.home, &[project])[0].registered);
    }
}
