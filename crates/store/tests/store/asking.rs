//! Stages, calls, tries, bytes, and the index of transcripts.

use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_store::attempts::{self, Cost, Usage, Within};
use skillopt_store::blobs::{self, Keep};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::orders::{self, Order};
use skillopt_store::{calls, events, index, projects, stages};

use crate::sample::{Home, call};

#[test]
fn a_planned_stage_is_never_planned_again() {
    let home = Home::new();
    let store = home.store();
    let (_, night) = home.night(&store);
    let plan = |questions: &[&str]| {
        let asked: Vec<_> = questions
            .iter()
            .map(|question| call(question, 0, 0))
            .collect();
        store
            .commit("plan", |tx| calls::plan(tx, night, "judge", &asked))
            .unwrap()
    };
    assert_eq!(
        plan(&["b", "a", "b"]),
        3,
        "one question may be asked at two places"
    );
    assert_eq!(plan(&["c"]), 3);
    store
        .commit("repeat", |tx| {
            calls::plan_follow_up(tx, night, "judge", 1, &call("a", 0, 1))
        })
        .unwrap();
    let rows = store.read(|db| calls::rows(db, night, "judge")).unwrap();
    let order: Vec<_> = rows.iter().map(|row| (row.position, row.ask)).collect();
    assert_eq!(order, [(0, 0), (1, 0), (1, 1), (2, 0)]);
    assert_eq!(
        store.read(|db| calls::get(db, &rows[1].key)).unwrap(),
        Some(call("a", 0, 0))
    );
    assert_eq!(
        store.read(|db| calls::rows_of_night(db, night)).unwrap(),
        rows
    );

    assert!(
        store
            .read(|db| stages::planned(db, night, "judge"))
            .unwrap()
    );
    assert_eq!(
        store
            .commit("none", |tx| calls::plan(tx, night, "empty", &[]))
            .unwrap(),
        0
    );
    assert!(
        store
            .read(|db| stages::planned(db, night, "empty"))
            .unwrap()
    );
}

#[test]
fn a_stage_keeps_its_first_output() {
    let home = Home::new();
    let store = home.store();
    let (_, night) = home.night(&store);
    assert_eq!(
        store
            .read(|db| stages::output::<Value>(db, night, "mine"))
            .unwrap(),
        None
    );
    for value in [json!(["one"]), json!(["two"])] {
        store
            .commit("finish", |tx| stages::finish(tx, night, "mine", &value))
            .unwrap();
    }
    assert_eq!(
        store
            .read(|db| stages::output::<Value>(db, night, "mine"))
            .unwrap(),
        Some(json!(["one"]))
    );
    assert_eq!(
        store.read(|db| stages::list(db, night)).unwrap()[0].state,
        stages::State::Done
    );
}

#[test]
fn spend_is_what_was_used_or_else_reserved() {
    let home = Home::new();
    let store = home.store();
    let (_, night) = home.night(&store);
    store
        .commit("plan", |tx| calls::plan(tx, night, "s", &[call("q", 0, 0)]))
        .unwrap();
    let key = call("q", 0, 0).key();
    let worst = Cost {
        tokens: 1000,
        micros: 500,
    };
    let usage = Usage {
        input_tokens: Some(10),
        cached_tokens: Some(4),
        output_tokens: Some(5),
    };
    let start = || {
        store
            .commit("start", |tx| attempts::start(tx, night, &key, worst))
            .unwrap()
    };
    let spend = || store.read(|db| attempts::spend(db, night)).unwrap();

    let first = start();
    assert_eq!(
        (
            spend().calls,
            spend().tokens,
            spend().cost_micros,
            spend().open
        ),
        (1, 1000, 500, 1)
    );
    store
        .commit("answer", |tx| {
            attempts::answer(tx, first, "hi", usage, Some(7))
        })
        .unwrap();
    assert_eq!(
        (spend().tokens, spend().cost_micros, spend().open),
        (15, 7, 0)
    );
    let kept = store
        .read(|db| attempts::answered(db, &key, Within::Ever))
        .unwrap();
    assert_eq!(kept.unwrap().usage, usage);

    let failed = start();
    let error = json!({"status": 401});
    store
        .commit("fail", |tx| {
            attempts::fail(tx, failed, "sign_in_needed", &error)
        })
        .unwrap();
    assert_eq!(
        (spend().calls, spend().tokens, spend().cost_micros),
        (2, 15, 7)
    );

    let lost = start();
    store
        .commit("lose", |tx| {
            attempts::lose(tx, lost, "timed_out", &json!({}))
        })
        .unwrap();
    assert_eq!(
        (spend().tokens, spend().cost_micros, spend().unknown),
        (1015, 507, 1)
    );

    let silent = start();
    store
        .commit("answer", |tx| {
            attempts::answer(tx, silent, "no usage", Usage::default(), None)
        })
        .unwrap();
    assert_eq!((spend().tokens, spend().cost_micros), (2015, 1007));

    for (attempt, thousandths) in [(first, 330), (silent, 1_000)] {
        store
            .commit("bill", |tx| {
                attempts::bill_requests(tx, night, "s", attempt, thousandths)
            })
            .unwrap();
    }
    let of_tries = store
        .read(|db| attempts::requests_of_tries(db, night))
        .unwrap();
    assert_eq!(of_tries, [(first, 330), (silent, 1_000)].into());
    assert_eq!(spend().request_thousandths, 1_330);
    let (stages, nights) = store
        .read(|db| {
            Ok((
                attempts::spend_of_stages(db, night)?,
                attempts::spend_of_nights(db, None)?,
            ))
        })
        .unwrap();
    assert_eq!(stages[0].1.request_thousandths, 1_330);
    assert_eq!(nights[0].spend.request_thousandths, 1_330);

    let _killed = start();
    let unknown = store
        .commit("resume", |tx| nights::resume(tx, night))
        .unwrap();
    assert_eq!(unknown, 1);
    let now = spend();
    assert_eq!(
        (
            now.calls,
            now.tokens,
            now.cost_micros,
            now.unknown,
            now.open
        ),
        (5, 3015, 1507, 2, 0)
    );
    let tries = store.read(|db| attempts::of_night(db, night)).unwrap();
    assert_eq!(
        tries.iter().map(|attempt| attempt.n).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5]
    );
    assert_eq!(tries[1].error, Some(error));
}

#[test]
fn answers_are_reused_within_their_reach_and_errors_never() {
    let home = Home::new();
    let store = home.store();
    let (project, first) = home.night(&store);
    let key = call("q", 0, 0).key();
    let ask = |night: i64, text: Option<&str>| {
        store
            .commit("ask", |tx| {
                calls::plan(tx, night, "s", &[call("q", 0, 0)])?;
                let attempt = attempts::start(tx, night, &key, Cost::default())?;
                match text {
                    Some(text) => attempts::answer(tx, attempt, text, Usage::default(), None),
                    None => attempts::fail(tx, attempt, "unavailable", &json!({})),
                }
            })
            .unwrap();
    };
    let answered = |within: Within<'_>| {
        store
            .read(|db| attempts::answered(db, &key, within))
            .unwrap()
            .map(|answer| (answer.night, answer.text))
    };
    ask(first, None);
    assert_eq!(answered(Within::Ever), None);
    ask(first, Some("one"));
    store
        .commit("end", |tx| {
            nights::end(tx, first, Outcome::NotImproved, "", &json!({}))
        })
        .unwrap();
    let second = store
        .commit("night", |tx| {
            nights::begin(tx, &project, Kind::Run, &json!({}))
        })
        .unwrap();
    assert_eq!(answered(Within::Ever), Some((first, "one".into())));
    assert_eq!(answered(Within::Nights(&[second])), None);
    assert_eq!(answered(Within::Nights(&[])), None);
    assert_eq!(
        answered(Within::Nights(&[second, first])),
        Some((first, "one".into()))
    );
    ask(second, Some("two"));
    assert_eq!(
        answered(Within::Nights(&[second])),
        Some((second, "two".into()))
    );
    assert_eq!(answered(Within::Ever), Some((second, "two".into())));
}

#[test]
fn bodies_expire_but_not_those_an_unfinished_night_needs() {
    let home = Home::new();
    let store = home.store();
    let (project, old) = home.night(&store);
    let ask = |night: i64, question: &str| {
        store
            .commit("ask", |tx| {
                calls::plan(tx, night, question, &[call(question, 0, 0)])?;
                let attempt =
                    attempts::start(tx, night, &call(question, 0, 0).key(), Cost::default())?;
                attempts::answer(
                    tx,
                    attempt,
                    &format!("re: {question}"),
                    Usage::default(),
                    None,
                )?;
                stages::finish(tx, night, question, &json!([question]))?;
                calls::settle(
                    tx,
                    night,
                    question,
                    0,
                    0,
                    calls::State::Fresh,
                    Some(attempt),
                )
            })
            .unwrap();
    };
    ask(old, "old");
    let document = store
        .commit("keep", |tx| blobs::put(tx, b"# Rules", Keep::ForGood))
        .unwrap();
    let pinned = store
        .commit("keep", |tx| blobs::put(tx, b"pinned", Keep::Evidence))
        .unwrap();
    store
        .commit("end", |tx| {
            nights::end(tx, old, Outcome::NotImproved, "", &json!({}))
        })
        .unwrap();
    let waiting = store
        .commit("night", |tx| {
            nights::begin(
                tx,
                &project,
                Kind::Run,
                &json!({"targets": [{"blob": pinned}]}),
            )
        })
        .unwrap();
    ask(waiting, "waiting");

    home.forward(40 * 86_400);

    let expired = store
        .commit("expire", |tx| blobs::expire_bodies(tx, None, tx.now()))
        .unwrap();
    assert_eq!(
        expired, 3,
        "request, reply and stage output of the first night"
    );
    assert_eq!(
        store
            .commit("expire", |tx| blobs::expire_bodies(tx, None, tx.now()))
            .unwrap(),
        0
    );
    let key = |question: &str| call(question, 0, 0).key();
    assert_eq!(store.read(|db| calls::get(db, &key("old"))).unwrap(), None);
    assert_eq!(
        store
            .read(|db| attempts::answered(db, &key("old"), Within::Ever))
            .unwrap(),
        None
    );
    assert!(
        store
            .read(|db| attempts::answered(db, &key("waiting"), Within::Ever))
            .unwrap()
            .is_some()
    );
    assert!(
        store
            .read(|db| calls::get(db, &key("waiting")))
            .unwrap()
            .is_some()
    );
    assert!(store.read(|db| blobs::has(db, &document)).unwrap());
    assert!(store.read(|db| blobs::has(db, &pinned)).unwrap());
    let attempt = &store.read(|db| attempts::of_night(db, old)).unwrap()[0];
    assert!(attempt.reply.is_some(), "the hash stays");
}

#[test]
fn a_reply_that_is_reused_expires_later() {
    let home = Home::new();
    let store = home.store();
    let (project, first) = home.night(&store);
    let key = call("q", 0, 0).key();
    let attempt = store
        .commit("ask", |tx| {
            calls::plan(tx, first, "s", &[call("q", 0, 0)])?;
            let attempt = attempts::start(tx, first, &key, Cost::default())?;
            attempts::answer(tx, attempt, "yes", Usage::default(), None)?;
            nights::end(tx, first, Outcome::NotImproved, "", &json!({}))?;
            Ok(attempt)
        })
        .unwrap();
    home.forward(20 * 86_400);
    let half_way = skillopt_store::Clock::now(home.clock.as_ref());
    store
        .commit("reuse", |tx| {
            let second = nights::begin(tx, &project, Kind::Run, &json!({}))?;
            calls::plan(tx, second, "s", &[call("q", 0, 0)])?;
            calls::settle(tx, second, "s", 0, 0, calls::State::Reused, Some(attempt))?;
            nights::end(tx, second, Outcome::NotImproved, "", &json!({}))
        })
        .unwrap();
    store
        .commit("expire", |tx| blobs::expire_bodies(tx, None, half_way))
        .unwrap();
    assert!(
        store
            .read(|db| attempts::answered(db, &key, Within::Ever))
            .unwrap()
            .is_some()
    );
}

#[test]
fn the_same_bytes_are_stored_once_and_the_longer_keep_wins() {
    let home = Home::new();
    let store = home.store();
    let put = |keep: Keep| {
        store
            .commit("put", |tx| blobs::put(tx, b"text", keep))
            .unwrap()
    };
    let hash = put(Keep::Evidence);
    // SHA-256("text")
    assert_eq!(
        hash,
        "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    );
    assert_eq!(put(Keep::ForGood), hash);
    assert_eq!(put(Keep::Evidence), hash);
    home.forward(86_400);
    assert_eq!(
        store
            .commit("expire", |tx| blobs::expire_bodies(tx, None, tx.now()))
            .unwrap(),
        0
    );
    assert_eq!(
        store.read(|db| blobs::get(db, &hash)).unwrap(),
        Some(b"text".to_vec())
    );

    let empty = store
        .commit("put", |tx| blobs::put(tx, b"", Keep::Evidence))
        .unwrap();
    assert_eq!(
        store.read(|db| blobs::get(db, &empty)).unwrap(),
        Some(Vec::new())
    );
    home.forward(86_400);
    store
        .commit("expire", |tx| blobs::expire_bodies(tx, None, tx.now()))
        .unwrap();
    assert_eq!(store.read(|db| blobs::get(db, &empty)).unwrap(), None);
    store
        .commit("put", |tx| blobs::put(tx, b"", Keep::Evidence))
        .unwrap();
    assert_eq!(
        store.read(|db| blobs::get(db, &empty)).unwrap(),
        Some(Vec::new()),
        "a body comes back"
    );
}

#[test]
fn transcript_files_come_back_as_they_were_read() {
    let home = Home::new();
    let store = home.store();
    let stamp = |size: u64| index::Stamp {
        dev: u64::MAX,
        ino: 1 << 63,
        size,
        mtime_ns: -5,
        reader_version: 3,
        settings: "s".into(),
    };
    let reading = |path: &std::path::Path, size: u64| index::Reading {
        path: path.to_owned(),
        stamp: stamp(size),
        facts: r#"{"meta": 2}"#.to_owned(),
        digest: vec![b'x'; 10_000],
    };
    #[cfg(unix)]
    let odd: std::path::PathBuf = {
        use std::os::unix::ffi::OsStringExt;
        std::ffi::OsString::from_vec(b"/t/\xff\xfe.jsonl".to_vec()).into()
    };
    #[cfg(not(unix))]
    let odd = std::path::PathBuf::from("/t/odd.jsonl");
    let plain = std::path::PathBuf::from("/t/a.jsonl");
    store
        .commit("index", |tx| {
            index::put(
                tx,
                Agent::Claude,
                &[reading(&odd, 1), reading(&plain, 2), reading(&plain, 3)],
            )
        })
        .unwrap();
    let entries = store.read(|db| index::entries(db, Agent::Claude)).unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[&plain].stamp, stamp(3));
    assert_eq!(entries[&odd].stamp, stamp(1));
    assert_eq!(entries[&odd].facts, r#"{"meta": 2}"#);
    let id = entries[&odd].id;
    assert_eq!(
        store.read(|db| index::digests(db, &[id])).unwrap(),
        [Some(vec![b'x'; 10_000])]
    );
    assert!(
        store
            .read(|db| index::entries(db, Agent::Codex))
            .unwrap()
            .is_empty()
    );
    store
        .commit("forget", |tx| index::forget(tx, &[id]))
        .unwrap();
    assert_eq!(store.read(|db| index::digests(db, &[id])).unwrap(), [None]);
    assert_eq!(
        store
            .read(|db| index::entries(db, Agent::Claude))
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_failed_transaction_leaves_nothing() {
    let home = Home::new();
    let store = home.store();
    let (_, night) = home.night(&store);
    let result = store.commit("half", |tx| {
        events::append(tx, night, "k", &json!({}))?;
        stages::finish(tx, night, "s", &json!([]))?;
        orders::give(tx, night + 100, Order::Cancel)?; // no such night
        Ok(())
    });
    assert_eq!(result.unwrap_err().code, "database_error");
    assert_eq!(store.read(|db| events::list(db, night)).unwrap(), []);
    assert_eq!(store.read(|db| stages::list(db, night)).unwrap(), []);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = store.commit("panic", |tx| -> Result<(), skillopt_store::Fault> {
            events::append(tx, night, "k", &json!({}))?;
            panic!("in the middle");
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(store.read(|db| events::list(db, night)).unwrap(), []);
    store
        .commit("after", |tx| events::append(tx, night, "k", &json!({})))
        .unwrap();
}

#[test]
#[should_panic(expected = "must not be nested")]
fn a_read_inside_a_transaction_is_refused_rather_than_waiting_for_ever() {
    let home = Home::new();
    let store = home.store();
    let _ = store.commit("outer", |_| Ok(store.read(projects::list)?));
}
