//! Copilot Chat in VS Code. The format and the versions seen: `README.md` in this module's folder.

mod chat;
mod operation;
mod paths;
mod reader;
mod workspace;

pub(crate) use paths::{STORES, homes, session_id, takes};
pub(crate) use reader::{Reader, State, VERSION};
pub(crate) use workspace::folder;

use crate::session::Session;

/// Reads a session from memory, as fuzz targets and benchmarks do. Never panics, whatever the bytes
/// are.
#[must_use]
pub fn read_bytes(bytes: &[u8]) -> Option<Session> {
    crate::harvest::read_bytes(skillopt_core::agent::Agent::Vscode, bytes)
}
