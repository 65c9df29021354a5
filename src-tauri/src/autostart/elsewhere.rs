//! macOS and Windows.

use auto_launch::{AutoLaunchBuilder, Error};

pub(super) fn change(asked: Option<bool>) -> Result<bool, Error> {
    let program = std::env::current_exe()?;
    let entry = AutoLaunchBuilder::new()
        .set_app_name("skillopt-desktop")
        .set_app_path(&program.to_string_lossy())
        .set_args(&["--quiet"])
        .build()?;
    match asked {
        Some(true) => entry.enable()?,
        Some(false) if entry.is_enabled().unwrap_or(true) => entry.disable()?,
        Some(false) | None => {}
    }
    entry.is_enabled()
}
