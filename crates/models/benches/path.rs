//! What the path costs besides the model: planning and answering stages with a simulation, and
//! reading replies nobody should have written.

use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use skillopt_core::call::Subject;
use skillopt_core::reply::{Expect, parse_bytes};
use skillopt_core::task::Task;
use skillopt_models::mock::Mock;
use skillopt_models::{Ask, CallPath, CancelToken, PathOptions, Roles, Templates};
use skillopt_store::{Paths, Store, SystemClock, nights, projects};

/// The attempts of a night's stage under documents of a usual size (8 KB and 4 KB).
fn attempts(tasks: u32, round: u32) -> Vec<Ask> {
    let line = "- Keep replies short, say what was done, and name the files that were touched.\n";
    let skill = format!("{}round {round}", line.repeat(100));
    let memory = line.repeat(50);
    (0..tasks)
        .map(|n| Ask {
            subject: Subject::Attempt {
                task: Box::new(Task::new(
                    format!("t{n}"),
                    "/w/app",
                    format!("Write the summary of change {n} for the weekly report, with its reasons and its risks"),
                )),
                skill: skill.clone(),
                memory: memory.clone(),
            },
            sample: 0,
        })
        .collect()
}

/// A night's four stages of attempts over `tasks` tasks, on a database on disk.
fn night(tasks: u32, runtime: &tokio::runtime::Runtime) {
    let root = tempfile::tempdir().expect("a folder for the night");
    let store =
        Arc::new(Store::open(&Paths::at(root.path()), Arc::new(SystemClock)).expect("a database"));
    let night = store
        .commit("begin", |tx| {
            let project = projects::find_or_register(tx, root.path())?;
            nights::begin(tx, &project.id, nights::Kind::Run, &serde_json::json!({}))
        })
        .expect("a night");
    let roles = Roles::new(Arc::new(Mock), Arc::new(Mock));
    let path = CallPath::new(
        store,
        roles,
        Templates::default(),
        PathOptions::default(),
        CancelToken::new(),
        Arc::new(|_| {}),
    );
    for round in 0..4 {
        let stage = format!("s{round}");
        // Half of the tasks are validation, half are training.
        path.plan(night, &stage, attempts(tasks / 2, round / 2))
            .expect("planned");
        let results = runtime
            .block_on(path.answer(night, &stage))
            .expect("answered");
        assert!(results.iter().all(Result::is_ok));
    }
}

fn benches(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    let mut group = c.benchmark_group("mock night");
    group.sample_size(10);
    for tasks in [40, 400] {
        group.bench_function(format!("{tasks} tasks"), |b| {
            b.iter_batched(|| (), |()| night(tasks, &runtime), BatchSize::PerIteration);
        });
    }
    group.finish();
    let mut group = c.benchmark_group("parse 1 MB");
    group.sample_size(10);
    for piece in ["{", "[", "{\"a\":", "{\"a\":1}"] {
        let text = piece.repeat((1 << 20) / piece.len());
        group.bench_function(piece, |b| {
            b.iter(|| parse_bytes(&Expect::Score, text.as_bytes()));
        });
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
