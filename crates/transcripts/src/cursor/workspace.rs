//! The folder of a workspace, which no transcript names.

use std::path::Path;

use serde::Deserialize;

use crate::lenient::{Text, parse};
use crate::sibling;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Trusted<'a> {
    #[serde(borrow)]
    workspace_path: Text<'a>,
}

/// The folder a session belongs to, as `.workspace-trusted` in the workspace's folder says. Empty
/// when it does not: the name of the workspace's folder fits many paths.
pub(crate) fn folder(session: &Path) -> String {
    let workspace = session
        .ancestors()
        .find(|path| {
            path.file_name()
                .is_some_and(|name| name == "agent-transcripts")
        })
        .and_then(Path::parent);
    let found = workspace.and_then(|folder| sibling::read(&folder.join(".workspace-trusted")));
    let mut spare = Vec::new();
    found
        .as_deref()
        .and_then(|bytes| parse::<Trusted<'_>>(bytes, &mut spare).ok())
        .map(|(trusted, _)| trusted.workspace_path.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sibling::tests::put;

    #[test]
    fn the_file_in_the_workspaces_folder_names_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let workspace = home.path().join("projects/w-app");
        let session = workspace.join("agent-transcripts/1f/1f.jsonl");
        assert_eq!(folder(&session), "");
        std::fs::create_dir_all(&workspace).unwrap();
        for (text, expected) in [
            (r#"{"workspacePath":"/w/app","trustedAt":"x"}"#, "/w/app"),
            (r#"{"workspacePath":["/w/app"]}"#, ""),
            ("nothing", ""),
        ] {
            put(&workspace.join(".workspace-trusted"), text.as_bytes());
            assert_eq!(folder(&session), expected, "{text}");
        }
    }
}
