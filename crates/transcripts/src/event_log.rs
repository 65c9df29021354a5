//! Event logs of GitHub's Copilot: one JSON object a line, each with its type and its data.
//!
//! The command line keeps its sessions in this format, and the chat extension of VS Code writes its
//! transcripts in a part of it. What an agent does beside it (where its logs lie, what else knows the
//! same session) is in the agent's own folder.

mod head;
mod reader;
mod record;

pub(crate) use reader::{Reader, State, VERSION};
