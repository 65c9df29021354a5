//! What a night will ask before it asks anything: calls per stage, and whether the budget allows a
//! verdict at all.

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::call::{Side, Subject};
use skillopt_core::document::Target;
use skillopt_core::task::{Judge, Task};
use skillopt_models::{Ask, Asked, CallError, CallPath, Spend};

use crate::consolidate::{self, Slices};
use crate::context::Context;
use crate::outcome::Stop;
use crate::replay::Documents;

/// How many calls a night makes, and how many of them the gate needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Forecast {
    /// Calls that look for tasks in the sessions; they come before `calls`.
    #[serde(default)]
    pub mining_calls: u64,
    /// Calls the verdict depends on: validation under pinned and candidate documents.
    pub gate_calls: u64,
    /// All calls when every edit is tried.
    pub calls: u64,
    /// Tokens at least.
    pub tokens_low: u64,
    /// Tokens at most.
    pub tokens_high: u64,
    /// Millionths of the currency at most; `None` when a price is not known.
    pub cost_micros_high: Option<u64>,
}

/// What one agent's part will ask: `(what the gate needs, everything)`.
fn asked(
    context: &Context,
    path: &CallPath,
    slices: &Slices,
    targets: &[Target],
) -> (Vec<Asked>, Vec<Asked>) {
    let settings = &context.settings;
    let changeable = targets
        .iter()
        .filter(|target| consolidate::changeable(settings, target.kind))
        .count() as u64;
    let bases: Vec<String> = targets.iter().map(consolidate::base_text).collect();
    let documents = consolidate::documents(targets, &bases);
    let replay = |tasks: &[Task], times: u64| -> Vec<Asked> {
        tasks
            .iter()
            .flat_map(|task| replay_of(path, task, &documents, times))
            .collect()
    };
    let gate = if consolidate::validates(settings, slices) {
        replay(&slices.validation, 1 + changeable)
    } else {
        Vec::new()
    };
    let rounds = u64::from(settings.rollouts.max(1)) * changeable.clamp(1, 2);
    let mut all = gate.clone();
    all.extend(replay(&slices.train, rounds));
    all.extend(replay(&slices.test, 2));
    let longest = bases.iter().map(String::len).max().unwrap_or(0) as u64;
    all.push(Asked {
        kind: "reflect",
        side: Side::Optimizer,
        questions: changeable,
        rounds: 0,
        // The document, eight failures, and the instructions.
        prompt_bytes: longest + 8 * 600 + 3_000,
        result_bytes: 0,
    });
    (gate, all)
}

/// The questions of `times` replays of a task: the attempt, and the grading of a rubric.
fn replay_of(path: &CallPath, task: &Task, documents: &Documents, times: u64) -> Vec<Asked> {
    let attempt = Ask {
        subject: Subject::Attempt {
            task: Box::new(task.clone()),
            skill: documents.skill.clone(),
            memory: documents.memory.clone(),
        },
        sample: 0,
    };
    let measured = path.measure(attempt);
    let mut asked = vec![Asked {
        questions: times,
        ..measured
    }];
    match &task.judge {
        Judge::None => asked.clear(),
        Judge::Rubric(rubric) => {
            let grading = Subject::Judge {
                intent: task.intent.clone(),
                rubric: rubric.clone(),
                response: String::new(),
            };
            let measured = path.measure(Ask {
                subject: grading,
                sample: 0,
            });
            // A reply is about as long as it may be.
            asked.push(Asked {
                questions: times,
                prompt_bytes: measured.prompt_bytes + 4_000,
                ..measured
            });
        }
        Judge::Exact(_) | Judge::Rule(_) | Judge::Answer(_) => {}
    }
    asked
}

/// What the groups of a night will ask, and what to hold back for the gate.
pub(crate) fn forecast<'a>(
    context: &Context,
    path: &CallPath,
    groups: impl IntoIterator<Item = (&'a Slices, &'a [Target])>,
) -> (Forecast, Spend) {
    let (mut gate, mut all) = (Vec::new(), Vec::new());
    for (slices, targets) in groups {
        let (needed, everything) = asked(context, path, slices, targets);
        gate.extend(needed);
        all.extend(everything);
    }
    let (gate, all) = (path.estimate(&gate), path.estimate(&all));
    let forecast = Forecast {
        mining_calls: 0,
        gate_calls: gate.calls,
        calls: all.calls,
        tokens_low: all.tokens_low,
        tokens_high: all.tokens_high,
        cost_micros_high: all.cost_micros_high,
    };
    (forecast, gate.to_hold())
}

/// What one validation pass of these tasks needs at most.
pub(crate) fn pass(path: &CallPath, tasks: &[Task], documents: &Documents) -> Spend {
    let asked: Vec<Asked> = tasks
        .iter()
        .flat_map(|task| replay_of(path, task, documents, 1))
        .collect();
    path.estimate(&asked).to_hold()
}

/// Says that the budget cannot pay for a verdict, before anything is spent.
pub(crate) fn too_small(context: &Context, forecast: &Forecast, error: &CallError) -> Stop {
    let problem = Problem::permanent(
        "budget_too_small",
        format!(
            "A verdict on these tasks needs {} model calls and about {} tokens, more than the night may spend.",
            forecast.gate_calls, forecast.tokens_low
        ),
        match error {
            CallError::BudgetExhausted { cap } => format!(
                "Raise {}, or lower mines.max_tasks_per_night (now {}).",
                cap.setting(),
                context.settings.max_tasks_per_night
            ),
            _ => error.problem().guidance,
        },
    );
    Stop::Deferred {
        problem,
        until: None,
    }
}
