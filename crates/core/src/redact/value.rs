//! Where a value begins and ends.

use memchr::memchr3;

use super::class::{ALNUM, DOT, WORD, is, run_end};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Between quotes; not closed when the line ended first.
    Quoted {
        /// Whether the closing quote was found.
        closed: bool,
    },
    /// Between braces.
    Braced,
    /// Up to white space or a delimiter.
    Bare,
}

/// A value in a text: `start..end` is what would be replaced, `after` is where reading goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) after: usize,
    pub(super) form: Form,
}

/// The end of spaces and tabs from `at`, at most `limit` of them.
pub(super) fn skip_blanks(bytes: &[u8], at: usize, limit: usize) -> usize {
    let blanks = bytes[at..]
        .iter()
        .take(limit)
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'));
    at + blanks.count()
}

/// The end of white space from `at`, line ends written as `\n` included, at most `limit` bytes of it;
/// and whether a line ended.
pub(super) fn skip_lines(bytes: &[u8], at: usize, limit: usize) -> (usize, bool) {
    let most = bytes.len().min(at + limit);
    let (mut end, mut ended) = (at, false);
    while end < most {
        end += match bytes[end] {
            b'\\' if matches!(bytes.get(end + 1), Some(b'n' | b'r' | b't')) => 2,
            byte if byte.is_ascii_whitespace() => 1,
            _ => break,
        };
        ended |= matches!(bytes[end - 1], b'\n' | b'n');
    }
    (end, ended)
}

/// The quote at `at`, behind up to eight backslashes: its position and how many there were.
pub(super) fn quote_at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let slashes = bytes
        .get(at..)?
        .iter()
        .take(8)
        .take_while(|&&byte| byte == b'\\')
        .count();
    matches!(bytes.get(at + slashes), Some(b'"' | b'\'' | b'`')).then_some((at + slashes, slashes))
}

/// The value behind the quote at `quote`, which `slashes` backslashes precede.
///
/// Inside, a quote counts when as many backslashes precede it as the opening one had (that is how JSON
/// inside JSON looks); with none, backslash escapes and doubled quotes are part of the value. A line
/// end, or the quote of a string around this one, ends a value that was never closed.
pub(super) fn quoted(bytes: &[u8], quote: usize, slashes: usize) -> Value {
    let start = quote + 1;
    let kind = bytes[quote];
    let value = |end: usize, after: usize, closed: bool| Value {
        start,
        end,
        after,
        form: Form::Quoted { closed },
    };
    let mut at = start;
    while let Some(found) = memchr3(kind, b'\n', b'\r', &bytes[at..]).map(|found| at + found) {
        if bytes[found] != kind {
            return value(found, found, false);
        }
        let escapes = bytes[start..found]
            .iter()
            .rev()
            .take_while(|&&byte| byte == b'\\')
            .count();
        if slashes == 0 {
            if escapes % 2 == 1 {
                at = found + 1;
            } else if kind != b'`' && bytes.get(found + 1) == Some(&kind) {
                at = found + 2;
            } else {
                return value(found, found + 1, true);
            }
        } else if escapes == slashes {
            return value(found - slashes, found + 1, true);
        } else if escapes < slashes {
            return value(found - escapes, found - escapes, false);
        } else {
            at = found + 1;
        }
    }
    value(bytes.len(), bytes.len(), false)
}

/// The longest value between braces.
const LONGEST_BRACED: usize = 256;

/// The value in the braces that open at `at`, on one line.
pub(super) fn braced(bytes: &[u8], at: usize) -> Option<Value> {
    let inside = &bytes[at + 1..bytes.len().min(at + 1 + LONGEST_BRACED)];
    let mut from = 0;
    loop {
        let found = from + memchr3(b'}', b'\n', b'\r', &inside[from..])?;
        if inside[found] != b'}' {
            return None;
        }
        if inside.get(found + 1) == Some(&b'}') {
            from = found + 2;
            continue;
        }
        let end = at + 1 + found;
        return Some(Value {
            start: at + 1,
            end,
            after: end + 1,
            form: Form::Braced,
        });
    }
}

/// The bare value at `at`: up to white space, a quote or one of `;&,)]}`, or the tag that ends an
/// element. In a line of an environment file (`environment`) only white space, quotes, `;` and the `&`
/// of a next parameter end it.
pub(super) fn bare(bytes: &[u8], at: usize, environment: bool) -> Value {
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        let stop = match byte {
            0..=b' ' | 0x7f | b'"' | b'\'' | b'`' | b';' => true,
            b'&' => {
                !environment || !bytes.get(end + 1).is_some_and(|&next| is(next, ALNUM)) || {
                    let name = run_end(&bytes[..bytes.len().min(end + 32)], end + 1, WORD | DOT);
                    bytes.get(name) == Some(&b'=')
                }
            }
            b',' | b')' | b']' | b'}' => {
                !environment || !bytes.get(end + 1).is_some_and(|&next| is(next, ALNUM))
            }
            b'<' => bytes
                .get(end + 1)
                .is_some_and(|&next| next == b'/' || next.is_ascii_alphabetic()),
            _ => false,
        };
        if stop {
            break;
        }
        end += 1;
    }
    let after = end;
    if matches!(bytes.get(end), Some(b'"' | b'\'' | b'`')) {
        while end > at && bytes[end - 1] == b'\\' {
            end -= 1;
        }
    }
    if end > at + 1 && bytes[end - 1] == b'.' {
        end -= 1;
    }
    Value {
        start: at,
        end,
        after,
        form: Form::Bare,
    }
}
