//! Every way in which a server fails, for every backend over HTTP, and a program, for every agent: what the user is told, how often it
//! is tried, and whether it counts as spent. `docs/failures.md` is this table; `cargo xtask docs` writes
//! it again.

#![expect(
    clippy::unwrap_used,
    reason = "a test may stop where something is missing"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use skillopt_core::Retry as Later;
use skillopt_core::call::{Side, Subject};
use skillopt_core::task::Task;
use skillopt_models::path::{Ask, CallPath, PathOptions};
use skillopt_models::retry::Retry;
use skillopt_models::{
    CallError, CancelToken, Keyring, Limits, Price, Prices, Roles, Scope, Surroundings, Templates,
};
use skillopt_settings::Settings;
use skillopt_store::{FixedClock, Store, attempts, nights, projects};
use skillopt_tests::home::Home;
use skillopt_tests::stub_server::StubServer;

#[cfg(unix)]
#[path = "failures/agents.rs"]
mod agents;
#[path = "shared/failing.rs"]
mod failing;
#[path = "shared/unvouched.rs"]
mod unvouched;

use failing::{Row, Serves, rows};
use unvouched::Unvouched;

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");
const KEY: &str = "sk-canary-0123456789";

/// The backends: name, protocol, and what is set besides address and key.
const BACKENDS: [(&str, &str); 6] = [
    ("openai_compatible", "chat"),
    ("openai_compatible", "responses"),
    ("anthropic", "auto"),
    ("azure_openai", "auto"),
    ("qwen", "auto"),
    ("minimax", "auto"),
];

/// What came of one call.
struct Seen {
    outcome: String,
    told: String,
    guidance: String,
    later: Option<Later>,
    tries: usize,
    /// What the night's rows say was spent, in millionths.
    spent: u64,
    /// What was reserved for all its tries.
    reserved: u64,
}

impl Seen {
    /// A try counts as reserved when nobody can know what was charged for it, and as used when it was
    /// answered.
    fn counted_as<S>(&self, row: &Row<S>, at: &str) {
        let Self {
            spent, reserved, ..
        } = *self;
        match (row.outcome, row.counts) {
            ("answered", _) => {
                assert!(0 < spent && spent < reserved, "{at}: {spent} of {reserved}");
            }
            (_, true) => assert_eq!(spent, reserved, "{at}"),
            (_, false) => assert_eq!(spent, 0, "{at}"),
        }
        assert!(
            reserved >= row.tries as u64,
            "{at}: every try reserves something"
        );
    }
}

fn settings(backend: &str, api: &str, endpoint: &str, patience: u32) -> Settings {
    Settings {
        backend: backend.to_owned(),
        endpoint: endpoint.to_owned(),
        model: "stub-model".to_owned(),
        api_key_env: "THE_KEY".to_owned(),
        api: match api {
            "responses" => skillopt_settings::Api::Responses,
            "chat" => skillopt_settings::Api::Chat,
            _ => skillopt_settings::Api::Auto,
        },
        first_byte_seconds: patience,
        ..Settings::default()
    }
}

/// Puts one question to the backend the settings make, by the path every call takes. `asked` counts the
/// requests, where somebody is there to do so.
async fn ask(settings: &Settings, asked: impl Fn() -> Option<usize>) -> Seen {
    let clock = Arc::new(FixedClock::new("2026-11-29T18:25:00Z".parse().unwrap()));
    let environment: BTreeMap<String, String> = [("THE_KEY".to_owned(), KEY.to_owned())].into();
    let cancel = CancelToken::new();
    let around = Surroundings {
        environment: &environment,
        keyring: &Keyring::nowhere(),
        handoff: "/nowhere".into(),
        agents: None,
        clock: clock.clone(),
        cancel: &cancel,
    };
    let backend = Roles::one_from_settings(settings, Side::Target, &around)
        .await
        .unwrap();
    let store = Arc::new(Store::in_memory(clock).unwrap());
    let night = store
        .commit("begin", |tx| {
            let project = projects::find_or_register(tx, Path::new("/"))?;
            nights::begin(tx, &project.id, nights::Kind::Run, &serde_json::json!({}))
        })
        .unwrap();
    let options = PathOptions {
        limits: Limits::new(1),
        retry: Retry {
            first_wait: Duration::from_millis(1),
            ..Retry::default()
        },
        ..PathOptions::from_settings(
            settings,
            Prices::default().with_given(Some(Price::flat(1.0, 1.0))),
        )
    };
    let path = CallPath::new(
        Arc::clone(&store),
        Roles::new(Arc::clone(&backend), backend),
        Templates::default(),
        PathOptions {
            prices: Prices::default().with_given(Some(Price::flat(1.0, 1.0))),
            ..options
        },
        cancel,
        Arc::new(|_| {}),
    );
    let ask = Ask {
        subject: Subject::Attempt {
            task: Box::new(Task::new("t", "/", "What is 2 + 2?")),
            skill: String::new(),
            memory: String::new(),
        },
        sample: 0,
    };
    path.plan(night, "s", vec![ask]).unwrap();
    let result = path.answer(night, "s").await.unwrap().pop().unwrap();
    let (spent, tries) = store
        .read(|db| Ok((attempts::spend(db, night)?, attempts::of_night(db, night)?)))
        .unwrap();
    let (outcome, told, guidance, later) = match result {
        Ok(_) => ("answered".to_owned(), String::new(), String::new(), None),
        Err(error) => {
            let problem = error.problem();
            let all = format!("{error:?} {problem:?}");
            assert!(!all.contains("canary"), "the key is in: {all}");
            assert!(!matches!(error, CallError::Cancelled));
            // Whether others that ask the same provider are spared the same.
            let of_provider = [
                "sign_in_needed",
                "quota_exhausted",
                "rate_limited",
                "backend_misconfigured",
            ];
            let scope = if of_provider.contains(&problem.code.as_ref()) {
                Scope::Provider
            } else {
                Scope::Call
            };
            assert_eq!(error.scope(), scope, "{error:?}");
            (
                problem.code.into_owned(),
                problem.message,
                problem.guidance,
                Some(problem.retry),
            )
        }
    };
    Seen {
        outcome,
        told,
        guidance,
        later,
        tries: asked().unwrap_or(tries.len()),
        spent: spent.cost_micros,
        reserved: tries.iter().map(|tried| tried.reserved.micros).sum(),
    }
}

/// The sentence with what differs between runs and machines taken out.
fn plain(told: &str, backend: &str, url: &str, elsewhere: &StubServer) -> String {
    let host = url.split('/').nth(2).unwrap();
    // Each system has its own words for what is wrong with a certificate.
    let told = match told.split_once("is not accepted (") {
        Some((before, _)) => format!("{before}is not accepted (the reason)."),
        None => told.to_owned(),
    };
    told.replace(&format!("{backend}:{host}"), "BACKEND:HOST")
        .replace(host, "HOST")
        .replace(&elsewhere.address().to_string(), "OTHER")
        .replace('|', "\\|")
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_failures_is_what_happens() {
    let elsewhere = StubServer::start();
    let mut page = String::from(
        "# Failures\n\n\
         What a person is told when a server does not answer as it should. It is the same for every backend over HTTP \
         (openai_compatible with Chat Completions and with Responses, anthropic, azure_openai, qwen, minimax); where one \
         says something else, it is named. A failure is never an answer: nothing is scored, no input counts as read, and \
         what was answered before is kept. *Tries* is how many requests are made for one question. Each of them \
         counts as a call. *Counts* says whether what was reserved for it in tokens and money counts as spent, because \
         nobody can know whether the provider charges for it.\n\n\
         A failure that may pass by itself (*later*: temporary) ends the night as deferred and it goes on later; one that \
         needs somebody first is permanent. A provider that says until when it allows no more is not asked before.\n\n\
         [Programs of agents](#programs-of-agents) have a table of their own. This page is written by `cargo xtask docs`.\n\n\
         | Failure | Code | Tries | Counts | Later | What is told |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for row in rows(&elsewhere) {
        // A busy computer must not make a slow server of one that only fails.
        let patience = if row.outcome == "model_timed_out" {
            1
        } else {
            60
        };
        let mut asking = tokio::task::JoinSet::new();
        for (place, (backend, api)) in BACKENDS.into_iter().enumerate() {
            let serves = row.serves.clone();
            asking.spawn(async move {
                let (url, seen) = match serves {
                    Serves::Stub(behaviour) => {
                        let server = StubServer::start();
                        server.require_key(KEY).standing(behaviour);
                        let settings = settings(backend, api, &server.url(), patience);
                        let seen = ask(&settings, || Some(server.asked().len())).await;
                        (server.url(), seen)
                    }
                    Serves::Unvouched => {
                        let server = Unvouched::start().await;
                        let settings = settings(backend, api, &server.url(), patience);
                        let seen = ask(&settings, || Some(server.connections())).await;
                        assert_eq!(server.accepted(), 0, "neither key nor prompt is sent");
                        (server.url(), seen)
                    }
                    Serves::Nobody { url, .. } => {
                        let settings = settings(backend, api, &url, patience);
                        let seen = ask(&settings, || None).await;
                        (url, seen)
                    }
                };
                (place, backend, api, url, seen)
            });
        }
        let mut all: Vec<_> = asking.join_all().await;
        all.sort_by_key(|(place, ..)| *place);
        let mut said: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for (_, backend, api, url, seen) in &all {
            let name = row.name;
            let told = plain(&seen.told, backend, url, &elsewhere);
            let at = format!("{name}: {backend} {api}: {told}");
            assert_eq!(seen.outcome, row.outcome, "{at}");
            assert_eq!(seen.tries, row.tries, "{at}");
            seen.counted_as(&row, &at);
            let label = if *api == "responses" {
                format!("{backend} (Responses)")
            } else {
                (*backend).to_owned()
            };
            said.entry((told, seen.guidance.clone()))
                .or_default()
                .push(label);
        }
        write_row(&mut page, &row, &all[0].4, said);
    }
    assert_eq!(elsewhere.requests().len(), 0, "a redirect was followed");
    agents::table(&mut page).await;

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/failures.md");
    if std::env::var_os("SKILLOPT_WRITE_PAGES").is_some() {
        let mut file = std::fs::File::create(&path).unwrap();
        std::io::Write::write_all(&mut file, page.as_bytes()).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, page, "run `cargo xtask docs`");
}

/// How many rows a table of the night's database has.
fn count(home: &Home, from: &str) -> i64 {
    let database = home.data().join("skillopt.db");
    rusqlite::Connection::open(database)
        .unwrap()
        .query_row(&format!("SELECT count(*) FROM {from}"), [], |row| {
            row.get(0)
        })
        .unwrap()
}

/// A night of a real project with `backend` against `url`, as the program makes it, where `asked` counts
/// the requests; and the night after it.
fn a_night_that_fails(
    row: &Row,
    (backend, api): (&str, &str),
    url: &str,
    asked: impl Fn() -> Option<usize>,
) {
    let name = format!("{}: {backend} {api}", row.name);
    let home = Home::with_sample(PROGRAM);
    let host = url.split('/').nth(2).unwrap();
    let agreed = format!("--accept-terms={backend}:{host}");
    let (backend, api) = (format!("--backend={backend}"), format!("--api={api}"));
    // A busy computer must not make a slow server of one that only fails.
    let patience = if row.outcome == "model_timed_out" {
        "--first-byte-seconds=1"
    } else {
        "--first-byte-seconds=60"
    };
    let words = [
        "sleep",
        "run",
        &backend,
        &api,
        "--model=stub-model",
        "--api-key-env=THE_KEY",
        "--model-miner=false",
        patience,
        "--input-price=1",
        "--output-price=1",
        // Known, so that nobody is asked for it: every request that is counted is a question.
        "--context-tokens=100000",
        &agreed,
        "--json",
        "--endpoint",
        url,
    ];
    let ran = home.run_with(&words, &[("THE_KEY", KEY)]);
    let json = ran.json();
    let outcome = json["outcome"].as_str().unwrap();
    assert!(["deferred", "failed"].contains(&outcome), "{name}: {json}");
    assert_eq!(
        ran.code,
        if outcome == "deferred" { 75 } else { 1 },
        "{name}: {json}"
    );
    let problem = |field: &str| json["problem"][field].as_str().unwrap_or_default();
    assert!(!problem("code").is_empty(), "{name}: {json}");
    assert!(!problem("message").is_empty(), "{name}: {json}");
    assert!(!problem("guidance").is_empty(), "{name}: {json}");
    if row.outcome == "quota_exhausted" {
        let until = json["until"].as_str().and_then(|at| at.parse().ok());
        assert!(
            until.is_some_and(|at: jiff::Timestamp| at > jiff::Timestamp::now()),
            "{name}: the next attempt is planned: {json}"
        );
    }
    let spent = home.run(&["spend", "--json"]).json()["total"].clone();
    let calls = spent["calls"].as_u64().unwrap();
    match asked() {
        Some(asked) => assert_eq!(calls, asked as u64, "{name}: {spent}"),
        None => assert!(calls >= row.tries as u64, "{name}: {spent}"),
    }
    let cost = spent["cost_micros"].as_u64();
    assert_eq!(cost > Some(0), row.counts, "{name}: {spent}");
    nothing_happened(&home, &name);
}

/// Nothing was scored or used up, so that the next night finds everything.
fn nothing_happened(home: &Home, name: &str) {
    assert!(!home.skill().exists(), "{name}");
    for from in [
        "mined_turn",
        "task",
        "cluster_text",
        "proposal",
        "attempt WHERE state = 'answered'",
        "stage WHERE name LIKE '%/scored' AND output IS NOT NULL",
    ] {
        assert_eq!(count(home, from), 0, "{name}: {from}");
    }
    let next = home.run(&["sleep", "run", "--json"]).json();
    assert_eq!(
        next["outcome"], "proposed",
        "{name}: nothing was lost: {next}"
    );
    assert!(count(home, "mined_turn") > 0, "{name}: a good night marks");
}

#[test]
fn no_failure_scores_anything_or_uses_up_a_session() {
    let elsewhere = StubServer::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let rows: Vec<Row> = rows(&elsewhere)
        .into_iter()
        .filter(|row| row.outcome != "answered")
        .collect();
    // Every failure with one backend, and one failure of each code with every other.
    let mut nights: Vec<(&Row, (&str, &str))> = rows.iter().map(|row| (row, BACKENDS[0])).collect();
    let mut codes = std::collections::BTreeSet::new();
    for row in rows.iter().filter(|row| codes.insert(row.outcome)) {
        nights.extend(BACKENDS[1..].iter().map(|backend| (row, *backend)));
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    // Most of the time is spent waiting between tries.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some((row, backend)) = nights.get(place).copied() else {
                        break;
                    };
                    match &row.serves {
                        Serves::Stub(behaviour) => {
                            let server = StubServer::start();
                            server.require_key(KEY).standing(behaviour.clone());
                            let asked = || Some(server.asked().len());
                            a_night_that_fails(row, backend, &server.url(), asked);
                        }
                        Serves::Unvouched => {
                            let server = runtime.block_on(Unvouched::start());
                            let asked = || Some(server.connections());
                            a_night_that_fails(row, backend, &server.url(), asked);
                        }
                        Serves::Nobody { url, .. } => {
                            a_night_that_fails(row, backend, url, || None);
                        }
                    }
                }
            });
        }
    });
}

/// One row of the page. What most backends say stands first; others are named.
fn write_row<S>(
    page: &mut String,
    row: &Row<S>,
    seen: &Seen,
    said: BTreeMap<(String, String), Vec<String>>,
) {
    let mut said: Vec<((String, String), Vec<String>)> = said.into_iter().collect();
    said.sort_by_key(|(_, backends)| std::cmp::Reverse(backends.len()));
    let words: Vec<String> = said
        .into_iter()
        .enumerate()
        .map(|(place, ((told, guidance), backends))| {
            let who = if place == 0 {
                String::new()
            } else {
                format!("*{}*: ", backends.join(", "))
            };
            format!("{who}{told} {guidance}").trim().to_owned()
        })
        .collect();
    let later = match seen.later {
        Some(Later::Temporary) => "temporary",
        Some(Later::Permanent) => "permanent",
        None => "",
    };
    let told = if row.outcome == "answered" {
        "Nothing: the reply is read by what it holds.".to_owned()
    } else {
        words.join("<br>")
    };
    writeln!(
        page,
        "| {} | `{}` | {} | {} | {later} | {told} |",
        row.name,
        row.outcome,
        row.tries,
        if row.outcome == "answered" {
            "as used"
        } else if row.counts {
            "yes"
        } else {
            "no"
        },
    )
    .unwrap();
}
