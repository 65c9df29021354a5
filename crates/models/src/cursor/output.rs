//! Reading what `cursor-agent --output-format stream-json` has printed.

use serde_json::{Map, Value};

use crate::agent_cli::events;
use crate::agent_cli::failure::{Asked, Failure};
use crate::backend::{Finish, RawReply, Usage};
use crate::error::CallError;
use crate::process::{Line, Run};

/// What a printed line is.
pub(super) fn judge(line: &[u8]) -> Line {
    let is = |kind: &str| line.starts_with(format!("{{\"type\":\"{kind}\"").as_bytes());
    if is("assistant") || is("thinking") {
        // The result has all of it again.
        Line::Piece
    } else if is("result") || is("tool_call") {
        Line::Reply
    } else {
        Line::Before
    }
}

/// What `run` says.
///
/// # Errors
/// Everything that is not a reply of the model.
pub(super) fn read(run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
    let printed = String::from_utf8_lossy(&run.output);
    let printed = events::objects(&printed);
    let is = |event: &Map<String, Value>, kind: &str| events::text(event, &["type"]) == kind;
    let begun = printed.iter().any(|event| is(event, "user"));
    let Some(result) = printed.iter().rfind(|event| is(event, "result")) else {
        return Err(asked.without_result(run, begun));
    };
    let text = events::text(result, &["result"]);
    let failed = result.get("is_error").and_then(Value::as_bool) == Some(true);
    if failed || run.code != Some(0) {
        let complained = String::from_utf8_lossy(&run.diagnostics);
        let said = if failed { text } else { complained.trim() };
        if said.is_empty() {
            return Err(asked.broke_off(run));
        }
        return Err(asked.failed(&Failure {
            text: said,
            ..Failure::default()
        }));
    }
    if printed.iter().any(|event| is(event, "tool_call")) {
        return Err(asked.not_alone("a tool"));
    }
    if !result.get("result").is_some_and(Value::is_string) {
        return Err(asked.changed_format());
    }
    if let Some(error) = asked.instead_of_a_reply(text) {
        return Err(error);
    }
    let model = printed
        .iter()
        .find(|event| is(event, "system"))
        .map(|event| events::text(event, &["model"]));
    Ok(RawReply {
        text: text.to_owned(),
        usage: Usage {
            input_tokens: events::number(result, &["usage", "inputTokens"]),
            cached_tokens: None,
            output_tokens: events::number(result, &["usage", "outputTokens"]),
        },
        model: model.unwrap_or_default().to_owned(),
        finish: Finish::Done,
        ..RawReply::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_run(code: i32, lines: &[Value], complaint: &str) -> Result<RawReply, CallError> {
        super::read(
            &Run {
                diagnostics: complaint.into(),
                ..Run::of_events(code, lines)
            },
            &Asked::example(&crate::cursor::ABOUT, "2025.09.18-7ae6800", ""),
        )
    }

    // Shapes as its documentation gives them.
    fn init() -> Value {
        json!({"type": "system", "subtype": "init", "apiKeySource": "login", "cwd": "/tmp/x",
            "session_id": "c6b6", "model": "Auto", "permissionMode": "default"})
    }

    fn result(text: &str, is_error: bool) -> Value {
        json!({"type": "result", "subtype": "success", "is_error": is_error, "duration_ms": 1234,
            "result": text, "session_id": "c6b6", "request_id": "10e1"})
    }

    #[test]
    fn a_reply() {
        let reply = read_run(0, &[init(), result("Paris", false)], "").unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.model.as_str()),
            ("Paris", "Auto")
        );
    }

    #[test]
    fn what_is_no_reply() {
        let tool =
            json!({"type": "tool_call", "subtype": "started", "call_id": "t", "tool_call": {}});
        for (code, lines, complaint, expected) in [
            (
                1,
                vec![],
                "Error: Authentication required. Please run 'cursor-agent login' first, or set CURSOR_API_KEY",
                "sign_in_needed",
            ),
            (
                0,
                vec![
                    init(),
                    result(
                        "You've hit your usage limit · resets Dec 2, 6:25pm (UTC)",
                        true,
                    ),
                ],
                "",
                "quota_exhausted",
            ),
            (
                0,
                vec![init(), result("You've hit your usage limit", false)],
                "",
                "quota_exhausted",
            ),
            (
                1,
                vec![init(), result("", true)],
                "Segmentation fault",
                "model_unavailable",
            ),
            (
                0,
                vec![init(), tool, result("Paris", false)],
                "",
                "backend_misconfigured",
            ),
            (0, vec![init(), result("", false)], "", "reply_unreadable"),
            (
                0,
                vec![
                    init(),
                    json!({"type": "result", "result": {"text": "Paris"}}),
                ],
                "",
                "backend_misconfigured",
            ),
            (
                1,
                vec![],
                "error: unknown option '--mode'",
                "backend_misconfigured",
            ),
            (
                1,
                vec![],
                "Cannot use this model: gpt-9. Available models: auto",
                "backend_misconfigured",
            ),
        ] {
            assert_eq!(
                read_run(code, &lines, complaint).unwrap_err().code(),
                expected,
                "{lines:?} {complaint}"
            );
        }
    }

    #[test]
    fn pieces_are_not_kept() {
        assert_eq!(judge(br#"{"type":"assistant","message":{}}"#), Line::Piece);
        assert_eq!(judge(br#"{"type":"result"}"#), Line::Reply);
        assert_eq!(judge(br#"{"type":"system"}"#), Line::Before);
    }
}
