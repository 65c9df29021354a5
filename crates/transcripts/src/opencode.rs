//! OpenCode. The format and the versions seen: `README.md` in this module's folder.

mod conversation;
mod database;
mod paths;
mod record;
mod storage;

pub(crate) use paths::{homes, places, stores, takes};

/// Raised whenever the reader reads the same store differently, so that sessions are read again.
pub(crate) const VERSION: u32 = 5;
