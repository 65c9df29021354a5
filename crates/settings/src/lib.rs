//! Every setting once, with its type, default and text, and the layers it can come from.
//!
//! default < user file < project file < repository (may only restrict) < environment < flags

pub mod suggest;
mod table;
mod value;

pub use table::{Backend, GateMode, InRepository, Key, Metric, Scope, Settings, Source, Staging, TABLE};
pub use value::Kind;
