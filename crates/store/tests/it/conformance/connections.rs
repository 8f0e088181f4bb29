//! Consequences of inputs of a connection, and the outbox.

use sayso_core::actor::Actor;
use sayso_core::ask::{AskState, Decision, Delivery, OutcomeStatus, Reach};
use sayso_core::connection::{Epoch, Position};
use sayso_core::id::ConnectionId;
use sayso_core::raw::Raw;
use sayso_core::session::SessionStatus;
use sayso_store::ops::{AdvanceResult, ConnectionChange, LoadConnection};
use sayso_store::read::FindUnfinishedWork;
use sayso_store::{EventKind, OutboxPayload};

use super::World;
use crate::world::{MAIN, advance, answered, approval, approved, ask_of, at, block, link, question};

fn ended(resumable: bool) -> SessionStatus {
    SessionStatus::Ended { reason: "it is gone".to_owned(), failed: true, resumable }
}

#[tokio::test]
async fn input_at_a_position_takes_effect_once() {
    let world = World::new().await;
    let session = world.session().await;
    let open = |native: &str| vec![ConnectionChange::OpenAsk(Box::new(ask_of(&session, native, question())))];
    let first = world.store.write(advance(&session, 0, vec![], open("1"))).await.unwrap();
    let before = world.events().len();
    // The same line again, an earlier line, a line of an earlier epoch, and a line that skips one.
    let again = world.store.write(advance(&session, 0, vec![], open("2"))).await.unwrap();
    let mut old_life = advance(&session, 1, vec![], open("3"));
    old_life.epoch = Epoch(0);
    let old_life = world.store.write(old_life).await.unwrap();
    let too_far = world.store.write(advance(&session, 7, vec![], open("4"))).await.unwrap();
    assert_eq!(
        [first, again, old_life, too_far],
        [AdvanceResult::Yes, AdvanceResult::Stale, AdvanceResult::Stale, AdvanceResult::Stale]
    );
    assert_eq!(world.events().len(), before, "stale input changes nothing");
    let loaded = world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap();
    assert_eq!((loaded.connection.position, loaded.pending), (Position(1), 1));
}

#[tokio::test]
async fn connection_continues_at_its_committed_position() {
    let world = World::new().await;
    let session = world.session().await;
    let ask = world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let mut step = advance(&session, 1, vec![], vec![]);
    step.wake_at = Some(at(99));
    world.store.write(step).await.unwrap();
    world.resolve(ask.id, answered("B")).await.unwrap();
    let world = world.reopen().await;
    let unfinished = world.store.read(FindUnfinishedWork { workspace: MAIN }).await.unwrap();
    assert_eq!(unfinished.connections, [session.connection]);
    let loaded = world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap();
    let connection = &loaded.connection;
    assert_eq!((connection.epoch, connection.position, connection.wake_at), (Epoch(1), Position(2), Some(at(99))));
    assert_eq!(connection.state, Some(Raw::of(&serde_json::json!({ "step": 2 }))));
    assert_eq!(loaded.sessions, [session]);
    assert_eq!(loaded.outbox.len(), 2);
    assert!(matches!(&loaded.outbox[0].payload, OutboxPayload::Command(raw) if raw == &Raw::of(&"start")));
    let OutboxPayload::Outcome { ask: sent, decision, follow_up: false } = &loaded.outbox[1].payload else {
        panic!("no outcome")
    };
    assert_eq!((sent.id, decision), (ask.id, &answered("B")));
    assert!(
        world
            .store
            .write(LoadConnection { workspace: MAIN, connection: ConnectionId::new(at(0), [0; 10]) })
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn delivered_outcome_is_announced_once_and_not_sent_again() {
    let world = World::new().await;
    let session = world.session().await;
    let ask = world.agent_asks(&session, 0, ask_of(&session, "1", approval())).await;
    world.resolve(ask.id, approved()).await.unwrap();
    let rows: Vec<_> = world.outbox().iter().map(|row| row.id).collect();
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "ids only grow");
    world.step(&session, 1, rows.clone(), vec![]).await;
    assert!(matches!(world.get(ask.id).await.state, AskState::Resolved { delivery: Delivery::Delivered, .. }));
    let loaded = world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap();
    assert!(loaded.outbox.is_empty());
    assert!(world.store.read(FindUnfinishedWork { workspace: MAIN }).await.unwrap().connections.is_empty());
    world.step(&session, 2, rows, vec![]).await;
    let told = world.kinds().into_iter().filter(|kind| *kind == EventKind::AskDelivery).count();
    assert_eq!(told, 1);
}

#[tokio::test]
async fn outbox_ids_are_never_reused() {
    let world = World::new().await;
    let session = world.session().await;
    let rows: Vec<_> = world.outbox().iter().map(|row| row.id).collect();
    world.step(&session, 0, rows.clone(), vec![]).await;
    let world = world.reopen().await;
    let ask = world.agent_asks(&session, 1, ask_of(&session, "1", question())).await;
    world.resolve(ask.id, answered("A")).await.unwrap();
    assert!(world.outbox()[0].id > rows[0], "the agent takes an id once, so a new row must have a new one");
}

#[tokio::test]
async fn agent_withdraws_its_own_ask() {
    let world = World::new().await;
    let (session, other) = (world.session().await, world.session().await);
    let ask = world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let twin = world.agent_asks(&other, 0, ask_of(&other, "1", question())).await;
    let withdraw = || vec![ConnectionChange::Withdraw { native_id: "1".to_owned(), reason: "found it".to_owned() }];
    world.step(&session, 1, vec![], withdraw()).await;
    let outcome = world.get(ask.id).await.outcome().cloned().unwrap();
    assert_eq!(outcome.decision, Decision::Withdrawn { reason: "found it".to_owned() });
    assert_eq!(outcome.by, Actor::Agent);
    assert_eq!(world.get(twin.id).await, twin, "request ids belong to their connection");
    let before = world.events().len();
    world.step(&session, 2, vec![], withdraw()).await;
    assert_eq!(world.events().len(), before, "there is nothing left to take back");
    assert_eq!(world.outbox().len(), 2, "an agent that took it back needs no outcome");
}

#[tokio::test]
async fn agent_can_reuse_a_request_id_after_the_outcome() {
    let world = World::new().await;
    let session = world.session().await;
    let first = world.agent_asks(&session, 0, ask_of(&session, "0", question())).await;
    world.resolve(first.id, answered("A")).await.unwrap();
    let second = world.agent_asks(&session, 1, ask_of(&session, "0", question())).await;
    assert_ne!(first.id, second.id);
}

#[tokio::test]
async fn lost_agent_parks_questions_and_withdraws_other_asks() {
    for resumable in [true, false] {
        let world = World::new().await;
        let session = world.session().await;
        let mut asks = Vec::new();
        for (step, body) in [question(), approval(), link()].into_iter().enumerate() {
            let step = i64::try_from(step).unwrap();
            asks.push(world.agent_asks(&session, step, ask_of(&session, &step.to_string(), body)).await);
        }
        let end = ConnectionChange::Status { session: session.id, status: ended(resumable) };
        world.step(&session, 3, vec![], vec![end]).await;
        let question = world.get(asks[0].id).await;
        if resumable {
            assert_eq!(question.state, AskState::Pending(Reach::Parked));
            let resolved = world.resolve(question.id, answered("A")).await.unwrap();
            assert_eq!(resolved.outcome().map(|o| o.decision.status()), Some(OutcomeStatus::Answered));
            let sent = world.outbox().pop().unwrap();
            assert!(matches!(sent.payload, OutboxPayload::Outcome { follow_up: true, .. }), "it is said as a message");
            let loaded =
                world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap();
            let kept = &loaded.outbox.last().unwrap().payload;
            assert!(matches!(kept, OutboxPayload::Outcome { follow_up: true, .. }), "also after a restart");
        } else {
            assert_eq!(question.outcome().map(|o| o.decision.status()), Some(OutcomeStatus::Withdrawn));
        }
        for ask in &asks[1..] {
            let outcome = world.get(ask.id).await.outcome().cloned().unwrap();
            assert_eq!(outcome.decision, Decision::Withdrawn { reason: "it is gone".to_owned() }, "never parked, never text");
        }
        assert!(world.kinds().contains(&EventKind::SessionEnded));
    }
}

#[tokio::test]
async fn input_is_committed_completely_or_not_at_all() {
    let world = World::new().await;
    let session = world.session().await;
    world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let before = (world.events().len(), world.told.lock().unwrap().commits);
    // The second ask of this input has a request id that is pending, so the database refuses it.
    let changes = vec![
        ConnectionChange::Block { session: session.id, block: block("I have two questions"), event: EventKind::MessageCompleted },
        ConnectionChange::OpenAsk(Box::new(ask_of(&session, "1", question()))),
        ConnectionChange::Status { session: session.id, status: SessionStatus::Idle },
    ];
    let refused = world.store.write(advance(&session, 1, vec![], changes)).await;
    assert!(refused.is_err());
    assert_eq!(world.events().len(), before.0, "no event of it");
    let loaded = world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap();
    assert_eq!((loaded.connection.position, loaded.pending), (Position(1), 1));
    assert_eq!(loaded.sessions[0].status, SessionStatus::Running);
    world.step(&session, 1, vec![], vec![]).await;
}
