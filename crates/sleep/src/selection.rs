//! Which part of a proposal is meant: all that waits, some documents, some rules.

use std::collections::HashSet;

use skillopt_core::Problem;
use skillopt_core::document::TargetKind;
use skillopt_core::edit::Edit;
use skillopt_store::proposals::{Proposal, ProposalTarget, TargetState};
use skillopt_store::rejected::{self, By};
use skillopt_store::{Connection, Fault};

use crate::consolidate;
use crate::context::Context;

/// Which part of a proposal is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// Ids of documents, or names of skills; all that wait when empty.
    pub targets: Vec<String>,
    /// Only documents of this kind.
    pub kind: Option<TargetKind>,
    /// Numbers of rules as `proposal show` counts them, from 1 over the whole proposal. When empty, all
    /// that the user has not rejected.
    pub rules: Vec<usize>,
}

/// A document of a selection with the numbered rules that are meant.
pub(crate) struct Chosen<'a> {
    pub(crate) target: &'a ProposalTarget,
    pub(crate) rules: Vec<(usize, &'a Edit)>,
    /// Numbers of rules that would be meant, had the user not rejected them.
    pub(crate) left_out: Vec<usize>,
}

/// Rules the user said no to, by target and [`rejected::key`].
pub(crate) type Refused = HashSet<(String, String)>;

/// What a rule is found by in [`Refused`].
pub(crate) fn refusal(target: &ProposalTarget, edit: &Edit) -> (String, String) {
    (target.target.clone(), rejected::key(edit))
}

/// Every rule the user rejected in a project.
pub(crate) fn refused(db: &Connection, project: &str) -> Result<Refused, Fault> {
    /// More than anybody rejects by hand.
    const MOST: usize = 100_000;
    let rows = rejected::list(db, project, None, MOST)?;
    Ok(rows
        .into_iter()
        .filter(|row| row.by == By::User)
        .map(|row| (row.target, row.key))
        .collect())
}

/// The numbers of a proposal's rules the user has rejected.
pub fn rejected_rules(
    context: &Context,
    proposal: &Proposal,
    targets: &[ProposalTarget],
) -> Result<Vec<usize>, Problem> {
    let refused = context.store.read(|db| refused(db, &proposal.project))?;
    Ok(targets
        .iter()
        .flat_map(|target| target.edits.iter().map(move |edit| refusal(target, edit)))
        .zip(1..)
        .filter(|(rule, _)| refused.contains(rule))
        .map(|(_, number)| number)
        .collect())
}

/// `rule 2`, `rules 2, 5`
pub(crate) fn rules_words(numbers: &[usize]) -> String {
    let word = if numbers.len() == 1 { "rule" } else { "rules" };
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!("{word} {}", numbers.join(", "))
}

impl Selection {
    fn names(&self, target: &ProposalTarget) -> bool {
        let by_name = |name: &String| {
            *name == target.target
                || (target.kind == TargetKind::Skill
                    && consolidate::skill_name(&target.live_path) == name)
        };
        (self.targets.is_empty() || self.targets.iter().any(by_name))
            && self.kind.is_none_or(|kind| kind == target.kind)
    }
}

/// The waiting documents a selection means, each with the rules it means. Rules the user rejected are
/// only meant when they are named.
pub(crate) fn choose<'a>(
    proposal: &Proposal,
    targets: &'a [ProposalTarget],
    selection: &Selection,
    refused: &Refused,
) -> Result<Vec<Chosen<'a>>, Problem> {
    let guidance = format!(
        "`skillopt proposal show {}` lists its documents and rules.",
        proposal.id
    );
    let unknown = |what: String| Problem::refused("selection_unknown", what, guidance.clone());
    for name in &selection.targets {
        let one = Selection {
            targets: vec![name.clone()],
            ..Selection::default()
        };
        if !targets.iter().any(|target| one.names(target)) {
            return Err(unknown(format!(
                "The proposal has no document or skill \"{}\".",
                name.escape_debug()
            )));
        }
    }
    let total: usize = targets.iter().map(|target| target.edits.len()).sum();
    if let Some(number) = selection
        .rules
        .iter()
        .find(|&&number| number == 0 || number > total)
    {
        return Err(unknown(format!(
            "The proposal has no rule {number}; it has {total}."
        )));
    }
    let waiting = |target: &ProposalTarget| target.state == TargetState::Pending;
    if !targets.iter().any(waiting) {
        return Err(Problem::refused(
            "proposal_decided",
            format!(
                "Proposal {} was decided before; nothing of it waits.",
                proposal.id
            ),
            "`skillopt proposal list` shows what waits; `skillopt rollback` takes an adoption back; `skillopt sleep run --again` looks for a new one.",
        ));
    }
    let mut number = 0;
    let mut chosen = Vec::new();
    for target in targets {
        let mut rules = Vec::new();
        let mut left_out = Vec::new();
        for edit in &target.edits {
            number += 1;
            if selection.rules.contains(&number) {
                rules.push((number, edit));
            } else if selection.rules.is_empty() {
                if refused.contains(&refusal(target, edit)) {
                    left_out.push(number);
                } else {
                    rules.push((number, edit));
                }
            }
        }
        if waiting(target) && selection.names(target) && !rules.is_empty() {
            chosen.push(Chosen {
                target,
                rules,
                left_out,
            });
        }
    }
    if chosen.is_empty() {
        return Err(Problem::refused(
            "selection_empty",
            "Nothing that waits is selected.",
            guidance,
        ));
    }
    Ok(chosen)
}
