//! What a user can do, as free functions over a context: the one list of commands.
//!
//! Nothing here prints or decides how things look. Every command takes an input and gives an output,
//! both of which serialise; see [`commands`].

pub mod backend;
pub mod commands;
pub mod config;
pub mod context;
mod crontab;
pub mod data;
pub mod demo;
pub mod diff;
pub mod discover;
pub mod doctor;
pub mod experiment;
pub mod handoff;
pub mod import;
pub mod key;
pub mod log;
pub mod night;
pub mod notices;
pub mod program;
pub mod project;
pub mod proposal;
pub mod reopen;
pub mod report;
pub mod schedule;
pub mod scheduled;
mod shell;
pub mod signals;
pub mod sleep;
pub mod spend;
pub mod supervisor;
#[cfg(test)]
mod test_home;
#[cfg(feature = "typescript")]
pub mod typescript;
pub mod window;

use serde::{Deserialize, Serialize};

/// The input of a command that takes none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Nothing {}

pub use skillopt_core::{Problem, Retry};
pub use skillopt_sleep::context::{Listener, Progress};

/// Types of the engine that outputs are made of.
pub mod types {
    pub use skillopt_core::gate::Action;
    pub use skillopt_core::schedule::Wait;
    pub use skillopt_core::text::{acts, counted};
    pub use skillopt_models::local::LocalServer;
    pub use skillopt_models::price::shown as amount;
    pub use skillopt_models::{Keyring, Spend};
    pub use skillopt_settings::{Language, TrayIcon};
    pub use skillopt_sleep::experiment::Experiment;
    pub use skillopt_sleep::report::{NightReport, SkipCount, TargetReport};
    pub use skillopt_sleep::sources::SourceStatus;
    pub use skillopt_sleep::time_left::Pace;
    pub use skillopt_store::attempts::Spend as NightSpend;
    pub use skillopt_store::nights::{Kind as NightKind, Outcome};
    pub use skillopt_store::proposals::TargetState;
    pub use skillopt_store::{Clock, Paths, SystemClock};
    pub use skillopt_transcripts::Unit;
}
