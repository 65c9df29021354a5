//! `claude` against a program that answers, hangs, floods and lies.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "a test may stop where something is missing"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use skillopt_core::Retry;
use skillopt_models::agent_cli::Options;
use skillopt_models::{
    AgentCli, Backend, CallError, CancelToken, Keyring, RawReply, Scope, SignIn, claude,
};
use skillopt_tests::stub_cli::{Dialect, Mode, StubCli};

#[path = "shared/agents.rs"]
mod agents;
#[path = "shared/question.rs"]
mod question;
#[path = "backends_claude/renewal.rs"]
mod renewal;

use agents::{LONG, ends};
use question::call;

const KEY: &str = "sk-ant-canary-0123456789";

fn install(modes: impl IntoIterator<Item = Mode>) -> StubCli {
    StubCli::install(
        Dialect::Claude,
        Path::new(env!("CARGO_BIN_EXE_stub-agent")),
        modes,
    )
}

fn options(stub: &StubCli) -> Options {
    agents::options(stub.path())
}

async fn backend(options: Options) -> AgentCli {
    claude::open(options, &CancelToken::new()).await.unwrap()
}

async fn ask(backend: &AgentCli) -> Result<RawReply, CallError> {
    backend
        .ask(&call("What is 2 + 2?"), &CancelToken::new())
        .await
}

#[tokio::test]
async fn a_reply_and_how_the_program_was_started_for_it() {
    let stub = install([Mode::reply("It is 4. ✓")]);
    let claude = backend(options(&stub)).await;
    assert_eq!(claude.version(), "2.1.332");
    assert_eq!(claude.id().version, "2.1.332");
    assert_eq!(claude.id().model, "sonnet");
    assert!(claude.paid());
    let question = "Line one\nsee @/etc/passwd and \"quotes\" $HOME `id` %PATH%\nüñí";
    let reply = claude
        .ask(&call(question), &CancelToken::new())
        .await
        .unwrap();
    assert_eq!(reply.text, "It is 4. ✓");
    assert_eq!(reply.model, "claude-stub-5");
    assert_eq!(reply.usage.input_tokens, Some(15));
    assert_eq!(reply.usage.cached_tokens, Some(5));
    assert_eq!(reply.usage.output_tokens, Some(3));

    let asked = stub.asked();
    assert_eq!(asked.len(), 1);
    let called = &asked[0];
    assert_eq!(
        called.arguments[..11],
        [
            "--print",
            "--output-format",
            "stream-json",
            "--verbose",
            "--no-session-persistence",
            "--disable-slash-commands",
            "--strict-mcp-config",
            "--tools",
            "",
            "--setting-sources",
            "",
        ]
    );
    assert!(called.arguments.contains(&"--safe-mode".to_owned()));
    assert!(!called.arguments.contains(&"--bare".to_owned()));
    assert_eq!(called.arguments.last().unwrap(), "--model=sonnet");
    let safe = question.replace("@/etc", "@ /etc");
    assert_eq!(called.input, format!("[skillopt call]\n{safe}"));
    assert_eq!(called.system.as_deref(), Some("Be brief."));
    assert!(called.listing.is_empty(), "{:?}", called.listing);
    let name = called
        .directory
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    assert!(name.starts_with("skillopt-call-"), "{name}");
    assert!(!called.directory.exists());
    // The user's own sign-in, and nothing of the session that we were started from.
    assert_eq!(
        called.environment["CLAUDE_CONFIG_DIR"],
        "/home/nobody/.claude-work"
    );
    assert_eq!(called.environment["HOME"], "/home/nobody");
    for gone in ["CLAUDECODE", "CLAUDE_CODE_SSE_PORT", "ANTHROPIC_API_KEY"] {
        assert!(!called.environment.contains_key(gone), "{gone}");
    }
    // So that readers of sessions know it as ours.
    assert_eq!(called.environment["CLAUDE_CODE_ENTRYPOINT"], "skillopt");
    let all = format!("{called:?}");
    assert!(!all.contains("canary"), "{all}");
    assert!(
        !called
            .environment
            .keys()
            .any(|name| name.starts_with("SKILLOPT"))
    );
}

#[tokio::test]
async fn with_a_key_it_runs_bare_in_an_empty_configuration() {
    let stub = install([Mode::reply("OK.")]);
    let mut options = options(&stub);
    options
        .environment
        .insert("ANTHROPIC_API_KEY".into(), KEY.into());
    options.sign_in = SignIn::configured(
        "",
        claude::USUAL_KEYS,
        &options.environment,
        &Keyring::nowhere(),
    )
    .unwrap();
    options.model = "--help".into();
    let claude = backend(options).await;
    ask(&claude).await.unwrap();
    let called = stub.asked().remove(0);
    assert!(called.arguments.contains(&"--bare".to_owned()));
    assert!(!called.arguments.contains(&"--safe-mode".to_owned()));
    assert_eq!(called.arguments.last().unwrap(), "--model=--help");
    assert!(
        !called
            .arguments
            .iter()
            .any(|argument| argument.contains("canary"))
    );
    assert_eq!(called.environment["ANTHROPIC_API_KEY"], KEY);
    assert_ne!(
        called.environment["CLAUDE_CONFIG_DIR"],
        "/home/nobody/.claude-work"
    );
    assert_eq!(called.config.as_deref(), Some(&[][..]));
    assert!(!format!("{:?}", claude.id()).contains("canary"));
}

#[tokio::test]
async fn every_failure_has_its_type_its_words_and_its_class() {
    type Row = (Mode, &'static str, &'static str, Retry, Scope);
    let permanent = Retry::Permanent;
    let temporary = Retry::Temporary;
    let refused = |status: u16, text: &str| {
        Mode::result(
            &json!({ "is_error": true, "api_error_status": status, "result": text }),
            1,
        )
    };
    let rows: Vec<Row> = vec![
        (
            Mode::print("Claude AI usage limit reached|1795983924\n", "", 1),
            "quota_exhausted",
            "allows no more until 2026-11-29T20:25:24Z",
            temporary,
            Scope::Provider,
        ),
        (
            Mode::print("", "5-hour limit reached ∙ resets 7am", 1),
            "quota_exhausted",
            "until 2026-11-30T07:00:00Z",
            temporary,
            Scope::Provider,
        ),
        (
            Mode::result(
                &json!({ "result": "You've hit your weekly limit · resets Dec 2, 6:25pm (UTC)" }),
                0,
            ),
            "quota_exhausted",
            "until 2026-12-02T18:25:00Z",
            temporary,
            Scope::Provider,
        ),
        (
            refused(429, "You've hit your 5-hour limit · resets 8:25pm (UTC)"),
            "quota_exhausted",
            "until 2026-11-29T20:25:00Z",
            temporary,
            Scope::Provider,
        ),
        (
            refused(
                429,
                "API Error: Server is temporarily limiting requests (not your usage limit)",
            ),
            "rate_limited",
            "asks to wait",
            temporary,
            Scope::Provider,
        ),
        (
            Mode::print("Not logged in · Please run /login\n", "", 0),
            "sign_in_needed",
            "Not logged in",
            permanent,
            Scope::Provider,
        ),
        (
            Mode::result(&json!({ "result": "Not logged in · Please run /login" }), 0),
            "sign_in_needed",
            "Not logged in",
            permanent,
            Scope::Provider,
        ),
        (
            Mode::result(
                &json!({ "is_error": true, "result": "Not logged in · Please run /login" }),
                1,
            ),
            "sign_in_needed",
            "Not logged in",
            permanent,
            Scope::Provider,
        ),
        (
            refused(401, "Failed to authenticate. API Error: 401"),
            "sign_in_needed",
            "Failed to authenticate",
            permanent,
            Scope::Provider,
        ),
        (
            refused(404, "There's an issue with the selected model"),
            "backend_misconfigured",
            "cannot use sonnet",
            permanent,
            Scope::Provider,
        ),
        (
            refused(413, "Request too large (max 32MB)."),
            "context_overflow",
            "Request too large",
            permanent,
            Scope::Call,
        ),
        (
            refused(529, "API Error: 529 Overloaded."),
            "model_unavailable",
            "529 Overloaded",
            temporary,
            Scope::Call,
        ),
        (
            Mode::print("", "error: unknown option '--tools'\n", 1),
            "backend_misconfigured",
            "does not know an option",
            permanent,
            Scope::Provider,
        ),
        (
            Mode::print("It is 4.", "", 0),
            "backend_misconfigured",
            "something other than the expected result",
            permanent,
            Scope::Provider,
        ),
        (
            Mode::result(&json!({ "result": { "text": "It is 4." } }), 0),
            "backend_misconfigured",
            "something other than the expected result",
            permanent,
            Scope::Provider,
        ),
        (
            Mode::result(&json!({ "result": "" }), 0),
            "reply_unreadable",
            "it is empty",
            permanent,
            Scope::Call,
        ),
        (
            Mode::print("", "", 0),
            "reply_unreadable",
            "it is empty",
            permanent,
            Scope::Call,
        ),
        (
            Mode::print("", "Segmentation fault\n", 139),
            "model_unavailable",
            "exit code 139: Segmentation fault",
            temporary,
            Scope::Call,
        ),
        (
            Mode::result(&json!({}), 1),
            "model_unavailable",
            "OK",
            temporary,
            Scope::Call,
        ),
        (
            Mode::NeedsTerminal,
            "backend_misconfigured",
            "wants a terminal (Raw mode is not supported",
            permanent,
            Scope::Provider,
        ),
        (
            Mode::Flood,
            "reply_unreadable",
            "longer than 32 MB",
            permanent,
            Scope::Call,
        ),
    ];
    for (mode, code, words, retry, scope) in rows {
        let stub = install([mode]);
        let claude = backend(options(&stub)).await;
        let error = ask(&claude).await.expect_err(words);
        let problem = error.problem();
        assert_eq!(problem.code, code, "{words}: {error:?}");
        assert!(
            problem.message.contains(words),
            "{words}: {}",
            problem.message
        );
        assert_eq!(problem.retry, retry, "{words}");
        assert_eq!(error.scope(), scope, "{words}");
        assert_eq!(stub.asked().len(), 1, "{words}: one try is one start");
        assert!(
            ends(stub.asked()[0].process).await,
            "{words}: still running"
        );
    }
}

#[tokio::test]
async fn odd_but_good_replies_are_replies() {
    let stub = install([Mode::InvalidUtf8, Mode::DeafToInput, Mode::LeaveGrandchild]);
    let claude = backend(options(&stub)).await;
    assert_eq!(ask(&claude).await.unwrap().text, "caf\u{fffd}");
    // Larger than a pipe holds, and nobody reads it.
    let long = call(&"x".repeat(4 * 1024 * 1024));
    let reply = claude.ask(&long, &CancelToken::new()).await.unwrap();
    assert_eq!(reply.text, "OK.");
    let started = Instant::now();
    assert_eq!(ask(&claude).await.unwrap().text, "OK.");
    assert!(started.elapsed() < LONG, "a grandchild held us up");
    let left = stub.grandchildren();
    assert_eq!(left.len(), 1);
    assert!(ends(left[0]).await, "the grandchild is still running");
}

#[tokio::test]
async fn a_large_prompt_arrives_whole() {
    let stub = install([Mode::reply("OK.")]);
    let claude = backend(options(&stub)).await;
    let text = "0123456789abcdef".repeat(256 * 1024);
    claude.ask(&call(&text), &CancelToken::new()).await.unwrap();
    assert_eq!(stub.asked()[0].input, format!("[skillopt call]\n{text}"));
}

#[tokio::test]
async fn hanging_ends_in_time_with_everything_it_started() {
    let wait = Duration::from_secs(3);
    for (mode, first_byte, whole, words) in [
        (Mode::HangSilent, wait, LONG, "sent nothing within 3 s"),
        (Mode::HangAfterStart, wait, LONG, "sent nothing within 3 s"),
        (
            Mode::HangWithGrandchild,
            wait,
            wait + wait,
            "did not finish within 6 s",
        ),
    ] {
        let stub = install([mode.clone()]);
        let claude = backend(Options {
            first_byte,
            whole,
            ..options(&stub)
        })
        .await;
        let error = ask(&claude).await.unwrap_err();
        assert_eq!(error.code(), "model_timed_out", "{mode:?}: {error}");
        assert!(error.to_string().contains(words), "{mode:?}: {error}");
        assert!(error.worth_another_try());
        for process in stub
            .asked()
            .iter()
            .map(|called| called.process)
            .chain(stub.grandchildren())
        {
            assert!(ends(process).await, "{mode:?}: {process} is still running");
        }
    }
}

#[tokio::test]
async fn cancelling_and_dropping_end_the_whole_tree() {
    for cancelled in [true, false] {
        let stub = install([Mode::HangWithGrandchild]);
        let claude = backend(options(&stub)).await;
        let cancel = CancelToken::new();
        let call = call("?");
        {
            let asking = claude.ask(&call, &cancel);
            tokio::pin!(asking);
            loop {
                tokio::select! {
                    _ = &mut asking => panic!("it ended by itself"),
                    () = tokio::time::sleep(Duration::from_millis(25)) => {}
                }
                if !stub.grandchildren().is_empty() {
                    break;
                }
            }
            if cancelled {
                cancel.drop_all();
                assert_eq!(asking.await.unwrap_err(), CallError::Cancelled);
            }
        }
        for process in [stub.asked()[0].process, stub.grandchildren()[0]] {
            assert!(
                ends(process).await,
                "cancelled: {cancelled}: {process} is still running"
            );
        }
        assert!(!stub.asked()[0].directory.exists());
    }
}

#[tokio::test]
async fn the_program_is_asked_about_itself_once() {
    let stub = install([Mode::reply("OK.")]);
    for _ in 0..3 {
        ask(&backend(options(&stub)).await).await.unwrap();
    }
    assert_eq!(
        stub.calls().len() - stub.asked().len(),
        2,
        "--version and --help"
    );
}

#[tokio::test]
async fn whether_somebody_is_signed_in_is_told_without_a_call() {
    let cancel = CancelToken::new();
    let stub = install([Mode::reply("OK.")]);
    assert_eq!(
        backend(options(&stub)).await.signed_in(&cancel).await,
        Some(true)
    );
    assert_eq!(stub.asked().len(), 0);
    let out = install([Mode::reply("OK.")]).signed_out();
    assert_eq!(
        backend(options(&out)).await.signed_in(&cancel).await,
        Some(false)
    );
    let mut with_key = options(&stub);
    with_key.sign_in = SignIn::configured(
        "K",
        &[],
        &[("K".to_owned(), KEY.to_owned())].into(),
        &Keyring::nowhere(),
    )
    .unwrap();
    assert_eq!(backend(with_key).await.signed_in(&cancel).await, None);
}

#[tokio::test]
async fn a_version_that_cannot_keep_things_out_is_not_used() {
    let program = Path::new(env!("CARGO_BIN_EXE_stub-agent"));
    let old = StubCli::install_version(
        Dialect::Claude,
        program,
        "1.0.128",
        &["--tools", "--no-session-persistence"],
        [Mode::reply("OK.")],
    );
    let problem = claude::open(options(&old), &CancelToken::new())
        .await
        .err()
        .unwrap();
    assert_eq!(problem.code, "agent_too_old");
    assert!(problem.message.contains("1.0.128"), "{problem}");
    assert!(
        problem
            .message
            .contains("--tools, --no-session-persistence"),
        "{problem}"
    );
    assert_eq!(old.asked().len(), 0, "no call was made");

    let plain = StubCli::install_version(
        Dialect::Claude,
        program,
        "2.0.50",
        &[
            "--system-prompt-file",
            "--include-partial-messages",
            "--safe-mode",
        ],
        [Mode::reply("OK.")],
    );
    let claude = backend(options(&plain)).await;
    ask(&claude).await.unwrap();
    let called = plain.asked().remove(0);
    assert_eq!(called.input, "[skillopt call]\nBe brief.\n\nWhat is 2 + 2?");
    assert!(
        called
            .arguments
            .contains(&"--exclude-dynamic-system-prompt-sections".to_owned())
    );
    assert_eq!(claude.id().system_mode, "one_prompt");
}

#[tokio::test]
async fn what_is_no_claude_is_said_before_a_night() {
    let stub = install([Mode::reply("OK.")]);
    let no_version = StubCli::install_version(
        Dialect::Claude,
        Path::new(env!("CARGO_BIN_EXE_stub-agent")),
        "command",
        &[],
        [],
    );
    for (path, code) in [
        (stub.path().with_file_name("nothing"), "agent_not_found"),
        (no_version.path(), "agent_not_runnable"),
    ] {
        let problem = claude::open(
            Options {
                path: path.clone(),
                ..options(&stub)
            },
            &CancelToken::new(),
        )
        .await
        .err()
        .unwrap();
        assert_eq!(problem.code, code);
        assert!(
            problem.message.contains(&path.display().to_string()),
            "{problem}"
        );
    }
}
