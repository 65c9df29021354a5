//! What a server says in the place of a reply.

use serde_json::Value;

/// The words of an error, in the many shapes in which servers put them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) message: String,
    pub(super) code: String,
    kind: String,
    pub(super) parameter: String,
    /// The status that an error inside a successful response claims.
    pub(super) status: Option<u16>,
}

impl Said {
    /// Plain words, without a code.
    pub(super) fn words(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            ..Self::default()
        }
    }

    /// Reads the body of an error response.
    pub(super) fn read(body: &str) -> Self {
        match serde_json::from_str(body) {
            Ok(value) => Self::from_json(&value),
            Err(_) => Self::words(body),
        }
    }

    /// Reads `{"error":{"message","code","type","param"}}`, `{"error":"…"}`, `{"message":"…"}`,
    /// `{"detail":"…"}`, or the first element of a list of these.
    pub(super) fn from_json(value: &Value) -> Self {
        let value = value
            .as_array()
            .and_then(|list| list.first())
            .unwrap_or(value);
        let inner = value.get("error").unwrap_or(value);
        if let Some(message) = inner.as_str() {
            return Self::words(message);
        }
        let word = |names: &[&str]| {
            names
                .iter()
                .filter_map(|name| inner.get(name))
                .map(|value| match value {
                    Value::String(text) => text.clone(),
                    Value::Null => String::new(),
                    other => other.to_string(),
                })
                .find(|text| !text.is_empty())
                .unwrap_or_default()
        };
        let (code, kind) = (word(&["code"]), word(&["type", "status"]));
        Self {
            message: word(&["message", "detail", "msg"]),
            status: inner
                .get("code")
                .and_then(Value::as_u64)
                .and_then(|code| u16::try_from(code).ok())
                .filter(|code| (400..600).contains(code))
                .or_else(|| status_of(&code))
                .or_else(|| status_of(&kind)),
            code,
            kind,
            parameter: word(&["param"]),
        }
    }

    /// Code, kind, parameter and message in one text, for looking up known words.
    pub(super) fn everything(&self) -> String {
        format!(
            "{} {} {} {}",
            self.code, self.kind, self.parameter, self.message
        )
    }

    pub(super) fn shown(&self) -> &str {
        if self.message.is_empty() {
            &self.code
        } else {
            &self.message
        }
    }
}

/// The status that belongs to a word for a kind of error, for errors that come inside a response.
fn status_of(word: &str) -> Option<u16> {
    Some(match word {
        "invalid_request_error" | "invalid_prompt" | "context_length_exceeded" => 400,
        "authentication_error" | "invalid_api_key" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}
