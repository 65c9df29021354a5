//! Which folders belong to the project.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use skillopt_core::hash::sha256_parts;
use skillopt_store::real_path;

use crate::request::{ProjectScope, Scope};

/// The project's folders, as they were given and with links resolved.
#[derive(Debug)]
pub(crate) struct Project {
    scope: Scope,
    roots: Vec<PathBuf>,
    /// Answers so far: a session names few folders, many times.
    known: RefCell<HashMap<String, bool>>,
}

impl Project {
    pub(crate) fn new(project: &ProjectScope) -> Self {
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in &project.roots {
            roots.extend(plain(root));
            roots.extend(real_path(root));
        }
        roots.sort_unstable();
        roots.dedup();
        Self {
            scope: project.scope,
            roots,
            known: RefCell::default(),
        }
    }

    /// What a store is known by of which only sessions of this project are read.
    pub(crate) fn fingerprint(&self, rules: &str) -> Arc<str> {
        let scope = match self.scope {
            Scope::Project => "project",
            Scope::Parents => "parents",
            Scope::All => "all",
        };
        let mut parts: Vec<&[u8]> = vec![rules.as_bytes(), scope.as_bytes()];
        for root in &self.roots {
            parts.extend([root.as_os_str().as_encoded_bytes(), b"\0"]);
        }
        sha256_parts(&parts).into()
    }

    /// Whether a turn typed in `directory` belongs to the project.
    pub(crate) fn covers(&self, directory: &str) -> bool {
        if self.scope == Scope::All {
            return true;
        }
        if let Some(&known) = self.known.borrow().get(directory) {
            return known;
        }
        let covered = self.look(directory);
        self.known
            .borrow_mut()
            .insert(directory.to_owned(), covered);
        covered
    }

    fn look(&self, directory: &str) -> bool {
        let path = Path::new(directory);
        let Some(lexical) = plain(path) else {
            return false;
        };
        // A folder that is gone is compared as it was written.
        let real = real_path(path).ok();
        std::iter::once(lexical).chain(real).any(|directory| {
            self.roots.iter().any(|root| match self.scope {
                Scope::Project => directory.starts_with(root),
                Scope::Parents => {
                    directory.starts_with(root)
                        || (directory.parent().is_some() && root.starts_with(&directory))
                }
                Scope::All => true,
            })
        })
    }
}

/// An absolute path without `.` and `..`; `None` when it is not absolute.
fn plain(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    Some(plain)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn project(scope: Scope, roots: &[&Path]) -> Project {
        Project::new(&ProjectScope {
            roots: roots.iter().map(|root| root.to_path_buf()).collect(),
            scope,
        })
    }

    #[test]
    fn folders_inside_belong_to_it_and_folders_above_only_on_request() {
        let roots = [Path::new("/w/app"), Path::new("/w/trees/app-fix")];
        let cases = [
            ("/w/app", true, true),
            ("/w/app/", true, true),
            ("/w/app/src/../tests", true, true),
            ("/w/trees/app-fix/src", true, true),
            ("/w/app2", false, false),
            ("/w", false, true),
            ("/w/trees", false, true),
            ("/", false, false),
            ("", false, false),
            ("w/app", false, false),
        ];
        for (directory, inside, with_parents) in cases {
            assert_eq!(
                project(Scope::Project, &roots).covers(directory),
                inside,
                "{directory}"
            );
            assert_eq!(
                project(Scope::Parents, &roots).covers(directory),
                with_parents,
                "{directory}"
            );
            assert!(project(Scope::All, &roots).covers(directory));
        }
    }

    #[test]
    fn links_lead_to_the_same_project() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().join("real");
        std::fs::create_dir_all(real.join("src")).unwrap();
        let link = home.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for (root, directory) in [(&real, &link), (&link, &real)] {
            let project = project(Scope::Project, &[root]);
            assert!(project.covers(directory.join("src").to_str().unwrap()));
        }
    }
}
