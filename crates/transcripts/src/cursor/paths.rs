//! Where Cursor keeps its agent transcripts and its editor.

use std::path::{Path, PathBuf};

use crate::files::{Store, Taken};
use crate::reason::Reason;
use crate::surroundings::{Platform, Surroundings};

/// The folder of the transcripts in a workspace's folder.
const TRANSCRIPTS: &str = "agent-transcripts";
/// The folder of the store, by which workspaces are told from what lies in them.
const PROJECTS: &str = "projects";
/// The folder in which the command line keeps its chats, each as a database of its own.
const CHATS: &str = "chats";

/// The folder the command line is told to use, `~/.cursor`, on every system, another one it may have
/// used, if it is there, and the folder of the editor, where the system keeps such folders.
pub(crate) fn homes(at: &Surroundings<'_>) -> Vec<PathBuf> {
    let applications = match at.platform {
        Platform::Linux => at.path_or("XDG_CONFIG_HOME", ".config"),
        Platform::MacOs => at.home.join("Library").join("Application Support"),
        Platform::Windows => match at.variable("APPDATA") {
            Some(folder) => at.path(folder),
            None => at.home.join("AppData").join("Roaming"),
        },
    };
    let named = at.variable("CURSOR_CONFIG_DIR").map(|path| at.path(path));
    let other = at.path_or("XDG_CONFIG_HOME", ".config").join("cursor");
    named
        .into_iter()
        .chain([at.home.join(".cursor")])
        .chain(Some(other).filter(|folder| folder.is_dir()))
        .chain([applications.join("Cursor")])
        .collect()
}

/// `<home>/projects/<workspace>/agent-transcripts/<session id>/<session id>.jsonl`; and, where it is
/// there, `<home>/chats/<workspace>/<chat>/store.db`, which is only counted.
pub(crate) fn stores(home: &Path) -> &'static [Store] {
    const STORES: [Store; 2] = [
        Store {
            folder: PROJECTS,
            deepest: 4,
        },
        Store {
            folder: CHATS,
            deepest: 2,
        },
    ];
    if home.join(CHATS).is_dir() {
        &STORES
    } else {
        &STORES[..1]
    }
}

/// Whether a path is a transcript. Sub-agents write theirs into a folder in the session's; what
/// else lies in a workspace's folder (terminals, tools, assets) is not looked into. Texts of older
/// versions and the databases of the command line hold sessions in forms that are not read.
pub(crate) fn takes(path: &Path) -> Taken {
    let folders: Vec<&str> = path
        .ancestors()
        .skip(1)
        .take(4)
        .filter_map(|folder| folder.file_name()?.to_str())
        .collect();
    let name = path.file_name().unwrap_or_default();
    let extension = path.extension().unwrap_or_default();
    let jsonl = extension == "jsonl";
    match folders.as_slice() {
        [PROJECTS, ..] => Taken::No,
        [_, PROJECTS, ..] if name == TRANSCRIPTS => Taken::No,
        [_, PROJECTS, ..] => Taken::Closed,
        [TRANSCRIPTS, ..] | [_, TRANSCRIPTS, ..] if extension == "txt" => {
            Taken::Skipped(Reason::UnreadForm)
        }
        [TRANSCRIPTS, ..] if jsonl => Taken::Yes,
        [TRANSCRIPTS, ..] => Taken::No,
        [_, TRANSCRIPTS, ..] if jsonl => Taken::Yes,
        ["subagents", _, TRANSCRIPTS, ..] if jsonl => Taken::Skipped(Reason::SubagentFile),
        [_, TRANSCRIPTS, ..] if name == "subagents" => Taken::No,
        [CHATS, ..] => Taken::No,
        [_, CHATS, ..] if path.extension().is_none() => Taken::No,
        [_, _, CHATS, ..] if name == "store.db" => Taken::Skipped(Reason::UnreadForm),
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
        let named = homes(Platform::Linux, &[("CURSOR_CONFIG_DIR", "/srv/cursor")]);
        assert_eq!(named[0], Path::new("/srv/cursor"));
        assert_eq!(named.len(), 3);
    }

    #[test]
    fn only_transcripts_of_sessions_are_taken() {
        for (path, expected) in [
            ("projects/w-app", Taken::No),
            ("projects/w-app/agent-transcripts", Taken::No),
            ("projects/w-app/agent-transcripts/1f", Taken::No),
            ("projects/w-app/agent-transcripts/1f/1f.jsonl", Taken::Yes),
            ("projects/w-app/agent-transcripts/1f.jsonl", Taken::Yes),
            (
                "projects/w-app/agent-transcripts/1f.txt",
                Taken::Skipped(Reason::UnreadForm),
            ),
            (
                "projects/w-app/agent-transcripts/1f/1f.txt",
                Taken::Skipped(Reason::UnreadForm),
            ),
            ("projects/chats/notes", Taken::Closed),
            ("chats/9a", Taken::No),
            ("chats/9a/1f", Taken::No),
            ("chats/9a/1f/store.db", Taken::Skipped(Reason::UnreadForm)),
            ("chats/9a/1f/store.db-wal", Taken::Closed),
            ("chats/9a/1f/meta.json", Taken::Closed),
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
