//! The process of the windows, as the tray sees it: started when a window is asked for, told of further
//! ones by its standard input.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::place::Place;
use crate::windows::FromTray;

/// The windows of this tray.
pub(crate) struct Windows {
    program: PathBuf,
    running: Option<Child>,
}

impl Windows {
    /// None is open; `program` is this one.
    pub(crate) fn of(program: PathBuf) -> Self {
        Self {
            program,
            running: None,
        }
    }

    /// Opens a window, or brings it to the front.
    pub(crate) fn open(&mut self, place: &Place) {
        if self.alive().is_some_and(|stdin| send(stdin, place)) {
            return;
        }
        let started = Command::new(&self.program)
            .args(["window", &place.to_string(), "--attached"])
            .stdin(Stdio::piped())
            .spawn();
        match started {
            Ok(child) => self.running = Some(child),
            Err(error) => eprintln!("A window cannot be opened: {error}."),
        }
    }

    /// The way to the process, if it still runs. One that ended is buried.
    fn alive(&mut self) -> Option<&mut ChildStdin> {
        let ended = match self.running.as_mut()?.try_wait() {
            Ok(ended) => ended.is_some(),
            Err(_) => true,
        };
        if ended {
            self.running = None;
        }
        self.running.as_mut()?.stdin.as_mut()
    }

    /// Closes them all: the process ends when it hears no more.
    pub(crate) fn close(&mut self) {
        if let Some(mut child) = self.running.take() {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

fn send(stdin: &mut ChildStdin, place: &Place) -> bool {
    let mut line = serde_json::json!(FromTray::Open(place.to_string())).to_string();
    line.push('\n');
    stdin
        .write_all(line.as_bytes())
        .and_then(|()| stdin.flush())
        .is_ok()
}
