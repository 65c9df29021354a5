//! Files on Unix: everything relative to an open folder, so that a folder that is moved or replaced
//! meanwhile cannot redirect a write.

use std::ffi::{CStr, OsStr};
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid};

use super::{FileId, Found};

/// An open folder.
pub(super) struct Folder(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Folder {
    /// Opens a folder; links on the way are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, FOLDER, Mode::empty())?))
    }

    /// Opens a folder by its real path: a link anywhere on the way is an error.
    pub(super) fn open_exact(path: &Path) -> io::Result<Self> {
        // A folder on the way need not be readable, only passable, where the system can say so.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let passing = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let passing = FOLDER | OFlags::NOFOLLOW;

        let mut components = path.components().peekable();
        if components.next() != Some(Component::RootDir) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the path is not absolute",
            ));
        }
        let mut folder = rustix::fs::open("/", FOLDER, Mode::empty())?;
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the path has a .. component",
                ));
            };
            let flags = if components.peek().is_some() {
                passing
            } else {
                FOLDER | OFlags::NOFOLLOW
            };
            folder = rustix::fs::openat(&folder, name, flags, Mode::empty()).map_err(|error| {
                let is_link = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| {
                        rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink()
                    });
                if is_link {
                    rustix::io::Errno::LOOP
                } else {
                    error
                }
            })?;
        }
        Ok(Self(folder))
    }

    /// What is under `name`; a link is not followed, a pipe is not waited for.
    pub(super) fn find(&self, name: &OsStr) -> io::Result<Found> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(fd) => {
                let file = File::from(fd);
                let metadata = file.metadata()?;
                Ok(if metadata.is_file() {
                    Found::File(file, metadata)
                } else {
                    Found::Other
                })
            }
            Err(rustix::io::Errno::NOENT) => Ok(Found::Absent),
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => Ok(Found::Link),
            // A socket, or a device that is not there.
            Err(rustix::io::Errno::NXIO | rustix::io::Errno::NODEV) => Ok(Found::Other),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a file that must not exist. The umask applies to `mode`.
    pub(super) fn create_new(&self, name: &str, mode: u32) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(raw_mode(mode)))?.into())
    }

    /// `from` takes the name `to`, whatever was there.
    pub(super) fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(rustix::fs::renameat(
            &self.0,
            from.as_ref(),
            &self.0,
            to.as_ref(),
        )?)
    }

    /// `from` takes the name `to`, which must be free.
    pub(super) fn rename_new(
        &self,
        from: impl AsRef<OsStr>,
        to: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::RenameFlags;
            match rustix::fs::renameat_with(&self.0, from, &self.0, to, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(()),
                Err(error) if unsupported(error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        match rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty()) {
            Ok(()) => Ok(rustix::fs::unlinkat(&self.0, from, AtFlags::empty())?),
            // No hard links on this file system: look, then rename.
            Err(error) if unsupported(error) || error == rustix::io::Errno::PERM => {
                match self.find(to)? {
                    Found::Absent => self.rename(from, to),
                    Found::Link | Found::Other | Found::File(..) => {
                        Err(io::ErrorKind::AlreadyExists.into())
                    }
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Exchanges two names in one step; `false` when this system or file system cannot.
    pub(super) fn exchange(&self, one: &str, other: &OsStr) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::RenameFlags;
            match rustix::fs::renameat_with(&self.0, one, &self.0, other, RenameFlags::EXCHANGE) {
                Ok(()) => Ok(true),
                Err(error) if unsupported(error) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        {
            let _ = (one, other);
            Ok(false)
        }
    }

    /// Makes a folder as any program would; it is whose this one is, where that is allowed.
    pub(super) fn create_dir(&self, name: &OsStr) -> io::Result<()> {
        rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?;
        if let Some((user, group)) = self.owner_beside(rustix::process::geteuid()) {
            let _ = rustix::fs::chownat(
                &self.0,
                name,
                Some(user),
                Some(group),
                AtFlags::SYMLINK_NOFOLLOW,
            );
        }
        Ok(())
    }

    /// Gives a new file to whoever the folder belongs to, where that is allowed: what root makes for
    /// somebody, as with sudo, they must be able to change.
    pub(super) fn give_to_owner(&self, new: &File) {
        if let Some((user, group)) = self.owner_beside(rustix::process::geteuid()) {
            let _ = rustix::fs::fchown(new, Some(user), Some(group));
        }
    }

    /// Whose the folder is, unless it is `us`.
    fn owner_beside(&self, us: Uid) -> Option<(Uid, Gid)> {
        let stat = rustix::fs::fstat(&self.0).ok()?;
        let owner = Uid::from_raw(stat.st_uid);
        (owner != us).then(|| (owner, Gid::from_raw(stat.st_gid)))
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// The names in the folder reach the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.0) {
            // Some network file systems cannot sync a folder.
            Err(rustix::io::Errno::INVAL) => Ok(()),
            other => Ok(other?),
        }
    }
}

fn unsupported(error: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&error)
}

/// Whether an error says that a link was met where none may be.
pub(super) fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const fn raw_mode(mode: u32) -> rustix::fs::RawMode {
    mode
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn raw_mode(mode: u32) -> rustix::fs::RawMode {
    (mode & 0o7777) as rustix::fs::RawMode
}

/// Permission bits.
pub(super) fn mode(metadata: &Metadata) -> u32 {
    metadata.mode() & 0o7777
}

/// Which file it is.
pub(super) fn file_id(metadata: &Metadata) -> FileId {
    FileId {
        dev: metadata.dev(),
        ino: metadata.ino(),
    }
}

/// How many names it has.
pub(super) fn links(metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// Whether a file is still its owner's after we have replaced it.
pub(super) fn keeps_owner(metadata: &Metadata) -> bool {
    let us = rustix::process::geteuid();
    us.is_root() || us.as_raw() == metadata.uid()
}

/// Gives an open file exactly this mode.
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode & 0o7777))
}

/// Gives `new` the owner (where that is allowed), extended attributes (where they are supported)
/// and mode of `old`.
pub(super) fn take_over_attributes(new: &File, old: &File, metadata: &Metadata) -> io::Result<()> {
    let current = new.metadata()?;
    if (current.uid(), current.gid()) != (metadata.uid(), metadata.gid()) {
        let both = std::os::unix::fs::fchown(new, Some(metadata.uid()), Some(metadata.gid()));
        if both.is_err() {
            // Only root may give a file away; the group can be one of ours.
            let _ = std::os::unix::fs::fchown(new, None, Some(metadata.gid()));
        }
    }
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    copy_extended_attributes(new, old);
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    let _ = old;
    // Last: changing the owner clears bits, and an access list can change the mode.
    set_mode(new, metadata.mode())
}

/// Access lists, labels and tags. What the system refuses to copy it sets itself.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn copy_extended_attributes(new: &File, old: &File) {
    const MOST: usize = 64 << 10;
    let mut names = vec![0_u8; MOST];
    let Ok(length) = rustix::fs::flistxattr(old, &mut names) else {
        return;
    };
    for name in names[..length].split_inclusive(|byte| *byte == 0) {
        let Ok(name) = CStr::from_bytes_with_nul(name) else {
            continue;
        };
        let mut value = vec![0_u8; MOST];
        if let Ok(length) = rustix::fs::fgetxattr(old, name, &mut value) {
            let _ =
                rustix::fs::fsetxattr(new, name, &value[..length], rustix::fs::XattrFlags::empty());
        }
    }
}

/// Makes a folder and whatever is missing above it, 0700, and syncs the names.
pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    path.parent()
        .map_or(Ok(()), |parent| Folder::open(parent)?.sync())
}

/// Opens a file of ours for reading and writing, making it 0600 when it is missing.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
}

/// Takes group and others their rights, if they have any.
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    let mode = std::fs::metadata(path)?.mode();
    if mode & 0o077 == 0 {
        Ok(())
    } else {
        std::fs::set_permissions(path, Permissions::from_mode(mode & 0o700))
    }
}
