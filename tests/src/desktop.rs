//! The parts of a desktop that the app talks to, played by the test on a real bus: something that shows
//! trays, and something that shows notifications.

mod notifications;
mod tray_host;
mod web_driver;

pub use notifications::{Notifications, Shown, hanging_notifications};
pub use tray_host::{Entry, TrayHost};
pub use web_driver::WebDriver;

use std::time::{Duration, Instant};

/// How long something may take to happen on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until `look` finds something.
///
/// # Panics
/// When it does not in time.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
