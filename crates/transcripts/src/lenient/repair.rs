//! Lines that are nearly JSON: invalid UTF-8, and halves of surrogate pairs.

use std::borrow::Cow;

/// Puts `line` into `spare` with everything that is no text replaced; `false` when all of it is.
pub(crate) fn repair(line: &[u8], spare: &mut Vec<u8>) -> bool {
    spare.clear();
    let text = String::from_utf8_lossy(line);
    let mut changed = matches!(text, Cow::Owned(_));
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(step) = memchr::memchr(b'\\', &bytes[at..]) {
        spare.extend_from_slice(&bytes[at..at + step]);
        at += step;
        match surrogate(&bytes[at..]) {
            Some(Surrogate::Pair) => {
                spare.extend_from_slice(&bytes[at..at + 12]);
                at += 12;
            }
            Some(Surrogate::Half) => {
                spare.extend_from_slice(b"\\ufffd");
                at += 6;
                changed = true;
            }
            None => {
                let end = (at + 2).min(bytes.len());
                spare.extend_from_slice(&bytes[at..end]);
                at = end;
            }
        }
    }
    spare.extend_from_slice(&bytes[at..]);
    changed
}

enum Surrogate {
    Pair,
    Half,
}

/// What the escape at the start of `bytes` is, if it is a surrogate at all.
fn surrogate(bytes: &[u8]) -> Option<Surrogate> {
    let unit = |bytes: &[u8]| -> Option<u16> {
        let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match unit(bytes)? {
        0xD800..=0xDBFF => match unit(&bytes[6..]) {
            Some(0xDC00..=0xDFFF) => Some(Surrogate::Pair),
            _ => Some(Surrogate::Half),
        },
        0xDC00..=0xDFFF => Some(Surrogate::Half),
        _ => None,
    }
}
