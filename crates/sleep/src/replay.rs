//! Rollouts: attempts at tasks under given documents, and their scores.

use serde::{Deserialize, Serialize};
use skillopt_core::call::Subject;
use skillopt_core::check::RuleJudge;
use skillopt_core::judge::{self, Score};
use skillopt_core::reply::Parsed;
use skillopt_core::task::{Judge, Task};
use skillopt_models::Ask;

use crate::night::Night;
use crate::outcome::Stop;

/// The documents a rollout works under.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Documents {
    /// Text of the skill document.
    pub skill: String,
    /// Text of the memory document.
    pub memory: String,
}

/// One attempt at one task, with its score. Only a real reply has one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rollout {
    /// The task.
    pub task: String,
    /// Which independent draw.
    pub sample: u32,
    /// The reply; empty when there was none.
    pub response: String,
    /// The score; `None` when the attempt or its grading has no answer.
    pub score: Option<Score>,
    /// The tools that were called for it, in order; `None` when none were offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<Vec<String>>,
    /// Code of the error in the place of a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Attempts every task `samples` times under `documents` and scores the replies.
///
/// Results are in the order of the tasks, samples of one task together. The attempts are one stage
/// of the night, the gradings of rubric tasks another; a pass that was done before comes from its
/// stored output.
pub(crate) async fn pass(
    night: &Night<'_>,
    name: &str,
    tasks: &[Task],
    documents: &Documents,
    samples: u32,
) -> Result<Vec<Rollout>, Stop> {
    let done = format!("{name}/scored");
    if let Some(rollouts) = night.output::<Vec<Rollout>>(&done)? {
        return Ok(rollouts);
    }
    let draws: Vec<(&Task, u32)> = tasks
        .iter()
        .flat_map(|task| (0..samples).map(move |sample| (task, sample)))
        .collect();
    let replies = night
        .ask(name, || {
            draws
                .iter()
                .map(|&(task, sample)| Ask {
                    subject: Subject::Attempt {
                        task: Box::new(task.clone()),
                        skill: documents.skill.clone(),
                        memory: documents.memory.clone(),
                    },
                    sample,
                })
                .collect()
        })
        .await?;

    let mut rollouts = Vec::with_capacity(draws.len());
    let mut to_grade = Vec::new();
    for (&(task, sample), reply) in draws.iter().zip(replies) {
        let mut rollout = Rollout {
            task: task.id.clone(),
            sample,
            response: String::new(),
            score: None,
            called: None,
            error: None,
        };
        match reply {
            Ok(reply) => {
                rollout.response = reply.text;
                rollout.called = reply.called;
                match grading(&task.judge, &rollout.response, rollout.called.as_deref())? {
                    Grading::Known(score) => rollout.score = Some(score),
                    Grading::ByModel(rubric) => to_grade.push((rollouts.len(), task, rubric)),
                    Grading::Impossible => rollout.error = Some("no_criterion".to_owned()),
                }
            }
            Err(error) => rollout.error = Some(error.code().to_owned()),
        }
        rollouts.push(rollout);
    }

    if !to_grade.is_empty() {
        let grades = night
            .ask(&format!("{name}/judge"), || {
                to_grade
                    .iter()
                    .map(|&(position, task, rubric)| Ask {
                        subject: Subject::Judge {
                            intent: task.intent.clone(),
                            rubric: rubric.to_owned(),
                            response: rollouts[position].response.clone(),
                        },
                        sample: rollouts[position].sample,
                    })
                    .collect()
            })
            .await?;
        for (&(position, _, _), grade) in to_grade.iter().zip(grades) {
            let rollout = &mut rollouts[position];
            match grade {
                Ok(reply) => match reply.parsed {
                    Parsed::Score { score, reason } => {
                        rollout.score = judge::rubric(score, &reason);
                    }
                    _ => rollout.error = Some("reply_unreadable".to_owned()),
                },
                Err(error) => rollout.error = Some(error.code().to_owned()),
            }
        }
    }
    night.finish(&done, &rollouts)?;
    Ok(rollouts)
}

/// How a reply gets its score.
enum Grading<'a> {
    /// It needs no model.
    Known(Score),
    /// A model grades it by this rubric.
    ByModel(&'a str),
    /// Nothing says what a good reply is.
    Impossible,
}

/// `called` are the tools that were called, if any were offered.
fn grading<'a>(
    judge: &'a Judge,
    response: &str,
    called: Option<&[String]>,
) -> Result<Grading<'a>, Stop> {
    Ok(match judge {
        Judge::Rule(checks) => {
            let compiled = RuleJudge::compile(checks).map_err(|errors| {
                skillopt_core::Problem::permanent(
                    "checks_unusable",
                    format!(
                        "The checks of a task cannot be used: {}.",
                        errors.join("; ")
                    ),
                    "Correct the tasks file; mined checks are verified before they are stored.",
                )
            })?;
            Grading::Known(match called {
                Some(called) => compiled.judge.score(response, called),
                // Without tools, what a reply claims by the marker is all there is.
                None => {
                    let marked = compiled.judge.marked_tools(response);
                    compiled.judge.score(response, &marked)
                }
            })
        }
        Judge::Exact(reference) => Grading::Known(judge::exact(reference, response)),
        Judge::Answer(golds) => Grading::Known(judge::answer(golds, response)),
        Judge::Rubric(rubric) => Grading::ByModel(rubric),
        Judge::None => Grading::Impossible,
    })
}

/// The mean of a task's samples that have a score; `None` when none has one.
pub(crate) fn mean(rollouts: &[Rollout], task: &str, value: impl Fn(&Score) -> f64) -> Option<f64> {
    let scores: Vec<f64> = rollouts
        .iter()
        .filter(|rollout| rollout.task == task)
        .filter_map(|rollout| rollout.score.as_ref())
        .map(value)
        .collect();
    if scores.is_empty() {
        return None;
    }
    // A night has far fewer samples than 2^52.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let count = scores.len() as f64;
    Some(scores.iter().sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skillopt_core::task::Check;

    use super::*;

    fn hard(judge: &Judge, response: &str, called: Option<&[String]>) -> Option<f64> {
        match grading(judge, response, called).unwrap() {
            Grading::Known(score) => Some(score.hard),
            Grading::ByModel(_) | Grading::Impossible => None,
        }
    }

    #[test]
    fn a_reply_can_claim_a_tool_by_the_marker_where_none_were_offered() {
        let judge = Judge::Rule(vec![Check {
            op: "tool_called".to_owned(),
            arg: json!("search"),
        }]);
        let claim = "TOOL_CALL: search\nDone.";
        assert_eq!(hard(&judge, claim, None), Some(1.0));
        assert_eq!(hard(&judge, "I used search.", None), Some(0.0));
        // Where they were, only a call is one.
        assert_eq!(hard(&judge, claim, Some(&[])), Some(0.0));
        assert_eq!(
            hard(&judge, "Done.", Some(&["Search".to_owned()])),
            Some(1.0)
        );
    }

    #[test]
    fn what_nothing_can_judge_has_no_score_and_no_grader() {
        assert!(matches!(
            grading(&Judge::None, "anything", None).unwrap(),
            Grading::Impossible
        ));
        assert!(matches!(
            grading(&Judge::Rubric("short".to_owned()), "x", None).unwrap(),
            Grading::ByModel("short")
        ));
    }
}
