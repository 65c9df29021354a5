//! Sets of characters, resolved to ranges for the backtracking engine.

use std::sync::{Arc, LazyLock};

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::tree::{Category, Kind, Set};

/// A set of characters as sorted ranges.
#[derive(Debug, Clone)]
pub(super) struct Charset {
    ranges: Arc<[ClassUnicodeRange]>,
}

impl Charset {
    /// The members of a set.
    pub(super) fn new(set: &Set) -> Self {
        let mut chars = set.chars.clone();
        for Category {
            kind,
            negated,
            ascii,
        } in &set.categories
        {
            let mut members = letter_class(*kind, *ascii).clone();
            if *negated {
                members.negate();
            }
            chars.union(&members);
        }
        if set.negated {
            chars.negate();
        }
        Self {
            ranges: chars.ranges().into(),
        }
    }

    /// Any character, or any but a newline.
    pub(super) fn any(newline: bool) -> Self {
        let mut set = Set::empty();
        set.negated = true;
        if !newline {
            set.add_range(u32::from('\n'), u32::from('\n'));
        }
        Self::new(&set)
    }

    /// Whether `c` is a member.
    pub(super) fn contains(&self, c: char) -> bool {
        contains(&self.ranges, c)
    }
}

/// Whether `c` is a word character for Python.
pub(super) fn is_word(c: char, ascii: bool) -> bool {
    contains(letter_class(Kind::Word, ascii).ranges(), c)
}

fn contains(ranges: &[ClassUnicodeRange], c: char) -> bool {
    let after = ranges.partition_point(|range| range.end() < c);
    ranges.get(after).is_some_and(|range| range.start() <= c)
}

/// The members of `\d`, `\s` or `\w`.
fn letter_class(kind: Kind, ascii: bool) -> &'static ClassUnicode {
    static CLASSES: LazyLock<[ClassUnicode; 6]> = LazyLock::new(|| {
        [
            parsed(Kind::Digit, false),
            parsed(Kind::Digit, true),
            parsed(Kind::Space, false),
            parsed(Kind::Space, true),
            parsed(Kind::Word, false),
            parsed(Kind::Word, true),
        ]
    });
    let row = match kind {
        Kind::Digit => 0,
        Kind::Space => 2,
        Kind::Word => 4,
    };
    &CLASSES[row + usize::from(ascii)]
}

fn parsed(kind: Kind, ascii: bool) -> ClassUnicode {
    let pattern = format!("[{}]", kind.members(ascii));
    match regex_syntax::parse(&pattern).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        // The six patterns are fixed, and each is such a class.
        _ => ClassUnicode::empty(),
    }
}
