//! Records of Pi, written by hand after §3.8 and the format's own page: trees, edits, compaction,
//! failed turns, older versions. Real sessions of two versions are in `ground_truth.rs`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use skillopt_core::agent::Agent;
use skillopt_transcripts::{Author, Harvest, Reason};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, joined, prompts, skipped, words, write};

const FILE: &str = "2026-01-05T10-00-00-000Z_0199.jsonl";
const HEADER: &str = r#"{"type":"session","version":3,"id":"0199","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/w/app"}"#;

/// An entry: `body` holds the fields beside id, parent and time. `minute` makes its time.
fn entry(minute: u32, id: &str, parent: Option<&str>, body: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"id":"{id}","parentId":{parent},"timestamp":"2026-01-05T10:{minute:02}:00.000Z",{body}}}"#
    )
}

fn user(minute: u32, id: &str, parent: Option<&str>, words: &str) -> String {
    let words = serde_json::to_string(words).unwrap();
    let body = format!(
        r#""type":"message","message":{{"role":"user","content":[{{"type":"text","text":{words}}}]}}"#
    );
    entry(minute, id, parent, &body)
}

fn agent(minute: u32, id: &str, parent: &str, words: &str, stop: &str) -> String {
    let body = format!(
        r#""type":"message","message":{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm"}},{{"type":"text","text":"{words}"}}],"stopReason":"{stop}"}}"#
    );
    entry(minute, id, Some(parent), &body)
}

fn call(minute: u32, id: &str, parent: &str, tool: &str, arguments: &str) -> String {
    let body = format!(
        r#""type":"message","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"t","name":"{tool}","arguments":{arguments}}}],"stopReason":"toolUse"}}"#
    );
    entry(minute, id, Some(parent), &body)
}

fn session(home: &Home, file: &str, lines: &[impl AsRef<[u8]>]) {
    let path = home.folder.path().join("pi/sessions/--w-app--").join(file);
    write(&path, &joined(lines));
}

fn read(lines: &[impl AsRef<[u8]>]) -> Harvest {
    let home = Home::new();
    session(&home, FILE, lines);
    home.harvest()
}

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Pi, reason)
}

/// The agent's answers of the only session.
fn answers(harvest: &Harvest) -> Vec<&str> {
    let [session] = harvest.sessions.as_slice() else {
        panic!("{} sessions", harvest.sessions.len());
    };
    session
        .turns
        .iter()
        .filter(|turn| turn.author == Author::Assistant)
        .map(|turn| turn.text.as_str())
        .collect()
}

/// The requests that were edited and sent again.
fn resent(harvest: &Harvest) -> Vec<&str> {
    harvest.sessions[0]
        .human_turns()
        .filter(|turn| turn.feedback.iter().any(|signal| signal == "neg:resent"))
        .map(|turn| turn.text.as_str())
        .collect()
}

#[test]
fn the_branch_of_the_last_entry_counts_with_the_requests_that_were_sent_again_on_it() {
    let lines = [
        HEADER.to_owned(),
        user(1, "a", None, "write a parser"),
        agent(2, "b", "a", "with a table", "stop"),
        user(3, "c", Some("b"), "no, by hand"),
        agent(4, "d", "c", "by hand", "stop"),
        // Back to the first answer, and on another way.
        user(5, "e", Some("b"), "with fewer tables"),
        agent(6, "f", "e", "one table", "stop"),
    ];
    let harvest = read(&lines);
    assert_eq!(
        prompts(&harvest),
        [["write a parser", "no, by hand", "with fewer tables"]]
    );
    assert_eq!(answers(&harvest), ["with a table", "by hand", "one table"]);
    assert_eq!(resent(&harvest), ["no, by hand"]);
    assert_eq!(left_out(&harvest, Reason::AbandonedBranch), 0);

    // And back to the branch that was left.
    let mut lines = lines.to_vec();
    lines.push(user(7, "g", Some("d"), "go on by hand"));
    let harvest = read(&lines);
    assert_eq!(
        prompts(&harvest),
        [["write a parser", "no, by hand", "go on by hand"]]
    );
    assert_eq!(answers(&harvest), ["with a table", "by hand"]);
    // What was tried in between was left, not sent again.
    assert!(resent(&harvest).is_empty());
    assert_eq!(left_out(&harvest, Reason::AbandonedBranch), 1);

    // And to before the first entry.
    lines.push(user(8, "h", None, "start over"));
    let harvest = read(&lines);
    // All that was said meanwhile is taken back with the first request.
    let undone: Vec<&str> = harvest.sessions[0]
        .human_turns()
        .filter(|turn| turn.feedback.iter().any(|signal| signal == "neg:undone"))
        .map(|turn| turn.text.as_str())
        .collect();
    assert_eq!(
        undone,
        ["no, by hand", "with fewer tables", "go on by hand"]
    );
    assert_eq!(words(&harvest.sessions[0]).first(), Some(&"write a parser"));
    assert_eq!(words(&harvest.sessions[0]).last(), Some(&"start over"));
    assert_eq!(answers(&harvest), ["with a table", "by hand", "one table"]);
    assert_eq!(resent(&harvest), ["write a parser"]);
    assert_eq!(left_out(&harvest, Reason::AbandonedBranch), 0);
}

#[test]
fn a_branch_in_the_middle_of_an_answer_keeps_what_was_said_until_then() {
    let harvest = read(&[
        HEADER.to_owned(),
        user(1, "a", None, "fix it all"),
        call(2, "b", "a", "bash", r#"{"command":"make"}"#),
        agent(3, "c", "b", "it builds", "stop"),
        call(4, "d", "c", "write", r#"{"path":"src/lib.rs"}"#),
        agent(5, "e", "d", "rewritten", "stop"),
        entry(
            6,
            "f",
            Some("c"),
            r#""type":"branch_summary","fromId":"e","summary":"It was rewritten.""#,
        ),
        user(7, "g", Some("f"), "leave it so"),
    ]);
    assert_eq!(prompts(&harvest), [["fix it all", "leave it so"]]);
    assert_eq!(answers(&harvest), ["it builds"]);
    assert_eq!(harvest.sessions[0].tools, ["bash"]);
    assert!(harvest.sessions[0].files.is_empty());
    assert_eq!(left_out(&harvest, Reason::Compaction), 1);
}

#[test]
fn a_compacted_session_keeps_every_prompt() {
    let harvest = read(&[
        HEADER.to_owned(),
        user(1, "a", None, "first"),
        agent(2, "b", "a", "one", "stop"),
        entry(
            3,
            "c",
            Some("b"),
            r#""type":"compaction","summary":"The user said first.","firstKeptEntryId":"b","tokensBefore":50000"#,
        ),
        user(4, "d", Some("c"), "second"),
        entry(
            5,
            "e",
            Some("d"),
            r#""type":"message","message":{"role":"compactionSummary","summary":"x","content":"The user said things."}"#,
        ),
    ]);
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert_eq!(left_out(&harvest, Reason::Compaction), 2);
    assert!(harvest.unknown.is_empty(), "{:?}", harvest.unknown);
}

#[test]
fn failed_turns_are_no_answers_and_aborted_ones_are_complaints() {
    let harvest = read(&[
        HEADER.to_owned(),
        user(1, "a", None, "first"),
        agent(2, "b", "a", "half an ans", "error"),
        user(3, "c", Some("b"), "second"),
        agent(4, "d", "c", "as far as I", "aborted"),
    ]);
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert_eq!(answers(&harvest), ["as far as I"]);
    assert_eq!(left_out(&harvest, Reason::ApiError), 1);
    let human: Vec<_> = harvest.sessions[0].human_turns().collect();
    assert!(!human[0].interrupted && human[1].interrupted);
    // Nothing came after it.
    assert_eq!(human[1].feedback, ["neg:interrupted", "neg:abandoned"]);
}

#[test]
fn edits_of_the_context_change_answers_and_no_prompts() {
    let edit = |id, parent, target, replacement: &str| {
        let body = format!(r#""type":"context_edit","targetId":"{target}"{replacement}"#);
        entry(9, id, Some(parent), &body)
    };
    let lines = [
        HEADER.to_owned(),
        user(1, "a", None, "first"),
        agent(2, "b", "a", "an overflow", "stop"),
        edit("c", "b", "b", ""),
        edit("d", "c", "a", ""),
        user(3, "e", Some("d"), "second"),
        agent(4, "f", "e", "long", "stop"),
        edit(
            "g",
            "f",
            "f",
            r#","replacement":{"role":"assistant","content":[{"type":"text","text":"short"}]}"#,
        ),
    ];
    let harvest = read(&lines);
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert_eq!(answers(&harvest), ["short"]);
    // An edit on a branch that was left changes nothing.
    let mut lines = lines.to_vec();
    lines.push(user(10, "h", Some("f"), "third"));
    assert_eq!(answers(&read(&lines)), ["long"]);
}

#[test]
fn what_no_person_typed_is_left_out() {
    let message = |id, parent, body: &str| {
        entry(
            3,
            id,
            Some(parent),
            &format!(r#""type":"message","message":{body}"#),
        )
    };
    let harvest = read(&[
        HEADER.to_owned(),
        user(1, "a", None, "ask"),
        message(
            "b",
            "a",
            r#"{"role":"custom","customType":"x","content":"injected"}"#,
        ),
        entry(
            2,
            "c",
            Some("b"),
            r#""type":"custom_message","customType":"x","content":"injected","display":false"#,
        ),
        message("d", "c", r#"{"role":"hookMessage","content":"injected"}"#),
        message(
            "e",
            "d",
            r#"{"role":"bashExecution","command":"ls","output":"a","exitCode":0}"#,
        ),
        message(
            "f",
            "e",
            r#"{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"no,"}]}"#,
        ),
        message("g", "f", r#"{"role":"oracle","content":"x"}"#),
        entry(
            4,
            "h",
            Some("g"),
            r#""type":"label","targetId":"a","label":"here""#,
        ),
        entry(5, "i", Some("h"), r#""type":"vision","x":1"#),
        message(
            "j",
            "i",
            r#"{"role":"user","content":[{"type":"image","data":"aaaa","mimeType":"image/png"}]}"#,
        ),
        user(6, "k", Some("j"), "/model x"),
        agent(7, "l", "k", "answer", "stop"),
    ]);
    assert_eq!(prompts(&harvest), [["ask"]]);
    for (reason, expected) in [
        (Reason::Meta, 3),
        (Reason::LocalCommand, 1),
        (Reason::ToolResult, 1),
        (Reason::UnknownType, 2),
        (Reason::Wordless, 1),
        (Reason::SlashCommand, 1),
        // The header and the label.
        (Reason::Bookkeeping, 2),
    ] {
        assert_eq!(left_out(&harvest, reason), expected, "{reason:?}");
    }
    let unknown: Vec<String> = harvest
        .unknown
        .keys()
        .map(|record| record.name.clone())
        .collect();
    assert_eq!(unknown, ["message/oracle", "vision"]);
}

#[test]
fn skills_are_read_or_called() {
    let harvest = read(&[
        HEADER.to_owned(),
        user(
            1,
            "a",
            None,
            "<skill name=\"release-notes\" location=\"/s/SKILL.md\">\nReferences are relative to /s.\n\n# Rules\n</skill>\n\nfor v1.2",
        ),
        call(2, "b", "a", "read", r#"{"path":"/h/skills/tone/SKILL.md"}"#),
        call(3, "c", "b", "edit", r#"{"path":"NOTES.md","edits":[]}"#),
        // Without words behind it nobody typed anything.
        user(
            4,
            "d",
            Some("c"),
            "<skill name=\"check\" location=\"/c/SKILL.md\">\n# Rules\n</skill>",
        ),
        call(5, "e", "d", "bash", r#"{"command":"true"}"#),
    ]);
    assert_eq!(prompts(&harvest), [["for v1.2"]]);
    let session = &harvest.sessions[0];
    assert_eq!(session.skills, ["release-notes", "tone", "check"]);
    assert_eq!(session.files, ["/w/app/NOTES.md"]);
    assert_eq!(session.turns[0].tools, ["read", "edit"]);
    assert_eq!(left_out(&harvest, Reason::SlashCommand), 1);
}

#[test]
fn the_first_version_had_no_tree() {
    let harvest = read(&[
        r#"{"type":"session","id":"0199","timestamp":"2025-11-05T10:00:00.000Z","cwd":"/w/app"}"#,
        r#"{"type":"message","timestamp":"2025-11-05T10:01:00.000Z","message":{"role":"user","content":"first"}}"#,
        r#"{"type":"message","timestamp":"2025-11-05T10:02:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"one"}]}}"#,
        r#"{"type":"compaction","timestamp":"2025-11-05T10:02:30.000Z","summary":"x","firstKeptEntryIndex":1}"#,
        r#"{"type":"message","timestamp":"2025-11-05T10:03:00.000Z","message":{"role":"user","content":"second"}}"#,
    ]);
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert_eq!(answers(&harvest), ["one"]);
    assert_eq!(harvest.sessions[0].id, "2026-01-05T10-00-00-000Z_0199");
    assert_eq!(harvest.sessions[0].directory, "/w/app");
}

#[test]
fn a_fork_owns_only_what_is_new_in_it() {
    let home = Home::new();
    let past = [
        user(1, "a", None, "first"),
        agent(2, "b", "a", "one", "stop"),
    ];
    let [first, second] = past.clone();
    session(
        &home,
        FILE,
        &[
            HEADER.to_owned(),
            first,
            second,
            user(3, "c", Some("b"), "second"),
        ],
    );
    let fork = HEADER.replace("10:00:00", "11:00:00").replace(
        "\"cwd\"",
        r#""parentSession":"/home/dana/.pi/agent/sessions/--w-app--/2026-01-05T10-00-00-000Z_0199.jsonl","cwd""#,
    );
    let [first, second] = past;
    session(
        &home,
        "2026-01-05T11-00-00-000Z_0200.jsonl",
        &[fork, first, second, user(50, "d", Some("b"), "third")],
    );
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [vec!["third"], vec!["first", "second"]]);
    assert_eq!(left_out(&harvest, Reason::Copy), 1);
    // The same short id in an unrelated session is another message.
    session(
        &home,
        "2026-01-06T10-00-00-000Z_0300.jsonl",
        &[HEADER.to_owned(), user(30, "a", None, "unrelated")],
    );
    assert_eq!(home.harvest().sessions.len(), 3);
}

#[test]
fn damage_costs_only_itself() {
    let harvest = read(&[
        HEADER.to_owned(),
        user(1, "a", None, "first"),
        // The answer between is lost: what followed it follows the line before.
        r#"{"type":"message","id":"b","parentId":"a","#.to_owned(),
        user(3, "c", Some("b"), "second"),
        user(4, "c", Some("b"), "the same id again"),
        r#"{"type":"message","id":"d","parentId":"c","timestamp":7,"message":[]}"#.to_owned(),
        user(5, "e", Some("d"), "third"),
        // Its own parent, and a parent that comes later.
        user(6, "f", Some("f"), "fourth"),
        user(7, "g", Some("h"), "fifth"),
        user(8, "h", Some("g"), "sixth"),
    ]);
    assert_eq!(
        prompts(&harvest),
        [["first", "second", "third", "fourth", "fifth", "sixth"]]
    );
    assert_eq!(left_out(&harvest, Reason::Malformed), 2);
    assert_eq!(left_out(&harvest, Reason::Copy), 1);
}

#[test]
fn secrets_and_private_words_do_not_pass() {
    let key = format!("sk-proj-{}", "A1b2C3d4".repeat(5));
    let harvest = read(&[
        HEADER.to_owned(),
        user(
            1,
            "a",
            None,
            &format!("use {key} <private>at home</private>"),
        ),
        agent(
            2,
            "b",
            "a",
            &format!("{} {key}", "x ".repeat(40_000)),
            "stop",
        ),
    ]);
    let text = serde_json::to_string(&harvest.sessions[0].digest()).unwrap();
    assert!(
        !text.contains("sk-proj-A1b2") && !text.contains("at home"),
        "{text}"
    );
    assert_eq!(prompts(&harvest), [["use [REDACTED_OPENAI_KEY]"]]);
}

#[test]
fn a_home_may_itself_be_the_folder_of_the_sessions() {
    let mut home = Home::new();
    let folder = home.folder.path().join("kept");
    let lines = [HEADER.to_owned(), user(1, "a", None, "write a parser")];
    // As Pi writes into a folder it was given, and as into its own.
    write(&folder.join(FILE), &joined(&lines));
    let other = lines.map(|line| {
        line.replace("write a parser", "write the tests")
            .replace("\"a\"", "\"b\"")
    });
    write(
        &folder.join("--w-app--/2026-01-06T10-00-00-000Z_0200.jsonl"),
        &joined(&other),
    );
    home.request.homes = [(Agent::Pi, vec![folder])].into_iter().collect();
    home.request.agents = vec![Agent::Pi];
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["write a parser"], ["write the tests"]]);
    // A home in which nothing was written yet is no such folder.
    let empty = home.folder.path().join("agent");
    write(&empty.join("auth.json"), b"{}");
    home.request.homes = [(Agent::Pi, vec![empty.clone()])].into_iter().collect();
    assert_eq!(home.harvest().looked[0].folder, empty.join("sessions"));
}
