//! What a user is told about settings.

use std::path::Path;

use serde_json::Value;
use skillopt_core::Problem;

use crate::kind::Fault;
use crate::resolved::Place;
use crate::suggest::closest;
use crate::table::{ROWS, Row, Settings, row};

/// A value that is not allowed: `setting_invalid`, or `backend_unknown`.
pub(crate) fn invalid(row: &Row, place: &Place, fault: &Fault) -> Problem {
    let (code, phrase) = match fault {
        Fault::Wrong(phrase) => ("setting_invalid", phrase),
        Fault::Backend(phrase) => ("backend_unknown", phrase),
        Fault::Secret => {
            return Problem::refused(
                "setting_invalid",
                format!(
                    "{} (set {place}) is a text that holds what looks like a key or a password, and no setting may.",
                    row.key
                ),
                "Take it out there. `skillopt key set NAME` keeps a key in the keyring, and models.api_key_env takes its NAME.",
            );
        }
    };
    let end = if phrase.ends_with('?') { "" } else { "." };
    Problem::refused(
        code,
        format!("{} (set {place}) is {phrase}{end}", row.key),
        format!(
            "Correct it there; `skillopt config explain {}` says what it does.",
            row.key
        ),
    )
}

/// Puts a checked value into the settings.
pub(crate) fn put(
    settings: &mut Settings,
    row: &Row,
    value: Value,
    place: &Place,
) -> Result<(), Problem> {
    settings.put(row, value).map_err(|error| {
        let allowed = row.kind.allowed();
        invalid(
            row,
            place,
            &Fault::Wrong(format!(
                "not what it takes ({error}), and must be {allowed}"
            )),
        )
    })
}

/// A key that does not exist, where one is asked for by name.
pub(crate) fn unknown(key: &str) -> Problem {
    let (sentence, _) = unknown_key(key);
    Problem::refused(
        "setting_unknown",
        sentence,
        "`skillopt config show` lists every setting.",
    )
}

/// The row of a key, or the problem that there is none.
pub(crate) fn known(key: &str) -> Result<&'static Row, Problem> {
    row(key).ok_or_else(|| unknown(key))
}

/// A file that cannot be parsed. Line and column count from 1, the column in characters.
pub(crate) fn broken(file: &Path, text: &str, offset: usize, reason: &str) -> Problem {
    let (line, column) = position(text, offset);
    let reason = skillopt_core::text::one_line(reason);
    Problem::refused(
        "config_broken",
        format!(
            "{} is broken at line {line}, column {column}: {}.",
            file.display(),
            reason.trim_end_matches('.')
        ),
        "Correct that place; nothing of the file is used until then.",
    )
}

/// A file that cannot be read at all.
pub(crate) fn unreadable(file: &Path, reason: &str) -> Problem {
    Problem::refused(
        "config_unreadable",
        format!(
            "{} cannot be read: {}.",
            file.display(),
            reason.trim_end_matches('.')
        ),
        "Make it a plain text file that you may read, or remove it.",
    )
}

/// Line and column of a byte offset, both from 1; the column in characters.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
    (line, column)
}

/// Settings of the reference that have no counterpart, and why.
pub(crate) const RETIRED: &[(&str, &str)] = &[
    ("replay_mode", "it was only a label"),
    ("progress", "progress is always shown on a terminal"),
    (
        "evidence_log",
        "evidence is always kept; privacy.evidence_days says how long",
    ),
    (
        "evidence_max_chars",
        "evidence is kept whole; privacy.evidence_days says how long",
    ),
    ("redact_secrets", "secrets are always redacted"),
    (
        "state_dir",
        "the variable SKILLOPT_DATA_DIR and `skillopt data move` say where data is kept",
    ),
    (
        "invoked_project",
        "projects are registered with `skillopt project add`",
    ),
    ("multi_skill_fanout", "this version does not have it"),
    ("multi_skill_report", "this version does not have it"),
    (
        "azure_endpoint",
        "set models.endpoint to the resource you use: its answers depend on it",
    ),
    (
        "vscode_workspace_storage",
        "reads.vscode_home names the folder above User/workspaceStorage",
    ),
    (
        "copilot_cli_session_store",
        "reads.copilot_home names the folder it lies in",
    ),
];

/// What became of a setting of the reference that does not exist by its name.
#[derive(Debug)]
pub enum Replaced {
    /// It is this setting.
    Renamed(&'static Row),
    /// There is none, and why: the rest of a sentence.
    Retired(&'static str),
}

/// What became of the reference's setting `name`; `None` for one that it never had, or that still has its
/// name.
#[must_use]
pub fn of_the_reference(name: &str) -> Option<Replaced> {
    let renamed = ROWS.iter().find(|row| row.reference.contains(&name));
    if let Some(row) = renamed.filter(|row| row.field != name) {
        return Some(Replaced::Renamed(row));
    }
    let retired = RETIRED.iter().find(|(retired, _)| *retired == name);
    retired.map(|(_, why)| Replaced::Retired(why))
}

/// What to say about a key that does not exist, and the code for it: `setting_renamed`,
/// `setting_retired` or `setting_unknown`.
pub(crate) fn unknown_key(key: &str) -> (String, &'static str) {
    /// What a message shows of a name.
    const SHOWN: usize = 80;
    let name = skillopt_core::text::cut(
        &skillopt_core::text::one_line(&skillopt_core::redact::redact(key).text),
        SHOWN,
    );
    let last = key.rsplit('.').next().unwrap_or(key);
    match of_the_reference(last) {
        Some(Replaced::Renamed(row)) => {
            return (
                format!("The setting {name} is now {}.", row.key),
                "setting_renamed",
            );
        }
        Some(Replaced::Retired(why)) => {
            return (
                format!("There is no setting {name}: {why}."),
                "setting_retired",
            );
        }
        None => {}
    }
    if last == "api_key" || last == "apikey" {
        let advice =
            "keys are never kept in settings; models.api_key_env names the variable that holds one";
        return (
            format!("There is no setting {name}: {advice}."),
            "setting_unknown",
        );
    }
    if let Some(row) = ROWS.iter().find(|row| row.field == last) {
        return (
            format!("There is no setting {name}; did you mean {}?", row.key),
            "setting_unknown",
        );
    }
    let near = closest(key, ROWS.iter().map(|row| row.key))
        .or_else(|| closest(last, ROWS.iter().map(|row| row.field)))
        .and_then(row);
    let sentence = match near {
        Some(row) => format!("There is no setting {name}; did you mean {}?", row.key),
        None => format!("There is no setting {name}."),
    };
    (sentence, "setting_unknown")
}
