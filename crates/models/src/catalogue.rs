//! The backends there are, in words.

use crate::{anthropic, azure_openai, minimax};

/// A backend for a person to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the settings.
    pub name: &'static str,
    /// What it is, one line.
    pub about: &'static str,
    /// Settings that must be given before it can be used, whoever uses it.
    pub needs: &'static [&'static str],
    /// What its key is usually called; empty for one that takes none or is signed in to elsewhere.
    pub key: &'static str,
}

impl Entry {
    const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            needs: &[],
            key: "",
        }
    }

    const fn with_key(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    const fn needing(self, needs: &'static [&'static str]) -> Self {
        Self { needs, ..self }
    }
}

/// What must be said of a server that can be anywhere.
const ANYWHERE: &[&str] = &["models.endpoint"];

/// Every backend, in the order of the settings.
pub const BACKENDS: &[Entry] = &[
    Entry::new(
        "mock",
        "A built-in simulation that follows the rules it is given; no model is asked.",
    ),
    Entry::new(
        "persona-sim",
        "The simulation of the experiments; knows the invented users only.",
    ),
    Entry::new(
        "openai_compatible",
        "Any server in OpenAI's manner: llama.cpp, Ollama, LM Studio, vLLM, OpenAI, OpenRouter.",
    )
    .needing(ANYWHERE)
    .with_key("OPENAI_API_KEY"),
    Entry::new(
        "anthropic",
        "Anthropic's Messages API with a key, by default that of ANTHROPIC_API_KEY.",
    )
    .with_key(anthropic::KEY_VARIABLE),
    Entry::new(
        "azure_openai",
        "A deployment of your Azure OpenAI resource, with a key or your Azure sign-in.",
    )
    .needing(ANYWHERE)
    .with_key(azure_openai::KEY_VARIABLE),
    Entry::new(
        "qwen",
        "Qwen on a vLLM-like server, by default on this computer; thinking can be chosen.",
    ),
    Entry::new(
        "minimax",
        "MiniMax in either region, by default with the key of MINIMAX_API_KEY.",
    )
    .with_key(minimax::KEY_VARIABLE),
    Entry::new(
        "claude",
        "Claude Code as you are signed in to it, or with a key.",
    ),
    Entry::new("codex", "Codex as you are signed in to it, or with a key."),
    Entry::new(
        "copilot",
        "GitHub Copilot's command line as you are signed in to it, or with a key.",
    ),
    Entry::new(
        "cursor",
        "Cursor's agent as you are signed in to it, or with a key.",
    ),
    Entry::new(
        "opencode",
        "OpenCode with a provider you have set up in it.",
    ),
    Entry::new("pi", "Pi with a provider you have set up in it."),
    Entry::new(
        "handoff",
        "A person or another program answers questions written to files.",
    ),
    Entry::new(
        "cassette",
        "The replies of a recorded night, from the file models.cassette; no model is asked.",
    )
    .needing(&["models.cassette"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_list_of_the_settings() {
        let names: Vec<&str> = BACKENDS.iter().map(|entry| entry.name).collect();
        assert_eq!(names, skillopt_settings::BACKENDS.words);
    }

    #[test]
    fn what_it_needs_are_settings() {
        for entry in BACKENDS {
            for key in entry.needs {
                assert!(skillopt_settings::row(key).is_some(), "{key}");
            }
        }
    }
}
