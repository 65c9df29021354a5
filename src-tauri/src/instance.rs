//! One tray per data folder: a second start hands its words to the first and ends.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use interprocess::local_socket::tokio::{Listener, Stream, prelude::*};
use interprocess::local_socket::{ListenerOptions, Name};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;

use crate::display::Display;
use crate::place::Place;

/// The longest request that is listened to.
const LONGEST: usize = 4096;
/// How long the first may take to hear it.
const PATIENCE: Duration = Duration::from_secs(3);

/// What a second start asks of the first: a window, on its own display.
#[derive(Serialize, Deserialize)]
struct Request {
    open: String,
    display: Display,
}

/// What a start finds.
pub(crate) enum Claim {
    /// Nobody else runs.
    First(First),
    /// Another one runs, and was told.
    Told,
}

/// The place of the one that runs. It is free again when this process ends, however it ends.
pub(crate) struct First {
    listener: Option<Listener>,
    _lock: File,
}

/// Becomes the one tray of this data folder, or tells the one that runs to open a window.
pub(crate) fn claim(folder: &Path, open: Option<&Place>) -> io::Result<Claim> {
    std::fs::create_dir_all(folder)?;
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("desktop.lock"))?;
    match lock.try_lock() {
        Ok(()) => {
            let listener = match address(folder) {
                // The lock says that nobody listens at what lies there.
                Some(address) => Some(
                    ListenerOptions::new()
                        .name(name(&address)?)
                        .try_overwrite(true)
                        .create_tokio()?,
                ),
                None => None,
            };
            Ok(Claim::First(First {
                listener,
                _lock: lock,
            }))
        }
        Err(TryLockError::WouldBlock) => {
            if let Some(address) = address(folder) {
                tell(&address, open.unwrap_or(&Place::Overview))?;
            }
            Ok(Claim::Told)
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn tell(address: &Path, place: &Place) -> io::Result<()> {
    use interprocess::local_socket::prelude::*;
    let mut stream = interprocess::local_socket::Stream::connect(name(address)?)?;
    stream.set_send_timeout(Some(PATIENCE))?;
    let request = Request {
        open: place.to_string(),
        display: Display::here(),
    };
    stream.write_all(serde_json::to_string(&request)?.as_bytes())
}

impl First {
    /// The next window somebody asked for, and where. Never, where nobody can ask.
    pub(crate) async fn asked(&self) -> (Place, Display) {
        let Some(listener) = &self.listener else {
            return std::future::pending().await;
        };
        loop {
            let Ok(stream) = listener.accept().await else {
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            };
            let heard = tokio::time::timeout(PATIENCE, request(stream)).await;
            if let Ok(Some(asked)) = heard {
                return asked;
            }
        }
    }
}

async fn request(stream: Stream) -> Option<(Place, Display)> {
    let mut text = Vec::new();
    stream
        .take(LONGEST as u64)
        .read_to_end(&mut text)
        .await
        .ok()?;
    let request: Request = serde_json::from_slice(&text).ok()?;
    Some((request.open.parse().ok()?, request.display))
}

/// Where the first listens; nothing where the path is longer than such addresses may be.
#[cfg(unix)]
fn address(folder: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let path = folder.join("desktop.socket");
    (path.as_os_str().as_bytes().len() < 100).then_some(path)
}

/// Pipes have names of their own: the folder's, as one word.
#[cfg(windows)]
fn address(folder: &Path) -> Option<PathBuf> {
    use std::hash::{Hash, Hasher};
    let mut hasher = std::hash::DefaultHasher::new();
    folder.hash(&mut hasher);
    Some(PathBuf::from(format!(
        r"\\.\pipe\skillopt-desktop-{:016x}",
        hasher.finish()
    )))
}

fn name(address: &Path) -> io::Result<Name<'_>> {
    use interprocess::local_socket::{GenericFilePath, ToFsName};
    address.to_fs_name::<GenericFilePath>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_tells_the_first_what_to_open() {
        let folder = tempfile::tempdir().unwrap();
        let Claim::First(first) = claim(folder.path(), None).unwrap() else {
            panic!("nobody was there")
        };
        let path = folder.path().to_owned();
        let second = std::thread::spawn(move || claim(&path, Some(&Place::Settings)));
        assert_eq!(first.asked().await, (Place::Settings, Display::here()));
        assert!(matches!(second.join().unwrap().unwrap(), Claim::Told));
        drop(first);
        assert!(matches!(
            claim(folder.path(), None).unwrap(),
            Claim::First(_)
        ));
    }

    #[tokio::test]
    async fn what_a_dead_one_left_does_not_stand_in_the_way() {
        let folder = tempfile::tempdir().unwrap();
        drop(File::create(folder.path().join("desktop.lock")).unwrap());
        drop(std::os::unix::net::UnixListener::bind(folder.path().join("desktop.socket")).unwrap());
        assert!(matches!(
            claim(folder.path(), None).unwrap(),
            Claim::First(_)
        ));
    }
}
