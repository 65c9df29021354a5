//! The records that are parsed.

use serde::Deserialize;

use crate::lenient::{Content, Flag, Number, Object, Text};

/// Any entry of a session, and its header.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) parent_id: Text<'a>,
    pub(super) timestamp: Text<'a>,
    /// Of the header: the version of the format.
    pub(super) version: Number,
    /// Of the header.
    pub(super) cwd: Text<'a>,
    /// Of the header of a fork: the file of the session it comes from.
    pub(super) parent_session: Text<'a>,
    pub(super) message: Object<Message<'a>>,
    /// Of `context_edit`.
    pub(super) target_id: Text<'a>,
    pub(super) replacement: Object<Message<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    pub(super) content: Content<'a, Block<'a>>,
    /// How the model ended: `stop`, `length`, `toolUse`, `error`, `aborted`.
    pub(super) stop_reason: Text<'a>,

    // Of what a tool returned.
    pub(super) tool_call_id: Text<'a>,
    pub(super) is_error: Flag,
    pub(super) details: Object<Details>,
}

/// What a tool says beside what it returned.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Details {
    /// Of a command.
    pub(super) exit_code: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) text: Text<'a>,
    /// Of a call.
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) arguments: Object<Arguments<'a>>,
}

/// What is looked at of a tool's arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arguments<'a> {
    #[serde(borrow)]
    pub(super) path: Text<'a>,
    pub(super) command: Text<'a>,
}
