//! Whether the app starts with the session: an entry in the user's autostart folder on Linux, a login
//! item on macOS, a registry value on Windows.

use auto_launch::{AutoLaunch, AutoLaunchBuilder};
use skillopt_app::Problem;

/// Switches it on or off if that is asked, and says what holds now.
pub(crate) fn is_on_after(change: Option<bool>) -> Result<bool, Problem> {
    let entry = entry().map_err(|error| failed(&error))?;
    match change {
        Some(true) => entry.enable(),
        Some(false) if entry.is_enabled().unwrap_or(true) => entry.disable(),
        Some(false) | None => Ok(()),
    }
    .and_then(|()| entry.is_enabled())
    .map_err(|error| failed(&error))
}

fn entry() -> Result<AutoLaunch, auto_launch::Error> {
    let program = std::env::current_exe().map_err(auto_launch::Error::from)?;
    AutoLaunchBuilder::new()
        .set_app_name("skillopt-desktop")
        .set_app_path(&program.to_string_lossy())
        .set_args(&["--quiet"])
        .build()
}

fn failed(error: &auto_launch::Error) -> Problem {
    Problem::permanent(
        "autostart_failed",
        format!("Starting with the session could not be changed: {error}."),
        "Add skillopt-desktop to the programs that start with your session by hand.",
    )
}
