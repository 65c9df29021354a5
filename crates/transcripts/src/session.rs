//! One session, the same for every agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, Serializer};
use skillopt_core::Instant;
use skillopt_core::agent::Agent;

/// Who wrote a turn.
///
/// Only the turns of the person and the agent have words here. What tools returned and what programs
/// put in would be most of a session's bytes, and nothing is learned from it; it is counted
/// ([`Session::wrote`]) and let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The person.
    Human,
    /// The agent: its last words before the next human turn.
    Assistant,
    /// A tool: what a call returned.
    Tool,
    /// The agent's program, to the model: instructions, surroundings, summaries of what was said.
    System,
    /// A program in the person's place: prompts that nobody typed, texts of skills and commands.
    Generated,
}

/// One turn. Its text is redacted, without private spans, and cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Turn {
    /// Who wrote it.
    pub author: Author,
    /// The message's id as the agent names it, or `#` and its position in the session.
    pub id: String,
    /// When it was written, if the transcript says so.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub at: Option<Instant>,
    /// The folder the session was in at that moment; empty when the transcript does not say.
    pub directory: String,
    /// The git branch at that moment; empty when there is none or the agent did not know it.
    pub branch: String,
    /// The words: at most 16,000 code points of a person, 8,000 of the agent. Empty on an
    /// assistant turn that called tools and said nothing.
    pub text: String,
    /// Names of the tools the agent called in answer, each once, in order. The same on a human
    /// turn and on the assistant turn that answers it.
    pub tools: Vec<String>,
    /// Names of the skills the agent used in answer, like `tools`.
    pub skills: Vec<String>,
    /// Files the agent wrote in answer, absolute where the transcript allows it. On human turns and
    /// their answers, like `tools`.
    pub files: Vec<String>,
    /// The person interrupted the agent while it answered this human turn.
    pub interrupted: bool,
    /// Feedback signals of a human turn: those of its words, which are about the answer before it,
    /// and those of what happened to the answer it got
    /// ([`Happened`](skillopt_core::feedback::Happened)).
    pub feedback: Vec<String>,
}

/// One session, or the part of it that belongs to the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Session {
    /// The agent that recorded it.
    pub agent: Agent,
    /// Its id as the agent names it.
    pub id: String,
    /// The folder of its first turn; empty when the transcript does not say.
    pub directory: String,
    /// The git branch of its first turn; empty when there is none or the agent did not know it.
    pub branch: String,
    /// When its first turn was written.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub started: Option<Instant>,
    /// When its last turn was written.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub ended: Option<Instant>,
    /// Human turns, each followed by the agent's answer if there was one.
    pub turns: Vec<Turn>,
    /// How many turns each author wrote; none of those who wrote none. Those of the person and the
    /// agent are the ones in `turns`.
    pub wrote: BTreeMap<Author, u64>,
    /// Names of all tools called, each once, in order.
    pub tools: Vec<String>,
    /// Names of all skills used, each once, in order.
    pub skills: Vec<String>,
    /// All files the agent wrote, each once, in order.
    pub files: Vec<String>,
    /// The file it was read from; the most complete one when there are several. A name that is no
    /// text is stored as it is shown.
    #[serde(serialize_with = "as_shown")]
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub path: PathBuf,
}

/// A path as text: a night stores its sessions as JSON, whatever their files are called.
fn as_shown<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl Session {
    /// The human turns, in order.
    pub fn human_turns(&self) -> impl Iterator<Item = &Turn> {
        self.turns
            .iter()
            .filter(|turn| turn.author == Author::Human)
    }
}
