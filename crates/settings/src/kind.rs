//! What a setting takes, and how its value is read from TOML and from plain text.

use serde_json::{Value, json};
use skillopt_core::redact::redact;
use skillopt_core::schedule;

use crate::choice::{BACKENDS, Choices};
use crate::suggest::closest;
use crate::value::{address_fault, glob_fault, path_fault, port_fault};

/// What a setting takes.
#[derive(Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Whole {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A number.
    Number {
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
        /// Whether it may be absent.
        optional: bool,
    },
    /// One of a few words.
    Choice(&'static Choices),
    /// The name of a backend.
    Backend {
        /// Whether it may be empty.
        optional: bool,
    },
    /// One line of text, possibly empty.
    Text,
    /// A path, possibly empty; `~` is the home folder. A relative one begins at the folder of the file
    /// it stands in, or where the command is given.
    Path,
    /// A list of such paths, none of them empty. A single one may stand for itself.
    Paths,
    /// A path, possibly empty; a relative one is below the project.
    ProjectPath,
    /// A list of paths that are below the project when relative.
    ProjectPaths,
    /// A list of globs; `~` is the home folder.
    Globs,
    /// A list of ports.
    Ports,
    /// An `http` or `https` address, possibly empty.
    Address,
    /// The name of an environment variable, possibly empty.
    Variable,
    /// The name of a skill.
    SkillName,
    /// A list of texts.
    List,
    /// A list of short phrases, which are looked for in what people write.
    Phrases,
    /// A text of a certain form.
    Form(&'static Form),
}

/// The form of a text.
#[derive(Debug)]
pub struct Form {
    /// What `--help` calls it.
    pub name: &'static str,
    /// What is allowed, as a phrase.
    pub allowed: &'static str,
    /// Whether a text has the form.
    pub(crate) fits: fn(&str) -> bool,
}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A time of day, or none.
pub(crate) static TIME: Form = Form {
    name: "TIME",
    allowed: "a time of day such as 07:00, or empty",
    fits: |text| text.is_empty() || schedule::time_of_day(text).is_some(),
};
/// Two times of day, or none.
pub(crate) static HOURS: Form = Form {
    name: "HOURS",
    allowed: "two times of day such as 09:00-18:00, or empty",
    fits: |text| text.is_empty() || schedule::hours(text).is_some(),
};
/// Days of the week, or none.
pub(crate) static DAYS: Form = Form {
    name: "DAYS",
    allowed: "days such as mon-fri or \"tue, sat\", or empty",
    fits: |text| schedule::Days::parse(text).is_some(),
};
/// A cron expression, or none.
pub(crate) static CRON: Form = Form {
    name: "CRON",
    allowed: "a cron expression of five fields such as \"17 3 * * 1-5\", or empty",
    fits: |text| text.is_empty() || schedule::Cron::parse(text).is_ok(),
};
/// The name of a time zone, or none. Whether there is such a zone is known where zones are looked up.
pub(crate) static ZONE: Form = Form {
    name: "ZONE",
    allowed: "the name of a time zone such as Europe/Paris, or empty",
    fits: |text| {
        text.len() <= 64
            && text.chars().all(|letter| {
                letter.is_ascii_alphanumeric() || matches!(letter, '/' | '_' | '-' | '+')
            })
    },
};

/// Why a value is refused.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is something else than what is allowed. A phrase that goes on after "is".
    Wrong(String),
    /// No backend of this version has the name. The whole reason.
    Backend(String),
    /// It holds what looks like a key, which would lie in a file for everybody to read, and in the pins of every
    /// night. It is not repeated.
    Secret,
}

/// Lists are read up to this many entries, and texts up to this many bytes.
const MOST_ENTRIES: usize = 1_000;
const LONGEST_TEXT: usize = 8_000;
/// A phrase is read up to this many characters.
const LONGEST_PHRASE: usize = 200;
/// What a message shows of a value.
const SHOWN: usize = 80;

/// A value as a message shows it: short, on one line, without secrets.
pub(crate) fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => format!("\"{}\"", skillopt_core::text::one_line(&redact(text).text)),
        other => redact(&other.to_string()).text.into_owned(),
    };
    skillopt_core::text::cut(&text, SHOWN)
}

impl Kind {
    /// What `--help` calls the value.
    #[must_use]
    pub fn value_name(&self) -> &'static str {
        match self {
            Self::Bool => "BOOL",
            Self::Whole { .. } | Self::Number { .. } => "N",
            Self::Choice(_) | Self::Backend { .. } => "WORD",
            Self::Text | Self::List | Self::Phrases => "TEXT",
            Self::Path | Self::Paths | Self::ProjectPath | Self::ProjectPaths => "PATH",
            Self::Globs => "GLOB",
            Self::Ports => "PORT",
            Self::Address => "URL",
            Self::Variable | Self::SkillName => "NAME",
            Self::Form(form) => form.name,
        }
    }

    /// The words that may be written; empty when the setting takes anything else.
    #[must_use]
    pub fn words(&self) -> &'static [&'static str] {
        match self {
            Self::Bool => &["true", "false"],
            Self::Choice(choices) => choices.words,
            Self::Backend { .. } => BACKENDS.words,
            _ => &[],
        }
    }

    /// What is allowed, as a phrase: "a whole number from 1 to 10000".
    #[must_use]
    pub fn allowed(&self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Whole { least, most } if *most == i64::MAX as u64 => {
                format!("a whole number, {least} or more")
            }
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Number { least, most, .. } => format!("a number from {least} to {most}"),
            Self::Choice(choices) => one_of(choices.words),
            Self::Backend { optional: false } => one_of(BACKENDS.words),
            Self::Backend { optional: true } => format!("{}, or empty", one_of(BACKENDS.words)),
            Self::Text => {
                format!("a text of at most {LONGEST_TEXT} bytes without control characters")
            }
            Self::Path => "a path".to_owned(),
            Self::Paths => format!("a path, or a list of at most {MOST_ENTRIES} paths"),
            Self::ProjectPath => "a path, below the project when relative".to_owned(),
            Self::ProjectPaths => {
                format!("a list of at most {MOST_ENTRIES} paths, below the project when relative")
            }
            Self::Globs => format!("a list of at most {MOST_ENTRIES} globs"),
            Self::Ports => format!("a list of at most {MOST_ENTRIES} ports"),
            Self::Address => {
                "an address that begins with http:// or https://, without a password".to_owned()
            }
            Self::Variable => {
                "the name of an environment variable: letters, digits and _".to_owned()
            }
            Self::SkillName => {
                "a name of at most 64 lower-case letters, digits and hyphens".to_owned()
            }
            Self::List => format!("a list of at most {MOST_ENTRIES} texts"),
            Self::Phrases => format!(
                "a list of at most {MOST_ENTRIES} texts of at most {LONGEST_PHRASE} characters"
            ),
            Self::Form(form) => form.allowed.to_owned(),
        }
    }

    /// Checks a value of a file. A text is never taken for a number or a truth value.
    pub(crate) fn check(&self, value: &Value) -> Result<Value, Fault> {
        let wrong = || Fault::Wrong(format!("{}, and must be {}", shown(value), self.allowed()));
        let quoted = |what: &str| {
            Fault::Wrong(format!(
                "the text {}, and must be {} ({what})",
                shown(value),
                self.allowed()
            ))
        };
        match self {
            Self::Bool => match value {
                Value::Bool(_) => Ok(value.clone()),
                Value::String(text) if matches!(text.trim(), "true" | "false") => {
                    Err(quoted("without quotes"))
                }
                _ => Err(wrong()),
            },
            Self::Whole { least, most } => match value {
                Value::Number(number) => number
                    .as_u64()
                    .filter(|number| (least..=most).contains(&number))
                    .map(|number| json!(number))
                    .ok_or_else(wrong),
                Value::String(text) if text.trim().parse::<u64>().is_ok() => {
                    Err(quoted("without quotes"))
                }
                _ => Err(wrong()),
            },
            Self::Number {
                least,
                most,
                optional,
            } => match value {
                Value::Null if *optional => Ok(Value::Null),
                Value::Number(number) => number
                    .as_f64()
                    .filter(|number| number.is_finite() && (*least..=*most).contains(number))
                    .map(|number| json!(number))
                    .ok_or_else(wrong),
                Value::String(text) if text.trim().parse::<f64>().is_ok() => {
                    Err(quoted("without quotes"))
                }
                _ => Err(wrong()),
            },
            Self::Paths if value.is_string() => {
                let empty = value.as_str().is_some_and(|text| text.trim().is_empty());
                let entries = if empty { vec![] } else { vec![value.clone()] };
                self.check(&Value::Array(entries))
            }
            Self::List
            | Self::Phrases
            | Self::Globs
            | Self::Ports
            | Self::Paths
            | Self::ProjectPaths => {
                let Value::Array(items) = value else {
                    return Err(wrong());
                };
                if items.len() > MOST_ENTRIES {
                    return Err(Fault::Wrong(format!(
                        "a list of {} entries, and must be {}",
                        items.len(),
                        self.allowed()
                    )));
                }
                let texts = items.iter().map(|item| match item {
                    Value::String(text) if is_plain(text) && !text.trim().is_empty() => {
                        match self.entry_fault(text) {
                            None => Ok(item.clone()),
                            Some(why) => Err(Fault::Wrong(format!(
                                "a list with {}, and must be {} ({why})",
                                shown(item),
                                self.allowed()
                            ))),
                        }
                    }
                    _ => Err(Fault::Wrong(format!(
                        "a list with {}, and its entries must be texts",
                        shown(item)
                    ))),
                });
                texts.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            // Some choices are between true, false and something else.
            Self::Choice(choices) if choices.words.contains(&value.to_string().as_str()) => {
                Ok(Value::String(value.to_string()))
            }
            _ => {
                let Value::String(text) = value else {
                    return Err(wrong());
                };
                self.word(text).map(Value::String)
            }
        }
    }

    /// Whether the setting is a list.
    pub(crate) const fn is_list(&self) -> bool {
        matches!(
            self,
            Self::List
                | Self::Phrases
                | Self::Globs
                | Self::Ports
                | Self::Paths
                | Self::ProjectPaths
        )
    }

    /// Why a text may not stand in a list of this kind.
    fn entry_fault(&self, text: &str) -> Option<String> {
        match self {
            Self::Globs => glob_fault(text).or_else(|| path_fault(text)),
            Self::Ports => port_fault(text),
            Self::Paths | Self::ProjectPaths => path_fault(text),
            Self::Phrases => phrase_fault(text),
            _ => None,
        }
    }

    /// Checks the text of a setting that is a text.
    fn word(&self, text: &str) -> Result<String, Fault> {
        let wrong = || {
            Fault::Wrong(format!(
                "{}, and must be {}",
                shown(&json!(text)),
                self.allowed()
            ))
        };
        let because = |why: &str| {
            Fault::Wrong(format!(
                "{}, and must be {} ({why})",
                shown(&json!(text)),
                self.allowed()
            ))
        };
        if !is_plain(text) {
            return Err(wrong());
        }
        match self {
            Self::Choice(choices) => choices.word(text).ok_or_else(|| {
                Fault::Wrong(format!(
                    "{}, {}",
                    shown(&json!(text)),
                    unknown_word(choices, text)
                ))
            }),
            Self::Backend { optional: true } if text.is_empty() => Ok(String::new()),
            Self::Backend { .. } => BACKENDS.word(text).ok_or_else(|| {
                Fault::Backend(format!(
                    "{}, {}",
                    shown(&json!(text)),
                    unknown_word(&BACKENDS, text)
                ))
            }),
            Self::Address if text.is_empty() => Ok(String::new()),
            Self::Address => match address_fault(text) {
                None if redact(text).count > 0 => Err(Fault::Secret),
                None => Ok(text.trim_end_matches('/').to_owned()),
                Some(why) => Err(because(&why)),
            },
            Self::Path | Self::ProjectPath => match path_fault(text) {
                None => Ok(text.to_owned()),
                Some(why) => Err(because(&why)),
            },
            Self::Variable => {
                let name = text
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                    && !text.starts_with(|letter: char| letter.is_ascii_digit());
                if redact(text).count > 0
                    || (text.len() > 20
                        && text.chars().any(|letter| letter.is_ascii_lowercase())
                        && text.chars().any(|letter| letter.is_ascii_digit()))
                {
                    // It looks like the key itself: do not repeat it.
                    return Err(Fault::Wrong("a text that looks like a key, and must be the name of the environment variable that holds it".to_owned()));
                }
                if name {
                    Ok(text.to_owned())
                } else {
                    Err(wrong())
                }
            }
            Self::SkillName => {
                let letters = |letter: char| {
                    letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-'
                };
                let good = (1..=64).contains(&text.len())
                    && text.chars().all(letters)
                    && !text.starts_with('-')
                    && !text.ends_with('-');
                if good {
                    Ok(text.to_owned())
                } else {
                    Err(wrong())
                }
            }
            Self::Form(form) if !(form.fits)(text) => Err(wrong()),
            Self::Text if redact(text).count > 0 => Err(Fault::Secret),
            _ => Ok(text.to_owned()),
        }
    }

    /// Reads a value from plain text: an environment variable, a flag, `config set`. A list is separated
    /// by commas outside braces, or written as in TOML.
    pub(crate) fn read(&self, text: &str) -> Result<Value, Fault> {
        let given = || Value::String(text.to_owned());
        let wrong = || {
            Fault::Wrong(format!(
                "{}, and must be {}",
                shown(&given()),
                self.allowed()
            ))
        };
        let trimmed = text.trim();
        match self {
            Self::Bool => match trimmed.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Ok(json!(true)),
                "false" | "no" | "off" | "0" => Ok(json!(false)),
                _ => Err(wrong()),
            },
            Self::Whole { .. } => {
                let number: u64 = trimmed.replace('_', "").parse().map_err(|_| wrong())?;
                self.check(&json!(number))
            }
            Self::Number { optional: true, .. } if trimmed.is_empty() => Ok(Value::Null),
            Self::Number { .. } => {
                let number: f64 = trimmed.parse().map_err(|_| wrong())?;
                if number.is_finite() {
                    self.check(&json!(number))
                } else {
                    Err(wrong())
                }
            }
            Self::List
            | Self::Phrases
            | Self::Globs
            | Self::Ports
            | Self::Paths
            | Self::ProjectPaths => {
                if trimmed.starts_with('[')
                    && let Ok(value) = trimmed.parse::<toml_edit::Value>()
                {
                    return self.check(&from_toml(&value));
                }
                let entries: Vec<Value> = split_list(text).map(|entry| json!(entry)).collect();
                self.check(&Value::Array(entries))
            }
            Self::Text => self.check(&given()),
            _ => self.check(&json!(trimmed)),
        }
    }
}

/// A text without control characters, and not too long.
fn is_plain(text: &str) -> bool {
    text.len() <= LONGEST_TEXT && !text.chars().any(char::is_control)
}

/// Why a text is no phrase.
fn phrase_fault(text: &str) -> Option<String> {
    let length = text.chars().count();
    (length > LONGEST_PHRASE).then(|| format!("this one has {length}"))
}

/// The entries of a list separated by commas; a comma in braces belongs to a glob.
pub(crate) fn split_list(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|entry| !entry.is_empty())
}

fn one_of(words: &[&str]) -> String {
    match words {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

/// Why a word is not one of the choices.
fn unknown_word(choices: &Choices, text: &str) -> String {
    let word = text.trim().to_lowercase();
    let list = one_of(choices.words);
    if choices.absent.contains(&word.as_str()) {
        return format!("which this version does not have: it takes {list}");
    }
    match closest(&word, choices.words.iter().copied()) {
        Some(near) => format!("and must be {list}; did you mean \"{near}\"?"),
        None => format!("and must be {list}"),
    }
}

/// A TOML value as JSON. Dates become texts; numbers that JSON does not have become null.
pub(crate) fn from_toml(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => json!(text.value()),
        Toml::Integer(number) => json!(number.value()),
        Toml::Float(number) => json!(number.value()),
        Toml::Boolean(truth) => json!(truth.value()),
        Toml::Datetime(moment) => json!(moment.value().to_string()),
        Toml::Array(items) => Value::Array(items.iter().map(from_toml).collect()),
        Toml::InlineTable(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| (key.to_owned(), from_toml(field)))
                .collect(),
        ),
    }
}
