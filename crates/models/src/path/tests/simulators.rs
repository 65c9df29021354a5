//! Backends that answer at once, and people who answer in files.

use skillopt_store::{attempts, calls, orders};

use super::scripted::{Scripted, Stage, attempt, judge, score_of};
use super::*;
use crate::handoff::{Handoff, id};

#[tokio::test]
async fn simulators_are_written_down_in_batches_and_resumed() {
    let stage = Stage::new();
    let backend = Scripted::new(|call, _| {
        Scripted::say(&json!({"score": f64::from(score_of(call) % 2)}).to_string())
    })
    .instant();
    let path = stage.path(&backend);
    // 300 rows, of which 200 are distinct.
    path.plan(stage.night, "s", (0..300).map(|n| judge(n % 200)).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(results.len(), 300);
    for (n, result) in (0_u32..).zip(&results) {
        let reply = result.as_ref().unwrap();
        assert!(
            matches!(&reply.parsed, Parsed::Score { score, .. } if *score == f64::from(n % 200 % 2))
        );
        assert_eq!(reply.fresh, n < 200);
    }
    assert_eq!(backend.asked().len(), 200);
    assert_eq!(path.spent(stage.night).unwrap(), Spend::default());
    let again = stage.path(&backend).answer(stage.night, "s").await.unwrap();
    assert_eq!(again, results);
    assert_eq!(backend.asked().len(), 200);
}

#[tokio::test]
async fn simulators_are_stopped_like_others() {
    let stage = Stage::new();
    let backend = Scripted::replies(r#"{"score": 1}"#).instant();
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    stage
        .store
        .commit("order", |tx| {
            orders::give(tx, stage.night, orders::Order::Pause)
        })
        .unwrap();
    assert_eq!(
        path.answer(stage.night, "s").await.unwrap(),
        [Err(CallError::Cancelled)]
    );
    stage
        .store
        .commit("handled", |tx| orders::handled(tx, stage.night))
        .unwrap();
    stage.cancel.cancel();
    assert_eq!(
        path.answer(stage.night, "s").await.unwrap(),
        [Err(CallError::Cancelled)]
    );
    assert!(backend.asked().is_empty());
}

#[tokio::test]
async fn a_simulator_that_fails_has_no_answer() {
    let stage = Stage::new();
    let backend = Scripted::new(|call, _| match score_of(call) {
        0 => Scripted::fail(CallError::Refused {
            detail: String::new(),
        }),
        _ => Scripted::say("prose"),
    })
    .instant();
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0), judge(1)])
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    assert_eq!(results[0].as_ref().unwrap_err().code(), "reply_refused");
    assert_eq!(results[1].as_ref().unwrap_err().code(), "reply_unreadable");
}

#[expect(
    clippy::disallowed_methods,
    reason = "answers of a test are written by nobody else"
)]
fn write(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[tokio::test]
async fn questions_wait_for_files_and_each_answer_is_taken_once() {
    let folder = tempfile::tempdir().unwrap();
    let handoff = Handoff::new(folder.path().join("h"));
    let stage = Stage::new();
    let roles = Roles::new(Arc::new(handoff.clone()), Arc::new(handoff.clone()));
    let new_path = || stage.path_for(roles.clone(), Templates::default(), PathOptions::default());
    let path = new_path();
    let asks = vec![
        judge(0),
        attempt(0),
        Ask {
            sample: 1,
            ..attempt(0)
        },
        judge(0),
    ];
    path.plan(stage.night, "s", asks).unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    let ids: Vec<_> = results
        .iter()
        .map(|result| match result {
            Err(CallError::WaitingForAnswer { id, refused: None }) => id.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids[0], ids[3]);
    assert_ne!(ids[1], ids[2], "samples are distinct");
    let pending = || -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(folder.path().join("h/pending.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["pending"]
            .as_array()
            .unwrap()
            .clone()
    };
    assert_eq!(
        pending()
            .iter()
            .map(|p| p["id"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ids[..3]
    );
    assert!(
        stage
            .events
            .lock()
            .unwrap()
            .contains(&CallEvent::Questions {
                refused: Vec::new(),
                open: 3,
                folder: folder.path().join("h")
            })
    );

    // One is answered, one cannot be read, one is a placeholder.
    write(&handoff.answer_file(&ids[1]), "Hello there.\n");
    write(&handoff.answer_file(&ids[0]), "I would say it is good.");
    write(&handoff.answer_file(&ids[2]), "TODO");
    let results = new_path().answer(stage.night, "s").await.unwrap();
    assert_eq!(
        results[1].as_ref().unwrap().parsed,
        Parsed::Text("Hello there.".into())
    );
    for (at, why) in [(0, "no JSON"), (2, "placeholder"), (3, "no JSON")] {
        match &results[at] {
            Err(CallError::WaitingForAnswer {
                refused: Some(refused),
                ..
            }) => assert!(refused.contains(why)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(pending().len(), 2);
    assert!(
        pending()[0]["refused"]
            .as_str()
            .unwrap()
            .contains("no JSON")
    );

    // The answer that was taken changes afterwards: it is reported once, and not used.
    write(&handoff.answer_file(&ids[1]), "Something else.");
    write(&handoff.answer_file(&ids[0]), r#"{"score": 0.5}"#);
    write(&handoff.answer_file(&ids[2]), "Good day.");
    for _ in 0..2 {
        let results = new_path().answer(stage.night, "s").await.unwrap();
        assert!(results.iter().all(Result::is_ok));
        assert_eq!(results[1].as_ref().unwrap().text, "Hello there.");
    }
    let events = stage
        .store
        .read(|db| skillopt_store::events::list(db, stage.night))
        .unwrap();
    let changed: Vec<_> = events
        .iter()
        .filter(|event| event.kind == "handoff/changed")
        .collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].body["id"], json!(ids[1]));
    assert!(pending().is_empty());
    let tries = stage
        .store
        .read(|db| attempts::of_night(db, stage.night))
        .unwrap();
    assert_eq!(tries.len(), 3);
    let rows = stage
        .store
        .read(|db| calls::rows(db, stage.night, "s"))
        .unwrap();
    assert_eq!(id(&rows[0].key), ids[0]);
    assert_eq!(path.spent(stage.night).unwrap(), Spend::default());
}
