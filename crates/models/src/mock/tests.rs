use proptest::prelude::*;
use skillopt_core::check::RuleJudge;
use skillopt_core::document::TargetKind;
use skillopt_core::task::{Judge, Task};

use super::*;
use skillopt_core::reply::{Expect, Mined, Parsed, Proposed, parse};

fn call(subject: Subject, sample: u32) -> Call {
    Call {
        backend: Mock.id(),
        subject,
        messages: vec![],
        params: skillopt_core::call::Params {
            max_tokens: 1,
            temperature: None,
            schema: None,
        },
        sample,
        ask: 0,
        rounds: Vec::new(),
    }
}

fn attempt_under(skill: &str, sample: u32) -> String {
    let task = Task::new("t", "p", "Write a note about the new release for the team");
    reply(&call(
        Subject::Attempt {
            task: Box::new(task),
            skill: skill.to_owned(),
            memory: String::new(),
        },
        sample,
    ))
}

fn check(op: &str, arg: Value) -> Check {
    Check {
        op: op.to_owned(),
        arg,
    }
}

fn learnable() -> Vec<Check> {
    let mut checks = vec![
        check("contains", json!("Ticket: ABC-1")),
        check("not_contains", json!("Sure")),
        check("section_present", json!("Summary")),
        check("section_contains", json!("Risks")),
        check("max_chars", json!(120)),
        check("no_refusal", Value::Null),
    ];
    for words in [
        "Write the reply as a bullet list.",
        "Reply with JSON only.",
        "Keep the reply on one line.",
        "Use no emojis.",
        "Begin the reply with \"Hello team,\".",
        "Make the reply at least 600 characters long.",
    ] {
        checks.push(check_from_sentence(words).expect("core knows this sentence"));
    }
    checks
}

fn holds(checks: &[Check], reply: &str) -> bool {
    RuleJudge::compile(checks)
        .unwrap()
        .judge
        .score(reply, &[])
        .hard
        == 1.0
}

#[test]
fn a_rule_in_a_document_is_obeyed_and_without_it_mostly_broken() {
    for check in learnable() {
        let with = attempt_under(&format!("# Skill\n\n- {}\n", sentence(&check)), 0);
        assert!(
            holds(std::slice::from_ref(&check), &with),
            "{}: {with}",
            sentence(&check)
        );
    }
    let without = attempt_under("", 0);
    let broken = learnable()
        .iter()
        .filter(|check| !holds(std::slice::from_ref(check), &without))
        .count();
    assert!(broken >= 9, "only {broken} are broken by a plain reply");
}

#[test]
fn rules_hold_together() {
    let all = [
        check("contains", json!("Ticket: ABC-1")),
        check("not_contains", json!("summary")),
        check("section_present", json!("Status")),
        check("max_chars", json!(90)),
        check_from_sentence("Write the reply as a bullet list.").unwrap(),
        check_from_sentence("Use no emojis.").unwrap(),
        check_from_sentence("End the reply with \"Best regards, Dana\".").unwrap(),
    ];
    let document: Vec<String> = all
        .iter()
        .map(|check| format!("- {}", sentence(check)))
        .collect();
    let reply = attempt_under(&document.join("\n"), 0);
    assert!(holds(&all, &reply), "{reply}");
    assert!(attempt_under("Answers stand in <answer>…</answer>.", 0).ends_with("</answer>"));
    assert!(attempt_under("- End the reply with a question.", 0).ends_with('?'));
}

#[test]
fn an_attempt_never_sees_the_judge_and_draws_differ() {
    let judged = |judge: Judge| {
        let mut task = Task::new("t", "p", "Say hello to the new colleague");
        task.judge = judge;
        reply(&call(
            Subject::Attempt {
                task: Box::new(task),
                skill: String::new(),
                memory: String::new(),
            },
            0,
        ))
    };
    let plain = judged(Judge::None);
    assert_eq!(
        plain,
        judged(Judge::Rule(vec![check("contains", json!("XYZ"))]))
    );
    assert_eq!(plain, judged(Judge::Exact("XYZ".into())));
    assert_ne!(attempt_under("", 0), attempt_under("", 1));
    assert_eq!(attempt_under("", 1), attempt_under("", 1));
}

fn mined(prompts: &[&str]) -> Mined {
    let subject = Subject::Mine {
        project: "p".into(),
        session: "s".into(),
        prompts: prompts.iter().map(|prompt| (*prompt).to_owned()).collect(),
        last_reply: String::new(),
        feedback: vec![],
    };
    let expect = Expect::of(&subject);
    match parse(&expect, &reply(&call(subject, 0))).unwrap() {
        Parsed::Mined(mined) => mined,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tasks_come_from_requests_that_were_corrected() {
    let mined = mined(&[
        "Write a status update for the team",
        "No, keep it under 200 characters.",
        "Now explain how the scheduler works",
    ]);
    let [task] = mined.tasks.as_slice() else {
        panic!("{mined:?}")
    };
    assert_eq!(
        (task.intent.as_str(), task.turns.as_slice()),
        ("Write a status update for the team", &[0, 1][..])
    );
    assert_eq!(
        task.checks,
        feedback::constraints("No, keep it under 200 characters.")
    );
    assert!(!task.checks.is_empty());
}

fn reflected(
    document: &str,
    budget: u32,
    reasons: &[&str],
    criteria: &[&str],
    rejected: &[&str],
) -> Proposed {
    let owned = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let failures = reasons
        .iter()
        .enumerate()
        .map(|(number, reason)| Failure {
            task: format!("t{number}"),
            intent: String::new(),
            response: String::new(),
            reason: (*reason).to_owned(),
            tags: vec![],
        })
        .collect();
    let subject = Subject::Reflect {
        target: TargetKind::Skill,
        document: document.to_owned(),
        other_document: String::new(),
        edit_budget: budget,
        failures,
        contrasts: vec![],
        criteria: owned(criteria),
        guard: String::new(),
        preferences: String::new(),
        rejected: owned(rejected),
    };
    let expect = Expect::of(&subject);
    match parse(&expect, &reply(&call(subject, 0))).unwrap() {
        Parsed::Edits(proposed) => proposed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn failed_checks_become_rules_that_are_not_there_yet() {
    let short = sentence(&check("max_chars", json!(200)));
    let ticket = sentence(&check("contains", json!("Ticket")));
    let criteria = [format!("{short} (missed 3×)"), ticket.clone()];
    let criteria: Vec<&str> = criteria.iter().map(String::as_str).collect();
    let proposed = reflected(
        "",
        4,
        &["failed: max_chars=200", "failed: section_present=Risks"],
        &criteria,
        &[],
    );
    let contents: Vec<&str> = proposed
        .edits
        .iter()
        .map(|edit| edit.content.as_str())
        .collect();
    assert_eq!(
        contents,
        [
            &short,
            &ticket,
            &sentence(&check("section_present", json!("Risks")))
        ]
    );
    assert_eq!(proposed.edits[0].tasks, ["t0"]);
    assert_eq!(
        reflected(&format!("- {short}"), 4, &[], &criteria, &[])
            .edits
            .len(),
        1
    );
    assert_eq!(reflected("", 1, &[], &criteria, &[]).edits.len(), 1);
    assert_eq!(
        reflected("", 4, &[], &criteria, &[&format!("add: {short}")])
            .edits
            .len(),
        1
    );
    assert!(
        reflected(
            "",
            4,
            &[
                "failed: contains=a, max_chars=3",
                "the reference is missing"
            ],
            &["be nice"],
            &[]
        )
        .edits
        .is_empty()
    );
}

#[test]
fn a_judge_counts_the_words_of_the_rubric() {
    let subject = Subject::Judge {
        intent: "i".into(),
        rubric: "names Paris river".into(),
        response: "paris has a river".into(),
    };
    let reply = reply(&call(subject, 0));
    let Ok(Parsed::Score { score, .. }) = parse(&Expect::Score, &reply) else {
        panic!("{reply}")
    };
    // Two of the three words occur.
    assert!((score - 2.0 / 3.0).abs() < 1e-9);
}

proptest! {
    #[test]
    fn any_document_and_request_give_a_reply(intent in "\\PC{0,80}", skill in "\\PC{0,120}", sample in 0_u32..4, limit in 0_u32..300, phrase in "\\PC{1,8}") {
        let document = format!(
            "{skill}\n- {}\n- {}\n- {}",
            sentence(&check("max_chars", json!(limit))),
            sentence(&check("not_contains", json!(phrase))),
            sentence(&check("min_chars", json!(limit / 2))),
        );
        let mut task = Task::new("t", "p", intent);
        task.judge = Judge::None;
        let subject = Subject::Attempt { task: Box::new(task), skill: document, memory: String::new() };
        let reply = reply(&call(subject, sample));
        prop_assert!(reply.chars().count() <= (limit as usize).max(1));
    }
}
