//! What servers understand, and what is left out for those that do not.

use super::*;

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
            None => {
                assert_eq!(problem.code, "backend_misconfigured");
                assert!(
                    problem.message.contains("does not take the request"),
                    "{problem}"
                );
            }
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
    assert_eq!(error.code(), "backend_misconfigured");
    assert!(server.asked().len() <= 8, "{}", server.asked().len());
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

/// What a server says at its paths, one after the other.
type Says = Vec<(&'static str, Vec<Value>)>;

#[tokio::test]
async fn a_server_tells_how_much_its_model_reads_and_is_asked_for_it_once() {
    let models = |row: Value| json!({ "data": [row] });
    let plain = || models(json!({ "id": "stub-model" }));
    let ollama = || models(json!({ "id": "stub-model:latest", "owned_by": "library" }));
    let unexpected =
        |path: &str| json!({ "error": format!("Unexpected endpoint or method. (GET {path})") });
    let loaded = json!({ "models": [{ "name": "stub-model:latest", "context_length": 4096 }] });
    let servers: [(&str, Says, Option<u64>); 5] = [
        (
            "vLLM",
            vec![(
                "/v1/models",
                vec![models(json!({ "id": "stub-model", "max_model_len": 8192 }))],
            )],
            Some(8192),
        ),
        (
            "llama.cpp",
            vec![
                ("/v1/models", vec![plain()]),
                (
                    "/props",
                    vec![json!({ "default_generation_settings": { "n_ctx": 2048 } })],
                ),
            ],
            Some(2048),
        ),
        (
            "Ollama, which loads the model first",
            vec![
                ("/v1/models", vec![ollama()]),
                ("/api/ps", vec![json!({ "models": [] }), loaded]),
                ("/api/generate", vec![json!({ "done": true })]),
            ],
            Some(4096),
        ),
        (
            "LM Studio, which has an error for every path",
            vec![
                ("/v1/models", vec![plain()]),
                ("/props", vec![unexpected("/props")]),
                ("/api/ps", vec![unexpected("/api/ps")]),
                (
                    "/api/v0/models",
                    vec![
                        json!({ "data": [{ "id": "stub-model", "max_context_length": 131_072, "loaded_context_length": 4096 }] }),
                    ],
                ),
            ],
            Some(4096),
        ),
        (
            "one that does not say",
            vec![("/v1/models", vec![plain()])],
            None,
        ),
    ];
    for (name, says, window) in servers {
        let server = StubServer::start();
        for (path, answers) in says {
            server.says(path, answers);
        }
        let backend = Server::new(options(&server.url())).unwrap();
        assert_eq!(backend.window(&CancelToken::new()).await, window, "{name}");
        let asked = server.requests().len();
        assert_eq!(backend.window(&CancelToken::new()).await, window, "{name}");
        assert_eq!(server.requests().len(), asked, "{name}");
        assert_eq!(server.asked().len(), 0, "{name}: no model is asked");
    }
}
