//! `cargo xtask fuzz`: libFuzzer over everything that reads hostile input.

use crate::Stop;
use crate::command::{cargo, root, rust_files};
use crate::needs;
use crate::private_home::PrivateHome;

/// Fuzzes each target for a number of seconds (60), or only the targets named.
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
    for target in if names.is_empty() { &all } else { names } {
        let corpus = format!("fuzz/corpus/{target}");
        std::fs::create_dir_all(root().join(&corpus))?;
        // Our crates are free of `unsafe`, so a sanitizer would find little and cost half the
        // speed. Coverage counters need nothing but flags that a stable compiler has.
        cargo(["fuzz", "run", "--sanitizer", "none", target, &corpus])
            .args([format!("fuzz/seeds/{target}")])
            .args(["--", "-rss_limit_mb=2048", "-timeout=10"])
            .args([format!("-max_total_time={seconds}")])
            .with(|command| home.apply(command))
            .run(&format!("fuzz {target}, {seconds} s"))?;
    }
    Ok(())
}
