//! Looking at the beginning of a JSON line without parsing it.
//!
//! Most bytes of a transcript are records nobody needs. Their type stands near the beginning, so a
//! line can be passed over after its first keys. A cursor walks those keys exactly as JSON defines
//! them; where it cannot go on (a container it was not asked to enter, a line cut in the middle,
//! text that is no JSON) it says so, and the line is parsed in full instead.

use memchr::memchr2;

/// The value at the cursor. Containers are entered, scalars passed over.
pub(crate) enum Value<'a> {
    /// A string, without its quotes and with its escapes as they stand.
    Text(&'a [u8]),
    /// A number, `true`, `false` or `null`, as it stands.
    Scalar(&'a [u8]),
    /// The cursor stands behind `{`.
    Object,
    /// The cursor stands behind `[`.
    Array,
}

/// A position inside one line.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor behind the opening brace of `line`, or `None` when it does not begin with one.
    pub(crate) fn object(line: &'a [u8]) -> Option<Self> {
        let mut cursor = Self { bytes: line, at: 0 };
        match cursor.value()? {
            Value::Object => Some(cursor),
            Value::Text(_) | Value::Scalar(_) | Value::Array => None,
        }
    }

    /// The next key of the object the cursor is in; `None` at its end.
    pub(crate) fn key(&mut self) -> Option<&'a [u8]> {
        self.skip_space();
        if self.peek()? == b',' {
            self.at += 1;
            self.skip_space();
        }
        let key = self.text()?;
        self.skip_space();
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        Some(key)
    }

    /// The value at the cursor; `None` when the line ends inside it.
    pub(crate) fn value(&mut self) -> Option<Value<'a>> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.text().map(Value::Text),
            b'{' => {
                self.at += 1;
                Some(Value::Object)
            }
            b'[' => {
                self.at += 1;
                Some(Value::Array)
            }
            _ => {
                let start = self.at;
                while !matches!(
                    self.peek()?,
                    b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n'
                ) {
                    self.at += 1;
                }
                Some(Value::Scalar(&self.bytes[start..self.at]))
            }
        }
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let mut at = start;
        loop {
            at += memchr2(b'"', b'\\', self.bytes.get(at..)?)?;
            if self.bytes[at] == b'"' {
                self.at = at + 1;
                return Some(&self.bytes[start..at]);
            }
            at += 2;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a test reads better so")]
    fn text<'a>(value: Option<Value<'a>>) -> &'a [u8] {
        match value {
            Some(Value::Text(text) | Value::Scalar(text)) => text,
            _ => panic!("no scalar"),
        }
    }

    #[test]
    fn walks_keys_and_enters_containers() {
        let line = br#" { "a" : "x\"y\\" , "n": -1.5e3, "o":{"type":"t"}} "#;
        let mut cursor = Cursor::object(line).unwrap();
        assert_eq!(cursor.key().unwrap(), b"a");
        assert_eq!(text(cursor.value()), br#"x\"y\\"#);
        assert_eq!(cursor.key().unwrap(), b"n");
        assert_eq!(text(cursor.value()), b"-1.5e3");
        assert_eq!(cursor.key().unwrap(), b"o");
        assert!(matches!(cursor.value(), Some(Value::Object)));
        assert_eq!(cursor.key().unwrap(), b"type");
        assert_eq!(text(cursor.value()), b"t");
        assert!(cursor.key().is_none());
    }

    #[test]
    fn a_cut_line_ends_the_walk() {
        for line in [
            &b"{"[..],
            b"{\"a",
            b"{\"a\"",
            b"{\"a\":",
            b"{\"a\":\"x\\",
            b"{\"a\":12",
        ] {
            let mut cursor = Cursor::object(line).unwrap();
            assert!(cursor.key().and_then(|_| cursor.value()).is_none());
        }
        assert!(Cursor::object(b"[1]").is_none());
        assert!(Cursor::object(b"").is_none());
    }
}
