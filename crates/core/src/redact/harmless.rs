//! Values that are no secret: references, types, words of a sentence, pieces of program code.

use super::class::{ALNUM, DIGIT, DOT, LOWER, UNDERSCORE, UPPER, WORD, any, is, run_end};
use super::value::skip_blanks;

/// Types, and words for nothing: no secret in any place.
const TYPES: &[&str] = &[
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
    "password",
    "token",
    "bearer",
    "redacted",
    "changeme",
    "placeholder",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "uint8",
    "uint32",
    "uint64",
    "int32",
    "int64",
];

/// States a credential can be in, where a bare value could stand.
const STATES: &[&str] = &[
    "self", "this", "default", "empty", "missing", "hidden", "invalid", "valid", "expired",
    "secret", "example", "basic", "yes", "set", "unset",
];

/// Little words of English: what follows "the secret:" when a sentence goes on.
const LITTLE_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "always", "an", "and", "any", "are", "as", "at", "be",
    "because", "before", "but", "by", "can", "cannot", "do", "does", "don't", "each", "either",
    "enter", "every", "for", "from", "get", "has", "have", "here", "how", "i", "if", "in", "into",
    "is", "it", "its", "just", "keep", "let", "like", "make", "may", "might", "more", "must", "my",
    "need", "needs", "never", "no", "not", "nothing", "now", "of", "off", "on", "once", "one",
    "only", "or", "our", "please", "put", "see", "should", "so", "some", "store", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "too", "up",
    "use", "used", "we", "what", "when", "where", "which", "while", "who", "why", "will", "with",
    "without", "would", "you", "your", "was", "were",
];

/// Whether a bare value is a word that stands there because a sentence or a report goes on.
pub(super) fn is_word(text: &[u8]) -> bool {
    is_one_of(text, STATES) || is_one_of(text, LITTLE_WORDS)
}

/// A sentence about a credential, as in a table of translations: three words or more of letters, among
/// them a little one and the name of a credential.
fn is_sentence(text: &[u8]) -> bool {
    if text.len() > LONGEST_REFERENCE {
        return false;
    }
    let (mut words, mut little, mut named) = (0, false, false);
    for word in text
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
    {
        let plain = match word {
            [rest @ .., b'.' | b',' | b'?' | b'!' | b':'] => rest,
            _ => word,
        };
        if !plain
            .iter()
            .all(|&byte| is(byte, LOWER | UPPER) || matches!(byte, b'\'' | b'-'))
        {
            return false;
        }
        words += 1;
        little |= is_one_of(plain, LITTLE_WORDS);
        named |= ends_like_credential(plain);
    }
    words >= 3 && little && named
}

fn is_one_of(word: &[u8], words: &[&str]) -> bool {
    words
        .iter()
        .any(|other| other.as_bytes().eq_ignore_ascii_case(word))
}

/// Texts longer than this are never taken for a placeholder, a reference or a piece of code.
pub(super) const LONGEST_REFERENCE: usize = 96;

/// Whether the text stands for a value that is somewhere else, or says that there is none: a
/// [reference](is_reference), a type, `YOUR_API_KEY`, a sentence about it.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    if is_reference(text) {
        return true;
    }
    if text.len() > LONGEST_REFERENCE {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let letters = lower
        .iter()
        .all(|&byte| is(byte, LOWER) || matches!(byte, b'_' | b'-' | b' ' | b'.'));
    is_one_of(text, TYPES)
        || is_sentence(text)
        || (letters && (lower.starts_with(b"your") || lower.starts_with(b"my-")))
}

/// Whether the text is nothing, a mask, or says where the value is: `$TOKEN`, `${TOKEN}`, `{{ token }}`,
/// `%TOKEN%`, `<token>`, `****`, an address.
pub(super) fn is_reference(text: &[u8]) -> bool {
    let sign = |byte: &u8| b",:;.{}[]()<>|/\\*-_+= \t\"'`?".contains(byte);
    let mask = text.iter().all(|&byte| matches!(byte, b'x' | b'X')) || text == "…".as_bytes();
    if mask || text.iter().all(sign) {
        // Nothing, a mask, or the rest of a sentence or of another string.
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
        [b'#', colour @ ..]
            if matches!(colour.len(), 3 | 6 | 8) && colour.iter().all(u8::is_ascii_hexdigit) =>
        {
            true
        }
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..]
        | [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => true,
        // The closing brace of a template ends a bare value.
        [b'{', inside @ ..] if !inside.is_empty() => {
            let inside = inside.strip_suffix(b"}").unwrap_or(inside);
            name(inside) && !any(inside, DIGIT)
        }
        _ => false,
    }
}

/// Whether a name ends like a credential's: it refers to one and is none.
pub(super) fn ends_like_credential(name: &[u8]) -> bool {
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
        return matches!(value, [b'[' | b'(' | b'|' | b'>', ..] | [b':', b':', ..]);
    }
    // A declaration with its type: `token: Kind = …`.
    let blanks = skip_blanks(rest, 0, 4);
    let types = value
        .iter()
        .all(|&byte| is(byte, ALNUM | UNDERSCORE) || byte == b':');
    if colon && types && rest.get(blanks) == Some(&b'=') && rest.get(blanks + 1) != Some(&b'=') {
        return true;
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
                b"unsafe",
                b"match",
                b"move",
                b"extern",
                b"struct",
            ]
            .contains(&head);
            let listed = matches!(next, Some(b',' | b')' | b';' | b'=' | b'}'));
            let mixed = is(head[0], UPPER) && any(&head[1..], LOWER);
            let constant = any(head, UNDERSCORE) && !any(head, LOWER);
            keyword && next == Some(&b' ')
                || plain && ends_like_credential(head)
                || plain && !tight && !colon && next == Some(&b';')
                || plain && colon && listed && (mixed || constant)
        }
        // A call or an index: what is in the parentheses is looked at on its own.
        b"(" | b"[" | b"!(" | b"![" => true,
        [b'(', ..] | [b'[', ..] | [b'!', b'(' | b'[', ..] => closes(tail) || closes(rest),
        [b'<', ..] => is(head[0], UPPER) && (closes(tail) || closes(rest)),
        [b':', b':', ..] => true,
        [b'?', ..] | [b'!', ..] if tail.len() == 1 => plain,
        b">" | b">," | b">>" => head.len() <= 3 || is_one_of(head, TYPES),
        [b'.', ..] => {
            let member = |&byte: &u8| {
                is(byte, ALNUM | UNDERSCORE | DOT)
                    || matches!(byte, b'(' | b'[' | b'?' | b'!' | b':' | b'$')
            };
            let called = value.ends_with(b"(")
                && value
                    .split(|&byte| byte == b'.')
                    .all(|part| is(part.first().copied().unwrap_or(0), LOWER));
            value.iter().all(member)
                && (called
                    || !any(value, DIGIT)
                        && (ROOTS.contains(&head)
                            || value.contains(&b'(')
                            || value.contains(&b'[')
                            || ends_like_credential(value)
                            || (!tight && !colon)))
        }
        _ => false,
    }
}

/// Whether a number is too short to be a secret, or written as only programs write numbers.
pub(super) fn is_small_number(value: &[u8]) -> bool {
    const TYPES: [&[u8]; 10] = [
        b"u8", b"u16", b"u32", b"u64", b"usize", b"i8", b"i16", b"i32", b"i64", b"isize",
    ];
    if value.len() > 24 || !value.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let suffix = TYPES.into_iter().find(|suffix| value.ends_with(suffix));
    let digits = &value[..value.len() - suffix.map_or(0, <[u8]>::len)];
    match digits {
        [b'0', b'x', hex @ ..] => {
            hex.len() <= 10
                && hex
                    .iter()
                    .all(|byte| byte.is_ascii_hexdigit() || *byte == b'_')
        }
        _ => {
            digits
                .iter()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'))
                && (suffix.is_some()
                    || digits.len() < 4
                    || (digits.len() < 6 && digits.contains(&b'.')))
        }
    }
}
