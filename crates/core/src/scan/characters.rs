//! Characters that do not show what they are.

use super::{FlagKind, Found};

/// Zero width, fillers, tags and the like: what a reader does not see and a model reads.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
        || is_bidirectional(c)
}

fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_private(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// Whether a character can be printed as it is, into any terminal or page.
pub(super) fn is_plainly_visible(c: char) -> bool {
    !(c.is_control() || is_invisible(c) || is_private(c) || matches!(c, '\u{2028}' | '\u{2029}'))
}

/// What is wrong with a character that stands between these two.
fn kind(before: Option<char>, c: char, after: Option<char>) -> Option<FlagKind> {
    if is_bidirectional(c) {
        return Some(FlagKind::Bidirectional);
    }
    match c {
        '\n' | '\t' => return None,
        '\r' if after == Some('\n') => return None,
        '\u{2028}' | '\u{2029}' => return Some(FlagKind::ControlCharacter),
        _ if c.is_control() => return Some(FlagKind::ControlCharacter),
        _ if is_private(c) => return Some(FlagKind::HiddenCharacter),
        _ if !is_invisible(c) => return None,
        _ => {}
    }
    let is_foreign = |neighbour: Option<char>| {
        neighbour.is_some_and(|c| !c.is_ascii() && (!is_invisible(c) || is_variation_selector(c)))
    };
    let has_use = match c {
        // One selector chooses the form of the emoji, ideograph or key cap before it.
        _ if is_variation_selector(c) => {
            before.is_some_and(|c| !c.is_ascii() && !is_invisible(c))
                || (c == '\u{fe0f}' && before.is_some_and(|c| matches!(c, '0'..='9' | '#' | '*')))
        }
        // Joiners belong to emoji and to scripts that are not Latin.
        '\u{200c}' | '\u{200d}' => is_foreign(before) && is_foreign(after),
        _ => false,
    };
    (!has_use).then_some(FlagKind::HiddenCharacter)
}

/// Flags characters. The excerpt is the character with a little of what is around it.
pub(super) fn find(found: &mut Found<'_>) {
    let text = found.plain.original();
    if text
        .bytes()
        .all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~'))
    {
        return;
    }
    let mut line = 0;
    let mut before = None;
    let mut word = Word::default();
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let after = characters.peek().map(|&(_, c)| c);
        if let Some(kind) = kind(before, c, after) {
            let (start, end) = around(text, at, at + c.len_utf8());
            found.add(kind, line, start, end);
        }
        if word.mixes_scripts_with(c) {
            let (start, end) = around(text, at, at + c.len_utf8());
            found.add(FlagKind::HiddenCharacter, line, start, end);
        }
        if c == '\n' {
            line += 1;
        }
        before = Some(c);
    }
}

/// Which scripts the letters of a word are from.
#[derive(Default)]
struct Word {
    latin: bool,
    cyrillic: bool,
}

impl Word {
    /// Takes the next character; whether the word now has Latin and Cyrillic letters.
    fn mixes_scripts_with(&mut self, c: char) -> bool {
        match c {
            'a'..='z' | 'A'..='Z' => self.latin = true,
            '\u{400}'..='\u{52f}' => self.cyrillic = true,
            _ if is_invisible(c) => return false,
            _ => *self = Self::default(),
        }
        self.latin && self.cyrillic
    }
}

/// A range with a few characters of its line before and after it.
fn around(text: &str, start: usize, end: usize) -> (usize, usize) {
    const NEAR: usize = 12;
    let before = text[..start]
        .chars()
        .rev()
        .take(NEAR)
        .take_while(|&c| c != '\n');
    let after = text[end..].chars().take(NEAR).take_while(|&c| c != '\n');
    (
        start - before.map(char::len_utf8).sum::<usize>(),
        end + after.map(char::len_utf8).sum::<usize>(),
    )
}
