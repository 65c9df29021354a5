//! A tiny honest simulation for transcripts nobody prepared; free and deterministic.
//!
//! It works on the same evidence as a model and cheats nowhere: an attempt sees the request and the
//! documents, never the judge. What it learns is literal: constraints people stated in corrections,
//! said back as rule sentences, and obeyed where it finds them in a document.

mod writer;

use serde_json::{Value, json};
use skillopt_core::call::{BackendId, Call, Failure, Subject};
use skillopt_core::check::{check_from_sentence, sentence};
use skillopt_core::feedback;
use skillopt_core::judge::keyword;
use skillopt_core::task::Check;

use crate::backend::{Asking, Backend, RawReply};
use crate::cancel::CancelToken;

/// `kind` of the backend.
pub const KIND: &str = "mock";

/// Most tasks of one session (§4.2).
const MOST_TASKS: usize = 3;

/// The simulation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mock;

impl Backend for Mock {
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
        Box::pin(std::future::ready(Ok(RawReply::text(reply(call)))))
    }
}

fn reply(call: &Call) -> String {
    match &call.subject {
        Subject::Mine {
            prompts, feedback, ..
        } => mine(prompts, feedback).to_string(),
        // Nothing but the request and the documents goes in: the judge stays out of reach.
        Subject::Attempt {
            task,
            skill,
            memory,
        } => writer::write(&task.intent, [skill, memory], call.sample),
        Subject::Judge {
            intent,
            rubric,
            response,
        } => {
            let asked = if rubric.trim().is_empty() {
                intent
            } else {
                rubric
            };
            let score = keyword(asked, response);
            json!({"score": score, "reason": format!("{:.0} % of the rubric's words occur", score * 100.0)}).to_string()
        }
        Subject::Reflect {
            document,
            other_document,
            edit_budget,
            failures,
            criteria,
            rejected,
            ..
        } => {
            let budget = usize::try_from(*edit_budget).unwrap_or(usize::MAX);
            reflect(
                [document, other_document],
                budget,
                failures,
                criteria,
                rejected,
            )
            .to_string()
        }
    }
}

/// A request is a turn that does not correct; the corrections after it say what a reply must have.
fn mine(prompts: &[String], signals: &[String]) -> Value {
    struct Found<'a> {
        intent: &'a str,
        turns: Vec<usize>,
        checks: Vec<Check>,
    }
    let mut found: Vec<Found<'_>> = Vec::new();
    for (turn, prompt) in prompts.iter().enumerate() {
        match found.last_mut() {
            Some(request) if feedback::correction(prompt) => {
                request.turns.push(turn);
                for check in feedback::constraints(prompt) {
                    if !request.checks.contains(&check) {
                        request.checks.push(check);
                    }
                }
            }
            _ => found.push(Found {
                intent: prompt,
                turns: vec![turn],
                checks: Vec::new(),
            }),
        }
    }
    let content = signals.iter().any(|signal| signal.starts_with("pos:"));
    let tasks: Vec<Value> = found
        .into_iter()
        .filter(|request| !request.checks.is_empty())
        .take(MOST_TASKS)
        .map(|request| {
            json!({
                "intent": request.intent,
                "turns": request.turns,
                "needs": "none",
                "checks": request.checks,
                "rubric": "",
                "satisfied": content,
            })
        })
        .collect();
    json!({"tasks": tasks})
}

/// Failed checks become rules, as far as the documents do not say the same already and nobody
/// refused it before.
fn reflect(
    documents: [&String; 2],
    budget: usize,
    failures: &[Failure],
    criteria: &[String],
    rejected: &[String],
) -> Value {
    let known: Vec<Check> = documents
        .into_iter()
        .flat_map(|document| writer::rules(document))
        .collect();
    let mut checks: Vec<Check> = Vec::new();
    let stated = criteria
        .iter()
        .filter_map(|criterion| criterion_check(criterion));
    for check in stated.chain(
        failures
            .iter()
            .filter_map(|failure| reason_check(&failure.reason)),
    ) {
        let refused = rejected.iter().any(|text| text.contains(&sentence(&check)));
        if !known.contains(&check) && !checks.contains(&check) && !refused {
            checks.push(check);
        }
    }
    let edits: Vec<Value> = checks
        .iter()
        .take(budget)
        .map(|check| {
            let missed = |failure: &&Failure| failure.reason.contains(check.op.as_str());
            let tasks: Vec<&str> = failures
                .iter()
                .filter(missed)
                .map(|failure| failure.task.as_str())
                .collect();
            json!({
                "op": "add",
                "content": sentence(check),
                "anchor": "",
                "rationale": "Replies that failed missed this.",
                "tasks": tasks,
            })
        })
        .collect();
    json!({"edits": edits})
}

/// The check a criterion states; a count in brackets may follow the sentence.
fn criterion_check(criterion: &str) -> Option<Check> {
    check_from_sentence(criterion).or_else(|| check_from_sentence(criterion.rsplit_once(" (")?.0))
}

/// The check a reason `failed: op=argument` names, when it names just one.
fn reason_check(reason: &str) -> Option<Check> {
    let (op, arg) = reason.strip_prefix("failed: ")?.split_once('=')?;
    if arg.contains(", ") || arg.ends_with('…') || arg.ends_with(']') {
        return None;
    }
    let arg = match op {
        "max_chars" | "min_chars" => json!(arg.parse::<u64>().ok()?),
        "no_refusal" => Value::Null,
        _ => json!(arg),
    };
    let check = Check {
        op: op.to_owned(),
        arg,
    };
    // Only what can be said in a sentence can be learned.
    (check_from_sentence(&sentence(&check)).as_ref() == Some(&check)).then_some(check)
}

#[cfg(test)]
mod tests;
