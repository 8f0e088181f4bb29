//! The stream of outcomes, which contains only the caller's own asks.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

fn keep_for_ten_minutes(ask: Value, key: &str) -> Value {
    let mut ask = ask;
    (ask["keep"], ask["dedupeKey"]) = (json!("10m"), json!(key));
    ask
}

#[tokio::test]
async fn outcome_stream_contains_only_asks_of_the_caller() {
    let world = World::start().await;
    let (bot, other) = (world.role("agent").await, world.role("agent").await);
    let mut stream = bot.stream("/v1/outcomes", None).await;
    let (fields, reset) = stream.event().await;
    let head = reset["seq"].as_i64().unwrap();
    assert_eq!((fields["event"].as_str(), fields["id"].as_str()), ("reset", head.to_string().as_str()));

    let foreign = other.post("/v1/asks", question()).await.expect(201);
    world.admin.answer(&id(&foreign), json!([["SQLite"]])).await.expect(200);
    let (_agent, of_agent) = world.start_ask("question").await;
    world.admin.answer(&id(&of_agent), json!([["SQLite"]])).await.expect(200);
    let own = bot.post("/v1/asks", question()).await.expect(201);
    world.admin.answer(&id(&own), json!([["SQLite"]])).await.expect(200);
    let denied = bot.post("/v1/asks", approval()).await.expect(201);
    world.admin.post(&format!("/v1/asks/{}/deny", id(&denied)), json!({})).await.expect(200);
    let withdrawn = bot.post("/v1/asks", question()).await.expect(201);
    bot.delete(&format!("/v1/asks/{}", id(&withdrawn))).await.expect(200);

    let mut seen = Vec::new();
    for _ in 0..3 {
        let (fields, data) = stream.event().await;
        seen.push((fields["event"].clone(), id(&data["data"]), data["data"]["status"].clone()));
    }
    let wanted = [
        ("question.resolved".to_owned(), id(&own), json!("answered")),
        ("approval.resolved".to_owned(), id(&denied), json!("denied")),
        ("question.resolved".to_owned(), id(&withdrawn), json!("withdrawn")),
    ];
    assert_eq!(seen, wanted);

    // A resumed stream misses nothing and has no reset.
    let mut resumed = bot.stream("/v1/outcomes", Some(&head.to_string())).await;
    let (_, first) = resumed.event().await;
    assert_eq!(id(&first["data"]), id(&own));
    for role in ["viewer", "answerer"] {
        world.role(role).await.get("/v1/outcomes").await.problem(403, "forbidden");
    }
}

#[tokio::test]
async fn ask_stays_live_while_its_caller_follows_outcomes() {
    let (world, clock) = World::timeless("").await;
    let bot = world.role("agent").await;
    let ask = bot.post("/v1/asks", keep_for_ten_minutes(question(), "call-1")).await.expect(201);
    let reach = async || world.ask(&id(&ask)).await["reach"].clone();
    let until_reach = async |wanted: &str| {
        for _ in 0..500 {
            if reach().await == wanted {
                return;
            }
            clock.advance(Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("it is {:?}, not {wanted}", reach().await);
    };
    until_reach("parked").await;

    let stream = bot.stream("/v1/outcomes", None).await;
    assert_eq!(reach().await, "live");
    // Much longer than the ask is kept for a disconnected caller.
    for _ in 0..100 {
        clock.advance(Duration::from_secs(60));
        tokio::task::yield_now().await;
    }
    assert_eq!(reach().await, "live");

    drop(stream);
    until_reach("parked").await;
    clock.advance(Duration::from_secs(601));
    for _ in 0..500 {
        if world.ask(&id(&ask)).await["status"] == "withdrawn" {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it is not withdrawn");
}

#[tokio::test]
async fn parked_ask_is_live_again_when_its_caller_returns_after_a_restart() {
    let (mut world, clock) = World::timeless("").await;
    let bot = world.role("agent").await;
    let ask = bot.post("/v1/asks", keep_for_ten_minutes(question(), "call-1")).await.expect(201);
    for _ in 0..500 {
        if world.ask(&id(&ask)).await["reach"] == "parked" {
            break;
        }
        clock.advance(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    world.server.restart().await.unwrap();
    assert_eq!(world.ask(&id(&ask)).await["reach"], "parked");
    let mut stream = bot.stream("/v1/outcomes", None).await;
    stream.until("reset").await;
    assert_eq!(world.ask(&id(&ask)).await["reach"], "live");
}

#[tokio::test]
async fn ask_is_withdrawn_by_its_key() {
    let world = World::start().await;
    let (bot, other) = (world.role("agent").await, world.role("agent").await);
    let ask = bot.post("/v1/asks", keep_for_ten_minutes(question(), "call 1")).await.expect(201);
    let path = "/v1/asks?dedupeKey=call%201&reason=too%20late";
    other.delete(path).await.problem(404, "ask_not_found");
    let withdrawn = bot.delete(path).await.expect(200);
    assert_eq!(
        (id(&withdrawn), &withdrawn["status"], &withdrawn["outcome"]["message"]),
        (id(&ask), &json!("withdrawn"), &json!("too late"))
    );
    bot.delete(path).await.problem(404, "ask_not_found");
    bot.delete("/v1/asks").await.problem(422, "invalid_request");
    world.role("answerer").await.delete(path).await.problem(403, "forbidden");
}

#[tokio::test]
async fn ask_is_kept_for_90_days_at_most() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    let with = |keep: &str| {
        let mut ask = question();
        ask["keep"] = json!(keep);
        ask
    };
    bot.post("/v1/asks", with("90d")).await.expect(201);
    bot.post("/v1/asks", with("91d")).await.problem(422, "invalid_request");
}

#[tokio::test]
async fn approval_is_given_to_one_taker_only() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    let ask = id(&bot.post("/v1/asks", keep_for_ten_minutes(approval(), "call-1")).await.expect(201));
    let take = |taker: &str| format!("/v1/asks/{ask}/receipt?taker={taker}");
    bot.poke(&take("one")).await.problem(409, "ask_pending");
    world.admin.post(&format!("/v1/asks/{ask}/approve"), json!({})).await.expect(200);

    assert_eq!(bot.poke(&take("one")).await.expect(200)["status"], "approved");
    // The reply was lost: the same taker can repeat the call.
    assert_eq!(bot.poke(&take("one")).await.expect(200)["delivery"], "delivered");
    bot.poke(&take("two")).await.problem(409, "outcome_taken");
    bot.poke(&format!("/v1/asks/{ask}/receipt?taker={}", "x".repeat(1_000))).await.problem(422, "limit_exceeded");
    // Without a taker, the call works as before.
    bot.poke(&format!("/v1/asks/{ask}/receipt")).await.expect(200);
}

#[tokio::test]
async fn denials_and_answers_are_given_to_every_taker() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    let denied = id(&bot.post("/v1/asks", approval()).await.expect(201));
    world.admin.post(&format!("/v1/asks/{denied}/deny"), json!({})).await.expect(200);
    let answered = id(&bot.post("/v1/asks", question()).await.expect(201));
    world.admin.answer(&answered, json!([["SQLite"]])).await.expect(200);
    for ask in [denied, answered] {
        for taker in ["one", "two"] {
            bot.poke(&format!("/v1/asks/{ask}/receipt?taker={taker}")).await.expect(200);
        }
    }
}
