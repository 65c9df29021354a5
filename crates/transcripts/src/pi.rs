//! Pi. The format and the versions seen: `README.md` in this module's folder.

mod dialect;
mod paths;

pub(crate) use dialect::Pi;
pub(crate) use paths::{homes, session_id, stores, takes};

use crate::session::Session;

/// Raised whenever the reader reads the same file differently, so that files are read again.
pub(crate) const VERSION: u32 = 4;

/// Reads a transcript from memory, as fuzz targets and benchmarks do. Never panics, whatever the
/// bytes are.
#[must_use]
pub fn read_bytes(bytes: &[u8]) -> Option<Session> {
    crate::harvest::read_bytes(skillopt_core::agent::Agent::Pi, bytes)
}
