//! The learned region: the one part of a user's document that SkillOpt writes.
//!
//! A document is the user's. Rules live between two marker lines (§6.5 of the reference), and every
//! byte outside them is kept: line endings, blank runs, a missing final newline, a byte order mark,
//! text after the region. Taking the last rule away takes the region away and gives back the bytes
//! that were there before the first rule came.
//!
//! A region as this version writes it:
//!
//! ```text
//! <!-- SKILLOPT-SLEEP:LEARNED START -->
//! ## Learned preferences & procedures
//!
//! _…banner…_
//!
//! - a rule
//! - a rule of several lines:
//!   its further lines are indented by two spaces
//! <!-- SKILLOPT-SLEEP:LEARNED END -->
//! ```
//!
//! A marker is a line of its own, indented by at most three spaces, outside fenced code. A rule is a
//! line that begins with `- ` and the lines after it that are indented further. Anything else in the region was put
//! there by somebody and stays where it is.

mod blocks;
mod body;
mod span;

use std::fmt;

use crate::problem::Problem;
use body::Body;
use span::{Found, Span, find};

/// The line that opens the region (§6.5).
pub const START: &str = "<!-- SKILLOPT-SLEEP:LEARNED START -->";
/// The line that closes the region (§6.5).
pub const END: &str = "<!-- SKILLOPT-SLEEP:LEARNED END -->";

/// What marks a marker, without white space and in upper case: those of the region (§6.5) and of the
/// reference's slow update (§6.6).
pub(crate) const MARKER_WORDS: [&str; 3] = [
    "SKILLOPT-SLEEP:LEARNED",
    "SLOW_UPDATE_START",
    "SLOW_UPDATE_END",
];

/// The heading of a region (§6.5).
const HEADING: &str = "Learned preferences & procedures";
/// The banner of a region. It names SkillOpt, by which it is recognised as ours.
const BANNER: &str = "_Rules that SkillOpt learned from your own corrections; each was shown to you \
                      before it came here. Text outside this block is never changed._";

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Why a document's learned region cannot be read or written. Lines count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionFault {
    /// A start marker has no end marker.
    Unterminated {
        /// Line of the start marker.
        line: usize,
    },
    /// A second start marker stands inside the region.
    Nested {
        /// Line of the inner start marker.
        line: usize,
    },
    /// The document has more than one region.
    Several,
    /// An end marker has no start marker before it.
    StrayEnd {
        /// Line of the end marker.
        line: usize,
    },
    /// A rule that was to be written has a marker as one of its lines.
    MarkerInRule,
    /// Text in the region would be mistaken for rules, or rules for text, after the change.
    Unclear,
}

impl RegionFault {
    /// The fault as a user is told of it, with code `region_broken`.
    #[must_use]
    pub fn problem(self) -> Problem {
        let guidance = match self {
            Self::Unterminated { .. } => {
                format!(
                    "Put the line `{END}` after the last learned rule, or remove the start marker."
                )
            }
            Self::Nested { line } => format!("Remove the start marker on line {line}."),
            Self::Several => {
                "Move all learned rules into the first region and remove the others.".to_owned()
            }
            Self::StrayEnd { line } => {
                format!("Remove line {line}, or put `{START}` before the learned rules.")
            }
            Self::MarkerInRule => "Reject this rule.".to_owned(),
            Self::Unclear => {
                "Move the hand-written text in the learned region out of it, and try again."
                    .to_owned()
            }
        };
        Problem::permanent("region_broken", self.to_string(), guidance)
    }
}

impl fmt::Display for RegionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unterminated { line } => {
                write!(
                    f,
                    "The learned region that starts on line {line} has no end marker."
                )
            }
            Self::Nested { line } => {
                write!(
                    f,
                    "A second start marker stands inside the learned region, on line {line}."
                )
            }
            Self::Several => f.write_str("The document has more than one learned region."),
            Self::StrayEnd { line } => {
                write!(
                    f,
                    "The end marker of a learned region on line {line} has no start marker before it."
                )
            }
            Self::MarkerInRule => f.write_str("A rule has a region marker as one of its lines."),
            Self::Unclear => f.write_str(
                "The learned region holds text that cannot be told apart from its rules.",
            ),
        }
    }
}

impl std::error::Error for RegionFault {}

/// The learned rules of a document in order; none when it has no region.
///
/// Every rule is [`tidy`]. A rule of several lines has them separated by `\n`, without the
/// indentation they have in the document.
///
/// # Errors
/// When the markers do not form exactly one region.
pub fn rules(document: &str) -> Result<Vec<String>, RegionFault> {
    let found = find(document)?;
    Ok(found
        .region
        .map_or_else(Vec::new, |span| span.body(document).rules()))
}

/// `document` with exactly these learned rules, and every byte outside the region kept.
///
/// Rules are made [`tidy`] first and blank ones left out; [`rules`] then reads exactly these back.
/// A rule that was there before keeps its bytes, and so does every line of the region that is not a
/// rule. Rules the document already has change nothing. Without a region one is appended, in the
/// document's line endings; where the document ends inside a code fence that is never closed, the
/// region goes before that fence. Without rules the region is removed, unless it holds something
/// hand-written.
///
/// For a document without a region, `with_rules(with_rules(d, r), [])` is `d`, byte for byte. For a
/// region at the end of the document that holds nothing but what this function wrote, going to other
/// rules and back gives the same bytes too.
///
/// # Errors
/// When the markers do not form exactly one region, when a rule has a marker as one of its lines, or
/// when hand-written text in the region makes the result ambiguous.
pub fn with_rules(document: &str, rules: &[String]) -> Result<String, RegionFault> {
    let wanted: Vec<String> = rules
        .iter()
        .map(|rule| tidy(rule))
        .filter(|rule| !rule.is_empty())
        .collect();
    let found = find(document)?;
    let body = found.region.as_ref().map(|span| span.body(document));
    let current = body.as_ref().map_or_else(Vec::new, Body::rules);
    if current == wanted {
        return Ok(document.to_owned());
    }
    // A marker on a rule's first line stands behind `- ` and is text.
    let is_new_and_marked =
        |rule: &&String| rule.lines().skip(1).any(is_marker) && !current.contains(rule);
    if wanted.iter().any(|rule| is_new_and_marked(&rule)) {
        return Err(RegionFault::MarkerInRule);
    }
    let (Some(span), Some(body)) = (&found.region, body) else {
        return proven(appended(document, &found, &wanted), &wanted).ok_or(RegionFault::Unclear);
    };
    if wanted.is_empty() && body.is_only_ours() {
        return Ok(removed(document, span));
    }
    let (before, after) = (&document[..span.body_start], &document[span.body_end..]);
    let body = body.with_rules(&wanted, span.newline(document));
    proven(format!("{before}{body}{after}"), &wanted).ok_or(RegionFault::Unclear)
}

/// A rule as it is kept and compared: `\n` as line ending, no white space at the end of a line, none
/// around the whole.
#[must_use]
pub fn tidy(rule: &str) -> String {
    let lines = rule.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = lines.split('\n').map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

/// What two texts must share to be the same rule: lower case, white space collapsed (§6.5).
#[must_use]
pub fn key(text: &str) -> String {
    crate::text::one_line(text).to_lowercase()
}

/// The text of a new skill file (§6.5), in our own words, with front matter a loader accepts when
/// `name` is a valid skill name.
#[must_use]
pub fn scaffold(name: &str) -> String {
    format!(
        "---\n\
         name: {name}\n\
         description: Preferences and procedures this user has taught in earlier sessions. \
         Use at the start of every task and follow the rules it lists.\n\
         ---\n\
         \n\
         # {name}\n\
         \n\
         Follow these rules unless the user says otherwise in the session at hand.\n"
    )
}

/// Whether a line, white space aside, is one of the two markers.
fn is_marker(line: &str) -> bool {
    matches!(line.trim(), START | END)
}

/// `document`, if exactly the `wanted` rules are read from it.
fn proven(document: String, wanted: &[String]) -> Option<String> {
    (rules(&document).is_ok_and(|read| read == wanted)).then_some(document)
}

/// `document` with a new region.
///
/// What is put around the region says how the document ended, so that [`removed`] can undo it: a
/// document without a final newline gets a region without one.
fn appended(document: &str, found: &Found, rules: &[String]) -> String {
    let newline = newline_of(document);
    let (before, after) = document.split_at(found.open_fence.unwrap_or(document.len()));
    let region = Body::fresh(rules, newline);
    let (gap, tail) = if before.trim_start_matches(BYTE_ORDER_MARK).is_empty() {
        (String::new(), newline)
    } else if before.ends_with('\n') {
        (newline.to_owned(), newline)
    } else {
        (newline.repeat(2), "")
    };
    format!("{before}{gap}{START}{newline}{region}{END}{tail}{after}")
}

/// `document` without its region: the inverse of [`appended`].
fn removed(document: &str, span: &Span) -> String {
    let newline = span.newline(document);
    let (before, after) = (&document[..span.start], &document[span.end..]);
    let ended_bare = after.is_empty() && !document.ends_with('\n');
    let without_gap = |times: usize| {
        let kept = (0..times).try_fold(before, |text, _| text.strip_suffix(newline))?;
        let bare = kept.trim_start_matches(BYTE_ORDER_MARK);
        // A region that somebody put right below a line must not glue that line to the next one.
        (!bare.is_empty() && bare.ends_with('\n') == (times == 1)).then_some(kept)
    };
    let kept = if ended_bare { without_gap(2) } else { None };
    format!(
        "{}{after}",
        kept.or_else(|| without_gap(1)).unwrap_or(before)
    )
}

/// The line ending of most lines; `\n` when there is no line or no majority.
fn newline_of(document: &str) -> &'static str {
    let all = document.matches('\n').count();
    let windows = document.matches("\r\n").count();
    if windows * 2 > all { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests;
