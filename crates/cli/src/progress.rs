//! Progress of a night on stderr: stage, calls, time left, spend.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skillopt_app::types::Spend;
use skillopt_app::{Listener, Progress as Event};

use crate::show;
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
        let last = Arc::new(Mutex::new(words(Spend::default())));
        let listener: Listener = Arc::new(move |event| match event {
            Event::StageStarted { stage: name, calls } => {
                if lines {
                    crate::print_error(&format!("[sleep] {name}: {calls} calls"));
                }
                shown.reset();
                shown.set_length(*calls as u64);
                shown.set_message(name.clone());
                shown.enable_steady_tick(Duration::from_millis(120));
            }
            Event::CallDone { stage, spent, .. } => {
                if let Some(spent) = spent {
                    let words = words(*spent);
                    shown.set_message(format!("{stage} ({words})"));
                    *last.lock().unwrap_or_else(PoisonError::into_inner) = words;
                }
                shown.inc(1);
            }
            Event::StageDone { stage } => {
                if lines {
                    let last = last.lock().unwrap_or_else(PoisonError::into_inner);
                    crate::print_error(&format!("[sleep] {stage}: done, {last}"));
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

fn words(spend: Spend) -> String {
    show::spent(spend.calls, spend.tokens, spend.cost_micros)
}
