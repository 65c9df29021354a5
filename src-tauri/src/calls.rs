//! What the front end can call. Everything that is a command of the app is one call.

use std::sync::Arc;

use serde_json::Value;
use skillopt_app::Problem;
use skillopt_app::commands::{self, Command, Output};
use skillopt_app::context::App;
use tauri::{AppHandle, State};

use crate::autostart;
use crate::folders::{self, Folder};
use crate::place::Place;
use crate::surroundings;
use crate::windows;

/// What the windows of this process work with.
pub(crate) struct Shell(Result<App, Problem>);

impl Shell {
    /// Opens the store. When that cannot be done, every call says why.
    pub(crate) fn open() -> Self {
        Self(surroundings::app())
    }

    fn app(&self) -> Result<&App, Problem> {
        self.0.as_ref().map_err(Clone::clone)
    }

    /// Changes whenever another process has written to the store.
    pub(crate) fn version(&self) -> Option<i64> {
        self.0.as_ref().ok()?.store.version().ok()
    }
}

/// Carries out a command, given as `{"command": name, "input": …}`.
#[tauri::command]
pub(crate) async fn execute(
    shell: State<'_, Arc<Shell>>,
    command: Value,
) -> Result<Output, Problem> {
    let command: Command =
        serde_json::from_value(command).map_err(|error| windows::unreadable(&error))?;
    let app = shell.app()?.clone();
    let runtime = tokio::runtime::Handle::current();
    // Commands read files, and do not move between threads while they wait.
    let done = tokio::task::spawn_blocking(move || {
        let output = runtime.block_on(commands::execute(&app, command));
        skillopt_app::supervisor::look_again(&app);
        output
    });
    done.await.map_err(|error| {
        Problem::temporary(
            "command_failed",
            format!("The command ended unexpectedly: {error}."),
            "Try again; `skillopt` can do the same.",
        )
    })?
}

/// Opens a window: `review` at a proposal, `project` and `handoff` of a project, `night` of a night.
#[tauri::command]
pub(crate) async fn open_window(
    app: AppHandle,
    window: String,
    project: Option<String>,
    proposal: Option<String>,
    night: Option<i64>,
) -> Result<(), Problem> {
    let id = proposal
        .or(project)
        .or_else(|| night.map(|night| night.to_string()));
    let name = id.map_or_else(|| window.clone(), |id| format!("{window}/{id}"));
    let place: Place = name.parse().map_err(|_| {
        Problem::permanent(
            "window_unknown",
            "There is no such window.",
            "Open the overview and go on from there.",
        )
    })?;
    windows::show(&app, &place).map_err(|error| {
        Problem::temporary(
            "window_failed",
            format!("The window cannot be opened: {error}."),
            "Close other windows and try again; `skillopt` can do the same.",
        )
    })
}

/// Opens one of our own folders in the file manager of the desktop.
#[tauri::command]
pub(crate) async fn open_folder(folder: Folder) -> Result<(), Problem> {
    folders::open(folder)
}

/// Whether the app starts with the session; with `on`, changes it first.
#[tauri::command]
pub(crate) async fn autostart(on: Option<bool>) -> Result<bool, Problem> {
    autostart::is_on_after(on)
}
