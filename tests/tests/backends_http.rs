//! The backends that are reached over HTTP, against a server that answers, delays, fails, limits and lies.
#![expect(
    clippy::unwrap_used,
    reason = "a test may stop where something is missing"
)]

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use skillopt_core::Retry;
use skillopt_core::call::{BackendId, Call, Message, Params, Role, Subject};
use skillopt_models::http::{Address, Credential, Manner, Options, Protocol, Server, Thinking};
use skillopt_models::{ApiKey, Backend, CallError, CancelToken, Finish, Keyring, RawReply, Scope};
use skillopt_store::FixedClock;
use skillopt_tests::stub_server::{Behaviour, Ending, StubServer};

const KEY: &str = "sk-canary-0123456789";

fn options(url: &str) -> Options {
    Options {
        kind: "openai_compatible",
        address: Address::parse(url).unwrap(),
        credential: Credential::None,
        protocol: Protocol::Chat,
        manner: Manner::default(),
        lists_models: true,
        model: "stub-model".into(),
        first_byte: Duration::from_secs(20),
        whole: Duration::from_secs(30),
        clock: Arc::new(FixedClock::new("2026-11-29T18:25:00Z".parse().unwrap())),
        zone: TimeZone::UTC,
    }
}

fn key() -> Option<ApiKey> {
    ApiKey::named(
        "STUB_KEY",
        &[("STUB_KEY".to_owned(), KEY.to_owned())].into(),
        &Keyring::nowhere(),
    )
    .unwrap()
}

const PROTOCOLS: [Protocol; 3] = [Protocol::Chat, Protocol::Responses, Protocol::Messages];

/// The backend as settings make it for a protocol, with a key.
fn speaking(protocol: Protocol, url: &str) -> Server {
    let key = key().unwrap();
    let (kind, credential) = match protocol {
        Protocol::Chat | Protocol::Responses => ("openai_compatible", Credential::Bearer(key)),
        Protocol::Messages => (
            "anthropic",
            skillopt_models::anthropic::credential(Some(key)),
        ),
    };
    Server::new(Options {
        kind,
        credential,
        protocol,
        ..options(url)
    })
    .unwrap()
}

fn with_key(url: &str) -> Server {
    Server::new(Options {
        credential: Credential::bearer(key()),
        ..options(url)
    })
    .unwrap()
}

fn call(schema: Option<Value>) -> Call {
    Call {
        backend: BackendId {
            kind: "openai_compatible".into(),
            address: String::new(),
            model: "stub-model".into(),
            version: String::new(),
            system_mode: "system_role".into(),
        },
        subject: Subject::Judge {
            intent: String::new(),
            rubric: String::new(),
            response: String::new(),
        },
        messages: vec![
            Message {
                role: Role::System,
                text: "Be brief.".into(),
            },
            Message {
                role: Role::User,
                text: "What is 2 + 2?".into(),
            },
        ],
        params: Params {
            max_tokens: 64,
            temperature: None,
            schema,
        },
        sample: 0,
        ask: 0,
        rounds: Vec::new(),
    }
}

async fn ask(backend: &Server) -> Result<RawReply, CallError> {
    backend.ask(&call(None), &CancelToken::new()).await
}

#[tokio::test]
async fn a_reply_comes_with_its_usage_and_model_streamed_or_not() {
    for protocol in PROTOCOLS {
        let server = StubServer::start();
        server.require_key(KEY);
        server.brain(|request| {
            let messages = request.get("messages").unwrap_or(&request["input"]);
            let asked = messages.as_array().unwrap().last().unwrap();
            format!("{} + ünïcödé ✓", asked["content"].as_str().unwrap())
        });
        server.script([
            Behaviour::Answer,
            Behaviour::Whole("It is 4.".into()),
            Behaviour::wrong_content_type("It is 4."),
        ]);
        let backend = speaking(protocol, &server.url());
        let streamed = ask(&backend).await.unwrap();
        assert_eq!(streamed.text, "What is 2 + 2? + ünïcödé ✓");
        assert_eq!(streamed.model, "stub-model-2026");
        assert_eq!(streamed.finish, Finish::Done);
        // The stub counts one token for four characters: 9 + 2 + 14 characters asked, 26 answered.
        assert_eq!(streamed.usage.input_tokens, Some(7), "{protocol:?}");
        assert_eq!(streamed.usage.cached_tokens, Some(1), "{protocol:?}");
        assert_eq!(streamed.usage.output_tokens, Some(7));
        for _ in 0..2 {
            let whole = ask(&backend).await.unwrap();
            assert_eq!(whole.text, "It is 4.");
            assert_eq!(whole.usage.input_tokens, Some(7), "{protocol:?}");
        }
        let asked = server.asked();
        assert_eq!(asked.len(), 3);
        assert_eq!(asked[0].body["stream"], true);
        // It did not stream when it was asked to, so it is not asked to again.
        assert_eq!(asked[2].body.get("stream"), None);
        let version = (protocol == Protocol::Messages).then_some("2023-06-01");
        assert_eq!(asked[0].header("anthropic-version"), version);
    }
}

#[tokio::test]
async fn every_failure_has_its_type_its_words_and_its_class() {
    type Row = (Behaviour, &'static str, &'static str, Retry, Scope);
    let permanent = Retry::Permanent;
    let temporary = Retry::Temporary;
    let other = StubServer::start();
    let rows: Vec<Row> = vec![
        (
            Behaviour::unauthorized(),
            "sign_in_needed",
            "401 Incorrect API key provided",
            permanent,
            Scope::Provider,
        ),
        (
            Behaviour::forbidden(),
            "sign_in_needed",
            "403 Your account may not use this model",
            permanent,
            Scope::Provider,
        ),
        (
            Behaviour::status(402),
            "quota_exhausted",
            "allows no more: 402",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::no_such_model(),
            "backend_misconfigured",
            "does not have the model stub-model",
            permanent,
            Scope::Provider,
        ),
        (
            Behaviour::status(404),
            "backend_misconfigured",
            "(404 Something went wrong.)",
            permanent,
            Scope::Provider,
        ),
        (
            Behaviour::status(408),
            "model_unavailable",
            "408",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::too_large(),
            "context_overflow",
            "413",
            permanent,
            Scope::Call,
        ),
        (
            Behaviour::too_long(),
            "context_overflow",
            "maximum context length is 4096",
            permanent,
            Scope::Call,
        ),
        (
            Behaviour::rate_limited(None),
            "rate_limited",
            "asks to wait: 429",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::rate_limited(Some("7")),
            "rate_limited",
            "asks to wait for 7 s: 429",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::rate_limited(Some("Sun, 29 Nov 2026 18:27:00 GMT")),
            "rate_limited",
            "asks to wait for 120 s",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::out_of_quota(None),
            "quota_exhausted",
            "allows no more: 429 You exceeded your current quota",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::out_of_quota(Some("7200")),
            "quota_exhausted",
            "allows no more until 2026-11-29T20:25:00Z",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::Reply("Claude AI usage limit reached|1795983924".into()),
            "quota_exhausted",
            "allows no more until 2026-11-29T20:25:24Z",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::Reply("You've hit your session limit · resets 11pm (UTC)".into()),
            "quota_exhausted",
            "allows no more until 2026-11-29T23:00:00Z",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::status(500),
            "model_unavailable",
            "500 Something went wrong",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::status(529),
            "model_unavailable",
            "529",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::CutStream,
            "model_unavailable",
            "closed the connection before the reply was complete",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::Close,
            "model_unavailable",
            "closed the connection before the reply was complete",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::web_page(200),
            "model_unavailable",
            "answered with a web page",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::web_page(502),
            "model_unavailable",
            "502 (a web page)",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::garbage("Sure! Here is"),
            "model_unavailable",
            "something that is not JSON: Sure! Here is",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::garbage(r#"{"score": NaN}"#),
            "model_unavailable",
            "something that is not JSON",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::garbage(r#"{"score": 7}"#),
            "model_unavailable",
            "answered, but not as the",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::garbage(&"[".repeat(100_000)),
            "model_unavailable",
            "something that is not JSON",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::json(
                200,
                &json!({ "error": { "code": 429, "message": "Rate limit. Try again in 20s." } }),
            ),
            "rate_limited",
            "asks to wait for 20 s",
            temporary,
            Scope::Provider,
        ),
        (
            Behaviour::Response {
                status: 200,
                headers: vec![("content-encoding", "gzip".into())],
                body: b"not packed at all".to_vec(),
            },
            "model_unavailable",
            "sent a reply that cannot be unpacked",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::gzip_bomb(64),
            "reply_unreadable",
            "longer than 8 MB",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::Endless,
            "reply_unreadable",
            "longer than 8 MB",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::redirect(307, &format!("{}/chat/completions", other.url())),
            "backend_misconfigured",
            "it redirects to 127.0.0.1",
            permanent,
            Scope::Provider,
        ),
        (
            Behaviour::redirect(301, "https://evil.example.com/v1"),
            "backend_misconfigured",
            "it redirects to evil.example.com",
            permanent,
            Scope::Provider,
        ),
        (
            Behaviour::ended("", Ending::Done),
            "reply_unreadable",
            "it is empty",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::ended("I can't help with that.", Ending::Refusal),
            "reply_refused",
            "I can't help with that",
            permanent,
            Scope::Call,
        ),
        (
            Behaviour::ended("Half", Ending::Filter),
            "reply_refused",
            "refused to answer",
            permanent,
            Scope::Call,
        ),
        (
            Behaviour::ended("", Ending::Reasoning),
            "reply_unreadable",
            "went into reasoning",
            temporary,
            Scope::Call,
        ),
        (
            Behaviour::error(400, "Unknown parameter: messages.", "x"),
            "reply_refused",
            "400 Unknown parameter",
            permanent,
            Scope::Call,
        ),
    ];
    let all = PROTOCOLS
        .iter()
        .flat_map(|protocol| rows.iter().map(move |row| (*protocol, row.clone())));
    for (protocol, (behaviour, code, words, retry, scope)) in all {
        let server = StubServer::start();
        server.standing(behaviour);
        let backend = speaking(protocol, &server.url());
        let error = ask(&backend).await.expect_err(words);
        let problem = error.problem();
        assert_eq!(problem.code, code, "{protocol:?} {words}: {error:?}");
        assert!(
            problem.message.contains(words),
            "{protocol:?} {words}: {}",
            problem.message
        );
        assert_eq!(problem.retry, retry, "{words}");
        assert_eq!(error.scope(), scope, "{words}");
        assert!(!problem.guidance.is_empty());
        assert_eq!(server.asked().len(), 1, "{words}: one try is one request");
        let all = format!("{error:?} {error} {problem:?}");
        assert!(!all.contains("canary"), "the key is in: {all}");
    }
    assert_eq!(other.requests().len(), 0, "a redirect was followed");
}

#[tokio::test]
async fn a_reply_cut_at_the_limit_is_a_reply_that_says_so() {
    let server = StubServer::start();
    server.standing(Behaviour::ended("and so on and", Ending::Length));
    for protocol in PROTOCOLS {
        let reply = ask(&speaking(protocol, &server.url())).await.unwrap();
        assert_eq!(reply.finish, Finish::Length, "{protocol:?}");
    }
}

#[tokio::test]
async fn silence_and_dripping_end_in_time() {
    let server = StubServer::start();
    let wait = Duration::from_millis(300);
    let long = Duration::from_secs(60);
    for (behaviour, first_byte, whole, words) in [
        (Behaviour::Silence(long), wait, long, "sent nothing within"),
        (
            Behaviour::SlowLoris(Duration::from_millis(20)),
            wait,
            long,
            "sent nothing within",
        ),
        (
            Behaviour::Silence(long),
            long,
            wait,
            "did not finish within",
        ),
        (
            Behaviour::SlowLoris(Duration::from_millis(20)),
            long,
            wait,
            "did not finish within",
        ),
    ] {
        server.standing(behaviour);
        let backend = Server::new(Options {
            first_byte,
            whole,
            ..options(&server.url())
        })
        .unwrap();
        let error = ask(&backend).await.unwrap_err();
        assert_eq!(error.code(), "model_timed_out");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[tokio::test]
async fn cancelling_ends_a_call_and_the_connection() {
    let server = StubServer::start();
    server.standing(Behaviour::Silence(Duration::from_secs(60)));
    let backend = with_key(&server.url());
    let cancel = CancelToken::new();
    let soon = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        soon.drop_all();
    });
    let error = backend.ask(&call(None), &cancel).await.unwrap_err();
    assert_eq!(error, CallError::Cancelled);
}

#[tokio::test]
async fn what_a_server_does_not_know_is_left_out_and_remembered() {
    let server = StubServer::start();
    server.standing(Behaviour::refusing(&[
        ("response_format=json_schema", "This response_format type is unavailable now"),
        ("max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        ("stream_options", "Extra inputs are not permitted: stream_options"),
    ]));
    let backend = with_key(&server.url());
    let schema = json!({ "type": "object" });
    for expected in [4, 5] {
        let reply = backend
            .ask(&call(Some(schema.clone())), &CancelToken::new())
            .await
            .unwrap();
        assert_eq!(reply.text, "OK.");
        assert_eq!(server.asked().len(), expected);
    }
    let last = server.asked().pop().unwrap().body;
    assert_eq!(last["response_format"], json!({ "type": "json_object" }));
    assert_eq!(last["max_completion_tokens"], 64);
    assert_eq!(last["stream"], true);
    assert_eq!(last.get("max_tokens"), None);
}

#[tokio::test]
async fn what_the_user_asked_for_is_not_left_out_in_silence() {
    let server = StubServer::start();
    server.standing(Behaviour::error(
        400,
        "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
        "unsupported_parameter",
    ));
    let thinking = |thinking, effort: &str| Manner {
        thinking,
        effort: effort.into(),
    };
    for (manner, setting) in [
        (
            thinking(Thinking::ServerDefault, "high"),
            Some("models.reasoning_effort"),
        ),
        (thinking(Thinking::ServerDefault, ""), None),
    ] {
        let backend = Server::new(Options {
            manner,
            ..options(&server.url())
        })
        .unwrap();
        let problem = ask(&backend).await.unwrap_err().problem();
        match setting {
            Some(setting) => {
                assert_eq!(problem.code, "backend_misconfigured");
                assert!(problem.guidance.contains(setting), "{problem}");
            }
            None => assert_eq!(problem.code, "reply_refused"),
        }
    }
    server.standing(Behaviour::Answer);
    let backend = Server::new(Options {
        manner: thinking(Thinking::Template(false), ""),
        ..options(&server.url())
    })
    .unwrap();
    ask(&backend).await.unwrap();
    let sent = server.asked().pop().unwrap().body;
    assert_eq!(
        sent["chat_template_kwargs"],
        json!({ "enable_thinking": false })
    );
}

#[tokio::test]
async fn a_ping_is_no_sign_of_a_reply() {
    let server = StubServer::start();
    server.standing(Behaviour::Response {
        status: 200,
        headers: vec![("content-type", "text/event-stream".into())],
        body: b"event: ping\ndata: {\"type\":\"ping\"}\n\n".to_vec(),
    });
    let error = ask(&speaking(Protocol::Messages, &server.url()))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "model_unavailable", "{error}");
    server.standing(Behaviour::Pings(Duration::from_millis(20)));
    let backend = Server::new(Options {
        protocol: Protocol::Messages,
        first_byte: Duration::from_millis(300),
        ..options(&server.url())
    })
    .unwrap();
    let error = ask(&backend).await.unwrap_err();
    assert!(error.to_string().contains("sent nothing within"), "{error}");
}

#[tokio::test]
async fn azure_is_asked_below_its_own_path_with_its_own_header() {
    use skillopt_models::azure_openai;
    let server = StubServer::start();
    server.require_key(KEY);
    let root = server.url().replace("/v1", "");
    for (version, protocol, path) in [
        ("", Protocol::Chat, "/openai/v1/chat/completions"),
        ("", Protocol::Responses, "/openai/v1/responses"),
        (
            "2024-12-01-preview",
            Protocol::Chat,
            "/openai/deployments/stub-model/chat/completions?api-version=2024-12-01-preview",
        ),
        (
            "2025-04-01-preview",
            Protocol::Responses,
            "/openai/responses?api-version=2025-04-01-preview",
        ),
    ] {
        let backend = Server::new(Options {
            kind: azure_openai::KIND,
            address: azure_openai::address(&root, version, "stub-model", protocol).unwrap(),
            credential: Credential::Header("api-key", key().unwrap()),
            protocol,
            ..options(&root)
        })
        .unwrap();
        assert_eq!(ask(&backend).await.unwrap().text, "OK.");
        let asked = server.asked().pop().unwrap();
        assert_eq!(asked.path, path);
        assert_eq!(asked.header("api-key"), Some(KEY));
        assert_eq!(asked.header("authorization"), None);
    }
}

#[tokio::test]
async fn a_server_that_refuses_everything_is_not_asked_for_ever() {
    let server = StubServer::start();
    server.standing(Behaviour::error(
        400,
        "bad response_format, stream_options, stream, system role, max_completion_tokens",
        "x",
    ));
    let error = with_key(&server.url())
        .ask(&call(Some(json!({}))), &CancelToken::new())
        .await
        .unwrap_err();
    assert_eq!(error.code(), "reply_refused");
    assert!(server.asked().len() <= 8, "{}", server.asked().len());
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_said_in_one_sentence() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let error = ask(&with_key(&format!("http://127.0.0.1:{port}")))
        .await
        .unwrap_err();
    let problem = error.problem();
    assert_eq!(problem.code, "model_unavailable");
    assert!(
        problem.message.contains(&format!(
            "The endpoint http://127.0.0.1:{port}/v1 refuses connections"
        )),
        "{}",
        problem.message
    );
    assert!(!error.may_have_cost());
}

#[tokio::test]
async fn a_server_without_encryption_behind_https_is_unavailable() {
    let server = StubServer::start();
    let url = server.url().replace("http://", "https://");
    let error = ask(&with_key(&url)).await.unwrap_err();
    assert_eq!(error.code(), "model_unavailable", "{error}");
    assert!(
        error
            .to_string()
            .contains("no encrypted connection to https://"),
        "{error}"
    );
    assert!(!error.may_have_cost());
}

#[test]
fn a_key_is_refused_for_a_plain_address_before_anything_is_sent() {
    let problem = Server::new(Options {
        credential: Credential::bearer(key()),
        ..options("http://models.example.com/v1")
    })
    .err()
    .unwrap();
    assert_eq!(problem.code, "endpoint_insecure");
    assert!(!format!("{problem:?}").contains("canary"));
    assert!(Server::new(options("http://models.example.com/v1")).is_ok());
}

#[tokio::test]
async fn a_probe_lists_models_and_falls_back_to_a_question() {
    let cancel = CancelToken::new();
    let server = StubServer::start();
    server.require_key(KEY).models(&["stub-model", "other"]);
    let probe = with_key(&server.url()).probe(&cancel).await.unwrap();
    assert_eq!(probe.models, ["other", "stub-model"]);
    assert_eq!(probe.has_model, Some(true));
    assert_eq!(server.asked().len(), 0, "a list is free");

    server.models(&[]);
    let probe = with_key(&server.url()).probe(&cancel).await.unwrap();
    assert_eq!((probe.models, probe.has_model), (vec![], None));
    assert_eq!(server.asked().len(), 1);

    let error = Server::new(options(&server.url()))
        .unwrap()
        .probe(&cancel)
        .await
        .unwrap_err();
    assert_eq!(error.code(), "sign_in_needed");
}

#[tokio::test]
async fn a_server_with_one_model_needs_no_setting() {
    let cancel = CancelToken::new();
    let server = StubServer::start();
    let unset = || {
        Server::new(Options {
            model: String::new(),
            ..options(&server.url())
        })
        .unwrap()
    };
    let backend = unset().with_served_model(&cancel).await.unwrap();
    assert_eq!(backend.id().model, "stub-model");
    assert_eq!(backend.id().address, server.url());
    server.models(&["a", "b"]);
    let error = unset().with_served_model(&cancel).await.err().unwrap();
    assert_eq!(error.code(), "backend_misconfigured");
    assert!(error.to_string().contains("a, b"), "{error}");
}

#[tokio::test]
async fn calls_in_flight_share_nothing_but_the_connection_pool() {
    let server = StubServer::start();
    server
        .brain(|request| {
            request["messages"][1]["content"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .standing(Behaviour::Answer.after(Duration::from_millis(50)));
    let backend = Arc::new(with_key(&server.url()));
    let calls: Vec<_> = (0..40)
        .map(|number| {
            let backend = Arc::clone(&backend);
            tokio::spawn(async move {
                let mut call = call(None);
                call.messages[1].text = format!("number {number}");
                backend.ask(&call, &CancelToken::new()).await.unwrap().text
            })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), format!("number {number}"));
    }
    assert!(server.most_in_flight() > 1);
}
