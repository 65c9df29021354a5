//! Replies lose their secrets before anything reads or keeps them: a server can repeat what it was sent, and
//! a model what it saw.

use skillopt_core::call::Call;
use skillopt_core::tool::{ToolCall, ToolReply};

use super::Inner;

impl Inner {
    /// The text without what looks like a secret.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.redactor.redact(text).text.into_owned()
    }

    /// A reply to `call` without what looks like a secret. One that calls tools stays one.
    pub(super) fn reply_without_secrets(&self, call: &Call, text: String) -> String {
        let redacted = self.redactor.redact(&text);
        if redacted.count == 0 {
            return text;
        }
        let said = if call.tools().is_empty() {
            None
        } else {
            ToolReply::from_json(&text)
        };
        match said {
            Some(said) => self.round_without_secrets(&said).to_json(),
            None => redacted.text.into_owned(),
        }
    }

    /// What was called, without what looks like a secret.
    pub(super) fn round_without_secrets(&self, said: &ToolReply) -> ToolReply {
        ToolReply {
            text: self.redacted(&said.text),
            calls: said
                .calls
                .iter()
                .map(|made| ToolCall {
                    arguments: self.redacted(&made.arguments),
                    ..made.clone()
                })
                .collect(),
            answered: said.answered.clone(),
        }
    }
}
