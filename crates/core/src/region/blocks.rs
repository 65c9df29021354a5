//! As much Markdown block structure as it takes to know what is code.
//!
//! The rules are CommonMark's (0.31.2 §4.5, §4.6, §5.2): a fence is three or more back-ticks or
//! tildes, indented by at most three columns within its list item, and ends with a fence at least as
//! long, with the list item it stands in, or with the document. Fences inside an HTML comment are
//! text.

/// List items deeper than this are taken as text; nobody writes them by hand.
const MAX_DEPTH: usize = 64;

/// A code fence that is open.
#[derive(Debug, Clone, Copy)]
struct Fence {
    /// `` ` `` or `~`.
    mark: char,
    /// How many marks opened it.
    length: usize,
    /// Content column of the list item it stands in; 0 outside lists.
    column: usize,
    /// Where its line begins, in bytes.
    start: usize,
}

/// What a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Text, or a list item.
    Text,
    /// A code fence outside all lists, including its first and last line.
    Code,
    /// A code fence inside a list item.
    ListCode,
}

/// The open blocks after the lines read so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    /// Content columns of the open list items, outermost first.
    items: Vec<usize>,
    fence: Option<Fence>,
    /// Content column of the list item an open HTML comment stands in.
    comment: Option<usize>,
}

impl Blocks {
    /// Where the code fence outside all lists begins that is still open, in bytes.
    pub(super) fn open_fence(&self) -> Option<usize> {
        self.fence
            .filter(|fence| fence.column == 0)
            .map(|fence| fence.start)
    }

    /// Reads one line, which begins at byte `start`, and says what it belongs to.
    pub(super) fn read(&mut self, line: &str, start: usize) -> Place {
        let text = line.trim_end();
        let rest = text.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            return self.fence.as_ref().map_or(Place::Text, Fence::place);
        }
        let indent = width(0, &text[..text.len() - rest.len()]);
        if let Some(fence) = self.fence {
            if indent >= fence.column {
                if indent < fence.column + 4 && fence.is_closed_by(rest) {
                    self.fence = None;
                }
                return fence.place();
            }
            self.fence = None;
        }
        if let Some(column) = self.comment {
            if indent >= column {
                if rest.contains("-->") {
                    self.comment = None;
                }
                return Place::Text;
            }
            self.comment = None;
        }
        while self.items.last().is_some_and(|&column| column > indent) {
            self.items.pop();
        }
        self.open(rest, indent, start)
    }

    /// Opens the list items, and the fence or comment, that begin with `rest` at column `indent`.
    fn open(&mut self, mut rest: &str, mut indent: usize, start: usize) -> Place {
        loop {
            let column = self.items.last().copied().unwrap_or(0);
            if indent >= column + 4 {
                // Indented code, or the middle of a paragraph.
                return Place::Text;
            }
            if self.items.len() < MAX_DEPTH
                && let Some(marker) = list_marker(rest)
            {
                let after = &rest[marker..];
                rest = after.trim_start_matches([' ', '\t']);
                let spaces = width(indent + marker, &after[..after.len() - rest.len()]);
                let content = if (1..=4).contains(&spaces) && !rest.is_empty() {
                    spaces
                } else {
                    1
                };
                self.items.push(indent + marker + content);
                indent += marker + spaces;
                if rest.is_empty() {
                    return Place::Text;
                }
                continue;
            }
            if let Some((mark, length)) = opening(rest) {
                let fence = Fence {
                    mark,
                    length,
                    column,
                    start,
                };
                self.fence = Some(fence);
                return fence.place();
            }
            if rest.starts_with("<!--") && !rest.contains("-->") {
                self.comment = Some(column);
            }
            return Place::Text;
        }
    }
}

impl Fence {
    fn place(&self) -> Place {
        if self.column == 0 {
            Place::Code
        } else {
            Place::ListCode
        }
    }

    fn is_closed_by(&self, rest: &str) -> bool {
        rest.len() >= self.length && rest.chars().all(|c| c == self.mark)
    }
}

/// The mark and length of the fence that `rest` opens.
fn opening(rest: &str) -> Option<(char, usize)> {
    let mark = rest.chars().next().filter(|&c| c == '`' || c == '~')?;
    let info = rest.trim_start_matches(mark);
    let length = rest.len() - info.len();
    // Back-ticks in the info string make it inline code.
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// The length of the list marker `rest` begins with.
fn list_marker(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let digits = bytes
        .iter()
        .take(10)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let marker = match digits {
        0 if matches!(bytes.first(), Some(b'-' | b'+')) => 1,
        0 if bytes.first() == Some(&b'*') && !is_rule_of_stars(rest) => 1,
        1..=9 if matches!(bytes.get(digits), Some(b'.' | b')')) => digits + 1,
        _ => return None,
    };
    matches!(bytes.get(marker), None | Some(b' ' | b'\t')).then_some(marker)
}

/// `* * *` is a horizontal rule, not three lists. (`- - -` is left a list: a learned rule may look so.)
fn is_rule_of_stars(rest: &str) -> bool {
    rest.chars().all(|c| matches!(c, '*' | ' ' | '\t')) && rest.matches('*').count() >= 3
}

/// How many columns this white space takes when it begins at column `from`; tabs go to multiples of 4.
fn width(from: usize, space: &str) -> usize {
    space.chars().fold(from, |column, c| {
        if c == '\t' {
            column / 4 * 4 + 4
        } else {
            column + 1
        }
    }) - from
}
