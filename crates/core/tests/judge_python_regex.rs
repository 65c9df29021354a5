//! Python's own answers decide what a pattern of a check means.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde::Deserialize;
use skillopt_core::python_regex::{GaveUp, PythonRegex, Refusal};

#[derive(Deserialize)]
struct Table {
    python: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    pattern: String,
    text: String,
    /// `None` where Python refuses the pattern.
    found: Option<bool>,
}

/// What Python takes and no engine here can do. Nothing else may be refused.
const UNSUPPORTED: &[&str] = &[r"\N{EM DASH}", r"[\N{EM DASH}]"];

fn table() -> Table {
    // Written by fixtures/python_regex.py.
    serde_json::from_str(include_str!("fixtures/python_regex.json")).unwrap()
}

#[test]
fn means_what_python_means() {
    let table = table();
    assert_eq!(table.python, "3.11");
    assert!(table.cases.len() > 150);
    let mut wrong = Vec::new();
    for case in &table.cases {
        let answer = match PythonRegex::new(&case.pattern) {
            Err(Refusal::Invalid(_)) => Ok(None),
            Err(Refusal::Unsupported(why)) => Err(why),
            Ok(regex) => regex
                .found(&case.text)
                .map(Some)
                .map_err(|gave_up| gave_up.to_string()),
        };
        let allowed = answer.is_err() && UNSUPPORTED.contains(&case.pattern.as_str());
        if answer != Ok(case.found) && !allowed {
            wrong.push(format!(
                "{:?} on {:?}: Python {:?}, here {answer:?}",
                case.pattern, case.text, case.found
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_cannot_be_done_is_refused_when_it_is_compiled() {
    for pattern in UNSUPPORTED {
        assert!(
            matches!(PythonRegex::new(pattern), Err(Refusal::Unsupported(_))),
            "{pattern} is on the list of what is refused"
        );
    }
}

#[test]
fn a_runaway_pattern_ends() {
    // Python needs 2^40 steps for the first; nothing in it needs backtracking, so it is linear here.
    let text = format!("{}b", "a".repeat(40));
    assert_eq!(PythonRegex::new("(a+)+$").unwrap().found(&text), Ok(false));
    // With a reference only backtracking will do, and that is cut off.
    let regex = PythonRegex::new(r"^(a+)+\1$").unwrap();
    assert_eq!(regex.found(&text), Err(GaveUp));
    assert_eq!(regex.found(&"a".repeat(40)), Ok(true));
    // A look-ahead that reads the rest of the text from every position.
    let regex = PythonRegex::new("(?=.*x).*y").unwrap();
    assert_eq!(regex.found(&"a".repeat(100_000)), Err(GaveUp));
    // A loop that would keep more ways back than there is memory for.
    let regex = PythonRegex::new(r"(?s)(?:(.)|\1)*\Z(?!)").unwrap();
    assert_eq!(regex.found(&"a".repeat(2_000_000)), Err(GaveUp));
}

#[test]
fn hostile_patterns_are_neither_fatal_nor_endless() {
    let deep = format!("{}a{}", "(".repeat(1_000), ")".repeat(1_000));
    let long = "a".repeat(5_000);
    for refused in [&deep, &long] {
        assert!(matches!(
            PythonRegex::new(refused),
            Err(Refusal::Unsupported(_))
        ));
    }
    let deepest =
        format!("{}a\\1{}", "(?:(?=a)".repeat(90), ")".repeat(90)).replacen("(?:", "(a)(?:", 1);
    let text = "a".repeat(3_000);
    for pattern in [
        deepest.as_str(),
        r"(?:\w{500}){500}",
        "(((((a{60000}){60000}){60000}){60000}){60000})",
        r"(?=b)(?:\w{0,4000000000}){4000000000}",
        r"(?=a)(?:(?:){4000000000}){4000000000}b",
        r"(?:(?=(a*))\1)*b",
        r"(?>(?:a|(?>a*))*)b\b",
        r"((((a*)*)*)*)\4b",
    ] {
        // Some are found, some are not, some give up; all come to an end.
        let found = PythonRegex::new(pattern).map(|regex| regex.found(&text));
        assert!(found.is_ok(), "{pattern}: {found:?}");
    }
}
