//! The log: what is added to it, and its end, as it may be shown and passed on.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillopt_core::redact::redact;
use skillopt_core::text::{cut, one_line, plain};
use skillopt_core::{Instant, Problem};
use skillopt_store::{Paths, data};

use crate::context::App;

/// How much of the end of the log is looked at, in bytes.
const LOOKED_AT: u64 = 256 * 1024;
/// The longest line that is shown, in characters.
const LINE: usize = 500;

/// How much is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct LogInput {
    /// At most so many lines, the newest; 0 for a hundred.
    #[serde(default)]
    #[cfg_attr(feature = "typescript", ts(as = "Option<_>", optional))]
    pub lines: usize,
}

/// The end of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LogEnd {
    /// The file: what the app said, and what nights printed that the app, the daemon or cron started.
    pub file: PathBuf,
    /// Its last lines, the newest last, without secrets; empty when nothing was printed yet.
    pub lines: Vec<String>,
}

/// Adds one line to the log, with the time and who says it; without secrets, and no longer than is shown.
///
/// Errors: those of files.
pub fn add(paths: &Paths, now: Instant, who: &str, text: &str) -> Result<(), Problem> {
    data::bound_log(paths)?;
    let text = plain(&cut(&one_line(&redact(text).text), LINE));
    let line = format!("{now:.0} {who}: {text}\n");
    let mut log = data::open_log(paths)?;
    // One write, so that lines of several processes do not mix.
    log.write_all(line.as_bytes()).map_err(|error| {
        Problem::temporary(
            "log_unwritable",
            format!(
                "The log {} cannot be written: {error}.",
                paths.log().display()
            ),
            "Look whether the disk is full; nights go on without it.",
        )
    })
}

/// The log, for what a program says that is started; nowhere when it cannot be opened.
#[must_use]
pub fn for_a_program(paths: &Paths) -> std::process::Stdio {
    data::open_log(paths).map_or_else(|_| std::process::Stdio::null(), std::process::Stdio::from)
}

/// Shows the end of the log.
///
/// Errors: `log_unreadable`.
pub async fn show(app: &App, input: LogInput) -> Result<LogEnd, Problem> {
    let most = if input.lines == 0 { 100 } else { input.lines };
    let read = |file: &Path| {
        end_of(file).map_err(|error| {
            Problem::permanent(
                "log_unreadable",
                format!("The log {} cannot be read: {error}.", file.display()),
                "Look at who may read it; nights go on without it.",
            )
        })
    };
    let file = app.paths.log();
    let mut lines = read(&file)?;
    if lines.len() < most {
        // What was put aside may have been written a moment ago.
        let mut earlier = read(&app.paths.earlier_log())?;
        earlier.append(&mut lines);
        lines = earlier;
    }
    let from = lines.len().saturating_sub(most);
    Ok(LogEnd {
        lines: lines[from..].to_vec(),
        file,
    })
}

fn end_of(file: &Path) -> std::io::Result<Vec<String>> {
    let mut opened = match std::fs::File::open(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let length = opened.metadata()?.len();
    opened.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut bytes = Vec::new();
    opened.take(LOOKED_AT).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // A key may span lines: secrets are taken out of the whole.
    let clean = redact(&text).text;
    let mut lines = clean.lines();
    if length > LOOKED_AT {
        // The beginning of this one is missing.
        lines.next();
    }
    Ok(lines.map(|line| plain(&cut(line, LINE))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, block_on};

    fn shown(home: &TestHome, lines: usize) -> Vec<String> {
        block_on(show(&home.app, LogInput { lines })).unwrap().lines
    }

    fn write(home: &TestHome, text: &[u8]) {
        skillopt_store::files::write_private(&home.app.paths.log(), text).unwrap();
    }

    #[test]
    fn the_newest_lines_are_shown_without_secrets_and_escapes() {
        let home = TestHome::new();
        assert_eq!(shown(&home, 0), [""; 0]);
        let secret = format!("sk-ant-api03-{}", "A1b2C3d4".repeat(8));
        write(
            &home,
            format!("one\ntwo {secret}\n\u{1b}[31mthree \u{202e}\n").as_bytes(),
        );
        let lines = shown(&home, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("two [REDACTED"), "{lines:?}");
        assert_eq!(lines[1], "\u{fffd}[31mthree \u{fffd}");
    }

    #[test]
    fn what_was_put_aside_comes_before_what_was_written_since() {
        let home = TestHome::new();
        let earlier = home.app.paths.earlier_log();
        skillopt_store::files::write_private(&earlier, b"one\ntwo\n").unwrap();
        write(&home, b"three\n");
        assert_eq!(shown(&home, 2), ["two", "three"]);
        assert_eq!(shown(&home, 1), ["three"]);
    }

    #[test]
    fn a_huge_log_of_any_bytes_is_bounded() {
        let home = TestHome::new();
        let mut bytes = vec![0xff; 3_000_000];
        bytes.extend(b"\nlast\n");
        write(&home, &bytes);
        assert_eq!(shown(&home, 5), ["last"]);
        write(&home, &[b'x'; 100_000]);
        let lines = shown(&home, 5);
        assert_eq!((lines.len(), lines[0].chars().count()), (1, LINE + 2));
    }
}
