//! What a user may ask of a model besides an answer: whether it thinks first, and how hard.

use serde_json::{Map, Value, json};

use super::failure::Asked;
use super::protocol::Protocol;
use super::said::Said;
use crate::error::CallError;

/// Whether a model thinks before it answers, in the words of the server that has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// As the server does by itself: nothing is sent.
    #[default]
    ServerDefault,
    /// `chat_template_kwargs: {"enable_thinking": …}`, as vLLM and SGLang have it for Qwen.
    Template(bool),
    /// `thinking: {"type": …}`, as MiniMax and Anthropic have it.
    Named(&'static str),
}

/// How the model is to answer. The default sends nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manner {
    /// Whether it thinks first.
    pub thinking: Thinking,
    /// How hard it thinks, in a word of its maker (`low`, `high`, …); empty for its own choice.
    pub effort: String,
}

impl Manner {
    /// Adds the fields that say so to a request.
    pub(super) fn add_to(&self, body: &mut Map<String, Value>, protocol: Protocol) {
        match self.thinking {
            Thinking::ServerDefault => {}
            Thinking::Template(on) => {
                body.insert(
                    "chat_template_kwargs".into(),
                    json!({ "enable_thinking": on }),
                );
            }
            Thinking::Named(kind) => {
                body.insert("thinking".into(), json!({ "type": kind }));
            }
        }
        if self.effort.is_empty() {
            return;
        }
        match protocol {
            Protocol::Chat => {
                body.insert("reasoning_effort".into(), self.effort.clone().into());
            }
            Protocol::Responses => {
                body.insert("reasoning".into(), json!({ "effort": self.effort }));
            }
            Protocol::Messages => {
                let config = body
                    .entry("output_config")
                    .or_insert_with(|| Value::Object(Map::new()));
                config["effort"] = self.effort.clone().into();
            }
        }
    }

    /// What of it can change an answer, in words; empty for a plain chat.
    pub(super) fn words(&self, protocol: Protocol) -> String {
        let mut words = Vec::new();
        if protocol == Protocol::Responses {
            words.push("responses".to_owned());
        }
        match self.thinking {
            Thinking::ServerDefault => {}
            Thinking::Template(on) => words.push(format!("thinking={on}")),
            Thinking::Named(kind) => words.push(format!("thinking={kind}")),
        }
        if !self.effort.is_empty() {
            words.push(format!("effort={}", self.effort));
        }
        words.join(" ")
    }

    /// The error of a server that refuses what was asked for here; `None` when it named none of it.
    pub(super) fn refused(&self, said: &Said, asked: &Asked<'_>) -> Option<CallError> {
        let text = said.everything().to_ascii_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let setting = if !self.effort.is_empty() && names(&["effort", "reasoning"]) {
            "models.reasoning_effort"
        } else if self.thinking != Thinking::ServerDefault
            && names(&["thinking", "chat_template_kwargs"])
        {
            "models.thinking"
        } else {
            return None;
        };
        Some(asked.misconfigured(
            format!(
                "it does not take what {setting} asks for ({})",
                asked.excerpt(said.shown())
            ),
            format!(
                "Set {setting} to something the model {} has, or take it out.",
                asked.model
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(manner: &Manner, protocol: Protocol) -> Value {
        let mut body = Map::new();
        manner.add_to(&mut body, protocol);
        Value::Object(body)
    }

    #[test]
    fn each_protocol_has_its_own_words() {
        let hard = Manner {
            effort: "high".into(),
            ..Manner::default()
        };
        for (protocol, expected) in [
            (Protocol::Chat, json!({ "reasoning_effort": "high" })),
            (
                Protocol::Responses,
                json!({ "reasoning": { "effort": "high" } }),
            ),
            (
                Protocol::Messages,
                json!({ "output_config": { "effort": "high" } }),
            ),
        ] {
            assert_eq!(fields(&hard, protocol), expected);
        }
        let thinking = |thinking| Manner {
            thinking,
            ..Manner::default()
        };
        for (manner, expected, words) in [
            (thinking(Thinking::ServerDefault), json!({}), ""),
            (
                thinking(Thinking::Template(false)),
                json!({ "chat_template_kwargs": { "enable_thinking": false } }),
                "thinking=false",
            ),
            (
                thinking(Thinking::Named("adaptive")),
                json!({ "thinking": { "type": "adaptive" } }),
                "thinking=adaptive",
            ),
        ] {
            assert_eq!(fields(&manner, Protocol::Chat), expected);
            assert_eq!(manner.words(Protocol::Chat), words);
        }
        assert_eq!(hard.words(Protocol::Responses), "responses effort=high");
    }
}
