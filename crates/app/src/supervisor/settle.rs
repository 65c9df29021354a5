//! What is written down for a night whose process has ended.

use jiff::civil::DateTime;
use skillopt_core::Problem;
use skillopt_store::locks;
use skillopt_store::nights::{self, Outcome};
use skillopt_store::scheduled::{self, Ended, State};

use super::child::Exit;
use crate::context::App;
use crate::scheduled::{MOST_TRIES, later};

/// Why a night was interrupted that ended with its host.
const STOPPED: &str = "It was stopped together with the app; it resumes where it was.";

/// A night this process has started.
pub(super) struct Night {
    pub(super) slot: Option<DateTime>,
    pub(super) caught_up: bool,
    /// How often the night of the slot had been begun before.
    pub(super) tries: u64,
    pub(super) requested: bool,
    pub(super) keep_awake: bool,
}

/// Writes down what a night's process could not. `stopping` when it was told to end with its host.
pub(super) fn settle(app: &App, exit: &Exit, night: &Night, stopping: bool) -> Result<(), Problem> {
    let project = exit.project.as_str();
    let left = app.store.read(|db| {
        nights::open(db, project, nights::Kind::Run)
            .map(|open| open.filter(|night| night.state == nights::State::Running))
    })?;
    // Only whoever holds its lock may write to a night: another program may have gone on with it.
    let alone = locks::project(&app.paths, project, "ending a night", app.clock.now());
    if let (Some(left), Ok(_lock)) = (&left, &alone) {
        app.store.commit("night interrupted", |tx| {
            let reason = if stopping {
                STOPPED.to_owned()
            } else {
                exit.reason()
            };
            nights::stop(tx, left.id, Outcome::Interrupted, &reason, None)
        })?;
    }
    if night.requested && !stopping {
        app.store.commit("request done", |tx| {
            scheduled::forget_request(tx, project).map(|_| ())
        })?;
    }
    match night.slot {
        Some(slot) => settle_slot(app, exit, night, slot, left.map(|night| night.id), stopping),
        None => Ok(()),
    }
}

/// Writes down for the night of a schedule what its process did not live to write.
fn settle_slot(
    app: &App,
    exit: &Exit,
    night: &Night,
    slot: DateTime,
    left: Option<i64>,
    stopping: bool,
) -> Result<(), Problem> {
    let (store, project) = (&app.store, exit.project.as_str());
    // One that only waited was not begun by anybody.
    let row = store
        .read(|db| scheduled::get(db, project, slot))?
        .filter(|row| row.tries > 0);
    if row.as_ref().is_some_and(|row| row.state != State::Open) {
        return Ok(());
    }
    let begun = row.as_ref().filter(|row| row.tries > night.tries);
    let tries = night.tries + 1;
    let again = later(app.clock.now(), tries);
    let wrote = begun.is_some_and(|row| row.outcome.is_some());
    let somebody_else = begun.is_none() && row.is_some() && exit.is_orderly();
    if wrote || somebody_else {
        // It is not begun again at once.
        let put_off = begun.is_none_or(|row| row.not_before.is_none());
        if put_off && !stopping {
            store.commit("night put off", |tx| {
                scheduled::put_off(tx, project, slot, again)
            })?;
        }
        return Ok(());
    }
    if stopping && begun.is_none() {
        return Ok(());
    }
    let over = tries >= MOST_TRIES && !stopping && !exit.is_orderly();
    let ended = Ended {
        state: if over { State::GivenUp } else { State::Open },
        night: left.or(row.as_ref().and_then(|row| row.night)),
        outcome: match (stopping, exit.is_orderly()) {
            (true, _) => Outcome::Interrupted,
            (false, true) => Outcome::Deferred,
            (false, false) => Outcome::Failed,
        },
        reason: if stopping {
            STOPPED.to_owned()
        } else {
            exit.reason()
        },
        not_before: (!stopping && !over).then_some(again),
    };
    store.commit("night settled", |tx| {
        if begun.is_none() {
            scheduled::begin(tx, project, slot, night.caught_up)?;
        }
        scheduled::end(tx, project, slot, &ended)
    })
}
