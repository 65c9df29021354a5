//! Qwen on a server that has its chat template (vLLM, SGLang, …): Chat Completions with a switch for
//! thinking.

use skillopt_core::Problem;
use skillopt_settings::{LegacyThinking, Thinking as Wish};

use crate::http::Thinking;

/// The `kind` of this backend.
pub const KIND: &str = "qwen";

/// Where it is when no endpoint is set: vLLM on this computer.
pub const ENDPOINT: &str = "http://localhost:8000/v1";
/// The variable of the key when none is named; without it none is sent.
pub const KEY_VARIABLE: &str = "QWEN_CHAT_API_KEY";
/// The reference's variable with its address.
pub const ENDPOINT_VARIABLE: &str = "QWEN_CHAT_BASE_URL";
/// The model asked for when none is configured.
pub const MODEL: &str = "Qwen/Qwen3.5-4B";

/// What is sent about thinking. There are three states, since a server's own default is neither yes
/// nor no. The older switch knows two of them: on, and whatever the server does.
///
/// # Errors
/// `thinking_conflict` when both are set and say different things.
pub fn thinking(wish: Wish, legacy: LegacyThinking) -> Result<Thinking, Problem> {
    let old = match legacy {
        LegacyThinking::Unset => None,
        LegacyThinking::On => Some(Wish::Enabled),
        LegacyThinking::Off => Some(Wish::ServerDefault),
    };
    let new = (wish != Wish::Unset).then_some(wish);
    if let (Some(old), Some(new)) = (old, new)
        && old != new
    {
        return Err(Problem::refused(
            "thinking_conflict",
            format!(
                "models.thinking says {}, and the older models.enable_thinking says {}, which means {}.",
                new.id(),
                legacy.id(),
                old.id()
            ),
            "Take models.enable_thinking out; models.thinking says all of it.",
        ));
    }
    Ok(match new.or(old).unwrap_or(Wish::ServerDefault) {
        Wish::Unset | Wish::ServerDefault => Thinking::ServerDefault,
        Wish::Enabled => Thinking::Template(true),
        Wish::Disabled => Thinking::Template(false),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_states_and_an_older_switch_with_two() {
        // Research §4.7: legacy true is enabled, legacy false leaves it to the server; both set and
        // disagreeing is an error.
        use LegacyThinking::{Off, On, Unset as NoLegacy};
        use Wish::{Disabled, Enabled, ServerDefault, Unset};
        for (wish, legacy, expected) in [
            (Unset, NoLegacy, Some(Thinking::ServerDefault)),
            (ServerDefault, NoLegacy, Some(Thinking::ServerDefault)),
            (Enabled, NoLegacy, Some(Thinking::Template(true))),
            (Disabled, NoLegacy, Some(Thinking::Template(false))),
            (Unset, On, Some(Thinking::Template(true))),
            (Unset, Off, Some(Thinking::ServerDefault)),
            (Enabled, On, Some(Thinking::Template(true))),
            (ServerDefault, Off, Some(Thinking::ServerDefault)),
            (Disabled, On, None),
            (ServerDefault, On, None),
            (Enabled, Off, None),
            (Disabled, Off, None),
        ] {
            let sent = thinking(wish, legacy);
            assert_eq!(sent.clone().ok(), expected, "{wish:?} {legacy:?}");
            if let Err(problem) = sent {
                assert_eq!(problem.code, "thinking_conflict");
                assert!(problem.refused, "as any other setting that cannot be used");
            }
        }
    }
}
