//! Which sessions a night would find, and what it would leave out.

use std::path::PathBuf;

use serde_json::json;
use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_core::text::counted;
use skillopt_sleep::report::SkipCount;
use skillopt_sleep::sources::{self, SourceStatus};
use skillopt_sleep::{Context, harvesting};
use skillopt_transcripts::{Harvest, Reason, Unit};

use super::{Finding, Health, good};

/// One finding for each agent whose sessions are read, and the sessions of the look-back, which the night
/// would have.
///
/// Errors: those of [`harvesting::read`].
pub(super) fn look(context: &Context) -> Result<(Vec<Finding>, Harvest), Problem> {
    let all = harvesting::read(context, true)?;
    let statuses = sources::statuses(context, &all);
    let within = harvesting::within_look_back(context, all)?;
    let skipped = SkipCount::of(&within, context);
    let homes = harvesting::homes(context);
    let findings = statuses
        .into_iter()
        .map(|mut status| {
            let old = skipped
                .iter()
                .find(|row| row.agent == status.agent && row.reason == Reason::BeforeSince.id());
            status.skipped.extend(old.cloned());
            let places = places(homes.of(status.agent));
            source(status, &places)
        })
        .collect();
    Ok((findings, within))
}

/// One agent's sessions. That an agent is not there is no fault of a machine.
fn source(status: SourceStatus, places: &str) -> Finding {
    let subject = format!("sessions of {}", status.title);
    let detail = json!(status);
    let key = home_key(status.agent);
    let where_from = where_from(&status);
    if let Some(warning) = status.warning {
        return Finding {
            health: Health::Warning,
            guidance: format!("{} {where_from}", warning.guidance),
            ..good(&subject, "sessions_strange", warning.message, detail)
        };
    }
    if !status.present {
        return Finding {
            guidance: format!("Nothing to do if you do not use it; else {key} names its folder."),
            ..good(
                &subject,
                "sessions_absent",
                format!("{} has no folder at {places}.", status.title),
                detail,
            )
        };
    }
    let message = format!(
        "{} of this project below {places} ({key}).",
        counted(status.sessions as u64, "session")
    );
    let unknown = status
        .unknown()
        .map(|sentence| sentence + " ")
        .unwrap_or_default();
    let left_out = left_out(&status) + &unknown;
    let retention = status.retention.sentence();
    if status.sessions == 0 {
        let nothing = if left_out.is_empty() {
            "Its folders hold no transcript. "
        } else {
            ""
        };
        return Finding {
            health: Health::Warning,
            guidance: format!("{nothing}{left_out}{retention} {where_from}"),
            ..good(&subject, "sessions_none", message, detail)
        };
    }
    Finding {
        guidance: left_out + &where_from,
        ..good(
            &subject,
            "sessions_found",
            format!("{message} {retention}"),
            detail,
        )
    }
}

/// The setting that names where an agent keeps its files.
fn home_key(agent: Agent) -> String {
    format!("reads.{}_home", agent.id())
}

fn places(homes: &[PathBuf]) -> String {
    let places: Vec<String> = homes
        .iter()
        .map(|home| home.display().to_string())
        .collect();
    places.join(", ")
}

/// When the newest session was written, and where was looked.
fn where_from(status: &SourceStatus) -> String {
    let newest = status.newest.map_or_else(String::new, |at| {
        let day = at.strftime("%Y-%m-%d %H:%M");
        format!("The newest session of any project was written on {day} UTC. ")
    });
    let there: Vec<String> = status
        .looked
        .iter()
        .filter(|place| place.present)
        .map(|place| place.folder.display().to_string())
        .collect();
    let absent = match status.looked.len() - there.len() {
        0 => String::new(),
        1 => "; another place is not there".to_owned(),
        more => format!("; {more} other places are not there"),
    };
    format!("{newest}Looked in {}{absent}.", there.join(", "))
}

/// What was left out, but for the records inside sessions, which are many and usual; with a space after
/// it, or nothing.
fn left_out(status: &SourceStatus) -> String {
    let parts: Vec<String> = status
        .skipped
        .iter()
        .filter(|row| match row.unit {
            Unit::File | Unit::Session | Unit::Turn => true,
            Unit::Record => false,
        })
        .map(|row| {
            format!(
                "{} ({})",
                counted(row.count, row.unit.noun()),
                row.sentence.trim_end_matches('.')
            )
        })
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("Left out: {}. ", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use skillopt_store::files::{NewFile, atomic_replace};

    use super::*;
    use crate::test_home::TestHome;

    #[test]
    fn transcripts_are_read_once_for_what_there_is_and_what_a_night_would_have() {
        let home = TestHome::new();
        let folder = home.path("project").canonicalize().unwrap();
        let sessions = home.path(".claude/projects/-project");
        std::fs::create_dir_all(&sessions).unwrap();
        for (name, hours) in [("new", 1), ("old", 1000)] {
            let at = home.app.clock.now() - SignedDuration::from_hours(hours);
            let record = json!({"type": "user", "uuid": name, "timestamp": at.to_string(),
                "cwd": folder, "promptSource": "typed", "origin": {"kind": "human"},
                "message": {"role": "user", "content": format!("Rename the {name} flag")}});
            let path = sessions.join(format!("{name}.jsonl"));
            let line = format!("{record}\n");
            atomic_replace(&path, line.as_bytes(), NewFile::Private).unwrap();
        }
        let project = home.app.looked_at(None).unwrap();
        let context = home.app.night(project).unwrap();
        let (findings, within) = look(&context).unwrap();
        // A second look would have found both as they were.
        assert_eq!((within.files.read, within.files.unchanged), (2, 0));
        let night = harvesting::read(&context, false).unwrap();
        assert_eq!(within.sessions.len(), 1);
        assert_eq!(within.sessions, night.sessions);
        assert_eq!(within.skipped, night.skipped);
        let claude = &findings[0];
        assert!(claude.message.starts_with("2 sessions"), "{claude:?}");
        assert!(claude.guidance.contains("1 session"), "{claude:?}");
    }
}
