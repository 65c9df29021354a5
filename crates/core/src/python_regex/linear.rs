//! Writes a parsed pattern in the syntax of the `regex` crate, whose time is linear in the text.
//!
//! No flag of that engine is relied upon: case is resolved in the sets, classes by letter are
//! spelled out as Python means them, and every other character is written so that it can only
//! mean itself.

use std::fmt::Write;

use super::tree::{Category, Greed, Node, Position, Set};

/// A pattern for the linear engine.
pub(super) struct Linear {
    /// The pattern.
    pub(super) pattern: String,
    /// It contains the engine's own `\b` or `\B`, which differ from Python's on a few characters
    /// and on the empty text.
    pub(super) own_boundaries: bool,
}

/// The pattern for the linear engine; `None` when it needs backtracking.
pub(super) fn linear(node: &Node) -> Option<Linear> {
    let mut writer = Writer {
        out: String::new(),
        own_boundaries: false,
    };
    writer.node(node, true)?;
    Some(Linear {
        pattern: writer.out,
        own_boundaries: writer.own_boundaries,
    })
}

struct Writer {
    out: String,
    own_boundaries: bool,
}

impl Writer {
    /// Writes a part; `None` when the engine has nothing like it. `last` says that nothing of the
    /// whole pattern follows.
    fn node(&mut self, node: &Node, last: bool) -> Option<()> {
        match node {
            Node::Set(set) => self.set(set),
            Node::Any { newline: true } => self.out.push_str("(?s:.)"),
            Node::Any { newline: false } => self.out.push_str(r"[^\n]"),
            Node::Sequence(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.node(part, last && index + 1 == parts.len())?;
                }
            }
            Node::Alternatives(branches) => {
                self.out.push_str("(?:");
                for (index, branch) in branches.iter().enumerate() {
                    if index > 0 {
                        self.out.push('|');
                    }
                    self.node(branch, last)?;
                }
                self.out.push(')');
            }
            // Without references and conditions nobody asks what a group matched.
            Node::Capture { body, .. } => self.group(body, last)?,
            Node::Repeat {
                greed: Greed::Possessive,
                ..
            } => return None,
            Node::Repeat { body, min, max, .. } => {
                self.group(body, false)?;
                match max {
                    None => self.push(format_args!("{{{min},}}")),
                    Some(max) => self.push(format_args!("{{{min},{max}}}")),
                }
            }
            Node::Position(position) => self.position(*position, last)?,
            Node::Look { .. }
            | Node::Atomic(_)
            | Node::Reference { .. }
            | Node::Conditional { .. } => return None,
        }
        Some(())
    }

    fn group(&mut self, body: &Node, last: bool) -> Option<()> {
        self.out.push_str("(?:");
        self.node(body, last)?;
        self.out.push(')');
        Some(())
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.out.write_fmt(text);
    }

    fn position(&mut self, position: Position, last: bool) -> Option<()> {
        self.out.push_str(match position {
            Position::TextStart => r"\A",
            Position::TextEnd => r"\z",
            // At the very end of a pattern the newline may as well be matched.
            Position::TextEndOrLastNewline if last => r"\n?\z",
            Position::LineStart => "(?m:^)",
            Position::LineEnd => "(?m:$)",
            Position::WordBoundary {
                ascii: false,
                negated,
            } => {
                self.own_boundaries = true;
                if negated { r"\B" } else { r"\b" }
            }
            Position::TextEndOrLastNewline | Position::WordBoundary { ascii: true, .. } => {
                return None;
            }
        });
        Some(())
    }

    fn set(&mut self, set: &Set) {
        if let Some(c) = set.single() {
            self.character(c);
            return;
        }
        let empty = set.categories.is_empty() && set.chars.ranges().is_empty();
        match (empty, set.negated) {
            (true, true) => return self.out.push_str("(?s:.)"),
            (true, false) => return self.out.push_str(r"[^\s\S]"),
            (false, true) => self.out.push_str("[^"),
            (false, false) => self.out.push('['),
        }
        for range in set.chars.iter() {
            self.character(range.start());
            if range.start() != range.end() {
                self.out.push('-');
                self.character(range.end());
            }
        }
        for Category {
            kind,
            negated,
            ascii,
        } in &set.categories
        {
            let members = kind.members(*ascii);
            if *negated {
                self.push(format_args!("[^{members}]"));
            } else {
                self.out.push_str(members);
            }
        }
        self.out.push(']');
    }

    /// A character that means itself, in and outside sets.
    fn character(&mut self, c: char) {
        if c.is_ascii_alphanumeric() {
            self.out.push(c);
        } else {
            self.push(format_args!("\\x{{{:X}}}", u32::from(c)));
        }
    }
}
