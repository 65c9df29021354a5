//! Reads front matter the way a loader does: lines between two `---`, as YAML.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Front matter longer than this is not read, in bytes.
const LONGEST: usize = 64 * 1024;
/// The keys whose values are checked.
const CHECKED: [&str; 3] = ["name", "description", "compatibility"];

/// Why there is nothing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreadable {
    Missing,
    NotClosed,
    /// An unquoted value with a colon.
    Colon {
        line: usize,
        key: String,
    },
    NotYaml {
        line: usize,
    },
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    /// The line of its key in the file, from 1.
    pub(super) line: usize,
    content: Content,
    /// Whether a comment follows it on its line.
    pub(super) is_cut_by_comment: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Empty,
    Text(String),
    /// A number, a list, a map, an alias.
    Other,
}

impl Value {
    /// The text, unless it is empty or something else.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Empty | Content::Other => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.content == Content::Empty
    }
}

/// Front matter and what follows it.
#[derive(Debug)]
pub(super) struct FrontMatter<'t> {
    values: Vec<(String, Value)>,
    /// Keys that stand more than once, with the line of the later one.
    pub(super) repeated: Vec<(String, usize)>,
    /// The text after it.
    pub(super) body: &'t str,
}

impl FrontMatter<'_> {
    /// The value of one of the [`CHECKED`] keys; the first when there are several.
    pub(super) fn value(&self, key: &str) -> Option<&Value> {
        self.values
            .iter()
            .find(|(other, _)| other == key)
            .map(|(_, value)| value)
    }
}

/// Reads the front matter of a file without byte order mark.
pub(super) fn read(text: &str) -> Result<FrontMatter<'_>, Unreadable> {
    let mut lines = text.split_inclusive('\n');
    let first = lines
        .next()
        .filter(|line| line.trim_end() == "---")
        .ok_or(Unreadable::Missing)?;
    let start = first.len();
    let mut end = start;
    for line in lines {
        if line.trim() == "---" {
            let yaml = &text[start..end];
            let body = &text[end + line.len()..];
            return parse(yaml).map(|(values, repeated)| FrontMatter {
                values,
                repeated,
                body,
            });
        }
        end += line.len();
    }
    Err(Unreadable::NotClosed)
}

type Values = (Vec<(String, Value)>, Vec<(String, usize)>);

fn parse(yaml: &str) -> Result<Values, Unreadable> {
    if yaml.len() > LONGEST {
        return Err(Unreadable::NotYaml { line: 2 });
    }
    let mut values: Vec<(String, Value)> = Vec::new();
    let mut seen = HashSet::new();
    let mut repeated = Vec::new();
    let mut key: Option<(String, usize)> = None;
    let mut depth = 0_usize;
    for event in Parser::new_from_str(yaml) {
        let (event, span) = event.map_err(|error| broken(yaml, error.marker().line() + 1))?;
        // Lines of the parser count from 1, and so does the line of the opening `---`.
        let line = span.start.line() + 1;
        let content = match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                if depth == 1 && !matches!(event, Event::MappingStart(..)) {
                    return Err(Unreadable::NotYaml { line });
                }
                if depth != 2 {
                    continue;
                }
                Content::Other
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Event::Scalar(text, style, _, tag) if depth == 1 => match (style, &*text) {
                _ if tag.is_some() => Content::Other,
                (_, "") => Content::Empty,
                (ScalarStyle::Plain, "~" | "null" | "Null" | "NULL") => Content::Empty,
                (ScalarStyle::Plain, plain) if is_not_text(plain) => Content::Other,
                _ if text.trim().is_empty() => Content::Empty,
                _ => Content::Text(text.into_owned()),
            },
            Event::Alias(_) if depth == 1 => Content::Other,
            Event::Scalar(..) | Event::Alias(_) if depth == 0 => {
                return Err(Unreadable::NotYaml { line });
            }
            Event::DocumentEnd => break,
            _ => continue,
        };
        key = match (key, content) {
            (None, Content::Text(name)) => Some((name, line)),
            (None, Content::Empty | Content::Other) => Some((String::new(), line)),
            (Some((name, line)), content) => {
                if CHECKED.contains(&name.as_str()) {
                    let is_cut_by_comment = is_cut_by_comment(yaml, line, &content);
                    values.push((
                        name.clone(),
                        Value {
                            line,
                            content,
                            is_cut_by_comment,
                        },
                    ));
                }
                if let Some(name) = seen.replace(name) {
                    repeated.push((name, line));
                }
                None
            }
        };
    }
    Ok((values, repeated))
}

/// Whether YAML reads an unquoted word as a boolean or a number.
fn is_not_text(plain: &str) -> bool {
    matches!(
        plain,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE"
    ) || plain.parse::<f64>().is_ok() && plain.contains(|c: char| c.is_ascii_digit())
        || plain
            .strip_prefix("0x")
            .is_some_and(|hex| u64::from_str_radix(hex, 16).is_ok())
}

/// Why the YAML cannot be read: most often a colon in an unquoted value.
fn broken(yaml: &str, line: usize) -> Unreadable {
    let keys = yaml.lines().enumerate().filter_map(|(index, line)| {
        let (key, value) = line.split_once(": ")?;
        let value = value.trim();
        let is_plain = !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#']);
        let is_key = !key.is_empty() && !key.contains(|c: char| c.is_whitespace() || c == '#');
        (is_key && is_plain && (value.contains(": ") || value.ends_with(':')))
            .then_some((index + 2, key))
    });
    keys.take(1)
        .next()
        .map_or(Unreadable::NotYaml { line }, |(line, key)| {
            Unreadable::Colon {
                line,
                key: crate::text::head(key, super::MAX_NAME).to_owned(),
            }
        })
}

/// Whether an unquoted text on the line of its key is followed by a comment.
fn is_cut_by_comment(yaml: &str, line: usize, content: &Content) -> bool {
    let (Content::Text(text), Some(source)) = (content, yaml.lines().nth(line.saturating_sub(2)))
    else {
        return false;
    };
    source
        .split_once(": ")
        .and_then(|(_, value)| value.trim_start().strip_prefix(text.as_str()))
        .is_some_and(|rest| rest.trim_start().starts_with('#'))
}
