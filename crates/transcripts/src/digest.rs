//! The digest of a session (§1.1 of the reference).

use serde::{Deserialize, Serialize};

use crate::session::{Author, Session};

/// How many of the agent's last answers a digest keeps (§1.1).
const FINALS: usize = 5;

/// A session as one flat object, with the names and the order of §1.1 of the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Digest {
    /// Session id as the agent names it.
    pub session_id: String,
    /// Absolute folder of the session; may be empty.
    pub project: String,
    /// Git branch; may be empty.
    pub git_branch: String,
    /// When the first turn was written: ISO 8601 in UTC, or empty.
    pub started_at: String,
    /// When the last turn was written: ISO 8601 in UTC, or empty.
    pub ended_at: String,
    /// The human turns, in order.
    pub user_prompts: Vec<String>,
    /// The last answers, at most five.
    pub assistant_finals: Vec<String>,
    /// Tools called, each once.
    pub tools_used: Vec<String>,
    /// Skills used, each once.
    pub skills_used: Vec<String>,
    /// Files written, each once.
    pub files_touched: Vec<String>,
    /// Feedback signals of all human turns, repeats kept.
    pub feedback_signals: Vec<String>,
    /// How many human turns there are.
    pub n_user_turns: usize,
    /// How many of them were answered.
    pub n_assistant_turns: usize,
    /// The transcript file.
    pub raw_path: String,
}

impl Session {
    /// The digest of this session.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let answers: Vec<_> = self
            .turns
            .iter()
            .filter(|turn| turn.author == Author::Assistant)
            .collect();
        let finals: Vec<String> = answers
            .iter()
            .filter(|turn| !turn.text.is_empty())
            .map(|turn| turn.text.clone())
            .collect();
        let time = |instant: Option<skillopt_core::Instant>| {
            instant.map_or_else(String::new, |instant| instant.to_string())
        };
        Digest {
            session_id: self.id.clone(),
            project: self.directory.clone(),
            git_branch: self.branch.clone(),
            started_at: time(self.started),
            ended_at: time(self.ended),
            user_prompts: self.human_turns().map(|turn| turn.text.clone()).collect(),
            assistant_finals: finals[finals.len().saturating_sub(FINALS)..].to_vec(),
            tools_used: self.tools.clone(),
            skills_used: self.skills.clone(),
            files_touched: self.files.clone(),
            feedback_signals: self
                .human_turns()
                .flat_map(|turn| turn.feedback.iter().cloned())
                .collect(),
            n_user_turns: self.human_turns().count(),
            n_assistant_turns: answers.len(),
            raw_path: self.path.to_string_lossy().into_owned(),
        }
    }
}
