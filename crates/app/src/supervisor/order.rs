//! Orders to whoever supervises: rows in the store, then a word to look again.

use skillopt_core::schedule::Pause;
use skillopt_core::{Instant, Problem};
use skillopt_store::orders::{self, Order};
use skillopt_store::projects::{self, Project};
use skillopt_store::{nights, scheduled};

use super::poke;
use crate::context::App;
use crate::night::is_at_work;

/// Asks for a night of a project as soon as its provider is free. Conditions and pause do not hold it back.
///
/// Errors: `project_unknown`, `project_folder_missing`.
pub fn run_now(app: &App, project: &str) -> Result<(), Problem> {
    let project = registered(app, project)?;
    if !std::path::Path::new(&project.root).is_dir() {
        return Err(Problem::refused(
            "project_folder_missing",
            format!("The folder {} is not there.", project.root),
            "Say where it is now with `skillopt project move`.",
        ));
    }
    app.store
        .commit("request night", |tx| scheduled::request(tx, &project.id))?;
    poke::send(&app.paths);
    Ok(())
}

/// Takes back a request that has not begun, and tells a night at work to end; it does not go on afterwards.
/// Whether there was anything to end. A night whose process has not written it down yet hears of it only
/// from the supervisor that started it: see [`Handle::cancel`](super::Handle::cancel).
///
/// Error: `project_unknown`.
pub fn cancel(app: &App, project: &str) -> Result<bool, Problem> {
    let project = registered(app, project)?.id;
    let night = app
        .store
        .read(|db| nights::unfinished(db, &project))?
        .into_iter()
        .find(|night| is_at_work(app, night));
    let found = app.store.commit("cancel", |tx| {
        let asked_for = scheduled::forget_request(tx, &project)?;
        if let Some(night) = &night {
            orders::give(tx, night.id, Order::Cancel)?;
        }
        Ok(asked_for || night.is_some())
    })?;
    poke::send(&app.paths);
    Ok(found)
}

/// Takes back a request that has not begun; whether there was one.
///
/// Error: `project_unknown`.
pub(crate) fn call_off(app: &App, project: Option<&std::path::Path>) -> Result<bool, Problem> {
    let project = app
        .known_project(project)?
        .ok_or_else(crate::project::not_registered)?;
    let asked_for = app.store.commit("call off night", |tx| {
        scheduled::forget_request(tx, &project.id)
    })?;
    if asked_for {
        poke::send(&app.paths);
    }
    Ok(asked_for)
}

/// No night begins by itself while the pause holds. One that runs goes on.
pub fn pause(app: &App, pause: Pause) -> Result<(), Problem> {
    app.store
        .commit("pause nights", |tx| scheduled::pause(tx, pause))?;
    poke::send(&app.paths);
    Ok(())
}

/// Ends the pause; whether one held.
pub fn resume(app: &App) -> Result<bool, Problem> {
    let held = app.store.commit("resume nights", scheduled::resume)?;
    poke::send(&app.paths);
    Ok(held)
}

/// A pause in words: `1h`, `90m`, `tomorrow`, `forever`, a date (until it begins) or a date with a time, all
/// in the computer's time zone.
///
/// Error: `pause_unreadable`.
pub fn pause_of(text: &str, now: Instant, zone: &jiff::tz::TimeZone) -> Result<Pause, Problem> {
    use jiff::civil::DateTime;
    let text = text.trim().to_ascii_lowercase();
    let unreadable = || {
        Problem::refused(
            "pause_unreadable",
            format!("\"{}\" is no time to pause until.", text.escape_debug()),
            "Write 1h, 90m, tomorrow, forever, a date such as 2026-12-24, or a date and time such as 2026-12-24T18:00.",
        )
    };
    let local = |at: DateTime| {
        zone.to_ambiguous_timestamp(at)
            .compatible()
            .map(Pause::Until)
            .map_err(|_| unreadable())
    };
    let pause = match text.as_str() {
        "forever" => Pause::Forever,
        "tomorrow" => Pause::until_tomorrow(now, zone),
        _ => {
            if let Some(span) = duration(&text) {
                Pause::Until(now.checked_add(span).map_err(|_| unreadable())?)
            } else {
                // A date alone is its midnight.
                local(text.parse::<DateTime>().map_err(|_| unreadable())?)?
            }
        }
    };
    if pause.holds(now) {
        Ok(pause)
    } else {
        Err(unreadable())
    }
}

/// `1h`, `90m`, `2d`.
fn duration(text: &str) -> Option<jiff::SignedDuration> {
    let unit = text.chars().last()?;
    let number: i64 = text.strip_suffix(unit)?.parse().ok()?;
    let minutes = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        _ => return None,
    };
    (1..=366 * 24 * 60)
        .contains(&number)
        .then(|| jiff::SignedDuration::from_mins(number * minutes))
}

fn registered(app: &App, id: &str) -> Result<Project, Problem> {
    app.store
        .read(projects::list)?
        .into_iter()
        .find(|project| project.id == id)
        .ok_or_else(crate::project::not_registered)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use crate::test_home::TestHome;

    #[test]
    fn pauses_are_read_from_words() {
        let now: Instant = "2026-11-30T22:30:00Z".parse().unwrap();
        let zone = TimeZone::get("Europe/Paris").unwrap();
        let until = |text: &str| match pause_of(text, now, &zone).unwrap() {
            Pause::Until(at) => at.to_string(),
            Pause::Forever => "forever".to_owned(),
        };
        assert_eq!(until("1h"), "2026-11-30T23:30:00Z");
        assert_eq!(until(" 90M "), "2026-12-01T00:00:00Z");
        assert_eq!(until("tomorrow"), "2026-11-30T23:00:00Z");
        assert_eq!(until("2026-12-24"), "2026-12-23T23:00:00Z");
        assert_eq!(until("2026-12-24T18:00"), "2026-12-24T17:00:00Z");
        assert_eq!(until("forever"), "forever");
        for bad in [
            "",
            "0h",
            "-1h",
            "1",
            "h",
            "yesterday",
            "2020-01-01",
            "99999999999h",
            "é",
        ] {
            let problem = pause_of(bad, now, &zone).unwrap_err();
            assert_eq!(problem.code, "pause_unreadable", "{bad}");
        }
    }

    #[test]
    fn a_pause_and_a_request_are_rows_that_stay() {
        let home = TestHome::new();
        let app = &home.app;
        let project = app.project(None).unwrap();
        pause(app, Pause::Forever).unwrap();
        run_now(app, &project.id).unwrap();
        run_now(app, &project.id).unwrap();
        let again = App::open(
            (*app.environment).clone(),
            app.directory.clone(),
            std::sync::Arc::clone(&app.clock),
        )
        .unwrap();
        let (paused, requests) = again
            .store
            .read(|db| {
                Ok((
                    scheduled::paused(db, again.clock.now())?,
                    scheduled::requests(db)?,
                ))
            })
            .unwrap();
        assert_eq!(paused, Some(Pause::Forever));
        assert_eq!(requests.len(), 1);
        assert!(cancel(&again, &project.id).unwrap());
        assert!(!cancel(&again, &project.id).unwrap());
        assert!(resume(&again).unwrap() && !resume(&again).unwrap());
        assert_eq!(run_now(app, "nobody").unwrap_err().code, "project_unknown");
    }
}
