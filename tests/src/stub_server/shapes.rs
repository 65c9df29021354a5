//! Replies in the shapes of the three protocols: Chat Completions, Responses and Messages.

use serde_json::{Value, json};

use super::Request;

/// How many characters of a reply go into one piece of a stream.
const PIECE: usize = 24;

/// What a request is written in, by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Chat,
    Responses,
    Messages,
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The model is done.
    Done,
    /// At the token limit.
    Length,
    /// The model declines; the text says so.
    Refusal,
    /// A content filter stopped it.
    Filter,
    /// At the token limit, and all of it was reasoning.
    Reasoning,
}

impl Shape {
    /// The shape of a request for a reply; `None` for anything else.
    pub(super) fn of(request: &Request) -> Option<Self> {
        let path = request.path.split('?').next().unwrap_or_default();
        match path.rsplit('/').next().unwrap_or_default() {
            "completions" => Some(Self::Chat),
            "responses" => Some(Self::Responses),
            "messages" => Some(Self::Messages),
            _ => None,
        }
    }

    /// A whole reply.
    pub(super) fn whole(self, text: &str, ending: Ending, request: &Request) -> Value {
        let (input, output) = counts(text, request);
        match self {
            Self::Chat => chat(text, ending, request),
            Self::Responses => {
                let (status, reason) = match ending {
                    Ending::Done | Ending::Refusal => ("completed", Value::Null),
                    Ending::Length | Ending::Reasoning => {
                        ("incomplete", json!({ "reason": "max_output_tokens" }))
                    }
                    Ending::Filter => ("incomplete", json!({ "reason": "content_filter" })),
                };
                let item = match ending {
                    Ending::Refusal => {
                        json!({ "type": "message", "content": [{ "type": "refusal", "refusal": text }] })
                    }
                    Ending::Reasoning => json!({ "type": "reasoning", "summary": [] }),
                    Ending::Done | Ending::Length | Ending::Filter => {
                        json!({ "type": "message", "content": [{ "type": "output_text", "text": text }] })
                    }
                };
                json!({
                    "id": "resp_stub", "object": "response", "model": request.answered_by,
                    "status": status, "error": null, "incomplete_details": reason, "output": [item],
                    "usage": {
                        "input_tokens": input, "output_tokens": output,
                        "input_tokens_details": { "cached_tokens": 1 },
                    },
                })
            }
            Self::Messages => {
                let reason = match ending {
                    Ending::Done => "end_turn",
                    Ending::Length | Ending::Reasoning => "max_tokens",
                    Ending::Refusal | Ending::Filter => "refusal",
                };
                let block = match ending {
                    Ending::Reasoning => json!({ "type": "thinking", "thinking": "hm" }),
                    _ => json!({ "type": "text", "text": text }),
                };
                json!({
                    "id": "msg_stub", "type": "message", "role": "assistant",
                    "model": request.answered_by, "content": [block], "stop_reason": reason,
                    "usage": {
                        "input_tokens": input - 1, "cache_read_input_tokens": 1,
                        "output_tokens": output,
                    },
                })
            }
        }
    }

    /// The reply as the events of a stream: name, empty where there is none, and data.
    pub(super) fn events(self, text: &str, request: &Request) -> Vec<(String, String)> {
        match self {
            Self::Chat => chunks(text, request)
                .into_iter()
                .map(|chunk| (String::new(), chunk.to_string()))
                .chain([(String::new(), "[DONE]".to_owned())])
                .collect(),
            Self::Responses => {
                let mut events = vec![json!({ "type": "response.created" })];
                events.extend(
                    pieces(text).map(
                        |piece| json!({ "type": "response.output_text.delta", "delta": piece }),
                    ),
                );
                let whole = self.whole(text, Ending::Done, request);
                events.push(json!({ "type": "response.completed", "response": whole }));
                named(events)
            }
            Self::Messages => {
                let mut message = self.whole(text, Ending::Done, request);
                message["content"] = json!([]);
                message["stop_reason"] = Value::Null;
                let usage = message["usage"].clone();
                let mut events = vec![
                    json!({ "type": "message_start", "message": message }),
                    json!({ "type": "ping" }),
                    json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
                ];
                events.extend(pieces(text).map(|piece| {
                    json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": piece } })
                }));
                events.extend([
                    json!({ "type": "content_block_stop", "index": 0 }),
                    json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": usage }),
                    json!({ "type": "message_stop" }),
                ]);
                named(events)
            }
        }
    }
}

/// Events that carry their name in their data as well.
pub(super) fn named(events: Vec<Value>) -> Vec<(String, String)> {
    events
        .into_iter()
        .map(|event| {
            let name = event["type"].as_str().unwrap_or_default().to_owned();
            (name, event.to_string())
        })
        .collect()
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters
        .chunks(PIECE)
        .map(|piece| piece.iter().collect())
        .collect();
    pieces.into_iter()
}

fn chat(text: &str, ending: Ending, request: &Request) -> Value {
    let (message, finish) = match ending {
        Ending::Done => (json!({ "content": text }), "stop"),
        Ending::Length => (json!({ "content": text }), "length"),
        Ending::Refusal => (json!({ "refusal": text }), "stop"),
        Ending::Filter => (json!({ "content": text }), "content_filter"),
        Ending::Reasoning => (
            json!({ "content": null, "reasoning_content": "hm" }),
            "length",
        ),
    };
    json!({
        "id": "chatcmpl-stub",
        "object": "chat.completion",
        "created": 0,
        "model": request.answered_by,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": usage(text, request),
    })
}

/// The reply in chunks, with usage at the end when it was asked for.
fn chunks(text: &str, request: &Request) -> Vec<Value> {
    let chunk = |choices: Value| json!({ "id": "chatcmpl-stub", "object": "chat.completion.chunk", "model": request.answered_by, "choices": choices });
    let mut chunks = vec![chunk(
        json!([{ "index": 0, "delta": { "role": "assistant", "content": "" } }]),
    )];
    chunks.extend(
        pieces(text).map(|piece| chunk(json!([{ "index": 0, "delta": { "content": piece } }]))),
    );
    chunks.push(chunk(
        json!([{ "index": 0, "delta": {}, "finish_reason": "stop" }]),
    ));
    if request.body["stream_options"]["include_usage"] == true {
        let mut last = chunk(json!([]));
        last["usage"] = usage(text, request);
        chunks.push(last);
    }
    chunks
}

/// One token for four characters, at least one; one of the input comes from a cache.
fn usage(text: &str, request: &Request) -> Value {
    let (input, output) = counts(text, request);
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": 1 },
    })
}

fn counts(text: &str, request: &Request) -> (usize, usize) {
    let tokens = |text: &str| text.chars().count().div_ceil(4).max(1);
    (tokens(&request.prompt()), tokens(text))
}
