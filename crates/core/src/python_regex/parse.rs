//! Reads a pattern as Python 3.11's `re` reads a `str` pattern, and refuses what `re` refuses.

mod escape;

use std::collections::BTreeMap;

use super::Refusal;
use super::program::Case;
use super::token::{Token, Tokens};
use super::tree::{Flags, Greed, Node, Position, Set};

/// Groups nested deeper than this are refused: nobody writes them, and recursion must end.
const MAX_DEPTH: usize = 100;

/// Python's own bound of a counted repeat.
const MAX_REPEAT: u64 = u32::MAX as u64;

/// How many characters a part matches: at least, at most (saturating).
type Width = (u64, u64);

type Item = (Node, Width);

const ONE: Width = (1, 1);
const NOTHING: Width = (0, 0);

/// The parsed form of `pattern`, and how many groups it has.
pub(super) fn parse(pattern: &str) -> Result<(Node, usize), Refusal> {
    let tokens = Tokens::new(pattern).ok_or_else(|| invalid("it ends in a lone backslash"))?;
    let mut parser = Parser {
        tokens,
        groups: vec![None],
        names: BTreeMap::new(),
        outside_lookbehind: None,
        conditions: Vec::new(),
        type_flags: (false, false),
        depth: 0,
    };
    let (node, _) = parser.alternatives(Flags::default(), true)?;
    if parser.tokens.peek().is_some() {
        return Err(invalid("it closes a group that was never opened"));
    }
    if parser
        .conditions
        .iter()
        .any(|group| *group >= parser.groups.len())
    {
        return Err(invalid("it refers to a group that does not exist"));
    }
    Ok((node, parser.groups.len() - 1))
}

fn invalid(why: impl Into<String>) -> Refusal {
    Refusal::Invalid(why.into())
}

struct Parser {
    tokens: Tokens,
    /// Width of each group by number, `None` while it is open. Number 0 is never referred to.
    groups: Vec<Option<Width>>,
    names: BTreeMap<String, usize>,
    /// Inside a look-behind: how many groups were there when it began.
    outside_lookbehind: Option<usize>,
    /// Groups named by number in conditions; they may come later.
    conditions: Vec<usize>,
    /// Whether `(?a)` and `(?u)` were seen for the whole pattern.
    type_flags: (bool, bool),
    depth: usize,
}

impl Parser {
    /// `a|b|c`, up to a closing parenthesis or the end.
    fn alternatives(&mut self, mut flags: Flags, top: bool) -> Result<Item, Refusal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refusal::Unsupported(
                "its groups are nested too deeply".to_owned(),
            ));
        }
        let mut branches = Vec::new();
        let mut width = (u64::MAX, 0);
        loop {
            let (node, own) = self.sequence(&mut flags, top && branches.is_empty())?;
            branches.push(node);
            width = (width.0.min(own.0), width.1.max(own.1));
            if !self.tokens.accept('|') {
                break;
            }
        }
        self.depth -= 1;
        let node = match branches.pop() {
            Some(only) if branches.is_empty() => only,
            last => {
                branches.extend(last);
                Node::Alternatives(branches)
            }
        };
        Ok((node, width))
    }

    /// One branch. `first` says that flags for the whole pattern may still be given; they are
    /// written back to `flags`.
    fn sequence(&mut self, flags: &mut Flags, first: bool) -> Result<Item, Refusal> {
        let mut items: Vec<Item> = Vec::new();
        while let Some(token) = self.tokens.peek() {
            if matches!(token, Token::Char('|' | ')')) {
                break;
            }
            self.tokens.take();
            match token {
                Token::Char(' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c') if flags.verbose => {}
                Token::Char('#') if flags.verbose => {
                    while self
                        .tokens
                        .take()
                        .is_some_and(|token| token != Token::Char('\n'))
                    {}
                }
                Token::Escape(c) => items.push(self.escape(c, *flags)?),
                Token::Char('[') => items.push((Node::Set(self.set(*flags)?), ONE)),
                Token::Char('.') => items.push((
                    Node::Any {
                        newline: flags.dot_all,
                    },
                    ONE,
                )),
                Token::Char('^') if flags.multi_line => items.push(at(Position::LineStart)),
                Token::Char('^') => items.push(at(Position::TextStart)),
                Token::Char('$') if flags.multi_line => items.push(at(Position::LineEnd)),
                Token::Char('$') => items.push(at(Position::TextEndOrLastNewline)),
                Token::Char('(') => {
                    let may_set_flags = first && items.is_empty();
                    items.extend(self.group(flags, may_set_flags)?);
                }
                Token::Char(c @ ('*' | '+' | '?' | '{')) => self.repeat(c, &mut items, *flags)?,
                Token::Char(c) => items.push(literal(u32::from(c), *flags)),
            }
        }
        let width = items.iter().fold(NOTHING, |sum, (_, width)| {
            (sum.0.saturating_add(width.0), sum.1.saturating_add(width.1))
        });
        Ok((
            Node::Sequence(items.into_iter().map(|(node, _)| node).collect()),
            width,
        ))
    }

    /// A quantifier that begins with `c`, which was taken; repeats the last of `items`.
    fn repeat(&mut self, c: char, items: &mut Vec<Item>, flags: Flags) -> Result<(), Refusal> {
        let (min, max) = match c {
            '?' => (0, Some(1)),
            '*' => (0, None),
            '+' => (1, None),
            _ => {
                let Some(bounds) = self.bounds()? else {
                    items.push(literal(u32::from(c), flags));
                    return Ok(());
                };
                bounds
            }
        };
        match items.last() {
            None | Some((Node::Position(_), _)) => return Err(invalid("it repeats nothing")),
            Some((Node::Repeat { .. }, _)) => return Err(invalid("it repeats a repeat")),
            Some(_) => {}
        }
        let greed = if self.tokens.accept('?') {
            Greed::Lazy
        } else if self.tokens.accept('+') {
            Greed::Possessive
        } else {
            Greed::Greedy
        };
        if let Some((body, width)) = items.pop() {
            let most = max.map_or(u64::MAX, u64::from);
            let width = (
                width.0.saturating_mul(u64::from(min)),
                width.1.saturating_mul(most),
            );
            items.push((
                Node::Repeat {
                    body: Box::new(body),
                    min,
                    max,
                    greed,
                },
                width,
            ));
        }
        Ok(())
    }

    /// What follows `{`: bounds, or nothing when the brace is only a character.
    fn bounds(&mut self) -> Result<Option<(u32, Option<u32>)>, Refusal> {
        let start = self.tokens.position();
        if self.tokens.peek() == Some(Token::Char('}')) {
            return Ok(None);
        }
        let digits = |tokens: &mut Tokens| tokens.take_while(usize::MAX, |c| c.is_ascii_digit());
        let low = digits(&mut self.tokens);
        let high = if self.tokens.accept(',') {
            digits(&mut self.tokens)
        } else {
            low.clone()
        };
        if !self.tokens.accept('}') {
            self.tokens.back_to(start);
            return Ok(None);
        }
        let number = |text: &str| {
            text.parse::<u64>()
                .ok()
                .filter(|number| *number < MAX_REPEAT)
                .and_then(|number| u32::try_from(number).ok())
                .ok_or_else(|| invalid("a repeat count is too large"))
        };
        let min = if low.is_empty() { 0 } else { number(&low)? };
        let max = if high.is_empty() {
            None
        } else {
            Some(number(&high)?)
        };
        if max.is_some_and(|max| max < min) {
            return Err(invalid("a repeat has a lower bound above its upper bound"));
        }
        Ok(Some((min, max)))
    }

    /// What follows `(`, with its closing parenthesis. Comments and flags give nothing.
    fn group(&mut self, flags: &mut Flags, may_set_flags: bool) -> Result<Option<Item>, Refusal> {
        if !self.tokens.accept('?') {
            return self.capture(None, *flags).map(Some);
        }
        match self.tokens.take() {
            Some(Token::Char('P')) => self.python_group(*flags).map(Some),
            Some(Token::Char(':')) => self.body(*flags).map(Some),
            Some(Token::Char('#')) => match self.tokens.take_until(')') {
                Some(_) => Ok(None),
                None => Err(invalid("a comment is never closed")),
            },
            Some(Token::Char(c @ ('=' | '!'))) => {
                let (body, _) = self.body(*flags)?;
                Ok(Some((look(None, c == '!', body), NOTHING)))
            }
            Some(Token::Char('<')) => self.look_behind(*flags).map(Some),
            Some(Token::Char('(')) => self.conditional(flags).map(Some),
            Some(Token::Char('>')) => {
                let (body, width) = self.body(*flags)?;
                Ok(Some((Node::Atomic(Box::new(body)), width)))
            }
            Some(Token::Char(c)) if c == '-' || is_flag(c) => {
                let Some(inner) = self.flags(c, flags)? else {
                    return if may_set_flags {
                        Ok(None)
                    } else {
                        Err(invalid(
                            "flags for the whole pattern must stand at its start",
                        ))
                    };
                };
                self.body(inner).map(Some)
            }
            Some(token) => Err(invalid(format!("\"(?{}\" means nothing", token.text()))),
            None => Err(invalid("a group is never closed")),
        }
    }

    /// Everything up to the closing parenthesis, which is taken.
    fn body(&mut self, flags: Flags) -> Result<Item, Refusal> {
        let item = self.alternatives(flags, false)?;
        self.close()?;
        // Wrapped, so that a repeat of the group is not mistaken for a repeat of its only part.
        Ok((Node::Sequence(vec![item.0]), item.1))
    }

    fn close(&mut self) -> Result<(), Refusal> {
        if self.tokens.accept(')') {
            Ok(())
        } else {
            Err(invalid("a group is never closed"))
        }
    }

    fn capture(&mut self, name: Option<String>, flags: Flags) -> Result<Item, Refusal> {
        let number = self.groups.len();
        self.groups.push(None);
        if let Some(name) = name
            && self.names.insert(name.clone(), number).is_some()
        {
            return Err(invalid(format!("it names two groups \"{name}\"")));
        }
        let (body, width) = self.body(flags)?;
        self.groups[number] = Some(width);
        Ok((
            Node::Capture {
                group: number,
                body: Box::new(body),
            },
            width,
        ))
    }

    /// `(?P<name>…)` and `(?P=name)`.
    fn python_group(&mut self, flags: Flags) -> Result<Item, Refusal> {
        if self.tokens.accept('<') {
            let name = self.name('>')?;
            if !is_identifier(&name) {
                return Err(invalid(format!("\"{name}\" cannot name a group")));
            }
            return self.capture(Some(name), flags);
        }
        if self.tokens.accept('=') {
            let name = self.name(')')?;
            let group = self.named(&name)?;
            return self.reference(group, flags);
        }
        Err(invalid("\"(?P\" must go on with \"<\" or \"=\""))
    }

    fn name(&mut self, end: char) -> Result<String, Refusal> {
        self.tokens
            .take_until(end)
            .filter(|name| !name.is_empty())
            .ok_or_else(|| invalid("a group name is missing"))
    }

    fn named(&self, name: &str) -> Result<usize, Refusal> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| invalid(format!("no group is named \"{name}\"")))
    }

    /// A reference to a group by number.
    fn reference(&mut self, group: usize, flags: Flags) -> Result<Item, Refusal> {
        let width = match self.groups.get(group) {
            Some(Some(width)) => *width,
            Some(None) => return Err(invalid("it refers to a group from inside that group")),
            None => return Err(invalid(format!("there is no group {group}"))),
        };
        self.check_lookbehind(group)?;
        let case = match (flags.ignore_case, flags.ascii) {
            (false, _) => Case::Exact,
            (true, false) => Case::Ignored,
            (true, true) => Case::AsciiIgnored,
        };
        Ok((Node::Reference { group, case }, width))
    }

    fn check_lookbehind(&self, group: usize) -> Result<(), Refusal> {
        match self.outside_lookbehind {
            Some(_) if !matches!(self.groups.get(group), Some(Some(_))) => {
                Err(invalid("a look-behind refers to an open group"))
            }
            Some(outside) if group >= outside => {
                Err(invalid("a look-behind refers to its own group"))
            }
            _ => Ok(()),
        }
    }

    fn look_behind(&mut self, flags: Flags) -> Result<Item, Refusal> {
        let negated = match self.tokens.take() {
            Some(Token::Char('=')) => false,
            Some(Token::Char('!')) => true,
            _ => return Err(invalid("\"(?<\" must go on with \"=\" or \"!\"")),
        };
        let before = self.outside_lookbehind;
        self.outside_lookbehind = Some(before.unwrap_or(self.groups.len()));
        let (body, (low, high)) = self.body(flags)?;
        self.outside_lookbehind = before;
        if low != high {
            return Err(invalid("a look-behind can match texts of different length"));
        }
        Ok((look(Some(low), negated, body), NOTHING))
    }

    fn conditional(&mut self, flags: &mut Flags) -> Result<Item, Refusal> {
        let name = self.name(')')?;
        let group = if is_identifier(&name) {
            self.named(&name)?
        } else if !name.is_empty() && name.chars().all(|c| c.is_ascii_digit()) {
            let group = name.parse().unwrap_or(usize::MAX);
            if group == 0 {
                return Err(invalid("there is no group 0"));
            }
            self.conditions.push(group);
            group
        } else {
            return Err(invalid(format!("\"{name}\" cannot name a group")));
        };
        self.check_lookbehind(group)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refusal::Unsupported(
                "its groups are nested too deeply".to_owned(),
            ));
        }
        let (yes, mut width) = self.sequence(flags, false)?;
        let mut no = None;
        if self.tokens.accept('|') {
            let (node, own) = self.sequence(flags, false)?;
            width = (width.0.min(own.0), width.1.max(own.1));
            no = Some(Box::new(node));
            if self.tokens.peek() == Some(Token::Char('|')) {
                return Err(invalid("a condition has more than two branches"));
            }
        } else {
            width.0 = 0;
        }
        self.depth -= 1;
        self.close()?;
        Ok((
            Node::Conditional {
                group,
                yes: Box::new(yes),
                no,
            },
            width,
        ))
    }

    /// Flags that begin with `first`. Changes `flags` and gives `None` for `(?i)`; gives the
    /// flags of the group for `(?i:`.
    fn flags(&mut self, first: char, flags: &mut Flags) -> Result<Option<Flags>, Refusal> {
        let mut added = String::new();
        let mut next = first;
        while next != '-' {
            if next == 'L' {
                return Err(invalid("the flag L does not go with text"));
            }
            added.push(next);
            if added.contains('a') && added.contains('u') {
                return Err(invalid("the flags a and u exclude each other"));
            }
            next = self.flag("-:)")?;
            match next {
                ')' => return self.whole_pattern_flags(&added, flags).map(|()| None),
                ':' => break,
                _ => {}
            }
        }
        let mut removed = String::new();
        if next == '-' {
            next = self.flag("")?;
            while next != ':' {
                if matches!(next, 'a' | 'u' | 'L') {
                    return Err(invalid("the flags a, u and L cannot be turned off"));
                }
                removed.push(next);
                next = self.flag(":")?;
            }
        }
        if added.contains('t') || removed.contains('t') {
            return Err(invalid("the flag t cannot be set for a group"));
        }
        if added.chars().any(|flag| removed.contains(flag)) {
            return Err(invalid("a flag is turned on and off at once"));
        }
        let mut inner = *flags;
        set_flags(&mut inner, &added, true);
        set_flags(&mut inner, &removed, false);
        Ok(Some(inner))
    }

    /// The next flag letter, or one of `ends`.
    fn flag(&mut self, ends: &str) -> Result<char, Refusal> {
        match self.tokens.take() {
            Some(Token::Char(c)) if is_flag(c) || ends.contains(c) => Ok(c),
            Some(token) => Err(invalid(format!("\"{}\" is not a flag", token.text()))),
            None => Err(invalid("a group is never closed")),
        }
    }

    fn whole_pattern_flags(&mut self, added: &str, flags: &mut Flags) -> Result<(), Refusal> {
        self.type_flags.0 |= added.contains('a');
        self.type_flags.1 |= added.contains('u');
        if self.type_flags == (true, true) {
            return Err(invalid("the flags a and u exclude each other"));
        }
        set_flags(flags, added, true);
        Ok(())
    }
}

fn at(position: Position) -> Item {
    (Node::Position(position), NOTHING)
}

fn literal(code: u32, flags: Flags) -> Item {
    (Node::Set(Set::of(code, flags)), ONE)
}

fn look(behind: Option<u64>, negated: bool, body: Node) -> Node {
    Node::Look {
        behind,
        negated,
        body: Box::new(body),
    }
}

fn is_flag(c: char) -> bool {
    "iLmsxatu".contains(c)
}

/// Turns flags on or off. `t` has no effect in Python either.
fn set_flags(flags: &mut Flags, letters: &str, on: bool) {
    for letter in letters.chars() {
        match letter {
            'i' => flags.ignore_case = on,
            'm' => flags.multi_line = on,
            's' => flags.dot_all = on,
            'x' => flags.verbose = on,
            'a' => flags.ascii = true,
            'u' => flags.ascii = false,
            _ => {}
        }
    }
}

/// Python's `str.isidentifier`, up to characters that no keyboard has.
fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_alphabetic())
        && chars.all(|c| c == '_' || c.is_alphanumeric())
}
