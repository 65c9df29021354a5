//! Hand-off folders: questions and answers in plain files. They are evidence like the bodies in the
//! database, and go when those go.
//!
//! `handoff/<project>` has the open questions; a night that is complete puts it aside as
//! `handoff/<project>.night<number>.done`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::Connection;
use skillopt_core::{Instant, Problem};

use super::{handoff, tree};
use crate::fault::{Fault, io_problem};
use crate::paths::Paths;
use crate::store::Store;

/// Every hand-off folder with the name of its project, in order.
fn all(paths: &Paths) -> Result<Vec<(String, PathBuf)>, Problem> {
    let folder = handoff(paths);
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io_problem(&error, "read", &folder)),
    };
    let mut found: Vec<(String, PathBuf)> = entries
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let project = name
                .split_once(".night")
                .map_or(name.as_str(), |(id, _)| id);
            (project.to_owned(), entry.path())
        })
        .collect();
    found.sort();
    Ok(found)
}

/// The hand-off folders of one project, those put aside too.
pub(super) fn of_project(paths: &Paths, project: &str) -> Result<Vec<PathBuf>, Problem> {
    Ok(all(paths)?
        .into_iter()
        .filter(|(id, _)| id == project)
        .map(|(_, folder)| folder)
        .collect())
}

/// The hand-off folders that no night waits for, last written before an instant.
pub(super) fn done(db: &Connection, paths: &Paths, before: Instant) -> Result<Vec<PathBuf>, Fault> {
    let mut waiting = db.prepare("SELECT DISTINCT project FROM night WHERE state <> 'ended'")?;
    let waiting: BTreeSet<String> = waiting
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    for (project, folder) in all(paths)? {
        let open = paths.handoff(&project) == folder && waiting.contains(&project);
        let written = std::fs::metadata(&folder)
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|time| Instant::try_from(time).ok());
        if !open && written.is_none_or(|written| written < before) {
            found.push(folder);
        }
    }
    Ok(found)
}

/// Deletes the hand-off folders of a project that no night waits for, last written before an instant;
/// how many.
pub fn expire(
    store: &Store,
    paths: &Paths,
    project: &str,
    before: Instant,
) -> Result<usize, Problem> {
    let of_project = of_project(paths, project)?;
    let mut folders = store.read(|db| done(db, paths, before))?;
    folders.retain(|folder| of_project.contains(folder));
    for folder in &folders {
        tree::remove(folder)?;
    }
    Ok(folders.len())
}
