//! Proposals as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;
use skillopt_app::proposal::{
    AdoptOutput, ProposalRow, Rejected, Rule, Shown, ShownDocument, unified,
};
use skillopt_app::types::{TargetState, counted};
use skillopt_core::text::{cut, one_line};

use super::{local, score, tinted, word};
use crate::terminal::plain;

/// What is said of a file of a repository.
const EVERYONES: &str = "It is under version control: the change is everyone's once you commit it. Nothing is committed for you.";

/// `all` is whether those that were decided were asked for as well.
pub(crate) fn list(rows: &[ProposalRow], all: bool, out: &mut String) -> std::fmt::Result {
    if rows.is_empty() {
        let none = if all {
            "There is no proposal yet."
        } else {
            "No proposal waits."
        };
        return writeln!(
            out,
            "{none} `skillopt sleep run` makes one when something can be improved."
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
            let rules = counted(target.rules as u64, "rule");
            let rules = if (1..target.rules).contains(&target.adopted) {
                format!("with all {rules}, {} of them", target.adopted)
            } else {
                rules
            };
            writeln!(
                out,
                "    {}: {} -> {}, {rules} {}{}",
                plain(&target.path),
                score(target.before),
                score(target.after),
                target.state,
                if target.stale {
                    ", but its file was changed since: it cannot be adopted"
                } else {
                    ""
                }
            )?;
        }
    }
    Ok(())
}

pub(crate) fn show(shown: &Shown, only_diff: bool, out: &mut String) -> std::fmt::Result {
    documents(shown, only_diff, out)?;
    if only_diff {
        return Ok(());
    }
    what_next(shown, out)
}

/// A proposal without a word on what to do about it.
pub(crate) fn documents(shown: &Shown, only_diff: bool, out: &mut String) -> std::fmt::Result {
    if !only_diff {
        header(shown, out)?;
    }
    for document in &shown.documents {
        if !only_diff {
            one_document(document, shown.simulated, out)?;
        }
        diff(
            &document.text_before,
            &document.text_after,
            &document.path,
            out,
        )?;
    }
    Ok(())
}

/// How to decide, while something waits.
fn what_next(shown: &Shown, out: &mut String) -> std::fmt::Result {
    let id = &shown.proposal.id;
    let waiting: Vec<&ShownDocument> = shown
        .documents
        .iter()
        .filter(|document| document.state == TargetState::Pending)
        .collect();
    if waiting.is_empty() {
        return Ok(());
    }
    if waiting.iter().all(|document| document.unchanged) {
        return writeln!(
            out,
            "\nAdopt it with `skillopt proposal adopt {id}` (--rule NUMBER for some of its rules), or say no with `skillopt proposal reject {id}`."
        );
    }
    writeln!(
        out,
        "\n`skillopt sleep run --again` proposes for the file as it is now; `skillopt proposal reject {id}` takes this one off the list."
    )
}

/// Which proposal it is and what was decided.
fn header(shown: &Shown, out: &mut String) -> std::fmt::Result {
    let proposal = &shown.proposal;
    if shown.instead {
        writeln!(
            out,
            "No proposal waits. This is the newest that was decided."
        )?;
    }
    write!(
        out,
        "Proposal {}: {}, made {}",
        proposal.id,
        word(&proposal.state),
        local(proposal.created_at)
    )?;
    if let Some(decided) = proposal.decided_at {
        write!(out, ", decided {}", local(decided))?;
    }
    writeln!(out)?;
    let reasons: BTreeSet<&str> = shown
        .documents
        .iter()
        .map(|document| document.reason.as_str())
        .filter(|reason| !reason.is_empty())
        .collect();
    for reason in reasons {
        writeln!(out, "Reason: {}", plain(reason))?;
    }
    let adopted: Vec<String> = shown
        .documents
        .iter()
        .flat_map(|document| &document.rules)
        .filter(|rule| rule.adopted)
        .map(|rule| rule.number.to_string())
        .collect();
    if !adopted.is_empty() {
        writeln!(out, "Adopted rules: {}", adopted.join(", "))?;
    }
    writeln!(out)
}

fn one_document(document: &ShownDocument, simulated: bool, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{} ({})", plain(&document.path), document.target)?;
    writeln!(out, "  {}", plain(&document.sentence))?;
    writeln!(
        out,
        "  held-out score {} -> {}",
        score(document.before),
        score(document.after)
    )?;
    if simulated {
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
    if document.text_before.is_empty() {
        writeln!(out, "  It is a new file.")?;
    }
    if document.under_version_control {
        writeln!(out, "  {EVERYONES}")?;
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
        one_rule(rule, out)?;
    }
    deltas(&document.decision, &document.requests, out)?;
    writeln!(out)
}

/// Task by task, before and after, with the request where it is known.
pub(crate) fn deltas(
    decision: &Value,
    requests: &BTreeMap<String, String>,
    out: &mut String,
) -> std::fmt::Result {
    for delta in decision["deltas"].as_array().into_iter().flatten() {
        let task = delta["task"].as_str().unwrap_or("");
        let request = requests.get(task).map_or("", String::as_str);
        let line = format!(
            "      {} -> {}  {:<9}  {}  {}",
            score(delta["before"].as_f64()),
            score(delta["after"].as_f64()),
            delta["status"].as_str().unwrap_or(""),
            plain(task),
            excerpt(request, 70)
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn one_rule(rule: &Rule, out: &mut String) -> std::fmt::Result {
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
    let sessions: BTreeSet<&str> = rule
        .edit
        .turns
        .iter()
        .map(|turn| turn.session.as_str())
        .collect();
    if !sessions.is_empty() {
        writeln!(
            out,
            "      from {} of yours in {}",
            counted(rule.edit.turns.len() as u64, "turn"),
            counted(sessions.len() as u64, "session")
        )?;
    }
    for quote in &rule.quotes {
        writeln!(out, "      you said: {}", excerpt(quote, 140))?;
    }
    Ok(())
}

/// The beginning of a text of strangers, on one line.
fn excerpt(text: &str, limit: usize) -> String {
    plain(&cut(&one_line(text), limit))
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
    if adopted.simulated {
        writeln!(
            out,
            "A built-in simulation made and scored these rules, not a model; read them with care."
        )?;
    }
    for path in &adopted.read_everywhere {
        writeln!(
            out,
            "{} is read in all your projects, not only in this one.",
            plain(path)
        )?;
    }
    for document in &adopted.documents {
        if document.under_version_control {
            writeln!(out, "{}: {EVERYONES}", plain(&document.real_path))?;
        }
    }
    if adopted.adopted {
        for receipt in &adopted.receipts {
            writeln!(
                out,
                "Adopted: {} ({})",
                plain(&receipt.real_path),
                counted(receipt.edits.len() as u64, "rule")
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
