//! What tests of command-line agents share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use skillopt_models::SignIn;
use skillopt_models::agent_cli::Options;
use skillopt_store::FixedClock;

/// Longer than anything that works takes.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// An environment as an agent session or a desktop would leave it to us.
pub(crate) fn environment() -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap();
    [
        ("HOME", "/home/nobody"),
        ("PATH", &path),
        ("LANG", "C.UTF-8"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("CLAUDE_CODE_SSE_PORT", "1"),
        ("CLAUDE_CONFIG_DIR", "/home/nobody/.claude-work"),
        ("OPENAI_API_KEY", "sk-canary-openai"),
        ("SKILLOPT_MODEL", "x"),
        ("GITHUB_TOKEN", "canary-github"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

pub(crate) fn options(path: PathBuf) -> Options {
    Options {
        path,
        model: String::new(),
        effort: String::new(),
        temperature: None,
        sign_in: SignIn::Subscription,
        environment: environment(),
        memory: None,
        first_byte: LONG,
        whole: LONG,
        clock: Arc::new(FixedClock::new("2026-11-29T18:25:00Z".parse().unwrap())),
        zone: TimeZone::UTC,
    }
}

fn is_running(process: u32) -> bool {
    // A zombie has ended; only its parent has not looked yet.
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit(") ").next().map(|rest| !rest.starts_with('Z')))
        .unwrap_or(false)
}

/// Whether a process ends within seconds.
pub(crate) async fn ends(process: u32) -> bool {
    for _ in 0..200 {
        if !is_running(process) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}
