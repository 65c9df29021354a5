//! Writes a parsed pattern in the syntax that `regex` and `fancy-regex` share.
//!
//! No flag of those engines is relied upon: case is resolved in the sets, classes by letter are
//! spelled out as Python means them, and every other character is written so that it can only
//! mean itself.

use std::fmt::Write;

use super::tree::{Category, Greed, Kind, Node, Position, Set};

/// Word characters as Python's `str` patterns mean them: `str.isalnum` and the underscore.
pub(super) const WORD: &str = r"\p{L}\p{N}_";

/// The pattern for the linear engine, and how it treats `\b`.
pub(super) struct Linear {
    /// The pattern.
    pub(super) pattern: String,
    /// It contains the engine's own `\b` or `\B`, which differ from Python's on a few characters
    /// and on the empty text.
    pub(super) own_boundaries: bool,
}

/// The pattern for the linear engine; `None` when it needs backtracking.
pub(super) fn linear(node: &Node) -> Option<Linear> {
    let mut writer = Writer { out: String::new(), linear: true, fits: true, own_boundaries: false };
    writer.node(node, true);
    writer.fits.then_some(Linear { pattern: writer.out, own_boundaries: writer.own_boundaries })
}

/// The pattern for the backtracking engine.
pub(super) fn backtracking(node: &Node) -> String {
    let mut writer = Writer { out: String::new(), linear: false, fits: true, own_boundaries: false };
    writer.node(node, true);
    writer.out
}

struct Writer {
    out: String,
    /// Only what the linear engine has may be written.
    linear: bool,
    /// Everything so far could be written.
    fits: bool,
    own_boundaries: bool,
}

impl Writer {
    /// Writes a part. `last` says that nothing of the whole pattern follows it.
    fn node(&mut self, node: &Node, last: bool) {
        match node {
            Node::Set(set) => self.set(set),
            Node::Any { newline: true } => self.out.push_str("(?s:.)"),
            Node::Any { newline: false } => self.out.push_str(r"[^\n]"),
            Node::Sequence(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.node(part, last && index + 1 == parts.len());
                }
            }
            Node::Alternatives(branches) => {
                self.out.push_str("(?:");
                for (index, branch) in branches.iter().enumerate() {
                    if index > 0 {
                        self.out.push('|');
                    }
                    self.node(branch, last);
                }
                self.out.push(')');
            }
            // Without references and conditions nobody asks what a group matched.
            Node::Capture(body) if self.linear => self.wrapped("(?:", body, last),
            Node::Capture(body) => self.wrapped("(", body, last),
            Node::Repeat { body, min, max, greed } => self.repeat(body, *min, *max, *greed),
            Node::Position(position) => self.position(*position, last),
            Node::Look { ahead, negated, body } => {
                self.needs_backtracking();
                self.wrapped(
                    match (ahead, negated) {
                        (true, false) => "(?=",
                        (true, true) => "(?!",
                        (false, false) => "(?<=",
                        (false, true) => "(?<!",
                    },
                    body,
                    false,
                );
            }
            Node::Atomic(body) => {
                self.needs_backtracking();
                self.wrapped("(?>", body, false);
            }
            Node::Reference { group, ignore_case } => {
                self.needs_backtracking();
                let flag = if *ignore_case { "i" } else { "" };
                self.push(format_args!("(?{flag}:\\{group})"));
            }
            Node::Conditional { group, yes, no } => {
                self.needs_backtracking();
                self.push(format_args!("(?({group})"));
                self.wrapped("(?:", yes, false);
                if let Some(no) = no {
                    self.out.push('|');
                    self.wrapped("(?:", no, false);
                }
                self.out.push(')');
            }
        }
    }

    fn needs_backtracking(&mut self) {
        self.fits &= !self.linear;
    }

    fn wrapped(&mut self, open: &str, body: &Node, last: bool) {
        self.out.push_str(open);
        self.node(body, last);
        self.out.push(')');
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.out.write_fmt(text);
    }

    fn repeat(&mut self, body: &Node, min: u32, max: Option<u32>, greed: Greed) {
        if greed == Greed::Possessive {
            self.needs_backtracking();
            self.out.push_str("(?>");
        }
        if matches!(body, Node::Set(_) | Node::Any { .. }) {
            self.node(body, false);
        } else {
            self.wrapped("(?:", body, false);
        }
        match (min, max) {
            (0, None) => self.out.push('*'),
            (1, None) => self.out.push('+'),
            (0, Some(1)) => self.out.push('?'),
            (min, None) => self.push(format_args!("{{{min},}}")),
            (min, Some(max)) => self.push(format_args!("{{{min},{max}}}")),
        }
        match greed {
            Greed::Greedy => {}
            Greed::Lazy => self.out.push('?'),
            Greed::Possessive => self.out.push(')'),
        }
    }

    fn position(&mut self, position: Position, last: bool) {
        match position {
            Position::TextStart => self.out.push_str(r"\A"),
            Position::TextEnd => self.out.push_str(r"\z"),
            // At the very end of a pattern the newline may as well be matched.
            Position::TextEndOrLastNewline if last => self.out.push_str(r"\n?\z"),
            Position::TextEndOrLastNewline => {
                self.needs_backtracking();
                self.out.push_str(r"(?=\n?\z)");
            }
            Position::LineStart => self.out.push_str("(?m:^)"),
            Position::LineEnd => self.out.push_str("(?m:$)"),
            Position::WordBoundary { ascii: false, negated } if self.linear => {
                self.own_boundaries = true;
                self.out.push_str(if negated { r"\B" } else { r"\b" });
            }
            Position::WordBoundary { ascii, negated } => {
                self.needs_backtracking();
                let word = if ascii { "0-9A-Z_a-z" } else { WORD };
                if negated {
                    // Python finds no `\B` in the empty text.
                    self.push(format_args!(
                        r"(?:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}])(?!\A\z))"
                    ));
                } else {
                    self.push(format_args!(
                        "(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))"
                    ));
                }
            }
        }
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
        for category in &set.categories {
            self.category(*category);
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

    fn category(&mut self, category: Category) {
        let members = match (category.kind, category.ascii) {
            (Kind::Digit, false) => r"\p{Nd}",
            (Kind::Digit, true) => "0-9",
            // `str.isspace` has four control characters more than Unicode's White_Space.
            (Kind::Space, false) => r"\s\x1C-\x1F",
            (Kind::Space, true) => r"\t-\r ",
            (Kind::Word, false) => WORD,
            (Kind::Word, true) => "0-9A-Z_a-z",
        };
        if category.negated {
            self.push(format_args!("[^{members}]"));
        } else {
            self.out.push_str(members);
        }
    }
}
