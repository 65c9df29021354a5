//! Backends that fail, limit and stall; nights that are stopped.

use std::time::Duration;

use skillopt_core::Instant;
use skillopt_store::attempts::{self, State};
use skillopt_store::{calls, orders, pauses};

use super::scripted::{Scripted, Stage, attempt, judge, score_of};
use super::*;
use crate::error::Wait;

fn unavailable() -> CallError {
    CallError::Unavailable {
        provider: "p".into(),
        detail: "503".into(),
        sent: false,
    }
}

fn codes(results: &[Result<Reply, CallError>]) -> Vec<&'static str> {
    results
        .iter()
        .map(|result| result.as_ref().map_or_else(CallError::code, |_| "ok"))
        .collect()
}

#[tokio::test]
async fn one_failure_does_not_stop_its_siblings() {
    let stage = Stage::new();
    let backend = Scripted::new(|call, _| match score_of(call) {
        1 => Scripted::fail(CallError::Refused {
            detail: "policy".into(),
        }),
        3 => Scripted::fail(CallError::ContextOverflow {
            detail: String::new(),
        }),
        _ => Scripted::after(5, r#"{"score": 1}"#),
    });
    let path = stage.path(&backend);
    path.plan(stage.night, "s", (0..5).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(
        codes(&results),
        ["ok", "reply_refused", "ok", "context_overflow", "ok"]
    );
    assert_eq!(
        backend.asked().len(),
        5,
        "errors that stay are not tried again"
    );
    let rows = stage
        .store
        .read(|db| calls::rows(db, stage.night, "s"))
        .unwrap();
    assert_eq!(rows[1].state, calls::State::Failed);
}

#[tokio::test]
async fn what_can_pass_is_tried_again_and_every_try_is_a_row() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, made| {
        if made < 2 {
            Scripted::fail(unavailable())
        } else {
            Scripted::say(r#"{"score": 1}"#)
        }
    });
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    assert_eq!(codes(&path.answer(stage.night, "s").await.unwrap()), ["ok"]);
    let tries = stage
        .store
        .read(|db| attempts::of_night(db, stage.night))
        .unwrap();
    assert_eq!(
        tries.iter().map(|a| a.state).collect::<Vec<_>>(),
        [State::Failed, State::Failed, State::Answered]
    );
    assert_eq!(tries[0].error_code.as_deref(), Some("model_unavailable"));
    assert!(
        tries[0].reply.is_none(),
        "an error is a row, never an answer"
    );
    assert_eq!(path.spent(stage.night).unwrap().calls, 3);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_asked_for_is_kept_by_everybody() {
    let stage = Stage::new();
    let began = tokio::time::Instant::now();
    let backend = Scripted::new(move |_, made| {
        if made == 0 {
            let retry_after = Some(Duration::from_secs(20));
            return Scripted::fail(CallError::RateLimited {
                provider: "p".into(),
                retry_after,
                detail: String::new(),
            });
        }
        assert!(began.elapsed() >= Duration::from_secs(20));
        Scripted::say(r#"{"score": 1}"#)
    });
    let path = stage.path_with(&backend, |options| options.limits = Limits::new(1));
    path.plan(stage.night, "s", (0..3).map(judge).collect())
        .unwrap();
    assert_eq!(
        codes(&path.answer(stage.night, "s").await.unwrap()),
        ["ok"; 3]
    );
    assert!(began.elapsed() < Duration::from_secs(22));
}

#[tokio::test]
async fn the_first_limit_reply_pauses_the_provider_until_its_reset() {
    // Field note 68: 22 calls were made against a weekly limit, and the night counted as complete.
    let stage = Stage::new();
    let until: Instant = "2026-11-30T09:00:00Z".parse().unwrap();
    let limited = Scripted::new(move |call, _| match score_of(call) {
        0 => Scripted::say(r#"{"score": 1}"#),
        _ => Scripted::fail(CallError::QuotaExhausted {
            provider: "p".into(),
            until: Some(until),
            detail: "weekly limit".into(),
        }),
    });
    let path = stage.path_with(&limited, |options| options.limits = Limits::new(1));
    path.plan(stage.night, "s", (0..5).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(codes(&results)[1..], ["quota_exhausted"; 4]);
    assert!(results[1..].iter().all(|result| {
        matches!(result, Err(CallError::QuotaExhausted { until: Some(at), .. }) if *at == until)
    }));
    assert_eq!(limited.asked().len(), 2, "the others are not sent");
    let pause = stage
        .store
        .read(|db| pauses::active(db, "p", stage.now()))
        .unwrap()
        .unwrap();
    assert_eq!(pause.until, until);
    assert!(stage.events.lock().unwrap().contains(&CallEvent::Paused {
        provider: "p".into(),
        until
    }));

    // Another process, still within the pause: nothing is sent.
    let well = Scripted::replies(r#"{"score": 1}"#);
    let results = stage.path(&well).answer(stage.night, "s").await.unwrap();
    assert_eq!(
        codes(&results),
        [
            "ok",
            "quota_exhausted",
            "quota_exhausted",
            "quota_exhausted",
            "quota_exhausted"
        ]
    );
    assert!(well.asked().is_empty());
    // After the reset it goes on, and what was answered is not asked again.
    stage.clock.set("2026-11-30T09:00:01Z".parse().unwrap());
    assert_eq!(
        codes(&stage.path(&well).answer(stage.night, "s").await.unwrap()),
        ["ok"; 5]
    );
    assert_eq!(well.asked().len(), 4);
}

#[tokio::test]
async fn a_limit_without_a_reset_still_pauses() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| {
        Scripted::fail(CallError::QuotaExhausted {
            provider: "p".into(),
            until: None,
            detail: String::new(),
        })
    });
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    path.answer(stage.night, "s").await.unwrap();
    let pause = stage
        .store
        .read(|db| pauses::active(db, "p", stage.now()))
        .unwrap()
        .unwrap();
    assert_eq!(
        pause.until,
        "2026-11-30T04:00:00Z".parse::<Instant>().unwrap()
    );
}

#[tokio::test]
async fn a_provider_that_only_asks_to_wait_longer_than_we_do_is_paused() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| {
        let retry_after = Some(Duration::from_secs(1800));
        Scripted::fail(CallError::RateLimited {
            provider: "p".into(),
            retry_after,
            detail: String::new(),
        })
    });
    let path = stage.path_with(&backend, |options| options.limits = Limits::new(1));
    path.plan(stage.night, "s", (0..3).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    let mut found = codes(&results);
    found.sort_unstable();
    assert_eq!(
        found,
        ["quota_exhausted", "quota_exhausted", "rate_limited"]
    );
    assert_eq!(backend.asked().len(), 1);
    let pause = stage
        .store
        .read(|db| pauses::active(db, "p", stage.now()))
        .unwrap()
        .unwrap();
    assert_eq!(
        pause.until,
        "2026-11-30T03:30:00Z".parse::<Instant>().unwrap()
    );
}

#[tokio::test]
async fn a_refused_sign_in_stops_that_provider_and_no_other() {
    let stage = Stage::new();
    let target = Scripted::replies("Hello.").of_provider("other");
    let optimizer = Scripted::new(|_, _| {
        let detail = "key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH is not valid".into();
        Scripted::fail(CallError::SignInNeeded {
            provider: "p".into(),
            detail,
        })
    });
    let options = PathOptions {
        limits: Limits::new(1),
        ..PathOptions::default()
    };
    let path = stage.path_of(&target, &optimizer, Templates::default(), options);
    path.plan(
        stage.night,
        "s",
        vec![judge(0), attempt(0), judge(1), attempt(1)],
    )
    .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(
        codes(&results),
        ["sign_in_needed", "ok", "sign_in_needed", "ok"]
    );
    assert_eq!((optimizer.asked().len(), target.asked().len()), (1, 2));
    let shown = format!("{:?}", results[0]);
    assert!(!shown.contains("sk-proj") && shown.contains("REDACTED"));
}

#[tokio::test(start_paused = true)]
async fn a_dead_provider_is_left_alone_after_a_few_calls() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| Scripted::fail(unavailable()));
    let path = stage.path_with(&backend, |options| {
        options.limits = Limits::new(1);
        options.retry.tries = 2;
    });
    path.plan(stage.night, "s", (0..10).map(judge).collect())
        .unwrap();
    assert_eq!(
        codes(&path.answer(stage.night, "s").await.unwrap()),
        ["model_unavailable"; 10]
    );
    assert_eq!(backend.asked().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_try_that_takes_too_long_ends_and_may_have_cost() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| Scripted::after(10_000_000, "never"));
    let path = stage.path_with(&backend, |options| {
        options.try_timeout = Duration::from_secs(10);
        options.retry.tries = 2;
    });
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    let error = path
        .answer(stage.night, "s")
        .await
        .unwrap()
        .remove(0)
        .unwrap_err();
    assert_eq!(
        error,
        CallError::TimedOut {
            wait: Wait::Whole,
            after: Duration::from_secs(10)
        }
    );
    let tries = stage
        .store
        .read(|db| attempts::of_night(db, stage.night))
        .unwrap();
    assert_eq!(
        tries.iter().map(|a| a.state).collect::<Vec<_>>(),
        [State::Unknown; 2]
    );
    let spent = path.spent(stage.night).unwrap();
    assert_eq!(
        spent.tokens,
        tries.iter().map(|a| a.reserved.tokens).sum::<u64>()
    );
}

#[tokio::test]
async fn an_order_in_the_store_stops_what_was_not_begun() {
    let stage = Stage::new();
    let (store, night) = (Arc::clone(&stage.store), stage.night);
    let backend = Scripted::new(move |call, _| {
        if score_of(call) == 0 {
            store
                .commit("order", |tx| orders::give(tx, night, orders::Order::Cancel))
                .unwrap();
        }
        Scripted::say(r#"{"score": 1}"#)
    });
    let path = stage.path_with(&backend, |options| options.limits = Limits::new(1));
    path.plan(stage.night, "s", (0..6).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    let answered = codes(&results).iter().filter(|code| **code == "ok").count();
    assert_eq!(answered, backend.asked().len());
    assert_eq!(
        codes(&results)
            .iter()
            .filter(|code| **code == "cancelled")
            .count(),
        6 - answered
    );
    assert!(answered < 6);
    let rows = stage
        .store
        .read(|db| calls::rows(db, stage.night, "s"))
        .unwrap();
    let planned = rows
        .iter()
        .filter(|row| row.state == calls::State::Planned)
        .count();
    assert_eq!(planned, 6 - answered, "what was not begun is as it was");
    stage
        .store
        .commit("handled", |tx| orders::handled(tx, stage.night))
        .unwrap();
    assert_eq!(
        codes(&path.answer(stage.night, "s").await.unwrap())[1..],
        ["ok"; 5]
    );
}

#[tokio::test]
async fn the_second_step_of_stopping_ends_what_is_under_way() {
    let stage = Stage::new();
    let cancel = stage.cancel.clone();
    let backend = Scripted::new(move |_, made| {
        if made == 1 {
            cancel.drop_all();
        }
        Scripted::after(60_000, r#"{"score": 1}"#)
    });
    let path = stage.path_with(&backend, |options| options.limits = Limits::new(2));
    path.plan(stage.night, "s", (0..6).map(judge).collect())
        .unwrap();
    assert_eq!(
        codes(&path.answer(stage.night, "s").await.unwrap()),
        ["cancelled"; 6]
    );
    assert_eq!(backend.asked().len(), 2);
    let tries = stage
        .store
        .read(|db| attempts::of_night(db, stage.night))
        .unwrap();
    assert_eq!(
        tries.iter().map(|a| a.state).collect::<Vec<_>>(),
        [State::Unknown; 2]
    );
}

#[tokio::test(start_paused = true)]
async fn a_reply_under_way_is_recorded_when_the_night_stops_and_nothing_new_begins() {
    for ordered in [true, false] {
        let stage = Stage::new();
        let (store, night) = (Arc::clone(&stage.store), stage.night);
        let cancel = stage.cancel.clone();
        let backend = Scripted::new(move |_, made| {
            // Both ways to stop: the user's order to this night, and a signal to the process.
            if made == 1 && ordered {
                let order = orders::Order::Cancel;
                store
                    .commit("order", |tx| orders::give(tx, night, order))
                    .unwrap();
            } else if made == 1 {
                cancel.cancel();
            }
            // The first comes within the grace, the second does not.
            Scripted::after([3_000, 60_000][made % 2], r#"{"score": 1}"#)
        });
        let path = stage.path_with(&backend, |options| options.limits = Limits::new(2));
        path.plan(stage.night, "s", (0..6).map(judge).collect())
            .unwrap();
        let results = codes(&path.answer(stage.night, "s").await.unwrap());
        assert_eq!(backend.asked().len(), 2, "ordered: {ordered}");
        assert_eq!(
            results.iter().filter(|code| **code == "ok").count(),
            1,
            "ordered: {ordered}: {results:?}"
        );
        let tries = stage
            .store
            .read(|db| attempts::of_night(db, stage.night))
            .unwrap();
        let states: Vec<_> = tries.iter().map(|tried| tried.state).collect();
        assert_eq!(states, [State::Answered, State::Unknown]);
        let told = stage.events.lock().unwrap();
        let told = told
            .iter()
            .any(|event| matches!(event, CallEvent::Stopping { replies: 2, .. }));
        assert!(told, "who waits is told why");
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_sign_in_when_the_night_stops_was_never_asked() {
    for time_is_up in [false, true] {
        let stage = Stage::new();
        let cancel = stage.cancel.clone();
        let clock = Arc::clone(&stage.clock);
        let end = stage.now().checked_add(Duration::from_secs(60)).unwrap();
        let backend = Scripted::new(move |_, _| {
            if time_is_up {
                clock.set(end);
            } else {
                cancel.cancel();
            }
            Scripted::after(2_000, r#"{"score": 1}"#)
        })
        .renewing(&format!("agent:/home/stops/{time_is_up}"));
        let path = stage.path_with(&backend, |options| options.finish_at = Some(end));
        path.plan(stage.night, "s", (0..5).map(judge).collect())
            .unwrap();
        let results = codes(&path.answer(stage.night, "s").await.unwrap());
        let stopped = if time_is_up {
            "finish_time_reached"
        } else {
            "cancelled"
        };
        assert_eq!(
            results.iter().filter(|code| **code == stopped).count(),
            4,
            "{results:?}"
        );
        // One goes alone while its sign-in may have to be renewed; the others have spent nothing.
        assert_eq!(backend.asked().len(), 1);
        let tries = stage
            .store
            .read(|db| attempts::of_night(db, stage.night))
            .unwrap();
        assert_eq!(tries.len(), 1, "nor have they a row");
        assert_eq!(path.spent(stage.night).unwrap().calls, 1);
        let spent = path.spent(stage.night).unwrap().tokens;
        assert_eq!(
            stage.path(&backend).spent(stage.night).unwrap().tokens,
            spent
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_begins_with_its_first_try() {
    let stage = Stage::new();
    let backend = Scripted::new(|call, made| match made {
        // The first keeps the sign-in for longer than all tries of a call may take.
        0 => Scripted::after(1_000_000, r#"{"score": 1}"#),
        1 => Scripted::fail(CallError::Unavailable {
            provider: "p".into(),
            detail: format!("it crashed at {}", score_of(call)),
            sent: false,
        }),
        _ => Scripted::after(1, r#"{"score": 1}"#),
    })
    .renewing("agent:/home/long");
    let path = stage.path_with(&backend, |options| {
        options.try_timeout = Duration::from_secs(2_000);
    });
    path.plan(stage.night, "s", (0..2).map(judge).collect())
        .unwrap();
    assert_eq!(
        codes(&path.answer(stage.night, "s").await.unwrap()),
        ["ok"; 2]
    );
    assert_eq!(backend.asked().len(), 3, "the second was tried again");
}

#[tokio::test(start_paused = true)]
async fn one_goes_alone_until_it_is_answered_then_all_go_together() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, made| match made {
        0 => Scripted::later(
            1_000,
            Scripted::fail(CallError::Unavailable {
                provider: "p".into(),
                detail: "it crashed".into(),
                sent: false,
            }),
        ),
        _ => Scripted::after(1_000, r#"{"score": 1}"#),
    })
    .renewing("agent:/home/together");
    let path = stage.path(&backend);
    path.plan(stage.night, "s", (0..6).map(judge).collect())
        .unwrap();
    let began = tokio::time::Instant::now();
    assert_eq!(
        codes(&path.answer(stage.night, "s").await.unwrap()),
        ["ok"; 6]
    );
    // Alone: the one that fails and one that is answered. Then the five others at once.
    assert_eq!(backend.most_in_flight(), 5);
    assert_eq!(began.elapsed().as_secs(), 3);
}
