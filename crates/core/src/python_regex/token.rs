//! Python's first look at a pattern: a backslash and the character after it are one token, also
//! inside sets and comments.

/// One token of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// A character as it stands.
    Char(char),
    /// A backslash and this character.
    Escape(char),
}

impl Token {
    /// The token as it stands in the pattern.
    pub(super) fn text(self) -> String {
        match self {
            Self::Char(c) => c.to_string(),
            Self::Escape(c) => format!("\\{c}"),
        }
    }
}

/// A pattern as tokens, with a position.
#[derive(Debug)]
pub(super) struct Tokens {
    tokens: Vec<Token>,
    at: usize,
}

impl Tokens {
    /// Cuts a pattern into tokens; `None` when it ends in a lone backslash.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            tokens.push(match c {
                '\\' => Token::Escape(chars.next()?),
                c => Token::Char(c),
            });
        }
        Some(Self { tokens, at: 0 })
    }

    /// The next token, which stays.
    pub(super) fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Option<Token> {
        let token = self.peek();
        self.at += usize::from(token.is_some());
        token
    }

    /// Takes the next token if it is this character.
    pub(super) fn accept(&mut self, c: char) -> bool {
        let found = self.peek() == Some(Token::Char(c));
        self.at += usize::from(found);
        found
    }

    /// Takes at most `limit` plain characters of this kind.
    pub(super) fn take_while(&mut self, limit: usize, kind: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while text.len() < limit
            && let Some(Token::Char(c)) = self.peek()
            && kind(c)
        {
            text.push(c);
            self.at += 1;
        }
        text
    }

    /// Takes everything up to `end`, which is taken too; `None` when it never comes.
    pub(super) fn take_until(&mut self, end: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.take()? {
                Token::Char(c) if c == end => return Some(text),
                token => text.push_str(&token.text()),
            }
        }
    }

    /// Where the next token is; give it to [`Self::back_to`].
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Goes back to an earlier position.
    pub(super) fn back_to(&mut self, position: usize) {
        self.at = position;
    }
}
