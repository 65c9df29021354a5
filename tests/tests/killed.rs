//! A night that is killed at any commit goes on, pays for no answered call twice, and reports the same.

#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use serde_json::Value;
use skillopt_tests::home::Home;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

/// What must be the same however often the night was killed.
fn essence(report: &Value) -> Value {
    let keep = [
        "outcome",
        "reason",
        "accepted",
        "gate_action",
        "baseline",
        "candidate",
        "n_tasks",
        "n_sessions",
        "edits",
        "gate_trials",
    ];
    keep.iter()
        .map(|key| ((*key).to_owned(), report[*key].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn paid_calls(home: &Home) -> Value {
    let shown = home.run(&["night", "show", "--json"]).json();
    shown["spend"]["calls"].clone()
}

#[test]
fn a_night_killed_at_any_commit_goes_on_from_its_rows() {
    let home = Home::with_sample(PROGRAM);
    let counter = home.path().join("commits");
    let count = counter.to_str().unwrap().to_owned();
    let whole = home.run_with(
        &["sleep", "run", "--json"],
        &[("SKILLOPT_COUNT_COMMITS", &count)],
    );
    assert_eq!(whole.code, 0, "{}", whole.err);
    let expected = essence(&whole.json());
    assert_eq!(expected["outcome"], "proposed");
    let expected_calls = paid_calls(&home);
    let commits: u64 = std::fs::read_to_string(&counter)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(commits > 20, "a night has many commits, not {commits}");

    for commit in 1..=commits {
        for moment in ["before", "after"] {
            std::fs::remove_dir_all(home.data()).unwrap();
            let killed = home.run_with(
                &["sleep", "run", "--json"],
                &[("SKILLOPT_KILL_AT_COMMIT", &format!("{commit}:{moment}"))],
            );
            let at = format!("{commit}:{moment}");
            if commit < commits || moment == "before" {
                assert_eq!(killed.code, -1, "{at}: the process dies there");
            }
            let resumed = home.run(&["sleep", "run", "--json"]);
            assert_eq!(resumed.code, 0, "{at}: {}", resumed.err);
            let resumed = resumed.json();
            if resumed["outcome"] == "nothing_to_do" {
                // Killed after the night had ended: its result is there.
                let nights = home.run(&["night", "list", "--json"]).json();
                assert!(nights.to_string().contains("proposed"), "{at}: {nights}");
                continue;
            }
            assert_eq!(essence(&resumed), expected, "{at}");
            assert_eq!(
                paid_calls(&home),
                expected_calls,
                "{at}: no call is made twice"
            );
            let proposals = home.run(&["proposal", "list", "--json"]).json();
            assert_eq!(proposals.as_array().unwrap().len(), 1, "{at}");
        }
    }
}
