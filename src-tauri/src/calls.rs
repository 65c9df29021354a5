//! What the front end can call. Everything that is a command of the app is one call.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde_json::Value;
use skillopt_app::Problem;
use skillopt_app::commands::{self, Output};
use skillopt_app::context::App;
use skillopt_app::types::Keyring;
use skillopt_app::window::{Changed, OpenWindow, ShellCall, ShellOutput};
use tauri::{AppHandle, State};

use crate::asked;
use crate::autostart;
use crate::folders;
use crate::place::Place;
use crate::surroundings;
use crate::windows;

/// What the windows of this process work with.
pub(crate) struct Shell(Mutex<Result<App, Problem>>);

impl Shell {
    /// Opens the store. When that cannot be done, every call tries again, and says why.
    pub(crate) fn open() -> Self {
        Self(Mutex::new(surroundings::app()))
    }

    /// What one command works with. Blocks on the disk while the store could not be opened yet, or when the
    /// data was moved.
    fn app(&self) -> Result<App, Problem> {
        let mut opened = self.opened();
        follow_the_data(&mut opened);
        if opened.is_err() {
            *opened = surroundings::app();
        }
        let app = opened.as_ref().map_err(Clone::clone)?.clone();
        Ok(App {
            // It is read once by each that has it: a key that was kept meanwhile is found by the next command.
            keyring: Keyring::of_the_system(),
            ..app
        })
    }

    /// What others may have changed, at this moment; nothing while the store could not be opened.
    pub(crate) fn seen(&self) -> Option<Seen> {
        let mut opened = self.opened();
        follow_the_data(&mut opened);
        let app = opened.as_ref().ok()?;
        let settings = app.config();
        Some(Seen {
            data: app.paths.data.clone(),
            store: app.store.version().ok(),
            // Settings are replaced as a whole, which their folder shows; an editor may write into them.
            settings: [
                settings.user.parent(),
                Some(settings.user.as_path()),
                Some(settings.projects.as_path()),
            ]
            .map(|path| path?.metadata().ok()?.modified().ok()),
        })
    }

    fn opened(&self) -> MutexGuard<'_, Result<App, Problem>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The data may have been moved: what was opened is then a copy that nobody looks at. What cannot be opened in
/// its new place is tried again, and says why.
fn follow_the_data(opened: &mut Result<App, Problem>) {
    let Ok(app) = opened else { return };
    if app.has_moved() {
        *opened = app.followed();
    }
}

/// What other processes change, by signs that are quick to read: compared, it says that they did.
#[derive(PartialEq, Eq)]
pub(crate) struct Seen {
    /// Where the data is.
    pub(crate) data: PathBuf,
    /// Differs after another process has written to the store.
    pub(crate) store: Option<i64>,
    /// When the files of settings were written.
    pub(crate) settings: [Option<SystemTime>; 3],
}

/// Carries out a command, given as `{"command": name, "input": …}`.
#[tauri::command]
pub(crate) async fn execute(
    app: AppHandle,
    shell: State<'_, Arc<Shell>>,
    command: Value,
) -> Result<Output, Problem> {
    let command = asked::read(command)?;
    let writes = command.writes();
    let shell = Arc::clone(&shell);
    let runtime = tokio::runtime::Handle::current();
    // Commands read files, and do not move between threads while they wait.
    let done = tokio::task::spawn_blocking(move || {
        let app = shell.app()?;
        runtime.block_on(commands::execute(&app, command))
    })
    .await;
    if writes {
        // The store tells a connection of what others write, never of what it wrote itself.
        windows::tell(&app, Changed::Everything);
    }
    done.map_err(|error| {
        Problem::temporary(
            "command_failed",
            format!("The command ended unexpectedly: {error}."),
            "Try again; `skillopt` can do the same.",
        )
    })?
}

/// Carries out a call that is no command, given as `{"call": name, "input": …}`.
#[tauri::command]
pub(crate) async fn shell(app: AppHandle, call: Value) -> Result<ShellOutput, Problem> {
    let call = serde_json::from_value(call).map_err(|error| asked::unreadable(&error))?;
    match call {
        ShellCall::OpenWindow(asked) => open_window(&app, asked).map(ShellOutput::OpenWindow),
        ShellCall::OpenFolder(asked) => folders::open(asked.folder).map(ShellOutput::OpenFolder),
        ShellCall::Autostart(asked) => autostart::is_on_after(asked.on).map(ShellOutput::Autostart),
    }
}

fn open_window(app: &AppHandle, asked: OpenWindow) -> Result<(), Problem> {
    let place = Place::asked_for(asked).map_err(|_| {
        Problem::permanent(
            "window_unknown",
            "There is no such window.",
            "Open the overview and go on from there.",
        )
    })?;
    windows::show(app, &place).map_err(|error| {
        Problem::temporary(
            "window_failed",
            format!("The window cannot be opened: {error}."),
            "Close other windows and try again; `skillopt` can do the same.",
        )
    })
}
