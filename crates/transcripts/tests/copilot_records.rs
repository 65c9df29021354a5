//! Events of Copilot CLI, written by hand after the agent's published event schema. Real logs are in
//! `ground_truth.rs`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use skillopt_core::agent::Agent;
use skillopt_transcripts::{Author, Harvest, Reason};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, joined, prompts, skipped, write};

/// An event; `minute` orders it and makes its id.
fn event(minute: u32, kind: &str, data: &str) -> String {
    event_of("", minute, kind, data)
}

fn event_of(agent: &str, minute: u32, kind: &str, data: &str) -> String {
    let agent = if agent.is_empty() {
        String::new()
    } else {
        format!(r#""agentId":"{agent}","#)
    };
    format!(
        r#"{{"type":"{kind}","data":{data},{agent}"id":"e{minute}","timestamp":"2026-01-05T10:{minute:02}:00.000Z","parentId":null}}"#
    )
}

fn start() -> String {
    event(
        0,
        "session.start",
        r#"{"sessionId":"s1","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","context":{"cwd":"/w/app","gitRoot":"/w/app","branch":"main"}}"#,
    )
}

fn user(minute: u32, words: &str) -> String {
    let words = serde_json::to_string(words).unwrap();
    let data = format!(
        r#"{{"content":{words},"transformedContent":"<current_datetime>x</current_datetime>","delivery":"idle"}}"#
    );
    event(minute, "user.message", &data)
}

fn agent(minute: u32, words: &str, tools: &[&str]) -> String {
    let requests: Vec<String> = tools
        .iter()
        .map(|tool| format!(r#"{{"toolCallId":"c","name":"{tool}","arguments":{{}}}}"#))
        .collect();
    let data = format!(
        r#"{{"messageId":"m{minute}","content":"{words}","toolRequests":[{}]}}"#,
        requests.join(",")
    );
    event(minute, "assistant.message", &data)
}

fn session(home: &Home, id: &str, lines: &[impl AsRef<[u8]>]) {
    let path = format!("copilot/session-state/{id}/events.jsonl");
    write(&home.folder.path().join(path), &joined(lines));
}

fn read(lines: &[impl AsRef<[u8]>]) -> Harvest {
    let home = Home::new();
    session(&home, "s1", lines);
    home.harvest()
}

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Copilot, reason)
}

#[test]
fn a_session_with_tools_and_files() {
    let harvest = read(&[
        start(),
        user(1, "write the parser"),
        agent(2, "Let me look.", &["view", "create"]),
        event(
            3,
            "tool.execution_complete",
            r#"{"toolCallId":"c","success":true,"fileEdits":[{"path":"src/lib.rs","kind":"create"}],"result":{"content":"ok"}}"#,
        ),
        event(
            4,
            "tool.execution_complete",
            r#"{"toolCallId":"d","success":false,"error":{"message":"no"}}"#,
        ),
        agent(5, "Done.", &[]),
        event(
            6,
            "session.shutdown",
            r#"{"codeChanges":{"filesModified":["/w/app/src/lib.rs","/w/app/other.rs"]}}"#,
        ),
    ]);
    let session = &harvest.sessions[0];
    assert_eq!(prompts(&harvest), [["write the parser"]]);
    assert_eq!(session.turns[1].text, "Done.");
    assert_eq!(session.tools, ["view", "create"]);
    assert_eq!(session.files, ["/w/app/src/lib.rs"]);
    assert_eq!(
        (session.directory.as_str(), session.branch.as_str()),
        ("/w/app", "main")
    );
    assert_eq!(left_out(&harvest, Reason::ToolResult), 2);
}

#[test]
fn where_tools_do_not_say_what_they_wrote_the_end_of_the_session_does() {
    let harvest = read(&[
        start(),
        user(1, "write the parser"),
        event(
            2,
            "session.shutdown",
            r#"{"codeChanges":{"filesModified":["/w/app/a.rs"]}}"#,
        ),
    ]);
    assert_eq!(harvest.sessions[0].files, ["/w/app/a.rs"]);
}

#[test]
fn what_no_person_typed_is_left_out() {
    let from = |minute, source: &str, words: &str| {
        event(
            minute,
            "user.message",
            &format!(r#"{{"content":"{words}","source":"{source}"}}"#),
        )
    };
    let harvest = read(&[
        start(),
        user(1, "count the notes"),
        agent(2, "I ask a helper.", &["task"]),
        event_of("a7", 3, "user.message", r#"{"content":"count them"}"#),
        event_of(
            "a7",
            4,
            "assistant.message",
            r#"{"content":"seven","toolRequests":[{"name":"grep"}]}"#,
        ),
        // Before events said whose they are, the call that runs the helper did.
        event(
            5,
            "assistant.message",
            r#"{"content":"seven","parentToolCallId":"c1"}"#,
        ),
        from(6, "skill-pdf", "how to read a file"),
        event(
            7,
            "user.message",
            r#"{"content":"go on","isAutopilotContinuation":true}"#,
        ),
        agent(8, "Seven notes.", &[]),
        from(9, "agent-x", "report"),
        agent(10, "Reported.", &["report"]),
        user(11, "/compact"),
        user(12, "now the tasks"),
    ]);
    assert_eq!(prompts(&harvest), [["count the notes", "now the tasks"]]);
    let session = &harvest.sessions[0];
    assert_eq!(session.turns[1].text, "Seven notes.");
    assert_eq!(session.turns[1].author, Author::Assistant);
    // What another agent's message set off belongs to no prompt.
    assert_eq!(session.turns[1].tools, ["task"]);
    assert_eq!(session.tools, ["task", "report"]);
    for (reason, expected) in [
        (Reason::Sidechain, 3),
        (Reason::Meta, 1),
        (Reason::MachinePrompt, 2),
        (Reason::SlashCommand, 1),
    ] {
        assert_eq!(left_out(&harvest, reason), expected, "{reason:?}");
    }
}

#[test]
fn skills_belong_to_the_turn_they_were_called_for() {
    let skill = |minute, name: &str, trigger: &str| {
        event(
            minute,
            "skill.invoked",
            &format!(r#"{{"name":"{name}","content":"x","trigger":"{trigger}"}}"#),
        )
    };
    let harvest = read(&[
        start(),
        user(1, "first"),
        skill(2, "tone", "agent-invoked"),
        skill(3, "context", "context-load"),
        agent(4, "one", &[]),
        skill(5, "notes", "user-invoked"),
        user(6, "for v1.2"),
        agent(7, "two", &["bash"]),
    ]);
    assert_eq!(harvest.sessions[0].skills, ["tone", "notes"]);
    let digest = harvest.sessions[0].digest();
    assert_eq!(digest.user_prompts, ["first", "for v1.2"]);
}

#[test]
fn a_session_moves_and_is_resumed() {
    let harvest = read(&[
        start(),
        user(1, "here"),
        event(
            2,
            "session.context_changed",
            r#"{"cwd":"/w/lib","branch":"fix"}"#,
        ),
        user(3, "there"),
        event(
            4,
            "session.resume",
            r#"{"context":{"cwd":"/w/app","branch":"main"},"sessionWasActive":false}"#,
        ),
        user(5, "here again"),
    ]);
    let folders: Vec<&str> = harvest.sessions[0]
        .human_turns()
        .map(|turn| turn.directory.as_str())
        .collect();
    assert_eq!(folders, ["/w/app", "/w/lib", "/w/app"]);
}

#[test]
fn aborts_by_a_person_are_complaints_and_errors_are_no_answers() {
    for by_person in [
        r#"{"reason":"user_initiated"}"#,
        r#"{"reason":"user_abort"}"#,
        "{}",
    ] {
        let harvest = read(&[
            start(),
            user(1, "first"),
            event(2, "abort", by_person),
            user(3, "second"),
            event(
                4,
                "session.error",
                r#"{"errorType":"query","message":"400"}"#,
            ),
            event(5, "abort", r#"{"reason":"autopilot_credit_limit"}"#),
        ]);
        let interrupted: Vec<bool> = harvest.sessions[0]
            .human_turns()
            .map(|turn| turn.interrupted)
            .collect();
        assert_eq!(interrupted, [true, false], "{by_person}");
        assert_eq!(left_out(&harvest, Reason::ApiError), 1);
    }
}

#[test]
fn sessions_nobody_started_are_no_sessions() {
    let detached = start().replace(
        r#""version":1"#,
        r#""detachedFromSpawningParentSessionId":"s0","version":1"#,
    );
    let harvest = read(&[detached, user(1, "remember this")]);
    assert!(harvest.sessions.is_empty());
    assert_eq!(left_out(&harvest, Reason::AgentSession), 1);
}

#[test]
fn event_types_nobody_knows_are_named() {
    let harvest = read(&[
        start(),
        user(1, "first"),
        event(2, "assistant.hologram", "{}"),
        event(3, "user.gesture", "{}"),
        event(4, "session.usage_record", "{}"),
        r#"{"data":{"content":"late type"},"type":"user.message","id":"e9"}"#.to_owned(),
        r#"{"type":"user.message","data":7}"#.to_owned(),
    ]);
    let unknown: Vec<String> = harvest
        .unknown
        .keys()
        .map(|record| record.name.clone())
        .collect();
    assert_eq!(unknown, ["assistant.hologram", "user.gesture"]);
    assert_eq!(prompts(&harvest), [["first", "late type"]]);
    assert_eq!(left_out(&harvest, Reason::Malformed), 1);
}

#[test]
fn only_event_logs_are_opened() {
    let home = Home::new();
    session(&home, "s1", &[start(), user(1, "in a folder")]);
    let at = |path: &str| home.folder.path().join("copilot/session-state").join(path);
    write(&at("s2.jsonl"), &joined(&[user(2, "in a file of its own")]));
    write(
        &at("s1/files/deep/er/events.jsonl"),
        &joined(&[user(3, "the agent's file")]),
    );
    write(&at("s1/checkpoints/index.md"), b"# x");
    let harvest = home.harvest();
    assert_eq!(harvest.files.found, 2);
    assert_eq!(
        prompts(&harvest),
        [["in a file of its own"], ["in a folder"]]
    );
    assert_eq!(harvest.sessions[0].id, "s2");
    assert_eq!(left_out(&harvest, Reason::FolderLoop), 0);
}

/// Written by hand after the published event schema, and for the refused call after what the agent
/// reports to editors: no real log has any of them.
#[test]
fn rewound_turns_and_refused_calls_are_marked() {
    let happened = |lines: &[String]| -> Vec<Vec<String>> {
        let home = Home::new();
        session(&home, "s1", &[&[start()], lines].concat());
        let harvest = home.harvest();
        assert!(harvest.unknown.is_empty(), "{:?}", harvest.unknown);
        let turns = harvest.sessions[0].human_turns();
        turns.map(|turn| turn.feedback.clone()).collect()
    };
    let talk = [
        user(1, "one"),
        agent(2, "done", &[]),
        user(3, "two"),
        agent(4, "done", &[]),
    ];
    let rewind = |event_id: &str| {
        let data = format!(r#"{{"upToEventId":"{event_id}","eventsRemoved":2}}"#);
        event(5, "session.snapshot_rewind", &data)
    };
    let undone = || vec!["neg:undone".to_owned()];
    for (event_id, expected) in [
        ("e1", [undone(), undone()]),
        ("e3", [vec![], undone()]),
        // An event of the answer, and one that the log no longer has.
        ("e4", [vec![], vec![]]),
        ("gone", [vec![], vec![]]),
        ("", [vec![], vec![]]),
    ] {
        let lines = [&talk[..], &[rewind(event_id)]].concat();
        assert_eq!(happened(&lines), expected, "{event_id}");
        let lines = [&lines[..], &[user(6, "three"), agent(7, "done", &[])]].concat();
        assert_eq!(happened(&lines)[2], Vec::<String>::new());
    }
    for (kind, data, refused) in [
        (
            "tool.execution_complete",
            r#"{"toolCallId":"c","success":false,"error":{"message":"The user rejected this tool call.","code":"rejected"}}"#,
            true,
        ),
        (
            "tool.execution_complete",
            r#"{"toolCallId":"c","success":false,"error":{"message":"The patch was \"rejected\"","code":"failure"}}"#,
            false,
        ),
        (
            "tool.execution_complete",
            r#"{"toolCallId":"c","success":false,"error":{"message":"No.","code":"denied"}}"#,
            false,
        ),
        (
            "permission.completed",
            r#"{"requestId":"r","result":{"kind":"denied-interactively-by-user"}}"#,
            true,
        ),
        (
            "permission.completed",
            r#"{"requestId":"r","result":{"kind":"denied-by-rules"}}"#,
            false,
        ),
        (
            "permission.completed",
            r#"{"requestId":"r","result":{"kind":"approved"}}"#,
            false,
        ),
    ] {
        let lines = [
            user(1, "one"),
            agent(2, "Let me.", &["bash"]),
            event(3, kind, data),
            agent(4, "Then not.", &[]),
            user(5, "two"),
            agent(6, "done", &[]),
        ];
        let expected = if refused {
            vec!["neg:tool_rejected"]
        } else {
            vec![]
        };
        assert_eq!(happened(&lines)[0], expected, "{data}");
    }
}
