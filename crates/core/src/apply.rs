//! Edits on the learned rules of a document.
//!
//! An edit names a rule by its anchor, and an anchor names exactly one rule or the edit does not
//! apply: the reference deleted or rewrote every rule that contained it (§14 #5). What is written
//! into a user's file is checked first: a rule is short text without markers, control characters or
//! redaction marks (§14 #6).

use serde::{Deserialize, Serialize};

use crate::edit::{Edit, EditOp, Unmatched};
use crate::region::{self, RegionFault, key, rules, tidy, with_rules};

/// The longest rule an edit may write, in code points. Longer "rules" are transcripts, templates or
/// attempts to spell out the expected answers; rules already in a document may be longer.
pub const MAX_RULE_CHARS: usize = 500;

/// How redaction marks begin (§7.10); a cut-off mark is a mark too.
const MARK: &str = "[REDACTED";

/// A document after edits, and what became of each edit, both in the order given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The document with the edits that applied.
    pub document: String,
    /// The edits that applied.
    pub applied: Vec<Edit>,
    /// The edits that did not, and why.
    pub unmatched: Vec<(Edit, Unmatched)>,
}

/// Applies the edits one after the other to the learned rules of `document`.
///
/// Any subset of edits can be given, as when a reviewer takes some rules and leaves others; an edit
/// whose anchor was made by one left out is then unmatched. Nothing outside the learned region
/// changes; when no edit applies, nothing changes at all.
///
/// Anchors and duplicates are compared by [`key`]: a rule whose whole text is the anchor wins, else
/// the one rule that contains it. A delete may name its rule in `content` instead (§6.5). One leading
/// list bullet of a content is dropped; dashes that belong to the text (`--no-verify …`) stay.
///
/// # Errors
/// When the learned region is broken.
pub fn apply(document: &str, edits: &[Edit]) -> Result<Applied, RegionFault> {
    let mut rules = rules(document)?;
    let mut keys: Vec<String> = rules.iter().map(|rule| key(rule)).collect();
    let (mut applied, mut unmatched) = (Vec::new(), Vec::new());
    for edit in edits {
        match change(edit, &rules, &keys) {
            Ok(Change::Add(text)) => {
                keys.push(key(&text));
                rules.push(text);
            }
            Ok(Change::Delete(at)) => {
                keys.remove(at);
                rules.remove(at);
            }
            Ok(Change::Replace(at, text)) => {
                keys[at] = key(&text);
                rules[at] = text;
            }
            Err(reason) => {
                unmatched.push((edit.clone(), reason));
                continue;
            }
        }
        applied.push(edit.clone());
    }
    let document = with_rules(document, &rules)?;
    Ok(Applied {
        document,
        applied,
        unmatched,
    })
}

/// Whether an edit touches a place where a secret was left out, given the document as the optimizer
/// saw it: a mark stands in its text, in its anchor, or in the rule the anchor names. Such an edit
/// would write the mark over the secret, or drop text its author never saw.
#[must_use]
pub fn touches_redaction(edit: &Edit, redacted_document: &str) -> bool {
    if edit.content.contains(MARK) || edit.anchor.contains(MARK) {
        return true;
    }
    let Some(anchor) = anchor(edit) else {
        return false;
    };
    let rules = rules(redacted_document).unwrap_or_default();
    let keys: Vec<String> = rules.iter().map(|rule| key(rule)).collect();
    locate(anchor, &keys).is_ok_and(|at| rules[at].contains(MARK))
}

enum Change {
    Add(String),
    Delete(usize),
    Replace(usize, String),
}

/// What an edit does to these rules, whose keys stand beside them.
fn change(edit: &Edit, rules: &[String], keys: &[String]) -> Result<Change, Unmatched> {
    match edit.op {
        EditOp::Add => {
            let text = checked_rule(&edit.content)?;
            if keys.contains(&key(&text)) {
                return Err(Unmatched::Duplicate);
            }
            Ok(Change::Add(text))
        }
        EditOp::Delete => Ok(Change::Delete(target(edit, keys)?)),
        EditOp::Replace => {
            let text = checked_rule(&edit.content)?;
            let at = target(edit, keys)?;
            if rules[at] == text {
                return Err(Unmatched::Identical);
            }
            let new = key(&text);
            if keys
                .iter()
                .enumerate()
                .any(|(other, key)| other != at && *key == new)
            {
                return Err(Unmatched::Duplicate);
            }
            Ok(Change::Replace(at, text))
        }
    }
}

/// The text an edit names its rule by, unless it names none.
fn anchor(edit: &Edit) -> Option<&str> {
    let named_by_content = edit.op == EditOp::Delete && edit.anchor.trim().is_empty();
    let anchor = match edit.op {
        EditOp::Add => "",
        EditOp::Delete if named_by_content => &edit.content,
        EditOp::Delete | EditOp::Replace => &edit.anchor,
    };
    (!anchor.trim().is_empty()).then_some(anchor)
}

/// The rule an edit names.
fn target(edit: &Edit, keys: &[String]) -> Result<usize, Unmatched> {
    let anchor = anchor(edit).ok_or(Unmatched::Blank)?;
    if anchor.contains(MARK) {
        return Err(Unmatched::Redacted);
    }
    locate(anchor, keys)
}

/// The one rule that is the anchor, else the one that contains it; the same again for the anchor
/// without a list bullet, which models copy along.
fn locate(anchor: &str, keys: &[String]) -> Result<usize, Unmatched> {
    let plain = without_bullet(anchor);
    let wanted = key(anchor);
    match locate_key(&wanted, keys) {
        Err(Unmatched::AnchorAbsent) if plain.len() < anchor.trim().len() => {
            locate_key(&key(plain), keys)
        }
        found => found,
    }
}

fn locate_key(wanted: &str, keys: &[String]) -> Result<usize, Unmatched> {
    let one = |matches: &dyn Fn(&str) -> bool| {
        let mut found = keys
            .iter()
            .enumerate()
            .filter(|(_, key)| matches(key))
            .map(|(at, _)| at);
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (Some(_), Some(_)) => Err(Unmatched::AnchorAmbiguous),
            (None, _) => Err(Unmatched::AnchorAbsent),
        }
    };
    match one(&|key| key == wanted) {
        Err(Unmatched::AnchorAbsent) => one(&|key| key.contains(wanted)),
        found => found,
    }
}

/// The rule an edit would write, if it may be written.
fn checked_rule(content: &str) -> Result<String, Unmatched> {
    let text = tidy(without_bullet(content));
    if text.is_empty() {
        return Err(Unmatched::Blank);
    }
    if contains_marker(&text) {
        return Err(Unmatched::Marker);
    }
    if text.contains(MARK) {
        return Err(Unmatched::Redacted);
    }
    if text
        .chars()
        .any(|c| c.is_control() && c != '\n' && c != '\t')
    {
        return Err(Unmatched::ControlCharacter);
    }
    if leaves_comment_open(&text) {
        return Err(Unmatched::OpenComment);
    }
    if text.chars().nth(MAX_RULE_CHARS).is_some() {
        return Err(Unmatched::TooLong);
    }
    Ok(text)
}

/// A text without the list bullet a model may have put before it.
fn without_bullet(text: &str) -> &str {
    let text = text.trim();
    ["- ", "* ", "• "]
        .iter()
        .find_map(|bullet| text.strip_prefix(bullet))
        .map_or(text, str::trim_start)
}

/// Whether the text has anything that could pass for a marker, in whatever case or spacing.
fn contains_marker(text: &str) -> bool {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    region::MARKER_WORDS
        .iter()
        .any(|words| squeezed.to_ascii_uppercase().contains(words))
}

fn leaves_comment_open(text: &str) -> bool {
    text.rfind("<!--")
        .is_some_and(|at| !text[at..].contains("-->"))
}

#[cfg(test)]
mod tests;
