//! Finding the files of one agent and reading those that changed.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use skillopt_core::Problem;
use skillopt_core::agent::Agent;
use skillopt_store::Store;
use skillopt_store::index::{Reading as Row, Stamp};

use crate::collection::{Place, Whole};
use crate::file::{self, Conditions, FileRead};
use crate::files::{Found, Search};
use crate::harvest::{Harvest, Looked};
use crate::index::{self, Facts, Index, Known, place_of};
use crate::lines::{Buffer, Limits};
use crate::power;
use crate::reader;
use crate::reading::Exchange;
use crate::reason::Reason;
use crate::request::Request;
use crate::rules::Rules;
use crate::scope::Project;

/// How often a running harvest looks whether it should stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// Most rows that are stored in one transaction.
const BATCH_ROWS: usize = 256;
/// Most bytes of words that are stored in one transaction.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// A file whose facts are known.
pub(crate) struct Held {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    pub(crate) facts: Facts,
    pub(crate) exchanges: Kept,
}

/// Where a file's exchanges are.
pub(crate) enum Kept {
    Here(Vec<Exchange>),
    InIndex(i64),
    /// None of them is in the project.
    Nowhere,
}

/// The files of one agent.
pub(crate) struct Gathering<'a> {
    pub(crate) agent: Agent,
    pub(crate) request: &'a Request,
    pub(crate) store: Option<&'a Store>,
    pub(crate) cancel: &'a dyn Fn() -> bool,
    pub(crate) limits: &'a Limits,
    pub(crate) rules: &'a Rules,
    pub(crate) project: &'a Project,
}

/// A file that must be read.
struct Work {
    found: Found,
    /// Where its beginning is remembered, if it is huge.
    known: Option<i64>,
}

impl Gathering<'_> {
    /// Adds every file of the agent to `held`.
    ///
    /// Errors: `harvest_cancelled`, and those of the store.
    pub(crate) fn run(&self, harvest: &mut Harvest, held: &mut Vec<Held>) -> Result<(), Problem> {
        let mut search = Search::default();
        let mut folders = Vec::new();
        for home in self.request.homes.of(self.agent) {
            for &store in reader::stores(self.agent, home) {
                let before = search.files.len();
                let present =
                    search.look(home, store, reader::takes(self.agent), &self.rules.exclude);
                folders.push(Looked {
                    agent: self.agent,
                    folder: home.join(store.folder),
                    present,
                    files: (search.files.len() - before) as u64,
                });
            }
        }
        harvest.count(self.agent, &search.counts);
        harvest.files.found += search.files.len() as u64;

        let mut index = match self.store {
            Some(store) => Index::load(store, self.agent)?,
            None => Index::default(),
        };
        let places: Vec<Place> = self
            .request
            .homes
            .of(self.agent)
            .iter()
            .flat_map(|home| reader::places(self.agent, home))
            .collect();
        let mut gone = self.collect(&places, &mut index, harvest, held)?;
        let mut work = Vec::new();
        for found in search.files {
            let stamp = index::stamp(self.agent, found.state, &self.rules.fingerprint);
            match index.take(&found.path, &stamp) {
                Known::Unchanged(facts, id) => {
                    harvest.files.unchanged += 1;
                    let exchanges = if self.wants(&facts) {
                        Kept::InIndex(id)
                    } else {
                        Kept::Nowhere
                    };
                    held.push(Held {
                        agent: self.agent,
                        path: found.path,
                        facts: *facts,
                        exchanges,
                    });
                }
                Known::Changed(id) => {
                    let huge = found.state.size >= self.limits.huge;
                    work.push(Work {
                        found,
                        known: huge.then_some(id),
                    });
                }
                Known::New => work.push(Work { found, known: None }),
            }
        }
        // Remembered files that are no longer there. A folder that is not there at all may be on a
        // disk that is not plugged in.
        gone.extend(
            folders
                .iter()
                .filter(|folder| folder.present)
                .flat_map(|folder| index.left_below(&folder.folder)),
        );
        harvest.looked.append(&mut folders);
        // The biggest first, so that no thread is left alone with it at the end.
        work.sort_by(|a, b| {
            (b.found.state.size, &a.found.path).cmp(&(a.found.state.size, &b.found.path))
        });
        self.read(&work, &gone, harvest, held)
    }

    /// Whether a file's exchanges can be needed.
    pub(crate) fn wants(&self, facts: &Facts) -> bool {
        let too_old = facts
            .ended()
            .zip(self.request.since)
            .is_some_and(|(ended, since)| ended < since.as_millisecond());
        facts.verdict.is_none()
            && !too_old
            && facts
                .exchanges
                .iter()
                .any(|fact| self.project.covers(place_of(facts, fact.place)))
    }

    fn read(
        &self,
        work: &[Work],
        gone: &[i64],
        harvest: &mut Harvest,
        held: &mut Vec<Held>,
    ) -> Result<(), Problem> {
        let mut keeper = Keeper {
            gone,
            ..Keeper::new(self)
        };
        if work.is_empty() {
            return keeper.save();
        }
        let stop = AtomicBool::new(false);
        let next = AtomicUsize::new(0);
        let conditions = Conditions {
            rules: self.rules,
            limits: self.limits,
            stop: &stop,
        };
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let threads = power::threads(self.request.threads, self.request.on_battery, cores);
        let threads = threads.min(work.len());
        let outcome = std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(threads);
            for _ in 0..threads {
                let sender = sender.clone();
                let reader = Reader {
                    agent: self.agent,
                    store: self.store,
                    conditions: &conditions,
                    work,
                    next: &next,
                };
                scope.spawn(move || reader.run(&sender));
            }
            drop(sender);
            let mut outcome = Ok(());
            loop {
                if outcome.is_ok() && (self.cancel)() {
                    outcome = Err(cancelled());
                }
                if outcome.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                match receiver.recv_timeout(PATIENCE) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return outcome,
                    // A file that was stopped in the middle is not remembered.
                    Ok(_) if outcome.is_err() => {}
                    Ok((index, Ok(read))) => {
                        let path = &work[index].found.path;
                        outcome = keeper.take(path, read, harvest).map(|one| held.push(one));
                    }
                    Ok((_, Err(reason))) => harvest.skip(self.agent, reason, 1),
                }
            }
        });
        keeper.save()?;
        outcome
    }
}

/// One reader thread: takes the next file as long as there is one.
struct Reader<'a> {
    agent: Agent,
    store: Option<&'a Store>,
    conditions: &'a Conditions<'a>,
    work: &'a [Work],
    next: &'a AtomicUsize,
}

impl Reader<'_> {
    fn run(&self, results: &SyncSender<(usize, Result<FileRead, Reason>)>) {
        let mut buffer = Buffer::new();
        while !self.conditions.stop.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(work) = self.work.get(index) else {
                return;
            };
            let resume = work
                .known
                .zip(self.store)
                .and_then(|(id, store)| index::bodies(store, &[id]).ok()?.pop()?.resume);
            let read = file::read(
                self.agent,
                &work.found.path,
                resume,
                self.conditions,
                &mut buffer,
            );
            if results.send((index, read)).is_err() {
                return;
            }
        }
    }
}

/// Takes what the readers read: remembers it, and keeps what the project needs.
pub(crate) struct Keeper<'a> {
    gathering: &'a Gathering<'a>,
    /// Remembered files that are no longer there.
    gone: &'a [i64],
    rows: Vec<Row>,
    bytes: usize,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(gathering: &'a Gathering<'a>) -> Self {
        Self {
            gathering,
            gone: &[],
            rows: Vec::new(),
            bytes: 0,
        }
    }

    pub(crate) fn take(
        &mut self,
        path: &Path,
        read: FileRead,
        harvest: &mut Harvest,
    ) -> Result<Held, Problem> {
        let Gathering {
            agent,
            rules,
            store,
            ..
        } = *self.gathering;
        harvest.files.read += 1;
        harvest.files.continued += u64::from(read.continued);
        harvest.files.bytes += read.bytes;
        let facts = Facts::of(&read.reading);
        let wanted = self.gathering.wants(&facts);
        let exchanges = if store.is_none() {
            if wanted {
                Kept::Here(read.reading.exchanges)
            } else {
                Kept::Nowhere
            }
        } else {
            let kept = if wanted {
                Kept::Here(read.reading.exchanges.clone())
            } else {
                Kept::Nowhere
            };
            let row = index::row(agent, path, read, &facts, &rules.fingerprint);
            self.bytes += row.digest.len();
            self.rows.push(row);
            kept
        };
        if self.rows.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.save()?;
        }
        Ok(Held {
            agent,
            path: path.to_owned(),
            facts,
            exchanges,
        })
    }

    /// Remembers what a store that holds many sessions looked like when it was read to its end.
    pub(crate) fn remember_store(&mut self, path: &Path, stamp: Stamp, whole: Whole) {
        if self.gathering.store.is_some() {
            self.rows.push(index::store_row(path, stamp, whole));
        }
    }

    pub(crate) fn save(&mut self) -> Result<(), Problem> {
        let Some(store) = self.gathering.store else {
            return Ok(());
        };
        index::save(store, self.gathering.agent, &self.rows, self.gone)?;
        self.rows.clear();
        self.bytes = 0;
        self.gone = &[];
        Ok(())
    }
}

pub(crate) fn cancelled() -> Problem {
    Problem::temporary(
        "harvest_cancelled",
        "Reading the transcripts was stopped.",
        "Start it again; files that were read until then are remembered.",
    )
}
