//! Nights that die and go on.

use std::time::Duration;

use skillopt_store::{attempts, nights};

use super::scripted::{Scripted, Stage, judge, score_of};
use super::*;

#[tokio::test(start_paused = true)]
async fn a_night_that_dies_pays_for_no_answered_call_twice() {
    // Dies at every moment of a stage in turn, with calls under way.
    for moment in (0..120).step_by(7) {
        let stage = Stage::new();
        let backend = Scripted::new(|call, _| {
            let n = u64::from(score_of(call));
            let text = if n == 5 && call.ask == 0 {
                "prose".to_owned()
            } else {
                r#"{"score": 1}"#.to_owned()
            };
            Scripted::after(3 + n % 4 * 9, text)
        });
        let path = stage.path_with(&backend, |options| options.limits = Limits::new(3));
        path.plan(stage.night, "s", (0..12).map(judge).collect())
            .unwrap();
        let dead =
            tokio::time::timeout(Duration::from_millis(moment), path.answer(stage.night, "s"))
                .await;
        drop(path);
        let before = stage
            .store
            .read(|db| attempts::of_night(db, stage.night))
            .unwrap();
        let answered: Vec<_> = before
            .iter()
            .filter(|a| a.state == attempts::State::Answered)
            .map(|a| a.key.clone())
            .collect();
        let open = before
            .iter()
            .filter(|a| a.state == attempts::State::Started)
            .count();
        assert!(dead.is_ok() || open <= 3);

        stage
            .store
            .commit("resume", |tx| nights::resume(tx, stage.night))
            .unwrap();
        let path = stage.path_with(&backend, |options| options.limits = Limits::new(3));
        assert_eq!(path.plan(stage.night, "s", vec![]).unwrap(), 12);
        let results = path.answer(stage.night, "s").await.unwrap();
        assert!(results.iter().all(Result::is_ok));
        let tries = backend.tries_by_key();
        for key in &answered {
            assert_eq!(
                tries[key], 1,
                "at {moment}: an answered call was asked again"
            );
        }
        // 13 calls with the repeat; one more try for each whose fate is unknown.
        let spent = path.spent(stage.night).unwrap();
        assert_eq!(spent.calls, 13 + open as u64, "at {moment}");
        let after = stage
            .store
            .read(|db| attempts::of_night(db, stage.night))
            .unwrap();
        let unknown = after.iter().filter(|a| a.state == attempts::State::Unknown);
        assert_eq!(unknown.clone().count(), open);
        assert!(unknown.map(|a| a.reserved.tokens).sum::<u64>() <= spent.tokens);
    }
}

#[tokio::test]
async fn the_repeat_of_an_earlier_process_is_not_rendered_again() {
    let stage = Stage::new();
    let backend = Scripted::new(|_, made| {
        if made == 0 {
            Scripted::say("prose")
        } else {
            Scripted::fail(CallError::Refused {
                detail: String::new(),
            })
        }
    });
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    path.answer(stage.night, "s").await.unwrap();
    let other = Templates::parse(r#"{"repeat": "AGAIN __FORM__"}"#)
        .unwrap()
        .templates;
    let well = Scripted::replies(r#"{"score": 1}"#);
    let path = stage.path_of(&well, &well, other, PathOptions::default());
    assert!(path.answer(stage.night, "s").await.unwrap()[0].is_ok());
    assert_eq!(well.asked(), backend.asked()[1..]);
}
