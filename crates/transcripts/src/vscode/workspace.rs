//! The folder of a workspace, which no session names itself.

use std::path::Path;

use serde::Deserialize;

use super::paths::is_transcript;
use crate::lenient::{Text, parse};
use crate::sibling;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Workspace<'a> {
    /// The folder that is open.
    #[serde(borrow)]
    folder: Text<'a>,
    /// The file that names several folders.
    workspace: Text<'a>,
    /// The same in older versions.
    configuration: Text<'a>,
}

/// The folder a session belongs to: the one `workspace.json` in the workspace's folder names, or the one
/// in which the workspace's file lies. Empty when there is none on this machine.
pub(crate) fn folder(session: &Path) -> String {
    let above = if is_transcript(session) { 3 } else { 2 };
    let found = session
        .ancestors()
        .nth(above)
        .and_then(|folder| sibling::read(&folder.join("workspace.json")));
    let mut spare = Vec::new();
    found
        .as_deref()
        .and_then(|bytes| parse::<Workspace<'_>>(bytes, &mut spare).ok())
        .and_then(|(workspace, _)| {
            if !workspace.folder.is_empty() {
                return path_of(&workspace.folder);
            }
            let file = if workspace.workspace.is_empty() {
                &workspace.configuration
            } else {
                &workspace.workspace
            };
            let path = path_of(file)?;
            path.rsplit_once('/').map(|(folder, _)| folder.to_owned())
        })
        .unwrap_or_default()
}

/// The path a `file:` URI names (RFC 8089), with slashes. Remote workspaces have none here.
pub(super) fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    let path = percent_decoded(path)?;
    let drive =
        path.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) && path.get(2..3) == Some(":");
    if drive {
        return Some(path[1..].to_owned());
    }
    if host.is_empty() || host.eq_ignore_ascii_case("localhost") {
        return Some(path);
    }
    Some(format!("//{host}{path}"))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| first == b'%');
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match value {
            Some(value) => {
                bytes.push(value);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sibling::tests::put;

    #[test]
    fn uris_name_paths() {
        for (uri, expected) in [
            ("file:///w/app", Some("/w/app")),
            ("file:///w/z%C3%BCrich%20web", Some("/w/zürich web")),
            ("file://localhost/w", Some("/w")),
            ("file:///c%3A/Users/dana", Some("c:/Users/dana")),
            ("file:///C:/Users/dana", Some("C:/Users/dana")),
            ("file://server/share/app", Some("//server/share/app")),
            ("file:///100%", Some("/100%")),
            ("file:///%FF", None),
            ("file://", None),
            ("vscode-remote://wsl%2Bubuntu/home/dana", None),
            ("", None),
        ] {
            assert_eq!(path_of(uri).as_deref(), expected, "{uri}");
        }
    }

    #[test]
    fn the_file_beside_the_sessions_names_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let session = home.path().join("1f/chatSessions/a.jsonl");
        assert_eq!(folder(&session), "");
        std::fs::create_dir_all(home.path().join("1f")).unwrap();
        for (text, expected) in [
            (r#"{"folder":"file:///w/app"}"#, "/w/app"),
            (r#"{"workspace":"file:///w/all.code-workspace"}"#, "/w"),
            (r#"{"configuration":"file:///w/old.code-workspace"}"#, "/w"),
            (r#"{"folder":7}"#, ""),
            ("[", ""),
        ] {
            put(&home.path().join("1f/workspace.json"), text.as_bytes());
            assert_eq!(folder(&session), expected, "{text}");
        }
    }
}
