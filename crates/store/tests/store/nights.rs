//! Projects, nights, and what is said to and about them.

use serde_json::json;
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::orders::{self, Order};
use skillopt_store::scheduled::{self, Refusal};
use skillopt_store::{events, pauses, projects};

use crate::sample::{Home, at};

#[test]
fn a_project_keeps_its_id_when_its_folder_moves() {
    let home = Home::new();
    let store = home.store();
    let project = home.project(&store);
    assert_eq!(project.len(), 16);
    assert_eq!(home.project(&store), project, "registering again finds it");

    let moved = home.root.join("elsewhere");
    std::fs::rename(home.project_root(), &moved).unwrap();
    store
        .commit("relocate", |tx| projects::relocate(tx, &project, &moved))
        .unwrap();
    let found = store
        .read(|db| projects::find(db, &moved))
        .unwrap()
        .unwrap();
    assert_eq!(
        (found.id, found.root),
        (project.clone(), moved.to_str().unwrap().to_owned())
    );

    std::fs::create_dir(home.project_root()).unwrap();
    let other = home.project(&store);
    assert_ne!(other, project);
    let clash = store
        .commit("relocate", |tx| projects::relocate(tx, &other, &moved))
        .unwrap_err();
    assert_eq!(clash.code, "project_exists");

    store
        .commit("remove", |tx| projects::remove(tx, &project))
        .unwrap();
    let ids = |store: &skillopt_store::Store| -> Vec<String> {
        store
            .read(projects::list)
            .unwrap()
            .into_iter()
            .map(|project| project.id)
            .collect()
    };
    assert_eq!(ids(&store), [other]);
    let removed = store
        .commit("a night", |tx| projects::find_or_register(tx, &moved))
        .unwrap_err();
    assert_eq!(removed.code, "project_removed");
    let back = store
        .commit("again", |tx| projects::register(tx, &moved))
        .unwrap();
    assert_eq!(back.id, project, "its history comes back");
    assert_eq!(
        store
            .commit("x", |tx| projects::remove(tx, "nope"))
            .unwrap_err()
            .code,
        "project_unknown"
    );
    let missing = store
        .commit("x", |tx| {
            projects::find_or_register(tx, &home.root.join("gone"))
        })
        .unwrap_err();
    assert_eq!(missing.code, "project_folder_missing");
}

#[test]
fn a_night_is_numbered_when_it_really_ran() {
    let home = Home::new();
    let store = home.store();
    let project = home.project(&store);
    let run = |counts: bool| {
        store
            .commit("night", |tx| {
                let night = nights::begin(tx, &project, Kind::Run, &json!({}))?;
                let number = if counts {
                    Some(nights::number(tx, night)?)
                } else {
                    None
                };
                if counts {
                    assert_eq!(
                        nights::number(tx, night)?,
                        number.unwrap(),
                        "asking again keeps it"
                    );
                }
                nights::end(tx, night, Outcome::NothingToDo, "", &json!({}))?;
                Ok(number)
            })
            .unwrap()
    };
    assert_eq!([run(true), run(false), run(true)], [Some(1), None, Some(2)]);
    assert_eq!(
        store.read(|db| nights::next_number(db, &project)).unwrap(),
        3
    );
}

#[test]
fn an_unfinished_night_is_found_and_goes_on() {
    let home = Home::new();
    let store = home.store();
    let (project, night) = home.night(&store);
    let again = store.commit("again", |tx| {
        nights::begin(tx, &project, Kind::Run, &json!({}))
    });
    assert_eq!(again.unwrap_err().code, "night_unfinished");
    store
        .commit("dry", |tx| {
            nights::begin(tx, &project, Kind::DryRun, &json!({}))
        })
        .unwrap();

    // It works for a minute, then waits for an hour: only the minute counts.
    home.forward(60);
    let until = at("2026-11-29T09:00:00Z");
    store
        .commit("stop", |tx| {
            nights::stop(tx, night, Outcome::Deferred, "quota_exhausted", Some(until))
        })
        .unwrap();
    let stopped = store
        .read(|db| nights::open(db, &project, Kind::Run))
        .unwrap()
        .unwrap();
    assert_eq!(
        (stopped.state, stopped.outcome, stopped.until),
        (nights::State::Stopped, Some(Outcome::Deferred), Some(until))
    );

    home.forward(3600);
    store
        .commit("resume", |tx| nights::resume(tx, night))
        .unwrap();
    home.forward(30);
    // Killed: the last sign of life is this event, 30 s after it was resumed.
    store
        .commit("event", |tx| {
            events::append(tx, night, "sign/of-life", &json!({}))
        })
        .unwrap();
    home.forward(7200);
    store
        .commit("resume", |tx| nights::resume(tx, night))
        .unwrap();
    home.forward(10);
    let running = store.read(|db| nights::get(db, night)).unwrap().unwrap();
    assert_eq!(running.resumes, 2);
    let now = skillopt_store::Clock::now(home.clock.as_ref());
    let worked = store.worked(night);
    assert_eq!(worked.unwrap().as_secs(), 10);
    for worked in [None, worked] {
        assert_eq!(
            nights::active(&running, worked, now).as_secs(),
            60 + 30 + 10
        );
    }
    // A word that only a later version knows.
    let unknown = store.read(|db| {
        Ok(db.query_row("SELECT 'dreaming'", [], |row| {
            row.get::<_, nights::State>(0)
        })?)
    });
    assert_eq!(unknown.unwrap_err().code, "stored_value_unreadable");
    // Somebody sets the clock: that is no work.
    home.clock.leap(at("2027-11-29T03:15:00Z"));
    assert_eq!(store.worked(night), worked);

    store
        .commit("end", |tx| {
            nights::end(tx, night, Outcome::NotImproved, "", &json!({"n": 1}))
        })
        .unwrap();
    assert_eq!(
        store
            .read(|db| nights::open(db, &project, Kind::Run))
            .unwrap(),
        None
    );
    let ended = store.read(|db| nights::get(db, night)).unwrap().unwrap();
    assert_eq!(ended.report, Some(json!({"n": 1})));
    assert_eq!(nights::active(&ended, None, now).as_secs(), 100);
    assert_eq!(
        store
            .commit("x", |tx| nights::resume(tx, night))
            .unwrap_err()
            .code,
        "night_ended"
    );
}

#[test]
fn what_a_request_was_refused_for_is_over_when_a_night_begins_or_goes_on() {
    let home = Home::new();
    let store = home.store();
    let project = home.project(&store);
    // Later than every night, as from a clock that was wrong: it is over all the same.
    let refusal = Refusal {
        outcome: Outcome::Failed,
        reason: "No.".into(),
        needs: None,
        at: at("2036-11-29T03:15:00Z"),
    };
    let refused = || {
        store
            .commit("refuse", |tx| scheduled::refuse(tx, &project, &refusal))
            .unwrap();
    };
    let seen = || {
        store
            .read(|db| {
                let refused = scheduled::refused(db, &project)?.is_some();
                Ok((nights::begun(db, &project, Kind::Run)?, refused))
            })
            .unwrap()
    };
    refused();
    store
        .commit("a preview is no night", |tx| {
            nights::begin(tx, &project, Kind::DryRun, &json!({}))
        })
        .unwrap();
    assert_eq!(seen(), (0, true));
    let night = store
        .commit("begin", |tx| {
            nights::begin(tx, &project, Kind::Run, &json!({}))
        })
        .unwrap();
    assert_eq!(seen(), (1, false));
    refused();
    store
        .commit("go on", |tx| nights::resume(tx, night))
        .unwrap();
    assert_eq!(seen(), (2, false));
    refused();
    let slot = "2026-11-29T03:17:00".parse().unwrap();
    store
        .commit("a night of the schedule", |tx| {
            scheduled::begin(tx, &project, slot, false)
        })
        .unwrap();
    assert_eq!(seen(), (2, false));
}

#[test]
fn orders_are_read_until_they_are_handled() {
    let home = Home::new();
    let store = home.store();
    let (_, night) = home.night(&store);
    let pending = || store.read(|db| orders::pending(db, night)).unwrap();
    assert_eq!(pending(), None);
    for order in [Order::Pause, Order::Cancel, Order::Pause] {
        store
            .commit("order", |tx| orders::give(tx, night, order))
            .unwrap();
    }
    assert_eq!(pending(), Some(Order::Cancel));
    store
        .commit("handled", |tx| orders::handled(tx, night))
        .unwrap();
    assert_eq!(pending(), None);
}

#[test]
fn a_pause_ends_by_itself_and_is_never_shortened_by_another() {
    let home = Home::new();
    let store = home.store();
    let set = |until: &str| {
        store
            .commit("pause", |tx| pauses::set(tx, "openai", at(until), "quota"))
            .unwrap();
    };
    set("2026-11-29T09:00:00Z");
    set("2026-11-29T05:00:00Z");
    let active = |now: &str| {
        store
            .read(|db| pauses::active(db, "openai", at(now)))
            .unwrap()
            .map(|pause| pause.until)
    };
    assert_eq!(
        active("2026-11-29T08:59:59Z"),
        Some(at("2026-11-29T09:00:00Z"))
    );
    assert_eq!(active("2026-11-29T09:00:00Z"), None);
}

#[test]
fn events_are_ordered_and_read_by_kind() {
    let home = Home::new();
    let store = home.store();
    let (_, night) = home.night(&store);
    for n in 0..5 {
        let seq = store
            .commit("event", |tx| {
                let kind = if n % 2 == 0 { "even" } else { "odd" };
                events::append(tx, night, kind, &json!({"n": n}))
            })
            .unwrap();
        assert_eq!(seq, n + 1);
    }
    let numbers = |events: Vec<events::Event>| -> Vec<u64> {
        events
            .iter()
            .map(|event| event.body["n"].as_u64().unwrap())
            .collect()
    };
    let all = store.read(|db| events::list(db, night)).unwrap();
    assert_eq!(numbers(all), [0, 1, 2, 3, 4]);
    let odd = store.read(|db| events::of_kind(db, night, "odd")).unwrap();
    assert_eq!(numbers(odd), [1, 3]);
}
