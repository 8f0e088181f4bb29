//! Web pages of other origins cannot reach the server, not even on loopback.

use reqwest::Method;
use serde_json::json;

use crate::world::{World, id, question};

#[tokio::test]
async fn foreign_hosts_are_refused_before_anything_else() {
    let world = World::start().await;
    let ask = id(&world.open_ask(question()).await);
    for host in ["evil.test", "evil.test:80", "0.0.0.0", "127.0.0.1.evil.test", "localhost.evil.test", "192.168.1.1"] {
        for (method, path) in [
            (Method::GET, "/v1/health".to_owned()),
            (Method::GET, "/".to_owned()),
            (Method::POST, format!("/v1/asks/{ask}/reject")),
        ] {
            let request = world.admin.request(&method, &path).header("host", host);
            world.admin.send(request).await.problem(421, "foreign_host");
        }
    }
    for host in ["localhost", "localhost:1", "127.0.0.1", "[::1]:4517"] {
        let request = world.admin.request(&Method::GET, "/v1/health").header("host", host);
        world.admin.send(request).await.expect(200);
    }
    assert_eq!(world.ask(&ask).await["status"], "pending");
}

#[tokio::test]
async fn pages_of_other_origins_are_refused_even_with_a_token() {
    let world = World::start().await;
    let ask = id(&world.open_ask(question()).await);
    for origin in ["null", "http://evil.test", "https://127.0.0.1.evil.test", "http://127.0.0.1:1", "file://"] {
        for path in ["/v1/asks".to_owned(), format!("/v1/asks/{ask}/reject"), "/v1/login".to_owned()] {
            let method = if path == "/v1/asks" { Method::GET } else { Method::POST };
            let request = world.admin.request(&method, &path).header("origin", origin);
            let refused = world.admin.send(request).await;
            refused.problem(403, "foreign_origin");
            assert!(refused.headers.get("access-control-allow-origin").is_none());
        }
        let preflight = world
            .admin
            .request(&Method::OPTIONS, "/v1/asks")
            .header("origin", origin)
            .header("access-control-request-method", "POST");
        assert_eq!(world.admin.send(preflight).await.status, 403);
    }
    // Requests that a page can send without a preflight.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let request = world
            .admin
            .request(&Method::POST, &format!("/v1/asks/{ask}/answer"))
            .header("origin", "http://evil.test")
            .header("content-type", kind)
            .body(json!({ "answers": [["SQLite"]] }).to_string());
        world.admin.send(request).await.problem(403, "foreign_origin");
    }
    assert_eq!(world.ask(&ask).await["status"], "pending");
    // Sayso's own page.
    let request = world.admin.request(&Method::GET, "/v1/asks").header("origin", world.server.url());
    world.admin.send(request).await.expect(200);
}

#[tokio::test]
async fn configured_hosts_and_origins_are_allowed() {
    let world = World::with(|setup| {
        setup.config = Some("allow_hosts = [\"sayso.test\"]\ncors_origins = [\"https://app.test\"]\n".to_owned());
    })
    .await;
    let request = world.admin.request(&Method::GET, "/v1/health").header("host", "Sayso.test:8080");
    world.admin.send(request).await.expect(200);
    let request = world.admin.request(&Method::GET, "/v1/asks").header("origin", "https://app.test");
    let let_in = world.admin.send(request).await;
    let_in.expect(200);
    assert_eq!(let_in.headers["access-control-allow-origin"], "https://app.test");
    assert!(let_in.headers.get("access-control-allow-credentials").is_none());
    let preflight = world.http("").request(&Method::OPTIONS, "/v1/asks").header("origin", "https://app.test");
    assert_eq!(world.admin.send(preflight).await.status, 204);
}

#[tokio::test]
async fn every_response_has_security_headers() {
    let world = World::start().await;
    for path in ["/", "/v1/health", "/v1/asks", "/v1/nothing", "/openapi.json"] {
        let reply = world.admin.get(path).await;
        assert_eq!(reply.headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(reply.headers["referrer-policy"], "no-referrer", "{path}");
        let csp = reply.headers["content-security-policy"].to_str().unwrap();
        assert!(csp.contains("default-src 'self'") && csp.contains("frame-ancestors 'none'"), "{csp}");
        assert!(reply.headers.get("access-control-allow-origin").is_none(), "{path}");
        assert!(reply.headers.get("set-cookie").is_none(), "{path}");
    }
    let refused = world.http("").get("/v1/asks").await;
    refused.problem(401, "unauthorized");
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
}

/// GET changes no state: reading everything twice publishes no event.
#[tokio::test]
async fn get_requests_change_nothing() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let paths = [
        "/v1/asks".to_owned(),
        format!("/v1/asks/{}", id(&ask)),
        "/v1/sessions".to_owned(),
        format!("/v1/sessions/{}", agent.session()),
        format!("/v1/sessions/{}/transcript", agent.session()),
        "/v1/agents".to_owned(),
        "/v1/policy".to_owned(),
        "/v1/tokens".to_owned(),
        "/metrics".to_owned(),
        "/v1/health".to_owned(),
    ];
    let before = world.admin.get("/v1/asks").await.expect(200);
    for path in &paths {
        assert_eq!(world.admin.get(path).await.status, 200, "{path}");
    }
    assert_eq!(world.admin.get("/v1/asks").await.expect(200), before);
    for path in [format!("/v1/asks/{}/answer", id(&ask)), format!("/v1/sessions/{}/interrupt", agent.session())] {
        world.admin.get(&path).await.problem(405, "method_not_allowed");
    }
}
