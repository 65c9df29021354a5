//! Nights: list, show, stop.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_core::gate::Decision;
use skillopt_sleep::evidence::Evidence;
use skillopt_sleep::replies::{self, Replies};
use skillopt_sleep::report::TargetReport;
use skillopt_sleep::run::ENDED_BY_USER;
use skillopt_store::attempts::{self, Spend};
use skillopt_store::nights::{self, Night, Outcome, State};
use skillopt_store::orders::{self, Order};
use skillopt_store::stages::{self, Stage};
use skillopt_store::{Connection, Fault, Tx, calls, events, locks, proposals};

use crate::context::App;
use crate::shell;
use crate::supervisor;

/// Which nights.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "NightListInput", optional_fields = nullable))]
pub struct ListInput {
    /// Of one project; the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Of every project.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub everywhere: bool,
    /// At most so many; 0 for twenty.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub limit: usize,
}

/// One night in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NightRow {
    /// The night, without its pins and report.
    pub id: i64,
    /// Id of the project.
    pub project: String,
    /// Its number within the project.
    pub number: Option<u64>,
    /// What kind of run it was.
    pub kind: nights::Kind,
    /// Where it stands.
    pub state: State,
    /// How it ended or stopped.
    pub outcome: Option<Outcome>,
    /// In a sentence.
    pub reason: String,
    /// When it began.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub started_at: skillopt_core::Instant,
    /// When it ended or stopped.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub ended_at: Option<skillopt_core::Instant>,
    /// When a deferred one goes on.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub until: Option<skillopt_core::Instant>,
    /// Mean held-out score of the documents it left behind, over its agents; `None` when it compared none.
    pub score: Option<f64>,
}

impl From<Night> for NightRow {
    fn from(night: Night) -> Self {
        Self {
            id: night.id,
            score: night.report.as_ref().and_then(score),
            project: night.project,
            number: night.number,
            kind: night.kind,
            state: night.state,
            outcome: night.outcome,
            reason: night.reason,
            started_at: night.started_at,
            ended_at: night.ended_at,
            until: night.until,
        }
    }
}

/// The score of a report's `overall`: rows of an agent and its decision.
fn score(report: &Value) -> Option<f64> {
    let scores: Vec<f64> = report["overall"]
        .as_array()?
        .iter()
        .filter_map(|row| {
            let decision = &row[1];
            let side = if decision["accepted"] == true {
                "after"
            } else {
                "before"
            };
            decision[side].as_f64()
        })
        .collect();
    // A night has at most a few agents.
    let count = u32::try_from(scores.len())
        .ok()
        .filter(|count| *count > 0)?;
    Some(scores.iter().sum::<f64>() / f64::from(count))
}

/// Lists nights, newest first.
pub async fn list(app: &App, input: ListInput) -> Result<Vec<NightRow>, Problem> {
    let limit = if input.limit == 0 { 20 } else { input.limit };
    app.listed(input.project.as_deref(), input.everywhere, |db, project| {
        let found = nights::list(db, project, limit)?;
        Ok(found.into_iter().map(NightRow::from).collect())
    })
}

/// Which night; the newest of the project when empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "NightShowInput", optional_fields = nullable))]
pub struct ShowInput {
    /// Its id.
    pub id: Option<i64>,
    /// The project whose newest is meant.
    pub project: Option<PathBuf>,
    /// Also its events.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub events: bool,
}

/// A night with its stages.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "NightShown"))]
pub struct Shown {
    /// The night.
    #[serde(flatten)]
    pub night: NightRow,
    /// Its report, once it ended.
    #[cfg_attr(
        feature = "typescript",
        ts(type = "Partial<NightReport & { decisions: Array<[Agent, Decision]> }> | null")
    )]
    pub report: Option<Value>,
    /// Its stages with the number of calls by state.
    pub stages: Vec<StageRow>,
    /// What the verdicts of its report rest on, whether or not anything came of them.
    pub evidence: Vec<TargetEvidence>,
    /// What it spent.
    pub spend: Spend,
    /// Its events, when asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(as = "Vec<skillopt_store::events::Event>"))]
    pub events: Vec<Value>,
}

/// What the verdict on one document rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TargetEvidence {
    /// Id of the target; of a test of chosen rules its agent, whose documents were compared together.
    pub target: String,
    /// The requests of the tasks it was compared on, redacted, by id.
    pub requests: BTreeMap<String, String>,
    /// What was answered to these tasks before and after, by id; empty once the replies have expired.
    pub replies: BTreeMap<String, Replies>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageRow {
    /// The stage.
    #[serde(flatten)]
    pub stage: Stage,
    /// Calls by state.
    #[cfg_attr(
        feature = "typescript",
        ts(as = "std::collections::BTreeMap<String, u64>")
    )]
    pub calls: Value,
    /// Whether nothing of it is left to do. A stage of questions has no output of its own.
    pub done: bool,
    /// What it spent.
    pub spend: Spend,
}

/// Shows a night.
pub async fn show(app: &App, input: ShowInput) -> Result<Box<Shown>, Problem> {
    let id = which(app, input.id, input.project.as_deref())?;
    app.store
        .read(|db| {
            let night = nights::required(db, id)?;
            let rows = calls::rows_of_night(db, id)?;
            let spent: BTreeMap<String, Spend> =
                attempts::spend_of_stages(db, id)?.into_iter().collect();
            let stages = stages::list(db, id)?
                .into_iter()
                .map(|stage| {
                    let mut counts = serde_json::Map::new();
                    for row in rows.iter().filter(|row| row.stage == stage.name) {
                        let word = json!(row.state);
                        let word = word.as_str().unwrap_or("other").to_owned();
                        let count = counts.get(&word).and_then(Value::as_u64).unwrap_or(0) + 1;
                        counts.insert(word, json!(count));
                    }
                    let open = ["planned", "waiting"].map(|word| counts.contains_key(word));
                    let asked = !counts.is_empty() && open == [false, false];
                    StageRow {
                        done: asked || stage.state == stages::State::Done,
                        calls: Value::Object(counts),
                        spend: spent.get(&stage.name).copied().unwrap_or_default(),
                        stage,
                    }
                })
                .collect();
            let events = if input.events {
                events::list(db, id)?
                    .into_iter()
                    .map(|event| json!(event))
                    .collect()
            } else {
                Vec::new()
            };
            let report = night.report.clone();
            Ok(Shown {
                evidence: evidence(db, &night)?,
                report,
                stages,
                spend: attempts::spend(db, id)?,
                events,
                night: night.into(),
            })
        })
        .map(Box::new)
}

/// What the verdicts of a night rest on: nothing before it ended, and nothing where nothing was compared.
fn evidence(db: &Connection, night: &Night) -> Result<Vec<TargetEvidence>, Fault> {
    if night.kind == nights::Kind::Revalidation {
        return evidence_of_test(db, night);
    }
    let mut found = Vec::new();
    for target in targets(night.report.as_ref()) {
        let Some(decision) = target.decision else {
            continue;
        };
        found.push(TargetEvidence {
            target: target.id,
            requests: requests(db, night.id, &night.project, &decision)?,
            replies: replies::of(db, night.id, target.agent, target.kind)?,
        });
    }
    Ok(found)
}

/// What the verdicts of a test of chosen rules rest on: the held-out tasks of the night that proposed them.
fn evidence_of_test(db: &Connection, test: &Night) -> Result<Vec<TargetEvidence>, Fault> {
    let proposal = match test.pins["proposal"].as_str() {
        Some(id) => proposals::get(db, id)?,
        None => None,
    };
    let Some(proposal) = proposal else {
        return Ok(Vec::new());
    };
    let decisions: Vec<(Agent, Decision)> = test
        .report
        .as_ref()
        .and_then(|report| Vec::deserialize(&report["decisions"]).ok())
        .unwrap_or_default();
    decisions
        .into_iter()
        .map(|(agent, decision)| {
            Ok(TargetEvidence {
                target: agent.to_string(),
                requests: requests(db, proposal.night, &test.project, &decision)?,
                replies: replies::of_test(db, proposal.night, test.id, agent)?,
            })
        })
        .collect()
}

/// The requests of the tasks that were compared, redacted, by id.
fn requests(
    db: &Connection,
    night: i64,
    project: &str,
    decision: &Decision,
) -> Result<BTreeMap<String, String>, Fault> {
    let held_out: Vec<&str> = decision
        .deltas
        .iter()
        .map(|delta| delta.task.as_str())
        .collect();
    let evidence = Evidence::of(db, night, project, &held_out)?;
    Ok(held_out
        .into_iter()
        .filter_map(|task| Some((task.to_owned(), evidence.request(task)?.to_owned())))
        .collect())
}

/// The documents in the report of a night that ended; none of a report that this version cannot read.
fn targets(report: Option<&Value>) -> Vec<TargetReport> {
    report
        .and_then(|report| Vec::deserialize(&report["targets"]).ok())
        .unwrap_or_default()
}

/// Which night is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct RecordInput {
    /// Its id; the newest of the project when empty.
    pub id: Option<i64>,
    /// The project whose newest is meant.
    pub project: Option<PathBuf>,
    /// The file; it is replaced.
    pub to: PathBuf,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Recorded {
    /// The night.
    pub id: i64,
    /// The file.
    pub file: PathBuf,
    /// How many replies are in it.
    pub replies: usize,
    /// What goes through the night again, for a shell.
    pub command: String,
}

/// Writes the replies of a night into a file that the backend `cassette` answers from. The backends are
/// those that the night had, whatever the settings name now.
///
/// Errors: `night_unknown`, `night_not_recordable`, `cassette_expired`, those of the settings and of
/// writing.
pub async fn record(app: &App, input: RecordInput) -> Result<Recorded, Problem> {
    let id = which(app, input.id, input.project.as_deref())?;
    let (night, project) = app.store.read(|db| {
        let night = nights::required(db, id)?;
        let project = skillopt_store::projects::get(db, &night.project)?;
        Ok((night, project))
    })?;
    let context = app.night(project.ok_or_else(crate::project::not_registered)?)?;
    let redactor =
        skillopt_core::redact::Redactor::with_false_alarms(&context.settings.false_alarms);
    let file = app.directory.join(&input.to);
    let replies = skillopt_models::cassette::save(&app.store, id, &redactor, &file)?;
    let tasks = night.pins.get("tasks_file").and_then(Value::as_str);
    let mut command = vec!["skillopt sleep run --backend cassette --cassette".to_owned()];
    command.push(shell::word(&file.to_string_lossy()));
    if let Some(tasks) = tasks {
        command.extend(["--tasks-file".to_owned(), shell::word(tasks)]);
    }
    Ok(Recorded {
        id,
        replies,
        command: command.join(" "),
        file,
    })
}

/// Which night is stopped; the unfinished one of the project when empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct CancelInput {
    /// Its id.
    pub id: Option<i64>,
    /// The project whose unfinished night is meant.
    pub project: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Cancelled {
    /// The night; `None` when only one that was asked for has been called off.
    pub id: Option<i64>,
    /// It was told to end and will do so at the next call; otherwise it has been ended.
    pub told: bool,
}

/// The user ends a night that no process works on: it does not go on afterwards.
pub(crate) fn end_by_user(tx: &Tx<'_>, night: i64) -> Result<(), Fault> {
    let report = json!({"outcome": Outcome::Interrupted, "reason": ENDED_BY_USER});
    nights::end(tx, night, Outcome::Interrupted, ENDED_BY_USER, &report)
}

/// Tells a running night to end; ends one that waits or was killed. It does not go on afterwards. Where no
/// night is named, one that was asked for and has not begun is called off as well.
pub async fn cancel(app: &App, input: CancelInput) -> Result<Cancelled, Problem> {
    let night = match input.id {
        Some(id) => app.store.read(|db| nights::required(db, id))?,
        None => {
            let called_off = supervisor::call_off(app, input.project.as_deref())?;
            match unfinished(app, input.project.as_deref()) {
                Ok(night) => night,
                Err(problem) if called_off && problem.code == "night_unknown" => {
                    return Ok(Cancelled {
                        id: None,
                        told: false,
                    });
                }
                Err(problem) => return Err(problem),
            }
        }
    };
    let id = night.id;
    // Whoever holds the project's lock is the only one who may end its nights.
    let locked = locks::project(
        &app.paths,
        &night.project,
        "ending a night",
        app.clock.now(),
    );
    match locked {
        Ok(_lock) => {
            app.store.commit("cancel night", |tx| end_by_user(tx, id))?;
            Ok(Cancelled {
                id: Some(id),
                told: false,
            })
        }
        Err(problem) if problem.code == "project_busy" && is_at_work(app, &night) => {
            app.store
                .commit("order", |tx| orders::give(tx, id, Order::Cancel))?;
            Ok(Cancelled {
                id: Some(id),
                told: true,
            })
        }
        Err(problem) => Err(problem),
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "NightPaused"))]
pub struct Paused {
    /// The night.
    pub id: i64,
    /// It was told to stop and will do so at the next call; otherwise it was not at work.
    pub told: bool,
}

/// Tells a running night to stop; it goes on with the next run. One that waits or was killed is left as
/// it is: it has stopped already.
///
/// Error: `night_unknown`.
pub async fn pause(app: &App, input: CancelInput) -> Result<Paused, Problem> {
    let night = match input.id {
        Some(id) => app.store.read(|db| nights::required(db, id))?,
        None => unfinished(app, input.project.as_deref())?,
    };
    let told = is_at_work(app, &night);
    if told {
        app.store
            .commit("order", |tx| orders::give(tx, night.id, Order::Pause))?;
    } else if night.state == State::Ended {
        return Err(Problem::refused(
            "night_ended",
            format!("Night {} has ended.", night.id),
            "`skillopt sleep run` begins another.",
        ));
    }
    Ok(Paused { id: night.id, told })
}

/// Whether it may be this night that holds the project's lock.
pub(crate) fn is_at_work(app: &App, night: &Night) -> bool {
    let holder = locks::project_holder(&app.paths, &night.project);
    is_of(night, holder.as_ref())
}

/// Whether it may be this night that the holder of its project's lock works on.
pub(crate) fn is_of(night: &Night, holder: Option<&locks::Holder>) -> bool {
    let holds_it = match holder {
        Some(locks::Holder::Known { pid, .. }) => *pid == night.pid,
        Some(locks::Holder::Unknown) => true,
        None => false,
    };
    night.state == State::Running && holds_it
}

/// The unfinished night of a project, of whatever kind: the one that is at work, else the newest.
fn unfinished(app: &App, project: Option<&Path>) -> Result<Night, Problem> {
    let project = app.registered(project)?;
    let mut open = app.store.read(|db| nights::unfinished(db, &project.id))?;
    let at_work = open.iter().position(|night| is_at_work(app, night));
    if open.is_empty() {
        return Err(Problem::refused(
            "night_unknown",
            "No night of this project is unfinished.",
            "`skillopt night list` shows the nights.",
        ));
    }
    Ok(open.swap_remove(at_work.unwrap_or(0)))
}

fn which(app: &App, id: Option<i64>, project: Option<&Path>) -> Result<i64, Problem> {
    if let Some(id) = id {
        return Ok(id);
    }
    let project = app.registered(project)?;
    let newest = app
        .store
        .read(|db| nights::list(db, Some(&project.id), 1))?;
    newest.first().map(|night| night.id).ok_or_else(|| {
        Problem::refused(
            "night_unknown",
            "This project had no night yet.",
            "Run one with `skillopt sleep run`.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_of_a_night_is_that_of_what_it_left_behind() {
        let row = |accepted: bool, before: Option<f64>, after: Option<f64>| json!(["claude", {"accepted": accepted, "before": before, "after": after}]);
        let of = |rows: &[Value]| score(&json!({"overall": rows}));
        assert_eq!(of(&[row(true, Some(0.25), Some(0.75))]), Some(0.75));
        assert_eq!(of(&[row(false, Some(0.25), Some(0.75))]), Some(0.25));
        let two = [row(true, Some(0.0), Some(1.0)), row(false, Some(0.5), None)];
        assert_eq!(of(&two), Some(0.75));
        assert_eq!(of(&[row(true, None, None)]), None);
        assert_eq!(of(&[]), None);
        assert_eq!(score(&json!({})), None);
    }
}
