//! Databases in every state their programs leave them in.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::SystemTime;

use tempfile::TempDir;

use super::*;

/// A database with one table that holds one number, in a folder of its own.
struct Home {
    folder: TempDir,
    writer: Option<Connection>,
}

impl Home {
    fn new(journal_mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let writer = Connection::open(folder.path().join("a b#c?.db")).unwrap();
        writer
            .execute_batch(&format!(
                "PRAGMA journal_mode = {journal_mode}; CREATE TABLE t (x); INSERT INTO t VALUES (1)"
            ))
            .unwrap();
        Self {
            folder,
            writer: Some(writer),
        }
    }

    fn writer(&self) -> &Connection {
        self.writer.as_ref().unwrap()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a b#c?.db")
    }

    /// Every file with its size and time.
    fn look(&self) -> BTreeMap<OsString, (u64, SystemTime)> {
        fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let metadata = entry.metadata().unwrap();
                (
                    entry.file_name(),
                    (metadata.len(), metadata.modified().unwrap()),
                )
            })
            .collect()
    }

    fn open(&self) -> Result<Database, Reason> {
        let path = self.path();
        Database::open(&path, DatabaseFiles::of(&path)?)
    }
}

fn write(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

fn sum(database: &Database) -> i64 {
    database
        .connection()
        .query_row("SELECT sum(x) FROM t", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_closed_database_is_read_and_nothing_is_made_beside_it() {
    for mode in ["WAL", "DELETE", "TRUNCATE", "PERSIST"] {
        let mut home = Home::new(mode);
        home.writer = None;
        let before = home.look();
        {
            let database = home.open().unwrap();
            assert_eq!(database.way, Way::FileAlone, "{mode}");
            assert_eq!(sum(&database), 1);
            assert!(database.holds());
            assert_eq!(home.look(), before, "{mode}");
        }
        assert_eq!(home.look(), before, "{mode}");
    }
}

#[test]
fn what_is_committed_in_the_log_is_seen_and_what_is_not_is_not() {
    let home = Home::new("WAL");
    home.writer()
        .execute_batch("INSERT INTO t VALUES (10); BEGIN IMMEDIATE; INSERT INTO t VALUES (100)")
        .unwrap();
    let before = home.look();
    {
        let database = home.open().unwrap();
        assert_eq!(database.way, Way::Shared);
        assert_eq!(sum(&database), 11);
        // The writer goes on while we read, and we go on seeing what we saw.
        home.writer().execute_batch("COMMIT").unwrap();
        assert_eq!(sum(&database), 11);
        assert!(database.holds());
    }
    assert_eq!(sum(&home.open().unwrap()), 111);
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        home.look().keys().collect::<Vec<_>>()
    );
}

#[test]
fn a_copy_without_the_shared_index_is_read_from_its_log() {
    let home = Home::new("WAL");
    home.writer()
        .execute_batch("INSERT INTO t VALUES (10)")
        .unwrap();
    let copy = tempfile::tempdir().unwrap();
    let path = copy.path().join("copy.db");
    fs::copy(home.path(), &path).unwrap();
    fs::copy(beside(&home.path(), "-wal"), beside(&path, "-wal")).unwrap();
    let database = Database::open(&path, DatabaseFiles::of(&path).unwrap()).unwrap();
    assert_eq!(database.way, Way::LogWithoutIndex);
    assert_eq!(sum(&database), 11);
    assert!(database.holds());
    drop(database);
    assert_eq!(fs::read_dir(copy.path()).unwrap().count(), 2);
    // A log that belongs to another database holds nothing.
    write(&beside(&path, "-wal"), &[7; 50_000]);
    let database = Database::open(&path, DatabaseFiles::of(&path).unwrap());
    assert!(
        database.is_ok_and(|database| database.has("t", &["x"]) == Ok(false)),
        "the table was still in the log"
    );
}

#[test]
fn a_write_without_locks_is_noticed_and_not_hindered() {
    let home = Home::new("DELETE");
    let database = home.open().unwrap();
    assert_eq!(sum(&database), 1);
    assert!(database.holds());
    home.writer().busy_timeout(Duration::ZERO).unwrap();
    home.writer()
        .execute_batch("INSERT INTO t VALUES (randomblob(100000))")
        .unwrap();
    assert!(!database.holds());
}

#[test]
fn a_transaction_in_the_middle_of_being_written_is_left_alone() {
    let home = Home::new("DELETE");
    let journal = beside(&home.path(), "-journal");
    write(&journal, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7");
    assert_eq!(home.open().unwrap_err(), Reason::BusyDatabase);
    // As journals that were dealt with are left.
    for content in [vec![], vec![0; 512]] {
        write(&journal, &content);
        assert!(home.open().is_ok());
    }
}

#[test]
fn what_is_no_database_says_so() {
    let home = Home::new("DELETE");
    let path = home.path();
    let whole = fs::read(&path).unwrap();
    let open = |bytes: &[u8]| {
        write(&path, bytes);
        home.open()
    };
    assert_eq!(open(b"no database").unwrap_err(), Reason::DamagedDatabase);
    assert_eq!(open(&[7; 9000]).unwrap_err(), Reason::DamagedDatabase);
    assert_eq!(open(&whole[..50]).unwrap_err(), Reason::DamagedDatabase);
    // An empty file is a database without tables.
    assert_eq!(open(b"").unwrap().has("t", &["x"]), Ok(false));
    // From the future: a file format nobody knows.
    let mut future = whole.clone();
    future[19] = 9;
    assert_eq!(open(&future).unwrap_err(), Reason::DamagedDatabase);
    fs::remove_file(&path).unwrap();
    assert_eq!(home.open().unwrap_err(), Reason::Vanished);
    fs::create_dir(&path).unwrap();
    assert_eq!(home.open().unwrap_err(), Reason::NotAFile);
}

#[test]
fn only_tables_of_stored_columns_count() {
    let home = Home::new("DELETE");
    home.writer()
        .execute_batch(
            "CREATE VIEW v AS SELECT 1 AS x;
             CREATE TABLE computed (a, b AS (zeroblob(900000000)));
             CREATE INDEX i ON t (x);
             CREATE TABLE part (a, b, c);
             CREATE INDEX only_some ON part (a) WHERE a > 1;
             CREATE INDEX second ON part (b, c);",
        )
        .unwrap();
    let database = home.open().unwrap();
    for (table, columns, expected) in [
        ("t", &["x"][..], true),
        ("t", &["x", "y"], false),
        ("v", &["x"], false),
        ("computed", &["a"], true),
        ("computed", &["b"], false),
        ("nothing", &[], false),
    ] {
        assert_eq!(database.has(table, columns), Ok(expected), "{table}");
    }
    for (table, column, expected) in [
        ("t", "x", true),
        ("part", "a", false),
        ("part", "b", true),
        ("part", "c", false),
    ] {
        assert_eq!(database.finds_by(table, column), Ok(expected), "{table}");
    }
}

/// Other systems refuse such names.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_opened() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new("DELETE");
    let odd = home
        .folder
        .path()
        .join(std::ffi::OsStr::from_bytes(b"\xFF%41.db"));
    fs::copy(home.path(), &odd).unwrap();
    let database = Database::open(&odd, DatabaseFiles::of(&odd).unwrap()).unwrap();
    assert_eq!(sum(&database), 1);
}
