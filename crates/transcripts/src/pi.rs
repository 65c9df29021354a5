//! Pi. The format and the versions seen: `README.md` in this module's folder.

mod head;
mod paths;
mod reader;
mod record;
mod tree;

pub(crate) use paths::{homes, session_id, stores, takes};
pub(crate) use reader::{Reader, State, VERSION};

use crate::session::Session;

/// Reads a transcript from memory, as fuzz targets and benchmarks do. Never panics, whatever the
/// bytes are.
#[must_use]
pub fn read_bytes(bytes: &[u8]) -> Option<Session> {
    crate::harvest::read_bytes(skillopt_core::agent::Agent::Pi, bytes)
}
