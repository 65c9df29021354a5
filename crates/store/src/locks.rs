//! Exclusion between processes, by locks of the operating system.
//!
//! The kernel releases a lock when its process dies, so a lock file that is left over means nothing
//! and is never broken or deleted. Beside each lock file a note says in words who holds it.
//!
//! Every lock of a project or a document also holds the data folder as a whole, shared; moving or
//! purging it asks for the whole, exclusively.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use skillopt_core::hash::sha256_hex;
use skillopt_core::{Instant, Problem};

use crate::documents;
use crate::fault::io_problem;
use crate::files;
use crate::paths::Paths;

mod sign_in;

pub use sign_in::{SignIn, sign_in};

/// Name of the lock of whoever starts the nights that are due.
const SUPERVISOR: &str = "supervisor";

/// A held lock; released when it is dropped, or when the process ends however it ends.
#[derive(Debug)]
#[must_use = "the lock is released when the guard is dropped"]
pub struct Guard {
    // Fields are dropped in this order: note, lock, share of the data folder.
    _note: Option<Note>,
    _lock: Option<Locked>,
    _whole: Option<Locked>,
}

/// A locked file.
///
/// Closing is not enough to release a lock at once: a program that is being started at this moment
/// has a copy of the open file until it runs.
#[derive(Debug)]
pub(crate) struct Locked(pub(crate) File);

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing follows, and releases it a little later if this fails.
        let _ = self.0.unlock();
    }
}

/// The words beside a lock. One that stays behind is only read while a lock is held.
#[derive(Debug)]
struct Note(PathBuf);

impl Drop for Note {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Who holds a lock; for words only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Holder {
    /// It left a note.
    Known {
        /// Its process.
        pid: u32,
        /// When it took the lock.
        since: Instant,
        /// What it does, for example `sleep run`.
        doing: String,
    },
    /// The lock is held, and nobody says by whom: its note is not written yet, or could not be.
    Unknown,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known { pid, since, doing } => write!(f, "process {pid} since {since}: {doing}"),
            Self::Unknown => f.write_str("a process that left no note"),
        }
    }
}

/// A note as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    pid: u32,
    since: Instant,
    doing: String,
}

/// Locks a project: one night at a time. `doing` and `now` are for the words of others.
///
/// Errors: `project_busy` (names the holder), `data_dir_busy`, `locks_unsupported`, and those of
/// making files.
pub fn project(paths: &Paths, project: &str, doing: &str, now: Instant) -> Result<Guard, Problem> {
    take(paths, &project_name(project), doing, now, |holder| {
        Problem::temporary(
            "project_busy",
            format!("Another process works on this project{holder}."),
            "Wait until it is done, or stop it with `skillopt night cancel`.",
        )
    })
}

/// Locks one document of the user by its real path; projects can share a skill.
///
/// Errors: `document_busy` (names the holder), and those of [`project`].
pub fn document(
    paths: &Paths,
    real_path: &Path,
    doing: &str,
    now: Instant,
) -> Result<Guard, Problem> {
    take(paths, &document_name(real_path), doing, now, |holder| {
        Problem::temporary(
            "document_busy",
            format!("Another process changes {}{holder}.", real_path.display()),
            "Try again when it is done.",
        )
    })
}

/// Locks several documents, all or none; each once, in one order for all processes.
pub fn documents(
    paths: &Paths,
    real_paths: &[PathBuf],
    doing: &str,
    now: Instant,
) -> Result<Vec<Guard>, Problem> {
    let mut ordered: Vec<&PathBuf> = real_paths.iter().collect();
    ordered.sort_by_key(|path| documents::identity(path));
    ordered.dedup_by_key(|path| documents::identity(path));
    ordered
        .into_iter()
        .map(|path| document(paths, path, doing, now))
        .collect()
}

/// Locks the scheduled nights of a project: from looking whether one is still to be run until it is
/// written down that it was.
///
/// Errors: `schedule_busy` (names the holder), and those of [`project`].
pub fn schedule(paths: &Paths, project: &str, doing: &str, now: Instant) -> Result<Guard, Problem> {
    let name = format!("schedule-{}", project_name(project));
    take(paths, &name, doing, now, |holder| {
        Problem::temporary(
            "schedule_busy",
            format!("Another process runs the scheduled night of this project{holder}."),
            "Wait until it is done.",
        )
    })
}

/// Locks the keys in the keyring: they are one item, which is read and written back.
///
/// Errors: `keyring_busy` (names the holder), and those of [`project`].
pub fn keyring(paths: &Paths, doing: &str, now: Instant) -> Result<Guard, Problem> {
    take(paths, "keyring", doing, now, |holder| {
        Problem::temporary(
            "keyring_busy",
            format!("Another process changes the keys in your keyring{holder}."),
            "Answer the dialog of your keyring if there is one, and try again.",
        )
    })
}

/// Locks the making of a copy of the data: what is purged meanwhile would live on in it.
///
/// Errors: `data_dir_busy` (names the holder), and those of [`project`].
pub fn copying(paths: &Paths, now: Instant) -> Result<Guard, Problem> {
    take(paths, "copy", "copying the data", now, |holder| {
        Problem::temporary(
            "data_dir_busy",
            format!("Another process copies the data{holder}."),
            "Try again when it is done.",
        )
    })
}

/// Locks the schedule of this data folder: one process starts the nights that are due. It does not stand
/// in the way of moving or purging the data.
///
/// Errors: `supervisor_busy` (names the holder), and those of making files.
pub fn supervisor(paths: &Paths, doing: &str, now: Instant) -> Result<Guard, Problem> {
    files::create_private_dir(&paths.locks())?;
    let path = paths.locks().join(format!("{SUPERVISOR}.lock"));
    let lock = Locked(open(&path)?);
    match patiently(|| lock.0.try_lock()) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = read_note(&note_path(&paths.locks(), SUPERVISOR));
            return Err(Problem::temporary(
                "supervisor_busy",
                format!("Another process starts the nights that are due ({holder})."),
                "Nothing has to be done: this one takes over when the other ends.",
            ));
        }
        Err(TryLockError::Error(error)) => return Err(unsupported(&path, &error)),
    }
    let note = leave_note(paths, SUPERVISOR, doing, now);
    Ok(Guard {
        _note: Some(note),
        _lock: Some(lock),
        _whole: None,
    })
}

/// Who starts the nights that are due; `None` when nobody does, or when it cannot be told.
#[must_use]
pub fn supervisor_holder(paths: &Paths) -> Option<Holder> {
    holder(&paths.locks(), SUPERVISOR)
}

/// Locks the data folder as a whole: nothing else runs while it is moved or purged.
///
/// Error: `data_dir_busy`, naming what runs.
pub fn whole(paths: &Paths) -> Result<Guard, Problem> {
    let path = whole_path(paths)?;
    let whole = Locked(open(&path)?);
    match patiently(|| whole.0.try_lock()) {
        Ok(()) => Ok(Guard {
            _note: None,
            _lock: None,
            _whole: Some(whole),
        }),
        Err(TryLockError::WouldBlock) => {
            let running = running(paths);
            let named = if running.is_empty() {
                String::new()
            } else {
                format!(": {}", running.join("; "))
            };
            Err(Problem::temporary(
                "data_dir_busy",
                format!("Something still works in {}{named}.", paths.data.display()),
                "Wait until it is done, or stop it with `skillopt night cancel`.",
            ))
        }
        Err(TryLockError::Error(error)) => Err(unsupported(&path, &error)),
    }
}

/// Who works on a project now; `None` when nobody does, or when it cannot be told.
#[must_use]
pub fn project_holder(paths: &Paths, project: &str) -> Option<Holder> {
    holder(&paths.locks(), &project_name(project))
}

fn project_name(project: &str) -> String {
    if !project.is_empty()
        && project.len() <= 64
        && project.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        format!("project-{project}")
    } else {
        format!("project-{}", sha256_hex(project.as_bytes()))
    }
}

fn document_name(real_path: &Path) -> String {
    format!(
        "document-{}",
        sha256_hex(documents::identity(real_path).as_bytes())
    )
}

fn whole_path(paths: &Paths) -> Result<PathBuf, Problem> {
    files::create_private_dir(&paths.locks())?;
    Ok(paths.locks().join("data.lock"))
}

fn open(path: &Path) -> Result<File, Problem> {
    files::open_private(path).map_err(|error| io_problem(&error, "open the lock file", path))
}

/// Tries for a moment: whoever only looks whether a lock is held holds it for that long, and so does
/// a program that was just started by a process that died.
fn patiently(lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    const TRIES: u32 = 20;
    for _ in 1..TRIES {
        match lock() {
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            result => return result,
        }
    }
    lock()
}

fn take(
    paths: &Paths,
    name: &str,
    doing: &str,
    now: Instant,
    busy: impl FnOnce(String) -> Problem,
) -> Result<Guard, Problem> {
    let whole_path = whole_path(paths)?;
    let whole = Locked(open(&whole_path)?);
    match patiently(|| whole.0.try_lock_shared()) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(Problem::temporary(
                "data_dir_busy",
                format!("{} is being moved or purged.", paths.data.display()),
                "Try again when that is done.",
            ));
        }
        Err(TryLockError::Error(error)) => return Err(unsupported(&whole_path, &error)),
    }
    let path = paths.locks().join(format!("{name}.lock"));
    let lock = Locked(open(&path)?);
    match patiently(|| lock.0.try_lock()) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = read_note(&note_path(&paths.locks(), name));
            return Err(busy(format!(" ({holder})")));
        }
        Err(TryLockError::Error(error)) => return Err(unsupported(&path, &error)),
    }
    let note = leave_note(paths, name, doing, now);
    Ok(Guard {
        _note: Some(note),
        _lock: Some(lock),
        _whole: Some(whole),
    })
}

fn note_path(locks: &Path, name: &str) -> PathBuf {
    locks.join(format!("{name}.json"))
}

fn read_note(path: &Path) -> Holder {
    let written = || serde_json::from_slice::<Written>(&std::fs::read(path).ok()?).ok();
    written().map_or(Holder::Unknown, |note| Holder::Known {
        pid: note.pid,
        since: note.since,
        doing: note.doing,
    })
}

/// Who holds the lock called `name` in the folder `locks`.
fn holder(locks: &Path, name: &str) -> Option<Holder> {
    let file = Locked(File::open(locks.join(format!("{name}.lock"))).ok()?);
    match file.0.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read_note(&note_path(locks, name))),
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// What runs in the data folder, in words.
fn running(paths: &Paths) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(paths.locks()) else {
        return Vec::new();
    };
    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_suffix(".lock"))
                .map(str::to_owned)
        })
        .filter(|name| name != SUPERVISOR && !name.starts_with(sign_in::NAME))
        .filter_map(|name| holder(&paths.locks(), &name))
        .map(|holder| holder.to_string())
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Writes who holds a lock. It is for words only: a lock is worth having without it.
fn leave_note(paths: &Paths, name: &str, doing: &str, now: Instant) -> Note {
    let note = note_path(&paths.locks(), name);
    let holder = Written {
        pid: std::process::id(),
        since: now,
        doing: doing.to_owned(),
    };
    if let Ok(text) = serde_json::to_vec(&holder) {
        let _ = files::write_note(&note, &text);
    }
    Note(note)
}

fn unsupported(path: &Path, error: &std::io::Error) -> Problem {
    Problem::permanent(
        "locks_unsupported",
        format!(
            "The file system of {} cannot lock files: {error}.",
            path.display()
        ),
        "Copy the data folder to a local disk and set SKILLOPT_DATA_DIR to the copy; nothing runs without locks, not even `skillopt data move`.",
    )
}
