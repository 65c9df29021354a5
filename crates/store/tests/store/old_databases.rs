//! Databases of every schema version open with today's code, and have what they had.
//!
//! `fixtures/schema-NNN.db.zst` is a database as version NNN left it. When a schema is published its
//! fixture is written once (`cargo test -p skillopt-store write_fixture -- --ignored`) and never again.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_core::schedule::Pause;
use skillopt_core::task::Split;
use skillopt_store::attempts::{self, Cost, Usage, Within};
use skillopt_store::clusters::{self, ClusterText};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::rejected::{self, By};
use skillopt_store::scheduled::{self, Ended, Refusal};
use skillopt_store::{
    Connection, FixedClock, Paths, SCHEMA_VERSION, Store, adoption, blobs, calls, events, files,
    index, orders, pauses, projects, proposals, receipts, stages, tasks,
};

use crate::sample::{add, at, call, proposed, task, turn};

fn fixture(version: usize) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/fixtures/schema-{version:03}.db.zst"))
}

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::new(at("2026-11-29T03:15:00Z")))
}

/// The database of a fixture in a new folder.
fn unpacked(version: usize) -> (tempfile::TempDir, Paths) {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::at(dir.path());
    let packed = std::fs::read(fixture(version)).unwrap();
    files::write_private(
        &paths.database(),
        &zstd::decode_all(packed.as_slice()).unwrap(),
    )
    .unwrap();
    (dir, paths)
}

fn refusal() -> Refusal {
    Refusal {
        outcome: Outcome::Deferred,
        reason: "No.".into(),
        needs: Some("terms_not_accepted".into()),
        at: at("2026-11-29T03:15:00Z"),
    }
}

/// One row or more in every table.
fn fill(store: &Store) {
    let root = PathBuf::from("/");
    store
        .commit("fill", |tx| {
            let project = projects::find_or_register(tx, &root)?.id;
            let night = nights::begin(tx, &project, Kind::Run, &json!({"seed": 42}))?;
            calls::plan(tx, night, "judge", &[call("a", 0, 0), call("b", 0, 0)])?;
            calls::plan_follow_up(tx, night, "judge", 1, &call("b", 0, 1))?;
            let attempt = attempts::start(
                tx,
                night,
                &call("a", 0, 0).key(),
                Cost {
                    tokens: 9,
                    micros: 3,
                },
            )?;
            let usage = Usage {
                input_tokens: Some(4),
                cached_tokens: None,
                output_tokens: Some(1),
            };
            attempts::answer(tx, attempt, "yes", usage, Some(2))?;
            calls::settle(tx, night, "judge", 0, 0, calls::State::Fresh, Some(attempt))?;
            let failed = attempts::start(tx, night, &call("b", 0, 0).key(), Cost::default())?;
            attempts::fail(tx, failed, "unavailable", &json!({"status": 503}))?;
            stages::finish(tx, night, "judge", &json!([1, null]))?;
            events::append(tx, night, "gate/decision", &json!({"verdict": "better"}))?;
            orders::give(tx, night, orders::Order::Pause)?;
            tasks::keep(
                tx,
                &project,
                Some(night),
                &[task("t1", Split::Validation)],
                1,
            )?;
            tasks::mark_mined(tx, &project, night, &[turn("s1", "u1")])?;
            let seen = ClusterText {
                cluster: "c".into(),
                turn: turn("s1", "u1"),
                text: "x".into(),
                body: json!({}),
            };
            clusters::remember(tx, &project, night, &[seen])?;
            rejected::remember(
                tx,
                &project,
                "claude:skill",
                &add("no"),
                By::User,
                "no",
                Some(night),
            )?;
            let draft = proposals::reserve(tx, night, "/staging".as_ref(), &["/w".into()])?;
            proposals::publish(
                tx,
                &draft.id,
                &[proposed("claude:skill", "/w/SKILL.md".as_ref(), "", "text")],
            )?;
            nights::number(tx, night)?;
            nights::end(tx, night, Outcome::Proposed, "", &json!({"n": 1}))?;
            let slot = "2026-11-29T03:17:00".parse().unwrap();
            scheduled::begin(tx, &project, slot, true)?;
            let needing = Ended {
                state: scheduled::State::Open,
                night: None,
                outcome: Outcome::Deferred,
                reason: "No.".into(),
                needs: Some("terms_not_accepted".into()),
                not_before: None,
            };
            scheduled::end(tx, &project, slot, &needing)?;
            scheduled::refuse(tx, &project, &refusal())?;
            scheduled::set_rule(tx, &project, "03:17")?;
            scheduled::request(tx, &project)?;
            scheduled::pause(tx, Pause::Forever)?;
            pauses::set(tx, "openai", at("2026-11-29T09:00:00Z"), "quota")?;
            let stamp = index::Stamp {
                dev: 1,
                ino: 2,
                size: 3,
                mtime_ns: 4,
                reader_version: 5,
                settings: "s".into(),
            };
            let reading = index::Reading {
                path: "/t/a.jsonl".into(),
                stamp,
                facts: r#"{"meta": 1}"#.to_owned(),
                digest: b"[]".to_vec(),
            };
            index::put(tx, Agent::Codex, &[reading])
        })
        .unwrap();
}

/// An adoption that was rolled back, in a folder that is gone afterwards.
fn adopt_and_roll_back(store: &Store) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let path = root.join("CLAUDE.md");
    files::atomic_replace(&path, b"before", files::NewFile::Document).unwrap();
    let plan = adoption::Plan {
        kind: adoption::Kind::Adopt,
        proposal: "20261129-031500".into(),
        project: "p".into(),
        changes: vec![adoption::Change {
            target: "claude:memory".into(),
            live_path: path.to_str().unwrap().into(),
            real_path: path,
            expected_sha256: skillopt_core::hash::sha256_hex(b"before"),
            after: Some(b"after".to_vec()),
            mode: None,
            edits: vec![add("x")],
            remove_dirs: Vec::new(),
        }],
        undoes: Vec::new(),
    };
    let paths = Paths::at(&root);
    let written = adoption::perform(store, &paths, &plan, |_, _| Ok(())).unwrap();
    let back = store
        .read(|db| adoption::rollback_plan(db, &written))
        .unwrap();
    adoption::perform(store, &paths, &back, |_, _| Ok(())).unwrap();
}

#[test]
#[ignore = "writes the fixture of a schema version, once"]
fn write_fixture() {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::at(dir.path());
    let store = Store::open(&paths, clock()).unwrap();
    fill(&store);
    adopt_and_roll_back(&store);
    let copy = skillopt_store::repair::keep_copy(&store, &paths).unwrap();
    let packed = zstd::encode_all(std::fs::read(copy).unwrap().as_slice(), 19).unwrap();
    files::atomic_replace(&fixture(SCHEMA_VERSION), &packed, files::NewFile::Document).unwrap();
}

#[test]
fn every_stored_version_opens_and_has_what_it_had() {
    for version in 1..=SCHEMA_VERSION {
        let (_dir, paths) = unpacked(version);
        let store = Store::open(&paths, clock()).unwrap();
        assert!(
            skillopt_store::repair::check(&store).unwrap().is_empty(),
            "schema {version}"
        );
        store
            .read(|db| {
                let project = projects::list(db)?.pop().unwrap().id;
                let night = nights::list(db, Some(&project), 9)?.pop().unwrap();
                assert_eq!(
                    (night.number, night.outcome),
                    (Some(1), Some(Outcome::Proposed))
                );
                assert_eq!(
                    (night.pins, night.report),
                    (json!({"seed": 42}), Some(json!({"n": 1})))
                );
                let rows = calls::rows(db, night.id, "judge")?;
                assert_eq!(
                    rows.iter()
                        .map(|row| (row.position, row.ask))
                        .collect::<Vec<_>>(),
                    [(0, 0), (1, 0), (1, 1)]
                );
                assert_eq!(calls::get(db, &rows[0].key)?, Some(call("a", 0, 0)));
                assert_eq!(
                    attempts::answered(db, &rows[0].key, Within::Ever)?
                        .unwrap()
                        .text,
                    "yes"
                );
                assert_eq!(
                    attempts::of_night(db, night.id)?[1].error_code.as_deref(),
                    Some("unavailable")
                );
                assert_eq!(attempts::spend(db, night.id)?.tokens, 5);
                assert_eq!(
                    stages::output::<Value>(db, night.id, "judge")?,
                    Some(json!([1, null]))
                );
                assert_eq!(
                    events::list(db, night.id)?[0].body,
                    json!({"verdict": "better"})
                );
                assert_eq!(orders::pending(db, night.id)?, Some(orders::Order::Pause));
                assert_eq!(
                    tasks::get(db, &project, "t1")?.unwrap().task.split,
                    Split::Validation
                );
                assert!(tasks::mined_turns(db, &project, true)?.contains(&turn("s1", "u1")));
                assert_eq!(clusters::all(db, &project)?.len(), 1);
                assert_eq!(rejected::list(db, &project, None, 9)?[0].by, By::User);
                let proposal = proposals::newest_waiting(db, &project)?.unwrap();
                assert_eq!(proposal.id, "20261129-031500");
                let target = &proposals::targets(db, &proposal.id)?[0];
                assert_eq!(
                    blobs::get(db, &target.proposed_sha256)?,
                    Some(b"text".to_vec())
                );
                if version >= 4 {
                    let row = &scheduled::list(db, &project, 1)?[0];
                    assert_eq!(row.needs.as_deref(), Some("terms_not_accepted"));
                    assert_eq!(scheduled::refused(db, &project)?, Some(refusal()));
                }
                assert!(pauses::active(db, "openai", at("2026-11-29T08:00:00Z"))?.is_some());
                let entry = index::entries(db, Agent::Codex)?
                    .remove(std::path::Path::new("/t/a.jsonl"))
                    .unwrap();
                assert_eq!(index::digests(db, &[entry.id])?, [Some(b"[]".to_vec())]);
                let receipt = receipts::list(db, None, 9)?.pop().unwrap();
                assert!(receipt.undone_at.is_some());
                assert_eq!(
                    blobs::get(db, &receipt.sha256_before)?,
                    Some(b"before".to_vec())
                );
                Ok(())
            })
            .unwrap();
        // And it can be gone on with.
        let project = store.read(projects::list).unwrap().pop().unwrap().id;
        store
            .commit("night", |tx| {
                nights::begin(tx, &project, Kind::Run, &json!({}))
            })
            .unwrap();
    }
}

#[test]
fn the_fixtures_have_something_in_every_table() {
    let (_dir, paths) = unpacked(SCHEMA_VERSION);
    let db = Connection::open(paths.database()).unwrap();
    let mut statement = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(tables.len() > 20);
    for table in tables {
        let rows: i64 = db
            .query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| {
                row.get(0)
            })
            .unwrap();
        assert!(rows > 0, "{table}");
    }
}

#[test]
fn a_published_schema_is_not_edited() {
    // A change to an old script would make new databases differ from migrated ones.
    let schema = |paths: &Paths| -> Vec<(String, Option<String>)> {
        let db = Connection::open(paths.database()).unwrap();
        let mut statement = db
            .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .unwrap();
        statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    let (_dir, old) = unpacked(SCHEMA_VERSION);
    let dir = tempfile::tempdir().unwrap();
    let new = Paths::at(dir.path());
    drop(Store::open(&new, clock()).unwrap());
    assert_eq!(schema(&new), schema(&old));
}
