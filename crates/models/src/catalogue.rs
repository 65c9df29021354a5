//! The backends there are, in words.

/// A backend for a person to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the settings.
    pub name: &'static str,
    /// What it is, one line.
    pub about: &'static str,
}

/// Every backend, in the order of the settings.
pub const BACKENDS: &[Entry] = &[
    Entry {
        name: "mock",
        about: "A built-in simulation that follows the rules it is given; no model is asked.",
    },
    Entry {
        name: "persona-sim",
        about: "The simulation of the experiments; knows the invented users only.",
    },
    Entry {
        name: "openai_compatible",
        about: "Any server in OpenAI's manner: llama.cpp, Ollama, LM Studio, vLLM, OpenAI, OpenRouter.",
    },
    Entry {
        name: "anthropic",
        about: "Anthropic's Messages API with a key, by default that of ANTHROPIC_API_KEY.",
    },
    Entry {
        name: "azure_openai",
        about: "A deployment of your Azure OpenAI resource, with a key or your Azure sign-in.",
    },
    Entry {
        name: "qwen",
        about: "Qwen on a vLLM-like server, by default on this computer; thinking can be chosen.",
    },
    Entry {
        name: "minimax",
        about: "MiniMax in either region, by default with the key of MINIMAX_API_KEY.",
    },
    Entry {
        name: "claude",
        about: "Claude Code as you are signed in to it, or with a key.",
    },
    Entry {
        name: "codex",
        about: "Codex as you are signed in to it, or with a key.",
    },
    Entry {
        name: "copilot",
        about: "GitHub Copilot's command line as you are signed in to it, or with a key.",
    },
    Entry {
        name: "cursor",
        about: "Cursor's agent as you are signed in to it, or with a key.",
    },
    Entry {
        name: "opencode",
        about: "OpenCode with a provider you have set up in it.",
    },
    Entry {
        name: "pi",
        about: "Pi with a provider you have set up in it.",
    },
    Entry {
        name: "handoff",
        about: "A person or another program answers questions written to files.",
    },
    Entry {
        name: "cassette",
        about: "The replies of a recorded night, from the file models.cassette; no model is asked.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_list_of_the_settings() {
        let names: Vec<&str> = BACKENDS.iter().map(|entry| entry.name).collect();
        assert_eq!(names, skillopt_settings::BACKENDS.words);
    }
}
