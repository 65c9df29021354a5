//! The messages that are parsed.

use serde::Deserialize;

use crate::lenient::{Flag, List, Moment, Number, Object, Text, TextOr};

/// What a node of the conversation says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) message_id: Text<'a>,
    pub(super) role: Text<'a>,
    pub(super) content: Text<'a>,
    pub(super) tool_calls: List<Object<Call<'a>>>,
    /// Of a result: the call.
    pub(super) tool_call_id: Text<'a>,
    pub(super) metadata: Object<Metadata<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata<'a> {
    /// A person typed it. It is said of messages in the person's place.
    pub(super) is_user_input: Flag,
    pub(super) created_at: Moment,
    #[serde(borrow)]
    pub(super) extensions: Object<Extensions<'a>>,
}

/// What stands beside the result of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Extensions<'a> {
    #[serde(borrow, rename = "chisel/tool_result_meta")]
    pub(super) result: Object<Outcome<'a>>,
    #[serde(rename = "chisel/terminal_output")]
    pub(super) terminal: Object<Terminal>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome<'a> {
    pub(super) success: Flag,
    /// Why there was no success: `Rejected` by the person, `Blocked` by a rule, …
    #[serde(borrow)]
    pub(super) failure_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Terminal {
    pub(super) exit: Object<Exit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Exit {
    pub(super) exit_code: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    pub(super) name: Text<'a>,
    /// An object, or the JSON of one in a string.
    pub(super) arguments: TextOr<'a, Arguments<'a>>,
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
