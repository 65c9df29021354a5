//! What starts the nights that are due, and what tray, window and command line show of it.
//!
//! # For a host (tray app, daemon)
//!
//! A host starts one [`Supervisor`] inside a tokio runtime and keeps its [`Handle`]. Several processes may
//! do so over the same data folder: an OS lock makes one of them start nights, the others watch and take
//! over when it ends.
//!
//! Each night runs in a child process of the host's own program, started as [`Launch`] says with one more
//! argument: a [`RunInput`](crate::sleep::RunInput) as JSON. The child calls [`crate::sleep::run`] with it
//! (`skillopt sleep run --request JSON` does) and may print what it likes; how the night ended is read from
//! the store. A host that dies leaves its night running, and whoever supervises next finds it.
//!
//! # For everybody else
//!
//! [`look()`] gives the state from any process, [`order`] writes orders: rows in the store, followed by a
//! datagram that says "look again".

mod awake;
#[cfg(target_os = "linux")]
mod bus;
mod child;
pub mod commands;
mod facts;
mod look;
pub mod order;
mod poke;
mod rules;
mod settle;
mod state;
mod surroundings;
mod survey;
mod work;

use std::ffi::OsString;
use std::path::PathBuf;

pub use look::look;
pub(crate) use look::readiness;
pub(crate) use order::call_off;
pub(crate) use rules::finish_at;
pub use rules::{Schedule, Upcoming, upcoming};
pub use state::{
    ATTENTION_AFTER, FirstLine, Last, Missed, Overall, ProjectState, Running, Supervising,
    SupervisorState, Why, at_in_words, left_in_words, minutes_left,
};
pub use work::{Handle, Supervisor};

/// Tells whoever supervises that something was decided: a proposal, a project, a setting.
pub(crate) fn look_again(app: &crate::context::App) {
    poke::send(&app.paths);
}

/// How a night is started: `program arguments… JSON`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program: usually the one that is running.
    pub program: PathBuf,
    /// What comes before the night's request.
    pub arguments: Vec<OsString>,
}
