//! One night: harvest, mine, replay, reflect, gate, stage; and after it adopt, reject, roll back.
//!
//! [`run::run`] is the whole of it; [`adopt`] is what comes in the morning. A night freezes the input of
//! every stage as rows before it asks anything, so a night that was killed goes on from its rows.

pub mod adopt;
mod begin;
pub mod consolidate;
pub mod context;
pub mod estimate;
pub mod evidence;
pub mod experiment;
pub mod gather;
pub mod harvesting;
pub mod mine;
mod mine_model;
pub mod model_notes;
mod night;
pub mod outcome;
pub mod preview;
mod reflect;
pub mod reopen;
pub mod replay;
pub mod replies;
pub mod report;
pub mod report_text;
pub mod revalidate;
pub mod run;
pub mod selection;
pub mod sources;
pub mod staging;
pub mod target_filter;
pub mod targets;
pub mod tasks_file;
pub mod time_left;
pub mod tonight;

pub use begin::is_budget;
pub use context::{Context, Listener, Progress};
pub use outcome::{Outcome, Stop, exit_code};
pub use report::NightReport;
