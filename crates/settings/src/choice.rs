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

words! {
    /// Whose sessions are read.
    Source {
        /// Every agent that has sessions for the project.
        Auto = "auto",
        /// Claude Code alone.
        Claude = "claude",
        /// Codex alone.
        Codex = "codex",
        /// As the reference does: Codex when it has any session, else Claude Code.
        ReferenceAuto = "reference-auto",
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

/// The backends of this version.
pub const BACKENDS: Choices = Choices {
    words: &[
        "mock",
        "persona-sim",
        "openai_compatible",
        "claude",
        "handoff",
    ],
    aliases: &[
        ("persona_sim", "persona-sim"),
        ("openai-compatible", "openai_compatible"),
    ],
    absent: &[
        "codex",
        "copilot",
        "cursor",
        "pi",
        "opencode",
        "azure_openai",
    ],
};

pub(crate) const SOURCES: Choices = Choices {
    words: Source::WORDS,
    aliases: &[],
    absent: &["copilot", "copilot_cli", "cursor", "pi", "opencode"],
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
