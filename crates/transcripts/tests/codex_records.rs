//! What each record of Codex becomes, and what is left out for which reason.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Reason, Scope};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, answers, prompts, skipped};

const THREAD: &str = "01a22847-3db6-71d3-9c36-e48a42ef3d0f";

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Codex, reason)
}

fn record(minute: u32, kind: &str, payload: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-01-05T10:{minute:02}:00.000Z","type":"{kind}","payload":{payload}}}"#
    )
}

fn meta(id: &str, extra: &str) -> String {
    record(
        0,
        "session_meta",
        &format!(
            r#"{{"id":"{id}","timestamp":"2026-01-05T10:00:00Z","cwd":"/w/app","originator":"codex_cli_rs","source":"cli"{extra},"git":{{"branch":"main"}}}}"#
        ),
    )
}

fn event(minute: u32, kind: &str, rest: &str) -> String {
    record(
        minute,
        "event_msg",
        &format!(r#"{{"type":"{kind}"{rest}}}"#),
    )
}

fn said(minute: u32, words: &str) -> String {
    event(
        minute,
        "user_message",
        &format!(r#","message":"{words}","kind":"plain""#),
    )
}

fn response(minute: u32, role: &str, words: &str) -> String {
    let kind = if role == "user" {
        "input_text"
    } else {
        "output_text"
    };
    record(
        minute,
        "response_item",
        &format!(
            r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{words}"}}]}}"#
        ),
    )
}

fn item(minute: u32, kind: &str, id: &str, words: &str) -> String {
    event(
        minute,
        "item_completed",
        &format!(
            r#","thread_id":"t","item":{{"type":"{kind}","id":"{id}","content":[{{"type":"text","text":"{words}"}}]}}"#
        ),
    )
}

fn name(id: &str) -> String {
    format!("sessions/2026/01/05/rollout-2026-01-05T10-00-00-{id}.jsonl")
}

fn one(lines: &[String]) -> Harvest {
    let home = Home::new();
    home.codex(&name(THREAD), lines);
    home.harvest()
}

#[test]
fn the_older_generation_counts_a_message_once() {
    // §15.4 and today's known order: the response item, then the event.
    let harvest = one(&[
        meta(THREAD, ""),
        response(
            0,
            "user",
            "<environment_context>\\n<cwd>/w/app</cwd>\\n</environment_context>",
        ),
        response(1, "user", "Rename the flag"),
        said(1, "Rename the flag"),
        record(1, "turn_context", r#"{"cwd":"/w/app","model":"m"}"#),
        event(1, "agent_reasoning", r#","text":"hm""#),
        record(
            1,
            "response_item",
            r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#,
        ),
        record(
            1,
            "response_item",
            r#"{"type":"function_call_output","call_id":"c","output":"ok"}"#,
        ),
        event(1, "exec_command_end", ""),
        event(2, "agent_message", r#","message":"Renamed.""#),
        response(2, "assistant", "Renamed."),
        said(3, "Thanks"),
        response(3, "user", "Thanks"),
    ]);
    let session = &harvest.sessions[0];
    assert_eq!(homes::words(session), ["Rename the flag", "Thanks"]);
    assert_eq!(session.id, THREAD);
    assert_eq!(session.branch, "main");
    assert_eq!(session.tools, ["shell", "exec_command"]);
    assert_eq!(session.turns[1].text, "Renamed.");
    assert_eq!(left_out(&harvest, Reason::OtherForm), 2);
    assert_eq!(left_out(&harvest, Reason::Context), 1);
    assert_eq!(left_out(&harvest, Reason::ToolResult), 1);
}

#[test]
fn a_file_of_two_generations_counts_each_message_once() {
    let harvest = one(&[
        meta(THREAD, ""),
        response(1, "user", "old"),
        said(1, "old"),
        event(1, "agent_message", r#","message":"a""#),
        response(2, "user", "new, as the model saw it"),
        item(2, "UserMessage", "i1", "new"),
        item(2, "AgentMessage", "i2", "b"),
        response(3, "user", "only as the model saw it"),
    ]);
    assert_eq!(
        prompts(&harvest),
        [["old", "new", "only as the model saw it"]]
    );
    assert_eq!(harvest.sessions[0].turns[2].id, "i1");
}

/// Versions before September 2025: items without anything around them.
#[test]
fn the_oldest_generation_has_bare_items() {
    let bare = |role: &str, words: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        format!(
            r#"{{"type":"message","id":null,"role":"{role}","content":[{{"type":"{kind}","text":"{words}"}}]}}"#
        )
    };
    let begin = format!(
        r#"{{"id":"{THREAD}","timestamp":"2025-07-05T10:00:00.000Z","instructions":null,"git":{{"branch":"main"}}}}"#
    );
    let state = r#"{"record_type":"state"}"#.to_owned();
    let shell = r#"{"type":"function_call","id":"fc","name":"shell","arguments":"{\"command\":[\"ls\"],\"workdir\":\"/w/app\"}","call_id":"c"}"#.to_owned();
    let output = r#"{"type":"function_call_output","call_id":"c","output":"{}"}"#.to_owned();
    let context = |inside: &str| {
        bare(
            "user",
            &format!("<environment_context>\\n{inside}\\n</environment_context>"),
        )
    };
    // The folder stands in the context the program puts first, in two forms, or in the first command.
    for context in [
        Some(context("  <cwd>/w/app</cwd>")),
        Some(context(
            "Current working directory: /w/app\\nApproval policy: never",
        )),
        None,
    ] {
        let mut lines = vec![begin.clone(), state.clone()];
        lines.extend(context);
        lines.extend([
            bare("user", "List the files"),
            r#"{"type":"reasoning","id":"rs","summary":[]}"#.to_owned(),
            shell.clone(),
            output.clone(),
            bare("assistant", "There is one."),
            state.clone(),
            bare("user", "Thanks"),
        ]);
        let home = Home::new().project(&["/w/app"], Scope::Project);
        home.codex(&name(THREAD), &lines);
        let harvest = home.harvest();
        assert_eq!(prompts(&harvest), [["List the files", "Thanks"]]);
        let session = &harvest.sessions[0];
        assert_eq!(session.id, THREAD);
        assert_eq!(session.branch, "main");
        assert_eq!(session.tools, ["shell"]);
        assert_eq!(session.turns[1].text, "There is one.");
        assert_eq!(
            session.started.map(|at| at.to_string()).as_deref(),
            Some("2025-07-05T10:00:00Z")
        );
        assert!(harvest.unknown.is_empty(), "{:?}", harvest.unknown);
        assert_eq!(left_out(&harvest, Reason::Malformed), 0);
    }
}

/// §3.3: some records have their time inside.
#[test]
fn a_time_may_stand_in_the_payload() {
    let harvest = one(&[
        meta(THREAD, ""),
        r#"{"type":"event_msg","payload":{"type":"user_message","message":"Go on","timestamp":"2026-01-05T11:00:00Z"}}"#
            .to_owned(),
    ]);
    assert_eq!(
        harvest.sessions[0].turns[0].at.unwrap().to_string(),
        "2026-01-05T11:00:00Z"
    );
}

#[test]
fn what_the_program_put_into_a_persons_message_is_left_out() {
    let marked = |kinds: &str| {
        record(
            1,
            "response_item",
            &format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"context"}},{{"type":"input_text","text":"words"}}],"internal_chat_message_metadata_passthrough":{{"content_item_kinds":{kinds}}}}}"#
            ),
        )
    };
    for (record, expected) in [
        (
            marked(r#"["agents_md.instructions","user.text"]"#),
            Some("words"),
        ),
        (
            marked(r#"["user.text","user.text"]"#),
            Some("context\nwords"),
        ),
        (
            marked(r#"["agents_md.instructions","environments.environment_context"]"#),
            None,
        ),
        (marked("[]"), Some("context\nwords")),
        (
            response(
                1,
                "user",
                "# AGENTS.md instructions for /w\\n<INSTRUCTIONS>x</INSTRUCTIONS>",
            ),
            None,
        ),
        (response(1, "developer", "be brief"), None),
        (
            event(
                1,
                "user_message",
                r#","message":"rules","kind":"user_instructions""#,
            ),
            None,
        ),
    ] {
        let harvest = one(&[meta(THREAD, ""), record.clone()]);
        assert_eq!(
            prompts(&harvest),
            Vec::from_iter(expected.map(|words| vec![words])),
            "{record}"
        );
        assert_eq!(
            left_out(&harvest, Reason::Context),
            u64::from(expected.is_none()),
            "{record}"
        );
    }
}

#[test]
fn replaced_history_is_not_read_again() {
    let harvest = one(&[
        meta(THREAD, ""),
        item(1, "UserMessage", "i1", "first"),
        item(1, "AgentMessage", "i2", "done"),
        record(
            2,
            "compacted",
            r#"{"message":"summary","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"first"}]}]}"#,
        ),
        event(
            2,
            "item_completed",
            r#","item":{"type":"ContextCompaction","id":"x"}"#,
        ),
        item(3, "UserMessage", "i3", "second"),
    ]);
    assert_eq!(prompts(&harvest), [["first", "second"]]);
    assert_eq!(left_out(&harvest, Reason::Compaction), 2);
}

#[test]
fn the_summary_of_a_long_conversation_is_no_answer() {
    let compacted = || {
        record(
            3,
            "compacted",
            r#"{"message":"Here is the summary: It went well."}"#,
        )
    };
    let shown =
        |minute, words: &str| event(minute, "agent_message", &format!(r#","message":"{words}""#));
    for (lines, expected) in [
        // Both forms of an answer, then the summary in one of them, of today and of before.
        (
            vec![
                item(1, "UserMessage", "u1", "Print the numbers"),
                item(2, "AgentMessage", "a1", "Done."),
                response(2, "assistant", "Done."),
                response(3, "assistant", "It went well."),
                compacted(),
            ],
            "Done.",
        ),
        (
            vec![
                said(1, "Print the numbers"),
                response(2, "assistant", "Done."),
                shown(2, "Done."),
                response(3, "assistant", "It went well."),
                compacted(),
            ],
            "Done.",
        ),
        // In the middle of an answer.
        (
            vec![
                said(1, "Print the numbers"),
                shown(2, "Let me look."),
                response(2, "assistant", "Let me look."),
                response(3, "assistant", "It went well."),
                compacted(),
                shown(4, "Done."),
                response(4, "assistant", "Done."),
            ],
            "Done.",
        ),
        // The summary was not written by this program, or nothing tells what was shown.
        (
            vec![
                said(1, "Print the numbers"),
                shown(2, "Done."),
                response(2, "assistant", "Done."),
                compacted(),
            ],
            "Done.",
        ),
        (
            vec![
                response(1, "user", "Print the numbers"),
                response(2, "assistant", "Done."),
                compacted(),
            ],
            "Done.",
        ),
    ] {
        let harvest = one(&[vec![meta(THREAD, "")], lines.clone()].concat());
        assert_eq!(answers(&harvest.sessions[0]), [expected], "{lines:#?}");
    }
}

#[test]
fn an_interruption_marks_the_turn_before_it() {
    for (reason, expected) in [
        (r#","reason":"interrupted""#, true),
        ("", true),
        (r#","reason":"replaced""#, false),
    ] {
        let harvest = one(&[
            meta(THREAD, ""),
            response(1, "user", "Go on"),
            item(1, "UserMessage", "i1", "Go on"),
            event(2, "turn_aborted", reason),
            response(2, "user", "<turn_aborted>\\n</turn_aborted>"),
        ]);
        assert_eq!(prompts(&harvest), [["Go on"]]);
        assert_eq!(harvest.sessions[0].turns[0].interrupted, expected);
    }
}

#[test]
fn archived_and_compressed_sessions_count_once() {
    let lines = [
        meta(THREAD, ""),
        said(1, "Go on"),
        event(1, "agent_message", r#","message":"Went on.""#),
    ];
    let packed = zstd::encode_all(homes::joined(&lines).as_slice(), 3).unwrap();
    let home = Home::new();
    // A compressed file under a plain name, a plain one under a compressed name, and the same again.
    homes::write(
        &home.folder.path().join("codex").join(name(THREAD)),
        &packed,
    );
    let archived = format!("archived_sessions/rollout-2026-01-05T10-00-00-{THREAD}.jsonl.zst");
    home.codex(&archived, &lines);
    let other = "02a22847-3db6-71d3-9c36-e48a42ef3d0f";
    home.codex(
        &format!("archived_sessions/rollout-x-{other}.jsonl"),
        &[meta(other, ""), said(2, "Something else")],
    );
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["Something else"], ["Go on"]]);
    assert_eq!(left_out(&harvest, Reason::Copy), 1);
    assert_eq!(harvest.files.found, 3);
}

#[test]
fn forks_own_only_what_is_new_in_them() {
    let parent = "01a22847-0000-71d3-9c36-e48a42ef3d0f";
    let home = Home::new();
    home.codex(
        &name(parent),
        &[
            meta(parent, ""),
            said(1, "one"),
            event(1, "agent_message", r#","message":"1""#),
            said(2, "two"),
        ],
    );
    // By reference: nothing is copied.
    home.codex(
        &name(THREAD),
        &[
            meta(
                THREAD,
                &format!(
                    r#","forked_from_id":"{parent}","history_base":{{"thread_id":"{parent}"}}"#
                ),
            ),
            said(11, "one"),
        ],
    );
    // By copy, in older versions: the parent's records again, with new times and no ids.
    let copy = "03a22847-0000-71d3-9c36-e48a42ef3d0f";
    home.codex(
        &name(copy),
        &[
            meta(copy, &format!(r#","forked_from_id":"{parent}""#)),
            meta(parent, ""),
            said(20, "one"),
            event(20, "agent_message", r#","message":"1""#),
            said(21, "two, differently"),
        ],
    );
    let harvest = home.harvest();
    let by_id = |id: &str| {
        homes::words(
            harvest
                .sessions
                .iter()
                .find(|session| session.id == id)
                .unwrap(),
        )
    };
    assert_eq!(by_id(parent), ["one", "two"]);
    assert_eq!(by_id(copy), ["two, differently"]);
    // Without ids, a fork by reference that begins with its parent's first words cannot be told from
    // a copy of them; today's forks have ids.
    assert!(!harvest.sessions.iter().any(|session| session.id == THREAD));
}

#[test]
fn todays_forks_may_begin_with_their_parents_words() {
    let parent = "01a22847-0000-71d3-9c36-e48a42ef3d0f";
    let home = Home::new();
    home.codex(
        &name(parent),
        &[meta(parent, ""), item(1, "UserMessage", "i1", "go on")],
    );
    home.codex(
        &name(THREAD),
        &[
            meta(
                THREAD,
                &format!(r#","forked_from_id":"{parent}","history_base":{{}}"#),
            ),
            item(11, "UserMessage", "i2", "go on"),
        ],
    );
    assert_eq!(prompts(&home.harvest()), [["go on"], ["go on"]]);
}

#[test]
fn subagents_are_left_out() {
    for extra in [
        r#","thread_source":"subagent""#,
        r#","source":{"subagent":{"thread_spawn":{"parent_thread_id":"x"}}}"#,
    ] {
        let meta = meta(THREAD, "").replace(r#","source":"cli""#, extra);
        let harvest = one(&[meta, item(1, "UserMessage", "i1", "count them")]);
        assert!(harvest.sessions.is_empty());
        assert_eq!(left_out(&harvest, Reason::Subagent), 1);
    }
}

#[test]
fn each_turn_belongs_to_the_folder_it_was_typed_in() {
    let home = Home::new().project(&["/w/app"], Scope::Project);
    home.codex(
        &name(THREAD),
        &[
            meta(THREAD, ""),
            item(1, "UserMessage", "i1", "inside"),
            item(1, "AgentMessage", "i2", "a"),
            record(2, "turn_context", r#"{"cwd":"/w/other"}"#),
            item(2, "UserMessage", "i3", "beside"),
        ],
    );
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["inside"]]);
    assert_eq!(harvest.sessions[0].branch, "main");
    assert_eq!(left_out(&harvest, Reason::OtherDirectory), 1);
}

#[test]
fn tools_skills_and_files_are_named() {
    let call = |name: &str, field: &str, text: &str| {
        record(
            1,
            "response_item",
            &format!(r#"{{"type":"custom_tool_call","name":"{name}","{field}":"{text}"}}"#),
        )
    };
    let harvest = one(&[
        meta(THREAD, ""),
        item(1, "UserMessage", "i1", "go"),
        call(
            "apply_patch",
            "input",
            "*** Begin Patch\\n*** Update File: src/a.rs\\n*** Move to: src/b.rs\\n*** End Patch",
        ),
        call(
            "odd name!",
            "arguments",
            "cat .agents/skills/release-notes/SKILL.md; cat /SKILL.md",
        ),
        record(
            1,
            "response_item",
            r#"{"type":"web_search_call","status":"completed"}"#,
        ),
        event(
            1,
            "patch_apply_end",
            r#","changes":{"/w/app/c.rs":{"add":{}}}"#,
        ),
        event(
            1,
            "item_completed",
            r#","item":{"type":"FileChange","id":"f","changes":{"/w/app/d.rs":{}}}"#,
        ),
    ]);
    let session = &harvest.sessions[0];
    assert_eq!(session.tools, ["apply_patch", "odd_name_", "web_search"]);
    assert_eq!(session.skills, ["release-notes"]);
    assert_eq!(
        session.files,
        [
            "/w/app/src/a.rs",
            "/w/app/src/b.rs",
            "/w/app/c.rs",
            "/w/app/d.rs"
        ]
    );
}

#[test]
fn unknown_records_are_counted_by_name_and_version() {
    let harvest = one(&[
        meta(THREAD, r#","cli_version":"0.180.0""#),
        record(1, "dream", "{}"),
        record(1, "response_item", r#"{"type":"vision"}"#),
        event(1, "omen", ""),
        event(1, "item_completed", r#","item":{"type":"Sign"}"#),
        record(1, "response_item", "7"),
        item(1, "UserMessage", "i1", "go"),
    ]);
    let unknown: Vec<(&str, &str)> = harvest
        .unknown
        .keys()
        .map(|record| (record.name.as_str(), record.version.as_str()))
        .collect();
    assert_eq!(
        unknown,
        [
            ("dream", "0.180.0"),
            ("event_msg/omen", "0.180.0"),
            ("item/Sign", "0.180.0"),
            ("response_item/vision", "0.180.0")
        ]
    );
    assert_eq!(left_out(&harvest, Reason::Malformed), 1);
}
