//! The processes of this machine, as `/proc` has them.

use std::fs;

/// The processes below this one, those right below it first.
#[must_use]
pub fn below(process: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            Some((process, parent(process)?))
        })
        .collect();
    let mut found = vec![process];
    let mut looked = 0;
    while let Some(&above) = found.get(looked) {
        let children = parents.iter().filter(|(_, parent)| *parent == above);
        found.extend(children.map(|(process, _)| process));
        looked += 1;
    }
    found.split_off(1)
}

fn parent(process: u32) -> Option<u32> {
    fields(process)?.get(1)?.parse().ok()
}

/// What `/proc/…/stat` has after the name of the process: its state, its parent, and so on.
#[must_use]
pub fn fields(process: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = text.rsplit_once(')')?;
    Some(after_name.split_whitespace().map(str::to_owned).collect())
}

/// The name of a process, at most 15 characters of it.
#[must_use]
pub fn name(process: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Whether it has ended, or only waits to be buried.
#[must_use]
pub fn has_ended(process: u32) -> bool {
    fields(process).is_none_or(|fields| fields.first().is_some_and(|state| state == "Z"))
}

/// Sends it a signal, by the name of `kill`.
///
/// # Panics
/// When there is no such process.
pub fn signal(process: u32, name: &str) {
    let status = std::process::Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status();
    assert!(status.expect("kill").success(), "kill -{name} {process}");
}
