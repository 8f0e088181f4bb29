//! Secrets are encrypted in the database, and deleted when the agent has them.

use std::process::Command;

use sayso_core::ask::Decision;
use sayso_store::ops::LoadConnection;
use sayso_store::{Commit, OpenError, OutboxPayload, PostgresOptions, Store};

use super::{World, key};
use crate::world::{MAIN, answered, ask_of, question, secret};

/// Returns whether a file of the server contains the text.
fn is_in_a_file(world: &World, text: &str) -> bool {
    let found = Command::new("grep").args(["-rqaF", text]).arg(world.database.dir().join("data")).status().unwrap();
    found.code() == Some(0)
}

/// Returns the decision that waits to be sent to the agent.
async fn sent(world: &World, session: &sayso_core::session::Session) -> Vec<Decision> {
    let loaded = world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap();
    let decisions = loaded.outbox.into_iter().filter_map(|row| match row.payload {
        OutboxPayload::Outcome { decision, .. } => Some(decision),
        OutboxPayload::Command(_) | OutboxPayload::Send { .. } => None,
    });
    decisions.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn secret_is_encrypted_in_the_database_and_its_log() {
    let world = World::new().await;
    let session = world.session().await;
    let (hidden, open) = (ask_of(&session, "1", secret()), ask_of(&session, "2", question()));
    let hidden = world.agent_asks(&session, 0, hidden).await;
    let open = world.agent_asks(&session, 1, open).await;
    let secret = "correct-horse-battery-staple-4711";
    world.resolve(hidden.id, answered(secret)).await.unwrap();
    world.resolve(open.id, answered("A")).await.unwrap();
    assert!(is_in_a_file(&world, &session.title), "the search must be able to find it");
    assert!(!is_in_a_file(&world, secret));
    assert_eq!(sent(&world, &session).await, [answered(secret), answered("A")]);
    let world = world.reopen().await;
    assert_eq!(sent(&world, &session).await, [answered(secret), answered("A")]);
    let client = world.database.client().await;
    let count = async || client.query_typed_one("SELECT count(*) FROM secret", &[]).await.unwrap().get::<_, i64>(0);
    assert_eq!(count().await, 1);
    let rows =
        world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap().outbox;
    world.step(&session, 2, rows.iter().map(|row| row.id).collect(), vec![]).await;
    assert_eq!(count().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn store_with_another_key_is_refused() {
    let world = World::new().await;
    let options = PostgresOptions::parse(&world.database.address(), key("b"), None).unwrap();
    let refused = Store::connect(options, |_: Commit| {}).await;
    assert!(matches!(refused, Err(OpenError::OtherSecretKey)), "{refused:?}");
}
