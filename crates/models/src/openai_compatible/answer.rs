//! Reading a reply out of what a server sent.

use serde_json::Value;

use super::failure::{Asked, Said, meaning};
use crate::backend::{Finish, RawReply, Usage};
use crate::error::CallError;
use crate::limit_notice::{self, Evidence};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

/// What has been put together of one reply, from one body or from many pieces.
#[derive(Debug, Default)]
pub(super) struct Answer {
    text: String,
    refusal: String,
    reasoned: bool,
    called_tool: bool,
    usage: Usage,
    model: String,
    finish: Option<String>,
    choices: bool,
}

impl Answer {
    /// Takes in a whole response or one piece of a streamed one.
    ///
    /// # Errors
    /// What the server reported instead of a piece.
    pub(super) fn take(&mut self, piece: &Value, asked: &Asked<'_>) -> Result<(), CallError> {
        if piece.get("error").is_some_and(|error| !error.is_null()) {
            let said = Said::from_json(piece);
            let status = said
                .status
                .and_then(|status| StatusCode::from_u16(status).ok())
                .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            return Err(meaning(status, &HeaderMap::new(), &said, asked));
        }
        if let Some(model) = piece.get("model").and_then(Value::as_str) {
            model.clone_into(&mut self.model);
        }
        if let Some(usage) = piece.get("usage").filter(|usage| usage.is_object()) {
            let count = |name: &str| usage.get(name).and_then(Value::as_u64);
            self.usage = Usage {
                input_tokens: count("prompt_tokens").or(self.usage.input_tokens),
                output_tokens: count("completion_tokens").or(self.usage.output_tokens),
            };
        }
        // One choice is asked for; a server that sends more is read at the first.
        let Some(choice) = piece
            .get("choices")
            .and_then(Value::as_array)
            .and_then(|choices| choices.first())
        else {
            return Ok(());
        };
        self.choices = true;
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(finish.to_owned());
        }
        if let Some(message) = choice.get("message").or_else(|| choice.get("delta")) {
            push_content(message.get("content"), &mut self.text);
            push_content(message.get("refusal"), &mut self.refusal);
            self.reasoned |= ["reasoning_content", "reasoning"]
                .iter()
                .any(|name| message.get(name).is_some_and(|value| !value.is_null()));
            self.called_tool |= message
                .get("tool_calls")
                .and_then(Value::as_array)
                .is_some_and(|calls| !calls.is_empty());
        }
        Ok(())
    }

    /// Whether the model has said that it is done.
    pub(super) const fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether anything of a chat completion was in what came.
    pub(super) const fn is_completion(&self) -> bool {
        self.choices
    }

    /// The reply.
    ///
    /// # Errors
    /// When it is a refusal, a usage limit put into words, or nothing.
    pub(super) fn into_reply(self, asked: &Asked<'_>) -> Result<RawReply, CallError> {
        let cut = self.finish.as_deref() == Some("length");
        if !self.refusal.trim().is_empty() {
            return Err(CallError::Refused {
                detail: asked.excerpt(&self.refusal),
            });
        }
        if self.finish.as_deref() == Some("content_filter") {
            return Err(CallError::Refused {
                detail: "its content filter stopped the reply".into(),
            });
        }
        let text = without_reasoning(&self.text);
        if text.trim().is_empty() {
            let thought = self.reasoned || text.len() < self.text.len();
            let reason = match (cut, thought, self.called_tool) {
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
        if let Some(limit) = limit_notice::read(text, Evidence::None, asked.now, asked.zone) {
            return Err(asked.limited(limit.until, asked.excerpt(text)));
        }
        Ok(RawReply {
            text: text.to_owned(),
            usage: self.usage,
            model: self.model,
            finish: if cut { Finish::Length } else { Finish::Done },
        })
    }
}

/// Appends text that is a string or a list of text parts.
fn push_content(content: Option<&Value>, into: &mut String) {
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
mod tests {
    use super::*;
    use jiff::tz::TimeZone;
    use serde_json::json;

    fn read(pieces: &[Value]) -> Result<RawReply, CallError> {
        let zone = TimeZone::UTC;
        let asked = Asked {
            provider: "openai_compatible:host",
            address: "https://host/v1",
            model: "m",
            key: None,
            now: "2026-11-29T18:25:00Z".parse().unwrap(),
            zone: &zone,
        };
        let mut answer = Answer::default();
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
            "usage": { "prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9 },
        })])
        .unwrap();
        assert_eq!(
            reply,
            RawReply {
                text: "Hi".into(),
                usage: Usage {
                    input_tokens: Some(7),
                    output_tokens: Some(2)
                },
                model: "m-2026".into(),
                finish: Finish::Done,
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
