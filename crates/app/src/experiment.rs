//! The persona experiment of the reference.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skillopt_core::Problem;
use skillopt_core::personas::Persona;
use skillopt_settings::ROWS;
use skillopt_sleep::experiment::{self, Experiment};
use skillopt_store::{Store, projects};

use crate::backend::is_of_one_side;
use crate::context::App;
use crate::sleep::as_problem;

/// What is asked of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct ExperimentInput {
    /// `researcher` or `programmer`.
    pub persona: String,
    /// At most so many nights.
    pub nights: u32,
    /// Only the first tasks; 0 for all.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub limit_tasks: usize,
}

/// Runs an invented user through some nights. Nothing of it stays: it has a database in memory.
pub async fn run(app: &App, input: ExperimentInput) -> Result<Box<Experiment>, Problem> {
    let persona = Persona::from_id(&input.persona).ok_or_else(|| {
        Problem::refused(
            "persona_unknown",
            format!("There is no persona \"{}\".", input.persona.escape_debug()),
            "The personas are researcher and programmer.",
        )
    })?;
    let store = Arc::new(Store::in_memory(Arc::clone(&app.clock))?);
    let project = store.commit("register project", |tx| {
        projects::find_or_register(tx, &app.directory)
    })?;
    let mut context = App {
        store,
        ..app.clone()
    }
    .night(project)?;
    let asked = |name: &str| app.flags.iter().any(|(flag, _)| flag == name);
    // Settings made for real nights must not let an experiment call a paid model, and what they say of one
    // side must not reach the backend that was asked for here.
    let settings = &mut context.settings;
    if !asked("backend") {
        "persona-sim".clone_into(&mut settings.backend);
    }
    for row in ROWS {
        let of_real_nights = row.key == "models.model" || is_of_one_side(row);
        if of_real_nights && !asked(row.flag) {
            settings.reset(row);
        }
    }
    experiment::run(&context, persona, input.nights, input.limit_tasks)
        .await
        .map(Box::new)
        .map_err(as_problem)
}
