//! Records of Cursor's agent transcripts, written by hand after §3.6 and §15.4 of the reference: there
//! is no real sample.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use skillopt_core::agent::Agent;
use skillopt_transcripts::{Author, Harvest, Reason};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, answers, joined, prompts, skipped, write};

fn user(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(r#"{{"role":"user","message":{{"content":[{{"type":"text","text":{text}}}]}}}}"#)
}

fn typed(words: &str) -> String {
    user(&format!("<user_query>\n{words}\n</user_query>"))
}

fn agent(content: &str) -> String {
    format!(r#"{{"role":"assistant","message":{{"content":[{content}]}}}}"#)
}

fn said(words: &str) -> String {
    agent(&format!(r#"{{"type":"text","text":"{words}"}}"#))
}

fn session(home: &Home, path: &str, lines: &[impl AsRef<[u8]>]) {
    let workspace = home.folder.path().join("cursor/projects/w-app");
    write(
        &workspace.join(".workspace-trusted"),
        br#"{"trustedAt":"2026-01-05T10:00:00.000Z","workspacePath":"/w/app"}"#,
    );
    write(
        &workspace.join("agent-transcripts").join(path),
        &joined(lines),
    );
}

fn read(lines: &[impl AsRef<[u8]>]) -> Harvest {
    let home = Home::new();
    session(&home, "1f/1f.jsonl", lines);
    home.harvest()
}

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Cursor, reason)
}

#[test]
fn the_example_of_the_reference() {
    let harvest = read(&[
        r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>fix it please</user_query>"}]}}"#,
        r#"{"type":"turn_ended","status":"error"}"#,
    ]);
    assert_eq!(prompts(&harvest), [["fix it please"]]);
    let session = &harvest.sessions[0];
    assert_eq!(
        (session.id.as_str(), session.directory.as_str()),
        ("1f", "/w/app")
    );
    assert_eq!(left_out(&harvest, Reason::ApiError), 1);
    // A failed turn is no complaint of the person; only the words are one.
    assert_eq!(session.turns[0].feedback, ["neg:fix it"]);
}

#[test]
fn only_the_words_in_the_query_were_typed() {
    let harvest = read(&[
        user("<open_files>\na.rs\n</open_files>\n<user_query>\nwhy?\n</user_query>\n"),
        said("Because."),
        user("plain words"),
        user("<system_reminder>x</system_reminder>"),
        typed("/model"),
        user(r"words about <user_query> in a text"),
        r#"{"role":"user","message":{"content":"<user_query>a string</user_query>"}}"#.to_owned(),
    ]);
    assert_eq!(
        prompts(&harvest),
        [[
            "why?",
            "plain words",
            "words about <user_query> in a text",
            "a string"
        ]]
    );
    assert_eq!(left_out(&harvest, Reason::Meta), 1);
    assert_eq!(left_out(&harvest, Reason::SlashCommand), 1);
}

#[test]
fn what_stands_behind_the_query_was_not_typed() {
    let harvest = read(&[
        user("<user_query>\nwhy?\n</user_query>\n<context>\nmuch of it\n</context>"),
        said("Because."),
        user("say <user_query>x</user_query> in the docs"),
    ]);
    assert_eq!(
        prompts(&harvest),
        [["why?", "say <user_query>x</user_query> in the docs"]]
    );
}

#[test]
fn a_turn_has_the_time_it_was_sent_at() {
    let sent = |stamp: &str, words: &str| {
        user(&format!(
            "<timestamp>{stamp}</timestamp>\n<user_query>\n{words}\n</user_query>"
        ))
    };
    let harvest = read(&[
        sent("Tuesday, Jul 21, 2026, 1:11 PM (UTC+3)", "one"),
        said("Done."),
        sent("Wednesday, Jul 22, 2026, 12:05 AM (UTC-4)", "two"),
        sent("Wednesday, Jul 22, 2026, 9:30 PM (UTC+5:30)", "three"),
        sent("Thursday, Jul 23, 2026, 10:00 AM (UTC)", "four"),
        user("<timestamp>Thursday, Jul 23, 2026, 10:01 AM (UTC)</timestamp>\nfive"),
    ]);
    let times = |author: Author| -> Vec<String> {
        let turns = harvest.sessions[0].turns.iter();
        turns
            .filter(|turn| turn.author == author)
            .map(|turn| turn.at.unwrap().to_string())
            .collect()
    };
    assert_eq!(prompts(&harvest), [["one", "two", "three", "four", "five"]]);
    assert_eq!(
        times(Author::Human),
        [
            "2026-07-21T10:11:00Z",
            "2026-07-22T04:05:00Z",
            "2026-07-22T16:00:00Z",
            "2026-07-23T10:00:00Z",
            "2026-07-23T10:01:00Z"
        ]
    );
    // An answer has no time of its own.
    assert_eq!(times(Author::Assistant), ["2026-07-21T10:11:00Z"]);
    // Where no instant can be read it is that of the file, and the words are the same.
    for stamp in [
        "Tuesday, Jul 21, 2026",
        "",
        "Tuesday, Jul 99, 2026, 1:11 PM (UTC+3)",
    ] {
        let harvest = read(&[sent(stamp, "one")]);
        assert_eq!(prompts(&harvest), [["one"]], "{stamp}");
        assert_ne!(
            harvest.sessions[0].turns[0].at.unwrap().to_string(),
            "2026-07-21T10:11:00Z"
        );
    }
}

#[test]
fn what_stands_for_thoughts_is_no_answer() {
    let harvest = read(&[
        typed("why?"),
        said(r"Because.\n\n[REDACTED]"),
        said("[REDACTED]"),
        typed("which word?"),
        said("The token is [REDACTED]"),
    ]);
    assert_eq!(
        answers(&harvest.sessions[0]),
        ["Because.", "The token is [REDACTED]"]
    );
}

#[test]
fn what_a_command_sets_off_answers_no_prompt() {
    let harvest = read(&[
        typed("why?"),
        said("Because."),
        typed("/model"),
        said("It is another one now."),
        typed("and now?"),
    ]);
    assert_eq!(answers(&harvest.sessions[0]), ["Because."]);
}

#[test]
fn a_session_without_times_was_not_a_quick_one() {
    // With a second sign, as that it took less than three seconds, such headings are an optimizer's.
    let harvest = read(&[typed("## TASK\nRename the flag"), said("Renamed.")]);
    assert_eq!(prompts(&harvest), [["## TASK\nRename the flag"]]);
}

#[test]
fn tools_files_and_skills() {
    let call = |name: &str, input: &str| {
        format!(r#"{{"type":"tool_use","name":"{name}","input":{input}}}"#)
    };
    let harvest = read(&[
        typed("tidy up"),
        agent(&format!(
            r#"{{"type":"text","text":"I look."}},{}"#,
            call("Read", r#"{"path":"/w/app/.cursor/skills/tone/SKILL.md"}"#)
        )),
        r#"{"role":"user","message":{"content":[{"type":"tool_result","content":"no,"}]}}"#
            .to_owned(),
        agent(&call("StrReplace", r#"{"path":"src/a.rs"}"#)),
        agent(&call("Shell", r#"{"command":"make"}"#)),
        said("Tidy."),
    ]);
    let session = &harvest.sessions[0];
    assert_eq!(prompts(&harvest), [["tidy up"]]);
    assert_eq!(session.tools, ["Read", "StrReplace", "Shell"]);
    assert_eq!(session.skills, ["tone"]);
    assert_eq!(session.files, ["/w/app/src/a.rs"]);
    assert_eq!(session.turns[1].author, Author::Assistant);
    assert_eq!(session.turns[1].text, "Tidy.");
    assert_eq!(left_out(&harvest, Reason::ToolResult), 1);
}

#[test]
fn a_sessions_time_is_that_of_its_file() {
    let home = Home::new();
    session(&home, "1f/1f.jsonl", &[typed("now")]);
    let written = std::fs::metadata(
        home.folder
            .path()
            .join("cursor/projects/w-app/agent-transcripts/1f/1f.jsonl"),
    )
    .unwrap()
    .modified()
    .unwrap();
    let millis = written
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    let ended = home.harvest().sessions[0].ended.unwrap();
    assert_eq!(u128::try_from(ended.as_millisecond()).unwrap(), millis);
}

#[test]
fn sub_agents_and_other_files_are_left_out() {
    let home = Home::new();
    session(&home, "1f/1f.jsonl", &[typed("a person")]);
    session(&home, "2f.jsonl", &[typed("an older place")]);
    session(&home, "1f/subagents/3f.jsonl", &[typed("a sub-agent")]);
    session(
        &home,
        "1f/subagents/deep/4f.jsonl",
        &[typed("a sub-agent's")],
    );
    let harvest = home.harvest();
    let mut found: Vec<&str> = prompts(&harvest).concat();
    found.sort_unstable();
    assert_eq!(found, ["a person", "an older place"]);
    assert_eq!(left_out(&harvest, Reason::SubagentFile), 1);
}

#[test]
fn calls_of_the_reference_are_no_sessions() {
    let harvest = read(&[
        user("<skillopt_sleep_internal_replay_v1>\ndo it"),
        said("done"),
    ]);
    assert!(harvest.sessions.is_empty());
    assert_eq!(left_out(&harvest, Reason::EngineCall), 1);
}

#[test]
fn unknown_records_are_named() {
    let harvest = read(&[
        typed("hello"),
        r#"{"type":"turn_started"}"#.to_owned(),
        r#"{"role":"oracle","message":{"content":"x"}}"#.to_owned(),
        r#"{"role":"user"}"#.to_owned(),
        r#"{"type":"turn_ended","status":"success"}"#.to_owned(),
    ]);
    assert_eq!(prompts(&harvest), [["hello"]]);
    let unknown: Vec<String> = harvest
        .unknown
        .keys()
        .map(|record| record.name.clone())
        .collect();
    assert_eq!(unknown, ["role/oracle", "turn_started"]);
    assert_eq!(left_out(&harvest, Reason::Malformed), 1);
}
