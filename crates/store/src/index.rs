//! Transcript files as last read, so that a file that has not changed is not read again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use skillopt_core::agent::Agent;

use crate::blobs;
use crate::fault::Fault;
use crate::row::{Bits, Count};
use crate::store::Tx;

/// What must be equal for a file to count as unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Device the file is on; 0 where there is none.
    pub dev: u64,
    /// Inode, or the file index on Windows; 0 where there is none.
    pub ino: u64,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since the epoch of the last change.
    pub mtime_ns: i64,
    /// Version of the reader, so that a corrected reader reads again.
    pub reader_version: u32,
    /// Hash of the settings that change what is read.
    pub settings: Arc<str>,
}

/// One file of the index, without its digest.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its id in the store, for [`digests`].
    pub id: i64,
    /// What it looked like when it was read.
    pub stamp: Stamp,
    /// What is needed of every file each time, as the reader serialised it.
    pub facts: String,
}

/// A file that was read now.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its path.
    pub path: PathBuf,
    /// What it looked like before it was read.
    pub stamp: Stamp,
    /// What is needed of every file each time, as the reader serialises it.
    pub facts: String,
    /// The parsed sessions, as the reader serialises them; compressed here.
    pub digest: Vec<u8>,
}

/// Every indexed file of an agent, by path. One query; digests are read when they are needed.
///
/// Facts stand in the column `skips`, which held no more than counts once.
pub fn entries(db: &Connection, agent: Agent) -> Result<HashMap<PathBuf, Entry>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT path, id, dev, ino, size, mtime_ns, reader_version, settings, skips FROM transcript_file WHERE agent = ?1",
    )?;
    let mut rows = statement.query([agent.id()])?;
    let mut entries = HashMap::new();
    // Mostly all the same.
    let mut settings: Arc<str> = Arc::default();
    while let Some(row) = rows.next()? {
        let own = text(row.get_ref(7)?)?;
        if own != &*settings {
            settings = own.into();
        }
        let entry = Entry {
            id: row.get(1)?,
            stamp: Stamp {
                dev: row.get::<_, Bits>(2)?.0,
                ino: row.get::<_, Bits>(3)?.0,
                size: row.get::<_, Count>(4)?.0,
                mtime_ns: row.get(5)?,
                reader_version: row.get(6)?,
                settings: Arc::clone(&settings),
            },
            facts: text(row.get_ref(8)?)?.to_owned(),
        };
        entries.insert(
            path_from_bytes(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?),
            entry,
        );
    }
    Ok(entries)
}

fn text(value: ValueRef<'_>) -> Result<&str, Fault> {
    Ok(value.as_str().map_err(rusqlite::Error::from)?)
}

/// The digests stored for some entries; `None` for an entry that is gone.
pub fn digests(db: &Connection, ids: &[i64]) -> Result<Vec<Option<Vec<u8>>>, Fault> {
    let mut select =
        db.prepare_cached("SELECT size, body FROM transcript_digest WHERE file = ?1")?;
    let mut decompressor = blobs::Decompressor::new()?;
    let mut digest = |id: &i64| {
        let mut rows = select.query([id])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let body = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        decompressor
            .decompress(body, row.get::<_, Count>(0)?.0)
            .map(Some)
    };
    ids.iter().map(&mut digest).collect()
}

/// Stores what was read; a file read before is replaced. Give some hundred readings per transaction.
pub fn put(tx: &Tx<'_>, agent: Agent, readings: &[Reading]) -> Result<(), Fault> {
    for reading in readings {
        let stamp = &reading.stamp;
        let id: i64 = tx
            .prepare_cached(
                "INSERT INTO transcript_file (agent, path, dev, ino, size, mtime_ns, reader_version, settings, skips)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (agent, path) DO UPDATE SET dev = excluded.dev, ino = excluded.ino,
                     size = excluded.size, mtime_ns = excluded.mtime_ns, reader_version = excluded.reader_version,
                     settings = excluded.settings, skips = excluded.skips
                 RETURNING id",
            )?
            .query_row(
                (
                    agent.id(),
                    path_bytes(&reading.path),
                    Bits(stamp.dev),
                    Bits(stamp.ino),
                    Count(stamp.size),
                    stamp.mtime_ns,
                    stamp.reader_version,
                    &*stamp.settings,
                    &reading.facts,
                ),
                |row| row.get(0),
            )?;
        tx.prepare_cached(
            "INSERT OR REPLACE INTO transcript_digest (file, size, body) VALUES (?1, ?2, ?3)",
        )?
        .execute((
            id,
            Count(reading.digest.len() as u64),
            blobs::compress(&reading.digest)?,
        ))?;
    }
    Ok(())
}

/// Removes files that are no longer there. Give the ids of entries that were not found on disk.
pub fn forget(tx: &Tx<'_>, ids: &[i64]) -> Result<(), Fault> {
    let mut delete = tx.prepare_cached("DELETE FROM transcript_file WHERE id = ?1")?;
    for id in ids {
        delete.execute([id])?;
    }
    Ok(())
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().to_vec()
}

#[cfg(unix)]
fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(windows)]
fn path_bytes(path: &Path) -> Vec<u8> {
    use std::os::windows::ffi::OsStrExt;
    path.as_os_str()
        .encode_wide()
        .flat_map(u16::to_le_bytes)
        .collect()
}

#[cfg(windows)]
fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::windows::ffi::OsStringExt;
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    PathBuf::from(std::ffi::OsString::from_wide(&units))
}
