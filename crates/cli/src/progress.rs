//! Progress of a night on stderr: stage, calls, time left, spend.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skillopt_app::supervisor::left_in_words;
use skillopt_app::types::{Pace, Spend, counted};
use skillopt_app::{Listener, Progress as Event};

use crate::show::{self, stage};
use crate::terminal::plain;

/// Shows what happens while a command runs.
pub(crate) struct Progress {
    bar: ProgressBar,
    listener: Listener,
}

/// What has been said until now.
#[derive(Debug, Default)]
struct Said {
    /// The pace of the night since it is known what it asks, and since when that is.
    pace: Option<(Pace, Instant)>,
    /// The newest words about what was spent.
    spent: String,
    /// Why calls got another try, and how often that was not said again.
    again: Option<(String, u64)>,
}

impl Said {
    /// Counts a call that has its result.
    fn done(&mut self, fresh: bool) {
        if let Some((pace, since)) = &mut self.pace {
            pace.to_come = pace.to_come.saturating_sub(1);
            pace.answers += u64::from(fresh);
            pace.took = since.elapsed();
        }
    }

    /// What was spent, and how long the night still takes.
    fn so_far(&self) -> String {
        let left = self.pace.and_then(|(pace, _)| pace.left());
        match left {
            Some(left) => format!(
                "{}, at most about {} left",
                self.spent,
                left_in_words(left.as_secs())
            ),
            None => self.spent.clone(),
        }
    }

    /// The line for another try; `None` when the same was said last.
    fn again(&mut self, why: &str, seconds: u64) -> Option<String> {
        if let Some((said, times)) = &mut self.again
            && said.as_str() == why
        {
            *times += 1;
            return None;
        }
        self.again = Some((why.to_owned(), 0));
        Some(format!("{why} Trying again in {seconds} s."))
    }

    /// How often the last reason came up without being said, once its stage is over.
    fn untold(&mut self) -> Option<String> {
        let (_, times) = self.again.take()?;
        (times > 0).then(|| format!("The same happened {} more.", counted(times, "time")))
    }
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
        bar.set_style(without_calls());
        let shown = bar.clone();
        let said = Mutex::new(Said {
            spent: words(Spend::default()),
            again: None,
            pace: None,
        });
        let say = move |bar: &ProgressBar, text: &str| {
            let text = plain(text);
            if !json && bar.is_hidden() {
                crate::print_error(&text);
            } else {
                bar.println(text);
            }
        };
        let listener: Listener = Arc::new(move |event| {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            match event {
                Event::StageStarted { stage: name, calls } => {
                    let Some(name) = stage::words(name) else {
                        return;
                    };
                    if lines {
                        crate::print_error(&begun(&name, *calls));
                    }
                    // First without numbers: those of the stage before never stand beside this name.
                    shown.set_style(without_calls());
                    shown.set_message(name);
                    shown.reset();
                    shown.set_length(*calls as u64);
                    if *calls > 0 {
                        shown.set_style(with_calls(said.pace.is_some()));
                    }
                    shown.enable_steady_tick(Duration::from_millis(120));
                }
                Event::Outlook { calls } => {
                    let pace = Pace {
                        to_come: *calls,
                        ..Pace::default()
                    };
                    said.pace = Some((pace, Instant::now()));
                }
                Event::CallDone {
                    stage: name,
                    fresh,
                    spent,
                } => {
                    said.done(*fresh && spent.is_some());
                    if let (Some(spent), Some(name)) = (spent, stage::words(name)) {
                        said.spent = words(*spent);
                        shown.set_message(format!("{name} ({})", said.so_far()));
                    }
                    shown.inc(1);
                }
                Event::StageDone { stage: name } => {
                    if let Some(line) = said.untold() {
                        say(&shown, &line);
                    }
                    if let (true, Some(name)) = (lines, stage::words(name)) {
                        crate::print_error(&format!("[sleep] {name}: done, {}", said.so_far()));
                    }
                }
                Event::Again { why, seconds } => {
                    if let Some(line) = said.again(why, *seconds) {
                        say(&shown, &line);
                    }
                }
                Event::Note(text) => say(&shown, text),
            }
        });
        Self { bar, listener }
    }

    pub(crate) fn listener(&self) -> Listener {
        Arc::clone(&self.listener)
    }

    /// Takes the bar away until something happens again.
    pub(crate) fn pause(&self) {
        self.bar.disable_steady_tick();
        self.bar.reset();
        self.bar.set_message("");
    }

    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

fn begun(name: &str, calls: usize) -> String {
    match calls {
        0 => format!("[sleep] {name}"),
        calls => format!("[sleep] {name}: {}", counted(calls as u64, "call")),
    }
}

/// The bar of a stage; how long it takes is only of interest while it is not known how long the night does.
fn with_calls(night_is_known: bool) -> ProgressStyle {
    let template = if night_is_known {
        "{spinner} {msg} {pos}/{len} [{elapsed}]"
    } else {
        "{spinner} {msg} {pos}/{len} [{elapsed}, about {eta} left]"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn without_calls() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn words(spend: Spend) -> String {
    show::spent(spend.calls, spend.tokens, spend.cost_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_retries_are_said_once_and_counted() {
        let mut said = Said::default();
        assert_eq!(
            said.again("Nobody answers.", 2).as_deref(),
            Some("Nobody answers. Trying again in 2 s.")
        );
        assert_eq!(said.again("Nobody answers.", 3), None);
        assert_eq!(said.again("Nobody answers.", 1), None);
        assert_eq!(
            said.untold().as_deref(),
            Some("The same happened 2 times more.")
        );
        assert_eq!(said.untold(), None);
        assert!(said.again("Nobody answers.", 1).is_some());
    }

    #[test]
    fn the_time_left_is_that_of_the_night() {
        let mut said = Said {
            spent: "4 calls".to_owned(),
            ..Said::default()
        };
        said.done(true);
        assert_eq!(said.so_far(), "4 calls", "it is not known what is to come");
        let pace = Pace {
            to_come: 40,
            ..Pace::default()
        };
        said.pace = Some((pace, Instant::now()));
        for fresh in [true, false, true, true] {
            assert_eq!(said.so_far(), "4 calls");
            said.done(fresh);
        }
        let (pace, _) = said.pace.as_mut().unwrap();
        assert_eq!((pace.to_come, pace.answers), (36, 3));
        pace.took = Duration::from_secs(30);
        assert_eq!(said.so_far(), "4 calls, at most about 6 min left");
    }

    #[test]
    fn a_stage_without_calls_has_no_numbers() {
        assert_eq!(begun("reading sessions", 0), "[sleep] reading sessions");
        assert_eq!(begun("finding tasks", 1), "[sleep] finding tasks: 1 call");
    }
}
