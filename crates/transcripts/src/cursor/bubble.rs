//! What is looked at of chats and their messages.

use serde::Deserialize;

use crate::lenient::{Content, Moment, Number, Object, Text, parse};

/// A chat. Older versions keep its messages in it, newer ones only their ids.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Chat<'a> {
    /// The version of its format.
    #[serde(rename = "_v")]
    pub(super) format: Number,
    pub(super) created_at: Moment,
    #[serde(borrow)]
    pub(super) conversation: Content<'a, Bubble<'a>>,
    #[serde(rename = "fullConversationHeadersOnly")]
    pub(super) headers: Content<'a, Header<'a>>,
    /// The message to whose checkpoint the person went back, until the chat goes on from there and
    /// the messages behind it are removed.
    pub(super) current_bubble_id: Text<'a>,
}

/// Where a message of a chat is.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Header<'a> {
    #[serde(borrow)]
    pub(super) bubble_id: Text<'a>,
}

/// A message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Bubble<'a> {
    #[serde(borrow)]
    pub(super) bubble_id: Text<'a>,
    /// 1 for the person, 2 for the agent.
    pub(super) r#type: Number,
    pub(super) text: Text<'a>,
    pub(super) created_at: Moment,
    #[serde(rename = "toolFormerData")]
    pub(super) tool: Object<Tool<'a>>,
}

/// A tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tool<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) status: Text<'a>,
    /// `accepted` or `rejected`, where the person was asked.
    pub(super) user_decision: Text<'a>,
    /// What it was called with, as JSON in a string.
    pub(super) raw_args: Text<'a>,
    /// The same in the editor's own words.
    pub(super) params: Text<'a>,
}

/// Where tools name the file they write; each tool has its own word for it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Target<'a> {
    #[serde(borrow)]
    target_file: Text<'a>,
    file_path: Text<'a>,
    path: Text<'a>,
    #[serde(rename = "relativeWorkspacePath")]
    relative: Text<'a>,
}

impl Tool<'_> {
    /// The file the call is about; empty when it names none.
    pub(super) fn file(&self) -> String {
        for arguments in [&self.raw_args, &self.params] {
            let mut spare = Vec::new();
            let Ok((target, _)) = parse::<Target<'_>>(arguments.as_bytes(), &mut spare) else {
                continue;
            };
            let names = [
                &target.target_file,
                &target.file_path,
                &target.path,
                &target.relative,
            ];
            if let Some(name) = names.into_iter().find(|name| !name.is_empty()) {
                return name.to_string();
            }
        }
        String::new()
    }
}

/// A list of chats, as the editor keeps it in several places.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ChatList<'a> {
    #[serde(borrow)]
    pub(super) all_composers: Content<'a, Listed<'a>>,
}

/// A chat in such a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Listed<'a> {
    #[serde(borrow)]
    pub(super) composer_id: Text<'a>,
    pub(super) is_subagent: crate::lenient::Flag,
    pub(super) workspace_identifier: Object<Workspace<'a>>,
}

/// The workspace of a chat.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Workspace<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    pub(super) uri: Object<Folder<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Folder<'a> {
    /// `file`, or a way to another machine.
    #[serde(borrow)]
    pub(super) scheme: Text<'a>,
    #[serde(rename = "fsPath")]
    pub(super) path: Text<'a>,
}

/// `workspace.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WorkspaceFile<'a> {
    #[serde(borrow)]
    pub(super) folder: Text<'a>,
}
