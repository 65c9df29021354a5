//! The events that are parsed.

use serde::Deserialize;

use crate::lenient::{Flag, List, Number, Object, Text};

/// Any event.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub(super) r#type: Text<'a>,
    pub(super) id: Text<'a>,
    pub(super) timestamp: Text<'a>,
    /// The sub-agent whose event it is.
    pub(super) agent_id: Text<'a>,
    pub(super) data: Object<Data<'a>>,
}

/// What is looked at of an event's data, whatever its type.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Data<'a> {
    // session.start, session.resume
    #[serde(borrow)]
    pub(super) session_id: Text<'a>,
    pub(super) copilot_version: Text<'a>,
    pub(super) context: Object<Context<'a>>,
    /// The session that started this one without a person.
    #[serde(rename = "detachedFromSpawningParentSessionId")]
    pub(super) spawned_by: Text<'a>,

    // session.context_changed
    pub(super) cwd: Text<'a>,
    pub(super) branch: Text<'a>,

    // user.message, assistant.message
    pub(super) content: Text<'a>,
    /// Who put the message in; absent when a person did.
    pub(super) source: Text<'a>,
    pub(super) is_autopilot_continuation: Flag,
    pub(super) message_id: Text<'a>,
    pub(super) tool_requests: List<Object<Request<'a>>>,
    /// The call that runs a sub-agent, in versions without `agentId`.
    pub(super) parent_tool_call_id: Text<'a>,

    // tool.execution_complete, session.shutdown
    pub(super) tool_call_id: Text<'a>,
    pub(super) success: Flag,
    /// Of a command, in newer versions.
    pub(super) shell_execution: Object<Shell>,
    pub(super) file_edits: List<Object<FileEdit<'a>>>,
    pub(super) code_changes: Object<CodeChanges<'a>>,

    /// Of a call that failed.
    pub(super) error: Object<Failure<'a>>,

    // permission.completed, tool.execution_complete
    pub(super) result: Object<Outcome<'a>>,

    // session.snapshot_rewind: the first event that was taken back
    pub(super) up_to_event_id: Text<'a>,

    // skill.invoked
    pub(super) name: Text<'a>,
    pub(super) trigger: Text<'a>,

    // abort
    pub(super) reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Context<'a> {
    #[serde(borrow)]
    pub(super) cwd: Text<'a>,
    pub(super) branch: Text<'a>,
}

/// A tool the model calls.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Request<'a> {
    #[serde(borrow)]
    pub(super) tool_call_id: Text<'a>,
    pub(super) name: Text<'a>,
    pub(super) arguments: Object<Arguments<'a>>,
}

/// What is looked at of a tool's arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Arguments<'a> {
    #[serde(borrow)]
    pub(super) command: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FileEdit<'a> {
    #[serde(borrow)]
    pub(super) path: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    pub(super) code: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome<'a> {
    /// What was decided about a permission.
    #[serde(borrow)]
    pub(super) kind: Text<'a>,
    /// What a tool returned.
    pub(super) content: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Shell {
    pub(super) exit_code: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CodeChanges<'a> {
    #[serde(borrow)]
    pub(super) files_modified: List<Text<'a>>,
}
