//! How much there is, taking it out, deleting it, moving it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_core::hash::sha256_hex;
use skillopt_core::task::Split;
use skillopt_store::adoption::{self, Change, Kind as Way, Plan};
use skillopt_store::attempts::{self, Cost, Usage, Within};
use skillopt_store::blobs::{self, Keep};
use skillopt_store::data::{self, Purge};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::{
    Connection, Paths, Store, calls, events, files, index, locks, proposals, receipts, stages,
    tasks,
};

use crate::sample::{Home, add, call, proposed, task, turn};

/// A project with a night that ended, a proposal, an adoption and evidence.
fn lived_in(home: &Home, store: &Store, name: &str) -> (String, i64) {
    let root = home.root.join(name);
    std::fs::create_dir_all(&root).unwrap();
    let project = store
        .commit("project", |tx| {
            skillopt_store::projects::find_or_register(tx, &root)
        })
        .unwrap()
        .id;
    let pinned = store
        .commit("pin", |tx| blobs::put(tx, name.as_bytes(), Keep::ForGood))
        .unwrap();
    let night = store
        .commit("night", |tx| {
            nights::begin(
                tx,
                &project,
                Kind::Run,
                &json!({"targets": [{"bytes": pinned}]}),
            )
        })
        .unwrap();
    let question = format!("question of {name}");
    let live = root.join("CLAUDE.md");
    let id = store
        .commit("run", |tx| {
            // The same question in every project, and one of its own.
            calls::plan(
                tx,
                night,
                "judge",
                &[call("shared", 0, 0), call(&question, 0, 0)],
            )?;
            for (position, asked) in [call("shared", 0, 0), call(&question, 0, 0)]
                .iter()
                .enumerate()
            {
                let position = u32::try_from(position).unwrap();
                match attempts::answered(tx, &asked.key(), Within::Ever)? {
                    Some(answer) => {
                        calls::settle(
                            tx,
                            night,
                            "judge",
                            position,
                            0,
                            calls::State::Reused,
                            Some(answer.attempt),
                        )?;
                    }
                    None => {
                        let attempt = attempts::start(tx, night, &asked.key(), Cost::default())?;
                        attempts::answer(
                            tx,
                            attempt,
                            &format!("reply to {name} {position}"),
                            Usage::default(),
                            None,
                        )?;
                        calls::settle(
                            tx,
                            night,
                            "judge",
                            position,
                            0,
                            calls::State::Fresh,
                            Some(attempt),
                        )?;
                    }
                }
            }
            stages::finish(tx, night, "judge", &json!({"of": name}))?;
            events::append(
                tx,
                night,
                "harvest/session",
                &json!({"head": format!("said in {name}")}),
            )?;
            tasks::keep(
                tx,
                &project,
                Some(night),
                &[task(&format!("task-{name}"), Split::Train)],
                1,
            )?;
            tasks::mark_mined(tx, &project, night, &[turn(name, "u1")])?;
            let draft = proposals::reserve(tx, night, &home.paths.staging(), &[])?;
            proposals::publish(
                tx,
                &draft.id,
                &[proposed("claude:memory", &live, "", &format!("for {name}"))],
            )?;
            nights::end(tx, night, Outcome::Proposed, "", &json!({}))?;
            Ok(draft.id)
        })
        .unwrap();
    files::write_private(&home.paths.staging().join(&id).join("report.md"), b"report").unwrap();
    files::write_private(&home.paths.handoff(&project).join("q.json"), b"{}").unwrap();
    files::atomic_replace(&live, name.as_bytes(), files::NewFile::Document).unwrap();
    let plan = Plan {
        kind: Way::Adopt,
        proposal: id,
        project: project.clone(),
        changes: vec![Change {
            target: "claude:memory".into(),
            live_path: live.to_str().unwrap().into(),
            real_path: live,
            expected_sha256: sha256_hex(name.as_bytes()),
            after: Some(format!("for {name}").into_bytes()),
            mode: None,
            edits: vec![add("x")],
            remove_dirs: Vec::new(),
        }],
        undoes: Vec::new(),
    };
    adoption::perform(store, &home.paths, &plan, |_, _| Ok(())).unwrap();
    let reading = index::Reading {
        path: PathBuf::from(format!("/t/{name}.jsonl")),
        stamp: index::Stamp {
            dev: 1,
            ino: 1,
            size: 1,
            mtime_ns: 1,
            reader_version: 1,
            settings: "".into(),
        },
        facts: "{}".to_owned(),
        digest: b"[]".to_vec(),
    };
    store
        .commit("index", |tx| index::put(tx, Agent::Claude, &[reading]))
        .unwrap();
    (project, night)
}

fn all_rows(db: &Connection) -> BTreeMap<String, i64> {
    let mut statement = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    tables
        .into_iter()
        .map(|table| {
            let count = db
                .query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| {
                    row.get(0)
                })
                .unwrap();
            (table, count)
        })
        .collect()
}

fn rows(store: &Store) -> BTreeMap<String, i64> {
    store.read(|db| Ok(all_rows(db))).unwrap()
}

/// Whether any file of the database still has these bytes somewhere.
fn on_disk(paths: &Paths, needle: &str) -> bool {
    ["skillopt.db", "skillopt.db-wal"].iter().any(|name| {
        std::fs::read(paths.data.join(name)).is_ok_and(|bytes| {
            bytes
                .windows(needle.len())
                .any(|window| window == needle.as_bytes())
        })
    })
}

#[test]
fn size_counts_what_is_there() {
    let home = Home::new();
    assert_eq!(data::size(&home.paths).unwrap(), data::Size::default());
    let store = home.store();
    lived_in(&home, &store, "one");
    let size = data::size(&home.paths).unwrap();
    assert_eq!((size.staging, size.backups, size.handoff), (6, 3, 2));
    assert!(size.database > 100_000);
    assert_eq!(size.total, size.database + 11);
}

#[test]
fn an_export_has_everything_and_can_be_read_without_us() {
    let home = Home::new();
    let store = home.store();
    let (project, _) = lived_in(&home, &store, "one");
    files::write_private(&home.paths.config.join("settings.toml"), b"[gate]\n").unwrap();
    skillopt_store::repair::keep_copy(&store, &home.paths).unwrap();
    let to = home.root.join("export");
    let exported = data::export(&store, &home.paths, &to).unwrap();
    assert_eq!(exported.files, 5);
    assert_eq!(std::fs::read_dir(to.join("copies")).unwrap().count(), 1);

    let read = |name: &str| std::fs::read_to_string(to.join(name)).unwrap();
    let lines: Vec<Value> = read("tables/project.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["id"], json!(project));
    let tasks: Value = serde_json::from_str(read("tables/task.jsonl").trim()).unwrap();
    assert_eq!(
        tasks["body"]["intent"],
        json!("Do task-one"),
        "JSON columns are JSON"
    );
    assert_eq!(read("config/settings.toml"), "[gate]\n");
    let contents: Value = serde_json::from_str(&read("export.json")).unwrap();
    assert_eq!(contents["rows"]["project"], json!(1));
    let copy = Connection::open(to.join("skillopt.db")).unwrap();
    assert_eq!(all_rows(&copy), rows(&store));

    assert_eq!(
        data::export(&store, &home.paths, &to).unwrap_err().code,
        "destination_not_empty"
    );
    let inside = home.paths.data.join("export");
    assert_eq!(
        data::export(&store, &home.paths, &inside).unwrap_err().code,
        "destination_unusable"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for name in ["skillopt.db", "tables/task.jsonl", "export.json"] {
            assert_eq!(
                std::fs::metadata(to.join(name))
                    .unwrap()
                    .permissions()
                    .mode()
                    & 0o077,
                0,
                "{name}"
            );
        }
    }
}

#[test]
fn purging_a_project_takes_all_of_it_and_nothing_else() {
    let home = Home::new();
    let store = home.store();
    let (one, _) = lived_in(&home, &store, "one");
    let before_two = rows(&store);
    home.forward(60);
    let (two, night_two) = lived_in(&home, &store, "two");

    let before = rows(&store);
    let plan = data::plan_purge(&store, &home.paths, &Purge::Project(one.clone())).unwrap();
    assert_eq!(rows(&store), before, "a plan changes nothing");
    assert_eq!(plan.rows["project"], 1);
    assert_eq!(plan.folders.len(), 3, "{:?}", plan.folders);
    assert_eq!(
        plan.notes.len(),
        1,
        "one adoption can no longer be rolled back"
    );

    data::apply_purge(&store, &home.paths, &plan).unwrap();
    let after = rows(&store);
    for (table, count) in &plan.rows {
        assert_eq!(
            after[table],
            before[table] - i64::try_from(*count).unwrap(),
            "{table}"
        );
    }
    for table in [
        "night", "task", "proposal", "receipt", "adoption", "event", "stage",
    ] {
        assert_eq!(after[table], before[table] - before_two[table], "{table}");
    }
    for text in ["said in one", "task-one", "reply to one", "question of one"] {
        assert!(!on_disk(&home.paths, text), "{text}");
    }
    assert!(!home.paths.handoff(&one).exists());
    assert!(home.paths.handoff(&two).exists());
    assert_eq!(
        std::fs::read(home.root.join("one/CLAUDE.md")).unwrap(),
        b"for one",
        "the user's file stays"
    );

    // What the other project used again is gone with its owner; its own rows are whole.
    let two_rows = store
        .read(|db| calls::rows(db, night_two, "judge"))
        .unwrap();
    assert_eq!(two_rows[0].attempt, None);
    assert!(two_rows[1].attempt.is_some());
    let pinned = store
        .read(|db| blobs::get(db, &sha256_hex(b"two")))
        .unwrap();
    assert_eq!(
        pinned,
        Some(b"two".to_vec()),
        "bytes named in pins are kept"
    );
    assert_eq!(
        store
            .read(|db| blobs::get(db, &sha256_hex(b"one")))
            .unwrap(),
        None
    );
    assert!(skillopt_store::repair::check(&store).unwrap().is_empty());
    let unknown =
        data::plan_purge(&store, &home.paths, &Purge::Project("nope".into())).unwrap_err();
    assert_eq!(unknown.code, "project_unknown");
}

#[test]
fn purging_evidence_keeps_verdicts() {
    let home = Home::new();
    let store = home.store();
    let (_, night) = lived_in(&home, &store, "one");
    let receipts_before = store.read(|db| receipts::list(db, None, 9)).unwrap();
    let plan = data::plan_purge(
        &store,
        &home.paths,
        &Purge::Evidence {
            project: None,
            before: None,
        },
    )
    .unwrap();
    assert_eq!(
        plan.rows,
        BTreeMap::from([
            ("blob".into(), 5),
            ("event".into(), 1),
            ("transcript_digest".into(), 1),
            ("transcript_file".into(), 1)
        ])
    );
    data::apply_purge(&store, &home.paths, &plan).unwrap();
    assert_eq!(store.read(|db| events::list(db, night)).unwrap(), []);
    assert_eq!(
        store
            .read(|db| calls::get(db, &call("shared", 0, 0).key()))
            .unwrap(),
        None
    );
    assert!(!on_disk(&home.paths, "said in one"));
    assert!(
        store
            .read(|db| nights::get(db, night))
            .unwrap()
            .unwrap()
            .report
            .is_some()
    );
    assert_eq!(
        store
            .read(|db| attempts::of_night(db, night))
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        store.read(|db| receipts::list(db, None, 9)).unwrap(),
        receipts_before
    );
    let rollback = store
        .read(|db| adoption::rollback_plan(db, &receipts_before))
        .unwrap();
    assert_eq!(
        rollback.changes[0].after,
        Some(b"one".to_vec()),
        "a rollback is still possible"
    );
}

#[test]
fn purging_everything_leaves_an_empty_store_and_the_users_files() {
    let home = Home::new();
    let store = home.store();
    lived_in(&home, &store, "one");
    let plan = data::plan_purge(&store, &home.paths, &Purge::Everything).unwrap();
    data::apply_purge(&store, &home.paths, &plan).unwrap();
    let left: BTreeMap<String, i64> = rows(&store)
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(left.keys().collect::<Vec<_>>(), ["meta"]);
    assert_eq!(data::size(&home.paths).unwrap().staging, 0);
    assert!(!on_disk(&home.paths, "task-one"));
    assert_eq!(
        std::fs::read(home.root.join("one/CLAUDE.md")).unwrap(),
        b"for one"
    );
    home.project(&store);
}

#[test]
fn nothing_is_purged_or_moved_while_something_runs() {
    let home = Home::new();
    let store = home.store();
    let (project, _) = lived_in(&home, &store, "one");
    let now = crate::sample::at("2026-11-29T03:20:00Z");
    let _night = locks::project(&home.paths, &project, "sleep run", now).unwrap();
    let plan = data::plan_purge(&store, &home.paths, &Purge::Everything).unwrap();
    assert_eq!(
        data::apply_purge(&store, &home.paths, &plan)
            .unwrap_err()
            .code,
        "data_dir_busy"
    );
    let moved = data::move_to(&store, &home.paths, &home.root.join("new"));
    assert_eq!(moved.unwrap_err().code, "data_dir_busy");
    assert!(rows(&store)["project"] == 1);
}

#[test]
fn what_is_purged_does_not_live_on_in_a_copy_made_meanwhile() {
    let home = Home::new();
    let store = home.store();
    lived_in(&home, &store, "one");
    let plan = data::plan_purge(&store, &home.paths, &Purge::Everything).unwrap();
    let to = home.root.join("exported");
    let copying = locks::copying(&home.paths, store.clock().now()).unwrap();
    let purged = data::apply_purge(&store, &home.paths, &plan).unwrap_err();
    assert_eq!(purged.code, "data_dir_busy");
    assert!(purged.message.contains("copying"), "{}", purged.message);
    drop(copying);

    let purging = locks::whole(&home.paths).unwrap();
    let copied = skillopt_store::repair::keep_copy(&store, &home.paths).unwrap_err();
    let exported = data::export(&store, &home.paths, &to).unwrap_err();
    for refused in [copied, exported] {
        assert_eq!(refused.code, "data_dir_busy", "{}", refused.message);
    }
    assert!(!home.paths.copies().exists() && !to.exists());
    drop(purging);
    data::export(&store, &home.paths, &to).unwrap();

    // Nor in one made after it was shown what goes.
    skillopt_store::repair::keep_copy(&store, &home.paths).unwrap();
    data::apply_purge(&store, &home.paths, &plan).unwrap();
    assert!(!home.paths.copies().exists());
}

fn paths_from(home: &Home) -> Paths {
    let config = home.paths.config.to_str().unwrap().to_owned();
    Paths::from_env(&BTreeMap::from([(
        "SKILLOPT_CONFIG_DIR".to_owned(),
        config,
    )]))
    .unwrap()
}

#[test]
fn moving_copies_verifies_and_switches() {
    let home = Home::new();
    let store = home.store();
    lived_in(&home, &store, "one");
    let kept = skillopt_store::repair::keep_copy(&store, &home.paths).unwrap();
    let before = rows(&store);
    let to = home.root.join("elsewhere/skillopt");
    let moved = data::move_to(&store, &home.paths, &to).unwrap();
    assert_eq!(moved.files, 4);
    let copy = to.join("copies").join(kept.file_name().unwrap());
    assert_eq!(std::fs::read(copy).unwrap(), std::fs::read(kept).unwrap());

    // Another process that still has the old one open is told, and cannot lose what it writes.
    let late = store
        .commit("late", |tx| {
            skillopt_store::pauses::set(tx, "x", tx.now(), "")
        })
        .unwrap_err();
    assert_eq!(late.code, "data_moved");
    assert!(
        home.paths.database().exists(),
        "the old one stays until it is removed"
    );

    let paths = paths_from(&home);
    assert_eq!(paths.data, to);
    let new = Store::open(&paths, home.clock.clone()).unwrap();
    let mut copied = rows(&new);
    // Where it came from is one row more.
    *copied.get_mut("meta").unwrap() -= 1;
    assert_eq!(copied, before);
    let proposal = new
        .read(|db| proposals::list(db, None, 9))
        .unwrap()
        .pop()
        .unwrap();
    assert!(Path::new(&proposal.dir).starts_with(&to));
    assert!(Path::new(&proposal.dir).join("report.md").exists());
    let receipt = new
        .read(|db| receipts::list(db, None, 9))
        .unwrap()
        .pop()
        .unwrap();
    assert_eq!(std::fs::read(&receipt.backup_path).unwrap(), b"one");
    new.commit("on", |tx| {
        skillopt_store::pauses::set(tx, "x", tx.now(), "")
    })
    .unwrap();

    // It says what stayed, and another move waits until that is gone.
    let left = data::left_behind(&new, &paths).unwrap().unwrap();
    assert_eq!(left.folder, home.paths.data);
    assert!(left.bytes > 0);
    let again = data::move_to(&new, &paths, &home.root.join("third")).unwrap_err();
    assert_eq!(again.code, "data_left_behind");
    assert_eq!(data::remove_left_behind(&new, &paths).unwrap(), Some(left));
    assert_eq!(data::remove_left_behind(&new, &paths).unwrap(), None);
    assert!(!home.paths.data.exists());
    let late = store.commit("late", |tx| {
        skillopt_store::pauses::set(tx, "x", tx.now(), "")
    });
    assert_eq!(late.unwrap_err().code, "data_moved");

    // And once more, back.
    data::move_to(&new, &paths, &home.paths.data).unwrap();
    assert_eq!(paths_from(&home).data, home.paths.data);
    assert_eq!(rows(&home.store())["project"], 1);
}

#[test]
fn a_move_that_cannot_work_changes_nothing() {
    let home = Home::new();
    let store = home.store();
    lived_in(&home, &store, "one");
    let fixed = Paths {
        data_fixed: true,
        ..home.paths.clone()
    };
    let code = |paths: &Paths, to: &Path| data::move_to(&store, paths, to).unwrap_err().code;
    assert_eq!(code(&fixed, &home.root.join("new")), "data_dir_fixed");
    assert_eq!(
        code(&home.paths, &home.paths.data.join("inside")),
        "destination_unusable"
    );
    assert_eq!(code(&home.paths, &home.root), "destination_unusable");
    assert_eq!(
        code(&home.paths, &home.root.join("one")),
        "destination_not_empty"
    );
    assert_eq!(
        code(&home.paths, Path::new("relative")),
        "destination_unusable"
    );
    assert!(!home.paths.location().exists());

    // The pointer cannot be written: the old folder stays in use.
    files::write_private(&home.root.join("file"), b"").unwrap();
    let stuck = Paths {
        config: home.root.join("file/config"),
        ..home.paths.clone()
    };
    data::move_to(&store, &stuck, &home.root.join("new")).unwrap_err();
    store
        .commit("goes on", |tx| {
            skillopt_store::pauses::set(tx, "x", tx.now(), "")
        })
        .unwrap();

    // What it has left is known as ours: the same folder can be named again.
    let new = home.root.join("new");
    assert!(!names(&new).is_empty());
    data::move_to(&store, &home.paths, &new).unwrap();
    assert!(!names(&new).iter().any(|name| name.contains("unfinished")));
}

#[test]
fn the_folders_are_named_by_variable_pointer_or_platform() {
    let home = Home::new();
    let variables = |pairs: &[(&str, &str)]| {
        let map = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Paths::from_env(&map)
    };
    let config = home.root.join("config");
    let config = config.to_str().unwrap();
    let named = variables(&[("SKILLOPT_CONFIG_DIR", config), ("SKILLOPT_DATA_DIR", "/d")]).unwrap();
    assert_eq!((named.data.to_str(), named.data_fixed), (Some("/d"), true));

    files::write_private(&home.root.join("config/location"), b"/moved here\n").unwrap();
    assert_eq!(
        variables(&[("SKILLOPT_CONFIG_DIR", config)])
            .unwrap()
            .data
            .to_str(),
        Some("/moved here")
    );
    for bad in [&b"relative\n"[..], b"", b"\xff\xfe"] {
        files::write_private(&home.root.join("config/location"), bad).unwrap();
        variables(&[("SKILLOPT_CONFIG_DIR", config)]).unwrap_err();
    }
    let relative =
        variables(&[("SKILLOPT_CONFIG_DIR", config), ("SKILLOPT_DATA_DIR", "d")]).unwrap_err();
    assert_eq!(relative.code, "path_not_absolute");
    for variable in ["SKILLOPT_DATA_DIR", "SKILLOPT_CONFIG_DIR"] {
        let file = home.root.join("config/location");
        let refused = variables(&[("HOME", "/h"), (variable, file.to_str().unwrap())]).unwrap_err();
        assert_eq!(refused.code, "folder_is_file");
        assert!(refused.message.contains(variable), "{}", refused.message);
        assert!(refused.guidance.contains(variable), "{}", refused.guidance);
    }
    #[cfg(unix)]
    {
        let refused = variables(&[("HOME", "here")]).unwrap_err();
        assert_eq!(refused.code, "path_not_absolute");
        assert!(refused.message.starts_with("HOME "), "{}", refused.message);
    }
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}
