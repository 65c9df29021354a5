//! Scores of replies (§5.4): exact, keyword, rubric and answer judges. Rule judges are in
//! [`crate::check`].

use serde::{Deserialize, Serialize};

use crate::gate::Metric;
use crate::script::is_unspaced;
use crate::text::cut;

/// A rubric grade of at least this passes (§15.2).
pub const RUBRIC_PASS: f64 = 0.8;

/// How good one reply is. `hard` and `soft` are finite and in `[0, 1]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// All or nothing.
    pub hard: f64,
    /// Partial credit.
    pub soft: f64,
    /// Why, in words.
    pub why: String,
    /// Positions of the checks that failed, for a rule judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<usize>,
}

impl Score {
    /// A score without failed checks.
    pub(crate) fn new(hard: f64, soft: f64, why: impl Into<String>) -> Self {
        Self {
            hard,
            soft,
            why: why.into(),
            failed: Vec::new(),
        }
    }

    /// One number, as the gate compares it.
    #[must_use]
    pub fn value(&self, metric: Metric) -> f64 {
        metric.combine(self.hard, self.soft)
    }
}

/// Whether the reply contains the reference as a run of whole words (§5.4).
///
/// Both are lower-cased, and everything that is neither a word character nor white space separates
/// words. The reference system looks for a substring instead, so that `1` is found in `10` (§14 #39);
/// wherever a reference is a phrase, whole words give the same scores. A run that would cut a number in
/// two (`3` in `3.14`, `1` in `1,000`) does not count either, and in scripts without spaces every
/// letter is a word.
#[must_use]
pub fn exact(reference: &str, response: &str) -> Score {
    let (reference_text, response_text) = (reference.to_lowercase(), response.to_lowercase());
    let wanted = tokens(&reference_text);
    let given = tokens(&response_text);
    let found = !wanted.is_empty()
        && given.windows(wanted.len()).enumerate().any(|(at, run)| {
            let equal = run.iter().zip(&wanted).all(|(a, b)| a.text == b.text);
            equal && !cuts_a_number(&response_text, &given, at, at + wanted.len())
        });
    if found {
        return Score::new(1.0, 1.0, "the reference answer is there");
    }
    Score::new(
        0.0,
        keyword(reference, response),
        "the reference answer is missing",
    )
}

/// A word, and where it stands.
struct Token<'t> {
    text: &'t str,
    start: usize,
}

impl Token<'_> {
    const fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Words of letters, digits and `_`, as Python's `\w`; letters of scripts without spaces one by one.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut open = false;
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        let word = c.is_alphanumeric() || c == '_';
        let alone = is_unspaced(c);
        match tokens.last_mut() {
            Some(last) if word && open && !alone => last.text = &text[last.start..end],
            _ if word => tokens.push(Token {
                text: &text[start..end],
                start,
            }),
            _ => {}
        }
        open = word && !alone;
    }
    tokens
}

/// Whether the run `from..to` begins or ends inside a number such as `3.14` or `1,000`.
fn cuts_a_number(text: &str, tokens: &[Token<'_>], from: usize, to: usize) -> bool {
    let joined = |left: usize, right: usize| {
        let (Some(left), Some(right)) = (tokens.get(left), tokens.get(right)) else {
            return false;
        };
        matches!(&text[left.end()..right.start], "." | ",")
            && left.text.ends_with(|c: char| c.is_ascii_digit())
            && right.text.starts_with(|c: char| c.is_ascii_digit())
    };
    from.checked_sub(1)
        .is_some_and(|before| joined(before, from))
        || joined(to - 1, to)
}

/// Python's `\w` and `\s` on code points: letters, digits and `_` are words.
fn normal_words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Share of the reference's distinct words of more than two characters that occur in the reply (§5.4).
#[must_use]
pub fn keyword(reference: &str, response: &str) -> f64 {
    let mut words: Vec<String> = normal_words(reference)
        .into_iter()
        .filter(|word| word.chars().count() > 2)
        .collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        return 0.0;
    }
    let given = normal_words(response).join(" ");
    share(
        words
            .iter()
            .filter(|word| given.contains(word.as_str()))
            .count(),
        words.len(),
    )
}

/// `part / whole` of small counts.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of words and checks are far below 2^52"
    )]
    let share = part as f64 / whole as f64;
    share
}

/// The score of a model's grade; `None` when the grade is not a finite number in `[0, 1]`, which is a
/// failed judge and no score.
#[must_use]
pub fn rubric(grade: f64, reason: &str) -> Option<Score> {
    if !(0.0..=1.0).contains(&grade) {
        return None;
    }
    let hard = if grade >= RUBRIC_PASS { 1.0 } else { 0.0 };
    Some(Score::new(hard, grade, cut(reason, 200)))
}

/// Whether the last `<answer>` of the reply (or, without one, its last non-empty line) equals one of
/// the gold answers after normalisation; soft is the best token F1 (SearchQA's measure).
#[must_use]
pub fn answer(golds: &[String], response: &str) -> Score {
    let given = answer_words(last_answer(response));
    let golds: Vec<Vec<String>> = golds.iter().map(|gold| answer_words(gold)).collect();
    let hard = if golds.contains(&given) { 1.0 } else { 0.0 };
    let soft = golds
        .iter()
        .map(|gold| token_f1(gold, &given))
        .fold(hard, f64::max);
    Score::new(
        hard,
        soft,
        if hard > 0.0 {
            "EM=1"
        } else {
            "EM=0: another answer was given"
        },
    )
}

/// The text of the last `<answer>…</answer>`, case-insensitive and over lines, else the last non-empty line.
fn last_answer(response: &str) -> &str {
    const OPEN: &str = "<answer>";
    const CLOSE: &str = "</answer>";
    // ASCII lower case keeps every byte position.
    let lower = response.to_ascii_lowercase();
    let mut last = None;
    let mut from = 0;
    while let Some(open) = lower[from..].find(OPEN) {
        let start = from + open + OPEN.len();
        let Some(length) = lower[start..].find(CLOSE) else {
            break;
        };
        last = Some(response[start..start + length].trim());
        from = start + length + CLOSE.len();
    }
    last.unwrap_or_else(|| {
        response
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or("")
    })
}

/// Lower case, ASCII punctuation deleted, articles dropped, white space collapsed.
fn answer_words(text: &str) -> Vec<String> {
    let plain: String = text
        .to_lowercase()
        .chars()
        .filter(|c| !c.is_ascii_punctuation())
        .collect();
    // An article is a word by itself also next to a dash that ASCII does not have.
    let mut kept = String::with_capacity(plain.len());
    let mut word = String::new();
    for c in plain.chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        kept.push_str(match word.as_str() {
            "a" | "an" | "the" => " ",
            word => word,
        });
        word.clear();
        kept.push(c);
    }
    kept.split_whitespace().map(str::to_owned).collect()
}

/// F1 of two bags of words; two empty ones agree.
fn token_f1(gold: &[String], given: &[String]) -> f64 {
    if gold.is_empty() || given.is_empty() {
        return if gold.is_empty() && given.is_empty() {
            1.0
        } else {
            0.0
        };
    }
    let mut rest: Vec<&String> = gold.iter().collect();
    let shared = given
        .iter()
        .filter(|word| {
            let at = rest.iter().position(|gold| gold == word);
            at.map(|at| rest.swap_remove(at)).is_some()
        })
        .count();
    // 2PR/(P+R) with P = shared/given and R = shared/gold.
    2.0 * share(shared, gold.len() + given.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_takes_whole_words_only() {
        // §14 #39: the reference finds "1" in "10".
        assert_eq!(exact("1", "10").hard, 0.0);
        assert_eq!(exact("1", "It is 1.").hard, 1.0);
        assert_eq!(exact("Fix CI pipeline", "fix, CI... pipeline!").hard, 1.0);
        assert_eq!(exact("", "anything").hard, 0.0);
        assert_eq!(exact("...", "anything").hard, 0.0);
        assert_eq!(exact("cat", "concatenate").hard, 0.0);
        assert_eq!(
            exact("snake", "snake_case").hard,
            0.0,
            "§15.3: _ is a word character"
        );
        assert_eq!(exact("ÜBER", "über alles").hard, 1.0);
        assert_eq!(exact("a b", "a - b").hard, 1.0);
        // Numbers stay whole.
        for (reference, reply, hard) in [
            ("3", "3.14", 0.0),
            ("14", "3.14", 0.0),
            ("3.14", "It is 3.14.", 1.0),
            ("1", "1,000", 0.0),
            ("1, 2", "1, 2, 3", 1.0),
            ("1.2", "1.2.0", 0.0),
            ("v2", "Use v2.", 1.0),
            ("42", "42, of course", 1.0),
        ] {
            assert_eq!(exact(reference, reply).hard, hard, "{reference} in {reply}");
        }
        // Scripts without spaces have no whole words.
        assert_eq!(exact("登录", "请登录系统").hard, 1.0);
        assert_eq!(exact("登系", "请登录系统").hard, 0.0);
        assert_eq!(exact("서울", "답은 서울입니다").hard, 1.0);
    }

    #[test]
    fn near_misses_of_the_personas_score_as_the_reference_says() {
        // §13.1: two of three words of `arXiv:1706.03762` survive in a near miss that lacks the last two
        // characters, because the truncated second part misses.
        let near = exact("arXiv:1706.03762", "Perhaps arXiv:1706.037 fits.");
        assert_eq!(near.hard, 0.0);
        assert!((near.soft - 2.0 / 3.0).abs() < 1e-12, "{}", near.soft);
    }

    #[test]
    fn a_grade_outside_the_unit_interval_is_no_score() {
        for grade in [7.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(rubric(grade, "").is_none(), "{grade}");
        }
        assert_eq!(
            rubric(0.8, "good").map(|score| (score.hard, score.soft)),
            Some((1.0, 0.8))
        );
        assert_eq!(rubric(0.79, "").map(|score| score.hard), Some(0.0));
    }

    #[test]
    fn answers_are_compared_as_searchqa_does() {
        let golds = ["The Eiffel Tower".to_owned(), "Eiffel".to_owned()];
        assert_eq!(
            answer(&golds, "Hm.\n<ANSWER>eiffel tower!</ANSWER> bye").hard,
            1.0
        );
        assert_eq!(
            answer(
                &golds,
                "<answer>no</answer> then <answer>\nEiffel\n</answer>"
            )
            .hard,
            1.0
        );
        assert_eq!(answer(&golds, "thinking\nEiffel tower\n\n").hard, 1.0);
        assert_eq!(
            answer(&golds, "<answer>Eiffel</answer> and </answer> more").hard,
            1.0
        );
        assert_eq!(
            answer(&golds, "<answer>Eiffel").hard,
            0.0,
            "never closed: the line counts"
        );
        assert_eq!(
            answer(&["–b".into()], "A–b").hard,
            1.0,
            "an article beside a dash"
        );
        assert_eq!(answer(&["Theatre".into()], "the theatre").hard, 1.0);
        assert_eq!(answer(&["U.S.A.".into()], "usa").hard, 1.0);
        assert_eq!(answer(&[], "x").hard, 0.0);
        // §5.2 of the research reference: an empty prediction equals an empty gold only.
        assert_eq!(
            (
                answer(&["the".into()], "").hard,
                answer(&["x".into()], "").soft
            ),
            (1.0, 0.0)
        );
        // Words {eiffel, tower} and {tall, eiffel, tower}: F1 = 2·2/(2+3).
        let partly = answer(&golds, "<answer>tall Eiffel tower</answer>");
        assert_eq!(partly.hard, 0.0);
        assert!((partly.soft - 0.8).abs() < 1e-12, "{}", partly.soft);
    }

    #[test]
    fn keywords_are_counted_once_and_only_long_ones() {
        // §5.4: distinct words of more than two characters, found as substrings.
        assert_eq!(keyword("to be or not to be", "nothing"), 1.0);
        assert_eq!(keyword("alpha beta alpha", "ALPHA!"), 0.5);
        assert_eq!(keyword("a an it", "a an it"), 0.0);
    }
}
