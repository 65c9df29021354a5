use std::sync::Arc;

use super::*;
use crate::clock::FixedClock;
use crate::store::Store;

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn now() -> Instant {
    at("2026-11-29T03:15:00Z")
}

fn place() -> (tempfile::TempDir, Paths) {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::at(dir.path());
    (dir, paths)
}

const NEXT: &str = "ALTER TABLE project ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';";
const BROKEN: &str = "ALTER TABLE project ADD COLUMN colour TEXT; SELECT no_such_function();";

/// Today's scripts and one more.
fn and_then(script: &'static str) -> Vec<&'static str> {
    let mut scripts = SCRIPTS.to_vec();
    scripts.push(script);
    scripts
}

fn add_project(connection: &Connection) {
    connection
        .execute(
            "INSERT INTO project (id, root, name, first_seen) VALUES ('a', '/w/a', 'a', 1)",
            [],
        )
        .unwrap();
}

fn count_projects(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT count(*) FROM project", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_new_database_is_private_complete_and_ours() {
    let (_dir, paths) = place();
    let connection = open(&paths, now()).unwrap();
    assert_eq!(
        inspect(&connection, &paths.database(), SCHEMA_VERSION).unwrap(),
        SCHEMA_VERSION
    );
    let created_by: String = connection
        .query_row(
            "SELECT value FROM meta WHERE key = 'created_by'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(created_by, env!("CARGO_PKG_VERSION"));
    add_project(&connection);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&paths.data), 0o700);
        for file in crate::data::database_files(&paths) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }
}

#[test]
fn an_older_database_is_copied_and_then_migrated() {
    let (_dir, paths) = place();
    add_project(&open(&paths, now()).unwrap());

    let scripts = and_then(NEXT);
    let connection = open_with(&paths, now(), &scripts).unwrap();
    let colour: String = connection
        .query_row("SELECT colour FROM project", [], |row| row.get(0))
        .unwrap();
    assert_eq!(colour, "grey");

    let copies = crate::repair::copies(&paths);
    assert_eq!(copies.len(), 1);
    assert!(copies[0].sound);
    let copy = connect(&copies[0].path).unwrap();
    assert_eq!(
        inspect(&copy, &copies[0].path, scripts.len()).unwrap(),
        SCHEMA_VERSION
    );
    let projects: i64 = copy
        .query_row("SELECT count(*) FROM project", [], |row| row.get(0))
        .unwrap();
    assert_eq!(projects, 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            std::fs::metadata(&copies[0].path)
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o600
        );
    }

    drop(connection);
    open_with(&paths, now(), &scripts).unwrap();
    assert_eq!(
        crate::repair::copies(&paths).len(),
        1,
        "nothing to migrate, nothing to copy"
    );
}

#[test]
fn a_migration_that_fails_leaves_the_database_as_it_was() {
    let (_dir, paths) = place();
    add_project(&open(&paths, now()).unwrap());
    assert_eq!(
        open_with(&paths, now(), &and_then(BROKEN))
            .unwrap_err()
            .code,
        "database_error"
    );
    let connection = open(&paths, now()).unwrap();
    assert!(connection.prepare("SELECT colour FROM project").is_err());
    assert_eq!(count_projects(&connection), 1);
}

#[test]
fn only_some_copies_are_kept() {
    let (_dir, paths) = place();
    let store = Store::open(&paths, Arc::new(FixedClock::new(now()))).unwrap();
    for _ in 0..COPIES_KEPT + 3 {
        crate::repair::keep_copy(&store, &paths).unwrap();
    }
    assert_eq!(crate::repair::copies(&paths).len(), COPIES_KEPT);
}

#[test]
fn a_database_from_a_newer_version_is_named_and_left_alone() {
    let (_dir, paths) = place();
    {
        let connection = open_with(&paths, now(), &and_then(NEXT)).unwrap();
        connection
            .execute(
                "UPDATE meta SET value = '9.9.9' WHERE key = 'written_by'",
                [],
            )
            .unwrap();
        connection
            .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
            .unwrap();
    }
    let before = std::fs::read(paths.database()).unwrap();
    let problem = open(&paths, now()).unwrap_err();
    assert_eq!(problem.code, "database_newer");
    let (theirs, ours) = (
        format!("schema {}", SCHEMA_VERSION + 1),
        format!("up to {SCHEMA_VERSION}"),
    );
    for words in ["9.9.9", env!("CARGO_PKG_VERSION"), &theirs, &ours] {
        assert!(
            problem.message.contains(words),
            "{words}: {}",
            problem.message
        );
    }
    assert_eq!(std::fs::read(paths.database()).unwrap(), before);
    assert!(crate::repair::copies(&paths).is_empty());
}

#[test]
fn a_process_that_had_it_open_stops_writing_after_a_migration() {
    let (_dir, paths) = place();
    let store = Store::open(&paths, Arc::new(FixedClock::new(now()))).unwrap();
    open_with(&paths, now(), &and_then(NEXT)).unwrap();
    let problem = store
        .commit("late", |tx| Ok(tx.execute("DELETE FROM project", [])?))
        .unwrap_err();
    assert_eq!(problem.code, "database_newer");
}

#[test]
fn a_damaged_database_is_refused_and_left_untouched() {
    for bytes in [
        &b""[..],
        b"this is not a database at all, but it is long enough to be read as a header ....",
        &[0; 4096],
    ] {
        let (_dir, paths) = place();
        files::write_private(&paths.database(), bytes).unwrap();
        let problem = open(&paths, now()).unwrap_err();
        assert_eq!(problem.code, "database_corrupt", "{problem}");
        assert!(!problem.guidance.is_empty());
        assert_eq!(std::fs::read(paths.database()).unwrap(), bytes);
    }
}

#[test]
fn somebody_elses_database_is_refused_and_left_untouched() {
    let (_dir, paths) = place();
    files::create_private_dir(&paths.data).unwrap();
    Connection::open(paths.database())
        .unwrap()
        .execute_batch("CREATE TABLE t (x); PRAGMA user_version = 1")
        .unwrap();
    let before = std::fs::read(paths.database()).unwrap();
    assert_eq!(open(&paths, now()).unwrap_err().code, "database_corrupt");
    assert_eq!(std::fs::read(paths.database()).unwrap(), before);
}

#[test]
fn damage_in_the_middle_is_found_when_it_is_read_and_a_copy_restores_it() {
    let (_dir, paths) = place();
    let clock = Arc::new(FixedClock::new(now()));
    {
        let store = Store::open(&paths, clock.clone()).unwrap();
        store
            .commit("fill", |tx| {
                for n in 0..2000 {
                    tx.execute(
                        "INSERT INTO project (id, root, name, first_seen) VALUES (?1, ?1, ?1, 0)",
                        [format!("{n:0100}")],
                    )?;
                }
                Ok(())
            })
            .unwrap();
        crate::repair::keep_copy(&store, &paths).unwrap();
        assert!(crate::repair::check(&store).unwrap().is_empty());
    }
    let mut bytes = std::fs::read(paths.database()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xa5);
    files::write_private(&paths.database(), &bytes).unwrap();

    let store = Store::open(&paths, clock.clone()).unwrap();
    let found = store.read(|db| {
        Ok(
            db.query_row("SELECT sum(length(name)) FROM project", [], |row| {
                row.get::<_, i64>(0)
            })?,
        )
    });
    assert_eq!(found.unwrap_err().code, "database_corrupt");
    drop(store);

    let copy = crate::repair::copies(&paths)
        .into_iter()
        .find(|copy| copy.sound)
        .unwrap();
    let aside = crate::repair::replace(&paths, Some(&copy.path), now())
        .unwrap()
        .unwrap();
    assert_eq!(
        std::fs::read(aside.join("skillopt.db")).unwrap(),
        bytes,
        "the damaged bytes are kept"
    );
    let store = Store::open(&paths, clock).unwrap();
    let count = store.read(|db| {
        Ok(db.query_row("SELECT count(*) FROM project", [], |row| {
            row.get::<_, i64>(0)
        })?)
    });
    assert_eq!(count.unwrap(), 2000);
}

#[test]
fn no_new_database_is_made_beside_what_belongs_to_one_that_is_missing() {
    for folder in ["copies", "backups", "staging"] {
        let (_dir, paths) = place();
        let file = paths.data.join(folder).join("1/CLAUDE.md");
        files::write_private(&file, b"mine").unwrap();
        let problem = open(&paths, now()).unwrap_err();
        assert_eq!(problem.code, "database_missing", "{problem}");
        assert!(problem.message.contains(folder), "{problem}");
        assert!(!paths.database().exists());
        assert_eq!(
            crate::repair::condition(&paths).unwrap(),
            crate::repair::Condition::Missing
        );

        // Beginning anew is said, and touches nothing of it.
        assert_eq!(crate::repair::replace(&paths, None, now()).unwrap(), None);
        drop(open(&paths, now()).unwrap());
        assert_eq!(
            crate::repair::condition(&paths).unwrap(),
            crate::repair::Condition::Sound
        );
        assert_eq!(std::fs::read(file).unwrap(), b"mine");
    }
}

#[test]
fn a_database_of_a_newer_version_is_not_called_damaged() {
    let (_dir, paths) = place();
    drop(open_with(&paths, now(), &and_then(NEXT)).unwrap());
    let problem = crate::repair::condition(&paths).unwrap_err();
    assert_eq!(problem.code, "database_newer");
    files::write_private(&paths.database(), b"no database, but long enough to be one").unwrap();
    assert_eq!(
        crate::repair::condition(&paths).unwrap(),
        crate::repair::Condition::Damaged
    );
}

#[test]
fn what_was_left_of_making_a_database_is_made_again() {
    let (_dir, paths) = place();
    files::write_private(&paths.data.join("skillopt.db.new"), b"half").unwrap();
    files::write_private(&paths.data.join("skillopt.db.new-wal"), b"half").unwrap();
    open(&paths, now()).unwrap();
    assert!(!paths.data.join("skillopt.db.new").exists());
}

#[test]
fn many_openers_at_once_make_one_database() {
    let (_dir, paths) = place();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let paths = &paths;
            scope.spawn(move || {
                let store = Store::open(paths, Arc::new(FixedClock::new(now()))).unwrap();
                for m in 0..10 {
                    store
                        .commit("add", |tx| {
                            tx.execute(
                                "INSERT INTO project (id, root, name, first_seen) VALUES (?1, ?1, '', 0)",
                                [format!("{n}-{m}")],
                            )?;
                            Ok(())
                        })
                        .unwrap();
                }
            });
        }
    });
    let connection = open(&paths, now()).unwrap();
    assert_eq!(count_projects(&connection), 80);
}

#[test]
fn a_full_disk_loses_nothing_and_is_named() {
    let (_dir, paths) = place();
    let store = Store::open(&paths, Arc::new(FixedClock::new(now()))).unwrap();
    store
        .with_connection(|db| {
            add_project(db);
            Ok(())
        })
        .unwrap();
    store
        .with_connection(|db| {
            let pages: i64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
            Ok(db.pragma_update(None, "max_page_count", pages + 2)?)
        })
        .unwrap();
    let big: Vec<u8> = (0..100_000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    let problem = store
        .commit("too much", |tx| {
            crate::blobs::put(tx, &big, crate::blobs::Keep::ForGood)
        })
        .unwrap_err();
    assert_eq!(problem.code, "disk_full");
    assert_eq!(problem.retry, skillopt_core::Retry::Temporary);
    let projects = store.read(|db| {
        Ok(db.query_row("SELECT count(*) FROM project", [], |row| {
            row.get::<_, i64>(0)
        })?)
    });
    assert_eq!(projects.unwrap(), 1);
    store
        .commit("small", |tx| {
            Ok(tx.execute("UPDATE project SET name = 'b'", [])?)
        })
        .unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    // Modes do not stop root, so the folder is below a regular file.
    let (dir, _) = place();
    let file = dir.path().join("file");
    files::write_private(&file, b"").unwrap();
    let problem = open(&Paths::at(&file), now()).unwrap_err();
    assert_eq!(problem.code, "data_dir_unusable", "{problem}");
    assert!(problem.message.contains(&file.display().to_string()));
}

#[test]
fn a_database_that_cannot_be_written_is_named() {
    let (_dir, paths) = place();
    drop(open(&paths, now()).unwrap());
    let connection =
        Connection::open_with_flags(paths.database(), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let error = connection.execute("DELETE FROM project", []).unwrap_err();
    assert_eq!(
        Fault::Sql(error).into_problem(&paths.database()).code,
        "data_dir_read_only"
    );
}

#[test]
fn the_store_in_memory_is_the_same_database() {
    let (_dir, paths) = place();
    let schema = |db: &Connection| -> Vec<(String, Option<String>)> {
        let mut statement = db
            .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .unwrap();
        statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    assert_eq!(
        schema(&in_memory().unwrap()),
        schema(&open(&paths, now()).unwrap())
    );
}
