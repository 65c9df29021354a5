//! Checks as a person would put them, and back.
//!
//! The optimizer is shown what was missed in these words, and the built-in simulation obeys rules it
//! can read this way. Both directions are kept together so that they stay each other's inverse.

use serde_json::{Value, json};

use crate::task::Check;

/// Patterns that have plain words.
const PATTERNS: [(&str, &str); 4] = [
    (r"(?m)^\s*[-*] ", "Write the reply as a bullet list."),
    (r"\A\s*[\[{]", "Reply with JSON only."),
    (r"\A[^\n]*\n?\Z", "Keep the reply on one line."),
    (
        "\\A[^\u{2600}-\u{27bf}\u{1f300}-\u{1faff}]*\\Z",
        "Use no emojis.",
    ),
];

/// Operators whose argument is a text: the sentence around it.
const QUOTING: [(&str, &str, &str); 7] = [
    ("contains", "Include the text ", " in the reply."),
    ("not_contains", "Never write ", " in the reply."),
    ("section_present", "Give the reply a section called ", "."),
    (
        "section_contains",
        "Give the reply a heading that mentions ",
        ".",
    ),
    ("tool_called", "Call the tool ", "."),
    (
        "regex",
        "Write the reply so that the pattern ",
        " is found in it.",
    ),
    ("starts", "Begin the reply with ", "."),
];

/// Operators whose argument is a number.
const COUNTING: [(&str, &str, &str); 2] = [
    ("max_chars", "Keep the reply to at most ", " characters."),
    ("min_chars", "Make the reply at least ", " characters long."),
];

const NO_REFUSAL: &str = "Answer instead of refusing.";

/// The rule a person would write for this check.
#[must_use]
pub fn sentence(check: &Check) -> String {
    let op = check.op.as_str();
    if op == "no_refusal" {
        return NO_REFUSAL.to_owned();
    }
    if let Some((_, before, after)) = COUNTING.iter().find(|(name, ..)| *name == op) {
        let number = check
            .arg
            .as_str()
            .map_or_else(|| check.arg.to_string(), |text| text.trim().to_owned());
        return format!("{before}{number}{after}");
    }
    let text = check.arg.as_str().unwrap_or_default();
    if op == "regex" {
        if let Some((_, words)) = PATTERNS.iter().find(|(pattern, _)| *pattern == text) {
            return (*words).to_owned();
        }
        if let Some(opening) = opening(text) {
            return quoted("starts", &opening);
        }
    }
    quoted(op, text)
}

fn quoted(op: &str, text: &str) -> String {
    let (_, before, after) = QUOTING
        .iter()
        .find(|(name, ..)| *name == op)
        .copied()
        .unwrap_or(QUOTING[0]);
    format!("{before}{}{after}", Value::from(text))
}

/// The check a sentence stands for, if it is one of those [`sentence`] writes.
#[must_use]
pub fn check_from_sentence(sentence: &str) -> Option<Check> {
    let sentence = sentence.trim();
    if sentence == NO_REFUSAL {
        return Some(Check {
            op: "no_refusal".to_owned(),
            arg: Value::Null,
        });
    }
    if let Some((pattern, _)) = PATTERNS.iter().find(|(_, words)| *words == sentence) {
        return Some(Check {
            op: "regex".to_owned(),
            arg: json!(pattern),
        });
    }
    for (op, before, after) in COUNTING {
        if let Some(number) = between(sentence, before, after) {
            let number: u64 = number.parse().ok()?;
            return Some(Check {
                op: op.to_owned(),
                arg: json!(number),
            });
        }
    }
    for (op, before, after) in QUOTING {
        if let Some(text) = between(sentence, before, after) {
            let text: String = serde_json::from_str(text).ok()?;
            return Some(match op {
                "starts" => Check {
                    op: "regex".to_owned(),
                    arg: json!(starts_with(&text)),
                },
                op => Check {
                    op: op.to_owned(),
                    arg: json!(text),
                },
            });
        }
    }
    None
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

/// The pattern of a reply that begins with `text`.
pub(crate) fn starts_with(text: &str) -> String {
    format!(r"\A\s*{}", regex::escape(text))
}

/// The text whose pattern this is.
fn opening(pattern: &str) -> Option<String> {
    let escaped = pattern.strip_prefix(r"\A\s*")?;
    let mut text = String::new();
    let mut chars = escaped.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next()? } else { c });
    }
    (starts_with(&text) == pattern).then_some(text)
}

/// The pattern of a bullet list, of JSON, of one line, of a text without emojis: the patterns with words.
pub(crate) fn pattern_of(words: &str) -> &'static str {
    PATTERNS
        .iter()
        .find(|(_, known)| *known == words)
        .map_or("", |(pattern, _)| *pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::RuleJudge;
    use proptest::prelude::*;

    #[test]
    fn patterns_with_words_can_be_used() {
        for (pattern, words) in PATTERNS {
            let check = check_from_sentence(words).unwrap();
            assert_eq!(check.arg, json!(pattern));
            assert!(RuleJudge::compile(&[check]).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn patterns_mean_what_their_words_say() {
        let holds = |words: &str, reply: &str| {
            let check = check_from_sentence(words).unwrap();
            RuleJudge::compile(&[check])
                .unwrap()
                .judge
                .score(reply, &[])
                .hard
                > 0.5
        };
        assert!(holds(
            "Write the reply as a bullet list.",
            "Intro\n- a\n- b"
        ));
        assert!(!holds("Write the reply as a bullet list.", "a, b"));
        assert!(
            holds("Reply with JSON only.", "{\"a\": 1}")
                && !holds("Reply with JSON only.", "Sure: {}")
        );
        assert!(
            holds("Keep the reply on one line.", "a")
                && !holds("Keep the reply on one line.", "a\nb")
        );
        assert!(holds("Use no emojis.", "fine") && !holds("Use no emojis.", "fine 🎉"));
        assert!(
            holds("Begin the reply with \"(a) b\".", "  (a) b c")
                && !holds("Begin the reply with \"(a) b\".", "c")
        );
    }

    proptest! {
        #[test]
        fn there_and_back(op in 0_usize..6, text in "\\PC{1,40}", number in 0_u32..100_000) {
            let check = match op {
                0 => Check { op: "max_chars".into(), arg: json!(u64::from(number)) },
                1 => Check { op: "min_chars".into(), arg: json!(u64::from(number)) },
                op => Check { op: QUOTING[op - 2].0.into(), arg: json!(text) },
            };
            prop_assert_eq!(check_from_sentence(&sentence(&check)), Some(check));
        }

        #[test]
        fn any_sentence_is_taken(text in "\\PC{0,60}") {
            let _ = check_from_sentence(&text);
        }

        #[test]
        fn openings_there_and_back(text in "\\PC{1,20}") {
            let check = Check { op: "regex".into(), arg: json!(starts_with(&text)) };
            prop_assert_eq!(check_from_sentence(&sentence(&check)), Some(check));
        }
    }
}
