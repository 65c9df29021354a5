//! Anthropic's Messages over HTTP, with an API key.

use crate::api_key::ApiKey;
use crate::http::Credential;

/// The `kind` of this backend.
pub const KIND: &str = "anthropic";

/// Where it is when no endpoint is set.
pub const ENDPOINT: &str = "https://api.anthropic.com/v1";
/// The variable of the key when none is named.
pub const KEY_VARIABLE: &str = "ANTHROPIC_API_KEY";
/// The model asked for when none is configured.
pub const MODEL: &str = "claude-sonnet-5-5";

/// The header in which it wants the key.
#[must_use]
pub fn credential(key: Option<ApiKey>) -> Credential {
    key.map_or(Credential::None, |key| Credential::Header("x-api-key", key))
}
