//! What is looked at of chats and their messages.

use serde::Deserialize;

use crate::lenient::{Content, Flag, Moment, Number, Object, Text, TextOr, parse};

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
    /// How far its last answer is: `completed`, `aborted`, `generating`, …
    pub(super) status: Text<'a>,
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
    pub(super) params: TextOr<'a, Arguments<'a>>,
    /// What it returned, as JSON in a string.
    pub(super) result: TextOr<'a, Returned>,
    /// What became of it, where `status` only says that it is over.
    pub(super) additional_data: Object<Additional<'a>>,
    pub(super) error: Object<Failure<'a>>,
}

/// What a tool returned, as far as it is looked at.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Returned {
    rejected: Flag,
    /// Of a command.
    exit_code: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Additional<'a> {
    #[serde(borrow)]
    status: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    client_visible_error_message: Text<'a>,
}

/// What tools are called with: where they name the file they write, each tool with its own word for
/// it, and the command that is run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arguments<'a> {
    #[serde(borrow)]
    target_file: Text<'a>,
    file_path: Text<'a>,
    path: Text<'a>,
    #[serde(rename = "relativeWorkspacePath")]
    relative: Text<'a>,
    command: Text<'a>,
}

/// How the error of an edit begins that the person refused.
const EDIT_REJECTED: &str = "Edit rejected";

impl Tool<'_> {
    /// The file the call is about; empty when it names none.
    pub(super) fn file(&self) -> String {
        self.named(|arguments| {
            [
                &arguments.target_file,
                &arguments.file_path,
                &arguments.path,
                &arguments.relative,
            ]
            .into_iter()
            .find(|name| !name.is_empty())
            .map(ToString::to_string)
        })
    }

    /// The command it runs; empty when it runs none.
    pub(super) fn command(&self) -> String {
        self.named(|arguments| Some(arguments.command.to_string()).filter(|it| !it.is_empty()))
    }

    /// What the arguments name, in whichever form they do.
    fn named(&self, find: impl Fn(&Arguments<'_>) -> Option<String>) -> String {
        let parsed = |arguments: &str| {
            let mut spare = Vec::new();
            let (arguments, _) = parse::<Arguments<'_>>(arguments.as_bytes(), &mut spare).ok()?;
            find(&arguments)
        };
        parsed(&self.raw_args)
            .or_else(|| self.params.object.as_ref().and_then(&find))
            .or_else(|| parsed(&self.params.text))
            .unwrap_or_default()
    }

    /// What it returned, as far as that can be read.
    fn returned(&self) -> Returned {
        self.result.object.unwrap_or_else(|| {
            let mut spare = Vec::new();
            parse(self.result.text.as_bytes(), &mut spare)
                .map(|(returned, _)| returned)
                .unwrap_or_default()
        })
    }

    /// Whether the person did not let it be done. Each tool says so in its own way, some of them
    /// beside the status `completed`.
    pub(super) fn is_rejected(&self) -> bool {
        let additional = self.additional_data.0.as_ref();
        let failure = self.error.0.as_ref();
        &*self.user_decision == "rejected"
            || matches!(&*self.status, "rejected" | "skipped")
            || additional.is_some_and(|additional| &*additional.status == "rejected")
            || self.returned().rejected.0
            || failure.is_some_and(|failure| {
                let message = &failure.client_visible_error_message;
                message.starts_with(EDIT_REJECTED)
            })
    }

    /// Whether a command ran and ended well.
    pub(super) fn ended_well(&self) -> bool {
        let code = self.returned().exit_code.0;
        &*self.status == "completed" && !self.is_rejected() && code.is_none_or(|code| code == 0)
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
    pub(super) is_subagent: Flag,
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
