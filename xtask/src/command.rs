//! Running other programs from the root of the workspace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use crate::Stop;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    // This crate lies directly below the root.
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// Where everything that is built goes.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Names, without their ending and sorted, of the Rust files that lie directly in a folder.
pub(crate) fn rust_files(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| {
            path.file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
        })
        .collect();
    names.sort();
    Ok(names)
}

/// Whether warnings are errors: on CI, not on a user's newer compiler.
pub(crate) fn on_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}

/// A command that says what it is about to do, and ends everything when it fails.
pub(crate) struct Step(Command);

/// `program` with `arguments`, run in the root of the workspace.
pub(crate) fn program<S: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = S>,
) -> Step {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    // `cargo run` describes this very crate to us. Handed on, these would describe the wrong crate
    // to build scripts and tests, and make cargo build things again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_")
            || text.starts_with("CARGO_MANIFEST_")
            || text.starts_with("CARGO_BIN_")
            || matches!(
                text.as_ref(),
                "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE" | "OUT_DIR"
            )
        {
            command.env_remove(&name);
        }
    }
    Step(command)
}

/// What a program that npm installed is called: on Windows it is a script.
pub(crate) fn of_npm(name: &str) -> String {
    if cfg!(windows) {
        format!("{name}.cmd")
    } else {
        name.to_owned()
    }
}

/// Cargo with `arguments`.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Step {
    program(
        std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()),
        arguments,
    )
}

impl Step {
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.0.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Changes the command in a way that this type has no word for.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Command)) -> Self {
        change(&mut self.0);
        self
    }

    /// Runs it under a heading, with its output shown.
    pub(crate) fn run(mut self, heading: &str) -> Result<(), Stop> {
        say(heading);
        let status = self.0.status().map_err(|error| self.cannot_start(&error))?;
        end(heading, status)
    }

    /// Runs it under a heading; its output is shown only if it fails.
    pub(crate) fn run_quietly(mut self, heading: &str) -> Result<String, Stop> {
        say(heading);
        let output = self
            .0
            .stdin(Stdio::null())
            .output()
            .map_err(|error| self.cannot_start(&error))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            eprint!("{text}{}", String::from_utf8_lossy(&output.stderr));
        }
        end(heading, output.status)?;
        Ok(text)
    }

    /// Whether it can be run and ends well; says nothing.
    pub(crate) fn succeeds(mut self) -> bool {
        self.0
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// The command itself, for callers that read its output while it runs.
    pub(crate) fn into_command(self) -> Command {
        self.0
    }

    fn cannot_start(&self, error: &std::io::Error) -> Stop {
        Stop::Because(format!(
            "cannot start {}: {error}",
            self.0.get_program().to_string_lossy()
        ))
    }
}

/// The heading of a step, on standard error, where cargo writes too.
pub(crate) fn say(heading: &str) {
    eprintln!("── {heading}");
}

fn end(heading: &str, status: ExitStatus) -> Result<(), Stop> {
    if status.success() {
        return Ok(());
    }
    eprintln!("── {heading}: failed ({status})");
    Err(Stop::Shown)
}
