//! Small text rules shared by the whole engine. Lengths are in Unicode code points.

/// The first `limit` code points of `text`.
#[must_use]
pub fn head(text: &str, limit: usize) -> &str {
    text.char_indices()
        .nth(limit)
        .map_or(text, |(end, _)| &text[..end])
}

/// The first `limit` code points of `text`, with ` …` appended when something was cut.
#[must_use]
pub fn cut(text: &str, limit: usize) -> String {
    let kept = head(text, limit);
    if kept.len() == text.len() {
        text.to_owned()
    } else {
        format!("{kept} …")
    }
}

/// `text` with every run of white space replaced by one space, and none at the ends.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number with its noun: `1 file`, `2 files`, `0 tries`. For nouns with a regular plural; a noun may
/// have words before it.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}

/// Whether a terminal, or whoever lays text out, acts on `c` instead of showing it: control characters, those
/// that break lines or turn the direction of writing, and those that nobody sees, such as tags.
#[must_use]
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}')
}

/// `text` without anything a terminal, or whoever lays it out, would act on; line breaks and tabs stay.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars()
        .map(|c| {
            if acts(c) && c != '\n' && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_strangers_do_not_reach_the_terminal() {
        assert_eq!(
            plain("a\u{1b}[31mb\n\tc\u{202e}"),
            "a\u{fffd}[31mb\n\tc\u{fffd}"
        );
        for unseen in [
            '\u{ad}',
            '\u{61c}',
            '\u{200b}',
            '\u{feff}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e007f}',
        ] {
            assert_eq!(plain(&format!("a{unseen}b")), "a\u{fffd}b", "{unseen:?}");
        }
        let seen = "é ß 漢字 اللغة 👍🏽 – …";
        assert_eq!(plain(seen), seen);
    }

    #[test]
    fn cuts_at_code_points_not_bytes() {
        assert_eq!(head("zürich", 2), "zü");
        assert_eq!(cut("zürich", 6), "zürich");
        assert_eq!(cut("zürich", 3), "zür …");
        assert_eq!(one_line("  a\n\tb  c "), "a b c");
    }

    #[test]
    fn one_thing_is_not_several() {
        assert_eq!(counted(1, "held-out task"), "1 held-out task");
        assert_eq!(counted(0, "file"), "0 files");
        assert_eq!(counted(2, "try"), "2 tries");
        assert_eq!(counted(2, "day"), "2 days");
    }
}
