//! Backends: which there are, and whether they work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillopt_core::Problem;
use skillopt_core::call::Side;
use skillopt_models::path::{PathOptions, Roles};
use skillopt_models::roles::judge;
use skillopt_models::trial::{self, Trial};
use skillopt_models::{
    Backend, Prices, Surroundings, Terms, catalogue, handoff_folder, local, terms,
};
use skillopt_settings::{Layer, Layers, Row, Settings};
use skillopt_store::projects::{self, Project};
use skillopt_store::scheduled;

use crate::context::App;

mod choose;
mod servers;

pub(crate) use choose::is_of_one_side;
pub use choose::{Changed, Chosen, UseInput, choose};
pub(crate) use servers::on_this_computer;
pub use servers::servers;

/// Which settings hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "BackendListInput", optional_fields = nullable))]
pub struct ListInput {
    /// Those of this project; those of the folder the user is in when empty.
    pub project: Option<PathBuf>,
}

/// One backend in the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BackendRow {
    /// Its name in the settings.
    pub name: String,
    /// What it is, one line.
    pub about: String,
    /// What it does in a night: `target`, `optimizer`, `judge`; empty when nothing.
    pub sides: Vec<String>,
    /// The model that would be asked; empty when that is not known.
    pub model: String,
    /// Its address or program; empty when that is not known.
    pub address: String,
    /// Why it cannot be used as things are; `None` when it can, as far as that is known without asking. A
    /// server on this computer that does not listen cannot, which may be over at any time.
    pub problem: Option<Problem>,
    /// What has to be agreed to before nights ask it; `None` when nothing has, or when it cannot be used.
    pub terms: Option<Terms>,
    /// Whether that was done.
    pub terms_accepted: bool,
    /// Whether it says how much of the plan is left, so that spends.reserve_percent can be kept.
    pub tells_allowance: bool,
    /// Settings that must be given before it can be used.
    pub needs: &'static [&'static str],
    /// What its key is usually called; empty for one that takes none or is signed in to elsewhere.
    pub key: &'static str,
}

/// Lists every backend and what is missing for it. Asks no model; of servers on this computer it is looked
/// whether they are there.
pub async fn list(app: &App, input: ListInput) -> Result<Vec<BackendRow>, Problem> {
    let around = Around::with_judge(app, input.project).await?;
    let mut rows = Vec::new();
    for entry in catalogue::BACKENDS {
        let uses = around.uses_of(entry.name);
        let sides: Vec<Side> = uses.iter().flat_map(|used| used.sides.clone()).collect();
        let made = around.make(entry.name, uses.first().copied()).await;
        let (backend, problem) = match made {
            Ok(backend) => {
                let silent = local::silence(&backend.id().address).await;
                (Some(backend), silent)
            }
            Err(problem) => (None, Some(problem)),
        };
        let id = backend.as_ref().map(|backend| backend.id());
        let terms = backend.as_ref().and_then(|backend| backend.terms());
        rows.push(BackendRow {
            name: entry.name.to_owned(),
            about: entry.about.to_owned(),
            sides: words(&sides),
            model: id.as_ref().map(|id| id.model.clone()).unwrap_or_default(),
            address: id.map(|id| id.address).unwrap_or_default(),
            problem,
            terms_accepted: terms
                .as_ref()
                .is_some_and(|terms| terms.accepted(&around.settings.terms_accepted)),
            terms,
            tells_allowance: backend.is_some_and(|backend| backend.tells_allowance()),
            needs: entry.needs,
            key: entry.key,
        });
    }
    Ok(rows)
}

/// What nights may ask from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "BackendAcceptInput", optional_fields = nullable))]
pub struct AcceptInput {
    /// The project whose settings hold; those of the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// The providers, as reports name them; those that a night would ask when empty.
    #[serde(default)]
    pub providers: Vec<String>,
}

/// What was agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "BackendsAccepted")
)]
pub struct Accepted {
    /// Every provider that nights may ask by themselves.
    pub accepted: Vec<String>,
    /// What was added to them now; only the names of providers that were named.
    pub added: Vec<Terms>,
    /// The user's settings file.
    pub file: PathBuf,
}

/// Notes in the user's settings that nights may ask providers by themselves.
///
/// Errors: `provider_unknown`, those of the settings and, when none or a server is named, `endpoint_…`.
pub async fn accept(app: &App, input: AcceptInput) -> Result<Accepted, Problem> {
    let mut added = Vec::new();
    if input.providers.is_empty() {
        let around = Around::with_judge(app, input.project.clone()).await?;
        for used in &around.used {
            added.extend(around.terms(&used.name, Some(used))?);
        }
    }
    for provider in &input.providers {
        match terms::of_provider(provider) {
            Some(terms) => added.push(terms),
            // The name of a backend stands for whoever it asks.
            None if catalogue::BACKENDS
                .iter()
                .any(|entry| entry.name == provider) =>
            {
                let around = Around::with_judge(app, input.project.clone()).await?;
                let uses = around.uses_of(provider);
                added.extend(around.terms(provider, uses.first().copied())?);
            }
            None => return Err(unknown_provider(provider)),
        }
    }
    let file = app.config().user;
    let known = Layers::below(&app.config(), Layer::Project, &app.invocation())?.terms_accepted;
    added.retain(|terms| !terms.accepted(&known));
    added.sort_by(|a, b| a.provider.cmp(&b.provider));
    added.dedup();
    let mut accepted = known;
    accepted.extend(added.iter().map(|terms| terms.provider.clone()));
    if !added.is_empty() {
        let below = Layers::below(&app.config(), Layer::User, &app.invocation())?;
        crate::config::change(app, &file, |before| {
            let list = accepted.join(",");
            skillopt_settings::set(before, &file, "models.terms_accepted", &list, &below)
        })?;
    }
    Ok(Accepted {
        accepted,
        added,
        file,
    })
}

fn unknown_provider(provider: &str) -> Problem {
    Problem::refused(
        "provider_unknown",
        format!(
            "There is no provider called \"{}\".",
            provider.escape_debug()
        ),
        "`skillopt backend list` names them; a server is BACKEND:HOST, for example anthropic:api.anthropic.com.",
    )
}

/// Which backend is tested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "BackendTestInput", optional_fields = nullable))]
pub struct TestInput {
    /// The project whose settings hold; that of the folder the user is in when empty.
    pub project: Option<PathBuf>,
    /// Its name; those that a night would use when empty.
    pub backend: Option<String>,
}

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "TestedBackend")
)]
pub struct Tested {
    /// Its name in the settings.
    pub backend: String,
    /// What it does in a night: `target`, `optimizer`, `judge`; empty when nothing.
    pub sides: Vec<String>,
    /// The model that was asked for.
    pub asked_model: String,
    /// Its address or program.
    pub address: String,
    /// What it answered; `None` when it did not, or when a person answers.
    pub trial: Option<Trial>,
    /// Why it cannot be used.
    pub problem: Option<Problem>,
}

/// Every backend that was tested.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(
    feature = "typescript",
    derive(ts_rs::TS),
    ts(rename = "BackendTested")
)]
pub struct TestOutput {
    /// Whether all of them work.
    pub works: bool,
    /// One for each.
    pub tested: Vec<Tested>,
}

/// Asks each backend one tiny question, by the path every call takes.
///
/// Errors: `backend_unknown`, and those of the settings; what is wrong with a backend is data.
pub async fn test(app: &App, input: TestInput) -> Result<Box<TestOutput>, Problem> {
    let around = Around::with_judge(app, input.project).await?;
    let mut tested = Vec::new();
    match input.backend {
        // Each is asked, also when sides are one backend with two models.
        None => {
            for used in &around.used {
                tested.push(around.test(&used.name, Some(used)).await?);
            }
        }
        Some(name) => {
            let name = known(&name)?;
            let uses = around.uses_of(&name);
            for used in &uses {
                tested.push(around.test(&name, Some(used)).await?);
            }
            if uses.is_empty() {
                tested.push(around.test(&name, None).await?);
            }
        }
    }
    let works = tested.iter().all(|one| one.problem.is_none());
    let answers = |used: &Used| {
        let mut of_it = tested.iter().filter(|one| one.backend == used.name);
        of_it.any(|one| one.trial.is_some())
    };
    if works && around.used.iter().all(answers) {
        mend(app, &around.settings)?;
    }
    Ok(Box::new(TestOutput { works, tested }))
}

/// Every backend of these settings has answered: whatever of them kept a night from getting through has ended,
/// however the user did that, for example with `codex login`. So it has for each project whose nights ask the
/// same.
fn mend(app: &App, settings: &Settings) -> Result<(), Problem> {
    // Flags are for this once; no night has them.
    if !app.flags.is_empty() {
        return Ok(());
    }
    let asked = asking(settings);
    let mut mended = false;
    for project in app.store.read(projects::list)? {
        // Settings that cannot be read are another need, which this does not end.
        let same = app
            .settings(Some(&project))
            .is_ok_and(|resolved| asking(&resolved.settings) == asked);
        if same {
            // Whoever is asked once by hand need not have been agreed to.
            let but = "terms_not_accepted";
            mended |= app
                .store
                .commit("mended", |tx| scheduled::mended(tx, Some(&project.id), but))?;
        }
    }
    if mended {
        crate::supervisor::look_again(app);
    }
    Ok(())
}

/// The settings that say who is asked, and how.
fn asking(settings: &Settings) -> Option<Map<String, Value>> {
    let Ok(Value::Object(mut all)) = serde_json::to_value(settings) else {
        return None;
    };
    all.retain(|key, _| key.starts_with("models."));
    Some(all)
}

/// Why a backend that the settings choose cannot be used as things are. Asks no model.
async fn missing(
    app: &App,
    project: Option<PathBuf>,
    name: &str,
) -> Result<Option<Problem>, Problem> {
    let around = Around::with_judge(app, project).await?;
    let used = around.uses_of(name);
    Ok(around.make(name, used.first().copied()).await.err())
}

fn known(name: &str) -> Result<String, Problem> {
    let found = skillopt_settings::BACKENDS.word(name);
    found.ok_or_else(|| {
        Problem::refused(
            "backend_unknown",
            format!("There is no backend called \"{}\".", name.escape_debug()),
            format!(
                "The backends are {}.",
                skillopt_settings::BACKENDS.words.join(", ")
            ),
        )
    })
}

fn words(sides: &[Side]) -> Vec<String> {
    sides.iter().map(|side| side.id().to_owned()).collect()
}

/// A backend of a night and what it does there.
struct Used {
    name: String,
    sides: Vec<Side>,
}

fn first_side(used: Option<&Used>) -> Option<Side> {
    used.and_then(|used| used.sides.first().copied())
}

/// What backends are made from.
struct Around<'a> {
    app: &'a App,
    settings: Settings,
    environment: &'a BTreeMap<String, String>,
    handoff: PathBuf,
    /// The backends a night would use, those that are one and the same once.
    used: Vec<Used>,
    /// All of them, where they had to be made to find a judge.
    roles: Option<Roles>,
}

/// The project that is meant, if it is registered, and the settings that hold there. A folder that is no
/// project, such as the home folder, has the user's settings.
fn settings_of(app: &App, project: Option<&Path>) -> Result<(Option<Project>, Settings), Problem> {
    let project = match project {
        Some(named) => app.known_project(Some(named))?,
        None => app.known_project(None).ok().flatten(),
    };
    let settings = app.settings(project.as_ref())?.settings;
    Ok((project, settings))
}

impl<'a> Around<'a> {
    /// The backends of a night, with the judge that one would find. Starts agents and asks servers only for
    /// what they can do.
    async fn with_judge(app: &'a App, project: Option<PathBuf>) -> Result<Self, Problem> {
        let (project, settings) = settings_of(app, project.as_deref())?;
        let id = project.as_ref().map_or("test", |project| &project.id);
        let mut around = Self {
            handoff: handoff_folder(&settings, &app.paths, id, &app.directory),
            environment: &app.environment,
            app,
            used: Roles::kinds(&settings)
                .into_iter()
                .map(|(name, sides)| Used { name, sides })
                .collect(),
            roles: None,
            settings,
        };
        around.find_judge().await;
        Ok(around)
    }

    /// Takes the judging from whoever the settings would give it to, when a night would find another judge.
    /// Without the backends of the night there is none to be found.
    async fn find_judge(&mut self) {
        if !judge::looked_for(&self.settings) {
            return;
        }
        let Ok(roles) = Roles::from_settings(&self.settings, &self.surroundings()).await else {
            return;
        };
        if let Some(judge) = judge::found(&self.settings, &roles) {
            for used in &mut self.used {
                used.sides.retain(|side| *side != Side::Judge);
            }
            self.used.retain(|used| !used.sides.is_empty());
            self.used.push(Used {
                name: judge.id().kind,
                sides: vec![Side::Judge],
            });
        }
        self.roles = Some(roles);
    }

    /// What `name` does in a night.
    fn uses_of(&self, name: &str) -> Vec<&Used> {
        self.used.iter().filter(|used| used.name == name).collect()
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            environment: self.environment,
            keyring: &self.app.keyring,
            handoff: self.handoff.clone(),
            agents: Some(self.app.paths.agents()),
            clock: Arc::clone(&self.app.clock),
            cancel: &self.app.cancel,
        }
    }

    /// `name` as a night uses it; or as it would be if it were chosen.
    async fn make(&self, name: &str, used: Option<&Used>) -> Result<Arc<dyn Backend>, Problem> {
        if let (Some(roles), Some(side)) = (&self.roles, first_side(used)) {
            return Ok(Arc::clone(roles.of(side)));
        }
        let (settings, side) = self.made_from(name, used);
        Roles::one_from_settings(&settings, side, &self.surroundings()).await
    }

    /// What has to be agreed to before nights ask it. It need not be usable yet.
    fn terms(&self, name: &str, used: Option<&Used>) -> Result<Option<Terms>, Problem> {
        if let (Some(roles), Some(side)) = (&self.roles, first_side(used)) {
            return Ok(roles.of(side).terms());
        }
        let (settings, side) = self.made_from(name, used);
        Roles::terms(&settings, side, self.environment)
    }

    /// The settings `name` is made from, and for which side.
    fn made_from(&self, name: &str, used: Option<&Used>) -> (Settings, Side) {
        match first_side(used) {
            Some(side) => (self.settings.clone(), side),
            None => (self.settings_for_another(name), Side::Target),
        }
    }

    /// The settings with another backend. What belongs to the configured one (its address, its key, its
    /// model) is not given to another company, unless the user says so here and now.
    fn settings_for_another(&self, name: &str) -> Settings {
        let given = |row: &Row| self.app.flags.iter().any(|(flag, _)| flag == row.flag);
        let mut settings = self.settings.clone();
        for row in choose::belonging().filter(|row| is_of_one_side(row) || !given(row)) {
            settings.reset(row);
        }
        name.clone_into(&mut settings.backend);
        settings
    }

    async fn test(&self, name: &str, used: Option<&Used>) -> Result<Tested, Problem> {
        let mut tested = Tested {
            backend: name.to_owned(),
            sides: used.map(|used| words(&used.sides)).unwrap_or_default(),
            asked_model: String::new(),
            address: String::new(),
            trial: None,
            problem: None,
        };
        let backend = match self.make(name, used).await {
            Ok(backend) => backend,
            Err(problem) => {
                tested.problem = Some(problem);
                return Ok(tested);
            }
        };
        let id = backend.id();
        tested.asked_model = id.model;
        tested.address = id.address;
        // A person answers in their own time; the question would only lie about.
        if backend.handoff().is_some() {
            tested.address = self.handoff.display().to_string();
            return Ok(tested);
        }
        let mut options =
            PathOptions::from_settings(&self.settings, Prices::load(&self.app.paths.config)?);
        // The question is put as an attempt is, in the manner of the side that is tested.
        let side = first_side(used);
        options.sides.target = *options.sides.get(side.unwrap_or(Side::Target));
        let clock = Arc::clone(&self.app.clock);
        match trial::ask(backend, options, clock, &self.app.cancel).await? {
            Ok(trial) => tested.trial = Some(trial),
            Err(error) => tested.problem = Some(error.problem()),
        }
        Ok(tested)
    }
}
