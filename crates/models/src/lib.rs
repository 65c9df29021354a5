//! Asking a model: one file per backend, and the one path every call takes.

pub mod backend;
pub mod budget;
pub mod cancel;
pub mod error;
pub mod estimate;
pub mod handoff;
pub mod limits;
pub mod parse;
pub mod path;
pub mod price;
pub mod retry;
pub mod templates;

pub use backend::{Asking, Backend, Finish, RawReply, Usage};
pub use budget::{Budget, Caps, Spend};
pub use cancel::CancelToken;
pub use error::{CallError, Cap, Scope, Wait};
pub use path::{Ask, CallEvent, CallPath, PathOptions, Reply, Roles};
