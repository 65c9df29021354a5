//! Where VS Code keeps the sessions of Copilot Chat.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::surroundings::{Platform, Surroundings};

/// The folder of the store, by which workspaces are told from what lies in them.
const WORKSPACES: &str = "workspaceStorage";
/// The folder of the sessions in a workspace's folder.
const SESSIONS: &str = "chatSessions";
/// The folder of the chat extension in a workspace's folder, in small letters, and in it that of its
/// transcripts.
const EXTENSION: &str = "github.copilot-chat";
const TRANSCRIPTS: &str = "transcripts";
/// The folder of the sessions of windows without a folder.
const WITHOUT_FOLDER: &str = "emptyWindowChatSessions";
/// The editors, by the names of their data folders.
const EDITORS: [&str; 4] = ["Code", "Code - Insiders", "VSCodium", "Code - OSS"];

/// The folders of the programs that work on this machine for an editor on another one, below the
/// user's home.
const SERVERS: [&str; 2] = [".vscode-server", ".vscode-server-insiders"];

/// The data folders of every editor, and of its servers that are there; before them that of a portable one, which
/// `$VSCODE_PORTABLE` names.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    let above = match at.platform {
        Platform::Linux => at.path_or("XDG_CONFIG_HOME", ".config"),
        Platform::MacOs => at.home.join("Library").join("Application Support"),
        Platform::Windows => at.path_or("APPDATA", "AppData/Roaming"),
    };
    let portable = at.variable("VSCODE_PORTABLE");
    portable
        .map(|folder| at.path(folder).join("user-data"))
        .into_iter()
        .chain(EDITORS.map(|editor| above.join(editor)))
        .chain(
            SERVERS
                .map(|server| at.home.join(server).join("data"))
                .into_iter()
                .filter(|folder| folder.is_dir()),
        )
        .collect()
}

/// `<home>/User/workspaceStorage/<workspace>/chatSessions/<session id>.jsonl`, and
/// `<home>/User/globalStorage/emptyWindowChatSessions/<session id>.jsonl`; in older versions
/// `….json`. In a workspace's folder also
/// `GitHub.copilot-chat/transcripts/<session id>.jsonl`.
pub(crate) const STORES: &[Store] = &[
    Store {
        folder: "User/workspaceStorage",
        deepest: 3,
    },
    Store {
        folder: "User/globalStorage/emptyWindowChatSessions",
        deepest: 0,
    },
];

/// Whether a file is a transcript of the chat extension, by its name.
pub(crate) fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|found| found == "jsonl")
        && path.parent().is_some_and(holds_transcripts)
}

/// Whether a folder is the one of the transcripts in a workspace's folder.
fn holds_transcripts(folder: &Path) -> bool {
    named(Some(folder), TRANSCRIPTS) && folder.parent().is_some_and(is_extension)
}

/// Whether a folder is that of the chat extension in a workspace's folder.
fn is_extension(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default();
    name.eq_ignore_ascii_case(EXTENSION) && named(folder.ancestors().nth(2), WORKSPACES)
}

fn named(path: Option<&Path>, name: &str) -> bool {
    path.and_then(Path::file_name)
        .is_some_and(|found| found == name)
}

/// Whether a path is a session. A workspace's folder also holds what extensions keep there: it is
/// not looked into, but for the transcripts of the chat extension.
pub(crate) fn takes(path: &Path) -> Taken {
    let folder = path.parent();
    let extension = path.extension().unwrap_or_default();
    let sessions = named(folder, SESSIONS) || named(folder, WITHOUT_FOLDER);
    if sessions && (extension == "jsonl" || extension == "json") || is_transcript(path) {
        Taken::Yes
    } else if named(folder, WORKSPACES)
        || named(Some(path), SESSIONS)
        || is_extension(path)
        || holds_transcripts(path)
    {
        Taken::No
    } else {
        Taken::Closed
    }
}

/// The session is named by its file.
pub(crate) use crate::files::stem as session_id;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surroundings::tests::with;

    #[test]
    fn every_editor_on_every_system() {
        for (platform, variables, above) in [
            (Platform::Linux, &[][..], "/home/dana/.config"),
            (Platform::Linux, &[("XDG_CONFIG_HOME", "/c")], "/c"),
            (
                Platform::MacOs,
                &[("XDG_CONFIG_HOME", "/c")],
                "/home/dana/Library/Application Support",
            ),
            (Platform::Windows, &[], "/home/dana/AppData/Roaming"),
            (Platform::Windows, &[("AppData", "/r")], "/r"),
        ] {
            let expected: Vec<PathBuf> = ["Code", "Code - Insiders", "VSCodium", "Code - OSS"]
                .iter()
                .map(|editor| Path::new(above).join(editor))
                .collect();
            assert_eq!(with(platform, variables, homes), expected);
        }
        let portable = with(
            Platform::Windows,
            &[("VSCODE_PORTABLE", "/stick/data")],
            homes,
        );
        assert_eq!(portable[0], Path::new("/stick/data/user-data"));
        assert_eq!(portable.len(), 5);
    }

    #[test]
    fn only_sessions_are_taken() {
        for (path, expected) in [
            ("h/workspaceStorage/1f", Taken::No),
            ("h/workspaceStorage/1f/chatSessions", Taken::No),
            ("h/workspaceStorage/1f/chatSessions/a.jsonl", Taken::Yes),
            ("h/workspaceStorage/1f/chatSessions/a.json", Taken::Yes),
            ("h/workspaceStorage/1f/chatSessions/a.txt", Taken::Closed),
            ("h/emptyWindowChatSessions/a.jsonl", Taken::Yes),
            ("h/emptyWindowChatSessions/images", Taken::Closed),
            ("h/workspaceStorage/1f/GitHub.copilot-chat", Taken::No),
            (
                "h/workspaceStorage/1f/github.copilot-chat/transcripts",
                Taken::No,
            ),
            (
                "h/workspaceStorage/1f/GitHub.copilot-chat/transcripts/a.jsonl",
                Taken::Yes,
            ),
            (
                "h/workspaceStorage/1f/GitHub.copilot-chat/transcripts/a.txt",
                Taken::Closed,
            ),
            (
                "h/workspaceStorage/1f/GitHub.copilot-chat/memories",
                Taken::Closed,
            ),
            ("h/workspaceStorage/1f/other.chat", Taken::Closed),
            (
                "h/workspaceStorage/1f/other.chat/transcripts/a.jsonl",
                Taken::Closed,
            ),
            ("h/workspaceStorage/1f/chatEditingSessions", Taken::Closed),
            ("h/workspaceStorage/1f/workspace.json", Taken::Closed),
        ] {
            assert_eq!(takes(Path::new(path)), expected, "{path}");
        }
    }
}
