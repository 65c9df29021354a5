//! `<home>/history.jsonl`: every prompt typed in the terminal, kept longer than the sessions.
//!
//! It has no answers, no tools and no ids, so nothing is mined from it. What it adds is how many
//! prompts are gone with their sessions, which Claude Code deletes after some time.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use skillopt_core::Instant;

use crate::lenient::{Number, Text, parse};

/// How much of its end is read, in bytes.
const TAIL: u64 = 4 * 1024 * 1024;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow)]
    display: Text<'a>,
    /// Milliseconds since 1970.
    timestamp: Number,
    project: Text<'a>,
    session_id: Text<'a>,
}

/// How many prompts the history has, since a moment, of sessions that are not `known`, typed in a
/// folder that is `wanted`. Commands do not count.
pub(crate) fn lost(
    home: &Path,
    since: Option<Instant>,
    known: &dyn Fn(&str) -> bool,
    wanted: &dyn Fn(&str) -> bool,
) -> u64 {
    let Ok(mut file) = File::open(home.join("history.jsonl")) else {
        return 0;
    };
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let start = size.saturating_sub(TAIL);
    if file.seek(SeekFrom::Start(start)).is_err() {
        return 0;
    }
    let since = since.map_or(i64::MIN, Instant::as_millisecond);
    let mut spare = Vec::new();
    BufReader::new(file.take(TAIL))
        .split(b'\n')
        // The first line was probably cut.
        .skip(usize::from(start > 0))
        .map_while(Result::ok)
        .filter(|line| {
            parse::<Entry<'_>>(line, &mut spare).is_ok_and(|(entry, _)| {
                let words = entry.display.trim();
                !words.is_empty()
                    && !words.starts_with(['/', '!'])
                    && entry.timestamp.0.unwrap_or(0) >= since
                    && !entry.session_id.is_empty()
                    && !known(&entry.session_id)
                    && wanted(&entry.project)
            })
        })
        .count() as u64
}
