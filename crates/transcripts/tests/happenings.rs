//! What happened to an answer, told by the records of each agent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
use skillopt_transcripts::{Author, Harvest};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, answer, call, prompts, typed};

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).";

fn claude(lines: &[String]) -> Harvest {
    let home = Home::new();
    home.claude("s1.jsonl", lines);
    home.harvest()
}

fn codex(lines: &[&str]) -> Harvest {
    let home = Home::new();
    let id = "01a22847-3db6-71d3-9c36-e48a42ef3d0f";
    let mut all = vec![format!(
        r#"{{"timestamp":"2026-01-05T10:00:00Z","type":"session_meta","payload":{{"id":"{id}","cwd":"/w/app","originator":"codex_cli_rs","source":"cli"}}}}"#
    )];
    for (minute, line) in lines.iter().enumerate() {
        all.push(format!(
            r#"{{"timestamp":"2026-01-05T10:{:02}:00Z",{line}}}"#,
            minute + 1
        ));
    }
    home.codex(
        &format!("sessions/2026/01/05/rollout-2026-01-05T10-00-00-{id}.jsonl"),
        &all,
    );
    home.harvest()
}

/// The signals of every human turn of the only session, without those of words.
fn happened(harvest: &Harvest) -> Vec<Vec<&str>> {
    harvest.sessions[0]
        .human_turns()
        .map(|turn| {
            turn.feedback
                .iter()
                .map(String::as_str)
                .filter(|signal| skillopt_core::feedback::Happened::of(signal).is_some())
                .collect()
        })
        .collect()
}

/// The result of a tool, as Claude Code writes it.
fn result(minute: u32, extra: &str, failed: bool, content: &str) -> String {
    let content = serde_json::to_string(content).unwrap();
    format!(
        r#"{{"parentUuid":"c{minute}","isSidechain":false,"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","content":{content},"is_error":{failed},"tool_use_id":"t"}}]}},"uuid":"r{minute}","timestamp":"2026-01-05T10:{minute:02}:20.000Z"{extra},"cwd":"/w/app","sessionId":"s","version":"2.1.205"}}"#
    )
}

fn write(minute: u32) -> String {
    call(minute, "Write", r#"{"file_path":"/w/app/a.rs"}"#)
}

#[test]
fn a_refused_call_marks_the_turn_and_its_words_are_a_turn() {
    let said = format!(
        "{REFUSED} To tell you how to proceed, the user said:\nuse git mv\n\nNote: The user's next message may contain a correction or preference."
    );
    for extra in [
        r#","toolUseResult":"User rejected tool use""#,
        r#","toolDenialKind":"user-rejected""#,
    ] {
        let harvest = claude(&[
            typed(1, "Rename the file"),
            write(1),
            result(1, extra, true, &said),
            answer(2, "Moved it."),
        ]);
        assert_eq!(prompts(&harvest), [["Rename the file", "use git mv"]]);
        assert_eq!(happened(&harvest), [vec!["neg:tool_rejected"], vec![]]);
        assert_eq!(harvest.sessions[0].turns[3].text, "Moved it.");
    }
    // Without words, or with words of the program, it only marks the turn.
    for content in [
        format!(
            "{REFUSED} STOP what you are doing and wait for the user to tell you how to proceed."
        ),
        format!(
            "{REFUSED} To tell you how to proceed, the user said:\nThe user wants to clarify these questions."
        ),
    ] {
        let harvest = claude(&[
            typed(1, "Rename the file"),
            write(1),
            result(1, "", true, &content),
            answer(2, "What then?"),
            typed(3, "Leave it"),
            answer(3, "Left."),
        ]);
        assert_eq!(prompts(&harvest), [["Rename the file", "Leave it"]]);
        assert_eq!(happened(&harvest), [vec!["neg:tool_rejected"], vec![]]);
    }
}

#[test]
fn what_only_looks_like_a_refusal_marks_nothing() {
    for (extra, failed, content) in [
        // A file or a command whose text holds the sentence.
        ("", false, REFUSED.to_owned()),
        ("", true, format!("Exit code 1\n{REFUSED}")),
        // Something else than the person denied the call.
        (
            r#","toolDenialKind":"interrupted""#,
            true,
            REFUSED.to_owned(),
        ),
    ] {
        let harvest = claude(&[
            typed(1, "Search for it"),
            write(1),
            result(1, extra, failed, &content),
            answer(2, "Found."),
        ]);
        assert_eq!(happened(&harvest), [vec![""; 0]], "{content}");
    }
}

#[test]
fn a_request_sent_again_in_its_own_place_takes_back_what_came_of_it() {
    let after = |line: String, parent: &str| {
        line.replace(
            r#""parentUuid":null"#,
            &format!(r#""parentUuid":"{parent}""#),
        )
    };
    let harvest = claude(&[
        typed(1, "Write the parser"),
        answer(1, "Written."),
        after(typed(2, "Write the tests"), "a1"),
        answer(2, "Written."),
        after(typed(3, "And the docs"), "a2"),
        answer(3, "Written."),
        // Back to the second request, edited.
        after(typed(4, "Write the tests without mocks"), "a1"),
        answer(4, "Written."),
        after(typed(5, "Good"), "a4"),
        answer(5, "Thanks."),
    ]);
    assert_eq!(
        happened(&harvest),
        [
            vec![],
            vec!["neg:resent"],
            vec!["neg:undone"],
            vec![],
            vec![]
        ]
    );
}

#[test]
fn a_commit_keeps_the_last_turn_that_changed_something() {
    let commit = |minute| {
        call(
            minute,
            "Bash",
            r#"{"command":"git add -A && git commit -m x"}"#,
        )
    };
    let harvest = claude(&[
        typed(1, "Write the parser"),
        write(1),
        answer(1, "Written."),
        typed(2, "What does it do?"),
        answer(2, "It parses."),
        typed(3, "Commit"),
        commit(3),
        result(3, "", false, "[main 1f2e3d4] x"),
        answer(3, "Committed."),
    ]);
    assert_eq!(happened(&harvest), [vec!["pos:committed"], vec![], vec![]]);
    let harvest = claude(&[
        typed(3, "Commit"),
        commit(3),
        result(3, "", false, "[main 1f2e3d4] x"),
        answer(3, "Committed."),
    ]);
    assert_eq!(happened(&harvest), [vec![""; 0]]);
    // Of a commit whose result is not there nobody knows.
    let harvest = claude(&[typed(1, "Write the parser"), write(1), commit(1)]);
    assert_eq!(happened(&harvest), [["neg:abandoned"]]);
}

#[test]
fn a_session_left_without_a_result_is_abandoned() {
    let interruption = r#"{"type":"user","uuid":"i","timestamp":"2026-01-05T10:09:00Z","cwd":"/w/app","interruptedMessageId":"m","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#;
    let harvest = claude(&[
        typed(1, "Write the parser"),
        answer(1, "I begin."),
        interruption.to_owned(),
    ]);
    assert_eq!(happened(&harvest), [["neg:interrupted", "neg:abandoned"]]);
    // It worked, and never came to an answer.
    let harvest = claude(&[typed(1, "Write the parser"), write(1)]);
    assert_eq!(happened(&harvest), [["neg:abandoned"]]);
    // The person went on, or nothing was done yet.
    for lines in [
        vec![
            typed(1, "Write the parser"),
            interruption.to_owned(),
            typed(10, "In Rust"),
            answer(10, "Written."),
        ],
        vec![typed(1, "Write the parser")],
    ] {
        let harvest = claude(&lines);
        let abandoned = happened(&harvest)
            .iter()
            .flatten()
            .any(|signal| *signal == "neg:abandoned");
        assert!(!abandoned, "{lines:?}");
    }
}

const SAID: [&str; 3] = [
    r#""type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"i1","content":[{"type":"text","text":"Write the parser"}]}}"#,
    r#""type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"i2","content":[{"type":"text","text":"Write the tests"}]}}"#,
    r#""type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"i3","content":[{"type":"text","text":"And the docs"}]}}"#,
];
const ANSWERED: &str = r#""type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"x","content":[{"type":"text","text":"Done."}]}}"#;
const PATCHED: &str = r#""type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a.rs\n","call_id":"c"}"#;

#[test]
fn codex_takes_turns_back() {
    let rolled_back = |turns: &str| {
        format!(
            r#""type":"event_msg","payload":{{"type":"thread_rolled_back","num_turns":{turns}}}"#
        )
    };
    let talk = [SAID[0], ANSWERED, SAID[1], ANSWERED];
    for (turns, expected) in [
        ("1", [vec![], vec!["neg:undone"]]),
        ("2", [vec!["neg:undone"], vec!["neg:undone"]]),
        ("99999999999999999999", [vec![], vec![]]),
        ("-1", [vec![], vec![]]),
        ("\"1\"", [vec![], vec![]]),
    ] {
        let record = rolled_back(turns);
        let harvest = codex(&[&talk[..], &[&record]].concat());
        assert_eq!(happened(&harvest), expected, "{turns}");
    }
    // Twice in a row takes back two turns, and what comes later stands.
    let one = rolled_back("1");
    let harvest = codex(&[&talk[..], &[&one, &one, SAID[2], ANSWERED]].concat());
    assert_eq!(
        happened(&harvest),
        [vec!["neg:undone"], vec!["neg:undone"], vec![]]
    );
    for (success, expected) in [("true", vec!["neg:undone"]), ("false", vec![])] {
        let undo = format!(
            r#""type":"event_msg","payload":{{"type":"undo_completed","success":{success},"message":"m"}}"#
        );
        let harvest = codex(&[SAID[0], ANSWERED, &undo]);
        assert_eq!(happened(&harvest), [expected]);
    }
}

#[test]
fn codex_refusals_and_commits() {
    for (record, refused) in [
        (
            r#""type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"exec command rejected by user"}"#,
            true,
        ),
        (
            r#""type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c","status":"declined"}}"#,
            true,
        ),
        (
            r#""type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"c","status":"declined","changes":{}}}"#,
            true,
        ),
        (
            r#""type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"grep: the patch was rejected by user x"}"#,
            false,
        ),
        (
            r#""type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c","status":"completed","output":"declined"}}"#,
            false,
        ),
    ] {
        let harvest = codex(&[SAID[0], record, ANSWERED, SAID[1], ANSWERED]);
        let expected = if refused {
            vec!["neg:tool_rejected"]
        } else {
            vec![]
        };
        assert_eq!(happened(&harvest), [expected, vec![]], "{record}");
    }
    let commit = r#""type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"git commit -am x\"}","call_id":"d"}"#;
    for (output, kept) in [
        (
            r"Wall time: 0.0 seconds\nProcess exited with code 0\nOutput:\nx",
            true,
        ),
        (
            r"Wall time: 0.0 seconds\nProcess exited with code 1\nOutput:\nx",
            false,
        ),
        // What the command printed is not what is said of it.
        (
            r"Wall time: 0.0 seconds\nOutput:\nProcess exited with code 0",
            false,
        ),
        (r"Exit code: 0\nWall time: 0.1 seconds\nOutput:\nx", true),
        (r#"{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"#, true),
        (
            r#"{\"output\":\"x\",\"metadata\":{\"exit_code\":128}}"#,
            false,
        ),
        (r#"{\"output\":\"x\"}"#, false),
        ("", false),
    ] {
        let output = format!(
            r#""type":"response_item","payload":{{"type":"function_call_output","call_id":"d","output":"{output}"}}"#
        );
        let harvest = codex(&[
            SAID[0], PATCHED, ANSWERED, SAID[1], commit, &output, ANSWERED,
        ]);
        let expected = if kept { vec!["pos:committed"] } else { vec![] };
        assert_eq!(happened(&harvest), [expected, vec![]], "{output}");
    }
    // Other records of the same command.
    for ended in [
        r#""type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"d","status":"completed","exit_code":0}}"#,
        r#""type":"event_msg","payload":{"type":"exec_command_end","call_id":"d","exit_code":0}"#,
    ] {
        let harvest = codex(&[SAID[0], PATCHED, ANSWERED, SAID[1], commit, ended, ANSWERED]);
        assert_eq!(
            happened(&harvest),
            [vec!["pos:committed"], vec![]],
            "{ended}"
        );
    }
}

#[test]
fn turns_know_their_branch_and_their_skills() {
    let harvest = claude(&[
        typed(1, "Write the notes"),
        call(1, "Skill", r#"{"skill":"release-notes"}"#),
        answer(1, "Written."),
        typed(2, "And the tests").replace(r#""gitBranch":"main""#, r#""gitBranch":"tests""#),
        answer(2, "Written.").replace(r#""gitBranch":"main""#, r#""gitBranch":"tests""#),
    ]);
    let turns: Vec<(Author, &str, usize)> = harvest.sessions[0]
        .turns
        .iter()
        .map(|turn| (turn.author, turn.branch.as_str(), turn.skills.len()))
        .collect();
    assert_eq!(
        turns,
        [
            (Author::Human, "main", 1),
            (Author::Assistant, "main", 1),
            (Author::Human, "tests", 0),
            (Author::Assistant, "tests", 0),
        ]
    );
}
