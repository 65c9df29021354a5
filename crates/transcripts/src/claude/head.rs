//! What a line is, as far as its first keys tell.

use crate::head::{Cursor, Value};
use crate::reason::Reason;

/// What to do with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Head<'a> {
    /// It is needed, or its beginning does not tell.
    Parse,
    /// It is not needed.
    Skip(Reason),
    /// Its type, or the type of its attachment, is not known.
    Unknown {
        /// It is an attachment.
        attachment: bool,
        name: &'a [u8],
    },
}

/// Looks at the beginning of a line, or at a whole one.
pub(super) fn head(line: &[u8]) -> Head<'_> {
    look(line).unwrap_or(Head::Parse)
}

fn look(line: &[u8]) -> Option<Head<'_>> {
    let mut cursor = Cursor::object(line)?;
    let mut user = false;
    loop {
        let key = cursor.key()?;
        let value = cursor.value()?;
        match (key, value) {
            (b"type", Value::Text(b"user")) => user = true,
            (b"type", Value::Text(b"attachment")) => {}
            (b"type", Value::Text(name)) => return Some(of_type(name)),
            (b"isSidechain", Value::Scalar(b"true")) => return Some(Head::Skip(Reason::Sidechain)),
            (b"attachment", Value::Object) => return attachment(cursor),
            (b"message", Value::Object) if user => return message(cursor),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

/// What a record of this type is. The names are those of versions 1.0 to 2.1.332.
pub(super) fn of_type(name: &[u8]) -> Head<'_> {
    match name {
        b"user"
        | b"assistant"
        | b"attachment"
        | b"file-history-snapshot"
        | b"file-history-delta" => Head::Parse,
        b"api-request" | b"api-request-shape" | b"api-request-blob" => {
            Head::Skip(Reason::RequestCopy)
        }
        b"summary" => Head::Skip(Reason::Compaction),
        b"system"
        | b"queue-operation"
        | b"last-prompt"
        | b"mode"
        | b"permission-mode"
        | b"tools-used"
        | b"cost-state"
        | b"atis-latch"
        | b"progress"
        | b"custom-title"
        | b"ai-title"
        | b"agent-name"
        | b"agent-color"
        | b"agent-setting"
        | b"tag"
        | b"pr-link"
        | b"bridge-session"
        | b"task-summary"
        | b"worktree-state"
        | b"content-replacement"
        | b"attribution-snapshot"
        | b"speculation-accept"
        | b"started"
        | b"result" => Head::Skip(Reason::Bookkeeping),
        _ => Head::Unknown {
            attachment: false,
            name,
        },
    }
}

fn attachment(mut cursor: Cursor<'_>) -> Option<Head<'_>> {
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"type", Value::Text(name)) => return Some(of_attachment(name)),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

/// What an attachment of this type is.
pub(super) fn of_attachment(name: &[u8]) -> Head<'_> {
    match name {
        b"queued_command" => Head::Parse,
        b"agent_listing_delta"
        | b"agent_mention"
        | b"already_read_file"
        | b"async_hook_response"
        | b"auto_mode"
        | b"command_permissions"
        | b"compact_file_reference"
        | b"compaction_reminder"
        | b"context_sections"
        | b"critical_system_reminder"
        | b"date"
        | b"date_change"
        | b"deferred_tools_delta"
        | b"diagnostics"
        | b"directory"
        | b"dynamic_skill"
        | b"edited_image_file"
        | b"edited_text_file"
        | b"environment"
        | b"file"
        | b"hook_additional_context"
        | b"hook_blocking_error"
        | b"hook_cancelled"
        | b"hook_error_during_execution"
        | b"hook_non_blocking_error"
        | b"hook_permission_decision"
        | b"hook_stopped_continuation"
        | b"hook_success"
        | b"hook_system_message"
        | b"image"
        | b"instructions"
        | b"invoked_skills"
        | b"max_turns_reached"
        | b"mcp_instructions_delta"
        | b"mcp_resource"
        | b"model"
        | b"nested_memory"
        | b"new_diagnostics"
        | b"opened_file_in_ide"
        | b"output_style"
        | b"pdf_reference"
        | b"plan_file_reference"
        | b"plan_mode"
        | b"plan_mode_exit"
        | b"plan_mode_reentry"
        | b"prompt_snapshot"
        | b"relevant_memories"
        | b"remote_session_change"
        | b"selected_lines_in_ide"
        | b"session_context"
        | b"skill_discovery"
        | b"skill_listing"
        | b"structured_output"
        | b"task_reminder"
        | b"task_status"
        | b"team_context"
        | b"teammate_mailbox"
        | b"teammate_shutdown_batch"
        | b"thinking_frequency"
        | b"todo"
        | b"todo_reminder"
        | b"token_usage"
        | b"total_tokens_reminder"
        | b"ultrathink_effort"
        | b"verify_plan_reminder" => Head::Skip(Reason::Context),
        _ => Head::Unknown {
            attachment: true,
            name,
        },
    }
}

/// A user record whose first block is the result of a tool is nothing else.
fn message(mut cursor: Cursor<'_>) -> Option<Head<'_>> {
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"content", Value::Array) => break,
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
    let Value::Object = cursor.value()? else {
        return None;
    };
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"type", Value::Text(b"tool_result")) => return Some(Head::Skip(Reason::ToolResult)),
            (b"type", _) => return None,
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_keys_decide() {
        for (line, expected) in [
            (
                r#"{"type":"api-request-blob","message":{"role":"user","content":"x"}}"#,
                Head::Skip(Reason::RequestCopy),
            ),
            (
                r#"{"parentUuid":null,"isSidechain":false,"attachment":{"type":"prompt_snapshot","#,
                Head::Skip(Reason::Context),
            ),
            (
                r#"{"parentUuid":null,"attachment":{"type":"queued_command","#,
                Head::Parse,
            ),
            (
                r#"{"isSidechain":true,"type":"user""#,
                Head::Skip(Reason::Sidechain),
            ),
            (
                r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result""#,
                Head::Skip(Reason::ToolResult),
            ),
            (
                r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"tool_result""#,
                Head::Parse,
            ),
            (
                r#"{"type":"user","message":{"role":"user","content":"\"type\":\"tool_result\"""#,
                Head::Parse,
            ),
            (
                r#"{"message":{"role":"user","content":[{"type":"tool_result""#,
                Head::Parse,
            ),
            (
                r#"{"toolUseResult":{"type":"api-request-blob"},"type":"user"}"#,
                Head::Parse,
            ),
            (r#"{"type":"api-reque"#, Head::Parse),
            (
                r#"{"type":"telepathy","x":1}"#,
                Head::Unknown {
                    attachment: false,
                    name: b"telepathy",
                },
            ),
            (
                r#"{"attachment":{"id":1,"type":"mood"}}"#,
                Head::Unknown {
                    attachment: true,
                    name: b"mood",
                },
            ),
            ("[1]", Head::Parse),
            ("", Head::Parse),
        ] {
            assert_eq!(head(line.as_bytes()), expected, "{line}");
        }
    }
}
