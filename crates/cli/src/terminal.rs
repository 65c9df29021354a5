//! What depends on the terminal: secrets, colours, and text of strangers.

use std::io::{BufRead, IsTerminal, Read};

pub(crate) use skillopt_core::text::plain;

/// In bytes.
const LONGEST_SECRET: u64 = 64 * 1024;

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
