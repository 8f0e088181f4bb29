//! Requests at the edges of the protocol: held requests of revoked tokens, bodies that never end, hosts that two programs
//! would read differently, and errors that must not quote the request.

use sayso_testkit::within;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::world::{Http, Piece, Stream, World, approval, id, question};

/// Creates a token. Returns a client that uses it, and the path that revokes it.
async fn revocable(world: &World, wanted: Value) -> (Http, String) {
    let made = world.admin.post("/v1/tokens", wanted).await.expect(201);
    (world.http(made["token"].as_str().unwrap()), format!("/v1/tokens/{}", id(&made)))
}

/// Sends these bytes on a connection of its own and returns the reply, which must end the connection or have a length.
async fn send_raw(world: &World, request: &str) -> String {
    let mut socket = TcpStream::connect(world.server.url().trim_start_matches("http://")).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let reply = async {
        let mut text = String::new();
        let mut bytes = [0; 4096];
        while !text.contains("\r\n\r\n") || !text.contains('}') {
            match socket.read(&mut bytes).await? {
                0 => break,
                read => text.push_str(&String::from_utf8_lossy(&bytes[..read])),
            }
        }
        Ok(text)
    };
    within("a reply", reply).await.unwrap()
}

#[tokio::test]
async fn held_request_ends_when_its_token_is_revoked() {
    let world = World::start().await;
    let (agent, revoke) = revocable(&world, json!({ "role": "agent", "actor": "claude" })).await;
    let ask = id(&agent.post("/v1/asks", question()).await.expect(201));
    let path = format!("/v1/asks/{ask}?wait=60s");
    // The reply is the same whether the request was already waiting or arrived after the revocation.
    let (held, revoked) = tokio::join!(agent.get(&path), world.admin.delete(&revoke));
    revoked.expect(200);
    held.problem(401, "unauthorized");
    assert_eq!(world.ask(&ask).await["status"], "pending");
}

/// Opens an ACP connection and its stream, and reads the stream's opening comment.
async fn acp_stream(http: &Http) -> Stream {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 } });
    let connected = http.post("/acp", initialize).await;
    connected.expect(200);
    let request = http
        .request(&reqwest::Method::GET, "/acp")
        .header("acp-connection-id", connected.headers["acp-connection-id"].clone())
        .header("accept", "text/event-stream");
    let mut stream = Stream::of(request).await;
    assert_eq!(stream.piece().await, Some(Piece::Comment));
    stream
}

/// The streams of a revoked token end before streams that were opened earlier get their next heartbeat.
#[tokio::test]
async fn streams_end_at_once_when_their_token_is_revoked() {
    let world = World::start().await;
    let mut other_acp = acp_stream(&world.admin).await;
    let (ann, revoke) = revocable(&world, json!({ "role": "answerer", "actor": "ann" })).await;
    let mut acp = acp_stream(&ann).await;
    let mut other_events = world.admin.stream("/v1/events", None).await;
    let mut events = ann.stream("/v1/events", None).await;
    for stream in [&mut other_events, &mut events] {
        assert_eq!(stream.piece().await, Some(Piece::Comment));
    }
    world.admin.delete(&revoke).await.expect(200);
    for (what, stream, other) in [("/acp", &mut acp, &mut other_acp), ("/v1/events", &mut events, &mut other_events)] {
        tokio::select! {
            biased;
            beat = other.piece() => panic!("{what} is open after a heartbeat of another stream: {beat:?}"),
            ended = stream.piece() => assert_eq!(ended, None, "{what}"),
        }
    }
}

#[tokio::test]
async fn malformed_answer_is_never_repeated_in_an_error() {
    let world = World::start().await;
    let ask = id(&world.open_ask(question()).await);
    let secret = "hunter2";
    for path in [format!("/v1/asks/{ask}/answer"), format!("/v1/asks/{ask}/reject"), format!("/v1/asks/{ask}/approve")] {
        for body in [
            json!({ "answers": secret }).to_string(),
            json!({ "answers": [[{ "value": secret }]] }).to_string(),
            json!({ "answers": [[{ secret: 1 }]] }).to_string(),
            json!({ secret: [["SQLite"]] }).to_string(),
            json!({ "answers": { "0": secret } }).to_string(),
            json!({ "answers": [["SQLite"], [secret]] }).to_string(),
            json!({ "answers": [["SQLite", secret]] }).to_string(),
            json!({ "choice": secret }).to_string(),
            json!(secret).to_string(),
            format!("{{\"answers\": [[\"{secret}"),
            format!("{{\"answers\": [[{secret}]]}}"),
            format!("{secret}={secret}"),
        ] {
            let reply = world.admin.raw(&path, body.clone()).await;
            assert!((400..500).contains(&reply.status), "{path} {body}: {}", reply.text);
            assert!(!reply.text.contains(secret), "{path} {body}: {}", reply.text);
        }
    }
    let mut closed = question();
    closed["questions"][0]["custom"] = json!(false);
    let ask = id(&world.open_ask(closed).await);
    let refused = world.admin.answer(&ask, json!([[secret]])).await;
    let problem = refused.problem(422, "invalid_answers");
    assert_eq!(problem["problems"][0]["reason"], "entry 1 is not one of the options");
    assert!(!refused.text.contains(secret), "{}", refused.text);
    let mut approval = approval();
    approval["approval"]["choices"] = json!([{ "id": "once", "label": "Once" }]);
    let ask = id(&world.open_ask(approval).await);
    let refused = world.admin.post(&format!("/v1/asks/{ask}/approve"), json!({ "choice": secret })).await;
    refused.problem(422, "invalid_request");
    assert!(!refused.text.contains(secret), "{}", refused.text);
}

#[tokio::test]
async fn login_body_has_a_deadline_and_a_small_limit() {
    let world = World::start().await;
    let head = "POST /v1/login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let reply = send_raw(&world, &format!("{head}content-length: 60\r\n\r\n{{\"code\": \"")).await;
    assert!(reply.starts_with("HTTP/1.1 408 ") && reply.contains("\"code\":\"request_timeout\""), "{reply}");
    let reply = world.http("").post("/v1/login", json!({ "code": "x".repeat(20_000) })).await;
    reply.problem(413, "too_large");
}

#[tokio::test]
async fn long_query_is_malformed() {
    let world = World::start().await;
    let long = "x".repeat(60_000);
    for path in ["asks?q", "asks?project", "asks?agent", "asks?label", "asks?cursor", "sessions?idEndsWith", "runs?idEndsWith"] {
        world.admin.get(&format!("/v1/{path}={long}")).await.problem(400, "malformed_request");
    }
    // The longest accepted search text, made of characters that a pattern escapes.
    world.admin.get(&format!("/v1/asks?q={}", "%25".repeat(2_700))).await.expect(200);
}

#[tokio::test]
async fn request_that_names_two_hosts_is_refused() {
    let world = World::start().await;
    let local = world.server.url().trim_start_matches("http://").to_owned();
    for (target, hosts) in [
        ("/v1/health".to_owned(), format!("host: {local}\r\nhost: evil.test\r\n")),
        ("/v1/health".to_owned(), format!("host: evil.test\r\nhost: {local}\r\n")),
        ("/v1/health".to_owned(), format!("host: {local}\r\nhost: {local}\r\n")),
        ("/v1/health".to_owned(), "host: [::1].evil.test\r\n".to_owned()),
        ("/v1/health".to_owned(), "host: [::1]:80.evil.test\r\n".to_owned()),
        ("http://evil.test/v1/health".to_owned(), format!("host: {local}\r\n")),
        (format!("http://{local}/v1/health"), "host: evil.test\r\n".to_owned()),
        (format!("http://evil.test@{local}/v1/health"), format!("host: {local}\r\n")),
    ] {
        let reply = send_raw(&world, &format!("GET {target} HTTP/1.1\r\n{hosts}\r\n")).await;
        assert!(reply.starts_with("HTTP/1.1 421 ") && reply.contains("foreign_host"), "{target} {hosts}: {reply}");
    }
    let reply = send_raw(&world, &format!("GET http://{local}/v1/health HTTP/1.1\r\nhost: {local}\r\n\r\n")).await;
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
}

#[tokio::test]
async fn scoped_token_does_not_read_the_whole_policy() {
    let policy = "[[rules]]\nname = \"bank only\"\nproject = \"/bank\"\nrun = [\"transfer *\"]\ndo = \"deny\"\n";
    let world = World::with_policy(policy).await;
    let mut ask = question();
    ask["labels"] = json!({ "team": "shop" });
    let ask = id(&world.open_ask(ask).await);
    for role in ["viewer", "answerer"] {
        let scoped = world.token(json!({ "role": role, "actor": "ann", "labels": { "team": "shop" } })).await;
        scoped.get("/v1/policy").await.problem(403, "forbidden");
        let explained = scoped.post("/v1/policy/explain", json!({ "askId": ask })).await;
        assert_eq!(explained.expect(200)["data"][0]["considered"], Value::Null);
        assert!(!explained.text.contains("bank"), "{}", explained.text);
        let all = world.role(role).await;
        assert_eq!(all.get("/v1/policy").await.expect(200)["text"], policy);
        let explained = all.post("/v1/policy/explain", json!({ "askId": ask })).await.expect(200);
        assert!(explained["data"][0]["considered"].is_array(), "{explained}");
    }
}

#[tokio::test]
async fn links_have_a_web_scheme_or_one_that_the_user_configured() {
    let world = World::with(|setup| setup.config = Some("link_schemes = [\"vscode\"]\n".to_owned())).await;
    let agent = world.role("agent").await;
    for url in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ssh://host", "example.com", " https://x.test"] {
        let refused = agent.post("/v1/asks", json!({ "link": { "url": url } })).await;
        refused.problem(422, "invalid_request");
    }
    for url in ["https://example.com/login", "HTTP://example.com", "vscode://file/src/main.rs"] {
        let opened = agent.post("/v1/asks", json!({ "link": { "url": url } })).await.expect(201);
        assert_eq!(opened["link"]["url"], url);
    }
}
