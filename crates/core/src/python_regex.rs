//! Regular expressions with Python's meaning.
//!
//! Judges are written for Python's `re`, so `$` also matches before a newline that ends the text,
//! `\<` is a plain `<`, `[a&&b]` is a set with an ampersand, `\w` knows no combining marks, and so
//! on. A pattern is read as Python 3.11 reads a `str` pattern. If the `regex` crate can do what it
//! says, it is written in that crate's syntax, and its time is linear in the text; look-around,
//! references, conditions and atomic groups go to a small backtracking engine with a bound on its
//! steps. (`fancy-regex` was tried there: fuzzing made it panic, and it is not exact on conditions.)
//! What cannot be done is refused when a judge is loaded. `tests/fixtures/python_regex.json` holds
//! what Python itself answers.
//!
//! Known differences: classes follow the Unicode version of the Rust crates, and a fault of Python
//! 3.11 is not copied: it looks for the first character of `(?a:\W)` by the flags outside the group.

mod charset;
mod linear;
mod parse;
mod program;
mod search;
mod token;
mod tree;

use std::fmt;
use std::sync::LazyLock;

use crate::text;

/// Longer patterns are refused, in code points.
const MAX_PATTERN: usize = 4_000;

/// Why a pattern is refused when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Python refuses it too.
    Invalid(String),
    /// Python takes it, but it cannot be done here.
    Unsupported(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) => write!(f, "the pattern is not valid: {why}"),
            Self::Unsupported(why) => write!(f, "the pattern cannot be used here: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A search came to no answer within its bound of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GaveUp;

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the pattern takes too many steps on this text")
    }
}

impl std::error::Error for GaveUp {}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct PythonRegex {
    linear: Option<LinearEngine>,
    backtracking: program::Program,
}

#[derive(Debug, Clone)]
struct LinearEngine {
    regex: regex::Regex,
    /// It only does for texts without [`DISPUTED`] characters.
    own_boundaries: bool,
}

/// Characters that either Python or the `regex` crate, but not both, take for word characters.
static DISPUTED: LazyLock<regex::Regex> = LazyLock::new(|| {
    let python = tree::Kind::Word.members(false);
    regex::Regex::new(&format!(r"[\w~~[{python}]]")).expect("a fixed pattern")
});

impl PythonRegex {
    /// Compiles a pattern as Python's `re.compile(pattern)` would.
    ///
    /// # Errors
    /// When Python refuses the pattern, or when it cannot be done here.
    pub fn new(pattern: &str) -> Result<Self, Refusal> {
        if text::head(pattern, MAX_PATTERN).len() < pattern.len() {
            return Err(Refusal::Unsupported("it is too long".to_owned()));
        }
        let (tree, groups) = parse::parse(pattern)?;
        let linear = linear::linear(&tree).and_then(|linear| {
            // It is refused there when large counted repeats would take too much memory.
            let regex = regex::Regex::new(&linear.pattern).ok()?;
            Some(LinearEngine {
                regex,
                own_boundaries: linear.own_boundaries,
            })
        });
        Ok(Self {
            linear,
            backtracking: program::compile(&tree, groups),
        })
    }

    /// Whether Python's `re.search(pattern, text)` finds something.
    ///
    /// # Errors
    /// When a pattern that needs backtracking does not come to an end within its bound.
    pub fn found(&self, text: &str) -> Result<bool, GaveUp> {
        match &self.linear {
            Some(linear) if !linear.own_boundaries || !is_disputed(text) => {
                Ok(linear.regex.is_match(text))
            }
            _ => search::search(&self.backtracking, text).map_err(|_| GaveUp),
        }
    }
}

/// Whether the two may see different word boundaries in this text.
fn is_disputed(text: &str) -> bool {
    text.is_empty() || (!text.is_ascii() && DISPUTED.is_match(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// What both engines can do, they do alike.
        #[test]
        fn the_engines_agree(
            pattern in r"([ab.]|\^|\$|\\b|\\w|\\s|[ab][*+?]\??|\((\?:)?[ab|]{1,3}\)[*+?]?|\[\^?[ab]\]|\|){1,6}",
            text in "[ab \n]{0,8}",
        ) {
            if let Ok(regex) = PythonRegex::new(&pattern)
                && let Some(linear) = &regex.linear
                && !text.is_empty()
            {
                let backtracking = search::search(&regex.backtracking, &text).ok();
                prop_assert_eq!(backtracking, Some(linear.regex.is_match(&text)));
            }
        }
    }
}
