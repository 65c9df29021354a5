//! A task: one request that recurs in the user's sessions and whose answer can be judged.

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::tool::Tool;

/// Which slice of the evidence a task belongs to. Stored with the task, never recomputed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// The optimizer sees its failures.
    Train,
    /// The gate compares scores on it; the optimizer never sees it.
    #[serde(rename = "val")]
    Validation,
    /// Scored once on the final documents; neither optimizer nor gate see it.
    Test,
}

/// How the sessions a task came from ended, as far as the user's words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "TaskOutcome"))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Thanks, and no complaint.
    Success,
    /// A complaint.
    Fail,
    /// Many turns, no clear sign.
    Mixed,
    /// No sign at all.
    #[default]
    Unknown,
}

/// Whether a task was lived through or made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Mined from a session, or given by the user.
    #[default]
    Real,
    /// A variant of a real task; only ever trained on.
    Dream,
}

/// One operator of a rule judge with its argument (§5.5 of the reference).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Check {
    /// Operator name, for example `contains`.
    pub op: String,
    /// Its argument; JSON null for `no_refusal`.
    #[serde(default)]
    pub arg: serde_json::Value,
}

/// How a reply to the task is scored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// Nothing can judge it. Such a task is never replayed.
    #[default]
    None,
    /// The reply must contain this text after normalisation.
    Exact(String),
    /// A model grades the reply by this rubric.
    Rubric(String),
    /// Local checks, all of which must hold.
    Rule(Vec<Check>),
    /// The last `<answer>` of the reply must equal one of these.
    Answer(Vec<String>),
}

/// One human turn that a task or an edit came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceTurn {
    /// Session id as the agent names it.
    pub session: String,
    /// Message id as the agent names it, or the position of the turn.
    pub turn: String,
}

/// One request that is replayed and judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(as = "crate::task_row::TaskRow")
)]
#[serde(
    try_from = "crate::task_row::TaskRow",
    into = "crate::task_row::TaskRow"
)]
pub struct Task {
    /// Own stable id: of the redacted request and the canonical project.
    pub id: String,
    /// The id the reference would give, so that an imported held-out task stays held out.
    pub legacy_id: String,
    /// Absolute path of the project.
    pub project: String,
    /// The agent whose sessions it came from; `None` for tasks given in a file.
    pub agent: Option<Agent>,
    /// The request, redacted.
    pub intent: String,
    /// What the user said besides, redacted; never a correction that gives the answer away.
    pub context: String,
    /// System framing of a benchmark task; empty for mined ones.
    pub system: String,
    /// What the agent answered then; kept as evidence, never used in a replay.
    pub attempted_solution: String,
    /// How it ended then.
    pub outcome: Outcome,
    /// How a reply is scored.
    pub judge: Judge,
    /// Tools that a replay may offer; nothing is executed.
    pub tools: Vec<Tool>,
    /// Free labels.
    pub tags: Vec<String>,
    /// Sessions it recurs in.
    pub sessions: Vec<String>,
    /// The human turns it was mined from.
    pub turns: Vec<SourceTurn>,
    /// Its slice.
    pub split: Split,
    /// Lived through or made up.
    pub origin: Origin,
    /// The task a dream or recalled task was made from; empty otherwise.
    pub derived_from: String,
    /// The one skill the sessions used; empty when none or several.
    pub skill_hint: String,
    /// The cluster of near-duplicates it stands for. A cluster never straddles two splits.
    pub cluster: String,
}

impl Task {
    /// A task with this id and request, and nothing else known about it.
    pub fn new(
        id: impl Into<String>,
        project: impl Into<String>,
        intent: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            legacy_id: String::new(),
            project: project.into(),
            agent: None,
            intent: intent.into(),
            context: String::new(),
            system: String::new(),
            attempted_solution: String::new(),
            outcome: Outcome::Unknown,
            judge: Judge::None,
            tools: Vec::new(),
            tags: Vec::new(),
            sessions: Vec::new(),
            turns: Vec::new(),
            split: Split::Train,
            origin: Origin::Real,
            derived_from: String::new(),
            skill_hint: String::new(),
            cluster: String::new(),
        }
    }
}
