//! Proposed text is hostile until somebody has looked at it.
//!
//! A rule is written by a model that has read transcripts, and transcripts hold whatever a web page or
//! a tool put there. What a rule should not carry unseen is flagged here: a flagged proposal is never
//! adopted automatically and needs an explicit confirmation. A flag is a question, not a verdict:
//! "Run `cargo test` before you finish" is flagged as a command, because a rule that makes an agent
//! run something deserves one look. See [`FlagKind`] for what each kind looks for.
//!
//! Phrases are English. They are looked for in the text as a model would read it: without invisible
//! characters, accents and look-alike letters. Time is linear in the length of the text.

mod characters;
mod command;
mod fence;
mod patterns;
mod plain;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use characters::is_invisible;
use plain::Plain;

/// The longest excerpt, in code points.
const MAX_EXCERPT: usize = 80;
/// The most flags of one kind; more say nothing new.
const MAX_PER_KIND: usize = 20;

/// What a flag is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FlagKind {
    /// Characters nobody sees: zero width, tags, fillers, variation selectors without a base, private
    /// use; and words that mix Latin with Cyrillic letters.
    HiddenCharacter,
    /// Characters that change the direction of text, so that it reads differently than it is.
    Bidirectional,
    /// Control characters and terminal escapes, also spelled out (`\x1b[`).
    ControlCharacter,
    /// A marker of a region we write, in any spelling.
    RegionMarker,
    /// HTML comments, scripts, images, link definitions, folded parts and code fences that are not
    /// closed: text that is not shown as what it is, or loads something.
    HiddenMarkup,
    /// Something to be run. Inline code or a line of a code block that begins with a known program
    /// and has an argument, the same after "run" or "execute", and shell idioms anywhere. A program
    /// named alone (`git`) or with a version (`python 3.12`) is not.
    Command,
    /// An address: with a scheme, an IP address, or a well-known kind of host name with a path.
    Url,
    /// What looks like a secret, or the mark where one was taken out.
    Secret,
    /// A change of what an agent may do unasked, or of the files that decide it.
    PermissionChange,
    /// Words of prompt injection: to ignore instructions, to keep something from the user, to persist
    /// or spread, to send data away, or to pose as the system.
    Instruction,
}

impl FlagKind {
    /// Every kind, in the order flags of one line are listed.
    pub const ALL: [Self; 10] = [
        Self::HiddenCharacter,
        Self::Bidirectional,
        Self::ControlCharacter,
        Self::RegionMarker,
        Self::HiddenMarkup,
        Self::Command,
        Self::Url,
        Self::Secret,
        Self::PermissionChange,
        Self::Instruction,
    ];

    /// The word used in rows and `--json`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::HiddenCharacter => "hidden_character",
            Self::Bidirectional => "bidirectional",
            Self::ControlCharacter => "control_character",
            Self::RegionMarker => "region_marker",
            Self::HiddenMarkup => "hidden_markup",
            Self::Command => "command",
            Self::Url => "url",
            Self::Secret => "secret",
            Self::PermissionChange => "permission_change",
            Self::Instruction => "instruction",
        }
    }

    /// What it means, in one sentence for a reviewer.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::HiddenCharacter => {
                "It has characters that cannot be seen, or that look like others."
            }
            Self::Bidirectional => {
                "It has characters that change the direction in which text is shown."
            }
            Self::ControlCharacter => "It has control characters or terminal escapes.",
            Self::RegionMarker => "It has a marker that SkillOpt uses to find its own block.",
            Self::HiddenMarkup => "It has markup that hides text or loads something when shown.",
            Self::Command => "It tells an agent to run a command.",
            Self::Url => "It has an internet address.",
            Self::Secret => "It has, or had, what looks like a password, key or token.",
            Self::PermissionChange => "It changes what an agent may do without asking.",
            Self::Instruction => {
                "It reads like an instruction planted to mislead an agent or its user."
            }
        }
    }
}

/// Something in a proposed text that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Flag {
    /// What it is about.
    pub kind: FlagKind,
    /// The line, from 1.
    pub line: u32,
    /// The place, at most 80 code points, without secrets, and with everything that is not plainly
    /// visible written as `\u{…}`.
    pub excerpt: String,
}

/// Everything in `added_text` a person should look at, by line; at most one flag per kind and line,
/// and 20 per kind.
#[must_use]
pub fn scan(added_text: &str) -> Vec<Flag> {
    let plain = Plain::of(added_text);
    let mut found = Found::nothing_in(&plain);
    characters::find(&mut found);
    patterns::find(&mut found);
    command::find(&mut found);
    fence::find(&mut found);
    let mut flags = found.flags();
    flags.sort_by_key(|flag| (flag.line, flag.kind));
    flags
}

/// What a flag points at: a byte range of the original text.
struct Place {
    start: usize,
    end: usize,
}

/// The places found so far.
struct Found<'t> {
    plain: &'t Plain<'t>,
    places: BTreeMap<(FlagKind, usize), Place>,
    counts: BTreeMap<FlagKind, usize>,
}

impl<'t> Found<'t> {
    fn nothing_in(plain: &'t Plain<'t>) -> Self {
        Self {
            plain,
            places: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Notes a byte range of the original text, unless its line has a flag of this kind.
    /// Returns whether more of this kind is wanted.
    fn add(&mut self, kind: FlagKind, line: usize, start: usize, end: usize) -> bool {
        let count = self.counts.entry(kind).or_default();
        if *count < MAX_PER_KIND {
            self.places.entry((kind, line)).or_insert_with(|| {
                *count += 1;
                Place { start, end }
            });
        }
        *count < MAX_PER_KIND
    }

    /// The flags, with those of the secrets. A line with a secret shows nothing but its beginning
    /// without the secret: a cut might leave half of one.
    fn flags(self) -> Vec<Flag> {
        let text = self.plain.original();
        let mut flags = Vec::new();
        let secrets = secret_lines(text);
        for (line, redacted) in secrets.iter().take(MAX_PER_KIND) {
            flags.push(flag(FlagKind::Secret, *line, redacted));
        }
        for ((kind, line), Place { start, end }) in self.places {
            let secret = secrets.binary_search_by_key(&line, |(line, _)| *line);
            let shown = match secret {
                Ok(at) => secrets[at].1.as_str(),
                Err(_) => &text[start..end],
            };
            flags.push(flag(kind, line, shown));
        }
        flags
    }
}

/// The lines, from 0, in which redaction finds a secret or took one out before, with their redacted
/// beginning.
fn secret_lines(text: &str) -> Vec<(usize, String)> {
    let whole = crate::redact::redact(text);
    if whole.count == 0 && !crate::redact::contains_mark(text) {
        return Vec::new();
    }
    let start = |redacted: &str| crate::text::head(redacted.trim_start(), MAX_EXCERPT).to_owned();
    let by_line: Vec<_> = text
        .lines()
        .enumerate()
        .map(|(line, text)| (line, crate::redact::redact(text)))
        .filter(|(_, redacted)| redacted.count > 0 || crate::redact::contains_mark(&redacted.text))
        .map(|(line, redacted)| (line, start(&redacted.text)))
        .collect();
    if !by_line.is_empty() {
        return by_line;
    }
    // A secret of several lines, such as a private key.
    let same = text
        .lines()
        .zip(whole.text.lines())
        .take_while(|(one, other)| one == other)
        .count();
    vec![(
        same,
        start(whole.text.lines().nth(same).unwrap_or_default()),
    )]
}

/// A flag on a line counted from 0, with a text it shows.
fn flag(kind: FlagKind, line: usize, shown: &str) -> Flag {
    let line = u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1);
    Flag {
        kind,
        line,
        excerpt: escaped(shown),
    }
}

/// The beginning of a text in a form that can be printed anywhere.
fn escaped(text: &str) -> String {
    let mut excerpt = String::new();
    let mut length = 0;
    for c in text.chars() {
        let piece = if characters::is_plainly_visible(c) {
            c.to_string()
        } else {
            c.escape_unicode().to_string()
        };
        length += piece.chars().count();
        if length > MAX_EXCERPT {
            break;
        }
        excerpt.push_str(&piece);
    }
    excerpt
}

#[cfg(test)]
mod tests;
