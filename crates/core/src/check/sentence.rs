//! Checks as a person would put them, and back.
//!
//! The optimizer is shown what was missed in these words, and the built-in simulation obeys rules it
//! can read this way. Both directions are kept together so that they stay each other's inverse.

use serde_json::{Value, json};

use super::bound;
use super::form::{Form, between};
use crate::task::Check;

/// Operators whose argument is a text: the sentence around it.
const QUOTING: [(&str, &str, &str); 6] = [
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
];

/// Operators whose argument is a number.
const COUNTING: [(&str, &str, &str); 2] = [
    ("max_chars", "Keep the reply to at most ", " characters."),
    ("min_chars", "Make the reply at least ", " characters long."),
];

const NO_REFUSAL: &str = "Answer instead of refusing.";

/// The rule a person would write for this check.
///
/// One canonical sentence per meaning: bounds are whole numbers however the check spells them, and
/// patterns that have words of their own are said in those. A check that [`super::RuleJudge`] would
/// refuse is named with its argument, and no sentence leads back to it.
#[must_use]
pub fn sentence(check: &Check) -> String {
    let op = check.op.as_str();
    if op == "no_refusal" {
        return NO_REFUSAL.to_owned();
    }
    if let Some((_, before, after)) = COUNTING.iter().find(|(name, ..)| *name == op)
        && let Some(number) = bound(&check.arg)
    {
        return format!("{before}{number}{after}");
    }
    if let Some((_, before, after)) = QUOTING.iter().find(|(name, ..)| *name == op)
        && let Some(text) = check.arg.as_str()
    {
        let form = if op == "regex" {
            Form::of_pattern(text)
        } else {
            None
        };
        return form.map_or_else(
            || format!("{before}{}{after}", quoted(text)),
            |form| form.sentence(),
        );
    }
    format!("{op}: {}", check.arg)
}

/// The check a sentence stands for, if it is one of those [`sentence`] writes.
#[must_use]
pub fn check_from_sentence(sentence: &str) -> Option<Check> {
    let text = sentence.trim();
    let check = |op: &str, arg: Value| Check {
        op: op.to_owned(),
        arg,
    };
    if text == NO_REFUSAL {
        return Some(check("no_refusal", Value::Null));
    }
    let form = || Form::of_sentence(text).map(|form| check("regex", json!(form.pattern())));
    let counting = || {
        COUNTING.iter().find_map(|(op, before, after)| {
            let number: u64 = between(text, before, after)?.parse().ok()?;
            Some(check(op, json!(number)))
        })
    };
    let quoting = || {
        QUOTING.iter().find_map(|(op, before, after)| {
            let text = unquoted(between(text, before, after)?)?;
            Some(check(op, json!(text)))
        })
    };
    let found = form().or_else(counting).or_else(quoting)?;
    // Only the canonical sentence: no leading zeros, no pattern that has words of its own.
    (self::sentence(&found) == text).then_some(found)
}

/// A text in quotation marks. Where it holds a quotation mark or a backslash itself, it stands
/// unchanged between backticks; where that is impossible too, as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let plain = |c: char| !matches!(c, '"' | '\\') && !needs_escape(c);
    let code = |c: char| c != '`' && !needs_escape(c);
    if text.chars().all(plain) {
        format!("\"{text}\"")
    } else if text.chars().all(code) {
        format!("`{text}`")
    } else {
        Value::from(text).to_string()
    }
}

/// Characters that would break a line.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The text that [`quoted`] made this of.
pub(super) fn unquoted(quotation: &str) -> Option<String> {
    let text = match between(quotation, "`", "`") {
        Some(text) => text.to_owned(),
        None => serde_json::from_str(quotation).ok()?,
    };
    (quoted(&text) == quotation).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::RuleJudge;
    use crate::check::form::Unit;
    use proptest::prelude::*;

    fn check(op: &str, arg: Value) -> Check {
        Check { op: op.into(), arg }
    }

    #[test]
    fn one_canonical_sentence_per_operator() {
        let table = [
            (
                check("max_chars", json!(200)),
                "Keep the reply to at most 200 characters.",
            ),
            (
                check("max_chars", json!("+200")),
                "Keep the reply to at most 200 characters.",
            ),
            (
                check("min_chars", json!(50.0)),
                "Make the reply at least 50 characters long.",
            ),
            (
                check("contains", json!("beta")),
                "Include the text \"beta\" in the reply.",
            ),
            (
                check("contains", json!("\"ok\"")),
                "Include the text `\"ok\"` in the reply.",
            ),
            (
                check("not_contains", json!("a\nb")),
                "Never write \"a\\nb\" in the reply.",
            ),
            (
                check("section_present", json!("Risks")),
                "Give the reply a section called \"Risks\".",
            ),
            (
                check("section_contains", json!("Risks")),
                "Give the reply a heading that mentions \"Risks\".",
            ),
            (
                check("tool_called", json!("search")),
                "Call the tool \"search\".",
            ),
            (
                check("regex", json!(r"\d+`?")),
                "Write the reply so that the pattern \"\\\\d+`?\" is found in it.",
            ),
            (
                check("regex", json!(r"\d{4}")),
                r"Write the reply so that the pattern `\d{4}` is found in it.",
            ),
            (
                check("regex", json!(r"\A\s*Hi")),
                "Begin the reply with \"Hi\".",
            ),
            (
                check("no_refusal", Value::Null),
                "Answer instead of refusing.",
            ),
        ];
        for (check, words) in table {
            assert_eq!(sentence(&check), words);
            let back = check_from_sentence(words).unwrap();
            assert_eq!(sentence(&back), words);
        }
        assert_eq!(sentence(&check("contians", json!("x"))), "contians: \"x\"");
        for no in [
            "contians: \"x\"",
            "Keep the reply to at most 0200 characters.",
            "Keep the reply to at most 1 words.",
            "Include the text beta in the reply.",
            "Write the reply so that the pattern `\\A\\s*Hi` is found in it.",
            "Begin the reply with \" \".",
            "",
        ] {
            assert_eq!(check_from_sentence(no), None, "{no}");
        }
    }

    fn any_check() -> impl Strategy<Value = Check> {
        let text = prop_oneof![
            "\\PC{1,40}",
            "[a\"`\\\\\n\r\t ]{1,6}",
            "[.*+?()\\[\\]{}|^$\\\\]{1,6}"
        ];
        let unit = prop_oneof![
            Just(Unit::Words),
            Just(Unit::Lines),
            Just(Unit::Sentences),
            Just(Unit::Bullets)
        ];
        prop_oneof![
            any::<u32>().prop_map(|number| check("max_chars", json!(number))),
            any::<u32>().prop_map(|number| check("min_chars", json!(number))),
            Just(check("no_refusal", Value::Null)),
            (0..QUOTING.len(), text.clone())
                .prop_map(|(op, text)| check(QUOTING[op].0, json!(text))),
            (any::<bool>(), any::<bool>(), text).prop_map(|(beginning, wanted, text)| {
                check(
                    "regex",
                    json!(Form::literal(beginning, wanted, &text).pattern()),
                )
            }),
            (unit, any::<bool>(), 1_u32..=10_000).prop_filter_map(
                "no form",
                |(unit, most, number)| {
                    let form = Form::counted(unit, most, number)?;
                    Some(check("regex", json!(form.pattern())))
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn there_and_back(check in any_check()) {
            let words = sentence(&check);
            prop_assert!(!words.contains('\n'));
            prop_assert_eq!(check_from_sentence(&words), Some(check));
        }

        #[test]
        fn back_and_there(words in "\\PC{0,60}|(Never write|Begin the reply with) [\"`a\\\\]{1,6}( in the reply)?\\.") {
            if let Some(check) = check_from_sentence(&words) {
                prop_assert_eq!(sentence(&check), words.trim());
                prop_assert!(check.op == "regex" || check.arg == json!("") || RuleJudge::compile(&[check]).is_ok());
            }
        }
    }
}
