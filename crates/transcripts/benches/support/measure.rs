//! Measuring in a process of its own, so that its peak memory is its own.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// One row of a table.
pub(crate) fn row(what: &str, number: &str) {
    println!("| {what} | {number} |");
}

/// What a process of its own measured.
pub(crate) struct Measured {
    pub(crate) time: Duration,
    /// How long the main thread was at work, and not waiting for a core.
    pub(crate) worked: Duration,
    pub(crate) peak_mb: u64,
}

/// The shortest time and the highest peak of some runs.
pub(crate) fn best_of(
    times: usize,
    run: impl Fn() -> Result<Measured, Box<dyn std::error::Error>>,
) -> Result<Measured, Box<dyn std::error::Error>> {
    let mut best = run()?;
    for _ in 1..times {
        let next = run()?;
        if next.time < best.time {
            best.time = next.time;
        }
        best.worked = best.worked.min(next.worked);
        best.peak_mb = best.peak_mb.max(next.peak_mb);
    }
    Ok(best)
}

/// Runs this program again with `arguments`, in which `HOME` stands for `home`.
pub(crate) fn child(
    home: &Path,
    arguments: &[&str],
) -> Result<Measured, Box<dyn std::error::Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    for argument in arguments {
        match *argument {
            "HOME" => command.arg(home),
            other => command.arg(other),
        };
    }
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text
        .split_whitespace()
        .filter_map(|word| word.parse::<u64>().ok());
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(nanos), Some(worked), Some(peak_kb)) if output.status.success() => Ok(Measured {
            time: Duration::from_nanos(nanos),
            worked: Duration::from_nanos(worked),
            peak_mb: peak_kb.div_ceil(1024),
        }),
        _ => Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Measures the process it is in.
pub(crate) struct Stopwatch {
    start: Instant,
    worked: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
            worked: worked(),
        }
    }

    /// Prints nanoseconds, those at work, and peak memory in KiB.
    pub(crate) fn report(self) {
        let (time, worked) = (self.start.elapsed(), worked().saturating_sub(self.worked));
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .and_then(|rest| rest.split_whitespace().next())
            .unwrap_or("0");
        println!("{} {} {peak}", time.as_nanos(), worked.as_nanos());
    }
}

/// How long the main thread has been at work, where the system says so.
fn worked() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = text
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}
