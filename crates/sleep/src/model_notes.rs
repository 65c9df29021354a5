//! What a night has to say about the models it asked: which they really were, whether they are others
//! than last time, whether a judge is kin of who it judges, and what was cut to fit them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::task::{Judge, Task};
use skillopt_core::text::counted;
use skillopt_core::tool;
use skillopt_models::{Backend, Roles, family};
use skillopt_store::nights::{self, Kind};
use skillopt_store::{Store, events};

/// The models that really answered, by their own account; else those that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "ModelsAnswered")
)]
pub struct Resolved {
    /// Did the tasks.
    pub target: String,
    /// Mined, judged and proposed.
    pub optimizer: String,
}

/// How many earlier nights are looked through for one with a model.
const LOOKED_BACK: usize = 20;

/// The models of a night and the sentences about them.
pub(crate) fn of(
    store: &Store,
    project: &str,
    night: i64,
    roles: &Roles,
) -> Result<(Resolved, Vec<String>), Problem> {
    let (told, earlier) = store.read(|db| {
        let mut told = events::list(db, night, 0, usize::MAX >> 1)?;
        told.retain(|event| event.kind.starts_with("models/"));
        Ok((told, nights::list(db, Some(project), LOOKED_BACK)?))
    })?;
    let mut notes = Vec::new();
    let mut answered: Vec<(String, String)> = Vec::new();
    for event in &told {
        let text = |name: &str| event.body[name].as_str().unwrap_or_default().to_owned();
        match event.kind.as_str() {
            "models/answered_by" => answered.push((text("asked"), text("answered"))),
            "models/cut" => notes.push(format!(
                "In the stage {} {} prompts were cut by {} bytes together, to fit the model.",
                text("stage"),
                event.body["calls"],
                event.body["bytes"]
            )),
            _ => {}
        }
    }
    let resolved_of = |backend: &dyn Backend| {
        let id = backend.id();
        let last = answered.iter().rev().find(|(asked, _)| *asked == id.model);
        last.map_or(id.model, |(_, answered)| answered.clone())
    };
    let resolved = Resolved {
        target: resolved_of(roles.target.as_ref()),
        optimizer: resolved_of(roles.optimizer.as_ref()),
    };
    let before = earlier
        .iter()
        .filter(|other| other.id < night && other.kind == Kind::Run)
        .find_map(|other| models_of(other.report.as_ref()?));
    if let Some(before) = before {
        notes.extend(changes(&before, &resolved));
    }
    Ok((resolved, notes))
}

fn models_of(report: &Value) -> Option<Resolved> {
    let models: Resolved = serde_json::from_value(report.get("models")?.clone()).ok()?;
    (models != Resolved::default()).then_some(models)
}

fn changes(before: &Resolved, now: &Resolved) -> Vec<String> {
    [
        ("does the tasks", &before.target, &now.target),
        (
            "mines, judges and proposes",
            &before.optimizer,
            &now.optimizer,
        ),
    ]
    .into_iter()
    .filter(|(_, before, now)| before != now)
    .map(|(what, before, now)| {
        let name = |model: &str| {
            if model.is_empty() {
                "no model".to_owned()
            } else {
                model.to_owned()
            }
        };
        format!(
            "What {what} is now {}; in the night before it was {}. Scores of the two are not comparable.",
            name(now),
            name(before)
        )
    })
    .collect()
}

/// What is to be said when a judge is kin of the model whose replies it judges; `None` when it is not,
/// when that cannot be told, or when no task needs a judge.
pub(crate) fn kinship(tasks: &[Task], roles: &Roles) -> Option<String> {
    if !tasks
        .iter()
        .any(|task| matches!(task.judge, Judge::Rubric(_)))
    {
        return None;
    }
    let family_of = |backend: &dyn Backend| {
        let id = backend.id();
        family::of(&id.kind, &id.model)
    };
    let family = family_of(roles.target.as_ref())?;
    (family_of(roles.optimizer.as_ref()) == Some(family)).then(|| {
        format!(
            "Replies are judged by a model of the family that wrote them ({family}); models tend to like their own. Set models.optimizer_backend or models.optimizer_model to one of another family if you have it."
        )
    })
}

/// What is to be said about the tools of tasks; `None` when none has any, or nothing real is asked.
pub(crate) fn tools(tasks: &[Task], roles: &Roles, replayed: bool) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let mut having = 0;
    for task in tasks {
        let tools = tool::of_task(task);
        having += u64::from(!tools.is_empty());
        names.extend(tools.into_iter().map(|tool| tool.name));
    }
    names.sort_unstable();
    names.dedup();
    if having == 0 || roles.simulated() {
        return None;
    }
    let tasks = counted(having, "task");
    let names = names.join(", ");
    Some(if !replayed {
        format!(
            "{tasks} with tools ({names}) ran without them: replays.tools is off. What a reply claims by TOOL_CALL is all that counts."
        )
    } else if roles.target.takes_tools() {
        format!(
            "{tasks} ran with the tools {names}. Their results are fixed; nothing was executed."
        )
    } else {
        format!(
            "{tasks} with tools ({names}) ran without them: {} cannot be offered any. What a reply claims by TOOL_CALL is all that counts.",
            roles.target.provider()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_said() {
        let models = |target: &str, optimizer: &str| Resolved {
            target: target.to_owned(),
            optimizer: optimizer.to_owned(),
        };
        assert!(changes(&models("a", "b"), &models("a", "b")).is_empty());
        let said = changes(&models("a-2025", "b"), &models("a-2026", "b"));
        assert_eq!(
            said,
            [
                "What does the tasks is now a-2026; in the night before it was a-2025. Scores of the two are not comparable."
            ]
        );
        assert_eq!(changes(&models("", "b"), &models("a", "c")).len(), 2);
    }
}
