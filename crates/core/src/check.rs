//! Rule judges: local checks of a reply, all of which must hold (§5.5).
//!
//! A judge is compiled before it is used; an operator nobody knows, a blank argument, a bound that is
//! no bound or a pattern that cannot be used is refused then, never scored (§14 #40).

mod form;
mod sentence;

use serde_json::Value;

use crate::judge::{Score, share};
use crate::python_regex::PythonRegex;
use crate::task::Check;
use crate::text::head;

pub(crate) use form::{Form, Unit};
pub use sentence::{check_from_sentence, sentence};

/// How a reply may begin that refuses (§5.5).
const REFUSALS: [&str; 9] = [
    "cannot complete",
    "i cannot",
    "i can't",
    "i'm unable",
    "i am unable",
    "unable to complete",
    "sorry, i can't",
    "sorry, i cannot",
    "no can do",
];
/// A refusal is short and begins with one of the openings (§15.2).
const REFUSAL_WINDOW: usize = 160;
const REFUSAL_LENGTH: usize = 600;

/// A rule judge ready to score.
#[derive(Debug, Clone)]
pub struct RuleJudge {
    rules: Vec<(Rule, String)>,
}

/// A judge, and what works but deserves a look.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The judge.
    pub judge: RuleJudge,
    /// For example that only the shape of a reply is checked.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone)]
enum Rule {
    SectionPresent(String),
    SectionContains(String),
    Regex(Box<PythonRegex>),
    MaxChars(usize),
    MinChars(usize),
    Contains(String),
    NotContains(String),
    NoRefusal,
    ToolCalled(String),
}

impl RuleJudge {
    /// Compiles checks.
    ///
    /// # Errors
    /// One sentence per check that cannot be used.
    pub fn compile(checks: &[Check]) -> Result<Compiled, Vec<String>> {
        let mut rules = Vec::new();
        let mut errors = Vec::new();
        let mut warnings = Vec::new();
        for check in checks {
            match rule(check) {
                Ok(rule) => {
                    if matches!(rule, Rule::MinChars(0)) {
                        warnings.push("min_chars 0 always passes".to_owned());
                    }
                    rules.push((rule, format!("{}={}", check.op, plain(&check.arg))));
                }
                Err(error) => errors.push(error),
            }
        }
        if checks.is_empty() {
            errors.push("there are no checks".to_owned());
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let shape_only = rules.iter().all(|(rule, _)| {
            matches!(
                rule,
                Rule::SectionPresent(_)
                    | Rule::SectionContains(_)
                    | Rule::MaxChars(_)
                    | Rule::MinChars(_)
            )
        });
        if shape_only {
            warnings.push("only the shape of a reply is checked, not what it says".to_owned());
        }
        Ok(Compiled {
            judge: Self { rules },
            warnings,
        })
    }

    /// Scores a reply. `tools` are the tools that were really called; what a reply claims about tools
    /// does not count (§14 #41).
    #[must_use]
    pub fn score(&self, response: &str, tools: &[String]) -> Score {
        let mut failed = Vec::new();
        let mut reasons = Vec::new();
        for (position, (rule, name)) in self.rules.iter().enumerate() {
            match rule.holds(response, tools) {
                Ok(true) => {}
                Ok(false) => {
                    failed.push(position);
                    reasons.push(name.clone());
                }
                Err(problem) => {
                    failed.push(position);
                    reasons.push(format!("{name} [{problem}]"));
                }
            }
        }
        let passed = self.rules.len() - failed.len();
        let why = if failed.is_empty() {
            "all checks passed".to_owned()
        } else {
            format!("failed: {}", reasons.join(", "))
        };
        let hard = if failed.is_empty() { 1.0 } else { 0.0 };
        Score {
            failed,
            ..Score::new(hard, share(passed, self.rules.len()), why)
        }
    }

    /// The tools that a reply claims to have called by the reference's marker, `TOOL_CALL: name`
    /// (§5.5): what to give to [`Self::score`] when a backend has no other way to call one. Anywhere
    /// else a claim is no call.
    #[must_use]
    pub fn marked_tools(&self, response: &str) -> Vec<String> {
        self.rules
            .iter()
            .filter_map(|(rule, _)| match rule {
                Rule::ToolCalled(name) => Some(name),
                _ => None,
            })
            .filter(|name| {
                let marker = format!(r"(?i)\btool_call\s*:\s*{}\b", regex::escape(name));
                regex::Regex::new(&marker).is_ok_and(|marker| marker.is_match(response))
            })
            .cloned()
            .collect()
    }

    /// Whether a check asks for a tool call, which a replay without tools cannot make.
    #[must_use]
    pub fn needs_tools(&self) -> bool {
        self.rules
            .iter()
            .any(|(rule, _)| matches!(rule, Rule::ToolCalled(_)))
    }
}

fn plain(arg: &Value) -> String {
    match arg {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn rule(check: &Check) -> Result<Rule, String> {
    let op = check.op.as_str();
    let text = || match &check.arg {
        Value::String(text) if !text.trim().is_empty() => Ok(text.clone()),
        _ => Err(format!("{op} needs a text as its argument")),
    };
    let bound = || {
        bound(&check.arg).ok_or_else(|| {
            format!(
                "{op} needs a whole number that is not negative, not {}",
                check.arg
            )
        })
    };
    Ok(match op {
        "section_present" => Rule::SectionPresent(fold(text()?.trim())),
        "section_contains" => Rule::SectionContains(fold(text()?.trim())),
        "contains" => Rule::Contains(text()?.to_lowercase()),
        "not_contains" => Rule::NotContains(text()?.to_lowercase()),
        "tool_called" => Rule::ToolCalled(text()?),
        "max_chars" => Rule::MaxChars(bound()?),
        "min_chars" => Rule::MinChars(bound()?),
        "no_refusal" => Rule::NoRefusal,
        "regex" => {
            let pattern = text()?;
            let compiled = PythonRegex::new(&pattern)
                .map_err(|refusal| format!("regex {pattern:?}: {refusal}"))?;
            Rule::Regex(Box::new(compiled))
        }
        unknown => return Err(format!("there is no check called {unknown:?}")),
    })
}

/// An integer, an integral float, or signed digits as text; not negative (§5.5).
fn bound(arg: &Value) -> Option<usize> {
    let number: u64 = match arg {
        Value::Number(number) => match number.as_u64() {
            Some(number) => number,
            None => {
                let float = number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && (0.0..9e15).contains(float))?;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked just above"
                )]
                let whole = float as u64;
                whole
            }
        },
        Value::String(text) => {
            let text = text.trim();
            let digits = text.strip_prefix('+').unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            digits.parse().unwrap_or(u64::MAX)
        }
        _ => return None,
    };
    usize::try_from(number).ok()
}

/// Unicode case folding: two texts fold alike exactly when Python's `str.casefold` makes them equal.
///
/// Upper case and then lower case, letter by letter, but for the two letters where that differs.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'ı' => folded.push(c),
            'ẞ' => folded.push_str("ss"),
            c => folded.extend(c.to_uppercase().flat_map(char::to_lowercase)),
        }
    }
    folded
}

impl Rule {
    /// Whether a reply meets it; the error says why it could not be decided, which fails the check.
    fn holds(&self, response: &str, tools: &[String]) -> Result<bool, String> {
        Ok(match self {
            Self::SectionPresent(name) => response.lines().any(|line| is_section(line, name)),
            Self::SectionContains(name) => response.lines().any(|line| {
                heading(line, true).is_some_and(|heading| fold(heading).contains(name.as_str()))
            }),
            Self::Regex(regex) => regex
                .found(response)
                .map_err(|gave_up| gave_up.to_string())?,
            Self::MaxChars(limit) => response.chars().nth(*limit).is_none(),
            Self::MinChars(limit) => *limit == 0 || response.chars().nth(*limit - 1).is_some(),
            Self::Contains(text) => response.to_lowercase().contains(text.as_str()),
            Self::NotContains(text) => !response.to_lowercase().contains(text.as_str()),
            Self::NoRefusal => !is_refusal(response),
            Self::ToolCalled(name) => tools.iter().any(|tool| tool.eq_ignore_ascii_case(name)),
        })
    }
}

/// A heading that ends with the name, a bold line that holds it, or a label `name:` (§5.5, §15.6).
fn is_section(line: &str, name: &str) -> bool {
    if heading(line, false).is_some_and(|heading| fold(heading).ends_with(name)) {
        return true;
    }
    let folded = fold(line.trim());
    let bold = folded.strip_suffix(':').unwrap_or(&folded).trim_end();
    if let Some(inner) = bold
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**"))
        && inner.trim_end_matches(':').contains(name)
    {
        return true;
    }
    folded
        .strip_prefix(name)
        .is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// The text of an ATX heading, at most three spaces in and without closing marks; with `spaced`, its
/// marks must be followed by a space, a tab or nothing.
fn heading(line: &str, spaced: bool) -> Option<&str> {
    let unindented = line.trim_start_matches(' ');
    if line.len() - unindented.len() > 3 {
        return None;
    }
    let text = unindented.trim_start_matches('#');
    let level = unindented.len() - text.len();
    let clear = !spaced || text.is_empty() || text.starts_with([' ', '\t']);
    if !(1..=6).contains(&level) || !clear {
        return None;
    }
    let text = text.trim();
    let open = text.trim_end_matches('#');
    Some(if open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        text
    })
}

/// Blank, or short and beginning like a refusal once markdown marks are gone (§5.5).
fn is_refusal(response: &str) -> bool {
    let mut text = response.trim_start();
    loop {
        let bare =
            text.trim_start_matches(['>', '-', '*', '_', '#', ' ', '"', '\'', '\t', '\n', '\r']);
        let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = (digits.len() < bare.len())
            .then(|| digits.strip_prefix(['.', ')']))
            .flatten();
        let next = numbered.unwrap_or(bare);
        if next.len() == text.len() {
            break;
        }
        text = next;
    }
    let text = text.trim_end();
    if text.is_empty() {
        return true;
    }
    if text.chars().nth(REFUSAL_LENGTH - 1).is_some() {
        return false;
    }
    let opening = head(text, REFUSAL_WINDOW).to_lowercase().replace('’', "'");
    REFUSALS.iter().any(|refusal| opening.starts_with(refusal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn holds(op: &str, arg: Value, response: &str) -> bool {
        let compiled = RuleJudge::compile(&[Check { op: op.into(), arg }]).unwrap();
        compiled.judge.score(response, &[]).hard > 0.5
    }

    #[test]
    fn sections_as_in_the_truth_table() {
        // §15.6.
        let table = [
            ("# 1. Risks", true, true),
            ("# Risks (summary)", false, true),
            ("**Key Risks**:", true, false),
            ("Risks: x", true, false),
            ("  ### Risks  ", true, true),
            ("#Risks", true, false),
        ];
        for (response, present, contains) in table {
            assert_eq!(
                holds("section_present", json!("Risks"), response),
                present,
                "{response}"
            );
            assert_eq!(
                holds("section_contains", json!("risks"), response),
                contains,
                "{response}"
            );
        }
        assert!(
            !holds("section_present", json!("Risks"), "    # Risks"),
            "four spaces are code"
        );
        assert!(holds("section_present", json!("Risks"), "## Risks ##"));
        assert!(!holds("section_present", json!("Risks"), "####### Risks"));
        assert!(holds(
            "section_present",
            json!("1. Risks (draft)"),
            "# 1. risks (DRAFT)"
        ));
        assert!(holds(
            "section_contains",
            json!("risiken"),
            "## 2. RISIKEN / Risks"
        ));
        // §15.3: case folding is more than lower case.
        assert!(holds("section_contains", json!("straße"), "# STRASSE"));
        assert!(!holds("section_contains", json!("ı"), "# I"));
    }

    #[test]
    fn bounds_count_code_points() {
        assert!(holds("max_chars", json!(2), "zü"));
        assert!(!holds("max_chars", json!(1), "zü"));
        assert!(holds("min_chars", json!("2"), "zü"));
        assert!(!holds("min_chars", json!(3.0), "zü"));
    }

    #[test]
    fn refusals_are_seen_through_markdown() {
        // §5.5, field note 37: bold and quoted refusals.
        for refusal in [
            "",
            "  \n",
            "I cannot do that.",
            "> **I can't** help",
            "1. Sorry, I cannot",
            "**I’m unable**",
        ] {
            assert!(!holds("no_refusal", Value::Null, refusal), "{refusal:?}");
        }
        assert!(holds(
            "no_refusal",
            Value::Null,
            "Here is why I cannot recommend it: …"
        ));
        // §5.5: only a text shorter than 600 characters, marks not counted, is a refusal.
        for (filler, holding) in [(590, false), (591, true)] {
            let reply = format!("**> I cannot {}  \n", "x".repeat(filler));
            assert_eq!(holds("no_refusal", Value::Null, &reply), holding);
        }
    }

    #[test]
    fn scores_and_words_as_the_reference() {
        let checks = [
            Check {
                op: "contains".into(),
                arg: json!("Hello"),
            },
            Check {
                op: "not_contains".into(),
                arg: json!("bye, now"),
            },
            Check {
                op: "max_chars".into(),
                arg: json!(3),
            },
        ];
        let judge = RuleJudge::compile(&checks).unwrap().judge;
        let score = judge.score("hello and bye, now", &[]);
        assert_eq!(score.why, "failed: not_contains=bye, now, max_chars=3");
        assert_eq!(score.failed, [1, 2]);
        assert!((score.soft - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(score.hard, 0.0);
    }

    #[test]
    fn unusable_checks_are_refused_together() {
        let checks = [
            Check {
                op: "contians".into(),
                arg: json!("x"),
            },
            Check {
                op: "contains".into(),
                arg: json!("  "),
            },
            Check {
                op: "max_chars".into(),
                arg: json!(true),
            },
            Check {
                op: "max_chars".into(),
                arg: json!(-1),
            },
            Check {
                op: "max_chars".into(),
                arg: json!(1.5),
            },
            Check {
                op: "regex".into(),
                arg: json!("("),
            },
        ];
        assert_eq!(RuleJudge::compile(&checks).unwrap_err().len(), checks.len());
        assert!(RuleJudge::compile(&[]).is_err());
    }

    #[test]
    fn bounds_are_read_as_the_reference_reads_them() {
        // §5.5: integral floats and signed digits are bounds; booleans, fractions and signs are not.
        for (arg, expected) in [
            (json!(80), Some(80)),
            (json!(80.0), Some(80)),
            (json!(" +80 "), Some(80)),
            (json!("0"), Some(0)),
            (json!("-1"), None),
            (json!("++1"), None),
            (json!("8e1"), None),
            (json!(""), None),
            (json!(true), None),
            (json!(null), None),
            (json!([80]), None),
            (json!(1e300), None),
        ] {
            assert_eq!(bound(&arg), expected, "{arg}");
        }
    }

    #[test]
    fn a_pattern_without_an_answer_fails_and_says_so() {
        // §14 #49: no pattern may run for ever on a model's output.
        let check = Check {
            op: "regex".into(),
            arg: json!(r"^(a+)+\1$"),
        };
        let judge = RuleJudge::compile(&[check]).unwrap().judge;
        let score = judge.score(&format!("{}b", "a".repeat(40)), &[]);
        assert_eq!((score.hard, score.failed.as_slice()), (0.0, [0].as_slice()));
        assert!(
            score.why.contains("[the pattern takes too many steps"),
            "{}",
            score.why
        );
        assert_eq!(judge.score("aaaa", &[]).hard, 1.0);
    }

    #[test]
    fn shape_only_judges_are_marked() {
        let warnings = |checks: Value| {
            let checks: Vec<Check> = serde_json::from_value(checks).unwrap();
            RuleJudge::compile(&checks).unwrap().warnings.len()
        };
        assert_eq!(warnings(json!([{"op": "max_chars", "arg": 5}])), 1);
        assert_eq!(
            warnings(json!([{"op": "max_chars", "arg": 5}, {"op": "contains", "arg": "a"}])),
            0
        );
        assert_eq!(
            warnings(json!([{"op": "min_chars", "arg": 0}, {"op": "no_refusal"}])),
            1
        );
    }

    #[test]
    fn a_claim_is_no_tool_call() {
        let compiled = RuleJudge::compile(&[Check {
            op: "tool_called".into(),
            arg: json!("search"),
        }])
        .unwrap();
        assert!(compiled.judge.needs_tools());
        assert_eq!(compiled.judge.score("TOOL_CALL: search", &[]).hard, 0.0);
        assert_eq!(compiled.judge.score("", &["Search".to_owned()]).hard, 1.0);
        // Unless the backend knows no other way.
        for (reply, marked) in [
            ("Tool_Call : SEARCH now", true),
            ("TOOL_CALL: searching", false),
            ("search", false),
        ] {
            let tools = compiled.judge.marked_tools(reply);
            assert_eq!(!tools.is_empty(), marked, "{reply}");
            assert_eq!(compiled.judge.score(reply, &tools).hard > 0.5, marked);
        }
    }
}
