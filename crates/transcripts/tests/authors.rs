//! Who wrote how many turns: the person and the agent with their words, all others as numbers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use skillopt_transcripts::{Author, Harvest, Session};

#[path = "support/homes.rs"]
mod homes;
#[path = "support/opencode.rs"]
mod opencode;

use homes::{Home, answer, call, joined, typed, write};
use opencode::OpenCode;

/// What stands in everything that no person and no agent wrote.
const NOISE: &str = "zanzibar";

/// The turns of one session by author: human, assistant, tool, system, generated.
fn wrote(session: &Session) -> [u64; 5] {
    [
        Author::Human,
        Author::Assistant,
        Author::Tool,
        Author::System,
        Author::Generated,
    ]
    .map(|author| session.wrote.get(&author).copied().unwrap_or_default())
}

/// The numbers of the only session. None of the words of the others may be kept anywhere.
fn only(harvest: &Harvest) -> [u64; 5] {
    let [session] = harvest.sessions.as_slice() else {
        panic!("{harvest:#?}")
    };
    let kept = serde_json::to_string(session).unwrap();
    assert!(!kept.contains(NOISE), "{kept}");
    let mut turns = session
        .turns
        .iter()
        .fold(BTreeMap::new(), |mut turns, turn| {
            *turns.entry(turn.author).or_insert(0) += 1;
            turns
        });
    for author in [Author::Human, Author::Assistant] {
        assert_eq!(turns.remove(&author), session.wrote.get(&author).copied());
    }
    assert!(turns.is_empty(), "only two authors have words: {turns:?}");
    wrote(session)
}

fn lines(file: &str, records: &[Value]) -> Harvest {
    let home = Home::new();
    let records: Vec<String> = records.iter().map(Value::to_string).collect();
    write(&home.folder.path().join(file), &joined(&records));
    home.harvest()
}

fn claude(minute: u32, extra: &str, content: &Value) -> String {
    format!(
        r#"{{"isSidechain":false,"type":"user"{extra},"message":{{"role":"user","content":{content}}},"uuid":"x{minute}","timestamp":"2026-01-05T10:{minute:02}:20.000Z","cwd":"/w/app","sessionId":"s","version":"2.1.332"}}"#
    )
}

#[test]
fn of_claude_code() {
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": NOISE}]);
    let attachment = format!(
        r#"{{"isSidechain":false,"attachment":{{"type":"environment","content":"{NOISE}"}},"type":"attachment","uuid":"e","cwd":"/w/app","version":"2.1.332"}}"#
    );
    let home = Home::new();
    home.claude(
        "s1.jsonl",
        &[
            attachment,
            typed(1, "Fix the last page"),
            call(2, "Bash", "{}"),
            claude(3, "", &result),
            call(4, "Bash", "{}"),
            claude(5, "", &result),
            answer(6, "Fixed."),
            claude(7, r#","isMeta":true"#, &json!(NOISE)),
            claude(8, r#","promptSource":"system""#, &json!(NOISE)),
            claude(9, r#","isCompactSummary":true"#, &json!(NOISE)),
            typed(10, "Thanks"),
        ],
    );
    assert_eq!(only(&home.harvest()), [2, 1, 2, 2, 2]);
}

#[test]
fn of_a_prompt_that_is_not_kept_nothing_is_counted() {
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": NOISE}]);
    let home = Home::new();
    home.claude(
        "s1.jsonl",
        &[
            typed(1, "Fix the last page"),
            claude(2, "", &result),
            answer(3, "Fixed."),
            // The same again: a copy.
            typed(1, "Fix the last page"),
            claude(2, "", &result),
            typed(4, "<private>for acme</private>"),
            claude(5, "", &result),
            typed(6, "Thanks"),
            claude(7, "", &result),
        ],
    );
    assert_eq!(only(&home.harvest()), [2, 1, 2, 0, 0]);
}

#[test]
fn of_codex() {
    let item = |kind: &str, payload: Value| json!({"timestamp": "2026-01-05T10:01:00Z", "type": kind, "payload": payload});
    let said = |kind: &str, words: &str| {
        item(
            "event_msg",
            json!({"type": "item_completed", "item": {"type": kind, "id": words, "content": [{"type": "text", "text": words}]}}),
        )
    };
    let harvest = lines(
        "codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-s.jsonl",
        &[
            item(
                "session_meta",
                json!({"id": "s", "cwd": "/w/app", "source": "cli"}),
            ),
            item(
                "response_item",
                json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": NOISE}]}),
            ),
            said("UserMessage", "Fix the last page"),
            item(
                "response_item",
                json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"}),
            ),
            item(
                "event_msg",
                json!({"type": "exec_command_begin", "command": NOISE}),
            ),
            item(
                "response_item",
                json!({"type": "function_call_output", "call_id": "c", "output": NOISE}),
            ),
            // The same once more, in another form.
            item(
                "event_msg",
                json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "c", "output": NOISE}}),
            ),
            item(
                "event_msg",
                json!({"type": "item_completed", "item": {"type": "HookPrompt", "id": "h", "text": NOISE}}),
            ),
            said("AgentMessage", "Fixed."),
        ],
    );
    assert_eq!(only(&harvest), [1, 1, 1, 1, 1]);
}

#[test]
fn of_copilot() {
    let event = |id: u32, kind: &str, data: Value| json!({"type": kind, "data": data, "id": format!("e{id}"), "timestamp": "2026-01-05T10:01:00Z"});
    let harvest = lines(
        "copilot/session-state/s1/events.jsonl",
        &[
            event(
                0,
                "session.start",
                json!({"sessionId": "s1", "context": {"cwd": "/w/app"}}),
            ),
            event(1, "system.message", json!({"content": NOISE})),
            event(2, "user.message", json!({"content": "Fix the last page"})),
            event(
                3,
                "assistant.message",
                json!({"messageId": "m", "content": "", "toolRequests": [{"name": "bash"}]}),
            ),
            event(
                4,
                "tool.execution_start",
                json!({"toolName": "bash", "arguments": NOISE}),
            ),
            event(
                5,
                "tool.execution_complete",
                json!({"success": true, "result": {"content": NOISE}}),
            ),
            event(
                6,
                "user.message",
                json!({"content": NOISE, "source": "skill-notes"}),
            ),
            event(
                7,
                "assistant.message",
                json!({"messageId": "n", "content": "Fixed."}),
            ),
        ],
    );
    assert_eq!(only(&harvest), [1, 1, 1, 1, 1]);
}

#[test]
fn of_pi_on_its_branch() {
    let message = |id: &str, parent: &str, role: &str, words: &str| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-05T10:01:00Z", "message": {"role": role, "content": words, "stopReason": "stop"}});
    let harvest = lines(
        "pi/sessions/--w-app--/2026-01-05T10-00-00-000Z_s.jsonl",
        &[
            json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T10:00:00Z", "cwd": "/w/app"}),
            message("a", "", "system", NOISE),
            message("b", "a", "user", "Fix the last page"),
            message("c", "b", "toolResult", NOISE),
            // A way that was left; its results are not those of the branch.
            message("d", "c", "toolResult", NOISE),
            message("e", "c", "toolResult", NOISE),
            json!({"type": "custom_message", "id": "f", "parentId": "e", "content": NOISE}),
            message("g", "f", "assistant", "Fixed."),
        ],
    );
    assert_eq!(only(&harvest), [1, 1, 2, 1, 1]);
}

#[test]
fn of_opencode() {
    let home = OpenCode::new();
    let db = home.database();
    opencode::session(&db, "ses_1", "/w/app", 0);
    opencode::said(&db, "ses_1", 1, "Fix the last page");
    let tool = |status: &str| json!({"type": "tool", "tool": "bash", "state": {"status": status, "output": NOISE}});
    opencode::answered(
        &db,
        "ses_1",
        1,
        &[
            tool("completed"),
            tool("error"),
            // It has returned nothing.
            tool("pending"),
            json!({"type": "text", "text": NOISE, "synthetic": true}),
            opencode::text("Fixed."),
        ],
    );
    opencode::message(
        &db,
        "ses_1",
        "msg_ses_1_002",
        2,
        &json!({"role": "user", "time": {"created": opencode::START + 120_000}}),
        &[json!({"type": "compaction", "auto": true})],
    );
    assert_eq!(only(&home.harvest()), [1, 1, 2, 1, 1]);
}

#[test]
fn of_the_editors() {
    let request = json!({"requestId": "r1", "message": {"text": "Fix the last page"}, "timestamp": 1_767_607_260_000_i64, "response": [
        {"kind": "toolInvocationSerialized", "toolId": "run", "resultDetails": NOISE},
        {"value": "Fixed."}
    ]});
    let by_system = json!({"requestId": "r2", "message": {"text": NOISE}, "isSystemInitiated": true, "response": []});
    let harvest = lines(
        "vscode/User/workspaceStorage/w/chatSessions/s.json",
        &[
            json!({"sessionId": "s", "creationDate": 1_767_607_200_000_i64, "requests": [request, by_system]}),
        ],
    );
    assert_eq!(only(&harvest), [1, 1, 1, 0, 1]);
    let message =
        |role: &str, content: Value| json!({"role": role, "message": {"content": content}});
    let harvest = lines(
        "cursor/projects/w/agent-transcripts/s/s.jsonl",
        &[
            message("system", json!(NOISE)),
            message("user", json!("<user_query>Fix the last page</user_query>")),
            message(
                "assistant",
                json!([{"type": "tool_use", "name": "Shell", "input": {}}]),
            ),
            message("tool", json!(NOISE)),
            message("assistant", json!("Fixed.")),
        ],
    );
    assert_eq!(only(&harvest), [1, 1, 1, 1, 0]);
}

/// However much others write, what is kept of it is a few numbers.
#[test]
fn others_cost_no_room() {
    let size = |results: u32| {
        let result =
            json!([{"type": "tool_result", "tool_use_id": "t", "content": NOISE.repeat(20)}]);
        let mut lines = vec![typed(1, "Fix the last page")];
        lines.extend((0..results).map(|_| claude(2, "", &result)));
        lines.push(answer(3, "Fixed."));
        let home = Home::new();
        home.claude("s1.jsonl", &lines);
        let harvest = home.harvest();
        assert_eq!(only(&harvest)[2], u64::from(results));
        serde_json::to_string(&harvest.sessions).unwrap().len()
    };
    assert!(size(5000) < size(1) + 10);
}
