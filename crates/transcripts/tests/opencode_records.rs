//! What becomes of OpenCode's records.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Author, ProjectScope, Reason, Scope, harvest};

#[path = "support/homes.rs"]
mod homes;
#[path = "support/opencode.rs"]
mod opencode;

use homes::{answers, prompts, skipped, words, write};
use opencode::{OpenCode, START, answered, message, said, session, text};

fn left_out(harvest: &skillopt_transcripts::Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::OpenCode, reason)
}

fn user(minute: i64) -> Value {
    json!({"role": "user", "time": {"created": START + minute * 60_000}})
}

#[test]
fn a_turn_has_its_answer_tools_skills_and_files() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "\"fix the \\\"last\\\" page\"");
    answered(
        &db,
        "ses_1",
        1,
        &[
            json!({"type": "step-start", "snapshot": "s"}),
            text("Let me look."),
            json!({"type": "reasoning", "text": "hidden thoughts"}),
            json!({"type": "tool", "tool": "skill", "state": {"status": "completed", "input": {"name": "release-notes"}}}),
            json!({"type": "tool", "tool": "write", "state": {"status": "completed", "input": {"filePath": "/w/app/src/pages.py", "content": "x"}, "output": "ok"}}),
            json!({"type": "tool", "tool": "edit", "state": {"status": "error", "input": {"filePath": "/w/app/never.py"}}}),
            json!({"type": "tool", "tool": "task", "state": {"status": "completed", "input": {"prompt": "count"}}}),
            json!({"type": "patch", "files": ["/w/app/__pycache__/pages.pyc"]}),
        ],
    );
    message(
        &db,
        "ses_1",
        "msg_ses_1_001b",
        1,
        &json!({"role": "assistant", "time": {"created": START + 100_000, "completed": START + 119_000}}),
        &[text("Fixed."), text("It was the divisor.")],
    );
    let harvest = home.harvest();
    let [session] = harvest.sessions.as_slice() else {
        panic!("{harvest:#?}")
    };
    assert_eq!(words(session), ["fix the \"last\" page"]);
    assert_eq!(session.directory, "/w/app");
    assert_eq!(session.skills, ["release-notes"]);
    assert_eq!(session.tools, ["skill", "write", "edit", "task"]);
    assert_eq!(session.files, ["/w/app/src/pages.py"]);
    let answer = session.turns.last().unwrap();
    assert_eq!(answer.author, Author::Assistant);
    assert_eq!(answer.text, "Fixed.\nIt was the divisor.");
    assert_eq!(answer.id, "msg_ses_1_001b");
    let ended = session.ended.unwrap().as_millisecond();
    assert_eq!(ended, START + 119_000);
    assert_eq!(session.started.unwrap().as_millisecond(), START + 60_000);
    assert!(session.path.ends_with("opencode.db#ses_1"));
    assert!(harvest.unknown.is_empty(), "{:?}", harvest.unknown);
}

#[test]
fn the_branch_that_was_noted_on_a_session_is_that_of_its_turns() {
    let home = OpenCode::new();
    let db = home.database();
    for (id, minute) in [("ses_1", 0), ("ses_2", 10), ("ses_3", 20)] {
        session(&db, id, "/w/app", minute);
        said(&db, id, minute + 1, "fix the page");
        answered(&db, id, minute + 1, &[text("Fixed.")]);
    }
    db.execute_batch(
        r#"ALTER TABLE session ADD COLUMN metadata text;
           UPDATE session SET metadata = '{"gitBranch":"pages","x":1}' WHERE id = 'ses_1';
           UPDATE session SET metadata = 'odd' WHERE id = 'ses_2';"#,
    )
    .unwrap();
    let harvest = home.harvest();
    let branches: Vec<Vec<&str>> = harvest
        .sessions
        .iter()
        .map(|session| session.turns.iter().map(|turn| &*turn.branch).collect())
        .collect();
    assert_eq!(branches, [["", ""], ["", ""], ["pages", "pages"]]);
    assert_eq!(left_out(&harvest, Reason::Malformed), 0);
}

#[test]
fn what_the_program_wrote_is_nobodys_turn() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "fill the context");
    answered(&db, "ses_1", 1, &[text("filled")]);
    message(
        &db,
        "ses_1",
        "msg_2",
        2,
        &user(2),
        &[json!({"type": "compaction", "auto": true})],
    );
    message(
        &db,
        "ses_1",
        "msg_2a",
        2,
        &json!({"role": "assistant", "mode": "compaction", "agent": "compaction", "summary": true}),
        &[text("A long summary.")],
    );
    message(
        &db,
        "ses_1",
        "msg_3",
        3,
        &user(3),
        &[
            json!({"type": "text", "synthetic": true, "text": "Continue if you have next steps", "metadata": {"compaction_continue": true}}),
        ],
    );
    answered(&db, "ses_1", 3, &[text("going on by myself")]);
    message(
        &db,
        "ses_1",
        "msg_4",
        4,
        &user(4),
        &[
            text("look at this file"),
            json!({"type": "text", "synthetic": true, "text": "Called the Read tool"}),
            json!({"type": "file", "url": "file:///w/app/a.py"}),
        ],
    );
    answered(&db, "ses_1", 4, &[text("looked")]);
    let harvest = home.harvest();
    assert_eq!(
        prompts(&harvest),
        [["fill the context", "look at this file"]]
    );
    assert_eq!(answers(&harvest.sessions[0]), ["filled", "looked"]);
    assert_eq!(left_out(&harvest, Reason::Compaction), 2);
    assert_eq!(left_out(&harvest, Reason::Meta), 1);
}

#[test]
fn a_fork_counts_only_what_is_new_in_it() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_b_parent", "/w/app", 0);
    said(&db, "ses_b_parent", 1, "one");
    answered(&db, "ses_b_parent", 1, &[text("1")]);
    // Copies keep their time and words and have other ids. The fork's id sorts first.
    session(&db, "ses_a_fork", "/w/app", 5);
    said(&db, "ses_a_fork", 1, "one");
    answered(&db, "ses_a_fork", 1, &[text("1")]);
    said(&db, "ses_a_fork", 6, "two");
    // The same words at another time are another turn.
    said(&db, "ses_b_parent", 7, "two");
    let harvest = home.harvest();
    let mut found: Vec<(&str, Vec<&str>)> = harvest
        .sessions
        .iter()
        .map(|session| (session.id.as_str(), words(session)))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("ses_a_fork", vec!["two"]),
            ("ses_b_parent", vec!["one", "two"])
        ]
    );
    assert_eq!(left_out(&harvest, Reason::Copy), 1);
}

#[test]
fn what_a_fork_in_another_folder_copied_belongs_to_where_it_was_said() {
    let home = OpenCode::new();
    let db = home.database();
    let answered_in = |session: &str, minute: i64, folder: &str| {
        let data = json!({"role": "assistant", "path": {"cwd": folder},
                          "time": {"created": START + minute * 60_000 + 1000}});
        let id = format!("msg_{session}_{minute:03}a");
        message(&db, session, &id, minute, &data, &[text("done")]);
    };
    session(&db, "ses_parent", "/w/app", 0);
    said(&db, "ses_parent", 1, "one");
    answered_in("ses_parent", 1, "/w/app");
    said(&db, "ses_parent", 2, "never answered");
    session(&db, "ses_fork", "/w/other", 5);
    said(&db, "ses_fork", 1, "one");
    answered_in("ses_fork", 1, "/w/app");
    said(&db, "ses_fork", 2, "never answered");
    said(&db, "ses_fork", 6, "two");
    answered_in("ses_fork", 6, "/w/other/sub");
    let of = |project: &str| {
        let mut request = home.request.clone();
        request.project = ProjectScope {
            roots: vec![project.into()],
            scope: Scope::Project,
        };
        harvest(&request, None, &|| false).unwrap()
    };
    let (parent, fork) = (of("/w/app"), of("/w/other"));
    assert_eq!(prompts(&parent), [["one", "never answered"]]);
    assert_eq!(prompts(&fork), [["two"]]);
    assert_eq!(left_out(&fork, Reason::OtherDirectory), 2);
    // Together each counts once, as ever.
    let all = home.harvest();
    let mut said: Vec<&str> = prompts(&all).concat();
    said.sort_unstable();
    assert_eq!(said, ["never answered", "one", "two"]);
    assert_eq!(left_out(&all, Reason::Copy), 2);
}

#[test]
fn child_sessions_and_calls_of_the_reference_are_left_out() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "kept");
    session(&db, "ses_2", "/w/app", 1);
    said(&db, "ses_2", 2, "count the comments");
    db.execute(
        "UPDATE session SET parent_id = 'ses_1' WHERE id = 'ses_2'",
        [],
    )
    .unwrap();
    session(&db, "ses_3", "/w/app", 2);
    said(&db, "ses_3", 3, "a question of an optimizer");
    db.execute(
        "UPDATE session SET agent = 'skillopt-sleep-0123456789abcdef0123456789abcdef' WHERE id = 'ses_3'",
        [],
    )
    .unwrap();
    session(&db, "ses_4", "/w/app", 3);
    said(&db, "ses_4", 4, "an agent of my own");
    db.execute(
        "UPDATE session SET agent = 'skillopt-sleep-mine' WHERE id = 'ses_4'",
        [],
    )
    .unwrap();
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["an agent of my own"], ["kept"]]);
    assert_eq!(left_out(&harvest, Reason::Subagent), 1);
    assert_eq!(left_out(&harvest, Reason::EngineCall), 1);
}

#[test]
fn failed_and_interrupted_answers() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "trigger a server error");
    message(
        &db,
        "ses_1",
        "msg_ses_1_001a",
        1,
        &json!({"role": "assistant", "error": {"name": "APIError", "data": {"message": "overloaded"}}}),
        &[],
    );
    said(&db, "ses_1", 2, "stop in the middle");
    message(
        &db,
        "ses_1",
        "msg_ses_1_002a",
        2,
        &json!({"role": "assistant", "error": {"name": "MessageAbortedError"}}),
        &[text("I was about")],
    );
    let harvest = home.harvest();
    let turns: Vec<_> = harvest.sessions[0].human_turns().collect();
    assert!(!turns[0].interrupted && turns[1].interrupted);
    assert_eq!(left_out(&harvest, Reason::ApiError), 1);
    assert_eq!(left_out(&harvest, Reason::Interruption), 1);
}

#[test]
fn excluded_folders_and_private_spans_hold() {
    let mut home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/secret", 0);
    said(&db, "ses_1", 1, "hidden");
    session(&db, "ses_2", "/w/app", 0);
    said(&db, "ses_2", 2, "shown <private>zanzibar</private>");
    answered(
        &db,
        "ses_2",
        2,
        &[text(
            "your key is sk-proj-Fk3TESTONLYnotARealKey0123456789abcdef",
        )],
    );
    home.request.exclude = vec!["/w/secret".to_owned()];
    let harvest = home.harvest();
    assert_eq!(prompts(&harvest), [["shown"]]);
    assert!(!harvest.sessions[0].turns[1].text.contains("sk-proj"));
    assert_eq!(left_out(&harvest, Reason::ExcludedDirectory), 1);
    home.request.exclude = vec!["**/opencode.db".to_owned()];
    let harvest = home.harvest();
    assert!(harvest.sessions.is_empty());
    assert_eq!(left_out(&harvest, Reason::ExcludedFile), 1);
}

#[test]
fn every_channel_and_the_older_files_are_one() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "released");
    for (channel, words) in [
        ("opencode-nightly.db", "nightly"),
        ("opencode-local.db", "built here"),
    ] {
        let db = opencode::database(&home.folder.path().join(channel));
        session(&db, &format!("ses_{channel}"), "/w/app", 0);
        said(&db, &format!("ses_{channel}"), 2, words);
    }
    // Not a channel.
    write(&home.folder.path().join("opencode-.db"), b"x");
    write(&home.folder.path().join("notes.db"), b"x");
    let storage = home.folder.path().join("storage");
    let file = |name: &str, value: Value| write(&storage.join(name), value.to_string().as_bytes());
    // The same session as in the database, with a turn more that was never moved.
    file(
        "session/p/ses_1.json",
        json!({"id": "ses_1", "directory": "/w/app", "time": {"created": START, "updated": START}}),
    );
    file(
        "message/ses_1/msg_ses_1_001.json",
        json!({"id": "msg_ses_1_001", "role": "user", "time": {"created": START + 60_000}}),
    );
    file("part/msg_ses_1_001/prt_1.json", text("released"));
    file(
        "message/ses_1/msg_z.json",
        json!({"id": "msg_z", "role": "user", "time": {"created": START + 180_000}}),
    );
    file("part/msg_z/prt_1.json", text("never moved"));
    // A session of its own; the oldest versions say only in answers where they were.
    file(
        "session/p/ses_9.json",
        json!({"id": "ses_9", "time": {"created": START}}),
    );
    file(
        "message/ses_9/msg_1.json",
        json!({"id": "msg_1", "role": "user", "time": {"created": START + 240_000}}),
    );
    file("part/msg_1/prt_1.json", text("old"));
    file(
        "message/ses_9/msg_2.json",
        json!({"id": "msg_2", "role": "assistant", "path": {"cwd": "/w/old"}, "time": {"created": START + 250_000}}),
    );
    file(
        "part/msg_2/prt_1.json",
        json!({"type": "tool-invocation", "toolInvocation": {"toolName": "bash"}}),
    );
    file("part/msg_2/prt_2.json", text("answered"));
    file(
        "session/p/ses_child.json",
        json!({"id": "ses_child", "parentID": "ses_9", "directory": "/w/app"}),
    );
    file("session/p/broken.json", json!([1]));
    // Taken back, and not gone on with.
    file(
        "session/p/ses_10.json",
        json!({"id": "ses_10", "directory": "/w/app", "time": {"created": START - 60_000},
               "revert": {"messageID": "msg_4"}}),
    );
    for (id, minute, words) in [("msg_3", -3_i64, "stays"), ("msg_4", -2, "was taken back")] {
        file(
            &format!("message/ses_10/{id}.json"),
            json!({"id": id, "role": "user", "time": {"created": START + minute * 10_000}}),
        );
        file(&format!("part/{id}/prt_1.json"), text(words));
    }
    let harvest = home.harvest();
    assert_eq!(
        prompts(&harvest),
        [
            vec!["old"],
            vec!["released", "never moved"],
            vec!["built here"],
            vec!["nightly"],
            vec!["stays", "was taken back"]
        ]
    );
    let feedback: Vec<&[String]> = harvest.sessions[4]
        .human_turns()
        .map(|turn| turn.feedback.as_slice())
        .collect();
    assert_eq!(feedback, [&[][..], &["neg:undone".to_owned()]]);
    let old = &harvest.sessions[0];
    assert_eq!(old.directory, "/w/old");
    assert_eq!(old.tools, ["bash"]);
    assert_eq!(old.turns[1].text, "answered");
    assert_eq!(left_out(&harvest, Reason::Copy), 1);
    assert_eq!(left_out(&harvest, Reason::Subagent), 1);
    assert_eq!(left_out(&harvest, Reason::Malformed), 1);
    let counts: Vec<(String, u64)> = harvest
        .looked
        .iter()
        .map(|looked| {
            let name = looked.folder.file_name().unwrap();
            (name.to_string_lossy().into_owned(), looked.files)
        })
        .collect();
    assert_eq!(
        counts,
        [
            ("opencode.db".to_owned(), 1),
            ("opencode-local.db".to_owned(), 1),
            ("opencode-nightly.db".to_owned(), 1),
            ("storage".to_owned(), 3)
        ]
    );
}

#[test]
fn an_unknown_part_is_counted_by_name() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    said(&db, "ses_1", 1, "hello");
    answered(&db, "ses_1", 1, &[json!({"type": "hologram"}), text("hi")]);
    message(&db, "ses_1", "msg_9", 2, &json!({"role": "oracle"}), &[]);
    let harvest = home.harvest();
    assert_eq!(left_out(&harvest, Reason::UnknownType), 2);
    assert_eq!(harvest.unknown.len(), 2);
    assert_eq!(prompts(&harvest), [["hello"]]);
}

#[test]
fn the_real_database_says_what_was_left_out() {
    let mut home = OpenCode::new();
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/transcripts/opencode");
    home.request.homes = opencode::homes_at(&fixture);
    let harvest = home.harvest();
    // Counted by hand: two compacted sessions, of which one went on by itself; the failed turn and
    // its copy in the fork; the sub-agent's session.
    for (reason, expected) in [
        (Reason::Compaction, 2),
        (Reason::Meta, 1),
        (Reason::ApiError, 2),
        (Reason::Subagent, 1),
        (Reason::Copy, 1),
        (Reason::Malformed, 0),
        (Reason::UnknownType, 0),
    ] {
        assert_eq!(left_out(&harvest, reason), expected, "{reason:?}");
    }
    assert!(harvest.unknown.is_empty(), "{:?}", harvest.unknown);
    let of = |id: &str| {
        harvest
            .sessions
            .iter()
            .find(|session| session.id == id)
            .unwrap()
    };
    assert_eq!(
        of("ses_dd7b7b022ffeNEsyFSFdCbIJmG").skills,
        ["release-notes"]
    );
    assert_eq!(of("ses_dd7b772aeffeFWzhQOMKkX7i9h").tools, ["task"]);
    assert_eq!(
        of("ses_dd7b8465dffeDdV7HVmjR9Q86P").files,
        ["/home/dana/work/acme-api/src/pages.py"]
    );
    assert_eq!(
        words(of("ses_dd7b5cc37ffet097h6EKkhth24")),
        ["that's wrong, revert your edits to src/pages.py please"]
    );
    let secret = of("ses_dd7b709a1ffeUvJyBw0RjFOhb6");
    assert!(!format!("{secret:?}").contains("sk-proj"));
    assert_eq!(harvest.sessions.len(), 11);
}

/// The signals of what happened to each turn.
fn happened(harvest: &skillopt_transcripts::Harvest) -> Vec<Vec<&str>> {
    harvest.sessions[0]
        .human_turns()
        .map(|turn| turn.feedback.iter().map(String::as_str).collect())
        .collect()
}

/// Written by hand after OpenCode's own code: no sample has a conversation that was taken back.
#[test]
fn what_was_taken_back_is_marked_until_the_conversation_goes_on() {
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/app", 0);
    for minute in 1..=3 {
        said(&db, "ses_1", minute, &format!("request {minute}"));
        answered(&db, "ses_1", minute, &[text("done")]);
    }
    for (revert, expected) in [
        (json!(null), [0, 0, 0]),
        (
            json!({"messageID": "msg_ses_1_002", "snapshot": "s", "diff": "-a\n+b"}),
            [0, 1, 1],
        ),
        // A part of an answer only; a message that is gone; something else.
        (
            json!({"messageID": "msg_ses_1_002a", "partID": "prt_1"}),
            [0, 0, 0],
        ),
        (json!({"messageID": "msg_ses_1_009"}), [0, 0, 0]),
        (json!({"messageID": ""}), [0, 0, 0]),
        (json!("msg_ses_1_002"), [0, 0, 0]),
    ] {
        db.execute("UPDATE session SET revert = ?1", [revert.to_string()])
            .unwrap();
        let harvest = home.harvest();
        let undone: Vec<usize> = happened(&harvest)
            .iter()
            .map(|signals| usize::from(*signals == ["neg:undone"]))
            .collect();
        assert_eq!(undone, expected, "{revert}");
    }
}

/// The texts of the errors are those of OpenCode's own code.
#[test]
fn refused_calls_are_told_from_failed_ones() {
    const REFUSED: &str = "The user rejected permission to use this specific tool call";
    let turns = |prompt: &str, status: &str, error: &str| {
        let home = OpenCode::new();
        let db = home.database();
        session(&db, "ses_1", "/w/app", 0);
        said(&db, "ses_1", 1, prompt);
        let call = json!({"type": "tool", "tool": "bash", "state": {"status": status, "input": {}, "error": error}});
        answered(&db, "ses_1", 1, &[call, text("Then not.")]);
        said(&db, "ses_1", 2, "go on");
        answered(&db, "ses_1", 2, &[text("done")]);
        let harvest = home.harvest();
        let [session] = harvest.sessions.as_slice() else {
            panic!("{harvest:#?}")
        };
        let refused = session.turns[0].feedback == ["neg:tool_rejected"];
        (words(session).join("|"), refused)
    };
    let plain = |error: &str, status: &str| turns("clean up", status, error);
    let two = || "clean up|go on".to_owned();
    assert_eq!(plain(&format!("{REFUSED}."), "error"), (two(), true));
    // Older versions.
    let older = format!("{REFUSED}. You may try again with different parameters.");
    assert_eq!(plain(&older, "error"), (two(), true));
    let said = format!("{REFUSED} with the following feedback: use git rm");
    assert_eq!(
        plain(&said, "error"),
        ("clean up|use git rm|go on".to_owned(), true)
    );
    for (error, status) in [
        (format!("{REFUSED}."), "completed"),
        ("Rule prevents tool usage.".to_owned(), "error"),
        (format!("grep: {REFUSED}."), "error"),
    ] {
        assert_eq!(plain(&error, status), (two(), false), "{error}");
    }
    // Words beside a refusal are typed where the session is, wherever the agent went.
    let home = OpenCode::new();
    let db = home.database();
    session(&db, "ses_1", "/w/tools", 0);
    opencode::said(&db, "ses_1", 1, "clean up");
    let call = json!({"type": "tool", "tool": "bash", "state": {"status": "error", "error": said}});
    answered(&db, "ses_1", 1, &[call, text("Then not.")]);
    let places: Vec<String> = home.harvest().sessions[0]
        .human_turns()
        .map(|turn| format!("{}: {}", turn.directory, turn.text))
        .collect();
    assert_eq!(places, ["/w/tools: clean up", "/w/tools: use git rm"]);
    // `opencode run`, where nobody is asked and everything that would be asked for is refused.
    assert_eq!(
        turns("\"clean up\"", "error", &format!("{REFUSED}.")),
        (two(), false)
    );
}
