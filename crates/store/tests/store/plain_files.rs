//! Words of the user outside the database: hand-off folders, the log, copies.

use std::io::Write;
use std::path::PathBuf;

use serde_json::json;
use skillopt_core::Instant;
use skillopt_store::data::{self, Purge};
use skillopt_store::nights::{self, Outcome};
use skillopt_store::{Store, events, files, projects, repair};

use crate::sample::Home;

/// A home whose project has one hand-off folder that was put aside and one that is open.
fn handed_off() -> (Home, Store, String, i64, [PathBuf; 2]) {
    let home = Home::new();
    let store = home.store();
    let (project, night) = home.night(&store);
    let open = home.paths.handoff(&project);
    let aside = open.with_file_name(format!("{project}.night3.done.17"));
    for folder in [&open, &aside] {
        files::write_private(&folder.join("answers/q.md"), b"what the user said").unwrap();
    }
    files::write_private(&home.paths.log(), b"what the user asked for").unwrap();
    (home, store, project, night, [open, aside])
}

fn end(store: &Store, night: i64) {
    store
        .commit("end", |tx| {
            nights::end(tx, night, Outcome::Interrupted, "", &json!({}))
        })
        .unwrap();
}

fn purge(home: &Home, store: &Store, what: &Purge) -> data::PurgePlan {
    let plan = data::plan_purge(store, &home.paths, what).unwrap();
    data::apply_purge(store, &home.paths, &plan).unwrap();
    plan
}

#[test]
fn purging_a_project_takes_every_handoff_of_it_and_the_log() {
    let (home, store, project, _, folders) = handed_off();
    let other = home.paths.handoff("0123456789abcdef");
    files::write_private(&other.join("pending.json"), b"{}").unwrap();
    assert_eq!(data::size(&home.paths).unwrap().log, 23);
    let copy = repair::keep_copy(&store, &home.paths).unwrap();
    let plan = purge(&home, &store, &Purge::Project(project));
    assert_eq!(plan.files, [home.paths.log()]);
    assert!(
        plan.notes.iter().any(|note| note.code == "log_goes"),
        "{plan:?}"
    );
    for gone in folders.iter().chain([&home.paths.log(), &copy]) {
        assert!(!gone.exists(), "{}", gone.display());
    }
    assert!(other.exists(), "that of another project stays");
}

#[test]
fn purging_evidence_leaves_only_questions_a_night_waits_for() {
    let (home, store, _, night, [open, aside]) = handed_off();
    let evidence = Purge::Evidence {
        project: None,
        before: None,
    };
    purge(&home, &store, &evidence);
    assert!(!aside.exists());
    assert!(open.exists(), "its night can go on");
    assert!(!home.paths.log().exists());
    end(&store, night);
    purge(&home, &store, &evidence);
    assert!(!open.exists());
}

#[test]
fn purging_the_evidence_of_one_project_leaves_that_of_others() {
    let (home, store, project, night, [open, aside]) = handed_off();
    end(&store, night);
    let root = home.root.join("other");
    std::fs::create_dir(&root).unwrap();
    let evidence = |of: &str| {
        store
            .commit("evidence", |tx| {
                let night = nights::begin(tx, of, nights::Kind::Run, &json!({}))?;
                events::append(tx, night, "seen", &json!({"words": "of the user"}))?;
                nights::end(tx, night, Outcome::Interrupted, "", &json!({}))?;
                Ok(night)
            })
            .unwrap()
    };
    let other = store
        .commit("other", |tx| projects::find_or_register(tx, &root))
        .unwrap()
        .id;
    let (own, others) = (evidence(&project), evidence(&other));
    let theirs = home.paths.handoff(&other);
    files::write_private(&theirs.join("pending.json"), b"{}").unwrap();
    let plan = purge(
        &home,
        &store,
        &Purge::Evidence {
            project: Some(project),
            before: None,
        },
    );
    assert_eq!(plan.rows.get("event"), Some(&1), "{plan:?}");
    let kept = |night| store.read(|db| events::list(db, night)).unwrap().len();
    assert_eq!((kept(own), kept(others)), (0, 1));
    assert!(!open.exists() && !aside.exists() && theirs.exists());
}

#[test]
fn old_handoffs_expire_with_the_rest_of_the_evidence() {
    let (home, store, project, _, [open, aside]) = handed_off();
    let other = home.paths.handoff("0123456789abcdef");
    files::write_private(&other.join("pending.json"), b"{}").unwrap();
    let expire = |before| data::expire_handoffs(&store, &home.paths, &project, before).unwrap();
    assert_eq!(expire(Instant::UNIX_EPOCH), 0, "they are not that old");
    assert!(aside.exists());
    assert_eq!(expire(Instant::MAX), 1);
    assert!(open.exists() && !aside.exists());
    assert!(
        other.exists(),
        "another project may keep its evidence longer"
    );
}

#[test]
fn purging_everything_leaves_no_word_of_the_user() {
    let (home, store, _, _, folders) = handed_off();
    repair::keep_copy(&store, &home.paths).unwrap();
    files::write_private(&home.paths.earlier_log(), b"earlier").unwrap();
    purge(&home, &store, &Purge::Everything);
    let size = data::size(&home.paths).unwrap();
    assert_eq!((size.log, size.handoff, size.copies), (0, 0, 0));
    assert!(!folders[0].exists());
}

#[test]
fn the_log_moves_with_the_data_and_is_kept_short() {
    let (home, store, _, _, _) = handed_off();
    data::bound_log(&home.paths).unwrap();
    assert_eq!(data::size(&home.paths).unwrap().log, 23, "short ones stay");
    files::write_private(&home.paths.earlier_log(), b"earlier").unwrap();
    let to = home.root.join("new");
    data::move_to(&store, &home.paths, &to).unwrap();
    assert_eq!(std::fs::read(to.join("cron.log.1")).unwrap(), b"earlier");
    assert_eq!(
        std::fs::read(to.join("cron.log")).unwrap(),
        b"what the user asked for"
    );
    files::write_private(&home.paths.log(), &vec![b'x'; 1_000_001]).unwrap();
    // A night that runs has it open, and goes on writing into it.
    let mut night = data::open_log(&home.paths).unwrap();
    data::bound_log(&home.paths).unwrap();
    night.write_all(b"later").unwrap();
    assert_eq!(std::fs::read(home.paths.log()).unwrap(), b"later");
    let earlier = std::fs::read(home.paths.earlier_log()).unwrap();
    assert_eq!(earlier, vec![b'x'; 1_000_001], "what was before is kept");
    assert_eq!(data::size(&home.paths).unwrap().log, 1_000_006);
    std::fs::remove_file(home.paths.log()).unwrap();
    data::bound_log(&home.paths).unwrap();
    assert!(!home.paths.log().exists(), "none is made");
}
