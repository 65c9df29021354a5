//! Anthropic's Messages: requests and replies.

use serde_json::{Map, Value, json};
use skillopt_core::call::{Call, Role};

use super::answer::{Answer, End, push_text};
use super::dialect::{Dialect, Structure};
use super::manner::Manner;
use super::protocol::Protocol;
use super::tools;
use crate::backend::Usage;

/// The request for `call`, as far as the server is known to understand it.
pub(super) fn request(call: &Call, dialect: &Dialect, manner: &Manner) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), call.backend.model.clone().into());
    body.insert("max_tokens".into(), call.params.max_tokens.into());
    let standing: Vec<&str> = call
        .messages
        .iter()
        .filter(|message| message.role == Role::System)
        .map(|message| message.text.as_str())
        .collect();
    if !standing.is_empty() {
        body.insert("system".into(), standing.join("\n\n").into());
    }
    let mut messages: Vec<Value> = call
        .messages
        .iter()
        .filter_map(|message| {
            let role = match message.role {
                Role::System => return None,
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            Some(json!({ "role": role, "content": message.text }))
        })
        .collect();
    messages.extend(tools::messages_rounds(call));
    body.insert("messages".into(), Value::Array(messages));
    if let Some(temperature) = call.params.temperature.filter(|_| dialect.temperature) {
        body.insert("temperature".into(), json!(temperature));
    }
    // There is no mode for just any JSON object here.
    if let (Some(schema), Structure::Schema) = (&call.params.schema, dialect.structure) {
        body.insert(
            "output_config".into(),
            json!({ "format": { "type": "json_schema", "schema": schema } }),
        );
    }
    tools::add_to(&mut body, call, Protocol::Messages);
    if dialect.stream {
        body.insert("stream".into(), true.into());
    }
    manner.add_to(&mut body, Protocol::Messages);
    Value::Object(body)
}

/// Puts a whole message, or one event of a streamed one, into `answer`.
pub(super) fn take(answer: &mut Answer, piece: &Value) {
    match piece.get("type").and_then(Value::as_str) {
        Some("message_start") => {
            if let Some(message) = piece.get("message") {
                take_message(answer, message);
            }
        }
        Some("message") => take_message(answer, piece),
        Some("content_block_start") => {
            take_block(answer, piece.get("content_block"), piece.get("index"));
        }
        Some("content_block_delta") => match piece.pointer("/delta/type").and_then(Value::as_str) {
            Some("text_delta") => push_text(piece.pointer("/delta/text"), &mut answer.text),
            Some("thinking_delta") => answer.reasoned = true,
            Some("input_json_delta") => {
                if let Some(number) = piece.get("index").and_then(Value::as_u64) {
                    let part = tools::written(piece.pointer("/delta/partial_json"));
                    answer.call(number, None, None, &part);
                }
            }
            _ => {}
        },
        Some("message_delta") => {
            end(answer, piece.get("delta"));
            count(answer, piece.get("usage"));
        }
        _ => {}
    }
}

fn take_message(answer: &mut Answer, message: &Value) {
    answer.begun = true;
    if let Some(model) = message.get("model").and_then(Value::as_str) {
        model.clone_into(&mut answer.model);
    }
    for block in message
        .get("content")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        take_block(answer, Some(block), None);
    }
    end(answer, Some(message));
    count(answer, message.get("usage"));
}

/// `number` is the block's place in a stream, whose pieces follow.
fn take_block(answer: &mut Answer, block: Option<&Value>, number: Option<&Value>) {
    let Some(block) = block else { return };
    match block.get("type").and_then(Value::as_str) {
        Some("text") => push_text(block.get("text"), &mut answer.text),
        Some("thinking" | "redacted_thinking") => answer.reasoned = true,
        Some("tool_use") => {
            let (id, name) = (block.get("id"), block.get("name"));
            match number.and_then(Value::as_u64) {
                Some(number) => answer.call(number, id, name, ""),
                None => answer.whole_call(id, name, &tools::written(block.get("input"))),
            }
        }
        _ => {}
    }
}

fn end(answer: &mut Answer, holder: Option<&Value>) {
    let reason = holder.and_then(|holder| holder.get("stop_reason")?.as_str());
    if let Some(reason) = reason {
        answer.end = Some(match reason {
            "max_tokens" | "model_context_window_exceeded" => End::Length,
            "refusal" => End::Refusal,
            _ => End::Done,
        });
    }
}

/// The three kinds of input are counted apart there; the last count of a stream holds.
fn count(answer: &mut Answer, usage: Option<&Value>) {
    let count = |name: &str| usage.and_then(|usage| usage.get(name)?.as_u64());
    let parts = [
        count("input_tokens"),
        count("cache_creation_input_tokens"),
        count("cache_read_input_tokens"),
    ];
    // An event that counts only the reply does not take back what the first one counted.
    let input = parts[0].map(|_| {
        parts
            .iter()
            .flatten()
            .fold(0, |sum: u64, part| sum.saturating_add(*part))
    });
    answer.usage = Usage {
        input_tokens: input.or(answer.usage.input_tokens),
        cached_tokens: parts[2].or(answer.usage.cached_tokens),
        output_tokens: count("output_tokens").or(answer.usage.output_tokens),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Finish, RawReply};
    use crate::error::CallError;
    use crate::http::answer::tests::read_as;
    use crate::http::chat::tests::call;
    use crate::http::said::Said;

    fn read(pieces: &[Value]) -> Result<RawReply, CallError> {
        read_as(Protocol::Messages, "anthropic:host", pieces)
    }

    fn message(content: &Value, reason: &str) -> Value {
        json!({
            "type": "message", "role": "assistant", "model": "claude-2026", "content": content,
            "stop_reason": reason,
            "usage": {
                "input_tokens": 5, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 30,
                "output_tokens": 4,
            },
        })
    }

    #[test]
    fn the_request_has_one_system_text_and_asks_for_the_schema() {
        let manner = Manner {
            effort: "low".into(),
            ..Manner::default()
        };
        let expected = json!({
            "model": "m",
            "max_tokens": 64,
            "system": "Be brief.",
            "messages": [{ "role": "user", "content": "Hi" }],
            "temperature": 0.5,
            "output_config": {
                "format": { "type": "json_schema", "schema": { "type": "object" } },
                "effort": "low",
            },
            "stream": true,
        });
        assert_eq!(request(&call(), &Dialect::default(), &manner), expected);

        let said = Said::read(
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"output_config.format: not supported by this model"}}"#,
        );
        let dialect = Dialect::default()
            .without_what_it_named(&call(), &said)
            .unwrap();
        let plain = request(&call(), &dialect, &Manner::default());
        assert_eq!(plain.get("output_config"), None);
    }

    #[test]
    fn one_message_and_a_stream_of_events_say_the_same() {
        let expected = RawReply {
            text: "Hi there".into(),
            usage: Usage {
                input_tokens: Some(37),
                cached_tokens: Some(30),
                output_tokens: Some(4),
            },
            model: "claude-2026".into(),
            finish: Finish::Done,
            ..RawReply::default()
        };
        let content = json!([{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "Hi there" }]);
        assert_eq!(read(&[message(&content, "end_turn")]).unwrap(), expected);
        let mut begin = message(&json!([]), "");
        begin["stop_reason"] = Value::Null;
        let streamed = [
            json!({ "type": "message_start", "message": begin }),
            json!({ "type": "ping" }),
            json!({ "type": "content_block_start", "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": "Hi " } }),
            json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": "there" } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 4 } }),
            json!({ "type": "message_stop" }),
        ];
        assert_eq!(read(&streamed).unwrap(), expected);
    }

    #[test]
    fn what_is_no_answer_says_why() {
        let text = json!([{ "type": "text", "text": "I can't." }]);
        assert_eq!(
            read(&[message(&text, "max_tokens")]).unwrap().finish,
            Finish::Length
        );
        let error = |kind: &str, words: &str| json!({ "type": "error", "error": { "type": kind, "message": words } });
        for (piece, words) in [
            (
                message(&text, "refusal"),
                "refused to answer this request: I can't.",
            ),
            (message(&json!([]), "end_turn"), "it is empty"),
            (
                message(&json!([{ "type": "tool_use" }]), "tool_use"),
                "asks for a tool",
            ),
            (
                error("overloaded_error", "Overloaded"),
                "failed: 529 Overloaded",
            ),
            (error("rate_limit_error", "Slow down"), "asks to wait: 429"),
            (
                error("authentication_error", "invalid x-api-key"),
                "did not accept the sign-in",
            ),
            (
                error(
                    "invalid_request_error",
                    "prompt is too long: 300 tokens > 200 maximum",
                ),
                "longer than the model can read",
            ),
        ] {
            let said = read(&[piece]).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}
