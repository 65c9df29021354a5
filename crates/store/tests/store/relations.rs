//! What the relations promise.

use serde_json::{Value, json};
use skillopt_core::agent::Agent;
use skillopt_core::task::Split;
use skillopt_store::attempts::{self, Cost, Usage, Within};
use skillopt_store::blobs::{self, Keep};
use skillopt_store::clusters::{self, ClusterText};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::orders::{self, Order};
use skillopt_store::proposals::{self, State, TargetState};
use skillopt_store::rejected::{self, By};
use skillopt_store::{calls, events, index, pauses, projects, stages, tasks};

use crate::sample::{Home, add, at, call, proposed, task, turn};

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
    let back = store
        .commit("again", |tx| projects::find_or_register(tx, &moved))
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
    assert_eq!(nights::active(&running, now).as_secs(), 60 + 30 + 10);

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
    assert_eq!(nights::active(&ended, now).as_secs(), 100);
    assert_eq!(
        store
            .commit("x", |tx| nights::resume(tx, night))
            .unwrap_err()
            .code,
        "night_ended"
    );
}

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
            calls::plan_repeat(tx, night, "judge", 1, &call("a", 0, 1))
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

    let failed = start();
    let error = json!({"status": 401});
    store
        .commit("fail", |tx| {
            attempts::fail(tx, failed, "sign_in_needed", &error, Usage::default(), 0)
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
    let tries = store.read(|db| attempts::of_call(db, night, &key)).unwrap();
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
                    None => {
                        attempts::fail(tx, attempt, "unavailable", &json!({}), Usage::default(), 0)
                    }
                }
            })
            .unwrap();
    };
    let answered = |within: Within| {
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
    assert_eq!(answered(Within::Night(second)), None);
    ask(second, Some("two"));
    assert_eq!(
        answered(Within::Night(second)),
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
        .commit("expire", |tx| blobs::expire_bodies(tx, tx.now()))
        .unwrap();
    assert_eq!(
        expired.bodies, 3,
        "request, reply and stage output of the first night"
    );
    assert_eq!(
        store
            .commit("expire", |tx| blobs::expire_bodies(tx, tx.now()))
            .unwrap()
            .bodies,
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
        .commit("expire", |tx| blobs::expire_bodies(tx, half_way))
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
            .commit("expire", |tx| blobs::expire_bodies(tx, tx.now()))
            .unwrap()
            .bodies,
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
        .commit("expire", |tx| blobs::expire_bodies(tx, tx.now()))
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
fn a_stored_split_never_changes() {
    let home = Home::new();
    let store = home.store();
    let (project, night) = home.night(&store);
    let keep = |task: &skillopt_core::task::Task, version: u32| {
        store
            .commit("keep", |tx| {
                tasks::keep(
                    tx,
                    &project,
                    Some(night),
                    std::slice::from_ref(task),
                    version,
                )
            })
            .unwrap()[0]
            .split
    };
    assert_eq!(keep(&task("t1", Split::Validation), 1), Split::Validation);
    assert_eq!(keep(&task("t1", Split::Train), 2), Split::Validation);
    let archived = store
        .read(|db| tasks::get(db, &project, "t1"))
        .unwrap()
        .unwrap();
    assert_eq!(
        (archived.task.split, archived.split_version),
        (Split::Validation, 1)
    );

    // An imported held-out task must not come back as training under its new id.
    let mut imported = task("old", Split::Validation);
    imported.legacy_id = "task_abc".into();
    keep(&imported, 1);
    let mut mined = task("new", Split::Train);
    mined.legacy_id = "task_abc".into();
    assert_eq!(keep(&mined, 1), Split::Validation);

    // A cluster never straddles two splits.
    let mut one = task("c1", Split::Test);
    one.cluster = "c".into();
    keep(&one, 1);
    let mut two = task("c2", Split::Train);
    two.cluster = "c".into();
    assert_eq!(keep(&two, 1), Split::Test);

    let newest: Vec<_> = store
        .read(|db| tasks::archive(db, &project, 300))
        .unwrap()
        .into_iter()
        .map(|task| task.task.id)
        .collect();
    assert_eq!(newest.len(), 5);
    assert_eq!(store.read(|db| tasks::count(db, &project)).unwrap(), 5);
    assert_eq!(
        store
            .read(|db| tasks::archive(db, &project, 2))
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn mined_turns_and_seen_requests_are_remembered() {
    let home = Home::new();
    let store = home.store();
    let (project, night) = home.night(&store);
    let turns = [turn("s1", "u1"), turn("s1", "u2")];
    let text = ClusterText {
        cluster: "c1".into(),
        turn: turns[0].clone(),
        text: "Write a changelog".into(),
        body: json!({"intent": "x"}),
    };
    store
        .commit("end", |tx| {
            tasks::mark_mined(tx, &project, night, &turns)?;
            tasks::mark_mined(tx, &project, night, &turns)?;
            clusters::remember(tx, &project, night, std::slice::from_ref(&text))?;
            clusters::remember(
                tx,
                &project,
                night,
                &[ClusterText {
                    cluster: "c2".into(),
                    ..text.clone()
                }],
            )
        })
        .unwrap();
    let mined = store.read(|db| tasks::mined_turns(db, &project)).unwrap();
    assert_eq!(mined, turns.into_iter().collect());
    let seen = store.read(|db| clusters::all(db, &project)).unwrap();
    assert_eq!(
        seen,
        [ClusterText {
            cluster: "c2".into(),
            ..text
        }]
    );
}

#[test]
fn a_users_no_outweighs_the_gates() {
    let home = Home::new();
    let store = home.store();
    let project = home.project(&store);
    let reject = |rule: &str, by: By, reason: &str| {
        store
            .commit("reject", |tx| {
                rejected::remember(tx, &project, "claude:skill", &add(rule), by, reason, None)
            })
            .unwrap();
    };
    reject("Keep it short.", By::Gate, "no help");
    reject("keep  it SHORT.", By::User, "I like it long");
    reject("Keep it short.", By::Gate, "no help again");
    let list = store
        .read(|db| rejected::list(db, &project, Some("claude:skill"), 10))
        .unwrap();
    assert_eq!(list.len(), 1, "white space and case make no difference");
    assert_eq!(
        (list[0].by, list[0].reason.as_str()),
        (By::User, "I like it long")
    );
    assert_eq!(
        store
            .read(|db| rejected::list(db, &project, Some("codex:skill"), 10))
            .unwrap(),
        []
    );
    store
        .commit("forget", |tx| {
            rejected::forget(tx, &project, "claude:skill", &add("Keep it short."))
        })
        .unwrap();
    assert_eq!(
        store
            .read(|db| rejected::list(db, &project, None, 10))
            .unwrap(),
        []
    );
}

#[test]
fn proposal_ids_are_unique_and_a_resumed_night_stages_once() {
    let home = Home::new();
    let store = home.store();
    let (project, night) = home.night(&store);
    let staging = home.paths.staging();
    let reserve = |night: i64| {
        store
            .commit("reserve", |tx| proposals::reserve(tx, night, &staging, &[]))
            .unwrap()
    };
    let first = reserve(night);
    assert_eq!(first.id, "20261129-031500");
    assert_eq!(first.dir, staging.join("20261129-031500").to_str().unwrap());
    assert_eq!(reserve(night).id, first.id);
    assert_eq!(first.nonce.len(), 32);
    assert_eq!(
        store.read(|db| proposals::list(db, None, 10)).unwrap(),
        [],
        "a draft is not shown"
    );

    let document = home.root.join("SKILL.md");
    let publish = |id: &str, targets: &[(&str, &str)]| {
        let targets: Vec<_> = targets
            .iter()
            .map(|(target, name)| proposed(target, &home.root.join(name), "", "new"))
            .collect();
        store.commit("publish", |tx| proposals::publish(tx, id, &targets))
    };
    publish(
        &first.id,
        &[("claude:skill", "SKILL.md"), ("claude:memory", "CLAUDE.md")],
    )
    .unwrap();
    assert_eq!(
        publish(&first.id, &[]).unwrap_err().code,
        "proposal_not_draft"
    );
    let stored = store.read(|db| proposals::targets(db, &first.id)).unwrap();
    assert_eq!(stored[0].edits, [add("Keep it short.")]);
    assert_eq!(
        (stored[0].before, stored[0].after),
        (Some(0.25), Some(0.75))
    );
    assert_eq!(stored[0].real_path, document.to_str().unwrap());
    let bytes = store
        .read(|db| blobs::get(db, &stored[0].proposed_sha256))
        .unwrap();
    assert_eq!(bytes, Some(b"new".to_vec()));

    // The next night, in the same second, proposes for one of the two documents.
    store
        .commit("end", |tx| {
            nights::end(tx, night, Outcome::Proposed, "", &json!({}))
        })
        .unwrap();
    let later = store
        .commit("night", |tx| {
            nights::begin(tx, &project, Kind::Run, &json!({}))
        })
        .unwrap();
    let second = reserve(later);
    assert_eq!(second.id, "20261129-031500-2");
    publish(&second.id, &[("claude:skill", "SKILL.md")]).unwrap();
    let states: Vec<_> = store
        .read(|db| proposals::targets(db, &first.id))
        .unwrap()
        .into_iter()
        .map(|target| target.state)
        .collect();
    assert_eq!(states, [TargetState::Superseded, TargetState::Pending]);

    // A later night without a proposal does not hide what waits.
    let waiting = store
        .read(|db| proposals::newest_waiting(db, &project))
        .unwrap()
        .unwrap();
    assert_eq!(waiting.id, second.id);
    let decide = |id: &str, target: &str, state: TargetState| {
        store
            .commit("decide", |tx| proposals::decide(tx, id, target, state, ""))
            .unwrap();
        store.read(|db| proposals::required(db, id)).unwrap().state
    };
    assert_eq!(
        decide(&second.id, "claude:skill", TargetState::Adopted),
        State::Adopted
    );
    assert_eq!(
        store
            .read(|db| proposals::newest_waiting(db, &project))
            .unwrap()
            .unwrap()
            .id,
        first.id
    );
    store
        .commit("reject", |tx| proposals::reject(tx, &first.id, "not now"))
        .unwrap();
    let rejected = store.read(|db| proposals::required(db, &first.id)).unwrap();
    assert_eq!(
        (rejected.state, rejected.reason.as_str()),
        (State::Rejected, "not now")
    );
    assert_eq!(
        decide(&second.id, "claude:skill", TargetState::RolledBack),
        State::RolledBack
    );
    let unknown = store.commit("x", |tx| {
        proposals::decide(tx, &first.id, "nope", TargetState::Adopted, "")
    });
    assert_eq!(unknown.unwrap_err().code, "target_unknown");
    assert_eq!(
        store
            .read(|db| proposals::required(db, "nope"))
            .unwrap_err()
            .code,
        "proposal_unknown"
    );
}

#[test]
fn a_partly_decided_proposal_still_waits() {
    let home = Home::new();
    let store = home.store();
    let (project, night) = home.night(&store);
    let id = store
        .commit("propose", |tx| {
            let draft = proposals::reserve(tx, night, &home.paths.staging(), &["/w".into()])?;
            let targets = [
                proposed("claude:skill", &home.root.join("SKILL.md"), "", "a"),
                proposed("claude:memory", &home.root.join("CLAUDE.md"), "", "b"),
            ];
            proposals::publish(tx, &draft.id, &targets)?;
            proposals::mark_viewed(tx, &draft.id)?;
            proposals::decide(tx, &draft.id, "claude:memory", TargetState::Adopted, "")?;
            Ok(draft.id)
        })
        .unwrap();
    let found = store
        .read(|db| proposals::newest_waiting(db, &project))
        .unwrap()
        .unwrap();
    assert_eq!(
        (found.id, found.state, found.decided_at),
        (id, State::PartlyAdopted, None)
    );
    assert_eq!(found.roots, ["/w"]);
    assert!(found.viewed_at.is_some());
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
    assert_eq!(
        store
            .read(|db| pauses::list(db, at("2026-11-29T04:00:00Z")))
            .unwrap()
            .len(),
        1
    );
    store
        .commit("clear", |tx| pauses::clear(tx, "openai"))
        .unwrap();
    assert_eq!(active("2026-11-29T04:00:00Z"), None);
}

#[test]
fn events_are_ordered_and_read_from_a_place_on() {
    let home = Home::new();
    let store = home.store();
    let (_, night) = home.night(&store);
    for n in 0..5 {
        let seq = store
            .commit("event", |tx| {
                events::append(tx, night, "k", &json!({"n": n}))
            })
            .unwrap();
        assert_eq!(seq, n + 1);
    }
    let some = store.read(|db| events::list(db, night, 2, 2)).unwrap();
    assert_eq!(
        some.iter()
            .map(|event| event.body["n"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [2, 3]
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
        skips: json!({"meta": 2}),
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
    assert_eq!(entries[&odd].skips, json!({"meta": 2}));
    let id = entries[&odd].id;
    assert_eq!(
        store.read(|db| index::digest(db, id)).unwrap(),
        Some(vec![b'x'; 10_000])
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
    assert_eq!(store.read(|db| index::digest(db, id)).unwrap(), None);
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
    assert_eq!(store.read(|db| events::list(db, night, 0, 10)).unwrap(), []);
    assert_eq!(store.read(|db| stages::list(db, night)).unwrap(), []);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = store.commit("panic", |tx| -> Result<(), skillopt_store::Fault> {
            events::append(tx, night, "k", &json!({}))?;
            panic!("in the middle");
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(store.read(|db| events::list(db, night, 0, 10)).unwrap(), []);
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
