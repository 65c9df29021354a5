//! A turn prepared for the search for wishes: quotations are put aside, so that no pattern looks
//! into them, and code is left out.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The longest phrase that is taken for a quotation, in code points.
const LONGEST_PHRASE: usize = 80;

/// A quotation stands in the prepared text as its number between these two, which no turn has.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// The pattern of a quotation in a prepared text, as one group.
pub(super) const QUOTATION: &str = "(\u{e000}\\d+\u{e001})";

pub(super) struct Wording {
    text: String,
    quotations: Vec<String>,
}

impl Wording {
    /// Prepares a turn.
    pub(super) fn new(turn: &str) -> Self {
        static CODE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"(?s)```.*?(?:```|\z)").expect("a fixed pattern"));
        // A single quotation mark inside a word is an apostrophe.
        static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(
                r#""([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」|『([^』\n]+)』|`([^`\n]+)`|‘((?:[^’\n]|\b’\b)+)’|\B'((?:[^'\n]|\b'\b)+)'\B"#,
            )
            .expect("a fixed pattern")
        });
        let turn = turn.replace([OPEN, CLOSE], " ");
        let turn = CODE.replace_all(&turn, " ");
        let mut quotations = Vec::new();
        let text = QUOTED.replace_all(&turn, |captures: &Captures<'_>| {
            let quotation = captures.iter().skip(1).flatten().next();
            quotations.push(
                quotation
                    .map_or("", |quotation| quotation.as_str())
                    .to_owned(),
            );
            format!("{OPEN}{}{CLOSE}", quotations.len() - 1)
        });
        Self {
            text: text.replace('’', "'"),
            quotations,
        }
    }

    /// The text in which to look.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The first of these groups that matched, as a phrase: a quotation, or the words themselves.
    /// Punctuation that only closes the sentence is not part of it.
    pub(super) fn phrase(&self, captures: &Captures<'_>, groups: &[usize]) -> Option<String> {
        let phrase = self.resolved(captures, groups)?;
        let bare = phrase.trim_end_matches(['.', ',']).trim_end();
        usable(if bare.is_empty() { phrase } else { bare })
    }

    /// The first of these groups that matched, as it stands, but for white space around it.
    pub(super) fn verbatim(&self, captures: &Captures<'_>, groups: &[usize]) -> Option<String> {
        usable(self.resolved(captures, groups)?)
    }

    fn resolved<'a>(&'a self, captures: &Captures<'a>, groups: &[usize]) -> Option<&'a str> {
        let found = groups
            .iter()
            .find_map(|group| captures.get(*group))?
            .as_str();
        let quoted = found
            .strip_prefix(OPEN)
            .and_then(|rest| rest.strip_suffix(CLOSE))
            .and_then(|number| number.parse::<usize>().ok())
            .and_then(|number| self.quotations.get(number));
        Some(quoted.map_or(found, String::as_str).trim())
    }

    /// Whether a word shortly before the match, in the same part of the sentence, forbids it.
    pub(super) fn is_negated(&self, captures: &Captures<'_>) -> bool {
        const NEGATIONS: [&str; 12] = [
            "don't",
            "do not",
            "never",
            "not",
            "no",
            "avoid",
            "without",
            "stop",
            "doesn't",
            "didn't",
            "shouldn't",
            "won't",
        ];
        // Words that may stand between a negation and what it forbids.
        const BETWEEN: [&str; 6] = ["ever", "always", "just", "to", "please", "a"];
        let start = captures.get(0).map_or(0, |whole| whole.start());
        let before = self.text[..start].to_lowercase();
        let part = before
            .rsplit(['.', '!', '?', ',', ';', ':', '\n'])
            .next()
            .unwrap_or("");
        let mut part = part.trim_end();
        while let Some(shorter) = BETWEEN.iter().find_map(|word| before_word(part, word)) {
            part = shorter;
        }
        NEGATIONS
            .iter()
            .any(|word| before_word(part, word).is_some())
    }

    /// Whether the wish holds only in some cases, which a check cannot know.
    pub(super) fn is_conditional(&self, captures: &Captures<'_>) -> bool {
        const CONDITIONS: [&str; 11] = [
            "if", "when", "whenever", "where", "wherever", "unless", "only", "in each", "for each",
            "per", "each",
        ];
        let end = captures.get(0).map_or(0, |whole| whole.end());
        let after = self.text[end..].trim_start().to_lowercase();
        CONDITIONS.iter().any(|word| {
            after
                .strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    }

    /// Whether another phrase is named that this one replaces.
    pub(super) fn is_exchange(&self, captures: &Captures<'_>) -> bool {
        let end = captures.get(0).map_or(0, |whole| whole.end());
        let after = self.text[end..]
            .trim_start_matches([' ', ','])
            .to_lowercase();
        ["not ", "instead of ", "rather than ", "and not ", "never "]
            .iter()
            .any(|word| after.starts_with(word))
    }
}

fn usable(phrase: &str) -> Option<String> {
    let length = phrase.chars().count();
    ((1..=LONGEST_PHRASE).contains(&length) && !phrase.chars().any(char::is_control))
        .then(|| phrase.to_owned())
}

/// What stands before `word`, if `text` ends in it as a whole word.
fn before_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let before = text.strip_suffix(word)?;
    (!before.ends_with(|c: char| c.is_alphanumeric() || c == '\'')).then(|| before.trim_end())
}
