//! Where each coding agent keeps its sessions, and how they are read.
//!
//! [`harvest()`] looks through the homes of the agents, reads what changed since the last time, and
//! returns the sessions of one project: human turns and the agent's answers, redacted, each message
//! once however many files hold a copy of it. Whatever is left out is counted with its [`Reason`].
//!
//! One folder per agent ([`claude`], [`codex`], [`copilot`], …) knows that agent's paths and records. Everything
//! else (lines, limits, privacy, scope, copies, the index of files) is the same for every agent.
//!
//! Transcripts are written by others and may be anything: broken, huge, hostile, or changing while
//! they are read. No content of a file makes a harvest fail; the rest is read and the fault counted.

mod assembly;
pub mod claude;
pub mod codex;
mod collection;
pub mod copilot;
pub mod cursor;
mod database;
mod devin;
mod digest;
mod event_log;
mod exclude;
mod file;
mod files;
mod gather;
mod harvest;
mod head;
mod index;
mod lenient;
mod lines;
mod meta;
mod names;
pub mod openclaw;
mod opencode;
mod own_calls;
mod owners;
pub mod pi;
mod power;
mod reader;
mod reading;
mod reason;
mod record;
mod request;
mod retention;
mod rules;
mod scope;
mod session;
mod sibling;
mod skills;
mod source;
mod surroundings;
mod told;
mod tree_log;
pub mod vscode;
mod words;

pub use digest::Digest;
pub use harvest::{FileCounts, Harvest, Looked, UnknownRecord, harvest};
pub use power::{Power, on_battery, power, power_supplies};
pub use reason::{Reason, Unit};
pub use request::{Homes, ProjectScope, Request, Scope};
pub use retention::Retention;
pub use session::{Author, Session, Turn};
pub use surroundings::{Platform, Surroundings};
pub use told::{Told, told};
