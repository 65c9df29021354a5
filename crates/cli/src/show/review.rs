//! Proposals as text.

use std::fmt::Write;

use serde_json::Value;
use skillopt_app::proposal::{AdoptOutput, ProposalRow, Rejected, Shown, unified};
use skillopt_store::proposals::TargetState;

use super::{local, score, tinted, word};
use crate::terminal::plain;

pub(crate) fn list(rows: &[ProposalRow], out: &mut String) -> std::fmt::Result {
    if rows.is_empty() {
        return writeln!(
            out,
            "No proposal waits. `skillopt sleep run` makes one when something can be improved."
        );
    }
    for row in rows {
        let proposal = &row.proposal;
        writeln!(
            out,
            "{}  {}  {}",
            proposal.id,
            local(proposal.created_at),
            word(&proposal.state)
        )?;
        for target in &row.targets {
            writeln!(
                out,
                "    {}: {} -> {}, {} rules, {}",
                plain(target["path"].as_str().unwrap_or("")),
                score(target["before"].as_f64()),
                score(target["after"].as_f64()),
                target["rules"],
                target["state"].as_str().unwrap_or("")
            )?;
        }
    }
    Ok(())
}

pub(crate) fn show(shown: &Shown, only_diff: bool, out: &mut String) -> std::fmt::Result {
    for document in &shown.documents {
        if only_diff {
            diff(
                &document.text_before,
                &document.text_after,
                &document.path,
                out,
            )?;
            continue;
        }
        writeln!(out, "{} ({})", plain(&document.path), document.target)?;
        writeln!(out, "  {}", plain(&document.sentence))?;
        writeln!(
            out,
            "  held-out score {} -> {}",
            score(document.before),
            score(document.after)
        )?;
        if shown.simulated {
            writeln!(
                out,
                "  The scores come from a built-in simulation, not from a model."
            )?;
        }
        if !document.unchanged && document.state == TargetState::Pending {
            writeln!(
                out,
                "  ! The file was changed since; it cannot be adopted as it is."
            )?;
        }
        for flag in document.flags.as_array().into_iter().flatten() {
            writeln!(
                out,
                "  ! {} ({})",
                plain(flag["sentence"].as_str().unwrap_or("")),
                plain(flag["excerpt"].as_str().unwrap_or(""))
            )?;
        }
        for warning in document.warnings.as_array().into_iter().flatten() {
            writeln!(out, "  ! {}", plain(warning.as_str().unwrap_or("")))?;
        }
        for rule in &document.rules {
            let text = if rule.edit.content.is_empty() {
                &rule.edit.anchor
            } else {
                &rule.edit.content
            };
            writeln!(
                out,
                "  {:>2}. {} {}{}",
                rule.number,
                word(&rule.edit.op),
                plain(text),
                if rule.rejected {
                    "   (you rejected it)"
                } else {
                    ""
                }
            )?;
            let sessions: std::collections::BTreeSet<&str> = rule
                .edit
                .turns
                .iter()
                .map(|turn| turn.session.as_str())
                .collect();
            if !sessions.is_empty() {
                writeln!(
                    out,
                    "      from {} of your turns in {} sessions",
                    rule.edit.turns.len(),
                    sessions.len()
                )?;
            }
        }
        deltas(&document.decision, out)?;
        writeln!(out)?;
        diff(
            &document.text_before,
            &document.text_after,
            &document.path,
            out,
        )?;
    }
    Ok(())
}

/// Task by task, before and after.
pub(crate) fn deltas(decision: &Value, out: &mut String) -> std::fmt::Result {
    for delta in decision["deltas"].as_array().into_iter().flatten() {
        writeln!(
            out,
            "      {:<20} {} -> {}  {}",
            plain(delta["task"].as_str().unwrap_or("")),
            score(delta["before"].as_f64()),
            score(delta["after"].as_f64()),
            delta["status"].as_str().unwrap_or("")
        )?;
    }
    Ok(())
}

/// A unified diff, added and removed told apart by sign, and by colour on a terminal.
fn diff(before: &str, after: &str, path: &str, out: &mut String) -> std::fmt::Result {
    for line in plain(&unified(before, after, path)).lines() {
        let colour = match line.as_bytes().first() {
            Some(b'+') => "32",
            Some(b'-') => "31",
            Some(b'@') => "36",
            _ => "0",
        };
        writeln!(
            out,
            "{}",
            if colour == "0" {
                line.to_owned()
            } else {
                tinted(line, colour)
            }
        )?;
    }
    Ok(())
}

pub(crate) fn rejected(rejected: &Rejected, out: &mut String) -> std::fmt::Result {
    for document in &rejected.documents {
        let rules: Vec<String> = document.rules.iter().map(usize::to_string).collect();
        writeln!(
            out,
            "Rejected: {} {} of {}.{}",
            if rules.len() == 1 { "rule" } else { "rules" },
            rules.join(", "),
            plain(&document.target),
            if document.closed {
                " Nothing of it waits any more."
            } else {
                " The others still wait."
            }
        )?;
    }
    writeln!(out, "The optimizer is reminded not to propose them again.")
}

pub(crate) fn adopted(adopted: &AdoptOutput, out: &mut String) -> std::fmt::Result {
    for note in &adopted.notes {
        writeln!(out, "{}", plain(note))?;
    }
    if adopted.adopted {
        for receipt in &adopted.receipts {
            writeln!(
                out,
                "Adopted: {} ({} rules)",
                plain(&receipt.real_path),
                receipt.edits.len()
            )?;
        }
        return writeln!(
            out,
            "`skillopt rollback {}` takes it back.",
            adopted.proposal
        );
    }
    if adopted.refused {
        return writeln!(out, "Nothing was written.");
    }
    writeln!(out, "Nothing was written. This is what would change:")?;
    for document in &adopted.documents {
        diff(&document.before, &document.after, &document.path, out)?;
        for flag in &document.flags {
            writeln!(out, "! {}", plain(flag["sentence"].as_str().unwrap_or("")))?;
        }
    }
    Ok(())
}
