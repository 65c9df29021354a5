//! Which file an agent really reads when it looks for a document.
//!
//! `CLAUDE.md` is often a link to `AGENTS.md`, a file with the one line `@AGENTS.md`, or (a link
//! checked out on Windows) a text file that contains just `AGENTS.md`. Writing to such a file would
//! destroy the alias; the change belongs into the file behind it, and both names are one document.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use skillopt_core::Problem;

use crate::fault::io_problem;
use crate::files;
use crate::paths::real_path;
use crate::words::words;

words! {
    /// How a name leads to another file.
    Alias {
        /// The name, or a folder on the way to it, is a symbolic link.
        Link = "link",
        /// The file has one line, `@path`, which the agent imports.
        Import = "import",
        /// The file has one line, a path: a link that was checked out as text.
        Pointer = "pointer",
    }
}

/// A document as an agent finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// Where the agent looks.
    pub live_path: PathBuf,
    /// The file that is read and written: absolute, no links in it, inside an allowed folder.
    pub real_path: PathBuf,
    /// How the first leads to the second, when they differ; the last step when there are several.
    pub alias: Option<Alias>,
    /// Whether the file is there.
    pub exists: bool,
}

/// The longest file that can be an alias, in bytes.
const ALIAS_BYTES: usize = 1024;
/// How many aliases may follow one another.
const ALIAS_STEPS: usize = 8;

/// Finds the file behind `path`, which must be absolute and without `..`.
///
/// `roots` are the folders a document may be in: the project and the agents' own folders. A file
/// that does not exist yet is resolved as far as its folders exist.
///
/// Errors: `path_not_absolute`, `target_outside_roots`, `document_link_dangling` (also for an import
/// of a file that is not there), `document_link_loop`, `file_not_regular`, `file_has_links`,
/// `file_permission`, `file_io`.
pub fn resolve(path: &Path, roots: &[PathBuf]) -> Result<Resolved, Problem> {
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return Err(Problem::permanent(
            "path_not_absolute",
            format!("{} is not a plain absolute path.", path.display()),
            "Give the whole path, beginning at the root and without \"..\".",
        ));
    }
    let roots: Vec<PathBuf> = roots.iter().filter_map(|root| real(root).ok()).collect();
    let mut alias = None;
    let mut current = real(path)?;
    if current != path {
        alias = Some(Alias::Link);
    }
    for _ in 0..ALIAS_STEPS {
        if !roots
            .iter()
            .any(|root| current.starts_with(root) && &current != root)
        {
            return Err(outside(path, &current));
        }
        let Some(pinned) = files::read_pinned(&current)? else {
            return Ok(Resolved {
                live_path: path.to_owned(),
                real_path: current,
                alias,
                exists: false,
            });
        };
        if pinned.links > 1 {
            return Err(files::has_links(&current, pinned.links));
        }
        let Some((kind, named)) = alias_in(&current, &pinned.bytes) else {
            return Ok(Resolved {
                live_path: path.to_owned(),
                real_path: current,
                alias,
                exists: true,
            });
        };
        let next = current.parent().unwrap_or(&current).join(named);
        let next = real(&next)?;
        if !next.exists() {
            if kind == Alias::Pointer {
                // One line that happens to end in ".md" and names nothing is a document.
                return Ok(Resolved {
                    live_path: path.to_owned(),
                    real_path: current,
                    alias,
                    exists: true,
                });
            }
            return Err(dangling(&current, &next));
        }
        alias = Some(kind);
        current = next;
    }
    Err(looping(path))
}

/// What names a document whatever way leads to it: its real path, in one case where the file system
/// does not tell cases apart.
#[must_use]
pub fn identity(real_path: &Path) -> String {
    let text = real_path.to_string_lossy();
    if cfg!(any(target_os = "macos", windows)) {
        text.to_lowercase()
    } else {
        text.into_owned()
    }
}

/// The path that the text of a memory file stands for, when that is all it says.
fn alias_in(path: &Path, bytes: &[u8]) -> Option<(Alias, PathBuf)> {
    let is_skill = path
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
    if is_skill || bytes.len() > ALIAS_BYTES {
        return None;
    }
    let text = std::str::from_utf8(bytes)
        .ok()?
        .trim_start_matches('\u{feff}')
        .trim();
    let (kind, named) = match text.strip_prefix('@') {
        Some(named) => (Alias::Import, named),
        None => (Alias::Pointer, text),
    };
    let plain = !named.is_empty() && !named.contains(|c: char| c.is_whitespace() || c.is_control());
    let is_markdown = Path::new(named)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    // Imports of a home folder (`@~/…`) and of absolute paths add to a document; they are no second name.
    let relative = !named.starts_with(['~', '/', '\\']) && !Path::new(named).is_absolute();
    (plain && is_markdown && relative).then(|| (kind, PathBuf::from(named)))
}

/// `path` with every link resolved. What does not exist yet is appended to the folder that does.
fn real(path: &Path) -> Result<PathBuf, Problem> {
    match real_path(path) {
        Ok(real) => return Ok(real),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) if files::is_link_loop(&error) => return Err(looping(path)),
        Err(error) => return Err(io_problem(&error, "open", path)),
    }
    if let Ok(to) = std::fs::read_link(path) {
        return Err(dangling(path, &to));
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(real(parent)?.join(name)),
        // `a/..` of a folder that does not exist.
        _ => Err(Problem::permanent(
            "path_not_absolute",
            format!("{} is not a plain absolute path.", path.display()),
            "Give the whole path, beginning at the root and without \"..\".",
        )),
    }
}

fn outside(path: &Path, real: &Path) -> Problem {
    let message = if path == real {
        format!(
            "{} is outside the project and the agents' own folders.",
            path.display()
        )
    } else {
        format!(
            "{} leads to {}, and a link may lead neither out of the project nor out of the agents' own folders.",
            path.display(),
            real.display()
        )
    };
    Problem::refused(
        "target_outside_roots",
        message,
        "Nothing was read or written. Add its folder to changes.skill_roots if it should be improved.",
    )
}

fn dangling(path: &Path, to: &Path) -> Problem {
    Problem::permanent(
        "document_link_dangling",
        format!(
            "{} leads to {}, which does not exist.",
            path.display(),
            to.display()
        ),
        "Create that file, or remove the link.",
    )
}

fn looping(path: &Path) -> Problem {
    Problem::permanent(
        "document_link_loop",
        format!("{} leads back to itself.", path.display()),
        "Remove one of the links or imports.",
    )
}

#[cfg(test)]
#[path = "documents/tests.rs"]
mod tests;
