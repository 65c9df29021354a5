//! The course of a session in the databases of those agents that keep one.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Event, at, millis};
use crate::homes::Home;
use crate::{devin, opencode};

pub(super) fn cursor_editor(home: &Home, events: &[Event]) {
    let global = home.folder.path().join("cursor/User/globalStorage");
    std::fs::create_dir_all(&global).unwrap();
    let db = Connection::open(global.join("state.vscdb")).unwrap();
    db.execute_batch(
        "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
         CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
    )
    .unwrap();
    let mut bubbles: Vec<Value> = Vec::new();
    let mut back_to = None;
    for (minute, event) in (1..).zip(events) {
        let mut bubble = json!({"bubbleId": format!("b{minute}"), "type": 2, "text": "", "createdAt": at(minute)});
        match event {
            Event::Says(words) => {
                bubble["type"] = json!(1);
                bubble["text"] = json!(words);
            }
            Event::Answers(words) => bubble["text"] = json!(words),
            Event::Writes => {
                let arguments = json!({"target_file": "/w/app/a.rs"}).to_string();
                bubble["toolFormerData"] =
                    json!({"name": "edit_file", "status": "completed", "rawArgs": arguments});
            }
            Event::Commits(code) => {
                let result =
                    json!({"output": "x", "exitCode": code, "rejected": false}).to_string();
                bubble["toolFormerData"] = json!({"name": "run_terminal_command_v2", "status": "completed",
                    "rawArgs": "", "params": {"command": "git commit -am x"}, "result": result});
            }
            Event::Refuses => {
                let result = json!({"rejected": true}).to_string();
                bubble["toolFormerData"] = json!({"name": "run_terminal_command_v2", "status": "completed", "result": result});
            }
            Event::TakesBack => {
                let prompt = bubbles.iter().rev().find(|bubble| bubble["type"] == 1);
                back_to = prompt.map(|prompt| prompt["bubbleId"].clone());
                continue;
            }
            Event::Stops | Event::SaysInstead(_) => panic!("an agent transcript tells"),
        }
        bubbles.push(bubble);
    }
    let headers: Vec<Value> = bubbles
        .iter()
        .map(|bubble| json!({"bubbleId": bubble["bubbleId"], "type": bubble["type"]}))
        .collect();
    let put = |key: &str, value: &Value| {
        db.execute(
            "INSERT INTO cursorDiskKV VALUES (?1, ?2)",
            (key, value.to_string()),
        )
        .unwrap();
    };
    put(
        "composerData:c1",
        &json!({"composerId": "c1", "createdAt": millis(0), "fullConversationHeadersOnly": headers, "currentBubbleId": back_to}),
    );
    for bubble in &bubbles {
        put(
            &format!("bubbleId:c1:{}", bubble["bubbleId"].as_str().unwrap()),
            bubble,
        );
    }
}

pub(super) fn open_code(home: &Home, events: &[Event]) {
    let path = home.folder.path().join("opencode/opencode.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = opencode::database(&path);
    opencode::session(&db, "ses_1", "/w/app", 0);
    let stopped = |minute: i64| {
        let data = json!({"role": "assistant", "error": {"name": "MessageAbortedError"}, "path": {"cwd": "/w/app"}});
        opencode::message(
            &db,
            "ses_1",
            &format!("msg_ses_1_{minute:03}a"),
            minute,
            &data,
            &[],
        );
    };
    let bash = |state: Value| json!({"type": "tool", "tool": "bash", "state": state});
    let mut prompts = Vec::new();
    for (minute, event) in (1..).zip(events) {
        match event {
            Event::Says(words) => {
                prompts.push(minute);
                opencode::said(&db, "ses_1", minute, words);
            }
            Event::Answers(words) => {
                opencode::answered(&db, "ses_1", minute, &[opencode::text(words)]);
            }
            Event::Writes => {
                let state = json!({"status": "completed", "input": {"filePath": "/w/app/a.rs"}});
                let part = json!({"type": "tool", "tool": "write", "state": state});
                opencode::answered(&db, "ses_1", minute, &[part]);
            }
            Event::Commits(code) => {
                let state = json!({"status": "completed", "input": {"command": "git commit -am x"}, "output": "x", "metadata": {"exit": code}});
                opencode::answered(&db, "ses_1", minute, &[bash(state)]);
            }
            Event::Stops => stopped(minute),
            Event::Refuses => {
                let state = json!({"status": "error", "input": {}, "error": "The user rejected permission to use this specific tool call."});
                opencode::answered(&db, "ses_1", minute, &[bash(state)]);
            }
            Event::SaysInstead(words) => {
                stopped(minute);
                opencode::said(&db, "ses_1", minute + 30, words);
            }
            Event::TakesBack => {
                let last = prompts.last().unwrap();
                let revert = json!({"messageID": format!("msg_ses_1_{last:03}")}).to_string();
                db.execute("UPDATE session SET revert = ?1", [revert])
                    .unwrap();
            }
        }
    }
}

pub(super) fn in_devin(home: &Home, events: &[Event]) -> bool {
    let path = home.folder.path().join("devin/sessions.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let db = devin::database(&path);
    let (mut node, mut last) = (0, None);
    let mut parents: Vec<Option<i64>> = Vec::new();
    let mut add = |parent: Option<i64>, message: Value| {
        node += 1;
        devin::node(&db, "calm-river", node, parent, message);
        Some(node)
    };
    let said = |words: &str| json!({"role": "user", "content": words, "metadata": {"is_user_input": true}});
    let agent = |words: &str, calls: Value| json!({"role": "assistant", "content": words, "tool_calls": calls, "metadata": {}});
    let result = |extensions: Value| json!({"role": "tool", "content": "x", "tool_call_id": "c", "metadata": {"extensions": extensions}});
    for event in events {
        match event {
            Event::Says(words) => {
                parents.push(last);
                last = add(last, said(words));
            }
            Event::SaysInstead(words) => {
                let parent = *parents.last().unwrap();
                parents.push(parent);
                last = add(parent, said(words));
            }
            Event::TakesBack => {
                let parent = parents[parents.len() - 2];
                last = add(parent, said("Begin again"));
            }
            Event::Answers(words) => last = add(last, agent(words, json!([]))),
            Event::Writes => {
                let calls = json!([{"id": "w", "name": "write", "arguments": {"file_path": "/w/app/a.rs"}}]);
                last = add(last, agent("", calls));
            }
            Event::Commits(code) => {
                let arguments = json!({"command": "git commit -am x"}).to_string();
                let calls = json!([{"id": "c", "name": "exec", "arguments": arguments}]);
                last = add(last, agent("", calls));
                let extensions = json!({"chisel/tool_result_meta": {"success": true, "kind": "execute"},
                                        "chisel/terminal_output": {"exit": {"exit_code": code}}});
                last = add(last, result(extensions));
            }
            Event::Refuses => {
                let calls = json!([{"id": "c", "name": "exec", "arguments": {"command": "make"}}]);
                last = add(last, agent("", calls));
                let extensions = json!({"chisel/tool_result_meta": {"success": false, "failure_reason": "Rejected"}});
                last = add(last, result(extensions));
            }
            Event::Stops => return false,
        }
    }
    devin::session(&db, "calm-river", "/w/app", node);
    true
}
