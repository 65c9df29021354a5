//! What a user can say to whoever supervises.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::schedule::Pause;
use skillopt_store::locks;

use super::order;
use super::state::{SupervisorState, at_in_words};
use crate::Nothing;
use crate::context::App;
use crate::project::Which;

/// Shows the whole: what runs, what comes next, what waits and why.
pub async fn status(app: &App, _: Nothing) -> Result<Box<SupervisorState>, Problem> {
    super::look(app).await.map(Box::new)
}

/// How long no night begins by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct PauseInput {
    /// `1h`, `90m`, `tomorrow`, `forever`, a date, a date with a time; for ever when empty.
    pub until: Option<String>,
}

/// The pause after a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PauseOutput {
    /// The pause that holds now.
    pub pause: Option<Pause>,
    /// Whether it was there before, for `resume`.
    pub was_paused: bool,
    /// What happened, in one sentence.
    pub message: String,
}

/// Pauses the nights.
pub async fn pause(app: &App, input: PauseInput) -> Result<PauseOutput, Problem> {
    let now = app.clock.now();
    let zone = TimeZone::system();
    let pause = match input.until.as_deref().map(str::trim) {
        None | Some("") => Pause::Forever,
        Some(text) => order::pause_of(text, now, &zone)?,
    };
    order::pause(app, pause)?;
    let end = match pause {
        Pause::Until(until) => format!("before {}", at_in_words(until, now, &zone)),
        Pause::Forever => "until you say `skillopt resume`".to_owned(),
    };
    Ok(PauseOutput {
        pause: Some(pause),
        was_paused: false,
        message: format!("No night begins by itself {end}. One that runs goes on."),
    })
}

/// Ends the pause.
pub async fn resume(app: &App, _: Nothing) -> Result<PauseOutput, Problem> {
    let was_paused = order::resume(app)?;
    Ok(PauseOutput {
        pause: None,
        was_paused,
        message: if was_paused {
            "Nights begin by themselves again."
        } else {
            "Nothing was paused."
        }
        .to_owned(),
    })
}

/// A night that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Requested {
    /// Id of the project.
    pub project: String,
    /// Whether somebody is there to run it now.
    pub supervised: bool,
    /// What happens, in one sentence.
    pub message: String,
}

/// Asks the app or the daemon for a night of a project, in the background.
///
/// Errors: `project_unknown`, `project_folder_missing`.
pub async fn start_night(app: &App, which: Which) -> Result<Requested, Problem> {
    let project = app.registered(which.project.as_deref())?;
    order::run_now(app, &project.id)?;
    let supervised = locks::supervisor_holder(&app.paths).is_some();
    Ok(Requested {
        message: if supervised {
            format!(
                "A night of {} begins as soon as its provider is free.",
                project.name
            )
        } else {
            format!(
                "A night of {} begins when the app or `skillopt daemon` is started.",
                project.name
            )
        },
        project: project.id,
        supervised,
    })
}
