//! What the model answered to the held-out tasks under the document as it is and under the changed one,
//! read back from the night that compared them.

use std::collections::BTreeMap;

use serde::Serialize;
use skillopt_core::agent::Agent;
use skillopt_core::document::TargetKind;
use skillopt_store::{Connection, Fault, events, stages};

use crate::replay::Rollout;

/// One reply with its score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Reply {
    /// The reply; empty when there was none.
    pub text: String,
    /// Why it was scored as it was, or the code of the error in the place of a score; with the tools that
    /// were called, if any were offered.
    pub why: String,
}

/// Both replies to one task. `None`: nothing is kept of it any more, or it was never asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Replies {
    /// Under the document as it was.
    pub before: Option<Reply>,
    /// Under the proposed document.
    pub after: Option<Reply>,
}

/// The replies of a night to the held-out tasks of one document, by the task's id. Empty once they have
/// expired.
pub fn of(
    db: &Connection,
    night: i64,
    agent: Agent,
    kind: TargetKind,
) -> Result<BTreeMap<String, Replies>, Fault> {
    let trial = |kind: TargetKind| format!("{agent}/trial/{}/scored", kind.id());
    // A memory is compared with what there was once the skill had been let in.
    let skill = format!("{agent}:{}", TargetKind::Skill.id());
    let skill_was_let_in = kind == TargetKind::Memory
        && events::of_kind(db, night, "gate/trial")?
            .iter()
            .any(|event| {
                event.body["target"] == skill.as_str() && event.body["decision"]["accepted"] == true
            });
    let before = if skill_was_let_in {
        trial(TargetKind::Skill)
    } else {
        format!("{agent}/baseline/scored")
    };
    Ok(both(
        scored(db, night, &before)?,
        scored(db, night, &trial(kind))?,
    ))
}

/// The replies of a test of chosen rules, by the task's id: those of the night that proposed the rules, and those
/// under what the chosen ones make of the documents. Empty once they have expired.
pub fn of_test(
    db: &Connection,
    proposed_in: i64,
    test: i64,
    agent: Agent,
) -> Result<BTreeMap<String, Replies>, Fault> {
    Ok(both(
        scored(db, proposed_in, &format!("{agent}/baseline/scored"))?,
        scored(db, test, &format!("{agent}/chosen/scored"))?,
    ))
}

fn both(before: Vec<(String, Reply)>, after: Vec<(String, Reply)>) -> BTreeMap<String, Replies> {
    let mut replies: BTreeMap<String, Replies> = BTreeMap::new();
    for (task, reply) in before {
        replies.entry(task).or_default().before = Some(reply);
    }
    for (task, reply) in after {
        replies.entry(task).or_default().after = Some(reply);
    }
    replies
}

/// The replies of a pass by task; none once they have expired.
fn scored(db: &Connection, night: i64, stage: &str) -> Result<Vec<(String, Reply)>, Fault> {
    let kept: Option<Vec<Rollout>> = stages::output(db, night, stage)?;
    let replies = kept.into_iter().flatten().map(|rollout| {
        let mut why = match (rollout.score, rollout.error) {
            (Some(score), _) => score.why,
            (None, code) => code.unwrap_or_default(),
        };
        if let Some(called) = rollout.called {
            let called = if called.is_empty() {
                "no tool".to_owned()
            } else {
                called.join(", ")
            };
            why.push_str(&format!(" (called: {called})"));
        }
        let text = rollout.response;
        (rollout.task, Reply { text, why })
    });
    Ok(replies.collect())
}
