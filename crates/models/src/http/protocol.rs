//! The three ways in which servers are spoken to.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;
use skillopt_core::call::Call;

use super::answer::Answer;
use super::dialect::Dialect;
use super::failure::Asked;
use super::manner::Manner;
use super::{chat, messages, responses};
use crate::error::CallError;

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Chat Completions, spoken by nearly everything.
    Chat,
    /// OpenAI's Responses; the only one that some of its models have.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

impl Protocol {
    /// What it is called in errors.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat completions",
            Self::Responses => "Responses API",
            Self::Messages => "Messages API",
        }
    }

    /// Where questions go, below the base address.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Chat => "chat/completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }

    /// The header that says which version of it is meant.
    pub(super) const fn version_header(self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::Chat | Self::Responses => None,
            Self::Messages => Some((
                HeaderName::from_static("anthropic-version"),
                HeaderValue::from_static("2023-06-01"),
            )),
        }
    }

    pub(super) fn request(self, call: &Call, dialect: &Dialect, manner: &Manner) -> Value {
        match self {
            Self::Chat => chat::request(call, dialect, manner),
            Self::Responses => responses::request(call, dialect, manner),
            Self::Messages => messages::request(call, dialect, manner),
        }
    }

    /// Puts a whole reply, or one piece of a streamed one, into `answer`.
    ///
    /// # Errors
    /// What the server reported instead of a piece.
    pub(super) fn take(
        self,
        answer: &mut Answer,
        piece: &Value,
        asked: &Asked<'_>,
    ) -> Result<(), CallError> {
        match self {
            Self::Chat => {
                chat::take(answer, piece);
                Ok(())
            }
            Self::Responses => responses::take(answer, piece, asked),
            Self::Messages => {
                messages::take(answer, piece);
                Ok(())
            }
        }
    }
}
