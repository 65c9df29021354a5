//! What runs, what comes next, and what waits.

use std::fmt::{self, Write};

use jiff::tz::TimeZone;
use skillopt_app::supervisor::{
    ProjectState, Supervising, SupervisorState, at_in_words, left_in_words,
};
use skillopt_app::types::counted;
use skillopt_core::Instant;
use skillopt_core::schedule::Unknown;

use super::stage;
use crate::terminal::plain;

/// The state for a person, as of `now`.
pub(super) fn render(state: &SupervisorState, now: Instant, out: &mut String) -> fmt::Result {
    let zone = TimeZone::system();
    writeln!(out, "{}.", plain(&state.sentence).trim_end_matches('.'))?;
    for project in &state.projects {
        writeln!(out, "\n{}  {}", plain(&project.name), plain(&project.root))?;
        for line in lines(project, now, &zone) {
            writeln!(out, "  {}", plain(&line))?;
        }
    }
    if state.projects.is_empty() {
        writeln!(
            out,
            "No project is registered. The first `skillopt sleep run` in a folder registers it."
        )?;
    }
    match &state.supervising {
        Supervising::Here => {}
        Supervising::Another(holder) => {
            writeln!(out, "\nNights are started by {}.", plain(holder))?;
        }
        Supervising::Nobody => {
            let by_cron = state.projects.iter().filter(|one| one.cron.is_some());
            let words = match by_cron.count() {
                0 => ": no night begins by itself",
                all if all == state.projects.len() => "; cron begins the nights",
                _ => "; only the nights that cron begins do so by themselves",
            };
            writeln!(out, "\nNeither the app nor `skillopt daemon` runs{words}.")?;
        }
    }
    if let Some(trouble) = &state.trouble {
        writeln!(out, "! {}", plain(trouble))?;
    }
    Ok(())
}

fn lines(project: &ProjectState, now: Instant, zone: &TimeZone) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(problem) = &project.problem {
        lines.push(format!("! {problem}"));
    }
    if let Some(running) = &project.running {
        let at = running.stage.as_deref().and_then(stage::words);
        let calls = match running.calls {
            0 => String::new(),
            calls => format!(" ({} of {})", running.calls_done, counted(calls, "call")),
        };
        let left = running.seconds_left.map_or_else(String::new, |seconds| {
            format!(", at most about {} left", left_in_words(seconds))
        });
        lines.push(match at {
            Some(at) => format!("Running: {at}{calls}{left}"),
            None => format!("Running{left}"),
        });
    } else if project.requested && project.waits.is_empty() {
        lines.push("Asked for by hand".to_owned());
    }
    lines.extend(project.waits.iter().map(|why| why.sentence(now, zone)));
    if !project.unknown.is_empty() && project.due {
        let unknown: Vec<&str> = project.unknown.iter().map(|what| words(*what)).collect();
        lines.push(format!("Not known, so allowed: {}", unknown.join(", ")));
    }
    match &project.next {
        Some(next) if !project.due => {
            lines.push(format!("Next: {}", at_in_words(next.at, now, zone)));
        }
        Some(next) if project.catching_up => {
            let missed = at_in_words(next.at, now, zone);
            lines.push(format!("Missed {missed}; it is caught up"));
        }
        Some(_) => lines.push("Due now".to_owned()),
        None if !project.nightly && project.problem.is_none() => {
            lines.push("No nights by themselves (schedule.nightly)".to_owned());
        }
        None => {}
    }
    match &project.cron {
        Some(time) if time.contains(':') => lines.push(format!("By cron: every day at {time}")),
        Some(fields) => lines.push(format!("By cron: {fields}")),
        None => {}
    }
    if let Some(last) = &project.last {
        let when = last.ended_at.map_or_else(String::new, |at| {
            format!("{}: ", at_in_words(at, now, zone))
        });
        let missed = last.caught_up_for.map_or_else(String::new, |slot| {
            format!(" (missed {})", slot.strftime("%H:%M"))
        });
        lines.push(format!("Last: {when}{}{missed}", last.reason));
        if let Some(answer) = &last.refused_answer {
            lines.push(format!(
                "! Answer {} was not taken: {}",
                answer.id,
                plain(&answer.reason)
            ));
        }
    }
    if project.failures > 1 {
        lines.push(format!("{} nights failed in a row", project.failures));
    }
    match project.pending {
        0 => {}
        1 => lines.push("1 proposal waits".to_owned()),
        count => lines.push(format!("{count} proposals wait")),
    }
    match project.stale {
        0 => {}
        1 => lines
            .push("! 1 of them cannot be adopted any more: a file was changed since".to_owned()),
        count => lines.push(format!(
            "! {count} of them cannot be adopted any more: a file was changed since"
        )),
    }
    lines
}

const fn words(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::Power => "whether there is power",
        Unknown::Network => "whether the network is metered",
        Unknown::Idle => "whether somebody uses the computer",
        Unknown::Sessions => "how many sessions are new",
    }
}
