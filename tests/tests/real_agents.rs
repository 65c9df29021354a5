//! The real programs of agents, in a home full of things that must not reach a model, against the
//! stub that stands for the provider. `cargo xtask test-clis` installs them and names them in
//! `SKILLOPT_TEST_AGENTS`, one `name=path` on each line; without it nothing is done.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop where something is missing, and this one is read by a person"
)]

#[path = "real_agents/furnish.rs"]
mod furnish;
#[path = "shared/question.rs"]
mod question;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use furnish::{CANARY, furnish};
use jiff::tz::TimeZone;
use question::call;
use serde_json::{Value, json};
use skillopt_core::call::{Call, Subject};
use skillopt_core::task::Task;
use skillopt_core::tool::{Tool, ToolReply};
use skillopt_models::agent_cli::Options;
use skillopt_models::{
    AgentCli, Backend as _, CancelToken, SignIn, claude, codex, copilot, opencode, pi,
};
use skillopt_store::SystemClock;
use skillopt_tests::stub_server::{Behaviour, Request, StubServer};

/// In every question, so that it is found again where it does not belong.
const MARK: &str = "question-7261";
/// A start without a network, on a busy computer, takes a minute.
const PATIENCE: Duration = Duration::from_secs(240);

/// One way to sign in: variables besides the usual ones, the variable with the key if there is one,
/// the model, and what the request must carry.
struct Way {
    name: &'static str,
    variables: Vec<(&'static str, String)>,
    key: &'static str,
    model: &'static str,
    credential: String,
}

fn ways(agent: &str, server: &StubServer, home: &Path) -> Vec<Way> {
    let root = format!("http://{}", server.address());
    let base = format!("{root}/v1");
    let way = |name, variables: &[(&'static str, &str)], key, model, credential: &str| Way {
        name,
        variables: variables
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect(),
        key,
        model,
        credential: credential.to_owned(),
    };
    match agent {
        "claude" => vec![
            way(
                "as its user",
                &[("ANTHROPIC_BASE_URL", &root)],
                "",
                "",
                furnish::CLAUDE_TOKEN,
            ),
            way(
                "with a key",
                &[
                    ("ANTHROPIC_BASE_URL", &root),
                    ("WORK_KEY", "sk-ant-stub-key"),
                ],
                "WORK_KEY",
                "",
                "sk-ant-stub-key",
            ),
        ],
        "codex" => vec![
            way("as its user", &[], "", "", &furnish::chatgpt_token()),
            way(
                "with a key",
                &[("OPENAI_BASE_URL", &base), ("WORK_KEY", "sk-stub-key")],
                "WORK_KEY",
                "gpt-stub",
                "sk-stub-key",
            ),
        ],
        "copilot" => vec![way(
            "with a provider of its user's",
            &[
                ("COPILOT_OFFLINE", "true"),
                ("COPILOT_PROVIDER_BASE_URL", &base),
                ("COPILOT_PROVIDER_TYPE", "openai"),
                ("COPILOT_PROVIDER_API_KEY", "sk-stub-key"),
                ("COPILOT_PROVIDER_WIRE_API", "completions"),
                ("COPILOT_MODEL", "stub-model"),
                ("COPILOT_HOME", &home.join(".copilot").display().to_string()),
            ],
            "",
            "",
            "sk-stub-key",
        )],
        "opencode" | "pi" => vec![way(
            "as its user",
            &[("STUB_KEY", "sk-stub-key")],
            "",
            "stub/stub-model",
            "sk-stub-key",
        )],
        other => panic!("{other} is not one of those that can be installed"),
    }
}

async fn open(agent: &str, program: &Path, way: &Way, home: &Path) -> AgentCli {
    let mut environment: BTreeMap<String, String> = [
        ("HOME", home.display().to_string()),
        ("PATH", std::env::var("PATH").unwrap()),
        ("LANG", "C.UTF-8".to_owned()),
        ("CLAUDECODE", "1".to_owned()),
        ("GITHUB_TOKEN", format!("{CANARY}-token")),
        // Nothing but the stub is to be reached.
        ("HTTPS_PROXY", "http://127.0.0.1:9".to_owned()),
        ("NO_PROXY", "127.0.0.1".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    for (name, value) in &way.variables {
        environment.insert((*name).to_owned(), value.clone());
    }
    let options = Options {
        path: program.to_owned(),
        model: way.model.to_owned(),
        effort: String::new(),
        temperature: None,
        sign_in: SignIn::configured(
            way.key,
            &[],
            &environment,
            &skillopt_models::Keyring::nowhere(),
        )
        .unwrap(),
        environment,
        memory: None,
        first_byte: PATIENCE,
        whole: PATIENCE,
        clock: Arc::new(SystemClock),
        zone: TimeZone::UTC,
    };
    let cancel = CancelToken::new();
    match agent {
        "claude" => claude::open(options, &cancel).await,
        "codex" => codex::open(options, &cancel).await,
        "copilot" => copilot::open(options, &cancel).await,
        "opencode" => opencode::open(options, &cancel).await,
        "pi" => pi::open(options, &cancel).await,
        other => panic!("{other} is not one of those that can be installed"),
    }
    .unwrap()
}

/// The names of the tools that a request offers, in any of the protocols.
fn tools(body: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut open: Vec<&Value> = body["tools"].as_array().into_iter().flatten().collect();
    for item in body["input"].as_array().into_iter().flatten() {
        open.extend(item["tools"].as_array().into_iter().flatten());
    }
    while let Some(tool) = open.pop() {
        if let Some(inner) = tool["tools"].as_array() {
            open.extend(inner);
        } else {
            let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
            names.push(name.unwrap_or("unnamed").to_owned());
        }
    }
    names
}

/// Requests for a reply.
fn asked(requests: &[Request]) -> Vec<&Request> {
    requests
        .iter()
        .filter(|request| {
            request.method == "POST"
                && ["/messages", "/responses", "/chat/completions"]
                    .iter()
                    .any(|end| {
                        request
                            .path
                            .split('?')
                            .next()
                            .unwrap_or_default()
                            .ends_with(end)
                    })
        })
        .collect()
}

/// Codex takes a reply from the end of its item, which other clients of the protocol do without.
fn answer(request: &Request) -> Behaviour {
    if !request.path.ends_with("/responses") {
        return Behaviour::Answer;
    }
    let item = json!({
        "type": "message", "id": "msg_stub", "role": "assistant",
        "content": [{"type": "output_text", "text": "Paris"}],
    });
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_stub"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {
            "id": "resp_stub", "usage": {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13},
        }}),
    ];
    let body: String = events
        .iter()
        .map(|event| {
            format!(
                "event: {}\ndata: {event}\n\n",
                event["type"].as_str().unwrap()
            )
        })
        .collect();
    Behaviour::Response {
        status: 200,
        headers: vec![("content-type", "text/event-stream".to_owned())],
        body: body.into_bytes(),
    }
}

/// OpenCode with the tools of a task: these are offered, the call is answered with the fixed result,
/// and one who only calls tools comes to an end.
async fn drive_tools(program: &Path) {
    let server = StubServer::start();
    let home = tempfile::tempdir().unwrap();
    furnish(home.path(), &format!("http://{}/v1", server.address()));
    let way = ways("opencode", &server, home.path()).remove(0);
    let backend = open("opencode", program, &way, home.path()).await;
    let mut task = Task::new("t", "", "Is main fine?");
    task.tools = ["ci.status", "bash"]
        .map(|name| Tool {
            name: name.to_owned(),
            description: String::new(),
            result: "build \u{2028} \"4711\"; }, is green".to_owned(),
        })
        .to_vec();
    let question = Call {
        subject: Subject::Attempt {
            task: Box::new(task),
            skill: String::new(),
            memory: String::new(),
        },
        ..call("Is main fine?")
    };
    server.standing(Behaviour::Decide(Arc::new(|request: &Request| {
        if request.body.to_string().contains("4711") {
            return Behaviour::Reply("It is green.".to_owned());
        }
        Behaviour::calls(&["bash", "tool1_ci_status"])
    })));
    let reply = backend.ask(&question, &CancelToken::new()).await.unwrap();
    let said = ToolReply::from_json(&reply.text).unwrap();
    assert_eq!(
        (said.text.as_str(), said.answered.len()),
        ("It is green.", 1),
        "{said:?}"
    );
    assert_eq!(said.answered, ["ci.status"]);
    let requests = server.requests();
    for request in asked(&requests) {
        let mut offered = tools(&request.body);
        offered.sort();
        assert_eq!(offered, ["tool1_ci_status", "tool2_bash"]);
    }
    server.standing(Behaviour::calls(&["tool1_ci_status"]));
    let before = server.requests().len();
    let endless = backend
        .ask(&question, &CancelToken::new())
        .await
        .unwrap_err();
    assert_eq!(endless.code(), "reply_unreadable", "{endless}");
    let requests = server.requests();
    let count = asked(&requests[before..]).len();
    println!(
        "opencode with tools: both offered and no other, an endless run was ended after {count} requests"
    );
}

async fn drive(agent: &str, program: &Path) {
    let server = StubServer::start();
    server
        .brain(|_| "Paris".to_owned())
        .standing(Behaviour::Decide(Arc::new(answer)));
    let home = tempfile::tempdir().unwrap();
    let secret = furnish(home.path(), &format!("http://{}/v1", server.address()));
    for way in ways(agent, &server, home.path()) {
        let backend = open(agent, program, &way, home.path()).await;
        assert_ne!(backend.signed_in(&CancelToken::new()).await, Some(false));
        let questions = [
            format!(
                "/compact {MARK} and the text @{}: name the capital of France.",
                secret.display()
            ),
            format!(
                "{MARK}: is @{} a file? @~/.claude/CLAUDE.md",
                secret.display()
            ),
        ];
        let before = server.requests().len();
        let started = Instant::now();
        for question in &questions {
            let reply = backend
                .ask(&call(question), &CancelToken::new())
                .await
                .unwrap();
            assert_eq!(reply.text, "Paris", "{agent}");
            assert!(
                reply.usage.output_tokens.is_some() || agent == "copilot",
                "{agent}"
            );
        }
        let took = started.elapsed() / 2;
        let requests = server.requests();
        let asked = asked(&requests[before..]);
        assert_eq!(asked.len(), 2, "{agent}: one request for each question");
        let mut size = 0;
        for request in asked {
            let body = request.body.to_string();
            size = body.len();
            assert!(
                body.contains("Be brief."),
                "{agent}: our own instructions are missing: {body}"
            );
            assert!(body.contains(MARK), "{agent}");
            assert!(
                !body.contains(CANARY),
                "{agent}: something of the user's is in: {body}"
            );
            // Codex has one that cannot be switched off; it asks its user, and nobody is there.
            let offered: Vec<String> = tools(&request.body)
                .into_iter()
                .filter(|name| name != "request_user_input")
                .collect();
            assert!(offered.is_empty(), "{agent}: {offered:?}");
            let credential = request
                .header("x-api-key")
                .or(request.header("authorization"));
            assert_eq!(
                credential.map(|credential| credential.trim_start_matches("Bearer ")),
                Some(way.credential.as_str()),
                "{agent}"
            );
        }
        println!(
            "{agent} {} {}: 2 questions, 2 requests of some {size} bytes, nothing of the user's; {:.1} s a question",
            backend.version(),
            way.name,
            took.as_secs_f64()
        );
    }
    for ran in ["hook-ran", "server-ran", "plugin-ran"] {
        assert!(!home.path().join(ran).exists(), "{agent}: {ran}");
    }
    let kept = furnish::files_with(home.path(), MARK);
    assert!(kept.is_empty(), "{agent} kept a session: {kept:?}");
}

#[tokio::test]
async fn nothing_of_the_users_own_reaches_a_model() {
    let Ok(named) = std::env::var("SKILLOPT_TEST_AGENTS") else {
        println!("left out: SKILLOPT_TEST_AGENTS names no programs");
        return;
    };
    for line in named.lines() {
        let (agent, program) = line.split_once('=').unwrap();
        drive(agent, Path::new(program)).await;
        if agent == "opencode" {
            drive_tools(Path::new(program)).await;
        }
    }
}
