//! A home folder of its own for every test, and the program run in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::stub_server::StubServer;

/// A temporary home with the sample project of `skillopt demo`, before or after its night.
#[derive(Debug)]
pub struct Home {
    root: TempDir,
    program: PathBuf,
    variables: Vec<(String, String)>,
}

/// What a run printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; -1 when the process was ended by a signal.
    pub code: i32,
    /// stdout.
    pub out: String,
    /// stderr.
    pub err: String,
}

impl Ran {
    /// stdout as one JSON document.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Home {
    /// An empty home with an empty project in `work/app`.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    #[must_use]
    pub fn empty(program: &str) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(root.path().join("work/customer-letters")).expect("a folder");
        Self {
            root,
            program: PathBuf::from(program),
            variables: Vec::new(),
        }
    }

    /// A home with the sample sessions; its demonstration night has run, its data is deleted again, so
    /// that the next night is the first.
    ///
    /// # Panics
    /// When the demonstration fails.
    #[must_use]
    pub fn with_sample(program: &str) -> Self {
        let home = Self::after_demo(program);
        std::fs::remove_dir_all(home.data()).expect("the data of the demonstration");
        home
    }

    /// A home in which the demonstration has just run: one proposal waits.
    ///
    /// # Panics
    /// When the demonstration fails.
    #[must_use]
    pub fn after_demo(program: &str) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let home = Self {
            root,
            program: PathBuf::from(program),
            variables: Vec::new(),
        };
        let folder = home.path().join("sample");
        let ran = home.command_in(
            home.path(),
            &["demo", "--folder", folder.to_str().expect("text")],
        );
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        home
    }

    /// The home folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// The sample's home folder, or this one when there is none.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        let sample = self.path().join("sample");
        if sample.is_dir() {
            sample
        } else {
            self.path().to_owned()
        }
    }

    /// The project.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.home().join("work/customer-letters")
    }

    /// Our data folder.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.home().join("skillopt-data")
    }

    /// The skill a night of the sample improves.
    #[must_use]
    pub fn skill(&self) -> PathBuf {
        self.home()
            .join(".claude/skills/skillopt-sleep-learned/SKILL.md")
    }

    /// Sets a variable for every further run.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Runs the program in the project.
    #[must_use]
    pub fn run(&self, words: &[&str]) -> Ran {
        self.command_in(&self.project(), words)
    }

    /// Runs a night against an OpenAI-compatible server, with literal mining only, under `--json`.
    #[must_use]
    pub fn night_against(&self, server: &StubServer, more: &[&str]) -> Ran {
        let words = Self::words_against(server, more);
        self.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The words of such a night.
    #[must_use]
    pub fn words_against(server: &StubServer, more: &[&str]) -> Vec<String> {
        let endpoint = format!("--endpoint={}", server.url());
        let words = [
            "sleep",
            "run",
            "--backend=openai_compatible",
            "--model=stub",
            "--model-miner=false",
            "--json",
            &endpoint,
        ];
        [&words, more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect()
    }

    /// Runs the program with further variables.
    #[must_use]
    pub fn run_with(&self, words: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.command(&self.project(), words);
        command.envs(variables.iter().copied());
        command.output().expect("the program starts").into()
    }

    /// Runs the program in the project with `out` as its stdout; what arrives there is not read.
    #[must_use]
    pub fn run_into(&self, words: &[&str], out: impl Into<Stdio>) -> Ran {
        let mut command = self.command(&self.project(), words);
        command.stdout(out).stderr(Stdio::piped());
        let child = command.spawn().expect("the program starts");
        child.wait_with_output().expect("the program ends").into()
    }

    /// Starts the program in the project, its outputs piped, and does not wait for it.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(&self, words: &[&str]) -> Child {
        self.command(&self.project(), words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// Runs the program in the project with `input` on its standard input.
    #[must_use]
    pub fn run_given(&self, words: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(&self.project(), words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("its input");
        // It may want none of it.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        child.wait_with_output().expect("the program ends").into()
    }

    /// Runs the program in another folder.
    #[must_use]
    pub fn run_in(&self, folder: &Path, words: &[&str]) -> Ran {
        self.command_in(folder, words)
    }

    fn command_in(&self, folder: &Path, words: &[&str]) -> Ran {
        self.command(folder, words)
            .output()
            .expect("the program starts")
            .into()
    }

    fn command(&self, folder: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .current_dir(folder)
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .env("SKILLOPT_DATA_DIR", self.data())
            .env("SKILLOPT_CONFIG_DIR", self.home().join("skillopt-config"))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }
}
