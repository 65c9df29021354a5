//! The chats of Cursor's editor, in its key-value database.
//!
//! One database holds the chats of all projects beside everything else the editor remembers, sign-ins
//! included; it grows to gigabytes. So it is only asked for exact keys and for keys that begin in a
//! certain way, and only chats of the project are read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::OptionalExtension;
use skillopt_core::feedback;

use super::bubble::{Bubble, Chat, Tool};
use super::workspaces::{self, Known};
use crate::collection::{Collection, Listed, PATIENCE, Place, SESSION_LIMIT, version};
use crate::database::{Database, DatabaseFiles, VALUE_LIMIT, bytes, number, size, text, why};
use crate::files::State;
use crate::lenient::{Content, parse};
use crate::reading::{Counts, Recorder, short};
use crate::reason::Reason;
use crate::scope::Project;
use crate::session::Author;

/// The database below a home, if it is one of the editor.
pub(crate) fn places(home: &Path) -> Vec<Place> {
    let user = home.join("User");
    if !user.is_dir() {
        return Vec::new();
    }
    vec![Place {
        path: user.join("globalStorage").join("state.vscdb"),
        open,
        database: true,
        by_project: true,
    }]
}

/// What the key of a chat begins with; behind it comes its id.
const CHAT: &str = "composerData:";
/// What the key of a message begins with; behind it come the ids of the chat and the message.
const BUBBLE: &str = "bubbleId:";
/// Most messages that are read of one chat.
const BUBBLE_LIMIT: usize = 50_000;

/// What is done with a value, or with the reason why there is none.
type Then<'a> = dyn FnMut(Result<&[u8], Reason>) + 'a;

struct Editor {
    database: Database,
    /// The folder of the user's data.
    user: PathBuf,
    /// What is known of the chats without reading them.
    known: HashMap<String, Known>,
    /// The row of each chat: one that is written again has a new number.
    rows: HashMap<String, Option<i64>>,
}

fn open(path: &Path) -> Result<Box<dyn Collection>, Reason> {
    let database = Database::open(path, DatabaseFiles::of(path)?)?;
    if !database.has("cursorDiskKV", &["key", "value"])? {
        return Err(Reason::UnknownSchema);
    }
    if !database.finds_by("cursorDiskKV", "key")? {
        return Err(Reason::UnknownSchema);
    }
    // `<home>/User/globalStorage/state.vscdb`
    let user = path.parent().and_then(Path::parent).unwrap_or(path);
    Ok(Box::new(Editor {
        database,
        user: user.to_owned(),
        known: HashMap::new(),
        rows: HashMap::new(),
    }))
}

impl Editor {
    /// Chats by their ids, with the number of their row.
    fn chats(&self) -> rusqlite::Result<Vec<(String, Option<i64>)>> {
        let (from, to) = beginning_with(CHAT);
        let limit = i64::try_from(SESSION_LIMIT + 1).unwrap_or(i64::MAX);
        let mut statement = self.database.connection().prepare(
            "SELECT substr(key, ?3), rowid FROM cursorDiskKV WHERE key >= ?1 AND key < ?2
             ORDER BY key LIMIT ?4",
        )?;
        // SQL counts from one.
        let behind = i64::try_from(CHAT.len() + 1).unwrap_or(i64::MAX);
        let mut rows = statement.query((from, to, behind, limit))?;
        let mut chats = Vec::new();
        while let Some(row) = rows.next()? {
            let id = text(row.get_ref(0)?);
            if !id.is_empty() {
                chats.push((id.to_owned(), number(row.get_ref(1)?).0));
            }
        }
        Ok(chats)
    }

    /// What changes whenever a chat does.
    fn looks(&self, id: &str, row: Option<i64>, directory: &str) -> rusqlite::Result<State> {
        let connection = self.database.connection();
        let (from, to) = beginning_with(&format!("{BUBBLE}{id}:"));
        let bubbles: [Option<i64>; 3] = connection
            .prepare_cached(
                "SELECT count(*), max(rowid), sum(octet_length(value)) FROM cursorDiskKV
                 WHERE key >= ?1 AND key < ?2",
            )?
            .query_row((from, to), |row| {
                Ok([0, 1, 2].map(|column| number(row.get_ref_unwrap(column)).0))
            })?;
        let chat: Option<i64> = connection
            .prepare_cached("SELECT octet_length(value) FROM cursorDiskKV WHERE rowid = ?1")?
            .query_row([row], |row| Ok(number(row.get_ref(0)?).0))
            .optional()?
            .flatten();
        Ok(version(
            &[&bubbles[..], &[row, chat]].concat(),
            &[directory],
        ))
    }

    /// Calls `then` with the value of a key. Returns its size; none if there is no such key.
    fn value(&self, key: &str, then: &mut Then<'_>) -> rusqlite::Result<Option<u64>> {
        let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
        self.database
            .connection()
            .prepare_cached(
                "SELECT octet_length(value), CASE WHEN octet_length(value) <= ?2 THEN value END
                 FROM cursorDiskKV WHERE key = ?1",
            )?
            .query_row((key, limit), |row| {
                let size = size(row.get_ref(0)?);
                then(bytes(row.get_ref(1)?).ok_or(if size > VALUE_LIMIT as u64 {
                    Reason::ValueTooLong
                } else {
                    Reason::Malformed
                }));
                Ok(size)
            })
            .optional()
    }

    fn read_chat(
        &self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> rusqlite::Result<u64> {
        let known = self.known.get(id);
        if known.is_some_and(|known| known.subagent) {
            recorder.condemn(Reason::Subagent);
        }
        recorder.place(known.map_or("", |known| &known.directory), "");
        let mut bubbles = Vec::new();
        let mut back_to = String::new();
        let mut aborted = false;
        let mut looked_at = self
            .value(&format!("{CHAT}{id}"), &mut |value| {
                let value = match value {
                    Ok(value) => value,
                    Err(reason) => return recorder.skip(reason),
                };
                let mut spare = Vec::new();
                let Ok((chat, _)) = parse::<Chat<'_>>(value, &mut spare) else {
                    return recorder.skip(Reason::Malformed);
                };
                recorder.format(chat.format);
                recorder.time(chat.created_at.0);
                short(&chat.current_bubble_id).clone_into(&mut back_to);
                aborted = &*chat.status == "aborted";
                if let Content::Blocks(conversation) = &chat.conversation {
                    for bubble in conversation {
                        told(bubble, &bubble.bubble_id, recorder);
                    }
                    if !conversation.is_empty() {
                        return;
                    }
                }
                if let Content::Blocks(headers) = &chat.headers {
                    bubbles = headers
                        .iter()
                        .map(|header| header.bubble_id.to_string())
                        .filter(|bubble| !bubble.is_empty())
                        .take(BUBBLE_LIMIT)
                        .collect();
                }
            })?
            .unwrap_or_default();
        for (seen, bubble) in bubbles.iter().enumerate() {
            if seen % PATIENCE == PATIENCE - 1 && cancel() {
                break;
            }
            let size = self.value(&format!("{BUBBLE}{id}:{bubble}"), &mut |value| {
                let value = match value {
                    Ok(value) => value,
                    Err(reason) => return recorder.skip(reason),
                };
                let mut spare = Vec::new();
                match parse::<Bubble<'_>>(value, &mut spare) {
                    Ok((bubble_read, _)) => told(&bubble_read, bubble, recorder),
                    Err(_) => recorder.skip(Reason::Malformed),
                }
            })?;
            looked_at += size.unwrap_or_default();
        }
        if aborted {
            recorder.interrupted();
        }
        if !back_to.is_empty() {
            recorder.taken_back_from(&back_to);
        }
        Ok(looked_at)
    }
}

/// One message.
fn told(bubble: &Bubble<'_>, id: &str, recorder: &mut Recorder<'_>) {
    let at = bubble.created_at.0;
    recorder.time(at);
    match bubble.r#type.0 {
        Some(1) => recorder.human(id, at, &bubble.text),
        Some(2) => {
            if let Some(tool) = &bubble.tool.0 {
                called(tool, recorder);
            }
            if !bubble.text.trim().is_empty() {
                recorder.reply(id, at, &bubble.text);
            }
        }
        Some(other) => recorder.unknown(&format!("bubble/{other}")),
        None => recorder.skip(Reason::Malformed),
    }
}

/// A tool call: its name, and the file it wrote.
fn called(tool: &Tool<'_>, recorder: &mut Recorder<'_>) {
    recorder.tool(&tool.name);
    if matches!(&*tool.status, "completed" | "error") {
        recorder.beside(Author::Tool);
    }
    // The editor itself refuses to change its mode where the person once did.
    if tool.is_rejected() && &*tool.name != "switch_mode" {
        recorder.tool_rejected();
    }
    let runs = matches!(
        &*tool.name,
        "run_terminal_cmd" | "run_terminal_command" | "run_terminal_command_v2"
    );
    if runs && tool.ended_well() && feedback::commits(&tool.command()) {
        recorder.committed();
    }
    let writes = matches!(
        &*tool.name,
        "edit_file" | "edit_file_v2" | "search_replace" | "write" | "delete_file" | "apply_patch"
    );
    if writes && &*tool.status == "completed" {
        recorder.file(&tool.file());
    }
}

impl Collection for Editor {
    fn list(&mut self, project: &Project, counts: &mut Counts) -> Result<Vec<Listed>, Reason> {
        let chats = self.chats().map_err(|error| why(&error))?;
        self.known = workspaces::chats(&self.database, &self.user, project, counts)?;
        let listed = chats
            .iter()
            .map(|(id, _)| {
                let known = self.known.get(id);
                Listed {
                    id: id.clone(),
                    elsewhere: !project.covers(known.map_or("", |known| &known.directory)),
                    ended: None,
                }
            })
            .collect();
        self.rows = chats.into_iter().collect();
        Ok(listed)
    }

    fn version(&mut self, id: &str) -> Result<State, Reason> {
        let row = self.rows.get(id).copied().flatten();
        let directory = self.known.get(id).map_or("", |known| &known.directory);
        self.looks(id, row, directory).map_err(|error| why(&error))
    }

    fn read(
        &mut self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> Result<u64, Reason> {
        self.read_chat(id, recorder, cancel)
            .map_err(|error| why(&error))
    }

    fn holds(&self) -> bool {
        self.database.holds()
    }
}

/// The range of keys that begin like this.
fn beginning_with(start: &str) -> (String, String) {
    let mut end = start.to_owned();
    // Every beginning ends in a colon; the next character is a semicolon.
    if end.pop().is_some() {
        end.push(';');
    }
    (start.to_owned(), end)
}
