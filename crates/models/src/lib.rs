//! Asking a model: one file per backend, and the one path every call takes.

pub mod backend;
pub mod cancel;
pub mod error;
pub mod parse;
pub mod templates;

pub use backend::{Asking, Backend, Finish, RawReply, Usage};
pub use cancel::CancelToken;
pub use error::{CallError, Cap, Scope, Wait};
