//! What an event is, as far as its type tells.

use memchr::memmem;

use crate::head::{Cursor, Value};
use crate::reason::Reason;

/// What to do with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head<'a> {
    /// It is needed, or its beginning does not tell.
    Parse,
    /// It is not needed.
    Skip(Reason),
    /// Its type is not known.
    Unknown(&'a [u8]),
}

/// Looks at the beginning of a line.
pub(super) fn beginning(line: &[u8]) -> Head<'_> {
    kind(line).map_or(Head::Parse, of_type)
}

/// Looks at a whole line.
pub(super) fn head(line: &[u8]) -> Head<'_> {
    match kind(line) {
        // What a tool returned is needed only where it says which files it wrote, or that the
        // person refused it.
        Some(b"tool.execution_complete")
            if memmem::find(line, b"\"fileEdits\"").is_none()
                && memmem::find(line, b"\"rejected\"").is_none() =>
        {
            Head::Skip(Reason::ToolResult)
        }
        Some(name) => of_type(name),
        None => Head::Parse,
    }
}

fn kind(line: &[u8]) -> Option<&[u8]> {
    let mut cursor = Cursor::object(line)?;
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"type", Value::Text(name)) => return Some(name),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

/// What an event of this type is. The names are those of the agent's published event schema of
/// August 2026, and those of 1.0.102.
pub(super) fn of_type(name: &[u8]) -> Head<'_> {
    match name {
        b"session.start"
        | b"session.resume"
        | b"session.context_changed"
        | b"session.shutdown"
        | b"user.message"
        | b"assistant.message"
        | b"tool.execution_complete"
        | b"permission.completed"
        | b"session.snapshot_rewind"
        | b"skill.invoked"
        | b"abort" => Head::Parse,
        b"system.message" | b"system.notification" | b"skill.context_delivered_ref" => {
            Head::Skip(Reason::Context)
        }
        b"session.error" | b"session.warning" | b"model.call_failure" => {
            Head::Skip(Reason::ApiError)
        }
        b"session.compaction_start" | b"session.compaction_complete" | b"session.truncation" => {
            Head::Skip(Reason::Compaction)
        }
        b"command.queued" | b"command.execute" | b"command.completed" => {
            Head::Skip(Reason::SlashCommand)
        }
        b"tool.user_requested" => Head::Skip(Reason::LocalCommand),
        b"external_tool.completed" => Head::Skip(Reason::ToolResult),
        _ if is_bookkeeping(name) => Head::Skip(Reason::Bookkeeping),
        _ => Head::Unknown(name),
    }
}

/// State of the program, tools at work, what other programs and sub-agents do, and questions that
/// are asked beside the conversation.
fn is_bookkeeping(name: &[u8]) -> bool {
    const FAMILIES: [&[u8]; 20] = [
        b"auto_mode_switch.",
        b"capabilities.",
        b"commands.",
        b"elicitation.",
        b"exit_plan_mode.",
        b"external_tool.",
        b"factory.",
        b"hook.",
        b"mcp.",
        b"mcp_app.",
        b"pending_messages.",
        b"permission.",
        b"sampling.",
        b"session.canvas.",
        b"session_limits_exhausted.",
        b"subagent.",
        b"tool.",
        b"tool_search.",
        b"ui.",
        b"user_input.",
    ];
    const NAMES: [&[u8]; 46] = [
        b"assistant.idle",
        b"assistant.intent",
        b"assistant.message_delta",
        b"assistant.message_start",
        b"assistant.reasoning",
        b"assistant.reasoning_delta",
        b"assistant.server_tool_progress",
        b"assistant.streaming_delta",
        b"assistant.tool_call_delta",
        b"assistant.turn_end",
        b"assistant.turn_start",
        b"assistant.usage",
        b"session.auto_mode_resolved",
        b"session.autopilot_objective_changed",
        b"session.background_tasks_changed",
        b"session.binary_asset",
        b"session.context_cleared",
        b"session.custom_agents_updated",
        b"session.custom_notification",
        b"session.extensions.attachments_pushed",
        b"session.extensions_loaded",
        b"session.handoff",
        b"session.idle",
        b"session.info",
        b"session.managed_settings_enforced",
        b"session.managed_settings_resolved",
        b"session.mcp_server_status_changed",
        b"session.mcp_servers_loaded",
        b"session.mode_changed",
        b"session.model_change",
        b"session.permissions_changed",
        b"session.plan_changed",
        b"session.remote_steerable_changed",
        b"session.schedule_cancelled",
        b"session.schedule_created",
        b"session.schedule_rearmed",
        b"session.session_limits_changed",
        b"session.skills_loaded",
        b"session.task_complete",
        b"session.title_changed",
        b"session.todos_changed",
        b"session.tools_updated",
        b"session.usage_checkpoint",
        b"session.usage_info",
        b"session.usage_record",
        b"session.workspace_file_changed",
    ];
    NAMES.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_decides() {
        for (line, expected) in [
            (r#"{"type":"user.message","data":{"#, Head::Parse),
            (
                r#"{"type":"system.message","data":{"#,
                Head::Skip(Reason::Context),
            ),
            (
                r#"{"type":"session.usage_record","data":{"#,
                Head::Skip(Reason::Bookkeeping),
            ),
            (
                r#"{"type":"assistant.turn_start","data":{"#,
                Head::Skip(Reason::Bookkeeping),
            ),
            (
                r#"{"type":"subagent.started","data":{"#,
                Head::Skip(Reason::Bookkeeping),
            ),
            (
                r#"{"type":"tool.execution_complete","data":{"success":true}}"#,
                Head::Skip(Reason::ToolResult),
            ),
            (
                r#"{"type":"tool.execution_complete","data":{"fileEdits":[]}}"#,
                Head::Parse,
            ),
            (
                r#"{"type":"tool.execution_complete","data":{"error":{"code":"rejected"}}}"#,
                Head::Parse,
            ),
            (
                r#"{"type":"tool.execution_start","data":{"#,
                Head::Skip(Reason::Bookkeeping),
            ),
            (
                r#"{"type":"session.dream","data":{"#,
                Head::Unknown(b"session.dream"),
            ),
            (r#"{"data":{"type":"user.message"}}"#, Head::Parse),
        ] {
            assert_eq!(head(line.as_bytes()), expected, "{line}");
        }
        // At the beginning of a long line it is not known yet whether files were written.
        assert_eq!(
            beginning(br#"{"type":"tool.execution_complete","data":{"#),
            Head::Parse
        );
    }
}
