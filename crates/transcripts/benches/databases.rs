//! How fast databases are read, and with how much memory.
//!
//! The databases are generated, the same on every machine. `SKILLOPT_BENCH_MESSAGES` sets how many
//! messages OpenCode's has, 200,000 when absent; `SKILLOPT_BENCH_EDITOR_MB` how large that of
//! Cursor's editor is, 2,048 when absent.

#![expect(clippy::print_stdout, reason = "a benchmark prints its rows")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillopt_core::agent::Agent;
use skillopt_store::{Paths, Store, SystemClock};
use skillopt_transcripts::{Homes, ProjectScope, Request, Scope, harvest};

#[path = "databases/cursor.rs"]
mod cursor;
#[path = "support/measure.rs"]
mod measure;
#[path = "databases/opencode.rs"]
mod opencode;

use measure::{Stopwatch, best_of, child, row};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["harvest", home, agent, scope, data] => {
            let agent = Agent::from_id(agent).ok_or("no such agent")?;
            one_harvest(Path::new(home), agent, scope == "all", Path::new(data))
        }
        // Cargo passes `--bench`; a word behind it names one agent.
        ["--bench", "cursor"] | ["cursor", "--bench"] => editor(),
        _ => everything(),
    }
}

fn everything() -> Outcome {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("databases");
    let messages = number("SKILLOPT_BENCH_MESSAGES", 200_000)?;
    let home = opencode::database(&folder, messages)?;
    let bytes = std::fs::metadata(home.join("opencode.db"))?.len();
    row(
        "OpenCode's database",
        &format!("{messages} messages, {} MB", bytes / 1_000_000),
    );
    for scope in ["project", "all"] {
        measure_store(&home, Agent::OpenCode, scope)?;
    }
    editor()
}

/// The editor's database is too large to stay.
fn editor() -> Outcome {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let megabytes = number("SKILLOPT_BENCH_EDITOR_MB", 2048)?;
    let home = cursor::database(folder.path(), u64::try_from(megabytes)?)?;
    row(
        "the database of Cursor's editor",
        &format!("{megabytes} MB, chats of eight projects"),
    );
    measure_store(&home, Agent::Cursor, "project")
}

/// Cold, unchanged, and after one change.
fn measure_store(home: &Path, agent: Agent, scope: &str) -> Outcome {
    let harvest = |data: &Path| {
        let data = data.to_string_lossy().into_owned();
        child(home, &["harvest", "HOME", agent.id(), scope, &data])
    };
    let cold = best_of(3, || {
        let data = tempfile::tempdir()?;
        harvest(data.path())
    })?;
    let name = |what: &str| format!("{}, {scope}: {what}", agent.title());
    let numbers = |measured: &measure::Measured| {
        format!(
            "{:.1} ms ({:.1} ms at work), {} MB peak",
            measured.time.as_secs_f64() * 1000.0,
            measured.worked.as_secs_f64() * 1000.0,
            measured.peak_mb
        )
    };
    row(&name("cold, into an empty index"), &numbers(&cold));
    let data = tempfile::tempdir()?;
    harvest(data.path())?;
    let unchanged = best_of(5, || harvest(data.path()))?;
    row(&name("unchanged"), &numbers(&unchanged));
    if agent == Agent::OpenCode {
        let touched = best_of(3, || {
            opencode::touch(home)?;
            harvest(data.path())
        })?;
        row(&name("one session changed"), &numbers(&touched));
    }
    Ok(())
}

fn number(variable: &str, otherwise: i64) -> Result<i64, Box<dyn std::error::Error>> {
    match std::env::var(variable) {
        Ok(text) => Ok(text.parse()?),
        Err(_) => Ok(otherwise),
    }
}

fn one_harvest(home: &Path, agent: Agent, all: bool, data: &Path) -> Outcome {
    let request = Request {
        homes: Homes::from_iter([(agent, vec![home.to_owned()])]),
        agents: vec![agent],
        project: ProjectScope {
            roots: vec![PathBuf::from(opencode::project(0))],
            scope: if all { Scope::All } else { Scope::Project },
        },
        ..Request::default()
    };
    let store = Store::open(&Paths::at(data), Arc::new(SystemClock))?;
    let stopwatch = Stopwatch::start();
    let harvest = harvest(&request, Some(&store), &|| false)?;
    if harvest.sessions.is_empty() {
        return Err("the harvest found nothing".into());
    }
    stopwatch.report();
    Ok(())
}
