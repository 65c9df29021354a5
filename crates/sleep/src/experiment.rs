//! Nights over an invented user whose wishes are known (§13.1), to show what a lift looks like and
//! that the gate keeps harm out.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use skillopt_core::agent::Agent;
use skillopt_core::document::{Target, TargetKind};
use skillopt_core::personas::Persona;
use skillopt_core::region;
use skillopt_core::split;
use skillopt_core::task::{Judge, Split, Task};
use skillopt_store::nights::{self, Kind, Outcome};

use crate::consolidate::{self, Consolidated, Slices};
use crate::context::Context;
use crate::night::{self, Night};
use crate::outcome::Stop;

/// A score from which there is nothing left to learn (§13.1).
const PERFECT: f64 = 0.999;
/// Name of the skill the experiment improves.
const SKILL: &str = "skillopt-sleep-learned";

/// One night of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Step {
    /// From 0, which is the baseline.
    pub night: u32,
    /// Held-out score.
    pub holdout_score: f64,
    /// The reference's word for what the gate did.
    pub action: String,
    /// Edits that were let in.
    pub n_edits: usize,
    /// Their text.
    pub edits: Vec<String>,
    /// Edits that were not.
    pub n_rejected: usize,
}

/// The result of an experiment, with the keys of the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Experiment {
    /// Name of the persona.
    pub persona: String,
    /// Who answered.
    pub backend: String,
    /// The model; empty for a simulation.
    pub model: String,
    /// Number of tasks.
    pub n_tasks: usize,
    /// Nights that ran.
    pub nights_run: u32,
    /// Held-out score before.
    pub baseline_holdout: f64,
    /// Held-out score after.
    pub after_holdout: f64,
    /// The difference.
    pub lift: f64,
    /// Whether it is positive.
    pub improved: bool,
    /// Whether the gate kept an edit out that helps in training and harms elsewhere.
    pub gate_blocks_harmful: bool,
    /// Tokens of paid calls.
    pub tokens_used: u64,
    /// The end of the final skill.
    pub final_skill_excerpt: String,
    /// Night by night.
    pub trace: Vec<Step>,
}

/// Runs `persona` for at most `nights` nights, then the harmful-edit probe.
pub async fn run(
    context: &Context,
    persona: Persona,
    nights: u32,
    limit: usize,
) -> Result<Experiment, Stop> {
    let mut tasks = persona.tasks();
    if limit > 0 {
        tasks.truncate(limit);
    }
    split::assign(
        &mut tasks,
        &[],
        context.settings.fractions(),
        context.settings.seed,
    );
    let slices = Slices::of(&tasks);
    let (roles, _) = night::models(context).await?;
    let id = roles.target.id();
    let mut skill = region::scaffold(SKILL);
    let mut trace = Vec::new();
    let (mut baseline, mut after) = (0.0, 0.0);
    let mut nights_run = 0;
    let mut tokens = 0;
    for number in 1..=nights {
        let (result, spent) = one_night(context, &slices, &skill, number).await?;
        tokens += spent;
        nights_run = number;
        let (before, now) = (
            result.overall.before.unwrap_or(0.0),
            result.overall.after.unwrap_or(0.0),
        );
        if number == 1 {
            baseline = before;
            trace.push(Step {
                night: 0,
                holdout_score: rounded(before),
                action: "baseline".to_owned(),
                n_edits: 0,
                edits: Vec::new(),
                n_rejected: 0,
            });
        }
        let target = result.targets.first();
        if let Some(text) = target.and_then(|target| target.proposed.as_ref()) {
            skill.clone_from(text);
            after = now;
        } else {
            after = before;
        }
        let edits: Vec<String> = target
            .map(|target| {
                target
                    .applied
                    .iter()
                    .map(|edit| edit.content.clone())
                    .collect()
            })
            .unwrap_or_default();
        trace.push(Step {
            night: number,
            holdout_score: rounded(after),
            action: result.overall.action.id().to_owned(),
            n_edits: edits.len(),
            edits,
            n_rejected: target.map_or(0, |target| target.rejected.len()),
        });
        if after >= PERFECT {
            break;
        }
    }
    let gate_blocks_harmful = harmful_is_blocked(context, persona, &skill).await?;
    let (baseline, after) = (rounded(baseline), rounded(after));
    Ok(Experiment {
        persona: persona.id().to_owned(),
        backend: id.kind,
        model: id.model,
        n_tasks: tasks.len(),
        nights_run,
        baseline_holdout: baseline,
        after_holdout: after,
        lift: rounded(after - baseline),
        improved: after > baseline,
        gate_blocks_harmful,
        tokens_used: tokens,
        final_skill_excerpt: tail(&skill, 500),
        trace,
    })
}

/// One night on the persona's tasks: only the skill changes.
async fn one_night(
    context: &Context,
    slices: &Slices,
    skill: &str,
    number: u32,
) -> Result<(Consolidated, u64), Stop> {
    let mut context = context.clone();
    context.settings.memory = false;
    context.settings.min_validation_tasks = 1;
    let (roles, templates) = night::models(&context).await?;
    let id = context.store.commit("begin experiment", |tx| {
        if let Some(open) = nights::open(tx, &context.project.id, Kind::Experiment)? {
            nights::end(
                tx,
                open.id,
                Outcome::Interrupted,
                "A new experiment began.",
                &json!({}),
            )?;
        }
        nights::begin(
            tx,
            &context.project.id,
            Kind::Experiment,
            &json!({"night": number}),
        )
    })?;
    let night = Night::new(&context, id, roles, templates)?;
    let target = Target {
        id: "claude:skill".to_owned(),
        agent: Agent::Claude,
        kind: TargetKind::Skill,
        path: format!("{SKILL}/SKILL.md"),
        real_path: format!("{SKILL}/SKILL.md"),
        text: Some(skill.to_owned()),
    };
    let rejected_before = BTreeMap::new();
    let result =
        consolidate::consolidate(&night, "persona", slices, &[target], &rejected_before).await?;
    let spent = night.spent()?.tokens;
    context.store.commit("end experiment", |tx| {
        nights::end(
            tx,
            id,
            Outcome::NothingToDo,
            "experiment",
            &json!({"action": result.overall.action}),
        )
    })?;
    Ok((result, spent))
}

/// Whether an edit that a training task asks for, and that spoils every other answer, is kept out.
///
/// In the reference the harmful task lands in validation, so its edit is never even proposed and the
/// probe passes with the gate off (§14 #47). Here the task is in training by construction; with the
/// gate off the probe must fail.
async fn harmful_is_blocked(
    context: &Context,
    persona: Persona,
    skill: &str,
) -> Result<bool, Stop> {
    let mut tasks = persona.tasks();
    split::assign(
        &mut tasks,
        &[],
        context.settings.fractions(),
        context.settings.seed,
    );
    let mut slices = Slices::of(&tasks);
    let mut harmful = Task::new(
        "persona_harmful_0",
        "persona",
        "Describe the weather in a word.",
    );
    harmful.judge = Judge::Exact("off-topic".to_owned());
    harmful.tags = vec!["rule:__harmful__".to_owned()];
    harmful.sessions = vec!["persona-session-harmful".to_owned()];
    harmful.split = Split::Train;
    slices.train = vec![harmful];
    let (result, _) = one_night(context, &slices, skill, 0).await?;
    let proposed = result
        .targets
        .iter()
        .any(|target| !(target.rejected.is_empty() && target.applied.is_empty()));
    let let_in = result
        .targets
        .iter()
        .any(|target| target.proposed.is_some());
    if !proposed {
        context.note(
            "The harmful edit was not even proposed, so the probe says nothing about the gate.",
        );
    }
    Ok(proposed && !let_in)
}

/// Four decimals, as the reference prints.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

fn tail(text: &str, limit: usize) -> String {
    let skip = text.chars().count().saturating_sub(limit);
    text.chars().skip(skip).collect()
}
