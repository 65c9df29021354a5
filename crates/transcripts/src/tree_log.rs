//! Logs whose entries form a tree: one JSON object a line, each entry naming the one it follows.
//!
//! Pi made this format and other agents took it over. What they share is here; what one of them
//! does otherwise is its [`Dialect`].

mod head;
mod reader;
mod record;
mod tree;

use std::borrow::Cow;

pub(crate) use head::Kind;
pub(crate) use reader::{Reader, State};

use crate::reason::Reason;

/// What an agent does otherwise than the others that write this format.
pub(crate) trait Dialect: Default + std::fmt::Debug {
    /// What an entry of this type is, which the format itself does not have.
    fn own_type(_name: &str) -> Option<Kind<'_>> {
        None
    }

    /// What stands in a message in the person's place. `line` is the whole entry.
    fn said<'a>(&self, line: &[u8], text: &'a str) -> Said<'a>;

    /// Whether the program says in a message in the person's place that the person refused a call.
    fn tells_refusal(_text: &str) -> bool {
        false
    }

    /// Whether the agent itself wrote a message in its place, and not its program. `line` is the
    /// whole entry.
    fn is_answer(_line: &[u8]) -> bool {
        true
    }

    /// The words of an answer.
    fn answer(words: Cow<'_, str>) -> Cow<'_, str> {
        words
    }
}

/// What stands in a person's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// A person's words, and the skill that was called with them.
    Words { words: Cow<'a, str>, skill: &'a str },
    /// Something else, which the agent answers all the same.
    Else(Reason),
}
