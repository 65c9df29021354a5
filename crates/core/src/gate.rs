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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "GateAction"))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
    } else if deltas.is_empty() || deltas.len() < rules.min_validation_tasks {
        indeterminate(format!(
            "{} of at least {} held-out tasks",
            deltas.len(),
            rules.min_validation_tasks.max(1)
        ))
    } else if unscored > 0 {
        indeterminate(format!(
            "{unscored} of {} held-out tasks could not be scored",
            deltas.len()
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
mod tests;
