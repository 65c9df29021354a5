//! Changing a document of the user: only over the bytes the change was made for, following no link.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use skillopt_core::Problem;

use super::platform::{self, Folder};
use super::temporary::{ENDING, Temporary, temporary_name, temporary_prefix};
use super::{Expected, FileId, Found, NewFile, read_in, regular, split};
use crate::adoption::CreatedDir;
use crate::failpoints::{Family, step};
use crate::fault::io_problem;

/// Changes a document of the user: what is there must be `expected`, and becomes `bytes`.
///
/// Our own writers exclude each other by the lock of the document ([`crate::locks::document`]); the
/// checks here are against everybody else.
///
/// Gives the file that is there now. Errors: `file_changed` (it is not what the change was made
/// for; nothing was written), `file_is_link`, `file_not_regular`, `file_has_links`,
/// `folder_is_link` (a folder on the way is a link), and those of [`atomic_replace`](super::atomic_replace).
pub fn replace_pinned(
    path: &Path,
    expected: Expected<'_>,
    bytes: &[u8],
    new: NewFile,
) -> Result<FileId, Problem> {
    let (folder, name) = exact(path)?;
    let current = check(&folder, name, expected, path)?;
    let mut temporary = Temporary::write(&folder, name, bytes, new, current.as_ref(), path)?;
    let written = temporary.sync(path)?;
    check(&folder, name, expected, path)?;
    match expected {
        Expected::Absent => step(Family::Write, "create", || {
            folder.rename_new(&temporary.name, name)
        })
        .map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                changed(path)
            } else {
                io_problem(&error, "create", path)
            }
        })?,
        Expected::Bytes(sha256) => {
            let failed = |error: io::Error| io_problem(&error, "replace", path);
            if step(Family::Write, "exchange", || {
                folder.exchange(&temporary.name, name)
            })
            .map_err(failed)?
            {
                take_back_unless(&mut temporary, name, sha256, bytes, path)?;
                step(Family::Write, "remove", || folder.remove(&temporary.name)).map_err(failed)?;
            } else {
                step(Family::Write, "replace", || {
                    folder.rename(&temporary.name, name)
                })
                .map_err(failed)?;
            }
        }
    }
    temporary.gone();
    folder
        .sync()
        .map_err(|error| io_problem(&error, "write", path))?;
    Ok(written)
}

/// After an exchange the old bytes are under the temporary name. When they are not the expected
/// ones somebody was faster than the check: both names are exchanged back.
///
/// A temporary file that may hold the only copy of what a person wrote is never deleted.
pub(super) fn take_back_unless(
    temporary: &mut Temporary<'_>,
    name: &OsStr,
    sha256: &str,
    ours: &[u8],
    path: &Path,
) -> Result<(), Problem> {
    let folder = temporary.folder;
    temporary.present = false;
    let found = read_in(folder, temporary.name.as_ref(), path);
    if matches!(&found, Ok(Some(pinned)) if pinned.sha256 == sha256) {
        return Ok(());
    }
    folder
        .exchange(&temporary.name, name)
        .map_err(|error| io_problem(&error, "put back", path))?;
    temporary.present = matches!(read_in(folder, temporary.name.as_ref(), path), Ok(Some(pinned)) if pinned.bytes == ours);
    Err(found.err().unwrap_or_else(|| changed(path)))
}

/// Removes a document of the user that must have the SHA-256 `sha256`.
///
/// It first takes a temporary name, is checked there, and comes back when it is not the expected
/// one. Errors as [`replace_pinned`].
pub fn remove_pinned(path: &Path, sha256: &str) -> Result<(), Problem> {
    let (folder, name) = exact(path)?;
    check(&folder, name, Expected::Bytes(sha256), path)?;
    let aside = temporary_name(name);
    step(Family::Write, "set aside", || {
        folder.rename_new(name, &aside)
    })
    .map_err(|error| io_problem(&error, "remove", path))?;
    let found = read_in(&folder, aside.as_ref(), path);
    if !matches!(&found, Ok(Some(pinned)) if pinned.sha256 == sha256) {
        folder
            .rename_new(&aside, name)
            .map_err(|error| io_problem(&error, "put back", path))?;
        return Err(found.err().unwrap_or_else(|| changed(path)));
    }
    step(Family::Write, "remove", || folder.remove(&aside))
        .map_err(|error| io_problem(&error, "remove", path))?;
    folder
        .sync()
        .map_err(|error| io_problem(&error, "write", path))
}

/// Deals with what a killed process left in the folder of `path`. The caller holds the lock of the
/// document, whose journal says `before_sha256` and `after`.
///
/// When the document is missing and a temporary file has its old bytes, a removal was under way: the
/// file gets its name back. Temporary files with the old bytes, or with a beginning of the new ones,
/// are deleted. Any other has what somebody else wrote meanwhile; it is kept, and its path is given.
pub(crate) fn clear_temporaries(
    path: &Path,
    before_sha256: &str,
    after: &[u8],
) -> Result<Vec<PathBuf>, Problem> {
    let mut kept = Vec::new();
    let (Ok((folder, name)), Some(parent)) = (exact(path), path.parent()) else {
        return Ok(kept);
    };
    let prefix = temporary_prefix(name);
    let entries = std::fs::read_dir(parent).map_err(|error| io_problem(&error, "read", parent))?;
    for entry in entries.flatten() {
        let file_name = entry.file_name();
        let Some(text) = file_name.to_str() else {
            continue;
        };
        if !(text.starts_with(&prefix) && text.ends_with(ENDING)) {
            continue;
        }
        let Ok(Some(left)) = read_in(&folder, &file_name, &entry.path()) else {
            continue;
        };
        let old = !before_sha256.is_empty() && left.sha256 == before_sha256;
        let result = if old && matches!(folder.find(name), Ok(Found::Absent)) {
            folder.rename_new(text, name)
        } else if old || after.starts_with(&left.bytes) {
            folder.remove(text)
        } else {
            kept.push(entry.path());
            Ok(())
        };
        result.map_err(|error| io_problem(&error, "clean up", &entry.path()))?;
    }
    Ok(kept)
}

/// Makes the folders a document needs, as any program would (0777 less the umask), without following
/// links. Gives those that were missing, outermost first.
pub(crate) fn create_document_dirs(document: &Path) -> Result<Vec<CreatedDir>, Problem> {
    let mut missing: Vec<&Path> = Vec::new();
    for folder in document.ancestors().skip(1) {
        match std::fs::symlink_metadata(folder) {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(folder),
            Err(error) => return Err(io_problem(&error, "open", folder)),
        }
    }
    let mut created = Vec::new();
    for folder in missing.into_iter().rev() {
        let (parent, name) = exact(folder)?;
        let made = step(Family::Write, "create folder", || parent.create_dir(name))
            .and_then(|()| parent.sync())
            .and_then(|()| std::fs::symlink_metadata(folder));
        let file = platform::file_id(&made.map_err(|error| io_problem(&error, "create", folder))?);
        created.push(CreatedDir {
            path: folder.to_string_lossy().into_owned(),
            dev: file.dev,
            ino: file.ino,
        });
    }
    Ok(created)
}

/// Removes a folder that an adoption made, if it is still that one and empty.
pub(crate) fn remove_created_dir(dir: &CreatedDir) {
    let path = Path::new(&dir.path);
    let same = std::fs::symlink_metadata(path).is_ok_and(|metadata| {
        platform::file_id(&metadata)
            == FileId {
                dev: dir.dev,
                ino: dir.ino,
            }
    });
    if same {
        // Not empty any more: it is somebody's now.
        let _ = std::fs::remove_dir(path);
    }
}

/// The folder of a user's document, opened without following any link, and the document's name.
pub(super) fn exact(path: &Path) -> Result<(Folder, &OsStr), Problem> {
    let (parent, name) = split(path)?;
    let folder = Folder::open_exact(parent).map_err(|error| {
        if platform::is_link_error(&error) {
            Problem::permanent(
                "folder_is_link",
                format!("A folder on the way to {} was replaced by a link.", path.display()),
                "Nothing was written. If that is intended, run the night again so that the real path is used.",
            )
        } else {
            io_problem(&error, "open the folder of", path)
        }
    })?;
    Ok((folder, name))
}

/// What is there, when it is what was expected.
fn check(
    folder: &Folder,
    name: &OsStr,
    expected: Expected<'_>,
    path: &Path,
) -> Result<Option<(File, Metadata)>, Problem> {
    let pinned = read_in(folder, name, path)?;
    match (&pinned, expected) {
        (None, Expected::Absent) => return Ok(None),
        (Some(pinned), Expected::Bytes(sha256)) if pinned.sha256 == sha256 => {
            if pinned.links > 1 {
                return Err(has_links(path, pinned.links));
            }
        }
        _ => return Err(changed(path)),
    }
    regular(folder, name, path)?.map_or_else(|| Err(changed(path)), |found| Ok(Some(found)))
}

/// A document that is not what a change was made for.
pub(crate) fn changed(path: &Path) -> Problem {
    Problem::refused(
        "file_changed",
        format!(
            "{} has changed since the proposal was made.",
            path.display()
        ),
        "Nothing was written. Look at the change; `skillopt sleep run --again` makes a new proposal from it.",
    )
}

/// A document with several names.
pub(crate) fn has_links(path: &Path, links: u64) -> Problem {
    Problem::permanent(
        "file_has_links",
        format!(
            "{} is one file with {links} names (hard links); changing it under one name would separate them.",
            path.display()
        ),
        "Make it a file of its own (for example `cp file copy && mv copy file`), or name another document.",
    )
}
