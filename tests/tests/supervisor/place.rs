//! A home, a clock that is set by hand, and waiting for what the supervisor says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use skillopt_app::context::App;
use skillopt_app::supervisor::{
    Handle, Launch, ProjectState, Supervising, Supervisor, SupervisorState,
};
use skillopt_core::Instant;
use skillopt_store::nights::{self, Night};
use skillopt_store::scheduled::{self, ScheduledNight};
use skillopt_store::{FixedClock, projects};
use skillopt_tests::home::Home;

use super::PROGRAM;

/// So long a test waits for what must come.
pub(super) const PATIENCE: Duration = Duration::from_secs(240);

/// A home with its clock.
pub(super) struct Place {
    pub(super) home: Home,
    pub(super) clock: Arc<FixedClock>,
    pub(super) settings: Vec<(String, String)>,
}

impl Place {
    /// With the sample's sessions, early on a day of the past; nights are due at 03:17 UTC.
    pub(super) fn new() -> Self {
        let mut place = Self {
            home: Home::with_sample(PROGRAM),
            clock: Arc::new(FixedClock::new(at("2026-06-10T02:00:00Z"))),
            settings: Vec::new(),
        };
        place.set("TIME_ZONE", "UTC");
        place.set("RANDOM_DELAY_MINUTES", "0");
        place.set("UNMETERED_ONLY", "false");
        place.set("BATTERY_AT_LEAST", "0");
        place.set("KEEP_AWAKE", "false");
        place
    }

    /// A computer on battery, whose nights wait below a half; gives what sets how full it is, in percent.
    pub(super) fn battery(&mut self) -> impl Fn(&str) + use<> {
        let sys = self.home.path().join("sys");
        let supply = sys.join("class/power_supply/BAT0");
        std::fs::create_dir_all(&supply).expect("a folder");
        let write = move |file: &str, text: &str| {
            std::fs::write(supply.join(file), text).expect("a file");
        };
        write("type", "Battery");
        write("status", "Discharging");
        let sys = sys.to_str().expect("text").to_owned();
        self.settings.push(("SYSFS_PATH".to_owned(), sys));
        self.set("BATTERY_AT_LEAST", "50");
        move |percent| write("capacity", percent)
    }

    pub(super) fn set(&mut self, field: &str, value: &str) {
        let name = format!("SKILLOPT_{field}");
        self.settings.retain(|(known, _)| *known != name);
        self.settings.push((name, value.to_owned()));
    }

    pub(super) fn app(&self) -> App {
        let mut environment: BTreeMap<String, String> = [
            ("HOME", self.home.home()),
            ("PATH", PathBuf::from("/usr/bin:/bin")),
            ("SKILLOPT_DATA_DIR", self.home.data()),
            (
                "SKILLOPT_CONFIG_DIR",
                self.home.home().join("skillopt-config"),
            ),
        ]
        .into_iter()
        .map(|(name, path)| (name.to_owned(), path.to_str().expect("text").to_owned()))
        .collect();
        // There is no system bus for a test.
        environment.insert(
            "DBUS_SYSTEM_BUS_ADDRESS".to_owned(),
            "unix:path=/nowhere/bus".to_owned(),
        );
        environment.extend(self.settings.iter().cloned());
        App::open(environment, self.home.project(), self.clock.clone()).expect("the store opens")
    }

    /// Registers the sample's project; its id.
    pub(super) fn register(&self) -> String {
        self.register_at(&self.home.project())
    }

    pub(super) fn register_at(&self, folder: &Path) -> String {
        std::fs::create_dir_all(folder).expect("a folder");
        let app = self.app();
        let project = app
            .store
            .commit("register", |tx| projects::register(tx, folder));
        project.expect("a project").id
    }

    pub(super) fn start(&self) -> Handle {
        Supervisor::start(self.app(), launch(PROGRAM))
    }

    /// Sets the clock, and lets the supervisor look.
    pub(super) fn go_to(&self, supervisor: &Handle, time: &str) {
        self.clock.set(at(time));
        supervisor.poke();
    }

    pub(super) fn rows(&self, project: &str) -> Vec<ScheduledNight> {
        let rows = self
            .app()
            .store
            .read(|db| scheduled::list(db, project, 100));
        rows.expect("rows")
    }

    pub(super) fn nights(&self, project: &str) -> Vec<Night> {
        let nights = self
            .app()
            .store
            .read(|db| nights::list(db, Some(project), 100));
        nights.expect("nights")
    }
}

pub(super) fn at(text: &str) -> Instant {
    text.parse().expect("an instant")
}

pub(super) fn launch(program: &str) -> Launch {
    Launch {
        program: program.into(),
        arguments: ["sleep", "run", "--json", "--request"]
            .map(Into::into)
            .to_vec(),
    }
}

/// Waits until the state is as wanted, and gives it.
pub(super) async fn until(
    supervisor: &Handle,
    wanted: impl FnMut(&SupervisorState) -> bool,
) -> SupervisorState {
    let mut state = supervisor.state();
    let found = tokio::time::timeout(PATIENCE, state.wait_for(wanted)).await;
    match found {
        Ok(found) => found.expect("the supervisor runs").clone(),
        Err(_) => panic!("it never came to that: {:#?}", supervisor.state().borrow()),
    }
}

pub(super) fn only(state: &SupervisorState) -> &ProjectState {
    assert_eq!(state.projects.len(), 1);
    &state.projects[0]
}

pub(super) fn is_here(state: &SupervisorState) -> bool {
    state.supervising == Supervising::Here
}

pub(super) fn has_ended(state: &SupervisorState) -> bool {
    is_here(state) && only(state).running.is_none() && only(state).last.is_some()
}
