//! A place in which sessions are kept, with sound ones beside the one that has a fault.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillopt_core::agent::Agent;
use skillopt_transcripts::{Harvest, ProjectScope, Reason, Request, Scope, Session, harvest};
use tempfile::TempDir;

use crate::homes::words;
use crate::stores::{Record, STORES, Store};

/// What was read and what was counted.
pub(crate) struct Found {
    /// What was typed in the session with the fault.
    pub(crate) said: Vec<String>,
    /// The session beside it in the same store was read.
    pub(crate) beside: bool,
    /// Reasons of the store's agent.
    pub(crate) counted: BTreeMap<Reason, u64>,
    /// Names of records that nobody knows.
    pub(crate) unknown: Vec<String>,
}

/// A store with a sound session, in one of two homes of its agent. The other home has a session, and
/// so has another agent.
pub(crate) struct Scene<'a> {
    pub(crate) store: &'a Store,
    folder: TempDir,
    pub(crate) request: Request,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        let scene = Self::empty(store);
        let other = another(store.agent);
        store.put(&scene.home(), "good", &[store.typed(30, "beside")]);
        store.put(&scene.second(), "other", &[store.typed(40, "elsewhere")]);
        other.put(&scene.path("another"), "a", &[other.typed(50, "another")]);
        scene
    }

    /// Without any session.
    pub(crate) fn empty(store: &'a Store) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let other = another(store.agent);
        let homes = |names: &[&str]| names.iter().map(|name| folder.path().join(name)).collect();
        let request = Request {
            homes: [
                (store.agent, homes(&["first", "second"])),
                (other.agent, homes(&["another"])),
            ]
            .into_iter()
            .collect(),
            agents: vec![store.agent, other.agent],
            project: ProjectScope {
                roots: Vec::new(),
                scope: Scope::All,
            },
            threads: 1,
            ..Request::default()
        };
        Self {
            store,
            folder,
            request,
        }
    }

    /// A home, by its name.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path("first")
    }

    pub(crate) fn second(&self) -> PathBuf {
        self.path("second")
    }

    /// Adds a session with the record between two sound ones.
    pub(crate) fn around(&self, record: Record) {
        let (before, after) = (self.store.typed(1, "before"), self.store.typed(3, "after"));
        self.store
            .put(&self.home(), "bad", &[before, record, after]);
    }

    pub(crate) fn sound(&self) {
        let both = [self.store.typed(1, "before"), self.store.typed(3, "after")];
        self.store.put(&self.home(), "bad", &both);
    }

    pub(crate) fn found(&self) -> Found {
        self.found_while(&|| false)
    }

    /// What is found. The sessions in other stores must be, whatever happens.
    pub(crate) fn found_while(&self, cancel: &(dyn Fn() -> bool + Sync)) -> Found {
        let harvest = harvest(&self.request, None, cancel).unwrap();
        let mut said: Vec<Vec<String>> = harvest
            .sessions
            .iter()
            .filter(|session| !words(session)[0].starts_with(FILLING))
            .map(typed)
            .collect();
        let mut take = |words: &str| {
            let at = said.iter().position(|session| *session == [words]);
            at.map(|at| said.remove(at)).is_some()
        };
        assert!(take("elsewhere"), "{}: {said:?}", self.store.name);
        let asked = self.request.agents.len() > 1;
        assert_eq!(take("another"), asked, "{}: {said:?}", self.store.name);
        let beside = take("beside");
        assert!(said.len() <= 1, "{}: {said:?}", self.store.name);
        Found {
            said: said.pop().unwrap_or_default(),
            beside,
            counted: counted(&harvest, self.store.agent),
            unknown: harvest
                .unknown
                .keys()
                .map(|record| format!("{} ({})", record.name, record.version))
                .collect(),
        }
    }
}

/// How sessions begin that only take up room.
pub(crate) const FILLING: &str = "filling ";

fn typed(session: &Session) -> Vec<String> {
    words(session).into_iter().map(str::to_owned).collect()
}

fn counted(harvest: &Harvest, agent: Agent) -> BTreeMap<Reason, u64> {
    harvest
        .skipped
        .iter()
        // The headers of sessions, which every one of them has.
        .filter(|((of, reason), _)| *of == agent && *reason != Reason::Bookkeeping)
        .map(|((_, reason), number)| (*reason, *number))
        .collect()
}

/// A store of another agent.
pub(crate) fn another(agent: Agent) -> &'static Store {
    STORES.iter().find(|store| store.agent != agent).unwrap()
}
