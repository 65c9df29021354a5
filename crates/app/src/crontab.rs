//! The user's crontab: our lines stand between markers of our own, every other byte stays.
//!
//! The reference took any failure of `crontab -l` for an empty crontab and wrote over it (§14 #1).
//! Here a crontab is only written when it could be read, or when cron says that there is none, and
//! only when its markers leave no doubt which lines are ours.

use std::io::Write;
use std::process::Stdio;

use skillopt_core::Problem;
use skillopt_models::process::system_program;

const BEGIN: &str = "# >>> skillopt (managed) >>>";
const END: &str = "# <<< skillopt (managed) <<<";
/// The block of the reference (§9.8): reported, never touched.
const REFERENCE_BEGIN: &str = "# >>> skillopt-sleep (managed) >>>";

/// The user's crontab; empty only when cron says that there is none.
pub(crate) fn read() -> Result<String, Problem> {
    let output = system_program("crontab").and_then(|mut crontab| {
        crontab
            .arg("-l")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
    });
    let output = output.map_err(|error| unavailable(&error.to_string()))?;
    if output.status.success() {
        let text =
            String::from_utf8(output.stdout).map_err(|_| unreadable("it is not UTF-8 text"))?;
        return if markers_match(&text) {
            Ok(text)
        } else {
            Err(markers_broken())
        };
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.to_lowercase().contains("no crontab for") {
        return Ok(String::new());
    }
    Err(unreadable(said.trim()))
}

fn unavailable(why: &str) -> Problem {
    Problem::permanent(
        "cron_unavailable",
        format!("The program crontab cannot be started: {why}."),
        "Install cron, or run `skillopt sleep run` from any other scheduler; --plan shows the line.",
    )
}

fn unreadable(why: &str) -> Problem {
    Problem::temporary(
        "crontab_unreadable",
        format!("Your crontab could not be read, so it was not touched: {why}."),
        "Try `crontab -l`; when it works, schedule again.",
    )
}

/// Whether our markers are not there at all, or once each and in order. Without an end, or with a second
/// block, nobody can tell which lines are the user's.
fn markers_match(crontab: &str) -> bool {
    let markers: Vec<&str> = crontab
        .lines()
        .map(str::trim)
        .filter(|line| matches!(*line, BEGIN | END))
        .collect();
    matches!(markers.as_slice(), [] | [BEGIN, END])
}

fn markers_broken() -> Problem {
    Problem::permanent(
        "crontab_markers_broken",
        format!(
            "Our markers in your crontab do not match, so it was not touched: there must be one \"{BEGIN}\" and, below it, one \"{END}\"."
        ),
        "Run `crontab -e` and put the missing marker back, or remove both with the lines of ours between them; then try again.",
    )
}

/// The lines between our markers.
pub(crate) fn ours(crontab: &str) -> Vec<String> {
    block(crontab, BEGIN, END)
}

/// The lines of the reference system.
pub(crate) fn of_reference(crontab: &str) -> Vec<String> {
    block(
        crontab,
        REFERENCE_BEGIN,
        "# <<< skillopt-sleep (managed) <<<",
    )
}

fn block(crontab: &str, begin: &str, end: &str) -> Vec<String> {
    crontab
        .lines()
        .skip_while(|line| line.trim() != begin)
        .skip(1)
        .take_while(|line| line.trim() != end)
        .map(str::to_owned)
        .collect()
}

/// Every byte outside our block stays.
fn replaced(crontab: &str, entries: &[String]) -> String {
    let mut kept = String::new();
    let mut inside = false;
    for line in crontab.split_inclusive('\n') {
        match line.trim() {
            BEGIN => inside = true,
            END if inside => inside = false,
            _ if !inside => kept.push_str(line),
            _ => {}
        }
    }
    if entries.is_empty() {
        return kept;
    }
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    format!("{kept}{BEGIN}\n{}\n{END}\n", entries.join("\n"))
}

/// Puts `entries` in place of our lines; whether the crontab changed.
pub(crate) fn write(before: &str, entries: &[String]) -> Result<bool, Problem> {
    let after = replaced(before, entries);
    if after == before {
        return Ok(false);
    }
    let mut child = system_program("crontab")
        .and_then(|mut crontab| {
            crontab
                .arg("-")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
        })
        .map_err(|error| unavailable(&error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin
            .write_all(after.as_bytes())
            .map_err(|error| unavailable(&error.to_string()))?;
    }
    let output = child
        .wait_with_output()
        .map_err(|error| unavailable(&error.to_string()))?;
    if output.status.success() {
        return Ok(true);
    }
    Err(Problem::temporary(
        "crontab_unwritable",
        format!(
            "cron did not take the new crontab: {}.",
            String::from_utf8_lossy(&output.stderr).trim()
        ),
        "Your crontab is as it was.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lines_keep_every_byte_and_ours_come_and_go() {
        let user = "MAILTO=me\n\n\n0 1 * * * backup  \n";
        let with = replaced(user, &["17 3 * * *  x".to_owned()]);
        assert!(with.starts_with(user), "{with}");
        assert_eq!(ours(&with), ["17 3 * * *  x"]);
        assert_eq!(replaced(&with, &[]), user);
        let no_newline = "0 1 * * * backup";
        assert_eq!(
            replaced(&replaced(no_newline, &["a".into()]), &[]),
            "0 1 * * * backup\n"
        );
    }

    #[test]
    fn only_markers_that_match_say_which_lines_are_ours() {
        let block = format!("{BEGIN}\na\n{END}\n");
        for good in [
            String::new(),
            "0 1 * * * backup\n".to_owned(),
            format!("x\n{block}y\n"),
        ] {
            assert!(markers_match(&good), "{good}");
        }
        for bad in [
            format!("{BEGIN}\na\n0 1 * * * backup\n"),
            format!("a\n{END}\n"),
            format!("{END}\n{BEGIN}\n"),
            format!("{block}0 1 * * * backup\n{block}"),
        ] {
            assert!(!markers_match(&bad), "{bad}");
        }
    }
}
