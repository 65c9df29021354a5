//! The messages that are parsed.

use serde::Deserialize;

use crate::lenient::{Flag, List, Moment, Object, Text};

/// What a node of the conversation says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) message_id: Text<'a>,
    pub(super) role: Text<'a>,
    pub(super) content: Text<'a>,
    pub(super) tool_calls: List<Object<Call<'a>>>,
    pub(super) metadata: Object<Metadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    /// A person typed it. It is said of messages in the person's place.
    pub(super) is_user_input: Flag,
    pub(super) created_at: Moment,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) arguments: Object<Arguments<'a>>,
}

/// What is looked at of a tool's arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arguments<'a> {
    #[serde(borrow)]
    pub(super) path: Text<'a>,
    pub(super) file_path: Text<'a>,
    pub(super) command: Text<'a>,
}
