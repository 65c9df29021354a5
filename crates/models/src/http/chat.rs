//! Chat Completions: requests and replies.

use serde_json::{Map, Value, json};
use skillopt_core::call::{Call, Message, Role};

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
    let mut rendered = messages(&call.messages, dialect);
    rendered.extend(tools::chat_rounds(call));
    body.insert("messages".into(), rendered.into());
    let limit = if dialect.completion_tokens {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    body.insert(limit.into(), call.params.max_tokens.into());
    if let Some(temperature) = call.params.temperature.filter(|_| dialect.temperature) {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(schema) = &call.params.schema {
        match dialect.structure {
            Structure::Schema => {
                body.insert(
                    "response_format".into(),
                    json!({
                        "type": "json_schema",
                        "json_schema": { "name": "reply", "strict": true, "schema": schema },
                    }),
                );
            }
            Structure::Object => {
                body.insert("response_format".into(), json!({ "type": "json_object" }));
            }
            Structure::Words => {}
        }
    }
    tools::add_to(&mut body, call, Protocol::Chat);
    if dialect.stream {
        body.insert("stream".into(), true.into());
        if dialect.stream_usage {
            body.insert("stream_options".into(), json!({ "include_usage": true }));
        }
    }
    manner.add_to(&mut body, Protocol::Chat);
    Value::Object(body)
}

fn messages(messages: &[Message], dialect: &Dialect) -> Vec<Value> {
    let as_json = |role: &str, text: &str| json!({ "role": role, "content": text });
    let mut rendered = Vec::with_capacity(messages.len());
    let mut standing = String::new();
    for message in messages {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        if dialect.system_role || message.role == Role::Assistant {
            rendered.push(as_json(role, &message.text));
        } else if message.role == Role::System {
            standing.push_str(&message.text);
            standing.push_str("\n\n");
        } else {
            rendered.push(as_json(role, &format!("{standing}{}", message.text)));
            standing.clear();
        }
    }
    if !standing.is_empty() {
        rendered.push(as_json("user", standing.trim_end()));
    }
    rendered
}

/// Puts a whole completion, or one chunk of a streamed one, into `answer`.
pub(super) fn take(answer: &mut Answer, piece: &Value) {
    if let Some(usage) = piece.get("usage").filter(|usage| usage.is_object()) {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let cached = usage
            .pointer("/prompt_tokens_details/cached_tokens")
            .and_then(Value::as_u64);
        answer.usage = Usage {
            input_tokens: count("prompt_tokens").or(answer.usage.input_tokens),
            cached_tokens: cached
                .or_else(|| count("prompt_cache_hit_tokens"))
                .or(answer.usage.cached_tokens),
            output_tokens: count("completion_tokens").or(answer.usage.output_tokens),
        };
    }
    // One choice is asked for; a server that sends more is read at the first.
    let Some(choice) = piece
        .get("choices")
        .and_then(Value::as_array)
        .and_then(|choices| choices.first())
    else {
        return;
    };
    answer.begun = true;
    if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str) {
        answer.end = Some(match finish {
            "length" => End::Length,
            "content_filter" => End::Filter,
            _ => End::Done,
        });
    }
    if let Some(message) = choice.get("message").or_else(|| choice.get("delta")) {
        push_text(message.get("content"), &mut answer.text);
        push_text(message.get("refusal"), &mut answer.refusal);
        answer.reasoned |= ["reasoning_content", "reasoning"]
            .iter()
            .any(|name| message.get(name).is_some_and(|value| !value.is_null()));
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            // A server that leaves the number out sends each call in one piece.
            let number = call.get("index").and_then(Value::as_u64);
            let (id, function) = (call.get("id"), call.get("function"));
            let name = function.and_then(|function| function.get("name"));
            let arguments = tools::written(function.and_then(|function| function.get("arguments")));
            match number {
                Some(number) => answer.call(number, id, name, &arguments),
                None => answer.whole_call(id, name, &arguments),
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::http::said::Said;
    use skillopt_core::call::{BackendId, Params, Subject};

    pub(in crate::http) fn call() -> Call {
        let message = |role, text: &str| Message {
            role,
            text: text.into(),
        };
        Call {
            backend: BackendId {
                kind: "openai_compatible".into(),
                address: "http://127.0.0.1/v1".into(),
                model: "m".into(),
                version: String::new(),
                system_mode: "system_role".into(),
            },
            subject: Subject::Judge {
                intent: String::new(),
                rubric: String::new(),
                response: String::new(),
            },
            messages: vec![
                message(Role::System, "Be brief."),
                message(Role::User, "Hi"),
            ],
            params: Params {
                max_tokens: 64,
                temperature: Some(0.5),
                schema: Some(json!({ "type": "object" })),
            },
            sample: 0,
            ask: 0,
            rounds: Vec::new(),
        }
    }

    fn plain(dialect: &Dialect) -> Value {
        request(&call(), dialect, &Manner::default())
    }

    #[test]
    fn the_first_request_asks_for_everything() {
        let expected = json!({
            "model": "m",
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "Hi" },
            ],
            "max_tokens": 64,
            "temperature": 0.5,
            "response_format": {
                "type": "json_schema",
                "json_schema": { "name": "reply", "strict": true, "schema": { "type": "object" } },
            },
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        assert_eq!(plain(&Dialect::default()), expected);
    }

    #[test]
    fn each_refusal_takes_away_what_it_names_and_nothing_else() {
        // Wordings of OpenAI, DeepSeek, LM Studio and vLLM.
        type Step = (&'static str, fn(&Value) -> bool);
        let steps: [Step; 7] = [
            ("This response_format type is unavailable now", |body| {
                body["response_format"]["type"] == "json_object"
            }),
            (
                "'response_format.type' must be 'json_schema' or 'text'",
                |body| body.get("response_format").is_none(),
            ),
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                |body| body["max_completion_tokens"] == 64 && body.get("max_tokens").is_none(),
            ),
            ("unknown field: stream_options", |body| {
                body["stream"] == true && body.get("stream_options").is_none()
            }),
            ("streaming is not supported", |body| {
                body.get("stream").is_none()
            }),
            (
                "Unsupported value: 'temperature' does not support 0.5 with this model.",
                |body| body.get("temperature").is_none(),
            ),
            ("System role not supported", |body| {
                body["messages"] == json!([{ "role": "user", "content": "Be brief.\n\nHi" }])
            }),
        ];
        let mut dialect = Dialect::default();
        for (message, holds) in steps {
            let said = Said::read(&json!({ "error": { "message": message } }).to_string());
            dialect = dialect
                .without_what_it_named(&call(), &said)
                .unwrap_or_else(|| panic!("{message}"));
            assert!(holds(&plain(&dialect)), "{message}");
        }
        let said =
            Said::read(r#"{"error":{"message":"bad stream, temperature, response_format"}}"#);
        assert_eq!(dialect.without_what_it_named(&call(), &said), None);
    }
}
