//! Where Codex keeps its sessions.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::surroundings::Surroundings;

/// `$CODEX_HOME` or `~/.codex`.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    vec![at.path_or("CODEX_HOME", ".codex")]
}

/// `<home>/sessions/YYYY/MM/DD/rollout-<local time>-<thread id>.jsonl`; archiving a thread moves its
/// file to `<home>/archived_sessions/`. Older files are compressed (`.jsonl.zst`).
pub(crate) const STORES: &[Store] = &[
    Store {
        folder: "sessions",
        deepest: 6,
    },
    Store {
        folder: "archived_sessions",
        deepest: 6,
    },
];

/// Whether a file is a session.
pub(crate) fn takes(path: &Path) -> Taken {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.ends_with(".jsonl") || name.ends_with(".jsonl.zst") {
        Taken::Yes
    } else {
        Taken::No
    }
}

/// The thread id in a file's name; the whole name where there is none.
pub(crate) fn session_id(path: &Path) -> String {
    const UUID: usize = 36;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    let tail = stem.len().checked_sub(UUID).and_then(|at| stem.get(at..));
    match tail {
        Some(id) if id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') => id.to_owned(),
        _ => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::Platform;
    use crate::surroundings::tests::with;

    #[test]
    fn the_home_may_be_moved() {
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            assert_eq!(with(platform, &[], homes), [Path::new("/home/dana/.codex")]);
            assert_eq!(
                with(platform, &[("CODEX_HOME", "~/other")], homes),
                [Path::new("/home/dana/other")]
            );
        }
    }

    #[test]
    fn the_thread_id_stands_in_the_name() {
        let id = "01a22847-3db6-71d3-9c36-e48a42ef3d0f";
        for (name, expected) in [
            (format!("rollout-2026-11-29T17-08-07-{id}.jsonl"), id),
            (format!("a/rollout-2026-11-29T17-08-07-{id}.jsonl.zst"), id),
            ("notes.jsonl".to_owned(), "notes"),
        ] {
            assert_eq!(session_id(Path::new(&name)), expected);
        }
    }
}
