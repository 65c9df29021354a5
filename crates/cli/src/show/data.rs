//! Our own data, and what is taken over from elsewhere, as text.

use std::fmt::Write;

use skillopt_app::data::Purged;
use skillopt_app::import::Imported;
use skillopt_app::types::counted;

use super::bytes_words;
use crate::terminal::plain;

/// Tables a person has a word for. What is not here only serves one of these.
const TABLES: [(&str, &str); 7] = [
    ("project", "project"),
    ("night", "night"),
    ("task", "task"),
    ("proposal", "proposal"),
    ("receipt", "adopted document"),
    ("call", "model call"),
    ("transcript_file", "remembered transcript"),
];

/// What a purge deletes, or would delete.
pub(crate) fn purge(done: &Purged, out: &mut String) -> std::fmt::Result {
    writeln!(out, "{}", plain(&done.message))?;
    let plan = &done.detail;
    for (table, noun) in TABLES {
        let count = plan.rows.get(table).copied().unwrap_or(0);
        if count > 0 {
            writeln!(out, "  {}", counted(count, noun))?;
        }
    }
    let bodies = plan.rows.get("blob").copied().unwrap_or(0);
    if bodies > 0 {
        writeln!(
            out,
            "  {} of prompts, replies and documents",
            counted(bodies, "text")
        )?;
    }
    for place in plan.folders.iter().chain(&plan.files) {
        writeln!(out, "  {}", plain(&place.to_string_lossy()))?;
    }
    if plan.bytes > 0 {
        writeln!(out, "  {} in these places", bytes_words(plan.bytes))?;
    }
    (plan.notes.iter()).try_for_each(|note| writeln!(out, "{}", plain(&note.message)))
}

/// What was, or would be, taken over from the reference system.
pub(crate) fn import(imported: &Imported, out: &mut String) -> std::fmt::Result {
    let verb = if imported.applied {
        "Taken over"
    } else {
        "Would be taken over (add --yes)"
    };
    writeln!(out, "{verb} from {}:", imported.from.display())?;
    for row in imported.settings.as_array().into_iter().flatten() {
        writeln!(
            out,
            "  {} = {}  (was {})",
            plain(row["key"].as_str().unwrap_or("")),
            plain(&row["value"].to_string()),
            plain(row["reference"].as_str().unwrap_or(""))
        )?;
    }
    for row in &imported.tasks {
        writeln!(
            out,
            "  {} of {}",
            counted(row["tasks"].as_u64().unwrap_or(0), "task"),
            plain(row["project"].as_str().unwrap_or(""))
        )?;
    }
    for row in imported.ignored.as_array().into_iter().flatten() {
        writeln!(
            out,
            "  left out: {}, because {}",
            plain(row["reference"].as_str().unwrap_or("")),
            plain(row["why"].as_str().unwrap_or(""))
        )?;
    }
    imported
        .notes
        .iter()
        .try_for_each(|note| writeln!(out, "  {}", plain(note)))
}
