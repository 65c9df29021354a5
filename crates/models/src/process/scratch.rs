//! Fresh directories for programs to work in.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use skillopt_core::own_call::SCRATCH_PREFIX;
use skillopt_store::real_path;
use tempfile::TempDir;

/// A fresh, empty directory that only this user can read. It is removed when it is dropped. Its name
/// begins with [`SCRATCH_PREFIX`]: readers of transcripts leave out sessions that ran in one.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// Makes one below the system's temporary directory.
    ///
    /// # Errors
    /// What the file system says.
    pub fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(SCRATCH_PREFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        // The real path, so that a program sees the same name that we would compare with.
        let parent = std::env::temp_dir();
        let parent = real_path(&parent).unwrap_or(parent);
        builder.tempdir_in(parent).map(Self)
    }

    /// Where it is; absolute.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Removes scratch directories older than `age` from `parent`, left behind by a crash or by a
/// program that still held a file open. What cannot be removed is left for the next time.
pub fn sweep_scratch(parent: &Path, now: SystemTime, age: Duration) {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let ours = entry
            .file_name()
            .to_string_lossy()
            .starts_with(SCRATCH_PREFIX);
        // Not followed: a link with this name is not a directory of ours.
        let Ok(metadata) = entry.path().symlink_metadata() else {
            continue;
        };
        let old = metadata
            .modified()
            .ok()
            .and_then(|at| now.duration_since(at).ok())
            .is_some_and(|since| since > age);
        if ours && old && metadata.is_dir() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_is_empty_ours_and_gone_afterwards() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        assert!(path.is_absolute());
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with(SCRATCH_PREFIX), "{name}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn sweeping_takes_old_directories_of_ours_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = parent.path().join(name);
            std::fs::create_dir(&path).unwrap();
            path
        };
        let ours = make("skillopt-call-left");
        let other = make("somebody-else");
        let now = SystemTime::now();
        let day = Duration::from_secs(86_400);
        sweep_scratch(parent.path(), now, day);
        assert!(ours.exists(), "a fresh one may be in use");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&other, parent.path().join("skillopt-call-link")).unwrap();
        sweep_scratch(parent.path(), now + 2 * day, day);
        assert!(!ours.exists());
        assert!(other.exists());
    }
}
