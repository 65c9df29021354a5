//! Outputs as text or JSON.

use std::fmt::Write;

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use skillopt_app::commands::Output;
use skillopt_app::context::App;
use skillopt_app::log::LogEnd;
use skillopt_app::night::Cancelled;
use skillopt_app::supervisor::SupervisorState;
use skillopt_app::types::{amount, counted};
use skillopt_app::{doctor, proposal, sleep};
use skillopt_core::Instant;

use crate::terminal::{coloured, plain};
use crate::translate::View;

mod data;
mod models;
mod night;
mod review;
pub(crate) mod stage;
mod status;

/// Exit code of a command that succeeded.
pub(crate) fn exit_code(output: &Output, view: View) -> u8 {
    match output {
        Output::SleepRun(ran) => ran.exit_code,
        Output::Demo(demonstration) => u8::from(demonstration.proposal.is_none()),
        Output::Doctor(diagnosis) => u8::from(!diagnosis.healthy),
        Output::BackendTest(output) => u8::from(!output.works),
        Output::Experiment(experiment) if view == View::AssertImproves => {
            u8::from(!(experiment.improved && experiment.gate_blocks_harmful))
        }
        Output::ProposalAdopt(adopted) if adopted.refused => 2,
        _ => 0,
    }
}

/// The output as one JSON document. Nights have the keys of the reference.
pub(crate) fn json(output: &Output) -> String {
    let value = match output {
        Output::SleepRun(ran) => ran.report.run_json(),
        Output::ProposalAdopt(adopted) => adopted_json(adopted),
        other => json!(other),
    };
    format!(
        "{}\n",
        serde_json::to_string_pretty(&value).unwrap_or_default()
    )
}

/// The keys of the reference's `adopt --json` (§9.6) beside ours.
fn adopted_json(adopted: &proposal::AdoptOutput) -> Value {
    let mut value = json!(adopted);
    value["ok"] = json!(!adopted.refused);
    value["mode"] = json!("legacy");
    value["updated_paths"] = json!(
        adopted
            .receipts
            .iter()
            .map(|receipt| &receipt.real_path)
            .collect::<Vec<_>>()
    );
    value["adopted_skills"] = json!(
        adopted
            .receipts
            .iter()
            .map(|receipt| &receipt.target)
            .collect::<Vec<_>>()
    );
    value
}

/// The output for a person.
pub(crate) fn text(output: &Output, view: View, app: &App) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = render(output, view, app, &mut out);
    out
}

/// The state of the supervisor for a person.
pub(crate) fn status(state: &SupervisorState, app: &App) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = status::render(state, app.clock.now(), &mut out);
    out
}

fn render(output: &Output, view: View, app: &App, out: &mut String) -> std::fmt::Result {
    match output {
        Output::SleepRun(ran) => {
            night::told(&ran.report, ran.first, out)?;
            night::what_next(&ran.report, out)
        }
        Output::SleepDryRun(preview) => night::preview(preview, out),
        Output::SleepStatus(status) => night::status(status, out),
        Output::Status(state) => status::render(state, app.clock.now(), out),
        Output::Pause(paused) | Output::Resume(paused) => writeln!(out, "{}", paused.message),
        Output::NightStart(requested) => writeln!(out, "{}", plain(&requested.message)),
        Output::SleepHarvest(_) if view == View::Digests => out.write_str(&text_of_digests(output)),
        Output::SleepHarvest(harvested) => harvest(harvested, out),
        Output::SleepSchedule(scheduled) | Output::SleepUnschedule(scheduled) => {
            writeln!(out, "{}", scheduled.message)?;
            for entry in &scheduled.entries {
                writeln!(out, "  {}", plain(entry))?;
            }
            if !scheduled.changed && !scheduled.line.is_empty() {
                writeln!(out, "  {}", plain(&scheduled.line))?;
            }
            if !scheduled.reference_entries.is_empty() {
                writeln!(
                    out,
                    "Your crontab also runs the reference system every night:"
                )?;
                for entry in &scheduled.reference_entries {
                    writeln!(out, "  {}", plain(entry))?;
                }
                writeln!(
                    out,
                    "Remove its block with `crontab -e` when SkillOpt takes its place."
                )?;
            }
            for warning in &scheduled.warnings {
                writeln!(out, "! {}", plain(warning))?;
            }
            Ok(())
        }
        Output::ProjectList(rows) if rows.is_empty() => {
            writeln!(
                out,
                "No project is registered. The first `skillopt sleep run` in a folder registers it."
            )
        }
        Output::ProjectList(rows) => rows.iter().try_for_each(|row| project(row, out)),
        Output::ProjectRemove(row) => {
            project(row, out)?;
            writeln!(
                out,
                "It was taken off the list; `skillopt project add` puts it back, with its history."
            )
        }
        Output::ProjectAdd(row) | Output::ProjectMove(row) => project(row, out),
        Output::ProjectFind(found) => discovered(found, out),
        Output::ProposalList(rows) => review::list(rows, view == View::All, out),
        Output::ProposalShow(shown) => review::show(shown, view == View::Diff, out),
        Output::ProposalAdopt(adopted) => review::adopted(adopted, out),
        Output::ProposalReject(rejected) => review::rejected(rejected, out),
        Output::ProposalReopen(reopened) => writeln!(
            out,
            "Proposal {} waits again: {}.",
            plain(&reopened.proposal),
            plain(&reopened.targets.join(", "))
        ),
        Output::Rollback(rolled) => {
            let verb = if rolled.applied {
                "Taken back"
            } else {
                "Would be taken back"
            };
            for file in &rolled.files {
                writeln!(out, "{verb}: {}", plain(&file.to_string_lossy()))?;
            }
            Ok(())
        }
        Output::NightList(rows) => night::list(rows, out),
        Output::NightShow(shown) => night::show(shown, out),
        Output::NightPause(paused) if paused.told => writeln!(
            out,
            "Night {} was told to stop; it does so at the next model call. `skillopt night resume` goes on with it.",
            paused.id
        ),
        Output::NightPause(paused) => writeln!(
            out,
            "Night {} is not at work. `skillopt night resume` goes on with it.",
            paused.id
        ),
        Output::NightCancel(Cancelled {
            id: Some(id),
            told: true,
        }) => {
            writeln!(
                out,
                "Night {id} was told to end; it does so at the next model call."
            )
        }
        Output::NightCancel(cancelled) => match cancelled.id {
            Some(id) => writeln!(out, "Night {id} was ended."),
            None => writeln!(
                out,
                "The night that was asked for does not begin; none was at work."
            ),
        },
        Output::NightRecord(recorded) => writeln!(
            out,
            "{} replies of night {} are in {}.\nGo through it again with: {}",
            recorded.replies,
            recorded.id,
            plain(&recorded.file.to_string_lossy()),
            plain(&recorded.command)
        ),
        Output::BackendList(rows) => models::list(rows, out),
        Output::BackendTest(output) => models::test(output, out),
        Output::BackendAccept(accepted) => models::accepted(accepted, out),
        Output::BackendUse(chosen) => models::chosen(chosen, out),
        Output::BackendServers(found) => models::servers(found, out),
        Output::Log(end) => log(end, out),
        Output::ReportShow(report) => write!(out, "{}", plain(&report.text)),
        Output::ReportExport(exported) => writeln!(
            out,
            "The report is in {}, with {} taken out. Read it before you pass it on.",
            plain(&exported.file.to_string_lossy()),
            counted(exported.redacted as u64, "value")
        ),
        Output::Spend(spent) => models::spent(spent, out),
        Output::KeyList(kept) | Output::KeySet(kept) | Output::KeyRemove(kept) => {
            models::keys(kept, out)
        }
        Output::Handoff(questions) | Output::HandoffAnswer(questions) => handoff(questions, out),
        Output::ConfigShow(rows) => settings(rows, out),
        Output::ConfigSet(row) => {
            let file = row
                .file
                .as_ref()
                .map_or_else(String::new, |file| file.to_string_lossy().into_owned());
            writeln!(
                out,
                "{} = {} (decided by {}; written to {})",
                row.key,
                row.value,
                word(&row.layer),
                plain(&file)
            )
        }
        Output::ConfigPrompts(shown) => prompts(shown, out),
        Output::ConfigExplain(explained) => {
            writeln!(out, "{} = {}", explained.key, explained.value)?;
            writeln!(out, "  {}", explained.text)?;
            writeln!(
                out,
                "  Takes {}. Default: {}.",
                explained.allowed, explained.default
            )?;
            writeln!(out, "  Decided by: {}", word(&explained.layer))?;
            for given in &explained.given {
                writeln!(
                    out,
                    "    {}: {} ({})",
                    word(&given.layer),
                    given.value,
                    plain(&given.place)
                )?;
            }
            writeln!(
                out,
                "  Variable: {}  Flag: {}",
                explained.variable, explained.flag
            )
        }
        Output::Doctor(diagnosis) => {
            diagnosis
                .findings
                .iter()
                .try_for_each(|finding| self::finding(finding, out))?;
            writeln!(out, "Tonight would: {}", plain(&diagnosis.tonight))
        }
        Output::Demo(demonstration) => {
            writeln!(
                out,
                "A sample project was made in {}.",
                demonstration.project.display()
            )?;
            // How to go on is said below: in this shell it would be another home.
            night::told(&demonstration.report, true, out)?;
            if let Some(shown) = &demonstration.proposal {
                writeln!(out)?;
                review::documents(shown, false, out)?;
            }
            writeln!(
                out,
                "\nGo on, in a shell of its own, since this gives it another home:"
            )?;
            for line in demonstration.setup.iter().chain(&demonstration.next) {
                writeln!(out, "  {line}")?;
            }
            writeln!(out, "\nDelete the sample with\n  {}", demonstration.delete)
        }
        Output::Experiment(experiment) => {
            night::experiment(experiment, view == View::AssertImproves, out)
        }
        Output::Import(imported) => data::import(imported, out),
        Output::DataSize(size) => {
            writeln!(out, "{}", app.paths.data.display())?;
            for (name, bytes) in json!(size).as_object().into_iter().flatten() {
                writeln!(
                    out,
                    "  {name:<10} {:>10}",
                    bytes_words(bytes.as_u64().unwrap_or(0))
                )?;
            }
            Ok(())
        }
        Output::DataPurge(done) => data::purge(done, out),
        Output::DataExport(done)
        | Output::DataMove(done)
        | Output::DataCopy(done)
        | Output::DataRestore(done)
        | Output::DataRemoveOld(done) => {
            writeln!(out, "{}", plain(&done.message))
        }
    }
}

fn log(end: &LogEnd, out: &mut String) -> std::fmt::Result {
    if end.lines.is_empty() {
        let file = plain(&end.file.to_string_lossy());
        return writeln!(out, "Nothing was printed yet. It would be in {file}.");
    }
    end.lines
        .iter()
        .try_for_each(|line| writeln!(out, "{}", plain(line)))
}

fn finding(finding: &doctor::Finding, out: &mut String) -> std::fmt::Result {
    let mark = match finding.health {
        doctor::Health::Good => "ok ",
        doctor::Health::Warning => "!  ",
        doctor::Health::Bad => "BAD",
    };
    writeln!(
        out,
        "{mark} {}: {}",
        finding.about(),
        plain(&finding.message)
    )?;
    if !finding.guidance.is_empty() {
        writeln!(out, "      {}", plain(&finding.guidance))?;
    }
    Ok(())
}

/// A word of ours as it is serialised.
pub(crate) fn word<T: serde::Serialize>(value: &T) -> String {
    json!(value).as_str().unwrap_or_default().replace('_', " ")
}

fn bytes_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10),
    }
}

/// Digests as JSON lines, then what was left out and why.
fn text_of_digests(output: &Output) -> String {
    let Output::SleepHarvest(harvested) = output else {
        return String::new();
    };
    let mut text = String::new();
    for digest in harvested.digests.iter().flatten() {
        text.push_str(&json!(digest).to_string());
        text.push('\n');
    }
    let mut counts = json!({"skipped": harvested.skipped, "sources": harvested.sources});
    if !harvested.notes.is_empty() {
        counts["notes"] = json!(harvested.notes);
    }
    text.push_str(&counts.to_string());
    text.push('\n');
    text
}

fn harvest(harvested: &sleep::Harvested, out: &mut String) -> std::fmt::Result {
    let payload = &harvested.payload;
    let tasks = payload["tasks"].as_array().map_or(&[][..], Vec::as_slice);
    for session in &harvested.sessions {
        let started = session.started.map_or_else(|| "no date".to_owned(), local);
        let used = match session.used {
            0 => String::new(),
            used if used == session.turns => ", used by an earlier night".to_owned(),
            used => format!(", {used} used by an earlier night"),
        };
        writeln!(
            out,
            "{started}  {:<8.8}  {:<60}  {}{used}",
            plain(&session.id),
            plain(&session.first_words),
            counted(session.turns as u64, "turn")
        )?;
    }
    writeln!(
        out,
        "{}, {} that recur and can be judged.",
        counted(harvested.sessions.len() as u64, "session"),
        counted(tasks.len() as u64, "task")
    )?;
    for task in tasks {
        let intent = plain(task["intent"].as_str().unwrap_or(""));
        let intent: String = intent.chars().take(90).collect();
        let part = |key: &str| task[key].as_str().unwrap_or("").to_owned();
        writeln!(out, "  [{}/{}] {intent}", part("split"), part("outcome"))?;
    }
    night::skipped(&harvested.skipped, out)?;
    night::unknown(&harvested.sources, out)?;
    for warning in harvested
        .sources
        .iter()
        .filter_map(|it| it.warning.as_ref())
    {
        writeln!(out, "  ! {}", plain(&warning.to_string()))?;
    }
    for note in &harvested.notes {
        writeln!(out, "{}", plain(note))?;
    }
    if let Some(file) = &harvested.output {
        writeln!(
            out,
            "Written to {}. Review it, then set \"reviewed\": true in it.",
            file.display()
        )?;
    }
    Ok(())
}

fn project(row: &skillopt_app::project::ProjectRow, out: &mut String) -> std::fmt::Result {
    let gone = if row.present {
        ""
    } else {
        "  (the folder is gone: `skillopt project move`)"
    };
    let last = row
        .last_outcome
        .map_or_else(|| "no night yet".to_owned(), |outcome| word(&outcome));
    writeln!(
        out,
        "{}  {}{gone}",
        row.project.id,
        plain(&row.project.root)
    )?;
    writeln!(
        out,
        "    {last}; waiting: {}",
        counted(row.waiting as u64, "proposal")
    )?;
    row.notes
        .iter()
        .try_for_each(|note| writeln!(out, "    {}", plain(note)))
}

fn handoff(questions: &skillopt_app::handoff::Questions, out: &mut String) -> std::fmt::Result {
    let open = questions
        .pending
        .iter()
        .filter(|question| question["answered"] == false)
        .count();
    if questions.pending.is_empty() {
        return writeln!(out, "No question waits.");
    }
    writeln!(
        out,
        "Waiting for an answer: {open} of {}.",
        counted(questions.pending.len() as u64, "question")
    )?;
    for question in &questions.pending {
        if let (Some(id), Some(why)) = (question["id"].as_str(), question["refused"].as_str()) {
            writeln!(out, "Answer {} was not taken: {}.", plain(id), plain(why))?;
        }
    }
    for question in &questions.pending {
        let text = |key: &str| question[key].as_str().unwrap_or_default();
        writeln!(
            out,
            "  {}  {}{}",
            plain(text("id")),
            plain(text("kind")),
            if question["answered"] == true {
                ", answered"
            } else {
                ""
            }
        )?;
    }
    writeln!(out, "Read them in {}", questions.prompts.display())?;
    writeln!(
        out,
        "and write each answer to {}, or give it with `skillopt handoff answer ID FILE`.",
        questions.answers.join("<id>.md").display()
    )?;
    writeln!(out, "Then `skillopt night resume` goes on.")
}

/// Agents and folders, one a line.
fn discovered(found: &skillopt_app::discover::Discovered, out: &mut String) -> std::fmt::Result {
    for agent in found.agents.iter().filter(|agent| agent.present) {
        writeln!(
            out,
            "{}: {} within {} days. {}",
            agent.title,
            counted(agent.sessions as u64, "session"),
            found.days,
            agent.retention.sentence()
        )?;
    }
    if found.projects.is_empty() {
        return writeln!(out, "No folder with sessions was found.");
    }
    for project in &found.projects {
        writeln!(
            out,
            "{}  {}{}",
            plain(&project.root),
            counted(project.sessions as u64, "session"),
            if project.registered {
                ", registered"
            } else {
                ""
            }
        )?;
    }
    Ok(())
}

fn settings(rows: &[skillopt_app::config::SettingRow], out: &mut String) -> std::fmt::Result {
    for warning in rows.iter().flat_map(|row| &row.warnings) {
        writeln!(out, "! {}", plain(warning))?;
    }
    for row in rows {
        let layer = word(&row.layer);
        let from = if layer == "default" {
            String::new()
        } else {
            format!("   <- {layer}")
        };
        writeln!(out, "{} = {}{from}", row.key, plain(&row.value.to_string()))?;
    }
    Ok(())
}

fn prompts(shown: &skillopt_app::config::Prompts, out: &mut String) -> std::fmt::Result {
    for warning in &shown.warnings {
        writeln!(out, "! {}", plain(warning))?;
    }
    writeln!(
        out,
        "Words of your own stand in {} as a JSON object of names and texts, such as\n\
         {{\"attempt\": \"…\"}}. Each placeholder is __NAME__; a prompt that is not there keeps ours.",
        plain(&shown.file.to_string_lossy())
    )?;
    for prompt in &shown.prompts {
        let whose = if prompt.overridden.is_some() {
            "your words"
        } else {
            "our words"
        };
        writeln!(out, "\n{} ({whose}): {}", prompt.name, prompt.description)?;
        writeln!(out, "  must hold: {}", placeholders(prompt.required))?;
        writeln!(out, "  may hold:  {}\n", placeholders(prompt.optional))?;
        for line in prompt.effective.lines() {
            writeln!(out, "    {}", plain(line))?;
        }
    }
    Ok(())
}

fn placeholders(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("__{name}__")).collect();
    names.join(" ")
}

/// `12 model calls, 3400 tokens, 0.02 in money`; what is free or not known is left out.
pub(crate) fn spent(calls: u64, tokens: u64, micros: u64) -> String {
    let mut words = counted(calls, "model call");
    if tokens > 0 {
        let _ = write!(words, ", {tokens} tokens");
    }
    if micros > 0 {
        let _ = write!(words, ", {} in money", amount(micros));
    }
    words
}

/// An instant as the user's clock shows it.
pub(crate) fn local(instant: Instant) -> String {
    instant
        .to_zoned_datetime(TimeZone::system())
        .strftime("%Y-%m-%d %H:%M")
        .to_string()
}

/// A score, or a dash when there is none.
pub(crate) fn score(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// `text` in a colour, when colours are wanted.
pub(crate) fn tinted(text: &str, colour: &str) -> String {
    if coloured() {
        format!("\u{1b}[{colour}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}
