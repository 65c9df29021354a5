//! What must hold so that an agent really loads a document: checked before anything is staged.
//!
//! An agent leaves out a skill file it cannot read without a word (field notes 64), and cuts off long
//! memory files (field notes 65). The rules are those of the Agent Skills specification
//! (agentskills.io/specification) and of the loaders of Claude Code and Codex; where they differ, the
//! strictest loader decides what blocks.
//!
//! The user's front matter is only read. It is never written back, so its form survives.

mod front_matter;
mod name;
mod size;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use front_matter::{FrontMatter, Unreadable, Value};

pub use name::{is_loadable_name, safe_skill_name};
pub use size::{
    CLAUDE_MEMORY_BYTES, CLAUDE_MEMORY_CHARS, CODEX_CHAIN_BYTES, SizeFault, check_chain,
    check_claude_memory,
};

/// The longest name, in code points.
pub const MAX_NAME: usize = 64;
/// The longest description, in code points.
pub const MAX_DESCRIPTION: usize = 1024;
/// The longest `compatibility` text, in code points.
pub const MAX_COMPATIBILITY: usize = 500;
/// A skill's text should stay below this many lines; all of it is loaded when the skill is used.
pub const LONG_BODY: usize = 500;

/// What is wrong with a skill file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillFaultKind {
    /// A byte order mark stands before the front matter.
    ByteOrderMark,
    /// The first line is not `---`.
    NoFrontMatter,
    /// No second `---` line ends the front matter.
    FrontMatterNotClosed,
    /// The front matter is not YAML, or not a map.
    NotYaml,
    /// An unquoted value has a colon followed by a space, which YAML takes for another key.
    UnquotedColon,
    /// A key stands twice.
    RepeatedKey,
    /// A value that must be text is a number, a list or something else.
    NotText,
    /// An unquoted value is cut off at ` #`, which begins a comment.
    CutByComment,
    /// There is no `name`: agents take the folder's.
    NameMissing,
    /// The name is not lower-case letters, digits and single hyphens, or is too long.
    NameInvalid,
    /// The name is not the folder's.
    NameNotFolder,
    /// There is no `description`.
    DescriptionMissing,
    /// The description is too long.
    DescriptionTooLong,
    /// `compatibility` is empty or too long.
    CompatibilityInvalid,
    /// The text is long.
    LongBody,
}

impl SkillFaultKind {
    /// Whether it keeps a proposal from being staged; otherwise it is a warning.
    #[must_use]
    pub const fn blocks(self) -> bool {
        !matches!(
            self,
            Self::NameMissing | Self::CutByComment | Self::LongBody
        )
    }

    /// What to do about it.
    const fn guidance(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "Save the file as UTF-8 without a byte order mark.",
            Self::NoFrontMatter => {
                "Begin the file with a line `---`, lines `name: …` and `description: …`, and another `---`."
            }
            Self::FrontMatterNotClosed => {
                "Put a line `---` after the last line of the front matter."
            }
            Self::NotYaml => "Write the front matter as lines of `key: value`.",
            Self::UnquotedColon | Self::CutByComment => "Put the value in double quotes.",
            Self::RepeatedKey => "Keep one of the two lines.",
            Self::NotText => "Put the value in double quotes, on one line.",
            Self::NameMissing | Self::NameNotFolder => "Give the skill the name of its folder.",
            Self::NameInvalid => "Use at most 64 lower-case letters, digits and single hyphens.",
            Self::DescriptionMissing => {
                "Add a line `description: …` that says when to use the skill."
            }
            Self::DescriptionTooLong => "Shorten the description and move details into the text.",
            Self::CompatibilityInvalid => "Shorten `compatibility`, or leave it out.",
            Self::LongBody => "Move parts that are rarely needed into files beside it.",
        }
    }
}

/// Something wrong with a skill file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFault {
    /// What it is.
    pub kind: SkillFaultKind,
    /// The line it is about, from 1; `None` when it is about the whole file.
    pub line: Option<usize>,
    /// One sentence.
    pub message: String,
}

impl SkillFault {
    fn new(
        kind: SkillFaultKind,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            line: line.into(),
            message: message.into(),
        }
    }

    /// Whether it keeps a proposal from being staged.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.kind.blocks()
    }

    /// The fault as a user is told of it, with code `skill_invalid`.
    #[must_use]
    pub fn problem(&self) -> Problem {
        Problem::permanent("skill_invalid", self.message.clone(), self.kind.guidance())
    }
}

/// Everything wrong with the text of a `SKILL.md` in the folder of this name, blocking or not. Keys
/// the specification does not know are fine.
#[must_use]
pub fn check_skill(text: &str, folder: &str) -> Vec<SkillFault> {
    let mut faults = Vec::new();
    let without_mark = text.trim_start_matches('\u{feff}');
    if without_mark.len() < text.len() {
        let message = "A byte order mark stands before the front matter, so agents do not see it.";
        faults.push(SkillFault::new(SkillFaultKind::ByteOrderMark, 1, message));
    }
    match front_matter::read(without_mark) {
        Ok(front) => {
            check_front_matter(&front, folder, &mut faults);
            check_body(front.body, &mut faults);
        }
        Err(unreadable) => faults.push(unreadable_fault(unreadable)),
    }
    faults
}

fn unreadable_fault(unreadable: Unreadable) -> SkillFault {
    match unreadable {
        Unreadable::Missing => SkillFault::new(
            SkillFaultKind::NoFrontMatter,
            1,
            "The file does not begin with front matter, so agents do not load it as a skill.",
        ),
        Unreadable::NotClosed => SkillFault::new(
            SkillFaultKind::FrontMatterNotClosed,
            1,
            "The front matter has no closing `---` line, so agents do not load the skill.",
        ),
        Unreadable::Colon { line, key } => SkillFault::new(
            SkillFaultKind::UnquotedColon,
            line,
            format!(
                "The value of `{key}` has a colon and is not in quotes, so the front matter cannot be read."
            ),
        ),
        Unreadable::NotYaml { line } => SkillFault::new(
            SkillFaultKind::NotYaml,
            line,
            format!(
                "The front matter cannot be read at line {line}, so agents do not load the skill."
            ),
        ),
    }
}

fn check_front_matter(front: &FrontMatter<'_>, folder: &str, faults: &mut Vec<SkillFault>) {
    for (key, line) in &front.repeated {
        let message = format!("The front matter has `{key}` twice.");
        faults.push(SkillFault::new(SkillFaultKind::RepeatedKey, *line, message));
    }
    check_name(front.value("name"), folder, faults);
    check_description(front.value("description"), faults);
    if let Some(value) = front.value("compatibility")
        && !value
            .text()
            .is_some_and(|text| (1..=MAX_COMPATIBILITY).contains(&text.trim().chars().count()))
    {
        let message =
            format!("`compatibility` must be a text of 1 to {MAX_COMPATIBILITY} characters.");
        faults.push(SkillFault::new(
            SkillFaultKind::CompatibilityInvalid,
            value.line,
            message,
        ));
    }
}

fn check_name(value: Option<&Value>, folder: &str, faults: &mut Vec<SkillFault>) {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        let message = "The front matter has no `name`; agents that allow this take the folder's.";
        faults.push(SkillFault::new(SkillFaultKind::NameMissing, None, message));
        return;
    };
    let Some(name) = value.text() else {
        faults.push(not_text("name", value.line));
        return;
    };
    if !is_loadable_name(name) {
        let message =
            "The `name` is not made of at most 64 lower-case letters, digits and single hyphens.";
        faults.push(SkillFault::new(
            SkillFaultKind::NameInvalid,
            value.line,
            message,
        ));
    }
    if name != folder {
        let message = "The `name` in the front matter differs from the name of the skill's folder.";
        faults.push(SkillFault::new(
            SkillFaultKind::NameNotFolder,
            value.line,
            message,
        ));
    }
}

fn check_description(value: Option<&Value>, faults: &mut Vec<SkillFault>) {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        let message =
            "The front matter has no `description`, so no agent knows when to use the skill.";
        faults.push(SkillFault::new(
            SkillFaultKind::DescriptionMissing,
            None,
            message,
        ));
        return;
    };
    let Some(description) = value.text() else {
        faults.push(not_text("description", value.line));
        return;
    };
    let length = description.trim().chars().count();
    if length > MAX_DESCRIPTION {
        let message = format!(
            "The `description` has {length} characters; agents load at most {MAX_DESCRIPTION}."
        );
        faults.push(SkillFault::new(
            SkillFaultKind::DescriptionTooLong,
            value.line,
            message,
        ));
    }
    if value.is_cut_by_comment {
        let message = "The `description` is cut off at ` #`, which begins a comment.";
        faults.push(SkillFault::new(
            SkillFaultKind::CutByComment,
            value.line,
            message,
        ));
    }
}

fn not_text(key: &str, line: usize) -> SkillFault {
    SkillFault::new(
        SkillFaultKind::NotText,
        line,
        format!("The value of `{key}` is not a text."),
    )
}

fn check_body(body: &str, faults: &mut Vec<SkillFault>) {
    let lines = body.lines().count();
    if lines >= LONG_BODY {
        let message =
            format!("The skill has {lines} lines; all of them are loaded whenever it is used.");
        faults.push(SkillFault::new(SkillFaultKind::LongBody, None, message));
    }
}

#[cfg(test)]
mod tests;
