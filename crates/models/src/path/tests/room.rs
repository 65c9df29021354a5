//! A disk that is full: nothing is paid for that could not be kept, and what was paid for is kept if it can be.

use std::sync::mpsc::channel;
use std::time::Duration;

use skillopt_store::attempts::{self, Attempt, State};

use super::scripted::{Scripted, Stage, judge};
use super::*;

/// No page of the database may be added any more, or (`false`) as many as it likes.
fn fill(store: &Store, full: bool) {
    let pages = if full { 1 } else { 1_i64 << 30 };
    store
        // Below what is used already it stands for that.
        .read(|db| Ok(db.pragma_update(None, "max_page_count", pages)?))
        .unwrap();
}

/// A judgement too long for the pages there are; it hardly gets shorter when it is packed.
fn long_judgement() -> String {
    let noise: String = (0..20_000_u32)
        .map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761)))
        .collect();
    json!({"score": 1, "rationale": noise}).to_string()
}

/// A disk that is full when the reply comes.
fn backend(stage: &Stage) -> Arc<Scripted> {
    let store = Arc::clone(&stage.store);
    let reply = long_judgement();
    Scripted::new(move |_, _| {
        fill(&store, true);
        Scripted::say(&reply)
    })
}

fn tries(stage: &Stage) -> Vec<Attempt> {
    stage
        .store
        .read(|db| attempts::of_night(db, stage.night))
        .unwrap()
}

#[tokio::test]
async fn nothing_is_asked_when_there_is_no_room_for_answers() {
    let stage = Stage::on_disk();
    let backend = Scripted::replies(r#"{"score": 1}"#);
    let path = stage.path_with(&backend, |options| options.least_room = u64::MAX);
    path.plan(stage.night, "s", (0..3).map(judge).collect())
        .unwrap();
    for result in path.answer(stage.night, "s").await.unwrap() {
        let problem = result.unwrap_err().problem();
        assert_eq!(problem.code, "disk_full");
        assert_eq!(problem.retry, skillopt_core::Retry::Temporary);
        let folder = stage.store.path().parent().unwrap().display().to_string();
        assert!(problem.message.contains(&folder), "{}", problem.message);
    }
    assert!(backend.asked().is_empty());
    assert!(tries(&stage).is_empty(), "nothing counts as spent");
    // With room the night goes on.
    let path = stage.path_with(&backend, |options| options.least_room = 1);
    assert!(path.answer(stage.night, "s").await.unwrap()[0].is_ok());
}

#[tokio::test(start_paused = true)]
async fn an_answer_waits_for_room_to_be_written_down() {
    let stage = Stage::new();
    let backend = backend(&stage);
    let path = stage.path(&backend);
    path.plan(stage.night, "s", vec![judge(0)]).unwrap();
    let freed = Arc::clone(&stage.store);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(40)).await;
        fill(&freed, false);
    });
    let reply = path.answer(stage.night, "s").await.unwrap().remove(0);
    assert!(reply.unwrap().fresh);
    assert_eq!(backend.asked().len(), 1, "it is paid for once");
    assert_eq!(tries(&stage)[0].state, State::Answered);
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_stays_full_ends_the_night_and_not_what_is_under_way() {
    let stage = Stage::new();
    let store = Arc::clone(&stage.store);
    let reply = long_judgement();
    let backend = Scripted::new(move |_, made| {
        fill(&store, true);
        if made == 0 {
            Scripted::say(&reply)
        } else {
            // It comes when the other one was given up, and finds room: a page that was in use is free.
            Scripted::after(100_000, r#"{"score": 1}"#)
        }
    });
    let path = stage.path(&backend);
    path.plan(stage.night, "s", (0..2).map(judge).collect())
        .unwrap();
    let results = path.answer(stage.night, "s").await.unwrap();
    let codes: Vec<_> = results
        .iter()
        .map(|result| result.as_ref().map_or_else(CallError::code, |_| "ok"))
        .collect();
    assert_eq!(codes, ["disk_full", "ok"]);
    let open = tries(&stage)
        .iter()
        .filter(|attempt| attempt.state == State::Started)
        .count();
    assert_eq!(
        open, 1,
        "what became of it is not known: it counts as spent"
    );
}

/// Another process writes to the database, until what is given is called.
fn hold(other: Store) -> impl FnOnce() + Send {
    let (release, released) = channel::<()>();
    let (began, begun) = channel();
    let writing = std::thread::spawn(move || {
        other.commit("hold", |_| {
            began.send(()).unwrap();
            let _ = released.recv();
            Ok(())
        })
    });
    begun.recv().unwrap();
    move || {
        drop(release);
        writing.join().unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_waits_for_the_database_is_not_dropped_for_the_sake_of_another_try() {
    // What the other call would write meanwhile: that its try begins, or that it failed.
    for begins in [true, false] {
        let stage = Stage::on_disk();
        // Nobody waits in a test.
        stage
            .store
            .read(|db| Ok(db.busy_timeout(Duration::ZERO)?))
            .unwrap();
        let held = Arc::new(Mutex::new(None));
        let other = Mutex::new(Some(stage.of_another_process()));
        let holding = Arc::clone(&held);
        let backend = Scripted::new(move |_, made| {
            if made == usize::from(!begins) {
                let other = other.lock().unwrap().take().unwrap();
                *holding.lock().unwrap() = Some(hold(other));
            }
            match made {
                0 => Scripted::after(1, r#"{"score": 1}"#),
                1 if !begins => Scripted::later(
                    100,
                    Scripted::fail(CallError::Unavailable {
                        provider: "p".into(),
                        detail: "it is busy".into(),
                        sent: false,
                    }),
                ),
                _ => Scripted::say(r#"{"score": 1}"#),
            }
        });
        let path = stage.path(&backend);
        path.plan(stage.night, "s", (0..2).map(judge).collect())
            .unwrap();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(20)).await;
            let release = held.lock().unwrap().take().unwrap();
            release();
        });
        let results = path.answer(stage.night, "s").await.unwrap();
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        let tries = tries(&stage);
        let answered = tries.iter().filter(|one| one.state == State::Answered);
        assert_eq!(answered.count(), 2, "{begins}");
        assert_eq!(tries.len(), 2 + usize::from(!begins), "{begins}");
    }
}
