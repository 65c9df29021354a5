//! What is written down for a night whose process has ended.

use jiff::civil::DateTime;
use skillopt_core::Problem;
use skillopt_models::CancelToken;
use skillopt_sleep::run::ENDED_BY_USER;
use skillopt_store::locks;
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::scheduled::{self, Ended, Refusal, State};

use super::child::Exit;
use crate::context::App;
use crate::night::end_by_user;
use crate::scheduled::{MOST_TRIES, later};

/// Why a night was interrupted that ended with its host.
const STOPPED: &str = "It was stopped together with the app; it resumes where it was.";

/// Why a test or a rehearsal stopped whose process nobody waits for.
const DIED: &str =
    "The program it ran in was closed or killed; what was answered is used when it is begun again.";

/// A night this process has started.
pub(super) struct Night {
    pub(super) slot: Option<DateTime>,
    pub(super) caught_up: bool,
    /// How often the night of the slot had been begun before.
    pub(super) tries: u64,
    /// How often a night of the project had been begun or gone on with before.
    pub(super) begun: u64,
    pub(super) requested: bool,
    pub(super) keep_awake: bool,
    /// Raised to end its process.
    pub(super) stop: CancelToken,
    /// Why that was raised.
    pub(super) stopped: Option<Stopped>,
}

/// Why a night's process was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The user ended the night: it does not go on.
    ByUser,
    /// Its host ends: it goes on later.
    WithHost,
}

impl Night {
    /// Ends its process; the first reason counts.
    pub(super) fn stop(&mut self, why: Stopped) {
        self.stopped.get_or_insert(why);
        self.stop.cancel();
    }
}

/// Writes down what a night's process could not.
pub(super) fn settle(app: &App, exit: &Exit, night: &Night) -> Result<(), Problem> {
    let project = exit.project.as_str();
    let open = app
        .store
        .read(|db| nights::open(db, project, Kind::Run))?
        .filter(|open| {
            open.state == nights::State::Running || night.stopped == Some(Stopped::ByUser)
        })
        .map(|open| open.id);
    // Only whoever holds its lock may write to a night: another program may have gone on with it.
    let alone = locks::project(&app.paths, project, "ending a night", app.clock.now());
    if let (Some(open), Ok(_lock)) = (open, &alone) {
        app.store.commit("night ended early", |tx| {
            let interrupted = |why: &str| nights::stop(tx, open, Outcome::Interrupted, why, None);
            match night.stopped {
                Some(Stopped::ByUser) => end_by_user(tx, open),
                Some(Stopped::WithHost) => interrupted(STOPPED),
                None => interrupted(&exit.reason()),
            }
        })?;
    }
    if night.requested && night.stopped != Some(Stopped::WithHost) {
        app.store.commit("request done", |tx| {
            scheduled::forget_request(tx, project).map(|_| ())
        })?;
    }
    match (night.slot, night.stopped) {
        (Some(slot), _) => settle_slot(app, exit, night, slot, open),
        (None, Some(Stopped::ByUser | Stopped::WithHost)) => Ok(()),
        (None, None) => settle_request(app, exit, night),
    }
}

/// Writes down of tests and rehearsals that the process they ran in is gone: of the app's window, of a command.
/// Nobody waits for such a process. Whether there were any.
pub(super) fn settle_the_dead<'a>(
    app: &App,
    projects: impl Iterator<Item = &'a str>,
) -> Result<bool, Problem> {
    let mut settled = false;
    for project in projects {
        let left = app.store.read(|db| nights::left_running(db, project))?;
        if left.is_empty() {
            continue;
        }
        // Whoever still works on one holds this lock.
        let Ok(_lock) = locks::project(&app.paths, project, "ending a test", app.clock.now())
        else {
            continue;
        };
        app.store.commit("test ended early", |tx| {
            // One may have ended meanwhile.
            for night in nights::left_running(tx, project)? {
                nights::abandon(tx, night, DIED)?;
            }
            Ok(())
        })?;
        settled = true;
    }
    Ok(settled)
}

/// Writes down why a night that was asked for did not even begin: whoever asked waits for it.
fn settle_request(app: &App, exit: &Exit, night: &Night) -> Result<(), Problem> {
    let project = exit.project.as_str();
    let refusal = Refusal {
        outcome: exit.outcome(),
        reason: exit.reason(),
        needs: exit.needs(),
        at: app.clock.now(),
    };
    app.store.commit("request settled", |tx| {
        if nights::begun(tx, project, Kind::Run)? == night.begun {
            scheduled::refuse(tx, project, &refusal)?;
        }
        Ok(())
    })
}

/// Writes down for the night of a schedule what its process did not live to write.
fn settle_slot(
    app: &App,
    exit: &Exit,
    night: &Night,
    slot: DateTime,
    left: Option<i64>,
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
    let left = left.or(row.as_ref().and_then(|row| row.night));
    let tries = night.tries + 1;
    let again = later(app.clock.now(), tries);
    let wrote = begun.is_some_and(|row| row.outcome.is_some());
    let ended = match night.stopped {
        Some(Stopped::ByUser) => Ended {
            state: State::Done,
            night: left,
            outcome: Outcome::Interrupted,
            reason: ENDED_BY_USER.to_owned(),
            needs: None,
            not_before: None,
        },
        // It had not begun, or has written down itself how far it came.
        Some(Stopped::WithHost) if wrote || begun.is_none() => return Ok(()),
        Some(Stopped::WithHost) => Ended {
            state: State::Open,
            night: left,
            outcome: Outcome::Interrupted,
            reason: STOPPED.to_owned(),
            needs: None,
            not_before: None,
        },
        // Its own words count, or it left the night to another process; it is not begun again at once.
        None if wrote || (begun.is_none() && row.is_some() && exit.is_orderly()) => {
            if begun.is_none_or(|row| row.not_before.is_none()) {
                store.commit("night put off", |tx| {
                    scheduled::put_off(tx, project, slot, again)
                })?;
            }
            return Ok(());
        }
        None => {
            let over = tries >= MOST_TRIES && !exit.is_orderly();
            Ended {
                state: if over { State::GivenUp } else { State::Open },
                night: left,
                outcome: exit.outcome(),
                reason: exit.reason(),
                needs: exit.needs(),
                not_before: (!over).then_some(again),
            }
        }
    };
    store.commit("night settled", |tx| {
        if begun.is_none() {
            scheduled::begin(tx, project, slot, night.caught_up)?;
        }
        scheduled::end(tx, project, slot, &ended)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_home::TestHome;

    #[test]
    fn a_test_whose_process_has_died_does_not_run_for_ever() {
        let home = TestHome::new();
        let app = &home.app;
        let project = app.project(None).unwrap().id;
        let [test, rehearsal, run] = [Kind::Revalidation, Kind::DryRun, Kind::Run].map(|kind| {
            app.store
                .commit("begin", |tx| nights::begin(tx, &project, kind, &json!({})))
                .unwrap()
        });
        let of = |id| app.store.read(|db| nights::required(db, id)).unwrap();
        let settled = || settle_the_dead(app, [project.as_str()].into_iter()).unwrap();

        // Whoever holds the lock works on it.
        let lock = locks::project(&app.paths, &project, "test", app.clock.now()).unwrap();
        assert!(!settled());
        assert_eq!(of(test).state, nights::State::Running);
        drop(lock);

        assert!(settled());
        for id in [test, rehearsal] {
            let night = of(id);
            assert_eq!(
                (night.state, night.outcome, night.reason.as_str()),
                (nights::State::Stopped, Some(Outcome::Interrupted), DIED)
            );
            // It was at work until its last sign of life, not until somebody looked.
            assert_eq!(
                (night.ended_at, night.active_us),
                (Some(night.started_at), 0)
            );
        }
        // The next run goes on with this one.
        assert_eq!(of(run).state, nights::State::Running);
        assert!(!settled());
    }
}
