//! Sessions of Copilot Chat in VS Code, written by hand after §3.4 and §15.4 of the reference: there is
//! no real sample.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use skillopt_core::agent::Agent;
use skillopt_transcripts::{Author, Harvest, Reason, Scope};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, joined, prompts, skipped, write};

/// A request with its answer. `minute` makes its id and its times, in milliseconds.
fn request(minute: i64, words: &str, response: &str) -> String {
    let at = 1_767_607_200_000 + minute * 60_000;
    let words = serde_json::to_string(words).unwrap();
    format!(
        r#"{{"requestId":"request_{minute}","message":{{"text":{words},"parts":[]}},"agent":{{"extensionId":{{"value":"GitHub.copilot-chat","_lower":"github.copilot-chat"}},"id":"github.copilot.editsAgent"}},"timestamp":{at},"modelState":{{"value":1,"completedAt":{}}},"response":[{response}]}}"#,
        at + 30_000
    )
}

fn chat(requests: &[String]) -> String {
    format!(
        r#"{{"version":3,"sessionId":"c1","creationDate":1767607200000,"requests":[{}]}}"#,
        requests.join(",")
    )
}

fn begin(requests: &[String]) -> String {
    format!(r#"{{"kind":0,"v":{}}}"#, chat(requests))
}

fn home_with(name: &str, bytes: &[u8]) -> Home {
    let home = Home::new();
    let workspace = home.folder.path().join("vscode/User/workspaceStorage/1f");
    write(
        &workspace.join("workspace.json"),
        br#"{"folder":"file:///w/my%20app"}"#,
    );
    write(&workspace.join("chatSessions").join(name), bytes);
    home
}

fn read(lines: &[impl AsRef<[u8]>]) -> Harvest {
    home_with("c1.jsonl", &joined(lines)).harvest()
}

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Vscode, reason)
}

fn answers(harvest: &Harvest) -> Vec<&str> {
    harvest
        .sessions
        .iter()
        .flat_map(|session| &session.turns)
        .filter(|turn| turn.author == Author::Assistant)
        .map(|turn| turn.text.as_str())
        .collect()
}

const SAID: &str = r#"{"value":"Let me "},{"value":"look."}"#;

#[test]
fn the_example_of_the_reference() {
    let harvest = read(&[
        r#"{"kind":0,"v":{"sessionId":"c9","creationDate":1767607200000,"requests":[{"agent":{"extensionId":{"value":"GitHub.copilot-chat"}},"message":{"text":"fix the tests"},"timestamp":1767607260000,"modelState":{"completedAt":1767607290000},"response":[{"value":"markdown"},{"kind":"toolInvocationSerialized","toolId":"t"}]}]}}"#,
    ]);
    let session = &harvest.sessions[0];
    assert_eq!(prompts(&harvest), [["fix the tests"]]);
    assert_eq!(answers(&harvest), ["markdown"]);
    assert_eq!(session.id, "c9");
    assert_eq!(session.directory, "/w/my app");
    assert_eq!(session.tools, ["t"]);
    assert_eq!(session.started.unwrap().to_string(), "2026-01-05T10:01:00Z");
    assert_eq!(session.ended.unwrap().to_string(), "2026-01-05T10:01:30Z");
}

#[test]
fn what_a_change_puts_in_is_mended_or_said_to_be_damaged() {
    let begun = r#"{"kind":0,"v":{"sessionId":"c9","requests":[]}}"#;
    let more = |words: &str| {
        format!(
            r#"{{"kind":2,"k":["requests"],"v":[{{"requestId":"r","message":{{"text":{words}}},"timestamp":1767607260000,"response":[]}}]}}"#
        )
    };
    // Half of a surrogate pair, as JavaScript writes it when a text is cut inside an emoji.
    let harvest = read(&[begun, &more(r#""cut \ud83d""#)]);
    assert_eq!(prompts(&harvest), [["cut \u{FFFD}"]]);
    assert_eq!(skipped(&harvest, Agent::Vscode, Reason::Repaired), 1);
    // A number that is none of any language.
    let harvest = read(&[begun, &more(&"9".repeat(5000)), &more("\"after\"")]);
    assert_eq!(prompts(&harvest), [["after"]]);
    assert_eq!(skipped(&harvest, Agent::Vscode, Reason::Malformed), 1);
}

#[test]
fn a_session_in_one_piece_on_one_line_and_on_many() {
    let whole = chat(&[request(1, "first", SAID), request(2, "second", "")]);
    let value: serde_json::Value = serde_json::from_str(&whole).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    for text in [
        whole.clone(),
        format!("{whole}\n"),
        pretty.clone(),
        format!("{pretty}\n"),
        format!("\u{feff}{pretty}"),
        pretty.replace('\n', "\r\n"),
    ] {
        let harvest = home_with("c1.json", text.as_bytes()).harvest();
        assert_eq!(prompts(&harvest), [["first", "second"]], "{text}");
        assert_eq!(answers(&harvest), ["Let me look."]);
        assert!(harvest.skipped.is_empty(), "{:?}", harvest.skipped);
    }
    // One that is cut anywhere is damaged, and nothing more.
    let harvest = home_with("c1.json", &pretty.as_bytes()[..pretty.len() - 3]).harvest();
    assert!(harvest.sessions.is_empty());
    assert_eq!(left_out(&harvest, Reason::Malformed), 1);
}

#[test]
fn changes_are_made_in_their_order() {
    let lines = [
        begin(&[request(1, "first", "")]),
        // An answer comes in pieces, and its last piece is written again.
        r#"{"kind":2,"k":["requests",0,"response"],"v":[{"value":"One"},{"value":" moment"}]}"#.to_owned(),
        r#"{"kind":2,"k":["requests",0,"response"],"v":[{"value":" and a half"},{"kind":"toolInvocationSerialized","toolId":"copilot_readFile"}],"i":1}"#.to_owned(),
        r#"{"kind":1,"k":["requests",0,"response",0,"value"],"v":"1"}"#.to_owned(),
        format!(r#"{{"kind":2,"k":["requests"],"v":[{}]}}"#, request(2, "second", SAID)),
        r#"{"kind":1,"k":["requests",1,"message","text"],"v":"second, better"}"#.to_owned(),
        r#"{"kind":1,"k":["requests",1,"isCanceled"],"v":true}"#.to_owned(),
        r#"{"kind":1,"k":["customTitle"],"v":"Numbers"}"#.to_owned(),
    ];
    let harvest = read(&lines);
    assert_eq!(prompts(&harvest), [["first", "second, better"]]);
    assert_eq!(answers(&harvest), ["1 and a half", "Let me look."]);
    assert_eq!(harvest.sessions[0].tools, ["copilot_readFile"]);
    let turns: Vec<bool> = harvest.sessions[0]
        .human_turns()
        .map(|turn| turn.interrupted)
        .collect();
    assert_eq!(turns, [false, true]);

    // Going back to the first request takes the second one away.
    let mut lines = lines.to_vec();
    lines.push(format!(
        r#"{{"kind":2,"k":["requests"],"v":[{}],"i":1}}"#,
        request(3, "another second", "")
    ));
    let told = |lines: &[String]| -> Vec<(String, String)> {
        read(lines).sessions[0]
            .human_turns()
            .map(|turn| (turn.text.clone(), turn.feedback.join(" ")))
            .collect()
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let owned = |(words, signals): &(&str, &str)| ((*words).to_owned(), (*signals).to_owned());
        pairs.iter().map(owned).collect()
    };
    assert_eq!(
        told(&lines),
        pairs(&[
            ("first", ""),
            ("second, better", "neg:interrupted neg:resent"),
            ("another second", ""),
        ])
    );
    // Taking away without putting anything in.
    lines.push(r#"{"kind":2,"k":["requests"],"i":1}"#.to_owned());
    lines.push(r#"{"kind":3,"k":["requests",0]}"#.to_owned());
    assert_eq!(
        told(&lines),
        pairs(&[
            ("first", "neg:undone"),
            ("second, better", "neg:interrupted neg:resent"),
            ("another second", "neg:undone"),
        ])
    );
    // A request that is written again is the same one.
    let again = format!(
        r#"{{"kind":2,"k":["requests"],"v":[{}],"i":0}}"#,
        request(1, "first", SAID)
    );
    assert_eq!(
        told(&[begin(&[request(1, "first", "")]), again]),
        pairs(&[("first", "")])
    );
}

#[test]
fn stopped_answers_and_refused_calls_are_told_in_the_words_of_every_version() {
    let told = |lines: &[String]| -> Vec<String> {
        let feedback = |line: &String| line.clone();
        read(lines).sessions[0]
            .human_turns()
            .flat_map(|turn| turn.feedback.iter().map(feedback))
            .filter(|signal| signal != "neg:abandoned")
            .collect()
    };
    for (state, stopped) in [("2", true), ("1", false), ("0", false), (r#""2""#, false)] {
        let expected: &[&str] = if stopped { &["neg:interrupted"] } else { &[] };
        let whole =
            request(1, "first", "").replace(r#""value":1,"#, &format!(r#""value":{state},"#));
        assert_eq!(told(&[begin(&[whole])]), expected, "{state}");
        let change =
            format!(r#"{{"kind":1,"k":["requests",0,"modelState"],"v":{{"value":{state}}}}}"#);
        let later = [begin(&[request(1, "first", "")]), change];
        assert_eq!(told(&later), expected, "{state}, later");
    }
    for (confirmed, refused) in [
        ("false", true),
        (r#"{"type":0}"#, true),
        (r#"{"type":5}"#, true),
        ("true", false),
        (r#"{"type":1}"#, false),
        (r#"{"type":4}"#, false),
        (r#""no""#, false),
    ] {
        let expected: &[&str] = if refused { &["neg:tool_rejected"] } else { &[] };
        let call = |more: &str| {
            let tool = "run_in_terminal";
            format!(r#"{{"kind":"toolInvocationSerialized","toolId":"{tool}"{more}}}"#)
        };
        let whole = call(&format!(r#","isConfirmed":{confirmed}"#));
        assert_eq!(
            told(&[begin(&[request(1, "first", &whole)])]),
            expected,
            "{confirmed}"
        );
        let change = format!(
            r#"{{"kind":1,"k":["requests",0,"response",0,"isConfirmed"],"v":{confirmed}}}"#
        );
        let later = [begin(&[request(1, "first", &call(""))]), change];
        assert_eq!(told(&later), expected, "{confirmed}, later");
    }
}

#[test]
fn changes_that_fit_nothing_change_nothing() {
    let odd = [
        r#"{"kind":1,"k":["requests",7],"v":{"message":{"text":"x"}}}"#,
        r#"{"kind":1,"k":["requests",-1,"message"],"v":{"text":"x"}}"#,
        r#"{"kind":1,"k":["requests",1.5],"v":{}}"#,
        r#"{"kind":2,"k":["requests"],"v":[],"i":9}"#,
        r#"{"kind":2,"k":["requests"],"v":[],"i":-1}"#,
        r#"{"kind":2,"k":["requests",0],"v":[1]}"#,
        r#"{"kind":3,"k":["requests",0,"response",5]}"#,
        r#"{"kind":3,"k":["requests",99999999999999999999]}"#,
        r#"{"kind":1,"k":["requests",0,"response",0,"value","a","b","c"],"v":1}"#,
        r#"{"kind":1,"k":[],"v":{}}"#,
        r#"{"kind":1,"k":{"requests":0},"v":{}}"#,
        r#"{"kind":0,"v":[1]}"#,
        r#"{"kind":0}"#,
    ];
    for line in odd {
        let harvest = read(&[begin(&[request(1, "first", SAID)]).as_str(), line]);
        assert_eq!(prompts(&harvest), [["first"]], "{line}");
        assert_eq!(answers(&harvest), ["Let me look."], "{line}");
    }
    let harvest = read(&[
        begin(&[request(1, "first", SAID)]).as_str(),
        r#"{"kind":9,"k":["requests"],"v":[]}"#,
        r#"{"kind":"x"}"#,
        r#"{"no":"kind"}"#,
    ]);
    assert_eq!(prompts(&harvest), [["first"]]);
    let unknown: Vec<String> = harvest
        .unknown
        .keys()
        .map(|record| record.name.clone())
        .collect();
    assert_eq!(unknown, ["kind/9", "kind/none"]);
    assert_eq!(left_out(&harvest, Reason::Malformed), 1);
}

#[test]
fn a_request_can_be_replaced_with_something_of_another_shape() {
    for value in [
        "7",
        "null",
        "[]",
        r#""x""#,
        r#"{"message":7,"response":{},"agent":[]}"#,
    ] {
        let line = format!(r#"{{"kind":1,"k":["requests",0],"v":{value}}}"#);
        let harvest = read(&[
            begin(&[request(1, "first", SAID), request(2, "second", "")]),
            line,
        ]);
        assert_eq!(prompts(&harvest), [["second"]], "{value}");
    }
}

#[test]
fn what_no_person_asked_copilot_is_left_out() {
    let with = |text: String, from: &str, to: &str| {
        assert!(text.contains(from));
        text.replace(from, to)
    };
    let harvest = read(&[begin(&[
        request(1, "asked", SAID),
        with(
            request(2, "by the system", ""),
            r#""agent""#,
            r#""isSystemInitiated":true,"agent""#,
        ),
        with(
            request(3, "of another", ""),
            r#"{"value":"GitHub.copilot-chat","_lower":"github.copilot-chat"}"#,
            r#""other.assistant""#,
        ),
        with(
            request(4, "a plain id", ""),
            r#"{"value":"GitHub.copilot-chat","_lower":"github.copilot-chat"}"#,
            r#""GitHub.copilot-chat""#,
        ),
        with(request(5, "nobody named", ""), r#""agent""#, r#""agents""#),
        request(6, "/clear", ""),
        request(7, " ", ""),
    ])]);
    assert_eq!(prompts(&harvest), [["asked", "a plain id", "nobody named"]]);
    for reason in [
        Reason::MachinePrompt,
        Reason::OtherExtension,
        Reason::SlashCommand,
        Reason::Wordless,
    ] {
        assert_eq!(left_out(&harvest, reason), 1, "{reason:?}");
    }
}

#[test]
fn parts_of_an_answer() {
    let harvest = read(&[begin(&[request(
        1,
        "write it",
        r#"{"kind":"thinking","value":"hm"},{"value":{"value":"Written"}},{"kind":"markdownContent","content":{"value":" to "}},{"kind":"inlineReference"},{"kind":"markdownContent","value":"a.rs"},{"kind":"markdownVuln","content":{"value":"!"},"vulnerabilities":[]},{"kind":"textEditGroup","uri":{"$mid":1,"path":"/w/my app/a.rs","scheme":"file"},"edits":[]},{"kind":"textEditGroup","uri":{"path":"/x","scheme":"untitled"}},7"#,
    )])]);
    assert_eq!(answers(&harvest), ["Written to a.rs!"]);
    assert_eq!(harvest.sessions[0].files, ["/w/my app/a.rs"]);
}

#[test]
fn a_part_of_a_kind_that_is_not_known_is_counted_by_its_name() {
    let harvest = read(&[begin(&[request(
        1,
        "write it",
        r#"{"value":{"value":"Written."}},{"kind":"undoStop"},{"kind":"hologram"},{"kind":"hologram"}"#,
    )])]);
    assert_eq!(answers(&harvest), ["Written."]);
    let unknown: Vec<(&str, &str, u64)> = harvest
        .unknown
        .iter()
        .map(|(record, &count)| (record.name.as_str(), record.version.as_str(), count))
        .collect();
    assert_eq!(unknown, [("part/hologram", "format-3", 2)]);
}

/// An entry of a transcript. `minute` makes its id and its time.
fn entry(minute: u32, r#type: &str, data: &str) -> String {
    format!(
        r#"{{"type":"{type}","data":{data},"id":"e{minute}-{type}","timestamp":"2026-01-05T10:{minute:02}:00.000Z","parentId":null}}"#
    )
}

/// A transcript of the extension, as its sources write it.
fn transcript() -> Vec<String> {
    let start = r#"{"sessionId":"c1","version":1,"producer":"copilot-agent","copilotVersion":"0.51.0","vscodeVersion":"1.125.0","startTime":"2026-01-05T10:00:00.000Z"}"#;
    let call = r#"{"messageId":"m1","content":"","toolRequests":[{"toolCallId":"t1","name":"run_in_terminal","arguments":"{\"command\":\"git commit -m x\"}","type":"function"}]}"#;
    vec![
        entry(0, "session.start", start),
        entry(
            1,
            "user.message",
            r#"{"content":"tidy up","attachments":[]}"#,
        ),
        entry(1, "assistant.turn_start", r#"{"turnId":"0"}"#),
        entry(1, "assistant.message", call),
        entry(
            1,
            "tool.execution_start",
            r#"{"toolCallId":"t1","toolName":"run_in_terminal","arguments":{}}"#,
        ),
        entry(
            1,
            "tool.execution_complete",
            r#"{"toolCallId":"t1","success":true,"result":{"content":"nothing to commit"}}"#,
        ),
        entry(1, "assistant.usage", r#"{"inputTokens":7}"#),
        entry(1, "assistant.turn_end", r#"{"turnId":"0"}"#),
        entry(
            2,
            "assistant.message",
            r#"{"messageId":"m2","content":"Tidied.","toolRequests":[],"reasoningText":"hm"}"#,
        ),
        entry(3, "assistant.dream", r#"{}"#),
    ]
}

fn put_transcript(home: &Home, lines: &[String]) {
    let path = "vscode/User/workspaceStorage/1f/GitHub.copilot-chat/transcripts/c1.jsonl";
    write(&home.folder.path().join(path), &joined(lines));
}

#[test]
fn a_transcript_of_the_extension_is_a_session() {
    let home = home_with("other.txt", b"");
    put_transcript(&home, &transcript());
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["tidy up"]]);
    assert_eq!(answers(&harvest), ["Tidied."]);
    let session = &harvest.sessions[0];
    assert_eq!(
        (session.id.as_str(), session.directory.as_str()),
        ("c1", "/w/my app")
    );
    assert_eq!(session.tools, ["run_in_terminal"]);
    assert_eq!(
        session.turns[0].at.unwrap().to_string(),
        "2026-01-05T10:01:00Z"
    );
    let unknown: Vec<(&str, &str)> = harvest
        .unknown
        .keys()
        .map(|record| (record.name.as_str(), record.version.as_str()))
        .collect();
    assert_eq!(unknown, [("assistant.dream", "0.51.0")]);
}

#[test]
fn a_session_that_the_editor_keeps_as_well_counts_once() {
    let home = home_with(
        "c1.jsonl",
        &joined(&[begin(&[request(1, "tidy up", SAID)])]),
    );
    put_transcript(&home, &transcript());
    let harvest = home.harvest();
    // The editor's own has the id of the request.
    assert_eq!(prompts(&harvest), [["tidy up"]]);
    assert_eq!(harvest.sessions[0].turns[0].id, "request_1");
    // Where it says nothing the transcript counts.
    let home = home_with("c1.jsonl", &joined(&[begin(&[])]));
    put_transcript(&home, &transcript());
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["tidy up"]]);
    assert_eq!(harvest.sessions[0].turns[0].id, "e1-user.message");
}

#[test]
fn the_same_session_in_both_forms_counts_once() {
    let home = home_with(
        "c1.jsonl",
        &joined(&[
            begin(&[request(1, "first", SAID)]),
            format!(
                r#"{{"kind":2,"k":["requests"],"v":[{}]}}"#,
                request(2, "second", SAID)
            ),
        ]),
    );
    let older = home
        .folder
        .path()
        .join("vscode/User/workspaceStorage/1f/chatSessions/c1.json");
    write(&older, chat(&[request(1, "first", SAID)]).as_bytes());
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert_eq!(left_out(&harvest, Reason::Copy), 1);
}

#[test]
fn a_session_may_not_grow_without_end() {
    let part = format!(r#"{{"value":"{}"}}"#, "word ".repeat(200_000));
    let mut lines = vec![begin(&[request(1, "first", "")])];
    for _ in 0..20 {
        lines.push(format!(
            r#"{{"kind":2,"k":["requests",0,"response"],"v":[{part}]}}"#
        ));
    }
    lines.push(format!(
        r#"{{"kind":2,"k":["requests"],"v":[{}]}}"#,
        request(2, "second", "")
    ));
    let harvest = read(&lines);
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert!(left_out(&harvest, Reason::BeyondLimit) > 0);
    // The same text written again and again is held once.
    let mut lines = vec![begin(&[request(1, "first", r#"{"value":""}"#)])];
    for _ in 0..40 {
        lines.push(format!(
            r#"{{"kind":1,"k":["requests",0,"response"],"v":[{part}]}}"#
        ));
    }
    let harvest = read(&lines);
    assert_eq!(left_out(&harvest, Reason::BeyondLimit), 0);
}

#[test]
fn chats_of_windows_without_a_folder_belong_to_no_project() {
    let mut home = Home::new();
    let path = "vscode/User/globalStorage/emptyWindowChatSessions/v1.jsonl";
    let line = r#"{"kind":0,"v":{"sessionId":"v1","creationDate":1767607200000,"requests":[{"requestId":"r1","message":{"text":"Write the parser"},"timestamp":1767607260000,"response":[{"value":"Written."}]}]}}"#;
    write(&home.folder.path().join(path), line.as_bytes());
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["Write the parser"]]);
    assert_eq!(harvest.sessions[0].directory, "");
    home = home.project(&["/w/app"], Scope::Project);
    let harvest = home.harvest();
    assert!(harvest.sessions.is_empty());
    assert_eq!(left_out(&harvest, Reason::OtherProject), 1);
}
