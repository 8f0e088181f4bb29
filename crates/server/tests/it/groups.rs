//! Groups: several asks of one suspended run, its state, and the workers that resume it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use sayso_server::FakeClock;
use sayso_testkit::receivers::Receiver;
use serde_json::{Value, json};

use crate::world::{Http, World, approval, id, question};

const STATE: &str = "{\"messages\":[\"the private state of the run\"]}";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn group(key: &str) -> Value {
    json!({ "name": "mailer", "key": key, "asks": [approval(), question()], "state": STATE })
}

async fn open(bot: &Http, wanted: Value) -> Value {
    bot.post("/v1/groups", wanted).await.expect(201)
}

/// Approves and answers everything that a group asks.
async fn decide(world: &World, group: &Value) {
    for ask in group["asks"].as_array().unwrap() {
        if ask["kind"] == "approval" {
            world.admin.post(&format!("/v1/asks/{}/approve", id(ask)), json!({})).await.expect(200);
        } else {
            world.admin.answer(&id(ask), json!([["SQLite"]])).await.expect(200);
        }
    }
}

/// Claims a group for a worker, as soon as the group is complete.
async fn claim(bot: &Http, worker: &str) -> Value {
    bot.get("/v1/groups/ready?name=mailer&wait=30s").await.expect(200);
    bot.post("/v1/groups/claim", json!({ "name": "mailer", "worker": worker })).await.expect(200)
}

async fn ack(bot: &Http, claim: &Value) -> crate::world::Reply {
    bot.post(&format!("/v1/groups/{}/ack", id(&claim["group"])), json!({ "epoch": claim["epoch"] })).await
}

async fn until_status(bot: &Http, group: &str, wanted: &str) -> Value {
    for _ in 0..2_000 {
        let found = bot.get(&format!("/v1/groups/{group}")).await.expect(200);
        if found["status"] == wanted {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it never becomes {wanted}");
}

#[tokio::test]
async fn group_is_complete_when_all_asks_are_decided_and_gives_its_state_to_one_worker() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    let opened = open(&bot, group("run-1")).await;
    assert_eq!((&opened["status"], opened["asks"].as_array().unwrap().len()), (&json!("pending"), 2));
    let first = id(&opened["asks"][0]);
    world.admin.post(&format!("/v1/asks/{first}/deny"), json!({})).await.expect(200);
    assert_eq!(bot.get("/v1/groups/ready?name=mailer").await.expect(200)["ready"], 0);
    bot.post("/v1/groups/claim", json!({ "group": id(&opened), "worker": "w" })).await.problem(409, "group_not_ready");
    world.admin.answer(&id(&opened["asks"][1]), json!([["SQLite"]])).await.expect(200);

    let claimed = claim(&bot, "w1").await;
    assert_eq!((&claimed["state"], &claimed["epoch"]), (&json!(STATE), &json!(1)));
    let outcomes: Vec<_> = claimed["group"]["asks"].as_array().unwrap().iter().map(|ask| ask["outcome"].clone()).collect();
    assert_eq!(outcomes[0]["status"], "denied");
    assert_eq!(outcomes[0]["message"], "User denied tool execution", "a denial always has words for the model");
    assert_eq!(outcomes[1]["answers"], json!([["SQLite"]]));
    let other = json!({ "name": "mailer", "worker": "w2" });
    assert_eq!(bot.post("/v1/groups/claim", other.clone()).await.status, 204);

    assert_eq!(ack(&bot, &claimed).await.expect(200)["status"], "acknowledged");
    ack(&bot, &claimed).await.expect(200);
    assert_eq!(bot.post("/v1/groups/claim", other).await.status, 204);
    assert_eq!(world.ask(&first).await["delivery"], "delivered");
}

#[tokio::test]
async fn state_is_in_no_list_no_event_and_not_in_clear_on_the_disk() {
    let mut world = World::start().await;
    let bot = world.role("agent").await;
    let opened = open(&bot, group("run-1")).await;
    decide(&world, &opened).await;
    until_status(&bot, &id(&opened), "ready").await;
    let mut shown = bot.get(&format!("/v1/groups/{}", id(&opened))).await.text;
    shown += &world.admin.get("/v1/asks").await.text;
    shown += &world.admin.get("/v1/asks?q=private").await.text;
    let mut events = world.admin.stream("/v1/events?since=0", None).await;
    shown += &format!("{:?}", events.until("question.resolved").await);
    assert!(!shown.contains("private state"), "{shown}");
    let contents = |dir: &Path| {
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        entries.filter_map(|path| std::fs::read(path).ok()).flatten().collect::<Vec<u8>>()
    };
    world
        .server
        .restart_after(async |dir| {
            assert!(!contents(dir).windows(13).any(|bytes| bytes == b"private state"));
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(claim(&world.http(bot.secret()), "w").await["state"], STATE);
}

#[tokio::test]
async fn same_key_is_one_group_and_another_content_is_refused() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    let opened = open(&bot, group("run-1")).await;
    let again = bot.post("/v1/groups", group("run-1")).await.expect(200);
    assert_eq!((id(&again), &again["asks"]), (id(&opened), &opened["asks"]));
    let mut different = group("run-1");
    different["asks"] = json!([question()]);
    bot.post("/v1/groups", different).await.problem(409, "dedupe_key_reused");
    // Keys belong to the token.
    let other = world.role("agent").await;
    assert_ne!(id(&open(&other, group("run-1")).await), id(&opened));
    // The key also finds a finished group, so its asks are not opened again.
    decide(&world, &opened).await;
    let claimed = claim(&bot, "w").await;
    ack(&bot, &claimed).await.expect(200);
    assert_eq!(bot.post("/v1/groups", group("run-1")).await.expect(200)["status"], "acknowledged");
    // Without a key, the idempotency key keeps a repeated call from opening a second group.
    let unnamed = json!({ "name": "mailer", "asks": [question()] });
    let first = bot.keyed("/v1/groups", "call-1", unnamed.clone()).await.expect(201);
    assert_eq!(id(&bot.keyed("/v1/groups", "call-1", unnamed).await.expect(200)), id(&first));
}

#[tokio::test]
async fn groups_belong_to_the_token_that_opened_them() {
    let world = World::start().await;
    let (bot, other) = (world.role("agent").await, world.role("agent").await);
    let opened = open(&bot, group("run-1")).await;
    decide(&world, &opened).await;
    until_status(&bot, &id(&opened), "ready").await;
    for token in [&other, &world.admin] {
        token.get(&format!("/v1/groups/{}", id(&opened))).await.problem(404, "group_not_found");
        let wanted = json!({ "group": id(&opened), "worker": "w" });
        token.post("/v1/groups/claim", wanted).await.problem(404, "group_not_found");
        assert_eq!(token.get("/v1/groups/ready?name=mailer").await.expect(200)["ready"], 0);
    }
    let foreign = json!({ "name": "x", "askIds": [id(&opened["asks"][0])] });
    other.post("/v1/groups", foreign.clone()).await.problem(404, "ask_not_found");
    // Asks that the caller opened before can be joined.
    assert_eq!(bot.post("/v1/groups", foreign).await.expect(201)["status"], "ready");
    for role in ["viewer", "answerer"] {
        world.role(role).await.post("/v1/groups", group("k")).await.problem(403, "forbidden");
    }
}

async fn timeless() -> (World, Arc<FakeClock>, Http) {
    let (world, clock) = World::timeless("").await;
    let bot = world.role("agent").await;
    (world, clock, bot)
}

#[tokio::test]
async fn expired_claim_asks_a_person_before_the_run_is_resumed_again() {
    let (world, clock, bot) = timeless().await;
    let opened = open(&bot, group("run-1")).await;
    decide(&world, &opened).await;
    let dead = claim(&bot, "worker-7").await;
    clock.advance(Duration::from_secs(59));
    assert_eq!(bot.get(&format!("/v1/groups/{}", id(&opened))).await.expect(200)["status"], "claimed");
    clock.advance(Duration::from_secs(2));
    let uncertain = until_status(&bot, &id(&opened), "uncertain").await;
    let asked = world.ask(uncertain["uncertainAsk"].as_str().unwrap()).await;
    assert!(asked["questions"][0]["text"].as_str().unwrap().contains("worker-7"), "{asked}");
    bot.post("/v1/groups/claim", json!({ "group": id(&opened), "worker": "w" })).await.problem(409, "group_not_ready");

    world.admin.answer(&id(&asked), json!([["resume"]])).await.expect(200);
    let second = claim(&bot, "worker-8").await;
    assert_eq!((&second["epoch"], &second["state"]), (&json!(2), &json!(STATE)));
    ack(&bot, &dead).await.problem(409, "claim_lost");
    ack(&bot, &second).await.expect(200);
}

#[tokio::test]
async fn person_can_give_up_an_uncertain_run() {
    let (world, clock, bot) = timeless().await;
    let opened = open(&bot, group("run-1")).await;
    decide(&world, &opened).await;
    claim(&bot, "w").await;
    clock.advance(Duration::from_secs(61));
    let uncertain = until_status(&bot, &id(&opened), "uncertain").await;
    world.admin.answer(uncertain["uncertainAsk"].as_str().unwrap(), json!([["abandon"]])).await.expect(200);
    until_status(&bot, &id(&opened), "abandoned").await;
    assert_eq!(bot.post("/v1/groups/claim", json!({ "name": "mailer", "worker": "w" })).await.status, 204);
}

#[tokio::test]
async fn late_report_of_a_worker_withdraws_the_question_about_its_run() {
    let (world, clock, bot) = timeless().await;
    let opened = open(&bot, group("run-1")).await;
    decide(&world, &opened).await;
    let slow = claim(&bot, "w").await;
    clock.advance(Duration::from_secs(61));
    let uncertain = until_status(&bot, &id(&opened), "uncertain").await;
    assert_eq!(ack(&bot, &slow).await.expect(200)["status"], "acknowledged");
    assert_eq!(world.ask(uncertain["uncertainAsk"].as_str().unwrap()).await["status"], "withdrawn");
}

#[tokio::test]
async fn renewed_lease_and_permitted_retry_ask_no_one() {
    let (world, clock, bot) = timeless().await;
    let mut wanted = group("run-1");
    wanted["retry"] = json!(true);
    let opened = open(&bot, wanted).await;
    decide(&world, &opened).await;
    let claimed = claim(&bot, "w1").await;
    let renew = json!({ "epoch": 1, "lease": "5m" });
    bot.post(&format!("/v1/groups/{}/renew", id(&opened)), renew.clone()).await.expect(200);
    clock.advance(Duration::from_secs(200));
    assert_eq!(bot.get(&format!("/v1/groups/{}", id(&opened))).await.expect(200)["status"], "claimed");
    clock.advance(Duration::from_secs(101));
    let again = claim(&bot, "w2").await;
    assert_eq!(again["epoch"], 2);
    bot.post(&format!("/v1/groups/{}/renew", id(&opened)), renew).await.problem(409, "claim_lost");
    ack(&bot, &claimed).await.problem(409, "claim_lost");
    ack(&bot, &again).await.expect(200);
}

#[tokio::test]
async fn released_claim_goes_to_another_worker_and_a_failed_one_to_a_person() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    let opened = open(&bot, group("run-1")).await;
    decide(&world, &opened).await;
    let release = async |claim: &Value, body: Value| {
        let mut body = body;
        body["epoch"] = claim["epoch"].clone();
        bot.post(&format!("/v1/groups/{}/release", id(&opened)), body).await.expect(200)
    };
    let first = claim(&bot, "w1").await;
    assert_eq!(release(&first, json!({})).await["status"], "ready");
    let second = claim(&bot, "w2").await;
    let failed = release(&second, json!({ "started": true, "reason": "ValueError" })).await;
    assert_eq!(failed["status"], "uncertain");
    let asked = world.ask(failed["uncertainAsk"].as_str().unwrap()).await;
    assert!(asked["questions"][0]["text"].as_str().unwrap().contains("ValueError"), "{asked}");
}

#[tokio::test]
async fn repeated_call_gets_the_same_claim() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    for key in ["run-1", "run-2"] {
        let opened = open(&bot, group(key)).await;
        decide(&world, &opened).await;
        until_status(&bot, &id(&opened), "ready").await;
    }
    let wanted = json!({ "name": "mailer", "worker": "w" });
    let first = bot.keyed("/v1/groups/claim", "call-1", wanted.clone()).await.expect(200);
    assert_eq!(bot.keyed("/v1/groups/claim", "call-1", wanted.clone()).await.expect(200), first);
    let second = bot.keyed("/v1/groups/claim", "call-2", wanted).await.expect(200);
    assert_ne!(id(&second["group"]), id(&first["group"]));
}

#[tokio::test]
async fn groups_survive_restarts_in_every_phase() {
    let mut world = World::start().await;
    let bot = world.role("agent").await;
    let mut groups = Vec::new();
    for key in ["pending", "ready", "claimed"] {
        let mut wanted = group(key);
        wanted["name"] = json!(key);
        let opened = open(&bot, wanted).await;
        if key != "pending" {
            decide(&world, &opened).await;
            until_status(&bot, &id(&opened), "ready").await;
        }
        groups.push(opened);
    }
    let held = bot.post("/v1/groups/claim", json!({ "name": "claimed", "worker": "w" })).await.expect(200);
    world.server.restart().await.unwrap();
    let bot = world.http(bot.secret());
    world.admin = world.http(world.server.token());
    ack(&bot, &held).await.expect(200);
    let ready = bot.post("/v1/groups/claim", json!({ "name": "ready", "worker": "w" })).await.expect(200);
    assert_eq!(ready["state"], STATE);
    decide(&world, &groups[0]).await;
    until_status(&bot, &id(&groups[0]), "ready").await;
    assert_eq!(bot.get("/v1/groups/ready?name=pending").await.expect(200)["ready"], 1);
}

#[tokio::test]
async fn withdrawn_group_takes_its_asks_with_it() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    let opened = open(&bot, group("run-1")).await;
    let path = format!("/v1/groups/{}?reason=The%20run%20was%20cancelled.", id(&opened));
    let withdrawn = bot.delete(&path).await.expect(200);
    assert_eq!(withdrawn["status"], "withdrawn");
    for ask in withdrawn["asks"].as_array().unwrap() {
        assert_eq!((&ask["status"], &ask["outcome"]["message"]), (&json!("withdrawn"), &json!("The run was cancelled.")));
    }
    bot.delete(&path).await.problem(409, "group_ended");
    let claimed = json!({ "group": id(&opened), "worker": "w" });
    bot.post("/v1/groups/claim", claimed).await.problem(409, "group_ended");
}

#[tokio::test]
async fn unreadable_state_is_a_typed_error_and_a_person_decides() {
    let mut world = World::start().await;
    let bot = world.role("agent").await;
    let opened = open(&bot, group("run-1")).await;
    decide(&world, &opened).await;
    until_status(&bot, &id(&opened), "ready").await;
    world
        .server
        .restart_after(async |dir| {
            std::fs::write(dir.join("state.key"), "00".repeat(32)).unwrap();
            Ok(())
        })
        .await
        .unwrap();
    let bot = world.http(bot.secret());
    bot.post("/v1/groups/claim", json!({ "name": "mailer", "worker": "w" })).await.problem(409, "state_unreadable");
    until_status(&bot, &id(&opened), "uncertain").await;
}

#[tokio::test]
async fn invalid_groups_are_refused_with_a_next_step() {
    let world = World::start().await;
    let bot = world.role("agent").await;
    let ask = question();
    let with_key = |key: &str, value: Value| {
        let mut ask = question();
        ask[key] = value;
        json!({ "name": "x", "asks": [ask] })
    };
    for (wanted, code) in [
        (json!({ "name": "", "asks": [ask] }), "invalid_request"),
        (json!({ "name": "x" }), "invalid_request"),
        (json!({ "name": "x", "asks": [ask], "keep": "91d" }), "invalid_request"),
        (json!({ "name": "x", "asks": [ask], "callback": "nowhere" }), "unknown_callback"),
        (json!({ "name": "x", "asks": [ask], "state": "s".repeat(4 * 1024 * 1024 + 1) }), "limit_exceeded"),
        (json!({ "name": "x", "asks": [ask], "callbackUrl": "https://example.com" }), "invalid_request"),
        (with_key("dedupeKey", json!("k")), "invalid_request"),
        (with_key("keep", json!("1h")), "invalid_request"),
    ] {
        bot.post("/v1/groups", wanted).await.problem(422, code);
    }
    // All asks are opened or none.
    let half = json!({ "name": "x", "asks": [ask, { "questions": [] }] });
    bot.post("/v1/groups", half).await.problem(422, "invalid_request");
    assert_eq!(world.admin.get("/v1/asks").await.expect(200)["data"], json!([]));
    for lease in ["0s", "2h", "soon"] {
        let wanted = json!({ "name": "x", "worker": "w", "lease": lease });
        bot.post("/v1/groups/claim", wanted).await.problem(422, "invalid_request");
    }
    bot.get("/v1/groups/grp_x").await.problem(404, "group_not_found");
}

#[tokio::test]
async fn state_counts_against_the_byte_quota_of_the_token() {
    let (_world, _clock, bot) = timeless().await;
    let large = json!({ "name": "x", "asks": [question()], "state": "s".repeat(4_000_000) });
    let mut opened = 0;
    while bot.post("/v1/groups", large.clone()).await.status == 201 {
        opened += 1;
        assert!(opened <= 8, "the quota is 32 MiB");
    }
    bot.post("/v1/groups", large).await.problem(429, "byte_quota_exceeded");
    assert_eq!(opened, 8);
}

#[tokio::test]
async fn unclaimed_group_expires_with_its_state() {
    let (world, clock, bot) = timeless().await;
    let mut wanted = group("run-1");
    wanted["keep"] = json!("1h");
    let opened = open(&bot, wanted).await;
    decide(&world, &opened).await;
    until_status(&bot, &id(&opened), "ready").await;
    clock.advance(Duration::from_secs(3_601));
    until_status(&bot, &id(&opened), "expired").await;
    assert!(world.ask(&id(&opened["asks"][0])).await["deliveryReason"].as_str().unwrap().contains("not resumed"));
}

/// A server with one callback target.
async fn with_target(receiver: &Receiver) -> (World, Arc<FakeClock>, Http) {
    let config = format!("[callbacks.hook]\nurl = \"{}\"\nsecret_env = \"HOOK\"\nallow_private = true\n", receiver.url());
    let mut clock = None;
    let world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.options.environment.push(("HOOK".to_owned(), SECRET.to_owned()));
        setup.config = Some(config);
    })
    .await;
    let bot = world.role("agent").await;
    (world, clock.unwrap(), bot)
}

fn with_callback(key: &str) -> Value {
    let mut wanted = group(key);
    wanted["callback"] = json!("hook");
    wanted
}

#[tokio::test]
async fn target_is_called_with_ids_and_statuses_only_and_signed() {
    let receiver = Receiver::with_status(200).await.unwrap();
    let (world, _clock, bot) = with_target(&receiver).await;
    let opened = open(&bot, with_callback("run-1")).await;
    decide(&world, &opened).await;
    let call = receiver.calls(1).await.unwrap()[0].clone();
    standardwebhooks::Webhook::new(SECRET).unwrap().verify(&call.body, &call.headers).unwrap();
    let asks = [("approved", 0_usize), ("answered", 1)]
        .map(|(status, at)| json!({ "id": id(&opened["asks"][at]), "status": status, "timedOut": false }));
    assert_eq!(call.json()["type"], "group.completed");
    assert_eq!(call.json()["data"], json!({ "groupId": id(&opened), "name": "mailer", "asks": asks }));

    let withdrawn = open(&bot, with_callback("run-2")).await;
    bot.delete(&format!("/v1/groups/{}", id(&withdrawn))).await.expect(200);
    let call = receiver.calls(2).await.unwrap()[1].clone();
    assert_eq!((&call.json()["type"], &call.json()["data"]["groupId"]), (&json!("group.withdrawn"), &json!(id(&withdrawn))));
}

#[tokio::test]
async fn receiver_that_is_down_for_an_hour_gets_its_call() {
    let failures = Arc::new(AtomicUsize::new(6));
    let receiver = Receiver::start(move |_| {
        let fails = failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        async move { if fails { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK }.into_response() }
    })
    .await
    .unwrap();
    let (world, clock, bot) = with_target(&receiver).await;
    let opened = open(&bot, with_callback("run-1")).await;
    decide(&world, &opened).await;
    let mut passed = 0;
    receiver.calls(1).await.unwrap();
    while receiver.so_far().len() < 7 {
        assert!(passed < 1_000_000, "no further attempt after {:?}", receiver.so_far().len());
        clock.advance(Duration::from_secs(30));
        passed += 30;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(passed >= 3_600, "{passed} s");
    let ids: BTreeSet<_> = receiver.so_far().iter().map(|call| call.headers["webhook-id"].to_str().unwrap().to_owned()).collect();
    assert_eq!(ids, BTreeSet::from([id(&opened)]), "every attempt has the same id");
}

#[tokio::test]
async fn many_workers_resume_every_group_once() {
    let world = World::start().await;
    let bot = world.role("admin").await;
    let mut opened = Vec::new();
    for number in 0..100 {
        let wanted = json!({ "name": "mailer", "key": format!("run-{number}"), "asks": [question()] });
        let group = open(&bot, wanted).await;
        world.admin.answer(&id(&group["asks"][0]), json!([["SQLite"]])).await.expect(200);
        opened.push(id(&group));
    }
    until_status(&bot, &opened[99], "ready").await;
    let workers = (0..20).map(|number| {
        let bot = bot.clone();
        tokio::spawn(async move {
            let mut resumed = Vec::new();
            let wanted = json!({ "name": "mailer", "worker": format!("w{number}") });
            loop {
                let reply = bot.post("/v1/groups/claim", wanted.clone()).await;
                if reply.status == 204 {
                    return resumed;
                }
                let claim = reply.expect(200);
                resumed.push(id(&claim["group"]));
                ack(&bot, &claim).await.expect(200);
            }
        })
    });
    let mut resumed = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        resumed.extend(worker.await.unwrap());
    }
    resumed.sort();
    opened.sort();
    assert_eq!(resumed, opened);
}
