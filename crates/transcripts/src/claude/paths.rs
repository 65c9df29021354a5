//! Where Claude Code keeps its sessions.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::reason::Reason;
use crate::surroundings::Surroundings;

/// `$CLAUDE_CONFIG_DIR`, or `~/.claude`, and `claude` in the folder of configurations, which some
/// versions used, if it is there. The variable names one folder: a list with commas is what some
/// programs that count usage make of it.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    match at.variable("CLAUDE_CONFIG_DIR") {
        Some(folder) => vec![at.path(folder)],
        None => {
            let other = at.path_or("XDG_CONFIG_HOME", ".config").join("claude");
            [at.home.join(".claude")]
                .into_iter()
                .chain(Some(other).filter(|folder| folder.is_dir()))
                .collect()
        }
    }
}

/// `<home>/projects/<folder name with every odd character as a dash>/<session id>.jsonl`. The
/// folder's name says nothing for certain (two projects can share one), so it is never decoded.
pub(crate) const STORES: &[Store] = &[Store {
    folder: "projects",
    deepest: 12,
}];

/// Whether a file is a session. Sub-agents write theirs into folders called `subagents`, and older
/// versions beside the sessions as `agent-….jsonl`.
pub(crate) fn takes(path: &Path) -> Taken {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !(name.ends_with(".jsonl") || name.ends_with(".jsonl.zst")) {
        return Taken::No;
    }
    let in_subagents = path
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|folder| folder == "subagents");
    if in_subagents || name.starts_with("agent-") {
        return Taken::Skipped(Reason::SubagentFile);
    }
    Taken::Yes
}

/// The session id is the file's name.
pub(crate) fn session_id(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    name.strip_suffix(".jsonl").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::Platform;
    use crate::surroundings::tests::with;

    #[test]
    fn the_home_may_be_moved_and_is_one() {
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            assert_eq!(
                with(platform, &[], homes),
                [Path::new("/home/dana/.claude")]
            );
            for (value, expected) in [
                ("/srv/claude", "/srv/claude"),
                ("~/work,home", "/home/dana/work,home"),
            ] {
                assert_eq!(
                    with(platform, &[("CLAUDE_CONFIG_DIR", value)], homes),
                    [Path::new(expected)]
                );
            }
        }
    }

    #[test]
    fn sessions_and_subagents_are_told_apart() {
        let takes = |path: &str| takes(Path::new(path));
        assert_eq!(takes("p/-w-app/1f.jsonl"), Taken::Yes);
        assert_eq!(takes("p/-w-app/1f.jsonl.zst"), Taken::Yes);
        assert_eq!(
            takes("p/-w-app/1f/subagents/agent-2.jsonl"),
            Taken::Skipped(Reason::SubagentFile)
        );
        assert_eq!(
            takes("p/-w-app/agent-2.jsonl"),
            Taken::Skipped(Reason::SubagentFile)
        );
        assert_eq!(takes("p/-w-app/1f/subagents/agent-2.meta.json"), Taken::No);
        assert_eq!(takes("p/-w-app/memory/MEMORY.md"), Taken::No);
    }
}
