//! The process of the windows: made when the first is asked for, gone with the last.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillopt_app::window::{BackendEvent, Changed};
use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, DragDropEvent, Emitter, Manager, Url, WebviewUrl, WebviewWindowBuilder, WindowEvent,
};

use crate::calls::{self, Shell};
use crate::display::Display;
use crate::opened;
use crate::place::Place;
use crate::words;

/// The one event the front end hears.
const EVENT: &str = "skillopt";
/// How long the windows may take to close once the tray has gone.
const CLOSING: Duration = Duration::from_secs(5);
/// How often it is looked whether another process has written.
const LOOK: Duration = Duration::from_millis(700);

/// What the tray sends to its windows: one JSON object per line on standard input.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromTray {
    /// Open this window, or bring it to the front.
    Open(String),
}

/// Whether the tray holds the other end of standard input and output.
#[derive(Clone, Copy)]
pub(crate) struct Attached(pub(crate) bool);

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
        .manage(Attached(attached))
        .invoke_handler(tauri::generate_handler![calls::execute, calls::shell,])
        .on_window_event(|window, event| {
            if let WindowEvent::DragDrop(event) = event
                && let Some(event) = of_files(event)
            {
                // A window that has just been closed takes none.
                let _ = window.emit_to(window.label(), EVENT, event);
            }
        })
        .setup(move |app| {
            show(app.handle(), &first)?;
            if app.state::<Attached>().0 {
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
        // One that is just being closed does not answer, and hears nothing either.
        window.is_visible()?;
        window.eval(place.going_there())?;
        window.unminimize()?;
        window.show()?;
        return window.set_focus();
    }
    let (width, height) = place.size();
    let window = WebviewWindowBuilder::new(
        app,
        label,
        WebviewUrl::App(format!("index.html{}{}", language(), place.hash()).into()),
    )
    .title("SkillOpt")
    .inner_size(width, height)
    .min_inner_size(480.0, 380.0)
    // The pages are all there is to see; whatever a text of a model leads to is not opened here.
    .on_navigation(is_ours)
    .on_new_window(|_, _| NewWindowResponse::Deny)
    // The page says where it is, for whoever chooses between windows.
    .on_document_title_changed(|window, title| {
        // A window without its name is of use all the same.
        let _ = window.set_title(&title);
    })
    .build()?;
    #[cfg(target_os = "linux")]
    crate::page::watch(&window)?;
    // Elsewhere nothing looks after it: Tauri does on macOS, and the web view of Windows says it in its place.
    #[cfg(not(target_os = "linux"))]
    drop(window);
    Ok(())
}

/// The part of a page's address that tells it the language of the session.
fn language() -> String {
    words::spoken().map_or_else(String::new, |spoken| format!("?language={spoken}"))
}

/// Whether an address is one of the pages that were built in.
fn is_ours(address: &Url) -> bool {
    match address.scheme() {
        "tauri" => address.host_str() == Some("localhost"),
        // How WebView2 names them.
        "http" | "https" => cfg!(windows) && address.host_str() == Some("tauri.localhost"),
        _ => false,
    }
}

/// What a page is told of files that another program lets go over it. A page is given names, not files: its
/// web view hands none over on Linux.
fn of_files(event: &DragDropEvent) -> Option<BackendEvent> {
    match event {
        DragDropEvent::Enter { .. } => Some(BackendEvent::FilesOver { over: true }),
        DragDropEvent::Leave => Some(BackendEvent::FilesOver { over: false }),
        DragDropEvent::Drop { paths, .. } => Some(BackendEvent::FilesDropped {
            files: paths
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
        }),
        // Where they are on the page makes no difference.
        _ => None,
    }
}

/// Tells every window of this process that something has changed; whether they can still be told.
pub(crate) fn tell(app: &AppHandle, what: Changed) -> bool {
    app.emit(EVENT, BackendEvent::Changed { what }).is_ok()
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
        // The tray has gone, however it ended, and its windows go with it: nobody could tell them of
        // anything, nor a new tray find them.
        app.exit(0);
        // Pages that hang keep them from it.
        std::thread::sleep(CLOSING);
        std::process::exit(1);
    });
}

/// Tells the front end when another process has written to the store or to the settings.
fn tell_of_changes(app: AppHandle, shell: Arc<Shell>) {
    std::thread::spawn(move || {
        let mut seen = shell.seen();
        loop {
            std::thread::sleep(LOOK);
            let now = shell.seen();
            if now == seen {
                continue;
            }
            let what = match (&seen, &now) {
                (Some(before), Some(now))
                    if before.settings == now.settings && before.data == now.data =>
                {
                    Changed::Store
                }
                _ => Changed::Everything,
            };
            seen = now;
            if !tell(&app, what) {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_goes_nowhere_but_to_its_pages() {
        let ours = |address: &str| is_ours(&address.parse().unwrap());
        assert!(ours("tauri://localhost/index.html#/review"));
        assert_eq!(ours("http://tauri.localhost/index.html"), cfg!(windows));
        for address in [
            "https://example.org/",
            "http://127.0.0.1:5180/",
            "http://tauri.localhost.example.org/",
            "tauri://example.org/",
            "file:///etc/passwd",
            "data:text/html,x",
            "about:blank",
            "javascript:alert(1)",
        ] {
            assert!(!ours(address), "{address}");
        }
    }
}
