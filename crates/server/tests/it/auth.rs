//! Tokens: creation, listing, expiry, revocation; login codes; rate limits.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{World, id, question};

#[tokio::test]
async fn token_secret_is_returned_only_on_creation() {
    let world = World::start().await;
    let made = world
        .admin
        .post("/v1/tokens", json!({ "role": "answerer", "actor": "ann", "labels": { "team": "shop" } }))
        .await
        .expect(201);
    let secret = made["token"].as_str().unwrap();
    assert!(secret.starts_with("sayso_") && secret.len() > 40);
    let list = world.admin.get("/v1/tokens").await;
    let listed = list.expect(200);
    let ann = listed["data"].as_array().unwrap().iter().find(|token| token["actor"] == "ann").unwrap();
    assert_eq!((&ann["id"], &ann["role"], &ann["labels"]), (&made["id"], &json!("answerer"), &json!({ "team": "shop" })));
    assert!(!list.text.contains(secret));
    for wrong in [
        json!({ "role": "king", "actor": "x" }),
        json!({ "role": "viewer" }),
        json!({ "role": "viewer", "actor": " " }),
        json!({ "role": "viewer", "actor": "x", "expiresIn": "soon" }),
        json!({ "role": "viewer", "actor": "x", "sessionId": "ses_01890000000070008000000000000000", "labels": { "a": "b" } }),
        json!({ "role": "admin", "actor": "x", "labels": { "a": "b" } }),
        json!({ "role": "viewer", "actor": "x", "scope": "all" }),
    ] {
        assert_eq!(world.admin.post("/v1/tokens", wrong.clone()).await.status, 422, "{wrong}");
    }
}

#[tokio::test]
async fn token_expires_at_its_time() {
    let (world, clock) = World::timeless("").await;
    let guest = world.token(json!({ "role": "viewer", "actor": "guest", "expiresIn": "1h" })).await;
    clock.advance(Duration::from_millis(3_600_000 - 1));
    guest.get("/v1/asks").await.expect(200);
    clock.advance(Duration::from_millis(1));
    guest.get("/v1/asks").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn revoked_token_is_refused_immediately() {
    let mut world = World::start().await;
    let made = world.admin.post("/v1/tokens", json!({ "role": "answerer", "actor": "ann" })).await.expect(201);
    let ann = world.http(made["token"].as_str().unwrap());
    let ask = id(&world.open_ask(question()).await);
    ann.get("/v1/asks").await.expect(200);
    let path = format!("/v1/tokens/{}", made["id"].as_str().unwrap());
    let revoked = world.admin.delete(&path).await.expect(200);
    assert!(revoked["revokedAt"].is_string());
    ann.answer(&ask, json!([["SQLite"]])).await.problem(401, "unauthorized");
    world.server.restart().await.unwrap();
    ann.get("/v1/asks").await.problem(401, "unauthorized");
    assert_eq!(world.ask(&ask).await["status"], "pending");
    // The limit of one address does not affect others.
    let tokens = world.admin.get("/v1/tokens").await.expect(200);
    let own = tokens["data"].as_array().unwrap().iter().find(|token| token["role"] == "admin").unwrap();
    world.admin.delete(&format!("/v1/tokens/{}", own["id"].as_str().unwrap())).await.problem(422, "invalid_request");
}

/// Revocation also ends the open streams of a token.
#[tokio::test]
async fn revocation_ends_the_streams_of_a_token() {
    let world = World::start().await;
    let made = world.admin.post("/v1/tokens", json!({ "role": "viewer", "actor": "screen" })).await.expect(201);
    let screen = world.http(made["token"].as_str().unwrap());
    let mut stream = screen.stream("/v1/events?since=0", None).await;
    let seen = world.open_ask(question()).await;
    assert_eq!(id(&stream.event().await.1["data"]), id(&seen));
    world.admin.delete(&format!("/v1/tokens/{}", made["id"].as_str().unwrap())).await.expect(200);
    let hidden = id(&world.open_ask(question()).await);
    loop {
        match stream.piece().await {
            None => break,
            Some(crate::world::Piece::Comment) => {}
            Some(crate::world::Piece::Event(_, data)) => assert_ne!(id(&data["data"]), hidden, "a revoked token goes on reading"),
        }
    }
}

#[tokio::test]
async fn login_code_works_once() {
    let (world, clock) = World::timeless("").await;
    let code = world.admin.poke("/v1/login-codes").await.expect(201);
    let secret = code["code"].as_str().unwrap().to_owned();
    assert_eq!(code["url"], format!("{}/#code={secret}", world.server.url()));
    let anonymous = world.http("");
    anonymous.post("/v1/login", json!({ "code": "0".repeat(32) })).await.problem(401, "unauthorized");
    let login = anonymous.post("/v1/login", json!({ "code": secret, "device": "Firefox" })).await;
    let made = login.expect(201);
    assert!(login.headers.get("set-cookie").is_none(), "no cookies");
    world.http(made["token"].as_str().unwrap()).get("/v1/asks").await.expect(200);
    assert_eq!((&made["device"], &made["lastUsedAt"]), (&json!("Firefox"), &Value::Null));
    let listed = world.admin.get("/v1/tokens").await.expect(200);
    let browser = listed["data"].as_array().unwrap().iter().find(|token| token["id"] == made["id"]).unwrap();
    assert_eq!(
        (&browser["device"], &browser["lastUsedAt"]),
        (&json!("Firefox"), &made["createdAt"]),
        "the clock has not advanced"
    );
    anonymous.post("/v1/login", json!({ "code": secret })).await.problem(401, "unauthorized");
    let late = world.admin.poke("/v1/login-codes").await.expect(201);
    clock.advance(Duration::from_secs(600));
    anonymous.post("/v1/login", json!({ "code": late["code"] })).await.problem(401, "unauthorized");
    // A browser's token can be revoked like any other.
    world.admin.delete(&format!("/v1/tokens/{}", made["id"].as_str().unwrap())).await.expect(200);
    world.http(made["token"].as_str().unwrap()).get("/v1/asks").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn guessing_login_codes_is_rate_limited() {
    let (world, clock) = World::timeless("").await;
    let anonymous = world.http("");
    let guess = || anonymous.post("/v1/login", json!({ "code": "guess" }));
    let mut refused = 0;
    while guess().await.status == 401 {
        refused += 1;
        assert!(refused < 100, "the rate limit never applies");
    }
    guess().await.problem(429, "rate_limited");
    clock.advance(Duration::from_secs(60));
    guess().await.problem(401, "unauthorized");
}

#[tokio::test]
async fn guessing_tokens_is_rate_limited_per_address() {
    let (world, clock) = World::timeless("").await;
    let thief = world.http("sayso_guess");
    let mut refused = 0;
    let last = loop {
        let reply = thief.get("/v1/asks").await;
        if reply.status != 401 {
            break reply;
        }
        refused += 1;
        assert!(refused < 1_000, "the rate limit never applies");
    };
    last.problem(429, "rate_limited");
    world.admin.get("/v1/asks").await.expect(200);
    clock.advance(Duration::from_secs(60));
    thief.get("/v1/asks").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn calls_of_an_agent_are_rate_limited() {
    let (world, clock) = World::timeless("").await;
    let agent = world.role("agent").await;
    let mut allowed = 0;
    while agent.get("/v1/asks?limit=1").await.status == 200 {
        allowed += 1;
        assert!(allowed < 5_000, "the rate limit never applies");
    }
    assert!(allowed >= 100, "{allowed}");
    agent.get("/v1/asks").await.problem(429, "rate_limited");
    world.admin.get("/v1/asks").await.expect(200);
    clock.advance(Duration::from_secs(60));
    agent.get("/v1/asks").await.expect(200);
}

#[tokio::test]
async fn tokens_are_read_only_from_the_header() {
    let world = World::start().await;
    let anonymous = world.http("");
    let token = world.server.token().to_owned();
    for path in [format!("/v1/asks?token={token}"), format!("/v1/asks?access_token={token}"), format!("/v1/events?token={token}")]
    {
        assert_eq!(anonymous.get(&path).await.status, 401, "{path}");
    }
    let request = anonymous.request(&reqwest::Method::GET, "/v1/asks").header("cookie", format!("token={token}"));
    anonymous.send(request).await.problem(401, "unauthorized");
    let request = anonymous.request(&reqwest::Method::GET, "/v1/asks").header("authorization", format!("Basic {token}"));
    anonymous.send(request).await.problem(401, "unauthorized");
    let request = anonymous.request(&reqwest::Method::GET, "/v1/asks").header("authorization", format!("bearer {token}"));
    anonymous.send(request).await.expect(200);
}

#[tokio::test]
async fn admin_token_file_is_private_and_survives_a_restart() {
    use std::os::unix::fs::PermissionsExt;
    let mut world = World::start().await;
    let path = world.server.data_dir().join("token");
    assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), world.server.token());
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&world.server.data_dir().join("sayso.db")), 0o600);
    let before = world.server.token().to_owned();
    world.server.restart().await.unwrap();
    assert_eq!(world.server.token(), before);
    let told: Value =
        serde_json::from_str(&std::fs::read_to_string(world.server.data_dir().join("server.json")).unwrap()).unwrap();
    assert_eq!((&told["url"], &told["pid"]), (&json!(world.server.url()), &json!(std::process::id())));
}
