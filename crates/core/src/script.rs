//! Scripts in which words are not set apart by spaces.

/// Whether `c` belongs to a script written without spaces between words, or, as Korean, one that
/// joins particles to them: there, a word is found inside a longer run of letters.
#[must_use]
pub(crate) const fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        // Thai, Lao; Myanmar; Khmer.
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        // Hiragana, Katakana.
        | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        // Han.
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}'
        // Hangul.
        | '\u{ac00}'..='\u{d7af}'
    )
}
