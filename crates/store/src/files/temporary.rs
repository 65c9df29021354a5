//! Temporary files, and what becomes of them when their process is killed.
//!
//! A process holds a lock of the operating system on each of its temporary files of our own, so that
//! [`sweep`] can tell one that is being written from one whose writer is gone.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::Path;

use skillopt_core::Problem;
use skillopt_core::hash::sha256_hex;

use super::NewFile;
use super::platform::{self, Folder};
use crate::failpoints::{Family, step};
use crate::fault::io_problem;
use crate::locks::Locked;

/// How the names of temporary files begin.
const BEGINNING: &str = ".skillopt-";
/// How they end.
pub(super) const ENDING: &str = ".tmp";
/// How many hexadecimal digits of the hash of a document's name are in that of its temporary files.
const NAME_DIGITS: usize = 12;
/// How many random ones follow.
const RANDOM_DIGITS: usize = 16;

/// A temporary file; deleted unless it took its name.
pub(super) struct Temporary<'a> {
    pub(super) folder: &'a Folder,
    pub(super) name: String,
    file: File,
    pub(super) present: bool,
}

impl<'a> Temporary<'a> {
    pub(super) fn write(
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
        let (file, name) = match new {
            NewFile::Private => create_locked(folder, document, open_mode),
            NewFile::Document | NewFile::Mode(_) => {
                let name = temporary_name(document);
                folder.create_new(&name, open_mode).map(|file| (file, name))
            }
        }
        .map_err(failed)?;
        let mut temporary = Self {
            folder,
            file,
            name,
            present: true,
        };
        let file = &mut temporary.file;
        file.write_all(bytes).map_err(failed)?;
        match (current, new) {
            (_, NewFile::Private) | (None, NewFile::Document) => folder.give_to_owner(file),
            (Some((old, metadata)), _) => {
                platform::take_over_attributes(file, old, metadata).map_err(failed)?;
            }
            (None, NewFile::Mode(mode)) => {
                folder.give_to_owner(file);
                platform::set_mode(file, mode).map_err(failed)?;
            }
        }
        Ok(temporary)
    }

    /// Waits until its bytes are on the disk. Gives which file it is.
    pub(super) fn sync(&mut self, path: &Path) -> Result<super::FileId, Problem> {
        step(Family::Write, "write temporary file", || {
            self.file.sync_all()
        })
        .and_then(|()| self.file.metadata())
        .map(|metadata| platform::file_id(&metadata))
        .map_err(|error| io_problem(&error, "write", path))
    }

    /// It becomes the file `name`, whatever was there.
    pub(super) fn take_name(self, name: &OsStr, path: &Path) -> Result<(), Problem> {
        step(Family::Write, "replace", || {
            self.folder.rename(&self.name, name)
        })
        .map_err(|error| io_problem(&error, "replace", path))?;
        self.gone();
        Ok(())
    }

    /// The temporary name is free again.
    pub(super) fn gone(mut self) {
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

/// Makes a temporary file and locks it. One that was swept, or is being swept, between its making and
/// its locking is given up for another.
fn create_locked(folder: &Folder, document: &OsStr, mode: u32) -> io::Result<(File, String)> {
    const TRIES: usize = 8;
    for _ in 0..TRIES {
        let name = temporary_name(document);
        let file = folder.create_new(&name, mode)?;
        match file.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => continue,
            // A file system that cannot lock: nothing is swept there either.
            Err(std::fs::TryLockError::Error(_)) => return Ok((file, name)),
            Ok(()) if platform::links(&file.metadata()?) > 0 => return Ok((file, name)),
            Ok(()) => {}
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Deletes the temporary files in `folder` whose writers are gone; for folders of ours in which no
/// document of a person lies. Files with any other name, and links, are left alone.
pub fn sweep(folder: &Path) {
    sweep_named(folder, is_temporary_name);
}

/// Deletes the temporary files of one file of ours whose writers are gone.
pub fn sweep_file(path: &Path) {
    if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
        let prefix = temporary_prefix(name);
        sweep_named(folder, |name| {
            name.starts_with(&prefix) && is_temporary_name(name)
        });
    }
}

fn sweep_named(folder: &Path, ours: impl Fn(&str) -> bool) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return; // Nothing there, or nothing to be seen: it is looked at again at the next start.
    };
    let left = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(&ours))
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path());
    for path in left {
        let Ok(file) = File::open(&path) else {
            continue;
        };
        let file = Locked(file);
        if file.0.try_lock().is_ok() {
            // What cannot be removed now is found again.
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Whether it is the name of a temporary file: exactly as [`temporary_name`] makes them.
fn is_temporary_name(name: &str) -> bool {
    let hex = |text: &str, digits: usize| {
        text.len() == digits
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    name.strip_prefix(BEGINNING)
        .and_then(|rest| rest.strip_suffix(ENDING))
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(name, random)| hex(name, NAME_DIGITS) && hex(random, RANDOM_DIGITS))
}

/// A new name for a temporary file of the document `name`.
pub(super) fn temporary_name(name: &OsStr) -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = std::hash::RandomState::new().build_hasher().finish();
    let digits = RANDOM_DIGITS;
    format!("{}{random:0digits$x}{ENDING}", temporary_prefix(name))
}

/// How the temporary files of the document `name` begin, so that its neighbours' are left alone.
pub(super) fn temporary_prefix(name: &OsStr) -> String {
    let hash = sha256_hex(name.as_encoded_bytes());
    format!("{BEGINNING}{}-", &hash[..NAME_DIGITS])
}
