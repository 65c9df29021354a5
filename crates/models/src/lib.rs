//! Asking a model: one file per backend, and the one path every call takes.

pub mod api_key;
pub mod backend;
pub mod budget;
pub mod cancel;
pub mod claude;
pub mod error;
pub mod estimate;
pub mod handoff;
pub mod limit_notice;
pub mod limits;
pub mod mock;
pub mod openai_compatible;
pub mod parse;
pub mod path;
pub mod persona_sim;
pub mod price;
pub mod process;
pub mod retry;
pub mod roles;
pub mod templates;

pub use api_key::ApiKey;
pub use backend::{Asking, Backend, Checking, Finish, RawReply, Usage};
pub use budget::{Budget, Caps, Spend};
pub use cancel::CancelToken;
pub use error::{CallError, Cap, Scope, Wait};
pub use estimate::{Asked, Estimate};
pub use handoff::Handoff;
pub use limits::Limits;
pub use parse::{Expect, Mined, MinedTask, Needs, Parsed, Proposed, Unreadable};
pub use path::{Ask, CallEvent, CallPath, PathOptions, Reply, Roles};
pub use roles::{Surroundings, handoff_folder};
pub use templates::{Description, Loaded, Templates};
