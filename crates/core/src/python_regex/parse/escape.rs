//! Escapes and sets of characters.

use super::{Item, ONE, Parser, at, invalid, literal};
use crate::python_regex::Refusal;
use crate::python_regex::token::Token;
use crate::python_regex::tree::{Category, Flags, Kind, Node, Position, Set};

impl Parser {
    /// What follows a backslash outside a set.
    pub(super) fn escape(&mut self, c: char, flags: Flags) -> Result<Item, Refusal> {
        let boundary = |negated| {
            at(Position::WordBoundary {
                ascii: flags.ascii,
                negated,
            })
        };
        Ok(match c {
            'A' => at(Position::TextStart),
            'Z' => at(Position::TextEnd),
            'b' => boundary(false),
            'B' => boundary(true),
            '1'..='9' => return self.number(c, flags),
            _ => {
                if let Some(category) = category(c, flags) {
                    let mut set = Set::empty();
                    set.categories.push(category);
                    (Node::Set(set), ONE)
                } else {
                    literal(self.code(c)?, flags)
                }
            }
        })
    }

    /// `\1` to `\99`, or three octal digits.
    fn number(&mut self, first: char, flags: Flags) -> Result<Item, Refusal> {
        let mut digits = String::from(first);
        digits.push_str(&self.tokens.take_while(1, |c| c.is_ascii_digit()));
        if digits.len() == 2 && digits.chars().all(is_octal) {
            let third = self.tokens.take_while(1, is_octal);
            if !third.is_empty() {
                return Ok(literal(octal(&(digits + &third))?, flags));
            }
        }
        self.reference(digits.parse().unwrap_or(usize::MAX), flags)
    }

    /// The code point of an escape that means one character in and outside sets.
    fn code(&mut self, c: char) -> Result<u32, Refusal> {
        Ok(match c {
            'a' => 0x07,
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'x' => self.hex(2)?,
            'u' => self.hex(4)?,
            'U' => self.hex(8)?,
            'N' => {
                if !self.tokens.accept('{') || self.tokens.take_until('}').is_none() {
                    return Err(invalid("\"\\N\" must go on with a name in braces"));
                }
                return Err(Refusal::Unsupported(
                    "it names a character by its Unicode name".to_owned(),
                ));
            }
            '0' => {
                let digits = self.tokens.take_while(2, is_octal);
                octal(&format!("0{digits}"))?
            }
            c if c.is_ascii_alphanumeric() => {
                return Err(invalid(format!("\"\\{c}\" means nothing")));
            }
            c => u32::from(c),
        })
    }

    fn hex(&mut self, length: usize) -> Result<u32, Refusal> {
        let digits = self.tokens.take_while(length, |c| c.is_ascii_hexdigit());
        u32::from_str_radix(&digits, 16)
            .ok()
            .filter(|code| digits.len() == length && *code <= 0x0010_FFFF)
            .ok_or_else(|| invalid("a hexadecimal escape is incomplete or too large"))
    }

    /// What follows `[`, up to its `]`.
    pub(super) fn set(&mut self, flags: Flags) -> Result<Set, Refusal> {
        let never_closed = || invalid("a set is never closed");
        let mut set = Set::empty();
        set.negated = self.tokens.accept('^');
        let mut first = true;
        loop {
            let token = self.tokens.take().ok_or_else(never_closed)?;
            if token == Token::Char(']') && !first {
                break;
            }
            first = false;
            let low = self.member(token, flags)?;
            if !self.tokens.accept('-') {
                low.add_to(&mut set);
                continue;
            }
            let end = self.tokens.take().ok_or_else(never_closed)?;
            if end == Token::Char(']') {
                low.add_to(&mut set);
                Member::Code(u32::from('-')).add_to(&mut set);
                break;
            }
            match (low, self.member(end, flags)?) {
                (Member::Code(low), Member::Code(high)) if low <= high => set.add_range(low, high),
                _ => {
                    return Err(invalid(format!(
                        "\"{}-{}\" is not a range",
                        token.text(),
                        end.text()
                    )));
                }
            }
        }
        set.ignore_case(flags);
        Ok(set)
    }

    fn member(&mut self, token: Token, flags: Flags) -> Result<Member, Refusal> {
        Ok(match token {
            Token::Char(c) => Member::Code(u32::from(c)),
            Token::Escape('b') => Member::Code(0x08),
            Token::Escape(c @ '0'..='7') => {
                let digits = self.tokens.take_while(2, is_octal);
                Member::Code(octal(&format!("{c}{digits}"))?)
            }
            Token::Escape(c) => match category(c, flags) {
                Some(category) => Member::Category(category),
                None => Member::Code(self.code(c)?),
            },
        })
    }
}

/// One entry of a set.
#[derive(Clone, Copy)]
enum Member {
    Code(u32),
    Category(Category),
}

impl Member {
    fn add_to(self, set: &mut Set) {
        match self {
            Self::Code(code) => set.add_range(code, code),
            Self::Category(category) => set.categories.push(category),
        }
    }
}

fn category(c: char, flags: Flags) -> Option<Category> {
    let kind = match c.to_ascii_lowercase() {
        'd' => Kind::Digit,
        's' => Kind::Space,
        'w' => Kind::Word,
        _ => return None,
    };
    Some(Category {
        kind,
        negated: c.is_ascii_uppercase(),
        ascii: flags.ascii,
    })
}

fn is_octal(c: char) -> bool {
    matches!(c, '0'..='7')
}

fn octal(digits: &str) -> Result<u32, Refusal> {
    u32::from_str_radix(digits, 8)
        .ok()
        .filter(|code| *code <= 0o377)
        .ok_or_else(|| invalid("an octal escape is too large"))
}
