//! Settings that are one of a few words.

/// Declares an enum whose variants are words of settings.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $text:literal])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[doc = $text])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word, in the order they are shown.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word in files, flags and `--json`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

use serde::{Deserialize, Serialize};
use skillopt_core::agent::Agent;

/// Whose sessions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Source {
    /// Every agent that is there, as one.
    Auto,
    /// One agent alone.
    Only(Agent),
    /// As the reference does: Codex when it has any session, else Claude Code.
    ReferenceAuto,
}

impl Source {
    /// Every word: `auto`, each agent's, `reference-auto`.
    pub const WORDS: &'static [&'static str] = &{
        let mut words = [Self::Auto.id(); Agent::ALL.len() + 2];
        let mut at = 0;
        while at < Agent::ALL.len() {
            words[at + 1] = Agent::ALL[at].id();
            at += 1;
        }
        words[at + 1] = Self::ReferenceAuto.id();
        words
    };

    /// The word in files, flags and `--json`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Only(agent) => agent.id(),
            Self::ReferenceAuto => "reference-auto",
        }
    }
}

impl From<Source> for &'static str {
    fn from(source: Source) -> Self {
        source.id()
    }
}

impl TryFrom<String> for Source {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            "auto" => Ok(Self::Auto),
            "reference-auto" => Ok(Self::ReferenceAuto),
            id => Agent::from_id(id)
                .map(Self::Only)
                .ok_or_else(|| format!("there is no agent called {id}")),
        }
    }
}

words! {
    /// Which sessions belong to a project.
    Scope {
        /// Turns whose folder is inside the project.
        Project = "project",
        /// Also sessions that were started above the project.
        Parents = "parents",
        /// Every session there is.
        All = "all",
    }
}

words! {
    /// Whether proposals must pass the gate.
    GateMode {
        /// Only what is strictly better on held-out tasks is proposed.
        Strict = "strict",
        /// Nothing is checked; proposals say so.
        Off = "off",
    }
}

words! {
    /// What the gate compares.
    Metric {
        /// The share of tasks done.
        Hard = "hard",
        /// How well they were done.
        Soft = "soft",
        /// Both, weighed by `gate.mixed_weight`.
        Mixed = "mixed",
    }
}

words! {
    /// Where proposals wait.
    Staging {
        /// In the data folder.
        Data = "data",
        /// In the project, as the reference does.
        Project = "project",
    }
}

words! {
    /// What servers in OpenAI's manner are asked with.
    Api {
        /// Chat Completions, and Responses for models that have nothing else.
        Auto = "auto",
        /// Chat Completions.
        Chat = "chat",
        /// Responses.
        Responses = "responses",
    }
}

words! {
    /// Whether a model thinks before it answers.
    Thinking {
        /// Nothing is said.
        Unset = "unset",
        /// As the server does by itself.
        ServerDefault = "server_default",
        /// It thinks.
        Enabled = "enabled",
        /// It does not.
        Disabled = "disabled",
    }
}

words! {
    /// The reference's older switch for thinking.
    LegacyThinking {
        /// Nothing is said.
        Unset = "unset",
        /// It thinks.
        On = "true",
        /// As the server does by itself.
        Off = "false",
    }
}

words! {
    /// Where MiniMax is asked.
    Region {
        /// Everywhere but China.
        Global = "global_en",
        /// In China.
        China = "cn_zh",
    }
}

words! {
    /// How one signs in to Azure.
    AzureAuth {
        /// With a key when there is one, else as the Azure command line is signed in.
        Auto = "auto",
        /// With a key.
        Key = "key",
        /// As the Azure command line is signed in.
        CommandLine = "azure_cli",
        /// As the machine itself, which is one of Azure's.
        ManagedIdentity = "managed_identity",
    }
}

words! {
    /// Which language windows, tray and notifications speak.
    Language {
        /// That of the session, where it is one of these; else English.
        System = "system",
        /// English.
        English = "en",
        /// Simplified Chinese.
        Chinese = "zh",
    }
}

words! {
    /// The colours of the windows.
    Theme {
        /// Those of the desktop.
        System = "system",
        /// Dark text on light ground.
        Light = "light",
        /// Light text on dark ground.
        Dark = "dark",
    }
}

words! {
    /// For which panel the tray's icon is drawn.
    TrayIcon {
        /// The one that the desktop's colours speak of.
        Auto = "auto",
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}

words! {
    /// Which notifications come by themselves.
    Notifications {
        /// What waits for a decision or an answer, and trouble that lasts.
        All = "all",
        /// Only what waits for a decision or an answer.
        Decisions = "decisions",
        /// None.
        Off = "off",
    }
}

/// The words one setting takes, and the words of others it understands or knows.
#[derive(Debug, PartialEq, Eq)]
pub struct Choices {
    /// What may be written.
    pub words: &'static [&'static str],
    /// Words of the reference, and the ones they stand for.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Words of the reference that mean something this version does not have.
    pub absent: &'static [&'static str],
}

impl Choices {
    /// The word a text stands for: white space and letter case do not matter.
    #[must_use]
    pub fn word(&self, text: &str) -> Option<String> {
        let word = text.trim().to_lowercase();
        let aliased = self
            .aliases
            .iter()
            .find(|(alias, _)| *alias == word)
            .map(|(_, word)| *word);
        let own = self.words.iter().copied().find(|own| *own == word);
        own.or(aliased).map(str::to_owned)
    }
}

/// The backends of this version.
pub const BACKENDS: Choices = Choices {
    words: &[
        "mock",
        "persona-sim",
        "openai_compatible",
        "anthropic",
        "azure_openai",
        "qwen",
        "minimax",
        "claude",
        "codex",
        "copilot",
        "cursor",
        "opencode",
        "pi",
        "handoff",
        "cassette",
    ],
    aliases: &[
        ("persona_sim", "persona-sim"),
        ("openai-compatible", "openai_compatible"),
        ("codex_cli", "codex"),
        ("openai_codex", "codex"),
        ("copilot_cli", "copilot"),
        ("gh_copilot", "copilot"),
        ("github_copilot", "copilot"),
        ("cursor_agent", "cursor"),
        ("cursor_cli", "cursor"),
        ("opencode_cli", "opencode"),
        ("opencode-cli", "opencode"),
        ("pi_cli", "pi"),
        ("pi_coding_agent", "pi"),
        ("pi-coding-agent", "pi"),
        ("openai_compatible_chat", "openai_compatible"),
        ("azure", "azure_openai"),
        ("aoai", "azure_openai"),
        ("azure-openai", "azure_openai"),
        ("qwen_chat", "qwen"),
        ("minimax_chat", "minimax"),
        ("claude_cli", "claude"),
        ("claude_code", "claude"),
    ],
    absent: &[],
};

pub(crate) const SOURCES: Choices = Choices {
    words: Source::WORDS,
    aliases: &[("copilot_cli", "copilot")],
    absent: &[],
};

pub(crate) const SCOPES: Choices = Choices {
    words: Scope::WORDS,
    aliases: &[("invoked", "project")],
    absent: &[],
};

pub(crate) const GATE_MODES: Choices = Choices {
    words: GateMode::WORDS,
    aliases: &[
        ("on", "strict"),
        ("none", "off"),
        ("false", "off"),
        ("greedy", "off"),
    ],
    absent: &["confident"],
};

pub(crate) const METRICS: Choices = Choices {
    words: Metric::WORDS,
    aliases: &[],
    absent: &[],
};

pub(crate) const STAGINGS: Choices = Choices {
    words: Staging::WORDS,
    aliases: &[],
    absent: &[],
};

pub(crate) const APIS: Choices = Choices {
    words: Api::WORDS,
    aliases: &[],
    absent: &[],
};

/// The words of the reference (research §4.7).
pub(crate) const THINKINGS: Choices = Choices {
    words: Thinking::WORDS,
    aliases: &[
        ("server-default", "server_default"),
        ("auto", "server_default"),
        ("none", "server_default"),
        ("null", "server_default"),
        ("1", "enabled"),
        ("true", "enabled"),
        ("yes", "enabled"),
        ("on", "enabled"),
        ("enable", "enabled"),
        ("0", "disabled"),
        ("false", "disabled"),
        ("no", "disabled"),
        ("off", "disabled"),
        ("disable", "disabled"),
    ],
    absent: &[],
};

pub(crate) const LEGACY_THINKINGS: Choices = Choices {
    words: LegacyThinking::WORDS,
    aliases: &[
        ("1", "true"),
        ("yes", "true"),
        ("on", "true"),
        ("0", "false"),
        ("no", "false"),
        ("off", "false"),
    ],
    absent: &[],
};

pub(crate) const REGIONS: Choices = Choices {
    words: Region::WORDS,
    aliases: &[("global-en", "global_en"), ("cn-zh", "cn_zh")],
    absent: &[],
};

/// The reference's modes (research §4.4).
pub(crate) const AZURE_AUTHS: Choices = Choices {
    words: AzureAuth::WORDS,
    aliases: &[
        ("api_key", "key"),
        ("aad", "managed_identity"),
        ("azure_ad", "managed_identity"),
        // The reference's plain client, which has a key.
        ("openai_compatible", "key"),
        ("compat", "key"),
        ("openai", "key"),
    ],
    absent: &[],
};

pub(crate) const LANGUAGES: Choices = Choices {
    words: Language::WORDS,
    aliases: &[("zh-cn", "zh"), ("zh-hans", "zh")],
    absent: &[],
};

pub(crate) const THEMES: Choices = Choices {
    words: Theme::WORDS,
    aliases: &[],
    absent: &[],
};

pub(crate) const TRAY_ICONS: Choices = Choices {
    words: TrayIcon::WORDS,
    aliases: &[("system", "auto")],
    absent: &[],
};

pub(crate) const NOTIFICATIONS: Choices = Choices {
    words: Notifications::WORDS,
    aliases: &[("none", "off")],
    absent: &[],
};
