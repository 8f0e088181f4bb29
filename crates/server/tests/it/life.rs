//! Agents that crash, sessions that are interrupted, closed and resumed, and servers that restart.

use std::time::Duration;

use sayso_agents::translator::Command;
use sayso_core::actor::Actor;
use sayso_core::ask::Decision;
use sayso_core::id::{AskId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session_lifecycle::SessionCommand;
use sayso_store::ops::{CommandSession, ResolveAsk};
use sayso_store::{Store, StoreOptions, WorkspaceId};
use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

/// The session's status when it is this one.
async fn until_status(world: &World, session: &str, status: &str) -> Value {
    sayso_testkit::within(&format!("the session to be {status}"), async {
        loop {
            let found = world.session(session).await;
            if found["status"] == status {
                return Ok(found);
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap()
}

// Parking: the question of a dead agent stays answerable, and the answer is sent after the session is resumed.
#[tokio::test]
async fn parked_question_can_be_answered_later() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("crash").await;
    let session = agent.session().to_owned();
    let failed = until_status(&world, &session, "failed").await;
    assert_eq!(failed["resumable"], true);
    let parked = world.ask(&id(&ask)).await;
    assert_eq!((&parked["status"], &parked["reach"]), (&json!("pending"), &json!("parked")));
    agent.watch().about("ask.parked", &id(&ask)).await.unwrap();
    let answered = world.admin.answer(&id(&ask), json!([["PostgreSQL"]])).await.expect(200);
    assert_eq!(answered["status"], "answered");
    let said = agent.watch().until("the agent to repeat the answer", |event| {
        event.name() == "message.completed"
            && event.event.data_json().contains("assistant")
            && event.event.data_json().contains("PostgreSQL")
    });
    said.await.unwrap();
    until_status(&world, &session, "idle").await;
    assert_eq!(world.ask(&id(&ask)).await["delivery"], "delivered");
}

#[tokio::test]
async fn answer_to_a_parked_question_is_delivered_once_after_a_restart() {
    let mut world = World::start().await;
    let (agent, ask) = world.start_ask("crash").await;
    let session = agent.session().to_owned();
    until_status(&world, &session, "failed").await;
    world.server.restart().await.unwrap();
    assert_eq!(world.ask(&id(&ask)).await["reach"], "parked");
    world.admin.answer(&id(&ask), json!([["SQLite"]])).await.expect(200);
    until_status(&world, &session, "idle").await;
    let transcript = world.admin.get(&format!("/v1/sessions/{session}/transcript")).await.expect(200);
    let told = transcript["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|b| b["role"] == "user" && b["text"].as_str().is_some_and(|t| t.contains("SQLite")))
        .count();
    assert_eq!(told, 1);
}

#[tokio::test]
async fn parked_question_can_be_rejected() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("crash").await;
    until_status(&world, agent.session(), "failed").await;
    let rejected = world.admin.post(&format!("/v1/asks/{}/reject", id(&ask)), json!({})).await.expect(200);
    assert_eq!(rejected["status"], "rejected");
    let mut watch = sayso_testkit::Watch::session(&world.server.client(), agent.session());
    let delivery = watch.about("ask.delivery", &id(&ask)).await.unwrap();
    assert!(delivery.event.data_json().contains("undeliverable"), "{}", delivery.event.data_json());
    assert_eq!(world.session(agent.session()).await["status"], "failed", "a denial resumes no session");
}

// A parked ask is not live, so a typed message does not answer it.
#[tokio::test]
async fn resumed_session_accepts_messages_with_a_parked_question() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("crash").await;
    let session = agent.session();
    until_status(&world, session, "failed").await;
    world.admin.post(&format!("/v1/sessions/{session}/messages"), json!({ "text": "hello" })).await.problem(409, "session_ended");
    world.admin.poke(&format!("/v1/sessions/{session}/resume")).await.expect(200);
    until_status(&world, session, "idle").await;
    world.admin.post(&format!("/v1/sessions/{session}/messages"), json!({ "text": "hello again" })).await.expect(202);
    assert_eq!(world.ask(&id(&ask)).await["status"], "pending");
}

#[tokio::test]
async fn interrupt_ends_the_turn_and_withdraws_asks() {
    let world = World::start().await;
    for prompt in ["question", "approve", "parallel"] {
        let (mut agent, ask) = world.start_ask(prompt).await;
        let session = agent.session().to_owned();
        world.admin.poke(&format!("/v1/sessions/{session}/interrupt")).await.expect(200);
        let ended = world.outcome(&id(&ask)).await;
        assert_eq!(
            (&ended["status"], &ended["outcome"]["message"]),
            (&json!("withdrawn"), &json!("The turn was interrupted.")),
            "{prompt}"
        );
        assert_eq!(ended["outcome"]["by"]["kind"], "agent");
        agent.finished().await.unwrap();
        let idle = until_status(&world, &session, "idle").await;
        assert_eq!(idle["pending"], 0);
        // The agent continues.
        world.admin.post(&format!("/v1/sessions/{session}/messages"), json!({ "text": "go on" })).await.expect(202);
    }
}

/// The person approves and then stops the session, and the server ends before it can send either.
#[tokio::test]
async fn approval_that_was_not_sent_does_not_reach_an_agent_that_is_stopped() {
    let mut world = World::start().await;
    let (agent, ask) = world.start_ask("approve").await;
    let (ask, session): (AskId, SessionId) = (id(&ask).parse().unwrap(), agent.session().parse().unwrap());
    let decide = async |data: &std::path::Path| {
        let store = Store::open(&StoreOptions::new(data.join("sayso.db")), sayso_client::now, |_| {})?;
        let (workspace, by) = (
            WorkspaceId::MAIN,
            Actor::Person { name: "ada".to_owned(), via: "page".to_owned(), token: TokenId::from_bytes([7; 16]) },
        );
        let decision = Decision::Approved { choice: None, input: None };
        let resolve = ResolveAsk {
            workspace,
            ask,
            scope: Scope::All,
            session: None,
            decision,
            by,
            key: None,
            content: None,
            fits_schemas: true,
        };
        store.write(resolve).await?.unwrap();
        let command = Raw::of(&Command::Interrupt { session });
        let interrupt =
            CommandSession { workspace, session, scope: Scope::All, command, kind: SessionCommand::Interrupt, said: None };
        store.write(interrupt).await?;
        store.close().await;
        Ok(())
    };
    world.server.restart_after(decide).await.unwrap();
    let ask = ask.to_string();
    let cancelled = "The turn was interrupted before the approval arrived.";
    let settled = sayso_testkit::within("the delivery to be settled", async {
        loop {
            let found = world.ask(&ask).await;
            if found["delivery"] != "queued" {
                return Ok(found);
            }
            tokio::task::yield_now().await;
        }
    });
    let ask = settled.await.unwrap();
    assert_eq!(
        (&ask["status"], &ask["delivery"], &ask["deliveryReason"]),
        (&json!("approved"), &json!("undeliverable"), &json!(cancelled))
    );
}

#[tokio::test]
async fn close_ends_the_session_and_withdraws_asks() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let session = agent.session();
    world.admin.delete(&format!("/v1/sessions/{session}")).await.expect(200);
    let ended = until_status(&world, session, "ended").await;
    assert_eq!((&ended["resumable"], &ended["reason"]), (&json!(false), &json!("closed")));
    let withdrawn = world.ask(&id(&ask)).await;
    assert_eq!(
        (&withdrawn["status"], &withdrawn["outcome"]["message"]),
        (&json!("withdrawn"), &json!("The session was closed."))
    );
    world.admin.delete(&format!("/v1/sessions/{session}")).await.problem(409, "session_ended");
    world.admin.poke(&format!("/v1/sessions/{session}/interrupt")).await.problem(409, "session_ended");
    world.admin.poke(&format!("/v1/sessions/{session}/resume")).await.problem(409, "not_resumable");
    world.admin.post(&format!("/v1/sessions/{session}/messages"), json!({ "text": "hi" })).await.problem(409, "session_ended");
    let mut of_it = question();
    of_it["sessionId"] = json!(session);
    world.admin.post("/v1/asks", of_it).await.problem(404, "session_not_found");
    let open = world.admin.get("/v1/sessions?open=true").await.expect(200);
    assert_eq!(open["data"], json!([]));
}

/// A crashed session can be closed together with its parked questions.
#[tokio::test]
async fn crashed_session_can_be_closed() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("crash").await;
    until_status(&world, agent.session(), "failed").await;
    world.admin.delete(&format!("/v1/sessions/{}", agent.session())).await.expect(200);
    assert_eq!(world.outcome(&id(&ask)).await["status"], "withdrawn");
}

#[tokio::test]
async fn ended_session_can_be_resumed() {
    let world = World::start().await;
    let (agent, _ask) = world.start_ask("crash").await;
    let session = agent.session();
    until_status(&world, session, "failed").await;
    let resumed = world.admin.poke(&format!("/v1/sessions/{session}/resume")).await.expect(200);
    assert_ne!(resumed["status"], "failed");
    until_status(&world, session, "idle").await;
    world.admin.poke(&format!("/v1/sessions/{session}/resume")).await.problem(409, "not_resumable");
    assert!(world.admin.get("/v1/sessions?open=true").await.expect(200)["data"].as_array().unwrap().len() == 1);
}

// A pending ask is still pending after a restart, and its answer reaches the agent.
#[tokio::test]
async fn pending_asks_survive_a_restart() {
    let mut world = World::start().await;
    let mut kept = Vec::new();
    for (prompt, verb, body, words) in [
        ("question", "answer", json!({ "answers": [["SQLite"]] }), "You answered: SQLite."),
        ("approve", "approve", json!({}), "Approved: cargo test --workspace"),
        ("plan", "deny", json!({}), "Denied: User denied tool execution"),
        ("link", "approve", json!({}), "Opened: https://example.com/device?code=MOCK-1234"),
        ("secret", "answer", json!({ "answers": [["12345"]] }), "I received a secret of 5 characters."),
    ] {
        let (agent, ask) = world.start_ask(prompt).await;
        kept.push((agent, ask, verb, body, words));
    }
    let caller = world.open_ask(question()).await;
    world.server.restart().await.unwrap();
    assert_eq!(world.ask(&id(&caller)).await, caller);
    for (mut agent, ask, verb, body, words) in kept {
        assert_eq!(world.ask(&id(&ask)).await, ask);
        world.admin.post(&format!("/v1/asks/{}/{verb}", id(&ask)), body).await.expect(200);
        assert_eq!(agent.finished().await.unwrap(), words);
        assert_eq!(world.ask(&id(&ask)).await["delivery"], "delivered");
    }
}

/// Deadlines are absolute and survive a restart, and none fires within the grace time after it.
#[tokio::test]
async fn deadlines_survive_a_restart_and_wait_for_the_grace() {
    let mut clock = None;
    let mut world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.options.grace = Duration::from_secs(30);
    })
    .await;
    let clock = clock.unwrap();
    // The first grace time passes.
    clock.advance(Duration::from_secs(60));
    let with = |mut wanted: Value, timeout: &str| {
        wanted["timeout"] = json!(timeout);
        wanted
    };
    let due = world.open_ask(with(question(), "1m")).await;
    let tool = world.open_ask(with(approval(), "1m")).await;
    let later = world.open_ask(with(question(), "1h")).await;
    // The server is away while the deadline passes.
    clock.advance(Duration::from_secs(59));
    world.server.restart().await.unwrap();
    assert_eq!(world.ask(&id(&due)).await, due);
    clock.advance(Duration::from_secs(29));
    // The probe is also due at once, but no deadline fires within the grace time.
    let probe = world.open_ask(with(question(), "1ms")).await;
    assert_eq!(world.ask(&id(&due)).await["status"], "pending", "within the grace time");
    clock.advance(Duration::from_secs(1));
    assert_eq!(world.outcome(&id(&probe)).await["outcome"]["by"]["kind"], "timeout");
    let ended = world.outcome(&id(&due)).await;
    assert_eq!(ended["outcome"]["message"], "User did not respond within 1 minute");
    assert_eq!(world.outcome(&id(&tool)).await["outcome"]["message"], "Tool approval timed out after 1 minute");
    assert_eq!(world.ask(&id(&later)).await, later);
    clock.advance(Duration::from_secs(3_600));
    assert_eq!(world.outcome(&id(&later)).await["outcome"]["message"], "User did not respond within 1 hour");
}

/// Deadlines do not fire right after a restart, so that people can still answer.
#[tokio::test]
async fn answer_within_the_grace_period_wins() {
    let mut clock = None;
    let mut world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.options.grace = Duration::from_secs(30);
    })
    .await;
    let clock = clock.unwrap();
    let mut wanted = question();
    wanted["timeout"] = json!("1m");
    let ask = id(&world.open_ask(wanted).await);
    clock.advance(Duration::from_secs(29));
    world.server.restart().await.unwrap();
    clock.advance(Duration::from_secs(29));
    world.admin.answer(&ask, json!([["SQLite"]])).await.expect(200);
}

/// Deadlines use the wall clock. After a jump forward, or after the machine was suspended, no deadline fires within the grace
/// period. After a jump backward, no deadline fires early.
#[tokio::test]
async fn clock_jump_does_not_expire_asks_early() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let mut clock = None;
    let world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.options.grace = Duration::from_secs(30);
    })
    .await;
    let clock = clock.unwrap();
    let began = sayso_client::now();
    clock.set(began);
    clock.advance(Duration::from_secs(60));
    let with = |timeout: &str| {
        let mut wanted = question();
        wanted["timeout"] = json!(timeout);
        wanted
    };
    let due = world.open_ask(with("10m")).await;

    // Advances the clock by a second at a time until the ask is over, and returns the number of seconds. After 200
    // seconds the deadline has passed, and the clock stops until the server has noticed.
    let seconds = async |ask: &Value| {
        let mut passed = 0;
        let over = sayso_testkit::within("the ask to be over", async {
            while world.ask(&id(ask)).await["status"] == "pending" {
                if passed < 200 {
                    clock.advance(Duration::from_secs(1));
                    passed += 1;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(passed)
        });
        over.await.unwrap()
    };

    // The clock jumps forward: the deadline has passed, but people can still answer within the grace period.
    clock.set(began.plus(HOUR));
    assert!(seconds(&due).await >= 30, "within the grace time");
    assert_eq!(world.outcome(&id(&due)).await["outcome"]["by"]["kind"], "timeout");

    // The clock jumps back: the deadline stays, and new asks get their own.
    let later = world.open_ask(with("10m")).await;
    clock.set(began);
    let soon = world.open_ask(with("1m")).await;
    assert!(seconds(&soon).await >= 60);
    assert_eq!(world.ask(&id(&later)).await["status"], "pending");
    clock.set(began.plus(HOUR * 2));
    assert!(seconds(&later).await >= 30);
}

#[tokio::test]
async fn session_holds_at_most_200_pending_asks() {
    let world = World::start().await;
    let mut agent = world.agent("hello").await;
    agent.finished().await.unwrap();
    let session = agent.session().to_owned();
    let mut of_it = question();
    of_it["sessionId"] = json!(session);
    let caller = world.role("admin").await;
    for _ in 0..200 {
        caller.post("/v1/asks", of_it.clone()).await.expect(201);
    }
    caller.post("/v1/asks", of_it).await.problem(422, "limit_exceeded");
    assert_eq!(world.session(&session).await["pending"], 200);
}
