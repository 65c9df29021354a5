//! What every command works with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillopt_core::Problem;
use skillopt_models::{CancelToken, Keyring};
use skillopt_settings::{ConfigPaths, Invocation, Layers, ProjectRef, Resolved, Settings};
use skillopt_sleep::context::{Context as NightContext, Listener};
use skillopt_store::adoption::{self, Recovered};
use skillopt_store::projects::{self, Project};
use skillopt_store::{Clock, Connection, Fault, Paths, Store};

/// The store, the folders, the clock and the flags of one invocation.
#[derive(Clone)]
pub struct App {
    /// The store.
    pub store: Arc<Store>,
    /// Our folders.
    pub paths: Paths,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The environment of the process.
    pub environment: Arc<BTreeMap<String, String>>,
    /// Where a key is looked for that the environment does not have; nowhere unless it is set.
    pub keyring: Keyring,
    /// The user's home folder.
    pub home: PathBuf,
    /// The folder the user is in.
    pub directory: PathBuf,
    /// Settings given on the command line, as `(flag, text)`.
    pub flags: Vec<(String, String)>,
    /// Raised to stop.
    pub cancel: CancelToken,
    /// Told about progress.
    pub listener: Listener,
    /// Why the store of this environment could not be opened; then `store` is an empty one in memory.
    pub unopened: Option<Problem>,
    /// Adoptions a dead process left half-written, which were undone when the store was opened.
    pub recovered: Vec<Recovered>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

impl App {
    /// Opens the store of this environment, and undoes what a dead process left half-written.
    ///
    /// Errors: `home_unknown`, and those of [`Store::open`].
    pub fn open(
        environment: BTreeMap<String, String>,
        directory: PathBuf,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Problem> {
        let paths = Paths::from_env(&environment)?;
        let store = Store::open(&paths, Arc::clone(&clock))?;
        let recovered = adoption::recover(&store, &paths)?;
        let app = Self::over(store, environment, directory, clock)?;
        Ok(Self { recovered, ..app })
    }

    /// A context for what must work when the store cannot be opened, or must not be: saying what is
    /// wrong, and going on from a copy. Nothing that is written to its store stays.
    ///
    /// Errors: `home_unknown`, `path_not_absolute`.
    pub fn apart(
        environment: BTreeMap<String, String>,
        directory: PathBuf,
        clock: Arc<dyn Clock>,
        why: Option<Problem>,
    ) -> Result<Self, Problem> {
        let store = Store::in_memory(Arc::clone(&clock))?;
        let app = Self::over(store, environment, directory, clock)?;
        Ok(Self {
            unopened: why,
            ..app
        })
    }

    /// Whether the data is somewhere else by now: what was opened is then a copy that nobody looks at.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        Paths::from_env(&self.environment).is_ok_and(|paths| paths.data != self.paths.data)
    }

    /// The same context over the data where they are now. Errors as [`open`](Self::open).
    pub fn followed(&self) -> Result<Self, Problem> {
        let opened = Self::open(
            (*self.environment).clone(),
            self.directory.clone(),
            Arc::clone(&self.clock),
        )?;
        Ok(Self {
            store: opened.store,
            paths: opened.paths,
            recovered: opened.recovered,
            ..self.clone()
        })
    }

    fn over(
        store: Store,
        environment: BTreeMap<String, String>,
        directory: PathBuf,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Problem> {
        Ok(Self {
            store: Arc::new(store),
            paths: Paths::from_env(&environment)?,
            clock,
            home: home(&environment)?,
            environment: Arc::new(environment),
            keyring: Keyring::nowhere(),
            directory,
            flags: Vec::new(),
            cancel: CancelToken::new(),
            listener: Arc::new(|_| {}),
            unopened: None,
            recovered: Vec::new(),
        })
    }

    /// The settings that hold for a project, or for none.
    pub fn settings(&self, project: Option<&Project>) -> Result<Resolved, Problem> {
        let project = project.map(|project| ProjectRef {
            id: project.id.clone(),
            root: PathBuf::from(&project.root),
        });
        Layers::load(&self.config(), project.as_ref(), &self.invocation())
    }

    /// Where and how this command was given, for reading settings.
    #[must_use]
    pub fn invocation(&self) -> Invocation<'_> {
        Invocation {
            environment: &self.environment,
            flags: &self.flags,
            home: &self.home,
            directory: &self.directory,
        }
    }

    /// Where the user's settings files are.
    #[must_use]
    pub fn config(&self) -> ConfigPaths {
        ConfigPaths::at(&self.paths.config)
    }

    /// The project a command is about: the folder named, else the one the user is in. It is registered
    /// when it is new.
    ///
    /// Errors: `project_folder_missing`, `project_is_home`, `project_removed`.
    pub fn project(&self, named: Option<&Path>) -> Result<Project, Problem> {
        let root = self.project_root(named)?;
        self.store.commit("register project", |tx| {
            projects::find_or_register(tx, &root)
        })
    }

    /// The project if it is registered; nothing is written.
    pub fn known_project(&self, named: Option<&Path>) -> Result<Option<Project>, Problem> {
        let root = self.project_root(named)?;
        self.store.read(|db| projects::find(db, &root))
    }

    /// The project of a command that registers none.
    ///
    /// Errors: `project_unknown`, `project_is_home`.
    pub(crate) fn registered(&self, named: Option<&Path>) -> Result<Project, Problem> {
        self.known_project(named)?
            .ok_or_else(crate::project::not_registered)
    }

    /// What `list` gives for every project (`None`), or for one; nothing for a folder that is not registered.
    pub(crate) fn listed<T>(
        &self,
        named: Option<&Path>,
        everywhere: bool,
        list: impl FnOnce(&Connection, Option<&str>) -> Result<Vec<T>, Fault>,
    ) -> Result<Vec<T>, Problem> {
        if everywhere {
            return self.store.read(|db| list(db, None));
        }
        match self.known_project(named)? {
            Some(project) => self.store.read(|db| list(db, Some(&project.id))),
            None => Ok(Vec::new()),
        }
    }

    /// The project a command only looks at: the registered one, else what would be registered. Nothing
    /// is written.
    ///
    /// Errors: `project_folder_missing`, `project_is_home`.
    pub fn looked_at(&self, named: Option<&Path>) -> Result<Project, Problem> {
        match self.known_project(named)? {
            Some(project) => Ok(project),
            None => projects::unregistered(&self.project_root(named)?, self.clock.now()),
        }
    }

    /// The folder a command is about. Error: `project_is_home`.
    pub(crate) fn project_root(&self, named: Option<&Path>) -> Result<PathBuf, Problem> {
        let root = named.map_or_else(
            || self.directory.clone(),
            |named| self.directory.join(named),
        );
        let is_home = root
            .canonicalize()
            .ok()
            .zip(self.home.canonicalize().ok())
            .is_some_and(|(a, b)| a == b);
        if is_home || root.parent().is_none() {
            return Err(Problem::refused(
                "project_is_home",
                format!(
                    "{} is not a project: every session would belong to it.",
                    root.display()
                ),
                "Go into a project's folder, or name one with --project.",
            ));
        }
        Ok(root)
    }

    /// What a night of this project works with. Warnings about settings are told as notes.
    pub fn night(&self, project: Project) -> Result<NightContext, Problem> {
        let context = self.untold_night(project)?;
        for warning in &context.warnings {
            (self.listener)(&skillopt_sleep::context::Progress::Note(warning.clone()));
        }
        Ok(context)
    }

    /// The same for a command whose output has a place for these warnings, so that they are told to programs as
    /// well, and once.
    pub(crate) fn untold_night(&self, project: Project) -> Result<NightContext, Problem> {
        let resolved = self.settings(Some(&project))?;
        let warnings = resolved.warnings.into_iter();
        Ok(NightContext {
            warnings: warnings.map(|warning| warning.message).collect(),
            ..self.night_under(project, resolved.settings)
        })
    }

    /// What works on a project under these settings. Taking back needs none of the user's: a broken file
    /// must not stand in its way.
    pub(crate) fn night_under(&self, project: Project, settings: Settings) -> NightContext {
        NightContext {
            store: Arc::clone(&self.store),
            paths: self.paths.clone(),
            clock: Arc::clone(&self.clock),
            finish_at: crate::supervisor::finish_at(&settings, self.clock.now()),
            settings,
            warnings: Vec::new(),
            project,
            environment: Arc::clone(&self.environment),
            keyring: self.keyring.clone(),
            home: self.home.clone(),
            cancel: self.cancel.clone(),
            listener: Arc::clone(&self.listener),
        }
    }
}

/// The user's home folder.
fn home(environment: &BTreeMap<String, String>) -> Result<PathBuf, Problem> {
    ["HOME", "USERPROFILE"]
        .iter()
        .find_map(|name| environment.get(*name).filter(|value| !value.is_empty()))
        .map(PathBuf::from)
        .ok_or_else(|| {
            Problem::permanent(
                "home_unknown",
                "Your home folder is not known.",
                "Set the variable HOME.",
            )
        })
}
