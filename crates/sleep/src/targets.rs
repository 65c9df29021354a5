//! Which documents a night may change: they follow the agent whose sessions were read.
//!
//! | Agent | Skill | Memory |
//! | --- | --- | --- |
//! | Claude Code | `<claude home>/skills/<managed name>/SKILL.md`, or the skill the user chose | `<project>/CLAUDE.md` |
//! | Codex, Copilot CLI, VS Code, Cursor, Pi, OpenCode, OpenClaw, Devin | `<project>/.agents/skills/<managed name>/SKILL.md`, or the skill the user chose | `<project>/AGENTS.md` |
//!
//! Agents in one row read the same documents: they are improved once, from the sessions of all of
//! them, under the name of the first one that is asked for.

use std::path::{Path, PathBuf};

use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_core::document::{Target, TargetKind};
use skillopt_core::region;
use skillopt_store::documents;
use skillopt_store::files;

use crate::consolidate;
use crate::context::Context;
use crate::harvesting;
use crate::staging;

/// Largest document that is improved, in bytes.
const LARGEST: usize = 1 << 20;

/// The targets of these agents, with their bytes pinned. A document that two agents share (a
/// `CLAUDE.md` that is a link to `AGENTS.md`) is one target, of the first agent.
///
/// A document that could not be adopted is left out before anything is spent, and its problem is given
/// beside the others: `target_outside_roots`, `document_not_text`, `document_too_large`,
/// `region_broken`, `skill_invalid` and `memory_too_long` for one its agent would not load, and those of
/// reading a file. It is an error when none is left that may change.
pub fn resolve(
    context: &Context,
    agents: &[Agent],
) -> Result<(Vec<Target>, Vec<Problem>), Problem> {
    let mut targets: Vec<Target> = Vec::new();
    let mut unusable = Vec::new();
    for &agent in agents {
        if targets.iter().any(|known| share(known.agent, agent)) {
            continue;
        }
        for (kind, path) in [
            (TargetKind::Skill, skill_path(context, agent)),
            (TargetKind::Memory, memory_path(context, agent)),
        ] {
            let pinned = pin(agent, kind, &path, &roots_of(context, &path));
            let usable = pinned.and_then(|target| match staging::obstacle(context, &target) {
                None => Ok(target),
                Some(problem) => Err(problem),
            });
            let target = match usable {
                Ok(target) => target,
                Err(problem) => {
                    unusable.push((kind, problem));
                    continue;
                }
            };
            if targets
                .iter()
                .any(|known| known.real_path == target.real_path)
            {
                context.note(format!(
                    "{} and another agent share {}.",
                    agent.title(),
                    target.real_path
                ));
                continue;
            }
            targets.push(target);
        }
    }
    let may_change = |kind| consolidate::changeable(&context.settings, kind);
    // A document that may not change anyway is nobody's trouble.
    unusable.retain(|(kind, _)| may_change(*kind));
    let mut unusable: Vec<Problem> = unusable.into_iter().map(|(_, problem)| problem).collect();
    if !unusable.is_empty() && !targets.iter().any(|target| may_change(target.kind)) {
        return Err(unusable.swap_remove(0));
    }
    Ok((targets, unusable))
}

/// Whether two agents read the same documents.
pub(crate) fn share(one: Agent, other: Agent) -> bool {
    one == other || memory_name(one) == memory_name(other)
}

fn pin(agent: Agent, kind: TargetKind, path: &Path, roots: &[PathBuf]) -> Result<Target, Problem> {
    let real_path = documents::resolve(path, roots)?.real_path;
    let shown = real_path.to_string_lossy().into_owned();
    let text = match files::read_pinned(&real_path)? {
        None => None,
        Some(pinned) if pinned.bytes.len() > LARGEST => {
            return Err(Problem::permanent(
                "document_too_large",
                format!(
                    "{shown} has {} bytes; documents up to {LARGEST} bytes are improved.",
                    pinned.bytes.len()
                ),
                "Shorten it: agents read only the beginning of a document this long.",
            ));
        }
        Some(pinned) => Some(String::from_utf8(pinned.bytes).map_err(|_| {
            Problem::permanent(
                "document_not_text",
                format!("{shown} is not UTF-8 text."),
                "Save it as UTF-8; nothing was changed.",
            )
        })?),
    };
    region::rules(text.as_deref().unwrap_or("")).map_err(|fault| {
        let mut problem = fault.problem();
        problem.message = format!("{shown}: {}", problem.message);
        problem
    })?;
    Ok(Target {
        id: format!("{agent}:{}", kind.id()),
        agent,
        kind,
        path: path.to_string_lossy().into_owned(),
        real_path: shown,
        text,
    })
}

/// The skill document of an agent.
fn skill_path(context: &Context, agent: Agent) -> PathBuf {
    let settings = &context.settings;
    if !settings.target_skill_path.is_empty() {
        return below_project(context, &settings.target_skill_path);
    }
    let folder = match agent {
        Agent::Claude => claude_home(context).join("skills"),
        Agent::Codex
        | Agent::Copilot
        | Agent::Vscode
        | Agent::Cursor
        | Agent::Pi
        | Agent::OpenCode
        | Agent::OpenClaw
        | Agent::Devin => Path::new(&context.project.root)
            .join(".agents")
            .join("skills"),
    };
    folder.join(&settings.managed_skill_name).join("SKILL.md")
}

fn memory_path(context: &Context, agent: Agent) -> PathBuf {
    Path::new(&context.project.root).join(memory_name(agent))
}

const fn memory_name(agent: Agent) -> &'static str {
    match agent {
        Agent::Claude => "CLAUDE.md",
        Agent::Codex
        | Agent::Copilot
        | Agent::Vscode
        | Agent::Cursor
        | Agent::Pi
        | Agent::OpenCode
        | Agent::OpenClaw
        | Agent::Devin => "AGENTS.md",
    }
}

fn claude_home(context: &Context) -> PathBuf {
    harvesting::homes(context)
        .of(Agent::Claude)
        .first()
        .cloned()
        .unwrap_or_else(|| context.home.join(".claude"))
}

/// A relative path is below the project.
pub(crate) fn below_project(context: &Context, path: &str) -> PathBuf {
    Path::new(&context.project.root).join(path)
}

/// The folders that the document at `path` may really lie in. A link in a project may have come with its
/// repository, which does not say which of the user's own skills are changed.
fn roots_of(context: &Context, path: &Path) -> Vec<PathBuf> {
    if !path.starts_with(&context.project.root) {
        return allowed_roots(context);
    }
    let mut roots = vec![PathBuf::from(&context.project.root)];
    roots.extend(named_roots(context));
    roots
}

/// The folders that the user has named.
fn named_roots(context: &Context) -> impl Iterator<Item = PathBuf> {
    let roots = context.settings.skill_roots.iter();
    roots.map(|root| below_project(context, root))
}

/// The folders documents may lie in: the project, the agents' skill folders, the roots the user named.
#[must_use]
pub fn allowed_roots(context: &Context) -> Vec<PathBuf> {
    let mut roots = vec![PathBuf::from(&context.project.root)];
    let homes = harvesting::homes(context);
    for agent in Agent::ALL {
        roots.extend(homes.of(agent).iter().map(|home| home.join("skills")));
    }
    roots.push(context.home.join(".agents").join("skills"));
    roots.extend(named_roots(context));
    roots
}

/// The sizes of the memory documents the agent reads together with `target`, outermost first:
/// `(path, bytes)`. Codex reads every `AGENTS.md` from the repository's root down.
pub(crate) fn memory_chain(context: &Context, target: &Target) -> Vec<(String, u64)> {
    let name = Path::new(&target.path)
        .file_name()
        .map(PathBuf::from)
        .unwrap_or_default();
    let mut chain = Vec::new();
    for folder in Path::new(&context.project.root).ancestors().skip(1) {
        let file = folder.join(&name);
        if let Ok(data) = std::fs::metadata(&file) {
            chain.push((file.to_string_lossy().into_owned(), data.len()));
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_that_read_the_same_documents_share_them() {
        for agent in Agent::ALL {
            assert!(share(agent, agent));
            let of_claude = share(Agent::Claude, agent);
            assert_eq!(of_claude, agent == Agent::Claude, "{agent}");
            assert_eq!(share(agent, Agent::Codex), !of_claude, "{agent}");
        }
    }
}
