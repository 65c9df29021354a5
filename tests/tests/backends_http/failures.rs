//! What is no reply, in forms that the table of `failures.rs` does not have.

use super::*;

#[tokio::test]
async fn other_forms_of_the_same_failures_have_the_same_type() {
    type Row = (Behaviour, &'static str, &'static str, Retry, Scope);
    let permanent = Retry::Permanent;
    let temporary = Retry::Temporary;
    let rows: Vec<Row> = vec![
        (
            Behaviour::rate_limited(Some("Sun, 29 Nov 2026 18:27:00 GMT")),
            "rate_limited",
            "asks to wait for 120 s",
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
            Behaviour::garbage(r#"{"score": NaN}"#),
            "model_unavailable",
            "something that is not JSON",
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
            Behaviour::redirect(301, "https://evil.example.com/v1"),
            "backend_misconfigured",
            "it redirects to evil.example.com",
            permanent,
            Scope::Provider,
        ),
        (
            Behaviour::error(400, "Unknown parameter: messages.", "x"),
            "backend_misconfigured",
            "it does not take the request (400 Unknown parameter",
            permanent,
            Scope::Provider,
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
