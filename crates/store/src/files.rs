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
use std::path::Path;

use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;

use crate::failpoints::{Family, step};
use crate::fault::io_problem;

#[cfg(unix)]
#[path = "files/unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "files/windows.rs"]
mod platform;

#[path = "files/document.rs"]
mod document;
#[path = "files/temporary.rs"]
mod temporary;

pub(crate) use document::{
    changed, clear_temporaries, create_document_dirs, has_links, remove_created_dir,
};
pub use document::{remove_pinned, replace_pinned};
use platform::Folder;
use temporary::Temporary;
pub use temporary::{sweep, sweep_file};

/// The largest document that is read, in bytes. Instruction files are a thousand times smaller.
pub const MAX_DOCUMENT: u64 = 8 << 20;

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
    /// Whether it is still its owner's after it is changed: it is ours, or we may give files away.
    pub keeps_owner: bool,
    /// SHA-256 of `bytes`.
    pub sha256: String,
}

impl Pinned {
    /// Whether its owner may not write it.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.mode & 0o200 == 0
    }
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
                keeps_owner: platform::keeps_owner(&after),
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

/// Whether a folder of ours can be written, also before it is made: a file is made there, or in the next
/// folder above it that exists, and removed again.
///
/// Errors: `disk_full`, `data_dir_read_only`, `file_permission`, `file_io`.
pub fn check_writable(folder: &Path) -> Result<(), Problem> {
    let existing = folder
        .ancestors()
        .find(|above| above.exists())
        .unwrap_or(folder);
    let opened = Folder::open(existing).map_err(|error| io_problem(&error, "write", folder))?;
    let name = OsStr::new("check");
    Temporary::write(&opened, name, b"", NewFile::Private, None, folder).map(drop)
}

/// Which file is at `path` now; links are followed.
pub(crate) fn file_id(path: &Path) -> io::Result<FileId> {
    std::fs::metadata(path).map(|metadata| platform::file_id(&metadata))
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

#[cfg(test)]
#[path = "files/tests.rs"]
mod tests;
