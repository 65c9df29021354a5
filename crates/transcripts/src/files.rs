//! Finding transcript files below the homes of an agent.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use skillopt_core::Instant;

use crate::exclude::Exclude;
use crate::reading::Counts;
use crate::reason::Reason;

/// A folder below an agent's home that holds transcripts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store {
    /// Its name below the home.
    pub(crate) folder: &'static str,
    /// How many folders deep files may lie.
    pub(crate) deepest: usize,
}

/// Whether a path is a transcript, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Yes,
    No,
    /// Nor is anything in it, if it is a folder.
    Closed,
    Skipped(Reason),
}

/// What a file looked like before it was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    pub(crate) size: u64,
    pub(crate) mtime_ns: i64,
}

impl State {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let (dev, ino) = identity(metadata);
        let mtime = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .map_or(0, |since| {
                i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
            });
        Self {
            dev,
            ino,
            size: metadata.len(),
            mtime_ns: mtime,
        }
    }
}

impl State {
    /// When the file was last written, to the millisecond.
    pub(crate) fn written(self) -> Option<Instant> {
        Instant::from_millisecond(self.mtime_ns / 1_000_000).ok()
    }
}

/// A transcript file.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) state: State,
}

/// Everything found below some homes.
#[derive(Debug, Default)]
pub(crate) struct Search {
    pub(crate) files: Vec<Found>,
    pub(crate) counts: Counts,
    /// Where the store that is looked through really is.
    root: PathBuf,
    /// Files and folders by device and inode, so that each is taken once.
    met: HashSet<(u64, u64)>,
}

impl Search {
    /// Looks through one store of one home. A store that does not exist has no files; `false` then.
    pub(crate) fn look(
        &mut self,
        home: &Path,
        store: Store,
        takes: fn(&Path) -> Taken,
        exclude: &Exclude,
    ) -> bool {
        let root = home.join(store.folder);
        let Ok(metadata) = fs::metadata(&root) else {
            return false;
        };
        if !metadata.is_dir() {
            return false;
        }
        self.meet(&metadata);
        self.root = fs::canonicalize(&root).unwrap_or_else(|_| root.clone());
        // Folders still to be read, with their depth.
        let mut folders = vec![(root, 0)];
        while let Some((folder, depth)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.counts.add(unopened(&error));
                    continue;
                }
            };
            let mut names: Vec<OsString> =
                entries.flatten().map(|entry| entry.file_name()).collect();
            // The order of a folder's entries is the file system's business, not ours.
            names.sort_unstable();
            for name in names {
                let path = folder.join(name);
                self.entry(path, depth, store.deepest, takes, exclude, &mut folders);
            }
        }
        true
    }

    fn entry(
        &mut self,
        path: PathBuf,
        depth: usize,
        deepest: usize,
        takes: fn(&Path) -> Taken,
        exclude: &Exclude,
        folders: &mut Vec<(PathBuf, usize)>,
    ) {
        let taken = takes(&path);
        if taken == Taken::Closed {
            return;
        }
        // Follows links: homes and projects may be linked from elsewhere.
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if taken != Taken::No => return self.counts.add(unopened(&error)),
            Err(_) => return,
        };
        if metadata.is_dir() {
            if depth >= deepest || !self.meet(&metadata) || self.leads_above(&path) {
                return self.counts.add(Reason::FolderLoop);
            }
            folders.push((path, depth + 1));
            return;
        }
        match taken {
            Taken::No | Taken::Closed => {}
            Taken::Skipped(reason) => self.counts.add(reason),
            Taken::Yes if !metadata.is_file() => self.counts.add(Reason::NotAFile),
            Taken::Yes if exclude.covers(&path) => self.counts.add(Reason::ExcludedFile),
            Taken::Yes if !self.meet(&metadata) => self.counts.add(Reason::SameFile),
            Taken::Yes => self.files.push(Found {
                path,
                state: State::of(&metadata),
            }),
        }
    }

    /// Whether a link leads to a folder that the store lies in: its other contents are no sessions.
    fn leads_above(&self, path: &Path) -> bool {
        path.is_symlink()
            && fs::canonicalize(path).is_ok_and(|target| self.root.starts_with(target))
    }

    /// Whether this file or folder is met for the first time.
    fn meet(&mut self, metadata: &Metadata) -> bool {
        let identity = identity(metadata);
        identity == (0, 0) || self.met.insert(identity)
    }
}

/// A file's name without its extension: how many agents name their sessions.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Why something could not be opened.
pub(crate) fn unopened(error: &std::io::Error) -> Reason {
    if error.kind() == std::io::ErrorKind::NotFound {
        Reason::Vanished
    } else {
        Reason::Unreadable
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere a file is known by its path alone; links that lead back end at the depth limit.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;

    fn takes(path: &Path) -> Taken {
        match path.extension() {
            Some(extension) if extension == "jsonl" => Taken::Yes,
            _ => Taken::No,
        }
    }

    fn look(home: &Path, exclude: &[&str]) -> (Vec<PathBuf>, Counts) {
        let exclude: Vec<String> = exclude.iter().map(|&glob| glob.to_owned()).collect();
        let mut search = Search::default();
        let store = Store {
            folder: "s",
            deepest: 3,
        };
        search.look(home, store, takes, &Exclude::new(&exclude).unwrap());
        let paths = search.files.into_iter().map(|found| found.path).collect();
        (paths, search.counts)
    }

    fn file(path: PathBuf) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(&path).unwrap();
        path
    }

    #[test]
    fn loops_links_pipes_and_odd_names() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let plain = file(home.join("s/a/1.jsonl"));
        // A name that is no text, where the system has such names.
        let name: &[u8] = if cfg!(target_os = "linux") {
            b"\xFF.jsonl"
        } else {
            b"odd.jsonl"
        };
        let odd = file(home.join("s/a").join(std::ffi::OsStr::from_bytes(name)));
        file(home.join("s/a/notes.txt"));
        file(home.join("s/secret/2.jsonl"));
        file(home.join("s/1/2/3/4/5.jsonl"));
        symlink(home.join("s"), home.join("s/a/loop")).unwrap();
        symlink(&plain, home.join("s/same.jsonl")).unwrap();
        symlink(home.join("nowhere"), home.join("s/gone.jsonl")).unwrap();
        file(home.join("elsewhere.jsonl"));
        symlink(home, home.join("s/above")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(home.join("s/socket.jsonl")).unwrap();
        let (paths, counts) = look(home, &["secret"]);
        // `same.jsonl` is met first: folders are read after the files beside them.
        assert_eq!(paths, [home.join("s/same.jsonl"), odd]);
        for (reason, expected) in [
            (Reason::FolderLoop, 3),
            (Reason::SameFile, 1),
            (Reason::Vanished, 1),
            (Reason::NotAFile, 1),
            (Reason::ExcludedFile, 1),
        ] {
            assert_eq!(counts.reasons.get(&reason), Some(&expected), "{reason:?}");
        }
        let (paths, counts) = look(&home.join("absent"), &[]);
        assert!(paths.is_empty() && counts.reasons.is_empty());
    }
}
