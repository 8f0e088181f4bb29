//! Calls every route of the OpenAPI document with every kind of caller. A route without a row fails the test.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reqwest::Method;
use sayso_testkit::FakeOpenCode;
use serde_json::{Value, json};

use crate::world::{Http, World, approval, id, question};

/// The callers that a route accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum May {
    /// Everyone, also without a token.
    Anybody,
    /// Viewers, answerers, admins.
    Read,
    /// Viewers, answerers, admins, and agents for the asks that they opened.
    ReadOwn,
    /// Answerers, admins.
    Answer,
    /// Agents, admins.
    Open,
    /// Admins.
    Administer,
}

/// The callers: four without a valid token, one per role, and an answerer whose label scope matches nothing.
const CALLERS: [&str; 9] = ["none", "bad", "expired", "revoked", "viewer", "answerer", "outside", "agent", "admin"];

impl May {
    /// The expected status for a caller. 200 means the success status of the route.
    fn status(self, caller: &str) -> u16 {
        let known = !matches!(caller, "none" | "bad" | "expired" | "revoked");
        let allowed = match self {
            Self::Anybody => true,
            Self::Read => matches!(caller, "viewer" | "answerer" | "outside" | "admin"),
            Self::ReadOwn => known,
            Self::Answer => matches!(caller, "answerer" | "outside" | "admin"),
            Self::Open => matches!(caller, "agent" | "admin"),
            Self::Administer => caller == "admin",
        };
        match (allowed, known) {
            (true, _) => 200,
            (false, false) => 401,
            (false, true) => 403,
        }
    }
}

/// The expected status for a caller whose role is sufficient and whose scope matches nothing.
fn outside_scope(may: May, path: &str, success: u16) -> u16 {
    match path {
        _ if may == May::Anybody => success,
        "/v1/policy" => 403,
        // Everything with an id is unknown; lists are empty.
        path if path.contains('{') => 404,
        _ => success,
    }
}

/// The table: method, path, accepted callers, success status.
const TABLE: &[(&str, &str, May, u16)] = &[
    ("get", "/v1/health", May::Anybody, 200),
    ("get", "/metrics", May::Read, 200),
    ("get", "/v1/asks", May::ReadOwn, 200),
    ("post", "/v1/asks", May::Open, 201),
    ("delete", "/v1/asks", May::Open, 200),
    ("get", "/v1/asks/{id}", May::ReadOwn, 200),
    ("delete", "/v1/asks/{id}", May::Open, 200),
    ("post", "/v1/asks/{id}/receipt", May::Open, 200),
    ("get", "/v1/asks/{id}/files", May::Answer, 200),
    ("get", "/v1/asks/{id}/precedents", May::Read, 200),
    ("post", "/v1/groups", May::Open, 201),
    ("get", "/v1/groups/ready", May::Open, 200),
    ("post", "/v1/groups/claim", May::Open, 200),
    ("get", "/v1/groups/{id}", May::Open, 200),
    ("delete", "/v1/groups/{id}", May::Open, 200),
    ("post", "/v1/groups/{id}/renew", May::Open, 200),
    ("post", "/v1/groups/{id}/ack", May::Open, 200),
    ("post", "/v1/groups/{id}/release", May::Open, 200),
    ("post", "/v1/external", May::Open, 200),
    ("post", "/v1/notices", May::Open, 204),
    ("post", "/v1/asks/{id}/answer", May::Answer, 200),
    ("post", "/v1/asks/{id}/reject", May::Answer, 200),
    ("post", "/v1/asks/{id}/approve", May::Answer, 200),
    ("post", "/v1/asks/{id}/deny", May::Answer, 200),
    ("post", "/v1/asks/{id}/snooze", May::Answer, 200),
    ("get", "/v1/sessions", May::Read, 200),
    ("post", "/v1/sessions", May::Answer, 201),
    ("get", "/v1/sessions/{id}", May::Read, 200),
    ("delete", "/v1/sessions/{id}", May::Answer, 200),
    ("patch", "/v1/sessions/{id}", May::Answer, 202),
    ("post", "/v1/sessions/{id}/messages", May::Answer, 202),
    ("post", "/v1/sessions/{id}/interrupt", May::Answer, 200),
    ("post", "/v1/sessions/{id}/resume", May::Answer, 200),
    ("get", "/v1/sessions/{id}/transcript", May::Read, 200),
    ("get", "/v1/runs", May::Read, 200),
    ("post", "/v1/runs", May::Answer, 201),
    ("get", "/v1/runs/{id}", May::Read, 200),
    ("post", "/v1/runs/{id}/cancel", May::Answer, 200),
    ("post", "/v1/runs/{id}/questions/{qid}", May::Answer, 200),
    ("get", "/v1/events", May::ReadOwn, 200),
    ("get", "/v1/outcomes", May::Open, 200),
    ("get", "/v1/sessions/{id}/events", May::Read, 200),
    ("get", "/v1/agents", May::Read, 200),
    ("post", "/v1/agents/stop", May::Administer, 200),
    ("post", "/v1/attachments", May::Administer, 201),
    ("delete", "/v1/attachments/{id}", May::Administer, 204),
    ("get", "/v1/policy", May::Read, 200),
    ("put", "/v1/policy", May::Administer, 200),
    ("post", "/v1/policy/explain", May::Read, 200),
    ("post", "/v1/policy/edit", May::Read, 200),
    ("get", "/v1/policy/hits", May::Read, 200),
    ("post", "/v1/policy/grants", May::Administer, 201),
    ("delete", "/v1/policy/grants/{id}", May::Administer, 204),
    ("put", "/v1/policy/profile", May::Administer, 200),
    ("post", "/v1/policy/trust", May::Administer, 200),
    ("get", "/v1/tokens", May::Administer, 200),
    ("post", "/v1/tokens", May::Administer, 201),
    ("delete", "/v1/tokens/{id}", May::Administer, 200),
    ("get", "/v1/push", May::Read, 200),
    ("post", "/v1/push", May::Read, 204),
    ("delete", "/v1/push", May::Read, 204),
    ("get", "/v1/notify", May::Administer, 200),
    ("post", "/v1/notify/test", May::Administer, 200),
    ("get", "/v1/listeners", May::Administer, 200),
    ("post", "/v1/listeners", May::Administer, 201),
    ("delete", "/v1/listeners/{address}", May::Administer, 204),
    ("post", "/v1/login-codes", May::Administer, 201),
    ("post", "/v1/login", May::Anybody, 201),
    ("post", "/v1/sessions/{sid}/questions/{qid}/reply", May::Answer, 204),
    ("post", "/v1/sessions/{sid}/questions/{qid}/reject", May::Answer, 204),
    ("post", "/v1/sessions/{sid}/submit-answers", May::Answer, 200),
    ("post", "/v1/sessions/{sid}/approve", May::Answer, 200),
    ("post", "/v1/sessions/{sid}/deny", May::Answer, 200),
    ("get", "/v1/sessions/{sid}/stream", May::Read, 200),
];

/// A cell of the table: a call that would succeed, and the ask that must not change if the call is refused.
struct Target {
    path: String,
    body: Option<Value>,
    untouched: Option<String>,
}

/// A session with a question, an approval and another question.
async fn waiting(world: &World) -> (String, Vec<Value>) {
    let mut agent = world.agent("parallel").await;
    let mut asks = Vec::new();
    for _ in 0..3 {
        asks.push(world.ask(&agent.asks().await.unwrap().id).await);
    }
    (agent.session().to_owned(), asks)
}

/// A run that waits at a checkpoint.
fn pausing() -> Value {
    let checkpoint = json!({ "question": "Go on?", "options": ["Yes", "No"] });
    json!({ "workflow": { "name": "pause", "steps": [{ "id": "ok", "checkpoint": checkpoint }] } })
}

async fn target(world: &World, theirs: &FakeOpenCode, caller: &Http, role: &str, method: &str, path: &str) -> Target {
    let answers = json!({ "answers": [["SQLite"]] });
    let of_ask =
        |ask: &Value, body: Option<Value>| Target { path: path.replace("{id}", &id(ask)), body, untouched: Some(id(ask)) };
    match (method, path) {
        ("post", "/v1/asks") => Target { path: path.to_owned(), body: Some(question()), untouched: None },
        ("delete", "/v1/asks") => {
            let by = if matches!(role, "agent" | "admin") { caller } else { &world.admin };
            let mut ask = question();
            ask["dedupeKey"] = json!("k");
            let ask = by.post("/v1/asks", ask).await.expect(201);
            Target { path: format!("{path}?dedupeKey=k"), body: None, untouched: Some(id(&ask)) }
        }
        ("get" | "delete", "/v1/asks/{id}") => {
            // Roles that can open asks collect their own.
            let by = if matches!(role, "agent" | "admin") { caller } else { &world.admin };
            let ask = by.post("/v1/asks", question()).await.expect(201);
            of_ask(&ask, None)
        }
        (_, "/v1/asks/{id}/receipt") => {
            let by = if matches!(role, "agent" | "admin") { caller } else { &world.admin };
            let ask = by.post("/v1/asks", question()).await.expect(201);
            world.admin.answer(&id(&ask), json!([["SQLite"]])).await.expect(200);
            of_ask(&ask, None)
        }
        (_, "/v1/groups") => {
            Target { path: path.to_owned(), body: Some(json!({ "name": "x", "asks": [question()] })), untouched: None }
        }
        (_, "/v1/groups/ready") => Target { path: format!("{path}?name=x"), body: None, untouched: None },
        (_, path) if path.starts_with("/v1/groups/") => {
            let by = if matches!(role, "agent" | "admin") { caller } else { &world.admin };
            let ask = by.post("/v1/asks", question()).await.expect(201);
            world.admin.answer(&id(&ask), json!([["SQLite"]])).await.expect(200);
            let group = by.post("/v1/groups", json!({ "name": "ready", "askIds": [id(&ask)] })).await.expect(201);
            let claim = json!({ "group": id(&group), "worker": "w" });
            let body = match (method, path) {
                ("post", "/v1/groups/claim") => Some(claim),
                ("post", _) => {
                    by.post("/v1/groups/claim", claim).await.expect(200);
                    Some(json!({ "epoch": 1 }))
                }
                _ => None,
            };
            Target { path: path.replace("{id}", &id(&group)), body, untouched: None }
        }
        (_, "/v1/asks/{id}/files" | "/v1/asks/{id}/precedents") => of_ask(&world.open_ask(approval()).await, None),
        (_, "/v1/asks/{id}/answer") => of_ask(&world.open_ask(question()).await, Some(answers)),
        (_, "/v1/asks/{id}/reject") => of_ask(&world.open_ask(question()).await, None),
        (_, "/v1/asks/{id}/approve" | "/v1/asks/{id}/deny") => of_ask(&world.open_ask(approval()).await, None),
        (_, "/v1/asks/{id}/snooze") => {
            of_ask(&world.open_ask(question()).await, Some(json!({ "until": "2030-01-01T00:00:00Z" })))
        }
        (_, "/v1/notices") => Target { path: path.to_owned(), body: Some(json!({ "text": "hi" })), untouched: None },
        (_, "/v1/external") => {
            let news = json!({ "agent": "claude", "sessionId": "s-1", "event": "turnEnded" });
            Target { path: path.to_owned(), body: Some(news), untouched: None }
        }
        ("post", "/v1/sessions") => Target { path: path.to_owned(), body: Some(json!({ "agent": "mock" })), untouched: None },
        ("post", "/v1/sessions/{id}/resume") => {
            let mut agent = world.agent("crash").await;
            agent.watch().event("session.ended").await.unwrap();
            Target { path: path.replace("{id}", agent.session()), body: None, untouched: None }
        }
        ("patch", "/v1/sessions/{id}") => {
            let (agent, ask) = world.start_ask("question").await;
            let body = json!({ "permissionMode": "plan" });
            Target { path: path.replace("{id}", agent.session()), body: Some(body), untouched: Some(id(&ask)) }
        }
        ("post", "/v1/sessions/{id}/messages") => {
            let (agent, ask) = world.start_ask("question").await;
            Target { path: path.replace("{id}", agent.session()), body: Some(json!({ "text": "hi" })), untouched: Some(id(&ask)) }
        }
        (_, path) if path.starts_with("/v1/sessions/{") => {
            let (session, asks) = waiting(world).await;
            let (ask, body) = match path.rsplit('/').next().unwrap() {
                "reply" => (&asks[0], Some(answers)),
                "submit-answers" => {
                    (&asks[0], Some(json!({ "toolCallId": asks[0]["toolCallId"], "answers": { "0": "SQLite" } })))
                }
                "approve" | "deny" => (&asks[1], Some(json!({ "toolCallId": asks[1]["toolCallId"] }))),
                _ => (&asks[0], None),
            };
            let path = path.replace("{id}", &session).replace("{sid}", &session).replace("{qid}", &id(ask));
            Target { path, body, untouched: Some(id(ask)) }
        }
        ("put", "/v1/policy") => {
            let fingerprint = world.admin.get(path).await.expect(200)["textFingerprint"].clone();
            Target { path: path.to_owned(), body: Some(json!({ "text": "", "ifFingerprint": fingerprint })), untouched: None }
        }
        ("delete", "/v1/policy/grants/{id}") => {
            let made = world.admin.post("/v1/policy/grants", json!({ "run": ["x *"], "for": "1h" })).await.expect(201);
            Target { path: path.replace("{id}", &id(&made)), body: None, untouched: None }
        }
        ("post", "/v1/runs") => Target { path: path.to_owned(), body: Some(pausing()), untouched: None },
        (_, path) if path.starts_with("/v1/runs/{") => {
            let run = world.admin.post("/v1/runs", pausing()).await.expect(201);
            let ask = run["steps"][0]["askId"].as_str().unwrap().to_owned();
            let body = path.ends_with("{qid}").then(|| json!({ "answers": [["Yes"]] }));
            Target { path: path.replace("{id}", &id(&run)).replace("{qid}", &ask), body, untouched: Some(ask) }
        }
        (_, "/v1/policy/edit") => Target { path: path.to_owned(), body: Some(json!({ "text": "" })), untouched: None },
        (_, "/v1/policy/explain") => Target { path: path.to_owned(), body: Some(json!({ "pending": true })), untouched: None },
        (_, "/v1/policy/grants") => {
            Target { path: path.to_owned(), body: Some(json!({ "run": ["x *"], "for": "1h" })), untouched: None }
        }
        (_, "/v1/policy/profile") => Target { path: path.to_owned(), body: Some(json!({ "name": null })), untouched: None },
        (_, "/v1/policy/trust") => {
            std::fs::write(world.server.project().join(".sayso.toml"), "").unwrap();
            Target { path: path.to_owned(), body: Some(json!({ "directory": world.server.project() })), untouched: None }
        }
        ("post", "/v1/tokens") => {
            Target { path: path.to_owned(), body: Some(json!({ "role": "viewer", "actor": "x" })), untouched: None }
        }
        (_, "/v1/tokens/{id}") => {
            let made = world.admin.post("/v1/tokens", json!({ "role": "viewer", "actor": "x" })).await.expect(201);
            Target { path: path.replace("{id}", &id(&made)), body: None, untouched: None }
        }
        ("post", "/v1/push") => {
            let keys = json!({ "p256dh": "A".repeat(87), "auth": "A".repeat(22) });
            Target {
                path: path.to_owned(),
                body: Some(json!({ "endpoint": "https://push.test/x", "keys": keys })),
                untouched: None,
            }
        }
        (_, "/v1/attachments" | "/v1/attachments/{id}") => {
            let new = json!({ "agent": "opencode", "place": theirs.url() });
            if path.ends_with('s') {
                return Target { path: path.to_owned(), body: Some(new), untouched: None };
            }
            let made = world.admin.post("/v1/attachments", new).await.expect(201);
            Target { path: path.replace("{id}", &id(&made)), body: None, untouched: None }
        }
        ("post", "/v1/listeners") => {
            Target { path: path.to_owned(), body: Some(json!({ "address": "127.0.0.2:0" })), untouched: None }
        }
        (_, "/v1/listeners/{address}") => {
            let opened = world.admin.post("/v1/listeners", json!({ "address": "127.0.0.3:0" })).await.expect(201);
            Target { path: path.replace("{address}", opened["address"].as_str().unwrap()), body: None, untouched: None }
        }
        (_, "/v1/login") => {
            let code = world.admin.poke("/v1/login-codes").await.expect(201);
            Target { path: path.to_owned(), body: Some(json!({ "code": code["code"] })), untouched: None }
        }
        _ => Target { path: path.to_owned(), body: None, untouched: None },
    }
}

#[test]
fn permission_table_lists_every_route() {
    let document: Value = serde_json::from_str(&sayso_server::openapi().to_json().unwrap()).unwrap();
    let mut routes = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in
            methods.as_object().unwrap().keys().filter(|key| !matches!(key.as_str(), "parameters" | "summary" | "description"))
        {
            routes.insert((method.clone(), path.clone()));
        }
    }
    let rows: BTreeSet<_> = TABLE.iter().map(|(method, path, ..)| ((*method).to_owned(), (*path).to_owned())).collect();
    assert_eq!(rows, routes);
    assert_eq!(rows.len(), TABLE.len(), "a row twice");
    let names: BTreeSet<_> =
        TABLE.iter().map(|(method, path, ..)| &document["paths"][path][method]["operationId"]).map(Value::to_string).collect();
    assert_eq!(names.len(), TABLE.len(), "a name of an operation twice");
    // The OpenAPI document lists which routes need a token.
    for (method, path, may, _) in TABLE {
        let secured = document["paths"][path][method]["security"].as_array().is_some_and(|security| !security.is_empty());
        assert_eq!(secured, *may != May::Anybody, "{method} {path}");
    }
}

#[tokio::test]
async fn every_route_follows_the_permission_table() {
    let (world, clock) = World::timeless("").await;
    let expired = world.token(json!({ "role": "admin", "actor": "expired", "expiresIn": "1s" })).await;
    clock.advance(Duration::from_secs(2));
    let mut callers: BTreeMap<&str, Http> =
        BTreeMap::from([("none", world.http("")), ("bad", world.http("sayso_bad")), ("expired", expired)]);
    for role in ["viewer", "answerer", "agent", "admin"] {
        callers.insert(role, world.role(role).await);
    }
    let outside = json!({ "role": "answerer", "actor": "outside", "labels": { "team": "none" } });
    callers.insert("outside", world.token(outside).await);
    let made = world.admin.post("/v1/tokens", json!({ "role": "admin", "actor": "revoked" })).await.expect(201);
    world.admin.delete(&format!("/v1/tokens/{}", id(&made))).await.expect(200);
    callers.insert("revoked", world.http(made["token"].as_str().unwrap()));
    let theirs = FakeOpenCode::start().await.unwrap();
    let mut wrong = Vec::new();
    for (method, path, may, success) in TABLE {
        for caller in CALLERS {
            // Bad tokens and login codes are rate limited; the clock advances to reset the limit.
            clock.advance(Duration::from_secs(60));
            let http = &callers[caller];
            let Target { path: called, body, untouched } = target(&world, &theirs, http, caller, method, path).await;
            let before = match &untouched {
                Some(ask) => Some(world.ask(ask).await),
                None => None,
            };
            let verb: Method = method.to_uppercase().parse().unwrap();
            let expected = match may.status(caller) {
                200 if caller == "outside" => outside_scope(*may, path, *success),
                200 => *success,
                refused => refused,
            };
            let status = if ["/events", "/outcomes", "/stream"].iter().any(|end| called.ends_with(end)) {
                http.request(&verb, &called).send().await.unwrap().status().as_u16()
            } else {
                let reply = http.call(&verb, &called, body.as_ref()).await;
                match expected {
                    401 => drop(reply.problem(401, "unauthorized")),
                    403 => drop(reply.problem(403, "forbidden")),
                    _ => {}
                }
                reply.status
            };
            if status != expected {
                wrong.push(format!("{method} {path} as {caller}: {status}, not {expected}"));
            }
            if let (true, Some(ask), Some(before)) = (expected >= 400, &untouched, before) {
                assert_eq!(world.ask(ask).await, before, "{method} {path} as {caller} touched the ask");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Callers without a token learn nothing about the validity of bodies.
#[tokio::test]
async fn token_is_checked_before_the_body() {
    let world = World::start().await;
    let ask = id(&world.open_ask(question()).await);
    for path in [format!("/v1/asks/{ask}/answer"), "/v1/asks".to_owned(), "/v1/sessions".to_owned(), "/v1/tokens".to_owned()] {
        for body in ["", "{", "{}", "[1,2"] {
            world.http("").raw(&path, body).await.problem(401, "unauthorized");
        }
    }
}
