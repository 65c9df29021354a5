//! What a night has to say about the models it asked: which they really were, whether they are others
//! than last time, whether a judge is kin of who it judges, and what was cut to fit them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::Problem;
use skillopt_core::call::Side;
use skillopt_core::task::{Judge, Task};
use skillopt_core::text::counted;
use skillopt_core::tool;
use skillopt_models::Roles;
use skillopt_models::roles::judge;
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
    /// Mined and proposed.
    pub optimizer: String,
    /// Judged.
    #[serde(default)]
    pub judge: String,
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
        let mut told = events::list(db, night)?;
        told.retain(|event| event.kind.starts_with("models/"));
        Ok((told, nights::list(db, Some(project), LOOKED_BACK)?))
    })?;
    let mut notes = Vec::new();
    let mut answered: Vec<(String, String, String)> = Vec::new();
    let mut plans = Plans::default();
    for recording in roles
        .each()
        .into_iter()
        .filter_map(|backend| backend.recording())
    {
        recording.plans.iter().for_each(|body| plans.hear(body));
    }
    for event in &told {
        let text = |name: &str| event.body[name].as_str().unwrap_or_default().to_owned();
        match event.kind.as_str() {
            "models/answered_by" => answered.push((text("side"), text("asked"), text("answered"))),
            "models/allowance" => plans.hear(&event.body),
            "models/cut" => notes.push(format!(
                "In the stage {} {} prompts were cut by {} bytes together, to fit the model.",
                text("stage"),
                event.body["calls"],
                event.body["bytes"]
            )),
            _ => {}
        }
    }
    notes.extend(plans.notes());
    let heard_on = |side: Side, asked: &str| {
        let said = answered.iter().rev();
        said.filter(|(on, model, _)| on == side.id() && model == asked)
            .map(|(_, _, answered)| answered.clone())
            .next()
    };
    // A side of which nothing was heard is as another one with the very same backend.
    let resolved_of = |side: Side| {
        let id = roles.of(side).id();
        let alike = Side::ALL
            .into_iter()
            .filter(|other| roles.of(*other).id() == id);
        let mut sides = std::iter::once(side).chain(alike);
        sides
            .find_map(|side| heard_on(side, &id.model))
            .unwrap_or(id.model)
    };
    let resolved = Resolved {
        target: resolved_of(Side::Target),
        optimizer: resolved_of(Side::Optimizer),
        judge: resolved_of(Side::Judge),
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

/// What a night heard of the plans it was to leave a part of.
#[derive(Default)]
struct Plans(BTreeMap<String, Reading>);

/// What is known of one plan. What says more comes later.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    /// Nothing.
    Unknown,
    /// What was so before: minutes of age (the youngest counts), whether that is too old, percent left.
    Before(Reverse<u64>, bool, u64),
    /// Replies say it.
    Now,
}

impl Plans {
    fn hear(&mut self, body: &Value) {
        let Some(provider) = body["provider"].as_str() else {
            return;
        };
        let reading = if body["now"] == true {
            Reading::Now
        } else if let (Some(age), Some(left)) =
            (body["age_minutes"].as_u64(), body["left_percent"].as_u64())
        {
            Reading::Before(Reverse(age), body["too_old"] == true, left)
        } else {
            Reading::Unknown
        };
        let known = self
            .0
            .entry(provider.to_owned())
            .or_insert(Reading::Unknown);
        *known = reading.max(known.clone());
    }

    fn notes(self) -> impl Iterator<Item = String> {
        self.0.into_iter().filter_map(|(provider, reading)| match reading {
            Reading::Now => None,
            Reading::Unknown => Some(format!(
                "{provider} did not say how much of the plan is left; it was asked all the same, and spends.reserve_percent could not be kept."
            )),
            Reading::Before(Reverse(age), too_old, left) => {
                let age = age_in_words(age);
                Some(if too_old {
                    format!(
                        "How much of the plan of {provider} is left is only known as of {age} before it was asked ({left} %), which is too long ago to tell whether spends.reserve_percent is kept."
                    )
                } else {
                    format!(
                        "{age} before it was asked, {left} % of the plan of {provider} were left; what was used since does not count towards spends.reserve_percent."
                    )
                })
            }
        })
    }
}

fn age_in_words(minutes: u64) -> String {
    match minutes {
        0..=119 => counted(minutes, "minute"),
        120..=2_879 => counted(minutes / 60, "hour"),
        _ => counted(minutes / 1_440, "day"),
    }
}

fn models_of(report: &Value) -> Option<Resolved> {
    let models: Resolved = serde_json::from_value(report.get("models")?.clone()).ok()?;
    (models != Resolved::default()).then_some(models)
}

fn changes(before: &Resolved, now: &Resolved) -> Vec<String> {
    // Nights of earlier versions had no judge of their own.
    let judge_before = if before.judge.is_empty() {
        &before.optimizer
    } else {
        &before.judge
    };
    let apart = judge_before != &before.optimizer || now.judge != now.optimizer;
    let proposes = if apart {
        "mines and proposes"
    } else {
        "mines, judges and proposes"
    };
    [
        ("does the tasks", &before.target, &now.target),
        (proposes, &before.optimizer, &now.optimizer),
    ]
    .into_iter()
    .chain(apart.then_some(("judges", judge_before, &now.judge)))
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

/// What is to be said of who judges: that it was chosen to be of another family than the writer, or that
/// it is not. Nothing when that cannot be told, or when no task needs a judge.
pub(crate) fn judging(tasks: &[Task], roles: &Roles) -> Vec<String> {
    let mut notes = Vec::new();
    if !tasks
        .iter()
        .any(|task| matches!(task.judge, Judge::Rubric(_)))
    {
        return notes;
    }
    if let Some(family) = judge::kin(roles) {
        notes.push(format!(
            "Replies are judged by a model of the family that wrote them ({family}); models tend to like their own. Set models.judge_backend or models.judge_model to one of another family if you have it."
        ));
    }
    notes.extend(roles.judge_note.clone());
    notes
}

/// Settings that a backend cannot be told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unheard {
    /// Whose backend.
    pub provider: String,
    /// The settings.
    pub settings: Vec<String>,
}

impl fmt::Display for Unheard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cannot be told what {} says; it is asked without.",
            self.provider,
            self.settings.join(" or ")
        )
    }
}

/// What the backends of a night cannot be told, each once.
pub(crate) fn unheard(roles: &Roles) -> Vec<Unheard> {
    let mut found = Vec::new();
    for backend in roles.each() {
        let unheard = Unheard {
            provider: backend.provider(),
            settings: backend.unheard(),
        };
        if !unheard.settings.is_empty() && !found.contains(&unheard) {
            found.push(unheard);
        }
    }
    found
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
    use serde_json::json;

    use super::*;

    #[test]
    fn the_best_that_is_known_of_a_plan_is_said() {
        let said = |bodies: &[Value]| {
            let mut plans = Plans::default();
            for body in bodies {
                plans.hear(body);
            }
            plans.notes().collect::<Vec<_>>().join(" ")
        };
        let nothing = json!({"provider": "codex"});
        let before = |minutes: u64, too_old: bool| json!({"provider": "codex", "left_percent": 71, "age_minutes": minutes, "too_old": too_old});
        assert_eq!(said(&[]), "");
        assert!(said(std::slice::from_ref(&nothing)).starts_with("codex did not say"));
        let fresh = said(&[before(900, true), before(185, false), nothing.clone()]);
        assert!(
            fresh.starts_with("3 hours before it was asked, 71 %"),
            "{fresh}"
        );
        let old = said(&[nothing.clone(), before(5_000, true)]);
        assert!(old.contains("only known as of 3 days before"), "{old}");
        assert_eq!(
            said(&[
                before(900, true),
                json!({"provider": "codex", "now": true}),
                nothing
            ]),
            ""
        );
    }

    #[test]
    fn only_what_changed_is_said() {
        let models = |target: &str, optimizer: &str| Resolved {
            target: target.to_owned(),
            optimizer: optimizer.to_owned(),
            judge: optimizer.to_owned(),
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
        let judged_by = |judge: &str| Resolved {
            judge: judge.to_owned(),
            ..models("a", "b")
        };
        // A report of a version without judges of their own says nothing of them.
        assert!(changes(&judged_by(""), &judged_by("b")).is_empty());
        assert!(changes(&judged_by("c"), &judged_by("c")).is_empty());
        let said = changes(&judged_by(""), &judged_by("c"));
        assert_eq!(
            said,
            [
                "What judges is now c; in the night before it was b. Scores of the two are not comparable."
            ]
        );
    }
}
