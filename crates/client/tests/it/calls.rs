//! Calls over lost connections.

use sayso_client::api::ask::NoRequest;
use sayso_client::api::error::ErrorCode;
use sayso_client::{Client, Error, Surface};

use crate::scripted::{Reply, Scripted, header};

const HEALTH: &str = r#"{"status":"ok","version":"1","later":true}"#;
const ASK: &str = r#"{"id":"ask_1","sessionId":null,"agent":"mock","kind":"question","status":"rejected","toolCallId":"c","title":"t",
    "blocking":true,"openedAt":"2026-11-15T14:03:00Z","labels":{},"fieldOfTheFuture":1}"#;

#[tokio::test]
async fn lost_call_is_retried_with_the_same_key() {
    let stopping = r#"{"type":"about:blank","title":"Stopping","status":503,"detail":"stopping","code":"shutting_down"}"#;
    let replies = vec![
        Reply::json("200 OK", HEALTH),
        Reply::Lost,
        Reply::json("503 Service Unavailable", stopping),
        Reply::json("200 OK", ASK),
    ];
    let server = Scripted::start(replies).await;
    let client = Client::for_surface(&server.url, "secret", Surface::Terminal).unwrap();
    client.health().await.unwrap();
    let ask = client.reject("ask_1", &NoRequest { message: Some("no".into()), stop: false }).await.unwrap();
    assert_eq!(ask.id, "ask_1");

    let requests = server.requests();
    let calls = &requests[1..];
    assert_eq!(calls.len(), 3);
    let keys: Vec<_> = calls.iter().map(|call| header(call, "idempotency-key").unwrap()).collect();
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    for call in calls {
        assert!(call.starts_with("POST /v1/asks/ask_1/reject HTTP/1.1\r\n"), "{call}");
        assert!(call.ends_with(r#"{"message":"no","stop":false}"#), "{call}");
        assert_eq!(header(call, "authorization").as_deref(), Some("Bearer secret"));
        assert_eq!(header(call, "x-sayso-via").as_deref(), Some("terminal"));
    }
}

#[tokio::test]
async fn unreachable_server_is_not_retried() {
    // No system assigns this port by itself, so no other test listens there.
    let client = Client::new("http://127.0.0.1:1", "t").unwrap();
    // Less than the timeout of a call.
    let called = tokio::time::timeout(std::time::Duration::from_secs(20), client.agents());
    let error = called.await.unwrap().unwrap_err();
    assert!(error.is_unreachable(), "{error}");
}

#[tokio::test]
async fn problem_has_its_code_and_the_existing_outcome() {
    let taken = r#"{"type":"about:blank","title":"Resolved","status":409,"detail":"another client was first","code":"ask_already_resolved",
        "own":false,"outcome":{"status":"answered","by":{"kind":"person","name":"ada","via":"page"},"at":"2026-11-15T14:03:00Z"}}"#;
    let server = Scripted::start(vec![Reply::json("409 Conflict", taken), Reply::json("500 Oops", "<html>")]).await;
    let client = Client::new(&server.url, "t").unwrap();
    let error = client.withdraw("ask_1").await.unwrap_err();
    assert_eq!((error.code(), error.is_own()), (Some(ErrorCode::AskAlreadyResolved), false));
    assert_eq!(error.already_resolved().unwrap().by.name.as_deref(), Some("ada"));
    assert!(matches!(client.agents().await.unwrap_err(), Error::Protocol { .. }));
}
