//! What is remembered gives the same as reading everything again, with any number of threads.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use skillopt_core::agent::Agent;
use skillopt_store::{Store, SystemClock};
use skillopt_transcripts::{Harvest, Homes, ProjectScope, Reason, Request, Scope, harvest};

#[path = "support/homes.rs"]
mod homes;

use homes::{Home, answer, joined, prompts, skipped, typed, typed_in, write};

fn store() -> Store {
    Store::in_memory(Arc::new(SystemClock)).unwrap()
}

fn with(store: &Store, request: &Request) -> Harvest {
    harvest(request, Some(store), &|| false).unwrap()
}

/// Everything but how it was come by.
fn same(incremental: &Harvest, scratch: &Harvest) {
    assert_eq!(incremental.sessions, scratch.sessions);
    assert_eq!(incremental.skipped, scratch.skipped);
    assert_eq!(incremental.unknown, scratch.unknown);
    assert_eq!(incremental.silent, scratch.silent);
    assert_eq!(incremental.newest, scratch.newest);
    assert_eq!(incremental.files.found, scratch.files.found);
}

fn fixtures() -> Homes {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/transcripts");
    Agent::ALL
        .into_iter()
        .map(|agent| {
            let engine = fixtures.join(format!("engine-{agent}"));
            (agent, vec![fixtures.join(agent.id()), engine])
        })
        .collect()
}

#[test]
fn real_sessions_are_the_same_from_the_index_and_with_any_number_of_threads() {
    for scope in [Scope::All, Scope::Project] {
        let mut request = Request {
            homes: fixtures(),
            agents: Agent::ALL.to_vec(),
            project: ProjectScope {
                roots: vec!["/home/dana/work/acme-api".into()],
                scope,
            },
            threads: 1,
            ..Request::default()
        };
        let scratch = harvest(&request, None, &|| false).unwrap();
        assert!(scratch.sessions.len() > 8);
        let store = store();
        for threads in [3, 1, 8] {
            request.threads = threads;
            same(&harvest(&request, None, &|| false).unwrap(), &scratch);
            same(&with(&store, &request), &scratch);
        }
        let again = with(&store, &request);
        assert_eq!(again.files.unchanged, again.files.found);
        assert_eq!((again.files.read, again.files.bytes), (0, 0));
        // A wider scope needs what a narrower one did not return.
        request.project.scope = Scope::All;
        same(
            &with(&store, &request),
            &harvest(&request, None, &|| false).unwrap(),
        );
    }
}

#[test]
fn changes_of_every_kind_are_seen() {
    let home = Home::new();
    let store = store();
    let path = home.claude("s1.jsonl", &[typed(1, "one"), answer(1, "1")]);
    let check = |expected: &[&[&str]], read: u64| {
        let incremental = with(&store, &home.request);
        same(&incremental, &home.harvest());
        assert_eq!(prompts(&incremental), expected);
        assert_eq!(incremental.files.read, read);
    };
    check(&[&["one"]], 1);
    check(&[&["one"]], 0);
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&joined(&[typed(2, "two")])).unwrap();
    check(&[&["one", "two"]], 1);
    file.write_all(b"{\"half").unwrap();
    check(&[&["one", "two"]], 1);
    file.set_len(joined(&[typed(1, "one")]).len() as u64)
        .unwrap();
    check(&[&["one"]], 1);
    write(&path, &joined(&[typed(3, "rewritten")]));
    check(&[&["rewritten"]], 1);
    home.claude("s2.jsonl", &[typed(4, "new file")]);
    check(&[&["new file"], &["rewritten"]], 1);
    std::fs::remove_file(&path).unwrap();
    check(&[&["new file"]], 0);
    // The whole folder is gone, as when a disk is not there: what is known of it stays.
    let projects = home.folder.path().join("claude/projects");
    std::fs::rename(&projects, projects.with_extension("away")).unwrap();
    check(&[], 0);
    std::fs::rename(projects.with_extension("away"), &projects).unwrap();
    check(&[&["new file"]], 0);
}

#[test]
fn a_restored_backup_is_read_again() {
    let home = Home::new();
    let store = store();
    let path = home.claude("s1.jsonl", &[typed(1, "one"), typed(2, "two")]);
    with(&store, &home.request);
    // The same size, another file, an older time.
    let backup = path.with_extension("backup");
    write(&backup, &joined(&[typed(1, "uno"), typed(2, "dos")]));
    let file = OpenOptions::new().append(true).open(&backup).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    std::fs::rename(&backup, &path).unwrap();
    let harvest = with(&store, &home.request);
    assert_eq!(prompts(&harvest), [["uno", "dos"]]);
}

#[test]
fn other_rules_read_the_files_again() {
    let mut home = Home::new();
    let store = store();
    home.claude(
        "s1.jsonl",
        &[typed_in("/w/secret", 1, "hidden"), typed(2, "shown")],
    );
    assert_eq!(prompts(&with(&store, &home.request)), [["hidden", "shown"]]);
    home.request.exclude = vec!["/w/secret".to_owned()];
    let harvest = with(&store, &home.request);
    assert_eq!(prompts(&harvest), [["shown"]]);
    assert_eq!(harvest.files.read, 1);
    assert_eq!(
        skipped(&harvest, Agent::Claude, Reason::ExcludedDirectory),
        1
    );
    home.request.exclude.clear();
    home.request.agent_markers = vec!["hid".to_owned()];
    assert!(with(&store, &home.request).sessions.is_empty());
}

#[test]
fn copies_are_known_even_when_only_one_file_changed() {
    let home = Home::new();
    let store = store();
    home.claude("1.jsonl", &[typed(1, "one"), answer(1, "1")]);
    with(&store, &home.request);
    home.claude(
        "0.jsonl",
        &[
            r#"{"type":"queue-operation","timestamp":"2026-01-05T11:00:00Z"}"#.to_owned(),
            typed(1, "one"),
            answer(1, "1"),
            typed(59, "two"),
        ],
    );
    let harvest = with(&store, &home.request);
    same(&harvest, &home.harvest());
    assert_eq!(prompts(&harvest), [["two"], ["one"]]);
    assert_eq!(harvest.files.unchanged, 1);
}

#[test]
fn nothing_private_is_stored() {
    let home = Home::new();
    let data = tempfile::tempdir().unwrap();
    let paths = skillopt_store::Paths::at(data.path());
    {
        let store = Store::open(&paths, Arc::new(SystemClock)).unwrap();
        home.claude(
            "s1.jsonl",
            &[
                typed(1, "public <private>zanzibar</private>"),
                answer(1, "sk-proj-Fk3TESTONLYnotARealKey0123456789abcdef"),
            ],
        );
        home.claude("s2.jsonl", &[typed(1, "You are a strict grader. zanzibar")]);
        with(&store, &home.request);
        for agent in Agent::ALL {
            let entries = store
                .read(|db| skillopt_store::index::entries(db, agent))
                .unwrap();
            for entry in entries.values() {
                let body = store
                    .read(|db| skillopt_store::index::digests(db, &[entry.id]))
                    .unwrap()
                    .remove(0)
                    .unwrap();
                let body = String::from_utf8(body).unwrap();
                assert!(
                    !body.contains("zanzibar") && !body.contains("sk-proj"),
                    "{body}"
                );
            }
        }
    }
    let file = std::fs::read(paths.database()).unwrap();
    assert!(memchr::memmem::find(&file, b"zanzibar").is_none());
}
