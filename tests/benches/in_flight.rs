//! Many calls at once: throughput with 64 in flight against a server that takes 50 ms, the memory that
//! takes, and what the path adds to a call besides the backend. Prints; asserts nothing about time.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use skillopt_core::call::{Side, Subject};
use skillopt_core::task::Task;
use skillopt_models::path::{Ask, CallPath, PathOptions};
use skillopt_models::{Backend, CancelToken, Keyring, Prices, Roles, Surroundings, Templates};
use skillopt_settings::Settings;
use skillopt_store::{Paths, Store, SystemClock, nights, projects};
use skillopt_tests::stub_server::{Behaviour, StubServer};

const IN_FLIGHT: usize = 64;
const CALLS: usize = 64 * 20;

fn settings(server: &StubServer, concurrency: u32) -> Settings {
    Settings {
        backend: "openai_compatible".to_owned(),
        endpoint: server.url(),
        model: "stub-model".to_owned(),
        max_calls_per_night: 1_000_000,
        max_tokens_per_night: 1_000_000_000,
        concurrency,
        ..Settings::default()
    }
}

async fn backend(settings: &Settings) -> Arc<dyn Backend> {
    let environment = std::collections::BTreeMap::new();
    let cancel = CancelToken::new();
    let around = Surroundings {
        environment: &environment,
        keyring: &Keyring::nowhere(),
        handoff: "/nowhere".into(),
        agents: None,
        clock: Arc::new(SystemClock),
        cancel: &cancel,
    };
    Roles::one_from_settings(settings, Side::Target, &around)
        .await
        .expect("a backend")
}

/// How long `calls` attempts take by the path, with a database on disk.
async fn by_the_path(settings: &Settings, calls: usize) -> Duration {
    let root = tempfile::tempdir().expect("a folder");
    let store =
        Arc::new(Store::open(&Paths::at(root.path()), Arc::new(SystemClock)).expect("a database"));
    let night = store
        .commit("begin", |tx| {
            let project = projects::find_or_register(tx, Path::new("/"))?;
            nights::begin(tx, &project.id, nights::Kind::Run, &serde_json::json!({}))
        })
        .expect("a night");
    let backend = backend(settings).await;
    let path = CallPath::new(
        store,
        Roles::new(Arc::clone(&backend), backend),
        Templates::default(),
        PathOptions::from_settings(settings, Prices::default()),
        CancelToken::new(),
        Arc::new(|_| {}),
    );
    path.plan(night, "s", asks(calls)).expect("planned");
    let begin = Instant::now();
    let results = path.answer(night, "s").await.expect("answered");
    let took = begin.elapsed();
    assert!(results.iter().all(Result::is_ok));
    took
}

fn asks(calls: usize) -> Vec<Ask> {
    (0..calls)
        .map(|number| Ask {
            subject: Subject::Attempt {
                task: Box::new(Task::new(
                    format!("t{number}"),
                    "/",
                    format!("Write note number {number}"),
                )),
                skill: "- Keep replies short.\n".repeat(100),
                memory: String::new(),
            },
            sample: 0,
        })
        .collect()
}

/// The most memory this process has had, server included, in MB; 0 where that cannot be told.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let words = line.and_then(|line| line.split_whitespace().nth(1));
    words.and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let delay = Duration::from_millis(50);
    let server = StubServer::start();
    server.standing(Behaviour::Answer.after(delay));
    let in_flight = u32::try_from(IN_FLIGHT).unwrap_or(u32::MAX);
    let took = runtime.block_on(by_the_path(&settings(&server, in_flight), CALLS));
    let ideal = delay * u32::try_from(CALLS.div_ceil(IN_FLIGHT)).unwrap_or(u32::MAX);
    println!(
        "| {CALLS} calls, {IN_FLIGHT} in flight, 50 ms each | {took:.2?}, {:.0} % of the ideal throughput, {} MB peak with the server in the same process |",
        100.0 * ideal.as_secs_f64() / took.as_secs_f64(),
        peak()
    );

    // One after the other, without a delay: what the path adds to asking the backend itself.
    server.standing(Behaviour::Answer);
    let settings = settings(&server, 1);
    let calls = 300;
    let by_path = runtime.block_on(by_the_path(&settings, calls));
    let alone = runtime.block_on(async {
        let backend = backend(&settings).await;
        let root = tempfile::tempdir().expect("a folder");
        let store = Store::open(&Paths::at(root.path()), Arc::new(SystemClock));
        let path = CallPath::new(
            Arc::new(store.expect("a database")),
            Roles::new(Arc::clone(&backend), Arc::clone(&backend)),
            Templates::default(),
            PathOptions::default(),
            CancelToken::new(),
            Arc::new(|_| {}),
        );
        let rendered: Vec<_> = asks(calls)
            .into_iter()
            .map(|ask| path.render(ask))
            .collect();
        let begin = Instant::now();
        for call in rendered {
            backend
                .ask(&call, &CancelToken::new())
                .await
                .expect("an answer");
        }
        begin.elapsed()
    });
    println!(
        "| what the path adds to one call ({calls} one after the other) | {:.2} ms |",
        (by_path.as_secs_f64() - alone.as_secs_f64()) * 1000.0 / calls as f64
    );
}
