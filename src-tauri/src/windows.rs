//! The process of the windows: made when the first is asked for, gone with the last.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillopt_app::Problem;
use tauri::{AppHandle, Emitter, Manager, WebviewUrl, WebviewWindowBuilder};

use crate::calls::{self, Shell};
use crate::display::Display;
use crate::opened;
use crate::place::Place;

/// The one event the front end hears.
pub(crate) const EVENT: &str = "skillopt";
/// How often the store is asked whether another process has written.
const LOOK: Duration = Duration::from_millis(700);

/// What the tray sends to its windows: one JSON object per line on standard input.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromTray {
    /// Open this window, or bring it to the front.
    Open(String),
}

/// What the front end is told: to look again.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Told {
    /// Something in the store has changed.
    Changed,
}

/// Shows a window until the last one is closed.
pub(crate) fn run(first: Place, attached: bool) -> ExitCode {
    if !Display::here().is_there() {
        let problem = opened::no_display();
        eprintln!(
            "{}\n{}\n({})",
            problem.message, problem.guidance, problem.code
        );
        return ExitCode::from(1);
    }
    let shell = Arc::new(Shell::open());
    let built = tauri::Builder::default()
        .manage(Arc::clone(&shell))
        .invoke_handler(tauri::generate_handler![
            calls::execute,
            calls::open_window,
            calls::open_folder,
            calls::autostart,
        ])
        .setup(move |app| {
            show(app.handle(), &first)?;
            if attached {
                listen_to_the_tray(app.handle().clone());
            }
            tell_of_changes(app.handle().clone(), shell);
            Ok(())
        })
        .build(context());
    match built {
        Ok(app) => {
            let code = app.run_return(|_, _| {});
            ExitCode::from(u8::try_from(code).unwrap_or(1))
        }
        Err(error) => {
            eprintln!(
                "The window cannot be opened: {error}.\nUse `skillopt` until it can.\n(window_failed)"
            );
            ExitCode::from(1)
        }
    }
}

/// What was built in: pages, icon, name. The one place that has it, since it is large.
pub(crate) fn context() -> tauri::Context {
    tauri::generate_context!()
}

/// Opens a window, or brings it to the front when it is open.
pub(crate) fn show(app: &AppHandle, place: &Place) -> tauri::Result<()> {
    let label = place.label();
    if let Some(window) = app.get_webview_window(&label) {
        if let Place::Review(Some(_)) = place {
            // A place holds nothing but letters, digits, `-`, `_` and `/`.
            window.eval(format!("location.hash = '{}'", place.hash()))?;
        }
        window.unminimize()?;
        window.show()?;
        return window.set_focus();
    }
    let (width, height) = place.size();
    WebviewWindowBuilder::new(
        app,
        label,
        WebviewUrl::App(format!("index.html{}", place.hash()).into()),
    )
    .title("SkillOpt")
    .inner_size(width, height)
    .min_inner_size(560.0, 420.0)
    .build()?;
    Ok(())
}

fn listen_to_the_tray(app: AppHandle) {
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let Ok(FromTray::Open(text)) = serde_json::from_str(&line) else {
                continue;
            };
            let Ok(place) = text.parse::<Place>() else {
                continue;
            };
            let handle = app.clone();
            // Windows are made on the main thread.
            let shown = app.run_on_main_thread(move || match show(&handle, &place) {
                Ok(()) => opened::say_shown(&place),
                Err(error) => eprintln!("A window cannot be opened: {error}."),
            });
            if shown.is_err() {
                return;
            }
        }
        // The tray has gone, and its windows go with it.
        app.exit(0);
    });
}

/// Tells the front end when another process has written to the store.
fn tell_of_changes(app: AppHandle, shell: Arc<Shell>) {
    std::thread::spawn(move || {
        let mut seen = shell.version();
        loop {
            std::thread::sleep(LOOK);
            let now = shell.version();
            if now != seen {
                seen = now;
                if app.emit(EVENT, Told::Changed).is_err() {
                    return;
                }
            }
        }
    });
}

/// A problem when a command cannot even be read.
pub(crate) fn unreadable(error: &serde_json::Error) -> Problem {
    Problem::permanent(
        "command_unreadable",
        format!("The window asked for something this program does not know: {error}."),
        "Close the window and open it again; if that does not help, install the program again.",
    )
}
