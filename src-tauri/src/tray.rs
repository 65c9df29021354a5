//! The icon of this session, by platform. Each has a `Tray` with the same functions, and `around`, which
//! gives the rest of the process the surroundings that a tray needs there.

mod icons;
mod in_place;
// Tested wherever tests are run.
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
mod native;
#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(target_os = "linux")]
mod panel;

#[cfg(target_os = "linux")]
pub(crate) use linux::{Tray, around};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Tray, around};
