//! What must survive: SQLite, OS locks, atomic files, blobs and the adoption journal.
//!
//! # Where things are
//!
//! | Subject | Module |
//! | --- | --- |
//! | data and configuration folders | [`paths`]: [`Paths`] |
//! | time | [`clock`]: [`Clock`], [`SystemClock`], [`FixedClock`] |
//! | the database: open, read, commit | [`store`]: [`Store`], [`Tx`] |
//! | errors inside a transaction | [`fault`]: [`Fault`] (`?` works on `Problem`, `rusqlite::Error` and `Fault`) |
//! | content-addressed bytes | [`blobs`] |
//! | projects (id survives moving) | [`projects`] |
//! | single words about the whole store | [`meta`] |
//! | nights, and what was pinned | [`nights`] |
//! | stages and their outputs | [`stages`] |
//! | calls, and which night uses them | [`calls`] |
//! | paid tries, reuse, spend | [`attempts`] |
//! | events of a night | [`events`] |
//! | orders to a running night | [`orders`] |
//! | pauses of providers | [`pauses`] |
//! | nights of schedules, "run now", the user's pause | [`scheduled`] |
//! | task archive, mined turns | [`tasks`] |
//! | requests seen so far | [`clusters`] |
//! | edits tried and rejected | [`rejected`] |
//! | proposals and their targets | [`proposals`] |
//! | transcript files as last read | [`index`] |
//! | adoption journal, recovery; receipts | [`adoption`], [`receipts`] |
//! | OS locks | [`locks`] |
//! | reading and writing files | [`files`] |
//! | which file a document really is | [`documents`] |
//! | size, export, purge, move | [`data`] |
//! | checks and copies of the database | [`repair`] |
//!
//! # How it is used
//!
//! Typed functions are free functions. Readers take `&Connection`, writers take `&Tx`; a [`Tx`] is
//! also a connection, so readers work inside a transaction as well.
//!
//! ```
//! # use std::sync::Arc;
//! # use skillopt_store::{Store, SystemClock, nights, projects};
//! # fn main() -> Result<(), skillopt_core::Problem> {
//! # let root = std::env::temp_dir();
//! let store = Store::in_memory(Arc::new(SystemClock))?;
//! let project = store.commit("register project", |tx| projects::find_or_register(tx, &root))?;
//! let night = store.commit("begin night", |tx| {
//!     nights::begin(tx, &project.id, nights::Kind::Run, &serde_json::json!({}))
//! })?;
//! assert!(store.read(|db| nights::get(db, night))?.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! Where a function takes a hash of a document, the empty text means that there is no file.
//!
//! `Store::commit` is the only place where a transaction commits; it must not be nested, and
//! `Store::read` must not be called inside it (both take the one connection of this process).

//!
//! # Dying on purpose
//!
//! With the feature `failpoints` a process can be made to end at the n-th commit or file operation, so
//! that a test can try every one of them: `SKILLOPT_KILL_AT_COMMIT=n[:before|:after]`,
//! `SKILLOPT_COUNT_COMMITS=path`, `SKILLOPT_KILL_AT_WRITE`, `SKILLOPT_COUNT_WRITES`, and
//! `SKILLOPT_LOG_STEPS=path` for a list of all steps by name. Making and migrating a database commit too.

pub mod adoption;
pub mod attempts;
pub mod blobs;
pub mod calls;
pub mod clock;
pub mod clusters;
pub mod data;
pub mod documents;
pub mod events;
mod failpoints;
pub mod fault;
pub mod files;
pub mod index;
pub mod locks;
pub mod meta;
pub mod nights;
mod opening;
pub mod orders;
pub mod paths;
pub mod pauses;
pub mod projects;
pub mod proposals;
pub mod receipts;
pub mod rejected;
pub mod repair;
mod row;
pub mod scheduled;
pub mod stages;
pub mod store;
pub mod tasks;
mod words;

pub use clock::{Clock, FixedClock, SystemClock};
pub use fault::Fault;
pub use opening::SCHEMA_VERSION;
pub use paths::{Paths, real_path};
pub use rusqlite::Connection;
pub use store::{Store, Tx};
