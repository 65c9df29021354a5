//! The processes of the windows, as the tray sees them: one for each display, started when a window is
//! asked for there, told of further ones by its standard input.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skillopt_app::Problem;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::display::Display;
use crate::menu::Order;
use crate::place::Place;
use crate::said;
use crate::windows::FromTray;

/// How long the windows may take to close.
const CLOSING: Duration = Duration::from_secs(5);
/// How long one may take to hear of another.
const HEARS: Duration = Duration::from_secs(3);
/// How long its output may go on after its end.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The longest line of its output that is looked at, in bytes.
const LONGEST: u64 = 4096;
/// Where NVIDIA's own driver says that it is there.
const NVIDIA: &str = "/proc/driver/nvidia/version";
/// Tells WebKitGTK to copy pictures.
const SHARING: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";

/// What windows answer on their standard output: one JSON object per line, between whatever else is
/// printed there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToTray {
    /// This window, which was asked for, is there.
    Shown(String),
    /// A window was closed, since its page does not live.
    PageLost,
}

/// Answers the tray that a window it asked for is there.
pub(crate) fn say_shown(place: &Place) {
    answer(&ToTray::Shown(place.to_string()));
}

/// Tells the tray that a window was closed, since its page does not live.
#[cfg(target_os = "linux")]
pub(crate) fn say_page_lost() {
    answer(&ToTray::PageLost);
}

fn answer(what: &ToTray) {
    // Without the tray, nobody wants to know.
    let _ = writeln!(std::io::stdout(), "{}", serde_json::json!(what));
}

/// What WebKitGTK must be told where NVIDIA's own driver is: with it, windows stay blank on many computers
/// when pictures are shared between processes instead of copied. What the user says comes first.
fn renderer(driver: &Path, is_chosen: bool) -> Option<(&'static str, &'static str)> {
    (cfg!(target_os = "linux") && driver.exists() && !is_chosen).then_some((SHARING, "1"))
}

/// The windows of this tray.
pub(crate) struct Windows {
    program: PathBuf,
    orders: UnboundedSender<Order>,
    running: BTreeMap<Display, Running>,
}

struct Running {
    stdin: ChildStdin,
    unseen: Unseen,
    end: JoinHandle<()>,
}

/// Windows that were asked for and are not there yet.
#[derive(Clone, Default)]
struct Unseen(Arc<Mutex<Vec<Place>>>);

impl Unseen {
    fn places(&self) -> MutexGuard<'_, Vec<Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Windows {
    /// None is open; `program` is this one. When one ends unexpectedly, or before it has shown all it was
    /// asked for, `orders` has it.
    pub(crate) fn of(program: PathBuf, orders: UnboundedSender<Order>) -> Self {
        Self {
            program,
            orders,
            running: BTreeMap::new(),
        }
    }

    /// Opens a window on a display, or brings it to the front there.
    ///
    /// Errors: `no_display`, `window_failed`.
    pub(crate) async fn open(&mut self, place: &Place, display: Display) -> Result<(), Problem> {
        if !display.is_there() {
            return Err(no_display());
        }
        self.running.retain(|_, running| !running.end.is_finished());
        if let Some(running) = self.running.get_mut(&display) {
            // Noted before, since the answer can be there at once.
            running.unseen.places().push(place.clone());
            match timeout(HEARS, send(&mut running.stdin, place)).await {
                Ok(true) => return Ok(()),
                // It has just ended.
                Ok(false) => running.unseen.places().clear(),
                Err(_) => return Err(failed("it hangs")),
            }
        }
        let mut command = Command::new(&self.program);
        command
            .args(["window", &place.to_string(), "--attached"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said::for_a_process())
            .kill_on_drop(true);
        for (name, value) in display.variables() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.envs(renderer(
            Path::new(NVIDIA),
            std::env::var_os(SHARING).is_some(),
        ));
        let mut child = command
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("it has no standard input or output"));
        };
        let unseen = Unseen::default();
        let watching = watch(
            child,
            stdout,
            unseen.clone(),
            display.clone(),
            self.orders.clone(),
        );
        let running = Running {
            stdin,
            unseen,
            end: tokio::spawn(watching),
        };
        self.running.insert(display, running);
        Ok(())
    }

    /// Closes them all: their processes end when they hear no more, and are ended when they do not.
    pub(crate) async fn close(&mut self) {
        let until = Instant::now() + CLOSING;
        let ends: Vec<_> = std::mem::take(&mut self.running)
            .into_values()
            .map(|running| running.end)
            .collect();
        for mut end in ends {
            if timeout_at(until, &mut end).await.is_err() {
                // Its process is dropped with it, and killed.
                end.abort();
                let _ = end.await;
            }
        }
    }
}

async fn watch(
    mut child: Child,
    stdout: ChildStdout,
    unseen: Unseen,
    display: Display,
    orders: UnboundedSender<Order>,
) {
    let (answers, told) = (unseen.clone(), orders.clone());
    let mut reading = tokio::spawn(async move { read_answers(stdout, &answers, &told).await });
    let status = child.wait().await;
    // A process it started may keep the output open.
    if timeout(LAST_WORDS, &mut reading).await.is_err() {
        reading.abort();
    }
    // Who is told has ended only when the app has.
    let tell = |order| {
        let _ = orders.send(order);
    };
    match status {
        // The last window was closed while another was asked for.
        Ok(status) if status.success() => {
            for place in std::mem::take(&mut *unseen.places()) {
                tell(Order::OpenOn(place, display.clone()));
            }
        }
        Ok(status) => tell(Order::Say(failed(&status.to_string()))),
        Err(error) => tell(Order::Say(failed(&error.to_string()))),
    }
}

/// Takes from `unseen` what is there, and passes on what is to be said, until the output ends.
async fn read_answers(stdout: ChildStdout, unseen: &Unseen, orders: &UnboundedSender<Order>) {
    let mut output = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        // A longer line is read as several, none of which is an answer.
        let mut bounded = (&mut output).take(LONGEST);
        if !matches!(bounded.read_until(b'\n', &mut line).await, Ok(1..)) {
            return;
        }
        match serde_json::from_slice(&line) {
            Ok(ToTray::Shown(text)) => {
                let mut places = unseen.places();
                if let Some(at) = places.iter().position(|place| place.to_string() == text) {
                    places.remove(at);
                }
            }
            Ok(ToTray::PageLost) => {
                // Who is told has ended only when the app has.
                let _ = orders.send(Order::Say(page_lost()));
            }
            Err(_) => {}
        }
    }
}

async fn send(stdin: &mut ChildStdin, place: &Place) -> bool {
    let mut line = serde_json::json!(FromTray::Open(place.to_string())).to_string();
    line.push('\n');
    stdin.write_all(line.as_bytes()).await.is_ok()
}

/// There is nothing to open a window on.
pub(crate) fn no_display() -> Problem {
    Problem::permanent(
        "no_display",
        "There is no display to open a window on.",
        "Use `skillopt`, which needs none.",
    )
}

/// The page of a window does not live.
pub(crate) fn page_lost() -> Problem {
    Problem::temporary(
        "page_lost",
        "A window was closed, since the process that shows its page ended or hung four times in a row.",
        "Open it again. If that does not help, look for an update of WebKitGTK; `skillopt` can do the same.",
    )
}

fn failed(why: &str) -> Problem {
    Problem::temporary(
        "window_failed",
        format!("The window could not be opened, or ended unexpectedly ({why})."),
        "Use `skillopt` until it can; `skillopt-desktop window overview` in a terminal says more.",
    )
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tokio::sync::mpsc::{self, UnboundedReceiver};

    use super::*;

    #[test]
    fn pictures_are_copied_where_sharing_them_shows_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let driver = folder.path();
        assert_eq!(renderer(&driver.join("version"), false), None);
        assert_eq!(renderer(driver, false), Some((SHARING, "1")));
        assert_eq!(renderer(driver, true), None);
    }

    fn display() -> Display {
        serde_json::from_str(r#"{"DISPLAY": ":7"}"#).unwrap()
    }

    /// Windows whose process is this script.
    fn windows(script: &str) -> (tempfile::TempDir, Windows, UnboundedReceiver<Order>) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("windows");
        let mut file = std::fs::File::create(&program).unwrap();
        writeln!(file, "#!/bin/sh\n{script}").unwrap();
        drop(file);
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let (orders, given) = mpsc::unbounded_channel();
        (folder, Windows::of(program, orders), given)
    }

    #[tokio::test]
    async fn what_a_process_did_not_show_before_it_ended_is_asked_for_again() {
        // Reads two orders, answers the first, and ends as after its last window.
        let script = r#"read a; read b; echo noise; echo '{"shown":"settings"}'"#;
        let (_folder, mut windows, mut given) = windows(script);
        for place in [Place::Overview, Place::Settings, Place::Review(None)] {
            windows.open(&place, display()).await.unwrap();
        }
        let again = given.recv().await.unwrap();
        assert_eq!(again, Order::OpenOn(Place::Review(None), display()));
        windows.close().await;
        assert!(given.try_recv().is_err());
    }

    #[tokio::test]
    async fn one_that_fails_is_told() {
        let (_folder, mut windows, mut given) = windows("exit 3");
        windows.open(&Place::Overview, display()).await.unwrap();
        let Some(Order::Say(problem)) = given.recv().await else {
            panic!("nothing was told")
        };
        assert_eq!(problem.code, "window_failed");
    }

    #[tokio::test]
    async fn one_whose_page_does_not_live_is_told() {
        let (_folder, mut windows, mut given) = windows(r#"echo '"page_lost"'"#);
        windows.open(&Place::Overview, display()).await.unwrap();
        let Some(Order::Say(problem)) = given.recv().await else {
            panic!("nothing was told")
        };
        assert_eq!(problem.code, "page_lost");
    }

    #[tokio::test]
    async fn one_that_hangs_is_ended() {
        let script = r#"echo $$ > "$0.pid"; trap '' HUP; while :; do sleep 1; done"#;
        let (folder, mut windows, _given) = windows(script);
        windows.open(&Place::Overview, display()).await.unwrap();
        let file = folder.path().join("windows.pid");
        let pid = loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if text.ends_with('\n') {
                break text.trim().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        windows.close().await;
        let stat = format!("/proc/{pid}/stat");
        while std::fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
