//! Progress of a night on stderr: stage, calls, time left.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skillopt_app::{Listener, Progress as Event};

use crate::terminal::plain;

/// Shows what happens while a command runs.
pub(crate) struct Progress {
    bar: ProgressBar,
    listener: Listener,
}

impl Progress {
    /// On a terminal a bar; with `--progress` lines; otherwise only notes, and with `--json` nothing.
    pub(crate) fn start(lines: bool, json: bool) -> Self {
        let terminal = std::io::stderr().is_terminal() && !json;
        let target = if terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template(
            "{spinner} {msg} {pos}/{len} [{elapsed}, about {eta} left]",
        )
        .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        let shown = bar.clone();
        let stage = Arc::new(Mutex::new(String::new()));
        let listener: Listener = Arc::new(move |event| match event {
            Event::StageStarted { stage: name, calls } => {
                name.clone_into(&mut stage.lock().unwrap_or_else(PoisonError::into_inner));
                if lines {
                    crate::print_error(&format!("[sleep] {name}: {calls} calls"));
                }
                shown.reset();
                shown.set_length(*calls as u64);
                shown.set_message(name.clone());
                shown.enable_steady_tick(Duration::from_millis(120));
            }
            Event::CallDone { .. } => shown.inc(1),
            Event::StageDone { stage } => {
                if lines {
                    crate::print_error(&format!("[sleep] {stage}: done"));
                }
            }
            Event::Note(text) => {
                let text = plain(text);
                if !json && shown.is_hidden() {
                    crate::print_error(&text);
                } else {
                    shown.println(text);
                }
            }
        });
        Self { bar, listener }
    }

    pub(crate) fn listener(&self) -> Listener {
        Arc::clone(&self.listener)
    }

    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
