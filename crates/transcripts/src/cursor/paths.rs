//! Where Cursor keeps its agent transcripts and its editor.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::reason::Reason;
use crate::surroundings::{Platform, Surroundings};

/// The folder of the transcripts in a workspace's folder.
const TRANSCRIPTS: &str = "agent-transcripts";
/// The folder of the store, by which workspaces are told from what lies in them.
const PROJECTS: &str = "projects";

/// `~/.cursor`, on every system, and the folder of the editor, where the system keeps such folders.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    let applications = match at.platform {
        Platform::Linux => at.path_or("XDG_CONFIG_HOME", ".config"),
        Platform::MacOs => at.home.join("Library").join("Application Support"),
        Platform::Windows => match at.variable("APPDATA") {
            Some(folder) => at.path(folder),
            None => at.home.join("AppData").join("Roaming"),
        },
    };
    vec![at.home.join(".cursor"), applications.join("Cursor")]
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
    use crate::surroundings::tests::with;

    #[test]
    fn homes_of_every_system() {
        let homes = |platform, variables: &[(&str, &str)]| with(platform, variables, homes);
        for (platform, variables, editor) in [
            (Platform::Linux, &[][..], "/home/dana/.config/Cursor"),
            (Platform::Linux, &[("XDG_CONFIG_HOME", "/c")], "/c/Cursor"),
            (
                Platform::MacOs,
                &[("XDG_CONFIG_HOME", "/c")],
                "/home/dana/Library/Application Support/Cursor",
            ),
            (Platform::Windows, &[("AppData", "/r")], "/r/Cursor"),
            (Platform::Windows, &[], "/home/dana/AppData/Roaming/Cursor"),
        ] {
            assert_eq!(
                homes(platform, variables),
                [Path::new("/home/dana/.cursor"), Path::new(editor)]
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
