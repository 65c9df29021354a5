//! Copilot CLI's database, for sessions without an event log.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, Homes, ProjectScope, Reason, Request, Scope, harvest};
use tempfile::TempDir;

#[path = "support/homes.rs"]
mod homes;

use homes::{prompts, skipped, words, write};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/transcripts")
}

fn found_in(home: &Path) -> Harvest {
    let request = Request {
        homes: Homes::from_iter([(Agent::Copilot, vec![home.to_owned()])]),
        agents: vec![Agent::Copilot],
        project: ProjectScope {
            roots: Vec::new(),
            scope: Scope::All,
        },
        threads: 1,
        ..Request::default()
    };
    harvest(&request, None, &|| false).unwrap()
}

/// A home with the real database, as it was copied: its log, and no index of the log.
fn real() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for name in ["session-store.db", "session-store.db-wal"] {
        std::fs::copy(
            fixtures().join("copilot-database").join(name),
            home.path().join(name),
        )
        .unwrap();
    }
    home
}

#[test]
fn the_real_database_is_read_from_its_log() {
    let home = real();
    let harvest = found_in(home.path());
    // Counted by hand in the tables: ten sessions, of which two have no turn and one is a grader's.
    assert_eq!(harvest.sessions.len(), 7);
    assert_eq!(skipped(&harvest, Agent::Copilot, Reason::NoHumanTurn), 2);
    assert_eq!(skipped(&harvest, Agent::Copilot, Reason::EngineCall), 1);
    let of = |start: &str| {
        harvest
            .sessions
            .iter()
            .find(|session| session.id.starts_with(start))
            .unwrap()
    };
    let session = of("13e3412d");
    // The first of its three turns was never written.
    assert_eq!(
        words(session),
        [
            "It is still broken: an empty list crashes and page -1 returns wrong items.",
            "Perfect, thanks! That works now."
        ]
    );
    assert_eq!(session.turns[3].text, "Glad it works! Anything else?");
    assert_eq!(session.tools, ["create"]);
    assert_eq!(session.files, ["/home/dana/work/acme-api/src/pages.py"]);
    assert_eq!(session.branch, "feature/pagination");
    assert_eq!(session.directory, "/home/dana/work/acme-api");
    assert!(!format!("{:?}", of("2b0fd655")).contains("sk-proj"));
    assert!(
        session
            .path
            .to_string_lossy()
            .ends_with(&format!("session-store.db#{}", session.id))
    );
}

#[test]
fn a_session_with_an_event_log_is_the_log_alone() {
    let home = real();
    let log = "13e3412d-674f-4690-ad06-5a1987a3730d";
    let name = Path::new("session-state").join(log).join("events.jsonl");
    let bytes = std::fs::read(fixtures().join("copilot").join(&name)).unwrap();
    write(&home.path().join(&name), &bytes);
    let harvest = found_in(home.path());
    assert_eq!(harvest.sessions.len(), 7);
    let session = harvest.sessions.iter().find(|one| one.id == log).unwrap();
    assert_eq!(session.human_turns().count(), 3);
    assert!(session.path.ends_with("events.jsonl"));
    // A log in which nobody says anything is no session.
    write(
        &home.path().join(&name),
        b"{\"type\":\"session.idle\",\"data\":{},\"id\":\"x\"}\n",
    );
    let harvest = found_in(home.path());
    let session = harvest.sessions.iter().find(|one| one.id == log).unwrap();
    assert_eq!(session.human_turns().count(), 2);
}

#[test]
fn what_no_person_typed_is_no_prompt_here_either() {
    let home = tempfile::tempdir().unwrap();
    let db = Connection::open(home.path().join("session-store.db")).unwrap();
    db.execute_batch(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, branch TEXT, created_at TEXT, updated_at TEXT);
         CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT, assistant_response TEXT,
             UNIQUE (session_id, turn_index));
         INSERT INTO sessions VALUES ('s1', '/w/app', 'main', '2026-01-05 10:00:00', '2026-01-05 10:05:00');
         INSERT INTO turns VALUES ('s1', 0, 'Rename it', 'Renamed.');
         INSERT INTO turns VALUES ('s1', 1, '/compact', 'It was about names.');
         INSERT INTO turns VALUES ('s1', 2, '<reminder>x</reminder>', 'Noted.');",
    )
    .unwrap();
    let harvest = found_in(home.path());
    assert_eq!(prompts(&harvest), [vec!["Rename it"]]);
    let answers: Vec<&str> = harvest.sessions[0].turns[1..]
        .iter()
        .map(|turn| turn.text.as_str())
        .collect();
    assert_eq!(answers, ["Renamed."]);
    for reason in [Reason::SlashCommand, Reason::Meta] {
        assert_eq!(skipped(&harvest, Agent::Copilot, reason), 1, "{reason:?}");
    }
}

#[test]
fn older_tables_and_odd_values() {
    let home = tempfile::tempdir().unwrap();
    let db = Connection::open(home.path().join("session-store.db")).unwrap();
    db.execute_batch(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT, repository TEXT, branch TEXT, created_at TEXT, updated_at TEXT);
         CREATE TABLE turns (session_id TEXT, turn_index INTEGER, user_message TEXT, assistant_response TEXT,
             UNIQUE (session_id, turn_index));
         INSERT INTO sessions VALUES ('s1', '/w/app', 'r', 'main', '2026-01-05 10:00:00', '2026-01-05 10:05:00');
         INSERT INTO sessions VALUES ('s2', NULL, NULL, NULL, NULL, NULL);
         INSERT INTO sessions VALUES ('', '/w/app', NULL, NULL, NULL, NULL);
         INSERT INTO turns VALUES ('s1', 0, 'one', 'first');
         INSERT INTO turns VALUES ('s1', 1, NULL, 'to nothing');
         INSERT INTO turns VALUES ('s1', 2, x'FFFE', 17);
         INSERT INTO turns VALUES ('s1', NULL, 'zero', NULL);
         INSERT INTO turns VALUES ('s1', 3, CAST(zeroblob(17000000) AS TEXT), 'to too much');
         INSERT INTO turns VALUES ('s2', 'x', 'nowhere', NULL);",
    )
    .unwrap();
    let harvest = found_in(home.path());
    assert_eq!(prompts(&harvest), [vec!["zero", "one"], vec!["nowhere"]]);
    assert_eq!(skipped(&harvest, Agent::Copilot, Reason::ValueTooLong), 1);
    assert_eq!(skipped(&harvest, Agent::Copilot, Reason::Malformed), 1);
    db.execute_batch("DROP TABLE turns").unwrap();
    let harvest = found_in(home.path());
    assert_eq!(skipped(&harvest, Agent::Copilot, Reason::UnknownSchema), 1);
}
