//! Globs a user put on folders and files that must not be looked at.

use std::borrow::Cow;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use skillopt_core::Problem;

/// Compiled excludes.
#[derive(Debug, Clone)]
pub(crate) struct Exclude(Option<GlobSet>);

impl Exclude {
    /// Compiles `patterns`. A pattern also covers everything below what it names; one that is not
    /// absolute may match below any folder.
    ///
    /// Errors: `exclude_invalid`.
    pub(crate) fn new(patterns: &[String]) -> Result<Self, Problem> {
        let patterns: Vec<&str> = patterns
            .iter()
            .map(|pattern| pattern.trim())
            .filter(|pattern| !pattern.is_empty())
            .collect();
        if patterns.is_empty() {
            return Ok(Self(None));
        }
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let slashed = with_slashes(pattern);
            // `folder/**` is what people write for a folder and all in it.
            let stem = match slashed.trim_end_matches('/').trim_end_matches("/**") {
                "" => "**",
                stem => stem,
            };
            let rooted =
                stem.starts_with('/') || stem.starts_with("**") || stem.get(1..2) == Some(":");
            let front = if rooted { "" } else { "**/" };
            for glob in [format!("{front}{stem}"), format!("{front}{stem}/**")] {
                let glob = GlobBuilder::new(&glob)
                    .literal_separator(true)
                    .build()
                    .map_err(|error| invalid(pattern, &error))?;
                set.add(glob);
            }
        }
        let set = set
            .build()
            .map_err(|error| invalid("(all of them together)", &error))?;
        Ok(Self(Some(set)))
    }

    /// Whether a path, as text or on disk, is excluded.
    pub(crate) fn covers(&self, path: impl AsRef<Path>) -> bool {
        let Some(set) = &self.0 else { return false };
        set.is_match(Path::new(&*with_slashes(&path.as_ref().to_string_lossy())))
    }
}

fn with_slashes(path: &str) -> Cow<'_, str> {
    if path.contains('\\') {
        Cow::Owned(path.replace('\\', "/"))
    } else {
        Cow::Borrowed(path)
    }
}

fn invalid(pattern: &str, error: &globset::Error) -> Problem {
    Problem::refused(
        "exclude_invalid",
        format!(
            "The exclude pattern `{pattern}` is not a valid glob: {}.",
            error.kind()
        ),
        "Correct it in `reads.exclude`; `*` stands for part of a name, `**` for any folders.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exclude(patterns: &[&str]) -> Exclude {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Exclude::new(&patterns).unwrap()
    }

    #[test]
    fn a_plain_folder_covers_what_is_below_it() {
        let exclude = exclude(&["/home/dana/secret/", "clients/*", "*.pem", " "]);
        for path in [
            "/home/dana/secret",
            "/home/dana/secret/a/b.rs",
            "/w/clients/acme/x",
            "clients/acme",
            "/w/key.pem",
            "C:\\w\\clients\\acme",
        ] {
            assert!(exclude.covers(path), "{path}");
        }
        for path in [
            "/home/dana/secrets",
            "/home/dana",
            "/w/clients",
            "/w/key.pem.rs",
        ] {
            assert!(!exclude.covers(path), "{path}");
        }
        assert!(!Exclude::new(&[]).unwrap().covers("/x"));
    }

    #[test]
    fn two_stars_behind_a_folder_mean_the_folder_too() {
        for pattern in ["/w/acme/**", "**/acme/**", "acme/**", "/w/acme/**/"] {
            let exclude = exclude(&[pattern]);
            for path in ["/w/acme", "/w/acme/src/a.rs"] {
                assert!(exclude.covers(path), "{pattern} {path}");
            }
            assert!(!exclude.covers("/w/acme2"), "{pattern}");
        }
        assert!(exclude(&["**"]).covers("/x/y") && exclude(&["/**"]).covers("/x/y"));
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let problem = Exclude::new(&["a[".to_owned()]).unwrap_err();
        assert_eq!(problem.code, "exclude_invalid");
        assert!(problem.message.contains("`a[`"), "{}", problem.message);
    }
}
