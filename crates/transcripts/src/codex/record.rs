//! The records that are parsed.

use serde::Deserialize;

use crate::lenient::{Content, Flag, Keys, List, Number, Object, Text};

/// Any record.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub(super) timestamp: Text<'a>,
    pub(super) r#type: Text<'a>,
    pub(super) payload: Object<Payload<'a>>,
    /// Of versions before September 2025: `state`.
    pub(super) record_type: Text<'a>,
    /// Of versions before September 2025, which write what is now a payload without anything around it.
    pub(super) id: Text<'a>,
}

/// What is looked at of a payload, whatever its type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) timestamp: Text<'a>,

    // session_meta, turn_context
    pub(super) cwd: Text<'a>,
    pub(super) git: Object<Git<'a>>,
    pub(super) originator: Text<'a>,
    pub(super) cli_version: Text<'a>,
    /// `cli`, `exec`, `vscode`, …, or an object that names the sub-agent.
    pub(super) source: Keys<'a>,
    pub(super) thread_source: Text<'a>,
    pub(super) forked_from_id: Text<'a>,

    // messages
    pub(super) role: Text<'a>,
    pub(super) content: Content<'a, Part<'a>>,
    #[serde(rename = "internal_chat_message_metadata_passthrough")]
    pub(super) marks: Object<Marks<'a>>,
    pub(super) message: Text<'a>,
    /// Of an older `user_message`: what kind of text it is.
    pub(super) kind: Text<'a>,
    pub(super) item: Object<Item<'a>>,
    /// Of `turn_aborted`.
    pub(super) reason: Text<'a>,
    /// Of `thread_rolled_back`.
    pub(super) num_turns: Number,
    /// Of `undo_completed`.
    pub(super) success: Flag,

    // tools
    pub(super) name: Text<'a>,
    pub(super) arguments: Text<'a>,
    pub(super) input: Text<'a>,
    pub(super) output: Text<'a>,
    pub(super) changes: Keys<'a>,
    pub(super) status: Text<'a>,
    pub(super) call_id: Text<'a>,
    /// Of a command that ended.
    pub(super) exit_code: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Git<'a> {
    #[serde(borrow)]
    pub(super) branch: Text<'a>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
}

/// What each part of a message is, in their order.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Marks<'a> {
    #[serde(borrow)]
    pub(super) content_item_kinds: List<Text<'a>>,
}

/// Of `item_completed`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) content: Content<'a, Part<'a>>,
    pub(super) changes: Keys<'a>,
    pub(super) status: Text<'a>,
    /// Of a command.
    pub(super) exit_code: Number,
}

/// What a command returned, in the form of versions before 2026.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Returned {
    pub(super) metadata: Object<Ended>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ended {
    pub(super) exit_code: Number,
}
