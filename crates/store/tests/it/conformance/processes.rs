//! Messages to the process of an agent, which are stored until the process confirms them.

use sayso_core::ask::{AskState, Delivery};
use sayso_core::connection::{Epoch, WirePosition};
use sayso_core::id::AskId;
use sayso_core::raw::Raw;
use sayso_core::session::Session;
use sayso_core::texts;
use sayso_store::ops::{AdvanceConnection, ConnectionChange, LoadConnection, LoadedConnection, ProcessChange, SentInput};
use sayso_store::read::FindUnfinishedWork;
use sayso_store::{OutboxId, OutboxPayload};

use super::World;
use crate::world::{MAIN, advance, answered, approval, approved, ask_of, question, secret};

pub(crate) fn send(session: &Session, ask: Option<AskId>, message: &str, secret: bool) -> ConnectionChange {
    ConnectionChange::Send { session: session.id, ask, message: Raw::of(&message), secret }
}

pub(crate) async fn load(world: &World, session: &Session) -> LoadedConnection {
    world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap()
}

/// Creates a session with a running process, after two inputs.
pub(crate) async fn running(world: &World) -> Session {
    let session = world.session().await;
    let mut launch = advance(&session, 0, ids(world), vec![send(&session, None, "launch", false)]);
    launch.process = ProcessChange::Launched;
    world.store.write(launch).await.unwrap();
    let mut step = advance(&session, 1, ids(world), vec![]);
    step.epoch = Epoch(2);
    step.process = ProcessChange::Read(WirePosition(40));
    world.store.write(step).await.unwrap();
    session
}

/// Returns the ids of all outbox rows that were ever added.
pub(crate) fn ids(world: &World) -> Vec<OutboxId> {
    world.outbox().iter().map(|row| row.id).collect()
}

/// Commits one input of the process.
pub(crate) async fn step(
    world: &World,
    session: &Session,
    from: i64,
    delivered: Vec<OutboxId>,
    changes: Vec<ConnectionChange>,
    process: ProcessChange,
) {
    let mut step = advance(session, from, delivered, changes);
    step.epoch = Epoch(2);
    step.process = process;
    assert_eq!(world.store.write(step).await.unwrap(), sayso_store::ops::AdvanceResult::Yes);
}

pub(crate) async fn delivery(world: &World, ask: AskId) -> Delivery {
    let AskState::Resolved { delivery, .. } = world.get(ask).await.state else { panic!("no outcome") };
    delivery
}

#[tokio::test]
async fn launch_starts_an_epoch_and_reading_moves_the_position() {
    let world = World::new().await;
    let session = running(&world).await;
    let world = world.reopen().await;
    let loaded = load(&world, &session).await;
    assert_eq!((loaded.connection.epoch, loaded.connection.process), (Epoch(2), Some(WirePosition(40))));
    assert!(loaded.outbox.is_empty());
    assert_eq!(
        world.store.read(FindUnfinishedWork { workspace: MAIN }).await.unwrap().connections,
        [session.connection],
        "it is attached to at a start"
    );
    step(&world, &session, 2, vec![], vec![], ProcessChange::Same).await;
    assert_eq!(load(&world, &session).await.connection.process, Some(WirePosition(40)));
    step(&world, &session, 3, vec![], vec![], ProcessChange::Gone).await;
    assert_eq!(load(&world, &session).await.connection.process, None);
    assert!(world.store.read(FindUnfinishedWork { workspace: MAIN }).await.unwrap().connections.is_empty());
}

#[tokio::test]
async fn outcome_is_delivered_when_the_process_confirms_it() {
    let world = World::new().await;
    let session = running(&world).await;
    let mut ask = ask_of(&session, "1", approval());
    ask.origin.connection = Some(session.connection);
    let id = ask.id;
    step(&world, &session, 2, vec![], vec![ConnectionChange::OpenAsk(Box::new(ask))], ProcessChange::Same).await;
    world.resolve(id, approved()).await.unwrap();
    step(&world, &session, 3, ids(&world), vec![send(&session, Some(id), "yes", false)], ProcessChange::Same).await;
    assert_eq!(delivery(&world, id).await, Delivery::Queued, "it is only on its way");
    let world = world.reopen().await;
    let rows = load(&world, &session).await.outbox;
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert!(
        matches!(&row.payload, OutboxPayload::Send { ask: Some(ask), message, .. } if *ask == id && message.as_str() == "\"yes\"")
    );
    step(&world, &session, 4, vec![row.id], vec![], ProcessChange::Same).await;
    assert_eq!(delivery(&world, id).await, Delivery::Delivered);
    assert!(load(&world, &session).await.outbox.is_empty());
}

#[tokio::test]
async fn outcome_sent_before_the_commit_is_replaced_by_its_lines() {
    for ends in [false, true] {
        let world = World::new().await;
        let session = running(&world).await;
        let ask = ask_of(&session, "1", question());
        let id = ask.id;
        step(&world, &session, 2, vec![], vec![ConnectionChange::OpenAsk(Box::new(ask))], ProcessChange::Same).await;
        world.resolve(id, answered("A")).await.unwrap();
        let row = load(&world, &session).await.outbox[0].id;
        let sent = vec![SentInput { row, ask: Some(id), message: Raw::of(&"A") }];
        let saved = AdvanceConnection { sent, epoch: Epoch(2), ..advance(&session, 3, vec![], vec![]) };
        world.store.write(saved).await.unwrap();
        let world = world.reopen().await;
        let rows = load(&world, &session).await.outbox;
        let [left] = rows.as_slice() else { panic!("{rows:?}") };
        let is_message = |message: &Raw| message.as_str() == "\"A\"";
        assert!(
            left.id == row
                && matches!(&left.payload, OutboxPayload::Send { ask: Some(ask), message, tried: false } if *ask == id && is_message(message)),
            "{rows:?}"
        );
        assert_eq!(delivery(&world, id).await, Delivery::Queued);
        if ends {
            step(&world, &session, 4, vec![], vec![], ProcessChange::Gone).await;
            let reason = "The agent ended before it was certain that this reached it.".to_owned();
            assert_eq!(delivery(&world, id).await, Delivery::Undeliverable { reason });
        } else {
            step(&world, &session, 4, vec![row], vec![], ProcessChange::Same).await;
            assert_eq!(delivery(&world, id).await, Delivery::Delivered);
        }
        assert!(load(&world, &session).await.outbox.is_empty());
    }
}

#[tokio::test]
async fn message_stays_marked_as_tried_until_its_result_is_known() {
    let world = World::new().await;
    let session = running(&world).await;
    for (position, secret) in [(2, false), (6, true)] {
        let body = if secret { self::secret() } else { question() };
        let ask = ask_of(&session, &position.to_string(), body);
        let id = ask.id;
        step(&world, &session, position, vec![], vec![ConnectionChange::OpenAsk(Box::new(ask))], ProcessChange::Same).await;
        world.resolve(id, answered("A")).await.unwrap();
        let sent = vec![send(&session, Some(id), "A", secret)];
        step(&world, &session, position + 1, ids(&world), sent, ProcessChange::Same).await;
        let tried = |rows: &[sayso_store::OutboxRow]| matches!(rows, [row] if matches!(row.payload, OutboxPayload::Send { tried: true, .. }));
        let rows = load(&world, &session).await.outbox;
        assert!(rows.len() == 1 && !tried(&rows), "{rows:?}");
        let trying = AdvanceConnection { trying: vec![rows[0].id], ..advance(&session, position + 2, vec![], vec![]) };
        world.store.write(AdvanceConnection { epoch: Epoch(2), ..trying }).await.unwrap();
        let rows = load(&world, &session).await.outbox;
        assert!(tried(&rows), "{rows:?}");
        assert_eq!(delivery(&world, id).await, Delivery::Queued);
        step(&world, &session, position + 3, vec![rows[0].id], vec![], ProcessChange::Same).await;
        assert_eq!(delivery(&world, id).await, Delivery::Delivered);
    }
}

#[tokio::test]
async fn messages_to_an_ended_process_are_undeliverable() {
    let world = World::new().await;
    let session = running(&world).await;
    let ask = ask_of(&session, "1", question());
    let id = ask.id;
    step(&world, &session, 2, vec![], vec![ConnectionChange::OpenAsk(Box::new(ask))], ProcessChange::Same).await;
    world.resolve(id, answered("A")).await.unwrap();
    step(&world, &session, 3, ids(&world), vec![send(&session, Some(id), "A", false)], ProcessChange::Same).await;
    step(&world, &session, 4, vec![], vec![], ProcessChange::Gone).await;
    let reason = texts::AGENT_GONE_NOT_CERTAIN.to_owned();
    assert_eq!(delivery(&world, id).await, Delivery::Undeliverable { reason });
    assert!(load(&world, &session).await.outbox.is_empty());
}
