use super::*;
use proptest::prelude::*;

const PLAIN: Rules = Rules {
    no_regression: false,
    min_validation_tasks: 1,
    leaked: false,
};

fn pairs(scores: &[(f64, f64)]) -> Vec<Pair> {
    scores
        .iter()
        .enumerate()
        .map(|(position, &(before, after))| Pair {
            task: position.to_string(),
            tags: Vec::new(),
            before: Some(before),
            after: Some(after),
        })
        .collect()
}

#[test]
fn decides_as_the_reference_on_clean_scores() {
    // §6.2: strictly greater; a regression only blocks when asked to.
    let mean_up = pairs(&[(0.2, 1.0), (0.91, 0.82)]);
    let table = [
        (
            pairs(&[(0.0, 1.0)]),
            PLAIN,
            true,
            "accept_new_best",
            "better",
        ),
        (pairs(&[(0.5, 0.5)]), PLAIN, false, "reject", "tie"),
        (pairs(&[(0.5, 0.4)]), PLAIN, false, "reject", "worse"),
        (mean_up.clone(), PLAIN, true, "accept_new_best", "better"),
        (
            mean_up.clone(),
            Rules {
                no_regression: true,
                ..PLAIN
            },
            false,
            "reject",
            "worse",
        ),
        (
            mean_up.clone(),
            Rules {
                leaked: true,
                ..PLAIN
            },
            false,
            "reject_unverified",
            "indeterminate",
        ),
        (
            mean_up,
            Rules {
                min_validation_tasks: 3,
                ..PLAIN
            },
            false,
            "reject_unverified",
            "indeterminate",
        ),
        (
            Vec::new(),
            PLAIN,
            false,
            "reject_unverified",
            "indeterminate",
        ),
    ];
    for (pairs, rules, accepted, action, verdict) in table {
        let decision = strict(&pairs, rules);
        assert_eq!(decision.accepted, accepted, "{pairs:?}");
        assert_eq!(decision.action.id(), action, "{pairs:?}");
        assert_eq!(decision.verdict.id(), verdict, "{pairs:?}");
    }
}

#[test]
fn a_missing_or_unusable_score_never_counts_as_zero_and_never_lets_in() {
    for missing in [None, Some(f64::NAN), Some(f64::INFINITY)] {
        let mut with_hole = pairs(&[(0.0, 1.0), (0.0, 1.0), (0.5, 0.5)]);
        with_hole[2].after = missing;
        let decision = strict(&with_hole, PLAIN);
        assert!(!decision.accepted);
        assert_eq!(decision.verdict.id(), "indeterminate");
        assert_eq!((decision.before, decision.after), (Some(0.0), Some(1.0)));
    }
}

#[test]
fn rounding_is_no_improvement() {
    // 0.1 + 0.7 is a little less than 0.8 + 0.0 in binary.
    let decision = strict(&pairs(&[(0.1, 0.8), (0.7, 0.0)]), PLAIN);
    assert_eq!(decision.verdict, Verdict::Tie);
    assert_eq!((decision.wins, decision.losses), (1, 1));
    let decision = strict(&pairs(&[(0.1 + 0.2, 0.3), (0.3, 0.1 + 0.2)]), PLAIN);
    assert_eq!((decision.verdict.id(), decision.ties), ("tie", 2));
    // One check of a hundred in one task of a hundred is an improvement.
    let mut scores = vec![(0.5, 0.5); 99];
    scores.push((0.5, 0.51));
    assert_eq!(strict(&pairs(&scores), PLAIN).verdict, Verdict::Better);
}

#[test]
fn metrics_weigh_as_the_reference_does() {
    // §6.2: (1 − w)·hard + w·soft, w clamped to [0, 1]; §13.1: 0.5·0 + 0.5·0.6667.
    for (metric, expected) in [
        (Metric::Hard, 0.0),
        (Metric::Soft, 2.0 / 3.0),
        (Metric::Mixed(0.5), 1.0 / 3.0),
        (Metric::Mixed(-3.0), 0.0),
        (Metric::Mixed(7.0), 2.0 / 3.0),
        (Metric::Mixed(f64::NAN), 0.0),
    ] {
        let value = metric.combine(0.0, 2.0 / 3.0);
        assert!((value - expected).abs() < 1e-12, "{metric:?}: {value}");
    }
    assert_eq!(
        Metric::Soft.combine(0.0, 7.0),
        1.0,
        "§14 #30: never above 1"
    );
}

#[test]
fn trials_have_the_shape_of_the_report() {
    // §1.6, with ours after it.
    let mut pairs = pairs(&[(0.0, 1.0), (0.5, 0.5)]);
    pairs[0].tags = vec!["mined:llm".to_owned()];
    pairs[1].after = Some(f64::NAN);
    let trial = strict(&pairs, PLAIN).trial_json("skill");
    let keys: Vec<&str> = trial
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys[..6],
        [
            "target",
            "baseline_score",
            "candidate_score",
            "accepted",
            "blocked_by_regression",
            "task_deltas"
        ]
    );
    assert_eq!(
        trial["task_deltas"],
        json!([
            {"task_id": "0", "tags": ["mined:llm"], "baseline_score": 0.0, "candidate_score": 1.0,
             "status": "improved", "scores_are_finite": true},
            {"task_id": "1", "tags": [], "baseline_score": 0.5, "candidate_score": null,
             "status": "regressed", "scores_are_finite": false},
        ])
    );
}

#[test]
fn sentences_say_counts() {
    let decision = strict(&pairs(&[(0.0, 1.0), (0.0, 1.0), (1.0, 1.0)]), PLAIN);
    assert_eq!(
        decision.sentence(),
        "Better on 2 of 3 held-out tasks, worse on none."
    );
}

fn arbitrary_pairs() -> impl Strategy<Value = Vec<Pair>> {
    let score = || {
        prop_oneof![
            8 => (0_u8..=4).prop_map(|quarters| Some(f64::from(quarters) / 4.0)),
            1 => Just(None),
            1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(7.0)].prop_map(Some),
        ]
    };
    prop::collection::vec((score(), score()), 0..12).prop_map(|scores| {
        scores
            .into_iter()
            .enumerate()
            .map(|(position, (before, after))| Pair {
                task: position.to_string(),
                tags: Vec::new(),
                before,
                after,
            })
            .collect()
    })
}

proptest! {
    /// The reference's rule (§6.2) on scores that are there, abstention on all else.
    #[test]
    fn only_a_verified_improvement_is_let_in(
        pairs in arbitrary_pairs(), no_regression: bool, leaked: bool, min_validation_tasks in 0_usize..5
    ) {
        let decision = strict(&pairs, Rules { no_regression, min_validation_tasks, leaked });
        let finite = |score: Option<f64>| score.is_some_and(f64::is_finite);
        let complete = pairs.iter().all(|pair| finite(pair.before) && finite(pair.after));
        let clamped = |score: Option<f64>| score.unwrap_or_default().clamp(0.0, 1.0);
        let gain: f64 = pairs.iter().map(|pair| clamped(pair.after) - clamped(pair.before)).sum();
        let worse = pairs.iter().any(|pair| clamped(pair.after) < clamped(pair.before));
        let verified = complete && !leaked && pairs.len() >= min_validation_tasks.max(1);
        // Quarters add up exactly.
        prop_assert_eq!(decision.accepted, verified && gain > 0.0 && !(no_regression && worse));
        prop_assert_eq!(decision.accepted, decision.verdict == Verdict::Better);
        prop_assert_eq!(decision.accepted, decision.action == Action::AcceptNewBest);
        prop_assert_eq!(!verified, decision.action == Action::RejectUnverified);
        prop_assert_eq!(decision.wins + decision.losses + decision.ties + decision.unscored, pairs.len());
    }

    #[test]
    fn the_same_document_twice_is_never_better(scores in prop::collection::vec(0.0_f64..=1.0, 1..40)) {
        let same: Vec<(f64, f64)> = scores.iter().map(|&score| (score, score)).collect();
        prop_assert_eq!(strict(&pairs(&same), PLAIN).verdict.id(), "tie");
    }

    #[test]
    fn the_order_of_tasks_does_not_matter(scores in prop::collection::vec((0.0_f64..=1.0, 0.0_f64..=1.0), 1..40)) {
        let forward = strict(&pairs(&scores), PLAIN);
        let mut reversed = pairs(&scores);
        reversed.reverse();
        let backward = strict(&reversed, PLAIN);
        prop_assert_eq!(forward.verdict, backward.verdict);
        prop_assert_eq!(forward.after, backward.after);
    }
}
