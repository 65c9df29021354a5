//! Which models a server has.

use super::*;

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
