//! GitHub Copilot CLI. The format and the versions seen: `README.md` in this module's folder.

mod database;
mod paths;

pub(crate) use database::place;
pub(crate) use paths::{STORES, homes, session_id, takes};

pub(crate) use crate::event_log::{Reader, State, VERSION};

use crate::session::Session;

/// Reads an event log from memory, as fuzz targets and benchmarks do. Never panics, whatever the
/// bytes are.
#[must_use]
pub fn read_bytes(bytes: &[u8]) -> Option<Session> {
    crate::harvest::read_bytes(skillopt_core::agent::Agent::Copilot, bytes)
}
