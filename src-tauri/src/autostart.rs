//! Whether the app starts with the session: an entry in the user's autostart folder on Linux, a login
//! item on macOS, a registry value on Windows.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use skillopt_app::Problem;

#[cfg(not(target_os = "linux"))]
use self::elsewhere::change;
#[cfg(target_os = "linux")]
use self::linux::change;

/// Switches it on or off if that is asked, and says what holds now.
///
/// Error: `autostart_failed`.
pub(crate) fn is_on_after(asked: Option<bool>) -> Result<bool, Problem> {
    change(asked).map_err(|error| {
        Problem::permanent(
            "autostart_failed",
            format!("Starting with the session could not be changed: {error}."),
            "Add skillopt-desktop to the programs that start with your session by hand.",
        )
    })
}

/// Where the entry names a program that is gone, it names this one from now on. Nobody waits for it, and what
/// does not work is tried again at the next start.
pub(crate) fn mend() {
    #[cfg(target_os = "linux")]
    if let Err(error) = linux::mend() {
        crate::said::say(format_args!(
            "The entry that starts the app with the session could not be looked at: {error}."
        ));
    }
}
