//! Values that must be readable by what uses them: addresses, globs, ports, paths.

use std::path::Path;

use serde_json::Value;
use url::Url;

use crate::kind::Kind;

/// Where paths in settings begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start<'a> {
    /// The user's home folder: `~`.
    pub(crate) home: &'a Path,
    /// What relative paths are relative to.
    pub(crate) folder: &'a Path,
}

/// Why a text is no base address of a server, as the end of a sentence; `None` when it is one. The text
/// itself is not repeated: it may hold a password.
pub(crate) fn address_fault(text: &str) -> Option<String> {
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(error) => return Some(format!("it cannot be read: {error}")),
    };
    let fault = if !matches!(url.scheme(), "http" | "https") {
        "it begins neither with http:// nor with https://"
    } else if url.host_str().is_none_or(str::is_empty) {
        "it names no host"
    } else if !url.username().is_empty() || url.password().is_some() {
        "it holds a user name or a password"
    } else if url.query().is_some() || url.fragment().is_some() {
        "it has a part after ? or #"
    } else {
        return None;
    };
    Some(fault.to_owned())
}

/// Why a text is no glob, as the end of a sentence; `None` when it is one.
pub(crate) fn glob_fault(text: &str) -> Option<String> {
    globset::Glob::new(&text.trim().replace('\\', "/"))
        .err()
        .map(|error| error.kind().to_string())
}

/// Why a text is no port.
pub(crate) fn port_fault(text: &str) -> Option<String> {
    match text.trim().parse::<u16>() {
        Ok(port) if port > 0 => None,
        _ => Some("ports are whole numbers from 1 to 65535".to_owned()),
    }
}

/// Why a text is no path.
pub(crate) fn path_fault(text: &str) -> Option<String> {
    let other_home = text
        .strip_prefix('~')
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '\\']));
    other_home.then(|| "only ~/ stands for a home folder, and that is yours".to_owned())
}

impl Kind {
    /// The value with its paths made whole: `~` is the home folder, and what is relative begins at
    /// `start`, or stays for the project where the setting says so.
    pub(crate) fn placed(&self, value: Value, start: Start<'_>) -> Value {
        let each = |value: Value, placed: &dyn Fn(&str) -> String| match value {
            Value::String(text) => Value::String(placed(&text)),
            Value::Array(entries) => entries
                .into_iter()
                .map(|entry| match entry {
                    Value::String(text) => Value::String(placed(&text)),
                    other => other,
                })
                .collect(),
            other => other,
        };
        match self {
            Self::Path | Self::Paths => each(value, &|text| {
                let text = at_home(text.trim(), start.home, str::to_owned);
                if text.is_empty() {
                    return text;
                }
                start.folder.join(text).to_string_lossy().into_owned()
            }),
            Self::ProjectPath | Self::ProjectPaths => each(value, &|text| {
                at_home(text.trim(), start.home, str::to_owned)
            }),
            Self::Globs => each(value, &|text| {
                at_home(text.trim(), start.home, globset::escape)
            }),
            Self::Bool
            | Self::Whole { .. }
            | Self::Number { .. }
            | Self::Choice(_)
            | Self::Backend { .. }
            | Self::Text
            | Self::Address
            | Self::Form(_)
            | Self::Variable
            | Self::SkillName
            | Self::Ports
            | Self::Phrases
            | Self::List => value,
        }
    }

    /// The text of a value typed in `folder`, so that it means the same in a file elsewhere.
    #[must_use]
    pub fn typed_in(&self, text: &str, folder: &Path) -> String {
        let whole = |path: &str| {
            if path.is_empty() || path.starts_with('~') {
                path.to_owned()
            } else {
                folder.join(path).to_string_lossy().into_owned()
            }
        };
        match self {
            Self::Path => whole(text.trim()),
            Self::Paths => match self.read(text) {
                // Written as in TOML, so that a comma in a name stays one.
                Ok(Value::Array(paths)) => {
                    let paths = paths.iter().filter_map(Value::as_str);
                    paths
                        .map(|path| whole(path.trim()))
                        .collect::<toml_edit::Array>()
                        .to_string()
                }
                _ => text.to_owned(),
            },
            _ => text.to_owned(),
        }
    }
}

/// A text with the home folder, as `written`, in the place of a `~` at its beginning.
fn at_home(text: &str, home: &Path, written: impl Fn(&str) -> String) -> String {
    let home = || written(&home.to_string_lossy());
    match text.strip_prefix('~') {
        Some("") => home(),
        Some(rest) if rest.starts_with(['/', '\\']) => format!("{}{rest}", home()),
        _ => text.to_owned(),
    }
}
