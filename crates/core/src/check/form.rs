//! Patterns with a meaning that people put into words: shapes of a reply that no other operator can
//! ask for. Each form knows its pattern and its sentence, and can be read back from both.

use super::sentence::{quoted, unquoted};

/// Patterns without an argument, and their words.
const FIXED: [(&str, &str); 12] = [
    (r"(?m)^\s*[-*] ", "Write the reply as a bullet list."),
    (r"(?m)^\s*\d+[.)] ", "Write the reply as a numbered list."),
    (r"(?m)^\s*\|.*\|", "Put a table into the reply."),
    (r"(?m)^\s*```", "Put a code block into the reply."),
    (r"(?s)\A\s*[\[{].*[\]}]\s*\Z", "Reply with JSON only."),
    (r"\A[^\n]*\n?\Z", "Keep the reply on one line."),
    (r"\A[^A-Z]*\Z", "Write the reply in lower case."),
    (r"\A[^a-z]*\Z", "Write the reply in upper case."),
    (r"\?\s*\Z", "End the reply with a question."),
    (r"(?m)\A(?:(?!\s*#).*(?:\n|\Z))*\Z", "Use no headings."),
    (
        r"(?m)\A(?:(?!\s*[-*•] ).*(?:\n|\Z))*\Z",
        "Use no bullet points.",
    ),
    (
        "\\A[^\u{2600}-\u{27bf}\u{1f300}-\u{1faff}]*\\Z",
        "Use no emojis.",
    ),
];

/// Something that is counted: the pattern and the words around the number, one and many.
struct Counted {
    unit: Unit,
    most: bool,
    pattern: (&'static str, &'static str),
    words: (&'static str, &'static str, &'static str),
}

/// What is counted in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Words between white space.
    Words,
    /// Lines that are not blank.
    Lines,
    /// Words that end a sentence, by their punctuation.
    Sentences,
    /// Lines that begin with a bullet.
    Bullets,
}

const COUNTED: [Counted; 6] = [
    Counted {
        unit: Unit::Words,
        most: true,
        pattern: (r"\A\s*(?:\S+(?:\s+|\Z)){0,", r"}\Z"),
        words: ("Keep the reply to at most ", " word.", " words."),
    },
    Counted {
        unit: Unit::Words,
        most: false,
        pattern: (r"(?:\S+(?:\s+|\Z)){", "}"),
        words: ("Make the reply at least ", " word long.", " words long."),
    },
    Counted {
        unit: Unit::Lines,
        most: true,
        pattern: (r"\A\s*(?:\S[^\n]*(?:\n\s*|\Z)){0,", r"}\Z"),
        words: ("Keep the reply to at most ", " line.", " lines."),
    },
    Counted {
        unit: Unit::Sentences,
        most: true,
        // A word that ends in a full stop before a small letter is an abbreviation.
        pattern: (
            r#"\A\s*(?:(?:\S*[^\s.!?。！？"')\]]["')\]]*\s+|\S*\.\s+(?=[a-z]))*\S+(?:\s+|\Z)){0,"#,
            r"}\Z",
        ),
        words: ("Keep the reply to at most ", " sentence.", " sentences."),
    },
    Counted {
        unit: Unit::Bullets,
        most: true,
        pattern: (
            r"(?m)\A(?:(?:(?!\s*[-*•] ).*\n)*\s*[-*•] .*(?:\n|\Z)){0,",
            r"}(?:(?!\s*[-*•] ).*(?:\n|\Z))*\Z",
        ),
        words: ("Use at most ", " bullet point.", " bullet points."),
    },
    Counted {
        unit: Unit::Bullets,
        most: false,
        pattern: (r"(?ms)(?:^\s*[-*•] .*?){", "}"),
        words: ("Use at least ", " bullet point.", " bullet points."),
    },
];

/// A pattern around a literal text, and the words around it.
struct Literal {
    pattern: (&'static str, &'static str),
    words: &'static str,
}

const LITERAL: [Literal; 4] = [
    Literal {
        pattern: (r"\A\s*", ""),
        words: "Begin the reply with ",
    },
    Literal {
        pattern: ("", r"\s*\Z"),
        words: "End the reply with ",
    },
    Literal {
        pattern: (r"\A(?!\s*", ")"),
        words: "Do not begin the reply with ",
    },
    Literal {
        pattern: (r"(?s)\A(?!.*", r"\s*\Z)"),
        words: "Do not end the reply with ",
    },
];

/// A larger number is no wish about a reply.
const LARGEST: u32 = 10_000;

/// A pattern that has words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// One of [`FIXED`], by position.
    Fixed(usize),
    /// One of [`COUNTED`], by position, with its number.
    Counted(usize, u32),
    /// One of [`LITERAL`], by position, with its text.
    Literal(usize, String),
}

impl Form {
    /// The form with these words and no argument.
    pub(crate) fn fixed(words: &str) -> Option<Self> {
        FIXED
            .iter()
            .position(|(_, known)| *known == words)
            .map(Self::Fixed)
    }

    /// At most or at least so many; `None` where there is no such form, or no such number.
    pub(crate) fn counted(unit: Unit, most: bool, number: u32) -> Option<Self> {
        (1..=LARGEST).contains(&number).then_some(())?;
        COUNTED
            .iter()
            .position(|form| form.unit == unit && form.most == most)
            .map(|form| Self::Counted(form, number))
    }

    /// The reply begins or ends with this text, or does not.
    pub(crate) fn literal(beginning: bool, wanted: bool, text: &str) -> Self {
        let form = match (beginning, wanted) {
            (true, true) => 0,
            (false, true) => 1,
            (true, false) => 2,
            (false, false) => 3,
        };
        Self::Literal(form, text.trim().to_owned())
    }

    /// Its pattern, for the operator `regex`.
    pub(crate) fn pattern(&self) -> String {
        match self {
            Self::Fixed(form) => FIXED[*form].0.to_owned(),
            Self::Counted(form, number) => {
                let (before, after) = COUNTED[*form].pattern;
                format!("{before}{number}{after}")
            }
            Self::Literal(form, text) => {
                let (before, after) = LITERAL[*form].pattern;
                format!("{before}{}{after}", regex::escape(text))
            }
        }
    }

    /// Its sentence.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Fixed(form) => FIXED[*form].1.to_owned(),
            Self::Counted(form, number) => {
                let (before, one, many) = COUNTED[*form].words;
                format!("{before}{number}{}", if *number == 1 { one } else { many })
            }
            Self::Literal(form, text) => format!("{}{}.", LITERAL[*form].words, quoted(text)),
        }
    }

    /// The form whose pattern this is.
    pub(crate) fn of_pattern(pattern: &str) -> Option<Self> {
        if let Some(form) = FIXED.iter().position(|(known, _)| *known == pattern) {
            return Some(Self::Fixed(form));
        }
        let counted = COUNTED.iter().enumerate().find_map(|(form, counted)| {
            let (before, after) = counted.pattern;
            number(between(pattern, before, after)?).map(|number| Self::Counted(form, number))
        });
        counted.or_else(|| {
            LITERAL.iter().enumerate().find_map(|(form, literal)| {
                let (before, after) = literal.pattern;
                let text = unescaped(between(pattern, before, after)?)?;
                let form = Self::Literal(form, text);
                (form.pattern() == pattern).then_some(form)
            })
        })
    }

    /// The form whose sentence this is.
    pub(crate) fn of_sentence(sentence: &str) -> Option<Self> {
        if let Some(form) = Self::fixed(sentence) {
            return Some(form);
        }
        let counted = COUNTED.iter().enumerate().find_map(|(form, counted)| {
            let (before, one, many) = counted.words;
            [one, many].iter().find_map(|after| {
                let form = Self::Counted(form, number(between(sentence, before, after)?)?);
                (form.sentence() == sentence).then_some(form)
            })
        });
        counted.or_else(|| {
            LITERAL.iter().enumerate().find_map(|(form, literal)| {
                let text = unquoted(between(sentence, literal.words, ".")?)?;
                (!text.is_empty() && text.trim() == text).then_some(Self::Literal(form, text))
            })
        })
    }
}

/// What stands between two texts, if that is all there is besides.
pub(super) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

/// A number as this module writes it.
fn number(digits: &str) -> Option<u32> {
    let number: u32 = digits.parse().ok()?;
    ((1..=LARGEST).contains(&number) && number.to_string() == digits).then_some(number)
}

/// The text whose escaped form this is.
fn unescaped(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next()? } else { c });
    }
    (!text.is_empty() && text.trim() == text && regex::escape(&text) == pattern).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::RuleJudge;
    use crate::task::Check;
    use serde_json::json;

    fn holds(form: &Form, reply: &str) -> bool {
        let check = Check {
            op: "regex".into(),
            arg: json!(form.pattern()),
        };
        RuleJudge::compile(&[check])
            .unwrap()
            .judge
            .score(reply, &[])
            .hard
            > 0.5
    }

    fn check(form: &Form, yes: &[&str], no: &[&str]) {
        for reply in yes {
            assert!(holds(form, reply), "{} {reply:?}", form.sentence());
        }
        for reply in no {
            assert!(!holds(form, reply), "{} {reply:?}", form.sentence());
        }
    }

    #[test]
    fn fixed_forms_mean_what_they_say() {
        let table: [(&str, &[&str], &[&str]); 12] = [
            (
                "Write the reply as a bullet list.",
                &["Intro\n- a\n- b", "* a"],
                &["a, b", "-a"],
            ),
            (
                "Write the reply as a numbered list.",
                &["1. a\n2. b", "x\n 1) a"],
                &["- a", "1.5"],
            ),
            (
                "Put a table into the reply.",
                &["| a | b |\n|---|---|"],
                &["a | b"],
            ),
            (
                "Put a code block into the reply.",
                &["x\n```rust\nfn\n```"],
                &["`x`"],
            ),
            (
                "Reply with JSON only.",
                &["{\"a\": 1}\n", "[1,\n2]"],
                &["Sure: {}", "{} ok", "1"],
            ),
            ("Keep the reply on one line.", &["a", "a\n", ""], &["a\nb"]),
            ("Write the reply in lower case.", &["all small. é"], &["No"]),
            ("Write the reply in upper case.", &["LOUD 1"], &["Loud"]),
            (
                "End the reply with a question.",
                &["Shall I?\n"],
                &["Shall I? Yes."],
            ),
            ("Use no headings.", &["a\nb #1", ""], &["# A", "a\n  ## B"]),
            (
                "Use no bullet points.",
                &["a - b\nc", "-5"],
                &["- a", "x\n* y"],
            ),
            ("Use no emojis.", &["fine", "中文"], &["fine 🎉", "ok ✓"]),
        ];
        for (words, yes, no) in table {
            check(&Form::fixed(words).unwrap(), yes, no);
        }
        assert_eq!(FIXED.len(), table.len());
    }

    #[test]
    fn counted_forms_count() {
        let most = |unit| Form::counted(unit, true, 2).unwrap();
        let least = |unit| Form::counted(unit, false, 2).unwrap();
        check(
            &most(Unit::Words),
            &["", "one", " one two\n"],
            &["one two three"],
        );
        check(
            &least(Unit::Words),
            &["one two", "a b c"],
            &["", "one", " one "],
        );
        check(&most(Unit::Lines), &["", "a", "a\n\nb\n"], &["a\nb\nc"]);
        check(
            &most(Unit::Sentences),
            &[
                "",
                "One",
                "One. Two.",
                "Use it, e.g. here. Fine!",
                "It is 3.5 km. Yes",
                "(One.) Two.",
            ],
            &["One. Two. Three.", "One. Two. Three", "A! B? C"],
        );
        check(
            &most(Unit::Bullets),
            &["", "no list", "Intro\n\n- a\n  more\n* b\n\nend\n"],
            &["- a\n- b\n- c", "x\n- a\ny\n- b\nz\n• c"],
        );
        check(
            &least(Unit::Bullets),
            &["- a\n- b", "x\n- a\n\n* b\n- c"],
            &["- a", "- a - b"],
        );
        assert_eq!(Form::counted(Unit::Lines, false, 2), None);
        assert_eq!(Form::counted(Unit::Words, true, 0), None);
        assert_eq!(
            Form::counted(Unit::Sentences, true, 1).unwrap().sentence(),
            "Keep the reply to at most 1 sentence."
        );
    }

    #[test]
    fn long_replies_are_counted_within_the_bound_of_steps() {
        let words = Form::counted(Unit::Words, true, 500).unwrap();
        check(&words, &[&"word ".repeat(500)], &[&"word ".repeat(501)]);
        let sentences = Form::counted(Unit::Sentences, true, 30).unwrap();
        let sentence = format!("Now {}end. ", "word ".repeat(30));
        check(&sentences, &[&sentence.repeat(30)], &[&sentence.repeat(31)]);
        let bullets = Form::counted(Unit::Bullets, true, 50).unwrap();
        check(
            &bullets,
            &[&"- a point\n\n".repeat(50)],
            &[&"- a point\n".repeat(51)],
        );
    }

    #[test]
    fn literal_forms_are_literal() {
        check(
            &Form::literal(true, true, "(a) b"),
            &["  (a) b c"],
            &["c (a) b", "(a)"],
        );
        check(
            &Form::literal(false, true, "Best,\nAnn"),
            &["Hi\nBest,\nAnn\n"],
            &["Best,"],
        );
        check(
            &Form::literal(true, false, "Sure"),
            &["Yes, sure"],
            &["Sure!", "\n Sure"],
        );
        check(
            &Form::literal(false, false, "?"),
            &["a? b"],
            &["a?", "a?\n"],
        );
    }
}
