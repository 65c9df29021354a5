//! What a person's words and deeds say about the answer before them: praise, complaint, correction,
//! constraint.
//!
//! Phrases are matched as whole words (§3.1 of the reference, whose substrings found `no,` in
//! "piano," and `undo` in "undocumented").

mod again;
mod constraint;
mod happened;

use std::collections::HashSet;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::script::is_unspaced;

pub use again::says_again;
pub use constraint::constraints;
pub use happened::{Happened, commits};

/// Complaints, in the reference's order, then Chinese ones.
const NEGATIVE: [&str; 31] = [
    "still broken",
    "still not",
    "still wrong",
    "doesn't work",
    "does not work",
    "not working",
    "that's wrong",
    "thats wrong",
    "incorrect",
    "wrong",
    "no,",
    "nope",
    "fix it",
    "didn't",
    "did not",
    "broken",
    "error again",
    "still failing",
    "still fails",
    "not fixed",
    "revert",
    "undo",
    "not correct",
    "不对",
    "错了",
    "还是不行",
    "不是这样",
    "没有修复",
    "撤销",
    "重新来",
    "不行",
];

/// Praise, in the reference's order, then Chinese.
const POSITIVE: [&str; 18] = [
    "thanks",
    "thank you",
    "perfect",
    "great",
    "works now",
    "fixed",
    "that works",
    "lgtm",
    "looks good",
    "nice",
    "awesome",
    "correct",
    "谢谢",
    "完美",
    "很好",
    "太棒了",
    "可以了",
    "没问题",
];

/// Words that turn praise right after them into none.
const NEGATIONS: [&str; 6] = ["not", "never", "hardly", "no", "without", "nothing"];

/// A list of phrases ready to be looked for.
#[derive(Debug, Clone)]
pub struct Phrases {
    negative: Vec<String>,
    positive: Vec<String>,
    automaton: AhoCorasick,
}

static USUAL: LazyLock<Phrases> = LazyLock::new(|| Phrases::with(&[], &[]));

impl Phrases {
    /// The usual phrases and the user's own, as many as there are; one that is there already is left
    /// out. Memory grows with their length.
    ///
    /// # Panics
    /// Only when there are gigabytes of phrases: settings take at most a thousand short ones.
    #[must_use]
    pub fn with(negative: &[String], positive: &[String]) -> Self {
        let list = |usual: &[&str], own: &[String]| -> Vec<String> {
            let own = own
                .iter()
                .map(|phrase| phrase.trim().to_lowercase().replace('’', "'"))
                .filter(|phrase| !phrase.is_empty());
            let mut known = HashSet::new();
            usual
                .iter()
                .map(|phrase| (*phrase).to_owned())
                .chain(own)
                .filter(|phrase| known.insert(phrase.clone()))
                .collect()
        };
        let (negative, positive) = (list(&NEGATIVE, negative), list(&POSITIVE, positive));
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(negative.iter().chain(&positive))
            .expect("a few thousand short phrases fit into an automaton");
        Self {
            negative,
            positive,
            automaton,
        }
    }

    /// The signals of one turn: `neg:<phrase>` and `pos:<phrase>`, each phrase once, in list order,
    /// complaints first.
    #[must_use]
    pub fn signals(&self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase().replace('’', "'");
        let mut found = vec![false; self.negative.len() + self.positive.len()];
        for hit in self.automaton.find_overlapping_iter(&lower) {
            let at = hit.pattern().as_usize();
            if !found[at] && is_whole(&lower, hit.start(), hit.end()) {
                let praise = at >= self.negative.len();
                found[at] = !(praise && is_negated(&lower[..hit.start()]));
            }
        }
        let name = |at: usize| match at.checked_sub(self.negative.len()) {
            None => format!("neg:{}", self.negative[at]),
            Some(at) => format!("pos:{}", self.positive[at]),
        };
        found
            .iter()
            .enumerate()
            .filter(|(_, found)| **found)
            .map(|(at, _)| name(at))
            .collect()
    }
}

/// Whether `start..end` begins and ends where words do. Chinese has no spaces, so it always does.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let word = |c: char| (c.is_alphanumeric() || c == '_') && !is_unspaced(c);
    let first = text[start..end].chars().next();
    let last = text[start..end].chars().next_back();
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let joined = |a: Option<char>, b: Option<char>| a.is_some_and(word) && b.is_some_and(word);
    !joined(before, first) && !joined(last, after)
}

/// Whether one of the last three words before a phrase, in the same part of the sentence, negates it.
fn is_negated(before: &str) -> bool {
    if before.ends_with('不') || before.ends_with('没') {
        return true;
    }
    let sentence = before
        .rsplit(['.', '!', '?', '\n', ',', ';'])
        .next()
        .unwrap_or("");
    sentence
        .split_whitespace()
        .rev()
        .take(3)
        .any(|word| NEGATIONS.contains(&word) || word.ends_with("n't"))
}

/// The signals of one turn by the usual phrases.
#[must_use]
pub fn signals(text: &str) -> Vec<String> {
    USUAL.signals(text)
}

/// How a turn begins that corrects the answer before it.
const CORRECTING_STARTS: [&str; 31] = [
    "no",
    "nope",
    "not",
    "nah",
    "instead",
    "actually",
    "don't",
    "do not",
    "please don't",
    "please do not",
    "stop",
    "rather",
    "wrong",
    "that's not",
    "that is not",
    "this is not",
    "this isn't",
    "but",
    "i said",
    "i asked",
    "i meant",
    "as i said",
    "again,",
    "you forgot",
    "you missed",
    "it should",
    "this should",
    "that should",
    "it must",
    "shorter",
    "不",
];

/// What begins like a correction and is none.
const KIND_STARTS: [&str; 8] = [
    "no problem",
    "no worries",
    "no need",
    "no rush",
    "no thanks",
    "no questions",
    "not bad",
    "not urgent",
];

/// What marks a correction anywhere in a short turn.
const CORRECTING_WORDS: [&str; 34] = [
    "should be",
    "should have been",
    "should not",
    "shouldn't",
    "instead",
    "rather than",
    "not what i",
    "not like",
    "too long",
    "too short",
    "too many",
    "too few",
    "too formal",
    "too verbose",
    "you forgot",
    "you missed",
    "you left out",
    "must be",
    "must not",
    "make it",
    "shorter please",
    "please use",
    "please keep",
    "please add",
    "please make",
    "please remove",
    "please wrap",
    "please write",
    "please start",
    "please avoid",
    "without the",
    "as claude.md says",
    "as agents.md says",
    "应该",
];

/// How a request of its own begins. It may well say how its result should be.
const REQUEST_STARTS: [&str; 18] = [
    "write",
    "draft",
    "create",
    "explain",
    "summarise",
    "summarize",
    "generate",
    "implement",
    "translate",
    "describe",
    "compare",
    "find",
    "what",
    "how",
    "why",
    "which",
    "who",
    "where",
];

/// Complaints that are as likely the matter of a new request: "find the bug and fix it".
const AMBIGUOUS: [&str; 4] = ["fix it", "broken", "revert", "undo"];

/// A longer turn without a complaint is a request of its own, in code points.
const LONGEST_CORRECTION: usize = 400;

/// A longer turn with only an ambiguous complaint is one too, in code points.
const LONGEST_COMPLAINT: usize = 60;

/// Whether a turn that follows an answer corrects it.
///
/// It does when it complains, when it begins as corrections do, or when a short turn says how the
/// answer should have been. Requests that begin with a verb of their own do not, unless they name
/// what they replace.
#[must_use]
pub fn correction(text: &str) -> bool {
    let lower = text.trim().to_lowercase().replace('’', "'");
    let length = lower.chars().count();
    let complains = signals(&lower)
        .iter()
        .filter_map(|signal| signal.strip_prefix("neg:"))
        .any(|phrase| !AMBIGUOUS.contains(&phrase) || length <= LONGEST_COMPLAINT);
    if complains || length > LONGEST_CORRECTION {
        return complains;
    }
    let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let begins = |words: &[&str]| words.iter().any(|start| begins_with(bare, start));
    if begins(&KIND_STARTS) {
        return false;
    }
    if begins(&CORRECTING_STARTS) {
        return true;
    }
    let replaces = [", not ", " instead", " rather than ", " and not "]
        .iter()
        .any(|words| lower.contains(words));
    replaces
        || (!begins(&REQUEST_STARTS)
            && CORRECTING_WORDS
                .iter()
                .any(|words| contains_whole(&lower, words)))
}

fn begins_with(text: &str, start: &str) -> bool {
    text.starts_with(start) && is_whole(text, 0, start.len())
}

fn contains_whole(text: &str, words: &str) -> bool {
    text.match_indices(words)
        .any(|(start, _)| is_whole(text, start, start + words.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_whole_words() {
        let table: [(&str, &[&str]); 20] = [
            ("I play the piano, badly", &[]),
            ("the API is undocumented", &[]),
            ("That is incorrect", &["neg:incorrect"]),
            ("Correct!", &["pos:correct"]),
            (
                "It is still broken: page 2",
                &["neg:still broken", "neg:broken"],
            ),
            ("no, use tabs", &["neg:no,"]),
            ("Perfect, thanks!", &["pos:thanks", "pos:perfect"]),
            ("That’s wrong", &["neg:that's wrong", "neg:wrong"]),
            ("that's not perfect", &[]),
            ("it doesn't look great", &[]),
            ("this does not look that great", &[]),
            ("Not now. Great!", &["pos:great"]),
            ("no, thanks", &["neg:no,", "pos:thanks"]),
            ("nothing was fixed", &[]),
            ("uncorrected, ungreat, nicely", &[]),
            ("incorrect", &["neg:incorrect"]),
            ("undo it, then fix it", &["neg:fix it", "neg:undo"]),
            ("不完美", &[]),
            ("还是不行", &["neg:还是不行", "neg:不行"]),
            ("谢谢,完美", &["pos:谢谢", "pos:完美"]),
        ];
        for (text, expected) in table {
            assert_eq!(signals(text), expected, "{text}");
        }
    }

    #[test]
    fn own_phrases_are_added() {
        let phrases = Phrases::with(&["Quatsch".to_owned()], &["läuft".to_owned()]);
        assert_eq!(phrases.signals("So ein Quatsch"), ["neg:quatsch"]);
        assert_eq!(phrases.signals("Läuft."), ["pos:läuft"]);
        assert!(phrases.signals("verläuft").is_empty());
        // One that is there already, by whatever apostrophe, is no second signal.
        let phrases = Phrases::with(&["Wrong".to_owned(), "that’s wrong".to_owned()], &[]);
        assert_eq!(phrases.signals("wrong"), ["neg:wrong"]);
    }

    #[test]
    fn however_many_own_phrases_there_are_each_counts() {
        let own: Vec<String> = (0..1000).map(|number| format!("phrase{number}x")).collect();
        let phrases = Phrases::with(&own, &own);
        for number in [0, 199, 200, 999] {
            let phrase = format!("phrase{number}x");
            assert_eq!(
                phrases.signals(&format!("It is {phrase} again")),
                [format!("neg:{phrase}"), format!("pos:{phrase}")]
            );
        }
    }

    #[test]
    fn corrections_are_told_from_requests() {
        for text in [
            "no, use snake_case for function names",
            "Please keep it under 200 characters",
            "It should be a list",
            "You forgot the risks",
            "that's wrong, revert your edits",
            "too long",
            "Not like this.",
            "No more than three bullets.",
            "But in German",
            "shorter",
            "Could you make it shorter",
            "can you use tabs instead",
            "Write \"customers\", not \"users\"",
            "The tests must be in their own file",
            "it's still not right",
            "undo that",
            "Please wrap the answer in <answer> tags",
            "I asked for a list",
            "不要用表格",
            "应该是列表",
        ] {
            assert!(correction(text), "{text}");
        }
        for text in [
            "Write a changelog in Markdown",
            "And now the same for the parser",
            "Perfect, thanks!",
            "Once more after the compaction: what was the last task? Great.",
            "Note the difference between a and b",
            "No problem, thanks!",
            "not bad",
            "Nothing else for today",
            "Button colours: which ones do we have?",
            "The pagination test in tests/test_pages.py fails with IndexError on the last page. Please find the bug and fix it.",
            "Write a function that checks a mail address; the result should be a bool",
            "Explain how a mutex must be used",
            "Now do the same for the invoices",
            "",
        ] {
            assert!(!correction(text), "{text}");
        }
    }
}
