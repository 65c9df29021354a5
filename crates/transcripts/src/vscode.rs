//! Copilot Chat in VS Code. The format and the versions seen: `README.md` in this module's folder.

mod chat;
mod operation;
mod paths;
mod reader;
mod workspace;

pub(crate) use paths::{STORES, homes, is_transcript, session_id, takes};
pub(crate) use reader::{Reader, State};
pub(crate) use workspace::folder;

use crate::event_log;
use crate::session::Session;

/// Raised whenever one of the two forms is read differently, so that files are read again.
pub(crate) const VERSION: u32 = reader::VERSION + event_log::VERSION;

/// Reads a session from memory, as fuzz targets and benchmarks do. Never panics, whatever the bytes
/// are.
#[must_use]
pub fn read_bytes(bytes: &[u8]) -> Option<Session> {
    crate::harvest::read_bytes(skillopt_core::agent::Agent::Vscode, bytes)
}
