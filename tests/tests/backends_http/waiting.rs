//! Silence, dripping, pings and stopping.

use super::*;

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
