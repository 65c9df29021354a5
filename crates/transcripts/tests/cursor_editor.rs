//! The chats of Cursor's editor.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_store::{Store, SystemClock};
use skillopt_transcripts::{Harvest, Homes, ProjectScope, Reason, Request, Scope, harvest};
use tempfile::TempDir;

#[path = "support/homes.rs"]
mod homes;

use homes::{prompts, skipped, words, write};

/// A home of the editor, with the database all its workspaces share.
struct Editor {
    folder: TempDir,
    request: Request,
    db: Connection,
}

impl Editor {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let global = folder.path().join("User/globalStorage");
        std::fs::create_dir_all(&global).unwrap();
        let db = Connection::open(global.join("state.vscdb")).unwrap();
        db.execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
             CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
             INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'zanzibar-token');",
        )
        .unwrap();
        let request = Request {
            homes: Homes::from_iter([(Agent::Cursor, vec![folder.path().to_owned()])]),
            agents: vec![Agent::Cursor],
            project: ProjectScope {
                roots: vec!["/w/app".into()],
                scope: Scope::Project,
            },
            ..Request::default()
        };
        Self {
            folder,
            request,
            db,
        }
    }

    fn put(&self, key: &str, value: &Value) {
        self.db
            .execute(
                "INSERT INTO cursorDiskKV VALUES (?1, ?2)",
                (key, value.to_string().into_bytes()),
            )
            .unwrap();
    }

    /// A chat of today: the order of its messages, and each message as a value of its own.
    fn chat(&self, id: &str, bubbles: &[Value]) {
        let headers: Vec<Value> = bubbles
            .iter()
            .map(|bubble| json!({"bubbleId": bubble["bubbleId"], "type": bubble["type"]}))
            .collect();
        self.put(
            &format!("composerData:{id}"),
            &json!({"_v": 10, "composerId": id, "createdAt": 1_767_607_200_000_i64, "fullConversationHeadersOnly": headers}),
        );
        for bubble in bubbles {
            let name = bubble["bubbleId"].as_str().unwrap();
            self.put(&format!("bubbleId:{id}:{name}"), bubble);
        }
    }

    fn workspace(&self, id: &str, folder: &str) -> PathBuf {
        let path = self.folder.path().join("User/workspaceStorage").join(id);
        write(
            &path.join("workspace.json"),
            json!({"folder": folder}).to_string().as_bytes(),
        );
        path
    }

    /// The list of chats as a value beside them.
    fn list(&self, chats: &[(&str, &str)]) {
        let chats: Vec<Value> = chats
            .iter()
            .map(|(id, folder)| {
                json!({"composerId": id, "workspaceIdentifier": {"id": "w", "uri": {"scheme": "file", "fsPath": folder}}})
            })
            .collect();
        self.db
            .execute(
                "INSERT INTO ItemTable VALUES ('composer.composerHeaders', ?1)",
                [json!({"allComposers": chats}).to_string()],
            )
            .unwrap();
    }

    fn harvest(&self) -> Harvest {
        harvest(&self.request, None, &|| false).unwrap()
    }
}

fn asked(name: &str, words: &str) -> Value {
    json!({"_v": 3, "type": 1, "bubbleId": name, "text": words, "createdAt": "2026-01-05T10:01:00.000Z"})
}

fn told(name: &str, words: &str) -> Value {
    json!({"_v": 3, "type": 2, "bubbleId": name, "text": words, "createdAt": "2026-01-05T10:02:00.000Z"})
}

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Cursor, reason)
}

#[test]
fn a_chat_has_its_turns_tools_and_files() {
    let editor = Editor::new();
    editor.list(&[("c1", "/w/app"), ("c2", "/w/other")]);
    editor.chat(
        "c1",
        &[
            asked("b1", "fix the last page"),
            told("b2", "I will look."),
            json!({"type": 2, "bubbleId": "b3", "text": "", "toolFormerData":
                {"name": "search_replace", "status": "completed", "rawArgs": "{\"file_path\":\"src/pages.py\"}"}}),
            json!({"type": 2, "bubbleId": "b4", "text": "", "toolFormerData":
                {"name": "edit_file", "status": "error", "rawArgs": "{\"target_file\":\"never.py\"}"}}),
            json!({"type": 2, "bubbleId": "b5", "text": "", "toolFormerData":
                {"name": "edit_file", "status": "completed", "rawArgs": "", "params": "{\"relativeWorkspacePath\":\"src/more.py\"}"}}),
            told("b6", "Fixed."),
            asked("b7", "still broken"),
        ],
    );
    editor.chat("c2", &[asked("b8", "elsewhere")]);
    let harvest = editor.harvest();
    let [session] = harvest.sessions.as_slice() else {
        panic!("{harvest:#?}")
    };
    assert_eq!(words(session), ["fix the last page", "still broken"]);
    assert_eq!(session.turns[1].text, "Fixed.");
    assert_eq!(session.tools, ["search_replace", "edit_file"]);
    assert_eq!(session.files, ["/w/app/src/pages.py", "/w/app/src/more.py"]);
    assert_eq!(session.directory, "/w/app");
    assert_eq!(
        session.turns[2].feedback,
        ["neg:still broken", "neg:broken"]
    );
    assert_eq!(left_out(&harvest, Reason::OtherProject), 1);
}

#[test]
fn chats_are_found_in_the_lists_of_every_generation() {
    let editor = Editor::new();
    // Today's table.
    editor
        .db
        .execute_batch(
            "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, value TEXT);
             INSERT INTO composerHeaders VALUES ('new', 'w1', 1, 2, '{}');
             INSERT INTO composerHeaders VALUES ('sub', 'w1', 1, 2, '{\"isSubagent\":true}');",
        )
        .unwrap();
    editor.workspace("w1", "file:///w/app");
    // One value beside the chats.
    editor.list(&[("middle", "/w/app")]);
    // In the database of the workspace, and the messages inside the chat.
    let workspace = editor.workspace("w2", "file:///w/app/sub%20folder");
    let db = Connection::open(workspace.join("state.vscdb")).unwrap();
    db.execute_batch("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        .unwrap();
    db.execute(
        "INSERT INTO ItemTable VALUES ('composer.composerData', ?1)",
        [json!({"allComposers": [{"composerId": "old"}]}).to_string()],
    )
    .unwrap();
    for id in ["new", "sub", "middle"] {
        editor.chat(id, &[asked(&format!("b-{id}"), id)]);
    }
    editor.put(
        "composerData:old",
        &json!({"composerId": "old", "conversation": [
            {"type": 1, "bubbleId": "b-old", "text": "old"}, {"type": 2, "bubbleId": "a-old", "text": "answered"}]}),
    );
    editor.chat("nowhere", &[asked("b-nowhere", "nowhere")]);
    let harvest = editor.harvest();
    let mut found = prompts(&harvest);
    found.sort_unstable();
    assert_eq!(found, [["middle"], ["new"], ["old"]]);
    assert_eq!(left_out(&harvest, Reason::Subagent), 1);
    assert_eq!(left_out(&harvest, Reason::OtherProject), 1);
    let old = harvest.sessions.iter().find(|session| session.id == "old");
    assert_eq!(old.unwrap().directory, "/w/app/sub folder");
    let everything = Editor {
        request: Request {
            project: ProjectScope {
                roots: Vec::new(),
                scope: Scope::All,
            },
            ..editor.request.clone()
        },
        ..editor
    };
    assert_eq!(everything.harvest().sessions.len(), 4);
}

#[test]
fn only_chats_of_the_project_are_read_and_only_when_they_changed() {
    let mut editor = Editor::new();
    let store = Store::in_memory(Arc::new(SystemClock)).unwrap();
    editor.list(&[("c1", "/w/app"), ("c2", "/w/app"), ("c3", "/w/other")]);
    for id in ["c1", "c2", "c3"] {
        editor.chat(
            id,
            &[
                asked(&format!("b-{id}"), id),
                told(&format!("a-{id}"), "done"),
            ],
        );
    }
    let check = |editor: &Editor| {
        let incremental = harvest(&editor.request, Some(&store), &|| false).unwrap();
        let scratch = editor.harvest();
        assert_eq!(incremental.sessions, scratch.sessions);
        assert_eq!(incremental.skipped, scratch.skipped);
        assert_eq!(incremental.newest, scratch.newest);
        assert_eq!(incremental.files.found, scratch.files.found);
        (incremental.sessions.len(), incremental.files.read)
    };
    assert_eq!(check(&editor), (2, 2));
    assert_eq!(check(&editor), (2, 0));
    editor.put("bubbleId:c2:a-c2", &told("a-c2", "gone"));
    assert_eq!(check(&editor), (2, 1));
    // Another project: its chat is read now, and what is known of the others stays.
    editor.request.project.roots = vec!["/w/other".into()];
    assert_eq!(check(&editor), (1, 1));
    assert_eq!(check(&editor), (1, 0));
    editor.request.project.roots = vec!["/w/app".into()];
    assert_eq!(check(&editor), (2, 0));
    editor
        .db
        .execute("DELETE FROM cursorDiskKV WHERE key LIKE '%c1%'", [])
        .unwrap();
    assert_eq!(check(&editor), (1, 0));
}

#[test]
fn values_of_every_kind_cost_only_themselves() {
    let editor = Editor::new();
    editor.list(&[
        ("c1", "/w/app"),
        ("c2", "/w/app"),
        ("c3", "/w/app"),
        ("c4", "/w/app"),
    ]);
    editor.chat(
        "c1",
        &[
            asked("b1", "before"),
            asked("b2", "damaged"),
            asked("b3", "missing"),
            asked("b4", "number"),
            asked("b5", "huge"),
            asked("b6", "after"),
            json!({"type": 7, "bubbleId": "b7"}),
            json!({"type": "user", "bubbleId": "b8"}),
        ],
    );
    editor
        .db
        .execute_batch(
            "UPDATE cursorDiskKV SET value = '{\"type\":1,' WHERE key = 'bubbleId:c1:b2';
             DELETE FROM cursorDiskKV WHERE key = 'bubbleId:c1:b3';
             UPDATE cursorDiskKV SET value = 4 WHERE key = 'bubbleId:c1:b4';
             UPDATE cursorDiskKV SET value = zeroblob(17000000) WHERE key = 'bubbleId:c1:b5';
             INSERT INTO cursorDiskKV VALUES ('composerData:c2', x'FF00');
             INSERT INTO cursorDiskKV VALUES ('composerData:c3', NULL);
             INSERT INTO cursorDiskKV VALUES ('composerData:c4', '{\"conversation\":[1,null,{\"type\":1,\"bubbleId\":\"b9\",\"text\":\"alone\"}],\"fullConversationHeadersOnly\":5}');
             INSERT INTO cursorDiskKV VALUES ('composerData:', '{}');
             INSERT INTO cursorDiskKV VALUES (x'FFFE', 'x');",
        )
        .unwrap();
    let harvest = editor.harvest();
    let mut found = prompts(&harvest);
    found.sort_unstable();
    assert_eq!(found, [vec!["alone"], vec!["before", "after"]]);
    assert_eq!(left_out(&harvest, Reason::ValueTooLong), 1);
    assert_eq!(left_out(&harvest, Reason::UnknownType), 1);
    assert_eq!(left_out(&harvest, Reason::Malformed), 5);
}

#[test]
fn nothing_but_chats_is_ever_asked_for() {
    let editor = Editor::new();
    editor.list(&[("c1", "/w/app")]);
    editor.chat("c1", &[asked("b1", "hello")]);
    let harvest = editor.harvest();
    assert_eq!(prompts(&harvest), [["hello"]]);
    assert!(!format!("{harvest:?}").contains("zanzibar"));
    // A damaged token cannot matter, since it is never read.
    editor.db.execute_batch("DROP TABLE ItemTable").unwrap();
    assert!(editor.harvest().sessions.is_empty());
    editor
        .db
        .execute_batch("ALTER TABLE cursorDiskKV RENAME COLUMN value TO worth")
        .unwrap();
    assert_eq!(left_out(&editor.harvest(), Reason::UnknownSchema), 1);
}

/// The signals of what happened to each turn of the only chat.
fn happened(bubbles: &[Value], back_to: &str) -> Vec<Vec<String>> {
    let editor = Editor::new();
    editor.list(&[("c1", "/w/app")]);
    editor.chat("c1", bubbles);
    if !back_to.is_empty() {
        let headers: Vec<Value> = bubbles
            .iter()
            .map(|bubble| json!({"bubbleId": bubble["bubbleId"]}))
            .collect();
        editor.put(
            "composerData:c1",
            &json!({"currentBubbleId": back_to, "latestCheckpointId": "k", "fullConversationHeadersOnly": headers}),
        );
    }
    let harvest = editor.harvest();
    let turns = harvest.sessions[0].human_turns();
    turns.map(|turn| turn.feedback.clone()).collect()
}

#[test]
fn a_chat_that_was_stopped_marks_its_last_turn() {
    let editor = Editor::new();
    editor.list(&[("c1", "/w/app")]);
    let bubbles = [asked("b1", "one"), told("b2", "done"), asked("b3", "two")];
    editor.chat("c1", &bubbles);
    let headers: Vec<Value> = bubbles
        .iter()
        .map(|bubble| json!({"bubbleId": bubble["bubbleId"]}))
        .collect();
    for (status, expected) in [
        ("aborted", [false, true]),
        ("completed", [false, false]),
        ("generating", [false, false]),
    ] {
        editor.put(
            "composerData:c1",
            &json!({"status": status, "fullConversationHeadersOnly": headers}),
        );
        let harvest = editor.harvest();
        let interrupted: Vec<bool> = harvest.sessions[0]
            .human_turns()
            .map(|turn| turn.interrupted)
            .collect();
        assert_eq!(interrupted, expected, "{status}");
    }
}

/// Written by hand: no sample of any version exists.
#[test]
fn going_back_to_a_checkpoint_takes_back_what_came_after_it() {
    let talk = [
        asked("b1", "one"),
        told("b2", "done"),
        asked("b3", "two"),
        told("b4", "done"),
        asked("b5", "three"),
        told("b6", "done"),
    ];
    let none: [Vec<String>; 3] = Default::default();
    for (back_to, first) in [
        ("b1", 0),
        ("b3", 1),
        ("b5", 2),
        ("", 3),
        ("b4", 3),
        ("gone", 3),
    ] {
        let mut expected = none.clone();
        for turn in &mut expected[first..] {
            turn.push("neg:undone".to_owned());
        }
        assert_eq!(happened(&talk, back_to), expected, "{back_to}");
    }
}

#[test]
fn a_call_the_person_rejected_marks_the_turn() {
    let call = |tool: &Value| {
        [
            asked("b1", "rename it"),
            json!({"type": 2, "bubbleId": "b2", "text": "", "toolFormerData": tool}),
            told("b3", "What then?"),
        ]
    };
    for (tool, refused) in [
        (
            json!({"name": "run_terminal_cmd", "status": "cancelled", "userDecision": "rejected"}),
            true,
        ),
        (json!({"name": "edit_file", "status": "rejected"}), true),
        (json!({"name": "edit_file_v2", "status": "skipped"}), true),
        (
            json!({"name": "run_terminal_command_v2", "status": "completed",
                   "additionalData": {"status": "rejected"}}),
            true,
        ),
        (
            json!({"name": "run_terminal_command_v2", "status": "completed",
                   "result": {"output": "", "rejected": true}}),
            true,
        ),
        (
            json!({"name": "run_terminal_command_v2", "status": "completed",
                   "result": "{\"output\":\"\",\"rejected\":true}"}),
            true,
        ),
        (
            json!({"name": "edit_file_v2", "status": "cancelled", "error":
                   {"clientVisibleErrorMessage": "Edit rejected: User chose to skip"}}),
            true,
        ),
        (
            json!({"name": "read_file_v2", "status": "error", "error":
                   {"clientVisibleErrorMessage": "File not found"}}),
            false,
        ),
        (
            json!({"name": "run_terminal_command_v2", "status": "completed",
                   "additionalData": {"status": "error"}, "result": {"exitCode": 1}}),
            false,
        ),
        (
            json!({"name": "run_terminal_cmd", "status": "completed", "userDecision": "accepted"}),
            false,
        ),
        (
            json!({"name": "run_terminal_cmd", "status": "error"}),
            false,
        ),
        (
            json!({"name": "run_terminal_cmd", "userDecision": {"rejected": true}}),
            false,
        ),
        // The editor refuses this one in the person's name.
        (
            json!({"name": "switch_mode", "userDecision": "rejected"}),
            false,
        ),
    ] {
        let expected: Vec<&str> = if refused {
            // The session ends with it.
            vec!["neg:tool_rejected", "neg:abandoned"]
        } else {
            vec![]
        };
        assert_eq!(happened(&call(&tool), ""), [expected], "{tool}");
    }
}

/// The editor writes its chats into its database, and newer versions their transcripts beside it.
#[test]
fn a_chat_that_stands_in_both_stores_is_one_session() {
    let mut editor = Editor::new();
    editor.list(&[("c1", "/w/app")]);
    editor.chat(
        "c1",
        &[asked("b1", "fix the last page"), told("b2", "Fixed.")],
    );
    let home = editor.folder.path().join("dot-cursor");
    let workspace = home.join("projects/w-app");
    write(
        &workspace.join(".workspace-trusted"),
        br#"{"workspacePath":"/w/app"}"#,
    );
    let line = |role: &str, words: &str| {
        format!(
            r#"{{"role":"{role}","message":{{"content":[{{"type":"text","text":"{words}"}}]}}}}"#
        )
    };
    let transcript = |id: &str, words: &str| {
        let lines = format!("{}\n{}\n", line("user", words), line("assistant", "Fixed."));
        write(
            &workspace.join(format!("agent-transcripts/{id}/{id}.jsonl")),
            lines.as_bytes(),
        );
    };
    transcript("c1", "<user_query>fix the last page</user_query>");
    // One that the database does not have.
    transcript("c2", "<user_query>write the tests</user_query>");
    let homes = vec![home, editor.folder.path().to_owned()];
    editor.request.homes = Homes::from_iter([(Agent::Cursor, homes)]);
    for store in [None, Some(Store::in_memory(Arc::new(SystemClock)).unwrap())] {
        for _ in 0..2 {
            let harvest = harvest(&editor.request, store.as_ref(), &|| false).unwrap();
            let mut sessions: Vec<(&str, Vec<&str>, bool)> = harvest
                .sessions
                .iter()
                .map(|session| {
                    let timed = session.turns[0].id == "b1";
                    (session.id.as_str(), words(session), timed)
                })
                .collect();
            sessions.sort_unstable();
            assert_eq!(
                sessions,
                [
                    ("c1", vec!["fix the last page"], true),
                    ("c2", vec!["write the tests"], false),
                ]
            );
        }
    }
}
