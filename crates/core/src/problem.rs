//! What a user is told when something cannot be done.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// The same request will fail the same way until somebody changes something.
    Permanent,
    /// The same request may succeed later without any change.
    Temporary,
}

/// A public error: a stable code, one sentence, what to do next, and whether trying again helps.
///
/// The code is part of the interface (`--json`, scripts, the window); the words are not.
/// Nobody matches on the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Problem {
    /// Stable `snake_case` identifier, listed in `docs/errors.md`.
    pub code: std::borrow::Cow<'static, str>,
    /// One full sentence saying what happened.
    pub message: String,
    /// One sentence saying what to do next; empty only when nothing can be done.
    pub guidance: String,
    /// Whether trying again can help.
    pub retry: Retry,
    /// What was asked for is wrong, or is not done as things stand: how the program of a command ends, and of
    /// no meaning to anybody else, so that it is neither told nor stored.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub refused: bool,
}

impl Problem {
    /// A problem that stays until somebody changes something.
    pub fn permanent(
        code: &'static str,
        message: impl Into<String>,
        guidance: impl Into<String>,
    ) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            guidance: guidance.into(),
            retry: Retry::Permanent,
            refused: false,
        }
    }

    /// A [`permanent`](Self::permanent) one whose cause is the request itself: wrong usage, or something that
    /// is not done as things stand.
    pub fn refused(
        code: &'static str,
        message: impl Into<String>,
        guidance: impl Into<String>,
    ) -> Self {
        Self {
            refused: true,
            ..Self::permanent(code, message, guidance)
        }
    }

    /// A problem that may be gone on the next try.
    pub fn temporary(
        code: &'static str,
        message: impl Into<String>,
        guidance: impl Into<String>,
    ) -> Self {
        Self {
            retry: Retry::Temporary,
            ..Self::permanent(code, message, guidance)
        }
    }

    /// What is printed of it where JSON is asked for: its fields, the code as `error`, and `ok`, which is
    /// false.
    #[must_use]
    pub fn as_json(&self) -> serde_json::Value {
        serde_json::json!({
            "ok": false,
            "error": self.code,
            "message": self.message,
            "guidance": self.guidance,
            "retry": self.retry,
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}
