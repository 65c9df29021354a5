//! The checkout that the tests are run from.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the workspace.
///
/// # Panics
/// Never: this crate lies below it.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate lies below the root")
        .into()
}

/// Folders of the workspace's members, sorted.
///
/// # Panics
/// When `crates/` cannot be listed.
#[must_use]
pub fn members() -> Vec<PathBuf> {
    let mut members: Vec<PathBuf> = fs::read_dir(root().join("crates"))
        .expect("crates/ is there")
        .map(|entry| entry.expect("crates/ can be listed").path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .chain(["src-tauri", "tests", "xtask"].map(|name| root().join(name)))
        .collect();
    members.sort();
    members
}

/// Files below a folder whose names end in `.` and `extension`, sorted; none when there is no such
/// folder.
#[must_use]
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
    {
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The text of a file.
///
/// # Panics
/// When it cannot be read.
#[must_use]
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
