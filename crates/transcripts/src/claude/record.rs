//! The records that are parsed.

use serde::Deserialize;

use crate::lenient::{Content, Flag, Keys, Object, Present, Text};

/// Any record.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) uuid: Text<'a>,
    /// The record this one follows.
    pub(super) parent_uuid: Text<'a>,
    pub(super) timestamp: Text<'a>,
    pub(super) cwd: Text<'a>,
    pub(super) git_branch: Text<'a>,
    pub(super) entrypoint: Text<'a>,
    /// Version of the program.
    pub(super) version: Text<'a>,
    pub(super) is_sidechain: Flag,
    pub(super) is_meta: Flag,
    pub(super) is_compact_summary: Flag,
    pub(super) is_api_error_message: Flag,
    /// Who gave a prompt. Only today's versions write it, and only on prompts.
    pub(super) prompt_source: Text<'a>,
    pub(super) origin: Object<Origin<'a>>,
    /// These three stand only in records of versions that also write `promptSource` on prompts.
    pub(super) row_source: Present,
    pub(super) turn_origin: Present,
    pub(super) turn_position: Present,
    pub(super) interrupted_message_id: Present,
    /// Of a tool's result: who or what denied the call (2.1.205 and later).
    pub(super) tool_denial_kind: Text<'a>,
    /// The session whose request an assistant record answers, on copies.
    pub(super) request_session_id: Text<'a>,
    pub(super) forked_from: Object<ForkedFrom<'a>>,
    pub(super) message: Object<Message<'a>>,
    pub(super) attachment: Object<Queued<'a>>,
    /// `file-history-snapshot`.
    pub(super) snapshot: Object<Snapshot<'a>>,
    /// `file-history-delta`.
    pub(super) tracking_path: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Origin<'a> {
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ForkedFrom<'a> {
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    pub(super) role: Text<'a>,
    pub(super) content: Content<'a, Block<'a>>,
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
    pub(super) input: Object<Input<'a>>,
    /// Of a tool's result: the call.
    pub(super) tool_use_id: Text<'a>,
    pub(super) content: Content<'a, Part<'a>>,
    pub(super) is_error: Flag,
}

/// A part of what a tool returned.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
}

/// What is looked at of a tool's input.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub(super) skill: Text<'a>,
    pub(super) file_path: Text<'a>,
    pub(super) notebook_path: Text<'a>,
    pub(super) command: Text<'a>,
}

/// A `queued_command`: what a person sent while the agent worked, or what a program sent.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Queued<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) prompt: Content<'a, Block<'a>>,
    pub(super) command_mode: Text<'a>,
    pub(super) is_meta: Flag,
    pub(super) origin: Object<Origin<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Snapshot<'a> {
    #[serde(borrow)]
    pub(super) tracked_file_backups: Keys<'a>,
}
