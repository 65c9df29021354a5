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
    let within = harvesting::read(context, false)?;
    let skipped = SkipCount::of(&within, context);
    let homes = harvesting::homes(context);
    let findings = sources::statuses(context, &all)
        .into_iter()
        .map(|status| {
            let old = skipped
                .iter()
                .find(|row| row.agent == status.agent && row.reason == Reason::BeforeSince.id());
            let places = places(homes.of(status.agent));
            source(status, &places, old)
        })
        .collect();
    Ok((findings, within))
}

/// One agent's sessions. That an agent is not there is no fault of a machine. `old` are the sessions
/// beyond the look-back.
fn source(status: SourceStatus, places: &str, old: Option<&SkipCount>) -> Finding {
    let subject = format!("sessions of {}", status.title);
    let detail = json!(status);
    let key = home_key(status.agent);
    let where_from = where_from(&status);
    if let Some(warning) = status.warning {
        return Finding {
            health: Health::Warning,
            guidance: format!("{} {where_from}", warning.guidance),
            ..good(&subject, warning.message, detail)
        };
    }
    if !status.present {
        return Finding {
            guidance: format!("Nothing to do if you do not use it; else {key} names its folder."),
            ..good(
                &subject,
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
    let left_out = left_out(&status, old) + &unknown;
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
            ..good(&subject, message, detail)
        };
    }
    Finding {
        guidance: left_out + &where_from,
        ..good(&subject, format!("{message} {retention}"), detail)
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
fn left_out(status: &SourceStatus, old: Option<&SkipCount>) -> String {
    let parts: Vec<String> = status
        .skipped
        .iter()
        .chain(old)
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
