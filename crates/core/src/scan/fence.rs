//! A code fence that is not closed: everything after it, also what the user wrote, is shown and read as code.

use super::{FlagKind, Found};

/// Flags the fence that is still open at the end.
pub(super) fn find(found: &mut Found<'_>) {
    let text = found.plain.original();
    let mut open: Option<(char, usize, usize, usize)> = None;
    let mut start = 0;
    for (line, whole) in text.split_inclusive('\n').enumerate() {
        let end = start + whole.trim_end().len();
        // A rule is an item of a list.
        let shown = whole
            .trim()
            .trim_start_matches(['-', '*', '+', '>', ' ', '\t']);
        let mark = ['`', '~']
            .into_iter()
            .find(|mark| shown.chars().take_while(|c| c == mark).count() >= 3);
        match (open, mark) {
            (None, Some(mark)) => open = Some((mark, line, start, end)),
            (Some((opened, ..)), Some(mark))
                if opened == mark && shown.chars().all(|c| c == mark) =>
            {
                open = None;
            }
            (_, _) => {}
        }
        start += whole.len();
    }
    if let Some((_, line, start, end)) = open {
        found.add(FlagKind::HiddenMarkup, line, start, end);
    }
}
