//! The parsed form of a Python pattern, with all flags already resolved.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::program::Case;

/// One part of a pattern.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// One character out of a set.
    Set(Set),
    /// `.`: any character, a newline only with the `s` flag.
    Any {
        /// Whether a newline matches too.
        newline: bool,
    },
    /// One after the other.
    Sequence(Vec<Node>),
    /// The first that leads to a match.
    Alternatives(Vec<Node>),
    /// A capturing group.
    Capture {
        /// Its number, from 1.
        group: usize,
        /// What it captures.
        body: Box<Node>,
    },
    /// The body several times.
    Repeat {
        /// What is repeated.
        body: Box<Node>,
        /// At least so often.
        min: u32,
        /// At most so often; `None` has no upper bound.
        max: Option<u32>,
        /// How a repeat gives back.
        greed: Greed,
    },
    /// A condition on the position.
    Position(Position),
    /// `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`.
    Look {
        /// How many characters back the body begins; `None` looks ahead.
        behind: Option<u64>,
        /// Whether the body must not match.
        negated: bool,
        /// What is looked for.
        body: Box<Node>,
    },
    /// `(?>…)`: once matched, never given back.
    Atomic(Box<Node>),
    /// What a group matched, again.
    Reference {
        /// Number of the group, from 1.
        group: usize,
        /// Which letters are equal.
        case: Case,
    },
    /// `(?(1)yes|no)`.
    Conditional {
        /// Number of the group, from 1.
        group: usize,
        /// If the group took part.
        yes: Box<Node>,
        /// If it did not.
        no: Option<Box<Node>>,
    },
}

/// How a repeat chooses its number of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Greed {
    /// As many as possible, giving back.
    Greedy,
    /// As few as possible.
    Lazy,
    /// As many as possible, never giving back.
    Possessive,
}

/// A condition on the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// `\A`, or `^` without the `m` flag.
    TextStart,
    /// `\Z`.
    TextEnd,
    /// `$` without the `m` flag: the end, or before a newline that ends the text.
    TextEndOrLastNewline,
    /// `^` with the `m` flag.
    LineStart,
    /// `$` with the `m` flag.
    LineEnd,
    /// `\b` or `\B`.
    WordBoundary {
        /// Only ASCII characters are word characters.
        ascii: bool,
        /// `\B`.
        negated: bool,
    },
}

/// The flags that change what a part means.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_all: bool,
    pub(super) verbose: bool,
    pub(super) ascii: bool,
}

/// The classes Python knows by letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `\d`
    Digit,
    /// `\s`
    Space,
    /// `\w`
    Word,
}

impl Kind {
    /// Its members, in the syntax of a set of the `regex` crate.
    pub(super) const fn members(self, ascii: bool) -> &'static str {
        match (self, ascii) {
            (Self::Digit, false) => r"\p{Nd}",
            (Self::Digit, true) => "0-9",
            // `str.isspace` has four control characters more than Unicode's White_Space.
            (Self::Space, false) => r"\s\x1C-\x1F",
            (Self::Space, true) => r"\t-\r ",
            // `str.isalnum` and the underscore: no combining marks, but every kind of number.
            (Self::Word, false) => r"\p{L}\p{N}_",
            (Self::Word, true) => "0-9A-Z_a-z",
        }
    }
}

/// One class by letter, as it stands in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Category {
    pub(super) kind: Kind,
    pub(super) negated: bool,
    pub(super) ascii: bool,
}

/// A set of characters.
#[derive(Debug, Clone)]
pub(super) struct Set {
    /// Single characters and ranges; when case is ignored, already with every equivalent.
    pub(super) chars: ClassUnicode,
    /// Classes by letter; ignoring case never widens these.
    pub(super) categories: Vec<Category>,
    /// Whether the set is everything else.
    pub(super) negated: bool,
}

impl Set {
    /// The empty set.
    pub(super) fn empty() -> Self {
        Self {
            chars: ClassUnicode::empty(),
            categories: Vec::new(),
            negated: false,
        }
    }

    /// The set of one code point.
    pub(super) fn of(code: u32, flags: Flags) -> Self {
        let mut set = Self::empty();
        set.add_range(code, code);
        set.ignore_case(flags);
        set
    }

    /// Adds the code points from `first` to `last`. Surrogates are left out: no text has them.
    pub(super) fn add_range(&mut self, first: u32, last: u32) {
        for (low, high) in [(first, last.min(0xD7FF)), (first.max(0xE000), last)] {
            if let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high))
                && low <= high
            {
                self.chars.push(ClassUnicodeRange::new(low, high));
            }
        }
    }

    /// Adds what equals a member when case is ignored, if these flags say so.
    ///
    /// Python's equivalence is Unicode simple case folding, and in addition it takes the four
    /// Latin letters i (with and without a dot, both cases) for one.
    pub(super) fn ignore_case(&mut self, flags: Flags) {
        if !flags.ignore_case {
            return;
        }
        if flags.ascii {
            let letters: Vec<(u8, u8)> = self.chars.iter().flat_map(ascii_letters).collect();
            for (first, last) in letters {
                let other = |letter: u8| char::from(letter ^ 0x20);
                self.chars
                    .push(ClassUnicodeRange::new(other(first), other(last)));
            }
            return;
        }
        let letters_i = ['I', 'i', '\u{130}', '\u{131}'];
        let has_i = self.chars.iter().any(|range| {
            letters_i
                .iter()
                .any(|i| (range.start()..=range.end()).contains(i))
        });
        if has_i {
            for i in letters_i {
                self.chars.push(ClassUnicodeRange::new(i, i));
            }
        }
        self.chars.case_fold_simple();
    }

    /// The only character of the set, if it has exactly one.
    pub(super) fn single(&self) -> Option<char> {
        match self.chars.ranges() {
            [range]
                if range.start() == range.end() && self.categories.is_empty() && !self.negated =>
            {
                Some(range.start())
            }
            _ => None,
        }
    }
}

/// The parts of a range that are ASCII letters of one case.
fn ascii_letters(range: &ClassUnicodeRange) -> impl Iterator<Item = (u8, u8)> {
    let clip = |first: u8, last: u8| {
        let low = u32::from(range.start()).max(u32::from(first));
        let high = u32::from(range.end()).min(u32::from(last));
        match (u8::try_from(low), u8::try_from(high)) {
            (Ok(low), Ok(high)) if low <= high => Some((low, high)),
            _ => None,
        }
    };
    [clip(b'A', b'Z'), clip(b'a', b'z')].into_iter().flatten()
}
