//! OpenClaw. The format and the versions seen: `README.md` in this module's folder.

mod database;
mod dialect;
mod envelope;
mod keys;
mod paths;

pub(crate) use dialect::OpenClaw;
pub(crate) use paths::{STORES, homes, places, session_id, takes};

use crate::session::Session;

/// Raised whenever the reader reads the same session differently, so that sessions are read again.
pub(crate) const VERSION: u32 = 2;

/// Reads a transcript from memory, as fuzz targets and benchmarks do. Never panics, whatever the
/// bytes are.
#[must_use]
pub fn read_bytes(bytes: &[u8]) -> Option<Session> {
    crate::harvest::read_bytes(skillopt_core::agent::Agent::OpenClaw, bytes)
}
