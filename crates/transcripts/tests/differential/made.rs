//! Sessions made by chance: everything an agent writes down, in any order.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// What words are made of: praise and complaint, words that only look like it, what programs write,
/// secrets, and marks.
const PIECES: [&str; 31] = [
    "a\u{0}b",
    "Rename the flag",
    "piano, please",
    "it is undocumented",
    "that is not correct",
    "Thanks, that works!",
    "no, use tabs",
    "It is still broken.",
    "never fixed",
    "谢谢,很好",
    "不对",
    "<b>",
    "</b>",
    "/compact",
    "/src/a.rs",
    "/review all of it now, please",
    "Caveat: none",
    "[Pasted text #1]",
    "# /review",
    "## TASK\nfoo",
    "<command-name>/x</command-name>",
    "key sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4",
    "password=hunter22",
    "<private>acme</private>",
    "line one\nline two",
    "  ",
    "\u{1f389} Läuft",
    "nicely done",
    "the prefix it has",
    "\"quoted\" \\ back",
    "This session is being continued from a previous conversation",
];

pub(crate) fn words() -> impl Strategy<Value = String> {
    vec(select(PIECES.to_vec()), 1..4).prop_map(|pieces| pieces.join(" "))
}

/// What the agent says has no shape of a program's.
pub(crate) fn answer() -> impl Strategy<Value = String> {
    select(vec![
        "Done.".to_owned(),
        "Renamed it, thanks.".to_owned(),
        "  ".to_owned(),
        "The key was sk-proj-A1b2C3d4A1b2C3d4A1b2C3d4".to_owned(),
    ])
}

/// A moment, by the minute.
pub(crate) fn minute(number: usize) -> String {
    format!("2026-01-05T{:02}:{:02}:00Z", 10 + number / 60, number % 60)
}

/// A record of Claude Code, but for its id, time and place.
#[derive(Debug, Clone)]
pub(crate) enum Claude {
    Record(Value),
    Line(&'static str),
    /// The agent is in this folder from now on.
    Moves(&'static str),
    /// And on this branch.
    Branch(&'static str),
}

/// A prompt; of a version that says who gave it, or of one that does not.
pub(crate) fn claude_prompt(content: &Value, today: bool) -> Value {
    let mut record = json!({"type": "user", "message": {"role": "user", "content": content}});
    if today {
        record["promptSource"] = json!("typed");
        record["origin"] = json!({"kind": "human"});
    }
    record
}

pub(crate) fn claude_answer(content: &Value) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": content}})
}

fn blocks(words: &str) -> Value {
    json!([{"type": "text", "text": words}])
}

fn claude_step(today: bool) -> impl Strategy<Value = Claude> {
    let prompt = move |words: String| claude_prompt(&json!(words), today);
    let user = |content: Value, key: &str| {
        let mut record = claude_prompt(&content, false);
        record[key] = json!(true);
        record
    };
    let record = prop_oneof![
        6 => words().prop_map(prompt),
        1 => words().prop_map(move |words| claude_prompt(&json!([
            {"type": "text", "text": "<system-reminder>x</system-reminder>"},
            {"type": "text", "text": words},
            {"type": "image", "source": {}},
        ]), today)),
        4 => answer().prop_map(|words| claude_answer(&blocks(&words))),
        2 => answer().prop_map(|words| json!({"type": "assistant", "message": {
            "id": "message", "role": "assistant", "content": words}})),
        2 => select(vec!["Bash", "Read", "Agent"]).prop_map(|name| claude_answer(&json!([
            {"type": "tool_use", "id": "t", "name": name, "input": {}}]))),
        1 => Just(claude_answer(&json!([
            {"type": "text", "text": "I use it."},
            {"type": "tool_use", "id": "t", "name": "Skill", "input": {"skill": " release-notes "}},
            {"type": "server_tool_use", "id": "u", "name": "web_search", "input": {}}]))),
        1 => select(vec!["/w/app/a.rs", "b.rs"]).prop_map(|file| claude_answer(&json!([
            {"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": file}}]))),
        2 => words().prop_map(|words| json!({"type": "api-request-blob",
            "message": {"role": "user", "content": words}})),
        1 => words().prop_map(move |words| user(json!(words), "isMeta")),
        1 => Just(user(blocks("Base directory for this skill: /w/app/.claude/skills/lint\n\nx"), "isMeta")),
        1 => words().prop_map(move |words| user(json!(words), "isCompactSummary")),
        1 => Just(user(blocks("[Request interrupted by user]"), "interruptedMessageId")),
        1 => Just(user(blocks("[Request interrupted by user for tool use]"), "x")),
        2 => words().prop_map(|words| claude_prompt(&json!([
            {"type": "tool_result", "tool_use_id": "t", "content": "x"},
            {"type": "text", "text": words}]), false)),
        1 => words().prop_map(|words| claude_prompt(&json!([
            {"type": "tool_result", "tool_use_id": "t", "is_error": true, "content":
                format!("The user doesn't want to proceed with this tool use. the user said:\n{words}")}]), false)),
        2 => words().prop_map(|words| json!({"type": "attachment", "attachment": {
            "type": "queued_command", "prompt": words, "commandMode": "prompt"}})),
        1 => Just(json!({"type": "file-history-snapshot", "snapshot": {
            "messageId": "m", "trackedFileBackups": {"/w/app/c.rs": {}}}})),
        1 => Just(json!({"type": "file-history-delta", "trackingPath": "/w/app/d.rs"})),
        1 => answer().prop_map(|words| {
            let mut record = claude_answer(&blocks(&words));
            record["isApiErrorMessage"] = json!(true);
            record
        }),
        1 => words().prop_map(move |words| {
            let mut record = claude_prompt(&json!(words), today);
            record["isSidechain"] = json!(true);
            record
        }),
        2 => Just(claude_prompt(&json!(
            "<command-message>lint</command-message>\n<command-name>/lint</command-name>"), false)),
        1 => words().prop_map(move |words| {
            let mut record = claude_prompt(&json!(words), false);
            if today {
                record["promptSource"] = json!("system");
            }
            record
        }),
        1 => Just(json!({"type": "something-new", "x": 1})),
    ];
    prop_oneof![
        20 => record.prop_map(Claude::Record),
        1 => select(vec!["", "{\"type\":\"user\",", "not json"]).prop_map(Claude::Line),
        1 => select(vec!["/w/app", "/w/other"]).prop_map(Claude::Moves),
        1 => select(vec!["main", "HEAD", ""]).prop_map(Claude::Branch),
    ]
}

/// A whole file, shown as its text.
#[derive(Clone)]
pub(crate) struct Made(pub(crate) Vec<u8>);

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", String::from_utf8_lossy(&self.0))
    }
}

/// A whole file of Claude Code.
pub(crate) fn claude() -> impl Strategy<Value = Made> {
    any::<bool>()
        .prop_flat_map(|today| vec(claude_step(today), 1..30))
        .prop_map(|steps| Made(claude_file(&steps)))
}

/// The lines of a file; every record has an id, a time and a place.
pub(crate) fn claude_file(steps: &[Claude]) -> Vec<u8> {
    let (mut folder, mut branch) = ("/w/app", "main");
    let mut lines = String::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Claude::Record(record) => {
                let mut record = record.clone();
                let mut beside = |key: &str, value: Value| {
                    if record[key].is_null() {
                        record[key] = value;
                    }
                };
                beside("uuid", json!(format!("u{number}")));
                beside("timestamp", json!(minute(number)));
                beside("cwd", json!(folder));
                beside("gitBranch", json!(branch));
                lines.push_str(&record.to_string());
            }
            Claude::Line(line) => lines.push_str(line),
            Claude::Moves(to) => folder = to,
            Claude::Branch(name) => branch = name,
        }
        lines.push('\n');
    }
    lines.into_bytes()
}

/// A file of Codex: records, each with a time.
pub(crate) fn codex_file(records: &[Value]) -> Vec<u8> {
    let mut lines = String::new();
    for (number, record) in records.iter().enumerate() {
        let mut record = record.clone();
        if record["timestamp"].is_null() && !record["payload"].is_null() {
            record["timestamp"] = json!(minute(number));
        }
        lines.push_str(&record.to_string());
        lines.push('\n');
    }
    lines.into_bytes()
}

pub(crate) fn codex(kind: &str, payload: Value) -> Value {
    let mut record = json!({"type": kind});
    record["payload"] = payload;
    record
}

/// How a version of Codex writes a message of a person.
#[derive(Debug, Clone, Copy)]
enum Generation {
    /// Items, and response items with marks.
    Today,
    /// Events, and response items without marks.
    Events,
    /// Response items alone.
    Responses,
}

fn codex_prompt(generation: Generation, words: &str) -> Vec<Value> {
    let mut response = json!({"type": "message", "role": "user",
        "content": [{"type": "input_text", "text": words}]});
    match generation {
        Generation::Today => {
            response["internal_chat_message_metadata_passthrough"] =
                json!({"content_item_kinds": ["user.text"]});
            let item = json!({"type": "item_completed", "item": {"type": "UserMessage",
                "content": [{"type": "text", "text": words}]}});
            vec![codex("response_item", response), codex("event_msg", item)]
        }
        Generation::Events => vec![
            codex("response_item", response),
            codex(
                "event_msg",
                json!({"type": "user_message", "message": words}),
            ),
        ],
        Generation::Responses => vec![codex("response_item", response)],
    }
}

fn codex_answer(generation: Generation, words: &str) -> Vec<Value> {
    let response = codex(
        "response_item",
        json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": words}]}),
    );
    match generation {
        Generation::Today => vec![
            codex(
                "event_msg",
                json!({"type": "item_completed", "item": {"type": "AgentMessage",
                    "content": [{"type": "Text", "text": words}]}}),
            ),
            response,
        ],
        Generation::Events => vec![
            codex(
                "event_msg",
                json!({"type": "agent_message", "message": words}),
            ),
            response,
        ],
        Generation::Responses => vec![response],
    }
}

fn codex_step(generation: Generation) -> impl Strategy<Value = Vec<Value>> {
    let injected = select(vec![
        "<environment_context>\n<cwd>/w/app</cwd>\n</environment_context>",
        "<codex_internal_context>x</codex_internal_context>",
        "# AGENTS.md instructions for /w/app\n\n<INSTRUCTIONS>x</INSTRUCTIONS>",
        "# AGENTS.md instructions for /w/app\n\n<INSTRUCTIONS>x</INSTRUCTIONS>\n\nfix it",
        "x\n--- project-doc ---\ny",
        "<turn_aborted>\nx",
        "<user_instructions>\nx",
        "# Context from my IDE setup:\n\n## My request for Codex:\nrename it",
    ]);
    let item = |payload: Value| vec![codex("response_item", payload)];
    prop_oneof![
        5 => words().prop_map(move |words| codex_prompt(generation, &words)),
        5 => answer().prop_map(move |words| codex_answer(generation, &words)),
        2 => injected.prop_map(move |words| item(json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": words}]}))),
        1 => Just(item(json!({"type": "message", "role": "developer",
            "content": [{"type": "input_text", "text": "x"}]}))),
        2 => select(vec!["shell", "apply_patch", "mcp.read"]).prop_map(move |name| item(
            json!({"type": "function_call", "name": name, "arguments": "{}", "call_id": "c"}))),
        1 => select(vec!["web_search_call", "tool_search_call", "local_shell_call"]).prop_map(
            move |kind| item(json!({"type": kind}))),
        1 => Just(item(json!({"type": "function_call", "name": "shell", "call_id": "c",
            "arguments": "{\"command\":[\"cat\",\"skills/lint/SKILL.md\"]}"}))),
        1 => Just(vec![codex("event_msg", json!({"type": "exec_command_end", "call_id": "c"}))]),
        1 => Just(vec![codex("event_msg", json!({"type": "patch_apply_end",
            "changes": {"/w/app/a.rs": {}}}))]),
        1 => Just(item(json!({"type": "function_call_output", "call_id": "c", "output": "x"}))),
        1 => select(vec!["/w/app", "/w/other"]).prop_map(|folder| vec![codex(
            "turn_context", json!({"cwd": folder}))]),
        1 => Just(vec![codex("compacted", json!({"message": "x"}))]),
        1 => Just(vec![codex("event_msg", json!({"type": "token_count"}))]),
    ]
}

/// A whole file of Codex.
pub(crate) fn codex_session() -> impl Strategy<Value = Made> {
    select(vec![
        Generation::Today,
        Generation::Events,
        Generation::Responses,
    ])
    .prop_flat_map(|generation| vec(codex_step(generation), 1..20))
    .prop_map(|steps| {
        let meta = json!({"id": "thread", "cwd": "/w/app", "originator": "codex_tui",
            "git": {"branch": "main"}});
        let mut records = vec![codex("session_meta", meta)];
        records.extend(steps.into_iter().flatten());
        Made(codex_file(&records))
    })
}

/// An entry of Pi, and how many entries before it the one stands that it follows.
fn pi_step() -> impl Strategy<Value = (Value, usize)> {
    let message = |message: Value| json!({"type": "message", "message": message});
    let says = move |content: Value| message(json!({"role": "assistant", "content": content}));
    let call = |name: &str, arguments: Value| {
        json!([{"type": "thinking", "thinking": "hm"},
        {"type": "toolCall", "id": "c", "name": name, "arguments": arguments}])
    };
    let entry = prop_oneof![
        5 => words().prop_map(move |words| message(json!({"role": "user", "content": words}))),
        1 => words().prop_map(move |words| message(json!({"role": "user", "content": [
            {"type": "text", "text": words}, {"type": "text", "text": "and more"}]}))),
        4 => answer().prop_map(move |words| says(json!([{"type": "text", "text": words}]))),
        1 => answer().prop_map(move |words| message(json!({"role": "assistant",
            "stopReason": "error", "content": [{"type": "text", "text": words}]}))),
        1 => Just(says(call("bash", json!({"command": "cat skills/lint/SKILL.md"})))),
        1 => Just(says(call("write", json!({"path": "a.rs"})))),
        1 => Just(says(call("grep", json!({})))),
        1 => Just(message(json!({"role": "toolResult", "toolName": "grep", "content": []}))),
        1 => Just(json!({"type": "compaction", "summary": "x"})),
        1 => Just(json!({"type": "model_change", "modelId": "m"})),
    ];
    (entry, prop_oneof![8 => Just(1_usize), 1 => 2_usize..5])
}

/// The lines of a file: each entry follows the one so many before it.
pub(crate) fn pi_file(entries: &[(Value, usize)]) -> Vec<u8> {
    let mut lines = json!({"type": "session", "id": "one", "version": 3, "cwd": "/w/app",
        "timestamp": minute(0)})
    .to_string();
    for (number, (entry, back)) in (1_usize..).zip(entries) {
        let mut entry = entry.clone();
        let parent = match number.checked_sub(*back) {
            None | Some(0) => Value::Null,
            Some(parent) => json!(format!("e{parent}")),
        };
        for (key, value) in [
            ("id", json!(format!("e{number}"))),
            ("parentId", parent),
            ("timestamp", json!(minute(number))),
        ] {
            entry[key] = value;
        }
        lines.push('\n');
        lines.push_str(&entry.to_string());
    }
    lines.push('\n');
    lines.into_bytes()
}

/// A whole file of Pi.
pub(crate) fn pi_session() -> impl Strategy<Value = Made> {
    vec(pi_step(), 1..25).prop_map(|entries| Made(pi_file(&entries)))
}

/// A whole agent transcript of Cursor.
pub(crate) fn cursor_session() -> impl Strategy<Value = Made> {
    let user = |words: String| json!({"role": "user", "message": {"content": [{"type": "text", "text": words}]}});
    let calls = |name: &str, path: &str| {
        json!({"role": "assistant", "message": {"content": [
            {"type": "text", "text": "I begin."},
            {"type": "tool_use", "name": name, "input": {"path": path}}]}})
    };
    let record = prop_oneof![
        4 => words().prop_map(move |words| user(format!("<user_query>\n{words}\n</user_query>"))),
        2 => words().prop_map(move |words| user(format!(
            "<open_files>a.rs</open_files>\n<user_query>{words}</user_query>\n"))),
        2 => words().prop_map(user),
        4 => answer().prop_map(|words| json!({"role": "assistant", "message": {
            "content": [{"type": "text", "text": words}]}})),
        1 => Just(calls("Write", "/w/app/a.rs")),
        1 => Just(calls("Read", "/w/app/skills/lint/SKILL.md")),
        1 => Just(json!({"type": "turn_ended", "status": "error"})),
        1 => Just(json!({"type": "turn_ended", "status": "success"})),
        1 => Just(json!([1])),
        1 => Just(json!({"type": "something_new"})),
    ];
    vec(record, 1..25).prop_map(|records| {
        let lines: Vec<String> = records.iter().map(Value::to_string).collect();
        Made((lines.join("\n") + "\n").into_bytes())
    })
}

/// A request to the extension of this name, so many minutes after the session was begun.
pub(crate) fn vscode_request(minute: i64, words: &str, extension: &str) -> Value {
    let at = 1_767_607_200_000 + minute * 60_000;
    json!({"requestId": format!("r{minute}"), "message": {"text": words},
        "agent": {"extensionId": {"value": extension}}, "timestamp": at,
        "modelState": {"value": 1, "completedAt": at + 30_000}, "response": []})
}

/// A log that begins with an empty session.
pub(crate) fn vscode_file(operations: &[Value]) -> Vec<u8> {
    let mut lines = json!({"kind": 0, "v": {"version": 3, "sessionId": "one",
        "creationDate": 1_767_607_200_000_i64, "requests": []}})
    .to_string();
    for operation in operations {
        lines.push('\n');
        lines.push_str(&operation.to_string());
    }
    lines.push('\n');
    lines.into_bytes()
}

fn vscode_part() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => answer().prop_map(|words| json!({"value": words})),
        1 => answer().prop_map(|words| json!({"kind": "markdownContent", "value": words})),
        1 => Just(json!({"kind": "toolInvocationSerialized", "toolId": "copilot_readFile"})),
        1 => Just(json!({"kind": "textEditGroup", "uri": {"scheme": "file", "path": "/w/app/a.rs"}})),
        1 => Just(json!({"kind": "thinking", "value": "hm"})),
    ]
}

/// An operation. The number, where there is one, makes the request's id and time.
fn vscode_step() -> impl Strategy<Value = Value> {
    let request = (
        words(),
        select(vec![
            "GitHub.copilot-chat",
            "github.Copilot-Chat",
            "other.chat",
        ]),
        vec(vscode_part(), 0..3),
        prop_oneof![6 => Just(None), 1 => (0_u64..6).prop_map(Some)],
    );
    let which = || 0_u64..6;
    prop_oneof![
        5 => request.prop_map(|(words, extension, parts, from)| {
            let mut request = vscode_request(0, &words, extension);
            request["response"] = json!(parts);
            match from {
                None => json!({"kind": 2, "k": ["requests"], "v": [request]}),
                Some(from) => json!({"kind": 2, "k": ["requests"], "v": [request], "i": from}),
            }
        }),
        2 => (which(), vec(vscode_part(), 0..3)).prop_map(|(at, parts)| json!(
            {"kind": 2, "k": ["requests", at, "response"], "v": parts})),
        1 => (which(), vec(vscode_part(), 0..3), 0_u64..3).prop_map(|(at, parts, from)| json!(
            {"kind": 2, "k": ["requests", at, "response"], "v": parts, "i": from})),
        1 => (which(), words()).prop_map(|(at, words)| json!(
            {"kind": 1, "k": ["requests", at, "message", "text"], "v": words})),
        1 => which().prop_map(|at| json!(
            {"kind": 1, "k": ["requests", at, "isSystemInitiated"], "v": true})),
        1 => which().prop_map(|at| json!({"kind": 3, "k": ["requests", at, "modelState"]})),
        1 => Just(json!({"kind": 1, "k": ["inputState"], "v": "x"})),
        1 => Just(json!({"kind": 9})),
    ]
}

/// A whole log of VS Code.
pub(crate) fn vscode_session() -> impl Strategy<Value = Made> {
    vec(vscode_step(), 1..25).prop_map(|mut steps| {
        for (number, step) in (1..).zip(&mut steps) {
            if step["k"] == json!(["requests"]) {
                let like = vscode_request(number, "", "");
                for key in ["requestId", "timestamp", "modelState"] {
                    step["v"][0][key] = like[key].clone();
                }
            }
        }
        Made(vscode_file(&steps))
    })
}
