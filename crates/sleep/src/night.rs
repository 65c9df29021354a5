//! One night's rows: planning and asking stages, storing their outputs, telling who listens.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use skillopt_core::Problem;
use skillopt_models::{
    Ask, CallError, CallPath, PathOptions, Prices, Reply, Roles, Spend as Held, Surroundings,
    Templates,
};
use skillopt_store::attempts::{self, Spend};
use skillopt_store::{events, stages};

use crate::context::{Context, Progress};
use crate::outcome::Stop;

/// A night under way.
pub(crate) struct Night<'a> {
    pub(crate) context: &'a Context,
    pub(crate) id: i64,
    pub(crate) path: CallPath,
    /// What is held back for the gate.
    held: Mutex<Held>,
}

/// The backends and prompts the settings name.
pub(crate) async fn models(context: &Context) -> Result<(Roles, Templates), Problem> {
    let settings = &context.settings;
    let root = Path::new(&context.project.root);
    let around = Surroundings {
        environment: &context.environment,
        keyring: &context.keyring,
        handoff: skillopt_models::handoff_folder(
            settings,
            &context.paths,
            &context.project.id,
            root,
        ),
        agents: Some(context.paths.agents()),
        clock: Arc::clone(&context.clock),
        cancel: &context.cancel,
    };
    let roles = Roles::from_settings(settings, &around).await?;
    Ok((roles, templates(context)?))
}

/// The prompts the settings name.
pub(crate) fn templates(context: &Context) -> Result<Templates, Problem> {
    let loaded = Templates::from_settings(&context.settings, &context.paths)?;
    for warning in loaded.warnings {
        context.note(warning);
    }
    Ok(loaded.templates)
}

impl<'a> Night<'a> {
    /// Error: `prices_broken`.
    pub(crate) fn new(
        context: &'a Context,
        id: i64,
        roles: Roles,
        templates: Templates,
    ) -> Result<Self, Problem> {
        let prices = Prices::load(&context.paths.config)?;
        let options = PathOptions {
            finish_at: context.finish_at,
            ..PathOptions::from_settings(&context.settings, prices)
        };
        let path = CallPath::new(
            Arc::clone(&context.store),
            roles,
            templates,
            options,
            context.cancel.clone(),
            context.on_call(),
        );
        Ok(Self {
            context,
            id,
            path,
            held: Mutex::default(),
        })
    }

    /// What the night has spent, from its rows.
    pub(crate) fn spent(&self) -> Result<Spend, Problem> {
        self.context.store.read(|db| attempts::spend(db, self.id))
    }

    /// Holds back what the gate needs; `Err` when the budget does not have so much.
    pub(crate) fn hold(&self, part: Held) -> Result<Result<(), CallError>, Problem> {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = part;
        self.path.hold(self.id, part)
    }

    /// Gives back what was held for a stage that begins now.
    pub(crate) fn release(&self, part: Held) -> Result<(), Problem> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.calls = held.calls.saturating_sub(part.calls);
        held.tokens = held.tokens.saturating_sub(part.tokens);
        held.cost_micros = held.cost_micros.saturating_sub(part.cost_micros);
        // Less than before is always left.
        self.path.hold(self.id, *held).map(|_| ())
    }

    /// Asks a stage's calls and gives the results in order.
    ///
    /// `plan` is only called when the stage is new: a planned stage is never rendered again. All
    /// results are collected before the night is stopped by any of them.
    pub(crate) async fn ask(
        &self,
        stage: &str,
        plan: impl FnOnce() -> Vec<Ask>,
    ) -> Result<Vec<Result<Reply, CallError>>, Stop> {
        if !self
            .context
            .store
            .read(|db| stages::planned(db, self.id, stage))?
        {
            self.path.learn_windows(self.id).await?;
            self.path.plan(self.id, stage, plan())?;
        }
        let results = self.path.answer(self.id, stage).await?;
        (self.context.listener)(&Progress::StageDone {
            stage: stage.to_owned(),
        });
        judge_stage(results)
    }

    /// The stored output of a stage that is done.
    pub(crate) fn output<T: DeserializeOwned>(&self, stage: &str) -> Result<Option<T>, Problem> {
        self.context
            .store
            .read(|db| stages::output(db, self.id, stage))
    }

    /// Stores the output of a stage.
    pub(crate) fn finish<T: Serialize + ?Sized>(
        &self,
        stage: &str,
        output: &T,
    ) -> Result<(), Problem> {
        self.context.store.commit("finish stage", |tx| {
            stages::finish(tx, self.id, stage, output)
        })
    }

    /// Stores something under a stage's name once; a resumed night leaves it as it is.
    pub(crate) fn keep<T: Serialize + ?Sized>(
        &self,
        stage: &str,
        value: &T,
    ) -> Result<(), Problem> {
        if self
            .context
            .store
            .read(|db| stages::planned(db, self.id, stage))?
        {
            return Ok(());
        }
        self.finish(stage, value)
    }

    /// The output of a stage that needs no model: stored the first time, read afterwards.
    pub(crate) fn local<T: Serialize + DeserializeOwned>(
        &self,
        stage: &str,
        make: impl FnOnce() -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        if let Some(output) = self.output(stage)? {
            return Ok(output);
        }
        (self.context.listener)(&Progress::StageStarted {
            stage: stage.to_owned(),
            calls: 0,
        });
        let output = make()?;
        self.finish(stage, &output)?;
        (self.context.listener)(&Progress::StageDone {
            stage: stage.to_owned(),
        });
        Ok(output)
    }

    /// Appends an event for the reviewer.
    pub(crate) fn event(&self, kind: &str, body: &serde_json::Value) -> Result<(), Problem> {
        self.context.store.commit("event", |tx| {
            events::append(tx, self.id, kind, body).map(|_| ())
        })
    }
}

/// Whether a night can go on with these results of a stage.
///
/// Errors of one call cost that call its answer; errors of a provider or of the night stop the night,
/// and so does a stage in which more than half of the calls have no answer.
fn judge_stage(
    results: Vec<Result<Reply, CallError>>,
) -> Result<Vec<Result<Reply, CallError>>, Stop> {
    let errors: Vec<&CallError> = results
        .iter()
        .filter_map(|result| result.as_ref().err())
        .collect();
    if errors
        .iter()
        .any(|error| matches!(error, CallError::Cancelled))
    {
        return Err(Stop::Interrupted);
    }
    let waiting = errors
        .iter()
        .filter(|error| matches!(error, CallError::WaitingForAnswer { .. }))
        .count();
    if waiting > 0 {
        return Err(Stop::Waiting { questions: waiting });
    }
    let too_many = errors.len() * 2 > results.len();
    let decisive = errors
        .iter()
        .find(|error| stops_night(error))
        .or_else(|| errors.first().filter(|_| too_many));
    match decisive {
        Some(error) => Err(stop(error)),
        None => Ok(results),
    }
}

/// Whether one such error is enough to stop.
const fn stops_night(error: &CallError) -> bool {
    matches!(
        error,
        CallError::SignInNeeded { .. }
            | CallError::QuotaExhausted { .. }
            | CallError::QuotaReserved { .. }
            | CallError::RateLimited { .. }
            | CallError::BudgetExhausted { .. }
            | CallError::FinishTime { .. }
            | CallError::DiskFull { .. }
            | CallError::Misconfigured { .. }
    )
}

/// How a night ends that was stopped by this error.
fn stop(error: &CallError) -> Stop {
    let problem = error.problem();
    match error {
        CallError::QuotaExhausted { until, .. } | CallError::QuotaReserved { until, .. } => {
            Stop::Deferred {
                problem,
                until: *until,
            }
        }
        CallError::SignInNeeded { .. }
        | CallError::RateLimited { .. }
        | CallError::BudgetExhausted { .. }
        | CallError::FinishTime { .. }
        | CallError::DiskFull { .. }
        | CallError::Unavailable { .. }
        | CallError::TimedOut { .. } => Stop::Deferred {
            problem,
            until: None,
        },
        CallError::Cancelled => Stop::Interrupted,
        CallError::WaitingForAnswer { .. } => Stop::Waiting { questions: 1 },
        CallError::Unreadable { .. }
        | CallError::Refused { .. }
        | CallError::ContextOverflow { .. }
        | CallError::Misconfigured { .. } => Stop::Failed(problem),
    }
}
