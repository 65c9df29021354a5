//! Nights as text.

use std::fmt::Write;

use serde_json::Value;
use skillopt_app::night::{NightRow, Shown};
use skillopt_app::sleep::{Preview, Status};
use skillopt_app::types::{Experiment, NightReport, SkipCount, Unit, amount};

use super::{local, review, score, spent, word};
use crate::terminal::plain;

pub(crate) fn report(report: &NightReport, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{}", plain(&report.reason))?;
    if let Some(problem) = &report.problem {
        writeln!(out, "{} ({})", plain(&problem.guidance), problem.code)?;
    }
    let [train, validation, test] = report.slices;
    writeln!(
        out,
        "{} sessions with something new; {} tasks ({train} training, {validation} held out, {test} test)",
        report.n_sessions, report.n_tasks
    )?;
    if report.simulated {
        writeln!(
            out,
            "Answers came from a built-in simulation, not from a model."
        )?;
    }
    for target in &report.targets {
        writeln!(
            out,
            "\n{}: {}",
            plain(&target.path),
            plain(&target.sentence)
        )?;
        if let Some(decision) = &target.decision {
            writeln!(
                out,
                "  held-out {} -> {} => {}",
                score(decision.before),
                score(decision.after),
                decision.action.id()
            )?;
        }
        for edit in &target.applied {
            writeln!(
                out,
                "  + [{}/{}] {}",
                target.kind.id(),
                word(&edit.op),
                plain(&edit.content)
            )?;
        }
        for edit in &target.rejected {
            let word = if target.was_refuted() {
                "did not help"
            } else {
                "untested"
            };
            writeln!(out, "  - {word}: {}", plain(&edit.content))?;
        }
        for (edit, why) in &target.unmatched {
            writeln!(
                out,
                "  ? not applied ({}): {}",
                word(why),
                plain(&edit.content)
            )?;
        }
        if let Some(why) = &target.not_staged {
            writeln!(out, "  not staged: {}", plain(why))?;
        }
    }
    skipped(&report.skipped, out)?;
    counts(&report.not_replayable, out)?;
    suggestions(report, out)?;
    for note in &report.notes {
        writeln!(out, "{}", plain(note))?;
    }
    if report.spend.calls > 0 {
        writeln!(
            out,
            "Spent: {}.",
            spent(
                report.spend.calls,
                report.spend.tokens,
                report.spend.cost_micros
            )
        )?;
    }
    if let Some(id) = &report.proposal {
        writeln!(out, "\nProposal {id}: {}", plain(&report.staging_dir))?;
        if report.adopted.is_empty() {
            writeln!(
                out,
                "Review it with `skillopt proposal show`, then `skillopt proposal adopt` or `reject`."
            )?;
        }
    }
    for path in &report.adopted {
        writeln!(
            out,
            "Adopted: {}; `skillopt rollback` takes it back.",
            plain(path)
        )?;
    }
    Ok(())
}

fn suggestions(report: &NightReport, out: &mut String) -> std::fmt::Result {
    if report.proposal.is_some() {
        return Ok(());
    }
    if !report.suggestions.is_empty() {
        writeln!(out, "\nUntested suggestions, in your own words:")?;
        for suggestion in &report.suggestions {
            writeln!(out, "  {}x {}", suggestion.times, plain(&suggestion.words))?;
        }
    }
    if !report.missing.is_empty() {
        writeln!(out, "\nStill missing before something can be tested:")?;
        for line in &report.missing {
            writeln!(out, "  {}", plain(line))?;
        }
    }
    Ok(())
}

/// What the harvest left out; records are summed up, since they are many.
pub(crate) fn skipped(rows: &[SkipCount], out: &mut String) -> std::fmt::Result {
    let (records, others): (Vec<&SkipCount>, Vec<&SkipCount>) =
        rows.iter().partition(|row| row.unit == Unit::Record);
    for row in others {
        writeln!(
            out,
            "  left out {} {}s ({}): {}",
            row.count,
            word(&row.unit),
            row.agent,
            plain(&row.sentence)
        )?;
    }
    let records: u64 = records.iter().map(|row| row.count).sum();
    if records > 0 {
        writeln!(
            out,
            "  passed over {records} records that are no turns (--json lists them by reason)"
        )?;
    }
    Ok(())
}

fn counts(
    not_replayable: &std::collections::BTreeMap<String, u64>,
    out: &mut String,
) -> std::fmt::Result {
    if not_replayable.is_empty() {
        return Ok(());
    }
    let parts: Vec<String> = not_replayable
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    writeln!(out, "  not replayable: {}", parts.join(", "))
}

pub(crate) fn preview(preview: &Preview, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "{} sessions with something new; {} tasks would take part.",
        preview.n_sessions, preview.n_tasks
    )?;
    for task in &preview.tasks {
        let intent: String = plain(&task.intent).chars().take(90).collect();
        writeln!(out, "  [{}] {intent}", word(&task.split))?;
    }
    skipped(&preview.skipped, out)?;
    counts(&preview.not_replayable, out)?;
    if preview.waiting > 0 {
        writeln!(
            out,
            "  {} requests were seen in one session only; they wait until they recur.",
            preview.waiting
        )?;
    }
    for suggestion in &preview.suggestions {
        writeln!(
            out,
            "  untested: {}x {}",
            suggestion.times,
            plain(&suggestion.words)
        )?;
    }
    let forecast = &preview.forecast;
    if preview.simulated {
        writeln!(
            out,
            "Answers would come from a built-in simulation, at no cost."
        )?;
    } else if preview.handed_off {
        writeln!(
            out,
            "Answers would come from you: questions are written to files, in several rounds."
        )?;
    } else {
        let cost = forecast.cost_micros_high.map_or_else(
            || "price unknown".to_owned(),
            |micros| format!("at most {}", amount(micros)),
        );
        writeln!(
            out,
            "Estimate: about {} model calls, {} to {} tokens, {cost}.",
            forecast.calls + forecast.mining_calls,
            forecast.tokens_low,
            forecast.tokens_high
        )?;
    }
    if let Some(problem) = &preview.budget_problem {
        writeln!(
            out,
            "! {} {}",
            plain(&problem.message),
            plain(&problem.guidance)
        )?;
    }
    preview
        .notes
        .iter()
        .try_for_each(|note| writeln!(out, "{}", plain(note)))
}

pub(crate) fn status(status: &Status, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{}: {} nights", plain(&status.project), status.night)?;
    if let Some(last) = &status.last {
        writeln!(out, "Last: {}", plain(last))?;
    }
    if let Some(running) = &status.running {
        writeln!(out, "Now: {}", plain(running))?;
    } else if let Some(open) = &status.unfinished {
        writeln!(
            out,
            "Unfinished: {} `skillopt night resume` goes on.",
            plain(&open.reason)
        )?;
    }
    match &status.proposal {
        Some(id) => writeln!(
            out,
            "Waiting: proposal {id} ({}); `skillopt proposal show`",
            status.staged_skills.join(", ")
        )?,
        None => writeln!(out, "No proposal waits.")?,
    }
    if status.proposal.is_none() {
        for row in status.suggestions.as_array().into_iter().flatten() {
            writeln!(
                out,
                "  untested: {}x {}",
                row["times"],
                plain(row["words"].as_str().unwrap_or(""))
            )?;
        }
        for row in status.missing.as_array().into_iter().flatten() {
            writeln!(out, "  missing: {}", plain(row.as_str().unwrap_or("")))?;
        }
    }
    Ok(())
}

pub(crate) fn list(rows: &[NightRow], out: &mut String) -> std::fmt::Result {
    if rows.is_empty() {
        return writeln!(out, "No night yet. `skillopt sleep run` runs one.");
    }
    rows.iter().try_for_each(|row| one(row, out))
}

fn one(row: &NightRow, out: &mut String) -> std::fmt::Result {
    let number = row
        .number
        .map_or_else(|| "-".to_owned(), |number| number.to_string());
    let outcome = row
        .outcome
        .map_or_else(|| word(&row.state), |outcome| word(&outcome));
    writeln!(
        out,
        "{:>4}  night {number:>3}  {}  {outcome}: {}",
        row.id,
        local(row.started_at),
        plain(&row.reason)
    )
}

pub(crate) fn show(shown: &Shown, out: &mut String) -> std::fmt::Result {
    one(&shown.night, out)?;
    for stage in &shown.stages {
        let calls: Vec<String> = stage
            .calls
            .as_object()
            .into_iter()
            .flatten()
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        writeln!(
            out,
            "  {:<28} {:<8} {}",
            plain(&stage.stage.name),
            word(&stage.stage.state),
            calls.join(", ")
        )?;
    }
    writeln!(
        out,
        "  spent: {} calls, {} tokens",
        shown.spend.calls, shown.spend.tokens
    )?;
    for target in report_targets(shown) {
        let text = |key: &str| plain(target[key].as_str().unwrap_or(""));
        let decision = &target["decision"];
        writeln!(out, "  {}: {}", text("path"), text("sentence"))?;
        if decision.is_null() {
            continue;
        }
        writeln!(
            out,
            "    held-out score {} -> {}",
            score(decision["before"].as_f64()),
            score(decision["after"].as_f64())
        )?;
        review::deltas(decision, out)?;
    }
    for event in &shown.events {
        writeln!(out, "  {}", plain(&event.to_string()))?;
    }
    Ok(())
}

/// The documents in the report of a night that ended.
fn report_targets(shown: &Shown) -> impl Iterator<Item = &Value> {
    shown
        .report
        .iter()
        .filter_map(|report| report["targets"].as_array())
        .flatten()
}

pub(crate) fn experiment(
    experiment: &Experiment,
    assert: bool,
    out: &mut String,
) -> std::fmt::Result {
    let model = if experiment.model.is_empty() {
        "(default)"
    } else {
        &experiment.model
    };
    writeln!(
        out,
        "=== SkillOpt experiment: persona={} backend={} model={} ===",
        experiment.persona,
        experiment.backend,
        plain(model)
    )?;
    writeln!(
        out,
        "tasks: {}   tokens: {}",
        experiment.n_tasks, experiment.tokens_used
    )?;
    writeln!(out, "baseline held-out : {}", experiment.baseline_holdout)?;
    writeln!(
        out,
        "after  held-out   : {:?}   (lift {:+})",
        experiment.after_holdout, experiment.lift
    )?;
    writeln!(
        out,
        "gate blocks harmful edit: {}",
        experiment.gate_blocks_harmful
    )?;
    writeln!(out, "trace:")?;
    for step in &experiment.trace {
        writeln!(
            out,
            "  night {}: holdout={:?} {} (+{} edits) {}",
            step.night,
            step.holdout_score,
            step.action,
            step.n_edits,
            plain(&step.edits.join("; "))
        )?;
    }
    if assert {
        let passed = experiment.improved && experiment.gate_blocks_harmful;
        writeln!(out, "\n{}", if passed { "PASS" } else { "FAIL" })?;
    }
    Ok(())
}
