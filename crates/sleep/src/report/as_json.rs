//! The report as JSON: as it is stored, and with the keys of the reference.

use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::document::TargetKind;
use skillopt_core::edit::Edit;

use super::{NightReport, TargetReport};

impl NightReport {
    /// The report as it is stored with the night.
    pub fn json(&self) -> Result<Value, Problem> {
        crate::run::to_value(self)
    }

    /// The keys of the reference's `run --json` (§9.3) beside ours.
    #[must_use]
    pub fn run_json(&self) -> Value {
        let edits = |pick: fn(&TargetReport) -> &Vec<Edit>| -> Vec<Value> {
            self.targets
                .iter()
                .flat_map(|target| {
                    pick(target)
                        .iter()
                        .map(|edit| reference_edit(target.kind, edit))
                })
                .collect()
        };
        let accepted = edits(|target| &target.applied);
        let rejected = edits(|target| &target.rejected);
        let (baseline, candidate) = self.headline();
        let mut value = json!({
            "outcome": self.outcome,
            "reason": self.reason,
            "problem": self.problem,
            "until": self.until,
            "night": self.night,
            "night_id": self.night_id,
            "project": self.project,
            "resumed": self.resumed,
            "simulated": self.simulated,
            "target_backend": self.target_backend,
            "optimizer_backend": self.optimizer_backend,
            "models": self.models,
            "accepted": !accepted.is_empty(),
            "gate_action": self.gate_action(),
            "no_edits_reason": if accepted.is_empty() { self.reason.as_str() } else { "" },
            "baseline": baseline,
            "candidate": candidate,
            "n_tasks": self.n_tasks,
            "n_sessions": self.n_sessions,
            "n_accepted_edits": accepted.len(),
            "n_rejected_edits": rejected.len(),
            "edits": accepted,
            "rejected_edits": rejected,
            "gate_no_regression": self.gate_no_regression,
            "gate_trials": self.gate_trials(),
            "holdout_leaked": self.holdout_leaked,
            "skill_groups": [],
            "notes": self.notes,
            "staging_dir": self.staging_dir,
            "staged_skills": [],
            "adopted": self.adopted,
            "proposal": self.proposal,
            "targets": self.targets,
            "suggestions": self.suggestions,
            "missing": self.missing,
            "not_replayable": self.not_replayable,
            "waiting": self.waiting,
            "beyond_limit": self.beyond_limit,
            "skipped": self.skipped,
            "forecast": self.forecast,
            "spend": self.spend,
        });
        value["judge_backend"] = json!(self.judge_backend);
        if let Some(file) = &self.tasks_file {
            value["tasks_file"] = json!(file);
            value["tasks_reviewed"] = json!(true);
        }
        if !self.terms.is_empty() {
            value["terms"] = json!(self.terms);
        }
        value
    }

    /// `report.json` with the keys of the reference (§1.6) and our own ones after them.
    #[must_use]
    pub fn report_json(&self) -> Value {
        let run = self.run_json();
        let (baseline, candidate) = self.headline();
        json!({
            "night": self.night,
            "project": self.project,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "n_sessions": self.n_sessions,
            "n_tasks": self.n_tasks,
            "n_replayed": self.spend.calls,
            "baseline_score": baseline,
            "candidate_score": candidate,
            "accepted": run["accepted"],
            "gate_action": run["gate_action"],
            "holdout_leaked": self.holdout_leaked,
            "no_edits_reason": run["no_edits_reason"],
            "edits": run["edits"],
            "rejected_edits": run["rejected_edits"],
            "unmatched_edits": self.targets.iter().flat_map(|target| {
                target.unmatched.iter().map(|(edit, why)| {
                    let mut row = reference_edit(target.kind, edit);
                    row["why"] = json!(why);
                    row
                })
            }).collect::<Vec<_>>(),
            "skill_groups": [],
            "tokens_used": self.spend.tokens,
            "notes": self.notes,
            "gate_no_regression": self.gate_no_regression,
            "gate_trials": run["gate_trials"],
            "outcome": self.outcome,
            "reason": self.reason,
            "targets": self.targets,
            "suggestions": self.suggestions,
            "missing": self.missing,
            "spend": self.spend,
        })
    }

    /// Mean held-out score before and after, over all agents' tasks.
    #[must_use]
    pub fn headline(&self) -> (Option<f64>, Option<f64>) {
        let Some((_, decision)) = self.overall.first() else {
            return (None, None);
        };
        (decision.before, decision.after)
    }

    /// The reference's word for what the gate did; of the first agent when there are several.
    #[must_use]
    pub fn gate_action(&self) -> String {
        self.overall
            .first()
            .map_or_else(String::new, |(_, decision)| decision.action.id().to_owned())
    }

    fn gate_trials(&self) -> Vec<Value> {
        let trials = self.targets.iter().filter_map(|target| {
            target
                .decision
                .as_ref()
                .map(|decision| decision.trial_json(target.kind.id()))
        });
        let finals = self
            .overall
            .iter()
            .map(|(_, decision)| decision.trial_json("final"));
        trials.chain(finals).collect()
    }
}

/// §1.4 with the edit's evidence.
pub(crate) fn reference_edit(kind: TargetKind, edit: &Edit) -> Value {
    json!({
        "target": kind,
        "op": edit.op,
        "content": edit.content,
        "anchor": edit.anchor,
        "rationale": edit.rationale,
        "tasks": edit.tasks,
        "turns": edit.turns,
    })
}
