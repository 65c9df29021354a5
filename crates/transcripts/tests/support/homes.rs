//! Homes of agents, made for one test.

#![allow(dead_code, reason = "every test file uses a part of this one")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use skillopt_core::agent::Agent;
use skillopt_transcripts::{
    Author, Harvest, ProjectScope, Reason, Request, Scope, Session, harvest,
};
use tempfile::TempDir;

/// A temporary home of both agents.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
    pub(crate) request: Request,
}

impl Home {
    /// An empty home; everything in it is asked for.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let request = Request {
            homes: Agent::ALL
                .into_iter()
                .map(|agent| (agent, vec![folder.path().join(agent.id())]))
                .collect(),
            agents: Agent::ALL.to_vec(),
            project: ProjectScope {
                roots: Vec::new(),
                scope: Scope::All,
            },
            threads: 1,
            ..Request::default()
        };
        Self { folder, request }
    }

    /// Only turns of these folders are asked for.
    pub(crate) fn project(mut self, roots: &[&str], scope: Scope) -> Self {
        self.request.project = ProjectScope {
            roots: roots.iter().map(PathBuf::from).collect(),
            scope,
        };
        self
    }

    /// Writes a Claude Code session.
    pub(crate) fn claude(&self, name: &str, lines: &[impl AsRef<[u8]>]) -> PathBuf {
        let path = self.folder.path().join("claude/projects/-w-app").join(name);
        write(&path, &joined(lines));
        path
    }

    /// Writes a Codex session.
    pub(crate) fn codex(&self, name: &str, lines: &[impl AsRef<[u8]>]) -> PathBuf {
        let path = self.folder.path().join("codex").join(name);
        write(&path, &joined(lines));
        path
    }

    pub(crate) fn harvest(&self) -> Harvest {
        harvest(&self.request, None, &|| false).unwrap()
    }
}

pub(crate) fn joined(lines: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        bytes.extend_from_slice(line.as_ref());
        bytes.push(b'\n');
    }
    bytes
}

pub(crate) fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

/// What the people of all sessions said, session by session, in the order of the harvest.
pub(crate) fn prompts(harvest: &Harvest) -> Vec<Vec<&str>> {
    harvest.sessions.iter().map(words).collect()
}

pub(crate) fn words(session: &Session) -> Vec<&str> {
    session
        .human_turns()
        .map(|turn| turn.text.as_str())
        .collect()
}

/// What the agent answered in it.
pub(crate) fn answers(session: &Session) -> Vec<&str> {
    let turns = session.turns.iter();
    turns
        .filter(|turn| turn.author == Author::Assistant)
        .map(|turn| turn.text.as_str())
        .collect()
}

pub(crate) fn skipped(harvest: &Harvest, agent: Agent, reason: Reason) -> u64 {
    harvest
        .skipped
        .get(&(agent, reason))
        .copied()
        .unwrap_or_default()
}

/// A prompt of today's Claude Code. `minute` orders it and makes its id.
pub(crate) fn typed(minute: u32, words: &str) -> String {
    typed_in("/w/app", minute, words)
}

pub(crate) fn typed_in(directory: &str, minute: u32, words: &str) -> String {
    let words = serde_json::to_string(words).unwrap();
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"promptId":"p","type":"user","message":{{"role":"user","content":{words}}},"uuid":"u{minute}","timestamp":"2026-01-05T10:{minute:02}:00.000Z","origin":{{"kind":"human"}},"promptSource":"typed","turnOrigin":"human","entrypoint":"cli","cwd":"{directory}","sessionId":"s","version":"2.1.332","gitBranch":"main"}}"#
    )
}

/// An answer of today's Claude Code.
pub(crate) fn answer(minute: u32, words: &str) -> String {
    let words = serde_json::to_string(words).unwrap();
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"message":{{"id":"m{minute}","type":"message","role":"assistant","content":[{{"type":"text","text":{words}}}]}},"type":"assistant","uuid":"a{minute}","timestamp":"2026-01-05T10:{minute:02}:30.000Z","cwd":"/w/app","sessionId":"s","version":"2.1.332","gitBranch":"main"}}"#
    )
}

/// A tool call of today's Claude Code.
pub(crate) fn call(minute: u32, tool: &str, input: &str) -> String {
    format!(
        r#"{{"message":{{"id":"c{minute}","role":"assistant","content":[{{"type":"tool_use","id":"t","name":"{tool}","input":{input}}}]}},"type":"assistant","uuid":"c{minute}","timestamp":"2026-01-05T10:{minute:02}:10.000Z","cwd":"/w/app","gitBranch":"main"}}"#
    )
}
