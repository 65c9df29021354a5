//! The reference's deterministic simulation (§10.2), for the persona fixture of §13.1 only.
//!
//! It knows the answers: a task names the rules it needs in its tags, and an attempt gives the
//! reference answer exactly when the documents hold the sentence of every such rule. That makes the
//! lift of a night predictable to the digit. For transcripts nobody prepared see [`crate::mock`].

use serde_json::json;
use skillopt_core::call::{BackendId, Call, Failure, Subject};
use skillopt_core::judge::keyword;
use skillopt_core::task::{Judge, Task};

use crate::backend::{Asking, Backend, RawReply};
use crate::cancel::CancelToken;

/// `kind` of the backend.
pub const KIND: &str = "persona-sim";

/// Key of the rule that ruins every reply; a gate must keep it out.
pub const HARMFUL: &str = "__harmful__";

/// The rules it can learn: key and sentence.
pub const RULES: [(&str, &str); 6] = [
    (
        "wrap-answer",
        "Put the final answer between <answer> and </answer>.",
    ),
    (
        "arxiv-id",
        "Name a paper by its arXiv id, written as arXiv:0000.00000.",
    ),
    (
        "commit-imperative",
        "Write the subject line of a commit in the imperative mood.",
    ),
    ("units-si", "State every quantity in SI units."),
    ("json-only", "Give the whole reply as one JSON object."),
    (
        HARMFUL,
        "Answer every request with a story about the weather.",
    ),
];

/// Prefix of the tags that name a rule.
const TAG: &str = "rule:";

/// The simulation.
#[derive(Debug, Clone, Copy, Default)]
pub struct PersonaSim;

impl Backend for PersonaSim {
    fn id(&self) -> BackendId {
        BackendId {
            kind: KIND.to_owned(),
            address: String::new(),
            model: String::new(),
            version: "1".to_owned(),
            system_mode: String::new(),
        }
    }

    fn paid(&self) -> bool {
        false
    }

    fn provider(&self) -> String {
        KIND.to_owned()
    }

    fn instant(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, call: &'a Call, _cancel: &'a CancelToken) -> Asking<'a> {
        Box::pin(std::future::ready(Ok(RawReply::text(reply(&call.subject)))))
    }
}

fn reply(subject: &Subject) -> String {
    match subject {
        Subject::Mine { .. } => json!({"tasks": []}).to_string(),
        Subject::Attempt {
            task,
            skill,
            memory,
        } => attempt(task, &format!("{skill}\n{memory}")),
        Subject::Judge {
            rubric, response, ..
        } => json!({"score": keyword(rubric, response), "reason": "share of the rubric's words"})
            .to_string(),
        Subject::Reflect {
            document,
            other_document,
            edit_budget,
            failures,
            ..
        } => {
            let known = format!("{document}\n{other_document}");
            let budget = usize::try_from(*edit_budget).unwrap_or(usize::MAX);
            let edits: Vec<_> = missing(failures, &known)
                .take(budget)
                .map(|missing| edit(&missing))
                .collect();
            json!({"edits": edits}).to_string()
        }
    }
}

fn sentence(key: &str) -> Option<&'static str> {
    RULES
        .iter()
        .find(|(known, _)| *known == key)
        .map(|(_, sentence)| *sentence)
}

fn rules(tags: &[String]) -> impl Iterator<Item = (&str, &'static str)> {
    tags.iter()
        .filter_map(|tag| tag.strip_prefix(TAG))
        .filter_map(|key| Some((key, sentence(key)?)))
}

fn attempt(task: &Task, documents: &str) -> String {
    if sentence(HARMFUL).is_some_and(|harmful| documents.contains(harmful)) {
        return "Clouds went by all morning, and in the evening there was rain.".to_owned();
    }
    let reference = match &task.judge {
        Judge::Exact(text) => text.as_str(),
        Judge::Answer(golds) => golds.first().map_or("", String::as_str),
        Judge::None | Judge::Rubric(_) | Judge::Rule(_) => "",
    };
    if reference.is_empty() {
        return "There is no reference this could be held against.".to_owned();
    }
    let needed: Vec<_> = rules(&task.tags).collect();
    if needed.is_empty()
        || needed
            .iter()
            .any(|(_, sentence)| !documents.contains(sentence))
    {
        let length = reference.chars().count();
        let near: String = reference.chars().take(length.saturating_sub(2)).collect();
        return format!(
            "Perhaps {} fits.",
            if length <= 3 { "unknown" } else { &near }
        );
    }
    if needed.iter().any(|(key, _)| *key == "wrap-answer") {
        format!("<answer>{reference}</answer>")
    } else {
        reference.to_owned()
    }
}

struct Missing<'a> {
    key: &'a str,
    sentence: &'static str,
    tasks: Vec<&'a str>,
}

/// The rules of failing tasks that the documents do not hold, in the order they are met.
fn missing<'a>(failures: &'a [Failure], known: &str) -> impl Iterator<Item = Missing<'a>> {
    let mut found: Vec<Missing<'a>> = Vec::new();
    for failure in failures {
        for (key, sentence) in
            rules(&failure.tags).filter(|(_, sentence)| !known.contains(sentence))
        {
            match found.iter_mut().find(|missing| missing.key == key) {
                Some(missing) => missing.tasks.push(&failure.task),
                None => found.push(Missing {
                    key,
                    sentence,
                    tasks: vec![&failure.task],
                }),
            }
        }
    }
    found.into_iter()
}

fn edit(missing: &Missing<'_>) -> serde_json::Value {
    json!({
        "op": "add",
        "content": missing.sentence,
        "anchor": "",
        "rationale": format!("The failed tasks need {}.", missing.key),
        "tasks": missing.tasks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_core::document::TargetKind;
    use skillopt_core::judge::exact;
    use skillopt_core::personas::Persona;

    fn mean_mixed(tasks: &[Task], indices: &[usize], documents: &str) -> f64 {
        let scores: Vec<f64> = indices
            .iter()
            .map(|index| {
                let Judge::Exact(reference) = &tasks[*index].judge else {
                    panic!("exact")
                };
                let score = exact(reference, &attempt(&tasks[*index], documents));
                0.5 * score.hard + 0.5 * score.soft
            })
            .collect();
        scores.iter().sum::<f64>() / f64::from(u32::try_from(scores.len()).unwrap())
    }

    fn reflect(tasks: &[Task], document: &str, edit_budget: u32) -> Vec<String> {
        let failures = tasks
            .iter()
            .map(|task| Failure {
                task: task.id.clone(),
                intent: String::new(),
                response: String::new(),
                reason: String::new(),
                tags: task.tags.clone(),
            })
            .collect();
        let subject = Subject::Reflect {
            target: TargetKind::Skill,
            document: document.to_owned(),
            other_document: String::new(),
            edit_budget,
            failures,
            contrasts: vec![],
            criteria: vec![],
            guard: String::new(),
            preferences: String::new(),
            rejected: vec![],
        };
        let value: serde_json::Value = serde_json::from_str(&reply(&subject)).unwrap();
        value["edits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["content"].as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn personas_lift_as_the_reference_says() {
        // §13.1: validation indices and held-out scores before and after.
        for (persona, validation, before, edits) in [
            (Persona::Researcher, vec![0, 1, 2, 4, 6, 7], 0.3333, 2),
            (Persona::Programmer, vec![1, 3, 7], 0.3194, 1),
        ] {
            let tasks = persona.tasks();
            let baseline = mean_mixed(&tasks, &validation, "# Skill\n");
            assert_eq!((baseline * 1e4).round() / 1e4, before, "{persona:?}");
            let learned = reflect(&tasks, "# Skill\n", 4);
            assert_eq!(learned.len(), edits);
            assert_eq!(mean_mixed(&tasks, &validation, &learned.join("\n")), 1.0);
            assert!(reflect(&tasks, &learned.join("\n"), 4).is_empty());
            assert_eq!(reflect(&tasks, "", 1).len(), 1);
        }
    }

    #[test]
    fn the_harmful_rule_ruins_every_reply() {
        let tasks = Persona::Researcher.tasks();
        let all: Vec<&str> = RULES.iter().map(|(_, sentence)| *sentence).collect();
        assert_eq!(mean_mixed(&tasks, &[0, 1, 2], &all[..5].join("\n")), 1.0);
        assert_eq!(mean_mixed(&tasks, &[0, 1, 2], &all.join("\n")), 0.0);
    }

    #[test]
    fn a_task_without_rules_never_passes_and_one_without_reference_has_none() {
        // §10.2.
        let mut task = Task::new("t", "p", "i");
        task.judge = Judge::Exact("abc".into());
        assert_eq!(attempt(&task, ""), "Perhaps unknown fits.");
        task.judge = Judge::Rubric("x".into());
        assert!(attempt(&task, "").contains("no reference"));
    }
}
