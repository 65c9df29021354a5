//! What a night tells in the morning.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillopt_core::agent::Agent;
use skillopt_core::check;
use skillopt_core::document::TargetKind;
use skillopt_core::edit::{Edit, Unmatched};
use skillopt_core::feedback;
use skillopt_core::gate::{Decision, Verdict};
use skillopt_core::task::{SourceTurn, Split, Task};
use skillopt_core::text::counted;
use skillopt_core::{Instant, Problem};
use skillopt_models::{Roles, Terms};
use skillopt_store::attempts::Spend;
use skillopt_store::nights::Outcome;
use skillopt_transcripts::{Harvest, Reason, Unit};

use crate::consolidate::{Consolidated, TargetResult};
use crate::context::Context;
use crate::estimate::Forecast;
use crate::gather::Gathered;
use crate::mine::{Mined, NotReplayable};
use crate::model_notes::Resolved;
use crate::outcome::Stop;

mod as_json;

pub(crate) use as_json::reference_edit;

/// How many suggestions are shown.
const SUGGESTIONS: usize = 8;

/// Something that was left out of the harvest, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SkipCount {
    /// Whose transcripts.
    pub agent: Agent,
    /// Stable name of the reason.
    pub reason: String,
    /// What one count stands for.
    pub unit: Unit,
    /// One sentence.
    pub sentence: String,
    /// How often.
    pub count: u64,
}

impl SkipCount {
    /// The counts of a harvest, in the order of the reasons.
    #[must_use]
    pub fn of(harvest: &Harvest, context: &Context) -> Vec<Self> {
        let hours = u64::from(context.settings.lookback_hours);
        harvest
            .skipped
            .iter()
            .map(|(&(agent, reason), &count)| Self {
                agent,
                reason: reason.id().to_owned(),
                unit: reason.unit(),
                sentence: if reason == Reason::BeforeSince {
                    format!(
                        "Older than {}; read them with --lookback-hours 0.",
                        counted(hours, "hour")
                    )
                } else {
                    reason.sentence().to_owned()
                },
                count,
            })
            .collect()
    }
}

/// A rule in the user's own words that nothing has tested yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Suggestion {
    /// What the user said.
    pub words: String,
    /// How often it was said, in these or nearly these words.
    pub times: usize,
    /// Where.
    pub turns: Vec<SourceTurn>,
}

/// One document in the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TargetReport {
    /// Id of the target.
    pub id: String,
    /// Its agent.
    pub agent: Agent,
    /// Skill or memory.
    pub kind: TargetKind,
    /// Where the agent looks for it.
    pub path: String,
    /// Held-out tasks it was compared on.
    pub n_validation: usize,
    /// The verdict in a sentence.
    pub sentence: String,
    /// The gate's word, when something was tried.
    pub decision: Option<Decision>,
    /// Edits of the candidate that was let in.
    pub applied: Vec<Edit>,
    /// Edits that did not help.
    pub rejected: Vec<Edit>,
    /// Edits that could not be applied, and why.
    pub unmatched: Vec<(Edit, Unmatched)>,
    /// The optimizer's reply could not be read.
    pub unreadable: bool,
    /// What the scan of the proposed text found; each needs a confirmation.
    #[cfg_attr(
        feature = "typescript",
        ts(type = "Array<{ kind: FlagKind, line: number, excerpt: string, sentence: string }>")
    )]
    pub flags: Vec<Value>,
    /// Why it was not staged although it improved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_staged: Option<String>,
}

impl TargetReport {
    /// Whether held-out tasks have said something about its edits: those it rejected were compared and did
    /// not help, rather than left unverified.
    #[must_use]
    pub fn was_compared(&self) -> bool {
        self.decision.as_ref().is_some_and(|decision| {
            matches!(
                decision.verdict,
                Verdict::Tie | Verdict::Worse | Verdict::Better
            )
        })
    }
}

/// The report of a night.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NightReport {
    /// Its id in the store; `None` when it could not begin.
    pub night_id: Option<i64>,
    /// Its number within the project; `None` for nights that had nothing to do.
    pub night: Option<u64>,
    /// What the user has to agree to before the night may ask a model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<Terms>,
    /// Folder of the project.
    pub project: String,
    /// When it began.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub started_at: Instant,
    /// When it ended.
    #[cfg_attr(feature = "typescript", ts(type = "string"))]
    pub ended_at: Instant,
    /// Whether it went on with an earlier, stopped night.
    pub resumed: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// One sentence.
    pub reason: String,
    /// What is wrong and what to do, when something is.
    pub problem: Option<Problem>,
    /// When a deferred night goes on.
    #[cfg_attr(feature = "typescript", ts(type = "string | null"))]
    pub until: Option<Instant>,
    /// Who answered.
    pub target_backend: String,
    /// Who mined and reflected.
    pub optimizer_backend: String,
    /// Who judged.
    pub judge_backend: String,
    /// The models that really answered, as far as is known.
    pub models: Resolved,
    /// The answers come from a built-in simulation, not from a model.
    pub simulated: bool,
    /// Sessions with something new.
    pub n_sessions: usize,
    /// Tasks that took part.
    pub n_tasks: usize,
    /// Tasks by slice: train, validation, test.
    pub slices: [usize; 3],
    /// New requests that have not recurred often enough yet.
    pub waiting: u64,
    /// Tasks beyond the limit; they come another night.
    pub beyond_limit: u64,
    /// Requests that cannot be replayed, by reason.
    pub not_replayable: BTreeMap<String, u64>,
    /// What the harvest left out.
    pub skipped: Vec<SkipCount>,
    /// One per document that could change.
    pub targets: Vec<TargetReport>,
    /// Train and validation were not apart somewhere.
    pub holdout_leaked: bool,
    /// The verdict on all documents of an agent together, per agent.
    pub overall: Vec<(Agent, Decision)>,
    /// Mean score on the test slice, pinned and final, per agent.
    pub test: Vec<(Agent, Option<f64>, Option<f64>)>,
    /// Rules in the user's own words that nothing has tested.
    pub suggestions: Vec<Suggestion>,
    /// What is still missing before something can be validated.
    pub missing: Vec<String>,
    /// What was expected to be asked.
    pub forecast: Forecast,
    /// What was spent.
    pub spend: Spend,
    /// Further lines.
    pub notes: Vec<String>,
    /// Id of the proposal, when something was staged.
    pub proposal: Option<String>,
    /// Folder of its bundle.
    pub staging_dir: String,
    /// Files changed by auto-adopt.
    pub adopted: Vec<String>,
    /// The user's tasks file.
    pub tasks_file: Option<String>,
    /// Whether one held-out task that gets worse blocks a proposal; the reference reports it.
    pub gate_no_regression: bool,
    /// `false` when the gate was off.
    pub gated: bool,
    /// Training attempts that were scored, and how many of them passed.
    #[serde(skip)]
    #[cfg_attr(feature = "typescript", ts(skip))]
    pub(crate) training: Training,
}

/// How the training attempts of a night came out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Training {
    scored: usize,
    passed: usize,
}

impl Training {
    const fn of(group: &Consolidated) -> Self {
        Self {
            scored: group.train_scored,
            passed: group.train_passed,
        }
    }

    /// Why there is no edit at all, in a sentence.
    fn why_no_edit(self) -> String {
        match (self.scored, self.scored.saturating_sub(self.passed)) {
            (0, _) => "No training task was scored; there was nothing to learn from.".to_owned(),
            (_, 0) => "Every training task was passed already; there was nothing to learn from."
                .to_owned(),
            (_, failed) => format!(
                "{} failed, but no edit was proposed; what was rejected before is not proposed again.",
                counted(failed as u64, "training attempt")
            ),
        }
    }
}

impl NightReport {
    pub(crate) fn new(context: &Context) -> Self {
        let now = context.clock.now();
        Self {
            night_id: None,
            night: None,
            terms: Vec::new(),
            project: context.project.root.clone(),
            started_at: now,
            ended_at: now,
            resumed: false,
            outcome: Outcome::NothingToDo,
            reason: String::new(),
            problem: None,
            until: None,
            target_backend: String::new(),
            optimizer_backend: String::new(),
            judge_backend: String::new(),
            models: Resolved::default(),
            simulated: false,
            n_sessions: 0,
            n_tasks: 0,
            slices: [0; 3],
            waiting: 0,
            beyond_limit: 0,
            not_replayable: BTreeMap::new(),
            skipped: Vec::new(),
            targets: Vec::new(),
            holdout_leaked: false,
            overall: Vec::new(),
            test: Vec::new(),
            suggestions: Vec::new(),
            missing: Vec::new(),
            forecast: Forecast::default(),
            spend: Spend::default(),
            notes: context.warnings.clone(),
            proposal: None,
            staging_dir: String::new(),
            adopted: Vec::new(),
            tasks_file: None,
            gate_no_regression: context.settings.no_regression,
            gated: context.settings.mode == skillopt_settings::GateMode::Strict,
            training: Training::default(),
        }
    }

    /// The report of a night that could not begin.
    #[must_use]
    pub fn unbegun(context: &Context, why: &Stop) -> Self {
        let mut report = Self::new(context);
        report.stop(why);
        report
    }

    /// The report of a night that need not run.
    #[must_use]
    pub fn not_needed(context: &Context, reason: String) -> Self {
        let mut report = Self::new(context);
        report.reason = reason;
        report
    }

    pub(crate) fn backends(&mut self, roles: &Roles) {
        let name = |backend: &dyn skillopt_models::Backend| {
            let id = backend.id();
            if id.model.is_empty() {
                id.kind
            } else {
                format!("{} ({})", id.kind, id.model)
            }
        };
        self.target_backend = name(roles.target.as_ref());
        self.optimizer_backend = name(roles.optimizer.as_ref());
        self.judge_backend = name(roles.judge.as_ref());
        self.simulated = roles.simulated();
    }

    pub(crate) fn tasks(&mut self, tasks: &[Task], gathered: &Gathered, mined: &Mined) {
        self.n_tasks = tasks.len();
        let count = |split| tasks.iter().filter(|task| task.split == split).count();
        self.slices = [
            count(Split::Train),
            count(Split::Validation),
            count(Split::Test),
        ];
        self.waiting = gathered.waiting;
        self.beyond_limit = gathered.beyond_limit;
        self.not_replayable = mined
            .not_replayable
            .iter()
            .map(|(reason, count)| (reason.words().to_owned(), *count))
            .collect();
        self.suggestions = suggestions(mined);
        if mined.unusable > 0 {
            self.notes.push(format!(
                "{} of the model that looks for tasks had none that could be used; of those sessions only what your corrections say literally was taken.",
                counted(mined.unusable, "reply")
            ));
        }
    }

    pub(crate) fn consolidated(
        &mut self,
        results: &[(Agent, Consolidated, usize)],
        tasks: &[Task],
    ) {
        for (agent, result, n_validation) in results {
            self.overall.push((*agent, result.overall.clone()));
            if let Some((before, after)) = result.test {
                self.test.push((*agent, before, after));
            }
            self.holdout_leaked |= result.overall.leaked;
            let training = Training::of(result);
            self.training.scored += training.scored;
            self.training.passed += training.passed;
            for target in &result.targets {
                self.targets
                    .push(target_report(target, result, *n_validation));
            }
        }
        let tested = self.tested();
        self.suggestions
            .retain(|suggestion| !is_tested(&suggestion.words, &tested));
        if self.gated && self.slices[1] == 0 && !tasks.is_empty() {
            self.missing
                .push("Held-out tasks: none of tonight's tasks could be kept apart.".to_owned());
        }
    }

    /// The rules that held-out tasks have said something about tonight.
    fn tested(&self) -> HashSet<String> {
        self.targets
            .iter()
            .filter(|target| target.was_compared())
            .flat_map(|target| target.applied.iter().chain(&target.rejected))
            .map(|edit| edit.content.clone())
            .collect()
    }

    /// The outcome and its sentence from what is known by now. A rehearsal proposes nothing.
    pub(crate) fn conclude(&mut self, now: Instant, rehearsal: bool) {
        self.ended_at = now;
        if self.n_tasks == 0 {
            self.outcome = Outcome::NothingToDo;
            self.reason = match self.n_sessions as u64 {
                0 => "No session has anything new.".to_owned(),
                sessions => format!(
                    "{}, none with a task that can be judged and recurs.",
                    counted(sessions, "new session")
                ),
            };
            self.missing = self.what_is_missing();
            return;
        }
        let better: Vec<&TargetReport> = self
            .targets
            .iter()
            .filter(|target| !target.applied.is_empty())
            .collect();
        if let Some(first) = better.first() {
            self.outcome = Outcome::Proposed;
            let more = match better.len() as u64 {
                1 => String::new(),
                n => format!(" {} improved as well.", counted(n - 1, "other document")),
            };
            let kept = if rehearsal {
                " It was a rehearsal: nothing waits for you."
            } else {
                ""
            };
            self.reason = format!("{}{more}{kept}", first.sentence);
            return;
        }
        let tried: usize = self
            .targets
            .iter()
            .map(|target| target.rejected.len())
            .sum();
        let indeterminate = self
            .overall
            .iter()
            .find_map(|(_, decision)| match &decision.verdict {
                Verdict::Indeterminate { reason } => Some(reason.clone()),
                Verdict::Better | Verdict::Worse | Verdict::Tie => None,
            });
        let nothing_failed = tried == 0
            && self
                .targets
                .iter()
                .all(|target| target.unmatched.is_empty());
        if self.targets.iter().any(|target| target.unreadable) && tried == 0 {
            self.outcome = Outcome::Failed;
            self.reason =
                "The optimizer's reply could not be read, so nothing was tried.".to_owned();
            self.problem = Some(Problem::permanent(
                "reply_unreadable",
                self.reason.clone(),
                "Use a more capable model as optimizer (models.optimizer_model); the next night asks anew.",
            ));
        } else if let Some(reason) = indeterminate.filter(|_| self.gated) {
            self.outcome = Outcome::Inconclusive;
            self.reason = format!(
                "Too little to tell ({reason}); the evidence is kept, {}.",
                counted(
                    (tried + self.suggestions.len()) as u64,
                    "untested suggestion"
                )
            );
            self.missing = self.what_is_missing();
        } else if nothing_failed {
            self.outcome = Outcome::NotImproved;
            self.reason = self.training.why_no_edit();
        } else {
            self.outcome = Outcome::NotImproved;
            self.reason = match tried {
                0 => "No edit helped; what was proposed could not be applied.".to_owned(),
                1 => "No edit helped; 1 was tried and is remembered.".to_owned(),
                n => format!("No edit helped; {n} were tried and are remembered."),
            };
        }
    }

    /// What a first week lacks, in sentences.
    fn what_is_missing(&self) -> Vec<String> {
        let mut missing = self.missing.clone();
        if self.waiting > 0 {
            missing.push(format!(
                "{} request{} seen in one session only; a request becomes a task when it recurs.",
                self.waiting,
                if self.waiting == 1 { " was" } else { "s were" }
            ));
        }
        let count = |reason: NotReplayable| self.not_replayable.get(reason.words());
        if let Some(count) = count(NotReplayable::NoCriterion) {
            missing.push(format!(
                "{} had no correction that says what a good answer is.",
                counted(*count, "request")
            ));
        }
        let tools: u64 = [NotReplayable::NeedsFiles, NotReplayable::NeedsTools]
            .into_iter()
            .filter_map(count)
            .sum();
        if tools > 0 {
            missing.push(format!(
                "{} needed files or tools, which a replay does not have yet.",
                counted(tools, "request")
            ));
        }
        if self.n_tasks == 0 && !missing.is_empty() {
            missing.push(
                "What helps: something you ask for in words, without files, in two sessions or more, and correct by saying what you want (\"no more than 100 words\")."
                    .to_owned(),
            );
        }
        if self.n_tasks > 0 && self.gated {
            missing.push(format!(
                "{} so far; see gate.min_validation_tasks.",
                counted(self.slices[1] as u64, "held-out task")
            ));
        }
        missing
    }

    pub(crate) fn stop(&mut self, stop: &Stop) {
        self.outcome = stop.outcome();
        match stop {
            Stop::Waiting { questions } => {
                self.reason = format!(
                    "{questions} question{} for an answer; see `skillopt handoff`.",
                    if *questions == 1 { " waits" } else { "s wait" }
                );
            }
            Stop::Deferred { problem, until } => {
                self.until = *until;
                self.reason.clone_from(&problem.message);
                self.problem = Some(problem.clone());
            }
            Stop::Interrupted => self.reason = "Stopped; it resumes where it was.".to_owned(),
            Stop::Failed(problem) => {
                self.reason.clone_from(&problem.message);
                self.problem = Some(problem.clone());
            }
        }
    }
}

fn target_report(result: &TargetResult, group: &Consolidated, n_validation: usize) -> TargetReport {
    TargetReport {
        id: result.target.id.clone(),
        agent: result.target.agent,
        kind: result.target.kind,
        path: result.target.path.clone(),
        n_validation,
        sentence: sentence(result, group),
        decision: result.decision.clone(),
        applied: result.applied.clone(),
        rejected: result.rejected.clone(),
        unmatched: result.unmatched.clone(),
        unreadable: result.unreadable,
        flags: Vec::new(),
        not_staged: None,
    }
}

/// The verdict on one document in plain words.
fn sentence(result: &TargetResult, group: &Consolidated) -> String {
    if result.unreadable {
        return "The optimizer's reply could not be read.".to_owned();
    }
    let Some(decision) = &result.decision else {
        return if result.unmatched.is_empty() {
            Training::of(group).why_no_edit()
        } else {
            "The proposed edits could not be applied.".to_owned()
        };
    };
    if result.proposed.is_some() && !group.overall.accepted {
        return "It helped at first, but not in the final comparison.".to_owned();
    }
    decision.sentence()
}

/// Whether a correction says nothing but rules that were tested, as far as it says rules literally.
fn is_tested(words: &str, tested: &HashSet<String>) -> bool {
    let stated = feedback::constraints(words);
    !stated.is_empty()
        && stated
            .iter()
            .all(|rule| tested.contains(&check::sentence(rule)))
}

/// Corrections in the user's own words, those said most often first.
pub(crate) fn suggestions(mined: &Mined) -> Vec<Suggestion> {
    let texts: Vec<&str> = mined
        .corrections
        .iter()
        .map(|correction| correction.words.as_str())
        .collect();
    let clusters = skillopt_core::cluster::assign(&[], &texts);
    let mut grouped: BTreeMap<&str, Suggestion> = BTreeMap::new();
    for (cluster, correction) in clusters.iter().zip(&mined.corrections) {
        let entry = grouped.entry(cluster).or_insert_with(|| Suggestion {
            words: correction.words.clone(),
            times: 0,
            turns: Vec::new(),
        });
        entry.times += 1;
        entry.turns.push(correction.turn.clone());
    }
    let mut found: Vec<Suggestion> = grouped.into_values().collect();
    found.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.words.cmp(&b.words)));
    found.truncate(SUGGESTIONS);
    found
}
