//! Where a value begins and ends, and whether it is a secret at all.

use memchr::memchr3;

use super::class::{
    ALNUM, BASE64, DASH, DIGIT, DOT, LOWER, UNDERSCORE, UPPER, WORD, any, is, run_end,
};

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

/// The end of white space, line ends included, from `at`, at most `limit` bytes of it.
pub(super) fn skip_space(bytes: &[u8], at: usize, limit: usize) -> usize {
    at + bytes[at..]
        .iter()
        .take(limit)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
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

/// Words that stand where a value could and are none.
const NO_SECRETS: &[&str] = &[
    "null",
    "nil",
    "none",
    "undefined",
    "true",
    "false",
    "string",
    "str",
    "text",
    "char",
    "varchar",
    "bytes",
    "byte",
    "int",
    "integer",
    "number",
    "float",
    "bool",
    "boolean",
    "any",
    "unknown",
    "void",
    "never",
    "object",
    "optional",
    "required",
    "option",
    "self",
    "this",
    "default",
    "empty",
    "missing",
    "hidden",
    "invalid",
    "valid",
    "expired",
    "password",
    "token",
    "secret",
    "redacted",
    "changeme",
    "placeholder",
    "example",
    "bearer",
    "basic",
    "yes",
    "no",
    "set",
    "unset",
    "is",
    "not",
    "the",
    "a",
    "an",
    "and",
    "or",
    "for",
    "in",
    "to",
    "of",
    "used",
    "must",
    "should",
    "will",
    "can",
    "has",
    "was",
    "are",
];

/// Texts longer than this are never taken for a placeholder, a reference or a piece of code.
const LONGEST_REFERENCE: usize = 96;

/// Whether the text stands for a value that is somewhere else: `$TOKEN`, `${TOKEN}`, `{{ token }}`,
/// `%TOKEN%`, `<token>`, `****`, `YOUR_API_KEY`, or says that there is none.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    let sign = |byte: &u8| b",:;.{}[]()<>|/\\*-_+= \t\"'`?".contains(byte);
    if text
        .first()
        .is_none_or(|&first| text.iter().all(sign) || text.iter().all(|&byte| byte == first))
    {
        // Nothing, the rest of a sentence or of another string, or a row of one letter.
        return true;
    }
    if text.len() > LONGEST_REFERENCE {
        return false;
    }
    let name = |inside: &[u8]| {
        !inside.is_empty()
            && inside.iter().all(|&byte| {
                is(byte, WORD | DOT | DIGIT)
                    || matches!(
                        byte,
                        b' ' | b':' | b'/' | b'[' | b']' | b'(' | b')' | b'|' | b'!' | b'?'
                    )
            })
    };
    let variable = |inside: &[u8]| {
        inside
            .iter()
            .all(|&byte| is(byte, ALNUM | UNDERSCORE | DOT) || byte == b':')
            && (inside
                .iter()
                .all(|&byte| is(byte, UPPER | DIGIT | UNDERSCORE))
                && !is(inside[0], DIGIT)
                || !any(inside, DIGIT)
                    && (any(inside, UNDERSCORE | DOT) || ends_like_credential(inside)))
    };
    match text {
        [b'<', inside @ .., b'>'] => name(inside),
        [b'$', b'{', b'{', ..] | [b'{', b'{', ..] => true,
        [b'$', b'{', inside @ .., b'}'] => !inside.is_empty(),
        [b'$', b'(', ..] => true,
        [b'$', inside @ ..] if !inside.is_empty() => variable(inside),
        [b'%', inside @ .., b'%'] if !inside.is_empty() => variable(inside),
        [b'%', b's' | b'd' | b'v' | b'q'] => true,
        [b'{', inside @ .., b'}'] if !inside.is_empty() => name(inside) && !any(inside, DIGIT),
        _ => {
            let lower = text.to_ascii_lowercase();
            let letters = lower
                .iter()
                .all(|&byte| is(byte, LOWER) || matches!(byte, b'_' | b'-' | b' ' | b'.'));
            NO_SECRETS.iter().any(|word| word.as_bytes() == lower)
                || (letters
                    && (lower.starts_with(b"your")
                        || lower.starts_with(b"my-")
                        || lower.starts_with(b"<")))
        }
    }
}

/// Whether a name ends like a credential's: it refers to one and is none.
fn ends_like_credential(name: &[u8]) -> bool {
    const ENDS: &[&[u8]] = &[
        b"token",
        b"password",
        b"passwd",
        b"passphrase",
        b"secret",
        b"key",
        b"pwd",
        b"pass",
        b"credentials",
    ];
    ENDS.iter().any(|end| {
        name.len() >= end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end)
    })
}

/// Where member accesses of code begin.
const ROOTS: &[&[u8]] = &[
    b"self",
    b"this",
    b"config",
    b"cfg",
    b"conf",
    b"process",
    b"os",
    b"env",
    b"args",
    b"opts",
    b"options",
    b"settings",
    b"req",
    b"request",
    b"res",
    b"response",
    b"ctx",
    b"context",
    b"props",
    b"state",
    b"params",
    b"data",
    b"user",
    b"import",
    b"secrets",
    b"vars",
    b"var",
    b"local",
    b"module",
    b"each",
    b"input",
    b"values",
];

/// Whether a bare value, of which `rest` is what follows on its line, is a piece of program code:
/// a type, a call, a member, a variable named like a credential. `tight` says that no space stands
/// between the sign and the value, `colon` that the sign is a colon.
pub(super) fn is_code(value: &[u8], rest: &[u8], tight: bool, colon: bool) -> bool {
    if value.len() > LONGEST_REFERENCE {
        return false;
    }
    let value = value
        .strip_prefix(b"&")
        .or_else(|| value.strip_prefix(b"*"))
        .unwrap_or(value);
    let word = run_end(value, 0, ALNUM | UNDERSCORE);
    let (head, tail) = value.split_at(word);
    if head.is_empty() || is(head[0], DIGIT) {
        return matches!(value, [b'[', ..] | [b'(', ..] | [b'|', ..] | [b'>', ..]);
    }
    let plain = !any(head, DIGIT);
    let closes = |rest: &[u8]| {
        rest.iter()
            .take(200)
            .take_while(|&&byte| byte != b'\n')
            .any(|&byte| matches!(byte, b')' | b']' | b'>'))
    };
    match tail {
        [] => {
            let next = rest.first();
            let keyword = [
                &b"new"[..],
                b"await",
                b"async",
                b"function",
                b"func",
                b"fn",
                b"def",
                b"lambda",
                b"if",
                b"not",
                b"typeof",
                b"yield",
                b"return",
                b"const",
                b"let",
                b"mut",
                b"ref",
                b"dyn",
                b"impl",
            ]
            .contains(&head);
            keyword && next == Some(&b' ')
                || plain && ends_like_credential(head)
                || plain && !tight && !colon && next == Some(&b';')
                || plain
                    && colon
                    && is(head[0], UPPER)
                    && any(&head[1..], LOWER)
                    && matches!(next, Some(b',' | b')' | b';' | b'=' | b'}'))
        }
        // A call or an index: what is in the parentheses is looked at on its own.
        [b'(', ..] | [b'[', ..] => closes(tail) || closes(rest) || rest.is_empty(),
        [b'<', ..] => is(head[0], UPPER) && (closes(tail) || closes(rest)),
        [b':', b':', ..] => true,
        [b'?', ..] | [b'!', ..] if tail.len() == 1 => plain,
        [b'.', ..] => {
            let members = value.iter().all(|&byte| {
                is(byte, ALNUM | UNDERSCORE | DOT)
                    || matches!(byte, b'(' | b'[' | b'?' | b'!' | b':' | b'$')
            });
            members
                && !any(value, DIGIT)
                && (ROOTS.contains(&head)
                    || value.contains(&b'(')
                    || value.contains(&b'[')
                    || ends_like_credential(value)
                    || (!tight && is(head[0], LOWER)))
        }
        _ => false,
    }
}

/// Whether a number is too short to be a secret.
pub(super) fn is_small_number(value: &[u8]) -> bool {
    value.len() < 4 && value.iter().all(|byte| byte.is_ascii_digit())
}

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
