//! What is looked at of messages and their parts.

use serde::Deserialize;

use crate::lenient::{Flag, Number, Object, Present, Text};

/// A message. In a database its id and session are columns and stand beside it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    pub(super) role: Text<'a>,
    pub(super) time: Object<Times>,
    /// `compaction` where the answer is a summary.
    pub(super) mode: Text<'a>,
    pub(super) agent: Text<'a>,
    pub(super) path: Object<Folder<'a>>,
    pub(super) error: Object<Failure<'a>>,
}

impl Message<'_> {
    /// Its times, none if it does not say.
    pub(super) fn times(&self) -> Times {
        self.time.0.unwrap_or_default()
    }

    /// The folder it was written in.
    pub(super) fn folder(&self) -> &str {
        self.path.0.as_ref().map_or("", |path| &*path.cwd)
    }
}

/// Moments in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct Times {
    pub(super) created: Number,
    pub(super) completed: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Folder<'a> {
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) text: Text<'a>,
    /// The program wrote it.
    pub(super) synthetic: Flag,
    /// The model is not shown it.
    pub(super) ignored: Flag,
    pub(super) tool: Text<'a>,
    pub(super) state: Object<ToolState<'a>>,
    /// Of older versions.
    #[serde(rename = "toolInvocation")]
    pub(super) invocation: Object<Invocation<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolState<'a> {
    #[serde(borrow)]
    pub(super) status: Text<'a>,
    pub(super) input: Object<Input<'a>>,
    /// Why it failed.
    pub(super) error: Text<'a>,
    pub(super) metadata: Object<Ended>,
}

/// How a command ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ended {
    pub(super) exit: Number,
}

/// What tools are called with, as far as it is looked at.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Input<'a> {
    /// Of `write`, `edit`, `multiedit`.
    #[serde(borrow)]
    pub(super) file_path: Text<'a>,
    /// Of `apply_patch`.
    pub(super) patch_text: Text<'a>,
    /// Of `skill`.
    pub(super) name: Text<'a>,
    /// Of `bash`.
    pub(super) command: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Invocation<'a> {
    #[serde(borrow)]
    pub(super) tool_name: Text<'a>,
}

/// A session as a file of versions before 1.2.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Session<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    pub(super) directory: Text<'a>,
    /// Version of the program that began it.
    pub(super) version: Text<'a>,
    #[serde(rename = "parentID")]
    pub(super) parent: Present,
    pub(super) time: Object<Times>,
    pub(super) revert: Object<Revert<'a>>,
}

/// What other programs may note on a session of a database.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    #[serde(borrow)]
    pub(super) git_branch: Text<'a>,
}

/// Where a conversation was taken back to, until it goes on and what was taken back is removed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Revert<'a> {
    /// The first message that was taken back.
    #[serde(borrow, rename = "messageID")]
    pub(super) message: Text<'a>,
}
