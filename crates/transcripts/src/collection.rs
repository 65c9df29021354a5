//! Stores that hold many sessions: databases, and folders of small files.
//!
//! The index remembers the whole store and each of its sessions. A store that looks the same as the
//! last time is not opened. Otherwise its sessions are listed, each with what changes when the
//! session does, and those that changed are read again.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillopt_core::hash::sha256_parts;
use skillopt_core::{Instant, Problem};
use skillopt_store::index::Entry;

use crate::database::DatabaseFiles;
use crate::file::FileRead;
use crate::files::State;
use crate::gather::{Gathering, Held, Keeper, Kept, cancelled};
use crate::harvest::{Harvest, Looked};
use crate::index::{self, Index};
use crate::reading::{Counts, Reading, Recorder};
use crate::reason::Reason;
use crate::scope::Project;

/// Most sessions that are read of one store.
pub(crate) const SESSION_LIMIT: usize = 100_000;
/// How often a store is begun with that changes while it is read.
const ATTEMPTS: usize = 3;
/// Sessions that are read before it is looked whether the store still holds.
const BATCH: usize = 64;
/// Rows of a session that are read before it is asked whether to stop.
pub(crate) const PATIENCE: usize = 64;

/// A store that holds many sessions, in one unchanging state.
pub(crate) trait Collection {
    /// Its sessions, the newest first. What is left out of the store as a whole is counted.
    fn list(&mut self, project: &Project, counts: &mut Counts) -> Result<Vec<Listed>, Reason>;

    /// What changes whenever a session does. It is asked for only where something is remembered of the
    /// session, or after it was read.
    fn version(&mut self, id: &str) -> Result<State, Reason>;

    /// Reads one session; returns the bytes that were looked at. What was read of it when `cancel`
    /// says so is not used.
    fn read(
        &mut self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> Result<u64, Reason>;

    /// Whether everything that was read so far belongs to one state of the store.
    fn holds(&self) -> bool;
}

/// One session of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) id: String,
    /// It is known without reading it that none of it belongs to the project.
    pub(crate) elsewhere: bool,
    /// When it was last written, where the list says so.
    pub(crate) ended: Option<Instant>,
}

/// What is said of a store as a whole.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    pub(crate) counts: Counts,
    /// When the last of the sessions was written that were not read.
    pub(crate) newest: Option<Instant>,
}

/// Where an agent may keep many sessions in one store.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// Makes the store readable.
    pub(crate) open: fn(&Path) -> Result<Box<dyn Collection>, Reason>,
    /// Whether the store is one database, which is left alone while its files do not change.
    pub(crate) database: bool,
    /// Whether only sessions of the project are read, because there may be far too many others.
    pub(crate) by_project: bool,
}

impl Place {
    /// What the files of a database look like now. Folders are read file by file, and have none.
    fn looks(&self) -> Option<DatabaseFiles> {
        self.database
            .then(|| DatabaseFiles::of(&self.path).ok())
            .flatten()
    }
}

/// Why a store was not read to its end.
enum Stopped {
    /// Something about the store, which is counted.
    Because(Reason),
    /// The harvest ends.
    With(Problem),
}

impl From<Reason> for Stopped {
    fn from(reason: Reason) -> Self {
        Self::Because(reason)
    }
}

/// The sessions of one store that are known so far, by their ids.
type Gathered = BTreeMap<String, (State, Held)>;

impl Gathering<'_> {
    /// Adds every session of the stores at `places` to `held`. Returns what can be forgotten.
    ///
    /// Errors: `harvest_cancelled`, and those of the index.
    pub(crate) fn collect(
        &self,
        places: &[Place],
        index: &mut Index,
        harvest: &mut Harvest,
        held: &mut Vec<Held>,
    ) -> Result<Vec<i64>, Problem> {
        let mut gone = Vec::new();
        for place in places {
            let sessions = self.store_at(place, index, &mut gone, harvest)?;
            harvest.looked.push(Looked {
                agent: self.agent,
                folder: place.path.clone(),
                present: place.path.exists(),
                files: sessions.len() as u64,
            });
            held.extend(sessions);
        }
        Ok(gone)
    }

    fn store_at(
        &self,
        place: &Place,
        index: &mut Index,
        gone: &mut Vec<i64>,
        harvest: &mut Harvest,
    ) -> Result<Vec<Held>, Problem> {
        let mut remembered = index.take_store(&place.path);
        let files = if place.database {
            match DatabaseFiles::of(&place.path) {
                Ok(files) => files.state(),
                Err(Reason::Vanished) => {
                    // Its folder is there, or nothing of it could be said to be gone.
                    if place.path.parent().is_some_and(Path::is_dir) {
                        gone.extend(remembered.ids());
                    }
                    return Ok(Vec::new());
                }
                Err(reason) => {
                    harvest.skip(self.agent, reason, 1);
                    return Ok(Vec::new());
                }
            }
        } else if place.path.is_dir() {
            State::default()
        } else {
            return Ok(Vec::new());
        };
        if self.rules.exclude.covers(&place.path) {
            harvest.skip(self.agent, Reason::ExcludedFile, 1);
            gone.extend(remembered.ids());
            return Ok(Vec::new());
        }
        let fingerprint = if place.by_project {
            self.project.fingerprint(&self.rules.fingerprint)
        } else {
            Arc::clone(&self.rules.fingerprint)
        };
        let stamp = index::stamp(self.agent, files, &fingerprint);
        if let Some(whole) = remembered.unchanged(&stamp).filter(|_| place.database) {
            let sessions: Option<Vec<Held>> = remembered
                .sessions
                .iter()
                .map(|(path, entry)| self.remembered(path.clone(), entry))
                // Sessions of other projects were counted with the store.
                .filter(|held| {
                    !place.by_project || held.as_ref().is_none_or(|one| self.is_here(one))
                })
                .collect();
            if let Some(sessions) = sessions {
                harvest.count(self.agent, &whole.counts);
                harvest.written(self.agent, whole.newest);
                harvest.files.found += sessions.len() as u64;
                harvest.files.unchanged += sessions.len() as u64;
                return Ok(sessions);
            }
        }
        let mut keeper = Keeper::new(self);
        let mut gathered = Gathered::new();
        let mut outcome = Ok(Whole::default());
        for _ in 0..ATTEMPTS {
            let before = place.looks();
            let sessions = &mut remembered.sessions;
            outcome = self.attempt(place, sessions, &mut keeper, &mut gathered, harvest);
            // What was found wrong with a file that changed meanwhile says nothing.
            if let Err(Stopped::Because(reason)) = &mut outcome
                && place.looks() != before
            {
                *reason = Reason::BusyDatabase;
            }
            match outcome {
                Err(Stopped::Because(Reason::BusyDatabase)) => {}
                _ => break,
            }
        }
        harvest.files.found += gathered.len() as u64;
        match outcome {
            Ok(whole) => {
                harvest.count(self.agent, &whole.counts);
                harvest.written(self.agent, whole.newest);
                // Of a damaged store something older may still be remembered.
                let damaged = whole.counts.reasons.contains_key(&Reason::DamagedDatabase);
                if place.database && !damaged {
                    keeper.remember_store(&place.path, stamp, whole);
                }
                keeper.save()?;
                gone.extend(remembered.sessions.values().map(|entry| entry.id));
            }
            Err(Stopped::Because(reason)) => {
                harvest.skip(self.agent, reason, 1);
                keeper.save()?;
            }
            Err(Stopped::With(problem)) => {
                keeper.save()?;
                return Err(problem);
            }
        }
        Ok(gathered.into_values().map(|(_, held)| held).collect())
    }

    /// Opens the store and reads what is not known of it yet.
    fn attempt(
        &self,
        place: &Place,
        remembered: &mut HashMap<PathBuf, Entry>,
        keeper: &mut Keeper<'_>,
        gathered: &mut Gathered,
        harvest: &mut Harvest,
    ) -> Result<Whole, Stopped> {
        let mut collection = (place.open)(&place.path)?;
        let Whole {
            mut counts,
            mut newest,
        } = Whole::default();
        let mut listed = collection.list(self.project, &mut counts)?;
        if !collection.holds() {
            return Err(Reason::BusyDatabase.into());
        }
        let beyond = listed.len().saturating_sub(SESSION_LIMIT);
        listed.truncate(SESSION_LIMIT);
        counts.add_many(Reason::TooManySessions, beyond as u64);
        let mut read = Vec::new();
        let mut damaged = false;
        if !gathered.is_empty() {
            let now: HashSet<&str> = listed.iter().map(|listed| listed.id.as_str()).collect();
            gathered.retain(|id, _| now.contains(id.as_str()));
        }
        for listed in listed {
            if (self.cancel)() {
                return Err(Stopped::With(cancelled()));
            }
            let path = within(&place.path, &listed.id);
            let entry = remembered.remove(&path);
            if listed.elsewhere {
                // What is known of it stays known.
                counts.add(Reason::OtherProject);
                let ended = listed.ended.filter(|at| self.request.may_be(*at));
                newest = newest.max(ended);
                continue;
            }
            let before = gathered.get(&listed.id).map(|(version, _)| *version);
            let mut version = None;
            if before.is_some() || entry.is_some() {
                version = Some(version_of(&mut *collection, &listed.id)?);
                if before == version {
                    continue;
                }
                gathered.remove(&listed.id);
            }
            if let (Some(entry), Some(version)) = (entry, version)
                && entry.stamp == index::stamp(self.agent, version, &self.rules.fingerprint)
                && let Some(held) = self.remembered(path.clone(), &entry)
            {
                harvest.files.unchanged += 1;
                gathered.insert(listed.id, (version, held));
                continue;
            }
            let mut recorder = Recorder::new(self.agent, self.rules, Reading::default());
            recorder.session(&listed.id);
            let stopped = Cell::new(false);
            let stop = || {
                stopped.set((self.cancel)());
                stopped.get()
            };
            let bytes = match collection.read(&listed.id, &mut recorder, &stop) {
                Ok(_) if stopped.get() => return Err(Stopped::With(cancelled())),
                Ok(bytes) => bytes,
                // Another part of the store may be whole.
                Err(Reason::DamagedDatabase) => {
                    damaged = true;
                    continue;
                }
                Err(reason) => return Err(reason.into()),
            };
            let version = match version {
                Some(version) => version,
                None => version_of(&mut *collection, &listed.id)?,
            };
            let reading = recorder.finish(&listed.id);
            read.push((listed.id, version, path, reading, bytes));
            if read.len() >= BATCH {
                self.believe(&*collection, &mut read, keeper, gathered, harvest)?;
            }
        }
        self.believe(&*collection, &mut read, keeper, gathered, harvest)?;
        counts.add_many(Reason::DamagedDatabase, u64::from(damaged));
        Ok(Whole { counts, newest })
    }

    /// Takes over what was read, if the store held until now.
    fn believe(
        &self,
        collection: &dyn Collection,
        read: &mut Vec<(String, State, PathBuf, Reading, u64)>,
        keeper: &mut Keeper<'_>,
        gathered: &mut Gathered,
        harvest: &mut Harvest,
    ) -> Result<(), Stopped> {
        if !collection.holds() {
            return Err(Reason::BusyDatabase.into());
        }
        for (id, version, path, reading, bytes) in read.drain(..) {
            let read = FileRead {
                reading,
                resume: None,
                state: version,
                bytes,
                continued: false,
            };
            let held = keeper.take(&path, read, harvest).map_err(Stopped::With)?;
            gathered.insert(id, (version, held));
        }
        Ok(())
    }

    /// Whether anything in a session may belong to the project.
    fn is_here(&self, held: &Held) -> bool {
        let places = &held.facts.places;
        places.is_empty() && self.project.covers("")
            || places
                .iter()
                .any(|place| self.project.covers(&place.directory))
    }

    fn remembered(&self, path: PathBuf, entry: &Entry) -> Option<Held> {
        let facts = index::facts(&entry.facts)?;
        let exchanges = if self.wants(&facts) {
            Kept::InIndex(entry.id)
        } else {
            Kept::Nowhere
        };
        Some(Held {
            agent: self.agent,
            path,
            facts,
            exchanges,
        })
    }
}

/// The version of a session. What cannot be read because of damage says so when it is read.
fn version_of(collection: &mut dyn Collection, id: &str) -> Result<State, Reason> {
    match collection.version(id) {
        Err(Reason::DamagedDatabase) => Ok(State::default()),
        version => version,
    }
}

/// How a session of a store is named: the store's path, `#`, and its id.
pub(crate) fn within(store: &Path, id: &str) -> PathBuf {
    let mut path = OsString::from(store);
    path.push("#");
    path.push(id);
    PathBuf::from(path)
}

/// A version made of everything by which a change of a session is seen.
pub(crate) fn version(numbers: &[Option<i64>], texts: &[&str]) -> State {
    let numbers: Vec<u8> = numbers
        .iter()
        .flat_map(|number| match number {
            Some(number) => [&[1][..], &number.to_le_bytes()].concat(),
            None => vec![0],
        })
        .collect();
    let mut parts: Vec<&[u8]> = vec![&numbers];
    for text in texts {
        parts.extend([text.as_bytes(), b"\0"]);
    }
    let hash = sha256_parts(&parts);
    let word = |from: usize| {
        hash.get(from..from + 16)
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .unwrap_or_default()
    };
    State {
        dev: word(0),
        ino: word(16),
        ..State::default()
    }
}
