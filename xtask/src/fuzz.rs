//! `cargo xtask fuzz`: libFuzzer over everything that reads hostile input.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use crate::Stop;
use crate::command::{cargo, root, rust_files, say};
use crate::needs;
use crate::private_home::PrivateHome;

/// Our crates are free of `unsafe`, so a sanitizer would find little and cost half the speed.
/// Coverage counters need nothing but flags that a stable compiler has.
const HOW_BUILT: [&str; 4] = ["--sanitizer", "none", "--codegen-units", "16"];

/// What libFuzzer says of how much it tried, when it ends well.
const EXECUTED: &str = "stat::number_of_executed_units:";

/// What came of one target.
struct Fuzzed {
    target: String,
    /// Inputs that were tried; `None` when the target did not come to its end.
    tried: Option<u64>,
    /// Inputs on which it failed, hung or grew, in this run.
    failed_on: Vec<PathBuf>,
}

/// Fuzzes each target for a number of seconds (60), or only the targets named. A target that fails
/// does not keep the others from being fuzzed.
pub(crate) fn run(arguments: &[String]) -> Result<(), Stop> {
    let (seconds, names) = match arguments.split_first() {
        Some((first, rest)) if first.parse::<u32>().is_ok() => (first.as_str(), rest),
        _ => ("60", arguments),
    };
    needs::system(needs::FOR_FUZZING, false)?;
    needs::cargo_fuzz(false)?;
    let all = rust_files(&root().join("fuzz/fuzz_targets"))?;
    if let Some(unknown) = names.iter().find(|name| !all.contains(name)) {
        return Err(Stop::Because(format!(
            "there is no fuzz target \"{unknown}\"; there are: {}",
            all.join(", ")
        )));
    }
    let home = PrivateHome::new()?;
    // At once and before the first, so that no target waits for the compiler.
    cargo(["fuzz", "build"])
        .args(HOW_BUILT)
        .with(|command| home.apply(command))
        .run("fuzz targets")?;
    let mut fuzzed = Vec::new();
    for target in if names.is_empty() { &all } else { names } {
        fuzzed.push(fuzz(target, seconds, &home)?);
    }
    println!(
        "\nFor docs/performance.md:\n\n| Target | Inputs tried in {seconds} s | What came of it |\n\
         | --- | --- | --- |"
    );
    for one in &fuzzed {
        println!("{}", one.row());
    }
    if fuzzed.iter().all(Fuzzed::ended_well) {
        Ok(())
    } else {
        eprintln!("── a target failed; make the input a seed in fuzz/seeds/ when it is mended");
        Err(Stop::Shown)
    }
}

/// Fuzzes one target, with its output shown.
fn fuzz(target: &str, seconds: &str, home: &PrivateHome) -> Result<Fuzzed, Stop> {
    let corpus = format!("fuzz/corpus/{target}");
    std::fs::create_dir_all(root().join(&corpus))?;
    say(&format!("fuzz {target}, {seconds} s"));
    let began = SystemTime::now();
    let mut child = cargo(["fuzz", "run"])
        .args(HOW_BUILT)
        .args([target, &corpus, &format!("fuzz/seeds/{target}")])
        .args(["--", "-rss_limit_mb=2048", "-timeout=10"])
        .args(["-print_final_stats=1"])
        .args([format!("-max_total_time={seconds}")])
        .with(|command| home.apply(command))
        .into_command()
        .stderr(Stdio::piped())
        .spawn()?;
    let output = child
        .stderr
        .take()
        .expect("standard error was asked for as a pipe");
    let mut tried = None;
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        if let Some(number) = line.strip_prefix(EXECUTED) {
            tried = number.trim().parse().ok();
        }
    }
    let ended_well = child.wait()?.success();
    Ok(Fuzzed {
        target: target.to_owned(),
        tried: tried.filter(|_| ended_well),
        failed_on: written_since(&root().join("fuzz/artifacts").join(target), began),
    })
}

/// The files of a folder that were written since then, by name. None when there is no such folder.
fn written_since(folder: &Path, began: SystemTime) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            entry
                .metadata()
                .and_then(|metadata| metadata.modified())
                .is_ok_and(|written| written >= began)
        })
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

impl Fuzzed {
    fn ended_well(&self) -> bool {
        self.tried.is_some() && self.failed_on.is_empty()
    }

    /// A row for the page on performance.
    fn row(&self) -> String {
        let tried = self
            .tried
            .map_or_else(|| "stopped early".to_owned(), |tried| tried.to_string());
        let came = if self.ended_well() {
            String::new()
        } else if self.failed_on.is_empty() {
            "failed without an input".to_owned()
        } else {
            let names: Vec<String> = self
                .failed_on
                .iter()
                .map(|path| {
                    path.strip_prefix(root())
                        .unwrap_or(path)
                        .display()
                        .to_string()
                })
                .collect();
            format!("failed on {}", names.join(", "))
        };
        format!("| `{}` | {tried} | {came} |", self.target)
    }
}
