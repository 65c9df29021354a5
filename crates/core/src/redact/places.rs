//! Values in other places than right behind a sign: calls, declarations, elements, lists, blocks, speech.

use memchr::{memchr2, memmem};

use super::assignment::{LONGEST_GAP, Name, Sign, sign};
use super::class::{ALNUM, DIGIT, DOT, LOWER, UNDERSCORE, UPPER, WORD, any, is};
use super::harmless::is_placeholder;
use super::keyword::Word;
use super::name::Strength;
use super::random::is_bare_secret;
use super::value::{Form, Value, bare, quote_at, quoted, skip_blanks, skip_lines};
use super::{Scan, mark};

/// Whether a call with this callee makes a value of its argument: `String::from`, `Secret`, `b64decode`.
fn is_constructor(callee: &[u8]) -> bool {
    const MAKERS: [&[u8]; 6] = [
        b"str",
        b"bytes",
        b"bytearray",
        b"Buffer.from",
        b"atob",
        b"b64decode",
    ];
    let path = callee
        .iter()
        .all(|&byte| is(byte, ALNUM | UNDERSCORE) || b"&*.:<>!? ".contains(&byte));
    let last = callee
        .rsplit(|&byte| byte == b':' || byte == b' ')
        .next()
        .unwrap_or(callee);
    path && (MAKERS.contains(&last)
        || callee.windows(2).any(|pair| pair == b"::")
        || last.first().is_some_and(|&first| is(first, UPPER)))
}

impl Scan<'_, '_> {
    /// `"name": "DB_PASSWORD", "value": "x"`, `name="password" value="x"`, and the same over two lines
    /// of YAML: the sign behind `value` or `content`.
    pub(super) fn value_field(&self, name: &Name, at: usize) -> Option<(usize, Sign)> {
        let bytes = self.bytes;
        let comma = at + usize::from(bytes.get(at) == Some(&b','));
        let (mut field, line) = skip_lines(bytes, comma, LONGEST_GAP);
        if (field == comma && bytes.get(at.wrapping_sub(1)) != Some(&b'{'))
            || !(name.quoted || line)
        {
            return None;
        }
        if let Some((quote, _)) = quote_at(bytes, field) {
            field = quote + 1;
        }
        let rest = &bytes[field..];
        let length = [&b"value"[..], b"content"].into_iter().find_map(|word| {
            rest.get(..word.len())
                .filter(|head| head.eq_ignore_ascii_case(word))
                .map(<[u8]>::len)
        })?;
        let mut after = field + length;
        if let Some((quote, _)) = quote_at(bytes, after) {
            after = quote + 1;
        }
        sign(bytes, skip_blanks(bytes, after, LONGEST_GAP))
    }

    /// A value that is code: past the type of a declaration there may be a literal, and in a call too.
    pub(super) fn code(&mut self, name: &Name, value: &Value, sign: Sign) {
        const LONGEST_TYPE: usize = 48;
        let bytes = self.bytes;
        let window = &bytes[value.start..bytes.len().min(value.end + LONGEST_TYPE)];
        let line = memchr2(b'\n', b'\r', window).unwrap_or(window.len());
        let window = &window[..line];
        if let Some(call) = memchr2(b'(', b'[', window)
            && is_constructor(&window[..call])
        {
            self.argument(value.start + call + 1);
            return;
        }
        if sign == Sign::Colon
            && let Some(equals) = memchr::memchr(b'=', window)
            && window[..equals]
                .iter()
                .all(|&byte| is(byte, ALNUM | UNDERSCORE) || b"&*.:<>[]|?' ".contains(&byte))
            && window.get(equals + 1) != Some(&b'>')
        {
            let typed = Name {
                typed: true,
                ..*name
            };
            self.assigned(&typed, value.start + equals + 1, Sign::Equals);
        }
    }

    /// The first argument of a call, when it is a literal that looks like a secret.
    pub(super) fn argument(&mut self, at: usize) {
        let bytes = self.bytes;
        let at = skip_blanks(bytes, at, LONGEST_GAP);
        let prefix = usize::from(bytes.get(at).is_some_and(|byte| b"bru".contains(byte)));
        let Some((quote, slashes)) = quote_at(bytes, at).or_else(|| quote_at(bytes, at + prefix))
        else {
            return;
        };
        let value = quoted(bytes, quote, slashes);
        self.work += value.after - at;
        let text = &bytes[value.start..value.end];
        let name = text
            .iter()
            .all(|&byte| is(byte, UPPER | DIGIT | UNDERSCORE));
        let secret = matches!(value.form, Form::Quoted { closed: true })
            && (6..=512).contains(&text.len())
            && any(text, DIGIT)
            && any(text, LOWER | UPPER)
            && !name
            && !text.contains(&b' ')
            && !text.contains(&b'/')
            && !is_placeholder(text)
            && mark::end_at(bytes, value.start).is_none();
        if secret {
            let mark = self.mark_for(value.start, value.end);
            self.replace(value.start, value.end, mark);
        }
    }

    /// The text of an XML element named like a credential.
    pub(super) fn element(&mut self, name: &Name, start: usize) {
        const LONGEST_TAG: usize = 64;
        let before = &self.bytes[self.floor..name.start];
        let opens = before
            .iter()
            .rev()
            .take(LONGEST_TAG)
            .find(|&&byte| !is(byte, WORD | DOT) && byte != b':')
            == Some(&b'<');
        if !opens {
            return;
        }
        let end = memchr2(b'<', b'\n', &self.bytes[start..])
            .map_or(self.bytes.len(), |length| start + length);
        if self.bytes[end..].starts_with(b"</") {
            let value = Value {
                start,
                end,
                after: end,
                form: Form::Bare,
            };
            self.consider(name, &value, start, Sign::Colon);
        }
    }

    /// The strings of a list.
    pub(super) fn list(&mut self, name: &Name, start: usize, after: usize, sign: Sign) {
        let mut at = start;
        loop {
            at = skip_lines(self.bytes, at, LONGEST_GAP).0;
            let Some((quote, slashes)) = quote_at(self.bytes, at) else {
                break;
            };
            let value = quoted(self.bytes, quote, slashes);
            self.consider(name, &value, after, sign);
            at = skip_lines(self.bytes, value.after, LONGEST_GAP).0;
            if self.bytes.get(at) != Some(&b',') {
                break;
            }
            at += 1;
        }
        self.at = self.at.max(at.min(self.bytes.len()));
    }

    /// A block of YAML: the indented lines behind `name: |`. Line ends may be written as `\n`.
    pub(super) fn block(&mut self, name: &Name, at: usize) {
        const MOST_LINES: usize = 64;
        let bytes = self.bytes;
        let at = at + usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
        let line = skip_blanks(bytes, at, LONGEST_GAP);
        let end_of_line: &[u8] = match bytes.get(line..) {
            Some([b'\n', ..]) => b"\n",
            Some([b'\\', b'n', ..]) => b"\\n",
            _ => return,
        };
        let start = skip_blanks(bytes, line + end_of_line.len(), LONGEST_GAP);
        let indent = start - line - end_of_line.len();
        if indent == 0 || mark::end_at(bytes, start).is_some() {
            return;
        }
        let mut end = start;
        for _ in 0..MOST_LINES {
            let line = end;
            end =
                memmem::find(&bytes[end..], end_of_line).map_or(bytes.len(), |length| end + length);
            if end_of_line.len() == 2
                && let Some(quote) = memchr::memchr(b'"', &bytes[line..end])
            {
                // The string of JSON around the block ends.
                end = line + quote;
                end -= usize::from(bytes[end - 1] == b'\\');
                break;
            }
            let next = (end + end_of_line.len()).min(bytes.len());
            let text = skip_blanks(bytes, next, indent);
            if text - next < indent {
                break;
            }
            end = text;
        }
        let end = end.max(start);
        let value = Value {
            start,
            end,
            after: end,
            form: Form::Bare,
        };
        self.consider(name, &value, at, Sign::Colon);
    }

    /// A name and a value with nothing between them but spaces: `password hunter2`, `password is x1y2z3`.
    pub(super) fn spoken(&mut self, name: &Name, gap: usize) {
        let bytes = self.bytes;
        if name.strength == Strength::Maybe {
            return;
        }
        let mut at = gap;
        for word in [&b"is"[..], b"was"] {
            if bytes[at..].starts_with(word) {
                let after = at + word.len();
                let colon = after + usize::from(bytes.get(after) == Some(&b':'));
                let next = skip_blanks(bytes, colon, LONGEST_GAP);
                if next > colon {
                    at = next;
                }
            }
        }
        let told = at > gap;
        let value = match quote_at(bytes, at) {
            Some((quote, slashes)) => quoted(bytes, quote, slashes),
            None => bare(bytes, at, false),
        };
        let mut end = value.end;
        if value.form == Form::Bare {
            while end > value.start && matches!(bytes[end - 1], b'.' | b':' | b'!' | b'?') {
                end -= 1;
            }
        }
        let text = &bytes[value.start..end];
        self.work += value.after - value.start;
        if let Some(stop) = mark::end_at(bytes, value.start) {
            self.keep_to(stop);
            return;
        }
        let quoted = value.form != Form::Bare;
        if (quoted || told) && (!any(text, DIGIT) || text.contains(&b' ')) {
            return;
        }
        let opens = text
            .first()
            .is_none_or(|byte| b"-|&<>({[$%*#/~.@=\\".contains(byte));
        let count = name.word == Word::Token
            && text.len() <= 12
            && text.iter().all(|&byte| {
                is(byte, DIGIT) || matches!(byte, b'.' | b',' | b'k' | b'K' | b'M' | b'-' | b':')
            });
        if opens || count || !is_bare_secret(text) {
            return;
        }
        let mark = self.mark_for(value.start, end);
        self.replace(value.start, end, mark);
    }
}
