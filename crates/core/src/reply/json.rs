//! Finding the one JSON value of a reply, in linear time.

/// Deepest nesting that is read; a reply needs four levels.
const DEEPEST: usize = 32;

/// What a reply that is not one clean JSON value holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Exactly one value that may be meant, as clean JSON.
    One(String),
    /// Nothing that may be meant.
    Nothing,
    /// More than one value that may be meant.
    Several,
    /// A value that begins as JSON and is not.
    Broken,
}

/// The one value in `text` for which `meant` holds.
///
/// Only values that stand by themselves are looked at, never parts of larger ones. Repaired is what
/// has one reading only: trailing commas, line ends inside strings, typographic quotes around
/// strings. Everything else that begins as JSON and breaks makes the reply broken, so that no part of
/// a damaged value is taken for the whole. Brackets of prose are passed over.
pub(super) fn find(text: &str, meant: impl Fn(&str) -> bool) -> Found {
    let closers = closers(text.as_bytes());
    let mut found: Option<String> = None;
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) {
        let mut reader = Reader {
            text,
            at: start,
            clean: String::new(),
            committed: false,
        };
        if reader.value(0).is_some() {
            at = reader.at;
            if meant(&reader.clean) {
                if found.is_some() {
                    return Found::Several;
                }
                found = Some(reader.clean);
            }
        } else if reader.committed {
            return Found::Broken;
        } else {
            at = closers[start].map_or(start + 1, |close| close + 1);
        }
    }
    found.map_or(Found::Nothing, Found::One)
}

/// For every opening bracket the position of the bracket that closes it, if one does.
fn closers(bytes: &[u8]) -> Vec<Option<usize>> {
    let mut closers = vec![None; bytes.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut curly = 0_usize;
    let mut square = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        let (opener, count) = match byte {
            b'{' => {
                open.push(at);
                curly += 1;
                continue;
            }
            b'[' => {
                open.push(at);
                square += 1;
                continue;
            }
            b'}' => (b'{', curly),
            b']' => (b'[', square),
            _ => continue,
        };
        if count == 0 {
            continue;
        }
        // What was opened in between stays unclosed.
        while let Some(start) = open.pop() {
            if bytes[start] == b'{' {
                curly -= 1;
            } else {
                square -= 1;
            }
            if bytes[start] == opener {
                closers[start] = Some(at);
                break;
            }
        }
    }
    closers
}

/// Reads one value and writes it down cleanly. `None` means that it is not one.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    clean: String,
    /// A string, a number or a word of JSON was read: this is no bracket of prose.
    committed: bool,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            self.committed = true;
            return None;
        }
        match self.peek()? {
            '{' => self.list('}', |reader| {
                reader.string()?;
                reader.blank();
                reader.take(':')?;
                reader.blank();
                reader.value(depth + 1)
            }),
            '[' => self.list(']', |reader| reader.value(depth + 1)),
            '"' | '“' => self.string(),
            '-' | '0'..='9' => {
                let rest = &self.text[self.at..];
                let end = rest
                    .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'))
                    .unwrap_or(rest.len());
                self.word(&rest[..end])
            }
            't' => self.word("true"),
            'f' => self.word("false"),
            'n' => self.word("null"),
            _ => None,
        }
    }

    fn list(&mut self, close: char, mut entry: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        let open = self.peek()?;
        self.take(open)?;
        self.blank();
        let mut first = true;
        while self.peek()? != close {
            if !first {
                self.clean.push(',');
            }
            first = false;
            entry(self)?;
            self.blank();
            if self.peek()? == ',' {
                self.at += 1;
                self.blank();
            } else if self.peek()? != close {
                return None;
            }
        }
        self.take(close)
    }

    fn string(&mut self) -> Option<()> {
        let close = match self.peek()? {
            '"' => '"',
            '“' => '”',
            _ => return None,
        };
        let body = self.at + self.peek()?.len_utf8();
        self.clean.push('"');
        let mut escaped = false;
        for (offset, c) in self.text[body..].char_indices() {
            if !escaped && c == close {
                self.clean.push('"');
                self.at = body + offset + c.len_utf8();
                self.committed = true;
                return Some(());
            }
            match c {
                '\n' => self.clean.push_str("\\n"),
                '\r' => self.clean.push_str("\\r"),
                '\t' => self.clean.push_str("\\t"),
                '"' if !escaped => self.clean.push_str("\\\""),
                c => self.clean.push(c),
            }
            escaped = !escaped && c == '\\';
        }
        // A string that never ends is no bracket of prose either.
        self.committed = true;
        None
    }

    fn word(&mut self, word: &str) -> Option<()> {
        if !self.text[self.at..].starts_with(word) {
            return None;
        }
        self.clean.push_str(word);
        self.at += word.len();
        self.committed = true;
        Some(())
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, expected: char) -> Option<()> {
        if self.peek()? != expected {
            return None;
        }
        self.clean.push(expected);
        self.at += expected.len_utf8();
        Some(())
    }

    fn blank(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn objects(text: &str) -> Found {
        find(text, |value| value.starts_with('{'))
    }

    #[test]
    fn one_value_in_prose_is_found_and_cleaned() {
        assert_eq!(
            objects("Sure [1]! {\"a\": [1, 2,],} done"),
            Found::One("{\"a\":[1,2]}".into())
        );
        assert_eq!(
            objects("```json\n{\"a\": \"x\ny\"}\n```"),
            Found::One("{\"a\":\"x\\ny\"}".into())
        );
        assert_eq!(
            objects("{“a”: “say \"hi\"”}"),
            Found::One("{\"a\":\"say \\\"hi\\\"\"}".into())
        );
        assert_eq!(
            objects(r#"{"a": "\\\"}"}"#),
            Found::One(r#"{"a":"\\\"}"}"#.into())
        );
    }

    #[test]
    fn brackets_of_prose_are_passed_over() {
        // Field note 40: prose pseudo-JSON, an unmatched brace before the value.
        assert_eq!(
            objects("use {op: delete} then {\"a\":1}"),
            Found::One("{\"a\":1}".into())
        );
        assert_eq!(
            objects("a brace { and [[link]] then {\"a\":1}"),
            Found::One("{\"a\":1}".into())
        );
        assert_eq!(
            objects("{note: {\"a\":1}}"),
            Found::Nothing,
            "parts of something larger are not taken"
        );
    }

    #[test]
    fn two_readings_are_none() {
        assert_eq!(objects("{\"a\":1} or {\"a\":2}"), Found::Several);
        assert_eq!(
            objects("```\n{\"a\":1}\n```\n```\n{\"a\":1}\n```"),
            Found::Several
        );
    }

    #[test]
    fn no_part_of_a_damaged_value_is_taken_for_the_whole() {
        assert_eq!(objects("{\"a\": [{\"b\": 1}, {\"b\""), Found::Broken);
        assert_eq!(
            objects("{\"a\": \"他说\"好\"。\"} {\"a\":1}"),
            Found::Broken
        );
        assert_eq!(objects("[{\"a\": 1} {\"a\": 2}]"), Found::Broken);
    }

    #[test]
    fn a_megabyte_of_brackets_is_read_in_linear_time() {
        // Field note 40: a quadratic scan. A million times the work would never end here.
        for piece in ["{", "["] {
            let _ = objects(&piece.repeat(1 << 20));
        }
        for piece in [
            "{[",
            "[1,",
            "{\"a\":",
            "[\"",
            "{ ",
            "}{",
            "][",
            "[]",
            "“",
            "{\"a\":1}",
        ] {
            let _ = objects(&piece.repeat((1 << 17) / piece.len()));
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_json(text in "[\\[\\]{}:,\"“”\\\\ a1.\n-]{0,80}") {
            if let Found::One(clean) = find(&text, |value| serde_json::from_str::<serde_json::Value>(value).is_ok()) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&clean).is_ok());
            }
        }

        #[test]
        fn valid_json_is_found_unchanged_in_prose(
            keys in proptest::collection::vec("[a-z\"\\\\\n\u{4e00}-\u{4e10}]{0,6}", 1..4), before in "[a-z .]{0,10}"
        ) {
            let object: serde_json::Map<_, _> = keys.iter().map(|key| (key.clone(), serde_json::json!([key, null, 1.5, true]))).collect();
            let value = serde_json::Value::Object(object);
            let text = format!("{before}{value:#}");
            let Found::One(clean) = objects(&text) else { panic!("not found in {text}") };
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&clean).unwrap(), value);
        }
    }
}
