//! Settings with the layers they came from.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use skillopt_core::Problem;

use crate::problems::known;
use crate::table::{Row, Settings};

/// Where a value comes from. Each layer is above the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Nobody said otherwise.
    Default,
    /// The user's settings file.
    User,
    /// The project's file in the user's configuration folder.
    Project,
    /// `.skillopt.toml` in the repository; can only restrict.
    Repository,
    /// An environment variable.
    Environment,
    /// A flag of this command.
    Flag,
}

impl Layer {
    /// The layer in words.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "your settings",
            Self::Project => "your settings for this project",
            Self::Repository => "the repository",
            Self::Environment => "the environment",
            Self::Flag => "a flag",
        }
    }
}

/// The exact place of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A line of a file.
    File { path: PathBuf, line: usize },
    /// An environment variable.
    Variable(String),
    /// A flag, without dashes.
    Flag(String),
    /// An argument of `config set`.
    Command,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "in {}, line {line}", path.display()),
            Self::Variable(name) => write!(f, "by the variable {name}"),
            Self::Flag(name) => write!(f, "by --{name}"),
            Self::Command => f.write_str("by this command"),
        }
    }
}

/// Something in a layer that was not used, or is not what it seems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// `setting_unknown`, `setting_renamed`, `setting_retired`, `repository_setting_refused`,
    /// `variable_unknown`, `variable_unusable`.
    pub code: &'static str,
    /// One full sentence.
    pub message: String,
}

/// One layer's value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Given {
    /// The layer.
    pub layer: Layer,
    /// The exact place: file and line, variable or flag.
    pub place: String,
    /// The value given there.
    pub value: Value,
}

/// What a setting is, what it does, and where its value comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Explanation {
    /// Its name.
    pub key: &'static str,
    /// What it does.
    pub text: &'static str,
    /// What a number counts; empty for anything else.
    pub unit: &'static str,
    /// What may be written, as a phrase.
    pub allowed: String,
    /// The value that holds.
    pub value: Value,
    /// The default.
    pub default: Value,
    /// The layer that decided.
    pub layer: Layer,
    /// Every layer that gave a value, lowest first. The last one decided, but for lists a repository
    /// added to.
    pub given: Vec<Given>,
    /// Its environment variable.
    pub variable: String,
    /// Its flag, with dashes.
    pub flag: String,
}

/// The settings that hold, what to warn about, and where every value came from.
#[derive(Debug, Clone, Default)]
pub struct Resolved {
    /// The settings that hold.
    pub settings: Settings,
    /// What was not used, and why.
    pub warnings: Vec<Warning>,
    pub(crate) given: Vec<(&'static str, Given)>,
}

impl Resolved {
    /// Where a setting's value comes from. `key` is its full name or its last part.
    ///
    /// Error: `setting_unknown`.
    pub fn explain(&self, key: &str) -> Result<Explanation, Problem> {
        let row = known(key)?;
        let given: Vec<Given> = self
            .given
            .iter()
            .filter(|(key, _)| *key == row.key)
            .map(|(_, given)| given.clone())
            .collect();
        Ok(Explanation {
            key: row.key,
            text: row.text.trim(),
            unit: row.unit,
            allowed: row.kind.allowed(),
            value: self.settings.get(row),
            default: Settings::default().get(row),
            layer: self.layer(row),
            given,
            variable: row.variable(),
            flag: format!("--{}", row.flag),
        })
    }

    /// The layer that decided a row.
    #[must_use]
    pub fn layer(&self, row: &Row) -> Layer {
        self.given
            .iter()
            .rev()
            .find(|(key, _)| *key == row.key)
            .map_or(Layer::Default, |(_, given)| given.layer)
    }

    pub(crate) fn warn(&mut self, code: &'static str, message: String) {
        self.warnings.push(Warning { code, message });
    }
}
