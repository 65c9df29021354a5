//! The numbers the reference prints for its two personas (§13.1), from tasks, splits and judges alone.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use skillopt_core::gate::{self, Metric, Pair, Rules, Verdict};
use skillopt_core::judge;
use skillopt_core::personas::Persona;
use skillopt_core::split::{self, Fractions};
use skillopt_core::task::{Judge, Outcome, Split, Task};

/// A near miss of the simulated model (§10.2): the reference without its last two characters.
fn near_miss(reference: &str) -> String {
    let kept = reference.chars().count() - 2;
    let cut: String = reference.chars().take(kept).collect();
    format!("I believe it is {cut}")
}

fn held_out(persona: Persona) -> Vec<Task> {
    let mut tasks = persona.tasks();
    split::assign(&mut tasks, &[], Fractions::new(0.34, 0.0).unwrap(), 42);
    tasks.retain(|task| task.split == Split::Validation);
    tasks
}

fn reference(task: &Task) -> &str {
    match &task.judge {
        Judge::Exact(reference) => reference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn baseline_and_best_score_are_the_references() {
    let metric = Metric::Mixed(0.5);
    for (persona, baseline) in [(Persona::Researcher, 0.3333), (Persona::Programmer, 0.3194)] {
        let pairs: Vec<Pair> = held_out(persona)
            .iter()
            .map(|task| {
                let reference = reference(task);
                let before = judge::exact(reference, &near_miss(reference));
                assert_eq!(before.hard, 0.0);
                let after = judge::exact(reference, &format!("<answer>{reference}</answer>"));
                Pair {
                    task: task.id.clone(),
                    tags: task.tags.clone(),
                    before: Some(before.value(metric)),
                    after: Some(after.value(metric)),
                }
            })
            .collect();
        let rules = Rules {
            no_regression: true,
            min_validation_tasks: 3,
            leaked: false,
        };
        let decision = gate::strict(&pairs, rules);
        let rounded = (decision.before.unwrap() * 10_000.0).round() / 10_000.0;
        assert_eq!(rounded, baseline, "{persona:?}");
        assert_eq!(decision.after, Some(1.0));
        assert_eq!(decision.verdict, Verdict::Better);
        assert_eq!(decision.losses, 0);
    }
}

#[test]
fn the_fixture_is_as_documented() {
    for (persona, count, rule, tags) in [
        (
            Persona::Researcher,
            12,
            "wrap-answer",
            ["rule:wrap-answer", "rule:arxiv-id"].as_slice(),
        ),
        (
            Persona::Programmer,
            8,
            "commit-imperative",
            ["rule:commit-imperative"].as_slice(),
        ),
    ] {
        let tasks = persona.tasks();
        assert_eq!(tasks.len(), count);
        for (position, task) in tasks.iter().enumerate() {
            assert_eq!(task.id, format!("persona_{rule}_{position}"));
            assert_eq!(task.tags, tags);
            assert_eq!(task.outcome, Outcome::Fail);
            assert_eq!(task.sessions.len(), 1, "one source session each");
            assert!(
                !task.intent.contains(reference(task)),
                "the request gives nothing away"
            );
        }
        assert_eq!(Persona::from_id(persona.id()), Some(persona));
    }
    let references: Vec<String> = Persona::Researcher
        .tasks()
        .iter()
        .map(|task| reference(task).to_owned())
        .collect();
    assert_eq!(
        references[..3],
        ["arXiv:2605.23904", "arXiv:1706.03762", "arXiv:1406.2661"]
    );
    assert_eq!(references[11], "arXiv:2005.14165");
    let programmer = Persona::Programmer.tasks();
    assert_eq!(reference(&programmer[4]), "Bump version to 1.2.0");
}
