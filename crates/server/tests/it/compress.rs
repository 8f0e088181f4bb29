//! JSON responses are compressed for clients that accept it; streams, small responses and secrets are not.

use std::io::Read as _;

use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, id, question};

/// The status, the encoding and the bytes of a response to a client that accepts gzip.
async fn packed(world: &World, method: Method, path: &str, body: Option<Value>) -> (u16, Option<String>, Vec<u8>) {
    let mut request = world.admin.request(&method, path).header("accept-encoding", "gzip");
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    let encoding = response.headers().get("content-encoding").map(|value| value.to_str().unwrap().to_owned());
    (response.status().as_u16(), encoding, response.bytes().await.unwrap().to_vec())
}

fn unpacked(bytes: &[u8]) -> Value {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn lists_are_compressed_for_clients_that_accept_it() {
    let world = World::start().await;
    for _ in 0..20 {
        world.open_ask(question()).await;
    }
    let plain = world.admin.get("/v1/asks").await;
    let (status, encoding, bytes) = packed(&world, Method::GET, "/v1/asks", None).await;
    assert_eq!((status, encoding.as_deref()), (200, Some("gzip")));
    assert_eq!(unpacked(&bytes), plain.expect(200));
    assert!(bytes.len() * 5 < plain.text.len(), "{} of {} bytes", bytes.len(), plain.text.len());
    assert_eq!(plain.headers.get("content-encoding"), None);
    assert_eq!(plain.headers["vary"], "accept-encoding");

    let explain = json!({ "pending": true });
    let (status, encoding, bytes) = packed(&world, Method::POST, "/v1/policy/explain", Some(explain)).await;
    assert_eq!((status, encoding.as_deref()), (200, Some("gzip")));
    assert_eq!(unpacked(&bytes)["data"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn small_responses_and_streams_are_not_compressed() {
    let world = World::start().await;
    let (status, encoding, _) = packed(&world, Method::GET, "/v1/asks", None).await;
    assert_eq!((status, encoding), (200, None));
    let request = world.admin.request(&Method::GET, "/v1/events?since=0").header("accept-encoding", "gzip");
    let mut stream = crate::world::Stream::of(request).await;
    let ask = world.open_ask(question()).await;
    assert_eq!(stream.until("question.requested").await["data"]["id"], ask["id"]);
}

#[tokio::test]
async fn responses_with_tokens_or_secrets_are_not_compressed() {
    let world = World::start().await;
    // Long names make these responses as large as those that are compressed.
    let long = "x".repeat(1_000);
    for _ in 0..4 {
        let body = json!({ "role": "viewer", "actor": &long[..200] });
        let (status, encoding, _) = packed(&world, Method::POST, "/v1/tokens", Some(body)).await;
        assert_eq!((status, encoding), (201, None));
    }
    let (_, encoding, bytes) = packed(&world, Method::GET, "/v1/tokens", None).await;
    assert_eq!(encoding, None);
    assert!(bytes.len() > 1_400, "large enough to be compressed");

    let text = format!("Token? {}", long.repeat(2));
    let secret = json!({ "questions": [{ "text": text, "input": "text", "secret": true }] });
    let ask = id(&world.open_ask(secret).await);
    world.admin.answer(&ask, json!([["s3cret"]])).await.expect(200);
    let (status, encoding, bytes) = packed(&world, Method::POST, &format!("/v1/asks/{ask}/receipt"), None).await;
    assert_eq!((status, encoding), (200, None));
    assert!(bytes.len() > 1_400, "large enough to be compressed");
}
