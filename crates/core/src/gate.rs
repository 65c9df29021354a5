//! The gate: whether a candidate is better than what is there, on held-out tasks (§6.2).
//!
//! `strict` is a pure function from paired scores and flags to a decision. Scores are finite and in
//! `[0, 1]`; a call that failed has no score, and a task without a score on one side is never counted
//! as 0: it makes the verdict indeterminate.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How hard and soft scores become one number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// All or nothing.
    Hard,
    /// Partial credit.
    Soft,
    /// `(1 − w)·hard + w·soft`, with `w` clamped to `[0, 1]`.
    Mixed(f64),
}

impl Metric {
    /// One number from a pair of scores, clamped to `[0, 1]`.
    #[must_use]
    pub fn combine(self, hard: f64, soft: f64) -> f64 {
        let (hard, soft) = (unit(hard), unit(soft));
        match self {
            Self::Hard => hard,
            Self::Soft => soft,
            Self::Mixed(weight) => {
                let weight = unit(weight);
                (1.0 - weight) * hard + weight * soft
            }
        }
    }
}

/// Scores that differ by less are equal: sums of thirds and tenths come out a little different in
/// another order, and a rounding error must not let a candidate in. The smallest real difference of
/// two means, one check in one task, is far larger.
const ROUNDING: f64 = 1e-9;

/// How `after` compares with `before`.
fn change(before: f64, after: f64) -> Change {
    if (after - before).abs() < ROUNDING {
        Change::Unchanged
    } else if after > before {
        Change::Improved
    } else {
        Change::Regressed
    }
}

/// `value` clamped to `[0, 1]`; NaN is 0.
fn unit(value: f64) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0)
    }
}

/// One held-out task under both documents. `None`: no real reply could be scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The task.
    pub task: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Score under the current document.
    pub before: Option<f64>,
    /// Score under the candidate.
    pub after: Option<f64>,
}

/// How one task changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Better than before.
    Improved,
    /// Worse than before, or without a finite score on one side.
    Regressed,
    /// The same.
    Unchanged,
}

impl Change {
    /// The reference's word (§1.6).
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// One row of a trial's table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delta {
    /// The task.
    pub task: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Score under the current document.
    pub before: Option<f64>,
    /// Score under the candidate.
    pub after: Option<f64>,
    /// How it changed.
    pub status: Change,
}

impl Delta {
    /// Whether both sides have a finite score.
    #[must_use]
    pub fn is_scored(&self) -> bool {
        self.before.is_some() && self.after.is_some()
    }
}

/// What the scores say about the candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// The mean is strictly higher.
    Better,
    /// The mean is the same.
    Tie,
    /// The mean is lower, or a regression blocks.
    Worse,
    /// The scores cannot tell.
    Indeterminate {
        /// Why, to complete "too little to tell (…)".
        reason: String,
    },
}

impl Verdict {
    /// The word used in rows and `--json`.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Tie => "tie",
            Self::Worse => "worse",
            Self::Indeterminate { .. } => "indeterminate",
        }
    }
}

/// What the gate did, in the reference's words (§6.2, §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Let in.
    AcceptNewBest,
    /// Not let in.
    Reject,
    /// Not let in because the evidence cannot validate it.
    RejectUnverified,
    /// The gate is off and edits were applied.
    GreedyApplied,
    /// The gate is off and there was nothing to apply.
    GreedyNoop,
}

impl Action {
    /// The reference's word.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::AcceptNewBest => "accept_new_best",
            Self::Reject => "reject",
            Self::RejectUnverified => "reject_unverified",
            Self::GreedyApplied => "greedy_applied",
            Self::GreedyNoop => "greedy_noop",
        }
    }
}

/// How strict decides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// One task that got worse blocks.
    pub no_regression: bool,
    /// Fewer scored pairs than this are too few to tell.
    pub min_validation_tasks: usize,
    /// Held-out and training tasks were not apart: nothing can be validated.
    pub leaked: bool,
}

/// The decision on one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Whether the candidate is let in.
    pub accepted: bool,
    /// The reference's word for it.
    pub action: Action,
    /// What the scores say.
    pub verdict: Verdict,
    /// Mean score under the current document, over pairs scored on both sides; `None` without any.
    pub before: Option<f64>,
    /// Mean score under the candidate, over the same pairs.
    pub after: Option<f64>,
    /// Tasks that got better.
    pub wins: usize,
    /// Tasks that got worse.
    pub losses: usize,
    /// Tasks that stayed the same.
    pub ties: usize,
    /// Tasks without a score on one side.
    pub unscored: usize,
    /// A regression would have blocked although the mean is higher.
    pub blocked_by_regression: bool,
    /// Held-out and training tasks were not apart.
    pub leaked: bool,
    /// Every task.
    pub deltas: Vec<Delta>,
}

/// The decision on a candidate by strict improvement of the mean (§6.2).
#[must_use]
pub fn strict(pairs: &[Pair], rules: Rules) -> Decision {
    let deltas: Vec<Delta> = pairs.iter().map(delta).collect();
    let count = |status| {
        deltas
            .iter()
            .filter(|delta| delta.is_scored() && delta.status == status)
            .count()
    };
    let scored: Vec<&Delta> = deltas.iter().filter(|delta| delta.is_scored()).collect();
    let before = mean(scored.iter().filter_map(|delta| delta.before));
    let after = mean(scored.iter().filter_map(|delta| delta.after));
    let unscored = deltas.len() - scored.len();
    let (wins, losses, ties) = (
        count(Change::Improved),
        count(Change::Regressed),
        count(Change::Unchanged),
    );
    let means = before
        .zip(after)
        .map(|(before, after)| change(before, after));
    let higher = means == Some(Change::Improved);
    let blocked_by_regression =
        rules.no_regression && deltas.iter().any(|delta| delta.status == Change::Regressed);
    let verdict = if rules.leaked {
        indeterminate("held-out and training tasks were not apart".to_owned())
    } else if unscored > 0 {
        indeterminate(format!(
            "{unscored} of {} held-out tasks could not be scored",
            deltas.len()
        ))
    } else if scored.is_empty() || scored.len() < rules.min_validation_tasks {
        indeterminate(format!(
            "{} of at least {} held-out tasks",
            scored.len(),
            rules.min_validation_tasks.max(1)
        ))
    } else if higher && !blocked_by_regression {
        Verdict::Better
    } else if means == Some(Change::Unchanged) {
        Verdict::Tie
    } else {
        Verdict::Worse
    };
    let accepted = verdict == Verdict::Better;
    let action = match verdict {
        Verdict::Better => Action::AcceptNewBest,
        Verdict::Tie | Verdict::Worse => Action::Reject,
        Verdict::Indeterminate { .. } => Action::RejectUnverified,
    };
    Decision {
        accepted,
        action,
        verdict,
        before,
        after,
        wins,
        losses,
        ties,
        unscored,
        blocked_by_regression: blocked_by_regression && higher,
        leaked: rules.leaked,
        deltas,
    }
}

fn indeterminate(reason: String) -> Verdict {
    Verdict::Indeterminate { reason }
}

/// The decision when the gate is off (§6.3): nothing is compared, what applies is applied.
#[must_use]
pub const fn greedy(applied: bool) -> Decision {
    Decision {
        accepted: applied,
        action: if applied {
            Action::GreedyApplied
        } else {
            Action::GreedyNoop
        },
        verdict: Verdict::Indeterminate {
            reason: String::new(),
        },
        before: None,
        after: None,
        wins: 0,
        losses: 0,
        ties: 0,
        unscored: 0,
        blocked_by_regression: false,
        leaked: false,
        deltas: Vec::new(),
    }
}

fn delta(pair: &Pair) -> Delta {
    let finite = |score: Option<f64>| score.filter(|score| score.is_finite()).map(unit);
    let (before, after) = (finite(pair.before), finite(pair.after));
    let status = match (before, after) {
        (Some(before), Some(after)) => change(before, after),
        // §6.2: a missing score on either side counts as a regression.
        _ => Change::Regressed,
    };
    Delta {
        task: pair.task.clone(),
        tags: pair.tags.clone(),
        before,
        after,
        status,
    }
}

/// Arithmetic mean; `None` of nothing. The values are added in ascending order, so that the order of
/// the tasks cannot change a verdict by a rounding error.
#[must_use]
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a night has far fewer tasks than 2^52"
    )]
    let count = values.len() as f64;
    Some(values.iter().sum::<f64>() / count)
}

impl Decision {
    /// The verdict for a person, counts before percentages.
    #[must_use]
    pub fn sentence(&self) -> String {
        let n = self.deltas.len();
        match &self.verdict {
            Verdict::Better if self.losses == 0 => {
                format!(
                    "Better on {} of {n} held-out tasks, worse on none.",
                    self.wins
                )
            }
            Verdict::Better => format!(
                "Better on {} of {n} held-out tasks, worse on {}.",
                self.wins, self.losses
            ),
            Verdict::Tie if self.wins == 0 => format!("No difference on {n} held-out tasks."),
            Verdict::Tie => format!(
                "Better on {} and worse on {} of {n} held-out tasks.",
                self.wins, self.losses
            ),
            Verdict::Worse if self.blocked_by_regression => {
                format!(
                    "Better on {} of {n} held-out tasks, but worse on {}, which blocks it.",
                    self.wins, self.losses
                )
            }
            Verdict::Worse => format!(
                "Worse on {} of {n} held-out tasks, better on {}.",
                self.losses, self.wins
            ),
            Verdict::Indeterminate { reason } if reason.is_empty() => {
                "Not tested: the gate is off.".to_owned()
            }
            Verdict::Indeterminate { reason } => format!("Too little to tell: {reason}."),
        }
    }

    /// One element of `gate_trials` (§1.6); `target` is `skill`, `memory` or `final`.
    #[must_use]
    pub fn trial_json(&self, target: &str) -> Value {
        let deltas: Vec<Value> = self
            .deltas
            .iter()
            .map(|delta| {
                json!({
                    "task_id": delta.task,
                    "tags": delta.tags,
                    "baseline_score": delta.before,
                    "candidate_score": delta.after,
                    "status": delta.status,
                    "scores_are_finite": delta.is_scored(),
                })
            })
            .collect();
        json!({
            "target": target,
            "baseline_score": self.before,
            "candidate_score": self.after,
            "accepted": self.accepted,
            "blocked_by_regression": self.blocked_by_regression,
            "task_deltas": deltas,
            "verdict": self.verdict.id(),
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
        })
    }
}

#[cfg(test)]
mod tests {
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
}
