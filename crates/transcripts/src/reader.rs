//! What differs from agent to agent: where its files are, and which reader reads them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillopt_core::Instant;
use skillopt_core::agent::Agent;

use crate::collection::Place;
use crate::files::{Store, Taken};
use crate::reading::Recorder;
use crate::surroundings::Surroundings;
use crate::tree_log;
use crate::{claude, codex, copilot, cursor, devin, event_log, openclaw, opencode, pi, vscode};

/// The agent's homes, as the agent itself finds them.
pub(crate) fn homes(agent: Agent, at: &Surroundings<'_>) -> Vec<PathBuf> {
    match agent {
        Agent::Claude => claude::homes(at),
        Agent::Codex => codex::homes(at),
        Agent::Copilot => copilot::homes(at),
        Agent::Vscode => vscode::homes(at),
        Agent::Cursor => cursor::homes(at),
        Agent::Pi => pi::homes(at),
        Agent::OpenCode => opencode::homes(at),
        Agent::OpenClaw => openclaw::homes(at),
        Agent::Devin => devin::homes(at),
    }
}

/// The stores below an agent's home.
pub(crate) fn stores(agent: Agent, home: &Path) -> &'static [Store] {
    match agent {
        Agent::Claude => claude::STORES,
        Agent::Codex => codex::STORES,
        Agent::Copilot => copilot::STORES,
        Agent::Vscode => vscode::STORES,
        Agent::Cursor => cursor::stores(home),
        Agent::Pi => pi::stores(home),
        Agent::OpenClaw => openclaw::STORES,
        Agent::OpenCode => opencode::stores(home),
        Agent::Devin => &[],
    }
}

/// Whether a file is a transcript of the agent, by its name.
pub(crate) const fn takes(agent: Agent) -> fn(&Path) -> Taken {
    match agent {
        Agent::Claude => claude::takes,
        Agent::Codex => codex::takes,
        Agent::Copilot => copilot::takes,
        Agent::Vscode => vscode::takes,
        Agent::Cursor => cursor::takes,
        Agent::Pi => pi::takes,
        Agent::OpenClaw => openclaw::takes,
        Agent::OpenCode => opencode::takes,
        Agent::Devin => |_| Taken::No,
    }
}

/// Where the agent may keep many sessions in one store below a home.
pub(crate) fn places(agent: Agent, home: &Path) -> Vec<Place> {
    match agent {
        Agent::Claude | Agent::Codex | Agent::Vscode | Agent::Pi => Vec::new(),
        Agent::Cursor => cursor::places(home),
        Agent::Copilot => vec![copilot::place(home)],
        Agent::OpenCode => opencode::places(home),
        Agent::OpenClaw => openclaw::places(home),
        Agent::Devin => devin::places(home),
    }
}

/// The version of the agent's reader.
pub(crate) const fn version(agent: Agent) -> u32 {
    match agent {
        Agent::Claude => claude::VERSION,
        Agent::Codex => codex::VERSION,
        Agent::Copilot => copilot::VERSION,
        Agent::Vscode => vscode::VERSION,
        Agent::Cursor => cursor::VERSION,
        Agent::Pi => pi::VERSION,
        Agent::OpenCode => opencode::VERSION,
        Agent::OpenClaw => openclaw::VERSION,
        Agent::Devin => devin::VERSION,
    }
}

/// The session a file holds, by its name.
pub(crate) fn session_id(agent: Agent, path: &Path) -> String {
    match agent {
        Agent::Claude => claude::session_id(path),
        Agent::Codex => codex::session_id(path),
        Agent::Copilot => copilot::session_id(path),
        Agent::Vscode => vscode::session_id(path),
        Agent::Cursor => cursor::session_id(path),
        Agent::Pi => pi::session_id(path),
        Agent::OpenClaw => openclaw::session_id(path),
        Agent::OpenCode | Agent::Devin => String::new(),
    }
}

/// The reader of one agent.
#[derive(Debug)]
pub(crate) enum Reader {
    Claude(claude::Reader),
    Codex(codex::Reader),
    Copilot(copilot::Reader),
    Vscode(vscode::Reader),
    /// A transcript of the extension, beside what the editor itself keeps of the same session.
    VscodeTranscript(event_log::Reader),
    Cursor(cursor::Reader),
    Pi(tree_log::Reader<pi::Pi>),
    OpenClaw(tree_log::Reader<openclaw::OpenClaw>),
    /// Of an agent whose sessions do not lie in files of their own.
    NoFiles,
}

/// The reader's own memory, when a huge file is gone on with.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Claude(claude::State),
    Codex(codex::State),
    Copilot(copilot::State),
    Vscode(vscode::State),
    VscodeTranscript(event_log::State),
    Pi(tree_log::State),
    OpenClaw(tree_log::State),
}

impl Reader {
    pub(crate) fn new(agent: Agent) -> Self {
        match agent {
            Agent::Claude => Self::Claude(claude::Reader::default()),
            Agent::Codex => Self::Codex(codex::Reader::default()),
            Agent::Copilot => Self::Copilot(copilot::Reader::default()),
            Agent::Vscode => Self::Vscode(vscode::Reader::default()),
            Agent::Cursor => Self::Cursor(cursor::Reader::default()),
            Agent::Pi => Self::Pi(tree_log::Reader::default()),
            Agent::OpenClaw => Self::OpenClaw(tree_log::Reader::default()),
            Agent::OpenCode | Agent::Devin => Self::NoFiles,
        }
    }

    pub(crate) fn resume(state: State) -> Self {
        match state {
            State::Claude(state) => Self::Claude(claude::Reader::resume(state)),
            State::Codex(state) => Self::Codex(codex::Reader::resume(state)),
            State::Copilot(state) => Self::Copilot(copilot::Reader::resume(state)),
            State::Vscode(state) => Self::Vscode(vscode::Reader::resume(state)),
            State::VscodeTranscript(state) => {
                Self::VscodeTranscript(event_log::Reader::resume(state))
            }
            State::Pi(state) => Self::Pi(tree_log::Reader::resume(state)),
            State::OpenClaw(state) => Self::OpenClaw(tree_log::Reader::resume(state)),
        }
    }

    /// What must be known to go on with the file when it has grown; `None` when it is then read from
    /// its start.
    pub(crate) fn state(&self) -> Option<State> {
        match self {
            Self::Claude(reader) => Some(State::Claude(reader.state().clone())),
            Self::Codex(reader) => Some(State::Codex(reader.state().clone())),
            Self::Copilot(reader) => Some(State::Copilot(reader.state().clone())),
            Self::Vscode(reader) => Some(State::Vscode(reader.state().clone())),
            Self::VscodeTranscript(reader) => Some(State::VscodeTranscript(reader.state().clone())),
            Self::Pi(reader) => Some(State::Pi(reader.state().clone())),
            Self::OpenClaw(reader) => Some(State::OpenClaw(reader.state().clone())),
            Self::Cursor(_) | Self::NoFiles => None,
        }
    }

    pub(crate) fn line(&mut self, line: &[u8], recorder: &mut Recorder<'_>) {
        match self {
            Self::Claude(reader) => reader.line(line, recorder),
            Self::Codex(reader) => reader.line(line, recorder),
            Self::Copilot(reader) | Self::VscodeTranscript(reader) => reader.line(line, recorder),
            Self::Vscode(reader) => reader.line(line, recorder),
            Self::Cursor(reader) => reader.line(line, recorder),
            Self::Pi(reader) => reader.line(line, recorder),
            Self::OpenClaw(reader) => reader.line(line, recorder),
            Self::NoFiles => {}
        }
    }

    pub(crate) fn needs(&mut self, beginning: &[u8], recorder: &mut Recorder<'_>) -> bool {
        match self {
            Self::Claude(_) => claude::Reader::needs(beginning, recorder),
            Self::Codex(_) => codex::Reader::needs(beginning, recorder),
            Self::Pi(reader) => reader.needs(beginning, recorder),
            Self::OpenClaw(reader) => reader.needs(beginning, recorder),
            Self::NoFiles => false,
            Self::Copilot(_) | Self::VscodeTranscript(_) => {
                event_log::Reader::needs(beginning, recorder)
            }
            // No beginning tells.
            Self::Vscode(_) | Self::Cursor(_) => true,
        }
    }

    /// The file is opened: what stands beside it, and when it was written.
    pub(crate) fn opened(
        &mut self,
        path: &Path,
        written: Option<Instant>,
        recorder: &mut Recorder<'_>,
    ) {
        match self {
            Self::Claude(_)
            | Self::Codex(_)
            | Self::Copilot(_)
            | Self::VscodeTranscript(_)
            | Self::Pi(_)
            | Self::OpenClaw(_)
            | Self::NoFiles => {}
            Self::Vscode(_) => {
                recorder.place(&vscode::folder(path), "");
                if vscode::is_transcript(path) {
                    // What the editor keeps of the session says more.
                    recorder.is_fallback();
                    *self = Self::VscodeTranscript(event_log::Reader::default());
                }
            }
            Self::Cursor(reader) => {
                // The editor's database has ids and times as well.
                recorder.is_fallback();
                recorder.place(&cursor::folder(path), "");
                reader.written(written);
            }
        }
    }

    /// Whether what stands behind the last line end is wanted, although it is no whole record.
    pub(crate) fn wants_rest(&self) -> bool {
        match self {
            Self::Vscode(reader) => reader.wants_rest(),
            Self::Claude(_)
            | Self::Codex(_)
            | Self::Copilot(_)
            | Self::VscodeTranscript(_)
            | Self::Cursor(_)
            | Self::Pi(_)
            | Self::OpenClaw(_)
            | Self::NoFiles => false,
        }
    }

    pub(crate) fn end(&mut self, recorder: &mut Recorder<'_>) {
        match self {
            Self::Claude(_)
            | Self::Copilot(_)
            | Self::VscodeTranscript(_)
            | Self::Cursor(_)
            | Self::NoFiles => {}
            Self::Codex(reader) => reader.end(recorder),
            Self::Pi(reader) => reader.end(recorder),
            Self::OpenClaw(reader) => reader.end(recorder),
            Self::Vscode(reader) => reader.end(recorder),
        }
    }
}
