//! The icon of this session, by platform.

mod icons;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(crate) use linux::Tray;
