//! The checks a correction states literally.
//!
//! Only what can be verified on a text reply becomes a check. "Use the imperative mood" is a wish, but
//! no check; it is left to a model miner.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use crate::check;
use crate::task::Check;

/// The longest phrase that is taken for a quotation, in code points.
const LONGEST_PHRASE: usize = 80;

struct Patterns {
    at_most: Regex,
    at_least: Regex,
    section: Regex,
    include: Regex,
    exclude: Regex,
    exchange: Regex,
    begin: Regex,
    answer_tags: Regex,
    bullets: Regex,
    json: Regex,
    one_line: Regex,
    emojis: Regex,
}

/// A quoted phrase, in any kind of quotation marks.
const QUOTED: &str = r#"["“„'‘`«]([^"”“'’`»\n]{1,80})["”“'’`»]"#;

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let compile =
        |pattern: &str| Regex::new(&pattern.replace("QUOTED", QUOTED)).expect("a fixed pattern");
    Patterns {
        at_most: compile(
            r"(?i)\b(?:under|below|within|at most|no more than|not more than|maximum(?: of)?|max\.?|less than|up to|shorter than)\s+(\d{1,6})\s*(?:characters|chars|letters)\b",
        ),
        at_least: compile(
            r"(?i)\b(?:at least|no less than|minimum(?: of)?|min\.?)\s+(\d{1,6})\s*(?:characters|chars|letters)\b",
        ),
        section: compile(
            r#"(?i)\bsection\s+(?:called|named|titled|headed)\s+(?:the\s+)?(?:QUOTED|((?-i:[A-Z][\w&-]*(?: [A-Z][\w&-]*){0,3})))|\b(?:add|include|with)\s+an?\s+(?:QUOTED|((?-i:[A-Z][\w&-]*)))\s+section\b"#,
        ),
        include: compile(
            r"(?i)\b(?:include|mention|contain|say|use|write|add)\s+(?:the\s+)?(?:exact\s+)?(?:word|words|phrase|text|term|line|sentence)\s+QUOTED",
        ),
        exclude: compile(
            r"(?i)\b(?:don't|do not|never|avoid|without|stop|no)\s+(?:ever\s+)?(?:use|using|say|saying|write|writing|mention|mentioning|include|including)?\s*(?:the\s+)?(?:word|words|phrase|text|term)?\s*QUOTED",
        ),
        exchange: compile(
            r#"(?i)\b(?:use|write|say)\s+(?:QUOTED|([\w.+-]{2,30}))\s*(?:,\s*not|instead of|rather than|,?\s+and\s+not)\s+(?:QUOTED|([\w.+-]{2,30}))"#,
        ),
        begin: compile(
            r"(?i)\b(?:start|begin)(?:\s+(?:it|the reply|your reply|the answer))?\s+with\s+(?:the\s+)?(?:word|words|text|phrase)?\s*QUOTED",
        ),
        answer_tags: compile(r"(?i)<(answer)>"),
        bullets: compile(
            r"(?i)\b(?:as|use|in|with)\s+(?:a\s+|an\s+)?(?:markdown\s+|short\s+)?(?:bullet(?:ed)?[ -]?(?:points?|lists?)|bullets)\b|\bone bullet per\b",
        ),
        json: compile(r"(?i)\b(?:json only|only json|in json|as json|valid json)\b"),
        one_line: compile(r"(?i)\b(?:(?:on|in) (?:one|a single) line|one line only|single line)\b"),
        emojis: compile(
            r"(?i)\b(?:no|without|don't use|do not use|avoid|drop the|remove the) emojis?\b",
        ),
    }
});

/// The checks that a correction states literally, in a fixed order. Every one of them compiles, and
/// its sentence can be read back.
#[must_use]
pub fn constraints(text: &str) -> Vec<Check> {
    // Longer turns are requests with material in them, whose words are no wishes.
    if text.len() > 4_000 {
        return Vec::new();
    }
    let text = text.replace('’', "'");
    let p = &*PATTERNS;
    let mut checks = Vec::new();
    let mut add = |op: &str, arg: serde_json::Value| {
        let check = Check {
            op: op.to_owned(),
            arg,
        };
        if !checks.contains(&check) {
            checks.push(check);
        }
    };
    let phrase = |captures: &regex::Captures<'_>, groups: &[usize]| {
        groups
            .iter()
            .find_map(|&group| captures.get(group))
            .map(|found| found.as_str().trim().to_owned())
            .filter(|found| !found.is_empty() && found.chars().count() <= LONGEST_PHRASE)
    };
    for (pattern, op) in [(&p.at_most, "max_chars"), (&p.at_least, "min_chars")] {
        if let Some(captures) = pattern.captures(&text)
            && !preceded_by_no(&text, &captures)
            && let Ok(number) = captures[1].parse::<u64>()
        {
            add(op, json!(number));
        }
    }
    for captures in p.section.captures_iter(&text) {
        if let Some(name) = phrase(&captures, &[1, 2, 3, 4]) {
            add("section_present", json!(name));
        }
    }
    for captures in p.include.captures_iter(&text) {
        if let Some(found) = phrase(&captures, &[1])
            && !preceded_by_no(&text, &captures)
        {
            add("contains", json!(found));
        }
    }
    for captures in p.exclude.captures_iter(&text) {
        if let Some(found) = phrase(&captures, &[1]) {
            add("not_contains", json!(found));
        }
    }
    for captures in p.exchange.captures_iter(&text) {
        if let (Some(wanted), Some(unwanted)) =
            (phrase(&captures, &[1, 2]), phrase(&captures, &[3, 4]))
            && !unwanted.to_lowercase().contains(&wanted.to_lowercase())
            && !wanted.to_lowercase().contains(&unwanted.to_lowercase())
        {
            add("contains", json!(wanted));
            add("not_contains", json!(unwanted));
        }
    }
    for captures in p.begin.captures_iter(&text) {
        if let Some(found) = phrase(&captures, &[1]) {
            add("regex", json!(check::starts_with(&found)));
        }
    }
    if p.answer_tags.is_match(&text) {
        add("contains", json!("<answer>"));
        add("contains", json!("</answer>"));
    }
    for (pattern, words) in [
        (&p.bullets, "Write the reply as a bullet list."),
        (&p.json, "Reply with JSON only."),
        (&p.one_line, "Keep the reply on one line."),
        (&p.emojis, "Use no emojis."),
    ] {
        if pattern.is_match(&text) {
            add("regex", json!(check::pattern_of(words)));
        }
    }
    checks
}

/// "do not use the word …" is a prohibition, although "use the word …" stands in it.
fn preceded_by_no(text: &str, captures: &regex::Captures<'_>) -> bool {
    let start = captures.get(0).map_or(0, |whole| whole.start());
    let before = text[..start].trim_end().to_lowercase();
    [
        "don't", "do not", "never", "not", "no", "avoid", "without", "stop",
    ]
    .iter()
    .any(|no| before.ends_with(no))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{RuleJudge, check_from_sentence, sentence};
    use proptest::prelude::*;

    fn shown(text: &str) -> Vec<String> {
        constraints(text).iter().map(sentence).collect()
    }

    #[test]
    fn literal_wishes_become_checks() {
        let table: [(&str, &[&str]); 22] = [
            (
                "Keep it under 200 characters.",
                &["Keep the reply to at most 200 characters."],
            ),
            (
                "no more than 80 chars please",
                &["Keep the reply to at most 80 characters."],
            ),
            (
                "It should be at least 50 characters",
                &["Make the reply at least 50 characters long."],
            ),
            (
                "No, please add a section called Risks.",
                &["Give the reply a section called \"Risks\"."],
            ),
            (
                "Add a section named \"Open questions\"",
                &["Give the reply a section called \"Open questions\"."],
            ),
            (
                "Include a Summary section",
                &["Give the reply a section called \"Summary\"."],
            ),
            (
                "include the word 'beta'",
                &["Include the text \"beta\" in the reply."],
            ),
            (
                "You must mention the phrase “no warranty”",
                &["Include the text \"no warranty\" in the reply."],
            ),
            (
                "Don't use the word \"simply\"",
                &["Never write \"simply\" in the reply."],
            ),
            (
                "never say 'obviously' again",
                &["Never write \"obviously\" in the reply."],
            ),
            (
                "without the phrase \"as an AI\"",
                &["Never write \"as an AI\" in the reply."],
            ),
            (
                "use colour instead of color",
                &[
                    "Include the text \"colour\" in the reply.",
                    "Never write \"color\" in the reply.",
                ],
            ),
            (
                "Write \"customers\", not \"users\"",
                &[
                    "Include the text \"customers\" in the reply.",
                    "Never write \"users\" in the reply.",
                ],
            ),
            (
                "Start with \"Dear team\"",
                &["Begin the reply with \"Dear team\"."],
            ),
            (
                "begin your reply with 'TL;DR'",
                &["Begin the reply with \"TL;DR\"."],
            ),
            (
                "wrap the final answer in <answer> tags",
                &[
                    "Include the text \"<answer>\" in the reply.",
                    "Include the text \"</answer>\" in the reply.",
                ],
            ),
            (
                "as a bullet list please",
                &["Write the reply as a bullet list."],
            ),
            ("use bullet points", &["Write the reply as a bullet list."]),
            ("JSON only!", &["Reply with JSON only."]),
            ("on one line", &["Keep the reply on one line."]),
            ("No emojis", &["Use no emojis."]),
            (
                "No — at most 72 characters and without emojis",
                &["Keep the reply to at most 72 characters.", "Use no emojis."],
            ),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_checked_gives_nothing() {
        for text in [
            "no, use snake_case for function names, as CLAUDE.md says",
            "use the imperative mood",
            "in German please",
            "be more polite",
            "that's wrong, revert your edits to src/pages.py please",
            "It is still broken: an empty list crashes and page -1 returns wrong items.",
            "too long",
            "shorter",
            "use the helper we wrote yesterday",
            "don't touch the tests",
            "The section on errors is wrong",
            "use tabs",
            "no, the other file",
            "I have 200 characters in my password field",
            "don't use a database",
            "not like that",
        ] {
            assert_eq!(shown(text), Vec::<String>::new(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_check_can_be_used_and_said(
            verb in "(use|include|don't use|start with|add a section called|under|avoid)",
            phrase in "\\PC{1,30}",
        ) {
            for text in [format!("{verb} \"{phrase}\""), format!("{verb} the word '{phrase}'"), format!("{verb} {phrase}")] {
                for check in constraints(&text) {
                    prop_assert!(RuleJudge::compile(std::slice::from_ref(&check)).is_ok(), "{:?}", check);
                    prop_assert_eq!(check_from_sentence(&sentence(&check)), Some(check));
                }
            }
        }
    }
}
