//! Limits on what one agent can make the server store and send: byte quotas, pages limited by size, and policies that take long
//! to evaluate.

use std::time::Duration;

use sayso_core::policy::Policy;
use serde_json::{Value, json};

use crate::world::{Http, World, approval, id};

/// Bytes of the input of a large approval. Eight of them fit into a quota, and two into a page.
const LARGE: usize = 4_000_000;

fn large_approval(number: usize) -> Value {
    let mut ask = approval();
    ask["approval"]["input"] = json!({ "number": number, "content": "x".repeat(LARGE) });
    ask
}

/// Opens large approvals until one is refused; returns those that were opened.
async fn fill_quota(agent: &Http, change: impl Fn(&mut Value)) -> Vec<String> {
    let mut opened = Vec::new();
    loop {
        let mut ask = large_approval(opened.len());
        change(&mut ask);
        let reply = agent.post("/v1/asks", ask).await;
        if reply.status != 201 {
            reply.problem(429, "byte_quota_exceeded");
            return opened;
        }
        opened.push(id(&reply.json()));
        assert!(opened.len() <= 8, "the quota is 32 MiB");
    }
}

#[tokio::test]
async fn agent_token_has_a_byte_quota_that_refills() {
    let (world, clock) = World::timeless("").await;
    let (agent, other) = (world.role("agent").await, world.role("agent").await);
    assert_eq!(fill_quota(&agent, |_| {}).await.len(), 8);
    // A small ask still fits, and other tokens have their own quota.
    agent.post("/v1/asks", approval()).await.expect(201);
    other.post("/v1/asks", large_approval(0)).await.expect(201);
    // Notices and sessions also count.
    let external = json!({ "agent": "claude", "sessionId": "s", "cwd": "/p" });
    let mut refused = 0;
    for number in 0..2_000 {
        let notice = json!({ "text": format!("{number} {}", "n".repeat(8_000)), "external": external });
        refused = agent.post("/v1/notices", notice).await.status;
        if refused != 204 {
            break;
        }
    }
    assert_eq!(refused, 429);
    clock.advance(Duration::from_secs(600));
    agent.post("/v1/asks", large_approval(9)).await.expect(201);
}

#[tokio::test]
async fn repeated_ask_is_counted_once() {
    let (world, _clock) = World::timeless("").await;
    let agent = world.role("agent").await;
    let mut ask = large_approval(0);
    ask["dedupeKey"] = json!("same");
    let first = id(&agent.post("/v1/asks", ask.clone()).await.expect(201));
    for _ in 0..12 {
        assert_eq!(id(&agent.post("/v1/asks", ask.clone()).await.expect(201)), first);
    }
}

#[tokio::test]
async fn lists_are_cut_by_bytes_and_continue_at_their_cursor() {
    let (world, _clock) = World::timeless("").await;
    let agent = world.role("agent").await;
    let external = json!({ "agent": "claude", "sessionId": "s", "cwd": "/p" });
    let opened = fill_quota(&agent, |ask| ask["external"] = external.clone()).await;

    let (mut found, mut pages, mut cursor) = (Vec::new(), Vec::new(), String::new());
    loop {
        let page = world.admin.get(&format!("/v1/asks?status=pending&limit=500{cursor}")).await;
        let page = page.expect(200);
        let ids: Vec<String> = page["data"].as_array().unwrap().iter().map(id).collect();
        pages.push((ids.len(), page["truncated"] == true));
        found.extend(ids);
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(found, opened);
    assert_eq!(pages, [(2, true), (2, true), (2, true), (2, false)]);

    let session = world.ask(&opened[0]).await["sessionId"].as_str().unwrap().to_owned();
    let shown = world.session(&session).await;
    assert_eq!(shown["asks"].as_array().unwrap().len(), 2);
    assert_eq!((&shown["pending"], &shown["truncated"]), (&json!(8), &json!(true)));
    let transcript = world.admin.get(&format!("/v1/sessions/{session}/transcript")).await.expect(200);
    assert_eq!((transcript["data"].as_array().unwrap().len(), &transcript["truncated"]), (2, &json!(true)));
    assert!(transcript["nextCursor"].is_string());
    let explained = world.admin.post("/v1/policy/explain", json!({ "pending": true })).await.expect(200);
    assert_eq!((explained["data"].as_array().unwrap().len(), &explained["truncated"]), (2, &json!(true)));
}

#[tokio::test]
async fn reported_project_and_branch_are_limited_and_absolute() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let with = |key: &str, value: String| {
        let mut ask = approval();
        ask[key] = json!(value);
        ask
    };
    for relative in ["sayso", "./src", "", "~/src"] {
        agent.post("/v1/asks", with("project", relative.to_owned())).await.problem(422, "invalid_request");
    }
    agent.post("/v1/asks", with("project", format!("/{}", "p".repeat(4_096)))).await.problem(422, "limit_exceeded");
    agent.post("/v1/asks", with("branch", "b".repeat(257))).await.problem(422, "limit_exceeded");
    let external = |cwd: &str, branch: &str| {
        let mut ask = approval();
        ask["external"] = json!({ "agent": "claude", "sessionId": "s", "cwd": cwd, "branch": branch });
        ask
    };
    agent.post("/v1/asks", external("src", "main")).await.problem(422, "invalid_request");
    agent.post("/v1/asks", external(&format!("/{}", "p".repeat(4_096)), "main")).await.problem(422, "limit_exceeded");
    agent.post("/v1/asks", external("/src", &"b".repeat(257))).await.problem(422, "limit_exceeded");
    let mut placed = with("project", "/src/app".to_owned());
    placed["branch"] = json!("main");
    let opened = agent.post("/v1/asks", placed).await.expect(201);
    assert_eq!((&opened["project"], &opened["branch"]), (&json!("/src/app"), &json!("main")));
}

/// The server runs on the one thread of this test, so work on that thread holds up every other request.
#[tokio::test]
async fn reads_continue_while_a_large_policy_is_explained() {
    let world = World::start().await;
    let viewer = world.role("viewer").await;
    for number in 0..300 {
        let mut ask = approval();
        ask["approval"]["command"] = json!(format!("cargo test -p crate{number} && cargo build --release"));
        world.open_ask(ask).await;
    }
    let rule = |number| format!("[[rules]]\nrun = [\"tool{number} *\", \"cargo x{number} *\"]\ndo = \"allow\"\n");
    let policy: String = (0..990).map(rule).collect();
    Policy::parse(&policy).unwrap();
    let explain = viewer.post("/v1/policy/explain", json!({ "pending": true, "policy": policy }));
    let reads = async {
        for _ in 0..20 {
            world.admin.get("/v1/tokens").await.expect(200);
        }
    };
    tokio::select! {
        biased;
        explained = explain => panic!("explaining ended before 20 reads: {}", explained.status),
        () = reads => {}
    }
}
