//! Everything that can be wrong with a session or its store, and what a harvest makes of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use rusqlite::Connection;
use skillopt_core::agent::Agent;
use skillopt_transcripts::Reason;

use crate::homes::write;
use crate::other_process::{Doing, Other};
use crate::scene::{FILLING, Found, Scene, another};
use crate::stores::{Form, Record, Rows, Store, part};

macro_rules! faults {
    ($($name:ident $text:literal,)+) => {
        /// What is wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault { $($name,)+ }

        impl Fault {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)+];

            pub(crate) const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

faults! {
    CutRecord "a record is cut in the middle",
    CutStore "the store is cut in the middle",
    RandomRecord "a record of random bytes",
    RandomStore "random bytes in the place of the store",
    WrongShape "valid JSON of the wrong shape",
    Deep "5,000 levels in the place of the words",
    Giant "an integer of 5,000 digits in the place of the words",
    Broad "a record of 80 MB",
    Bomb "a few kilobytes that unpack to 64 MB",
    Locked "another process holds every lock, in the middle of a transaction",
    RollsBack "another process has a journal that must be taken back",
    BeingWritten "another process writes all the time",
    Corrupt "a page of the database is overwritten",
    NoTable "the table of records is missing",
    OtherColumns "a column has another name",
    Future "columns, tables and records of a later version",
    ClockSkew "clocks that are wrong",
    SameIds "the same records again",
    LinkLoop "links that lead back to themselves",
    OddPath "a path that is no text",
    Deleted "deleted between listing and opening",
}

/// What came of one fault in one store.
pub(crate) enum Cell {
    /// The store cannot have it.
    DoesNotApply(&'static str),
    Found(Found),
    /// What the other process had written by then; the order of events is not ours to decide.
    AsFarAsWritten(BTreeSet<Reason>),
}

/// Bytes that look like nothing, the same every time, without line ends.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(byte)
        .map(|byte| if byte == b'\n' { b' ' } else { byte })
        .take(length)
        .collect()
}

/// The record of `words` with `value` in their place.
fn instead_of_words(store: &Store, value: &str) -> Record {
    let Record { bytes, millis } = store.typed(2, "odd");
    let text = String::from_utf8(bytes).unwrap();
    // Cursor's transcripts have a mark around the words.
    let bytes = text
        .replace("\"<user_query>odd</user_query>\"", value)
        .replace("\"odd\"", value)
        .into_bytes();
    Record { bytes, millis }
}

const BARE: &str = "its prompts are bare words: whatever stands there are the words";
const NO_DATABASE: &str = "only databases have that";

/// Inflicts a fault on a store, and says what a harvest makes of it.
pub(crate) fn cell(store: &Store, fault: Fault) -> Cell {
    let scene = Scene::new(store);
    let home = scene.home();
    let rows = match &store.form {
        Form::Rows(rows) => Some(rows),
        Form::Lines { .. } | Form::Document { .. } | Form::Folder => None,
    };
    match fault {
        Fault::CutRecord | Fault::WrongShape | Fault::Deep | Fault::Giant if !store.json() => {
            return Cell::DoesNotApply(BARE);
        }
        Fault::CutRecord => {
            let Record { mut bytes, millis } = store.typed(2, "odd");
            bytes.truncate(bytes.len() / 2);
            scene.around(Record { bytes, millis });
        }
        Fault::RandomRecord => scene.around(Record::of(noise(4096))),
        Fault::WrongShape => scene.around(Record::of("[1,2]")),
        Fault::Deep => {
            let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
            scene.around(instead_of_words(store, &deep));
        }
        Fault::Giant => {
            let giant = format!("1{}", "0".repeat(4999));
            scene.around(instead_of_words(store, &giant));
        }
        Fault::Broad => scene.around(store.typed(2, &"x".repeat(80 << 20))),
        Fault::CutStore => {
            scene.sound();
            match &store.form {
                Form::Lines { .. } | Form::Document { .. } => {
                    cut(&store.session(&home, "bad"), |length| length - 12);
                }
                Form::Folder => cut(&part(&home, "bad", 1), |length| length / 2),
                Form::Rows(rows) => cut(&settled(rows, &home), |length| length / 2),
            }
        }
        Fault::RandomStore => {
            scene.sound();
            if let Some(rows) = rows {
                settled(rows, &home);
            }
            write(&store.session(&home, "bad"), &noise(200_000));
        }
        Fault::Bomb => match &store.form {
            Form::Lines { .. } | Form::Document { .. } => {
                write(&store.session(&home, "bad"), &bomb());
            }
            Form::Folder => return Cell::DoesNotApply("only whole transcripts are ever unpacked"),
            Form::Rows(rows) => match store.agent {
                Agent::OpenClaw => {
                    scene.sound();
                    let db = rows.open(&home);
                    let sql = "UPDATE transcript_events SET event_json = NULL, event_zstd = ?1
                               WHERE session_id = 'bad' AND seq = 1";
                    db.execute(sql, [bomb()]).unwrap();
                }
                Agent::Claude
                | Agent::Codex
                | Agent::Copilot
                | Agent::Vscode
                | Agent::Cursor
                | Agent::Pi
                | Agent::OpenCode
                | Agent::Devin => {
                    return Cell::DoesNotApply("nothing in it is ever unpacked");
                }
            },
        },
        Fault::Locked | Fault::RollsBack => {
            let Some(rows) = rows else {
                return Cell::DoesNotApply(NO_DATABASE);
            };
            scene.sound();
            if fault == Fault::RollsBack {
                let mode = "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE";
                rows.open(&home).execute_batch(mode).unwrap();
            }
            let doing = if fault == Fault::Locked {
                Doing::Locks
            } else {
                Doing::RollsBack
            };
            let mut other = Other::start(store, &home, doing);
            other.wait();
            let found = scene.found();
            other.end();
            return Cell::Found(found);
        }
        Fault::BeingWritten => return being_written(&scene),
        Fault::Corrupt => {
            let Some(rows) = rows else {
                return Cell::DoesNotApply(NO_DATABASE);
            };
            scene.sound();
            overwrite_root(rows, &home);
        }
        Fault::NoTable | Fault::OtherColumns => {
            let Some(rows) = rows else {
                return Cell::DoesNotApply(NO_DATABASE);
            };
            scene.sound();
            let (table, column) = (rows.table, rows.column);
            let change = if fault == Fault::NoTable {
                format!("DROP TABLE {table}")
            } else {
                format!("ALTER TABLE {table} RENAME COLUMN {column} TO of_the_future")
            };
            rows.open(&home).execute_batch(&change).unwrap();
        }
        Fault::Future => {
            if store.unknown.is_empty() && rows.is_none() {
                return Cell::DoesNotApply("its records have no types");
            }
            if store.unknown.is_empty() {
                scene.sound();
            } else {
                scene.around(Record::of(store.unknown));
            }
            if let Some(rows) = rows {
                let change = format!(
                    "PRAGMA user_version = 4000; CREATE TABLE of_the_future (id);
                     ALTER TABLE {} ADD COLUMN of_the_future",
                    rows.table
                );
                rows.open(&home).execute_batch(&change).unwrap();
            }
        }
        Fault::ClockSkew => {
            let records = [
                (
                    1,
                    "first",
                    "9999-12-31T23:59:59.999Z",
                    Some(253_402_300_799_999),
                ),
                (2, "second", "1969-12-31T23:59:59Z", Some(-1000)),
                (3, "third", "yesterday", None),
                (
                    4,
                    "fourth",
                    "2026-01-05T10:00:00+23:59",
                    Some(1_767_520_860_000),
                ),
            ]
            .map(|(id, words, time, millis)| store.typed_at(id, words, time, millis));
            store.put(&home, "bad", &records);
        }
        Fault::SameIds => {
            if !store.ids() && matches!(store.form, Form::Lines { .. }) {
                return Cell::DoesNotApply(
                    "its records have no ids: the same words again were typed again",
                );
            }
            scene.sound();
            match store.form {
                Form::Lines { .. } | Form::Document { .. } => {
                    scene.around(store.typed(1, "before"));
                }
                // Their own keys forbid it within one.
                Form::Folder | Form::Rows(_) => {
                    let both = [store.typed(1, "before"), store.typed(3, "after")];
                    store.put(&scene.second(), "bad", &both);
                }
            }
        }
        Fault::LinkLoop => return link_loop(&scene),
        Fault::OddPath => return odd_path(scene),
        Fault::Deleted => return deleted(scene),
    }
    Cell::Found(scene.found())
}

fn cut(path: &Path, length: impl FnOnce(usize) -> usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes.truncate(length(bytes.len()));
    write(path, &bytes);
}

/// 64 MB of the same letter, packed.
fn bomb() -> Vec<u8> {
    let bomb = zstd::encode_all(std::io::Read::take(std::io::repeat(b'a'), 64 << 20), 3).unwrap();
    assert!(bomb.len() < 20_000);
    bomb
}

/// The database with everything in its main file, and nobody using it.
pub(crate) fn settled(rows: &Rows, home: &Path) -> PathBuf {
    let db = rows.open(home);
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        .unwrap();
    home.join(rows.path)
}

/// Overwrites the first page of the table of records.
fn overwrite_root(rows: &Rows, home: &Path) {
    let path = settled(rows, home);
    let db = Connection::open(&path).unwrap();
    let (page, size): (u32, u32) = db
        .query_row(
            "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?1",
            [rows.table],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    drop(db);
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::io::Seek::seek(
        &mut file,
        std::io::SeekFrom::Start(u64::from(page - 1) * u64::from(size)),
    )
    .unwrap();
    file.write_all(&noise(usize::try_from(size).unwrap()))
        .unwrap();
}

/// Harvests while another process adds one record after the other.
fn being_written(scene: &Scene<'_>) -> Cell {
    let mut other = Other::start(scene.store, &scene.home(), Doing::Writes);
    other.wait();
    let mut allowed = BTreeSet::new();
    for _ in 0..10 {
        let Found {
            said,
            beside,
            counted,
            ..
        } = scene.found();
        let busy = counted.contains_key(&Reason::BusyDatabase);
        assert!(beside || busy, "{}: {counted:?}", scene.store.name);
        // Each once, in their order. What is written whole each time may be caught half written.
        let numbers: Vec<usize> = said.iter().map(|words| words.parse().unwrap()).collect();
        let complete: Vec<usize> = (0..numbers.len()).collect();
        assert_eq!(numbers, complete, "{}", scene.store.name);
        for (reason, number) in counted {
            assert_eq!(number, 1, "{}: {reason:?}", scene.store.name);
            allowed.insert(reason);
        }
    }
    let written = other.end();
    let Found { said, counted, .. } = scene.found();
    assert_eq!(said.len(), written, "{}", scene.store.name);
    assert!(counted.is_empty(), "{}: {counted:?}", scene.store.name);
    Cell::AsFarAsWritten(allowed)
}

#[cfg(unix)]
fn link_loop(scene: &Scene<'_>) -> Cell {
    use std::os::unix::fs::symlink;
    let (store, home) = (scene.store, scene.home());
    match &store.form {
        Form::Lines { folder, .. } | Form::Document { folder, .. } => {
            let folder = home.join(folder);
            symlink(&folder, folder.join("loop")).unwrap();
            symlink(folder.join("b"), folder.join("a")).unwrap();
            symlink(folder.join("a"), folder.join("b")).unwrap();
            scene.sound();
        }
        Form::Folder => {
            scene.sound();
            let sessions = home.join("storage/session");
            symlink(sessions.join("p"), sessions.join("again")).unwrap();
            symlink(sessions.join("self"), sessions.join("self")).unwrap();
            let message = home.join("storage/message/bad/msg_loop.json");
            symlink(&message, &message).unwrap();
        }
        Form::Rows(rows) => {
            let path = settled(rows, &home);
            fs::remove_file(&path).unwrap();
            symlink(&path, &path).unwrap();
        }
    }
    Cell::Found(scene.found())
}

#[cfg(unix)]
fn odd_path(mut scene: Scene<'_>) -> Cell {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let odd = OsStr::from_bytes(b"\xFF\xFE");
    scene.sound();
    let store = scene.store;
    match store.form {
        Form::Lines { .. } | Form::Document { .. } | Form::Folder => {
            let sound = store.session(&scene.home(), "bad");
            let name = sound.as_os_str().as_bytes();
            // The session's name, wherever in the path it stands.
            let mut parts = Vec::new();
            for part in name.split(|byte| *byte == b'/') {
                let ending = part
                    .strip_prefix(b"bad")
                    .or(part.strip_prefix(b"rollout-bad"));
                let before: &[u8] = match ending {
                    Some(_) if part.starts_with(b"rollout-") => b"rollout-",
                    _ => b"",
                };
                parts.push(ending.map_or_else(
                    || part.to_vec(),
                    |ending| [before, odd.as_bytes(), ending].concat(),
                ));
            }
            let odd = PathBuf::from(OsStr::from_bytes(&parts.join(&b"/"[..])));
            fs::create_dir_all(odd.parent().unwrap()).unwrap();
            fs::rename(&sound, &odd).unwrap();
        }
        Form::Rows(_) => {
            let home = scene.path("first");
            let odd = scene.path(odd);
            fs::rename(home, &odd).unwrap();
            let other = another(store.agent).agent;
            scene.request.homes = [
                (store.agent, vec![odd, scene.path("second")]),
                (other, vec![scene.path("another")]),
            ]
            .into_iter()
            .collect();
        }
    }
    Cell::Found(scene.found())
}

/// Deletes what holds the session when everything was listed.
fn deleted(mut scene: Scene<'_>) -> Cell {
    let store = scene.store;
    let home = scene.home();
    scene.sound();
    // Nothing else asks whether to stop before this store does.
    scene.request.agents = vec![store.agent];
    match &store.form {
        // The biggest files are read first, so that this one is still to come.
        Form::Lines { .. } | Form::Document { .. } => {
            for number in 0..8_u32 {
                let words = format!("{FILLING}{number} ").repeat(100);
                let name = format!("more{number}");
                store.put(&home, &name, &[store.typed(10 + number, &words)]);
            }
        }
        Form::Folder => {}
        Form::Rows(rows) => {
            settled(rows, &home);
        }
    }
    let gone = match store.form {
        Form::Folder => vec![part(&home, "bad", 0), store.session(&home, "bad")],
        Form::Lines { .. } | Form::Document { .. } | Form::Rows(_) => {
            vec![store.session(&home, "bad")]
        }
    };
    let done = AtomicBool::new(false);
    let delete = || {
        if !done.swap(true, Relaxed) {
            for path in &gone {
                fs::remove_file(path).unwrap();
            }
        }
        false
    };
    let found = scene.found_while(&delete);
    assert!(done.load(Relaxed));
    Cell::Found(found)
}
