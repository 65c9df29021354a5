//! A little model for the stub server and the stubs of agents.

use serde_json::{Value, json};
use skillopt_core::check::{RuleJudge, check_from_sentence, sentence};

/// [`honest_reply`] to the messages of a request.
#[must_use]
pub fn honest(request: &Value) -> String {
    // Whichever protocol it is written in.
    let standing = ["system", "instructions"]
        .into_iter()
        .filter_map(|name| request[name].as_str());
    let messages = ["messages", "input"]
        .into_iter()
        .filter_map(|name| request[name].as_array())
        .flatten()
        .filter_map(|message| message["content"].as_str());
    let text: String = standing.chain(messages).collect::<Vec<_>>().join("\n");
    honest_reply(&text)
}

/// A little model that follows the rules it finds in its prompt, turns what was missed into rules, and
/// grades replies by the rules in their rubric.
#[must_use]
pub fn honest_reply(text: &str) -> String {
    if let Some(grade) = grade(text) {
        return grade;
    }
    let reflects = text.contains("\"edits\"");
    let mut rules = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches("- ").trim();
        let line = line.trim_start_matches("failed because: ");
        let line = line.split(" (missed ").next().unwrap_or(line).trim();
        if let Some(check) = check_from_sentence(line)
            && !rules.iter().any(|(known, _)| *known == line)
        {
            rules.push((line, check));
        }
    }
    if reflects {
        let edits: Vec<Value> = rules
            .iter()
            .map(|(sentence, _)| json!({"op": "add", "content": sentence, "anchor": "", "rationale": "It was missed.", "tasks": []}))
            .collect();
        return json!({"edits": edits}).to_string();
    }
    let mut reply = String::from("Here is the text you asked for.");
    for (_, check) in rules {
        let argument = check.arg.as_str().unwrap_or_default();
        match check.op.as_str() {
            "section_present" => reply.push_str(&format!("\n\n## {argument}\n\nNone known.")),
            "contains" => reply.push_str(&format!(" {argument}")),
            _ => {}
        }
    }
    reply
}

/// The grade that a prompt asks for; `None` when it asks for something else.
fn grade(text: &str) -> Option<String> {
    let (question, reply) = text.split_once("The reply to grade:")?;
    let (_, rubric) = question.split_once("What a good reply has:")?;
    let reply = reply
        .rsplit_once("Compare the reply")
        .map_or(reply, |(reply, _)| reply);
    let checks: Vec<_> = rubric.lines().filter_map(check_from_sentence).collect();
    let score = RuleJudge::compile(&checks).ok()?.judge.score(reply, &[]);
    let missed: Vec<_> = score
        .failed
        .iter()
        .map(|position| sentence(&checks[*position]))
        .collect();
    Some(json!({"score": score.soft, "reason": missed.join(" ")}).to_string())
}
