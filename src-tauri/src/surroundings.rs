//! What this process is started with: environment, folders.

use std::path::PathBuf;
use std::sync::Arc;

use skillopt_app::Problem;
use skillopt_app::context::App;
use skillopt_app::program::environment;
use skillopt_app::types::{Keyring, Paths, SystemClock};

/// Our folders.
pub(crate) fn paths() -> Result<Paths, Problem> {
    Paths::from_env(&environment())
}

/// What commands work with. There is no folder the user is in: every command names its project.
pub(crate) fn app() -> Result<App, Problem> {
    let mut app = App::open(environment(), nowhere(), Arc::new(SystemClock))?;
    app.keyring = Keyring::of_the_system();
    Ok(app)
}

fn nowhere() -> PathBuf {
    std::env::home_dir().unwrap_or_else(std::env::temp_dir)
}
