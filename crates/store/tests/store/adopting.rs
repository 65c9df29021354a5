//! Any sequence of adoptions, rollbacks and edits by hand keeps every byte recoverable.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skillopt_core::hash::sha256_hex;
use skillopt_store::adoption::{self, Change, Kind, Plan, State};
use skillopt_store::files::{NewFile, atomic_replace};
use skillopt_store::{Store, blobs, receipts};

use crate::sample::{Home, add};

fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

fn sha(bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(String::new, sha256_hex)
}

fn put(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    atomic_replace(path, bytes, NewFile::Document).unwrap();
}

/// A plan that writes `after` over whatever is there now.
fn adopt(project: &str, changes: &[(&Path, &[u8])]) -> Plan {
    Plan {
        kind: Kind::Adopt,
        proposal: "20261129-031500".into(),
        project: project.into(),
        changes: changes
            .iter()
            .map(|(path, after)| Change {
                target: format!("claude:{}", path.file_name().unwrap().to_str().unwrap()),
                live_path: path.to_str().unwrap().into(),
                real_path: path.to_path_buf(),
                expected_sha256: sha(read(path).as_deref()),
                after: Some(after.to_vec()),
                mode: None,
                edits: vec![add("Keep it short.")],
                remove_dirs: Vec::new(),
            })
            .collect(),
        undoes: Vec::new(),
    }
}

fn perform(
    home: &Home,
    store: &Store,
    plan: &Plan,
) -> Result<Vec<receipts::Receipt>, skillopt_core::Problem> {
    adoption::perform(store, &home.paths, plan, |_, _| Ok(()))
}

fn rollback(
    home: &Home,
    store: &Store,
    which: &[receipts::Receipt],
) -> Result<(), skillopt_core::Problem> {
    let plan = store.read(|db| adoption::rollback_plan(db, which)).unwrap();
    perform(home, store, &plan).map(|_| ())
}

#[test]
fn several_documents_are_adopted_and_taken_back_byte_for_byte() {
    let home = Home::new();
    let store = home.store();
    let (old, new) = (
        home.root.join("project/CLAUDE.md"),
        home.root.join("project/.claude/skills/x/SKILL.md"),
    );
    put(&old, b"# Rules\r\n\r\nno final newline");
    #[cfg(unix)]
    std::fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o664)).unwrap();

    let written = perform(
        &home,
        &store,
        &adopt("p", &[(&old, b"after"), (&new, b"---\nname: x\n---\n")]),
    )
    .unwrap();
    assert_eq!(read(&old).unwrap(), b"after");
    assert_eq!(read(&new).unwrap(), b"---\nname: x\n---\n");
    assert_eq!(written.len(), 2);
    assert_eq!(
        read(Path::new(&written[0].backup_path)).unwrap(),
        b"# Rules\r\n\r\nno final newline"
    );
    assert_eq!(written[1].sha256_before, "");
    assert_eq!(written[0].edits, [add("Keep it short.")]);
    let standing = store
        .read(|db| receipts::standing(db, "20261129-031500"))
        .unwrap();
    assert_eq!(standing.len(), 2);

    rollback(&home, &store, &standing).unwrap();
    assert_eq!(read(&old).unwrap(), b"# Rules\r\n\r\nno final newline");
    assert!(
        !home.root.join("project/.claude").exists(),
        "folders made for it go too"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            std::fs::metadata(&old).unwrap().permissions().mode() & 0o777,
            0o664
        );
    }
    assert_eq!(
        store
            .read(|db| receipts::standing(db, "20261129-031500"))
            .unwrap(),
        []
    );
    let states: Vec<_> = store
        .read(|db| adoption::of_proposal(db, "20261129-031500"))
        .unwrap()
        .into_iter()
        .map(|adoption| (adoption.kind, adoption.state))
        .collect();
    assert_eq!(
        states,
        [
            (Kind::Adopt, State::Committed),
            (Kind::Rollback, State::Committed)
        ]
    );
    let again = rollback(&home, &store, &standing).unwrap_err();
    assert_eq!(again.code, "file_changed");
}

/// Two documents, and a plan that changes both.
fn two_documents(home: &Home) -> (PathBuf, PathBuf, Plan) {
    let (one, two) = (
        home.root.join("project/a.md"),
        home.root.join("project/b.md"),
    );
    put(&one, b"one");
    put(&two, b"two");
    let plan = adopt("p", &[(&one, b"1"), (&two, b"2")]);
    (one, two, plan)
}

#[test]
fn one_refused_document_leaves_all_as_they_were() {
    let home = Home::new();
    let store = home.store();
    let (one, two, plan) = two_documents(&home);
    put(&two, b"edited by hand");
    assert_eq!(
        perform(&home, &store, &plan).unwrap_err().code,
        "file_changed"
    );
    assert_eq!(read(&one).unwrap(), b"one");
    assert_eq!(read(&two).unwrap(), b"edited by hand");
    assert_eq!(store.read(adoption::unfinished).unwrap(), []);
}

#[test]
fn a_refusal_in_the_last_transaction_undoes_what_was_written() {
    let home = Home::new();
    let store = home.store();
    let (one, new) = (
        home.root.join("project/a.md"),
        home.root.join("project/deep/b.md"),
    );
    put(&one, b"one");
    let plan = adopt("p", &[(&one, b"1"), (&new, b"2")]);
    let refused = adoption::perform(&store, &home.paths, &plan, |_, receipts| {
        assert_eq!(receipts.len(), 2);
        assert_eq!(
            read(&one).unwrap(),
            b"1",
            "the documents are written before the commit point"
        );
        Err(skillopt_core::Problem::permanent("no", "No.", "").into())
    });
    assert_eq!(refused.unwrap_err().code, "no");
    assert_eq!(read(&one).unwrap(), b"one");
    assert!(!home.root.join("project/deep").exists());
    assert_eq!(store.read(|db| receipts::list(db, None, 10)).unwrap(), []);
    let journal = store
        .read(|db| adoption::of_proposal(db, &plan.proposal))
        .unwrap();
    assert_eq!(journal[0].state, State::Undone);
}

#[test]
fn a_document_edited_while_it_is_undone_is_left_and_named() {
    let home = Home::new();
    let store = home.store();
    let (one, two, plan) = two_documents(&home);
    let refused = adoption::perform(&store, &home.paths, &plan, |_, _| {
        put(&one, b"edited by hand");
        Err(skillopt_core::Problem::permanent("no", "No.", "").into())
    });
    let problem = refused.unwrap_err();
    assert_eq!(problem.code, "adoption_conflict");
    assert!(problem.message.contains("a.md"), "{problem}");
    assert_eq!(read(&one).unwrap(), b"edited by hand");
    assert_eq!(read(&two).unwrap(), b"two");
    let before = store
        .read(|db| blobs::get(db, &sha256_hex(b"one")))
        .unwrap();
    assert_eq!(
        before,
        Some(b"one".to_vec()),
        "what was there before stays in the store"
    );
}

#[test]
fn a_document_another_process_changes_now_is_not_touched() {
    let home = Home::new();
    let store = home.store();
    let one = home.root.join("project/a.md");
    put(&one, b"one");
    let now = crate::sample::at("2026-11-29T03:00:00Z");
    let _other =
        skillopt_store::locks::document(&home.paths, &one, "adopting a proposal", now).unwrap();
    assert_eq!(
        perform(&home, &store, &adopt("p", &[(&one, b"1")]))
            .unwrap_err()
            .code,
        "document_busy"
    );
    assert_eq!(read(&one).unwrap(), b"one");
}

/// What can happen to a project's documents.
#[derive(Debug, Clone)]
enum Step {
    /// Adopt these bytes for these documents.
    Adopt(Vec<(usize, Vec<u8>)>),
    /// Adopt, but the last transaction is refused.
    Refused(Vec<(usize, Vec<u8>)>),
    /// Roll back the newest standing receipt of a document.
    Rollback(usize),
    /// Edit by hand, or delete.
    Edit(usize, Option<Vec<u8>>),
    /// A new process opens the store.
    Restart,
}

const DOCUMENTS: usize = 3;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..40);
    let changes = || {
        proptest::collection::btree_map(0..DOCUMENTS, bytes(), 1..=DOCUMENTS)
            .prop_map(|map| map.into_iter().collect())
    };
    let step = prop_oneof![
        3 => changes().prop_map(Step::Adopt),
        1 => changes().prop_map(Step::Refused),
        3 => (0..DOCUMENTS).prop_map(Step::Rollback),
        2 => (0..DOCUMENTS, proptest::option::of(bytes())).prop_map(|(document, bytes)| Step::Edit(document, bytes)),
        1 => Just(Step::Restart),
    ];
    proptest::collection::vec(step, 1..14)
}

/// One receipt as the model knows it.
#[derive(Debug, Clone)]
struct Standing {
    id: i64,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default()
    })]
    #[test]
    fn the_journal_keeps_every_byte_recoverable(steps in steps()) {
        let home = Home::new();
        let mut store = home.store();
        let paths: Vec<PathBuf> = (0..DOCUMENTS).map(|n| home.root.join(format!("project/{n}/doc.md"))).collect();
        let mut model: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        let mut standing: BTreeMap<usize, Vec<Standing>> = BTreeMap::new();
        let mut overwritten: Vec<Vec<u8>> = Vec::new();

        for step in steps {
            match step {
                Step::Adopt(changes) => {
                    let listed: Vec<(&Path, &[u8])> =
                        changes.iter().map(|(n, bytes)| (paths[*n].as_path(), bytes.as_slice())).collect();
                    let receipts = perform(&home, &store, &adopt("p", &listed)).unwrap();
                    for ((n, bytes), receipt) in changes.iter().zip(receipts) {
                        let before = model.insert(*n, bytes.clone());
                        overwritten.extend(before.clone());
                        standing.entry(*n).or_default().push(Standing { id: receipt.id, before, after: bytes.clone() });
                    }
                }
                Step::Refused(changes) => {
                    let listed: Vec<(&Path, &[u8])> =
                        changes.iter().map(|(n, bytes)| (paths[*n].as_path(), bytes.as_slice())).collect();
                    let refused = adoption::perform(&store, &home.paths, &adopt("p", &listed), |_, _| {
                        Err(skillopt_core::Problem::permanent("no", "No.", "").into())
                    });
                    prop_assert_eq!(refused.unwrap_err().code, "no");
                }
                Step::Rollback(n) => {
                    let file = paths[n].to_str().unwrap();
                    let newest = store
                        .read(|db| receipts::list(db, None, 1_000))
                        .unwrap()
                        .into_iter()
                        .find(|receipt| receipt.real_path == file && receipt.undone_at.is_none());
                    let known = standing.get(&n).and_then(|list| list.last()).cloned();
                    prop_assert_eq!(newest.as_ref().map(|receipt| receipt.id), known.as_ref().map(|known| known.id));
                    if let (Some(receipt), Some(known)) = (newest, known) {
                        let result = rollback(&home, &store, &[receipt]);
                        if model.get(&n) == Some(&known.after) {
                            result.unwrap();
                            standing.get_mut(&n).unwrap().pop();
                            match known.before {
                                Some(before) => model.insert(n, before),
                                None => model.remove(&n),
                            };
                        } else {
                            prop_assert_eq!(result.unwrap_err().code, "file_changed");
                        }
                    }
                }
                Step::Edit(n, Some(bytes)) => {
                    put(&paths[n], &bytes);
                    model.insert(n, bytes);
                }
                Step::Edit(n, None) => {
                    let _ = std::fs::remove_file(&paths[n]);
                    model.remove(&n);
                }
                Step::Restart => {
                    drop(store);
                    store = home.store();
                    prop_assert_eq!(adoption::recover(&store, &home.paths).unwrap(), vec![]);
                }
            }
            for (n, path) in paths.iter().enumerate() {
                prop_assert_eq!(read(path), model.get(&n).cloned(), "document {}", n);
            }
            for bytes in &overwritten {
                prop_assert_eq!(store.read(|db| blobs::get(db, &sha256_hex(bytes))).unwrap(), Some(bytes.clone()));
            }
            prop_assert_eq!(store.read(adoption::unfinished).unwrap(), vec![]);
        }
    }
}
