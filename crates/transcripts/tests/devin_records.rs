//! Devin's database, written by hand after descriptions of it; no real one was at hand.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::json;
use skillopt_core::agent::Agent;
use skillopt_store::{Store, SystemClock};
use skillopt_transcripts::{Author, Harvest, Reason, Scope, harvest};

#[path = "support/devin.rs"]
mod devin;
#[path = "support/homes.rs"]
mod homes;

use devin::{answered, node, said, session};
use homes::{Home, prompts, skipped};

fn open(home: &Home) -> Connection {
    let path = home.folder.path().join("devin/sessions.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    devin::database(&path)
}

fn left_out(harvest: &Harvest, reason: Reason) -> u64 {
    skipped(harvest, Agent::Devin, reason)
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

#[test]
fn the_branch_of_the_session_is_read_from_its_first_node_to_its_last() {
    let home = Home::new();
    let db = open(&home);
    session(&db, "bald-ketch", "/w/app", 8);
    node(
        &db,
        "bald-ketch",
        1,
        None,
        json!({"role": "system", "content": "You are Devin."}),
    );
    said(&db, "bald-ketch", 2, Some(1), "Fix the checks");
    let calls = json!([
        {"id": "c1", "name": "exec", "arguments": {"command": "cat .devin/skills/lint/SKILL.md"}},
        {"id": "c2", "name": "str_replace", "arguments": {"path": "src/a.py", "old_str": "a"}},
        {"id": "c3", "name": "read_file", "arguments": {"path": "src/b.py"}}
    ]);
    answered(&db, "bald-ketch", 3, 2, "Reading.", &calls);
    node(
        &db,
        "bald-ketch",
        4,
        Some(3),
        json!({"role": "tool", "content": "ok", "tool_call_id": "c1"}),
    );
    answered(&db, "bald-ketch", 5, 4, "They pass.", &json!([]));
    // Another try of the same answer, and what came of it.
    answered(&db, "bald-ketch", 6, 2, "ABANDONED", &json!([]));
    said(&db, "bald-ketch", 7, Some(5), "Thanks, and the docs");
    answered(&db, "bald-ketch", 8, 7, "Written.", &json!([]));
    let found = home.harvest();
    assert_eq!(
        prompts(&found),
        [["Fix the checks", "Thanks, and the docs"]]
    );
    assert_eq!(answers(&found), ["They pass.", "Written."]);
    let session = &found.sessions[0];
    assert_eq!(session.id, "bald-ketch");
    assert_eq!(session.directory, "/w/app");
    let turn = session
        .turns
        .iter()
        .find(|turn| turn.text == "They pass.")
        .unwrap();
    assert_eq!(turn.tools, ["exec", "str_replace", "read_file"]);
    assert_eq!(turn.files, ["/w/app/src/a.py"]);
    assert_eq!(turn.skills, ["lint"]);
    assert_eq!(left_out(&found, Reason::ToolResult), 1);
    assert_eq!(left_out(&found, Reason::Context), 1);
    assert!(found.unknown.is_empty());
}

#[test]
fn a_prompt_that_was_edited_and_sent_again_is_marked() {
    let home = Home::new();
    let db = open(&home);
    session(&db, "s", "/w/app", 6);
    said(&db, "s", 1, None, "Write a parser");
    answered(&db, "s", 2, 1, "With a table.", &json!([]));
    said(&db, "s", 3, Some(2), "No, by hand");
    answered(&db, "s", 4, 3, "By hand.", &json!([]));
    said(&db, "s", 5, Some(2), "With fewer tables");
    answered(&db, "s", 6, 5, "One table.", &json!([]));
    let found = home.harvest();
    assert_eq!(
        prompts(&found),
        [["Write a parser", "No, by hand", "With fewer tables"]]
    );
    let resent: Vec<&str> = found.sessions[0]
        .human_turns()
        .filter(|turn| turn.feedback.iter().any(|signal| signal == "neg:resent"))
        .map(|turn| turn.text.as_str())
        .collect();
    assert_eq!(resent, ["No, by hand"]);
}

#[test]
fn only_what_a_person_typed_is_a_turn() {
    let home = Home::new();
    let db = open(&home);
    session(&db, "s", "/w/app", 6);
    said(&db, "s", 1, None, "Write a parser");
    let unsaid = |content: &str, flag: serde_json::Value| json!({"role": "user", "content": content, "metadata": flag});
    // Surroundings, between a prompt and its answer.
    node(
        &db,
        "s",
        2,
        Some(1),
        unsaid(
            "<system_info>\nzanzibar\n</system_info>",
            json!({"is_user_input": false}),
        ),
    );
    answered(&db, "s", 3, 2, "Written.", &json!([]));
    // A program's prompt, with an answer of its own.
    node(
        &db,
        "s",
        4,
        Some(3),
        unsaid("zanzibar has ended", json!({"is_user_input": false})),
    );
    answered(&db, "s", 5, 4, "Noted.", &json!([]));
    node(&db, "s", 6, Some(5), unsaid("zanzibar again", json!({})));
    let found = home.harvest();
    assert_eq!(prompts(&found), [["Write a parser"]]);
    assert_eq!(answers(&found), ["Written."]);
    assert_eq!(left_out(&found, Reason::Meta), 3);
    assert!(
        !serde_json::to_string(&found.sessions)
            .unwrap()
            .contains("zanzibar")
    );
}

#[test]
fn a_version_that_no_longer_says_who_typed_is_noticed() {
    let home = Home::new();
    let db = open(&home);
    session(&db, "s", "/w/app", 2);
    node(
        &db,
        "s",
        1,
        None,
        json!({"role": "user", "content": "Write a parser", "metadata": {"typed": true}}),
    );
    answered(&db, "s", 2, 1, "Written.", &json!([]));
    let found = home.harvest();
    assert!(found.sessions.is_empty());
    assert_eq!(found.silent.get(&Agent::Devin), Some(&1));
}

#[test]
fn a_role_nobody_knows_is_counted_by_the_version_of_the_tables() {
    for (history, version) in [
        ("", ""),
        (
            "CREATE TABLE refinery_schema_history (version INTEGER PRIMARY KEY, name TEXT);",
            "",
        ),
        (
            "CREATE TABLE refinery_schema_history (version INTEGER PRIMARY KEY, name TEXT);
             INSERT INTO refinery_schema_history VALUES (9, 'first'), (23, 'last'), (3, 'more');",
            "format-23",
        ),
        ("CREATE TABLE refinery_schema_history (name TEXT);", ""),
        (
            "CREATE TABLE refinery_schema_history (version TEXT);
             INSERT INTO refinery_schema_history VALUES ('new');",
            "",
        ),
    ] {
        let home = Home::new();
        let db = open(&home);
        db.execute_batch(history).unwrap();
        session(&db, "s", "/w/app", 2);
        said(&db, "s", 1, None, "Write a parser");
        node(
            &db,
            "s",
            2,
            Some(1),
            json!({"role": "prophet", "content": "x"}),
        );
        let found = home.harvest();
        assert_eq!(found.sessions.len(), 1, "{history}");
        let unknown: Vec<_> = found.unknown.into_keys().collect();
        assert_eq!(unknown.len(), 1, "{history}: {unknown:?}");
        assert_eq!(unknown[0].name, "message/prophet");
        assert_eq!(unknown[0].version, version, "{history}");
    }
}

#[test]
fn sessions_the_user_removed_and_those_of_other_projects_are_counted() {
    let home = Home::new().project(&["/w/app"], Scope::Project);
    let db = open(&home);
    for (id, directory) in [
        ("here", "/w/app/sub"),
        ("there", "/w/other"),
        ("gone", "/w/app"),
    ] {
        session(&db, id, directory, 1);
        said(&db, id, 1, None, id);
    }
    db.execute("UPDATE sessions SET hidden = 1 WHERE id = 'gone'", [])
        .unwrap();
    let found = home.harvest();
    assert_eq!(prompts(&found), [["here"]]);
    assert_eq!(left_out(&found, Reason::RemovedSession), 1);
    assert_eq!(left_out(&found, Reason::OtherProject), 1);
}

#[test]
fn circles_and_lost_nodes_end_somewhere() {
    let home = Home::new();
    let db = open(&home);
    // In a circle.
    session(&db, "round", "/w/app", 2);
    said(&db, "round", 1, Some(2), "one");
    said(&db, "round", 2, Some(1), "two");
    // The last node is not there, the first one follows nothing that is.
    session(&db, "lost", "/w/app", 99);
    said(&db, "lost", 5, Some(4), "three");
    let found = home.harvest();
    let mut said: Vec<&str> = prompts(&found).concat();
    said.sort_unstable();
    assert_eq!(said, ["one", "three", "two"]);
}

#[test]
fn what_did_not_change_is_not_read_again_and_what_did_is() {
    let home = Home::new();
    let db = open(&home);
    session(&db, "s", "/w/app", 1);
    said(&db, "s", 1, None, "Write a parser");
    let store = Store::in_memory(Arc::new(SystemClock)).unwrap();
    let check = || harvest(&home.request, Some(&store), &|| false).unwrap();
    let first = check();
    assert_eq!(first.files.read, 1);
    let again = check();
    assert_eq!((again.files.read, again.files.unchanged), (0, 1));
    assert_eq!(first.sessions, again.sessions);
    answered(&db, "s", 2, 1, "Written.", &json!([]));
    said(&db, "s", 3, Some(2), "Thanks");
    db.execute(
        "UPDATE sessions SET main_chain_id = 3, last_activity_at = last_activity_at + 1",
        [],
    )
    .unwrap();
    let grown = check();
    assert_eq!(grown.files.read, 1);
    assert_eq!(prompts(&grown), [["Write a parser", "Thanks"]]);
    // The person goes back to before the second prompt.
    db.execute("UPDATE sessions SET main_chain_id = 2", [])
        .unwrap();
    assert_eq!(prompts(&check()), [["Write a parser"]]);
}

#[test]
fn another_layout_is_said_and_not_guessed() {
    for change in [
        "ALTER TABLE sessions RENAME COLUMN main_chain_id TO chain",
        "ALTER TABLE message_nodes RENAME TO nodes",
        "ALTER TABLE message_nodes RENAME COLUMN chat_message TO message",
    ] {
        let home = Home::new();
        let db = open(&home);
        session(&db, "s", "/w/app", 1);
        said(&db, "s", 1, None, "Write a parser");
        db.execute_batch(change).unwrap();
        let found = home.harvest();
        assert_eq!(left_out(&found, Reason::UnknownSchema), 1, "{change}");
    }
}

#[test]
fn the_database_itself_may_be_named() {
    let mut home = Home::new();
    let elsewhere = home.folder.path().join("mine.db");
    let db = devin::database(Path::new(&elsewhere));
    session(&db, "s", "/w/app", 1);
    said(&db, "s", 1, None, "Write a parser");
    home.request.homes = [(Agent::Devin, vec![elsewhere])].into_iter().collect();
    assert_eq!(prompts(&home.harvest()), [["Write a parser"]]);
}
