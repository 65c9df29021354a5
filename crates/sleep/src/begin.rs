//! Which night this is: a new one, or the one that was stopped, if nothing it depends on has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::document::Target;
use skillopt_core::hash::sha256_hex;
use skillopt_models::{Roles, Templates};
use skillopt_store::events;
use skillopt_store::nights::{self, Kind, Outcome};

use crate::context::Context;
use crate::report::NightReport;
use crate::run::{Plan, to_value};
use crate::tasks_file;

/// What a night froze before it asked anything, as it is stored: texts by their hashes, since they may
/// hold what must not be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pins {
    /// Everything a night depends on as one hash; it is only resumed under the same.
    fingerprint: String,
    settings: Value,
    templates: String,
    backends: Value,
    /// Hash of each document, by target.
    targets: BTreeMap<String, String>,
    tasks_file: Option<PathBuf>,
    again: bool,
}

/// Name of the event that a night came to its limits.
pub(crate) const SPENT: &str = "night/limits_reached";

/// Whether a problem of this code is a limit of the night.
#[must_use]
pub fn is_budget(code: &str) -> bool {
    code.starts_with("budget_")
}

/// What one night may spend, by the settings now.
pub(crate) fn limits(context: &Context) -> Value {
    let settings = &context.settings;
    json!([
        settings.max_calls_per_night,
        settings.max_minutes_per_night,
        settings.max_tokens_per_night,
        settings.max_cost_per_night
    ])
}

/// Whether a night has come to the limits that still hold: it could go on only to stop again.
fn is_spent(context: &Context, night: i64) -> Result<bool, Problem> {
    let reached = context.store.read(|db| events::of_kind(db, night, SPENT))?;
    Ok(reached
        .last()
        .is_some_and(|event| event.body["limits"] == limits(context)))
}

/// The plan of the unfinished night: its tasks file is read again, and must be as it was.
pub(crate) fn resumed(context: &Context, plan: &Plan) -> Result<Plan, Problem> {
    let open = context
        .store
        .read(|db| nights::open(db, &context.project.id, kind(plan)))?
        .ok_or_else(|| {
            Problem::refused(
                "night_unknown",
                "No night of this project is unfinished.",
                "`skillopt sleep run` begins one.",
            )
        })?;
    let file = open.pins.get("tasks_file").and_then(Value::as_str);
    Ok(Plan {
        tasks: file
            .map(|file| tasks_file::read(Path::new(file)))
            .transpose()?,
        again: open.pins.get("again") == Some(&Value::Bool(true)),
        ..*plan
    })
}

const fn kind(plan: &Plan) -> Kind {
    if plan.rehearsal {
        Kind::DryRun
    } else {
        Kind::Run
    }
}

/// Freezes what the night depends on.
pub(crate) fn pins(
    context: &Context,
    plan: &Plan,
    templates: &Templates,
    roles: &Roles,
    targets: &[Target],
) -> Pins {
    let settings = context.settings.pinned();
    let backends = roles.ids();
    let templates = templates.hash();
    let whole = json!([
        settings, templates, backends, targets, plan.tasks, plan.again
    ]);
    Pins {
        fingerprint: sha256_hex(whole.to_string().as_bytes()),
        settings,
        templates,
        backends,
        targets: targets
            .iter()
            .map(|target| (target.id.clone(), target.pin()))
            .collect(),
        tasks_file: plan.tasks.as_ref().map(|file| file.path.clone()),
        again: plan.again,
    }
}

/// Goes on with the unfinished night when nothing it depends on has changed, else ends it and
/// begins anew; only to resume, it is left as it is and what changed is told. Nothing paid is lost
/// either way: its answers stay, and its turns were not marked.
pub(crate) fn begin_or_resume(
    context: &Context,
    plan: &Plan,
    pins: &Pins,
    report: &mut NightReport,
) -> Result<i64, Problem> {
    let pins_json = to_value(pins)?;
    let open = context
        .store
        .read(|db| nights::open(db, &context.project.id, kind(plan)))?;
    if let Some(open) = open {
        let spent = !plan.resume && is_spent(context, open.id)?;
        if !spent
            && open.pins.get("fingerprint").and_then(Value::as_str)
                == Some(pins.fingerprint.as_str())
        {
            context.store.commit("resume night", |tx| {
                skillopt_store::orders::handled(tx, open.id)?;
                nights::resume(tx, open.id)
            })?;
            report.started_at = open.started_at;
            report.resumed = true;
            let began = jiff::tz::TimeZone::system().to_datetime(open.started_at);
            context.note(format!(
                "Going on with the night that began {}.",
                began.strftime("%Y-%m-%d %H:%M")
            ));
            return Ok(open.id);
        }
        let what = differences(&open.pins, &pins_json);
        if plan.resume {
            return Err(Problem::refused(
                "night_changed",
                format!("The unfinished night depends on what has changed since: {what}."),
                "Give the flags it was begun with, or let `skillopt sleep run` begin a new one; \
                 answers that still fit are used again.",
            ));
        }
        let (reason, note) = if spent {
            (
                "It came to its limits; a new night took its place.".to_owned(),
                "came to its limits; this one has its own.".to_owned(),
            )
        } else {
            (
                format!("Changed since: {what}; a new night took its place."),
                format!("was ended, since this has changed: {what}."),
            )
        };
        let old = json!({"outcome": Outcome::Interrupted, "reason": reason});
        context.store.commit("replace night", |tx| {
            nights::end(tx, open.id, Outcome::Interrupted, &reason, &old)
        })?;
        report.notes.push(format!(
            "The unfinished night of {} {note}",
            open.started_at
        ));
    }
    context.store.commit("begin night", |tx| {
        nights::begin(tx, &context.project.id, kind(plan), &pins_json)
    })
}

/// What differs between the pins of two nights, in words.
fn differences(before: &Value, after: &Value) -> String {
    let mut found = Vec::new();
    let settings = |pins: &Value| pins.get("settings").and_then(Value::as_object).cloned();
    let (old, new) = (
        settings(before).unwrap_or_default(),
        settings(after).unwrap_or_default(),
    );
    found.extend(
        new.iter()
            .filter(|(key, value)| old.get(*key) != Some(*value))
            .map(|(key, _)| key.clone()),
    );
    for (field, words) in [
        ("templates", "the prompts"),
        ("backends", "the models"),
        ("targets", "a document"),
        ("tasks_file", "the tasks file"),
        ("again", "--again"),
    ] {
        if before.get(field) != after.get(field) {
            found.push(words.to_owned());
        }
    }
    if found.is_empty() {
        found.push("the tasks in the tasks file".to_owned());
    }
    found.join(", ")
}
