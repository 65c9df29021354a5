//! Values that look like a secret.

use super::class::{ALNUM, BASE64, DASH, DIGIT, DOT, LOWER, UNDERSCORE, UPPER, WORD, any, is};
use super::harmless::{LONGEST_REFERENCE, ends_like_credential};

/// §7.10: after a bare name, a value is a secret when it has six characters and a digit or one of
/// `_./+=:@-`, or is sixteen letters long. Addresses, `and/or`, `re-entry` and names of credentials are
/// left alone.
pub(super) fn is_bare_secret(value: &[u8]) -> bool {
    if value.len() < 6 {
        return false;
    }
    let bounded = value.len() <= LONGEST_REFERENCE;
    if bounded && memchr::memmem::find(value, b"://").is_some() {
        return false;
    }
    if !any(value, DIGIT) && bounded {
        if ends_like_credential(value) {
            return false;
        }
        let mut parts = value.split(|byte| matches!(byte, b'/' | b'-'));
        let (first, second, third) = (parts.next(), parts.next(), parts.next());
        if let (Some(first), Some(second), None) = (first, second, third) {
            let word = |part: &[u8]| !part.is_empty() && part.iter().all(|&byte| is(byte, LOWER));
            let slash = value.contains(&b'/');
            if word(first) && word(second) && (slash || first.len() <= 4) {
                return false;
            }
        }
    }
    any(value, DIGIT | UNDERSCORE | DOT | BASE64 | DASH)
        || value.iter().any(|&byte| matches!(byte, b':' | b'@'))
        || (value.len() >= 16 && value.iter().all(u8::is_ascii_alphabetic))
}

/// What of a long value its randomness is measured on.
const MEASURED: usize = 128;

/// Whether a value looks random: long, one word, letters and digits, and at least 3.5 bits per byte.
/// Hexadecimal digests and UUIDs are names of things as often as secrets and do not count, unless
/// `digests` says so.
pub(super) fn is_random(value: &[u8], digests: bool) -> bool {
    let sample = &value[..value.len().min(MEASURED)];
    if sample.len() < 20 || !sample.iter().all(|&byte| is(byte, WORD | BASE64 | DOT)) {
        return false;
    }
    let digits = sample.iter().filter(|&&byte| is(byte, DIGIT)).count();
    let letters = sample
        .iter()
        .filter(|&&byte| is(byte, LOWER | UPPER))
        .count();
    if digits < 2 || letters < 4 {
        return false;
    }
    if sample
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
    {
        return digests && sample.len() >= 32 && !sample.contains(&b'-');
    }
    // A path or a sentence of words: parts of letters only make up most of it.
    let words: usize = sample
        .split(|&byte| !is(byte, ALNUM))
        .filter(|part| {
            part.len() >= 3 && (!any(part, DIGIT) && (!any(part, UPPER) || !any(&part[1..], UPPER)))
        })
        .map(<[u8]>::len)
        .sum();
    if words * 2 > sample.len() {
        return false;
    }
    let mut counts = [0_u16; 256];
    for &byte in sample {
        counts[usize::from(byte)] += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 128")]
    let total = sample.len() as f64;
    let bits: f64 = counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = f64::from(count) / total;
            -share * share.log2()
        })
        .sum();
    bits >= 3.5
}
