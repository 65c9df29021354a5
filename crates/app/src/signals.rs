//! Signals that ask this process to end: from the user, from the terminal, from the session.

use std::time::Duration;

use skillopt_models::CancelToken;

/// How long signals count as one order to end.
const ONE_ORDER: Duration = Duration::from_millis(300);

/// Stops what works under `cancel` when this process is asked to end: nothing new begins; and when it is asked
/// again, what is under way is dropped. Ends after that.
pub async fn stop(cancel: CancelToken) {
    told_to_end().await;
    cancel.cancel();
    told_again().await;
    cancel.drop_all();
}

/// Ends when somebody who asked this process to end asks again, and will not wait.
pub async fn told_again() {
    // The end of a session sends more than one signal, and they mean one thing.
    tokio::time::sleep(ONE_ORDER).await;
    told_to_end().await;
}

/// Ends when the user or the system asks this process to end. Needs a tokio runtime.
pub async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // The terminal was closed, or the connection to it was lost.
        let hang_up = signal(SignalKind::hangup());
        if let (Ok(mut terminate), Ok(mut hang_up)) = (signal(SignalKind::terminate()), hang_up) {
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
