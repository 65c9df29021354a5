//! The files of OpenCode before 1.2: one for each session, message and part.
//!
//! `session/<project>/<session>.json`, `message/<session>/<message>.json` and
//! `part/<message>/<part>.json`. Nothing in them says that a message has changed, so what every file
//! looks like is the version of a session.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use skillopt_core::hash::sha256_parts;

use super::conversation::Conversation;
use super::record::{Message, Session};
use crate::collection::{Collection, Listed, version};
use crate::database::VALUE_LIMIT;
use crate::files::{State, unopened};
use crate::lenient::parse;
use crate::reading::{Counts, Recorder};
use crate::reason::Reason;
use crate::scope::Project;

/// Most files of one folder.
const FILE_LIMIT: usize = 100_000;

/// The folder of one home.
struct Storage {
    root: PathBuf,
    /// The files of all sessions, in the order they were listed.
    sessions: Vec<(String, PathBuf)>,
}

pub(super) fn open(path: &Path) -> Result<Box<dyn Collection>, Reason> {
    Ok(Box::new(Storage {
        root: path.to_owned(),
        sessions: Vec::new(),
    }))
}

impl Collection for Storage {
    fn list(&mut self, _: &Project, counts: &mut Counts) -> Result<Vec<Listed>, Reason> {
        let mut listed = Vec::new();
        let mut met = HashSet::new();
        let root = self.root.join("session");
        for project in entries(&root, &mut |reason| counts.add(reason)) {
            // Anything else beside the folders of projects is no business of ours.
            let Ok(folder) = fs::canonicalize(&project) else {
                continue;
            };
            if !folder.is_dir() {
                continue;
            }
            if !met.insert(folder) {
                counts.add(Reason::FolderLoop);
                continue;
            }
            for path in files_in(&project, &mut |reason| counts.add(reason)) {
                let bytes = match content(&path) {
                    Ok(bytes) => bytes,
                    Err(reason) => {
                        counts.add(reason);
                        continue;
                    }
                };
                let mut spare = Vec::new();
                let Ok((session, _)) = parse::<Session<'_>>(&bytes, &mut spare) else {
                    counts.add(Reason::Malformed);
                    continue;
                };
                if session.parent.0 {
                    counts.add(Reason::Subagent);
                    continue;
                }
                let id = stem(&path);
                // An id that is a path would lead elsewhere.
                if id.is_empty() || (!session.id.is_empty() && *session.id != *id) {
                    counts.add(Reason::Malformed);
                    continue;
                }
                listed.push(Listed {
                    id: id.clone(),
                    elsewhere: false,
                    ended: None,
                });
                self.sessions.push((id, path));
            }
        }
        self.sessions.sort_unstable();
        listed.sort_unstable_by(|a, b| b.id.cmp(&a.id));
        Ok(listed)
    }

    fn version(&mut self, id: &str) -> Result<State, Reason> {
        Ok(self
            .file_of(id)
            .map_or_else(State::default, |path| self.version_of(path, id)))
    }

    fn read(
        &mut self,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> Result<u64, Reason> {
        Ok(self
            .file_of(id)
            .map_or(0, |path| self.read_session(path, id, recorder, cancel)))
    }

    /// Every file is read as it is at that moment, as other transcripts are.
    fn holds(&self) -> bool {
        true
    }
}

impl Storage {
    fn file_of(&self, id: &str) -> Option<&Path> {
        let at = self
            .sessions
            .binary_search_by(|(known, _)| known.as_str().cmp(id));
        let (_, path) = self.sessions.get(at.ok()?)?;
        Some(path)
    }

    fn messages(&self, session: &str, left_out: &mut dyn FnMut(Reason)) -> Vec<PathBuf> {
        files_in(&self.root.join("message").join(session), left_out)
    }

    fn parts(&self, message: &Path, left_out: &mut dyn FnMut(Reason)) -> Vec<PathBuf> {
        files_in(&self.root.join("part").join(stem(message)), left_out)
    }

    /// What all files of a session look like.
    fn version_of(&self, path: &Path, id: &str) -> State {
        let mut looks = vec![look(path)];
        // What cannot be listed is counted when it is read.
        let mut unsaid = |_| ();
        for message in self.messages(id, &mut unsaid) {
            looks.push(look(&message));
            let parts = self.parts(&message, &mut unsaid);
            looks.extend(parts.iter().map(|part| look(part)));
        }
        let looks: Vec<&[u8]> = looks.iter().map(String::as_bytes).collect();
        version(&[], &[&sha256_parts(&looks)])
    }

    fn read_session(
        &self,
        path: &Path,
        id: &str,
        recorder: &mut Recorder<'_>,
        cancel: &dyn Fn() -> bool,
    ) -> u64 {
        let bytes = match content(path) {
            Ok(bytes) => bytes,
            Err(reason) => {
                recorder.skip(reason);
                return 0;
            }
        };
        let mut looked_at = bytes.len() as u64;
        let mut spare = Vec::new();
        let session = parse::<Session<'_>>(&bytes, &mut spare)
            .map(|(session, _)| session)
            .unwrap_or_default();
        recorder.version(&session.version);
        let created = session.time.0.unwrap_or_default().created.instant();
        let mut messages = Vec::new();
        for path in self.messages(id, &mut |reason| recorder.skip(reason)) {
            match content(&path) {
                Ok(data) => messages.push((order(&data), path)),
                Err(reason) => recorder.skip(reason),
            }
        }
        messages.sort_unstable_by(|(a, one), (b, other)| (a.created, one).cmp(&(b.created, other)));
        // The oldest versions wrote only into answers where they were.
        let directory = match &*session.directory {
            "" => messages
                .iter()
                .map(|(order, _)| order.folder.as_str())
                .find(|folder| !folder.is_empty())
                .unwrap_or_default(),
            directory => directory,
        };
        let mut conversation = Conversation::new(recorder, directory, "", created);
        for (_, path) in &messages {
            if cancel() {
                break;
            }
            match content(path) {
                Ok(data) => {
                    looked_at += data.len() as u64;
                    conversation.message(&stem(path), None, &data);
                }
                Err(reason) => conversation.no_message(reason),
            }
            for part in self.parts(path, &mut |reason| conversation.no_part(reason)) {
                match content(&part) {
                    Ok(data) => {
                        looked_at += data.len() as u64;
                        conversation.part(&data);
                    }
                    Err(reason) => conversation.no_part(reason),
                }
            }
        }
        conversation.end(
            session
                .revert
                .0
                .as_ref()
                .map_or("", |revert| &*revert.message),
        );
        looked_at
    }
}

/// Where a message belongs among the others.
struct Order {
    created: Option<i64>,
    folder: String,
}

fn order(data: &[u8]) -> Order {
    let mut spare = Vec::new();
    let message = parse::<Message<'_>>(data, &mut spare)
        .map(|(message, _)| message)
        .unwrap_or_default();
    Order {
        created: message.times().created.0,
        folder: message.folder().to_owned(),
    }
}

/// What is in a folder, in the order of the names. One that is not there is empty; why not everything
/// of another one is there is told.
fn entries(folder: &Path, left_out: &mut dyn FnMut(Reason)) -> Vec<PathBuf> {
    let found = match fs::read_dir(folder) {
        Ok(found) => found,
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                left_out(unopened(&error));
            }
            return Vec::new();
        }
    };
    let mut entries: Vec<PathBuf> = found
        .flatten()
        .take(FILE_LIMIT + 1)
        .map(|entry| entry.path())
        .collect();
    if entries.len() > FILE_LIMIT {
        entries.truncate(FILE_LIMIT);
        left_out(Reason::BeyondLimit);
    }
    entries.sort_unstable();
    entries
}

/// The files of a folder that are records.
fn files_in(folder: &Path, left_out: &mut dyn FnMut(Reason)) -> Vec<PathBuf> {
    let mut files = entries(folder, left_out);
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    files
}

/// A file's name without its extension; empty when it is no text.
fn stem(path: &Path) -> String {
    path.file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default()
        .to_owned()
}

fn content(path: &Path) -> Result<Vec<u8>, Reason> {
    let metadata = fs::metadata(path).map_err(|error| unopened(&error))?;
    if !metadata.is_file() {
        return Err(Reason::NotAFile);
    }
    let mut bytes = Vec::new();
    File::open(path)
        .map_err(|error| unopened(&error))?
        .take(VALUE_LIMIT as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|_| Reason::Unreadable)?;
    if bytes.len() > VALUE_LIMIT {
        return Err(Reason::ValueTooLong);
    }
    Ok(bytes)
}

/// A file's name, size and time.
fn look(path: &Path) -> String {
    let state = fs::metadata(path).map_or_else(|_| State::default(), |found| State::of(&found));
    format!("{}\0{state:?}", path.display())
}
