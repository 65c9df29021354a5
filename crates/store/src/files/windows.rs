//! Files on Windows: by path, with patience for programs that hold a file open for a moment.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{FileId, Found};

/// A folder.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Names a folder; links on the way are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            Ok(Self(path.to_owned()))
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    /// Names a folder by its real path: a link or junction anywhere on the way is an error.
    pub(super) fn open_exact(path: &Path) -> io::Result<Self> {
        for folder in path.ancestors() {
            if std::fs::symlink_metadata(folder)?.is_symlink() {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "a folder on the way is a link",
                ));
            }
        }
        Self::open(path)
    }

    /// Owners are left to the system.
    pub(super) fn give_to_owner(&self, _new: &File) {}

    /// What is under `name`; a link is not followed.
    pub(super) fn find(&self, name: &OsStr) -> io::Result<Found> {
        let path = self.0.join(name);
        let metadata = match std::fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Absent),
            Err(error) => return Err(error),
        };
        if metadata.is_symlink() {
            Ok(Found::Link)
        } else if metadata.is_file() {
            let file = File::open(&path)?;
            let metadata = file.metadata()?;
            Ok(Found::File(file, metadata))
        } else {
            Ok(Found::Other)
        }
    }

    /// Makes a file that must not exist.
    pub(super) fn create_new(&self, name: &str, _mode: u32) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.0.join(name))
    }

    /// `from` takes the name `to`, whatever was there.
    pub(super) fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        let (from, to) = (self.0.join(from.as_ref()), self.0.join(to.as_ref()));
        patiently(|| std::fs::rename(&from, &to))
    }

    /// `from` takes the name `to`, which must be free.
    pub(super) fn rename_new(
        &self,
        from: impl AsRef<OsStr>,
        to: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        let (from, to) = (self.0.join(from.as_ref()), self.0.join(to.as_ref()));
        std::fs::hard_link(&from, &to)?;
        patiently(|| std::fs::remove_file(&from))
    }

    /// Windows cannot exchange two names in one step.
    pub(super) fn exchange(&self, _one: &str, _other: &OsStr) -> io::Result<bool> {
        Ok(false)
    }

    /// Makes a folder.
    pub(super) fn create_dir(&self, name: &OsStr) -> io::Result<()> {
        std::fs::create_dir(self.0.join(name))
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.0.join(name);
        patiently(|| std::fs::remove_file(&path))
    }

    /// The file system keeps its own journal of names.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Virus scanners and indexers hold files open for some milliseconds.
fn patiently(mut work: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let mut pause = Duration::from_millis(5);
    loop {
        match work() {
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied
                    && pause < Duration::from_secs(1) =>
            {
                std::thread::sleep(pause);
                pause *= 2;
            }
            result => return result,
        }
    }
}

/// Whether an error says that a link was met where none may be.
pub(super) fn is_link_error(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

/// 0o444 for read-only files, else 0o666.
pub(super) fn mode(metadata: &Metadata) -> u32 {
    if metadata.permissions().readonly() {
        0o444
    } else {
        0o666
    }
}

/// Unknown without an unstable interface.
pub(super) fn file_id(_metadata: &Metadata) -> FileId {
    FileId::default()
}

/// Unknown without an unstable interface.
pub(super) fn links(_metadata: &Metadata) -> u64 {
    1
}

/// Owners are left to the system, which gives a file that of its folder's access list.
pub(super) fn keeps_owner(_metadata: &Metadata) -> bool {
    true
}

/// Only the write bit exists.
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(mode & 0o222 == 0);
    file.set_permissions(permissions)
}

/// Gives `new` the write bit of the old file; its access list comes from the folder.
pub(super) fn take_over_attributes(new: &File, _old: &File, metadata: &Metadata) -> io::Result<()> {
    set_mode(new, mode(metadata))
}

/// Makes a folder and whatever is missing above it. Profiles are private by their access list.
pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Opens a file of ours for reading and writing, making it when it is missing.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Private by the access list of the profile.
pub(super) fn make_private(_path: &Path) -> io::Result<()> {
    Ok(())
}
