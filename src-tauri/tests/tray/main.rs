//! The real app on a real bus, with something that shows trays, something that shows notifications, and
//! real windows: what a person does with it, and what goes wrong around it.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test writes its own files, and fails where something is missing"
)]

mod dropped;
mod endings;
mod faults;
mod first_steps;
mod hostile;
mod menu;
mod notices;
mod package;
mod page;
mod panel;
mod person;
mod story;
mod window;
mod windows;
