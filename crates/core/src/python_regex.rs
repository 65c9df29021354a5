//! Regular expressions with Python's meaning.
//!
//! Judges are written for Python's `re`, so `$` also matches before a newline that ends the text,
//! `\<` is a plain `<`, `[a&&b]` is a set with an ampersand, `\w` knows no combining marks, and so
//! on. A pattern is read as Python 3.11 reads a `str` pattern, then written anew for an engine:
//! `regex`, whose time is linear in the text, whenever no look-around, reference or atomic group
//! needs `fancy-regex`, which backtracks within a limit. What neither can do is refused when a
//! judge is loaded. `tests/fixtures/python_regex.json` holds what Python itself answers.
//!
//! Known differences: character classes follow the Unicode version of the Rust crates rather than
//! Python's, and a reference that ignores case compares texts of equal UTF-8 length only.

mod emit;
mod parse;
mod token;
mod tree;

use std::fmt;
use std::sync::LazyLock;

use crate::text;

/// Longer patterns are refused, in code points.
const MAX_PATTERN: usize = 4_000;

/// The backtracking engine gives up after so many steps back.
const MAX_STEPS: usize = 200_000;

/// The backtracking engine is not asked about longer texts, in bytes: one step may read the text
/// to its end, so only both bounds together keep a hostile pattern short.
const MAX_TEXT: usize = 32 * 1024;

/// Why a pattern is refused when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Python refuses it too.
    Invalid(String),
    /// Python takes it, but no engine here can do the same.
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

/// Why a search came to no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GaveUp {
    /// The pattern backtracked too much on this text.
    Steps,
    /// The text is too long for a pattern that may backtrack.
    Length,
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "the pattern takes too many steps on this reply",
            Self::Length => "the reply is too long for this kind of pattern",
        })
    }
}

impl std::error::Error for GaveUp {}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct PythonRegex {
    engines: Engines,
}

#[derive(Debug, Clone)]
enum Engines {
    /// The linear engine means what Python means.
    Linear(Box<regex::Regex>),
    /// The linear engine does for texts without a character that only one of the two calls a word
    /// character; the backtracking engine does for all.
    LinearUnlessDisputed {
        linear: Box<regex::Regex>,
        exact: Box<fancy_regex::Regex>,
    },
    /// Only the backtracking engine will do.
    Backtracking(Box<fancy_regex::Regex>),
}

/// Characters that either Python or `regex`, but not both, take for word characters.
static DISPUTED: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(&format!(r"[\w~~[{}]]", emit::WORD)).expect("a fixed pattern")
});

impl PythonRegex {
    /// Compiles a pattern as Python's `re.compile(pattern)` would.
    ///
    /// # Errors
    /// When Python refuses the pattern, or when no engine here can do what it says.
    pub fn new(pattern: &str) -> Result<Self, Refusal> {
        if text::head(pattern, MAX_PATTERN).len() < pattern.len() {
            return Err(Refusal::Unsupported("it is too long".to_owned()));
        }
        let tree = parse::parse(pattern)?;
        let backtracking = || {
            let translated = emit::backtracking(&tree);
            fancy_regex::RegexBuilder::new(&translated)
                .backtrack_limit(MAX_STEPS)
                .build()
                .map(Box::new)
                .map_err(|_| too_much())
        };
        let engines = match emit::linear(&tree) {
            None => Engines::Backtracking(backtracking()?),
            Some(translated) => {
                let linear =
                    regex::Regex::new(&translated.pattern).map_err(|_| too_much())?;
                let linear = Box::new(linear);
                if translated.own_boundaries {
                    Engines::LinearUnlessDisputed { linear, exact: backtracking()? }
                } else {
                    Engines::Linear(linear)
                }
            }
        };
        Ok(Self { engines })
    }

    /// Whether Python's `re.search(pattern, text)` finds something.
    ///
    /// # Errors
    /// When a pattern that needs backtracking does not come to an end within its limits.
    pub fn found(&self, text: &str) -> Result<bool, GaveUp> {
        match &self.engines {
            Engines::Linear(linear) => Ok(linear.is_match(text)),
            Engines::LinearUnlessDisputed { linear, exact } => {
                if text.is_empty() || (!text.is_ascii() && DISPUTED.is_match(text)) {
                    backtrack(exact, text)
                } else {
                    Ok(linear.is_match(text))
                }
            }
            Engines::Backtracking(exact) => backtrack(exact, text),
        }
    }
}

fn too_much() -> Refusal {
    Refusal::Unsupported("it is too large or combines features that do not go together".to_owned())
}

fn backtrack(regex: &fancy_regex::Regex, text: &str) -> Result<bool, GaveUp> {
    if text.len() > MAX_TEXT {
        return Err(GaveUp::Length);
    }
    regex.is_match(text).map_err(|_| GaveUp::Steps)
}
