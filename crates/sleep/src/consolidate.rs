//! Consolidation: one agent's skill and memory, from the baseline to a verdict per target (§6.2).
//!
//! ```text
//! baseline (validation) ─ train ─ reflect skill ─ trial ─ train again ─ reflect memory ─ trial ─ final
//! ```
//!
//! The scores of the final documents are those of the last trial that was accepted: the same calls
//! have the same answers within a night, so nothing is asked twice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use skillopt_core::apply::{self, Applied};
use skillopt_core::document::{Target, TargetKind};
use skillopt_core::edit::{Edit, Unmatched};
use skillopt_core::gate::{self, Decision, Metric, Pair, Rules};
use skillopt_core::redact::Redactor;
use skillopt_core::reply::Parsed;
use skillopt_core::task::{Judge, Split, Task};
use skillopt_models::Ask;
use skillopt_settings::{GateMode, Settings};

use crate::estimate;
use crate::night::Night;
use crate::outcome::Stop;
use crate::reflect::{self, Material};
use crate::replay::{self, Documents, Rollout};

/// One document's way through the night.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetResult {
    /// The target.
    pub target: Target,
    /// The text the edits were applied to: the pinned one, or the scaffold of a new skill.
    pub base: String,
    /// The candidate, when the gate let it in.
    pub proposed: Option<String>,
    /// The gate's word; `None` when no edit applied, so that nothing was tried.
    pub decision: Option<Decision>,
    /// Edits of the proposed candidate.
    pub applied: Vec<Edit>,
    /// Edits that were tried and did not help, or were left unverified.
    pub rejected: Vec<Edit>,
    /// Edits that could not be applied.
    pub unmatched: Vec<(Edit, Unmatched)>,
    /// The optimizer's reply could not be read.
    pub unreadable: bool,
}

/// What consolidation gives for one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consolidated {
    /// Scores of the pinned documents on validation, by task.
    pub baseline: Vec<Rollout>,
    /// Scores of the final documents on validation.
    pub final_rollouts: Vec<Rollout>,
    /// Training attempts that passed, and how many were scored.
    pub train_passed: usize,
    /// See above.
    pub train_scored: usize,
    /// Mean score of the test slice on pinned and final documents, when there is one.
    pub test: Option<(Option<f64>, Option<f64>)>,
    /// One per target that may change.
    pub targets: Vec<TargetResult>,
    /// The decision over both documents together.
    pub overall: Decision,
}

/// The tasks of one agent by slice.
pub(crate) struct Slices {
    pub(crate) train: Vec<Task>,
    pub(crate) validation: Vec<Task>,
    pub(crate) test: Vec<Task>,
    /// Train and validation are not apart: the gate abstains.
    pub(crate) leaked: bool,
}

impl Slices {
    /// A task that nothing can judge is in none of them: its replay would be paid for and have no score.
    pub(crate) fn of(tasks: &[Task]) -> Self {
        let slice = |split| {
            tasks
                .iter()
                .filter(|task| task.split == split && task.judge != Judge::None)
                .cloned()
                .collect::<Vec<_>>()
        };
        let train = slice(Split::Train);
        let validation = slice(Split::Validation);
        let leaked = train.iter().any(|task| {
            validation.iter().any(|held| {
                held.id == task.id
                    || (!held.cluster.is_empty() && held.cluster == task.cluster)
                    || task
                        .sessions
                        .iter()
                        .any(|session| held.sessions.contains(session))
            })
        });
        Self {
            train,
            validation,
            test: slice(Split::Test),
            leaked,
        }
    }
}

/// Whether the settings let documents of this kind change.
pub(crate) const fn changeable(settings: &Settings, kind: TargetKind) -> bool {
    match kind {
        TargetKind::Skill => settings.skill,
        TargetKind::Memory => settings.memory,
    }
}

/// Whether held-out tasks are tried: only if a verdict can come of it.
pub(crate) fn validates(settings: &Settings, slices: &Slices) -> bool {
    settings.mode == GateMode::Strict
        && !slices.leaked
        && slices.validation.len() >= settings.min_validation_tasks as usize
}

/// How the gate is to decide, from the settings.
pub(crate) fn rules(night: &Night<'_>, leaked: bool) -> Rules {
    let settings = &night.context.settings;
    Rules {
        no_regression: settings.no_regression,
        min_validation_tasks: settings.min_validation_tasks as usize,
        leaked,
    }
}

pub(crate) fn metric(night: &Night<'_>) -> Metric {
    match night.context.settings.metric {
        skillopt_settings::Metric::Hard => Metric::Hard,
        skillopt_settings::Metric::Soft => Metric::Soft,
        skillopt_settings::Metric::Mixed => Metric::Mixed(night.context.settings.mixed_weight),
    }
}

/// Runs one agent's part of the night.
pub(crate) async fn consolidate(
    night: &Night<'_>,
    agent: &str,
    slices: &Slices,
    targets: &[Target],
    rejected_before: &BTreeMap<&str, Vec<String>>,
) -> Result<Consolidated, Stop> {
    let settings = &night.context.settings;
    let gated = settings.mode == GateMode::Strict;
    let validates = validates(settings, slices);
    let metric = metric(night);
    let rules = rules(night, slices.leaked);
    let bases: Vec<String> = targets.iter().map(base_text).collect();
    let pinned = documents(targets, &bases);
    // Kept so that a chosen subset of rules can be tested later on the same held-out tasks.
    night.keep(&format!("{agent}/validation"), &slices.validation)?;
    night.keep(&format!("{agent}/pinned"), &pinned)?;
    // A candidate is at most a few rules longer than what is there.
    let per_pass = estimate::pass(&night.path, &slices.validation, &pinned);
    let validate = |name: &'static str, documents: Documents| async move {
        if validates {
            night.release(per_pass)?;
            replay::pass(
                night,
                &format!("{agent}/{name}"),
                &slices.validation,
                &documents,
                1,
            )
            .await
        } else {
            Ok(Vec::new())
        }
    };
    let baseline = validate("baseline", pinned.clone()).await?;
    let mut train = replay::pass(
        night,
        &format!("{agent}/train"),
        &slices.train,
        &pinned,
        settings.rollouts,
    )
    .await?;

    let mut current = pinned.clone();
    let mut best = baseline.clone();
    let mut results = Vec::new();
    for (target, base) in targets.iter().zip(bases) {
        let kind = target.kind;
        if !changeable(settings, kind) {
            continue;
        }
        if kind == TargetKind::Memory && current != pinned {
            // The memory only has to teach what the new skill does not (§6.2 step 4).
            train = replay::pass(
                night,
                &format!("{agent}/train_again"),
                &slices.train,
                &current,
                settings.rollouts,
            )
            .await?;
        }
        let mut result = TargetResult {
            target: target.clone(),
            base: base.clone(),
            proposed: None,
            decision: None,
            applied: Vec::new(),
            rejected: Vec::new(),
            unmatched: Vec::new(),
            unreadable: false,
        };
        let material = Material {
            kind,
            tasks: &slices.train,
            rollouts: &train,
            documents: &current,
            metric,
            edit_budget: settings.edit_budget,
            preferences: &settings.preferences,
            rejected: rejected_before
                .get(target.id.as_str())
                .cloned()
                .unwrap_or_default(),
        };
        let edits = reflect_edits(
            night,
            &format!("{agent}/reflect/{}", kind.id()),
            &material,
            &mut result,
        )
        .await?;
        let (edits, redacted) = apart_from_secrets(
            edits,
            &base,
            &Redactor::with_false_alarms(&settings.false_alarms),
        );
        let Applied {
            document,
            applied,
            unmatched,
        } = apply::apply(&base, &edits).map_err(|fault| Stop::Failed(fault.problem()))?;
        result.unmatched = unmatched;
        result.unmatched.extend(redacted);
        if !applied.is_empty() {
            let candidate = with_document(&current, kind, &document);
            let accepted = if gated {
                let name = match kind {
                    TargetKind::Skill => "trial/skill",
                    TargetKind::Memory => "trial/memory",
                };
                let after = validate(name, candidate.clone()).await?;
                let decision =
                    gate::strict(&pairs(&slices.validation, &best, &after, metric), rules);
                night.event(
                    "gate/trial",
                    &json!({"target": target.id, "decision": decision}),
                )?;
                let accepted = decision.accepted;
                if accepted {
                    best = after;
                }
                result.decision = Some(decision);
                accepted
            } else {
                result.decision = Some(gate::greedy(true));
                true
            };
            if accepted {
                current = candidate;
                result.proposed = Some(document);
                result.applied = applied;
            } else {
                result.rejected = applied;
            }
        }
        results.push(result);
    }

    let changed = results.iter().any(|result| result.proposed.is_some());
    let overall = if gated {
        gate::strict(&pairs(&slices.validation, &baseline, &best, metric), rules)
    } else {
        gate::greedy(changed)
    };
    if gated && !overall.accepted {
        // The final comparison failed: what was let in on the way goes back (§6.2).
        for result in &mut results {
            result.proposed = None;
            result.rejected.append(&mut result.applied);
        }
        current = pinned.clone();
    }
    night.event(
        "gate/decision",
        &json!({"agent": agent, "decision": overall}),
    )?;
    let test = test_scores(night, agent, slices, &pinned, &current, metric).await?;
    Ok(Consolidated {
        final_rollouts: if current == pinned {
            baseline.clone()
        } else {
            best
        },
        baseline,
        train_passed: train.iter().filter(|rollout| passed(rollout)).count(),
        train_scored: train
            .iter()
            .filter(|rollout| rollout.score.is_some())
            .count(),
        test,
        targets: results,
        overall,
    })
}

fn passed(rollout: &Rollout) -> bool {
    rollout
        .score
        .as_ref()
        .is_some_and(|score| score.hard >= 1.0)
}

/// Sets aside the edits that touch a place where a secret was left out of the document `base` as the
/// optimizer saw it: they would drop text that their author never saw.
fn apart_from_secrets(
    edits: Vec<Edit>,
    base: &str,
    redactor: &Redactor,
) -> (Vec<Edit>, Vec<(Edit, Unmatched)>) {
    let seen = redactor.redact(base).text;
    let (redacted, kept): (Vec<Edit>, Vec<Edit>) = edits
        .into_iter()
        .partition(|edit| apply::touches_redaction(edit, &seen));
    let redacted = redacted
        .into_iter()
        .map(|edit| (edit, Unmatched::Redacted))
        .collect();
    (kept, redacted)
}

/// Asks the optimizer for edits of one document. An unreadable reply is no edit, and said.
async fn reflect_edits(
    night: &Night<'_>,
    stage: &str,
    material: &Material<'_>,
    result: &mut TargetResult,
) -> Result<Vec<Edit>, Stop> {
    let Some(subject) = reflect::subject(material) else {
        return Ok(Vec::new());
    };
    let replies = night.ask(stage, || vec![Ask { subject, sample: 0 }]).await;
    let replies = match replies {
        Err(Stop::Failed(problem)) if problem.code == "reply_unreadable" => {
            result.unreadable = true;
            return Ok(Vec::new());
        }
        other => other?,
    };
    let edits = replies
        .into_iter()
        .flatten()
        .find_map(|reply| match reply.parsed {
            Parsed::Edits(proposed) => Some(proposed.edits),
            Parsed::Text(_) | Parsed::Calls(_) | Parsed::Mined(_) | Parsed::Score { .. } => None,
        });
    Ok(reflect::with_evidence(edits.unwrap_or_default(), material))
}

/// Scores of the test slice, on the pinned documents and, if they changed, on the final ones.
async fn test_scores(
    night: &Night<'_>,
    agent: &str,
    slices: &Slices,
    pinned: &Documents,
    last: &Documents,
    metric: Metric,
) -> Result<Option<(Option<f64>, Option<f64>)>, Stop> {
    if slices.test.is_empty() {
        return Ok(None);
    }
    let score = |rollouts: &[Rollout]| {
        let values: Vec<f64> = slices
            .test
            .iter()
            .filter_map(|task| replay::mean(rollouts, &task.id, |score| score.value(metric)))
            .collect();
        gate::mean(values)
    };
    let before = replay::pass(night, &format!("{agent}/test"), &slices.test, pinned, 1).await?;
    if pinned == last {
        let value = score(&before);
        return Ok(Some((value, value)));
    }
    let after = replay::pass(night, &format!("{agent}/test/final"), &slices.test, last, 1).await?;
    Ok(Some((score(&before), score(&after))))
}

/// Paired scores of every validation task.
pub(crate) fn pairs(
    tasks: &[Task],
    before: &[Rollout],
    after: &[Rollout],
    metric: Metric,
) -> Vec<Pair> {
    tasks
        .iter()
        .map(|task| Pair {
            task: task.id.clone(),
            tags: task.tags.clone(),
            before: replay::mean(before, &task.id, |score| score.value(metric)),
            after: replay::mean(after, &task.id, |score| score.value(metric)),
        })
        .collect()
}

/// The text edits are applied to: the pinned one, or the scaffold of a skill that does not exist yet.
pub(crate) fn base_text(target: &Target) -> String {
    match target.kind {
        TargetKind::Skill if target.text().trim().is_empty() => {
            skillopt_core::region::scaffold(skill_name(&target.path))
        }
        TargetKind::Skill | TargetKind::Memory => target.text().to_owned(),
    }
}

/// The folder of a `SKILL.md` is the skill's name.
pub(crate) fn skill_name(path: &str) -> &str {
    let mut parts = path.rsplit(['/', '\\']);
    parts.next();
    parts.next().unwrap_or("skill")
}

pub(crate) fn documents(targets: &[Target], texts: &[String]) -> Documents {
    let mut documents = Documents::default();
    for (target, text) in targets.iter().zip(texts) {
        documents = with_document(&documents, target.kind, text);
    }
    documents
}

pub(crate) fn with_document(documents: &Documents, kind: TargetKind, text: &str) -> Documents {
    let mut documents = documents.clone();
    match kind {
        TargetKind::Skill => text.clone_into(&mut documents.skill),
        TargetKind::Memory => text.clone_into(&mut documents.memory),
    }
    documents
}

#[cfg(test)]
mod tests {
    use skillopt_core::edit::EditOp;

    use super::*;

    #[test]
    fn a_rule_with_a_secret_is_not_replaced_by_who_did_not_see_it() {
        let add = |content: &str| Edit {
            op: EditOp::Add,
            content: content.to_owned(),
            anchor: String::new(),
            rationale: String::new(),
            tasks: Vec::new(),
            turns: Vec::new(),
        };
        let key = format!("sk-proj-{}", "A1b2C3d4".repeat(5));
        let rules = [
            add("Keep replies short."),
            add(&format!("Send the key {key} with every call.")),
        ];
        let base = apply::apply("# Notes\n", &rules).unwrap().document;
        let edit = |op, anchor: &str| Edit {
            op,
            anchor: anchor.to_owned(),
            ..add("Something else.")
        };
        let edits = vec![
            edit(EditOp::Delete, "with every call"),
            edit(EditOp::Replace, "Keep replies short"),
        ];
        let (kept, redacted) = apart_from_secrets(edits, &base, &Redactor::default());
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].op, EditOp::Replace);
        assert_eq!(redacted.len(), 1);
        assert_eq!(redacted[0].1, Unmatched::Redacted);
        // Said to be no secret, it was seen as it is.
        let told = Redactor::with_false_alarms(&[key]);
        let edits = vec![edit(EditOp::Delete, "with every call")];
        assert_eq!(apart_from_secrets(edits, &base, &told).0.len(), 1);
    }
}
