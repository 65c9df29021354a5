//! Secrets of the web: authorization headers, cookies, addresses with a password, signatures, webhooks.

use memchr::{memmem, memrchr};

use super::class::{ALNUM, BASE64, DASH, DIGIT, DOT, URL, WORD, any, begins_word, is, run_end};
use super::harmless::{is_code, is_reference, is_small_number};
use super::random::{is_bare_secret, is_random};
use super::value::{Form, Value, bare, quote_at, quoted, skip_blanks};
use super::{Scan, mark, provider, run};

/// Schemes whose credentials are one word.
const ONE_WORD: &[&[u8]] = &[
    b"bearer",
    b"basic",
    b"token",
    b"bot",
    b"apikey",
    b"api-key",
    b"key",
    b"jwt",
    b"genie",
    b"geniekey",
    b"ssws",
    b"zoho-oauthtoken",
];
/// Schemes whose credentials go on to the end of the header.
const WHOLE_LINE: &[&[u8]] = &[
    b"digest",
    b"aws4-hmac-sha256",
    b"hawk",
    b"oauth",
    b"negotiate",
    b"ntlm",
    b"hmac",
    b"signature",
    b"sharedkey",
    b"sharedkeylite",
    b"sharedaccesssignature",
    b"mac",
];

/// The sign between a name and its value at `at`: where it ends, and whether it is `=`.
fn sign(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..)? {
        [b'=', b'>', ..] => Some(at + 2),
        [b':', b':', ..] | [b'=', b'=', ..] => None,
        [b':' | b'=', ..] => Some(at + 1),
        _ => None,
    }
}

/// Whether a word is `user:password` in base 64: text without control characters, and a colon in it.
fn is_user_and_password(word: &[u8]) -> bool {
    const SHORTEST: usize = 7;
    let padding = word.iter().rev().take_while(|&&byte| byte == b'=').count();
    let word = &word[..word.len() - padding];
    if word.len() < SHORTEST || padding > 2 {
        return false;
    }
    let mut decoded = Vec::with_capacity(word.len() * 3 / 4);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for &byte in word {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            decoded.push((bits >> held).to_le_bytes()[0]);
        }
    }
    std::str::from_utf8(&decoded).is_ok_and(|text| {
        text.find(':').is_some_and(|colon| colon > 0) && !text.contains(char::is_control)
    })
}

impl Scan<'_, '_> {
    /// What stands for the value `start..end`: the mark of its kind when the whole value is of a known
    /// one, the plain mark otherwise.
    pub(super) fn mark_for(&mut self, start: usize, end: usize) -> &'static str {
        if let Some((stop, mark)) = provider::token_at(&self.bytes[..end], start)
            && stop == end
        {
            return mark;
        }
        run::mark_of(&self.bytes[start..end], &mut self.work).unwrap_or(mark::PLAIN)
    }

    /// Takes out a value that is not a mark, a placeholder or nothing. Returns whether it was (or
    /// already is) taken out.
    fn take(&mut self, value: &Value) -> bool {
        if let Some(end) = mark::end_at(self.bytes, value.start) {
            self.keep_to(end);
            return true;
        }
        let text = &self.bytes[value.start..value.end];
        if is_reference(text) {
            return false;
        }
        let mark = self.mark_for(value.start, value.end);
        self.replace(value.start, value.end, mark);
        true
    }

    /// `Authorization: Bearer x`, also as a field of JSON or of a program.
    pub(super) fn authorization(&mut self, name: usize, name_end: usize) {
        let bytes = self.bytes;
        let mut at = quote_at(bytes, name_end).map_or(name_end, |(quote, _)| quote + 1);
        at = skip_blanks(bytes, at, 8);
        let Some(after) = sign(bytes, at) else { return };
        at = skip_blanks(bytes, after, 8);
        // A prefix of a string literal, as in f"Bearer …".
        if bytes.get(at).is_some_and(u8::is_ascii_alphabetic) && quote_at(bytes, at + 1).is_some() {
            at += 1;
        }
        let open = quote_at(bytes, at);
        if let Some((quote, _)) = open {
            at = quote + 1;
        }
        let scheme_end = run_end(&bytes[..bytes.len().min(at + 32)], at, ALNUM | DASH);
        let scheme = bytes[at..scheme_end].to_ascii_lowercase();
        let credentials = skip_blanks(bytes, scheme_end, 8);
        let spaced = credentials > scheme_end;
        if spaced && ONE_WORD.contains(&scheme.as_slice()) {
            self.take(&bare(bytes, credentials, false));
        } else if spaced && WHOLE_LINE.contains(&scheme.as_slice()) {
            let line = self.rest(name, credentials, open);
            self.take(&line);
        } else if let Some((quote, slashes)) = open {
            let whole = quoted(bytes, quote, slashes);
            let text = &bytes[whole.start..whole.end];
            if matches!(whole.form, Form::Quoted { closed: true })
                && (text.len() >= 16 || is_bare_secret(text))
            {
                self.take(&whole);
            }
        } else {
            let word = bare(bytes, at, false);
            let text = &bytes[word.start..word.end];
            let rest = &bytes[word.end..bytes.len().min(word.end + 256)];
            if is_bare_secret(text) && !is_code(text, rest, false, true) {
                self.take(&word);
            } else if spaced {
                let word = bare(bytes, credentials, false);
                let text = &bytes[word.start..word.end];
                if is_bare_secret(text) && any(text, DIGIT) {
                    self.take(&word);
                }
            }
        }
    }

    /// From `at` to the end of the string that was opened, or of the string around the whole header
    /// (whose name begins at `name`), or of the line.
    fn rest(&self, name: usize, at: usize, open: Option<(usize, usize)>) -> Value {
        let around = || {
            let quote = name.checked_sub(1).filter(|&quote| quote >= self.floor)?;
            let slashes = self.bytes[self.floor..quote]
                .iter()
                .rev()
                .take(8)
                .take_while(|&&byte| byte == b'\\');
            matches!(self.bytes[quote], b'"' | b'\'').then(|| (quote, slashes.count()))
        };
        if let Some((quote, slashes)) = open.or_else(around) {
            let whole = quoted(self.bytes, quote, slashes);
            return Value {
                start: at,
                end: whole.end.max(at),
                ..whole
            };
        }
        let end = memchr::memchr2(b'\n', b'\r', &self.bytes[at..])
            .map_or(self.bytes.len(), |length| at + length);
        Value {
            start: at,
            end,
            after: end,
            form: Form::Bare,
        }
    }

    /// `Bearer x` outside a header.
    pub(super) fn bearer(&mut self, end: usize) {
        let start = skip_blanks(self.bytes, end, 8);
        if start < self.bytes.len() && mark::end_at(self.bytes, start).is_none() {
            let stop = run_end(self.bytes, start, WORD | DOT | BASE64 | URL);
            let word = &self.bytes[start..stop];
            if word.len() >= 32 || (word.len() >= 16 && any(word, DIGIT)) {
                let stop = if word.ends_with(b".") { stop - 1 } else { stop };
                self.take(&Value {
                    start,
                    end: stop,
                    after: stop,
                    form: Form::Bare,
                });
            }
        }
    }

    /// `Basic x` outside a header, where `x` is a user and a password in base 64.
    pub(super) fn basic(&mut self, start: usize, end: usize) {
        /// No user and password are longer; what is kept is read no further.
        const LONGEST: usize = 512;
        if !begins_word(self.bytes, self.floor, start) {
            return;
        }
        let start = skip_blanks(self.bytes, end, 8);
        let window = &self.bytes[..self.bytes.len().min(start + LONGEST)];
        let stop = run_end(window, start, ALNUM | BASE64);
        self.work += stop - start;
        if is_user_and_password(&self.bytes[start..stop]) {
            self.replace(start, stop, mark::PLAIN);
        }
    }

    /// The values of `Cookie:` and `Set-Cookie:`.
    pub(super) fn cookie(&mut self, start: usize, name_end: usize) {
        const ATTRIBUTES: [&[u8]; 6] = [
            b"path",
            b"domain",
            b"expires",
            b"max-age",
            b"samesite",
            b"version",
        ];
        let bytes = self.bytes;
        let mut at = quote_at(bytes, name_end).map_or(name_end, |(quote, _)| quote + 1);
        let blanks = skip_blanks(bytes, at, 8);
        let option = bytes[self.floor..start].ends_with(b"--") && blanks > at;
        at = if option {
            blanks
        } else {
            let Some(after) = sign(bytes, blanks) else {
                return;
            };
            skip_blanks(bytes, after, 8)
        };
        if let Some((quote, _)) = quote_at(bytes, at) {
            at = quote + 1;
        }
        let mut first = true;
        loop {
            let name = at;
            let name_stop = run_end(&bytes[..bytes.len().min(name + 128)], name, WORD | DOT);
            let text = bytes[name..name_stop].to_ascii_lowercase();
            match bytes.get(name_stop) {
                Some(b'=') if name_stop > name => {
                    let value = name_stop + 1;
                    let stop = bytes[value..]
                        .iter()
                        .position(|byte| {
                            matches!(byte, 0..=b' ' | b';' | b'"' | b'\'' | b'`' | b'\\')
                        })
                        .map_or(bytes.len(), |length| value + length);
                    self.work += stop - value;
                    if ATTRIBUTES.contains(&text.as_slice()) {
                        // Dates have spaces.
                        at = value
                            + bytes[value..]
                                .iter()
                                .take(64)
                                .take_while(|byte| !b";\"'\r\n".contains(byte))
                                .count();
                    } else {
                        if !is_small_number(&bytes[value..stop]) && value < stop {
                            self.take(&Value {
                                start: value,
                                end: stop,
                                after: stop,
                                form: Form::Bare,
                            });
                        }
                        at = stop;
                    }
                }
                Some(b';') if !first && name_stop > name => at = name_stop,
                _ => break,
            }
            first = false;
            if bytes.get(at) != Some(&b';') {
                break;
            }
            at = skip_blanks(bytes, at + 1, 8);
        }
        if !first {
            self.at = self.at.max(at);
        }
    }

    /// `scheme://user:password@host`, and a random user name alone.
    pub(super) fn address(&mut self, start: usize) {
        /// No user and password are longer.
        const LONGEST: usize = 512;
        let bytes = self.bytes;
        let window = &bytes[start..bytes.len().min(start + LONGEST)];
        let stop = window
            .iter()
            .position(|byte| {
                matches!(
                    byte,
                    0..=b' ' | b'/' | b'?' | b'#' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\'
                )
            })
            .unwrap_or(window.len());
        self.work += stop;
        let Some(sign) = memrchr(b'@', &window[..stop]) else {
            return;
        };
        let user = &window[..sign];
        let Some(colon) = memchr::memchr(b':', user) else {
            if is_random(user, true) {
                self.take(&Value {
                    start,
                    end: start + sign,
                    after: start + sign,
                    form: Form::Bare,
                });
            }
            return;
        };
        if user[..colon]
            .iter()
            .any(|byte| matches!(byte, b'=' | b'&' | b',' | b';'))
        {
            return;
        }
        let value = Value {
            start: start + colon + 1,
            end: start + sign,
            after: start + sign,
            form: Form::Bare,
        };
        self.take(&value);
    }

    /// `sig=…` of a shared access link, and longer signatures.
    pub(super) fn signature(&mut self, start: usize, value: usize) {
        /// A call is told from a signature only up to this length, to bound the work on what is kept.
        const LONGEST_CALL: usize = 64;
        let short = value - start == "sig=".len();
        if !begins_word(self.bytes, self.floor, start)
            || self.bytes[self.floor..start].last() == Some(&b'_')
        {
            return;
        }
        let end = run_end(self.bytes, value, WORD | BASE64 | URL);
        let text = &self.bytes[value..end];
        let least = if short { 10 } else { 20 };
        let call = text.len() <= LONGEST_CALL && matches!(self.bytes.get(end), Some(b'(' | b'['));
        if text.len() < least || call || (!short && text.len() <= LONGEST_CALL && !any(text, DIGIT))
        {
            return;
        }
        self.replace(value, end, if short { mark::SAS_SIG } else { mark::PLAIN });
    }

    /// A webhook: whoever has its address may post.
    pub(super) fn webhook(&mut self, start: usize, end: usize) {
        let bytes = self.bytes;
        let from = match bytes[start] | 0x20 {
            b'h' => {
                let kinds: [&[u8]; 3] = [b"services/", b"workflows/", b"triggers/"];
                let Some(kind) = kinds
                    .into_iter()
                    .find(|kind| bytes[end..].starts_with(kind))
                else {
                    return;
                };
                end + kind.len()
            }
            b'/' => {
                let id = run_end(bytes, end, DIGIT);
                if id == end || bytes.get(id) != Some(&b'/') {
                    return;
                }
                id + 1
            }
            _ => end,
        };
        let stop = run_end(bytes, from, WORD | BASE64 | DOT);
        if stop >= from + 16 {
            self.replace(from, stop, mark::WEBHOOK);
        }
    }

    /// `123456789:AA…`, also behind the `bot` of an address.
    pub(super) fn telegram(&mut self, colon: usize, end: usize) {
        let bytes = self.bytes;
        if !bytes[colon..].starts_with(b":AA") {
            return;
        }
        let digits = bytes[self.floor..colon]
            .iter()
            .rev()
            .take(13)
            .take_while(|&&byte| is(byte, DIGIT))
            .count();
        let stop = run_end(&bytes[..bytes.len().min(end + 64)], end, WORD);
        if (6..=12).contains(&digits) && stop - colon >= 31 {
            self.replace(colon - digits, stop, mark::BOT_TOKEN);
        }
    }

    /// `curl -u user:password`.
    pub(super) fn user_option(&mut self, start: usize, end: usize) {
        if self.floor < start
            && self.bytes[start - 1].is_ascii_whitespace()
            && self.is_command(start, &[b"curl", b"wget"])
        {
            let value = self.option_value(end);
            if let Some(colon) = memchr::memchr(b':', &self.bytes[value.start..value.end]) {
                self.take(&Value {
                    start: value.start + colon + 1,
                    ..value
                });
            }
        }
    }

    /// `sshpass -p password`, `mysql -ppassword`, `redis-cli -a password`; `end` is behind the letter.
    pub(super) fn password_option(&mut self, start: usize, end: usize) {
        let attached = self
            .bytes
            .get(end)
            .is_some_and(|&byte| byte > b' ' && byte != b'-');
        let commands: &[&[u8]] = match (self.bytes[end - 1], attached) {
            (b'p', true) => &[b"mysql", b"mariadb", b"sshpass"],
            (b'p', false) => &[
                b"sshpass",
                b"docker login",
                b"podman login",
                b"helm registry login",
            ],
            (b'a', false) => &[b"redis-cli"],
            _ => return,
        };
        if self.is_command(start, commands) {
            let value = self.option_value(end);
            if value.end > value.start {
                self.take(&value);
            }
        }
    }

    /// Whether one of these commands stands shortly before `at`.
    fn is_command(&mut self, at: usize, commands: &[&[u8]]) -> bool {
        const LOOK_BACK: usize = 120;
        let before = &self.bytes[self.floor.max(at.saturating_sub(LOOK_BACK))..at];
        self.work += before.len();
        commands
            .iter()
            .any(|command| memmem::rfind(before, command).is_some())
    }

    /// The value of an option of a command.
    fn option_value(&mut self, end: usize) -> Value {
        let at = skip_blanks(self.bytes, end, 8);
        let value = match quote_at(self.bytes, at) {
            Some((quote, slashes)) => quoted(self.bytes, quote, slashes),
            None => bare(self.bytes, at, true),
        };
        self.work += value.after - at;
        value
    }
}
