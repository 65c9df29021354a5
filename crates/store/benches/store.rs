//! What the store costs: opening it, committing attempts, and looking over unchanged transcripts.

use std::path::PathBuf;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;
use skillopt_core::agent::Agent;
use skillopt_core::call::{BackendId, Call, Message, Params, Role, Subject};
use skillopt_store::attempts::{self, Cost, Usage};
use skillopt_store::{Paths, Store, SystemClock, calls, files, index, nights, projects};

fn call(n: u32) -> Call {
    Call {
        backend: BackendId {
            kind: "openai_compatible".into(),
            address: "http://localhost:1".into(),
            model: "m".into(),
            version: String::new(),
            system_mode: "system_role".into(),
        },
        subject: Subject::Judge {
            intent: "q".into(),
            rubric: "r".into(),
            response: "x".into(),
        },
        messages: vec![Message {
            role: Role::User,
            text: "a question of some length. ".repeat(100),
        }],
        params: Params {
            max_tokens: 100,
            temperature: None,
            schema: None,
        },
        sample: n,
        ask: 0,
        rounds: Vec::new(),
    }
}

fn open(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let paths = Paths::at(dir.path());
    let open = || Store::open(&paths, Arc::new(SystemClock)).expect("it opens");
    drop(open());
    criterion.bench_function("open an existing store", |bencher| bencher.iter(open));
}

fn attempt(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let paths = Paths::at(dir.path());
    let store = Store::open(&paths, Arc::new(SystemClock)).expect("it opens");
    let project = store
        .commit("project", |tx| projects::find_or_register(tx, dir.path()))
        .expect("a project");
    let night = store
        .commit("night", |tx| {
            nights::begin(tx, &project.id, nights::Kind::Run, &json!({}))
        })
        .expect("a night");
    let asked: Vec<Call> = (0..200).map(call).collect();
    store
        .commit("plan", |tx| calls::plan(tx, night, "judge", &asked))
        .expect("a stage");
    let keys: Vec<String> = asked.iter().map(Call::key).collect();
    let mut n = 0;
    criterion.bench_function(
        "start, answer and settle one attempt (two commits)",
        |bencher| {
            bencher.iter(|| {
                let key = &keys[n % keys.len()];
                let position = u32::try_from(n % keys.len()).expect("200 positions");
                n += 1;
                let attempt = store
                    .commit("start", |tx| {
                        attempts::start(
                            tx,
                            night,
                            key,
                            Cost {
                                tokens: 10,
                                micros: 1,
                            },
                        )
                    })
                    .expect("a row");
                store
                    .commit("answer", |tx| {
                        attempts::answer(
                            tx,
                            attempt,
                            &format!("reply {n}"),
                            Usage::default(),
                            Some(1),
                        )?;
                        calls::settle(
                            tx,
                            night,
                            "judge",
                            position,
                            0,
                            calls::State::Fresh,
                            Some(attempt),
                        )
                    })
                    .expect("a row");
            });
        },
    );
}

fn unchanged(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let paths = Paths::at(dir.path());
    let store = Store::open(&paths, Arc::new(SystemClock)).expect("it opens");
    let readings: Vec<index::Reading> = (0..3000_u64)
        .map(|n| index::Reading {
            path: PathBuf::from(format!(
                "/home/u/.claude/projects/-home-u-work/{n:036}.jsonl"
            )),
            stamp: index::Stamp {
                dev: 1,
                ino: n,
                size: 100_000,
                mtime_ns: 1_000_000,
                reader_version: 1,
                settings: "0".repeat(64).into(),
            },
            facts: r#"{"meta": 3, "sidechain": 1}"#.to_owned(),
            digest: vec![b'x'; 4000],
        })
        .collect();
    for chunk in readings.chunks(500) {
        store
            .commit("index", |tx| index::put(tx, Agent::Claude, chunk))
            .expect("rows");
    }
    criterion.bench_function("look up 3,000 unchanged transcripts", |bencher| {
        bencher.iter(|| {
            store
                .read(|db| index::entries(db, Agent::Claude))
                .expect("entries")
                .len()
        });
    });
}

fn replace(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("CLAUDE.md");
    criterion.bench_function("replace a document of 8 KiB", |bencher| {
        bencher.iter(|| {
            files::atomic_replace(&path, &[b'x'; 8192], files::NewFile::Document).expect("written");
        });
    });
}

criterion_group!(benches, open, attempt, unchanged, replace);
criterion_main!(benches);
