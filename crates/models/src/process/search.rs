//! Programs along a search path, in whole paths only: a relative entry, and an empty one, would take a
//! program from whatever project we stand in.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folders of a search path.
pub(crate) fn absolute_folders(path: impl AsRef<OsStr>) -> Vec<PathBuf> {
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .collect()
}

/// Whether there is a program that may be run.
pub(crate) fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    {
        metadata.is_file()
    }
}

/// A program of the system, such as `git`, found along our `PATH`. What it starts itself is found in the same
/// folders.
///
/// # Errors
/// `NotFound` when it is in none of them.
pub fn system_program(name: &str) -> io::Result<Command> {
    let folders = absolute_folders(std::env::var_os("PATH").unwrap_or_default());
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let found = folders.iter().map(|folder| folder.join(&file));
    let Some(program) = found.into_iter().find(|path| is_program(path)) else {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "it is in no folder of PATH that begins at the root",
        ));
    };
    let mut command = Command::new(program);
    // They were separated by the same sign, so that they can be put together again.
    if let Ok(path) = std::env::join_paths(folders) {
        command.env("PATH", path);
    }
    Ok(command)
}
