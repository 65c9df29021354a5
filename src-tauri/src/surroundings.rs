//! What this process is started with: environment, folders, signals.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use skillopt_app::Problem;
use skillopt_app::context::App;
use skillopt_app::types::{Keyring, Paths, SystemClock};

/// How long signals count as one order to end.
const ONE_ORDER: Duration = Duration::from_millis(300);

fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

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

/// Ends when somebody who asked this process to end asks again, and will not wait.
pub(crate) async fn told_again() {
    // The end of a session sends more than one signal, and they mean one thing.
    tokio::time::sleep(ONE_ORDER).await;
    told_to_end().await;
}

/// Ends when the session or the user asks this process to end.
pub(crate) async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut terminate), Ok(mut hang_up)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
        ) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    #[cfg(windows)]
    {
        use tokio::signal::windows::{ctrl_close, ctrl_logoff, ctrl_shutdown};
        if let (Ok(mut close), Ok(mut log_off), Ok(mut shut_down)) =
            (ctrl_close(), ctrl_logoff(), ctrl_shutdown())
        {
            tokio::select! {
                _ = close.recv() => {}
                _ = log_off.recv() => {}
                _ = shut_down.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
