//! How fast transcripts are read, and with how much memory.
//!
//! Every harvest runs in a process of its own, so that its peak memory is its own. The corpus is
//! made of real records (see `corpus`); `SKILLOPT_BENCH_MB` sets its size, 1024 when absent, and
//! `cargo bench … -- "event logs"` measures one mix alone.

#![expect(clippy::print_stdout, reason = "a benchmark prints its rows")]

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use skillopt_core::agent::Agent;
use skillopt_store::{Paths, Store, SystemClock};
use skillopt_transcripts::{Homes, ProjectScope, Request, Scope, harvest};

#[path = "harvest/corpus.rs"]
mod corpus;
#[path = "support/measure.rs"]
mod measure;

use corpus::{Corpus, Mix};
use measure::{Stopwatch, best_of, child, row};

/// Files of the pass over unchanged files.
const UNCHANGED: usize = 3000;
/// Bytes the slow baseline is measured on.
const BASELINE_BYTES: u64 = 128 * 1024 * 1024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["harvest", agent, home, threads, all] => {
            one_harvest(agent, Path::new(home), None, threads.parse()?, all == "all")
        }
        ["harvest", agent, home, threads, all, data] => one_harvest(
            agent,
            Path::new(home),
            Some(Path::new(data)),
            threads.parse()?,
            all == "all",
        ),
        ["values", home] => values(Path::new(home)),
        // Cargo passes `--bench`; a word behind it names one mix.
        ["--bench", mix] | [mix, "--bench"] => everything(Some(mix)),
        _ => everything(None),
    }
}

fn everything(only: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let megabytes: u64 = match std::env::var("SKILLOPT_BENCH_MB") {
        Ok(text) => text.parse()?,
        Err(_) => 1024,
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("harvest");
    let cores = std::thread::available_parallelism()?.get();
    for (mix, megabytes) in [
        (Mix::AsRecorded, megabytes),
        (Mix::Long, megabytes / 4),
        (Mix::Events, megabytes / 2),
        (Mix::Rollouts, megabytes),
    ] {
        if only.is_some_and(|only| only != mix.name()) {
            continue;
        }
        let agent = mix.agent().id();
        let corpus = corpus::corpus(&folder, megabytes * 1024 * 1024, mix)?;
        describe(&corpus, mix);
        let read = plain_read(&corpus)?;
        row(
            &format!("plain read of the same bytes, 1 thread ({})", mix.name()),
            &rate(corpus.bytes, read),
        );
        for threads in [1, cores] {
            let best = best_of(3, || {
                child(
                    &corpus.home,
                    &["harvest", agent, "HOME", &threads.to_string(), "project"],
                )
            })?;
            row(
                &format!(
                    "harvest, {} threads, one of {} projects ({})",
                    threads,
                    corpus::PROJECTS,
                    mix.name()
                ),
                &format!(
                    "{}, {} MB peak, {:.2} of the plain read",
                    rate(corpus.bytes, best.time),
                    best.peak_mb,
                    read.as_secs_f64() / best.time.as_secs_f64()
                ),
            );
        }
        let all = child(
            &corpus.home,
            &["harvest", agent, "HOME", &cores.to_string(), "all"],
        )?;
        row(
            &format!("harvest, {cores} threads, all projects ({})", mix.name()),
            &format!("{}, {} MB peak", rate(corpus.bytes, all.time), all.peak_mb),
        );
        let data = tempfile::tempdir()?;
        let data = data.path().to_string_lossy().into_owned();
        let cold = child(
            &corpus.home,
            &[
                "harvest",
                agent,
                "HOME",
                &cores.to_string(),
                "project",
                &data,
            ],
        )?;
        row(
            &format!(
                "harvest, {cores} threads, into an empty index ({})",
                mix.name()
            ),
            &format!(
                "{}, {} MB peak",
                rate(corpus.bytes, cold.time),
                cold.peak_mb
            ),
        );
        if mix == Mix::AsRecorded {
            unchanged(&corpus, &folder)?;
            let values = child(&corpus.home, &["values", "HOME"])?;
            row(
                "every record as a serde_json::Value, 1 thread",
                &rate(BASELINE_BYTES.min(corpus.bytes), values.time),
            );
        }
    }
    Ok(())
}

/// The pass over files that have not changed.
fn unchanged(corpus: &Corpus, folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let home = folder.join("unchanged");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    let projects = corpus.home.join("projects");
    let files = &corpus.files[..UNCHANGED.min(corpus.files.len())];
    for file in files {
        let link = home.join("projects").join(file.strip_prefix(&projects)?);
        std::fs::create_dir_all(link.parent().unwrap_or(&home))?;
        std::fs::hard_link(file, link)?;
    }
    let data = tempfile::tempdir()?;
    let data = data.path().to_string_lossy().into_owned();
    for scope in ["project", "all"] {
        let arguments = [
            "harvest",
            Mix::AsRecorded.agent().id(),
            "HOME",
            "0",
            scope,
            &data,
        ];
        child(&home, &arguments)?;
        let best = best_of(5, || child(&home, &arguments))?;
        row(
            &format!("pass over {} unchanged files, {scope}", files.len()),
            &format!(
                "{:.1} ms ({:.1} ms at work), {} MB peak",
                best.time.as_secs_f64() * 1000.0,
                best.worked.as_secs_f64() * 1000.0,
                best.peak_mb
            ),
        );
    }
    Ok(())
}

fn describe(corpus: &Corpus, mix: Mix) {
    let shares: Vec<String> = corpus
        .shares
        .iter()
        .take(8)
        .map(|(name, bytes)| {
            format!(
                "{name} {:.0} %",
                *bytes as f64 * 100.0 / corpus.bytes as f64
            )
        })
        .collect();
    row(
        &format!("corpus ({})", mix.name()),
        &format!(
            "{:.0} MB in {} files: {}",
            corpus.bytes as f64 / 1e6,
            corpus.files.len(),
            shares.join(", ")
        ),
    );
}

fn rate(bytes: u64, time: Duration) -> String {
    format!("{:.0} MB/s", bytes as f64 / 1e6 / time.as_secs_f64())
}

fn one_harvest(
    agent: &str,
    home: &Path,
    data: Option<&Path>,
    threads: usize,
    all: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::from_id(agent).ok_or("there is no such agent")?;
    let request = Request {
        homes: Homes::from_iter([(agent, vec![home.to_owned()])]),
        agents: vec![agent],
        project: ProjectScope {
            roots: vec![PathBuf::from(corpus::project(0))],
            scope: if all { Scope::All } else { Scope::Project },
        },
        threads,
        ..Request::default()
    };
    let store = match data {
        Some(data) => Some(Store::open(&Paths::at(data), Arc::new(SystemClock))?),
        None => None,
    };
    let stopwatch = Stopwatch::start();
    let harvest = harvest(&request, store.as_ref(), &|| false)?;
    if harvest.sessions.is_empty() {
        return Err("the harvest found nothing".into());
    }
    stopwatch.report();
    Ok(())
}

/// Reads every byte once, in pieces of the size the readers use.
fn plain_read(corpus: &Corpus) -> io::Result<Duration> {
    let mut buffer = vec![0; 256 * 1024];
    // The first time fills the system's cache.
    let mut time = Duration::ZERO;
    for _ in 0..2 {
        let start = Instant::now();
        for path in &corpus.files {
            let mut file = File::open(path)?;
            while file.read(&mut buffer)? > 0 {}
        }
        time = start.elapsed();
    }
    Ok(time)
}

/// The baseline: every line of some files as a `serde_json::Value`.
fn values(home: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut files = Vec::new();
    for folder in std::fs::read_dir(home.join("projects"))? {
        for file in std::fs::read_dir(folder?.path())? {
            files.push(file?.path());
        }
    }
    files.sort();
    let stopwatch = Stopwatch::start();
    let (mut bytes, mut records) = (0, 0_u64);
    for path in files {
        if bytes >= BASELINE_BYTES {
            break;
        }
        for line in BufReader::new(File::open(path)?).split(b'\n') {
            let line = line?;
            bytes += line.len() as u64 + 1;
            let value: serde_json::Value = serde_json::from_slice(&line)?;
            records += u64::from(value.is_object());
        }
    }
    assert!(records > 0, "the corpus has records");
    stopwatch.report();
    Ok(())
}
