//! The documents that are improved.

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::hash::sha256_hex;

/// What kind of document a target is. The words are those of edits and reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A skill file (`SKILL.md`), loaded when its description fits the work.
    Skill,
    /// A memory file (`CLAUDE.md`, `AGENTS.md`), always loaded.
    Memory,
}

impl TargetKind {
    /// The word used in rows, flags and `--json`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Memory => "memory",
        }
    }
}

/// One document of one agent that a night may propose to change.
///
/// `id` is unique within a night: `claude:skill`, `codex:memory`; skills the user wrote carry their
/// name (`claude:skill:deploy`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Unique within a night, stable over nights.
    pub id: String,
    /// The agent that reads the document.
    pub agent: Agent,
    /// Skill or memory.
    pub kind: TargetKind,
    /// Where the agent looks for it, as a path.
    pub path: String,
    /// The file that is really read and written: links and `@imports` resolved.
    pub real_path: String,
    /// The bytes pinned at the start of the night; `None` when there was no file.
    pub text: Option<String>,
}

impl Target {
    /// The pinned text, or the empty text of a file that does not exist yet.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or("")
    }

    /// SHA-256 of the pinned bytes; empty when there was no file (the reference's convention, §1.10).
    #[must_use]
    pub fn pin(&self) -> String {
        self.text
            .as_ref()
            .map_or_else(String::new, |text| sha256_hex(text.as_bytes()))
    }
}
