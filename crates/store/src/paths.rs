//! The folders of SkillOpt: one for data, one for configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillopt_core::Problem;

/// Names the data folder (overrides the `location` file and the default).
pub const DATA_VARIABLE: &str = "SKILLOPT_DATA_DIR";
/// Names the configuration folder.
pub const CONFIG_VARIABLE: &str = "SKILLOPT_CONFIG_DIR";

/// Name of the file that names the data folder.
const LOCATION: &str = "location";

/// The path with every link resolved, as agents and people write it: Windows itself begins such paths in
/// a way (`\\?\`) that many programs do not take.
///
/// # Errors
/// What the file system says; nothing may be there.
pub fn real_path(path: &Path) -> std::io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// Where everything of ours is. Nothing is created until it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Database, staged bundles, backups, hand-off questions, locks.
    pub data: PathBuf,
    /// What the user writes: settings, prompt overrides, and the `location` file.
    pub config: PathBuf,
    /// Whether `SKILLOPT_DATA_DIR` names the data folder, so that `data move` cannot take effect.
    pub data_fixed: bool,
}

impl Paths {
    /// The folders named by `env`, else the platform's usual ones.
    ///
    /// Data: `SKILLOPT_DATA_DIR`, else the path in the file `location` of the configuration folder
    /// (written by `data move`), else the platform's data folder. Relative values are refused
    /// (`path_not_absolute`), `HOME` included, and so are files (`folder_is_file`).
    pub fn from_env(env: &BTreeMap<String, String>) -> Result<Self, Problem> {
        let named = |variable: &str| {
            env.get(variable)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        if cfg!(unix)
            && let Some(home) = named("HOME")
        {
            // Everything of ours would lie in whatever folder a command is given in.
            absolute(home, "HOME")?;
        }
        let config = match named(CONFIG_VARIABLE) {
            Some(path) => no_file(absolute(path, CONFIG_VARIABLE)?, CONFIG_VARIABLE)?,
            None => usual(env)?.config,
        };
        let data = match named(DATA_VARIABLE) {
            Some(path) => no_file(absolute(path, DATA_VARIABLE)?, DATA_VARIABLE)?,
            None => match moved(&config)? {
                Some(path) => path,
                None => usual(env)?.data,
            },
        };
        Ok(Self {
            data,
            config,
            data_fixed: named(DATA_VARIABLE).is_some(),
        })
    }

    /// Both folders below `root`; for tests and demonstrations.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self {
            data: root.join("data"),
            config: root.join("config"),
            data_fixed: false,
        }
    }

    /// The database file.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.data.join("skillopt.db")
    }

    /// What becomes the database: a restored copy that is whole and has not been put in place yet.
    #[must_use]
    pub fn restored(&self) -> PathBuf {
        self.data.join("skillopt.db.restored")
    }

    /// Copies of the database made before each migration.
    #[must_use]
    pub fn copies(&self) -> PathBuf {
        self.data.join("copies")
    }

    /// Staged bundles, one folder per proposal.
    #[must_use]
    pub fn staging(&self) -> PathBuf {
        self.data.join("staging")
    }

    /// Bytes of the user's documents before an adoption, one folder per adoption.
    #[must_use]
    pub fn backups(&self) -> PathBuf {
        self.data.join("backups")
    }

    /// Questions and answers of the hand-off backend for one project.
    #[must_use]
    pub fn handoff(&self, project: &str) -> PathBuf {
        self.data.join("handoff").join(project)
    }

    /// What programs of agents have said about themselves.
    #[must_use]
    pub fn agents(&self) -> PathBuf {
        self.data.join("agents")
    }

    /// What the app said, and what nights printed that the app, the daemon or cron started.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.data.join("cron.log")
    }

    /// What was in it before that, once there was too much for one file.
    #[must_use]
    pub fn earlier_log(&self) -> PathBuf {
        self.data.join("cron.log.1")
    }

    /// Both, the newer one first.
    #[must_use]
    pub fn logs(&self) -> [PathBuf; 2] {
        [self.log(), self.earlier_log()]
    }

    /// Lock files. They may be deleted whenever nothing runs.
    #[must_use]
    pub fn locks(&self) -> PathBuf {
        self.data.join("locks")
    }

    /// The user's prompt overrides.
    #[must_use]
    pub fn prompts(&self) -> PathBuf {
        self.config.join("prompts.json")
    }

    /// The file that names the data folder after `data move`.
    #[must_use]
    pub fn location(&self) -> PathBuf {
        self.config.join(LOCATION)
    }
}

/// Where the platform keeps such folders.
struct Usual {
    data: PathBuf,
    config: PathBuf,
}

/// The platform's usual folders, as `env` has them: not always the environment of this process, since
/// `doctor` asks for that of a scheduled run. Where the platform has no variables for them, or `env` has
/// no home folder, the system is asked.
fn usual(env: &BTreeMap<String, String>) -> Result<Usual, Problem> {
    if cfg!(all(unix, not(target_os = "macos")))
        && let Some(home) = env.get("HOME").map(Path::new)
        && home.is_absolute()
    {
        // The XDG Base Directory Specification: a relative path is ignored.
        let base = |variable: &str, below_home: &str| {
            env.get(variable)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .unwrap_or_else(|| home.join(below_home))
                .join("skillopt")
        };
        return Ok(Usual {
            data: base("XDG_DATA_HOME", ".local/share"),
            config: base("XDG_CONFIG_HOME", ".config"),
        });
    }
    let system = directories::ProjectDirs::from("", "", "skillopt").ok_or_else(|| {
        Problem::permanent(
            "home_unknown",
            "Your home folder is not known.",
            format!("Set HOME, or {DATA_VARIABLE} and {CONFIG_VARIABLE}."),
        )
    })?;
    Ok(Usual {
        data: system.data_dir().to_owned(),
        config: system.config_dir().to_owned(),
    })
}

fn absolute(path: PathBuf, named_by: &str) -> Result<PathBuf, Problem> {
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Problem::permanent(
        "path_not_absolute",
        format!(
            "{named_by} names \"{}\", which is not an absolute path.",
            path.display()
        ),
        "Give the whole path, beginning at the root.",
    ))
}

/// A folder, or a place where one can be made.
fn no_file(path: PathBuf, named_by: &str) -> Result<PathBuf, Problem> {
    // What cannot be looked at is said when it is opened.
    if std::fs::metadata(&path).map_or(true, |there| there.is_dir()) {
        return Ok(path);
    }
    Err(Problem::permanent(
        "folder_is_file",
        format!("{named_by} names {}, which is no folder.", path.display()),
        format!("Set {named_by} to a folder, which may be a new one, or unset it."),
    ))
}

/// The data folder named by the `location` file, if there is one.
fn moved(config: &Path) -> Result<Option<PathBuf>, Problem> {
    let file = config.join(LOCATION);
    match std::fs::read_to_string(&file) {
        Ok(text) => absolute(
            PathBuf::from(text.trim_end_matches(['\r', '\n'])),
            &file.to_string_lossy(),
        )
        .map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(crate::fault::io_problem(&error, "read", &file)),
    }
}
