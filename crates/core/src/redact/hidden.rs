//! Secrets with characters in them that nobody sees.

use std::collections::HashSet;

use super::Secret;
use crate::scan::is_invisible;

/// A text without its invisible characters.
pub(super) struct Joined {
    pub(super) text: String,
    /// For each run of invisible characters, in order: where it stood in `text`, and how many bytes of
    /// such characters there were up to and including it.
    cuts: Vec<(usize, usize)>,
}

/// The text without its invisible characters; `None` when none of them stands between two characters
/// that are read as one word without it.
pub(super) fn joined(text: &str) -> Option<Joined> {
    if text.is_ascii() {
        return None;
    }
    let mut joined = Joined {
        text: String::new(),
        cuts: Vec::new(),
    };
    let (mut copied, mut removed, mut joins) = (0, 0, false);
    let mut before: Option<char> = None;
    let mut hidden = false;
    for (at, letter) in text.char_indices() {
        if letter.is_ascii() || !is_invisible(letter) {
            joins |= hidden && is_of_word(letter) && before.is_some_and(is_of_word);
            hidden = false;
            before = Some(letter);
            continue;
        }
        joined.text.push_str(&text[copied..at]);
        copied = at + letter.len_utf8();
        removed += letter.len_utf8();
        match joined.cuts.last_mut() {
            Some((place, total)) if *place == joined.text.len() => *total = removed,
            _ => joined.cuts.push((joined.text.len(), removed)),
        }
        hidden = true;
    }
    if !joins {
        return None;
    }
    joined.text.push_str(&text[copied..]);
    Some(joined)
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_graphic() || letter.is_alphanumeric()
}

/// The secrets that only show without the invisible characters, as places in `text`.
pub(super) fn secrets(text: &str, false_alarms: &HashSet<String>) -> Vec<Secret> {
    let Some(joined) = joined(text) else {
        return Vec::new();
    };
    let mut cuts = joined.cuts.iter().peekable();
    let mut removed = 0;
    // Places come in order: what was cut before a place, and at it when `at` says so, is added to it.
    let mut place = |place: usize, at: bool| {
        while let Some((_, total)) = cuts.next_if(|(cut, _)| *cut < place || (at && *cut == place))
        {
            removed = *total;
        }
        place + removed
    };
    super::secrets(&joined.text, false_alarms)
        .into_iter()
        .map(|secret| Secret {
            start: place(secret.start, true),
            end: place(secret.end, false),
            mark: secret.mark,
        })
        .collect()
}
