//! Transcript files as last read, so that a file that has not changed is not read again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;
use skillopt_core::agent::Agent;

use crate::blobs;
use crate::fault::Fault;
use crate::row::{Bits, Count, from_json, to_json};
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
    pub settings: String,
}

/// One file of the index, without its digest.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its id in the store, for [`digest`].
    pub id: i64,
    /// What it looked like when it was read.
    pub stamp: Stamp,
    /// Counts of what was skipped, by reason.
    pub skips: Value,
}

/// A file that was read now.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its path.
    pub path: PathBuf,
    /// What it looked like before it was read.
    pub stamp: Stamp,
    /// Counts of what was skipped, by reason.
    pub skips: Value,
    /// The parsed sessions, as the reader serialises them; compressed here.
    pub digest: Vec<u8>,
}

/// Every indexed file of an agent, by path. One query; digests are read one by one when needed.
pub fn entries(db: &Connection, agent: Agent) -> Result<HashMap<PathBuf, Entry>, Fault> {
    let mut statement = db.prepare_cached(
        "SELECT path, id, dev, ino, size, mtime_ns, reader_version, settings, skips FROM transcript_file WHERE agent = ?1",
    )?;
    let mut rows = statement.query([agent.id()])?;
    let mut entries = HashMap::new();
    while let Some(row) = rows.next()? {
        let entry = Entry {
            id: row.get(1)?,
            stamp: Stamp {
                dev: row.get::<_, Bits>(2)?.0,
                ino: row.get::<_, Bits>(3)?.0,
                size: row.get::<_, Count>(4)?.0,
                mtime_ns: row.get(5)?,
                reader_version: row.get(6)?,
                settings: row.get(7)?,
            },
            skips: from_json(
                "counts",
                row.get_ref(8)?.as_str().map_err(rusqlite::Error::from)?,
            )?,
        };
        entries.insert(
            path_from_bytes(row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?),
            entry,
        );
    }
    Ok(entries)
}

/// The digest stored for an entry; `None` when the entry is gone.
pub fn digest(db: &Connection, id: i64) -> Result<Option<Vec<u8>>, Fault> {
    let row = db
        .prepare_cached("SELECT size, body FROM transcript_digest WHERE file = ?1")?
        .query_row([id], |row| {
            Ok((row.get::<_, Count>(0)?.0, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    row.map(|(size, body)| blobs::decompress(&body, size))
        .transpose()
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
                    &stamp.settings,
                    to_json("counts", &reading.skips)?,
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
