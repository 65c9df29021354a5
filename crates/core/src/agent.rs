//! The coding agents whose sessions are read and whose documents are improved.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// OpenAI Codex.
    Codex,
    /// GitHub Copilot CLI.
    Copilot,
    /// Copilot Chat in VS Code.
    Vscode,
    /// Cursor.
    Cursor,
    /// Pi.
    Pi,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// OpenClaw.
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// Devin's command line.
    Devin,
}

impl Agent {
    /// Every agent this version reads, in the order they are shown.
    pub const ALL: [Self; 9] = [
        Self::Claude,
        Self::Codex,
        Self::Copilot,
        Self::Vscode,
        Self::Cursor,
        Self::Pi,
        Self::OpenCode,
        Self::OpenClaw,
        Self::Devin,
    ];

    /// The name used in flags, settings, rows and `--json`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Vscode => "vscode",
            Self::Cursor => "cursor",
            Self::Pi => "pi",
            Self::OpenCode => "opencode",
            Self::OpenClaw => "openclaw",
            Self::Devin => "devin",
        }
    }

    /// The name shown to a person.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Copilot => "GitHub Copilot CLI",
            Self::Vscode => "Copilot Chat in VS Code",
            Self::Cursor => "Cursor",
            Self::Pi => "Pi",
            Self::OpenCode => "OpenCode",
            Self::OpenClaw => "OpenClaw",
            Self::Devin => "Devin",
        }
    }

    /// The agent with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.id() == id)
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
