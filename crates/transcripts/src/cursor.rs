//! Cursor: its agent transcripts, and the chats of its editor. The format and the versions seen: `README.md` in this module's folder.

mod bubble;
mod editor;
mod paths;
mod reader;
mod record;
mod workspace;
mod workspaces;

pub(crate) use editor::places;
pub(crate) use paths::{homes, session_id, stores, takes};
pub(crate) use reader::{Reader, VERSION};
pub(crate) use workspace::folder;

use crate::session::Session;

/// Reads a transcript from memory, as fuzz targets and benchmarks do. Never panics, whatever the
/// bytes are.
#[must_use]
pub fn read_bytes(bytes: &[u8]) -> Option<Session> {
    crate::harvest::read_bytes(skillopt_core::agent::Agent::Cursor, bytes)
}
