use SkillFaultKind::*;

use super::*;
use crate::region::{scaffold, with_rules};

fn kinds(text: &str) -> Vec<SkillFaultKind> {
    check_skill(text, "deploy")
        .into_iter()
        .map(|fault| fault.kind)
        .collect()
}

/// A skill file with this description line (or lines).
fn with(description: &str) -> String {
    format!("---\nname: deploy\n{description}\n---\n\n# Deploy\n")
}

#[test]
fn good_files_have_no_fault() {
    for front in [
        "description: Deploys the app.",
        "description: \"Deploys: the app\"",
        "description: 'It''s: fine'",
        "description: >\n  Deploys\n  the app: now.",
        "description: |-\n  Deploys.\n\n  More: lines.",
        "description: Deploys\n  the app",
        "description: see http://x.example/a#b",
        "description: Deploys.\nlicense: MIT\nallowed-tools: [Bash, Read]\nmetadata:\n  version: 1.0\n  tags:\n  - a: b\nunknown-key: 3",
        "description: Deploys.\ncompatibility: needs git",
        "# comment\ndescription: yes",
    ] {
        assert_eq!(kinds(&with(front)), [], "{front}");
        assert_eq!(kinds(&with(front).replace('\n', "\r\n")), [], "{front}");
    }
}

#[test]
fn our_scaffold_loads_with_rules_in_it() {
    let skill = with_rules(
        &scaffold("skillopt-sleep-learned"),
        &["---".into(), "a: b: c".into()],
    )
    .unwrap();
    assert_eq!(check_skill(&skill, "skillopt-sleep-learned"), []);
}

#[test]
fn front_matter_must_begin_the_file_and_end() {
    assert_eq!(kinds(""), [NoFrontMatter]);
    assert_eq!(kinds("# Deploy\n"), [NoFrontMatter]);
    assert_eq!(
        kinds("\n---\nname: deploy\ndescription: x\n---\n"),
        [NoFrontMatter]
    );
    assert_eq!(kinds(" ---\nname: deploy\n---\n"), [NoFrontMatter]);
    assert_eq!(
        kinds("---\nname: deploy\ndescription: x\n"),
        [FrontMatterNotClosed]
    );
    assert_eq!(
        kinds(&format!("\u{feff}{}", with("description: x"))),
        [ByteOrderMark]
    );
}

#[test]
fn yaml_that_loaders_refuse_is_named() {
    // Field notes 64; openai/codex issue 8609.
    let faults = check_skill(&with("description: Use when: deploying"), "deploy");
    assert_eq!((faults[0].kind, faults[0].line), (UnquotedColon, Some(3)));
    assert!(faults[0].message.contains("`description`"));
    assert_eq!(
        kinds(&with("description: Deploys.\n\n  Keywords: a, b")),
        [NotYaml]
    );
    assert_eq!(
        kinds(&with("description: x\nargument-hint: [a] [b]")),
        [NotYaml]
    );
    assert_eq!(kinds(&with("description: \"open")), [NotYaml]);
    assert_eq!(kinds(&with("\tdescription: x")), [NotYaml]);
    assert_eq!(kinds("---\n- a\n- b\n---\n"), [NotYaml]);
    assert_eq!(kinds("---\njust text\n---\n"), [NotYaml]);
    assert_eq!(
        kinds(&with("description: x\ndescription: y")),
        [RepeatedKey]
    );
    assert_eq!(
        kinds(&with(&format!("description: x\nz: {}", "y".repeat(70_000)))),
        [NotYaml]
    );
}

#[test]
fn lines_are_those_of_the_file() {
    let faults = check_skill(&with("a: 1\nb: [\ndescription: x"), "deploy");
    assert!(
        faults[0].line.is_some_and(|line| (4..=6).contains(&line)),
        "{faults:?}"
    );
    let faults = check_skill(&with("license: MIT\ndescription: 12"), "deploy");
    assert_eq!((faults[0].kind, faults[0].line), (NotText, Some(4)));
}

#[test]
fn names() {
    let name = |name: &str, folder: &str| -> Vec<_> {
        let text = format!("---\nname: {name}\ndescription: x\n---\n");
        check_skill(&text, folder)
            .into_iter()
            .map(|fault| fault.kind)
            .collect()
    };
    assert_eq!(name("deploy", "deploy"), []);
    assert_eq!(name("\"deploy\"", "deploy"), []);
    assert_eq!(name("deploy", "other"), [NameNotFolder]);
    for bad in [
        "Deploy", "de ploy", "-deploy", "deploy-", "de--ploy", "dé", "a_b",
    ] {
        assert_eq!(name(bad, bad), [NameInvalid], "{bad}");
    }
    assert_eq!(name(&"a".repeat(64), &"a".repeat(64)), []);
    assert_eq!(name(&"a".repeat(65), &"a".repeat(65)), [NameInvalid]);
    assert_eq!(name("", "deploy"), [NameMissing]);
    assert_eq!(name("~", "deploy"), [NameMissing]);
    for other in ["12", "true", "[a]", "{a: b}", "1.5", "!x y"] {
        assert_eq!(name(other, "deploy"), [NotText], "{other}");
    }
    assert_eq!(
        check_skill("---\ndescription: x\n---\n", "a")[0].kind,
        NameMissing
    );
    assert!(!NameMissing.blocks() && NameNotFolder.blocks());
}

#[test]
fn descriptions() {
    assert_eq!(kinds(&with("license: MIT")), [DescriptionMissing]);
    assert_eq!(kinds(&with("description:")), [DescriptionMissing]);
    assert_eq!(kinds(&with("description: \"  \"")), [DescriptionMissing]);
    assert_eq!(kinds(&with("description: null")), [DescriptionMissing]);
    assert_eq!(
        kinds(&with(&format!("description: {}", "ü".repeat(1024)))),
        []
    );
    assert_eq!(
        kinds(&with(&format!("description: {}", "ü".repeat(1025)))),
        [DescriptionTooLong]
    );
    assert_eq!(
        kinds(&with("description: Fixes issue #1 and # more")),
        [CutByComment]
    );
    assert_eq!(kinds(&with("description:\n  - a")), [NotText]);
}

#[test]
fn compatibility_and_length() {
    assert_eq!(
        kinds(&with(&format!(
            "description: x\ncompatibility: {}",
            "c".repeat(501)
        ))),
        [CompatibilityInvalid]
    );
    assert_eq!(
        kinds(&with("description: x\ncompatibility: ''")),
        [CompatibilityInvalid]
    );
    let long = |lines: usize| {
        format!(
            "---\nname: deploy\ndescription: x\n---\n{}",
            "a\n".repeat(lines)
        )
    };
    assert_eq!(kinds(&long(499)), []);
    assert_eq!(kinds(&long(500)), [LongBody]);
    assert!(!LongBody.blocks());
}

#[test]
fn problems_have_code_and_guidance() {
    let problem = check_skill("", "a")[0].problem();
    assert_eq!(problem.code, "skill_invalid");
    assert!(problem.message.ends_with('.') && problem.guidance.ends_with('.'));
}

#[test]
fn safe_names_are_folders_and_nothing_else() {
    // §7.1 and §6.8.
    for (name, safe) in [
        ("deploy", Some("deploy")),
        ("  My Skill! ", Some("My Skill!")),
        ("a.b", Some("a.b")),
        ("größe", Some("größe")),
        (".hidden", Some(".hidden")),
        ("", None),
        ("  ", None),
        (".", None),
        ("..", None),
        ("~", None),
        ("~root", None),
        ("/etc", None),
        ("a/b", None),
        ("a\\b", None),
        ("C:", None),
        ("C:x", None),
        ("a\u{0}b", None),
        ("a\nb", None),
        ("a\u{85}b", None),
        ("a*", None),
        ("a?", None),
        ("a\"b", None),
        ("<a>", None),
        ("a|b", None),
        ("end.", None),
        ("end. ", None),
    ] {
        assert_eq!(safe_skill_name(name), safe, "{name:?}");
    }
}

fn chain(sizes: &[(&str, u64)]) -> Vec<(String, u64)> {
    sizes
        .iter()
        .map(|(name, size)| ((*name).to_owned(), *size))
        .collect()
}

#[test]
fn a_chain_that_does_not_fit_names_the_file_that_is_cut() {
    let files = chain(&[("AGENTS.md", 20_000), ("app/AGENTS.md", 5_000)]);
    let check = |name: &str, size: u64| check_chain(&files, (name, size), CODEX_CHAIN_BYTES);
    assert_eq!(check("app/AGENTS.md", 6_000), None);
    assert!(check("app/AGENTS.md", 12_768).is_some_and(|fault| !fault.blocks));
    // The root grows and the leaf is what is no longer read to its end.
    let fault = check("AGENTS.md", 27_769).unwrap();
    assert!(
        fault.blocks && fault.message.contains("app/AGENTS.md") && fault.message.contains("32769")
    );
    let fault = check("AGENTS.md", 40_000).unwrap();
    assert!(fault.message.ends_with("inside AGENTS.md."));
    assert!(
        check("app/x/AGENTS.md", 7_769)
            .unwrap()
            .message
            .contains("app/x/AGENTS.md")
    );
    assert_eq!(
        check("app/x/AGENTS.md", u64::MAX).map(|fault| fault.blocks),
        Some(true)
    );
    assert_eq!(fault.problem().code, "memory_too_long");
}

#[test]
fn a_long_memory_file_warns_and_a_huge_one_is_refused() {
    assert_eq!(check_claude_memory(&"ü".repeat(40_000)), None);
    assert!(check_claude_memory(&"ü".repeat(40_001)).is_some_and(|fault| !fault.blocks));
    assert!(
        check_claude_memory(&"a".repeat(CLAUDE_MEMORY_BYTES + 1)).is_some_and(|fault| fault.blocks)
    );
}
