//! Reflection: what the optimizer is shown of the training slice.

use std::collections::BTreeMap;

use skillopt_core::call::{Contrast, Failure, Subject};
use skillopt_core::check;
use skillopt_core::document::TargetKind;
use skillopt_core::edit::Edit;
use skillopt_core::gate::Metric;
use skillopt_core::task::{Judge, Task};
use skillopt_core::text::{cut, one_line};

use crate::replay::{Documents, Rollout};

/// How many failures an optimizer is shown (§15.2).
const FAILURES: usize = 8;
/// Length of their excerpts, in code points (§15.2).
const EXCERPT: usize = 160;
/// How many better/worse pairs (§5.6), and the length of their replies.
const CONTRASTS: usize = 6;
const CONTRAST_EXCERPT: usize = 200;
/// Length of the output contract of a benchmark task (§6.4).
const GUARD: usize = 900;

/// What a reflection starts from.
pub(crate) struct Material<'a> {
    pub(crate) kind: TargetKind,
    pub(crate) tasks: &'a [Task],
    pub(crate) rollouts: &'a [Rollout],
    pub(crate) documents: &'a Documents,
    pub(crate) metric: Metric,
    pub(crate) edit_budget: u32,
    pub(crate) preferences: &'a str,
    pub(crate) rejected: Vec<String>,
}

/// The question to the optimizer; `None` when nothing failed (§6.4: no failures, no call).
pub(crate) fn subject(material: &Material<'_>) -> Option<Subject> {
    let failed = failed(material);
    if failed.is_empty() {
        return None;
    }
    let contrasts = contrasts(material);
    let guard = failed
        .iter()
        .map(|(task, _)| task.system.trim())
        .find(|system| !system.is_empty())
        .map_or_else(String::new, |system| cut(system, GUARD));
    let (document, other_document) = match material.kind {
        TargetKind::Skill => (&material.documents.skill, &material.documents.memory),
        TargetKind::Memory => (&material.documents.memory, &material.documents.skill),
    };
    Some(Subject::Reflect {
        target: material.kind,
        document: document.clone(),
        other_document: other_document.clone(),
        edit_budget: material.edit_budget,
        criteria: criteria(&failed),
        failures: failed
            .iter()
            .take(FAILURES)
            .map(|(task, rollout)| failure(task, rollout))
            .collect(),
        contrasts,
        guard,
        preferences: material.preferences.to_owned(),
        rejected: material.rejected.clone(),
    })
}

/// The tasks with a scored attempt that did not pass, each with its worst attempt.
fn failed<'a>(material: &Material<'a>) -> Vec<(&'a Task, &'a Rollout)> {
    material
        .tasks
        .iter()
        .filter_map(|task| {
            let worst = material
                .rollouts
                .iter()
                .filter(|rollout| rollout.task == task.id && rollout.score.is_some())
                .min_by(|a, b| value(a, material.metric).total_cmp(&value(b, material.metric)))?;
            let hard = worst.score.as_ref().map_or(0.0, |score| score.hard);
            (hard < 1.0).then_some((task, worst))
        })
        .collect()
}

fn value(rollout: &Rollout, metric: Metric) -> f64 {
    rollout
        .score
        .as_ref()
        .map_or(0.0, |score| score.value(metric))
}

fn failure(task: &Task, rollout: &Rollout) -> Failure {
    Failure {
        task: task.id.clone(),
        intent: cut(&one_line(&task.intent), EXCERPT),
        response: cut(&one_line(&rollout.response), EXCERPT),
        reason: cut(
            rollout
                .score
                .as_ref()
                .map_or("", |score| score.why.as_str()),
            EXCERPT,
        ),
        tags: task.tags.clone(),
    }
}

/// Tasks whose attempts differ, widest spread first (§5.6).
fn contrasts(material: &Material<'_>) -> Vec<Contrast> {
    let mut pairs: Vec<(f64, Contrast)> = material
        .tasks
        .iter()
        .filter_map(|task| {
            let mut scored: Vec<&Rollout> = material
                .rollouts
                .iter()
                .filter(|rollout| rollout.task == task.id && rollout.score.is_some())
                .collect();
            scored.sort_by(|a, b| value(a, material.metric).total_cmp(&value(b, material.metric)));
            let (worse, better) = (scored.first()?, scored.last()?);
            let spread = value(better, material.metric) - value(worse, material.metric);
            (spread > 0.0).then(|| {
                let contrast = Contrast {
                    task: task.id.clone(),
                    intent: cut(&one_line(&task.intent), EXCERPT),
                    better: cut(&one_line(&better.response), CONTRAST_EXCERPT),
                    worse: cut(&one_line(&worse.response), CONTRAST_EXCERPT),
                    reason: cut(
                        worse.score.as_ref().map_or("", |score| score.why.as_str()),
                        EXCERPT,
                    ),
                    tags: task.tags.clone(),
                };
                (spread, contrast)
            })
        })
        .collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs
        .into_iter()
        .take(CONTRASTS)
        .map(|(_, contrast)| contrast)
        .collect()
}

/// The checks that failed, as a person would say them, most frequent first.
fn criteria(failed: &[(&Task, &Rollout)]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (task, rollout) in failed {
        if let (Judge::Rule(checks), Some(score)) = (&task.judge, &rollout.score) {
            for position in &score.failed {
                if let Some(failed) = checks.get(*position) {
                    *counts.entry(check::sentence(failed)).or_default() += 1;
                }
            }
        }
    }
    let mut sentences: Vec<(String, usize)> = counts.into_iter().collect();
    sentences.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sentences
        .into_iter()
        .map(|(sentence, count)| format!("{sentence} (missed {count}×)"))
        .collect()
}

/// Gives every edit the evidence it came from: the tasks the optimizer named, else all that failed,
/// and the human turns behind them.
pub(crate) fn with_evidence(edits: Vec<Edit>, material: &Material<'_>) -> Vec<Edit> {
    let failed: Vec<&Task> = failed(material).into_iter().map(|(task, _)| task).collect();
    edits
        .into_iter()
        .map(|mut edit| {
            edit.tasks
                .retain(|id| failed.iter().any(|task| &task.id == id));
            if edit.tasks.is_empty() {
                edit.tasks = failed.iter().map(|task| task.id.clone()).collect();
            }
            edit.turns = failed
                .iter()
                .filter(|task| edit.tasks.contains(&task.id))
                .flat_map(|task| task.turns.iter().cloned())
                .collect();
            edit.turns.sort();
            edit.turns.dedup();
            edit
        })
        .collect()
}
