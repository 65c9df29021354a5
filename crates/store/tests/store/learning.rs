//! Tasks, rejected edits and proposals.

use serde_json::json;
use skillopt_core::task::Split;
use skillopt_store::clusters::{self, ClusterText};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::proposals::{self, State, TargetState};
use skillopt_store::rejected::{self, By};
use skillopt_store::{blobs, tasks};

use crate::sample::{Home, add, proposed, task, turn};

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
    let mined = store
        .read(|db| tasks::mined_turns(db, &project, true))
        .unwrap();
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
    // Whoever comes second changes nothing, whichever way.
    for late in [TargetState::Adopted, TargetState::Rejected] {
        let refused = store.commit("decide", |tx| {
            proposals::decide(tx, &second.id, "claude:skill", late, "too late")
        });
        assert_eq!(refused.unwrap_err().code, "proposal_decided");
    }
    assert_eq!(
        store
            .read(|db| proposals::newest_waiting(db, &project))
            .unwrap()
            .unwrap()
            .id,
        first.id
    );
    store
        .commit("reject", |tx| {
            for target in proposals::targets(tx, &first.id)? {
                if target.state == TargetState::Pending {
                    proposals::decide(
                        tx,
                        &first.id,
                        &target.target,
                        TargetState::Rejected,
                        "not now",
                    )?;
                }
            }
            Ok(())
        })
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
