mod budget;
mod reserve;
mod resume;
mod room;
mod scripted;
mod simulators;
mod tools;
mod trouble;

use serde_json::json;
use skillopt_core::call::{Role, Side};
use skillopt_store::calls::State;
use skillopt_store::nights;

use super::*;
use scripted::{Scripted, Stage, attempt, judge, score_of};

#[tokio::test]
async fn results_come_in_the_order_of_the_rows_and_few_are_in_flight() {
    let stage = Stage::new();
    // Later rows are answered sooner.
    let backend = Scripted::new(|call, _| {
        let n = score_of(call);
        Scripted::after(
            100 - u64::from(n),
            json!({"score": f64::from(n) / 100.0}).to_string(),
        )
    });
    let path = stage.path_with(&backend, |options| options.limits = Limits::new(3));
    path.plan(stage.night, "s", (0..20).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    let scores: Vec<_> = results
        .into_iter()
        .map(|result| match result.unwrap().parsed {
            Parsed::Score { score, .. } => (score * 100.0).round(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(scores, (0..20).map(f64::from).collect::<Vec<_>>());
    assert_eq!(backend.most_in_flight(), 3);
}

#[tokio::test]
async fn a_planned_stage_is_never_rendered_again() {
    let stage = Stage::new();
    let backend = Scripted::replies(r#"{"score": 1}"#);
    let path = stage.path(&backend);
    assert_eq!(
        path.plan(stage.night, "s", vec![judge(0), judge(1)])
            .unwrap(),
        2
    );
    assert_eq!(path.plan(stage.night, "s", vec![judge(7)]).unwrap(), 2);
    let other = Templates::parse(r#"{"judge": "OTHER __RUBRIC__ __RESPONSE__"}"#)
        .unwrap()
        .templates;
    let path = stage.path_of(&backend, &backend, other, PathOptions::default());
    assert_eq!(path.plan(stage.night, "s", vec![]).unwrap(), 2);
    path.answer(stage.night, "s").await.unwrap();
    let asked = backend.asked();
    assert_eq!(asked.len(), 2);
    assert!(
        asked
            .iter()
            .all(|call| !call.messages[1].text.contains("OTHER"))
    );
    assert_eq!(path.plan(stage.night, "empty", vec![]).unwrap(), 0);
    assert!(path.answer(stage.night, "empty").await.unwrap().is_empty());
}

#[tokio::test]
async fn secrets_are_taken_out_before_anything_is_written_or_sent() {
    let stage = Stage::new();
    let backend = Scripted::replies("Hello.");
    let path = stage.path(&backend);
    let secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
    let mut ask = attempt(0);
    let Subject::Attempt {
        task,
        skill,
        memory,
    } = &mut ask.subject
    else {
        unreachable!()
    };
    task.context = format!("key {secret}");
    *skill = format!("{} {secret}", "long ".repeat(200));
    memory.clone_from(skill);
    path.plan(stage.night, "s", vec![ask]).unwrap();
    path.answer(stage.night, "s").await.unwrap();
    let asked = format!("{:?}", backend.asked());
    assert!(!asked.contains(secret) && asked.contains("REDACTED"));
    let events = stage
        .store
        .read(|db| skillopt_store::events::list(db, stage.night))
        .unwrap();
    assert_eq!(
        (events[0].kind.as_str(), &events[0].body),
        ("models/redacted", &json!({"stage": "s", "values": 3}))
    );
}

#[tokio::test]
async fn an_unreadable_reply_is_asked_for_once_more_and_counted() {
    // Field note 41.
    let stage = Stage::new();
    let backend = Scripted::new(|_, made| {
        Scripted::say(if made == 0 {
            "It is fine."
        } else {
            r#"{"score": 0.7}"#
        })
    });
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    let reply = path
        .answer(stage.night, "s")
        .await
        .unwrap()
        .remove(0)
        .unwrap();
    assert!(matches!(reply.parsed, Parsed::Score { score, .. } if score == 0.7));
    let asked = backend.asked();
    assert_eq!(
        asked.iter().map(|call| call.ask).collect::<Vec<_>>(),
        [0, 1]
    );
    assert_eq!(reply.call, asked[1].key());
    let repeat = &asked[1].messages;
    assert_eq!(
        (repeat[2].role, repeat[2].text.as_str()),
        (Role::Assistant, "It is fine.")
    );
    assert!(repeat[3].text.contains("no JSON of the asked form"));
    assert_eq!(path.spent(stage.night).unwrap().calls, 2);
    // Both replies are in the rows: nothing is asked again.
    let again = stage
        .path(&backend)
        .answer(stage.night, "s")
        .await
        .unwrap()
        .remove(0)
        .unwrap();
    assert_eq!((again.parsed, again.fresh), (reply.parsed, true));
    assert_eq!(backend.asked().len(), 2);
}

#[tokio::test]
async fn a_second_unreadable_reply_is_the_end() {
    let stage = Stage::new();
    let backend = Scripted::replies("still prose");
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    for _ in 0..2 {
        let error = path
            .answer(stage.night, "s")
            .await
            .unwrap()
            .remove(0)
            .unwrap_err();
        assert_eq!(error.code(), "reply_unreadable");
    }
    assert_eq!(backend.asked().len(), 2);
}

#[tokio::test]
async fn a_blank_attempt_is_no_answer() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, made| Scripted::say(if made == 0 { " \n" } else { "Hello." }));
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![attempt(0)]).unwrap();
    let reply = path
        .answer(stage.night, "s")
        .await
        .unwrap()
        .remove(0)
        .unwrap();
    assert_eq!(reply.parsed, Parsed::Text("Hello.".into()));
    assert_eq!(
        backend.asked()[1].messages.len(),
        2,
        "a blank message is not shown back"
    );
}

#[tokio::test]
async fn equal_questions_are_asked_once() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| Scripted::after(20, r#"{"score": 1}"#));
    let path = stage.path(&backend);
    path.plan(
        stage.night,
        "s",
        vec![judge(1), judge(1), judge(2), judge(1)],
    )
    .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(backend.asked().len(), 2);
    let fresh: Vec<_> = results
        .iter()
        .map(|result| result.as_ref().unwrap().fresh)
        .collect();
    assert_eq!(fresh.iter().filter(|fresh| **fresh).count(), 2);
    assert!(fresh[2]);
    let failing = Scripted::new(|_, _| {
        Scripted::fail(CallError::Refused {
            detail: "no".into(),
        })
    });
    let path = stage.path(&failing);
    path.plan(stage.night, "t", vec![judge(8), judge(8)])
        .unwrap();
    let results = path.answer(stage.night, "t").await.unwrap();
    assert!(
        results
            .iter()
            .all(|result| result.as_ref().unwrap_err().code() == "reply_refused")
    );
    assert_eq!(
        failing.asked().len(),
        1,
        "an equal call that failed is not paid for again"
    );
}

#[tokio::test]
async fn samples_of_one_question_are_different_draws() {
    let stage = Stage::new();
    let backend = Scripted::replies("Hello.");
    let path = stage.path(&backend);
    let asks = (0..3)
        .map(|sample| Ask {
            sample,
            ..attempt(0)
        })
        .collect();
    path.plan(stage.night, "s", asks).unwrap();
    path.answer(stage.night, "s").await.unwrap();
    assert_eq!(backend.asked().len(), 3);
}

#[tokio::test]
async fn judges_are_reused_for_ever_and_attempts_within_the_night() {
    let stage = Stage::new();
    let backend = Scripted::new(|call, _| {
        Scripted::say(if matches!(call.subject, Subject::Judge { .. }) {
            r#"{"score": 1}"#
        } else {
            "Hello."
        })
    });
    let path = stage.path(&backend);
    for name in ["one", "two"] {
        path.plan(stage.night, name, vec![judge(0), attempt(0)])
            .unwrap();
        path.answer(stage.night, name).await.unwrap();
    }
    assert_eq!(backend.asked().len(), 2);
    let next = stage.next_night();
    path.plan(next, "one", vec![judge(0), attempt(0)]).unwrap();
    let results = path.answer(next, "one").await.unwrap();
    assert_eq!(
        results
            .iter()
            .map(|result| result.as_ref().unwrap().fresh)
            .collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(backend.asked().len(), 3);
    let rows = stage.store.read(|db| calls::rows(db, next, "one")).unwrap();
    assert_eq!(
        rows.iter().map(|row| row.state).collect::<Vec<_>>(),
        [State::Reused, State::Fresh]
    );
}

#[tokio::test]
async fn a_night_that_takes_the_place_of_another_uses_its_answers() {
    let stage = Stage::new();
    let backend = Scripted::replies("Hello.");
    let path = stage.path(&backend);
    let asked = async |night: i64| {
        let before = backend.asked().len();
        path.plan(night, "s", vec![attempt(0)]).unwrap();
        path.answer(night, "s").await.unwrap().remove(0).unwrap();
        backend.asked().len() - before
    };
    let hour = Duration::from_secs(3600);
    let begin_after = |outcome| {
        stage.end_open(outcome);
        stage.begin()
    };
    assert_eq!(asked(stage.night).await, 1);
    stage.clock.set(stage.now().saturating_add(hour).unwrap());
    let replacing = begin_after(nights::Outcome::Interrupted);
    assert_eq!(asked(replacing).await, 0, "it was paid for");
    let third = begin_after(nights::Outcome::Interrupted);
    assert_eq!(asked(third).await, 0, "also by the one before");
    // A night with a verdict is followed by one that draws anew, and so is one of another date.
    let next = begin_after(nights::Outcome::NotImproved);
    assert_eq!(asked(next).await, 1);
    stage
        .clock
        .set(stage.now().saturating_add(hour * 13).unwrap());
    let tomorrow = begin_after(nights::Outcome::Interrupted);
    assert_eq!(asked(tomorrow).await, 1);
}

#[tokio::test]
async fn an_unreadable_judgement_of_another_night_is_not_reused() {
    // §14 #29: failures were sticky.
    let stage = Stage::new();
    let bad = Scripted::replies("prose");
    let path = stage.path(&bad);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    path.answer(stage.night, "s").await.unwrap();
    let next = stage.next_night();
    let good = Scripted::replies(r#"{"score": 1}"#);
    let path = stage.path(&good);
    path.plan(next, "s", vec![judge(0)]).unwrap();
    assert!(path.answer(next, "s").await.unwrap()[0].is_ok());
    assert_eq!(good.asked().len(), 1);
}

#[tokio::test]
async fn a_stage_is_answered_by_the_backend_it_was_planned_for() {
    let stage = Stage::new();
    let backend = Scripted::replies(r#"{"score": 1}"#);
    stage
        .path(&backend)
        .plan(stage.night, "s", vec![judge(0)])
        .unwrap();
    let other = Scripted::replies(r#"{"score": 1}"#).of_model("another");
    let problem = stage
        .path(&other)
        .answer(stage.night, "s")
        .await
        .unwrap_err();
    assert_eq!(problem.code, "backend_changed");
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn a_model_that_answers_for_another_is_written_down_once() {
    // Field note 44.
    let stage = Stage::new();
    let backend = Scripted::new(|_, _| {
        Ok(crate::RawReply {
            model: "m-2026-11".into(),
            ..crate::RawReply::text(r#"{"score": 1}"#)
        })
        .into()
    });
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0), judge(1)])
        .unwrap();
    path.answer(stage.night, "s").await.unwrap();
    let events = stage
        .store
        .read(|db| skillopt_store::events::list(db, stage.night))
        .unwrap();
    assert_eq!(events.len(), 1);
    assert_eq!(
        events[0].body,
        json!({"side": "judge", "asked": "m", "answered": "m-2026-11"})
    );
}

#[test]
fn an_estimate_is_a_range_over_paid_calls() {
    let stage = Stage::new();
    let backend = Scripted::replies("x");
    let path = stage.path_with(&backend, |options| {
        options.prices.given = crate::price::Price::given(1.0, 2.0);
        options.sides.judge.lengths.judge = 100;
    });
    let asked = Asked {
        kind: "judge",
        side: Side::Judge,
        questions: 10,
        rounds: 0,
        prompt_bytes: 3000,
        result_bytes: 0,
    };
    let estimate = path.estimate(&[asked]);
    // Per call: 3000/5 = 600 to 3000/3 = 1000 tokens in, 100/10 = 10 to 100 tokens out.
    assert_eq!(
        (estimate.calls, estimate.tokens_low, estimate.tokens_high),
        (10, 6100, 11_000)
    );
    assert_eq!(
        (estimate.cost_micros_low, estimate.cost_micros_high),
        (Some(6200), Some(12_000))
    );
    assert_eq!(
        stage.path(&backend).estimate(&[asked]).cost_micros_high,
        None
    );
    let free = Scripted::replies("x").unpaid();
    assert_eq!(stage.path(&free).estimate(&[asked]).calls, 0);
    let measured = path.measure(judge(0));
    assert!(measured.prompt_bytes > 500);
    assert_eq!((measured.questions, measured.rounds), (1, 0));
}

#[test]
fn a_model_nobody_named_gets_no_more_than_the_least_window_known() {
    // Of the built-in table; three bytes of a prompt are a token at least.
    let folder = tempfile::tempdir().unwrap();
    let prices = crate::price::Prices::load(folder.path()).unwrap();
    let least = usize::try_from(prices.least_context().unwrap()).unwrap();
    let length = |model: &str| {
        let stage = Stage::new();
        let backend = Scripted::replies(r#"{"score": 1}"#).of_model(model);
        let prices = prices.clone();
        let path = stage.path_with(&backend, |options| options.prices = prices);
        let mut ask = judge(0);
        let Subject::Judge { response, .. } = &mut ask.subject else {
            unreachable!()
        };
        *response = "word ".repeat(least);
        let call = path.render(ask);
        call.messages
            .iter()
            .map(|message| message.text.len())
            .sum::<usize>()
    };
    assert!(length("") < least * 3, "{}", length(""));
    assert!(
        length("a-model-of-ones-own") > least * 5,
        "a window that is not known cuts nothing"
    );
}

#[tokio::test]
async fn a_prompt_is_cut_to_the_window_that_the_server_of_a_model_tells() {
    let folder = tempfile::tempdir().unwrap();
    let prices = crate::price::Prices::load(folder.path()).unwrap();
    let length = async |stage: &Stage, backend: &Arc<Scripted>, night: i64| {
        let prices = prices.clone();
        let path = stage.path_with(backend, |options| options.prices = prices);
        path.learn_windows(night).await.unwrap();
        let mut ask = judge(0);
        let Subject::Judge { response, .. } = &mut ask.subject else {
            unreachable!()
        };
        *response = "word ".repeat(10_000);
        let messages = path.render(ask).messages;
        messages.iter().map(|said| said.text.len()).sum::<usize>()
    };
    let backend = |model| Scripted::replies("x").of_model(model).of_window(4096);
    let (near, far) = (4096 * 3, 50_000);
    let stage = Stage::new();
    let own = backend("a-model-of-ones-own");
    assert!(length(&stage, &own, stage.night).await < near);
    // A night that goes on keeps to what it heard, whatever is told by then.
    let wider = backend("a-model-of-ones-own").of_window(1_000_000);
    assert!(length(&stage, &wider, stage.night).await < near);
    let next = stage.next_night();
    assert!(length(&stage, &wider, next).await > far);
    // The table knows that of a company; on this computer it was started with one of its own.
    let stage = Stage::new();
    assert!(length(&stage, &backend("gpt-4o"), stage.night).await > far);
    assert!(length(&stage, &backend("gpt-4o").local(), stage.night).await < near);
}
