//! Rule judges: local checks of a reply, all of which must hold (§5.5).
//!
//! A judge is compiled before it is used; an operator nobody knows, a blank argument, a bound that is
//! no bound or a pattern that cannot be used is refused then, never scored (§14 #40).

mod sentence;

use serde_json::Value;

use crate::judge::{Score, share};
use crate::python_regex::PythonRegex;
use crate::task::Check;
use crate::text::head;

pub use sentence::{check_from_sentence, sentence};
pub(crate) use sentence::{pattern_of, starts_with};

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
    let number = match arg {
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
        Value::String(text) => text
            .trim()
            .strip_prefix('+')
            .unwrap_or(text.trim())
            .parse()
            .ok()?,
        _ => return None,
    };
    usize::try_from(number).ok()
}

/// Case folding close to Unicode's: upper case first, so that `ß` and `SS` agree.
fn fold(text: &str) -> String {
    text.to_uppercase().to_lowercase()
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

/// The text of an ATX heading, at most three spaces in; with `spaced`, its marks must be followed by a
/// space, a tab or nothing.
fn heading(line: &str, spaced: bool) -> Option<&str> {
    let unindented = line.trim_start_matches(' ');
    if line.len() - unindented.len() > 3 {
        return None;
    }
    let text = unindented.trim_start_matches('#');
    let level = unindented.len() - text.len();
    let clear = !spaced || text.is_empty() || text.starts_with([' ', '\t']);
    ((1..=6).contains(&level) && clear).then(|| text.trim())
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
    if text.trim().is_empty() {
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
        assert!(holds(
            "no_refusal",
            Value::Null,
            &format!("I cannot {}", "x".repeat(600))
        ));
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
    fn a_claim_is_no_tool_call() {
        let compiled = RuleJudge::compile(&[Check {
            op: "tool_called".into(),
            arg: json!("search"),
        }])
        .unwrap();
        assert!(compiled.judge.needs_tools());
        assert_eq!(compiled.judge.score("TOOL_CALL: search", &[]).hard, 0.0);
        assert_eq!(compiled.judge.score("", &["Search".to_owned()]).hard, 1.0);
    }
}
