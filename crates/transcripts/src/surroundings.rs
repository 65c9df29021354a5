//! What decides where agents keep their files: the system, the home folder, the environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The systems whose folders differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and the other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The system this program was built for.
    #[must_use]
    pub const fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// Where a user is at home. Tests make their own.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The system.
    pub platform: Platform,
    /// The user's home folder, absolute.
    pub home: &'a Path,
    /// The environment variables.
    pub environment: &'a BTreeMap<String, String>,
}

impl Surroundings<'_> {
    /// The value of a variable. An empty one counts as not set; on Windows case does not matter.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let value = match self.platform {
            Platform::Linux | Platform::MacOs => self.environment.get(name),
            Platform::Windows => self
                .environment
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(name))
                .map(|(_, value)| value),
        };
        value.map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A path as a person writes it: `~` at the start means the home folder, and a relative path is
    /// below the home folder.
    #[must_use]
    pub fn path(&self, text: &str) -> PathBuf {
        match text.strip_prefix('~') {
            Some(rest) => self.home.join(rest.trim_start_matches(['/', '\\'])),
            None => self.home.join(text),
        }
    }

    /// The path a variable names, or a folder below the home folder.
    pub(crate) fn path_or(&self, variable: &str, usual: &str) -> PathBuf {
        match self.variable(variable) {
            Some(value) => self.path(value),
            None => self.home.join(usual),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Where something is looked for on a system, with `/home/dana` as the home folder.
    pub(crate) fn with<T>(
        platform: Platform,
        variables: &[(&str, &str)],
        look: impl FnOnce(&Surroundings<'_>) -> T,
    ) -> T {
        let environment = variables
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        look(&Surroundings {
            platform,
            home: Path::new("/home/dana"),
            environment: &environment,
        })
    }

    #[test]
    fn variables_that_are_empty_are_not_set() {
        let look = |platform, variables: &[(&str, &str)]| {
            with(platform, variables, |at| {
                at.variable("APPDATA").map(str::to_owned)
            })
        };
        assert_eq!(look(Platform::Linux, &[("APPDATA", "")]), None);
        assert_eq!(look(Platform::Linux, &[("AppData", "x")]), None);
        assert_eq!(
            look(Platform::Windows, &[("AppData", "x")]),
            Some("x".to_owned())
        );
    }

    #[test]
    fn paths_are_written_from_the_home_folder() {
        with(Platform::Linux, &[("HERE", "~/a")], |at| {
            assert_eq!(at.path("~"), Path::new("/home/dana/"));
            assert_eq!(at.path("~/a/b"), Path::new("/home/dana/a/b"));
            assert_eq!(at.path("a"), Path::new("/home/dana/a"));
            assert_eq!(at.path("/a"), Path::new("/a"));
            assert_eq!(at.path_or("HERE", ".b"), Path::new("/home/dana/a"));
            assert_eq!(at.path_or("THERE", ".b"), Path::new("/home/dana/.b"));
        });
    }
}
