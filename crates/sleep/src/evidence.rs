//! What a verdict rests on, read back from its night: the words of the user behind each rule, and the
//! requests of the held-out tasks.
//!
//! The words are there as long as the night's evidence is; afterwards a proposal is shown without them.

use std::collections::{BTreeMap, BTreeSet};

use skillopt_core::check::check_from_sentence;
use skillopt_core::edit::Edit;
use skillopt_core::feedback;
use skillopt_core::task::{SourceTurn, Task};
use skillopt_store::{Connection, Fault, stages, tasks};

use crate::mine::Mined;

/// How many of the user's corrections stand behind a rule when it is shown.
const QUOTES: usize = 2;
/// Shortest word that makes a correction resemble a rule, in code points.
const SHORTEST_WORD: usize = 4;

/// The evidence of one night.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    words: BTreeMap<SourceTurn, String>,
    requests: BTreeMap<String, String>,
}

impl Evidence {
    /// Reads what is still kept of a night of `project`, and the requests of these tasks.
    pub fn of(
        db: &Connection,
        night: i64,
        project: &str,
        held_out: &[&str],
    ) -> Result<Self, Fault> {
        let mut evidence = Self::default();
        let mined: Option<Mined> = stages::output(db, night, "mine")?;
        for correction in mined.into_iter().flat_map(|mined| mined.corrections) {
            evidence.words.insert(correction.turn, correction.words);
        }
        for id in held_out {
            if let Some(archived) = tasks::get(db, project, id)? {
                let task = archived.task;
                evidence.requests.insert(task.id, task.intent);
            }
        }
        if held_out.iter().any(|id| evidence.request(id).is_none()) {
            // A task given in a file is in no archive, but it was frozen with its slice.
            for stage in stages::list(db, night)? {
                if stage.name.ends_with("/validation") {
                    let slice: Option<Vec<Task>> = stages::output(db, night, &stage.name)?;
                    for task in slice.into_iter().flatten() {
                        evidence.requests.entry(task.id).or_insert(task.intent);
                    }
                }
            }
        }
        Ok(evidence)
    }

    /// The request of a held-out task, redacted.
    #[must_use]
    pub fn request(&self, task: &str) -> Option<&str> {
        self.requests.get(task).map(String::as_str)
    }

    /// What the user said that led to a rule: at most two corrections, redacted, none twice. Of a rule that is a
    /// check, those that state it; of another, those first that share most words with it, and none that
    /// shares no word when one does.
    #[must_use]
    pub fn quotes(&self, edit: &Edit) -> Vec<String> {
        let rule = words(&format!("{} {}", edit.content, edit.anchor));
        let check = check_from_sentence(edit.content.trim());
        // A task has the corrections of all its rules.
        let speaks_of_it = |quote: &String| {
            check
                .as_ref()
                .is_none_or(|check| feedback::constraints(quote).contains(check))
        };
        let said: BTreeSet<&String> = edit
            .turns
            .iter()
            .filter_map(|turn| self.words.get(turn))
            .filter(|quote| speaks_of_it(quote))
            .collect();
        let shared = |quote: &String| words(quote).intersection(&rule).count();
        let mut said: Vec<&String> = said.into_iter().collect();
        said.sort_by_key(|quote| std::cmp::Reverse(shared(quote)));
        if check.is_none() && said.first().is_some_and(|first| shared(first) > 0) {
            said.retain(|quote| shared(quote) > 0);
        }
        said.into_iter().take(QUOTES).cloned().collect()
    }
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= SHORTEST_WORD)
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillopt_core::edit::EditOp;

    #[test]
    fn the_correction_that_speaks_of_the_rule_comes_first() {
        let turn = |id: &str| SourceTurn {
            session: "s".to_owned(),
            turn: id.to_owned(),
        };
        let mut evidence = Evidence::default();
        for (id, words) in [
            ("a", "Answer in British spelling."),
            ("b", "No, add a section called Risks."),
            ("c", "Add a section called Risks, please."),
            ("d", "Nobody asked for this rule."),
        ] {
            evidence.words.insert(turn(id), words.to_owned());
        }
        let edit = Edit {
            op: EditOp::Add,
            content: "Give the reply a section called \"Risks\".".to_owned(),
            anchor: String::new(),
            rationale: String::new(),
            tasks: Vec::new(),
            turns: vec![turn("a"), turn("b"), turn("c"), turn("gone")],
        };
        assert_eq!(
            evidence.quotes(&edit),
            [
                "Add a section called Risks, please.",
                "No, add a section called Risks."
            ]
        );
        // One correction alone states this rule, and the others are of the same tasks.
        let spelling = Edit {
            content: "Use British spelling in every answer.".to_owned(),
            ..edit.clone()
        };
        assert_eq!(evidence.quotes(&spelling), ["Answer in British spelling."]);
        let nobodys = Edit {
            content: "Use no emojis.".to_owned(),
            ..edit
        };
        assert_eq!(evidence.quotes(&nobodys), [] as [&str; 0]);
    }
}
