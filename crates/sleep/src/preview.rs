//! What a night would do, at no cost: harvest, literal mining, splits, forecast.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use skillopt_core::Problem;
use skillopt_core::task::Task;
use skillopt_models::Roles;
use skillopt_models::mock::Mock;
use skillopt_transcripts::Harvest;

use crate::context::Context;
use crate::estimate::{self, Forecast};
use crate::harvesting;
use crate::night::{self, Night};
use crate::outcome::Stop;
use crate::report::{SkipCount, Suggestion};
use crate::run;
use crate::sources::{self, SourceStatus};
use crate::staging;
use crate::targets;
use crate::tasks_file::TasksFile;
use crate::tonight;

/// What a night would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Preview {
    /// Folder of the project.
    pub project: String,
    /// Sessions with something new.
    pub n_sessions: usize,
    /// Tasks that would take part.
    pub n_tasks: usize,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// New requests that have not recurred often enough yet.
    pub waiting: u64,
    /// Tasks beyond the limit.
    pub beyond_limit: u64,
    /// Requests that cannot be replayed, by reason.
    pub not_replayable: BTreeMap<String, u64>,
    /// What the harvest left out.
    pub skipped: Vec<SkipCount>,
    /// What was found of each agent, within the look-back; nothing when tasks were given.
    pub sources: Vec<SourceStatus>,
    /// Rules in the user's own words that nothing has tested.
    pub suggestions: Vec<Suggestion>,
    /// What it would ask.
    pub forecast: Forecast,
    /// Why it would not even begin: a backend cannot be used, or the budget is too small for a verdict.
    pub budget_problem: Option<Problem>,
    /// The answers would come from a built-in simulation.
    pub simulated: bool,
    /// Documents that could change.
    pub targets: Vec<String>,
    /// Whether a person answers: nothing is paid.
    pub handed_off: bool,
    /// Further lines.
    pub notes: Vec<String>,
}

/// What the tasks of a preview come from.
#[derive(Debug)]
pub enum Material<'a> {
    /// Tasks that the user gave.
    Given(&'a TasksFile),
    /// The sessions of the look-back, as [`harvesting::read`] gives them.
    Harvested(Box<Harvest>),
}

/// Backends that cost nothing, in the place of some that cannot be used.
fn nobody() -> Roles {
    Roles::new(Arc::new(Mock), Arc::new(Mock))
}

/// What a night would do now. Nothing is asked, and nothing is marked. What would be read needs no backend:
/// one that cannot be used is told, and what it would cost is then not known.
///
/// `again` looks at what earlier nights have dealt with once more.
pub async fn preview(
    context: &Context,
    material: Material<'_>,
    again: bool,
) -> Result<Preview, Stop> {
    let (roles, templates, unusable_backend) = match night::models(context).await {
        Ok((roles, templates)) => (roles, templates, None),
        Err(problem) => (nobody(), night::templates(context)?, Some(problem)),
    };
    let simulated = Roles::simulated_by_settings(&context.settings);
    let handed_off = run::handed_off(&roles);
    let harvested = matches!(material, Material::Harvested(_));
    let named = match &material {
        Material::Given(file) => &file.tasks[..],
        Material::Harvested(_) => &[],
    };
    let (targets, unusable) = targets::resolve(context, &harvesting::agents(context, named))?;
    staging::ready(context)?;
    let mut notes = context.warnings.clone();
    notes.extend(unusable.iter().map(ToString::to_string));
    let mut found = Vec::new();
    let (prepared, mined, harvest) = match material {
        Material::Given(file) => (
            tonight::given(context, file),
            crate::mine::Mined::default(),
            Harvest::default(),
        ),
        Material::Harvested(harvest) => {
            notes.extend(sources::warnings(&harvest));
            found = sources::statuses(context, &harvest);
            let known = tonight::known_turns(context, simulated, again)?;
            let sessions = tonight::with_news(
                harvest.sessions.clone(),
                &known,
                tonight::session_limit(context),
            );
            let mined = crate::mine::heuristic(&sessions, &|turn| known.contains(turn));
            let prepared = tonight::gathered(context, &mined, &targets)?;
            (
                prepared,
                mined,
                Harvest {
                    sessions,
                    ..*harvest
                },
            )
        }
    };
    // Only the prompts are measured; night 0 does not exist and nothing is written under it.
    let measuring = Night::new(context, 0, roles, templates)?;
    let groups = tonight::groups(context, &prepared.tasks, &targets);
    let asked = groups
        .iter()
        .map(|(_, slices, targets)| (slices, targets.as_slice()));
    let (mut forecast, hold) = estimate::forecast(context, &measuring.path, asked);
    let too_small = match measuring.path.hold(0, hold)? {
        Ok(()) => None,
        Err(error) => match estimate::too_small(context, &forecast, &error) {
            Stop::Deferred { problem, .. } | Stop::Failed(problem) => Some(problem),
            Stop::Waiting { .. } | Stop::Interrupted => None,
        },
    };
    notes.extend(prepared.notes.iter().cloned());
    notes.extend(measuring.path.price_notes());
    let unheard = crate::model_notes::unheard(measuring.path.roles());
    notes.extend(unheard.iter().map(ToString::to_string));
    notes.extend(crate::model_notes::judging(
        &prepared.tasks,
        measuring.path.roles(),
    ));
    if context.settings.model_miner && !simulated && harvested {
        forecast.mining_calls = harvest.sessions.len() as u64;
        notes.push("The night itself lets a model find tasks too; this preview takes only literal corrections.".to_owned());
    }
    Ok(Preview {
        project: context.project.root.clone(),
        n_sessions: harvest.sessions.len(),
        n_tasks: prepared.tasks.len(),
        waiting: prepared.gathered.waiting,
        beyond_limit: prepared.gathered.beyond_limit,
        not_replayable: mined
            .not_replayable
            .iter()
            .map(|(reason, count)| (reason.words().to_owned(), *count))
            .collect(),
        skipped: SkipCount::of(&harvest, context),
        sources: found,
        suggestions: crate::report::suggestions(&mined),
        tasks: prepared.tasks,
        forecast,
        budget_problem: unusable_backend.or(too_small),
        simulated,
        handed_off,
        targets: targets.into_iter().map(|target| target.real_path).collect(),
        notes,
    })
}
