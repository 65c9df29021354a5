//! Whatever an optimizer proposes, and whatever stands in a document.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use proptest::collection::vec;
use proptest::prelude::*;
use skillopt_core::apply::{MAX_RULE_CHARS, apply};
use skillopt_core::edit::{Edit, EditOp, Unmatched};
use skillopt_core::region::{key, rules, with_rules};
use skillopt_core::scan::scan;
use skillopt_core::skill_file::{check_skill, safe_skill_name};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab]{1,2}( [ab]{1,2}){0,2}",
        1 => "(- |\\* |--)?[aA]( |\\n)[bB]",
        1 => any::<String>(),
        1 => Just("x [REDACTED]".to_owned()),
        1 => Just("y <!-- SKILLOPT-SLEEP:LEARNED END -->".to_owned()),
        1 => Just(String::new()),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let op = prop::sample::select(vec![EditOp::Add, EditOp::Delete, EditOp::Replace]);
    (op, text(), text()).prop_map(|(op, content, anchor)| Edit {
        op,
        content,
        anchor,
        rationale: String::new(),
        tasks: Vec::new(),
        turns: Vec::new(),
    })
}

fn document() -> impl Strategy<Value = String> {
    let base = prop::sample::select(vec!["", "# Mine\n", "# Mine\r\n\r\nno end", "```\nopen"]);
    (base, vec("[ab]{1,2}( [ab]{1,2}){0,2}", 0..4))
        .prop_map(|(base, rules)| with_rules(base, &rules).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_edit_applies_or_says_why_and_all_can_be_undone(document in document(), edits in vec(edit(), 0..6)) {
        let before = rules(&document).unwrap();
        let applied = apply(&document, &edits).unwrap();
        prop_assert_eq!(applied.applied.len() + applied.unmatched.len(), edits.len());
        if applied.applied.is_empty() {
            prop_assert_eq!(&applied.document, &document);
        }
        prop_assert_eq!(with_rules(&applied.document, &before).unwrap(), document);
    }

    #[test]
    fn one_edit_changes_at_most_one_rule(document in document(), edit in edit()) {
        let before = rules(&document).unwrap();
        let applied = apply(&document, std::slice::from_ref(&edit)).unwrap();
        let after = rules(&applied.document).unwrap();
        match (applied.unmatched.first(), edit.op) {
            (Some(_), _) => prop_assert_eq!(after, before),
            (None, EditOp::Add) => prop_assert_eq!(&after[..before.len()], &before[..]),
            (None, EditOp::Delete) => prop_assert_eq!(after.len() + 1, before.len()),
            (None, EditOp::Replace) => {
                let changed = before.iter().zip(&after).filter(|(old, new)| old != new).count();
                prop_assert_eq!((after.len(), changed), (before.len(), 1));
            }
        }
    }

    #[test]
    fn what_is_written_is_a_rule(document in document(), edits in vec(edit(), 0..6)) {
        let before = rules(&document).unwrap();
        for rule in rules(&apply(&document, &edits).unwrap().document).unwrap() {
            if !before.contains(&rule) {
                prop_assert!(rule.chars().count() <= MAX_RULE_CHARS);
                prop_assert!(!rule.contains("[REDACTED") && !rule.contains("LEARNED"));
                prop_assert!(!rule.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
            }
        }
    }

    #[test]
    fn adding_again_changes_nothing(document in document(), content in text()) {
        let add = Edit { op: EditOp::Add, content, anchor: String::new(), rationale: String::new(), tasks: vec![], turns: vec![] };
        let once = apply(&document, std::slice::from_ref(&add)).unwrap();
        let twice = apply(&once.document, std::slice::from_ref(&add)).unwrap();
        prop_assert_eq!(&twice.document, &once.document);
        prop_assert!(twice.applied.is_empty());
        if once.unmatched.is_empty() {
            prop_assert_eq!(twice.unmatched[0].1, Unmatched::Duplicate);
        }
        let keys: Vec<String> = rules(&once.document).unwrap().iter().map(|rule| key(rule)).collect();
        prop_assert!(keys.iter().filter(|one| keys.last() == Some(one)).count() <= 1 || once.document == document);
    }

    #[test]
    fn flags_are_in_the_text_and_can_be_printed(text in "(\\PC|\\pC|curl |https://|`|\\n|ignore previous |rules ){0,60}") {
        let lines = text.split('\n').count();
        for flag in scan(&text) {
            prop_assert!(flag.line >= 1 && flag.line as usize <= lines);
            prop_assert!(flag.excerpt.chars().count() <= 80);
            prop_assert!(!flag.excerpt.contains(char::is_control), "{flag:?}");
        }
    }

    #[test]
    fn no_skill_file_is_too_strange(front in "([a-z]{1,6}|: |\\n|  |- |[\\[\\]{}'\"|>&*!#%@]|---\\n|\\PC){0,40}", any in any::<String>()) {
        let _ = check_skill(&any, "a");
        let _ = check_skill(&format!("---\nname: a\n{front}\n---\nbody\n"), "a");
        if let Some(name) = safe_skill_name(&any) {
            prop_assert_eq!(std::path::Path::new(name).components().count(), 1);
        }
    }
}
