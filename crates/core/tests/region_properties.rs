//! Whatever the document and the rules: bytes outside the region stay, rules are read back, and the
//! way back gives the original.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use skillopt_core::region::{END, RegionFault, START, rules, tidy, with_rules};

/// Lines that mean something to Markdown or to the region, in odd combinations.
fn line(markers: u32) -> impl Strategy<Value = String> {
    let fixed = [
        "",
        " ",
        "text",
        "Ünï 日本 🏳️",
        "# T",
        "---",
        "- item",
        "  - item",
        "- -",
        "* * *",
        "-",
        "1. one",
        "  more",
        "    code",
        "\tcode",
        "```",
        "```sh",
        "~~~",
        "~~~~ x",
        "   ```",
        "  ~~~",
        "- ```",
        "  - ```",
        "1. ~~~",
        "> ```",
        "<!--",
        "<!-- a -->",
        "-->",
        "- <!-- x",
        "`a`",
        "\r",
        "_x_",
    ];
    prop_oneof![
        24 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        4 => ".{0,12}",
        markers => prop::sample::select(vec![START, END]).prop_map(str::to_owned),
        markers => prop::sample::select(vec![START, END]).prop_map(|marker| format!("  {marker}")),
        1 => prop::sample::select(vec![START, END]).prop_map(|marker| format!("see `{marker}`")),
    ]
}

fn ending() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just("\n"), 4 => Just("\r\n"), 1 => Just("")]
}

fn lines(size: Range<usize>, markers: u32) -> impl Strategy<Value = String> {
    vec((line(markers), ending()), size)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

/// A document; about half carry one region with anything in it.
fn document() -> impl Strategy<Value = String> {
    let region =
        (lines(0..8, 1), ending()).prop_map(|(body, end)| format!("{START}\n{body}\n{END}{end}"));
    (
        prop::option::weighted(0.1, Just("\u{feff}")),
        lines(0..10, 1),
        prop::option::of(region),
        lines(0..6, 1),
        any::<bool>(),
    )
        .prop_map(|(mark, before, region, after, crlf)| {
            let text = format!(
                "{}{before}{}{after}",
                mark.unwrap_or(""),
                region.unwrap_or_default()
            );
            if crlf {
                text.replace("\r\n", "\n").replace('\n', "\r\n")
            } else {
                text
            }
        })
}

fn rule_list() -> impl Strategy<Value = Vec<String>> {
    vec(lines(1..5, 1), 0..5)
}

fn tidied(rules: &[String]) -> Vec<String> {
    rules
        .iter()
        .map(|rule| tidy(rule))
        .filter(|rule| !rule.is_empty())
        .collect()
}

/// Text before a region, a region with a rule in it, text after.
fn parts() -> impl Strategy<Value = (String, String, String)> {
    (
        lines(0..10, 0),
        lines(0..5, 1),
        lines(0..5, 1),
        lines(0..10, 0),
    )
        .prop_map(|(before, start, end, after)| {
            let before = if before.is_empty() || before.ends_with('\n') {
                before
            } else {
                before + "\n"
            };
            (
                before,
                format!("{START}\n{start}\n- rule\n{end}\n{END}\n"),
                after,
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rules_are_read_back(document in document(), wanted in rule_list()) {
        match with_rules(&document, &wanted) {
            Ok(with) => prop_assert_eq!(rules(&with).unwrap(), tidied(&wanted)),
            Err(RegionFault::MarkerInRule) => {
                prop_assert!(wanted.iter().any(|rule| rule.contains(START) || rule.contains(END)));
            }
            // Only what somebody wrote into the region can make it unclear.
            Err(RegionFault::Unclear) => prop_assert!(document.contains(START)),
            Err(fault) => prop_assert_eq!(rules(&document), Err(fault)),
        }
    }

    #[test]
    fn the_region_comes_and_goes_without_a_trace(document in lines(0..12, 1), first in rule_list(), second in rule_list()) {
        let is_new = |text: &String| text.contains("## Learned preferences");
        let (Ok(one), Ok(two)) = (with_rules(&document, &first), with_rules(&document, &second)) else { return Ok(()) };
        if !is_new(&one) || !is_new(&two) {
            return Ok(());
        }
        prop_assert_eq!(&with_rules(&one, &[]).unwrap(), &document);
        // Whatever came before, the same rules give the same bytes.
        prop_assert_eq!(&with_rules(&one, &second).unwrap(), &two);
        prop_assert_eq!(&with_rules(&two, &first).unwrap(), &one);
    }

    #[test]
    fn nothing_outside_the_region_changes((before, region, after) in parts(), wanted in rule_list()) {
        let document = format!("{before}{region}{after}");
        if !rules(&document).is_ok_and(|rules| !rules.is_empty()) {
            return Ok(());
        }
        let Ok(with) = with_rules(&document, &wanted) else { return Ok(()) };
        prop_assert!(with.ends_with(&after));
        let start = &with[..with.len() - after.len()];
        if tidied(&wanted).is_empty() && !start[start.len().min(before.len())..].contains(END) {
            // The region is gone, with at most the blank line above it.
            let gap = before.strip_prefix(start).unwrap();
            prop_assert!(matches!(gap, "" | "\n" | "\r\n"), "{gap:?}");
        } else {
            let (opening, closing) = (format!("{before}{START}\n"), format!("{END}\n"));
            prop_assert!(start.starts_with(&opening) && start.ends_with(&closing));
        }
    }

    #[test]
    fn the_same_rules_change_nothing(document in document()) {
        if let Ok(read) = rules(&document) {
            prop_assert_eq!(with_rules(&document, &read).unwrap(), document);
        }
    }

    #[test]
    fn an_added_rule_can_be_taken_back(document in document(), wanted in lines(1..4, 1)) {
        let Ok(read) = rules(&document) else { return Ok(()) };
        if read.is_empty() || read.contains(&tidy(&wanted)) {
            return Ok(());
        }
        let mut more = read.clone();
        more.push(wanted);
        if let Ok(with) = with_rules(&document, &more)
            && with.len() >= document.len()
        {
            prop_assert_eq!(with_rules(&with, &read).unwrap(), document);
        }
    }

    #[test]
    fn tidying_is_done_at_once(text in "(\\PC|[\\n\\r\\t ]){0,40}") {
        prop_assert_eq!(tidy(&tidy(&text)), tidy(&text));
    }

    #[test]
    fn nothing_panics(text in any::<String>(), rule in any::<String>()) {
        let _ = with_rules(&text, &[rule]);
    }
}
