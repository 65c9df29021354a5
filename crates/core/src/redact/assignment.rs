//! Values behind the name of a credential.

use super::class::{ALNUM, BASE64, DIGIT, LOWER, UNDERSCORE, UPPER, any, begins_word, is};
use super::harmless::{is_code, is_placeholder, is_small_number, is_word};
use super::keyword::Word;
use super::name::{Strength, name_end, strength};
use super::random::is_random;
use super::value::{Form, Value, bare, braced, quote_at, quoted, skip_blanks, skip_lines};
use super::{Scan, mark, provider};

/// A name that may be a credential's.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) start: usize,
    /// The end of the name with its tail (`_BASE`, `2`).
    pub(super) end: usize,
    pub(super) word: Word,
    pub(super) strength: Strength,
    /// Whether a quote follows the name: a key of JSON, or an index.
    pub(super) quoted: bool,
    /// Whether a type stands between the name and the value.
    pub(super) typed: bool,
}

/// The sign between a name and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `:` and its kin.
    Colon,
    /// `=` and its kin.
    Equals,
    /// `==`, `!=`: only a literal counts.
    Compare,
    /// `=>`: a literal in a map, or the arm of a match, where whole sentences may stand.
    Arrow,
}

/// The sign at `at`, and where it ends.
pub(super) fn sign(bytes: &[u8], at: usize) -> Option<(usize, Sign)> {
    Some(match bytes.get(at..)? {
        [b':', b':', ..] | [b'=', b'~', ..] => return None,
        [b':', b'=', ..] | [b'?', b'=', ..] | [b'+', b'=', ..] => (at + 2, Sign::Equals),
        [b'=', b'>', ..] => (at + 2, Sign::Arrow),
        [b'|', b'|', b'=', ..] | [b'?', b'?', b'=', ..] => (at + 3, Sign::Equals),
        [b'=' | b'!', b'=', b'=', ..] => (at + 3, Sign::Compare),
        [b'=' | b'!', b'=', ..] => (at + 2, Sign::Compare),
        [b'?', b':', ..] => (at + 2, Sign::Colon),
        [b':', ..] => (at + 1, Sign::Colon),
        [b'=', ..] => (at + 1, Sign::Equals),
        [b'%', b'3', b'D' | b'd', ..] => (at + 3, Sign::Equals),
        [b'\\', b'u', b'0', b'0', b'3', b'D' | b'd', ..] => (at + 6, Sign::Equals),
        // The full-width colon.
        [0xef, 0xbc, 0x9a, ..] => (at + 3, Sign::Colon),
        _ => return None,
    })
}

/// White space is skipped at most this far on either side of a sign.
pub(super) const LONGEST_GAP: usize = 64;

impl Scan<'_, '_> {
    /// A keyword of a name was found at `start..end`.
    pub(super) fn name(&mut self, start: usize, end: usize, word: Word) {
        let bytes = self.bytes;
        if begins_word(bytes, self.floor, start)
            && let Some((stop, mark)) = provider::NAMED
                .iter()
                .find_map(|named| named.token_at(bytes, start))
        {
            self.replace(start, stop, mark);
            return;
        }
        let Some(name_end) = name_end(bytes, end) else {
            return;
        };
        let Some(strength) = strength(bytes, self.floor, start, end, word) else {
            return;
        };
        let mut at = name_end;
        let mut name = Name {
            start,
            end: name_end,
            word,
            strength,
            quoted: false,
            typed: false,
        };
        if let Some((quote, _)) = quote_at(bytes, at) {
            name.quoted = true;
            at = quote + 1;
            if bytes.get(at) == Some(&b']') {
                at += 1;
            }
        }
        at += bytes[at..]
            .iter()
            .take(2)
            .take_while(|&&byte| byte == b'*')
            .count();
        let gap = if name.quoted {
            skip_lines(bytes, at, LONGEST_GAP).0
        } else {
            skip_blanks(bytes, at, LONGEST_GAP)
        };
        self.work += gap - start;
        if let Some((after, sign)) = sign(bytes, gap) {
            self.assigned(&name, after, sign);
        } else if bytes.get(gap) == Some(&b'(') {
            self.argument(gap + 1);
        } else if bytes.get(at) == Some(&b'>') {
            self.element(&name, at + 1);
        } else if let Some((after, sign)) = self.value_field(&name, at) {
            self.assigned(&name, after, sign);
        } else if gap > at && bytes.get(gap) == Some(&b'|') {
            // The next cell of a table.
            self.spoken(&name, skip_blanks(bytes, gap + 1, LONGEST_GAP));
        } else if gap > at && !name.quoted {
            self.spoken(&name, gap);
        }
    }

    /// The value behind a sign.
    pub(super) fn assigned(&mut self, name: &Name, after: usize, sign: Sign) {
        let bytes = self.bytes;
        let mut at = skip_blanks(bytes, after, LONGEST_GAP);
        // The end of **bold** text in Markdown.
        if bytes[at..].starts_with(b"** ") {
            at = skip_blanks(bytes, at + 2, LONGEST_GAP);
        }
        if name.quoted {
            let line = skip_lines(bytes, after, LONGEST_GAP).0;
            if quote_at(bytes, line).is_some() {
                at = line;
            }
        }
        // A tag or an anchor of YAML.
        if sign == Sign::Colon && matches!(bytes.get(at), Some(b'!' | b'&')) && at > after {
            let tag = bytes[at..]
                .iter()
                .take(32)
                .take_while(|&&byte| byte > b' ')
                .count();
            at = skip_blanks(bytes, at + tag, LONGEST_GAP);
        }
        // Prefixes of string literals: b"…", f"…", rb'…', @"…".
        let prefix = bytes[at..]
            .iter()
            .take(2)
            .take_while(|byte| b"bBrRuUfFL@$".contains(byte))
            .count();
        if prefix > 0 && matches!(bytes.get(at + prefix), Some(b'"' | b'\'')) {
            at += prefix;
        }
        if let Some((quote, slashes)) = quote_at(bytes, at) {
            let value = quoted(bytes, quote, slashes);
            let sentence = bytes[value.start..value.end].contains(&b' ');
            if sign != Sign::Arrow || name.quoted || !sentence {
                self.consider(name, &value, after, sign);
            }
            return;
        }
        if matches!(sign, Sign::Compare | Sign::Arrow) {
            return;
        }
        match bytes.get(at) {
            Some(b'{') if sign == Sign::Equals => {
                if let Some(value) = braced(bytes, at) {
                    let inside = &bytes[value.start..value.end];
                    let expression = !any(inside, DIGIT)
                        && inside.iter().all(|&byte| {
                            is(byte, ALNUM | UNDERSCORE) || b" .()[]>=?!|&,\"'".contains(&byte)
                        });
                    if !expression {
                        self.consider(name, &value, after, sign);
                    }
                }
            }
            Some(b'{') if self.value_field(name, at + 1).is_some() => {
                if let Some((after, sign)) = self.value_field(name, at + 1) {
                    self.assigned(name, after, sign);
                }
            }
            Some(b'[') if quote_at(bytes, skip_lines(bytes, at + 1, LONGEST_GAP).0).is_some() => {
                self.list(name, at + 1, after, sign);
            }
            Some(b'|' | b'>') if sign == Sign::Colon && name.strength == Strength::Sure => {
                self.block(name, at + 1);
            }
            _ => {
                let environment = at == after && sign == Sign::Equals && self.is_environment(name);
                let value = self.bare_for(name, at, environment);
                let text = &bytes[value.start..value.end];
                let rest = &bytes[value.end..bytes.len().min(value.end + 256)];
                self.work += value.after - value.start;
                if !environment
                    && (is_placeholder(text)
                        || is_word(text)
                        || is_code(text, rest, at == after, sign == Sign::Colon))
                {
                    self.code(name, &value, sign);
                } else {
                    self.consider(name, &value, after, sign);
                }
            }
        }
    }

    /// The bare value at `at`. Behind a name that says little, a value is read to its end only when its
    /// beginning looks like a secret: what is kept may be read again, and must be short.
    pub(super) fn bare_for(&self, name: &Name, at: usize, environment: bool) -> Value {
        const LONGEST_KEPT: usize = 96;
        let near = bare(
            &self.bytes[..self.bytes.len().min(at + LONGEST_KEPT)],
            at,
            environment,
        );
        let cut = near.after == at + LONGEST_KEPT;
        let secret = || self.looks_secret(name, &self.bytes[near.start..near.end]);
        if cut && (name.strength == Strength::Sure || secret()) {
            bare(self.bytes, at, environment)
        } else {
            near
        }
    }

    /// Takes out a value unless it is plainly none.
    pub(super) fn consider(&mut self, name: &Name, value: &Value, after: usize, sign: Sign) {
        let bytes = self.bytes;
        if value.form != Form::Bare {
            self.work += value.after - value.start;
        }
        let text = &bytes[value.start..value.end];
        let closed = matches!(value.form, Form::Quoted { closed: true });
        if let Some(end) = mark::end_at(bytes, value.start)
            && (!closed || end == value.end)
        {
            self.keep_to(end);
            return;
        }
        let short = value.form == Form::Bare && (text.len() < 3 || is_small_number(text));
        if short || is_placeholder(text) || (value.form == Form::Bare && is_word(text)) {
            return;
        }
        let number = text.iter().all(|&byte| is(byte, DIGIT));
        let counted = name.typed || (name.word == Word::Token && text.len() <= 9);
        if value.form == Form::Bare && number && counted {
            return;
        }
        let path = matches!(text, [b'/', ..] | [b'~', b'/', ..] | [b'.', b'/', ..]);
        let spaced = sign == Sign::Equals && value.start > after && value.form == Form::Bare;
        let word =
            text.len() < 16 && is(text[0], UPPER) && text[1..].iter().all(|&byte| is(byte, LOWER));
        if name.word == Word::Token && spaced && word {
            return;
        }
        if name.word == Word::Pwd && path {
            return;
        }
        if name.strength == Strength::Maybe && !self.looks_secret(name, text) {
            return;
        }
        let mark = self.assigned_mark(name, value, after, sign);
        self.replace(value.start, value.end, mark);
    }

    /// Whether the value of a name that says little is a secret by its looks.
    pub(super) fn looks_secret(&self, name: &Name, text: &[u8]) -> bool {
        if name.word == Word::Pass {
            return text.len() >= 6
                && any(text, DIGIT)
                && any(text, LOWER | UPPER)
                && !text.contains(&b' ');
        }
        let mixed = any(text, UPPER) && any(text, LOWER);
        let base64 = text.len() >= 8
            && text.len().is_multiple_of(4)
            && text.iter().all(|&byte| is(byte, ALNUM | BASE64));
        if name.word == Word::Vague && name.quoted && base64 && mixed {
            // User and password of a container registry: "auth": "dXNlcjpwdw==".
            return true;
        }
        let shouted = is(self.bytes[name.start], UPPER) && is(self.bytes[name.start + 1], UPPER);
        is_random(text, shouted)
    }

    /// The mark for the value of an assignment (§7.10).
    fn assigned_mark(
        &mut self,
        name: &Name,
        value: &Value,
        after: usize,
        sign: Sign,
    ) -> &'static str {
        let bytes = self.bytes;
        if name.quoted {
            return mark::PLAIN;
        }
        let tight = after == name.end + 1 && sign == Sign::Equals;
        // Behind the first string of a list, the floor is past the name.
        let before = &bytes[self.floor.min(name.start)..name.start];
        let word = &bytes[name.start..name.end];
        let alone = before
            .last()
            .is_none_or(|&last| !is(last, ALNUM | UNDERSCORE));
        let database = match word {
            b"Password" | b"Pwd" | b"pwd" => alone,
            b"PWD" => before.ends_with(b";"),
            _ => false,
        };
        if tight && database {
            return mark::DB_PASS;
        }
        let account =
            before.len() >= 7 && before[before.len() - 7..].eq_ignore_ascii_case(b"account");
        if tight && name.word == Word::Key && account {
            return mark::STORAGE_KEY;
        }
        self.mark_for(value.start, value.end)
    }

    /// Whether the name stands at the beginning of a line of an environment file or a shell script, in
    /// capitals: `export DB_PASSWORD=…`.
    fn is_environment(&self, name: &Name) -> bool {
        const LONGEST: usize = 64;
        let bytes = self.bytes;
        let capital = |byte: u8| is(byte, UPPER | DIGIT | UNDERSCORE);
        if !bytes[name.start..name.end]
            .iter()
            .all(|&byte| capital(byte))
        {
            return false;
        }
        let back = &bytes[self.floor..name.start];
        let letters = back
            .iter()
            .rev()
            .take(LONGEST)
            .take_while(|&&byte| capital(byte))
            .count();
        let line = &back[..back.len() - letters];
        let line = &line[line.len().saturating_sub(16)..];
        let line = line.rsplit(|&byte| byte == b'\n').next().unwrap_or(line);
        [
            &b""[..],
            b"export",
            b"set",
            b"ENV",
            b"-",
            b"- -e",
            b"-e",
            b"--env",
            b"declare -x",
        ]
        .contains(&line.trim_ascii())
    }
}
