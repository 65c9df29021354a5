//! Somebody with a home of their own, and the app they run.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use skillopt_app::commands::{self, Command as Asked, Output};
use skillopt_app::context::App;
use skillopt_app::demo::DemoInput;
use skillopt_app::project::Which;
use skillopt_app::types::SystemClock;
use skillopt_tests::desktop::{WebDriver, until};
use skillopt_tests::session::{Screen, Session};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-desktop");
pub(crate) const PROJECT: &str = "customer-letters";

/// Somebody with the sample sessions, a registered project, and no night yet.
pub(crate) struct Person {
    pub(crate) folder: TempDir,
    /// The app they start.
    pub(crate) program: PathBuf,
}

impl Person {
    pub(crate) fn new() -> Self {
        let person = Self {
            folder: tempfile::tempdir().unwrap(),
            program: PROGRAM.into(),
        };
        let environment = [(
            "HOME".to_owned(),
            person.folder.path().to_str().unwrap().to_owned(),
        )]
        .into();
        let apart = App::apart(
            environment,
            person.folder.path().to_owned(),
            Arc::new(SystemClock),
            None,
        )
        .unwrap();
        let folder = Some(person.home());
        block_on(commands::execute(&apart, Asked::Demo(DemoInput { folder }))).unwrap();
        std::fs::remove_dir_all(person.home().join("skillopt-data")).unwrap();
        let _ = std::fs::remove_dir_all(person.skill().parent().unwrap());
        let app = person.app();
        let which = Which {
            project: Some(person.home().join("work").join(PROJECT)),
        };
        block_on(commands::execute(&app, Asked::ProjectAdd(which))).unwrap();
        person
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("sample")
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.home()
            .join(".claude/skills/skillopt-sleep-learned/SKILL.md")
    }

    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let home = self.home();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        vec![
            ("HOME".to_owned(), text(&home)),
            (
                "SKILLOPT_DATA_DIR".to_owned(),
                text(&home.join("skillopt-data")),
            ),
            (
                "SKILLOPT_CONFIG_DIR".to_owned(),
                text(&home.join("skillopt-config")),
            ),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("LANG".to_owned(), "en_GB.UTF-8".to_owned()),
        ]
    }

    pub(crate) fn app(&self) -> App {
        self.app_with(&self.variables())
    }

    /// What they work with in another environment.
    pub(crate) fn app_with(&self, variables: &[(String, String)]) -> App {
        let environment = variables.iter().cloned().collect();
        App::open(environment, self.home(), Arc::new(SystemClock)).unwrap()
    }

    pub(crate) fn set(&self, key: &str, value: &str) {
        let input = skillopt_app::config::SetInput {
            key: key.to_owned(),
            value: Some(value.to_owned()),
            for_project: false,
            project: None,
        };
        block_on(commands::execute(&self.app(), Asked::ConfigSet(input))).unwrap();
    }

    /// How the newest night ended, once it has.
    pub(crate) fn outcome(&self) -> Option<String> {
        let input = skillopt_app::night::ListInput {
            project: None,
            everywhere: true,
            limit: 1,
        };
        let Output::NightList(rows) =
            block_on(commands::execute(&self.app(), Asked::NightList(input))).unwrap()
        else {
            panic!("a list")
        };
        let row = serde_json::to_value(rows.first()?).unwrap();
        row["outcome"].as_str().map(str::to_owned)
    }

    /// The variables of a program they start in this session and on this screen.
    pub(crate) fn variables_on(&self, session: &Session, screen: &Screen) -> Vec<(String, String)> {
        let mut variables = self.variables();
        variables.extend(session.variables());
        variables.push(("DISPLAY".to_owned(), screen.display().to_owned()));
        variables
    }

    /// The app, and a hold of its first window.
    pub(crate) fn drive(&self, session: &Session, screen: &Screen, words: &[&str]) -> WebDriver {
        WebDriver::open(PROGRAM, words, &self.variables_on(session, screen))
    }

    /// The app, with a screen for its windows.
    pub(crate) fn start_on(&self, session: &Session, screen: &Screen, words: &[&str]) -> Running {
        self.start_with(session, words, &[("DISPLAY", screen.display())])
    }

    pub(crate) fn start(&self, session: &Session, words: &[&str]) -> Running {
        self.start_with(session, words, &[])
    }

    /// With further variables, for example a display.
    pub(crate) fn start_with(
        &self,
        session: &Session,
        words: &[&str],
        variables: &[(&str, &str)],
    ) -> Running {
        let log = std::fs::File::create(self.log()).unwrap();
        let child = Command::new(&self.program)
            .args(words)
            .env_clear()
            .envs(self.variables())
            .envs(session.variables())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Running(child)
    }

    /// What the app that was started last has said on its standard error.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap()
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("app.log")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("work").join(PROJECT)
    }

    /// The id of their project.
    pub(crate) fn project_id(&self) -> String {
        let listed = block_on(commands::execute(
            &self.app(),
            Asked::ProjectList(skillopt_app::Nothing {}),
        ));
        let Output::ProjectList(rows) = listed.unwrap() else {
            panic!("a list")
        };
        rows[0].project.id.clone()
    }

    /// Runs a night without the app: one proposal waits then.
    pub(crate) fn run_a_night(&self) {
        let input = skillopt_app::sleep::RunInput {
            project: Some(self.project()),
            ..Default::default()
        };
        block_on(commands::execute(&self.app(), Asked::SleepRun(input))).unwrap();
    }

    /// Asks whoever runs nights for one.
    pub(crate) fn ask_for_a_night(&self) {
        let which = Which {
            project: Some(self.project()),
        };
        block_on(commands::execute(&self.app(), Asked::NightStart(which))).unwrap();
    }
}

pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Asks it to end, as the session does when the user signs out, and waits for that.
    pub(crate) fn end(&mut self) -> i32 {
        self.signal("TERM");
        self.wait()
    }

    pub(crate) fn signal(&self, name: &str) {
        skillopt_tests::processes::signal(self.0.id(), name);
    }

    pub(crate) fn wait(&mut self) -> i32 {
        until("the end of the app", || self.0.try_wait().unwrap())
            .code()
            .unwrap_or(-1)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}
