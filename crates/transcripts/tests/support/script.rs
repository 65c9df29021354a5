//! The same course of a session, as each agent would have written it down.

use std::path::PathBuf;

use serde_json::{Value, json};
use skillopt_core::agent::Agent;

use crate::homes::{Home, answer, call, joined, typed, write};
use crate::opencode;

#[path = "script_databases.rs"]
mod databases;

/// What happens in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The person says something.
    Says(&'static str),
    /// The agent says something.
    Answers(&'static str),
    /// The agent writes a file.
    Writes,
    /// The agent commits, which ends with this exit code.
    Commits(i64),
    /// The person stops the agent.
    Stops,
    /// The person refuses to let a tool be called.
    Refuses,
    /// The person says something in the place of the last prompt. Where an agent deletes what it
    /// takes back: stops the agent, and says it then.
    SaysInstead(&'static str),
    /// The person takes the last turn back. Where that is done by saying something else in an earlier
    /// place: says that in the place of the prompt before the last.
    TakesBack,
}

/// Writes the session into the agent's home; `false` if the agent writes no such thing down.
pub(crate) fn write_down(agent: Agent, home: &Home, events: &[Event]) -> bool {
    match agent {
        Agent::Claude => claude(home, events),
        Agent::Codex => codex(home, events),
        Agent::Copilot => copilot(home, events),
        Agent::Vscode => vscode(home, events),
        Agent::Cursor => {
            // Agent transcripts know nothing of what became of a call.
            let in_editor = events.iter().any(|event| {
                matches!(event, Event::Refuses | Event::TakesBack | Event::Commits(_))
            });
            if in_editor {
                databases::cursor_editor(home, events);
            } else {
                cursor(home, events);
            }
        }
        Agent::Pi | Agent::OpenClaw => return tree(agent, home, events),
        Agent::OpenCode => databases::open_code(home, events),
        Agent::Devin => return databases::in_devin(home, events),
    }
    true
}

fn file(home: &Home, path: &str, lines: &[String]) -> PathBuf {
    let path = home.folder.path().join(path);
    write(&path, &joined(lines));
    path
}

fn lines(values: &[Value]) -> Vec<String> {
    values.iter().map(Value::to_string).collect()
}

fn at(minute: usize) -> String {
    format!("2026-01-05T10:{minute:02}:00.000Z")
}

/// Milliseconds of a minute.
fn millis(minute: usize) -> i64 {
    opencode::START + i64::try_from(minute).unwrap() * 60_000
}

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).";

fn claude(home: &Home, events: &[Event]) {
    let result = |minute: u32, failed: bool, content: &str| {
        json!({"parentUuid": format!("c{minute}"), "isSidechain": false, "type": "user",
               "message": {"role": "user", "content": [{"type": "tool_result", "content": content,
                           "is_error": failed, "tool_use_id": "t"}]},
               "uuid": format!("r{minute}"), "timestamp": at(minute as usize), "cwd": "/w/app"})
        .to_string()
    };
    let mut written = Vec::new();
    // What each prompt follows.
    let mut parents: Vec<String> = Vec::new();
    let mut last = "h0".to_owned();
    for (minute, event) in (1..).zip(events) {
        let said = match event {
            Event::Says(words) => Some((last.clone(), *words)),
            Event::SaysInstead(words) => Some((parents.last().unwrap().clone(), *words)),
            Event::TakesBack => Some((parents[parents.len() - 2].clone(), "Begin again")),
            _ => None,
        };
        if let Some((parent, words)) = said {
            let field = format!(r#""parentUuid":"{parent}""#);
            written.push(typed(minute, words).replace(r#""parentUuid":null"#, &field));
            parents.push(parent);
            last = format!("u{minute}");
        }
        match event {
            Event::Says(_) | Event::SaysInstead(_) | Event::TakesBack => {}
            Event::Answers(words) => {
                written.push(answer(minute, words));
                last = format!("a{minute}");
            }
            Event::Writes => {
                written.push(call(minute, "Write", r#"{"file_path":"/w/app/a.rs"}"#));
                written.push(result(minute, false, "ok"));
            }
            Event::Commits(code) => {
                written.push(call(minute, "Bash", r#"{"command":"git commit -am x"}"#));
                written.push(result(minute, *code != 0, "done"));
            }
            Event::Refuses => {
                written.push(call(minute, "Bash", r#"{"command":"make"}"#));
                written.push(result(minute, true, REFUSED));
            }
            Event::Stops => written.push(
                json!({"type": "user", "uuid": format!("i{minute}"), "timestamp": at(minute as usize),
                       "cwd": "/w/app", "interruptedMessageId": "m",
                       "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}})
                .to_string(),
            ),
        }
    }
    home.claude("s1.jsonl", &written);
}

fn codex(home: &Home, events: &[Event]) {
    let id = "01a22847-3db6-71d3-9c36-e48a42ef3d0f";
    let mut written = vec![
        json!({"timestamp": at(0), "type": "session_meta", "payload": {"id": id, "cwd": "/w/app", "originator": "codex_cli_rs", "source": "cli"}}),
    ];
    for (minute, event) in (1..).zip(events) {
        let mut record = |kind: &str, payload: Value| {
            written.push(json!({"timestamp": at(minute), "type": kind, "payload": payload}));
        };
        let item = |kind: &str, words: &str| json!({"type": "item_completed", "item": {"type": kind, "id": format!("i{minute}"), "content": [{"type": "text", "text": words}]}});
        let exec = |command: &str| {
            let arguments = json!({"cmd": command}).to_string();
            json!({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": "c"})
        };
        let returned = |output: String| json!({"type": "function_call_output", "call_id": "c", "output": output});
        match event {
            Event::Says(words) => record("event_msg", item("UserMessage", words)),
            Event::Answers(words) => record("event_msg", item("AgentMessage", words)),
            Event::Writes => record(
                "response_item",
                json!({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n*** Add File: a.rs\n", "call_id": "p"}),
            ),
            Event::Commits(code) => {
                record("response_item", exec("git commit -am x"));
                let output = format!(
                    "Chunk ID: a\nWall time: 0.0000 seconds\nProcess exited with code {code}\nOutput:\nx\n"
                );
                record("response_item", returned(output));
            }
            Event::Stops => {
                record(
                    "event_msg",
                    json!({"type": "turn_aborted", "reason": "interrupted"}),
                );
            }
            Event::Refuses => {
                record("response_item", exec("make"));
                record(
                    "response_item",
                    returned("exec command rejected by user".to_owned()),
                );
            }
            Event::SaysInstead(words) => {
                record(
                    "event_msg",
                    json!({"type": "thread_rolled_back", "num_turns": 1}),
                );
                record("event_msg", item("UserMessage", words));
            }
            Event::TakesBack => {
                record(
                    "event_msg",
                    json!({"type": "thread_rolled_back", "num_turns": 1}),
                );
            }
        }
    }
    let path = format!("codex/sessions/2026/01/05/rollout-2026-01-05T10-00-00-{id}.jsonl");
    file(home, &path, &lines(&written));
}

fn copilot(home: &Home, events: &[Event]) {
    let event = |minute: usize, kind: &str, data: &Value| json!({"type": kind, "data": data, "id": format!("e{minute}"), "timestamp": at(minute)});
    let mut written = vec![event(
        0,
        "session.start",
        &json!({"sessionId": "s1", "context": {"cwd": "/w/app"}}),
    )];
    let mut prompts = Vec::new();
    for (minute, happens) in (1..).zip(events) {
        let mut add = |kind: &str, data: Value| written.push(event(minute, kind, &data));
        let calls = |tool: &str, arguments: Value| json!({"messageId": format!("m{minute}"), "content": "", "toolRequests": [{"toolCallId": "c", "name": tool, "arguments": arguments}]});
        let said = |words: &str| json!({"content": words, "delivery": "idle"});
        match happens {
            Event::Says(words) => {
                prompts.push(minute);
                add("user.message", said(words));
            }
            Event::Answers(words) => add(
                "assistant.message",
                json!({"messageId": format!("m{minute}"), "content": words, "toolRequests": []}),
            ),
            Event::Writes => {
                add(
                    "assistant.message",
                    calls("create", json!({"path": "/w/app/a.rs"})),
                );
                add(
                    "tool.execution_complete",
                    json!({"toolCallId": "c", "success": true, "fileEdits": [{"path": "/w/app/a.rs"}]}),
                );
            }
            Event::Commits(code) => {
                add(
                    "assistant.message",
                    calls("bash", json!({"command": "git commit -am x"})),
                );
                add(
                    "tool.execution_complete",
                    json!({"toolCallId": "c", "success": true, "shellExecution": {"exitCode": code}, "result": {"content": "x"}}),
                );
            }
            Event::Stops => add("abort", json!({"reason": "user_initiated"})),
            Event::Refuses => {
                add(
                    "assistant.message",
                    calls("bash", json!({"command": "make"})),
                );
                add(
                    "tool.execution_complete",
                    json!({"toolCallId": "c", "success": false, "error": {"message": "no", "code": "rejected"}}),
                );
            }
            Event::SaysInstead(_) | Event::TakesBack => {
                let first = prompts.last().unwrap();
                add(
                    "session.snapshot_rewind",
                    json!({"upToEventId": format!("e{first}"), "eventsRemoved": 2}),
                );
                if let Event::SaysInstead(words) = happens {
                    written.push(event(minute + 30, "user.message", &said(words)));
                }
            }
        }
    }
    file(
        home,
        "copilot/session-state/c1/events.jsonl",
        &lines(&written),
    );
}

fn vscode(home: &Home, events: &[Event]) {
    let workspace = "vscode/User/workspaceStorage/1f";
    file(
        home,
        &format!("{workspace}/workspace.json"),
        &[r#"{"folder":"file:///w/app"}"#.to_owned()],
    );
    let mut written = vec![
        json!({"kind": 0, "v": {"sessionId": "v1", "creationDate": millis(0), "requests": []}}),
    ];
    let mut requests = 0_usize;
    for (minute, event) in (1..).zip(events) {
        let request = |words: &str| {
            json!({"requestId": format!("r{minute}"), "message": {"text": words}, "timestamp": millis(minute),
                   "agent": {"extensionId": {"value": "GitHub.copilot-chat"}}, "response": []})
        };
        let last = requests.saturating_sub(1);
        let part =
            |part: Value| json!({"kind": 2, "k": ["requests", last, "response"], "v": [part]});
        written.push(match event {
            Event::Says(words) => {
                requests += 1;
                json!({"kind": 2, "k": ["requests"], "v": [request(words)]})
            }
            Event::Answers(words) => part(json!({"value": words})),
            Event::Writes => part(json!({"kind": "textEditGroup", "uri": {"scheme": "file", "path": "/w/app/a.rs"}})),
            Event::Commits(code) => part(json!({
                "kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "isConfirmed": {"type": 4},
                "toolSpecificData": {"kind": "terminal", "commandLine": {"original": "git commit -am x"},
                                     "terminalCommandState": {"exitCode": code}}})),
            Event::Stops => json!({"kind": 1, "k": ["requests", last, "isCanceled"], "v": true}),
            Event::Refuses => part(json!({
                "kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "isConfirmed": {"type": 0}})),
            Event::SaysInstead(words) => {
                json!({"kind": 2, "k": ["requests"], "v": [request(words)], "i": last})
            }
            Event::TakesBack => json!({
                "kind": 1, "k": ["requests", last, "shouldBeRemovedOnSend"], "v": {"requestId": "r"}}),
        });
    }
    file(
        home,
        &format!("{workspace}/chatSessions/v1.jsonl"),
        &lines(&written),
    );
}

fn cursor(home: &Home, events: &[Event]) {
    let workspace = "cursor/projects/w-app";
    file(
        home,
        &format!("{workspace}/.workspace-trusted"),
        &[r#"{"workspacePath":"/w/app"}"#.to_owned()],
    );
    let says = |words: &str| {
        let words = format!("<user_query>{words}</user_query>");
        json!({"role": "user", "message": {"content": [{"type": "text", "text": words}]}})
    };
    let does = |block: Value| json!({"role": "assistant", "message": {"content": [block]}});
    let stopped = json!({"type": "turn_ended", "status": "aborted", "error": "User aborted/interrupted manually."});
    let mut written = Vec::new();
    for event in events {
        match event {
            Event::Says(words) => written.push(says(words)),
            Event::Answers(words) => written.push(does(json!({"type": "text", "text": words}))),
            Event::Writes => written.push(does(
                json!({"type": "tool_use", "name": "Write", "input": {"path": "/w/app/a.rs"}}),
            )),
            Event::Commits(_) => written.push(does(
                json!({"type": "tool_use", "name": "Shell", "input": {"command": "git commit -am x"}}),
            )),
            Event::Stops => written.push(stopped.clone()),
            Event::SaysInstead(words) => written.extend([stopped.clone(), says(words)]),
            Event::Refuses | Event::TakesBack => panic!("only the editor tells"),
        }
    }
    file(
        home,
        &format!("{workspace}/agent-transcripts/c1/c1.jsonl"),
        &lines(&written),
    );
}

fn tree(agent: Agent, home: &Home, events: &[Event]) -> bool {
    let mut written = vec![
        json!({"type": "session", "version": 3, "id": "p1", "timestamp": at(0), "cwd": "/w/app"}),
    ];
    let shell = if agent == Agent::Pi { "bash" } else { "exec" };
    let mut parents: Vec<Value> = Vec::new();
    let mut last = Value::Null;
    for (minute, event) in (1..).zip(events) {
        let user =
            |words: &str| json!({"role": "user", "content": [{"type": "text", "text": words}]});
        let answer = |block: Value, stop: &str| json!({"role": "assistant", "content": [block], "stopReason": stop});
        let text = |words: &str| json!({"type": "text", "text": words});
        let tool = |name: &str, arguments: Value| json!({"type": "toolCall", "id": "t", "name": name, "arguments": arguments});
        let mut parent = last.clone();
        let messages = match event {
            Event::Says(words) => vec![user(words)],
            Event::SaysInstead(words) => {
                parent = parents.last().unwrap().clone();
                vec![user(words)]
            }
            Event::TakesBack => {
                parent = parents[parents.len() - 2].clone();
                vec![user("Begin again")]
            }
            Event::Answers(words) => vec![answer(text(words), "stop")],
            Event::Stops => vec![answer(text("as far as I"), "aborted")],
            Event::Writes => {
                vec![answer(
                    tool("write", json!({"path": "/w/app/a.rs"})),
                    "toolUse",
                )]
            }
            Event::Commits(code) => vec![
                answer(
                    tool(shell, json!({"command": "git commit -am x"})),
                    "toolUse",
                ),
                json!({"role": "toolResult", "toolCallId": "t", "toolName": shell, "isError": *code != 0 && agent == Agent::Pi,
                       "content": [text("x")], "details": {"exitCode": code}}),
            ],
            Event::Refuses if agent == Agent::Pi => return false,
            Event::Refuses => vec![user(
                "An async command did not run.\nDo not run the command again.\n\nExact completion details:\nExec denied (gateway id=1, user-denied): make",
            )],
        };
        if matches!(
            event,
            Event::Says(_) | Event::SaysInstead(_) | Event::TakesBack
        ) {
            parents.push(parent.clone());
        }
        for (number, message) in messages.into_iter().enumerate() {
            let id = format!("e{minute}{number}");
            written.push(json!({"type": "message", "id": id, "parentId": parent, "timestamp": at(minute), "message": message}));
            parent = json!(id);
        }
        last = parent;
    }
    let path = if agent == Agent::Pi {
        "pi/sessions/--w-app--/p1.jsonl"
    } else {
        "openclaw/agents/main/sessions/p1.jsonl"
    };
    file(home, path, &lines(&written));
    true
}
