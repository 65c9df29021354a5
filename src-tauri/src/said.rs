//! What this process says of itself: on standard error for whoever started it by hand, and in the log,
//! since nobody sees the former of a program that the session has started.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};

use skillopt_app::Problem;
use skillopt_app::log;
use skillopt_app::types::{Clock, Paths, SystemClock};

/// Who says it, in the log.
const WHO: &str = "skillopt-desktop";

/// Where the log is; nowhere before it is known.
static LOG: Mutex<Option<Paths>> = Mutex::new(None);

/// From now on the log of these folders has it as well.
pub(crate) fn log_in(paths: &Paths) {
    *LOG.lock().unwrap_or_else(PoisonError::into_inner) = Some(paths.clone());
}

fn paths() -> Option<Paths> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Says something.
pub(crate) fn say(text: impl Display) {
    let text = text.to_string();
    // Whoever read it may have gone.
    let _ = writeln!(std::io::stderr(), "{text}");
    if let Some(paths) = paths() {
        // A log that cannot be written is no reason to stop.
        let _ = log::add(&paths, SystemClock.now(), WHO, &text);
    }
}

/// Says what went wrong, with its code.
pub(crate) fn say_problem(problem: &Problem) {
    say(format_args!(
        "{}\n{}\n({})",
        problem.message, problem.guidance, problem.code
    ));
}

/// Where a process of this one says what went wrong.
pub(crate) fn for_a_process() -> Stdio {
    match paths() {
        Some(paths) if !std::io::stderr().is_terminal() => log::for_a_program(&paths),
        Some(_) | None => Stdio::inherit(),
    }
}
