//! Where an agent's program is, although schedulers start us with a bare PATH.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skillopt_core::Problem;

use super::places::{Place, System, known_places};
use super::{About, Options};
use crate::cancel::CancelToken;
use crate::process::{Limits, Program, Reading, Scratch, absolute_folders, is_program, run};

/// How long the user's shell may take to set itself up.
const SHELL: Limits = Limits {
    first_byte: Duration::from_secs(20),
    whole: Duration::from_secs(20),
    output: 1024 * 1024,
};

/// A program, and the search path it was found on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// The search path of the user's login shell, when that had to be asked for.
    pub(super) login_path: Option<String>,
}

/// Finds the program: the one that is configured, else along `PATH`, in the places where installers
/// put it, and along the `PATH` of the user's login shell.
///
/// # Errors
/// `agent_not_found` with everything that was tried.
pub(super) async fn find(
    about: &About,
    options: &Options,
    cancel: &CancelToken,
) -> Result<Found, Problem> {
    let environment = &options.environment;
    let found = |path: PathBuf, login_path| Found { path, login_path };
    if !options.path.as_os_str().is_empty() {
        return pinned(about, &options.path).map(|path| found(path, None));
    }
    let mut tried = candidates(about, folders(environment));
    if let Some(path) = tried.iter().find(|path| is_program(path)) {
        return Ok(found(path.clone(), None));
    }
    if let Some(path) = login_path(environment, cancel).await {
        let more = candidates(about, absolute_folders(&path));
        if let Some(program) = more.iter().find(|path| is_program(path)) {
            return Ok(found(program.clone(), Some(path)));
        }
        tried.extend(
            more.into_iter()
                .filter(|path| !tried.contains(path))
                .collect::<Vec<_>>(),
        );
    }
    let list: Vec<String> = tried
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    Err(not_found(
        about,
        &format!("The program {} was not found", about.programs[0]),
        &format!(" It was looked for at {}.", list.join(", ")),
    ))
}

fn pinned(about: &About, path: &Path) -> Result<PathBuf, Problem> {
    if path.is_absolute() && is_program(path) {
        return Ok(path.to_owned());
    }
    let what = if path.is_absolute() {
        "is not a program that can be run"
    } else {
        "is not an absolute path"
    };
    Err(not_found(
        about,
        &format!(
            "{} is set to {}, which {what}",
            about.path_setting,
            path.display()
        ),
        "",
    ))
}

/// `tried` follows what to do: it is long.
fn not_found(about: &About, message: &str, tried: &str) -> Problem {
    Problem::permanent(
        "agent_not_found",
        format!("{message}."),
        format!(
            "Install {}, or set {} to what `which {}` prints in your terminal.{tried}",
            about.title, about.path_setting, about.programs[0]
        ),
    )
}

/// The `PATH` that the user's login shell sets up. A scheduler's is shorter than that of a terminal.
async fn login_path(
    environment: &BTreeMap<String, String>,
    cancel: &CancelToken,
) -> Option<String> {
    let shell = environment.get("SHELL").map(PathBuf::from)?;
    if cfg!(windows) || !shell.is_absolute() || !is_program(&shell) {
        return None;
    }
    let scratch = Scratch::new().ok()?;
    let passed = ["HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG"];
    let program = Program {
        path: shell,
        // Shells differ in what they understand; all of them start a program called env.
        arguments: ["-l", "-c", "env"].map(Into::into).to_vec(),
        environment: environment
            .iter()
            .filter(|(name, _)| passed.contains(&name.as_str()))
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        limits: SHELL,
        reading: Reading::Bytes,
    };
    let printed = run(&program, &scratch, b"", cancel.cancelled())
        .await
        .ok()?
        .output;
    // The last one: what start-up files print comes first.
    String::from_utf8_lossy(&printed)
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("PATH=").map(str::to_owned))
}

/// The folders of `PATH`, and those where installers put programs.
fn folders(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(path) = environment.get("PATH").or_else(|| environment.get("Path")) {
        folders.extend(absolute_folders(path));
    }
    for place in known_places(System::HERE, environment) {
        match place {
            Place::Folder(folder) => folders.push(folder),
            Place::Versions(parent, rest) => folders.extend(newest_first(&parent, rest)),
        }
    }
    folders
}

/// Everything the program may be in these folders, the most direct first.
fn candidates(about: &About, folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let endings: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd", ".bat"]
    } else {
        &[""]
    };
    let mut seen = std::collections::BTreeSet::new();
    folders
        .into_iter()
        .flat_map(|folder| {
            about.programs.iter().flat_map(move |name| {
                let folder = folder.clone();
                endings
                    .iter()
                    .map(move |ending| folder.join(format!("{name}{ending}")))
            })
        })
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::agent_cli::SignIn;
    use crate::{claude, codex};
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::sync::Arc;

    fn program(path: &Path, mode: u32, text: &str) {
        use std::io::Write as _;
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    fn options(home: &Path, path: &str, configured: &str) -> Options {
        Options {
            path: PathBuf::from(configured),
            model: String::new(),
            effort: String::new(),
            temperature: None,
            sign_in: SignIn::Subscription,
            environment: [
                ("HOME".to_owned(), home.display().to_string()),
                ("PATH".to_owned(), path.to_owned()),
            ]
            .into(),
            memory: None,
            first_byte: Duration::from_secs(1),
            whole: Duration::from_secs(1),
            clock: Arc::new(skillopt_store::SystemClock),
            zone: jiff::tz::TimeZone::UTC,
        }
    }

    async fn found(options: &Options) -> Result<Found, Problem> {
        find(&claude::ABOUT, options, &CancelToken::new()).await
    }

    #[tokio::test]
    async fn found_with_a_bare_path_and_the_newest_node_first() {
        let home = tempfile::tempdir().unwrap();
        let at = |rest: &str| home.path().join(rest);
        for version in ["v9.11.0", "v22.1.0", "v20.20.2"] {
            program(
                &at(&format!(".nvm/versions/node/{version}/bin/claude")),
                0o755,
                "",
            );
        }
        let options_of = |configured: &str| options(home.path(), "/nowhere", configured);
        let newest = Found {
            path: at(".nvm/versions/node/v22.1.0/bin/claude"),
            login_path: None,
        };
        assert_eq!(found(&options_of("")).await.unwrap(), newest);
        program(&at(".local/bin/claude"), 0o644, "");
        assert_eq!(
            found(&options_of("")).await.unwrap(),
            newest,
            "a file that cannot be run is passed over"
        );
        program(&at("pinned/claude"), 0o755, "");
        assert_eq!(
            found(&options_of(at("pinned/claude").to_str().unwrap()))
                .await
                .unwrap()
                .path,
            at("pinned/claude")
        );
    }

    #[tokio::test]
    async fn the_login_shell_knows_more_places() {
        let home = tempfile::tempdir().unwrap();
        let odd = home.path().join("odd place/bin");
        program(&odd.join("codex"), 0o755, "");
        let shell = home.path().join("shell");
        program(
            &shell,
            0o755,
            &format!(
                "#!/bin/sh\necho PATH=a greeting\necho \"PATH={}:/usr/bin\"\n",
                odd.display()
            ),
        );
        let mut options = options(home.path(), "/nowhere", "");
        options
            .environment
            .insert("SHELL".into(), shell.display().to_string());
        let found = find(&codex::ABOUT, &options, &CancelToken::new())
            .await
            .unwrap();
        assert_eq!(found.path, odd.join("codex"));
        assert_eq!(
            found.login_path,
            Some(format!("{}:/usr/bin", odd.display()))
        );
    }

    #[tokio::test]
    async fn a_place_that_a_variable_names_is_looked_at() {
        let home = tempfile::tempdir().unwrap();
        let claude = home.path().join("pnpm home/claude");
        program(&claude, 0o755, "");
        let mut options = options(home.path(), "/nowhere", "");
        let folder = claude.parent().unwrap().display().to_string();
        options.environment.insert("PNPM_HOME".into(), folder);
        assert_eq!(found(&options).await.unwrap().path, claude);
    }

    #[tokio::test]
    async fn what_was_tried_is_listed_and_relative_entries_are_not() {
        let home = tempfile::tempdir().unwrap();
        let options_of = |configured: &str| options(home.path(), ".::bin:/some/where", configured);
        let all = candidates(&claude::ABOUT, folders(&options_of("").environment));
        assert!(all.iter().all(|path| path.is_absolute()), "{all:?}");
        assert_eq!(all[0], Path::new("/some/where/claude"));
        if !all.iter().any(|path| is_program(path)) {
            let problem = found(&options_of("")).await.unwrap_err();
            assert_eq!(problem.code, "agent_not_found");
            for tried in [
                "/some/where/claude",
                ".local/bin/claude",
                "/usr/local/bin/claude",
            ] {
                assert!(problem.guidance.contains(tried), "{problem}");
            }
        }
        for configured in ["claude", "/nowhere/claude"] {
            let problem = found(&options_of(configured)).await.unwrap_err();
            assert_eq!(problem.code, "agent_not_found");
            assert!(problem.message.contains(configured), "{problem}");
        }
    }
}
