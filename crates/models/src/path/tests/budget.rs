//! Limits hold whatever the backend does.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use skillopt_store::{attempts, nights};

use super::scripted::{Scripted, Stage, judge};
use super::*;
use crate::error::Cap;
use crate::price::Price;

#[tokio::test]
async fn calls_beyond_the_limit_are_not_sent() {
    let stage = Stage::new();
    let backend = Scripted::replies(r#"{"score": 1}"#);
    let change = |options: &mut PathOptions| {
        options.caps.calls = Some(3);
        options.limits = Limits::new(1);
    };
    let path = stage.path_with(&backend, change);
    path.plan(stage.night, "s", (0..5).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    let refused = results
        .iter()
        .filter(|r| matches!(r, Err(CallError::BudgetExhausted { cap: Cap::Calls })))
        .count();
    assert_eq!((backend.asked().len(), refused), (3, 2));
    // A new process counts what the old one spent, and what was paid for is kept.
    let results = stage
        .path_with(&backend, change)
        .answer(stage.night, "s")
        .await
        .unwrap();
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 3);
    assert_eq!(backend.asked().len(), 3);
}

#[tokio::test]
async fn tokens_are_settled_as_the_provider_counted_them() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| Scripted::used(r#"{"score": 1}"#, 100, 20));
    let path = stage.path_with(&backend, |options| {
        options.prices.given = Price::given(1.0, 5.0);
    });
    path.plan(stage.night, "s", (0..4).map(judge).collect())
        .unwrap();
    path.answer(stage.night, "s").await.unwrap();
    // 4 × (100 + 20) tokens; 4 × (100 × 1 + 20 × 5) millionths.
    let expected = Spend {
        calls: 4,
        tokens: 480,
        cost_micros: 800,
    };
    assert_eq!(path.spent(stage.night).unwrap(), expected);
    assert_eq!(stage.path(&backend).spent(stage.night).unwrap(), expected);
    let stored = stage
        .store
        .read(|db| attempts::spend(db, stage.night))
        .unwrap();
    assert_eq!(
        (stored.calls, stored.tokens, stored.cost_micros),
        (4, 480, 800)
    );
}

#[tokio::test]
async fn a_reply_without_usage_counts_as_reserved() {
    let stage = Stage::new();
    let backend = Scripted::replies(r#"{"score": 1}"#);
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    path.answer(stage.night, "s").await.unwrap();
    let call = &backend.asked()[0];
    let bytes: u64 = call
        .messages
        .iter()
        .map(|message| message.text.len() as u64)
        .sum();
    let spent = path.spent(stage.night).unwrap();
    assert!(spent.tokens >= bytes + u64::from(call.params.max_tokens));
}

#[tokio::test]
async fn a_limit_in_money_needs_a_price() {
    let stage = Stage::new();
    let backend = Scripted::replies(r#"{"score": 1}"#);
    let path = stage.path_with(&backend, |options| {
        options.caps.cost_micros = Some(1_000_000);
    });
    path.plan(stage.night, "s", vec![judge(0), judge(1)])
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert!(
        results
            .iter()
            .all(|r| *r == Err(CallError::BudgetExhausted { cap: Cap::Cost }))
    );
    assert!(backend.asked().is_empty());
    let path = stage.path_with(&backend, |options| {
        options.caps.cost_micros = Some(1_000_000);
        options.prices = crate::price::Prices::listing("dear", Price::flat(1.0, 1.0));
    });
    assert!(
        path.answer(stage.night, "s")
            .await
            .unwrap()
            .iter()
            .all(Result::is_ok)
    );
}

#[tokio::test]
async fn what_the_gate_needs_is_kept_from_the_stages_before_it() {
    let stage = Stage::new();
    let backend = Scripted::replies(r#"{"score": 1}"#);
    let path = stage.path_with(&backend, |options| options.caps.calls = Some(4));
    let gate = Spend {
        calls: 3,
        ..Spend::default()
    };
    path.hold(stage.night, gate).unwrap().unwrap();
    path.plan(stage.night, "before", (0..3).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "before").await.unwrap();
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 1);
    path.hold(stage.night, Spend::default()).unwrap().unwrap();
    path.plan(stage.night, "gate", (10..13).map(judge).collect())
        .unwrap();
    assert!(
        path.answer(stage.night, "gate")
            .await
            .unwrap()
            .iter()
            .all(Result::is_ok)
    );
    // A budget too small to validate says so before anything is spent.
    assert_eq!(
        path.hold(stage.night, gate).unwrap(),
        Err(CallError::BudgetExhausted { cap: Cap::Calls })
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_at_work_is_limited_also_under_a_call() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| Scripted::after(10_000_000, "never"));
    let change = |options: &mut PathOptions| options.caps.time = Some(Duration::from_secs(60));
    stage.clock.set("2026-11-30T03:00:30Z".parse().unwrap());
    let path = stage.path_with(&backend, change);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    let began = tokio::time::Instant::now();
    let minutes = CallError::BudgetExhausted { cap: Cap::Minutes };
    assert_eq!(
        path.answer(stage.night, "s").await.unwrap(),
        [Err(minutes.clone())]
    );
    assert_eq!(
        began.elapsed(),
        Duration::from_secs(30),
        "half of the time was gone"
    );
    let tries = stage
        .store
        .read(|db| attempts::of_night(db, stage.night))
        .unwrap();
    assert_eq!(
        tries[0].state,
        attempts::State::Unknown,
        "it may have been paid for"
    );
    stage.clock.set("2026-11-30T03:01:00Z".parse().unwrap());
    assert_eq!(
        stage
            .path_with(&backend, change)
            .answer(stage.night, "s")
            .await
            .unwrap(),
        [Err(minutes)]
    );
    assert_eq!(backend.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_forward_takes_no_time_from_the_night() {
    let stage = Stage::new();
    let clock = Arc::clone(&stage.clock);
    let backend = Scripted::new(move |_, made| {
        if made == 0 {
            clock.leap("2027-11-30T03:00:00Z".parse().unwrap());
        }
        Scripted::say(r#"{"score": 1}"#)
    });
    let path = stage.path_with(&backend, |options| {
        options.caps.time = Some(Duration::from_secs(60));
    });
    for name in ["s", "t"] {
        path.plan(stage.night, name, vec![judge(0), judge(1)])
            .unwrap();
        let answers = path.answer(stage.night, name).await.unwrap();
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    }
    // Neither does it count for the night when it stops.
    stage
        .store
        .commit("stop", |tx| {
            nights::stop(tx, stage.night, nights::Outcome::Deferred, "", None)
        })
        .unwrap();
    let night = stage.store.read(|db| nights::get(db, stage.night));
    assert_eq!(night.unwrap().unwrap().active_us, 0);
}

#[tokio::test]
async fn unpaid_backends_are_not_budgeted() {
    let stage = Stage::new();
    let backend = Scripted::replies(r#"{"score": 1}"#).unpaid();
    let path = stage.path_with(&backend, |options| {
        options.caps = Caps {
            calls: Some(0),
            tokens: Some(0),
            cost_micros: Some(0),
            time: None,
        };
    });
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    assert!(path.answer(stage.night, "s").await.unwrap()[0].is_ok());
    assert_eq!(path.spent(stage.night).unwrap(), Spend::default());
    assert_eq!(
        stage.path(&backend).spent(stage.night).unwrap(),
        Spend::default()
    );
}

fn fate() -> impl Strategy<Value = u8> {
    0_u8..8
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn spend_never_exceeds_the_limits(
        fates in proptest::collection::vec(fate(), 1..40),
        calls in 0_u64..30, tokens in 0_u64..40_000, micros in 0_u64..60_000, concurrency in 1_usize..6, passes in 1_usize..3,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let stage = Stage::new();
            let count = fates.len();
            let script = fates.clone();
            let backend = Scripted::new(move |_, made| match script[made % script.len()] {
                0 => Scripted::used(r#"{"score": 1}"#, 300, 10),
                1 => Scripted::say("prose"),
                2 => Scripted::after(50, r#"{"score": 0.5}"#),
                3 => Scripted::fail(CallError::TimedOut { wait: crate::error::Wait::Whole, after: Duration::from_secs(1) }),
                4 => Scripted::fail(CallError::Refused { detail: String::new() }),
                5 => Scripted::fail(CallError::RateLimited { provider: "p".into(), retry_after: None, detail: String::new() }),
                6 => Scripted::after(20, "prose"),
                _ => Scripted::used(r#"{"score": 1}"#, 1, 1),
            });
            for pass in 0..passes {
                let path = stage.path_with(&backend, |options| {
                    options.caps = Caps { calls: Some(calls), tokens: Some(tokens), cost_micros: Some(micros), time: None };
                    options.prices.given = Price::given(1.0, 3.0);
                    options.limits = Limits::new(concurrency);
                });
                path.plan(stage.night, "s", (0..).take(count).map(judge).collect()).unwrap();
                let results = path.answer(stage.night, "s").await.unwrap();
                assert_eq!(results.len(), count);
                let spent = path.spent(stage.night).unwrap();
                assert!(spent.calls <= calls && spent.tokens <= tokens && spent.cost_micros <= micros, "{pass} {spent:?}");
                // The rows say the same as the account, and the backend saw no more than was counted.
                let stored = stage.store.read(|db| attempts::spend(db, stage.night)).unwrap();
                assert_eq!((stored.calls, stored.tokens, stored.cost_micros), (spent.calls, spent.tokens, spent.cost_micros));
                assert_eq!(backend.asked().len() as u64, spent.calls);
            }
        });
    }
}

#[tokio::test]
async fn money_is_that_of_the_model_that_answered_and_the_reservation_of_the_dearest() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| {
        Ok(crate::RawReply {
            model: "small-2026-11-30".into(),
            usage: crate::Usage {
                input_tokens: Some(1000),
                cached_tokens: None,
                output_tokens: Some(100),
            },
            ..crate::RawReply::text(r#"{"score": 1}"#)
        })
        .into()
    })
    .of_model("");
    let folder = tempfile::tempdir().unwrap();
    let row = |name: &str, price: f64| {
        format!(
            "[[model]]\nnames = [\"{name}\"]\ninput = {price:?}\noutput = {price:?}\nas_of = \"2026-11-30\"\n"
        )
    };
    let table = row("small", 1.0) + &row("large", 1000.0);
    let file = folder.path().join(crate::price::FILE);
    skillopt_store::files::write_private(&file, table.as_bytes()).unwrap();
    let prices = crate::price::Prices::load(folder.path()).unwrap();
    let path = stage.path_with(&backend, |options| options.prices = prices);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    path.answer(stage.night, "s").await.unwrap();
    assert_eq!(path.spent(stage.night).unwrap().cost_micros, 1100);
    let tries = stage
        .store
        .read(|db| skillopt_store::attempts::of_night(db, stage.night))
        .unwrap();
    let tokens = tries[0].reserved.tokens;
    assert_eq!(tries[0].reserved.micros, tokens * 1000);
}

#[tokio::test]
async fn requests_that_are_billed_apart_count_for_failed_tries_too() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, made| match made {
        0 => Scripted::fail(crate::CallError::Unavailable {
            provider: "p".into(),
            detail: "broke off".into(),
            sent: true,
        }),
        _ => Scripted::fail(crate::CallError::Refused {
            detail: "no".into(),
        }),
    })
    .billing_failures(330);
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    path.answer(stage.night, "s").await.unwrap();
    let spend = stage
        .store
        .read(|db| skillopt_store::attempts::spend(db, stage.night))
        .unwrap();
    assert_eq!((spend.calls, spend.request_thousandths), (2, 660));
}
