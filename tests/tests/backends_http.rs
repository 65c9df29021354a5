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

#[path = "backends_http/failures.rs"]
mod failures;
#[path = "backends_http/models.rs"]
mod models;
#[path = "backends_http/understanding.rs"]
mod understanding;
#[path = "backends_http/waiting.rs"]
mod waiting;

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
async fn a_reply_cut_at_the_limit_is_a_reply_that_says_so() {
    let server = StubServer::start();
    server.standing(Behaviour::ended("and so on and", Ending::Length));
    for protocol in PROTOCOLS {
        let reply = ask(&speaking(protocol, &server.url())).await.unwrap();
        assert_eq!(reply.finish, Finish::Length, "{protocol:?}");
    }
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
