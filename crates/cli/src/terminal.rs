//! What depends on the terminal: signals, colours, and text of strangers.

use std::io::{BufRead, IsTerminal, Read};

pub(crate) use skillopt_core::text::plain;

/// In bytes.
const LONGEST_SECRET: u64 = 64 * 1024;

/// Ends when the user or the system asks the program to stop.
pub(crate) async fn told_to_stop() {
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
    let _ = tokio::signal::ctrl_c().await;
}

/// A secret: asked for without showing it where somebody sits at a terminal, else the first line of
/// standard input. Never longer than any key is.
pub(crate) fn secret(name: &str) -> std::io::Result<String> {
    if std::io::stdin().is_terminal() {
        return rpassword::prompt_password(format!("Key for {}: ", plain(name)));
    }
    let mut line = String::new();
    let mut input = std::io::stdin().lock().take(LONGEST_SECRET);
    input.read_line(&mut line)?;
    Ok(line)
}

/// Whether colours are wanted on stdout: a terminal, and no `NO_COLOR`.
pub(crate) fn coloured() -> bool {
    std::io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
