use super::*;
use crate::clock::FixedClock;

fn add_project(db: &Connection, name: &str) -> rusqlite::Result<usize> {
    db.execute(
        "INSERT INTO project (id, root, name, first_seen) VALUES (?1, ?1, ?1, 0)",
        [name],
    )
}

fn projects(db: &Connection) -> Vec<String> {
    let mut names = db.prepare("SELECT id FROM project ORDER BY id").unwrap();
    let names = names.query_map([], |row| row.get(0)).unwrap();
    names.map(Result::unwrap).collect()
}

/// What the next start would find in database and log as they are now.
fn at_next_start(paths: &Paths) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for name in ["skillopt.db", "skillopt.db-wal"] {
        std::fs::copy(paths.data.join(name), folder.path().join(name)).unwrap();
    }
    projects(&Connection::open(folder.path().join("skillopt.db")).unwrap())
}

#[test]
fn a_durable_commit_that_could_not_be_flushed_does_not_come_back_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let paths = Paths::at(folder.path());
    let now = "2026-11-29T03:15:00Z".parse().unwrap();
    let store = Store::open(&paths, Arc::new(FixedClock::new(now))).unwrap();
    store
        .commit("kept", |tx| Ok(add_project(tx, "kept")?))
        .unwrap();

    // What a failed flush leaves: the whole transaction is in the log, as a twin of this database writes
    // it, and this process knows nothing of it.
    let log = paths.data.join("skillopt.db-wal");
    let kept = std::fs::read(&log).unwrap();
    let twin = tempfile::tempdir().unwrap();
    std::fs::copy(paths.database(), twin.path().join("skillopt.db")).unwrap();
    files::write_private(&twin.path().join("skillopt.db-wal"), &kept).unwrap();
    {
        let twin_log = twin.path().join("skillopt.db-wal");
        let twin = Connection::open(twin.path().join("skillopt.db")).unwrap();
        add_project(&twin, "failed").unwrap();
        let whole = std::fs::read(twin_log).unwrap();
        assert!(whole.starts_with(&kept) && whole.len() > kept.len());
        let mut log = std::fs::File::options().append(true).open(&log).unwrap();
        std::io::Write::write_all(&mut log, &whole[kept.len()..]).unwrap();
    }
    assert_eq!(store.read(|db| Ok(projects(db))).unwrap(), ["kept"]);
    assert_eq!(at_next_start(&paths), ["failed", "kept"], "so it would be");

    let failed = store.commit_durably("failed", |_| -> Result<(), Fault> {
        Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_FSYNC),
            None,
        )
        .into())
    });
    assert_eq!(failed.unwrap_err().code, "database_io");
    assert_eq!(at_next_start(&paths), ["kept"]);
}
