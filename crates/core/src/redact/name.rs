//! Which names are names of credentials.

use super::class::{ALNUM, DIGIT, LOWER, UPPER, is};
use super::keyword::Word;
use super::mark;

/// How sure a name makes us that its value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// The value is a secret whatever it looks like.
    Sure,
    /// The value is a secret when it looks random.
    Maybe,
}

/// How far back a name is read.
const LOOK_BACK: usize = 24;

/// What may stand before `key`: `api_key`, `secretAccessKey`, `private key`.
const KEY_OWNERS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "account",
    "shared",
    "encryption",
    "signing",
    "master",
    "auth",
    "client",
    "subscription",
    "storage",
    "ssh",
    "deploy",
    "license",
    "consumer",
    "service",
    "session",
    "jwt",
    "hmac",
    "aes",
    "crypto",
    "webhook",
    "admin",
    "app",
];

/// What before `token` makes it a word of a language model, a parser or a list of pages.
const TOKEN_OWNERS: &[&str] = &[
    "pad",
    "eos",
    "bos",
    "unk",
    "mask",
    "cls",
    "sep",
    "special",
    "stop",
    "next",
    "prev",
    "previous",
    "page",
    "continuation",
    "cancellation",
    "sync",
    "lookahead",
    "current",
    "cur",
    "start",
    "end",
    "first",
    "last",
    "invalid",
    "unexpected",
    "expected",
    "peek",
    "syntax",
    "of",
];

/// What before `pass` makes it a password.
const PASS_OWNERS: &[&str] = &[
    "db", "database", "sql", "mysql", "pg", "postgres", "mongo", "redis", "rabbitmq", "smtp",
    "imap", "mail", "email", "ftp", "sftp", "ssh", "http", "proxy", "user", "usr", "root", "admin",
    "login", "auth", "my", "key", "store", "keystore",
];

/// `bytes[floor..start]` without the one separator at its end.
fn before(bytes: &[u8], floor: usize, start: usize) -> &[u8] {
    let back = &bytes[floor.max(start.saturating_sub(LOOK_BACK))..start];
    match back {
        [rest @ .., b'_' | b'-' | b' ' | b'.'] => rest,
        _ => back,
    }
}

/// Whether `back` ends with one of `words`, and the word begins where a part of a name does.
fn ends_with_part(back: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| {
        let Some(at) = back.len().checked_sub(word.len()) else {
            return false;
        };
        let (rest, tail) = back.split_at(at);
        tail.eq_ignore_ascii_case(word.as_bytes())
            && rest.last().is_none_or(|&last| {
                !is(last, ALNUM) || is(last, DIGIT) || (is(last, LOWER) && is(tail[0], UPPER))
            })
    })
}

/// Whether the word at `start` begins a part of a name: `db_pass`, `dbPass`, `pass`, not `bypass`.
fn begins_part(bytes: &[u8], floor: usize, start: usize) -> bool {
    bytes[floor..start].last().is_none_or(|&last| {
        !is(last, ALNUM) || (is(last, LOWER | DIGIT) && is(bytes[start], UPPER))
    })
}

/// How sure we are of a name whose last word is `word` at `start..end`; `None` when it is no name of
/// a credential. What follows the word is the caller's business.
pub(super) fn strength(
    bytes: &[u8],
    floor: usize,
    start: usize,
    end: usize,
    word: Word,
) -> Option<Strength> {
    let owner = before(bytes, floor, start);
    let shouted = bytes[start..end].iter().all(|&byte| is(byte, UPPER));
    match word {
        Word::Secret | Word::Password | Word::Foreign => Some(Strength::Sure),
        Word::Token if ends_with_part(owner, TOKEN_OWNERS) => Some(Strength::Maybe),
        Word::Token => Some(Strength::Sure),
        Word::Key if end - start > "key".len() => Some(Strength::Sure),
        Word::Key => {
            let owned = KEY_OWNERS.iter().any(|name| {
                owner.len() >= name.len()
                    && owner[owner.len() - name.len()..].eq_ignore_ascii_case(name.as_bytes())
            });
            Some(if owned {
                Strength::Sure
            } else {
                Strength::Maybe
            })
        }
        Word::Pwd => {
            if !begins_part(bytes, floor, start) {
                return None;
            }
            let last = bytes[floor..start].last();
            let alone = last.is_none_or(|&last| !is(last, ALNUM) && last != b'_');
            (!(shouted && alone && last != Some(&b';'))).then_some(Strength::Sure)
        }
        Word::Pass => {
            if !begins_part(bytes, floor, start) {
                return None;
            }
            let variable = shouted && bytes[floor..start].last() == Some(&b'_');
            Some(if variable || ends_with_part(owner, PASS_OWNERS) {
                Strength::Sure
            } else {
                Strength::Maybe
            })
        }
        Word::Vague => begins_part(bytes, floor, start).then_some(Strength::Maybe),
    }
}

/// Last parts that say how a credential is written or where it is used, not that it is something else.
const TAILS: &[&str] = &[
    "base",
    "b64",
    "base64",
    "hex",
    "value",
    "plain",
    "plaintext",
    "prod",
    "production",
    "dev",
    "test",
    "staging",
    "live",
    "old",
    "new",
];

/// Where the name ends that has its last credential word before `end`: after `_2`, `_BASE`, `Value`.
/// `None` when the name goes on and so means something else (`token_count`, `secretary`).
pub(super) fn name_end(bytes: &[u8], end: usize) -> Option<usize> {
    let ends = |at: usize| {
        bytes
            .get(at)
            .is_none_or(|&byte| !is(byte, ALNUM) && !matches!(byte, b'_' | b'-'))
    };
    if ends(end) {
        return Some(end);
    }
    let separated = matches!(bytes[end], b'_' | b'-');
    let part = end + usize::from(separated);
    let digits = bytes[part..]
        .iter()
        .take(4)
        .take_while(|&&byte| is(byte, DIGIT))
        .count();
    if (1..=3).contains(&digits) && ends(part + digits) {
        return Some(part + digits);
    }
    TAILS.iter().find_map(|tail| {
        let word = bytes.get(part..part + tail.len())?;
        let fits = word.eq_ignore_ascii_case(tail.as_bytes())
            && (separated || is(word[0], UPPER))
            && ends(part + tail.len());
        fits.then_some(part + tail.len())
    })
}

/// The longest key of an object that is looked at.
const LONGEST_KEY: usize = 256;

/// Whether the value under this key of an object is a secret as a whole (§7.10).
pub(super) fn is_secret_key(key: &str) -> bool {
    const ENDS: &[&str] = &[
        "apikey",
        "accesstoken",
        "refreshtoken",
        "token",
        "password",
        "passwd",
        "passphrase",
        "clientsecret",
        "secret",
        "secretkey",
        "secretaccesskey",
        "sharedaccesskey",
        "privatekey",
        "accountkey",
    ];
    if key == "PWD" || key.len() > LONGEST_KEY {
        return false;
    }
    // The words of a mark are not the key's.
    let mut compact = String::new();
    let mut rest = key.char_indices();
    while let Some((at, letter)) = rest.next() {
        if let Some(end) = mark::end_at(key.as_bytes(), at) {
            rest.nth(end - at - 2);
        } else if letter.is_alphanumeric() {
            compact.extend(letter.to_lowercase());
        }
    }
    let counted = key.len() > "token".len()
        && key.is_char_boundary(key.len() - "token".len())
        && key[key.len() - "token".len()..].eq_ignore_ascii_case("token")
        && ends_with_part(
            before(key.as_bytes(), 0, key.len() - "token".len()),
            TOKEN_OWNERS,
        );
    if counted {
        return false;
    }
    ENDS.iter().any(|end| compact.ends_with(end))
        || matches!(compact.as_str(), "pwd" | "sig" | "authorization")
}
