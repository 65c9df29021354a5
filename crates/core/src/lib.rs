//! Pure rules of SkillOpt: tasks, documents, edits, judges, gate, splits, recall, redaction,
//! and the data of a model call.
//!
//! Nothing in this crate reads a file, a clock, a network or the environment.

pub mod agent;
pub mod agent_tool;
pub mod apply;
pub mod call;
pub mod check;
pub mod cluster;
pub mod document;
pub mod dream;
pub mod edit;
pub mod feedback;
pub mod gate;
pub mod hash;
pub mod judge;
pub mod own_call;
pub mod personas;
pub mod problem;
pub mod python_regex;
pub mod recall;
pub mod redact;
pub mod region;
pub mod reply;
pub mod scan;
pub mod schedule;
mod script;
pub mod skill_file;
pub mod split;
pub mod task;
mod task_row;
pub mod text;
pub mod tool;

/// A moment in time, in UTC. Local time exists only in schedules and on screen.
pub type Instant = jiff::Timestamp;

pub use problem::{Problem, Retry};
