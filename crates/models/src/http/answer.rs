//! Reading a reply out of what a server sent.

use std::collections::BTreeMap;

use serde_json::Value;

use skillopt_core::tool::{ToolCall, ToolReply};

use super::failure::{Asked, meaning};
use super::said::Said;
use crate::backend::{Finish, RawReply, Usage};
use crate::error::CallError;
use crate::limit_notice::{self, Evidence};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The model was done.
    Done,
    /// At the token limit.
    Length,
    /// A filter of the provider stopped it.
    Filter,
    /// The model declined.
    Refusal,
}

/// What has been put together of one reply, from one body or from many pieces.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) refusal: String,
    pub(super) reasoned: bool,
    /// The tools it calls, by their number in the reply.
    pub(super) calls: BTreeMap<u64, ToolCall>,
    /// Whether tools were offered.
    offered: bool,
    pub(super) usage: Usage,
    pub(super) model: String,
    /// `None` until the model has said that it is done.
    pub(super) end: Option<End>,
    /// Whether anything of a reply was in what came.
    pub(super) begun: bool,
}

impl Answer {
    /// A reply of which nothing is there yet, to a question that offers tools or not.
    pub(super) fn new(offered: bool) -> Self {
        Self {
            offered,
            ..Self::default()
        }
    }

    /// Takes in a piece of the call with this number: its id and name once, its arguments bit by bit.
    pub(super) fn call(
        &mut self,
        number: u64,
        id: Option<&Value>,
        name: Option<&Value>,
        arguments: &str,
    ) {
        let call = self.calls.entry(number).or_default();
        for (field, value) in [(&mut call.id, id), (&mut call.name, name)] {
            if let Some(value) = value.and_then(Value::as_str).filter(|_| field.is_empty()) {
                value.clone_into(field);
            }
        }
        call.arguments.push_str(arguments);
    }

    /// Takes in a whole call, after those that are there.
    pub(super) fn whole_call(&mut self, id: Option<&Value>, name: Option<&Value>, arguments: &str) {
        let number = self.calls.keys().next_back().map_or(0, |last| last + 1);
        self.call(number, id, name, arguments);
    }

    /// Takes in a whole response or one piece of a streamed one.
    ///
    /// # Errors
    /// What the server reported instead of a piece.
    pub(super) fn take(&mut self, piece: &Value, asked: &Asked<'_>) -> Result<(), CallError> {
        if piece.get("error").is_some_and(|error| !error.is_null()) {
            return Err(reported(piece, asked));
        }
        if let Some(model) = piece.get("model").and_then(Value::as_str) {
            model.clone_into(&mut self.model);
        }
        asked.protocol.take(self, piece, asked)
    }

    /// The reply.
    ///
    /// # Errors
    /// When it is a refusal, a usage limit put into words, or nothing.
    pub(super) fn into_reply(self, asked: &Asked<'_>) -> Result<RawReply, CallError> {
        let cut = self.end == Some(End::Length);
        if !self.refusal.trim().is_empty() {
            return Err(CallError::Refused {
                detail: asked.excerpt(&self.refusal),
            });
        }
        match self.end {
            Some(End::Filter) => {
                return Err(CallError::Refused {
                    detail: "its content filter stopped the reply".into(),
                });
            }
            Some(End::Refusal) => {
                return Err(CallError::Refused {
                    detail: asked.excerpt(&self.text),
                });
            }
            Some(End::Done | End::Length) | None => {}
        }
        let text = without_reasoning(&self.text);
        let calls = self.offered && !self.calls.is_empty();
        if calls && cut {
            return Err(CallError::Unreadable {
                reason: "it was cut at the token limit in the middle of calling a tool".into(),
            });
        }
        if text.trim().is_empty() && !calls {
            let thought = self.reasoned || text.len() < self.text.len();
            let reason = match (cut, thought, !self.calls.is_empty()) {
                (true, true, _) => {
                    "the whole reply went into reasoning and was cut at the token limit"
                }
                (true, false, _) => "it was cut at the token limit before it began",
                (false, _, true) => "it asks for a tool, and none was offered",
                (false, true, false) => "it holds reasoning but no answer",
                (false, false, false) => "it is empty",
            };
            return Err(CallError::Unreadable {
                reason: reason.into(),
            });
        }
        if !calls
            && let Some(limit) = limit_notice::read(text, Evidence::None, asked.now, asked.zone)
        {
            return Err(asked.limited(limit.until, asked.excerpt(text)));
        }
        let text = text.to_owned();
        Ok(RawReply {
            text: if self.offered {
                let calls = self.calls.into_values().collect();
                ToolReply {
                    text,
                    calls,
                    answered: Vec::new(),
                }
                .to_json()
            } else {
                text
            },
            usage: self.usage,
            model: self.model,
            finish: if cut { Finish::Length } else { Finish::Done },
            ..RawReply::default()
        })
    }
}

/// An error that came in the place of a reply, or of a piece of one.
pub(super) fn reported(value: &Value, asked: &Asked<'_>) -> CallError {
    let said = Said::from_json(value);
    let status = said
        .status
        .and_then(|status| StatusCode::from_u16(status).ok())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    meaning(status, &HeaderMap::new(), &said, asked)
}

/// Appends text that is a string or a list of text parts.
pub(super) fn push_text(content: Option<&Value>, into: &mut String) {
    match content {
        Some(Value::String(text)) => into.push_str(text),
        Some(Value::Array(parts)) => {
            for part in parts {
                if let Some(text) = part.get("text").and_then(Value::as_str) {
                    into.push_str(text);
                }
            }
        }
        _ => {}
    }
}

/// Some local servers leave a model's reasoning in the reply, in front of the answer. An
/// unfinished one is no answer.
fn without_reasoning(text: &str) -> &str {
    let Some(inside) = text.trim_start().strip_prefix("<think>") else {
        return text;
    };
    inside
        .split_once("</think>")
        .map_or("", |(_, answer)| answer.trim_start_matches(['\r', '\n']))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::http::Protocol;
    use jiff::tz::TimeZone;
    use serde_json::json;

    fn read(pieces: &[Value]) -> Result<RawReply, CallError> {
        read_as(Protocol::Chat, "openai_compatible:host", pieces)
    }

    /// A reply that came in these pieces.
    pub(in crate::http) fn read_as(
        protocol: Protocol,
        provider: &str,
        pieces: &[Value],
    ) -> Result<RawReply, CallError> {
        read_offered(protocol, provider, pieces, false)
    }

    /// A reply that came in these pieces to a question that offers tools.
    pub(in crate::http) fn read_calls(protocol: Protocol, pieces: &[Value]) -> ToolReply {
        let reply = read_offered(protocol, "openai_compatible:host", pieces, true).unwrap();
        ToolReply::from_json(&reply.text).unwrap()
    }

    fn read_offered(
        protocol: Protocol,
        provider: &str,
        pieces: &[Value],
        offered: bool,
    ) -> Result<RawReply, CallError> {
        let asked = Asked {
            provider,
            address: "https://host/v1",
            protocol,
            model: "m",
            key: None,
            now: "2026-11-29T18:25:00Z".parse().unwrap(),
            zone: &TimeZone::UTC,
        };
        let mut answer = Answer::new(offered);
        for piece in pieces {
            answer.take(piece, &asked)?;
        }
        answer.into_reply(&asked)
    }

    fn message(message: &Value, finish: &str) -> Value {
        json!({ "choices": [{ "message": message, "finish_reason": finish }] })
    }

    #[test]
    fn a_whole_reply() {
        let reply = read(&[json!({
            "model": "m-2026",
            "choices": [
                { "message": { "content": "Hi", "reasoning_content": "hm" }, "finish_reason": "stop" },
                { "message": { "content": "second" }, "finish_reason": "stop" },
            ],
            "usage": { "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9,
                "prompt_tokens_details": { "cached_tokens": 4 } },
        })])
        .unwrap();
        assert_eq!(
            reply,
            RawReply {
                text: "Hi".into(),
                usage: Usage {
                    input_tokens: Some(7),
                    cached_tokens: Some(4),
                    output_tokens: Some(2)
                },
                model: "m-2026".into(),
                finish: Finish::Done,
                ..RawReply::default()
            }
        );
    }

    #[test]
    fn pieces_and_parts_and_reasoning_in_front() {
        let reply = read(&[
            json!({ "choices": [{ "delta": { "role": "assistant", "content": "<think>a </think>" } }] }),
            json!({ "choices": [{ "delta": { "content": [{ "type": "text", "text": "\n\nH" }] } }] }),
            json!({ "choices": [{ "delta": { "content": "i " }, "finish_reason": "length" }] }),
            json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": -3 } }),
        ])
        .unwrap();
        assert_eq!(reply.text, "Hi ");
        assert_eq!(reply.finish, Finish::Length);
        assert_eq!(
            reply.usage,
            Usage {
                input_tokens: Some(1),
                cached_tokens: None,
                output_tokens: None
            }
        );
    }

    #[test]
    fn what_is_no_answer_says_why() {
        let why = |piece: Value| read(&[piece]).unwrap_err().to_string();
        for (piece, words) in [
            (message(&json!({ "content": "" }), "stop"), "it is empty"),
            (
                message(&json!({ "content": null }), "length"),
                "before it began",
            ),
            (
                message(&json!({ "content": "<think>on and on" }), "length"),
                "went into reasoning",
            ),
            (
                message(&json!({ "content": null, "reasoning": "hm" }), "stop"),
                "reasoning but no answer",
            ),
            (
                message(
                    &json!({ "content": null, "tool_calls": [{}] }),
                    "tool_calls",
                ),
                "asks for a tool",
            ),
            (
                message(&json!({ "content": "x", "refusal": "I can't." }), "stop"),
                "refused to answer this request: I can't.",
            ),
            (
                message(&json!({ "content": "half" }), "content_filter"),
                "content filter",
            ),
            (
                message(
                    &json!({ "content": "You've hit your limit · resets 8pm (UTC)" }),
                    "stop",
                ),
                "allows no more until 2026-11-29T20:00:00Z",
            ),
            (
                json!({ "error": { "code": 401, "message": "who?" } }),
                "did not accept the sign-in",
            ),
            (
                json!({ "error": { "message": "boom" } }),
                "failed: 500 boom",
            ),
        ] {
            let said = why(piece);
            assert!(said.contains(words), "{said}");
        }
    }
}
