//! Nights as text.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::Value;
use skillopt_app::night::{NightRow, Shown};
use skillopt_app::sleep::{Preview, Status};
use skillopt_app::types::{
    Action, Experiment, NightKind, NightReport, Outcome, SkipCount, SourceStatus, TargetReport,
    Unit, amount, counted,
};

use super::{local, review, score, stage, word};
use crate::terminal::plain;

/// `first` is whether the project had no night before: then it matters what was left out.
pub(crate) fn told(report: &NightReport, first: bool, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{}", plain(&report.reason))?;
    if let Some(problem) = &report.problem {
        writeln!(out, "{} ({})", plain(&problem.guidance), problem.code)?;
    }
    read_and_found(report, out)?;
    if report.simulated && report.n_tasks > 0 {
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
                "  held-out score {} -> {}: {}",
                score(decision.before),
                score(decision.after),
                action(decision.action)
            )?;
        }
        edits(target, out)?;
        if let Some(why) = &target.not_staged {
            writeln!(out, "  not staged: {}", plain(why))?;
        }
    }
    if first || report.n_sessions > 0 {
        skipped(&report.skipped, out)?;
    } else if !report.skipped.is_empty() {
        writeln!(
            out,
            "What was left out is as before; `skillopt sleep harvest` lists it."
        )?;
    }
    counts(&report.not_replayable, out)?;
    if report.proposal.is_none() {
        suggestions(
            &report
                .suggestions
                .iter()
                .map(|said| (said.times as u64, said.words.as_str()))
                .collect::<Vec<_>>(),
            &report.missing,
            out,
        )?;
    }
    for note in &report.notes {
        writeln!(out, "{}", plain(note))?;
    }
    if report.spend.calls > 0 && report.simulated {
        let calls = counted(report.spend.calls, "simulated call");
        writeln!(out, "Spent: nothing; {calls}.")?;
    } else if report.spend.calls > 0 {
        writeln!(out, "Spent: {}.", super::models::words(&report.spend))?;
    }
    if let Some(id) = &report.proposal {
        writeln!(out, "\nProposal {id}: {}", plain(&report.staging_dir))?;
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

/// How to go on after a night.
pub(crate) fn what_next(report: &NightReport, out: &mut String) -> std::fmt::Result {
    if report.proposal.is_some() && report.adopted.is_empty() {
        writeln!(
            out,
            "Review it with `skillopt proposal show`, then `skillopt proposal adopt` or `reject`."
        )?;
    }
    Ok(())
}

/// What became of each edit.
fn edits(target: &TargetReport, out: &mut String) -> std::fmt::Result {
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
        let word = if target.was_compared() {
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
    Ok(())
}

/// What was read and found; nothing when the night ended before it read anything, or when its reason
/// says it already.
fn read_and_found(report: &NightReport, out: &mut String) -> std::fmt::Result {
    let sessions = counted(report.n_sessions as u64, "session");
    if report.n_tasks == 0 {
        if report.n_sessions == 0 || report.outcome == Outcome::NothingToDo {
            return Ok(());
        }
        return writeln!(out, "{sessions} with something new.");
    }
    let [train, validation, test] = report.slices;
    writeln!(
        out,
        "{sessions} with something new; {} ({train} training, {validation} held out, {test} test).",
        counted(report.n_tasks as u64, "task")
    )
}

/// What the gate did, for a person.
const fn action(action: Action) -> &'static str {
    match action {
        Action::AcceptNewBest => "better",
        Action::Reject => "not better",
        Action::RejectUnverified => "too little to tell",
        Action::GreedyApplied => "not compared, the gate is off",
        Action::GreedyNoop => "nothing changed",
    }
}

fn suggestions(said: &[(u64, &str)], missing: &[String], out: &mut String) -> std::fmt::Result {
    if !said.is_empty() {
        writeln!(out, "\nUntested suggestions, in your own words:")?;
        for (times, words) in said {
            writeln!(out, "  {times}x {}", plain(words))?;
        }
    }
    if !missing.is_empty() {
        writeln!(out, "\nStill missing before something can be tested:")?;
        for line in missing {
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
        writeln!(out, "  {}", left_out(row))?;
    }
    let records: u64 = records.iter().map(|row| row.count).sum();
    if records > 0 {
        writeln!(
            out,
            "  passed over what is no turn: {} (--json lists them by reason)",
            counted(records, "record")
        )?;
    }
    Ok(())
}

/// The types of records of each agent that this version does not know: a sign that a format changes.
pub(crate) fn unknown(sources: &[SourceStatus], out: &mut String) -> std::fmt::Result {
    for source in sources {
        if let Some(unknown) = source.unknown() {
            writeln!(out, "  {}: {}", source.title, plain(&unknown))?;
        }
    }
    Ok(())
}

fn left_out(row: &SkipCount) -> String {
    let count = counted(row.count, row.unit.noun());
    let sentence = plain(&row.sentence);
    if row.reason == "before_since" {
        let is = if row.count == 1 { "is" } else { "are" };
        return format!(
            "{count} ({}) {is} {}",
            row.agent,
            lowercase_first(&sentence)
        );
    }
    format!("left out {count} ({}): {sentence}", row.agent)
}

fn lowercase_first(sentence: &str) -> String {
    let mut rest = sentence.chars();
    rest.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(rest).collect()
    })
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
        "{} with something new; {} would take part.",
        counted(preview.n_sessions as u64, "session"),
        counted(preview.n_tasks as u64, "task")
    )?;
    for task in &preview.tasks {
        let intent: String = plain(&task.intent).chars().take(90).collect();
        writeln!(out, "  [{}] {intent}", word(&task.split))?;
    }
    skipped(&preview.skipped, out)?;
    unknown(&preview.sources, out)?;
    counts(&preview.not_replayable, out)?;
    if preview.waiting > 0 {
        writeln!(
            out,
            "  seen in one session only, waiting until it recurs: {}",
            counted(preview.waiting, "request")
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
    } else if preview.budget_problem.is_none() || forecast.calls > 0 {
        let cost = forecast.cost_micros_high.map_or_else(
            || "price unknown".to_owned(),
            |micros| format!("at most {}", amount(micros)),
        );
        writeln!(
            out,
            "Estimate: about {}, {} to {} tokens, {cost}.",
            counted(forecast.calls + forecast.mining_calls, "model call"),
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
    let nights = match status.nights {
        0 => "no night yet".to_owned(),
        nights => counted(nights, "night"),
    };
    writeln!(out, "{}: {nights}", plain(&status.project))?;
    if let Some(last) = status.last.as_ref().filter(|last| !last.is_empty()) {
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
    if !status.upcoming.is_empty() {
        let nights: Vec<&str> = status
            .upcoming
            .iter()
            .map(|night| night.words.as_str())
            .collect();
        writeln!(
            out,
            "Next, while the app or `skillopt daemon` runs: {}.",
            nights.join("; ")
        )?;
    }
    if !status.waits.is_empty() {
        writeln!(out, "Now a night would wait: {}.", status.waits.join("; "))?;
    }
    match &status.scheduled {
        Some(time) if time.contains(':') => writeln!(out, "By cron: every day at {time}.")?,
        Some(fields) => writeln!(out, "By cron: {}.", plain(fields))?,
        None => writeln!(
            out,
            "Not in your crontab; `skillopt sleep schedule` lets cron run it every night."
        )?,
    }
    match &status.proposal {
        Some(id) => writeln!(
            out,
            "Waiting: proposal {id} ({}){}; `skillopt proposal show`",
            status.staged_skills.join(", "),
            if status.stale {
                ", but a file of it was changed since: it cannot be adopted"
            } else {
                ""
            }
        )?,
        None => writeln!(out, "No proposal waits.")?,
    }
    if status.proposal.is_none() {
        if let (Some(night), Some(1..)) = (
            status.suggestions_of,
            status.suggestions.as_array().map(Vec::len),
        ) {
            writeln!(
                out,
                "Untested suggestions of night {night}, in your own words:"
            )?;
        }
        for row in status.suggestions.as_array().into_iter().flatten() {
            writeln!(
                out,
                "  {}x {}",
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
    writeln!(out, "  ID  NIGHT      BEGAN             OUTCOME")?;
    rows.iter().try_for_each(|row| one(row, out))
}

fn one(row: &NightRow, out: &mut String) -> std::fmt::Result {
    let number = row
        .number
        .map_or_else(|| "-".to_owned(), |number| number.to_string());
    let outcome = row
        .outcome
        .map_or_else(|| word(&row.state), |outcome| word(&outcome));
    let outcome = match row.kind {
        NightKind::Run => outcome,
        NightKind::DryRun => format!("rehearsal, {outcome}"),
        NightKind::Experiment => format!("experiment, {outcome}"),
        NightKind::Revalidation => format!("test of some rules, {outcome}"),
    };
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
    for row in &shown.stages {
        let Some(name) = stage::words(&row.stage.name) else {
            continue;
        };
        let calls: Vec<String> = row
            .calls
            .as_object()
            .into_iter()
            .flatten()
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        writeln!(
            out,
            "  {:<50} {:<8} {}",
            plain(&name),
            if row.done { "done" } else { "open" },
            calls.join(", ")
        )?;
        if row.spend.tokens > 0 {
            writeln!(out, "    spent: {}", super::models::words(&row.spend))?;
        }
    }
    writeln!(out, "  spent: {}", super::models::words(&shown.spend))?;
    for target in report_targets(shown) {
        let text = |key: &str| plain(target[key].as_str().unwrap_or(""));
        let decision = &target["decision"];
        writeln!(out, "  {}: {}", text("path"), text("sentence"))?;
        if !decision.is_null() {
            writeln!(
                out,
                "    held-out score {} -> {}",
                score(decision["before"].as_f64()),
                score(decision["after"].as_f64())
            )?;
            let evidence = shown
                .evidence
                .iter()
                .find(|evidence| target["id"] == evidence.target.as_str());
            let none = BTreeMap::new();
            let requests = evidence.map_or(&none, |evidence| &evidence.requests);
            review::deltas(decision, requests, out)?;
        }
        if let Ok(target) = TargetReport::deserialize(target) {
            edits(&target, out)?;
        }
    }
    if let Some(report) = &shown.report {
        of_report(report, out)?;
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

/// What a stored report says to the user: suggestions, what is missing, the proposal.
fn of_report(report: &Value, out: &mut String) -> std::fmt::Result {
    let rows = |key: &str| report[key].as_array().map_or(&[][..], Vec::as_slice);
    let said: Vec<(u64, &str)> = rows("suggestions")
        .iter()
        .filter_map(|row| Some((row["times"].as_u64()?, row["words"].as_str()?)))
        .collect();
    let missing: Vec<String> = rows("missing")
        .iter()
        .filter_map(|line| Some(line.as_str()?.to_owned()))
        .collect();
    suggestions(&said, &missing, out)?;
    for note in rows("notes").iter().filter_map(Value::as_str) {
        writeln!(out, "  {}", plain(note))?;
    }
    if let Some(id) = report["proposal"].as_str() {
        writeln!(
            out,
            "\nProposal {id}: `skillopt proposal show {id}`",
            id = plain(id)
        )?;
    }
    Ok(())
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
