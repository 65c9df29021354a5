//! The records that are parsed.

use serde::Deserialize;

use crate::lenient::{Content, Object, Text};

/// Any record.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    /// Of `turn_ended`.
    pub(super) status: Text<'a>,
    pub(super) role: Text<'a>,
    pub(super) message: Object<Message<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) role: Text<'a>,
    pub(super) content: Content<'a, Block<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) text: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) input: Object<Input<'a>>,
}

/// What is looked at of a tool's input.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input<'a> {
    #[serde(borrow)]
    pub(super) path: Text<'a>,
    pub(super) command: Text<'a>,
}
