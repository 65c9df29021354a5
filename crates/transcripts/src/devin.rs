//! Devin. The format and the versions seen: `README.md` in this module's folder.

mod database;
mod message;
mod paths;
mod record;

pub(crate) use paths::{homes, places};

/// Raised whenever the reader reads the same session differently, so that sessions are read again.
pub(crate) const VERSION: u32 = 3;
