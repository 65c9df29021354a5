//! How much of a memory file an agent reads.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// Codex reads this many bytes of `AGENTS.md` files, from the project's root to the folder it works in,
/// and silently nothing after them, unless `project_doc_max_bytes` says otherwise. The file in its own
/// home does not count (openai/codex issues 7138 and 37956).
pub const CODEX_CHAIN_BYTES: u64 = 32 * 1024;
/// Claude Code warns about a `CLAUDE.md` longer than this, in code points; later versions allow more
/// (anthropics/claude-code issues 56406 and 92980).
pub const CLAUDE_MEMORY_CHARS: usize = 40_000;
/// Claude Code leaves out a `CLAUDE.md` larger than this, in bytes (anthropics/claude-code issue 92980).
pub const CLAUDE_MEMORY_BYTES: usize = 4 * 1024 * 1024;

/// A document that is, or is about to be, larger than its agent reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeFault {
    /// Whether it keeps a proposal from being staged; otherwise it is a warning.
    pub blocks: bool,
    /// One sentence.
    pub message: String,
}

impl SizeFault {
    /// The fault as a user is told of it, with code `memory_too_long`.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let guidance =
            "Move parts that are rarely needed into a skill or another file, or delete rules.";
        Problem::permanent("memory_too_long", self.message.clone(), guidance)
    }
}

/// Checks a chain of files that share one limit, in bytes, when one of them is to have a new size.
///
/// `chain` has the files in the order they are read, root first, each with its size; a `changed` file
/// that is not among them is read last. More than the limit blocks, because what is cut off is the end
/// of the chain, where rules are; from nine tenths of it on there is a warning.
#[must_use]
pub fn check_chain(chain: &[(String, u64)], changed: (&str, u64), limit: u64) -> Option<SizeFault> {
    let (name, size) = changed;
    let mut sizes: Vec<(&str, u64)> = chain
        .iter()
        .map(|(other, old)| (other.as_str(), if other == name { size } else { *old }))
        .collect();
    if !sizes.iter().any(|(other, _)| *other == name) {
        sizes.push((name, size));
    }
    let total = sizes
        .iter()
        .fold(0_u64, |sum, (_, size)| sum.saturating_add(*size));
    if total > limit {
        let mut read = 0_u64;
        let cut = sizes.iter().find(|(_, size)| {
            read = read.saturating_add(*size);
            read > limit
        });
        let cut = cut.map_or(name, |(name, _)| name);
        let message = format!(
            "The instruction files would have {total} bytes together, but the agent reads {limit}: it would \
             stop inside {cut}."
        );
        return Some(SizeFault {
            blocks: true,
            message,
        });
    }
    (total > limit - limit / 10).then(|| SizeFault {
        blocks: false,
        message: format!(
            "The instruction files would have {total} of the {limit} bytes the agent reads."
        ),
    })
}

/// Checks the text of a `CLAUDE.md`.
#[must_use]
pub fn check_claude_memory(text: &str) -> Option<SizeFault> {
    if text.len() > CLAUDE_MEMORY_BYTES {
        let message = format!(
            "The file would have {} bytes; Claude Code leaves out files of more than {CLAUDE_MEMORY_BYTES}.",
            text.len()
        );
        return Some(SizeFault {
            blocks: true,
            message,
        });
    }
    let length = text.chars().count();
    (length > CLAUDE_MEMORY_CHARS).then(|| SizeFault {
        blocks: false,
        message: format!(
            "The file would have {length} characters; Claude Code advises against more than {CLAUDE_MEMORY_CHARS}."
        ),
    })
}
