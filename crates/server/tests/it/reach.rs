//! Access from other devices: opened addresses, the public URL, the certificate, and phone logins.

use std::time::Duration;

use sayso_testkit::{SelfSignedCertificate, TestServer, http, within};
use serde_json::json;

use crate::world::{Piece, World, id, question};

/// Tests listen at further loopback addresses, so they never open the machine to its network.
#[tokio::test]
async fn opened_address_serves_until_it_is_closed() {
    let world = World::start().await;
    let before = world.admin.get("/v1/listeners").await.expect(200);
    assert_eq!(before["data"], json!([{ "address": address(&world), "url": world.server.url(), "main": true }]));
    let opened = world.admin.post("/v1/listeners", json!({ "address": "127.0.0.2:0" })).await.expect(201);
    let again = world.admin.post("/v1/listeners", json!({ "address": "127.0.0.2:0" })).await.expect(201);
    assert_eq!(opened, again, "opening it again returns the same address");
    let url = opened["url"].as_str().unwrap();
    assert!(url.starts_with("http://127.0.0.2:"), "{url}");
    assert_eq!(http().get(format!("{url}/v1/health")).send().await.unwrap().status(), 200);
    let foreign = http().get(format!("{url}/v1/health")).header("host", "192.0.2.1").send().await.unwrap();
    assert_eq!(foreign.status(), 421, "the guard checks every listener");

    let stream = http().get(format!("{url}/v1/events")).bearer_auth(world.server.token()).send().await.unwrap();
    world.admin.delete(&format!("/v1/listeners/{}", opened["address"].as_str().unwrap())).await.expect(204);
    let cut = within("the stream to be cut", async { Ok(stream.bytes().await.is_err()) }).await.unwrap();
    assert!(cut, "existing connections are closed");
    assert!(http().get(format!("{url}/v1/health")).send().await.is_err());
    world.admin.get("/v1/health").await.expect(200);
    assert_eq!(world.admin.get("/v1/listeners").await.expect(200)["data"].as_array().unwrap().len(), 1);
    world.admin.delete("/v1/listeners/127.0.0.2:1").await.problem(404, "not_found");
    world.admin.delete("/v1/listeners/nonsense").await.problem(404, "not_found");
}

fn address(world: &World) -> String {
    world.server.url().trim_start_matches("http://").to_owned()
}

#[tokio::test]
async fn invalid_addresses_are_refused() {
    let world = World::start().await;
    // 192.0.2.1 is for documentation: no machine has it.
    for wrong in ["0.0.0.0", "[::]:1", "224.0.0.1", "box", "", "1.2.3", "127.0.0.1:99999", "192.0.2.1"] {
        world.admin.post("/v1/listeners", json!({ "address": wrong })).await.problem(422, "invalid_request");
    }
    for port in 0..20 {
        let reply = world.admin.post("/v1/listeners", json!({ "address": format!("127.0.1.{}:0", port + 1) })).await;
        assert!(reply.status == 201 || reply.status == 422, "{reply:?}");
    }
    let open = world.admin.get("/v1/listeners").await.expect(200)["data"].as_array().unwrap().len();
    assert_eq!(open, 9, "eight in addition to its own");
    // The server's own address needs no second listener.
    let own = world.admin.post("/v1/listeners", json!({ "address": address(&world) })).await.expect(201);
    assert_eq!(own["main"], true);
}

#[tokio::test]
async fn public_url_is_used_in_links_and_its_host_is_allowed() {
    let world = World::with(|setup| {
        setup.config = Some("[server]\npublic_url = \"https://Box.example/\"\n".to_owned());
        setup.options.reach.allow_hosts = vec!["Alias.example".to_owned()];
    })
    .await;
    let code = world.admin.poke("/v1/login-codes").await.expect(201);
    assert_eq!(code["url"], format!("https://box.example/#code={}", code["code"].as_str().unwrap()));
    assert_eq!(world.admin.get("/v1/listeners").await.expect(200)["publicUrl"], "https://box.example");
    for (host, status) in [("box.example", 200), ("alias.example:4517", 200), ("other.example", 421)] {
        let request = world.admin.request(&reqwest::Method::GET, "/v1/health").header("host", host);
        assert_eq!(world.admin.send(request).await.status, status, "{host}");
    }
    // Behind a proxy that terminates TLS.
    let request = world.admin.request(&reqwest::Method::GET, "/v1/asks");
    let request = request.header("host", "box.example").header("origin", "https://box.example");
    world.admin.send(request).await.expect(200);
}

#[tokio::test]
async fn invalid_public_url_prevents_the_start() {
    for config in [
        "[server]\npublic_url = \"box\"\n",
        "[server]\npublic_url = \"https://box/path\"\n",
        "[server]\ntls_cert = \"/c.pem\"\n",
        "[server]\ntls_cert = \"/nowhere/c.pem\"\ntls_key = \"/nowhere/k.pem\"\n",
        "[server]\nlan = true\n",
    ] {
        let started = TestServer::with(|setup| setup.config = Some(config.to_owned())).await;
        assert!(started.is_err(), "{config}");
    }
}

/// The login code of a phone works once within ten minutes, and its token can answer but not administer.
#[tokio::test]
async fn phone_signs_in_once_and_can_answer() {
    let (world, clock) = World::timeless("").await;
    let anonymous = world.http("");
    let code = || async { world.admin.post("/v1/login-codes", json!({ "role": "answerer" })).await.expect(201) };
    let made = code().await;
    let login = json!({ "code": made["code"], "device": "Safari iPhone" });
    let phone = anonymous.post("/v1/login", login.clone()).await.expect(201);
    assert_eq!((&phone["role"], &phone["device"]), (&json!("answerer"), &json!("Safari iPhone")));
    anonymous.post("/v1/login", login).await.problem(401, "unauthorized");
    let wrong = json!({ "code": "0123456789abcdef0123456789abcdef" });
    anonymous.post("/v1/login", wrong.clone()).await.problem(401, "unauthorized");
    let late = code().await;
    clock.advance(Duration::from_secs(600));
    anonymous.post("/v1/login", json!({ "code": late["code"] })).await.problem(401, "unauthorized");
    world.admin.post("/v1/login-codes", json!({ "role": "agent" })).await.problem(422, "invalid_request");

    let phone = world.http(phone["token"].as_str().unwrap());
    let ask = id(&world.open_ask(question()).await);
    phone.answer(&ask, json!([["SQLite"]])).await.expect(200);
    phone.poke("/v1/login-codes").await.problem(403, "forbidden");
    phone.get("/v1/tokens").await.problem(403, "forbidden");
    phone.post("/v1/listeners", json!({ "address": "127.0.0.2" })).await.problem(403, "forbidden");

    let mut refused = 0;
    while anonymous.post("/v1/login", wrong.clone()).await.status == 401 {
        refused += 1;
        assert!(refused < 100, "the rate limit never applies");
    }
    let good = code().await;
    anonymous.post("/v1/login", json!({ "code": good["code"] })).await.problem(429, "rate_limited");
}

/// The stream ends immediately, and not only with the next event or heartbeat.
#[tokio::test]
async fn revocation_ends_a_quiet_stream_immediately() {
    let world = World::start().await;
    let made = world.admin.post("/v1/tokens", json!({ "role": "answerer", "actor": "phone" })).await.expect(201);
    let mut stream = world.http(made["token"].as_str().unwrap()).stream("/v1/events", None).await;
    assert!(matches!(stream.piece().await, Some(Piece::Comment)), "the stream is open");
    world.admin.delete(&format!("/v1/tokens/{}", made["id"].as_str().unwrap())).await.expect(200);
    assert!(stream.piece().await.is_none());
}

#[tokio::test]
async fn certificate_is_reloaded_when_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let first = SelfSignedCertificate::until(2101, dir.path()).unwrap();
    let trusting_first = first.client().unwrap();
    let world = World::with(|setup| {
        setup.options.reach.tls = Some(sayso_server::TlsFiles { certificate: first.certificate.clone(), key: first.key.clone() });
    })
    .await;
    let address = address(&world);
    let url = format!("https://{address}/v1/health");
    assert_eq!(trusting_first.get(&url).send().await.unwrap().status(), 200);
    // Programs on this machine need no certificate.
    world.admin.get("/v1/health").await.expect(200);
    let shown = world.admin.get("/v1/listeners").await.expect(200);
    assert_eq!(shown["certificate"]["expiresAt"], "2101-01-01T00:00:00.000Z");
    let opened = world.admin.post("/v1/listeners", json!({ "address": "127.0.0.2:0" })).await.expect(201);
    assert!(opened["url"].as_str().unwrap().starts_with("https://127.0.0.2:"), "{opened}");

    // A key without its certificate is not used; the working pair stays in use.
    std::fs::write(&first.key, "").unwrap();
    let told = |pointer: &'static str| {
        let world = &world;
        within("the server to look at its certificate", async move {
            loop {
                let shown = world.admin.get("/v1/listeners").await.expect(200);
                if let Some(found) = shown.pointer(pointer).filter(|found| **found != json!("2101-01-01T00:00:00.000Z")) {
                    return Ok(found.clone());
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
    };
    let problem = told("/certificate/problem").await.unwrap();
    assert!(problem.as_str().unwrap().contains("key.pem has no private key"), "{problem}");
    assert_eq!(first.client().unwrap().get(&url).send().await.unwrap().status(), 200);

    let second = SelfSignedCertificate::until(2102, dir.path()).unwrap();
    assert_eq!(told("/certificate/expiresAt").await.unwrap(), "2102-01-01T00:00:00.000Z");
    assert_eq!(second.client().unwrap().get(&url).send().await.unwrap().status(), 200);
}
