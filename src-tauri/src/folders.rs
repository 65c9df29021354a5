//! Our own folders, shown by the file manager of the desktop.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use skillopt_app::Problem;
use skillopt_app::program::system_program;
use skillopt_app::types::Paths;
use skillopt_app::window::Folder;

use crate::surroundings;

fn path_of(folder: Folder, paths: &Paths) -> PathBuf {
    match folder {
        Folder::Data => paths.data.clone(),
        Folder::Settings => paths.config.clone(),
    }
}

/// What opens a folder on this system.
const OPENER: &str = if cfg!(windows) {
    "explorer"
} else if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Opens a folder. What the file manager does afterwards is not waited for.
pub(crate) fn open(folder: Folder) -> Result<(), Problem> {
    let path = path_of(folder, &surroundings::paths()?);
    open_with(OPENER, &path)
}

fn open_with(opener: &str, path: &Path) -> Result<(), Problem> {
    let refused = |why: String| {
        Problem::permanent(
            "folder_not_opened",
            format!("The folder {} could not be opened: {why}.", path.display()),
            "Open it in your file manager.",
        )
    };
    if !path.is_dir() {
        return Err(refused("it is not there yet".to_owned()));
    }
    let mut child = system_program(opener)
        .and_then(|mut opener| {
            opener
                .arg(path)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        })
        .map_err(|error| refused(format!("{opener} cannot be started: {error}")))?;
    // It may live as long as the file manager; somebody has to bury it.
    std::thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_given_to_the_opener_and_what_is_wrong_is_said() {
        let home = tempfile::tempdir().unwrap();
        let gone = open_with("true", &home.path().join("gone")).unwrap_err();
        assert_eq!(gone.code, "folder_not_opened");
        assert!(gone.message.contains("gone"));
        let missing = open_with("no-such-opener", home.path()).unwrap_err();
        assert!(
            missing.message.contains("no-such-opener"),
            "{}",
            missing.message
        );
        open_with("true", home.path()).unwrap();
    }
}
