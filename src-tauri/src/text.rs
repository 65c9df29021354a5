//! Text of strangers where a desktop shows it: names of folders and documents, sentences of models.

use skillopt_app::types::acts;

/// One short line: without control characters, and without those that turn the direction of writing.
pub(crate) fn one_line(text: &str, longest: usize) -> String {
    bounded(&harmless(text, &[]), longest)
}

/// A few lines of at most so many characters.
pub(crate) fn lines(text: &str, longest: usize) -> String {
    bounded(&harmless(text, &['\n']), longest)
}

/// Text as text where a desktop would read markup: bodies of notifications, tooltips.
#[cfg(any(test, target_os = "linux"))]
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn harmless(text: &str, kept: &[char]) -> String {
    text.chars()
        .map(|c| {
            if acts(c) && !kept.contains(&c) {
                ' '
            } else {
                c
            }
        })
        .collect()
}

fn bounded(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(longest.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_strangers_stays_one_short_line() {
        let hostile = format!("a\nb\u{202e}\u{1b}[31m\u{2028}{}", "x".repeat(200));
        let shown = one_line(&hostile, 80);
        assert_eq!(shown.chars().count(), 80);
        assert!(
            shown.starts_with("a b  [31m x") && shown.ends_with("x…"),
            "{shown:?}"
        );
        assert_eq!(lines("a\nb\tc", 80), "a\nb c");
        assert_eq!(lines("abc", 3), "abc");
    }

    #[test]
    fn markup_of_strangers_is_text() {
        assert_eq!(escaped("<a href='x'>&"), "&lt;a href='x'&gt;&amp;");
    }
}
