//! A database of OpenCode, the same on every machine.
//!
//! Sessions of a hundred messages over eight projects: a prompt, then three answers, each with the
//! parts that version 1.18 writes, tool calls with their output among them.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;

/// Raised when the same arguments would give another database.
const GENERATION: u32 = 1;
/// Projects the sessions are spread over.
const PROJECTS: i64 = 8;
/// Messages of one session.
const LENGTH: i64 = 100;
/// Messages to one prompt, itself included.
const TURN: i64 = 4;
/// The first session is created then, in milliseconds.
const START: i64 = 1_767_225_600_000;

/// The folder of a project.
pub(crate) fn project(index: i64) -> String {
    format!("/home/dana/work/project-{index}")
}

/// Makes a database of so many messages below `folder`, or takes it from there. Returns its home.
pub(crate) fn database(
    folder: &Path,
    messages: i64,
) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let home = folder.join(format!("opencode-{messages}-{GENERATION}"));
    let done = home.join("done");
    if done.exists() {
        return Ok(home);
    }
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    let mut connection = Connection::open(home.join("opencode.db"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
         CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
             directory text NOT NULL, revert text, agent text,
             time_created integer NOT NULL, time_updated integer NOT NULL);
         CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
             time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
         CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
             time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
         CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
         CREATE INDEX part_message_id_id_idx ON part (message_id, id);
         CREATE INDEX part_session_idx ON part (session_id);",
    )?;
    for number in 0..messages / LENGTH {
        let transaction = connection.transaction()?;
        session(&transaction, number)?;
        transaction.commit()?;
    }
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    drop(connection);
    std::fs::File::create(done)?;
    Ok(home)
}

fn session(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    let id = format!("ses_{number:08}ffe");
    let directory = project(number % PROJECTS);
    let created = START + number * 600_000;
    let mut add_message =
        connection.prepare_cached("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)")?;
    let mut add_part =
        connection.prepare_cached("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)")?;
    connection
        .prepare_cached("INSERT INTO session VALUES (?1, 'p', NULL, ?2, NULL, 'build', ?3, ?4)")?
        .execute((&id, &directory, created, created + LENGTH * 5000))?;
    for place in 0..LENGTH {
        let at = created + place * 5000;
        let message = format!("msg_{number:08}{place:04}");
        let asked = place % TURN == 0;
        let data = if asked {
            json!({"role": "user", "time": {"created": at}, "agent": "build",
                   "model": {"providerID": "p", "modelID": "m"}, "summary": {"diffs": []}})
        } else {
            json!({"parentID": message, "role": "assistant", "mode": "build", "agent": "build",
                   "path": {"cwd": directory, "root": directory}, "cost": 0,
                   "tokens": {"total": 7503, "input": 7463, "output": 40, "reasoning": 0, "cache": {"write": 0, "read": 0}},
                   "modelID": "m", "providerID": "p", "time": {"created": at, "completed": at + 2000}, "finish": "stop"})
        };
        add_message.execute((&message, &id, at, data.to_string()))?;
        let parts = if asked {
            vec![json!({"type": "text", "text": format!(
                "Please look at case {number} in part {place} and say why the last page is wrong, then fix it.")})]
        } else {
            vec![
                json!({"snapshot": "4ae95d7860c609b4c208650e40267ca812301c34", "type": "step-start"}),
                json!({"type": "text", "time": {"start": at, "end": at}, "text": format!(
                    "The divisor was wrong in case {number}: it divided the length instead of the length minus one. ").repeat(3)}),
                json!({"type": "tool", "tool": if place % 3 == 0 { "write" } else { "bash" }, "callID": "call_1",
                       "state": {"status": "completed",
                                 "input": {"command": "git log --oneline | head -20", "filePath": format!("{directory}/src/file-{}.rs", place % 9)},
                                 "output": format!("line {place} of the output of a command\n").repeat(30)}}),
                json!({"reason": "stop", "type": "step-finish", "cost": 0,
                       "tokens": {"total": 7503, "input": 7463, "output": 40, "reasoning": 0, "cache": {"write": 0, "read": 0}}}),
            ]
        };
        for (count, part) in parts.iter().enumerate() {
            add_part.execute((
                format!("prt_{number:08}{place:04}{count}"),
                &message,
                &id,
                at,
                part.to_string(),
            ))?;
        }
    }
    Ok(())
}

/// Changes one session of the database, as a program would that is used.
pub(crate) fn touch(home: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let connection = Connection::open(home.join("opencode.db"))?;
    connection.execute(
        "UPDATE session SET time_updated = time_updated + 1 WHERE id = 'ses_00000000ffe'",
        [],
    )?;
    Ok(())
}
