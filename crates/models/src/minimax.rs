//! MiniMax over HTTP: Chat Completions in two regions, with its own words for thinking.

use skillopt_settings::{Region, Thinking as Wish};

use crate::http::Thinking;

/// The `kind` of this backend.
pub const KIND: &str = "minimax";

/// The variable of the key when none is named.
pub const KEY_VARIABLE: &str = "MINIMAX_API_KEY";
/// The reference's variable with its address.
pub const ENDPOINT_VARIABLE: &str = "MINIMAX_BASE_URL";
/// The model asked for when none is configured.
pub const MODEL: &str = "MiniMax-M3";

/// Where it is in a region.
#[must_use]
pub const fn endpoint(region: Region) -> &'static str {
    match region {
        Region::Global => "https://api.minimax.io/v1",
        Region::China => "https://api.minimaxi.com/v1",
    }
}

/// What is sent about thinking, always: models of the second generation cannot but think, others
/// think when they are told to (research §4.8).
#[must_use]
pub fn thinking(model: &str, wish: Wish) -> Thinking {
    let always = model.starts_with("MiniMax-M2");
    Thinking::Named(match wish {
        Wish::Enabled => "adaptive",
        Wish::Unset | Wish::ServerDefault | Wish::Disabled if always => "adaptive",
        Wish::Unset | Wish::ServerDefault | Wish::Disabled => "disabled",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_generation_always_thinks() {
        for (model, wish, kind) in [
            ("MiniMax-M2.7", Wish::Unset, "adaptive"),
            ("MiniMax-M2", Wish::Disabled, "adaptive"),
            ("MiniMax-M3", Wish::Unset, "disabled"),
            ("MiniMax-M3", Wish::ServerDefault, "disabled"),
            ("MiniMax-M3", Wish::Disabled, "disabled"),
            ("MiniMax-M3", Wish::Enabled, "adaptive"),
        ] {
            assert_eq!(thinking(model, wish), Thinking::Named(kind), "{model}");
        }
    }
}
