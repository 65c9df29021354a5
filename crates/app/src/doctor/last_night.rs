//! What the last night says about tonight.

use serde_json::json;
use skillopt_core::{Problem, Retry};
use skillopt_models::{CallError, Scope};
use skillopt_sleep::run::Answering;
use skillopt_store::nights::{self, Kind, Night, Outcome};
use skillopt_store::{attempts, scheduled};

use super::{Finding, Health, good};

/// The last night, when it did not get through: what stopped it, such as a key that was refused, can only be
/// known by asking. When only a person can end it, and nothing was done since, tonight does not get through
/// either.
pub(super) fn look(
    context: &skillopt_sleep::Context,
    answering: Option<&Answering>,
) -> Result<Option<Finding>, Problem> {
    let nights = context
        .store
        .read(|db| nights::list(db, Some(&context.project.id), 10))?;
    let last = nights
        .into_iter()
        .filter(|night| night.kind == Kind::Run)
        .find(|night| night.outcome.is_some());
    let Some(night) = last else { return Ok(None) };
    if !matches!(night.outcome, Some(Outcome::Deferred | Outcome::Failed)) {
        return Ok(None);
    }
    let found = Finding {
        health: Health::Warning,
        guidance: "`skillopt backend test` asks now whether the models answer; `skillopt night show` says more of the night."
            .to_owned(),
        ..good(
            "last night",
            "last_night_stopped",
            format!("It did not get through: {}", night.reason),
            json!({"outcome": night.outcome}),
        )
    };
    let Some(error) = refusal(context, &night)? else {
        return Ok(Some(found));
    };
    // Without its backends a night ends before that; it is said by itself.
    let asked_again = error
        .provider()
        .zip(answering)
        .is_some_and(|(refused, answering)| answering.providers.contains(refused));
    if !asked_again {
        return Ok(Some(found));
    }
    let problem = error.problem();
    Ok(Some(Finding {
        health: Health::Bad,
        code: problem.code.to_string(),
        message: format!("{} Nothing was changed since.", found.message),
        guidance: format!(
            "{} `skillopt backend test` asks now whether the models answer.",
            problem.guidance
        ),
        ..found
    }))
}

/// What a provider told the night that a person has to do, when nobody has done anything since.
fn refusal(context: &skillopt_sleep::Context, night: &Night) -> Result<Option<CallError>, Problem> {
    let (mended, tries) = context.store.read(|db| {
        Ok((
            scheduled::mended_at(db, &night.project)?,
            attempts::of_night(db, night.id)?,
        ))
    })?;
    if mended > night.ended_at {
        return Ok(None);
    }
    let last = tries.into_iter().next_back().and_then(|tried| tried.error);
    // Errors of a later version are none that is known here.
    let error = last.and_then(|mut said| serde_json::from_value(said["error"].take()).ok());
    Ok(error.filter(|error: &CallError| {
        error.retry() == Retry::Permanent && error.scope() == Scope::Provider
    }))
}
