//! An approval applies to exactly one action: the digest of an approval, and which calls share an ask.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

fn with(mut ask: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        ask[name] = value.clone();
    }
    ask
}

fn keyed(ask: Value) -> Value {
    with(ask, json!({ "dedupeKey": "k" }))
}

#[tokio::test]
async fn approval_carries_a_digest_of_its_action() {
    let world = World::start().await;
    let at = |agent: &str, project: &str| with(approval(), json!({ "agent": agent, "project": project }));
    let first = world.open_ask(at("claude", "/srv/shop")).await;
    let digest = first["digest"].as_str().unwrap().to_owned();
    assert!(digest.len() == 64 && digest.bytes().all(|digit| digit.is_ascii_hexdigit()), "{digest}");

    let mut described = at("claude", "/srv/shop");
    described["approval"]["title"] = json!("Run the tests");
    described["approval"]["input"] = json!({ "timeout": 60_000, "description": "Run the tests", "command": "cargo test" });
    assert_eq!(world.open_ask(described.clone()).await["digest"], digest.as_str(), "a described call is the same action");

    let mut others = vec![at("codex", "/srv/shop"), at("claude", "/srv/blog"), with(described, json!({ "agent": "script" }))];
    let mut changed = |field: &str, value: Value| {
        let mut ask = at("claude", "/srv/shop");
        ask["approval"][field] = value;
        others.push(ask);
    };
    changed("command", json!("cargo test --release"));
    changed("tool", json!("Shell"));
    changed("input", json!({ "command": "cargo test", "run_in_background": true }));
    changed("preview", json!({ "type": "command", "command": "cargo test", "cwd": "/srv/other" }));
    for other in others {
        assert_ne!(world.open_ask(other.clone()).await["digest"], digest.as_str(), "{other}");
    }

    world.admin.post(&format!("/v1/asks/{}/approve", id(&first)), json!({})).await.expect(200);
    let found = world.admin.get(&format!("/v1/asks?status=approved&q={digest}")).await.expect(200);
    assert_eq!(id(&found["data"][0]), id(&first), "history finds an approval by its digest");
}

#[tokio::test]
async fn equal_dedupe_keys_join_only_equal_asks() {
    let world = World::start().await;
    let first = world.open_ask(keyed(approval())).await;
    let described = with(keyed(approval()), json!({ "title": "Nightly", "context": "It is late." }));
    assert_eq!(world.open_ask(described).await, first);

    let mut other = keyed(approval());
    other["approval"]["command"] = json!("rm -rf /srv");
    for different in [other, keyed(question()), with(keyed(approval()), json!({ "project": "/srv/blog" }))] {
        world.admin.post("/v1/asks", different.clone()).await.problem(409, "dedupe_key_reused");
        assert_eq!(world.ask(&id(&first)).await, first, "{different}");
    }
    let agent = world.role("agent").await;
    let theirs = agent.post("/v1/asks", keyed(question())).await.expect(201);
    assert_ne!(id(&theirs), id(&first), "keys belong to a token");
    let mut other = keyed(question());
    other["questions"][0]["text"] = json!("Which port?");
    agent.post("/v1/asks", other).await.problem(409, "dedupe_key_reused");
}

#[tokio::test]
async fn identical_parallel_calls_are_separate_asks() {
    let world = World::start().await;
    let asks = join_all((0..8).map(|_| world.open_ask(approval()))).await;
    let mut ids: Vec<String> = asks.iter().map(id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 8);
    assert!(asks.iter().all(|ask| ask["digest"] == asks[0]["digest"]));
    world.admin.post(&format!("/v1/asks/{}/approve", ids[0]), json!({})).await.expect(200);
    for other in &ids[1..] {
        assert_eq!(world.ask(other).await["status"], "pending");
    }
}

#[tokio::test]
async fn delivered_approval_is_never_given_again() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let wanted = with(keyed(approval()), json!({ "keep": "10m" }));
    let open = async || agent.keyed("/v1/asks", "call-1", wanted.clone()).await;
    let first = open().await.expect(201);
    world.admin.post(&format!("/v1/asks/{}/approve", id(&first)), json!({})).await.expect(200);

    // Until the outcome is collected, a caller that lost its connection joins the same ask again.
    let found = open().await.expect(201);
    assert_eq!((id(&found), &found["status"]), (id(&first), &json!("approved")));
    let found = agent.post("/v1/asks", wanted.clone()).await.expect(201);
    assert_eq!((id(&found), &found["status"]), (id(&first), &json!("approved")));

    let taken = agent.poke(&format!("/v1/asks/{}/receipt", id(&first))).await.expect(200);
    assert_eq!(taken["delivery"], "delivered");
    open().await.problem(422, "idempotency_key_reused");
    let next = agent.post("/v1/asks", wanted).await.expect(201);
    assert_ne!(id(&next), id(&first));
    assert_eq!(next["status"], "pending");
}
