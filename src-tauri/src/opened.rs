//! The processes of the windows, as the tray sees them: one for each display, started when a window is
//! asked for there, told of further ones by its standard input.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use skillopt_app::Problem;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use crate::display::Display;
use crate::menu::Order;
use crate::place::Place;
use crate::windows::FromTray;

/// How long the windows may take to close.
const CLOSING: Duration = Duration::from_secs(5);

/// The windows of this tray.
pub(crate) struct Windows {
    program: PathBuf,
    orders: UnboundedSender<Order>,
    running: BTreeMap<Display, Running>,
}

struct Running {
    stdin: ChildStdin,
    end: JoinHandle<()>,
}

impl Windows {
    /// None is open; `program` is this one. When one ends unexpectedly, `orders` has it.
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
        if let Some(running) = self.running.get_mut(&display)
            && send(&mut running.stdin, place).await
        {
            return Ok(());
        }
        let mut command = Command::new(&self.program);
        command
            .args(["window", &place.to_string(), "--attached"])
            .stdin(Stdio::piped());
        for (name, value) in display.variables() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let stdin = child
            .stdin
            .take()
            .ok_or_else(|| failed("it has no standard input"))?;
        let end = tokio::spawn(watch(child, self.orders.clone()));
        self.running.insert(display, Running { stdin, end });
        Ok(())
    }

    /// Closes them all: their processes end when they hear no more.
    pub(crate) async fn close(&mut self) {
        for running in std::mem::take(&mut self.running).into_values() {
            drop(running.stdin);
            // One that hangs is left to the session.
            let _ = tokio::time::timeout(CLOSING, running.end).await;
        }
    }
}

async fn watch(mut child: Child, orders: UnboundedSender<Order>) {
    let why = match child.wait().await {
        Ok(status) if status.success() => return,
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    // Who is told has ended only when the app has.
    let _ = orders.send(Order::Say(failed(&why)));
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

fn failed(why: &str) -> Problem {
    Problem::temporary(
        "window_failed",
        format!("The window could not be opened, or ended unexpectedly ({why})."),
        "Use `skillopt` until it can; `skillopt-desktop window overview` in a terminal says more.",
    )
}
