//! Every place in which an agent keeps sessions, and how a session is written there.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::Value;
use skillopt_core::agent::Agent;

use crate::homes::write;

/// One kind of store of one agent.
pub(crate) struct Store {
    pub(crate) name: &'static str,
    pub(crate) agent: Agent,
    pub(crate) form: Form,
    /// A prompt. `WORDS`, `ID`, `TIME` and `MILLIS` are filled in.
    pub(crate) prompt: &'static str,
    /// A record of a type that nobody knows yet.
    pub(crate) unknown: &'static str,
    /// A name in that record by which it is counted.
    pub(crate) unknown_name: &'static str,
}

/// How a store holds sessions.
pub(crate) enum Form {
    /// A file of lines for each session, below `folder`.
    Lines {
        folder: &'static str,
        /// Below `folder`; `NAME` stands for the session.
        path: &'static str,
        header: &'static str,
    },
    /// A JSON document for each session, in which the records stand between two texts.
    Document {
        folder: &'static str,
        path: &'static str,
        before: &'static str,
        after: &'static str,
    },
    /// A file for each session, message and part; records are parts.
    Folder,
    /// Rows of a database.
    Rows(Rows),
}

/// How a database holds sessions. `?1` is the session, `?2` the number of the record, `?3` the record,
/// `?4` its time in milliseconds.
pub(crate) struct Rows {
    /// Below the agent's home.
    pub(crate) path: &'static str,
    pub(crate) tables: &'static str,
    /// Makes a session.
    pub(crate) session: &'static [&'static str],
    /// Adds a record to it.
    pub(crate) record: &'static [&'static str],
    /// The table of the records, and a column of it without which it cannot be read.
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
}

/// Pi's format, which OpenClaw took over.
const PI_HEADER: &str = r#"{"type":"session","version":3,"id":"NAME","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/w/app"}"#;
const PI_PROMPT: &str = r#"{"type":"message","id":"ID","parentId":"gone","timestamp":"TIME","message":{"role":"user","content":[{"type":"text","text":"WORDS"}]}}"#;
const PI_UNKNOWN: &str =
    r#"{"type":"prophecy","id":"x","parentId":"gone","timestamp":"2026-01-05T10:00:00.000Z"}"#;

pub(crate) const STORES: [Store; 14] = [
    Store {
        name: "Claude Code, files",
        agent: Agent::Claude,
        form: Form::Lines {
            folder: "projects",
            path: "-w-app/NAME.jsonl",
            header: r#"{"type":"mode","mode":"default","sessionId":"NAME"}"#,
        },
        prompt: r#"{"type":"user","message":{"role":"user","content":"WORDS"},"uuid":"ID","timestamp":"TIME","origin":{"kind":"human"},"promptSource":"typed","cwd":"/w/app","gitBranch":"main","version":"9.0.0"}"#,
        unknown: r#"{"type":"prophecy","uuid":"x","version":"9.0.0"}"#,
        unknown_name: "prophecy",
    },
    Store {
        name: "Codex, files",
        agent: Agent::Codex,
        form: Form::Lines {
            folder: "sessions",
            path: "2026/01/05/rollout-NAME.jsonl",
            header: r#"{"timestamp":"2026-01-05T10:00:00.000Z","type":"session_meta","payload":{"id":"NAME","cwd":"/w/app","originator":"codex_cli_rs","cli_version":"9.0.0"}}"#,
        },
        prompt: r#"{"timestamp":"TIME","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"ID","content":[{"type":"text","text":"WORDS"}]}}}"#,
        unknown: r#"{"timestamp":"2026-01-05T10:00:00.000Z","type":"prophecy","payload":{}}"#,
        unknown_name: "prophecy",
    },
    Store {
        name: "Copilot CLI, event logs",
        agent: Agent::Copilot,
        form: Form::Lines {
            folder: "session-state",
            path: "NAME/events.jsonl",
            header: r#"{"type":"session.start","data":{"sessionId":"NAME","copilotVersion":"9.0.0","context":{"cwd":"/w/app","branch":"main"}},"id":"e0","timestamp":"2026-01-05T10:00:00.000Z"}"#,
        },
        prompt: r#"{"type":"user.message","data":{"content":"WORDS","delivery":"idle"},"id":"ID","timestamp":"TIME"}"#,
        unknown: r#"{"type":"prophecy","data":{},"id":"x","timestamp":"2026-01-05T10:00:00.000Z"}"#,
        unknown_name: "prophecy",
    },
    Store {
        name: "Copilot CLI, database",
        agent: Agent::Copilot,
        form: Form::Rows(Rows {
            path: "session-store.db",
            tables: "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, repository TEXT,
                         branch TEXT, created_at TEXT, updated_at TEXT);
                     CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT,
                         assistant_response TEXT, timestamp TEXT, UNIQUE (session_id, turn_index));",
            session: &["INSERT INTO sessions VALUES (?1, '/w/app', 'r', 'main',
                            '2026-01-05 10:00:00', '2026-01-05 10:05:00')"],
            record: &["INSERT INTO turns VALUES (?1, ?2, ?3, 'ok',
                           strftime('%Y-%m-%d %H:%M:%S', ?4 / 1000, 'unixepoch'))"],
            table: "turns",
            column: "user_message",
        }),
        prompt: "WORDS",
        unknown: "",
        unknown_name: "",
    },
    Store {
        name: "Copilot Chat, logs of changes",
        agent: Agent::Vscode,
        form: Form::Lines {
            folder: "User/workspaceStorage",
            path: "1f/chatSessions/NAME.jsonl",
            header: r#"{"kind":0,"v":{"version":3,"sessionId":"NAME","creationDate":1767607200000,"requests":[]}}"#,
        },
        prompt: r#"{"kind":2,"k":["requests"],"v":[{"requestId":"ID","message":{"text":"WORDS"},"agent":{"extensionId":{"value":"GitHub.copilot-chat"}},"timestamp":MILLIS,"response":[{"value":"ok"}]}]}"#,
        unknown: r#"{"kind":99,"k":["requests"],"v":[]}"#,
        unknown_name: "kind/99",
    },
    Store {
        name: "Copilot Chat, documents",
        agent: Agent::Vscode,
        form: Form::Document {
            folder: "User/workspaceStorage",
            path: "1f/chatSessions/NAME.json",
            before: r#"{"version":3,"sessionId":"NAME","creationDate":1767607200000,"requests":["#,
            after: "]}",
        },
        prompt: r#"{"requestId":"ID","message":{"text":"WORDS"},"agent":{"extensionId":{"value":"GitHub.copilot-chat"}},"timestamp":MILLIS,"response":[{"value":"ok"}]}"#,
        unknown: "",
        unknown_name: "",
    },
    Store {
        name: "Cursor, agent transcripts",
        agent: Agent::Cursor,
        form: Form::Lines {
            folder: "projects",
            path: "w-app/agent-transcripts/NAME/NAME.jsonl",
            header: r#"{"role":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}"#,
        },
        prompt: r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>WORDS</user_query>"}]}}"#,
        unknown: r#"{"role":"prophet","message":{"content":"x"}}"#,
        unknown_name: "prophet",
    },
    Store {
        name: "Cursor, the editor's database",
        agent: Agent::Cursor,
        form: Form::Rows(Rows {
            path: "User/globalStorage/state.vscdb",
            tables: r#"CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                       CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                       INSERT INTO ItemTable VALUES ('composer.composerHeaders', '{"allComposers":[]}');"#,
            session: &[
                r#"UPDATE ItemTable SET value = json_insert(value, '$.allComposers[#]',
                       json_object('composerId', ?1, 'workspaceIdentifier',
                           json('{"id":"w","uri":{"scheme":"file","fsPath":"/w/app"}}')))"#,
                r#"INSERT INTO cursorDiskKV VALUES ('composerData:' || ?1,
                       json_object('_v', 10, 'composerId', ?1, 'createdAt', 1767607200000,
                           'fullConversationHeadersOnly', json('[]')))"#,
            ],
            record: &[
                "INSERT INTO cursorDiskKV VALUES ('bubbleId:' || ?1 || ':b' || ?1 || ?2, ?3)",
                "UPDATE cursorDiskKV SET value = json_insert(value, '$.fullConversationHeadersOnly[#]',
                     json_object('bubbleId', 'b' || ?1 || ?2, 'type', 1))
                 WHERE key = 'composerData:' || ?1",
            ],
            table: "cursorDiskKV",
            column: "value",
        }),
        prompt: r#"{"_v":3,"type":1,"bubbleId":"ID","text":"WORDS","createdAt":"TIME"}"#,
        unknown: r#"{"_v":3,"type":99,"bubbleId":"x","text":"x"}"#,
        unknown_name: "bubble/99",
    },
    Store {
        name: "Pi, files",
        agent: Agent::Pi,
        form: Form::Lines {
            folder: "sessions",
            path: "--w-app--/NAME.jsonl",
            header: PI_HEADER,
        },
        prompt: PI_PROMPT,
        unknown: PI_UNKNOWN,
        unknown_name: "prophecy",
    },
    Store {
        name: "OpenCode, database",
        agent: Agent::OpenCode,
        form: Form::Rows(Rows {
            path: "opencode.db",
            tables: "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text,
                         version text, time_created integer, time_updated integer);
                     CREATE TABLE message (id text PRIMARY KEY, session_id text,
                         time_created integer, data);
                     CREATE TABLE part (id text PRIMARY KEY, message_id text, data);
                     CREATE INDEX messages ON message (session_id);
                     CREATE INDEX parts ON part (message_id);",
            session: &["INSERT INTO session VALUES (?1, NULL, '/w/app', '9.0.0', 1767607200000, 1767607200000)"],
            record: &[
                r#"INSERT INTO message VALUES (?1 || printf('m%05d', ?2), ?1, coalesce(?4, 0), '{"role":"user"}')"#,
                "INSERT INTO part VALUES (?1 || printf('p%05d', ?2), ?1 || printf('m%05d', ?2), ?3)",
            ],
            table: "part",
            column: "data",
        }),
        prompt: r#"{"type":"text","text":"WORDS"}"#,
        unknown: r#"{"type":"prophecy","text":"x"}"#,
        unknown_name: "part/prophecy",
    },
    Store {
        name: "OpenCode, files before 1.2",
        agent: Agent::OpenCode,
        form: Form::Folder,
        prompt: r#"{"type":"text","text":"WORDS"}"#,
        unknown: r#"{"type":"prophecy","text":"x"}"#,
        unknown_name: "part/prophecy",
    },
    Store {
        name: "OpenClaw, files",
        agent: Agent::OpenClaw,
        form: Form::Lines {
            folder: "agents",
            path: "main/sessions/NAME.jsonl",
            header: PI_HEADER,
        },
        prompt: PI_PROMPT,
        unknown: PI_UNKNOWN,
        unknown_name: "prophecy",
    },
    Store {
        name: "OpenClaw, database",
        agent: Agent::OpenClaw,
        form: Form::Rows(Rows {
            path: "agents/main/agent/openclaw-agent.sqlite",
            tables: "CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT,
                         updated_at INTEGER);
                     CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT,
                         event_zstd BLOB, created_at INTEGER, PRIMARY KEY (session_id, seq));",
            session: &[
                "INSERT INTO session_windows VALUES (?1, 'agent:main:main', 1767607200000)",
                r#"INSERT INTO transcript_events VALUES (?1, 0, json_object('type', 'session',
                       'version', 3, 'id', ?1, 'timestamp', '2026-01-05T10:00:00Z', 'cwd', '/w/app'),
                       NULL, 1)"#,
            ],
            record: &["INSERT INTO transcript_events VALUES (?1, ?2, ?3, NULL, ?4)"],
            table: "transcript_events",
            column: "event_json",
        }),
        prompt: r#"{"type":"message","id":"ID","parentId":"gone","timestamp":"TIME","message":{"role":"user","content":"WORDS"}}"#,
        unknown: r#"{"type":"prophecy","id":"x","parentId":"gone","timestamp":"2026-01-05T10:00:00Z"}"#,
        unknown_name: "prophecy",
    },
    Store {
        name: "Devin, database",
        agent: Agent::Devin,
        form: Form::Rows(Rows {
            path: "sessions.db",
            tables: "CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT,
                         last_activity_at INTEGER, main_chain_id INTEGER);
                     CREATE TABLE message_nodes (session_id TEXT, node_id INTEGER,
                         parent_node_id INTEGER, chat_message TEXT, created_at INTEGER,
                         UNIQUE (session_id, node_id));",
            session: &["INSERT INTO sessions VALUES (?1, '/w/app', 1767607200, NULL)"],
            record: &[
                "INSERT INTO message_nodes VALUES (?1, ?2, ?2 - 1, ?3, ?4 / 1000)",
                "UPDATE sessions SET main_chain_id = ?2 WHERE id = ?1",
            ],
            table: "message_nodes",
            column: "chat_message",
        }),
        prompt: r#"{"message_id":"ID","role":"user","content":"WORDS","metadata":{"is_user_input":true,"created_at":"TIME"}}"#,
        unknown: r#"{"message_id":"x","role":"prophet","content":"x"}"#,
        unknown_name: "message/prophet",
    },
];

/// One record, and when it says it was written, in milliseconds.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) bytes: Vec<u8>,
    pub(crate) millis: Option<i64>,
}

impl Record {
    pub(crate) fn of(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            millis: Some(START + 2 * MINUTE),
        }
    }
}

/// 2026-01-05 10:00 UTC.
const START: i64 = 1_767_607_200_000;
const MINUTE: i64 = 60_000;

impl Store {
    /// What somebody typed in that minute, which is also its name.
    pub(crate) fn typed(&self, minute: u32, words: &str) -> Record {
        self.typed_as(minute, minute, words)
    }

    /// What somebody typed in that minute, under another name.
    pub(crate) fn typed_as(&self, name: u32, minute: u32, words: &str) -> Record {
        let millis = START + i64::from(minute) * MINUTE;
        let time = format!("2026-01-05T10:{minute:02}:00.000Z");
        self.typed_at(name, words, &time, Some(millis))
    }

    /// What somebody typed when the clock said `time`.
    pub(crate) fn typed_at(
        &self,
        number: u32,
        words: &str,
        time: &str,
        millis: Option<i64>,
    ) -> Record {
        let said = millis.map_or("null".to_owned(), |millis| millis.to_string());
        let text = self
            .prompt
            .replace("WORDS", words)
            .replace("ID", &format!("id{number}"))
            .replace("TIME", time)
            .replace("MILLIS", &said);
        Record {
            bytes: text.into_bytes(),
            millis,
        }
    }

    /// Whether records are JSON, and not a person's bare words.
    pub(crate) fn json(&self) -> bool {
        self.prompt.starts_with('{')
    }

    /// Whether a record says which one it is.
    pub(crate) fn ids(&self) -> bool {
        self.prompt.contains("ID")
    }

    /// Writes a session.
    pub(crate) fn put(&self, home: &Path, session: &str, records: &[Record]) {
        match &self.form {
            Form::Lines { header, .. } => {
                let mut bytes = header.replace("NAME", session).into_bytes();
                for record in records {
                    bytes.push(b'\n');
                    bytes.extend_from_slice(&record.bytes);
                }
                bytes.push(b'\n');
                write(&self.session(home, session), &bytes);
            }
            Form::Document { before, after, .. } => {
                let mut bytes = before.replace("NAME", session).into_bytes();
                for (number, record) in records.iter().enumerate() {
                    if number > 0 {
                        bytes.push(b',');
                    }
                    bytes.extend_from_slice(&record.bytes);
                }
                bytes.extend_from_slice(after.as_bytes());
                write(&self.session(home, session), &bytes);
            }
            Form::Folder => {
                let about = format!(
                    r#"{{"id":"{session}","directory":"/w/app","version":"9.0.0","time":{{"created":{START}}}}}"#
                );
                write(&self.session(home, session), about.as_bytes());
                for (number, record) in records.iter().enumerate() {
                    put_part(home, session, number, record);
                }
            }
            Form::Rows(rows) => {
                let db = rows.open(home);
                rows.add_session(&db, session);
                for (number, record) in (1..).zip(records) {
                    rows.add(&db, session, number, record);
                }
            }
        }
    }

    /// The file that a session lies in; of a database, the database.
    pub(crate) fn session(&self, home: &Path, session: &str) -> PathBuf {
        match &self.form {
            Form::Lines { folder, path, .. } | Form::Document { folder, path, .. } => {
                home.join(folder).join(path.replace("NAME", session))
            }
            Form::Folder => home.join(format!("storage/session/p/{session}.json")),
            Form::Rows(rows) => home.join(rows.path),
        }
    }
}

/// Writes a message of OpenCode with its only part.
pub(crate) fn put_part(home: &Path, session: &str, number: usize, record: &Record) {
    let message = message(session, number);
    let millis = record.millis.unwrap_or_default();
    write(
        &home.join(format!("storage/message/{session}/{message}.json")),
        format!(r#"{{"id":"{message}","role":"user","time":{{"created":{millis}}}}}"#).as_bytes(),
    );
    write(&part(home, session, number), &record.bytes);
}

/// OpenCode's name of a message.
fn message(session: &str, number: usize) -> String {
    format!("msg_{session}_{number:04}")
}

/// The file of the only part of a message.
pub(crate) fn part(home: &Path, session: &str, number: usize) -> PathBuf {
    let message = message(session, number);
    home.join(format!(
        "storage/part/{message}/prt_{session}_{number:04}.json"
    ))
}

impl Rows {
    /// Opens the database as its program does, with a log; makes it when there is none.
    pub(crate) fn open(&self, home: &Path) -> Connection {
        let path = home.join(self.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let is_new = !path.exists();
        let db = Connection::open(path).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        if is_new {
            db.execute_batch(self.tables).unwrap();
        }
        db
    }

    pub(crate) fn add_session(&self, db: &Connection, session: &str) {
        for sql in self.session {
            run(db, sql, &[Value::Text(session.to_owned())]);
        }
    }

    pub(crate) fn add(&self, db: &Connection, session: &str, number: i64, record: &Record) {
        let value = match String::from_utf8(record.bytes.clone()) {
            Ok(text) => Value::Text(text),
            Err(no_text) => Value::Blob(no_text.into_bytes()),
        };
        let values = [
            Value::Text(session.to_owned()),
            Value::Integer(number),
            value,
            record.millis.map_or(Value::Null, Value::Integer),
        ];
        for sql in self.record {
            run(db, sql, &values);
        }
    }
}

/// Runs a statement with as many of the values as it has places for.
fn run(db: &Connection, sql: &str, values: &[Value]) {
    let mut statement = db.prepare(sql).unwrap();
    for (place, value) in (1..=statement.parameter_count()).zip(values) {
        statement.raw_bind_parameter(place, value).unwrap();
    }
    statement.raw_execute().unwrap();
}
