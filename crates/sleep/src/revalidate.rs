//! Testing a chosen subset of rules on the spot, on the held-out tasks of the night that proposed them.

use serde::Serialize;
use serde_json::json;
use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_core::gate::{self, Decision};
use skillopt_core::hash::sha256_hex;
use skillopt_core::task::{Split, Task};
use skillopt_models::cassette;
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::orders::{self, Order};
use skillopt_store::{locks, stages};

use crate::adopt::{self, Planned};
use crate::consolidate;
use crate::context::Context;
use crate::night::{self, Night};
use crate::outcome::Stop;
use crate::replay::{self, Documents, Rollout};
use crate::run::ENDED_BY_USER;

/// The verdict on a subset, per agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Revalidated {
    /// One per agent whose documents are in the plan.
    pub decisions: Vec<(Agent, Decision)>,
    /// What it cost, in paid calls.
    pub calls: u64,
}

impl Revalidated {
    /// Whether every agent's held-out tasks got better.
    #[must_use]
    pub fn is_better(&self) -> bool {
        !self.decisions.is_empty() && self.decisions.iter().all(|(_, decision)| decision.accepted)
    }
}

/// Scores what `planned` would write on the held-out tasks of the proposal's night. Attempts that
/// cannot be made end it with the reason; what was paid is kept and used when it is tried again.
pub async fn revalidate(context: &Context, planned: &Planned) -> Result<Revalidated, Stop> {
    let (proposal, targets) = adopt::find(context, &planned.proposal)?;
    let now = context.clock.now();
    let _lock = locks::project(
        &context.paths,
        &context.project.id,
        "testing chosen rules",
        now,
    )?;
    let pins = json!({"proposal": proposal.id, "documents": planned.documents.iter().map(|document| sha256_hex(document.after.as_bytes())).collect::<Vec<_>>()});
    let id = begin(context, &pins)?;
    let (roles, templates) = night::models(context).await?;
    cassette::note_backends(&context.store, id, &roles)?;
    let night = Night::new(context, id, roles, templates)?;
    let result = decisions(&night, &proposal, &targets, planned).await;
    let spent = night.path.spent(id)?;
    context
        .store
        .commit("end revalidation", |tx| match &result {
            Ok(decisions) => {
                let better = decisions.iter().all(|(_, decision)| decision.accepted);
                let outcome = if better {
                    Outcome::Proposed
                } else {
                    Outcome::NotImproved
                };
                nights::end(tx, id, outcome, "", &json!({"decisions": decisions}))
            }
            Err(stop) => match orders::take(tx, id)? {
                Some(Order::Cancel) => {
                    nights::end(tx, id, Outcome::Interrupted, ENDED_BY_USER, &json!({}))
                }
                Some(Order::Pause) | None => nights::stop(tx, id, stop.outcome(), "", None),
            },
        })?;
    Ok(Revalidated {
        decisions: result?,
        calls: spent.calls,
    })
}

/// Goes on with the same test if it was stopped, else begins it.
fn begin(context: &Context, pins: &serde_json::Value) -> Result<i64, Problem> {
    let project = context.project.id.as_str();
    context.store.commit("begin revalidation", |tx| {
        if let Some(open) = nights::open(tx, project, Kind::Revalidation)? {
            if &open.pins == pins {
                nights::resume(tx, open.id)?;
                // What it was told before it stopped does not stop it again.
                orders::handled(tx, open.id)?;
                return Ok(open.id);
            }
            nights::end(
                tx,
                open.id,
                Outcome::Interrupted,
                "Another selection is tested.",
                &json!({}),
            )?;
        }
        nights::begin(tx, project, Kind::Revalidation, pins)
    })
}

async fn decisions(
    night: &Night<'_>,
    proposal: &skillopt_store::proposals::Proposal,
    targets: &[skillopt_store::proposals::ProposalTarget],
    planned: &Planned,
) -> Result<Vec<(Agent, Decision)>, Stop> {
    let mut agents: Vec<Agent> = planned
        .documents
        .iter()
        .filter_map(|document| {
            targets
                .iter()
                .find(|target| target.target == document.target)
        })
        .map(|target| target.agent)
        .collect();
    agents.sort_unstable();
    agents.dedup();
    let mut decisions = Vec::new();
    for agent in agents {
        let evidence: Option<(Vec<Task>, Documents, Vec<Rollout>)> =
            night.context.store.read(|db| {
                let slices = stages::output(db, proposal.night, &format!("{agent}/validation"))?;
                let baseline =
                    stages::output(db, proposal.night, &format!("{agent}/baseline/scored"))?;
                let pinned = stages::output(db, proposal.night, &format!("{agent}/pinned"))?;
                Ok(slices
                    .zip(baseline)
                    .zip(pinned)
                    .map(|((tasks, baseline), pinned)| (tasks, pinned, baseline)))
            })?;
        let Some((validation, pinned, baseline)) = evidence else {
            return Err(Stop::Failed(Problem::permanent(
                "evidence_expired",
                format!(
                    "The held-out tasks of proposal {} are no longer stored.",
                    proposal.id
                ),
                "Adopt the whole proposal, or run another night.",
            )));
        };
        debug_assert!(
            validation
                .iter()
                .all(|task| task.split == Split::Validation)
        );
        let documents = planned
            .documents
            .iter()
            .filter(|document| {
                targets
                    .iter()
                    .any(|target| target.target == document.target && target.agent == agent)
            })
            .fold(pinned, |documents, document| {
                consolidate::with_document(&documents, document.kind, &document.after)
            });
        let after = replay::pass(
            night,
            &format!("{agent}/chosen"),
            &validation,
            &documents,
            1,
        )
        .await?;
        let metric = consolidate::metric(night);
        let pairs = consolidate::pairs(&validation, &baseline, &after, metric);
        decisions.push((
            agent,
            gate::strict(&pairs, consolidate::rules(night, false)),
        ));
    }
    Ok(decisions)
}
