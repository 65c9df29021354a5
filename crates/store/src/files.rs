//! The one way any file is written.
//!
//! A file is replaced as a whole: a temporary file in the same folder, synced, takes its name in one
//! step, and the folder is synced. Readers see the old bytes or the new ones, never a mixture.
//! Nothing here follows a link in the last component of a path.
//!
//! Documents of the user are changed by [`replace_pinned`] and [`remove_pinned`]: their path has no
//! link in *any* component (see [`crate::documents::resolve`]), every component is opened without
//! following links, and the bytes that are replaced must be those the change was made for. Where the
//! system can exchange two names in one step (Linux, macOS) the bytes are checked once more after
//! the exchange and put back when somebody was faster, so that no edit of a person is overwritten.
//!
//! **Hard links.** A document with several names is refused (`file_has_links`): taking over its name
//! would quietly separate it from the others, and writing in place could tear it.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;

use crate::adoption::CreatedDir;
use crate::failpoints::{Family, step};
use crate::fault::io_problem;

#[cfg(unix)]
#[path = "files/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "files/windows.rs"]
mod platform;

use platform::Folder;

/// The largest document that is read, in bytes. Instruction files are a thousand times smaller.
pub const MAX_DOCUMENT: u64 = 8 << 20;

/// Beginning and end of the names of temporary files, which are safe to delete.
const TEMPORARY: (&str, &str) = (".skillopt-", ".tmp");

/// Which mode a file gets that did not exist. An existing file keeps mode, owner and attributes,
/// except that ours are private whatever they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFile {
    /// A document of the user: as any editor would make it (0666 less the umask).
    Document,
    /// Ours: 0600.
    Private,
    /// A document that is restored: exactly this mode.
    Mode(u32),
}

/// What names a file whatever its path: device and inode (file index on Windows; zeros if unknown).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FileId {
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
}

/// A file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Permission bits (0o7777); on Windows 0o444 or 0o666.
    pub mode: u32,
    /// Which file it was.
    pub file: FileId,
    /// How many names it has.
    pub links: u64,
    /// SHA-256 of `bytes`.
    pub sha256: String,
}

/// What must be there for a file to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected<'a> {
    /// No file.
    Absent,
    /// A file with this SHA-256.
    Bytes(&'a str),
}

impl<'a> Expected<'a> {
    /// From a stored hash, where the empty text means that there was no file.
    #[must_use]
    pub const fn from_sha256(sha256: &'a str) -> Self {
        if sha256.is_empty() {
            Self::Absent
        } else {
            Self::Bytes(sha256)
        }
    }
}

/// What is found under a name.
enum Found {
    Absent,
    Link,
    Other,
    File(File, Metadata),
}

/// Reads the file at `path`, or nothing when there is none. The last component is not followed.
///
/// Errors: `file_is_link`, `file_not_regular`, `document_too_large` (over [`MAX_DOCUMENT`]),
/// `file_changing` (it kept changing while it was read), `file_permission`, `file_io`.
pub fn read_pinned(path: &Path) -> Result<Option<Pinned>, Problem> {
    let (parent, name) = split(path)?;
    match Folder::open(parent) {
        Ok(folder) => read_in(&folder, name, path),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(io_problem(&error, "read", path)),
    }
}

fn read_in(folder: &Folder, name: &OsStr, path: &Path) -> Result<Option<Pinned>, Problem> {
    const TRIES: usize = 3;
    for _ in 0..TRIES {
        let Some((mut file, before)) = regular(folder, name, path)? else {
            return Ok(None);
        };
        if before.len() > MAX_DOCUMENT {
            return Err(Problem::permanent(
                "document_too_large",
                format!(
                    "{} has {} bytes; no instruction file is that large.",
                    path.display(),
                    before.len()
                ),
                "Name another file, or make it smaller.",
            ));
        }
        let mut bytes = Vec::new();
        let read = (&mut file).take(MAX_DOCUMENT + 1).read_to_end(&mut bytes);
        read.map_err(|error| io_problem(&error, "read", path))?;
        let after = file
            .metadata()
            .map_err(|error| io_problem(&error, "read", path))?;
        let unchanged =
            before.len() == after.len() && before.modified().ok() == after.modified().ok();
        if unchanged && bytes.len() as u64 == after.len() {
            return Ok(Some(Pinned {
                sha256: sha256_hex(&bytes),
                bytes,
                mode: platform::mode(&after),
                file: platform::file_id(&after),
                links: platform::links(&after),
            }));
        }
    }
    Err(Problem::temporary(
        "file_changing",
        format!("{} kept changing while it was read.", path.display()),
        "Try again when nothing writes to it.",
    ))
}

/// Replaces the file at `path`, or makes it; for our own files, whatever was there.
///
/// Folders on the way may be links; the file itself may not. Errors: `file_is_link`,
/// `file_not_regular`, `disk_full`, `data_dir_read_only`, `file_permission`, `file_io`. On an error
/// the old file is as it was.
pub fn atomic_replace(path: &Path, bytes: &[u8], new: NewFile) -> Result<(), Problem> {
    let (parent, name) = split(path)?;
    let folder = Folder::open(parent).map_err(|error| io_problem(&error, "write", path))?;
    let current = regular(&folder, name, path)?;
    let mut temporary = Temporary::write(&folder, name, bytes, new, current.as_ref(), path)?;
    temporary.sync(path)?;
    temporary.take_name(name, path)?;
    folder
        .sync()
        .map_err(|error| io_problem(&error, "write", path))
}

/// Writes one of our own files: 0600, in a folder made (0700) when it is missing.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    if let Some(parent) = path.parent() {
        create_private_dir(parent)?;
    }
    atomic_replace(path, bytes, NewFile::Private)
}

/// Writes several of our own files into a folder that is made when it is missing. The last one is
/// there only if all others are. The disk is waited for together, not once for each.
///
/// Errors: those of [`atomic_replace`]; a file that was not reached is as it was.
pub fn write_private_set(folder: &Path, files: &[(&str, &[u8])]) -> Result<(), Problem> {
    create_private_dir(folder)?;
    let failed = |error: io::Error| io_problem(&error, "write", folder);
    let opened = Folder::open(folder).map_err(failed)?;
    let mut written = Vec::new();
    for (name, bytes) in files {
        let (path, name) = (folder.join(name), OsStr::new(name));
        let current = regular(&opened, name, &path)?;
        let temporary = Temporary::write(
            &opened,
            name,
            bytes,
            NewFile::Private,
            current.as_ref(),
            &path,
        )?;
        written.push((temporary, name, path));
    }
    for (temporary, _, path) in &mut written {
        temporary.sync(path)?;
    }
    let last = written.pop();
    for (temporary, name, path) in written {
        temporary.take_name(name, &path)?;
    }
    opened.sync().map_err(failed)?;
    if let Some((temporary, name, path)) = last {
        temporary.take_name(name, &path)?;
    }
    opened.sync().map_err(failed)
}

/// Makes a folder of ours with whatever is missing above it, 0700. One that exists is left as it is.
pub fn create_private_dir(path: &Path) -> Result<(), Problem> {
    if path.is_dir() {
        return Ok(());
    }
    step(Family::Write, "create folder", || {
        platform::create_private_dir(path)
    })
    .map_err(|error| io_problem(&error, "create", path))
}

/// Changes a document of the user: what is there must be `expected`, and becomes `bytes`.
///
/// Our own writers exclude each other by the lock of the document ([`crate::locks::document`]); the
/// checks here are against everybody else.
///
/// Gives the file that is there now. Errors: `file_changed` (it is not what the change was made
/// for; nothing was written), `file_is_link`, `file_not_regular`, `file_has_links`,
/// `folder_is_link` (a folder on the way is a link), and those of [`atomic_replace`].
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
fn take_back_unless(
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
        if !(text.starts_with(&prefix) && text.ends_with(TEMPORARY.1)) {
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

/// Whether links lead back to themselves.
pub(crate) fn is_link_loop(error: &io::Error) -> bool {
    platform::is_link_error(error)
}

/// A note that may be lost or torn: who holds a lock, in words.
pub(crate) fn write_note(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = platform::create_private(path)?;
    file.set_len(0)?;
    file.write_all(bytes)
}

/// Opens one of our own files for locking or for SQLite, making it (0600) when it is missing.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    platform::create_private(path)
}

/// Takes group and others their rights to one of our own files, if they have any.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    platform::make_private(path)
}

/// A temporary file; deleted unless it took its name.
struct Temporary<'a> {
    folder: &'a Folder,
    name: String,
    file: File,
    present: bool,
}

impl<'a> Temporary<'a> {
    fn write(
        folder: &'a Folder,
        document: &OsStr,
        bytes: &[u8],
        new: NewFile,
        current: Option<&(File, Metadata)>,
        path: &Path,
    ) -> Result<Self, Problem> {
        let failed = |error: io::Error| io_problem(&error, "write", path);
        let open_mode = match (current, new) {
            (None, NewFile::Document) => 0o666,
            _ => 0o600,
        };
        let name = temporary_name(document);
        let mut temporary = Self {
            folder,
            file: folder.create_new(&name, open_mode).map_err(failed)?,
            name,
            present: true,
        };
        let file = &mut temporary.file;
        file.write_all(bytes).map_err(failed)?;
        match (current, new) {
            (_, NewFile::Private) => {}
            (Some((old, metadata)), _) => {
                platform::take_over_attributes(file, old, metadata).map_err(failed)?;
            }
            (None, NewFile::Mode(mode)) => platform::set_mode(file, mode).map_err(failed)?,
            (None, NewFile::Document) => {}
        }
        Ok(temporary)
    }

    /// Waits until its bytes are on the disk. Gives which file it is.
    fn sync(&mut self, path: &Path) -> Result<FileId, Problem> {
        step(Family::Write, "write temporary file", || {
            self.file.sync_all()
        })
        .and_then(|()| self.file.metadata())
        .map(|metadata| platform::file_id(&metadata))
        .map_err(|error| io_problem(&error, "write", path))
    }

    /// It becomes the file `name`, whatever was there.
    fn take_name(self, name: &OsStr, path: &Path) -> Result<(), Problem> {
        step(Family::Write, "replace", || {
            self.folder.rename(&self.name, name)
        })
        .map_err(|error| io_problem(&error, "replace", path))?;
        self.gone();
        Ok(())
    }

    /// The temporary name is free again.
    fn gone(mut self) {
        self.present = false;
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.present {
            // The failure that brought us here is reported; a leftover is cleared at the next start.
            let _ = self.folder.remove(&self.name);
        }
    }
}

/// A new name for a temporary file of the document `name`.
fn temporary_name(name: &OsStr) -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = std::hash::RandomState::new().build_hasher().finish();
    format!("{}{random:016x}{}", temporary_prefix(name), TEMPORARY.1)
}

/// How the temporary files of the document `name` begin, so that its neighbours' are left alone.
fn temporary_prefix(name: &OsStr) -> String {
    let hash = sha256_hex(name.as_encoded_bytes());
    format!("{}{}-", TEMPORARY.0, &hash[..12])
}

/// The folder of a user's document, opened without following any link, and the document's name.
fn exact(path: &Path) -> Result<(Folder, &OsStr), Problem> {
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

fn regular(
    folder: &Folder,
    name: &OsStr,
    path: &Path,
) -> Result<Option<(File, Metadata)>, Problem> {
    match folder
        .find(name)
        .map_err(|error| io_problem(&error, "open", path))?
    {
        Found::Absent => Ok(None),
        Found::File(file, metadata) => Ok(Some((file, metadata))),
        Found::Link => Err(Problem::permanent(
            "file_is_link",
            format!(
                "{} is a link; writing to it would replace the link by a file.",
                path.display()
            ),
            "Nothing was written. Name the file it points to.",
        )),
        Found::Other => Err(Problem::permanent(
            "file_not_regular",
            format!("{} is not a regular file.", path.display()),
            "Nothing was written. Name a file.",
        )),
    }
}

fn split(path: &Path) -> Result<(&Path, &OsStr), Problem> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((
            if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            },
            name,
        )),
        _ => Err(Problem::permanent(
            "file_not_regular",
            format!("{} does not name a file.", path.display()),
            "Name a file.",
        )),
    }
}

/// A document that is not what a change was made for.
pub(crate) fn changed(path: &Path) -> Problem {
    Problem::permanent(
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

#[cfg(test)]
#[path = "files/tests.rs"]
mod tests;
