//! Folders of ours as a whole: counted, copied, removed. Links are never followed.

use std::fs::{DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};

use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;

use crate::fault::io_problem;
use crate::files;

/// Bytes of all regular files below `folder`; 0 when it does not exist.
pub(super) fn bytes(folder: &Path) -> Result<u64, Problem> {
    Ok(list(folder)?.iter().map(|file| file.size).sum())
}

/// A regular file below a folder.
pub(super) struct Entry {
    /// Relative to the folder.
    pub(super) path: PathBuf,
    /// Bytes.
    pub(super) size: u64,
}

/// Every regular file below `folder`, in order; none when it does not exist.
pub(super) fn list(folder: &Path) -> Result<Vec<Entry>, Problem> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let path = folder.join(&relative);
        let entries: Vec<DirEntry> = match std::fs::read_dir(&path).and_then(Iterator::collect) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(io_problem(&error, "read", &path)),
        };
        for entry in entries {
            let metadata = entry
                .metadata()
                .map_err(|error| io_problem(&error, "read", &entry.path()))?;
            let relative = relative.join(entry.file_name());
            if metadata.is_dir() {
                open.push(relative);
            } else if metadata.is_file() {
                found.push(Entry {
                    path: relative,
                    size: metadata.len(),
                });
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// Copies every regular file below `from` to `to`, private and synced, and reads each copy back.
/// Gives files and bytes.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(u64, u64), Problem> {
    let mut bytes = 0;
    let files = list(from)?;
    for entry in &files {
        let (source, copy) = (from.join(&entry.path), to.join(&entry.path));
        if let Some(folder) = copy.parent() {
            files::create_private_dir(folder)?;
        }
        bytes += copy_file(&source, &copy)?.unwrap_or(0);
    }
    Ok((files.len() as u64, bytes))
}

/// Copies a file, private and synced, and reads the copy back. Gives its bytes; `None` when there is none.
pub(super) fn copy_file(source: &Path, copy: &Path) -> Result<Option<u64>, Problem> {
    let written = match std::fs::read(source) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_problem(&error, "read", source)),
    };
    files::write_private(copy, &written)?;
    let read = std::fs::read(copy).map_err(|error| io_problem(&error, "read", copy))?;
    if sha256_hex(&read) != sha256_hex(&written) {
        return Err(Problem::permanent(
            "copy_differs",
            format!("{} differs from what was copied there.", copy.display()),
            "Check the disk; the original is unchanged.",
        ));
    }
    Ok(Some(written.len() as u64))
}

/// Removes a folder and everything in it; nothing when it does not exist.
pub(super) fn remove(folder: &Path) -> Result<(), Problem> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_problem(&error, "remove", folder))
        }
        _ => Ok(()),
    }
}

/// Removes a file; nothing when it does not exist.
pub(super) fn remove_file(path: &Path) -> Result<(), Problem> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_problem(&error, "remove", path))
        }
        _ => Ok(()),
    }
}

/// The names in a folder reach the disk.
pub(super) fn sync(folder: &Path) -> Result<(), Problem> {
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| io_problem(&error, "write", folder))?;
    }
    Ok(())
}
