//! Where the `claude` program is, although schedulers start us with a bare PATH.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillopt_core::Problem;

/// Finds the program: `configured` if set, else along `PATH` and in the places where installers
/// put it. `environment` is that of this process.
///
/// # Errors
/// `claude_not_found` with everything that was tried.
pub fn find(configured: &Path, environment: &BTreeMap<String, String>) -> Result<PathBuf, Problem> {
    if !configured.as_os_str().is_empty() {
        let path = with_home(configured, environment);
        if path.is_absolute() && is_program(&path) {
            return Ok(path);
        }
        let what = if path.is_absolute() {
            "is not a program that can be run"
        } else {
            "is not an absolute path"
        };
        return Err(not_found(&format!(
            "models.claude_path is set to {}, which {what}",
            path.display()
        )));
    }
    let tried = candidates(environment);
    if let Some(found) = tried.iter().find(|path| is_program(path)) {
        return Ok(found.clone());
    }
    let list: Vec<String> = tried
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Err(not_found(&format!(
        "The program claude was not found; tried: {}",
        list.join(", ")
    )))
}

fn not_found(message: &str) -> Problem {
    Problem::permanent(
        "claude_not_found",
        format!("{message}."),
        "Install Claude Code, or set models.claude_path to what `which claude` prints in your terminal.",
    )
}

fn with_home(path: &Path, environment: &BTreeMap<String, String>) -> PathBuf {
    match (path.strip_prefix("~"), home(environment)) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

fn home(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    ["HOME", "USERPROFILE"]
        .iter()
        .find_map(|name| environment.get(*name))
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
}

/// Names of the program, the most direct first.
const NAMES: &[&str] = if cfg!(windows) {
    &["claude.exe", "claude.cmd", "claude.bat"]
} else {
    &["claude"]
};

fn candidates(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(path) = environment.get("PATH").or_else(|| environment.get("Path")) {
        // A relative entry would take the program from whatever project we stand in.
        folders.extend(std::env::split_paths(path).filter(|folder| folder.is_absolute()));
    }
    if let Some(home) = home(environment) {
        let below = |rest: &str| home.join(rest);
        folders.extend([
            below(".local/bin"),
            below(".claude/local"),
            below(".claude/local/node_modules/.bin"),
            below(".npm-global/bin"),
            below(".bun/bin"),
            below(".volta/bin"),
            below(".asdf/shims"),
            below(".local/share/mise/shims"),
        ]);
        folders.extend(newest_first(&below(".nvm/versions/node"), "bin"));
        folders.extend(newest_first(
            &below(".local/share/fnm/node-versions"),
            "installation/bin",
        ));
    }
    if cfg!(windows) {
        for (variable, rest) in [("APPDATA", "npm"), ("LOCALAPPDATA", "Programs/claude")] {
            if let Some(folder) = environment.get(variable) {
                folders.push(Path::new(folder).join(rest));
            }
        }
    } else {
        folders.extend(
            [
                "/usr/local/bin",
                "/opt/homebrew/bin",
                "/home/linuxbrew/.linuxbrew/bin",
                "/usr/bin",
                "/snap/bin",
            ]
            .map(PathBuf::from),
        );
    }
    let mut seen = std::collections::BTreeSet::new();
    folders
        .into_iter()
        .flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)))
        .filter(|path| seen.insert(path.clone()))
        .collect()
}

/// `rest` below each version folder in `parent`, the highest version first.
fn newest_first(parent: &Path, rest: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return Vec::new();
    };
    let mut versions: Vec<(Vec<u64>, PathBuf)> = entries
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let numbers = name
                .split(|c: char| !c.is_ascii_digit())
                .filter_map(|part| part.parse().ok())
                .collect();
            (numbers, entry.path().join(rest))
        })
        .collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions.into_iter().map(|(_, path)| path).collect()
}

fn is_program(path: &Path) -> bool {
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::OpenOptionsExt as _;

    fn program(path: &Path, mode: u32) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(path)
            .unwrap();
    }

    fn environment(home: &Path, path: &str) -> BTreeMap<String, String> {
        [
            ("HOME".to_owned(), home.display().to_string()),
            ("PATH".to_owned(), path.to_owned()),
        ]
        .into()
    }

    #[test]
    fn found_with_a_bare_path_and_the_newest_node_first() {
        let home = tempfile::tempdir().unwrap();
        for version in ["v9.11.0", "v22.1.0", "v20.20.2"] {
            program(
                &home
                    .path()
                    .join(format!(".nvm/versions/node/{version}/bin/claude")),
                0o755,
            );
        }
        let environment = environment(home.path(), "/nowhere");
        assert_eq!(
            find(Path::new(""), &environment).unwrap(),
            home.path().join(".nvm/versions/node/v22.1.0/bin/claude")
        );
        program(&home.path().join(".local/bin/claude"), 0o644);
        assert!(
            find(Path::new(""), &environment)
                .unwrap()
                .to_string_lossy()
                .contains(".nvm"),
            "a file that cannot be run is passed over"
        );
        program(&home.path().join("pinned/claude"), 0o755);
        assert_eq!(
            find(Path::new("~/pinned/claude"), &environment).unwrap(),
            home.path().join("pinned/claude")
        );
    }

    #[test]
    fn what_was_tried_is_listed_and_relative_entries_are_not() {
        let home = tempfile::tempdir().unwrap();
        let environment = environment(home.path(), ".::bin:/some/where");
        let all = candidates(&environment);
        assert!(all.iter().all(|path| path.is_absolute()), "{all:?}");
        assert_eq!(all[0], Path::new("/some/where/claude"));
        if !all.iter().any(|path| is_program(path)) {
            let problem = find(Path::new(""), &environment).unwrap_err();
            assert_eq!(problem.code, "claude_not_found");
            for tried in [
                "/some/where/claude",
                ".local/bin/claude",
                "/usr/local/bin/claude",
            ] {
                assert!(problem.message.contains(tried), "{problem}");
            }
        }
        for configured in ["claude", "/nowhere/claude"] {
            let problem = find(Path::new(configured), &environment).unwrap_err();
            assert_eq!(problem.code, "claude_not_found");
            assert!(problem.message.contains(configured), "{problem}");
        }
    }
}
