//! Taking a no back: what was rejected of a proposal waits again.

use skillopt_core::Problem;
use skillopt_store::proposals::{self, TargetState};
use skillopt_store::rejected;

use crate::adopt::find;
use crate::context::Context;
use crate::selection::rejected_rules;

/// Lets the rejected documents and rules of a proposal wait again, and forgets that its rules were
/// rejected. Gives the ids of the documents that wait now.
///
/// Errors: `proposal_unknown`, `proposal_not_rejected`, `proposal_overtaken` when a later proposal for
/// one of the documents waits or was adopted.
pub fn reopen(context: &Context, id: &str) -> Result<Vec<String>, Problem> {
    let (proposal, targets) = find(context, id)?;
    let rejected_rules = rejected_rules(context, &proposal, &targets)?;
    let back: Vec<_> = targets
        .into_iter()
        .filter(|target| {
            target.state == TargetState::Rejected
                || (target.state == TargetState::Pending && !rejected_rules.is_empty())
        })
        .collect();
    if back.is_empty() {
        return Err(Problem::refused(
            "proposal_not_rejected",
            format!("Nothing of proposal {id} was rejected."),
            "`skillopt proposal show` says where it stands; an adoption is taken back with `skillopt rollback`, and after that `skillopt sleep run --again` looks for a new proposal.",
        ));
    }
    context.store.commit("reopen proposal", |tx| {
        for later in proposals::list(tx, Some(&proposal.project), 500)? {
            if later.created_at <= proposal.created_at {
                continue;
            }
            let overtakes = proposals::targets(tx, &later.id)?.iter().any(|newer| {
                matches!(newer.state, TargetState::Pending | TargetState::Adopted)
                    && back
                        .iter()
                        .any(|target| target.real_path == newer.real_path)
            });
            if overtakes {
                return Err(Problem::refused(
                    "proposal_overtaken",
                    format!("Proposal {} for the same document came later.", later.id),
                    "Decide on that one; what this one found is found again if it still helps.",
                )
                .into());
            }
        }
        for target in &back {
            for edit in &target.edits {
                rejected::forget(tx, &proposal.project, &target.target, edit)?;
            }
            proposals::decide(tx, id, &target.target, TargetState::Pending, "")?;
        }
        Ok(())
    })?;
    Ok(back.into_iter().map(|target| target.target).collect())
}
