//! Content-addressed bytes: compressed, stored once, named by their SHA-256.
//!
//! There are no reference counts. Bytes of prompts and replies are kept as [`Keep::Evidence`] and
//! expire; bytes of documents are kept [`Keep::ForGood`]. When the body is gone the hash and the
//! size stay, so that what refers to it can still say what it was.

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use serde::de::DeserializeOwned;
use skillopt_core::Instant;
use skillopt_core::hash::sha256_hex;

use crate::fault::{Fault, unreadable};
use crate::row::{At, Count, from_json, to_json};
use crate::store::Tx;
use crate::words::words;

words! {
    /// How long bytes are kept.
    Keep {
        /// Prompts, replies and stage outputs: until `privacy.evidence_days` have passed.
        Evidence = "evidence",
        /// Documents, proposals and before-images: until they are purged by request.
        ForGood = "for_good",
    }
}

/// zstd level: replies are short, and the writer waits for it.
const LEVEL: i32 = 3;

/// Stores `bytes` and gives their SHA-256 (64 lowercase hex characters).
///
/// Storing the same bytes again keeps one copy, restores an expired body, counts as a use, and
/// never shortens how long they are kept.
pub fn put(tx: &Tx<'_>, bytes: &[u8], keep: Keep) -> Result<String, Fault> {
    let hash = sha256_hex(bytes);
    let known = tx
        .prepare_cached(
            "UPDATE blob SET used_at = max(used_at, ?2), keep = CASE WHEN ?3 = 'for_good' THEN ?3 ELSE keep END
             WHERE hash = ?1 AND body IS NOT NULL",
        )?
        .execute((&hash, At(tx.now()), keep))?;
    if known == 0 {
        let body = compress(bytes)?;
        tx.prepare_cached(
            "INSERT INTO blob (hash, keep, size, used_at, body) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (hash) DO UPDATE SET body = excluded.body, used_at = excluded.used_at,
                 keep = CASE WHEN excluded.keep = 'for_good' THEN excluded.keep ELSE keep END",
        )?
        .execute((&hash, keep, Count(bytes.len() as u64), At(tx.now()), body))?;
    }
    Ok(hash)
}

/// The bytes named by `hash`; `None` when they were never stored or have expired.
pub fn get(db: &Connection, hash: &str) -> Result<Option<Vec<u8>>, Fault> {
    let row = db
        .prepare_cached("SELECT size, body FROM blob WHERE hash = ?1 AND body IS NOT NULL")?
        .query_row([hash], |row| {
            Ok((row.get::<_, Count>(0)?.0, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    let Some((size, body)) = row else {
        return Ok(None);
    };
    let bytes = decompress(&body, size)?;
    if sha256_hex(&bytes) != hash {
        return Err(unreadable(
            "blob",
            format!("its bytes do not hash to {hash}"),
        ));
    }
    Ok(Some(bytes))
}

/// Whether the bytes named by `hash` can be read.
pub fn has(db: &Connection, hash: &str) -> Result<bool, Fault> {
    Ok(db
        .prepare_cached("SELECT 1 FROM blob WHERE hash = ?1 AND body IS NOT NULL")?
        .exists([hash])?)
}

/// Stores `value` as JSON text; see [`put`].
pub fn put_json<T: Serialize + ?Sized>(
    tx: &Tx<'_>,
    value: &T,
    keep: Keep,
) -> Result<String, Fault> {
    put(tx, to_json("blob", value)?.as_bytes(), keep)
}

/// The value stored by [`put_json`]; `None` when it has expired.
pub fn get_json<T: DeserializeOwned>(db: &Connection, hash: &str) -> Result<Option<T>, Fault> {
    let Some(bytes) = get(db, hash)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|error| unreadable("blob", error))?;
    from_json("blob", &text).map(Some)
}

/// Removes the bodies of evidence last used before `before`; hashes, sizes and verdicts stay. Gives
/// their number.
///
/// What a night that has not ended may still need is kept however old it is, and so is what a night
/// of another project than `project` refers to; `None` stands for all projects.
pub fn expire_bodies(tx: &Tx<'_>, project: Option<&str>, before: Instant) -> Result<usize, Fault> {
    Ok(tx.execute(
        "UPDATE blob SET body = NULL WHERE keep = 'evidence' AND body IS NOT NULL AND used_at < ?1 AND hash NOT IN (
            WITH keeping AS (SELECT id, pins FROM night WHERE state <> 'ended' OR project <> ?2)
            SELECT call.request FROM night_call JOIN call USING (key)
            WHERE night_call.night IN (SELECT id FROM keeping)
            UNION SELECT reply FROM attempt JOIN night_call ON night_call.attempt = attempt.id
            WHERE reply IS NOT NULL AND night_call.night IN (SELECT id FROM keeping)
            UNION SELECT reply FROM attempt
            WHERE reply IS NOT NULL AND attempt.night IN (SELECT id FROM keeping)
            UNION SELECT output FROM stage
            WHERE output IS NOT NULL AND night IN (SELECT id FROM keeping)
            UNION SELECT atom FROM keeping, json_tree(keeping.pins) WHERE length(atom) = 64)",
        (At(before), project),
    )?)
}

/// `bytes` as one zstd frame.
pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    zstd::bulk::compress(bytes, LEVEL).map_err(|error| unreadable("blob", error))
}

/// The `size` bytes inside one zstd frame.
pub(crate) fn decompress(body: &[u8], size: u64) -> Result<Vec<u8>, Fault> {
    Decompressor::new()?.decompress(body, size)
}

/// For many frames: what decompressing needs is made once.
pub(crate) struct Decompressor(zstd::bulk::Decompressor<'static>);

impl Decompressor {
    pub(crate) fn new() -> Result<Self, Fault> {
        zstd::bulk::Decompressor::new()
            .map(Self)
            .map_err(|error| unreadable("blob", error))
    }

    /// The `size` bytes inside one zstd frame.
    pub(crate) fn decompress(&mut self, body: &[u8], size: u64) -> Result<Vec<u8>, Fault> {
        let size = usize::try_from(size).map_err(|error| unreadable("blob", error))?;
        self.0
            .decompress(body, size)
            .map_err(|error| unreadable("blob", error))
    }
}
