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
    /// Its type is not known.
    Unknown {
        /// `response_item`, `event_msg`, or empty.
        family: &'static str,
        name: &'a [u8],
    },
}

/// Looks at the beginning of a line, or at a whole one.
pub(super) fn head(line: &[u8]) -> Head<'_> {
    look(line).unwrap_or(Head::Parse)
}

fn look(line: &[u8]) -> Option<Head<'_>> {
    let mut cursor = Cursor::object(line)?;
    let mut family = None;
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"type", Value::Text(b"response_item")) => family = Some("response_item"),
            (b"type", Value::Text(b"event_msg")) => family = Some("event_msg"),
            (b"type", Value::Text(name)) => return Some(of_type(name)),
            (b"payload", Value::Object) => return payload(cursor, family?),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

/// What a record of this type is. The names are those of versions 0.2 to 0.171.
pub(super) fn of_type(name: &[u8]) -> Head<'_> {
    match name {
        b"session_meta" | b"turn_context" => Head::Parse,
        // A payload without anything around it, as versions before September 2025 wrote them.
        b"message" => Head::Parse,
        _ if name.ends_with(b"_call") => Head::Parse,
        b"reasoning" => Head::Skip(Reason::Bookkeeping),
        _ if name.ends_with(b"_call_output") => Head::Skip(Reason::ToolResult),
        // It carries the whole history that it replaces.
        b"compacted" => Head::Skip(Reason::Compaction),
        b"world_state" => Head::Skip(Reason::Context),
        b"token_usage_record" => Head::Skip(Reason::Bookkeeping),
        _ => Head::Unknown { family: "", name },
    }
}

fn payload<'a>(mut cursor: Cursor<'a>, family: &'static str) -> Option<Head<'a>> {
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"type", Value::Text(b"message")) if family == "response_item" => {
                return message(cursor);
            }
            (b"type", Value::Text(b"item_completed")) if family == "event_msg" => {
                return item(cursor);
            }
            (b"type", Value::Text(name)) => return Some(of_payload(family, name)),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

/// What a payload of this type is.
pub(super) fn of_payload<'a>(family: &'static str, name: &'a [u8]) -> Head<'a> {
    if family == "event_msg" {
        return of_event(name);
    }
    match name {
        b"message" => Head::Parse,
        b"reasoning" | b"ghost_snapshot" => Head::Skip(Reason::Bookkeeping),
        b"compaction" | b"compaction_summary" | b"context_compaction" => {
            Head::Skip(Reason::Compaction)
        }
        _ if name.ends_with(b"_call") => Head::Parse,
        _ if name.ends_with(b"_output") => Head::Skip(Reason::ToolResult),
        _ => Head::Unknown { family, name },
    }
}

fn of_event(name: &[u8]) -> Head<'_> {
    match name {
        b"user_message"
        | b"agent_message"
        | b"turn_aborted"
        | b"thread_rolled_back"
        | b"undo_completed"
        | b"item_completed"
        | b"exec_command_end"
        | b"patch_apply_begin"
        | b"patch_apply_end" => Head::Parse,
        b"context_compacted" => Head::Skip(Reason::Compaction),
        b"error" | b"stream_error" => Head::Skip(Reason::ApiError),
        // What the tool returned stands in a response item as well.
        b"mcp_tool_call_end"
        | b"web_search_end"
        | b"image_generation_end"
        | b"view_image_tool_call"
        | b"dynamic_tool_call_response" => Head::Skip(Reason::OtherForm),
        b"agent_reasoning"
        | b"agent_reasoning_raw_content"
        | b"agent_reasoning_section_break"
        | b"background_event"
        | b"deprecation_notice"
        | b"dynamic_tool_call_request"
        | b"entered_review_mode"
        | b"exec_command_begin"
        | b"exec_command_output_delta"
        | b"exited_review_mode"
        | b"guardian_assessment"
        | b"hook_completed"
        | b"hook_started"
        | b"image_generation_begin"
        | b"item_started"
        | b"mcp_tool_call_begin"
        | b"model_reroute"
        | b"plan_update"
        | b"session_configured"
        | b"shutdown_complete"
        | b"task_complete"
        | b"task_started"
        | b"thread_name_updated"
        | b"thread_settings_applied"
        | b"token_count"
        | b"turn_complete"
        | b"turn_diff"
        | b"turn_started"
        | b"undo_started"
        | b"warning"
        | b"web_search_begin" => Head::Skip(Reason::Bookkeeping),
        _ => Head::Unknown {
            family: "event_msg",
            name,
        },
    }
}

/// Only a person's and the agent's messages are needed; the program's own stand beside them.
fn message(mut cursor: Cursor<'_>) -> Option<Head<'_>> {
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"role", Value::Text(b"developer" | b"system")) => {
                return Some(Head::Skip(Reason::Context));
            }
            (b"role", _) => return Some(Head::Parse),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

fn item(mut cursor: Cursor<'_>) -> Option<Head<'_>> {
    let mut inside = false;
    loop {
        let key = cursor.key()?;
        match (key, cursor.value()?) {
            (b"item", Value::Object) if !inside => inside = true,
            (b"type", Value::Text(name)) if inside => return Some(of_item(name)),
            (_, Value::Text(_) | Value::Scalar(_)) => {}
            (_, Value::Object | Value::Array) => return None,
        }
    }
}

/// What a completed item of this type is.
pub(super) fn of_item(name: &[u8]) -> Head<'_> {
    match name {
        b"UserMessage" | b"AgentMessage" | b"FileChange" => Head::Parse,
        b"CommandExecution"
        | b"McpToolCall"
        | b"DynamicToolCall"
        | b"WebSearch"
        | b"ImageView"
        | b"ImageGeneration"
        | b"CollabAgentToolCall" => Head::Skip(Reason::OtherForm),
        b"ContextCompaction" => Head::Skip(Reason::Compaction),
        b"HookPrompt" => Head::Skip(Reason::MachinePrompt),
        b"Plan" | b"Reasoning" | b"EnteredReviewMode" | b"ExitedReviewMode"
        | b"SubAgentActivity" => Head::Skip(Reason::Bookkeeping),
        _ => Head::Unknown {
            family: "item",
            name,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_keys_decide() {
        for (line, expected) in [
            (
                r#"{"timestamp":"x","ordinal":3,"type":"compacted","payload":{"#,
                Head::Skip(Reason::Compaction),
            ),
            (
                r#"{"timestamp":"x","type":"session_meta","payload":{"#,
                Head::Parse,
            ),
            (
                r#"{"type":"response_item","payload":{"type":"message","id":"m","role":"developer","#,
                Head::Skip(Reason::Context),
            ),
            (
                r#"{"type":"response_item","payload":{"type":"message","status":"completed","role":"assistant""#,
                Head::Parse,
            ),
            (
                r#"{"type":"response_item","payload":{"type":"function_call_output","output":"#,
                Head::Skip(Reason::ToolResult),
            ),
            (
                r#"{"type":"response_item","payload":{"type":"custom_tool_call","#,
                Head::Parse,
            ),
            (
                r#"{"type":"event_msg","payload":{"type":"item_completed","thread_id":"t","turn_id":"u","item":{"type":"CommandExecution","#,
                Head::Skip(Reason::OtherForm),
            ),
            (
                r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"id":1,"type":"UserMessage","#,
                Head::Parse,
            ),
            (
                r#"{"type":"event_msg","payload":{"type":"token_count""#,
                Head::Skip(Reason::Bookkeeping),
            ),
            (
                r#"{"type":"event_msg","payload":{"type":"dream""#,
                Head::Unknown {
                    family: "event_msg",
                    name: b"dream",
                },
            ),
            (
                r#"{"type":"dream","payload":{}"#,
                Head::Unknown {
                    family: "",
                    name: b"dream",
                },
            ),
            (r#"{"payload":{"type":"message""#, Head::Parse),
            (r#"{"type":"event_msg","payload":[1]}"#, Head::Parse),
        ] {
            assert_eq!(head(line.as_bytes()), expected, "{line}");
        }
    }
}
