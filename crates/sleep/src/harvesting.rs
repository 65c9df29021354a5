//! What a night reads: which agents, which folders, from when.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use skillopt_core::agent::Agent;
use skillopt_core::task::Task;
use skillopt_core::{Instant, Problem};
use skillopt_models::process::system_program;
use skillopt_settings::{Scope as ScopeSetting, Source};
use skillopt_store::projects;
use skillopt_transcripts::{
    Harvest, Homes, Platform, ProjectScope, Request, Scope, Surroundings, harvest, on_battery,
    power_supplies,
};

use crate::context::Context;

/// Where the user of this night is at home.
pub(crate) fn surroundings(context: &Context) -> Surroundings<'_> {
    Surroundings {
        platform: Platform::here(),
        home: &context.home,
        environment: &context.environment,
    }
}

/// The folders of the agents: the settings, else what the agents' own variables say, else the usual
/// place in the home folder.
#[must_use]
pub fn homes(context: &Context) -> Homes {
    let settings = &context.settings;
    Homes::find(&surroundings(context), |agent| match agent {
        Agent::Claude => &settings.claude_home,
        Agent::Codex => &settings.codex_home,
        Agent::Copilot => &settings.copilot_home,
        Agent::Vscode => &settings.vscode_home,
        Agent::Cursor => &settings.cursor_home,
        Agent::Pi => &settings.pi_home,
        Agent::OpenCode => &settings.opencode_home,
        Agent::OpenClaw => &settings.openclaw_home,
        Agent::Devin => &settings.devin_home,
    })
}

/// The agents a source stands for, whether or not they are there.
#[must_use]
pub fn asked(source: Source) -> Vec<Agent> {
    match source {
        Source::Auto => Agent::ALL.to_vec(),
        Source::Only(agent) => vec![agent],
        Source::ReferenceAuto => vec![Agent::Codex, Agent::Claude],
    }
}

/// The agents whose documents a night may improve: those the setting names. With `auto` those that
/// are there or that `tasks` of a file are for; where there is none at all, Claude Code.
#[must_use]
pub fn agents(context: &Context, tasks: &[Task]) -> Vec<Agent> {
    let mut agents = asked(context.settings.source);
    if context.settings.source == Source::Auto {
        let homes = homes(context);
        agents.retain(|&agent| {
            homes.of(agent).iter().any(|home| home.is_dir())
                || tasks.iter().any(|task| task.agent == Some(agent))
        });
        if agents.is_empty() {
            agents.push(Agent::Claude);
        }
    }
    agents
}

/// Where the project was before it was moved: its sessions name those folders. One where something is again,
/// or that another project was registered for, is its own.
fn former_roots(context: &Context) -> Result<Vec<PathBuf>, Problem> {
    let former = context.store.read(|db| {
        let mut former = projects::former_roots(db, &context.project.id)?;
        let registered = projects::list(db)?;
        former.retain(|folder| registered.iter().all(|project| project.root != *folder));
        Ok(former)
    })?;
    Ok(former
        .into_iter()
        .map(PathBuf::from)
        .filter(|folder| !folder.exists())
        .collect())
}

/// What to harvest for a project. `everything` ignores the look-back.
pub fn request(context: &Context, everything: bool) -> Result<Request, Problem> {
    let settings = &context.settings;
    let root = PathBuf::from(&context.project.root);
    let mut roots = vec![root.clone()];
    roots.extend(worktrees(&root));
    roots.extend(former_roots(context)?);
    Ok(Request {
        homes: homes(context),
        agents: asked(settings.source),
        project: ProjectScope {
            roots,
            scope: match settings.scope {
                ScopeSetting::Project => Scope::Project,
                ScopeSetting::Parents => Scope::Parents,
                ScopeSetting::All => Scope::All,
            },
        },
        since: if everything { None } else { horizon(context)? },
        now: Some(context.clock.now()),
        exclude: settings.exclude.clone(),
        agent_markers: settings.agent_markers.clone(),
        negative_words: settings.negative_words.clone(),
        positive_words: settings.positive_words.clone(),
        false_alarms: settings.false_alarms.clone(),
        threads: 0,
        on_battery: on_battery(&power_supplies(&context.environment)),
    })
}

/// The moment before which nothing is read: the look-back before the project was registered.
///
/// It does not move from night to night. What was mined is marked turn by turn, so nothing beyond a
/// limit, in a failed night, or in a session that goes on tomorrow is ever lost.
fn horizon(context: &Context) -> Result<Option<Instant>, Problem> {
    let hours = context.settings.lookback_hours;
    if hours == 0 {
        return Ok(None);
    }
    let before = SignedDuration::from_hours(i64::from(hours));
    context
        .project
        .first_seen
        .checked_sub(before)
        .map(Some)
        .map_err(|_| {
            Problem::refused(
                "setting_invalid",
                format!("reads.lookback_hours = {hours} reaches back beyond all calendars."),
                "Set it to 0 to read everything there is.",
            )
        })
}

/// Reads the sessions. With `reference-auto`, Codex alone when it has any (§3), else Claude Code.
pub fn read(context: &Context, everything: bool) -> Result<Harvest, Problem> {
    let mut request = request(context, everything)?;
    let cancelled = || context.cancel.is_cancelled();
    if context.settings.source == Source::ReferenceAuto {
        request.agents = vec![Agent::Codex];
        let codex = harvest(&request, Some(&context.store), &cancelled)?;
        if !codex.sessions.is_empty() {
            return Ok(codex);
        }
        request.agents = vec![Agent::Claude];
    }
    harvest(&request, Some(&context.store), &cancelled)
}

/// What [`read`] gives for the look-back, of what it gave for everything. Nothing is read again, unless
/// with `reference-auto` all sessions of Codex are too old, in whose place those of Claude Code come.
///
/// Errors: those of [`read`].
pub fn within_look_back(context: &Context, everything: Harvest) -> Result<Harvest, Problem> {
    let Some(since) = horizon(context)? else {
        return Ok(everything);
    };
    let within = everything.since(since);
    if context.settings.source == Source::ReferenceAuto && within.sessions.is_empty() {
        return read(context, false);
    }
    Ok(within)
}

/// The other git worktrees of a project: sessions typed in them belong to it.
///
/// Git is only asked to list them. A folder that is no repository, or a machine without git, has none.
fn worktrees(root: &Path) -> Vec<PathBuf> {
    if !root.join(".git").exists() {
        return Vec::new();
    }
    let Ok(mut git) = system_program("git") else {
        return Vec::new();
    };
    let output = git
        .arg("-C")
        .arg(root)
        // A repository is hostile input: its configuration must not start programs.
        .args([
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(["worktree", "list", "--porcelain", "-z"])
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .output();
    let Ok(output) = output else {
        return Vec::new();
    };
    if !output.status.success() {
        return Vec::new();
    }
    String::from_utf8_lossy(&output.stdout)
        .split('\0')
        .filter_map(|line| line.strip_prefix("worktree "))
        .map(PathBuf::from)
        .filter(|path| path != root)
        .collect()
}
