//! What holds for every store of an agent beside its first one, which `every_agent` looks at: what is
//! private, and what is excluded.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Reason};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, prompts, skipped, write};

/// A store in which an agent keeps sessions.
#[derive(Debug, Clone, Copy)]
enum Store {
    /// Of Copilot CLI, for sessions without a log.
    CopilotDatabase,
    /// Of versions before the log of changes.
    VscodeWhole,
    CursorEditor,
    /// Of versions before the database.
    OpenCodeFiles,
    OpenClawDatabase,
}

const STORES: [Store; 5] = [
    Store::CopilotDatabase,
    Store::VscodeWhole,
    Store::CursorEditor,
    Store::OpenCodeFiles,
    Store::OpenClawDatabase,
];

impl Store {
    const fn agent(self) -> Agent {
        match self {
            Self::CopilotDatabase => Agent::Copilot,
            Self::VscodeWhole => Agent::Vscode,
            Self::CursorEditor => Agent::Cursor,
            Self::OpenCodeFiles => Agent::OpenCode,
            Self::OpenClawDatabase => Agent::OpenClaw,
        }
    }

    /// Writes a session in which a person says something in a folder. Returns where it is kept.
    fn session(self, home: &Home, directory: &str, words: &str) -> PathBuf {
        let root = home.folder.path().join(self.agent().id());
        let file = |path: &str, value: serde_json::Value| {
            let path = root.join(path);
            write(&path, value.to_string().as_bytes());
            path
        };
        match self {
            Self::CopilotDatabase => {
                let path = root.join("session-store.db");
                let db = database(&path);
                db.execute_batch(
                    "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, repository TEXT, branch TEXT,
                         created_at TEXT, updated_at TEXT);
                     CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT,
                         assistant_response TEXT, timestamp TEXT, UNIQUE (session_id, turn_index));",
                )
                .unwrap();
                let at = "2026-01-05T10:00:00.000Z";
                db.execute(
                    "INSERT INTO sessions VALUES ('c1', ?1, NULL, 'main', ?2, ?2)",
                    [directory, at],
                )
                .unwrap();
                db.execute(
                    "INSERT INTO turns VALUES ('c1', 0, ?1, 'Done.', ?2)",
                    [words, "2026-01-05T10:05:00.000Z"],
                )
                .unwrap();
                path
            }
            Self::VscodeWhole => {
                let workspace = "User/workspaceStorage/1f";
                file(
                    &format!("{workspace}/workspace.json"),
                    json!({"folder": format!("file://{directory}")}),
                );
                file(
                    &format!("{workspace}/chatSessions/v1.json"),
                    json!({"sessionId": "v1", "creationDate": 1_767_607_200_000_i64, "requests": [
                        {"requestId": "r1", "message": {"text": words}, "timestamp": 1_767_607_260_000_i64,
                         "agent": {"extensionId": {"value": "GitHub.copilot-chat"}}, "response": []}]}),
                )
            }
            Self::CursorEditor => {
                let path = root.join("User/globalStorage/state.vscdb");
                let db = database(&path);
                db.execute_batch(
                    "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                     CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
                )
                .unwrap();
                let chats = json!({"allComposers": [{"composerId": "c1", "workspaceIdentifier":
                    {"id": "w", "uri": {"scheme": "file", "fsPath": directory}}}]});
                let chat = json!({"composerId": "c1", "fullConversationHeadersOnly": [{"bubbleId": "b1", "type": 1}]});
                let bubble = json!({"bubbleId": "b1", "type": 1, "text": words, "createdAt": "2026-01-05T10:00:00Z"});
                for (table, key, value) in [
                    ("ItemTable", "composer.composerHeaders", chats),
                    ("cursorDiskKV", "composerData:c1", chat),
                    ("cursorDiskKV", "bubbleId:c1:b1", bubble),
                ] {
                    db.execute(
                        &format!("INSERT INTO {table} VALUES (?1, ?2)"),
                        [key, &value.to_string()],
                    )
                    .unwrap();
                }
                path
            }
            Self::OpenCodeFiles => {
                let time =
                    json!({"created": 1_767_607_200_000_i64, "updated": 1_767_607_200_000_i64});
                file(
                    "storage/session/p/ses_1.json",
                    json!({"id": "ses_1", "directory": directory, "time": time}),
                );
                file(
                    "storage/message/ses_1/msg_1.json",
                    json!({"id": "msg_1", "role": "user", "time": time}),
                );
                file(
                    "storage/part/msg_1/prt_1.json",
                    json!({"id": "prt_1", "type": "text", "text": words}),
                );
                root.join("storage")
            }
            Self::OpenClawDatabase => {
                let path = root.join("agents/main/agent/openclaw-agent.sqlite");
                let db = database(&path);
                db.execute_batch(
                    "CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL,
                         created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
                     CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL,
                         event_json TEXT, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq));
                     INSERT INTO session_windows VALUES ('p1', 'agent:main:main', 1, 1);",
                )
                .unwrap();
                let header = json!({"type": "session", "version": 3, "id": "p1",
                                    "timestamp": "2026-01-05T10:00:00Z", "cwd": directory});
                let said = json!({"type": "message", "id": "m1", "parentId": null, "timestamp": "2026-01-05T10:01:00Z",
                                  "message": {"role": "user", "content": [{"type": "text", "text": words}]}});
                for (seq, event) in [header, said].iter().enumerate() {
                    db.execute(
                        "INSERT INTO transcript_events VALUES ('p1', ?1, ?2, 1)",
                        (i64::try_from(seq).unwrap(), event.to_string()),
                    )
                    .unwrap();
                }
                path
            }
        }
    }
}

fn database(path: &Path) -> Connection {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    Connection::open(path).unwrap()
}

fn harvest(store: Store, words: &str, exclude: &[&str]) -> Harvest {
    let mut home = Home::new();
    store.session(&home, "/w/app", words);
    home.request.exclude = exclude.iter().map(|&glob| glob.to_owned()).collect();
    home.harvest()
}

#[test]
fn what_a_person_says_is_found_without_what_is_private() {
    let secret = "sk-proj-Fk3TESTONLYnotARealKey0123456789abcdefABCDEF";
    for store in STORES {
        let words = format!("Use <private>the codename zanzibar</private> the key {secret} now");
        let found = harvest(store, &words, &["/w/secret"]);
        let said = prompts(&found);
        assert_eq!(said.len(), 1, "{store:?}: {:?}", found.skipped);
        assert_eq!(found.sessions[0].agent, store.agent());
        assert_eq!(found.sessions[0].directory, "/w/app", "{store:?}");
        let kept = serde_json::to_string(&found.sessions).unwrap();
        assert!(kept.contains("the key"), "{store:?}: {kept}");
        assert!(!kept.contains("zanzibar"), "{store:?}: {kept}");
        assert!(!kept.contains("Fk3TEST"), "{store:?}: {kept}");

        let private = harvest(store, "<private>all of it</private>", &[]);
        assert!(private.sessions.is_empty(), "{store:?}");
        assert_eq!(
            skipped(&private, store.agent(), Reason::Private),
            1,
            "{store:?}"
        );
    }
}

#[test]
fn excluded_folders_and_stores_are_not_read() {
    for store in STORES {
        for exclude in ["/w/app", "/w/*", "**/app/**"] {
            let found = harvest(store, "Write the parser", &[exclude]);
            assert!(found.sessions.is_empty(), "{store:?}: {exclude}");
            assert_eq!(
                skipped(&found, store.agent(), Reason::ExcludedDirectory),
                1,
                "{store:?}: {exclude}"
            );
        }
        let mut home = Home::new();
        let path = store.session(&home, "/w/app", "Write the parser");
        home.request.exclude = vec![path.to_str().unwrap().to_owned()];
        let found = home.harvest();
        assert!(found.sessions.is_empty(), "{store:?}");
        assert_eq!(
            skipped(&found, store.agent(), Reason::ExcludedFile),
            1,
            "{store:?}"
        );
    }
}
