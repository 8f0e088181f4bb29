//! Callers that disconnect before the response.

use std::time::Duration;

use sayso_testkit::within;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::world::{World, id, question};

/// The number of attempts per case, because whether the server is storing when the caller disconnects depends on timing.
const TRIES: u64 = 20;

/// Starts a call as the admin, yields to the server `turns` times, and then disconnects.
async fn hang_up(world: &World, method: &str, path: &str, body: &str, turns: u64) {
    let address = world.server.url().trim_start_matches("http://").to_owned();
    let mut socket = TcpStream::connect(&address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        world.server.token(),
        body.len()
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}

/// Repeats an attempt until it returns a value.
async fn until<T>(what: &str, mut attempt: impl AsyncFnMut(u64) -> Option<T>) -> T {
    let found = async {
        let mut tries = 0;
        loop {
            if let Some(found) = attempt(tries).await {
                return Ok(found);
            }
            tries += 1;
        }
    };
    within(what, found).await.unwrap()
}

#[tokio::test]
async fn revocation_completes_when_the_client_disconnects() {
    let world = World::start().await;
    for first in 0..TRIES {
        let made = world.admin.post("/v1/tokens", json!({ "role": "viewer", "actor": "phone" })).await.expect(201);
        let phone = world.http(made["token"].as_str().unwrap());
        phone.get("/v1/asks").await.expect(200);
        let path = format!("/v1/tokens/{}", id(&made));
        until("the token to be revoked", async |tries| {
            hang_up(&world, "DELETE", &path, "", first + tries).await;
            let stored = world.admin.get("/v1/tokens").await.expect(200);
            let row = stored["data"].as_array().unwrap().iter().find(|row| row["id"] == made["id"]).unwrap().clone();
            (!row["revokedAt"].is_null()).then_some(())
        })
        .await;
        until("the token to be refused", async |_| (phone.get("/v1/asks").await.status == 401).then_some(())).await;
    }
}

#[tokio::test]
async fn ask_is_withdrawn_when_its_caller_disconnects() {
    let (world, clock) = World::timeless("").await;
    for first in 0..TRIES {
        let mut ask = question();
        (ask["keep"], ask["dedupeKey"]) = (json!("1m"), json!(format!("k{first}")));
        let ask = ask.to_string();
        let opened: Value = until("the ask", async |tries| {
            hang_up(&world, "POST", "/v1/asks", &ask, first + tries).await;
            world.admin.get("/v1/asks?status=pending").await.expect(200)["data"].as_array().unwrap().first().cloned()
        })
        .await;
        until("the ask to be withdrawn", async |_| {
            clock.advance(Duration::from_secs(60));
            (world.ask(&id(&opened)).await["status"] == "withdrawn").then_some(())
        })
        .await;
    }
}
