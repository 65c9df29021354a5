//! Every command-line agent against a program that answers, hangs, floods and lies: the outcome, the
//! text, the number of starts, and that nothing is left running.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "a test may stop where something is missing"
)]

#[path = "shared/agents.rs"]
mod agents;
#[path = "backends_agents/opencode_tools.rs"]
mod opencode_tools;
#[path = "backends_agents/own_calls.rs"]
mod own_calls;
#[path = "shared/question.rs"]
mod question;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agents::{LONG, ends, options};
use question::call;
use serde_json::{Value, json};
use skillopt_core::Problem;
use skillopt_models::agent_cli::Options;
use skillopt_models::{
    AgentCli, Backend as _, CallError, CancelToken, RawReply, SignIn, claude, codex, copilot,
    cursor, opencode, pi,
};
use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};

fn install(dialect: Dialect, modes: impl IntoIterator<Item = Mode>) -> StubCli {
    StubCli::install(dialect, Path::new(env!("CARGO_BIN_EXE_stub-agent")), modes)
}

async fn open(dialect: Dialect, options: Options) -> Result<AgentCli, Problem> {
    let cancel = CancelToken::new();
    match dialect {
        Dialect::Claude => claude::open(options, &cancel).await,
        Dialect::Codex => codex::open(options, &cancel).await,
        Dialect::Copilot => copilot::open(options, &cancel).await,
        Dialect::Cursor => cursor::open(options, &cancel).await,
        Dialect::OpenCode => opencode::open(options, &cancel).await,
        Dialect::Pi => pi::open(options, &cancel).await,
    }
}

async fn ask(backend: &AgentCli) -> Result<RawReply, CallError> {
    backend
        .ask(&call("What is 2 + 2?"), &CancelToken::new())
        .await
}

/// Asks a stub that behaves like `mode` once.
async fn once(dialect: Dialect, mode: Mode) -> (StubCli, Result<RawReply, CallError>) {
    let stub = install(dialect, [mode]);
    let backend = open(dialect, options(stub.path())).await.unwrap();
    let answer = ask(&backend).await;
    (stub, answer)
}

#[tokio::test]
async fn a_reply_and_how_the_program_was_started_for_it() {
    for dialect in Dialect::ALL {
        let (stub, reply) = once(dialect, Mode::reply("It is 4. ✓")).await;
        let reply = reply.unwrap();
        assert_eq!(reply.text, "It is 4. ✓", "{dialect:?}");
        assert_eq!(
            (reply.usage.input_tokens, reply.usage.output_tokens),
            (Some(15), Some(3)),
            "{dialect:?}"
        );
        let called = stub.asked().remove(0);
        assert!(called.input.starts_with("[skillopt call]\n"), "{dialect:?}");
        assert!(called.input.ends_with("What is 2 + 2?"), "{dialect:?}");
        match &called.system {
            Some(system) => assert_eq!(system, "Be brief.", "{dialect:?}"),
            None => assert!(called.input.contains("Be brief."), "{dialect:?}"),
        }
        assert!(
            called.listing.is_empty(),
            "{dialect:?}: {:?}",
            called.listing
        );
        assert!(!called.directory.exists(), "{dialect:?}");
        assert_eq!(
            PathBuf::from(&called.environment["PWD"]),
            called.directory,
            "{dialect:?}"
        );
        let told = called.arguments.join(" ");
        assert!(
            !told.contains("2 + 2") && !told.contains("brief"),
            "{dialect:?}: {told}"
        );
        // Nothing of the session that we were started from, and no other key.
        let all = format!("{called:?}");
        assert!(!all.contains("canary"), "{dialect:?}: {all}");
        for gone in ["CLAUDECODE", "CLAUDE_CODE_SSE_PORT", "SKILLOPT_MODEL"] {
            assert!(
                !called.environment.contains_key(gone),
                "{dialect:?}: {gone}"
            );
        }
    }
}

#[tokio::test]
async fn a_failed_try_that_was_billed_a_request_says_so_once() {
    for (dialect, billed) in [(Dialect::Copilot, 1_000), (Dialect::Codex, 0)] {
        let stub = install(dialect, [Mode::reply("")]);
        let backend = open(dialect, options(stub.path())).await.unwrap();
        assert_eq!(
            ask(&backend).await.unwrap_err().code(),
            "reply_unreadable",
            "{dialect:?}"
        );
        let key = call("What is 2 + 2?").key();
        assert_eq!(backend.billed_failing(&key), billed, "{dialect:?}");
        assert_eq!(backend.billed_failing(&key), 0, "{dialect:?}");
    }
}

#[tokio::test]
async fn every_failure_has_its_type() {
    const LIMIT: &str = "You've hit your weekly limit · resets Dec 2, 6:25pm (UTC)";
    let rows: &[(Mode, &str, &str)] = &[
        (
            Mode::print(LIMIT, "", 1),
            "quota_exhausted",
            "until 2026-12-02T18:25:00Z",
        ),
        (
            Mode::print("", LIMIT, 1),
            "quota_exhausted",
            "until 2026-12-02T18:25:00Z",
        ),
        (
            Mode::reply(LIMIT),
            "quota_exhausted",
            "until 2026-12-02T18:25:00Z",
        ),
        (
            Mode::print("Not logged in\n", "", 0),
            "sign_in_needed",
            "Not logged in",
        ),
        (
            Mode::reply("Not logged in"),
            "sign_in_needed",
            "Not logged in",
        ),
        (
            Mode::print("", "error: unknown option '--nothere'\n", 1),
            "backend_misconfigured",
            "does not know an option",
        ),
        (
            Mode::print("It is 4.", "", 0),
            "backend_misconfigured",
            "something other than the expected result",
        ),
        (
            Mode::print("{\"answer\": \"It is 4.\"}\n", "", 0),
            "backend_misconfigured",
            "something other than the expected result",
        ),
        (Mode::reply(""), "reply_unreadable", "it is empty"),
        (Mode::print("", "", 0), "reply_unreadable", "it is empty"),
        (
            Mode::print("", "Segmentation fault\n", 139),
            "model_unavailable",
            "exit code 139: Segmentation fault",
        ),
        (
            Mode::NeedsTerminal,
            "backend_misconfigured",
            "wants a terminal (Raw mode is not supported",
        ),
        (Mode::Flood, "reply_unreadable", "longer than 32 MB"),
    ];
    for dialect in Dialect::ALL {
        for (mode, code, words) in rows {
            let (stub, answer) = once(dialect, mode.clone()).await;
            let error = answer.expect_err(words);
            let problem = error.problem();
            assert_eq!(problem.code, *code, "{dialect:?} {words}: {error:?}");
            assert!(
                problem.message.contains(words),
                "{dialect:?} {words}: {}",
                problem.message
            );
            assert_eq!(
                stub.asked().len(),
                1,
                "{dialect:?} {words}: one try is one start"
            );
            assert!(
                ends(stub.asked()[0].process).await,
                "{dialect:?} {words}: still running"
            );
        }
    }
}

/// Each agent's own way to say what went wrong, as real versions printed it.
fn own_words(dialect: Dialect) -> Vec<(Vec<Value>, i32, &'static str)> {
    match dialect {
        // In a table of their own, in `backends_claude.rs`.
        Dialect::Claude => vec![],
        Dialect::Codex => {
            let failed = |text: &str| {
                vec![
                    json!({"type": "thread.started", "thread_id": "x"}),
                    json!({"type": "turn.started"}),
                    json!({"type": "turn.failed", "error": {"message": text}}),
                ]
            };
            vec![
                (
                    failed("unexpected status 401 Unauthorized: Incorrect API key provided"),
                    1,
                    "sign_in_needed",
                ),
                (
                    failed("You’ve hit your usage limit. Upgrade to Pro or try again at 11:47 PM."),
                    1,
                    "quota_exhausted",
                ),
                (
                    failed("exceeded retry limit, last status: 429 Too Many Requests"),
                    1,
                    "rate_limited",
                ),
                (
                    failed("The model `gpt-9` does not exist or you do not have access to it."),
                    1,
                    "backend_misconfigured",
                ),
                (
                    failed("The 'gpt-9' model requires a newer version of Codex."),
                    1,
                    "backend_misconfigured",
                ),
                (
                    failed("Codex ran out of room in the model's context window."),
                    1,
                    "context_overflow",
                ),
            ]
        }
        Dialect::Copilot => {
            let failed = |status: u16, kind: &str, text: &str| {
                vec![
                    json!({"type": "session.error", "data": {"errorType": kind, "message": text, "statusCode": status}}),
                    json!({"type": "result", "exitCode": 1}),
                ]
            };
            vec![
                (
                    failed(401, "authentication", "Authentication failed with provider"),
                    1,
                    "sign_in_needed",
                ),
                (
                    failed(
                        429,
                        "rate_limit",
                        "Last error: 429 Please try again in 20s.",
                    ),
                    1,
                    "rate_limited",
                ),
                (
                    failed(402, "query", "402 Insufficient credits"),
                    1,
                    "quota_exhausted",
                ),
                (
                    failed(404, "query", "Model 'x' not found"),
                    1,
                    "backend_misconfigured",
                ),
            ]
        }
        Dialect::Cursor => {
            let failed =
                |text: &str| vec![json!({"type": "result", "is_error": true, "result": text})];
            vec![
                (failed("You've hit your usage limit"), 1, "quota_exhausted"),
                (failed("Authentication required"), 1, "sign_in_needed"),
            ]
        }
        Dialect::OpenCode => {
            let failed = |status: u16, text: &str| {
                vec![
                    json!({"type": "error", "error": {"name": "APIError", "data": {"message": text, "statusCode": status}}}),
                ]
            };
            vec![
                (
                    failed(401, "Incorrect API key provided"),
                    1,
                    "sign_in_needed",
                ),
                (failed(402, "Insufficient credits"), 1, "quota_exhausted"),
                (failed(429, "Rate limit reached"), 1, "rate_limited"),
                (
                    failed(404, "The model `x` does not exist"),
                    1,
                    "backend_misconfigured",
                ),
                (
                    failed(400, "Your input exceeds the context window of this model."),
                    1,
                    "context_overflow",
                ),
            ]
        }
        Dialect::Pi => {
            let failed = |text: &str| {
                vec![
                    json!({"type": "agent_start"}),
                    json!({"type": "message_end", "message": {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": text}}),
                ]
            };
            vec![
                (
                    failed("401 Incorrect API key provided"),
                    0,
                    "sign_in_needed",
                ),
                (
                    failed(
                        "429 You exceeded your current quota, please check your plan and billing details.",
                    ),
                    0,
                    "quota_exhausted",
                ),
                (
                    failed("429 Rate limit reached. Please try again in 20s."),
                    0,
                    "rate_limited",
                ),
                (
                    failed("Provider finish_reason: content_filter"),
                    0,
                    "reply_refused",
                ),
            ]
        }
    }
}

#[tokio::test]
async fn each_agents_own_words_are_understood() {
    for dialect in Dialect::ALL {
        for (events, exit, code) in own_words(dialect) {
            let (_stub, answer) = once(dialect, Mode::events(&events, exit)).await;
            let error = answer.unwrap_err();
            assert_eq!(error.code(), code, "{dialect:?} {events:?}: {error}");
        }
    }
}

#[tokio::test]
async fn odd_but_good_replies_are_replies() {
    for dialect in Dialect::ALL {
        let (_stub, reply) = once(dialect, Mode::InvalidUtf8).await;
        assert_eq!(reply.unwrap().text, "caf\u{fffd}", "{dialect:?}");
        let stub = install(dialect, [Mode::DeafToInput, Mode::LeaveGrandchild]);
        let backend = open(dialect, options(stub.path())).await.unwrap();
        // Larger than a pipe holds, and nobody reads it.
        let long = call(&"x".repeat(4 * 1024 * 1024));
        let reply = backend.ask(&long, &CancelToken::new()).await.unwrap();
        assert_eq!(reply.text, "OK.", "{dialect:?}");
        let started = Instant::now();
        assert_eq!(ask(&backend).await.unwrap().text, "OK.", "{dialect:?}");
        assert!(
            started.elapsed() < LONG,
            "{dialect:?}: a grandchild held us up"
        );
        assert!(ends(stub.grandchildren()[0]).await, "{dialect:?}");
    }
}

#[tokio::test]
async fn hanging_ends_in_time_with_everything_it_started() {
    let wait = Duration::from_secs(2);
    for dialect in Dialect::ALL {
        for mode in [
            Mode::HangSilent,
            Mode::HangAfterStart,
            Mode::HangWithGrandchild,
        ] {
            let stub = install(dialect, [mode.clone()]);
            let backend = open(
                dialect,
                Options {
                    first_byte: wait,
                    whole: wait + wait,
                    ..options(stub.path())
                },
            )
            .await
            .unwrap();
            let error = ask(&backend).await.unwrap_err();
            assert_eq!(
                error.code(),
                "model_timed_out",
                "{dialect:?} {mode:?}: {error}"
            );
            // Two of them say nothing before the whole reply.
            let in_pieces = !matches!(dialect, Dialect::Codex | Dialect::OpenCode);
            let words = if in_pieces && mode != Mode::HangWithGrandchild {
                "sent nothing within 2 s"
            } else {
                "did not finish within 4 s"
            };
            assert!(
                error.to_string().contains(words),
                "{dialect:?} {mode:?}: {error}"
            );
            assert!(error.worth_another_try() && error.may_have_cost());
            let started = stub.asked().into_iter().map(|called| called.process);
            for process in started.chain(stub.grandchildren()) {
                assert!(
                    ends(process).await,
                    "{dialect:?} {mode:?}: {process} is still running"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_key_comes_with_an_empty_directory_and_in_no_argument() {
    for dialect in Dialect::ALL {
        let stub = install(dialect, [Mode::reply("OK.")]);
        let mut options = options(stub.path());
        options
            .environment
            .insert("WORK_KEY".into(), "sk-canary-work".into());
        options.sign_in = SignIn::configured(
            "WORK_KEY",
            &[],
            &options.environment,
            &skillopt_models::Keyring::nowhere(),
        )
        .unwrap();
        let backend = open(dialect, options).await.unwrap();
        ask(&backend).await.unwrap();
        let called = stub.asked().remove(0);
        assert!(
            !called.arguments.join(" ").contains("canary"),
            "{dialect:?}"
        );
        let variable = match dialect {
            Dialect::Claude => "ANTHROPIC_API_KEY",
            Dialect::Codex => "CODEX_API_KEY",
            Dialect::Copilot => "COPILOT_GITHUB_TOKEN",
            Dialect::Cursor => "CURSOR_API_KEY",
            Dialect::OpenCode | Dialect::Pi => "WORK_KEY",
        };
        assert_eq!(
            called.environment[variable], "sk-canary-work",
            "{dialect:?}"
        );
        let with_key = called
            .environment
            .values()
            .filter(|value| value.contains("canary"));
        assert_eq!(with_key.count(), 1, "{dialect:?}");
        let ours: &[&str] = match dialect {
            Dialect::Codex => &["config.toml"],
            Dialect::Cursor => &["cli-config.json"],
            _ => &[],
        };
        assert_eq!(called.config.as_deref().unwrap(), ours, "{dialect:?}");
        assert_eq!(called.sign_in, None, "{dialect:?}");
        assert_eq!(
            backend.signed_in(&CancelToken::new()).await,
            None,
            "{dialect:?}"
        );
    }
}

#[tokio::test]
async fn codex_gets_a_link_to_the_users_sign_in_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let theirs = home.path().join("codex");
    std::fs::create_dir(&theirs).unwrap();
    for (name, text) in [
        ("auth.json", "{}"),
        ("AGENTS.md", "CANARY"),
        (
            "config.toml",
            "model = \"gpt-6\"\ndeveloper_instructions = \"CANARY\"\n",
        ),
    ] {
        use std::io::Write as _;
        let mut file = std::fs::File::create(theirs.join(name)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }
    let stub = install(Dialect::Codex, [Mode::reply("OK.")]);
    let mut options = options(stub.path());
    options
        .environment
        .insert("CODEX_HOME".into(), theirs.display().to_string());
    let backend = open(Dialect::Codex, options).await.unwrap();
    ask(&backend).await.unwrap();
    let called = stub.asked().remove(0);
    assert_ne!(PathBuf::from(&called.environment["CODEX_HOME"]), theirs);
    let mut files = called.config.unwrap();
    files.sort();
    assert_eq!(files, ["auth.json", "config.toml"]);
    assert_eq!(called.sign_in, Some(theirs.join("auth.json")));
    assert!(
        theirs.join("auth.json").exists(),
        "the link went, not the file"
    );
}

#[tokio::test]
async fn tool_servers_are_kept_out_before_the_first_call() {
    for dialect in [Dialect::Codex, Dialect::OpenCode] {
        let stub = install(dialect, [Mode::reply("OK.")]).with_servers(&["own"]);
        let problem = open(dialect, options(stub.path())).await.err().unwrap();
        assert_eq!(problem.code, "agent_not_alone", "{dialect:?}");
        assert!(problem.message.contains("own"), "{problem}");
        assert_eq!(stub.asked().len(), 0, "{dialect:?}: no call was made");
    }
    let stub = install(Dialect::Copilot, [Mode::reply("OK.")]).with_servers(&["own", "b c"]);
    let backend = open(Dialect::Copilot, options(stub.path())).await.unwrap();
    ask(&backend).await.unwrap();
    let called = stub.asked().remove(0);
    for server in ["--disable-mcp-server=own", "--disable-mcp-server=b c"] {
        assert!(
            called.arguments.iter().any(|argument| argument == server),
            "{server}"
        );
    }
}

#[tokio::test]
async fn a_version_that_cannot_keep_things_out_is_not_used() {
    for (dialect, option) in [
        (Dialect::Claude, "--strict-mcp-config"),
        (Dialect::Codex, "--json"),
        (Dialect::Copilot, "--no-custom-instructions"),
        (Dialect::Cursor, "--mode"),
        (Dialect::OpenCode, "--pure"),
        (Dialect::Pi, "--no-context-files"),
    ] {
        let program = Path::new(env!("CARGO_BIN_EXE_stub-agent"));
        let old =
            StubCli::install_version(dialect, program, "0.0.1", &[option], [Mode::reply("OK.")]);
        let problem = open(dialect, options(old.path())).await.err().unwrap();
        assert_eq!(problem.code, "agent_too_old", "{dialect:?}");
        assert!(
            problem.message.contains("0.0.1") && problem.message.contains(option),
            "{problem}"
        );
        assert_eq!(old.asked().len(), 0, "{dialect:?}: no call was made");
    }
}

#[tokio::test]
async fn a_model_is_never_taken_for_an_option() {
    for dialect in Dialect::ALL {
        let stub = install(dialect, [Mode::reply("OK.")]);
        let options = Options {
            model: "--help".to_owned(),
            ..options(stub.path())
        };
        if dialect == Dialect::Pi {
            let problem = open(dialect, options).await.err().unwrap();
            assert_eq!(problem.code, "setting_invalid");
            continue;
        }
        let backend = open(dialect, options).await.unwrap();
        assert_eq!(ask(&backend).await.unwrap().text, "OK.", "{dialect:?}");
        let arguments = stub.asked().remove(0).arguments;
        assert!(
            arguments.contains(&"--model=--help".to_owned()),
            "{dialect:?}: {arguments:?}"
        );
        assert_eq!(backend.id().model, "--help");
    }
}

#[tokio::test]
async fn whether_somebody_is_signed_in_is_told_without_a_call() {
    let cancel = CancelToken::new();
    for dialect in [Dialect::Claude, Dialect::Codex] {
        let stub = install(dialect, [Mode::reply("OK.")]);
        let backend = open(dialect, options(stub.path())).await.unwrap();
        assert_eq!(backend.signed_in(&cancel).await, Some(true), "{dialect:?}");
        let out = install(dialect, [Mode::reply("OK.")]).signed_out();
        let backend = open(dialect, options(out.path())).await.unwrap();
        assert_eq!(backend.signed_in(&cancel).await, Some(false), "{dialect:?}");
        assert_eq!(
            backend.check(&cancel).await.unwrap_err().code(),
            "sign_in_needed"
        );
        assert_eq!(stub.asked().len() + out.asked().len(), 0);
    }
}

#[tokio::test]
async fn how_hard_to_think_is_passed_on_or_owned_up_to() {
    let version = |dialect| match dialect {
        Dialect::Claude => ("2.1.0", "--effort"),
        Dialect::Copilot => ("1.0.0", "--reasoning-effort"),
        Dialect::OpenCode => ("1.0.0", "--variant"),
        Dialect::Pi => ("0.70.0", "--thinking"),
        // Codex has it as a key of its configuration; Cursor has none.
        Dialect::Codex | Dialect::Cursor => ("", ""),
    };
    for dialect in Dialect::ALL {
        let stub = install(dialect, [Mode::reply("OK.")]);
        let told = Options {
            effort: "high".to_owned(),
            temperature: Some(0.25),
            ..options(stub.path())
        };
        let backend = open(dialect, told).await.unwrap();
        ask(&backend).await.unwrap();
        let called = stub.asked().remove(0);
        let arguments = called.arguments.join(" ");
        let expected = match dialect {
            Dialect::Claude => "--effort=high",
            Dialect::Codex => "--config model_reasoning_effort=\"high\"",
            Dialect::Copilot => "--reasoning-effort=high",
            Dialect::OpenCode => "--variant=high",
            Dialect::Pi => "--thinking high",
            Dialect::Cursor => "",
        };
        assert!(arguments.contains(expected), "{dialect:?}: {arguments}");
        let effort_reaches = dialect != Dialect::Cursor;
        assert_eq!(
            backend.id().system_mode.ends_with(" effort=high"),
            effort_reaches,
            "{dialect:?}: other answers have another key"
        );
        let mut unheard = Vec::new();
        if !effort_reaches {
            unheard.push("models.reasoning_effort");
        }
        if dialect == Dialect::OpenCode {
            let config: Value =
                serde_json::from_str(&called.environment["OPENCODE_CONFIG_CONTENT"]).unwrap();
            assert_eq!(config["agent"]["skillopt"]["temperature"], 0.25);
        } else {
            unheard.push("models.temperature");
        }
        assert_eq!(backend.unheard(), unheard, "{dialect:?}");

        // Who says nothing gets nothing, and nothing is said.
        let stub = install(dialect, [Mode::reply("OK.")]);
        let backend = open(dialect, options(stub.path())).await.unwrap();
        ask(&backend).await.unwrap();
        let arguments = stub.asked().remove(0).arguments.join(" ");
        assert!(
            !arguments.contains("effort") && !arguments.contains("--thinking"),
            "{dialect:?}: {arguments}"
        );
        assert!(backend.unheard().is_empty(), "{dialect:?}");

        // A version without the option.
        let (number, option) = version(dialect);
        if number.is_empty() {
            continue;
        }
        let program = Path::new(env!("CARGO_BIN_EXE_stub-agent"));
        let old =
            StubCli::install_version(dialect, program, number, &[option], [Mode::reply("OK.")]);
        let told = Options {
            effort: "high".to_owned(),
            ..options(old.path())
        };
        let backend = open(dialect, told).await.unwrap();
        ask(&backend).await.unwrap();
        let arguments = old.asked().remove(0).arguments.join(" ");
        assert!(!arguments.contains(option), "{dialect:?}: {arguments}");
        assert_eq!(
            backend.unheard(),
            ["models.reasoning_effort"],
            "{dialect:?}"
        );
    }
}
