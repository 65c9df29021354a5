//! Chat Completions and Responses of whoever speaks them: vLLM, llama.cpp, Ollama, LM Studio,
//! DeepSeek, OpenRouter, OpenAI and many more.

use crate::http::Protocol;

/// The `kind` of this backend.
pub const KIND: &str = "openai_compatible";
/// The reference's variable with its address.
pub const ENDPOINT_VARIABLE: &str = "OPENAI_COMPATIBLE_BASE_URL";
/// The reference's variable with its key.
pub const KEY_VARIABLE: &str = "OPENAI_COMPATIBLE_API_KEY";
/// The reference's variable with its model.
pub const MODEL_VARIABLE: &str = "OPENAI_COMPATIBLE_MODEL";

/// Models that have no Chat Completions (as the reference has it: research §4.4).
const RESPONSES_ONLY: [&str; 6] = [
    "gpt-5.3-codex",
    "gpt-5.1-codex",
    "gpt-5.2-codex",
    "gpt-5-codex",
    "codex-mini",
    "gpt-5.4-pro",
];

/// What a model of OpenAI's is asked with: Responses where it has nothing else. A model may be named
/// with a date or a size behind its name, and with its maker in front of it.
#[must_use]
pub fn protocol_of(model: &str) -> Protocol {
    let name = model.rsplit('/').next().unwrap_or(model);
    let responses_only = RESPONSES_ONLY.iter().any(|known| {
        name.strip_prefix(known)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    });
    if responses_only {
        Protocol::Responses
    } else {
        Protocol::Chat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_models_without_chat_completions_get_responses() {
        for (model, protocol) in [
            ("gpt-5.1-codex", Protocol::Responses),
            ("gpt-5.1-codex-max", Protocol::Responses),
            ("openai/gpt-5-codex", Protocol::Responses),
            ("codex-mini-latest", Protocol::Responses),
            ("gpt-5.1", Protocol::Chat),
            ("gpt-5.1-codexes", Protocol::Chat),
            ("gpt-4o", Protocol::Chat),
            ("", Protocol::Chat),
        ] {
            assert_eq!(protocol_of(model), protocol, "{model}");
        }
    }
}
