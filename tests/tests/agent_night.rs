//! Whole nights with each command-line agent, its program being one that answers honestly. Nights in which
//! it does not are in `failures.rs`.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "a test writes its own files")]

use std::path::Path;

use skillopt_tests::home::{Home, Ran};
use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillopt-test");

fn install(dialect: Dialect, modes: impl IntoIterator<Item = Mode>) -> StubCli {
    StubCli::install(dialect, Path::new(env!("CARGO_BIN_EXE_stub-agent")), modes)
}

fn night(home: &Home, dialect: Dialect, stub: &StubCli) -> Ran {
    let path = stub.path().display().to_string();
    home.run(&[
        "sleep",
        "run",
        "--backend",
        dialect.backend(),
        &format!("--{}-path", dialect.backend()),
        &path,
        "--accept-terms",
        dialect.backend(),
        "--model-miner=false",
        "--concurrency",
        "3",
        "--json",
    ])
}

#[test]
fn a_night_with_each_agent_gives_a_proposal() {
    for dialect in Dialect::ALL {
        let home = Home::with_sample(PROGRAM);
        let stub = install(dialect, [Mode::Honest]);
        let ran = night(&home, dialect, &stub);
        assert_eq!(ran.code, 0, "{dialect:?}: {} {}", ran.out, ran.err);
        let json = ran.json();
        assert_eq!(json["outcome"], "proposed", "{dialect:?}: {json}");
        assert_eq!(json["simulated"], false, "{dialect:?}");
        assert_eq!(
            json["spend"]["calls"].as_u64(),
            Some(stub.asked().len() as u64),
            "{dialect:?}: every start is a row"
        );
        assert!(json["spend"]["tokens"].as_u64() > Some(0), "{dialect:?}");
        // Every run of the stub reads five tokens from a cache, where its format can say so.
        let cached = match dialect {
            Dialect::Copilot | Dialect::Cursor => 0,
            Dialect::Claude | Dialect::Codex | Dialect::OpenCode | Dialect::Pi => 5,
        };
        let calls = json["spend"]["calls"].as_u64().unwrap();
        assert_eq!(
            json["spend"]["cached_tokens"].as_u64(),
            Some(cached * calls),
            "{dialect:?}"
        );
        // Copilot bills requests.
        let billed = if dialect == Dialect::Copilot {
            calls
        } else {
            0
        };
        let spent = home.run(&["spend", "--json"]).json();
        let shown = home.run(&["night", "show", "--json"]).json();
        for spend in [&json["spend"], &spent["total"], &shown["spend"]] {
            assert_eq!(
                spend["request_thousandths"].as_u64(),
                Some(1_000 * billed),
                "{dialect:?}: {spend}"
            );
        }
        let words = format!("{billed} requests of the plan");
        for command in ["night show", "spend"] {
            let words_of: Vec<&str> = command.split(' ').collect();
            let text = home.run(&words_of).out;
            assert_eq!(
                text.contains(&words),
                billed > 0,
                "{dialect:?} {command}: {text}"
            );
        }
    }
}

#[test]
fn a_part_of_the_plan_is_left_to_the_user() {
    let reset = jiff::Timestamp::now().as_second() + 3 * 3600;
    let limit = serde_json::json!({
        "type": "rate_limit_event",
        "rate_limit_info": {
            "status": "allowed", "resetsAt": reset, "rateLimitType": "five_hour",
            "unifiedWindows": {
                "five_hour": { "utilization": 0.78, "resetsAt": reset },
                "seven_day": { "utilization": 0.10, "resetsAt": reset + 86_400 },
            },
        },
    });
    let stub = install(Dialect::Claude, [Mode::honest_with(limit)]);
    let home = Home::with_sample(PROGRAM);
    let path = format!("--claude-path={}", stub.path().display());
    let with = |reserve: &str, command: &[&str]| {
        let reserve = format!("--reserve-percent={reserve}");
        let words = [
            command,
            &["--backend=claude", &path, "--accept-terms=claude", &reserve],
        ];
        home.run(&words.concat())
    };
    let night = [
        "sleep",
        "run",
        "--model-miner=false",
        "--concurrency=1",
        "--json",
    ];
    let first = with("30", &night);
    let json = first.json();
    assert_eq!(
        (json["outcome"].as_str(), first.code),
        (Some("deferred"), 75),
        "{json}"
    );
    assert_eq!(json["problem"]["code"], "quota_reserved", "{json}");
    assert_eq!(
        json["until"].as_str().map(str::to_owned),
        jiff::Timestamp::from_second(reset)
            .ok()
            .map(|at| at.to_string()),
        "it says when it goes on"
    );
    assert_eq!(
        stub.asked().len(),
        1,
        "the reply that showed it is the last"
    );
    with("30", &night);
    assert_eq!(
        stub.asked().len(),
        1,
        "nothing is asked before it is whole again"
    );
    // Whoever wants to keep less goes on, with what was answered.
    let json = with("20", &night).json();
    assert_eq!(
        (json["outcome"].as_str(), json["resumed"].as_bool()),
        (Some("proposed"), Some(true)),
        "{json}"
    );
    assert_eq!(
        json["spend"]["calls"].as_u64(),
        Some(stub.asked().len() as u64)
    );
}

#[test]
fn who_cannot_tell_what_is_left_is_named() {
    for (dialect, tells) in [(Dialect::Claude, true), (Dialect::Pi, false)] {
        let stub = install(dialect, [Mode::Honest]);
        let home = Home::with_sample(PROGRAM);
        let name = dialect.backend();
        let words = [
            format!("--backend={name}"),
            format!("--{name}-path={}", stub.path().display()),
            format!("--accept-terms={name}"),
            "--reserve-percent=30".to_owned(),
        ];
        let run = |command: &[&str]| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            home.run(&[command, &words].concat())
        };
        let list = run(&["backend", "list", "--json"]).json();
        let row = list
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["name"] == name)
            .unwrap();
        assert_eq!(row["tells_allowance"], tells, "{row}");
        let doctor = run(&["doctor"]).out;
        let said = format!("{name} does not say how much of the plan is left");
        assert_eq!(doctor.contains(&said), !tells, "{doctor}");
    }
}

#[test]
fn what_is_left_of_a_codex_plan_is_in_the_users_sessions() {
    let reset = jiff::Timestamp::now().as_second() + 3 * 3600;
    let stub = install(Dialect::Codex, [Mode::Honest]);
    let home = Home::with_sample(PROGRAM);
    let day = home.home().join(".codex/sessions/2026/11/29");
    std::fs::create_dir_all(&day).unwrap();
    let record = serde_json::json!({
        "timestamp": "2026-11-29T17:08:08.732Z", "type": "event_msg",
        "payload": { "type": "token_count", "info": null, "rate_limits": {
            "limit_id": "codex", "secondary": null,
            "primary": { "used_percent": 81.0, "window_minutes": 300, "resets_at": reset },
        } },
    });
    let session = day.join("rollout-2026-11-29T17-08-07-01a22847.jsonl");
    std::fs::write(session, format!("{record}\n")).unwrap();
    let path = format!("--codex-path={}", stub.path().display());
    let with = |reserve: &str| {
        let words = [
            "sleep",
            "run",
            "--source=claude",
            "--backend=codex",
            &path,
            "--accept-terms=codex",
            "--model-miner=false",
            "--concurrency=1",
            "--json",
            reserve,
        ];
        home.run(&words).json()
    };
    let json = with("--reserve-percent=20");
    assert_eq!(json["problem"]["code"], "quota_reserved", "{json}");
    assert_eq!(stub.asked().len(), 1);
    let json = with("--reserve-percent=19");
    assert_eq!(json["outcome"], "proposed", "{json}");
}

#[test]
fn what_an_agent_cannot_be_told_is_in_the_report_and_with_the_doctor() {
    let stub = install(Dialect::Cursor, [Mode::Honest]);
    let home = Home::with_sample(PROGRAM);
    let path = format!("--cursor-path={}", stub.path().display());
    let words = [
        "--backend=cursor",
        &path,
        "--accept-terms=cursor",
        "--reasoning-effort=high",
        "--temperature=0.5",
    ];
    let note = "cursor cannot be told what models.reasoning_effort or models.temperature says; it is asked without.";
    let doctor = home.run(&[&["doctor"], &words[..]].concat()).out;
    assert!(doctor.contains(note), "{doctor}");
    let night = home.run(
        &[
            &["sleep", "run", "--model-miner=false", "--json"],
            &words[..],
        ]
        .concat(),
    );
    let report = night.json();
    let notes: Vec<&str> = report["notes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|note| note.as_str())
        .collect();
    assert!(notes.contains(&note), "{report:#}");
}

#[test]
fn a_program_is_asked_about_itself_once_for_each_version_whichever_process_asks() {
    let stub = install(Dialect::Claude, [Mode::Honest]);
    // A file of its own: other tests make and remove further names of the same one.
    let program = stub.path();
    let own = |text: &str| {
        std::fs::remove_file(&program).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_stub-agent"), &program).unwrap();
        // Two versions are hardly ever of one size.
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(&program)
            .unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    own("");
    let home = Home::with_sample(PROGRAM);
    let path = format!("--claude-path={}", program.display());
    let asked = || {
        let count = |word: &str| {
            let calls = stub.calls();
            calls.iter().filter(|call| call.arguments == [word]).count()
        };
        (count("--version"), count("--help"))
    };
    let look = || {
        let doctor = home.run(&["doctor", "--backend=claude", &path, "--accept-terms=claude"]);
        assert!(
            doctor.out.contains("The backends can be used."),
            "{}",
            doctor.out
        );
    };
    look();
    assert_eq!(asked(), (1, 1));
    look();
    assert_eq!(asked(), (1, 1), "another process knows it");
    own("a later version");
    look();
    assert_eq!(asked(), (2, 2), "the file is another one");
    // What was kept is only a memory.
    let kept = home.data().join("agents");
    for file in std::fs::read_dir(&kept).unwrap() {
        std::fs::write(file.unwrap().path(), "{").unwrap();
    }
    look();
    assert_eq!(asked(), (3, 3));
}

/// Two processes that renew a token at the same moment sign each other out.
#[test]
fn a_night_waits_while_another_process_may_have_to_renew_its_sign_in() {
    let home = Home::with_sample(PROGRAM);
    let stub = install(Dialect::Claude, [Mode::Honest]);
    let sign_in = format!("claude:{}", home.home().display());
    let locks = home.data().join("locks");
    let other = skillopt_store::locks::sign_in(&locks, &sign_in)
        .expect("locks")
        .expect("nobody has it");
    let path = format!("--claude-path={}", stub.path().display());
    let mut night = home.start(&[
        "sleep",
        "run",
        "--backend=claude",
        &path,
        "--accept-terms=claude",
        "--model-miner=false",
        "--json",
    ]);
    let planned = || {
        let file = home.data().join("skillopt.db");
        // Whoever makes the file is the program.
        let only_read = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = rusqlite::Connection::open_with_flags(file, only_read);
        let count = database.and_then(|database| {
            database.query_row("SELECT count(*) FROM night_call", (), |row| {
                row.get::<_, i64>(0)
            })
        });
        count.unwrap_or(0)
    };
    while planned() == 0 {
        assert!(night.try_wait().expect("a process").is_none());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(stub.asked().len(), 0, "the turn is another process's");
    drop(other);
    let ended = night.wait_with_output().expect("its end");
    assert!(ended.status.success(), "{ended:?}");
    assert!(!stub.asked().is_empty());
    // Its answers are told to the next process.
    let right = skillopt_store::locks::sign_in(&locks, &sign_in).expect("locks");
    assert!(right.expect("nobody has it").answered_ago().is_some());
}
