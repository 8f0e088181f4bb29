//! One visibility predicate for lists, single reads, streams and answers.

use serde_json::{Value, json};

use crate::world::{Http, World, id, question, seqs};

/// Two sessions with different labels, each with a question.
struct Two {
    world: World,
    shop: (String, Value),
    bank: (String, Value),
}

async fn two_teams() -> Two {
    let world = World::start().await;
    let mut made = Vec::new();
    for team in ["shop", "bank"] {
        let session = world
            .admin
            .post("/v1/sessions", json!({ "agent": "mock", "prompt": "question", "labels": { "team": team } }))
            .await
            .expect(201);
        let session = id(&session);
        let mut stream = world.admin.stream(&format!("/v1/sessions/{session}/events?since=0"), None).await;
        let ask = stream.until("question.requested").await["data"].clone();
        made.push((session, world.ask(&id(&ask)).await));
    }
    let bank = made.pop().unwrap();
    let shop = made.pop().unwrap();
    Two { world, shop, bank }
}

async fn sees_only_the_shop(two: &Two, token: &Http) {
    let (mine, mine_ask) = (&two.shop.0, id(&two.shop.1));
    let (other, other_ask) = (&two.bank.0, id(&two.bank.1));
    let ids = |list: Value| list["data"].as_array().unwrap().iter().map(id).collect::<Vec<_>>();
    assert_eq!(ids(token.get("/v1/asks").await.expect(200)), [mine_ask.as_str()]);
    assert_eq!(ids(token.get("/v1/asks?status=pending").await.expect(200)), [mine_ask.as_str()]);
    assert_eq!(ids(token.get(&format!("/v1/asks?session={other}")).await.expect(200)), Vec::<String>::new());
    assert_eq!(token.get("/v1/asks").await.expect(200)["pending"], Value::Null, "how many there are in all is not told");
    assert_eq!(ids(token.get("/v1/sessions").await.expect(200)), [mine.as_str()]);
    token.get(&format!("/v1/asks/{mine_ask}")).await.expect(200);
    token.get(&format!("/v1/sessions/{mine}")).await.expect(200);
    token.get(&format!("/v1/sessions/{mine}/transcript")).await.expect(200);
    // Resources of the other team get the same reply as resources that do not exist.
    token.get(&format!("/v1/asks/{other_ask}")).await.problem(404, "ask_not_found");
    for path in ["", "/transcript", "/events", "/stream"] {
        token.get(&format!("/v1/sessions/{other}{path}")).await.problem(404, "session_not_found");
    }
    let answers = json!({ "answers": [["SQLite"]] });
    token.post(&format!("/v1/asks/{other_ask}/answer"), answers.clone()).await.problem(404, "ask_not_found");
    token.post(&format!("/v1/asks/{other_ask}/reject"), json!({})).await.problem(404, "ask_not_found");
    token.post(&format!("/v1/asks/{other_ask}/snooze"), json!({ "until": null })).await.problem(404, "ask_not_found");
    assert_eq!(token.post(&format!("/v1/sessions/{other}/questions/{other_ask}/reply"), answers.clone()).await.status, 404);
    assert_eq!(token.post(&format!("/v1/sessions/{mine}/questions/{other_ask}/reply"), answers).await.status, 404);
    let submit = json!({ "toolCallId": two.bank.1["toolCallId"], "answers": { "0": "SQLite" } });
    assert_eq!(token.post(&format!("/v1/sessions/{other}/submit-answers"), submit).await.status, 404);
    token.post(&format!("/v1/sessions/{other}/messages"), json!({ "text": "hi" })).await.problem(404, "session_not_found");
    for verb in ["interrupt", "resume"] {
        token.poke(&format!("/v1/sessions/{other}/{verb}")).await.problem(404, "session_not_found");
    }
    token.delete(&format!("/v1/sessions/{other}")).await.problem(404, "session_not_found");
    let explained = token.post("/v1/policy/explain", json!({ "pending": true })).await.expect(200);
    assert_eq!(explained["data"].as_array().unwrap().iter().map(|e| e["askId"].clone()).collect::<Vec<_>>(), [json!(mine_ask)]);
    token.post("/v1/policy/explain", json!({ "askId": other_ask })).await.problem(404, "ask_not_found");
    // The stream contains all events of the token's own sessions and none of others.
    let mut stream = token.stream("/v1/events?since=0", None).await;
    let requested = stream.until("question.requested").await;
    assert_eq!(id(&requested["data"]), mine_ask);
    two.world.admin.answer(&other_ask, json!([["SQLite"]])).await.expect(200);
    let answered = token.answer(&mine_ask, json!([["PostgreSQL"]])).await.expect(200);
    let resolved = stream.until("question.resolved").await;
    assert_eq!((id(&resolved["data"]), resolved["sessionId"].as_str()), (mine_ask.clone(), Some(mine.as_str())));
    assert_eq!(answered["status"], "answered");
}

#[tokio::test]
async fn label_scope_limits_every_read_and_decision() {
    let two = two_teams().await;
    let token = two.world.token(json!({ "role": "answerer", "actor": "ann", "labels": { "team": "shop" } })).await;
    sees_only_the_shop(&two, &token).await;
    // Sessions that the token starts get its labels, regardless of the request.
    let started =
        token.post("/v1/sessions", json!({ "agent": "mock", "labels": { "team": "bank", "x": "y" } })).await.expect(201);
    assert_eq!(started["labels"], json!({ "team": "shop", "x": "y" }));
}

#[tokio::test]
async fn session_scope_limits_every_read_and_decision() {
    let two = two_teams().await;
    let token = two.world.token(json!({ "role": "answerer", "actor": "ann", "sessionId": two.shop.0 })).await;
    sees_only_the_shop(&two, &token).await;
    token.post("/v1/sessions", json!({ "agent": "mock" })).await.problem(403, "forbidden");
}

/// A token sees the same sessions in the list and in the stream.
#[tokio::test]
async fn scoped_stream_contains_only_events_of_its_sessions() {
    let two = two_teams().await;
    for scope in [json!({ "sessionId": two.shop.0 }), json!({ "labels": { "team": "shop" } })] {
        let mut wanted = json!({ "role": "viewer", "actor": "screen" });
        wanted.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
        let token = two.world.token(wanted).await;
        let mine = two.world.session(&two.shop.0).await;
        let ask_at = {
            let mut stream = two.world.admin.stream(&format!("/v1/sessions/{}/events?since=0", two.shop.0), None).await;
            stream.until("question.requested").await["seq"].as_i64().unwrap()
        };
        let of_session =
            two.world.admin.stream(&format!("/v1/sessions/{}/events?since=0", two.shop.0), None).await.up_to(ask_at).await;
        let all = token.stream("/v1/events?since=0", None).await.up_to(ask_at).await;
        assert_eq!(seqs(&all), seqs(&of_session), "{scope}, {}", mine["id"]);
    }
}

// An agent token opens asks and reads only the asks it opened.
#[tokio::test]
async fn agent_token_sees_only_its_own_asks() {
    let world = World::start().await;
    let (agent, other) = (world.role("agent").await, world.token(json!({ "role": "agent", "actor": "other" })).await);
    let (session, of_mock) = world.start_ask("question").await;
    let of_admin = id(&world.open_ask(question()).await);
    let of_other = id(&other.post("/v1/asks", question()).await.expect(201));
    let mine = id(&agent.post("/v1/asks", question()).await.expect(201));
    let listed: Vec<_> = agent.get("/v1/asks").await.expect(200)["data"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(listed, [mine.as_str()]);
    agent.get(&format!("/v1/asks/{mine}")).await.expect(200);
    for hidden in [&id(&of_mock), &of_admin, &of_other] {
        agent.get(&format!("/v1/asks/{hidden}")).await.problem(404, "ask_not_found");
        agent.delete(&format!("/v1/asks/{hidden}")).await.problem(404, "ask_not_found");
    }
    agent.answer(&mine, json!([["SQLite"]])).await.problem(403, "forbidden");
    agent.get("/v1/sessions").await.problem(403, "forbidden");
    agent.get(&format!("/v1/sessions/{}/events", session.session())).await.problem(403, "forbidden");
    let mut in_session = question();
    in_session["sessionId"] = json!(session.session());
    agent.post("/v1/asks", in_session).await.problem(404, "session_not_found");
    let mut stream = agent.stream("/v1/events?since=0", None).await;
    let (_, first) = stream.event().await;
    assert_eq!(id(&first["data"]), mine);
    world.admin.answer(&of_other, json!([["SQLite"]])).await.expect(200);
    world.admin.answer(&mine, json!([["PostgreSQL"]])).await.expect(200);
    let (_, next) = stream.event().await;
    assert_eq!((next["type"].as_str(), id(&next["data"])), (Some("question.resolved"), mine));
}
