use super::*;

const BANNER_OF_THE_REFERENCE: &str = "_This block is maintained by SkillOpt-Sleep. Edits here are proposed \
     offline, validated against your past tasks, and adopted only after you approve them. Hand-edits \
     outside this block are never touched._";

fn list(rules: &[&str]) -> Vec<String> {
    rules.iter().map(|rule| (*rule).to_owned()).collect()
}

fn region(body: &str) -> String {
    format!("{START}\n{body}{END}\n")
}

#[track_caller]
fn there_and_back(document: &str, rules_to_add: &[&str]) -> String {
    let wanted = list(rules_to_add);
    let with = with_rules(document, &wanted).unwrap();
    assert_eq!(rules(&with).unwrap(), wanted, "{with}");
    assert_eq!(with_rules(&with, &[]).unwrap(), document);
    with
}

#[test]
fn appends_after_a_blank_line_and_takes_it_all_back() {
    let with = there_and_back("# Mine\n\nText.\n", &["Use tabs.", "Be brief."]);
    assert_eq!(
        with,
        format!(
            "# Mine\n\nText.\n\n{START}\n## {HEADING}\n\n{BANNER}\n\n- Use tabs.\n- Be brief.\n{END}\n"
        )
    );
}

#[test]
fn every_ending_of_a_document_survives() {
    for document in [
        "",
        "\n",
        "\n\n",
        "\u{feff}",
        "\u{feff}# T",
        "no newline",
        "a\n",
        "a\n\n",
        "a\n\n\n\n",
        "a  \t\n",
        "a\r",
        "a\n\r",
        "a\r\n",
        "a\r\nb",
        "a\r\nb\n",
        "a\nb\r\n",
        "a\r\nb\r",
        " ",
        "\t\n ",
    ] {
        there_and_back(document, &["x", "two\nlines"]);
    }
}

#[test]
fn a_document_without_final_newline_keeps_none() {
    assert!(there_and_back("abc", &["x"]).ends_with(END));
}

#[test]
fn windows_documents_get_windows_regions() {
    let with = there_and_back("# A\r\n\r\nb\r\n", &["one", "two\n\nlines"]);
    assert_eq!(with.matches('\n').count(), with.matches("\r\n").count());
    assert!(with.contains("- two\r\n\r\n  lines\r\n"));
    let more = with_rules(&with, &list(&["one", "three"])).unwrap();
    assert_eq!(more.matches('\n').count(), more.matches("\r\n").count());
}

#[test]
fn bytes_around_an_existing_region_stay() {
    // §14 #3: blank runs, trailing white space and text after the region were altered.
    let before = "intro   \n\n\n\n```\n\n\n\ncode\n```\n\n\n";
    let after = "\n\n\n# After   \n\n\n\nlast";
    let document = format!("{before}{}{after}", region("- a\n"));
    let with = with_rules(&document, &list(&["a", "b"])).unwrap();
    assert_eq!(with, format!("{before}{}{after}", region("- a\n- b\n")));
}

#[test]
fn reads_what_the_reference_wrote() {
    let document = format!(
        "---\nname: x\n---\n\n{START}\n## {HEADING}\n\n{BANNER_OF_THE_REFERENCE}\n\n- One.\n- Two.\n{END}\n"
    );
    assert_eq!(rules(&document).unwrap(), ["One.", "Two."]);
    let with = with_rules(&document, &list(&["One.", "Two.", "Three."])).unwrap();
    assert_eq!(with, document.replace("- Two.\n", "- Two.\n- Three.\n"));
    assert_eq!(with_rules(&with, &[]).unwrap(), "---\nname: x\n---\n");
}

#[test]
fn a_banner_wrapped_by_a_formatter_is_still_ours() {
    let wrapped = "_This block is managed by SkillOpt-Sleep. Edits here are\nproposed offline._\n";
    let document = format!(
        "a\n\n{}",
        region(&format!("## {HEADING}\n\n{wrapped}\n- x\n\n"))
    );
    assert_eq!(with_rules(&document, &[]).unwrap(), "a\n");
}

#[test]
fn hand_written_lines_in_the_region_stay_where_they_are() {
    let document = region("## Rules\nread these:\n- a\n\nfor Rust:\n   - b\n\n");
    assert_eq!(rules(&document).unwrap(), ["a", "b"]);
    let with = with_rules(&document, &list(&["new", "b", "c"])).unwrap();
    assert_eq!(
        with,
        region("## Rules\nread these:\n- new\n\nfor Rust:\n   - b\n   - c\n\n")
    );
    assert_eq!(
        with_rules(&with, &[]).unwrap(),
        region("## Rules\nread these:\n\nfor Rust:\n\n")
    );
}

#[test]
fn kept_rules_keep_their_bytes() {
    let document = region("-   wide   \n- b\n");
    assert_eq!(rules(&document).unwrap(), ["wide", "b"]);
    assert_eq!(
        with_rules(&document, &list(&["wide", "c"])).unwrap(),
        region("-   wide   \n- c\n")
    );
    assert_eq!(
        with_rules(&document, &list(&["wide", "b"])).unwrap(),
        document
    );
}

#[test]
fn rules_of_several_lines_are_read_back() {
    // §14 #4: the reference lost all but the first line, and leading dashes.
    let wanted = list(&[
        "--no-verify is forbidden",
        "- nested",
        "Do this:\n```sh\ncargo test\n\n    indented\n```",
        "a\n- b\n  - c\n\n\n\td",
        "- -\n```\nx",
        "<!-- open\n```",
        "1. x\n   ```\n   y",
    ]);
    for document in ["", "# T\n", "- item\n  ```\n  open in a list"] {
        let with = with_rules(document, &wanted).unwrap();
        assert_eq!(rules(&with).unwrap(), wanted, "{with}");
        assert_eq!(with_rules(&with, &[]).unwrap(), document);
    }
}

#[test]
fn markers_in_code_are_text() {
    for example in [
        format!("```\n{START}\n- no\n{END}\n```\n"),
        format!("  ~~~~ text\n{START}\n~~~\n{END}\n  ~~~~~\n"),
        format!("- ```\n  {START}\n  ```\n- x\n"),
        format!("1.  a\n\n    ```\n{END}x\n    {END}\n"),
        format!("    {START}\n"),
        format!("say `{START}` and {END}\n"),
    ] {
        assert_eq!(rules(&example), Ok(vec![]), "{example}");
        there_and_back(&example, &["x"]);
    }
}

#[test]
fn only_real_fences_hide_markers() {
    for before in [
        "``\n",
        "```a`b\n",
        "    ```\n",
        "- ```\n\n",
        "<!--\n```\n-->\n",
        "text ```\n",
        "- a\n  ```\n  b\n",
    ] {
        let document = format!("{before}{}", region("- a\n"));
        assert_eq!(rules(&document).unwrap(), ["a"], "{document}");
    }
}

#[test]
fn a_fence_that_is_never_closed_stays_behind_the_region() {
    let with = there_and_back("# T\n\n```sh\nls\n", &["x"]);
    assert!(with.find(END).unwrap() < with.find("```sh").unwrap());
    there_and_back("\u{feff}~~~", &["x"]);
}

#[test]
fn broken_markers_are_refused_with_their_line() {
    // §14 #3: an orphan start marker truncated the rest of the file.
    let cases = [
        (
            format!("a\n{START}\n- x\n"),
            RegionFault::Unterminated { line: 2 },
        ),
        (
            format!("{START}\n- x\n```\n{END}\n"),
            RegionFault::Unterminated { line: 1 },
        ),
        (
            format!("{START}\n{START}\n{END}\n{END}\n"),
            RegionFault::Nested { line: 2 },
        ),
        (
            format!("{START}\n{END}\n{START}\n{END}\n"),
            RegionFault::Several,
        ),
        (format!("a\n\n{END}\n"), RegionFault::StrayEnd { line: 3 }),
        (
            format!("{START}\n{END}\n{END}"),
            RegionFault::StrayEnd { line: 3 },
        ),
        (
            format!("\u{feff}{START}\n"),
            RegionFault::Unterminated { line: 1 },
        ),
    ];
    for (document, fault) in cases {
        assert_eq!(rules(&document), Err(fault));
        assert_eq!(with_rules(&document, &list(&["r"])), Err(fault));
        let problem = fault.problem();
        assert_eq!(problem.code, "region_broken");
        assert!(problem.message.ends_with('.') && problem.guidance.ends_with('.'));
    }
}

#[test]
fn a_marker_is_never_written_into_a_rule() {
    let rule = format!("a\n {END}");
    assert_eq!(with_rules("", &[rule]), Err(RegionFault::MarkerInRule));
}

#[test]
fn an_empty_region_made_by_hand_is_given_back() {
    let document = format!("a\n{}b\n", region(""));
    let with = with_rules(&document, &list(&["x"])).unwrap();
    assert_eq!(with, format!("a\n{}b\n", region("- x\n")));
    assert_eq!(with_rules(&with, &[]).unwrap(), document);
}

#[test]
fn removing_a_region_glues_no_lines() {
    let ours = format!("## {HEADING}\n- x\n");
    for (before, after, left) in [
        ("# T\n", "more\n", "# T\nmore\n"),
        ("# T\n\n", "\nmore\n", "# T\n\nmore\n"),
        ("", "more", "more"),
        ("\n", "more", "\nmore"),
    ] {
        let document = format!("{before}{}{after}", region(&ours));
        assert_eq!(with_rules(&document, &[]).unwrap(), left);
    }
}

#[test]
fn indented_lists_stay_indented() {
    let document = region("  - a\n    more\n  - b\n  ```\n  - no rule\n  ```\n");
    assert_eq!(rules(&document).unwrap(), ["a\nmore", "b"]);
    let with = with_rules(&document, &list(&["z", "b", "c\nd"])).unwrap();
    assert_eq!(
        with,
        region("  - z\n  - b\n  - c\n    d\n  ```\n  - no rule\n  ```\n")
    );
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    // The comment is open until the rule's first line ends it, so that line opens no list item.
    let document = region("<!--\n");
    let rule = "see <!-- this -->\n```\nx\n```";
    assert_eq!(
        with_rules(&document, &list(&[rule])),
        Err(RegionFault::Unclear)
    );
}

#[test]
fn keys_ignore_case_and_white_space() {
    assert_eq!(key("  Use\n TABS  "), key("use tabs"));
    assert_ne!(key("use tabs"), key("use tab s"));
}

#[test]
fn a_hostile_document_takes_linear_time() {
    for unit in [
        "- ",
        "> ",
        "```\n",
        "<!--\n",
        "- a\n\n\n",
        "\t",
        "1. ",
        "`",
        "* ",
    ] {
        let document = unit.repeat(60_000 / unit.len());
        let with = with_rules(&document, &list(&["x"])).unwrap();
        assert_eq!(with_rules(&with, &[]).unwrap(), document);
    }
}
