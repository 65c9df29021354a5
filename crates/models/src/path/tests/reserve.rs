//! What is kept for the user: a part of the plan, and the morning.

use std::time::Duration;

use skillopt_store::{attempts, calls, events};

use super::scripted::{Scripted, Stage, judge};
use super::*;
use crate::{Allowance, RawReply};

/// A reply after which so much of the plan is left, until then.
fn with_left(left_percent: u8, until: Option<Instant>) -> Result<RawReply, CallError> {
    Ok(RawReply {
        allowance: Some(Allowance {
            left_percent,
            until,
            as_of: None,
        }),
        ..RawReply::text(r#"{"score": 1}"#)
    })
}

fn codes(results: &[Result<Reply, CallError>]) -> Vec<&'static str> {
    results
        .iter()
        .map(|result| result.as_ref().map_or_else(CallError::code, |_| "ok"))
        .collect()
}

#[tokio::test]
async fn nothing_is_asked_once_less_than_the_reserve_is_left() {
    let stage = Stage::new();
    let until = stage.now().checked_add(Duration::from_secs(7_200)).unwrap();
    // 50 %, 40 %, 30 %, 20 % and so on.
    let backend = Scripted::new(move |_, made| {
        let left = u8::try_from(50_usize.saturating_sub(10 * made)).unwrap();
        with_left(left, Some(until)).into()
    });
    let path = |reserve| {
        stage.path_with(&backend, |options| {
            options.limits = Limits::new(1);
            options.reserve_percent = reserve;
        })
    };
    let keeping = path(30);
    keeping
        .plan(stage.night, "s", (0..6).map(judge).collect())
        .unwrap();
    let results = keeping.answer(stage.night, "s").await.unwrap();
    let reserved = Err(CallError::QuotaReserved {
        provider: "p".into(),
        left_percent: 20,
        until: Some(until),
    });
    assert_eq!(
        codes(&results)[..4],
        ["ok"; 4],
        "the reply that shows it is kept"
    );
    assert_eq!(results[4..], [reserved.clone(), reserved.clone()]);
    let rows = stage
        .store
        .read(|db| calls::rows(db, stage.night, "s"))
        .unwrap();
    assert_eq!(rows[5].state, calls::State::Planned, "it waits as it is");
    // Another process knows it too, and asks nothing.
    let results = path(30).answer(stage.night, "s").await.unwrap();
    assert_eq!(results[4..], [reserved.clone(), reserved]);
    assert_eq!(backend.asked().len(), 4);
    // Who wants to keep less goes on.
    let results = path(20).answer(stage.night, "s").await.unwrap();
    assert_eq!(codes(&results)[4], "ok");
    assert_eq!(backend.asked().len(), 5, "10 % are too few again");
    let results = path(0).answer(stage.night, "s").await.unwrap();
    assert_eq!(codes(&results), ["ok"; 6]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_per_minute_is_waited_for() {
    let stage = Stage::new();
    let soon = stage.now().checked_add(Duration::from_secs(40)).unwrap();
    let backend =
        Scripted::new(move |_, made| with_left(if made == 0 { 10 } else { 90 }, Some(soon)).into());
    let path = stage.path_with(&backend, |options| {
        options.limits = Limits::new(1);
        options.reserve_percent = 50;
    });
    path.plan(stage.night, "s", (0..2).map(judge).collect())
        .unwrap();
    let began = tokio::time::Instant::now();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(codes(&results), ["ok"; 2]);
    assert!(began.elapsed() >= Duration::from_secs(40));
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_after_the_time_to_finish_and_replies_under_way_may_come() {
    let stage = Stage::new();
    let at = stage.now().checked_add(Duration::from_secs(60)).unwrap();
    let clock = std::sync::Arc::clone(&stage.clock);
    let backend = Scripted::new(move |_, made| {
        // The second one begins just before the time and does not end soon.
        clock.set(at.checked_sub(Duration::from_secs(1)).unwrap());
        Scripted::after([1_000, 20_000][made % 2], r#"{"score": 1}"#)
    });
    let path = stage.path_with(&backend, |options| {
        options.limits = Limits::new(1);
        options.finish_at = Some(at);
    });
    path.plan(stage.night, "s", (0..4).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(
        codes(&results),
        [
            "ok",
            "finish_time_reached",
            "finish_time_reached",
            "finish_time_reached"
        ]
    );
    let tries = stage
        .store
        .read(|db| attempts::of_night(db, stage.night))
        .unwrap();
    let states: Vec<_> = tries.iter().map(|tried| tried.state).collect();
    assert_eq!(
        states,
        [attempts::State::Answered, attempts::State::Unknown],
        "what was sent may be charged"
    );
    // Another night, without such a time.
    let path = stage.path(&backend);
    assert_eq!(
        codes(&path.answer(stage.night, "s").await.unwrap())[0],
        "ok"
    );
}

#[tokio::test]
async fn an_old_reading_of_a_plan_is_said_and_only_trusted_when_too_little_was_left() {
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    // Left, how old, how many of three calls are made, and whether it is said to be too old.
    for (left_percent, age, made, too_old) in [
        (60, 2, 3, Some(false)),
        (60, 13, 3, Some(true)),
        (20, 2, 1, Some(false)),
        (20, 13, 1, Some(true)),
    ] {
        let stage = Stage::new();
        let allowance = Allowance {
            left_percent,
            until: stage.now().checked_add(hours(24)).ok(),
            as_of: stage.now().checked_sub(hours(age)).ok(),
        };
        let backend = Scripted::new(move |_, _| {
            Ok(RawReply {
                allowance: Some(allowance),
                ..RawReply::text(r#"{"score": 1}"#)
            })
            .into()
        });
        let path = stage.path_with(&backend, |options| {
            options.limits = Limits::new(1);
            options.reserve_percent = 30;
        });
        path.plan(stage.night, "s", (0..3).map(judge).collect())
            .unwrap();
        path.answer(stage.night, "s").await.unwrap();
        assert_eq!(backend.asked().len(), made, "{left_percent} % {age} h ago");
        let said = readings(&stage);
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0]["too_old"].as_bool(), too_old);
        assert_eq!(said[0]["age_minutes"], age * 60);
    }
}

#[tokio::test]
async fn who_tells_nothing_of_the_plan_is_asked_and_that_is_said_only_with_a_reserve() {
    for (reserve, said) in [(0, 0), (30, 1)] {
        let stage = Stage::new();
        let backend = Scripted::replies(r#"{"score": 1}"#);
        let path = stage.path_with(&backend, |options| options.reserve_percent = reserve);
        path.plan(stage.night, "s", (0..3).map(judge).collect())
            .unwrap();
        path.answer(stage.night, "s").await.unwrap();
        assert_eq!(backend.asked().len(), 3);
        assert_eq!(readings(&stage).len(), said);
    }
}

#[tokio::test]
async fn a_server_on_this_computer_may_pass_on_what_is_left_and_need_not() {
    for (left, made, said) in [(Some(20), 1, 1), (Some(60), 3, 1), (None, 3, 0)] {
        let stage = Stage::new();
        let until = stage.now().checked_add(Duration::from_secs(7_200)).ok();
        let backend = Scripted::new(move |_, _| match left {
            Some(left) => with_left(left, until).into(),
            None => Scripted::say(r#"{"score": 1}"#),
        })
        .local();
        let path = stage.path_with(&backend, |options| {
            options.limits = Limits::new(1);
            options.reserve_percent = 30;
        });
        path.plan(stage.night, "s", (0..3).map(judge).collect())
            .unwrap();
        path.answer(stage.night, "s").await.unwrap();
        assert_eq!(backend.asked().len(), made, "{left:?}");
        assert_eq!(readings(&stage).len(), said, "{left:?}");
    }
}

/// What was written down of plans.
fn readings(stage: &Stage) -> Vec<serde_json::Value> {
    stage
        .store
        .read(|db| events::list(db, stage.night))
        .unwrap()
        .into_iter()
        .filter(|event| event.kind == "models/allowance")
        .map(|event| event.body)
        .collect()
}
