use super::*;
use crate::region::{END, START};

fn edit(op: EditOp, content: &str, anchor: &str) -> Edit {
    Edit {
        op,
        content: content.to_owned(),
        anchor: anchor.to_owned(),
        rationale: String::new(),
        tasks: Vec::new(),
        turns: Vec::new(),
    }
}

fn add(content: &str) -> Edit {
    edit(EditOp::Add, content, "")
}

fn delete(anchor: &str) -> Edit {
    edit(EditOp::Delete, "", anchor)
}

fn replace(anchor: &str, content: &str) -> Edit {
    edit(EditOp::Replace, content, anchor)
}

fn document(rules: &[&str]) -> String {
    let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
    with_rules("# Mine\n", &rules).unwrap()
}

/// The rules after one edit on these, or why it did not apply.
fn after(before: &[&str], edit: Edit) -> Result<Vec<String>, Unmatched> {
    let applied = apply(&document(before), &[edit]).unwrap();
    match applied.unmatched.first() {
        None => Ok(rules(&applied.document).unwrap()),
        Some((_, reason)) => {
            assert_eq!(
                applied.document,
                document(before),
                "an unmatched edit changes nothing"
            );
            Err(*reason)
        }
    }
}

#[test]
fn adds_at_the_end() {
    assert_eq!(after(&["a"], add("  b ")).unwrap(), ["a", "b"]);
    assert_eq!(after(&[], add("a\r\n  b\r\n")).unwrap(), ["a\n  b"]);
    assert_eq!(
        after(&["Use tabs."], add("use  TABS.")),
        Err(Unmatched::Duplicate)
    );
    assert_eq!(after(&["a"], add(" \n ")), Err(Unmatched::Blank));
}

#[test]
fn bullets_go_and_dashes_stay() {
    // §14 #4: `--no-verify …` lost its dashes.
    assert_eq!(after(&[], add("- Be brief")).unwrap(), ["Be brief"]);
    assert_eq!(after(&[], add("* Be brief")).unwrap(), ["Be brief"]);
    assert_eq!(
        after(&[], add("--no-verify is forbidden")).unwrap(),
        ["--no-verify is forbidden"]
    );
    assert_eq!(
        after(&[], add("-1 is an error")).unwrap(),
        ["-1 is an error"]
    );
}

#[test]
fn deletes_exactly_one_rule() {
    // §14 #5: the reference removed every rule that contains the anchor.
    let before = ["Use tabs", "Use tabs in Makefiles", "Be brief"];
    assert_eq!(
        after(&before, delete("use  TABS")).unwrap(),
        ["Use tabs in Makefiles", "Be brief"]
    );
    assert_eq!(
        after(&before, delete("Makefiles")).unwrap(),
        ["Use tabs", "Be brief"]
    );
    assert_eq!(
        after(&before, delete("- be brief")).unwrap(),
        ["Use tabs", "Use tabs in Makefiles"]
    );
    assert_eq!(after(&before, delete("e")), Err(Unmatched::AnchorAmbiguous));
    assert_eq!(
        after(&before, delete("spaces")),
        Err(Unmatched::AnchorAbsent)
    );
    assert_eq!(after(&before, delete("")), Err(Unmatched::Blank));
    assert_eq!(
        after(&["a", "A"], delete("a")),
        Err(Unmatched::AnchorAmbiguous)
    );
}

#[test]
fn a_delete_may_name_its_rule_as_content() {
    // §6.5: anchor, or content when the anchor is blank.
    assert_eq!(
        after(&["a", "b"], edit(EditOp::Delete, "b", " ")).unwrap(),
        ["a"]
    );
    assert_eq!(
        after(&["a", "b"], edit(EditOp::Delete, "b", "a")).unwrap(),
        ["b"]
    );
}

#[test]
fn replaces_exactly_one_rule_in_place() {
    assert_eq!(
        after(&["a one", "b", "c"], replace("one", "z")).unwrap(),
        ["z", "b", "c"]
    );
    assert_eq!(
        after(&["use tabs"], replace("use tabs", "Use TABS")).unwrap(),
        ["Use TABS"]
    );
    assert_eq!(
        after(&["a"], replace("a", "- a")),
        Err(Unmatched::Identical)
    );
    assert_eq!(
        after(&["a", "b"], replace("a", "B")),
        Err(Unmatched::Duplicate)
    );
    assert_eq!(after(&["a"], replace("", "b")), Err(Unmatched::Blank));
    assert_eq!(after(&["a"], replace("a", "")), Err(Unmatched::Blank));
    assert_eq!(
        after(&["ab", "cb"], replace("b", "x")),
        Err(Unmatched::AnchorAmbiguous)
    );
    assert_eq!(
        after(&["ab"], replace("x", "y")),
        Err(Unmatched::AnchorAbsent)
    );
}

#[test]
fn a_rule_of_several_lines_is_one_rule() {
    let before = ["Do this:\n```\ncargo test\n```", "b"];
    assert_eq!(after(&before, delete("cargo test")).unwrap(), ["b"]);
    assert_eq!(
        after(&before, delete("do this: ``` cargo\n  test ```")).unwrap(),
        ["b"]
    );
}

#[test]
fn what_may_not_be_written_is_refused() {
    for (content, reason) in [
        (format!("x\n{START}"), Unmatched::Marker),
        (format!("see {END}"), Unmatched::Marker),
        ("skillopt-sleep : learned end".to_owned(), Unmatched::Marker),
        ("<!-- SLOW_UPDATE_END -->".to_owned(), Unmatched::Marker),
        ("send [REDACTED_OPENAI_KEY]".to_owned(), Unmatched::Redacted),
        ("cut [REDACTED_OPE".to_owned(), Unmatched::Redacted),
        ("bell \u{7}".to_owned(), Unmatched::ControlCharacter),
        ("red \u{1b}[31m".to_owned(), Unmatched::ControlCharacter),
        ("x\u{85}y".to_owned(), Unmatched::ControlCharacter),
        ("a --> b <!-- hide".to_owned(), Unmatched::OpenComment),
        ("ü".repeat(MAX_RULE_CHARS + 1), Unmatched::TooLong),
    ] {
        assert_eq!(after(&["a"], add(&content)), Err(reason), "{content:?}");
        assert_eq!(
            after(&["a"], replace("a", &content)),
            Err(reason),
            "{content:?}"
        );
    }
    assert!(after(&[], add(&"ü".repeat(MAX_RULE_CHARS))).is_ok());
    assert!(after(&[], add("Begin with `<!-- made -->`\tand a tab")).is_ok());
}

#[test]
fn nothing_touches_a_redaction_mark() {
    let seen = document(&["Key is [REDACTED_OPENAI_KEY] for tests", "Be brief"]);
    for (edit, touches) in [
        (add("x"), false),
        (add("x [REDACTED]"), true),
        (delete("key is"), true),
        (delete("is [REDACTED_OPENAI_KEY]"), true),
        (edit(EditOp::Delete, "for tests", ""), true),
        (replace("for tests", "y"), true),
        (replace("brief", "y"), false),
        (delete("brief"), false),
        (delete(""), false),
        (delete("absent"), false),
    ] {
        assert_eq!(touches_redaction(&edit, &seen), touches, "{edit:?}");
    }
    let anchor = delete("is [REDACTED]");
    assert_eq!(
        after(&["key is [REDACTED]"], anchor),
        Err(Unmatched::Redacted)
    );
}

#[test]
fn every_edit_is_accounted_for_in_order() {
    let edits = [
        add("b"),
        delete("absent"),
        replace("b", "c"),
        add("C"),
        delete("a"),
    ];
    let applied = apply(&document(&["a"]), &edits).unwrap();
    assert_eq!(rules(&applied.document).unwrap(), ["c"]);
    assert_eq!(
        applied.applied,
        [edits[0].clone(), edits[2].clone(), edits[4].clone()]
    );
    let unmatched = [
        (edits[1].clone(), Unmatched::AnchorAbsent),
        (edits[3].clone(), Unmatched::Duplicate),
    ];
    assert_eq!(applied.unmatched, unmatched);
}

#[test]
fn a_subset_applies_alone_and_can_be_undone() {
    let before = document(&["a", "b"]);
    let edits = [add("c"), replace("a", "z"), delete("b")];
    for mask in 0..8_usize {
        let chosen: Vec<Edit> = (0..3)
            .filter(|bit| mask >> bit & 1 == 1)
            .map(|bit| edits[bit].clone())
            .collect();
        let applied = apply(&before, &chosen).unwrap();
        assert_eq!(applied.applied, chosen);
        assert_eq!(
            with_rules(&applied.document, &rules(&before).unwrap()).unwrap(),
            before
        );
    }
}

#[test]
fn the_last_rule_takes_the_region_with_it() {
    let before = document(&["a"]);
    assert_eq!(apply(&before, &[delete("a")]).unwrap().document, "# Mine\n");
}

#[test]
fn a_broken_region_stops_everything() {
    assert_eq!(
        apply(START, &[add("a")]),
        Err(RegionFault::Unterminated { line: 1 })
    );
}
