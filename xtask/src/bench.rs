//! `cargo xtask bench`: runs the benchmarks and prints rows for `docs/performance.md`.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use crate::Stop;
use crate::command::{cargo, root, rust_files, say};
use crate::private_home::PrivateHome;
use crate::{needs, ui};

/// The one that opens windows.
pub(crate) const FOOTPRINT: &str = "footprint";

/// One benchmark: a file in `benches/` of a workspace member.
struct Bench {
    /// Folder of the member.
    member: PathBuf,
    name: String,
}

/// Runs every benchmark, or those whose name contains one of `names`.
pub(crate) fn run(names: &[String]) -> Result<(), Stop> {
    needs::system(needs::FOR_BUILDING, false)?;
    let benches: Vec<Bench> = all()?
        .into_iter()
        .filter(|bench| {
            names.is_empty() || names.iter().any(|name| bench.name.contains(name.as_str()))
        })
        .collect();
    if benches.is_empty() {
        return Err(Stop::Because("there is no such benchmark".to_owned()));
    }
    if benches.iter().any(|bench| bench.name == FOOTPRINT) {
        needs::of_tests(false)?;
        // The desktop app embeds them.
        ui::build()?;
    }
    let home = PrivateHome::new()?;
    let mut rows = Vec::new();
    for bench in &benches {
        say(&format!("bench {}", bench.name));
        let manifest = bench.member.join("Cargo.toml");
        let mut command = cargo(["bench", "--bench", bench.name.as_str(), "--manifest-path"])
            .args([&manifest])
            .with(|command| home.apply(command))
            .into_command();
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let output = child
            .stdout
            .take()
            .expect("standard output was asked for as a pipe");
        let mut lines = Vec::new();
        for line in BufReader::new(output).lines() {
            let line = line?;
            println!("{line}");
            lines.push(line);
        }
        if !child.wait()?.success() {
            return Err(Stop::Because(format!("bench {} failed", bench.name)));
        }
        rows.extend(rows_of(&lines));
    }
    println!(
        "\nFor docs/performance.md ({}):\n\n| What | Number |\n| --- | --- |",
        machine()
    );
    for row in rows {
        println!("{row}");
    }
    Ok(())
}

fn all() -> Result<Vec<Bench>, Stop> {
    let mut members: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    members.extend([root().join("src-tauri"), root().join("tests")]);
    members.sort();
    let mut benches = Vec::new();
    for member in members {
        let Ok(names) = rust_files(&member.join("benches")) else {
            continue;
        };
        benches.extend(names.into_iter().map(|name| Bench {
            member: member.clone(),
            name,
        }));
    }
    Ok(benches)
}

/// Table rows from the output of one benchmark: lines that are rows already, and criterion's
/// `name time: [low middle high]`, of which the middle is kept, with its throughput if it has one.
fn rows_of(lines: &[String]) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut name = "";
    for line in lines {
        let text = line.trim();
        if text.starts_with("| ") {
            rows.push(text.to_owned());
        } else if let Some((before, numbers)) = text.split_once("time:") {
            // A long name stands alone on the line before.
            let title = if before.trim().is_empty() {
                name
            } else {
                before.trim()
            };
            if let Some(middle) = middle(numbers) {
                rows.push(format!("| {title} | {middle} |"));
            }
        } else if let Some(numbers) = text.strip_prefix("thrpt:") {
            if let (Some(middle), Some(row)) = (middle(numbers), rows.last_mut()) {
                row.truncate(row.len() - " |".len());
                row.push_str(&format!(", {middle} |"));
            }
        } else if !text.is_empty() {
            name = text;
        }
    }
    rows
}

/// `[1.0 ms 1.1 ms 1.2 ms]` → `1.1 ms`. Lines about a change since the last run have percentages
/// instead, and no unit.
fn middle(numbers: &str) -> Option<String> {
    let inner = numbers.trim().strip_prefix('[')?.split(']').next()?;
    let words: Vec<&str> = inner.split_whitespace().collect();
    match words[..] {
        [_, _, number, unit, _, _] => Some(format!("{number} {unit}")),
        _ => None,
    }
}

fn machine() -> String {
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let value = |text: &str, key: &str| {
        text.lines()
            .find(|line| line.starts_with(key))
            .and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processor = value(&file("/proc/cpuinfo"), "model name")
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let memory = value(&file("/proc/meminfo"), "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
        .map(|kibibytes| format!(", {} GiB", (kibibytes + (1 << 19)) >> 20))
        .unwrap_or_default();
    format!(
        "{processor}, {cores} cores{memory}, {}",
        std::env::consts::OS
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criterion_and_plain_output_become_rows() {
        let lines = [
            "redact/plain            time:   [1.0100 ms 1.0200 ms 1.0300 ms]",
            "                        thrpt:  [970.0 MiB/s 980.4 MiB/s 990.1 MiB/s]",
            "                 change:",
            "                        time:   [-0.5% +0.1% +0.7%] (p = 0.8 > 0.05)",
            "a_name_too_long_for_the_column_it_stands_in",
            "                        time:   [2.0000 s 2.1000 s 2.2000 s]",
            "| Harvest of 1 GB | 1.4 GB/s, 90 MB peak |",
        ]
        .map(str::to_owned);
        assert_eq!(
            rows_of(&lines),
            [
                "| redact/plain | 1.0200 ms, 980.4 MiB/s |",
                "| a_name_too_long_for_the_column_it_stands_in | 2.1000 s |",
                "| Harvest of 1 GB | 1.4 GB/s, 90 MB peak |",
            ]
        );
    }
}
