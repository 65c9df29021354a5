//! OpenAI's Responses: requests and replies.

use serde_json::{Map, Value, json};
use skillopt_core::call::{Call, Role};

use super::answer::{Answer, End, push_text, reported};
use super::dialect::{Dialect, Structure};
use super::failure::Asked;
use super::manner::Manner;
use super::protocol::Protocol;
use super::tools;
use crate::backend::Usage;
use crate::error::CallError;

/// The request for `call`, as far as the server is known to understand it. Nothing of it is to be
/// stored there.
pub(super) fn request(call: &Call, dialect: &Dialect, manner: &Manner) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), call.backend.model.clone().into());
    let standing: Vec<&str> = call
        .messages
        .iter()
        .filter(|message| message.role == Role::System)
        .map(|message| message.text.as_str())
        .collect();
    if !standing.is_empty() {
        body.insert("instructions".into(), standing.join("\n\n").into());
    }
    let mut input: Vec<Value> = call
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
    input.extend(tools::responses_rounds(call));
    body.insert("input".into(), Value::Array(input));
    body.insert("max_output_tokens".into(), call.params.max_tokens.into());
    body.insert("store".into(), false.into());
    if let Some(temperature) = call.params.temperature.filter(|_| dialect.temperature) {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(schema) = &call.params.schema {
        let format = match dialect.structure {
            Structure::Schema => {
                json!({ "type": "json_schema", "name": "reply", "strict": true, "schema": schema })
            }
            Structure::Object => json!({ "type": "json_object" }),
            Structure::Words => json!({ "type": "text" }),
        };
        body.insert("text".into(), json!({ "format": format }));
    }
    tools::add_to(&mut body, call, Protocol::Responses);
    if dialect.stream {
        body.insert("stream".into(), true.into());
    }
    manner.add_to(&mut body, Protocol::Responses);
    Value::Object(body)
}

/// Puts a whole response, or one event of a streamed one, into `answer`. The event that ends a
/// stream holds the whole response again, and that is what counts.
///
/// # Errors
/// What the server reported instead of a response.
pub(super) fn take(answer: &mut Answer, piece: &Value, asked: &Asked<'_>) -> Result<(), CallError> {
    match piece.get("type").and_then(Value::as_str) {
        Some("error") => Err(reported(piece, asked)),
        Some("response.output_text.delta") => {
            answer.begun = true;
            push_text(piece.get("delta"), &mut answer.text);
            Ok(())
        }
        Some("response.completed" | "response.incomplete" | "response.failed") => piece
            .get("response")
            .map_or(Ok(()), |whole| take_whole(answer, whole, asked)),
        Some(_) => Ok(()),
        None => take_whole(answer, piece, asked),
    }
}

fn take_whole(answer: &mut Answer, whole: &Value, asked: &Asked<'_>) -> Result<(), CallError> {
    if whole.get("error").is_some_and(|error| !error.is_null()) {
        return Err(reported(whole, asked));
    }
    if let Some(model) = whole.get("model").and_then(Value::as_str) {
        model.clone_into(&mut answer.model);
    }
    if let Some(usage) = whole.get("usage").filter(|usage| usage.is_object()) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        answer.usage = Usage {
            input_tokens: count("input_tokens"),
            cached_tokens: usage
                .pointer("/input_tokens_details/cached_tokens")
                .and_then(Value::as_u64),
            output_tokens: count("output_tokens"),
        };
    }
    let Some(output) = whole.get("output").and_then(Value::as_array) else {
        return Ok(());
    };
    answer.begun = true;
    answer.end = Some(
        match whole
            .pointer("/incomplete_details/reason")
            .and_then(Value::as_str)
        {
            Some("max_output_tokens") => End::Length,
            Some("content_filter") => End::Filter,
            _ => End::Done,
        },
    );
    let mut text = String::new();
    for item in output {
        match item.get("type").and_then(Value::as_str) {
            Some("message") => {
                for part in item
                    .get("content")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                {
                    push_text(part.get("text"), &mut text);
                    push_text(part.get("refusal"), &mut answer.refusal);
                }
            }
            Some("reasoning") => answer.reasoned = true,
            Some("function_call") => answer.whole_call(
                item.get("call_id"),
                item.get("name"),
                &tools::written(item.get("arguments")),
            ),
            _ => {}
        }
    }
    if !text.is_empty() {
        answer.text = text;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Finish, RawReply};
    use crate::http::answer::tests::read_as;
    use crate::http::chat::tests::call;

    fn read(pieces: &[Value]) -> Result<RawReply, CallError> {
        read_as(Protocol::Responses, "openai_compatible:host", pieces)
    }

    fn whole(status: &str, output: &Value) -> Value {
        json!({
            "object": "response", "status": status, "model": "m-2026", "error": null,
            "output": output,
            "usage": { "input_tokens": 7, "output_tokens": 2, "input_tokens_details": { "cached_tokens": 3 } },
        })
    }

    fn message(text: &str) -> Value {
        json!([
            { "type": "reasoning", "summary": [] },
            { "type": "message", "content": [{ "type": "output_text", "text": text }] },
        ])
    }

    #[test]
    fn the_request_asks_for_everything_and_keeps_nothing_there() {
        assert_eq!(
            request(&call(), &Dialect::default(), &Manner::default()),
            json!({
                "model": "m",
                "instructions": "Be brief.",
                "input": [{ "role": "user", "content": "Hi" }],
                "max_output_tokens": 64,
                "store": false,
                "temperature": 0.5,
                "text": { "format": {
                    "type": "json_schema", "name": "reply", "strict": true, "schema": { "type": "object" },
                } },
                "stream": true,
            })
        );
    }

    #[test]
    fn one_response_and_a_stream_of_events_say_the_same() {
        let expected = RawReply {
            text: "Hi there".into(),
            usage: Usage {
                input_tokens: Some(7),
                cached_tokens: Some(3),
                output_tokens: Some(2),
            },
            model: "m-2026".into(),
            finish: Finish::Done,
            ..RawReply::default()
        };
        let whole = whole("completed", &message("Hi there"));
        assert_eq!(read(std::slice::from_ref(&whole)).unwrap(), expected);
        let streamed = [
            json!({ "type": "response.created", "response": { "output": [] } }),
            json!({ "type": "response.output_text.delta", "delta": "Hi " }),
            json!({ "type": "response.output_text.delta", "delta": "there" }),
            json!({ "type": "response.completed", "response": whole }),
        ];
        assert_eq!(read(&streamed).unwrap(), expected);
    }

    #[test]
    fn what_is_no_answer_says_why() {
        let mut cut = whole("incomplete", &message("Hal"));
        cut["incomplete_details"] = json!({ "reason": "max_output_tokens" });
        assert_eq!(read(&[cut.clone()]).unwrap().finish, Finish::Length);
        cut["incomplete_details"] = json!({ "reason": "content_filter" });
        let refusal =
            json!([{ "type": "message", "content": [{ "type": "refusal", "refusal": "No." }] }]);
        let failed = json!({ "type": "response.failed", "response": {
            "output": [], "error": { "code": "rate_limit_exceeded", "message": "Slow down." },
        } });
        for (piece, words) in [
            (cut, "content filter"),
            (
                whole("completed", &refusal),
                "refused to answer this request: No.",
            ),
            (
                whole("completed", &json!([{ "type": "function_call" }])),
                "asks for a tool",
            ),
            (failed, "asks to wait: 429 Slow down."),
            (
                json!({ "type": "error", "code": "server_error", "message": "boom" }),
                "failed: 500 boom",
            ),
        ] {
            let said = read(&[piece]).unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
        }
    }
}
