//! Where Cursor keeps its agent transcripts.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::reason::Reason;
use crate::surroundings::Surroundings;

/// The folder of the transcripts in a workspace's folder.
const TRANSCRIPTS: &str = "agent-transcripts";
/// The folder of the store, by which workspaces are told from what lies in them.
const PROJECTS: &str = "projects";

/// `~/.cursor`, on every system.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    vec![at.home.join(".cursor")]
}

/// `<home>/projects/<workspace>/agent-transcripts/<session id>/<session id>.jsonl`.
pub(crate) const STORES: &[Store] = &[Store {
    folder: PROJECTS,
    deepest: 4,
}];

/// Whether a path is a transcript. Sub-agents write theirs into a folder in the session's; what
/// else lies in a workspace's folder (terminals, tools, assets) is not looked into.
pub(crate) fn takes(path: &Path) -> Taken {
    let folders: Vec<&str> = path
        .ancestors()
        .skip(1)
        .take(4)
        .filter_map(|folder| folder.file_name()?.to_str())
        .collect();
    let jsonl = path
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    match folders.as_slice() {
        [PROJECTS, ..] => Taken::No,
        [_, PROJECTS, ..] if path.file_name().is_some_and(|name| name == TRANSCRIPTS) => Taken::No,
        [TRANSCRIPTS, ..] if jsonl => Taken::Yes,
        [TRANSCRIPTS, ..] => Taken::No,
        [_, TRANSCRIPTS, ..] if jsonl => Taken::Yes,
        ["subagents", _, TRANSCRIPTS, ..] if jsonl => Taken::Skipped(Reason::SubagentFile),
        [_, TRANSCRIPTS, ..] if path.file_name().is_some_and(|name| name == "subagents") => {
            Taken::No
        }
        _ => Taken::Closed,
    }
}

/// The session is named by its file.
pub(crate) use crate::files::stem as session_id;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::Platform;
    use crate::surroundings::tests::with;

    #[test]
    fn the_home_is_the_same_everywhere() {
        for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
            assert_eq!(
                with(platform, &[], homes),
                [Path::new("/home/dana/.cursor")]
            );
        }
    }

    #[test]
    fn only_transcripts_of_sessions_are_taken() {
        for (path, expected) in [
            ("projects/w-app", Taken::No),
            ("projects/w-app/agent-transcripts", Taken::No),
            ("projects/w-app/agent-transcripts/1f", Taken::No),
            ("projects/w-app/agent-transcripts/1f/1f.jsonl", Taken::Yes),
            ("projects/w-app/agent-transcripts/1f.jsonl", Taken::Yes),
            ("projects/w-app/agent-transcripts/1f.txt", Taken::No),
            ("projects/w-app/agent-transcripts/1f/subagents", Taken::No),
            (
                "projects/w-app/agent-transcripts/1f/subagents/2.jsonl",
                Taken::Skipped(Reason::SubagentFile),
            ),
            ("projects/w-app/agent-transcripts/1f/notes", Taken::Closed),
            ("projects/w-app/terminals", Taken::Closed),
            ("projects/w-app/.workspace-trusted", Taken::Closed),
        ] {
            let path = Path::new("/h/.cursor").join(path);
            assert_eq!(takes(&path), expected, "{}", path.display());
        }
    }
}
