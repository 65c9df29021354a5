use super::*;
use crate::check::{RuleJudge, check_from_sentence, sentence};
use proptest::prelude::*;

fn shown(text: &str) -> Vec<String> {
    constraints(text).iter().map(sentence).collect()
}

#[test]
fn literal_wishes_become_checks() {
    let table: [(&str, &[&str]); 71] = [
        (
            "Keep it under 200 characters.",
            &["Keep the reply to at most 200 characters."],
        ),
        (
            "no more than 80 chars please",
            &["Keep the reply to at most 80 characters."],
        ),
        (
            "72 chars max",
            &["Keep the reply to at most 72 characters."],
        ),
        (
            "not more than 140 characters, please",
            &["Keep the reply to at most 140 characters."],
        ),
        (
            "It should be at least 50 characters",
            &["Make the reply at least 50 characters long."],
        ),
        (
            "between is fine, but at least 50 and at most 90 characters",
            &["Keep the reply to at most 90 characters."],
        ),
        (
            "Keep it under 150 words",
            &["Keep the reply to at most 150 words."],
        ),
        (
            "Limit the summary to 50 words.",
            &["Keep the reply to at most 50 words."],
        ),
        (
            "no, 100 words or less",
            &["Keep the reply to at most 100 words."],
        ),
        (
            "Please write at least 300 words.",
            &["Make the reply at least 300 words long."],
        ),
        (
            "exactly five words",
            &[
                "Keep the reply to at most 5 words.",
                "Make the reply at least 5 words long.",
            ],
        ),
        ("No more than 3 bullets.", &["Use at most 3 bullet points."]),
        (
            "max. 5 short bullet points",
            &["Use at most 5 bullet points."],
        ),
        (
            "I want at least two bullet points",
            &["Use at least 2 bullet points."],
        ),
        (
            "exactly three bullets please",
            &[
                "Use at most 3 bullet points.",
                "Use at least 3 bullet points.",
            ],
        ),
        (
            "At most two sentences!",
            &["Keep the reply to at most 2 sentences."],
        ),
        (
            "Too long. Keep it to one sentence.",
            &["Keep the reply to at most 1 sentence."],
        ),
        (
            "Explain it in two sentences instead",
            &["Keep the reply to at most 2 sentences."],
        ),
        (
            "in a single sentence",
            &["Keep the reply to at most 1 sentence."],
        ),
        (
            "Trim this down to 4 lines",
            &["Keep the reply to at most 4 lines."],
        ),
        (
            "up to ten lines is fine",
            &["Keep the reply to at most 10 lines."],
        ),
        (
            "No, please add a section called Risks.",
            &["Give the reply a section called \"Risks\"."],
        ),
        (
            "add a section called risks",
            &["Give the reply a section called \"risks\"."],
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
            "You forgot the Next Steps section",
            &["Give the reply a section called \"Next Steps\"."],
        ),
        (
            "It needs sections for Risks, Mitigations and Owners.",
            &[
                "Give the reply a section called \"Risks\".",
                "Give the reply a section called \"Mitigations\".",
                "Give the reply a section called \"Owners\".",
            ],
        ),
        (
            "always end with a heading called 'References'",
            &["Give the reply a section called \"References\"."],
        ),
        (
            "include the word 'beta'",
            &["Include the text \"beta\" in the reply."],
        ),
        (
            "Mention \"GDPR\" please",
            &["Include the text \"GDPR\" in the reply."],
        ),
        (
            "You must mention the phrase “no warranty.”",
            &["Include the text \"no warranty\" in the reply."],
        ),
        (
            "add the line `Signed-off-by: Bot`",
            &["Include the text \"Signed-off-by: Bot\" in the reply."],
        ),
        (
            "it must contain \"it's ready\"",
            &["Include the text \"it's ready\" in the reply."],
        ),
        (
            "Don't use the word \"simply\"",
            &["Never write \"simply\" in the reply."],
        ),
        (
            "Don’t use the word ‘simply’",
            &["Never write \"simply\" in the reply."],
        ),
        (
            "never say 'obviously' again",
            &["Never write \"obviously\" in the reply."],
        ),
        (
            "please avoid \"leverage\"",
            &["Never write \"leverage\" in the reply."],
        ),
        (
            "stop writing \"As an AI\"",
            &["Never write \"As an AI\" in the reply."],
        ),
        (
            "without the phrase \"as an AI\"",
            &["Never write \"as an AI\" in the reply."],
        ),
        (
            "Do not mention 'Acme Corp'",
            &["Never write \"Acme Corp\" in the reply."],
        ),
        (
            "No exclamation marks!",
            &["Never write \"!\" in the reply."],
        ),
        (
            "and without em dashes",
            &["Never write \"—\" in the reply."],
        ),
        ("Don't use bold", &["Never write \"**\" in the reply."]),
        (
            "don't use code blocks",
            &["Never write \"```\" in the reply."],
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
            "Say Postgres rather than Mongo.",
            &[
                "Include the text \"Postgres\" in the reply.",
                "Never write \"Mongo\" in the reply.",
            ],
        ),
        (
            "no, use the word \"sign in\", not \"login\"",
            &[
                "Include the text \"sign in\" in the reply.",
                "Never write \"login\" in the reply.",
            ],
        ),
        (
            "Start with \"Dear team,\"",
            &["Begin the reply with \"Dear team,\"."],
        ),
        (
            "begin your reply with 'TL;DR'",
            &["Begin the reply with \"TL;DR\"."],
        ),
        (
            "It should start with the word \"Fix\"",
            &["Begin the reply with \"Fix\"."],
        ),
        (
            "Don't start with 'Sure'",
            &["Do not begin the reply with \"Sure\"."],
        ),
        (
            "stop beginning with \"Great question\"",
            &["Do not begin the reply with \"Great question\"."],
        ),
        (
            "End with \"Best, Ann\"",
            &["End the reply with \"Best, Ann\"."],
        ),
        (
            "never end it with 'Hope this helps!'",
            &["Do not end the reply with \"Hope this helps!\"."],
        ),
        (
            "finish with a question",
            &["End the reply with a question."],
        ),
        (
            "wrap the final answer in <answer> tags",
            &[
                "Include the text \"<answer>\" in the reply.",
                "Include the text \"</answer>\" in the reply.",
            ],
        ),
        (
            "Put the summary inside <summary>",
            &[
                "Include the text \"<summary>\" in the reply.",
                "Include the text \"</summary>\" in the reply.",
            ],
        ),
        (
            "as a bullet list please",
            &["Write the reply as a bullet list."],
        ),
        (
            "As a Markdown bullet list, one bullet per change",
            &["Write the reply as a bullet list."],
        ),
        ("don't use bullet points", &["Use no bullet points."]),
        ("No bullets.", &["Use no bullet points."]),
        (
            "as a numbered list",
            &["Write the reply as a numbered list."],
        ),
        ("Show it as a table", &["Put a table into the reply."]),
        ("JSON only!", &["Reply with JSON only."]),
        ("Answer in valid JSON", &["Reply with JSON only."]),
        ("on one line", &["Keep the reply on one line."]),
        (
            "everything in lowercase please",
            &["Write the reply in lower case."],
        ),
        ("and no headings", &["Use no headings."]),
        (
            "No — at most 72 characters and without emojis",
            &["Keep the reply to at most 72 characters.", "Use no emojis."],
        ),
        (
            "不要超过200字，不要使用“显然”，不要表情",
            &[
                "Use no emojis.",
                "Keep the reply to at most 200 characters.",
                "Never write \"显然\" in the reply.",
            ],
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
        "use tabs instead of spaces",
        "use snake_case, not camelCase",
        "use that instead of this",
        "use x instead of y",
        "write it in the active voice instead of the passive",
        "there are too many exclamation marks in it",
        "mention \"beta\" only if the feature is new",
        "start with the tests",
        "start with \"Hi\" if it is a mail",
        "the JSON file is broken",
        "store the settings in JSON",
        "the <div> tag is not closed",
        "the word \"simply\" is fine here",
        "about 100 words would be good",
        "you changed more than 3 lines that I did not ask about",
        "line 20 is wrong",
        "he said \"keep it under 200 characters\"",
        "```\n# at most 3 bullets\n```",
        "the report has no section on costs",
        "please look into the first two sentences again",
        "one bullet is missing",
        "lowercase the keys of the map",
    ] {
        assert_eq!(shown(text), Vec::<String>::new(), "{text}");
    }
    let long = format!("Keep it under 200 characters. {}", "x".repeat(5_000));
    assert_eq!(constraints(&long), Vec::new());
}

proptest! {
    #[test]
    fn every_check_can_be_used_and_said(
        words in "(use|include|don't use|start with|end with|add a section called|under|avoid|exactly|sections for|wrap it in|write)",
        phrase in "\\PC{1,30}",
        number in 0_u32..30_000,
        unit in "(words|chars|lines|bullets|sentences)",
    ) {
        for text in [
            format!("{words} \"{phrase}\""),
            format!("{words} the word '{phrase}', not `{phrase}x`"),
            format!("{words} {phrase}"),
            format!("{words} <{phrase}> tags"),
            format!("{words} {number} {unit}"),
        ] {
            for check in constraints(&text) {
                prop_assert!(RuleJudge::compile(std::slice::from_ref(&check)).is_ok(), "{:?}", check);
                prop_assert_eq!(check_from_sentence(&sentence(&check)), Some(check));
            }
        }
    }
}
