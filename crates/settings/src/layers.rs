//! Resolving the layers of settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillopt_core::Problem;

use crate::file;
use crate::kind::shown;
use crate::problems::{invalid, put, unknown, unknown_key};
use crate::resolved::{Given, Layer, Place, Resolved};
use crate::suggest::closest;
use crate::table::{ROWS, Restriction, Row, Settings, row};
use crate::value::Start;

/// The file a repository may have. It can only restrict.
pub const REPOSITORY_FILE: &str = ".skillopt.toml";

/// Where the user's settings files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigPaths {
    /// The user's settings.
    pub user: PathBuf,
    /// The folder of the settings for single projects.
    pub projects: PathBuf,
}

impl ConfigPaths {
    /// The files in this configuration folder: `settings.toml` and `projects/<id>.toml`.
    #[must_use]
    pub fn at(config: &Path) -> Self {
        Self {
            user: config.join("settings.toml"),
            projects: config.join("projects"),
        }
    }

    /// The settings for the project with this id. Anything but letters, digits, `-` and `_` in an id
    /// becomes `_`, so that no id names a file elsewhere.
    #[must_use]
    pub fn project(&self, id: &str) -> PathBuf {
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() || letter == '-' {
                letter
            } else {
                '_'
            }
        };
        self.projects.join(format!(
            "{}.toml",
            id.chars().map(plain).collect::<String>()
        ))
    }
}

/// The project whose settings are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRef {
    /// Its id, which survives moving the folder.
    pub id: String,
    /// Its folder.
    pub root: PathBuf,
}

/// Where and how a command is given.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The whole environment; only variables of ours are looked at, and an empty one counts as absent.
    pub environment: &'a BTreeMap<String, String>,
    /// Pairs of a flag's name (or a setting's) and its text, in the order given: of a list every one
    /// counts, of anything else the last.
    pub flags: &'a [(String, String)],
    /// The user's home folder: what `~` stands for in paths.
    pub home: &'a Path,
    /// The folder the command is given in: where relative paths of flags and variables begin.
    pub directory: &'a Path,
}

impl Invocation<'_> {
    /// Where the paths of a layer begin: at the folder of the file they stand in, else here.
    fn start<'a>(&'a self, place: &'a Place) -> Start<'a> {
        let folder = match place {
            Place::File { path, .. } => path.parent().unwrap_or(self.directory),
            Place::Variable(_) | Place::Flag(_) | Place::Command => self.directory,
        };
        Start {
            home: self.home,
            folder,
        }
    }
}

/// Variables that begin with `SKILLOPT_` and are no settings.
const OTHER_VARIABLES: &[&str] = &[
    "SKILLOPT_DATA_DIR",
    "SKILLOPT_CONFIG_DIR",
    "SKILLOPT_KILL_AT_COMMIT",
];
/// The reference's default models for agents (§2.5).
const AGENT_MODELS: &[(&str, &str)] = &[
    ("claude", "SKILLOPT_SLEEP_CLAUDE_MODEL"),
    ("codex", "SKILLOPT_SLEEP_CODEX_MODEL"),
    ("copilot", "SKILLOPT_SLEEP_COPILOT_MODEL"),
    ("cursor", "SKILLOPT_SLEEP_CURSOR_MODEL"),
    ("opencode", "SKILLOPT_SLEEP_OPENCODE_MODEL"),
    ("pi", "SKILLOPT_SLEEP_PI_MODEL"),
];

/// Resolves the layers.
#[derive(Debug)]
pub struct Layers;

impl Layers {
    /// The settings that hold, with whole paths.
    ///
    /// Errors: `config_unreadable`, `config_broken`, `setting_invalid`, `backend_unknown`,
    /// `setting_unknown` (a flag that does not exist), `fractions_invalid`. What is merely not used is a
    /// warning.
    pub fn load(
        paths: &ConfigPaths,
        project: Option<&ProjectRef>,
        invocation: &Invocation<'_>,
    ) -> Result<Resolved, Problem> {
        let mut loading = Loading::of(invocation);
        loading.file(&paths.user, Layer::User)?;
        let mut added = Vec::new();
        if let Some(project) = project {
            loading.file(&paths.project(&project.id), Layer::Project)?;
            added = loading.repository(&project.root.join(REPOSITORY_FILE))?;
        }
        loading.environment()?;
        loading.flags()?;
        loading.agents_model()?;
        loading.keep_added(added)?;
        let resolved = loading.resolved;
        skillopt_core::split::Fractions::new(
            resolved.settings.validation_fraction,
            resolved.settings.test_fraction,
        )?;
        Ok(resolved)
    }

    /// The settings of the layers under a file, for [`set`](crate::set): of the user's file the defaults,
    /// of a project's file the user's. Nothing above the file counts, least of all the file itself.
    ///
    /// Errors: those of reading the user's file.
    pub fn below(
        paths: &ConfigPaths,
        file: Layer,
        invocation: &Invocation<'_>,
    ) -> Result<Settings, Problem> {
        let mut loading = Loading::of(invocation);
        if file > Layer::User {
            loading.file(&paths.user, Layer::User)?;
        }
        Ok(loading.resolved.settings)
    }
}

/// The layers resolved so far.
struct Loading<'a> {
    resolved: Resolved,
    invocation: &'a Invocation<'a>,
}

impl<'a> Loading<'a> {
    fn of(invocation: &'a Invocation<'a>) -> Self {
        Self {
            resolved: Resolved::default(),
            invocation,
        }
    }

    /// Gives a row a value that was checked.
    fn give(
        &mut self,
        row: &'static Row,
        layer: Layer,
        place: &Place,
        value: Value,
    ) -> Result<(), Problem> {
        let value = row.kind.placed(value, self.invocation.start(place));
        put(&mut self.resolved.settings, row, value.clone(), place)?;
        self.resolved.given.push((
            row.key,
            Given {
                layer,
                place: place.to_string(),
                value,
            },
        ));
        Ok(())
    }

    fn file(&mut self, path: &Path, layer: Layer) -> Result<(), Problem> {
        for entry in file::read(path, false)?.unwrap_or_default() {
            let place = Place::File {
                path: path.to_owned(),
                line: entry.line,
            };
            let Some(row) = exact(&entry.key) else {
                self.unknown(&entry.key, &place);
                continue;
            };
            let value = row
                .kind
                .check(&entry.value)
                .map_err(|fault| invalid(row, &place, &fault))?;
            self.give(row, layer, &place, value)?;
        }
        Ok(())
    }

    fn unknown(&mut self, key: &str, place: &Place) {
        let (sentence, code) = unknown_key(key);
        self.resolved.warn(
            code,
            format!("{sentence} It stands {place} and is not used."),
        );
    }

    /// Takes from a repository's file what restricts. Returns what it added to lists.
    fn repository(&mut self, path: &Path) -> Result<Vec<Added>, Problem> {
        let mut added = Vec::new();
        for entry in file::read(path, true)?.unwrap_or_default() {
            let place = Place::File {
                path: path.to_owned(),
                line: entry.line,
            };
            let Some(row) = exact(&entry.key) else {
                self.unknown(&entry.key, &place);
                continue;
            };
            let Some(restriction) = row.repository else {
                self.refuse(row, &place, "a repository may not set it");
                continue;
            };
            let value = row
                .kind
                .check(&entry.value)
                .map_err(|fault| invalid(row, &place, &fault))?;
            let current = self.resolved.settings.get(row);
            let value = match restriction {
                Restriction::Add => {
                    let value = row.kind.placed(value, self.invocation.start(&place));
                    added.push(Added {
                        row,
                        place: place.clone(),
                        value: value.clone(),
                    });
                    joined(&current, &value)
                }
                Restriction::TurnOff if value == json!(true) && current == json!(false) => {
                    self.refuse(row, &place, "a repository may only turn it off");
                    continue;
                }
                Restriction::Lower if value.as_u64() > current.as_u64() => {
                    self.refuse(
                        row,
                        &place,
                        &format!("a repository may only lower it, and it is {current}"),
                    );
                    continue;
                }
                Restriction::TurnOff | Restriction::Lower => value,
            };
            if value != current {
                self.give(row, Layer::Repository, &place, value)?;
            }
        }
        Ok(added)
    }

    fn refuse(&mut self, row: &Row, place: &Place, why: &str) {
        self.resolved.warn(
            "repository_setting_refused",
            format!("{} stands {place} and is not used: {why}.", row.key),
        );
    }

    /// What a repository excludes stays excluded, whatever the layers above say.
    fn keep_added(&mut self, added: Vec<Added>) -> Result<(), Problem> {
        for Added { row, place, value } in added {
            let value = joined(&self.resolved.settings.get(row), &value);
            put(&mut self.resolved.settings, row, value, &place)?;
        }
        Ok(())
    }

    fn environment(&mut self) -> Result<(), Problem> {
        let env = self.invocation.environment;
        for row in ROWS {
            let own = row.variable();
            let names = [Some(own.as_str()), row.reference_variable];
            let Some((name, text)) = names
                .into_iter()
                .flatten()
                .find_map(|name| Some((name, set(env, name)?)))
            else {
                continue;
            };
            let place = Place::Variable(name.to_owned());
            let value = row
                .kind
                .read(text)
                .map_err(|fault| invalid(row, &place, &fault))?;
            self.give(row, Layer::Environment, &place, value)?;
        }
        self.strange_variables(env);
        self.relative_folders(env);
        Ok(())
    }

    /// The reference's default models for agents, when no layer names a model.
    fn agents_model(&mut self) -> Result<(), Problem> {
        let env = self.invocation.environment;
        let Some((_, variable)) = AGENT_MODELS
            .iter()
            .find(|(backend, _)| *backend == self.resolved.settings.backend)
        else {
            return Ok(());
        };
        if self.resolved.settings.model.is_empty()
            && let (Some(text), Some(row)) = (set(env, variable), row("models.model"))
        {
            let place = Place::Variable((*variable).to_owned());
            let value = row
                .kind
                .read(text)
                .map_err(|fault| invalid(row, &place, &fault))?;
            self.give(row, Layer::Environment, &place, value)?;
        }
        Ok(())
    }

    /// A variable that is a slip of one of ours is reported; others may be somebody else's.
    fn strange_variables(&mut self, env: &BTreeMap<String, String>) {
        let variables: Vec<String> = ROWS.iter().map(Row::variable).collect();
        for name in env
            .keys()
            .filter(|name| name.starts_with("SKILLOPT_") && !name.starts_with("SKILLOPT_SLEEP_"))
        {
            let ours = variables.contains(name) || OTHER_VARIABLES.contains(&name.as_str());
            if ours {
                continue;
            }
            let field = name.trim_start_matches("SKILLOPT_");
            let fields = variables
                .iter()
                .map(|variable| variable.trim_start_matches("SKILLOPT_"));
            if let Some(near) = closest(field, fields) {
                self.resolved.warn(
                    "variable_unknown",
                    format!("The variable {name} is not used; did you mean SKILLOPT_{near}?"),
                );
            }
        }
    }

    /// The folders of a Linux desktop: the XDG Base Directory Specification has a relative path ignored, and
    /// whoever set one should know why nothing is kept there.
    fn relative_folders(&mut self, env: &BTreeMap<String, String>) {
        if cfg!(any(windows, target_os = "macos")) {
            return;
        }
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            if let Some(path) = set(env, name).filter(|path| !Path::new(path).is_absolute()) {
                self.resolved.warn(
                    "variable_unusable",
                    format!(
                        "The variable {name} names {}, which is not an absolute path, and is not used.",
                        shown(&json!(path))
                    ),
                );
            }
        }
    }

    fn flags(&mut self) -> Result<(), Problem> {
        let mut lists: Vec<(&'static Row, String, Vec<Value>)> = Vec::new();
        for (name, text) in self.invocation.flags {
            let plain = name.trim_start_matches('-');
            let row = ROWS
                .iter()
                .find(|row| row.flag == plain || row.key == plain)
                .ok_or_else(|| unknown(plain))?;
            let place = Place::Flag(row.flag.to_owned());
            if row.kind.is_list() {
                let entry = (!text.trim().is_empty()).then(|| json!(text.trim()));
                match lists.iter_mut().find(|(other, ..)| other.key == row.key) {
                    Some((.., entries)) => entries.extend(entry),
                    None => lists.push((row, row.flag.to_owned(), entry.into_iter().collect())),
                }
                continue;
            }
            let value = row
                .kind
                .read(text)
                .map_err(|fault| invalid(row, &place, &fault))?;
            self.give(row, Layer::Flag, &place, value)?;
        }
        for (row, flag, entries) in lists {
            let place = Place::Flag(flag);
            let value = row
                .kind
                .check(&Value::Array(entries))
                .map_err(|fault| invalid(row, &place, &fault))?;
            self.give(row, Layer::Flag, &place, value)?;
        }
        Ok(())
    }
}

/// What a repository adds to a list.
struct Added {
    row: &'static Row,
    place: Place,
    value: Value,
}

/// A variable that is not empty.
fn set<'e>(env: &'e BTreeMap<String, String>, name: &str) -> Option<&'e String> {
    env.get(name).filter(|value| !value.trim().is_empty())
}

/// The row with exactly this name.
fn exact(key: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.key == key)
}

/// Both lists, without repetitions.
fn joined(first: &Value, second: &Value) -> Value {
    let mut entries: Vec<Value> = first.as_array().cloned().unwrap_or_default();
    for entry in second.as_array().into_iter().flatten() {
        if !entries.contains(entry) {
            entries.push(entry.clone());
        }
    }
    Value::Array(entries)
}
