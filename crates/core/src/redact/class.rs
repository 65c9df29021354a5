//! Classes of bytes, and the ends of runs of them.

/// `0-9`.
pub(super) const DIGIT: u8 = 1;
/// `a-z`.
pub(super) const LOWER: u8 = 2;
/// `A-Z`.
pub(super) const UPPER: u8 = 4;
/// `_`.
pub(super) const UNDERSCORE: u8 = 8;
/// `-`.
pub(super) const DASH: u8 = 16;
/// `.`.
pub(super) const DOT: u8 = 32;
/// `+`, `/`, `=`: what base64 has besides letters and digits.
pub(super) const BASE64: u8 = 64;
/// `%`, `~`, `:`.
pub(super) const URL: u8 = 128;

/// Letters and digits.
pub(super) const ALNUM: u8 = DIGIT | LOWER | UPPER;
/// Letters, digits, `_`, `-`.
pub(super) const WORD: u8 = ALNUM | UNDERSCORE | DASH;

static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop stays below 256")]
        let class = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'_' => UNDERSCORE,
            b'-' => DASH,
            b'.' => DOT,
            b'+' | b'/' | b'=' => BASE64,
            b'%' | b'~' | b':' => URL,
            _ => 0,
        };
        table[byte] = class;
        byte += 1;
    }
    table
};

/// Whether `byte` belongs to one of `classes`.
#[inline]
pub(super) fn is(byte: u8, classes: u8) -> bool {
    CLASS[usize::from(byte)] & classes != 0
}

/// The end of the run of `classes` that begins at `at`.
pub(super) fn run_end(bytes: &[u8], at: usize, classes: u8) -> usize {
    bytes[at..]
        .iter()
        .position(|&byte| !is(byte, classes))
        .map_or(bytes.len(), |length| at + length)
}

/// Whether any byte of `bytes` belongs to one of `classes`.
pub(super) fn any(bytes: &[u8], classes: u8) -> bool {
    bytes.iter().any(|&byte| is(byte, classes))
}

/// Whether a token may begin at `at`: what stands before is not a letter or digit of the same word.
/// Escapes count as what they stand for: `\n`, `\u003d`, `%20`, and colours of a terminal.
pub(super) fn begins_word(bytes: &[u8], floor: usize, at: usize) -> bool {
    let before = &bytes[floor..at];
    let Some(&last) = before.last() else {
        return true;
    };
    if !is(last, ALNUM) {
        return true;
    }
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., b'\\', b'u', a, b, c, d]
            if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) =>
        {
            true
        }
        [.., b'm'] => {
            let colour = before[..before.len() - 1]
                .iter()
                .rev()
                .take(12)
                .position(|byte| !matches!(byte, b'0'..=b'9' | b';'));
            colour.is_some_and(|back| {
                let bracket = before.len() - 2 - back;
                before[bracket] == b'['
                    && (before[..bracket].ends_with(b"\x1b")
                        || before[..bracket].ends_with(b"\\u001b")
                        || before[..bracket].ends_with(b"\\x1b")
                        || before[..bracket].ends_with(b"\\033"))
            })
        }
        _ => false,
    }
}
