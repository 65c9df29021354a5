//! The databases of agents, from the bytes of their files.

use std::path::Path;

use rusqlite::Connection;
use skillopt_core::Instant;
use tempfile::TempDir;

use crate::File;
use crate::homes::write;

/// The database of this name among some files, in a folder of its own.
pub(crate) fn opened(files: &[File], name: &str) -> (TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        write(&folder.path().join(path), bytes);
    }
    let database = Connection::open(folder.path().join(name)).unwrap();
    (folder, database)
}

/// The bytes of a database that is made like this.
pub(crate) fn made(
    name: &str,
    open: impl FnOnce(&Path) -> Connection,
    fill: impl FnOnce(&Connection),
) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let database = open(&path);
    database.execute_batch("PRAGMA synchronous = OFF").unwrap();
    fill(&database);
    database.close().unwrap();
    (name.to_owned(), std::fs::read(path).unwrap())
}

/// A moment in milliseconds, as ISO text.
pub(crate) fn instant(millis: i64) -> String {
    Instant::from_millisecond(millis).unwrap().to_string()
}
