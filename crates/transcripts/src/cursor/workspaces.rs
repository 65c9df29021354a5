//! Which folder a chat of Cursor's editor belongs to.
//!
//! No chat says so itself. The editor keeps lists of its chats, in a place of its own in each
//! generation: a table beside the chats, one value beside them, or one value in the database of each
//! workspace.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::bubble::{ChatList, Listed, WorkspaceFile};
use crate::database::{Database, DatabaseFiles, VALUE_LIMIT, bytes, text, why};
use crate::lenient::{Content, parse};
use crate::reading::Counts;
use crate::reason::Reason;
use crate::scope::Project;

/// Most workspaces that are looked at.
const WORKSPACE_LIMIT: usize = 10_000;
/// Most bytes of a `workspace.json`.
const FILE_LIMIT: u64 = 64 * 1024;

/// What is known of a chat without reading it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Empty when it is not known, or on another machine.
    pub(super) directory: String,
    /// An agent began it.
    pub(super) subagent: bool,
}

/// What is known of the chats, by their ids. `user` is the folder of the user's data.
pub(super) fn chats(
    database: &Database,
    user: &Path,
    project: &Project,
    counts: &mut Counts,
) -> Result<HashMap<String, Known>, Reason> {
    let folders = folders(&user.join("workspaceStorage"));
    let mut known = HashMap::new();
    table(database, &folders, &mut known)?;
    if database.has("ItemTable", &["key", "value"])? {
        item(
            database.connection(),
            "composer.composerHeaders",
            &mut |list| {
                list_of(list, "", &folders, &mut known);
            },
        )
        .map_err(|error| why(&error))?;
    }
    for (workspace, folder) in &folders {
        // Chats elsewhere are not read, whatever their folder is.
        if !project.covers(folder) {
            continue;
        }
        let path = user
            .join("workspaceStorage")
            .join(workspace)
            .join("state.vscdb");
        match workspace_list(&path, folder, &folders, &mut known) {
            Ok(()) | Err(Reason::Vanished) => {}
            Err(reason) => counts.add(reason),
        }
    }
    Ok(known)
}

/// The list of the newest versions: a table.
fn table(
    database: &Database,
    folders: &HashMap<String, String>,
    known: &mut HashMap<String, Known>,
) -> Result<(), Reason> {
    if !database.has("composerHeaders", &["composerId", "workspaceId", "value"])? {
        return Ok(());
    }
    let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
    let read = || -> rusqlite::Result<()> {
        let mut statement = database.connection().prepare(
            "SELECT composerId, workspaceId, CASE WHEN octet_length(value) <= ?1 THEN value END
             FROM composerHeaders",
        )?;
        let mut rows = statement.query([limit])?;
        while let Some(row) = rows.next()? {
            let mut spare = Vec::new();
            let listed = bytes(row.get_ref(2)?)
                .and_then(|value| parse::<Listed<'_>>(value, &mut spare).ok())
                .map(|(listed, _)| listed)
                .unwrap_or_default();
            let id = text(row.get_ref(0)?);
            let workspace = text(row.get_ref(1)?);
            let fallback = folders.get(workspace).map_or("", String::as_str);
            learn(id, &listed, fallback, folders, known);
        }
        Ok(())
    };
    let mut read = read;
    read().map_err(|error| why(&error))
}

/// The list in the database of a workspace.
fn workspace_list(
    path: &Path,
    folder: &str,
    folders: &HashMap<String, String>,
    known: &mut HashMap<String, Known>,
) -> Result<(), Reason> {
    let database = Database::open(path, DatabaseFiles::of(path)?)?;
    if !database.has("ItemTable", &["key", "value"])? {
        return Ok(());
    }
    let mut found = HashMap::new();
    item(
        database.connection(),
        "composer.composerData",
        &mut |list| {
            list_of(list, folder, folders, &mut found);
        },
    )
    .map_err(|error| why(&error))?;
    if !database.holds() {
        return Err(Reason::BusyDatabase);
    }
    for (id, one) in found {
        known.entry(id).or_insert(one);
    }
    Ok(())
}

/// One value of the editor's own table. No other key of it is ever asked for.
fn item(connection: &Connection, key: &str, then: &mut dyn FnMut(&[u8])) -> rusqlite::Result<()> {
    let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "SELECT CASE WHEN octet_length(value) <= ?2 THEN value END FROM ItemTable WHERE key = ?1",
        )?
        .query_row((key, limit), |row| {
            if let Some(value) = bytes(row.get_ref(0)?) {
                then(value);
            }
            Ok(())
        })
        .optional()?;
    Ok(())
}

fn list_of(
    value: &[u8],
    folder: &str,
    folders: &HashMap<String, String>,
    known: &mut HashMap<String, Known>,
) {
    let mut spare = Vec::new();
    if let Ok((list, _)) = parse::<ChatList<'_>>(value, &mut spare)
        && let Content::Blocks(chats) = &list.all_composers
    {
        for chat in chats {
            learn(&chat.composer_id, chat, folder, folders, known);
        }
    }
}

fn learn(
    id: &str,
    listed: &Listed<'_>,
    fallback: &str,
    folders: &HashMap<String, String>,
    known: &mut HashMap<String, Known>,
) {
    if id.is_empty() || known.contains_key(id) {
        return;
    }
    let mut directory = fallback;
    if let Some(workspace) = &listed.workspace_identifier.0 {
        if let Some(folder) = folders.get(&*workspace.id) {
            directory = folder;
        } else if let Some(uri) = &workspace.uri.0
            && matches!(&*uri.scheme, "" | "file")
            && !uri.path.is_empty()
        {
            directory = &uri.path;
        }
    }
    // A chat whose folder is not known here may stand in another list.
    if !directory.is_empty() || listed.is_subagent.0 {
        known.insert(
            id.to_owned(),
            Known {
                directory: directory.to_owned(),
                subagent: listed.is_subagent.0,
            },
        );
    }
}

/// The folder of each workspace.
fn folders(storage: &Path) -> HashMap<String, String> {
    let mut folders = HashMap::new();
    let entries = fs::read_dir(storage).into_iter().flatten().flatten();
    for entry in entries.take(WORKSPACE_LIMIT) {
        let mut bytes = Vec::new();
        let read = File::open(entry.path().join("workspace.json"))
            .and_then(|file| file.take(FILE_LIMIT).read_to_end(&mut bytes));
        let mut spare = Vec::new();
        if read.is_ok()
            && let Ok(workspace) = entry.file_name().into_string()
            && let Ok((file, _)) = parse::<WorkspaceFile<'_>>(&bytes, &mut spare)
            && let Some(folder) = folder_of(&file.folder)
        {
            folders.insert(workspace, folder);
        }
    }
    folders
}

/// The folder an address names, if it is on this machine.
fn folder_of(address: &str) -> Option<String> {
    let path = address.strip_prefix("file://")?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let code = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(code).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    // `/c:/work` on Windows.
    let drive = path.as_bytes().get(2) == Some(&b':') && path.starts_with('/');
    Some(if drive { path[1..].to_owned() } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_folders() {
        for (address, folder) in [
            ("file:///home/dana/work/app", Some("/home/dana/work/app")),
            (
                "file:///home/dana/z%C3%BCrich%20web",
                Some("/home/dana/zürich web"),
            ),
            ("file:///c%3A/work/app", Some("c:/work/app")),
            ("vscode-remote://ssh-remote%2Bbox/work", None),
            ("file:///a%zz", None),
            ("file:///a%ff", None),
            ("", None),
        ] {
            assert_eq!(folder_of(address).as_deref(), folder, "{address}");
        }
    }
}
