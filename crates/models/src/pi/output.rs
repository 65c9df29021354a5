//! Reading what `pi --mode json` has printed.

use serde_json::{Map, Value};
use skillopt_core::text::{cut, one_line};

use crate::agent_cli::events;
use crate::agent_cli::failure::{Asked, Failure};
use crate::backend::{Finish, RawReply, Usage};
use crate::error::CallError;
use crate::process::Run;

/// What `run` says.
///
/// # Errors
/// Everything that is not a reply of the model.
pub(super) fn read(run: &Run, asked: &Asked<'_>) -> Result<RawReply, CallError> {
    let printed = String::from_utf8_lossy(&run.output);
    let printed = events::objects(&printed);
    let is = |event: &Map<String, Value>, kind: &str| events::text(event, &["type"]) == kind;
    let begun = printed.iter().any(|event| is(event, "agent_start"));
    // One that failed and was tried again comes first.
    let message = printed.iter().rfind(|event| {
        is(event, "message_end") && events::text(event, &["message", "role"]) == "assistant"
    });
    let Some(message) = message else {
        return Err(match run.code {
            Some(0) if begun => asked.changed_format(),
            _ if begun => asked.broke_off(run),
            _ => asked.without_result(run, false),
        });
    };
    let stop = events::text(message, &["message", "stopReason"]);
    let error = events::text(message, &["message", "errorMessage"]);
    if matches!(stop, "error" | "aborted") || !error.is_empty() {
        return Err(asked.failed(&Failure {
            text: error,
            ..Failure::default()
        }));
    }
    if run.code != Some(0) {
        return Err(asked.broke_off(run));
    }
    let (mut text, mut tool) = (String::new(), None);
    let parts = events::at(message, &["message", "content"]).and_then(Value::as_array);
    for part in parts.into_iter().flatten().filter_map(Value::as_object) {
        match events::text(part, &["type"]) {
            "text" => text.push_str(events::text(part, &["text"])),
            "toolCall" => tool = Some(cut(&one_line(events::text(part, &["name"])), 40)),
            _ => {}
        }
    }
    if let Some(tool) = tool {
        return Err(asked.not_alone(&format!("the tool {tool}")));
    }
    if let Some(error) = asked.instead_of_a_reply(&text) {
        return Err(error);
    }
    let count = |name: &str| events::number(message, &["message", "usage", name]);
    // The three kinds of input are disjoint.
    let input = ["input", "cacheRead", "cacheWrite"].map(count);
    Ok(RawReply {
        text,
        usage: Usage {
            input_tokens: input.iter().any(Option::is_some).then(|| {
                input
                    .iter()
                    .flatten()
                    .fold(0, |sum: u64, part| sum.saturating_add(*part))
            }),
            cached_tokens: count("cacheRead"),
            output_tokens: count("output"),
        },
        model: events::text(message, &["message", "model"]).to_owned(),
        finish: match stop {
            "length" => Finish::Length,
            _ => Finish::Done,
        },
        ..RawReply::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_run(code: i32, lines: &[Value]) -> Result<RawReply, CallError> {
        super::read(
            &Run::of_events(code, lines),
            &Asked::example(&crate::pi::ABOUT, "0.74.2", "fake/fake-model"),
        )
    }

    /// Shortened from 0.74.2; `changes` win.
    fn end(changes: &Value) -> Value {
        let mut message = json!({
            "role": "assistant", "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Paris"}],
            "provider": "fake", "model": "fake-model", "stopReason": "stop",
            "usage": {"input": 60, "output": 5, "cacheRead": 40, "cacheWrite": 0, "totalTokens": 105},
        });
        for (name, value) in changes.as_object().unwrap() {
            message[name] = value.clone();
        }
        json!({"type": "message_end", "message": message})
    }

    fn start() -> Vec<Value> {
        vec![
            json!({"type": "session", "version": 3, "id": "01a2", "cwd": "/tmp/x"}),
            json!({"type": "agent_start"}),
            json!({"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": "?"}]}}),
        ]
    }

    #[test]
    fn a_reply_is_the_last_message() {
        let mut lines = start();
        lines.push(end(
            &json!({"stopReason": "error", "errorMessage": "503 Overloaded", "content": []}),
        ));
        lines.push(end(&json!({"stopReason": "length"})));
        let reply = read_run(0, &lines).unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.model.as_str()),
            ("Paris", "fake-model")
        );
        assert_eq!(
            (
                reply.usage.input_tokens,
                reply.usage.cached_tokens,
                reply.usage.output_tokens
            ),
            (Some(100), Some(40), Some(5))
        );
        assert_eq!(reply.finish, Finish::Length);
    }

    #[test]
    fn errors_come_with_exit_code_0() {
        for (changes, code) in [
            (
                json!({"stopReason": "error", "errorMessage": "401 Incorrect API key provided: sk-xxx.", "content": []}),
                "sign_in_needed",
            ),
            (
                json!({"stopReason": "error", "errorMessage": "429 Rate limit reached. Please try again in 20s."}),
                "rate_limited",
            ),
            (
                json!({"stopReason": "error", "errorMessage": "Provider finish_reason: content_filter"}),
                "reply_refused",
            ),
            (
                json!({"stopReason": "error", "errorMessage": "Stream ended without finish_reason"}),
                "model_unavailable",
            ),
            (json!({"content": []}), "reply_unreadable"),
            (
                json!({"content": [{"type": "toolCall", "name": "bash"}]}),
                "backend_misconfigured",
            ),
        ] {
            let mut lines = start();
            lines.push(end(&changes));
            assert_eq!(read_run(0, &lines).unwrap_err().code(), code, "{changes}");
        }
        assert_eq!(
            read_run(0, &start()).unwrap_err().code(),
            "backend_misconfigured"
        );
        assert_eq!(
            read_run(1, &start()).unwrap_err().code(),
            "model_unavailable"
        );
    }
}
