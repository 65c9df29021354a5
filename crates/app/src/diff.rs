//! The differences between two documents, line by line with the words that changed, for the window.

use serde::Serialize;
use similar::{ChangeTag, DiffOp, DiffTag, TextDiff};

/// Largest replaced stretch in which changed words are looked for, in bytes of both sides together:
/// beyond it nobody reads word by word, and looking would take long.
const LARGEST_MARKED: usize = 32 << 10;

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum LineChange {
    /// It is in both documents.
    Same,
    /// Only in the document before.
    Removed,
    /// Only in the document after.
    Added,
}

/// A stretch of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffPart {
    /// Its text, without the end of the line.
    pub text: String,
    /// Whether it is what changed within the line.
    pub changed: bool,
}

/// One line of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DiffLine {
    /// What became of it.
    pub change: LineChange,
    /// Its number in the document before, from 1.
    pub before: Option<usize>,
    /// Its number in the document after, from 1.
    pub after: Option<usize>,
    /// The line in stretches; no stretch is empty.
    pub parts: Vec<DiffPart>,
}

/// Every line of both documents, in order.
#[must_use]
pub fn lines(before: &str, after: &str) -> Vec<DiffLine> {
    let diff = TextDiff::from_lines(before, after);
    let mut lines = Vec::new();
    for op in diff.ops() {
        if op.tag() == DiffTag::Replace && size(&diff, op) <= LARGEST_MARKED {
            lines.extend(diff.iter_inline_changes(op).map(|change| {
                let parts = change
                    .iter_strings_lossy()
                    .map(|(changed, text)| (changed, text.into_owned()));
                line(change.tag(), change.old_index(), change.new_index(), parts)
            }));
        } else {
            lines.extend(diff.iter_changes(op).map(|change| {
                let parts = std::iter::once((false, change.value().to_owned()));
                line(change.tag(), change.old_index(), change.new_index(), parts)
            }));
        }
    }
    lines
}

fn size(diff: &TextDiff<'_, '_, str>, op: &DiffOp) -> usize {
    let old = op.old_range().filter_map(|index| diff.old_slice(index));
    let new = op.new_range().filter_map(|index| diff.new_slice(index));
    old.chain(new).map(str::len).sum()
}

fn line(
    tag: ChangeTag,
    old: Option<usize>,
    new: Option<usize>,
    parts: impl Iterator<Item = (bool, String)>,
) -> DiffLine {
    DiffLine {
        change: match tag {
            ChangeTag::Equal => LineChange::Same,
            ChangeTag::Delete => LineChange::Removed,
            ChangeTag::Insert => LineChange::Added,
        },
        before: old.map(|index| index + 1),
        after: new.map(|index| index + 1),
        parts: parts
            .map(|(changed, text)| DiffPart {
                text: text.trim_end_matches(['\n', '\r']).to_owned(),
                changed,
            })
            .filter(|part| !part.text.is_empty())
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(sign, before, after, text with changed words in brackets)`.
    fn shown(before: &str, after: &str) -> Vec<(char, Option<usize>, Option<usize>, String)> {
        let sign = |change| match change {
            LineChange::Same => ' ',
            LineChange::Removed => '-',
            LineChange::Added => '+',
        };
        lines(before, after)
            .into_iter()
            .map(|line| {
                let text = line
                    .parts
                    .iter()
                    .map(|part| match part.changed {
                        true => format!("[{}]", part.text),
                        false => part.text.clone(),
                    })
                    .collect();
                (sign(line.change), line.before, line.after, text)
            })
            .collect()
    }

    #[test]
    fn words_that_changed_are_marked_and_lines_are_numbered() {
        let before = "# Rules\r\n- Answer in American spelling.\n\n";
        let after = "# Rules\r\n- Answer in British spelling.\n\n- New.";
        assert_eq!(
            shown(before, after),
            [
                (' ', Some(1), Some(1), "# Rules".to_owned()),
                (
                    '-',
                    Some(2),
                    None,
                    "- Answer in [American] spelling.".to_owned()
                ),
                (
                    '+',
                    None,
                    Some(2),
                    "- Answer in [British] spelling.".to_owned()
                ),
                (' ', Some(3), Some(3), String::new()),
                ('+', None, Some(4), "- New.".to_owned()),
            ]
        );
    }

    #[test]
    fn a_huge_line_is_taken_whole() {
        let before = "word ".repeat(400_000);
        let after = before.replacen("word", "other", 1);
        let lines = lines(&before, &after);
        let parts: Vec<_> = lines.iter().map(|line| line.parts.len()).collect();
        assert_eq!(parts, [1, 1]);
        assert_eq!(lines[1].parts[0].text, after);
    }
}
