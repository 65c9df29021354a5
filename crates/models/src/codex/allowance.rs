//! How much of the plan is left, by the user's own sessions.
//!
//! `codex exec` does not print what the service says about that, and a call of ours leaves no session.
//! But every session of the user's has it, so it is known as of the last one. What was used since, by
//! us as well, is not in it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;
use skillopt_core::Instant;

use crate::allowance::Allowance;

/// How many of the newest sessions are looked into.
const SESSIONS: usize = 8;
/// How much is read of the end of each. What is looked for comes after every reply.
const TAIL: u64 = 512 * 1024;

/// What the newest session below `home` that says something of it says is left at `now`.
pub(super) fn of_sessions(home: &Path, now: Instant) -> Option<Allowance> {
    newest(&home.join("sessions"))
        .iter()
        .find_map(|session| last_limits(&tail(session)?))
        .and_then(|(limits, as_of)| {
            let left = left(&limits, now)?;
            // A clock that was wrong then, or is now, makes no reading of tomorrow.
            let as_of = as_of.map_or(now, |at| at.min(now));
            Some(Allowance {
                as_of: Some(as_of),
                ..left
            })
        })
}

/// The newest sessions, `YYYY/MM/DD/rollout-….jsonl`, the newest first. Names begin with the time.
fn newest(sessions: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for year in names(sessions) {
        for month in names(&year) {
            for day in names(&month) {
                let all = names(&day).into_iter();
                found.extend(all.filter(|file| file.extension() == Some(OsStr::new("jsonl"))));
                if found.len() >= SESSIONS {
                    found.truncate(SESSIONS);
                    return found;
                }
            }
        }
    }
    found
}

/// What is in a folder, the last name first; nothing when there is none.
fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    names
}

fn tail(file: &Path) -> Option<String> {
    let mut file = File::open(file).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The limits in the last record that has any, and when it was written.
fn last_limits(text: &str) -> Option<(Value, Option<Instant>)> {
    text.lines()
        .rev()
        .filter(|line| line.contains("\"rate_limits\""))
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|mut record| {
            let at = record["timestamp"].as_str().and_then(|at| at.parse().ok());
            Some((
                record.get_mut("payload")?.get_mut("rate_limits")?.take(),
                at,
            ))
        })
        .find(|(limits, _)| limits["primary"].is_object() || limits["secondary"].is_object())
}

/// What is left of the tightest window that is not over.
fn left(limits: &Value, now: Instant) -> Option<Allowance> {
    let window = |name: &str| {
        let until = limits[name]["resets_at"].as_i64()?;
        let until = Instant::from_second(until).ok().filter(|at| *at > now)?;
        Allowance::after(limits[name]["used_percent"].as_f64()? / 100.0, Some(until))
    };
    Allowance::tightest(["primary", "secondary"].into_iter().filter_map(window))
}

#[cfg(test)]
mod tests {
    use skillopt_store::files;

    use super::*;

    const NOW: &str = "2026-11-29T18:25:00Z";

    fn record(limits: &str) -> String {
        format!(
            r#"{{"timestamp":"2026-11-29T17:08:08.732Z","type":"event_msg","payload":{{"type":"token_count","info":null,"rate_limits":{limits}}}}}"#
        )
    }

    fn window(used: &str, resets_at: i64) -> String {
        format!(r#"{{"used_percent":{used},"window_minutes":300,"resets_at":{resets_at}}}"#)
    }

    /// Seconds from now.
    fn after(seconds: i64) -> i64 {
        NOW.parse::<Instant>().unwrap().as_second() + seconds
    }

    fn found(home: &Path) -> Option<(u8, i64)> {
        let found = of_sessions(home, NOW.parse().unwrap())?;
        Some((found.left_percent, found.until?.as_second() - after(0)))
    }

    #[test]
    fn the_newest_session_that_tells_counts() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(found(home.path()), None);
        let write = |name: &str, lines: &[String]| {
            let file = home.path().join("sessions").join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            files::write_private(&file, lines.join("\n").as_bytes()).unwrap();
        };
        let limits = |primary: &str, secondary: &str| {
            record(&format!(
                r#"{{"limit_id":"codex","primary":{primary},"secondary":{secondary}}}"#
            ))
        };
        write(
            "2026/10/31/rollout-2026-10-31T10-00-00-a.jsonl",
            &[limits(&window("99", after(60)), "null")],
        );
        write(
            "2026/11/29/rollout-2026-11-29T10-00-00-b.jsonl",
            &[
                limits(&window("10", after(600)), "null"),
                limits(&window("63.0", after(600)), &window("71", after(9_000))),
                "{\"rate_limits\" half a".to_owned(),
            ],
        );
        // Newer ones that do not tell: with a key there is no plan.
        write(
            "2026/11/29/rollout-2026-11-29T11-00-00-c.jsonl",
            &[record("null"), limits("null", "null")],
        );
        write(
            "2026/11/29/notes.txt",
            &[limits(&window("100", after(9)), "null")],
        );
        assert_eq!(found(home.path()), Some((29, 9_000)));
        let reading = of_sessions(home.path(), NOW.parse().unwrap()).unwrap();
        assert_eq!(reading.as_of, "2026-11-29T17:08:08.732Z".parse().ok());
        // A window that is over is whole again.
        write(
            "2026/11/29/rollout-2026-11-29T12-00-00-d.jsonl",
            &[limits(&window("90", after(-5)), &window("40", after(50)))],
        );
        assert_eq!(found(home.path()), Some((60, 50)));
        write(
            "2026/11/29/rollout-2026-11-29T13-00-00-e.jsonl",
            &[limits(
                &window("90", after(-5)),
                &window("\"many\"", after(50)),
            )],
        );
        assert_eq!(found(home.path()), None);
    }

    #[test]
    fn only_the_end_of_a_long_session_is_read() {
        let home = tempfile::tempdir().unwrap();
        let day = home.path().join("sessions/2026/11/29");
        fs::create_dir_all(&day).unwrap();
        let line = record(&format!(r#"{{"primary":{}}}"#, window("25", after(60))));
        let write = |text: &str| {
            files::write_private(&day.join("rollout-a.jsonl"), text.as_bytes()).unwrap();
        };
        let long = "x".repeat(2 * 1024 * 1024);
        write(&format!("{long}\n{line}\n"));
        assert_eq!(found(home.path()), Some((75, 60)));
        write(&format!("{line}\n{long}\n"));
        assert_eq!(found(home.path()), None);
    }
}
