//! A database of Cursor's editor, the same on every machine.
//!
//! Chats of sixty messages over eight projects, each with what else the editor keeps of a chat
//! (checkpoints, differences, what the model was sent), which is most of the bytes.

use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::opencode::project;

/// Projects the chats are spread over.
const PROJECTS: usize = 8;
/// Messages of one chat.
const LENGTH: usize = 60;
/// Messages to one prompt, itself included.
const TURN: usize = 6;
/// Values of a chat that are never asked for, and the bytes of each.
const OTHERS: usize = 24;
const OTHER_BYTES: usize = 32 * 1024;
/// The first chat is created then, in milliseconds.
const START: i64 = 1_767_225_600_000;

/// Makes a database of at least so many megabytes in `folder`. Returns its home.
pub(crate) fn database(
    folder: &Path,
    megabytes: u64,
) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let home = folder.join("cursor");
    let user = home.join("User");
    let path = user.join("globalStorage").join("state.vscdb");
    std::fs::create_dir_all(user.join("globalStorage"))?;
    for number in 0..PROJECTS {
        let workspace = user.join("workspaceStorage").join(format!("w{number}"));
        std::fs::create_dir_all(&workspace)?;
        let folder = json!({"folder": format!("file://{}", folder_of(number))});
        std::fs::File::create(workspace.join("workspace.json"))?
            .write_all(folder.to_string().as_bytes())?;
    }
    let mut connection = Connection::open(&path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
         CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
    )?;
    let mut headers: Vec<Value> = Vec::new();
    while std::fs::metadata(&path)?.len() < megabytes * 1024 * 1024 {
        let transaction = connection.transaction()?;
        for _ in 0..32 {
            let number = headers.len();
            chat(&transaction, number)?;
            headers.push(json!({"composerId": name(number), "workspaceIdentifier": {
                "id": format!("w{}", number % PROJECTS),
                "uri": {"scheme": "file", "fsPath": folder_of(number)}}}));
        }
        transaction.commit()?;
    }
    connection.execute(
        "INSERT INTO ItemTable VALUES ('composer.composerHeaders', ?1)",
        [json!({"allComposers": headers}).to_string()],
    )?;
    Ok(home)
}

fn folder_of(number: usize) -> String {
    project(i64::try_from(number % PROJECTS).unwrap_or_default())
}

fn name(number: usize) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

fn chat(connection: &Connection, number: usize) -> rusqlite::Result<()> {
    let mut add = connection.prepare_cached("INSERT INTO cursorDiskKV VALUES (?1, ?2)")?;
    let chat = name(number);
    let created = START + i64::try_from(number).unwrap_or_default() * 600_000;
    let bubbles: Vec<String> = (0..LENGTH)
        .map(|place| format!("{number:08x}-{place:04x}-4000-8000-000000000000"))
        .collect();
    let headers: Vec<Value> = bubbles
        .iter()
        .enumerate()
        .map(|(place, bubble)| json!({"bubbleId": bubble, "type": kind(place)}))
        .collect();
    add.execute((
        format!("composerData:{chat}"),
        json!({"_v": 10, "composerId": chat, "createdAt": created, "status": "completed",
               "fullConversationHeadersOnly": headers, "codeBlockData": {},
               "context": {"mentions": {}, "fileSelections": []}})
        .to_string()
        .into_bytes(),
    ))?;
    for (place, bubble) in bubbles.iter().enumerate() {
        let value = message(number, place, bubble);
        add.execute((
            format!("bubbleId:{chat}:{bubble}"),
            value.to_string().into_bytes(),
        ))?;
    }
    let other = vec![b'x'; OTHER_BYTES];
    for count in 0..OTHERS {
        let family = ["checkpointId", "codeBlockDiff", "messageRequestContext"][count % 3];
        add.execute((format!("{family}:{chat}:{count:04}"), &other))?;
    }
    Ok(())
}

/// 1 for the person, 2 for the agent.
const fn kind(place: usize) -> u8 {
    if place.is_multiple_of(TURN) { 1 } else { 2 }
}

/// A message as version 3 writes it, with the many lists that are empty.
fn message(number: usize, place: usize, bubble: &str) -> Value {
    let mut message = json!({
        "_v": 3, "type": kind(place), "bubbleId": bubble, "text": "",
        "createdAt": format!("2026-01-05T{:02}:{:02}:00.000Z", number % 24, place),
        "approximateLintErrors": [], "lints": [], "codebaseContextChunks": [], "commits": [],
        "pullRequests": [], "attachedCodeChunks": [], "assistantSuggestedDiffs": [], "gitDiffs": [],
        "interpreterResults": [], "images": [], "attachedFolders": [], "toolResults": [],
        "supportedTools": [1, 41, 7, 38, 8, 9, 11, 12, 15, 18], "tokenCount": {"inputTokens": 0, "outputTokens": 0},
    });
    match (kind(place), place % 2) {
        (1, _) => {
            message["text"] = json!(format!("Fix case {number} of part {place} in the parser"));
            message["richText"] = json!(format!("{{\"root\":{{\"children\":[{number}]}}}}"));
        }
        (_, 0) => message["text"] = json!(format!("Part {place} is done. ").repeat(40)),
        _ => {
            message["toolFormerData"] = json!({
                "tool": 15, "name": "edit_file", "status": "completed", "userDecision": "accepted",
                "rawArgs": json!({"target_file": format!("src/file-{}.rs", place % 9)}).to_string(),
                "result": format!("line {place} of the output of a command\n").repeat(60)});
        }
    }
    message
}
