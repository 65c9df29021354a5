//! The process may die at every commit and at every write, and the next one goes on.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use skillopt_core::hash::sha256_hex;
use skillopt_core::task::Split;
use skillopt_store::adoption::{self, Change, Kind as Way, Plan};
use skillopt_store::attempts::{self, Cost, Usage, Within};
use skillopt_store::nights::{self, Kind, Outcome};
use skillopt_store::proposals::{self, State, TargetState};
use skillopt_store::{
    Connection, Fault, FixedClock, Paths, Store, calls, files, locks, projects, receipts, repair,
    stages, tasks,
};

use crate::sample::{Home, add, at, call, proposed, task, turn};

/// Not a test of its own: the process that is killed. Runs a whole small night, or goes on with it.
#[test]
#[ignore = "started by other tests"]
fn night_process() {
    let Ok(root) = std::env::var("TEST_ROOT") else {
        return;
    };
    let root = PathBuf::from(root);
    let paths = Paths::at(&root);
    let now = at("2026-11-29T03:15:00Z");
    let store = Store::open(&paths, Arc::new(FixedClock::new(now))).unwrap();
    adoption::recover(&store, &paths).unwrap();
    let project = store
        .commit("project", |tx| {
            projects::find_or_register(tx, &root.join("project"))
        })
        .unwrap()
        .id;
    let _lock = locks::project(&paths, &project, "sleep run", now).unwrap();

    let night = match store
        .read(|db| nights::open(db, &project, Kind::Run))
        .unwrap()
    {
        Some(open) => {
            store
                .commit("resume", |tx| nights::resume(tx, open.id))
                .unwrap();
            open.id
        }
        None => match store
            .read(|db| nights::list(db, Some(&project), 1))
            .unwrap()
            .pop()
        {
            Some(ended) => ended.id,
            None => store
                .commit("begin", |tx| {
                    nights::begin(tx, &project, Kind::Run, &json!({"seed": 42}))
                })
                .unwrap(),
        },
    };
    if store
        .read(|db| nights::get(db, night))
        .unwrap()
        .unwrap()
        .state
        != nights::State::Ended
    {
        run(&root, &paths, &store, &project, night);
    }
    adopt(&root, &paths, &store, &project, night);
}

fn run(root: &Path, paths: &Paths, store: &Store, project: &str, night: i64) {
    let asked = [call("a", 0, 0), call("b", 0, 0), call("a", 1, 0)];
    store
        .commit("plan", |tx| calls::plan(tx, night, "judge", &asked))
        .unwrap();
    for row in store.read(|db| calls::rows(db, night, "judge")).unwrap() {
        if row.state != calls::State::Planned {
            continue;
        }
        assert!(
            store
                .read(|db| attempts::answered(db, &row.key, Within::Nights(&[night])))
                .unwrap()
                .is_none()
        );
        let worst = Cost {
            tokens: 50,
            micros: 5,
        };
        let attempt = store
            .commit("start", |tx| attempts::start(tx, night, &row.key, worst))
            .unwrap();
        pay(root, &row.key);
        store
            .commit("answer", |tx| {
                let usage = Usage {
                    input_tokens: Some(8),
                    cached_tokens: None,
                    output_tokens: Some(2),
                };
                attempts::answer(
                    tx,
                    attempt,
                    &format!("re: {}", row.position),
                    usage,
                    Some(1),
                )?;
                calls::settle(
                    tx,
                    night,
                    "judge",
                    row.position,
                    row.ask,
                    calls::State::Fresh,
                    Some(attempt),
                )
            })
            .unwrap();
    }
    store
        .commit("finish", |tx| {
            stages::finish(tx, night, "judge", &json!({"scores": [1, 0, 1]}))
        })
        .unwrap();
    let live = root.join("project/CLAUDE.md");
    let draft = store
        .commit("reserve", |tx| {
            proposals::reserve(tx, night, &paths.staging(), &[])
        })
        .unwrap();
    let bundle: [(&str, &[u8]); 2] = [("report.md", b"# Night 1\n"), ("manifest.json", b"{}")];
    files::write_private_set(Path::new(&draft.dir), &bundle).unwrap();
    store
        .commit("end", |tx| {
            let targets = [
                proposed(
                    "claude:memory",
                    &live,
                    &sha256_hex(b"# Mine\n"),
                    "# Mine\nlearned\n",
                ),
                proposed(
                    "claude:skill",
                    &root.join("project/.claude/skills/x/SKILL.md"),
                    "",
                    "---\nname: x\n---\n",
                ),
            ];
            proposals::publish(tx, &draft.id, &targets)?;
            tasks::keep(
                tx,
                project,
                Some(night),
                &[task("t1", Split::Validation)],
                1,
            )?;
            tasks::mark_mined(tx, project, night, &[turn("s1", "u1")])?;
            nights::number(tx, night)?;
            nights::end(tx, night, Outcome::Proposed, "", &json!({"ok": true}))
        })
        .unwrap();
}

fn adopt(root: &Path, paths: &Paths, store: &Store, project: &str, night: i64) {
    let proposal = store
        .read(|db| proposals::of_night(db, night))
        .unwrap()
        .pop()
        .unwrap();
    if proposal.state != State::Pending {
        return;
    }
    let targets = store
        .read(|db| proposals::targets(db, &proposal.id))
        .unwrap();
    let changes = targets
        .iter()
        .map(|target| Change {
            target: target.target.clone(),
            live_path: target.live_path.clone(),
            real_path: PathBuf::from(&target.real_path),
            expected_sha256: target.live_sha256.clone(),
            after: store
                .read(|db| skillopt_store::blobs::get(db, &target.proposed_sha256))
                .unwrap(),
            mode: None,
            edits: vec![add("learned")],
            remove_dirs: Vec::new(),
        })
        .collect();
    let plan = Plan {
        kind: Way::Adopt,
        proposal: proposal.id.clone(),
        project: project.into(),
        changes,
        undoes: Vec::new(),
    };
    let before = targets
        .iter()
        .map(|target| root.join(&target.real_path))
        .collect::<Vec<_>>();
    assert_eq!(
        std::fs::read(&before[0]).unwrap(),
        b"# Mine\n",
        "as before until the commit point"
    );
    assert!(!before[1].exists());
    adoption::perform(store, paths, &plan, |tx, receipts| {
        for receipt in receipts {
            proposals::decide(tx, &proposal.id, &receipt.target, TargetState::Adopted, "")?;
        }
        Ok(())
    })
    .unwrap();
}

/// The provider's bill.
fn pay(root: &Path, key: &str) {
    let mut bill = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(root.join("bill.txt"))
        .unwrap();
    writeln!(bill, "{key}").unwrap();
}

/// Not a test of its own: takes back what the night process adopted, unless that was done.
#[test]
#[ignore = "started by other tests"]
fn rollback_process() {
    let Ok(root) = std::env::var("TEST_ROOT") else {
        return;
    };
    let paths = Paths::at(root.as_ref());
    let store = Store::open(
        &paths,
        Arc::new(FixedClock::new(at("2026-11-29T04:15:00Z"))),
    )
    .unwrap();
    adoption::recover(&store, &paths).unwrap();
    let standing = store
        .read(|db| receipts::standing(db, "20261129-031500"))
        .unwrap();
    if standing.is_empty() {
        return;
    }
    let live = Path::new(&root).join("project/CLAUDE.md");
    assert_eq!(
        std::fs::read(live).unwrap(),
        b"# Mine\nlearned\n",
        "as before until the commit point"
    );
    let plan = store
        .read(|db| adoption::rollback_plan(db, &standing))
        .unwrap();
    adoption::perform(&store, &paths, &plan, |_, _| Ok(())).unwrap();
}

/// Not a test of its own: goes on from the newest sound copy.
#[test]
#[ignore = "started by other tests"]
fn restore_process() {
    let Ok(root) = std::env::var("TEST_ROOT") else {
        return;
    };
    let paths = Paths::at(root.as_ref());
    let copy = repair::newest_sound_copy(&paths).unwrap();
    repair::replace(&paths, Some(&copy), at("2026-11-29T05:15:00Z")).unwrap();
}

#[test]
fn a_restore_that_dies_at_any_write_leaves_the_old_database_or_the_copy() {
    let damaged = || {
        let home = Home::new();
        let store = home.store();
        let project = home.project(&store);
        repair::keep_copy(&store, &home.paths).unwrap();
        drop(store);
        let log = home.paths.data.join("skillopt.db-wal");
        files::write_private(
            &home.paths.database(),
            b"damaged, and long enough to say so",
        )
        .unwrap();
        files::write_private(&log, b"its log").unwrap();
        (home, project)
    };
    let restore = |home: &Home, variables: &[(&str, &str)]| {
        named_process("killing::restore_process", home, variables)
    };
    let (home, _) = damaged();
    let counter = home.root.join("writes");
    let count = counter.to_str().unwrap();
    assert!(restore(&home, &[("SKILLOPT_COUNT_WRITES", count)]));
    let writes: u32 = std::fs::read_to_string(&counter).unwrap().parse().unwrap();
    assert!(writes >= 4, "{writes}");

    let (mut untouched, mut finished) = (0, 0);
    for write in 1..=writes {
        for moment in ["before", "after"] {
            let step = format!("{write}:{moment}");
            let (home, project) = damaged();
            assert!(!restore(&home, &[("SKILLOPT_KILL_AT_WRITE", &step)]));
            match Store::open(&home.paths, home.clock.clone()) {
                Ok(store) => {
                    finished += 1;
                    let found = store.read(projects::list).unwrap();
                    assert_eq!(found.len(), 1, "{step}: it is the copy, and no empty one");
                    assert_eq!(found[0].id, project, "{step}");
                }
                Err(problem) => {
                    untouched += 1;
                    assert_eq!(problem.code, "database_corrupt", "{step}");
                    let bytes = std::fs::read(home.paths.database()).unwrap();
                    assert!(bytes.starts_with(b"damaged"), "{step}");
                    assert!(restore(&home, &[]), "{step}: it can be done again");
                    let store = home.store();
                    assert_eq!(store.read(projects::list).unwrap().len(), 1);
                }
            }
            let kept = names(&home.paths.copies())
                .into_iter()
                .filter(|name| name.starts_with("damaged-"))
                .any(|name| {
                    let bytes = std::fs::read(home.paths.copies().join(name).join("skillopt.db"));
                    bytes.is_ok_and(|bytes| bytes.starts_with(b"damaged"))
                });
            assert!(kept, "{step}: what was there is kept");
        }
    }
    assert!(untouched > 0 && finished > 0, "{untouched} {finished}");
}

/// Runs the night process; whether it came to its end.
fn process(home: &Home, variables: &[(&str, &str)]) -> bool {
    named_process("killing::night_process", home, variables)
}

fn named_process(name: &str, home: &Home, variables: &[(&str, &str)]) -> bool {
    Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--ignored"])
        .env("TEST_ROOT", &home.root)
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

fn start() -> Home {
    let home = Home::new();
    skillopt_store::files::atomic_replace(
        &home.root.join("project/CLAUDE.md"),
        b"# Mine\n",
        skillopt_store::files::NewFile::Document,
    )
    .unwrap();
    home
}

/// Everything that must be the same however often the process died.
fn outcome(home: &Home) -> Value {
    let store = home.store();
    let dump = |db: &Connection| -> Result<Value, Fault> {
        let night = nights::list(db, None, 9)?;
        assert_eq!(night.len(), 1);
        let rows: Vec<Value> = calls::rows(db, night[0].id, "judge")?
            .iter()
            .map(|row| {
                let text = attempts::reply(db, row.attempt.unwrap()).unwrap();
                json!([row.position, row.ask, row.key, row.state, text])
            })
            .collect();
        let proposal = proposals::of_night(db, night[0].id)?;
        let targets = proposals::targets(db, &proposal[0].id)?;
        let receipts = receipts::list(db, None, 9)?;
        Ok(json!({
            "night": [night[0].number, night[0].state, night[0].outcome, night[0].report, night[0].pins],
            "rows": rows,
            "stage": stages::output::<Value>(db, night[0].id, "judge")?,
            "proposals": proposal.iter().map(|found| json!([found.id, found.state])).collect::<Vec<_>>(),
            "targets": targets.iter().map(|target| json!([target.target, target.state])).collect::<Vec<_>>(),
            "tasks": tasks::archive(db, &night[0].project, 9)?,
            "turns": tasks::mined_turns(db, &night[0].project, true)?,
            "receipts": receipts
                .iter()
                .map(|receipt| json!([receipt.target, receipt.sha256_before, receipt.sha256_after]))
                .collect::<Vec<_>>(),
            "unfinished": adoption::unfinished(db)?,
        }))
    };
    let mut found = store.read(dump).unwrap();
    let file = |name: &str| std::fs::read_to_string(home.root.join(name)).unwrap();
    found["files"] = json!([
        file("project/CLAUDE.md"),
        file("project/.claude/skills/x/SKILL.md")
    ]);
    found["names"] = json!({
        "project": names(&home.root.join("project")),
        "bundle": names(&home.paths.staging().join("20261129-031500")),
        "backups": names(&home.paths.backups())
            .iter()
            .map(|adoption| names(&home.paths.backups().join(adoption)))
            .collect::<Vec<_>>()
            .pop(),
    });
    found
}

/// The names in a folder, hidden ones as well; none when it does not exist.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// No backup that was begun has left anything half written.
fn assert_no_temporaries(folder: &Path, context: &str) {
    for name in names(folder) {
        assert!(!name.ends_with(".tmp"), "{context}: {name} in {folder:?}");
        if folder.join(&name).is_dir() {
            assert_no_temporaries(&folder.join(&name), context);
        }
    }
}

/// No answered call was paid for twice; a call whose fate is unknown may have been.
fn assert_bill(home: &Home, context: &str) {
    let store = home.store();
    let bill = std::fs::read_to_string(home.root.join("bill.txt")).unwrap();
    let tries = store
        .read(|db| attempts::of_night(db, nights::list(db, None, 1)?[0].id))
        .unwrap();
    for key in [
        call("a", 0, 0).key(),
        call("b", 0, 0).key(),
        call("a", 1, 0).key(),
    ] {
        let paid = bill.lines().filter(|line| *line == key).count();
        let state = |state: attempts::State| {
            tries
                .iter()
                .filter(|try_| try_.key == key && try_.state == state)
                .count()
        };
        assert_eq!(state(attempts::State::Answered), 1, "{context}");
        assert_eq!(state(attempts::State::Started), 0, "{context}");
        assert!(
            paid <= 1 + state(attempts::State::Unknown),
            "{context}: {key} was paid for {paid} times"
        );
    }
    let spend = store
        .read(|db| attempts::spend(db, tries[0].night))
        .unwrap();
    assert_eq!(spend.tokens, 30 + 50 * spend.unknown, "{context}");
}

/// How many steps of a family an undisturbed night has.
fn count(variable: &str) -> u64 {
    let home = start();
    let file = home.root.join("count.txt");
    assert!(process(&home, &[(variable, file.to_str().unwrap())]));
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

fn killed_everywhere(count_variable: &str, kill_variable: &str) {
    let undisturbed = start();
    assert!(process(&undisturbed, &[]));
    let expected = outcome(&undisturbed);
    assert!(process(&undisturbed, &[]), "again: nothing is left to do");
    assert_eq!(outcome(&undisturbed), expected);

    let steps = count(count_variable);
    assert!(steps >= 10, "{steps}");
    for n in 1..=steps {
        for moment in ["before", "after"] {
            let context = format!("{kill_variable}={n}:{moment}");
            let home = start();
            assert!(
                !process(&home, &[(kill_variable, &format!("{n}:{moment}"))]),
                "{context} did not kill"
            );
            assert!(process(&home, &[]), "{context}: the next process failed");
            assert_eq!(outcome(&home), expected, "{context}");
            assert_no_temporaries(&home.paths.data, &context);
            assert_bill(&home, &context);
        }
    }
}

#[test]
fn a_night_killed_at_any_commit_goes_on_to_the_same_end() {
    killed_everywhere("SKILLOPT_COUNT_COMMITS", "SKILLOPT_KILL_AT_COMMIT");
}

#[test]
fn a_night_killed_at_any_write_goes_on_to_the_same_end() {
    killed_everywhere("SKILLOPT_COUNT_WRITES", "SKILLOPT_KILL_AT_WRITE");
}

#[test]
fn a_rollback_killed_anywhere_goes_on_to_the_same_end() {
    let rollback = |home: &Home, variables: &[(&str, &str)]| {
        named_process("killing::rollback_process", home, variables)
    };
    let adopted = || {
        let home = start();
        assert!(process(&home, &[]));
        home
    };
    let counted = adopted();
    let files = ["commits", "writes"].map(|name| counted.root.join(name));
    let paths = files.each_ref().map(|path| path.to_str().unwrap());
    assert!(rollback(
        &counted,
        &[
            ("SKILLOPT_COUNT_COMMITS", paths[0]),
            ("SKILLOPT_COUNT_WRITES", paths[1])
        ]
    ));
    let counts = files.each_ref().map(|path| {
        std::fs::read_to_string(path)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    });
    assert!(counts[0] >= 2 && counts[1] >= 6, "{counts:?}");

    for (variable, steps) in [
        ("SKILLOPT_KILL_AT_COMMIT", counts[0]),
        ("SKILLOPT_KILL_AT_WRITE", counts[1]),
    ] {
        for n in 1..=steps {
            for moment in ["before", "after"] {
                let context = format!("{variable}={n}:{moment}");
                let home = adopted();
                assert!(
                    !rollback(&home, &[(variable, &format!("{n}:{moment}"))]),
                    "{context} did not kill"
                );
                assert!(rollback(&home, &[]), "{context}: the next process failed");
                let memory = std::fs::read(home.root.join("project/CLAUDE.md")).unwrap();
                assert_eq!(memory, b"# Mine\n", "{context}");
                let names = std::fs::read_dir(home.root.join("project")).unwrap();
                assert!(
                    names
                        .map(|name| name.unwrap().file_name())
                        .all(|name| name == "CLAUDE.md" || name == ".claude")
                );
                assert!(
                    !home.root.join("project/.claude/skills/x/SKILL.md").exists(),
                    "{context}"
                );
                let store = home.store();
                assert_eq!(
                    store
                        .read(|db| receipts::standing(db, "20261129-031500"))
                        .unwrap(),
                    [],
                    "{context}"
                );
                assert_eq!(store.read(adoption::unfinished).unwrap(), [], "{context}");
            }
        }
    }
}

#[test]
fn what_a_person_wrote_after_the_kill_is_kept() {
    // The kill comes after the last document is written and before the adoption is committed.
    let home = start();
    let log = home.root.join("log.txt");
    assert!(process(
        &home,
        &[("SKILLOPT_LOG_STEPS", log.to_str().unwrap())]
    ));
    let steps = std::fs::read_to_string(&log).unwrap();
    let committed = steps
        .lines()
        .find(|line| line.ends_with("adoption committed"))
        .unwrap();
    let n = committed.split(' ').nth(1).unwrap();

    let home = start();
    assert!(!process(
        &home,
        &[("SKILLOPT_KILL_AT_COMMIT", &format!("{n}:before"))]
    ));
    let memory = home.root.join("project/CLAUDE.md");
    assert_eq!(std::fs::read(&memory).unwrap(), b"# Mine\nlearned\n");
    skillopt_store::files::atomic_replace(
        &memory,
        b"mine again",
        skillopt_store::files::NewFile::Document,
    )
    .unwrap();

    let store = home.store();
    let recovered = adoption::recover(&store, &home.paths).unwrap();
    assert_eq!(recovered.len(), 1);
    assert_eq!(recovered[0].left, std::slice::from_ref(&memory));
    assert_eq!(std::fs::read(&memory).unwrap(), b"mine again");
    assert!(
        !home.root.join("project/.claude").exists(),
        "the other document is as before"
    );
    let before = store
        .read(|db| skillopt_store::blobs::get(db, &sha256_hex(b"# Mine\n")))
        .unwrap();
    assert_eq!(before, Some(b"# Mine\n".to_vec()));
    assert_eq!(adoption::recover(&store, &home.paths).unwrap(), []);
}
