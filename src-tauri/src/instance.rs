//! One tray per data folder: a second start hands its words to the first and ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interprocess::local_socket::tokio::{Listener, Stream, prelude::*};
use interprocess::local_socket::{ListenerOptions, Name};
use serde::{Deserialize, Serialize};
use skillopt_app::types::Paths;
use skillopt_app::{Problem, data};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::display::Display;
use crate::menu::Order;
use crate::place::Place;
use crate::said;

/// The longest request that is listened to.
const LONGEST: u64 = 4096;
/// How long one side may take to hear the other.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the first may take to listen, or to end: it stops its nights before.
const STARTS_OR_ENDS: Duration = Duration::from_secs(40);
/// What the first answers when it has heard.
const HEARD: u8 = b'\n';

/// What a second start asks of the first: a window, on its own display. One line.
#[derive(Serialize, Deserialize)]
struct Request {
    open: String,
    display: Display,
}

/// What a start finds.
pub(crate) enum Claim {
    /// Nobody else runs.
    First(First),
    /// Another one runs, and has heard.
    Told,
}

/// The place of the one that runs. It is free again when this process ends, however it ends.
pub(crate) struct First {
    hearing: Option<JoinHandle<()>>,
    _lock: File,
}

/// Becomes the one tray of this data folder, or tells the one that runs to open a window. One that is
/// just starting or ending is waited for. What further starts ask for goes to `orders`.
///
/// Errors: `desktop_busy`, and those of making the data folder.
pub(crate) async fn claim(
    paths: &Paths,
    open: Option<&Place>,
    orders: &UnboundedSender<Order>,
) -> Result<Claim, Problem> {
    data::make_folders(paths)?;
    let folder = paths.locks();
    let path = folder.join("desktop.lock");
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| no_lock(&path, &error))?;
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Claim::First(First::over(lock, &folder, orders))),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(no_lock(&path, &error)),
        }
        let Some(address) = address(&folder) else {
            return Err(busy("the path of its data folder is too long to reach it"));
        };
        match timeout(PATIENCE, tell(&address, open.unwrap_or(&Place::Overview))).await {
            Ok(Ok(())) => return Ok(Claim::Told),
            Ok(Err(_)) if begun.elapsed() < STARTS_OR_ENDS => {
                sleep(Duration::from_millis(100)).await;
            }
            Ok(Err(error)) => return Err(busy(&error.to_string())),
            Err(_) => return Err(busy("it hangs")),
        }
    }
}

async fn tell(address: &Path, place: &Place) -> io::Result<()> {
    let mut stream = Stream::connect(name(address)?).await?;
    let request = Request {
        open: place.to_string(),
        display: Display::here(),
    };
    let line = format!("{}\n", serde_json::to_string(&request)?);
    stream.write_all(line.as_bytes()).await?;
    let mut answer = [0];
    stream.read_exact(&mut answer).await?;
    Ok(())
}

impl First {
    fn over(lock: File, folder: &Path, orders: &UnboundedSender<Order>) -> Self {
        let hearing = match listener(folder) {
            Ok(listener) => listener.map(|listener| tokio::spawn(hear(listener, orders.clone()))),
            Err(error) => {
                said::say(format_args!(
                    "A further start of the app will not be heard: {error}."
                ));
                None
            }
        };
        Self {
            hearing,
            _lock: lock,
        }
    }

    /// Listens no more: a start from now on waits for the end of this one.
    pub(crate) fn deafen(&mut self) {
        if let Some(hearing) = self.hearing.take() {
            hearing.abort();
        }
    }
}

impl Drop for First {
    fn drop(&mut self) {
        self.deafen();
    }
}

fn listener(folder: &Path) -> io::Result<Option<Listener>> {
    let Some(address) = address(folder) else {
        return Ok(None);
    };
    // The lock says that nobody listens at what lies there.
    let options = ListenerOptions::new()
        .name(name(&address)?)
        .try_overwrite(true);
    options.create_tokio().map(Some)
}

/// Each start is heard beside the others: one that says nothing keeps nobody waiting.
async fn hear(listener: Listener, orders: UnboundedSender<Order>) {
    loop {
        match listener.accept().await {
            Ok(stream) => {
                tokio::spawn(timeout(PATIENCE, answer(stream, orders.clone())));
            }
            Err(_) => sleep(Duration::from_secs(1)).await,
        }
    }
}

async fn answer(stream: Stream, orders: UnboundedSender<Order>) {
    let mut line = String::new();
    let read = BufReader::new((&stream).take(LONGEST))
        .read_line(&mut line)
        .await;
    if read.is_ok()
        && let Some(order) = order(&line)
        && orders.send(order).is_ok()
    {
        // One that has gone needs no answer.
        let _ = (&stream).write_all(&[HEARD]).await;
    }
}

fn order(line: &str) -> Option<Order> {
    let request: Request = serde_json::from_str(line).ok()?;
    Some(Order::OpenOn(request.open.parse().ok()?, request.display))
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

fn busy(why: &str) -> Problem {
    Problem::temporary(
        "desktop_busy",
        format!("The app runs already and does not answer: {why}."),
        "Quit it from its menu, or end the process skillopt-desktop, and start it again.",
    )
}

fn no_lock(path: &Path, error: &io::Error) -> Problem {
    Problem::permanent(
        "desktop_unlockable",
        format!("The app cannot lock {}: {error}.", path.display()),
        "Make the file writable for you, or set SKILLOPT_DATA_DIR to a folder on a local disk.",
    )
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    fn paths() -> (tempfile::TempDir, Paths) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::at(folder.path());
        (folder, paths)
    }

    async fn first(paths: &Paths, orders: &UnboundedSender<Order>) -> First {
        match claim(paths, None, orders).await.unwrap() {
            Claim::First(first) => first,
            Claim::Told => panic!("nobody was there"),
        }
    }

    #[tokio::test]
    async fn the_second_tells_the_first_what_to_open_however_busy_that_is() {
        let (_folder, paths) = paths();
        let (orders, mut given) = mpsc::unbounded_channel();
        let kept = first(&paths, &orders).await;
        for place in [Place::Settings, Place::Review(None)] {
            let told = claim(&paths, Some(&place), &orders).await.unwrap();
            assert!(matches!(told, Claim::Told));
        }
        // Nobody looked meanwhile, and nothing is lost.
        for place in [Place::Settings, Place::Review(None)] {
            let order = Order::OpenOn(place, Display::here());
            assert_eq!(given.recv().await, Some(order));
        }
        drop(kept);
        drop(first(&paths, &orders).await);
    }

    #[tokio::test]
    async fn one_that_says_nothing_keeps_nobody_waiting() {
        let (_folder, paths) = paths();
        let (orders, mut given) = mpsc::unbounded_channel();
        let _kept = first(&paths, &orders).await;
        let address = address(&paths.locks()).unwrap();
        let _silent = Stream::connect(name(&address).unwrap()).await.unwrap();
        let told = claim(&paths, None, &orders).await.unwrap();
        assert!(matches!(told, Claim::Told));
        assert!(matches!(given.recv().await, Some(Order::OpenOn(..))));
    }

    #[tokio::test]
    async fn a_start_during_the_end_of_another_takes_its_place() {
        let (_folder, paths) = paths();
        let (orders, mut given) = mpsc::unbounded_channel();
        let mut ending = first(&paths, &orders).await;
        ending.deafen();
        let next = claim(&paths, Some(&Place::Settings), &orders);
        let end = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            drop(ending);
        };
        let (next, ()) = tokio::join!(next, end);
        assert!(matches!(next.unwrap(), Claim::First(_)));
        assert!(given.try_recv().is_err());
    }

    #[tokio::test]
    async fn what_a_dead_one_left_does_not_stand_in_the_way() {
        let (_folder, paths) = paths();
        let (orders, _given) = mpsc::unbounded_channel();
        data::make_folders(&paths).unwrap();
        drop(File::create(paths.locks().join("desktop.lock")).unwrap());
        let address = address(&paths.locks()).unwrap();
        drop(std::os::unix::net::UnixListener::bind(address).unwrap());
        drop(first(&paths, &orders).await);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_folder_is_for_its_owner_alone_and_one_that_cannot_be_made_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, paths) = paths();
        let (orders, _given) = mpsc::unbounded_channel();
        drop(first(&paths, &orders).await);
        let mode = std::fs::metadata(&paths.data).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let file = folder.path().join("file");
        drop(File::create(&file).unwrap());
        let nowhere = Paths::at(&file);
        let problem = claim(&nowhere, None, &orders).await.err().unwrap();
        assert_eq!(problem.code, "data_dir_unusable");
        assert!(problem.message.contains("file/data"), "{problem:?}");
    }
}
