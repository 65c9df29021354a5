//! The unit an optimizer proposes: one bounded change to the learned region of a document.

use serde::{Deserialize, Serialize};

use crate::task::SourceTurn;

/// What an edit does to the list of learned rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum EditOp {
    /// Append a rule.
    Add,
    /// Remove exactly one rule.
    Delete,
    /// Put `content` in the place of exactly one rule.
    Replace,
}

/// One proposed change, with the evidence it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Edit {
    /// What to do.
    pub op: EditOp,
    /// The rule to add, or the rule that replaces the anchored one. Empty for a delete.
    #[serde(default)]
    pub content: String,
    /// The rule an edit refers to: its whole text, or a part that occurs in exactly one rule.
    #[serde(default)]
    pub anchor: String,
    /// Why, in the optimizer's words.
    #[serde(default)]
    pub rationale: String,
    /// The tasks whose failures led to this edit.
    #[serde(default)]
    pub tasks: Vec<String>,
    /// The human turns behind those tasks.
    #[serde(default)]
    pub turns: Vec<SourceTurn>,
}

/// Why an edit did not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unmatched {
    /// There is nothing to add, or nothing to look for.
    Blank,
    /// The rule is already there.
    Duplicate,
    /// No rule contains the anchor.
    AnchorAbsent,
    /// More than one rule contains the anchor.
    AnchorAmbiguous,
    /// The replacement equals what it replaces.
    Identical,
    /// The text touches a redaction mark: it would write the mark into the user's file.
    Redacted,
    /// The text contains a region marker.
    Marker,
    /// The text opens an HTML comment and leaves it open: agents that leave out comments would not
    /// see the rules after it.
    OpenComment,
    /// The text contains a control character.
    ControlCharacter,
    /// The text is longer than a rule may be.
    TooLong,
}

impl Unmatched {
    /// The reason in one sentence.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Blank => "The edit says nothing to add, or no rule to look for.",
            Self::Duplicate => "The rule is already there.",
            Self::AnchorAbsent => "No learned rule contains the text the edit refers to.",
            Self::AnchorAmbiguous => {
                "More than one learned rule contains the text the edit refers to."
            }
            Self::Identical => "The replacement is the rule it would replace.",
            Self::Redacted => "The edit touches a place where a secret was left out.",
            Self::Marker => "The text contains a marker of the learned region.",
            Self::OpenComment => "The text opens an HTML comment and does not close it.",
            Self::ControlCharacter => "The text contains a control character.",
            Self::TooLong => "The text is longer than a rule may be.",
        }
    }
}
