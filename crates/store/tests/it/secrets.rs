//! Secret answers are stored in one row until the agent has them, and then nowhere.

use std::path::Path;

use sayso_core::ask::{Decision, Delivery, MASK};
use sayso_core::raw::Raw;
use sayso_core::session::SessionStatus;
use sayso_store::OutboxPayload;
use sayso_store::ops::LoadConnection;
use sayso_store::ops::{CollectOutcome, ConnectionChange, ProcessChange};

use crate::sqlite::World;
use crate::sqlite::conformance::processes::{delivery, ids, load, running, send, step};
use crate::world::{MAIN, answered, ask, ask_of, question, secret};

pub(crate) const VALUE: &str = "correct-horse-battery-staple-4711";

/// Lists the files in the directory that contain the value.
pub(crate) fn files_with_it(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        if bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes()) {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

/// Waits until no file contains the value. A deletion is complete within a second.
pub(crate) async fn no_file_has_it(dir: &Path) {
    let started = std::time::Instant::now();
    while !files_with_it(dir).is_empty() {
        assert!(started.elapsed() < std::time::Duration::from_secs(30), "still in {:?}", files_with_it(dir));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Returns the decisions that are sent to the agent.
async fn sent(world: &World, session: &sayso_core::session::Session) -> Vec<Decision> {
    let loaded = world.store.write(LoadConnection { workspace: MAIN, connection: session.connection }).await.unwrap().unwrap();
    loaded
        .outbox
        .into_iter()
        .filter_map(|row| match row.payload {
            OutboxPayload::Outcome { decision, .. } => Some(decision),
            OutboxPayload::Command(_) | OutboxPayload::Send { .. } => None,
        })
        .collect()
}

#[tokio::test]
async fn secret_is_clear_for_the_agent_and_masked_elsewhere() {
    let world = World::new().await;
    let session = world.session().await;
    let asked = world.agent_asks(&session, 0, ask_of(&session, "1", secret())).await;
    let resolved = world.resolve(asked.id, answered(VALUE)).await.unwrap();
    assert_eq!(resolved.outcome().map(|outcome| &outcome.decision), Some(&answered(MASK)));
    assert!(!format!("{:?}", world.events()).contains(VALUE));
    assert!(!format!("{:?}", world.events_after(0).await).contains(VALUE));
    // The message to the agent is in clear, before and after a restart.
    let OutboxPayload::Outcome { decision, ask, .. } = world.outbox().pop().unwrap().payload else { panic!("no outcome") };
    assert_eq!(decision, answered(VALUE));
    assert!(!format!("{ask:?}").contains(VALUE));
    let world = world.reopen().await;
    assert_eq!(sent(&world, &session).await, [answered(VALUE)]);
}

#[tokio::test]
async fn delivered_secret_is_in_no_file() {
    let world = World::new().await;
    let session = world.session().await;
    let asked = world.agent_asks(&session, 0, ask_of(&session, "1", secret())).await;
    world.resolve(asked.id, answered(VALUE)).await.unwrap();
    assert!(!files_with_it(world.dir()).is_empty(), "the search must be able to find it");
    let rows = world.outbox().iter().map(|row| row.id).collect();
    world.step(&session, 1, rows, vec![]).await;
    no_file_has_it(world.dir()).await;
    world.store.close().await;
    assert_eq!(files_with_it(world.dir()), Vec::<String>::new());
}

#[tokio::test]
async fn reader_only_delays_the_deletion_of_a_secret() {
    let world = World::new().await;
    let session = world.session().await;
    let asked = world.agent_asks(&session, 0, ask_of(&session, "1", secret())).await;
    world.resolve(asked.id, answered(VALUE)).await.unwrap();
    let reader = rusqlite::Connection::open(world.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM ask;").unwrap();
    let _: i64 = reader.query_row("SELECT count(*) FROM secret", [], |row| row.get(0)).unwrap();
    let rows = world.outbox().iter().map(|row| row.id).collect();
    world.step(&session, 1, rows, vec![]).await;
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    no_file_has_it(world.dir()).await;
}

#[tokio::test]
async fn undeliverable_or_collected_secret_is_deleted() {
    let world = World::new().await;
    let session = world.session().await;
    let asked = world.agent_asks(&session, 0, ask_of(&session, "1", secret())).await;
    world.resolve(asked.id, answered(VALUE)).await.unwrap();
    let delivery = sayso_core::ask::Delivery::Undeliverable { reason: "gone".to_owned() };
    world.step(&session, 1, vec![], vec![ConnectionChange::Delivery { ask: asked.id, delivery }]).await;
    no_file_has_it(world.dir()).await;

    let mine = world.open(ask(secret())).await;
    world.resolve(mine.id, answered(VALUE)).await.unwrap();
    world.store.write(CollectOutcome { workspace: MAIN, ask: mine.id }).await.unwrap();
    no_file_has_it(world.dir()).await;
}

/// The session ends while a secret waits to be sent, so no process will receive it.
#[tokio::test]
async fn secret_is_deleted_when_its_session_ends() {
    let world = World::new().await;
    let session = world.session().await;
    let asked = world.agent_asks(&session, 0, ask_of(&session, "1", secret())).await;
    world.resolve(asked.id, answered(VALUE)).await.unwrap();
    let status = SessionStatus::Ended { reason: "closed".to_owned(), failed: false, resumable: false };
    let rows = world.outbox().iter().map(|row| row.id).collect();
    let gone = sayso_core::ask::Delivery::Undeliverable { reason: "closed".to_owned() };
    let changes = vec![
        ConnectionChange::Delivery { ask: asked.id, delivery: gone },
        ConnectionChange::Status { session: session.id, status },
    ];
    world.step(&session, 1, rows, changes).await;
    world.store.close().await;
    assert_eq!(files_with_it(world.dir()), Vec::<String>::new());
}

#[tokio::test]
async fn rejected_secret_stores_nothing_and_open_answers_are_not_masked() {
    let world = World::new().await;
    let session = world.session().await;
    let hidden = world.agent_asks(&session, 0, ask_of(&session, "1", secret())).await;
    let open = world.agent_asks(&session, 1, ask_of(&session, "2", question())).await;
    world.resolve(hidden.id, crate::world::rejected()).await.unwrap();
    world.resolve(open.id, answered("A")).await.unwrap();
    assert_eq!(sent(&world, &session).await, [crate::world::rejected(), answered("A")]);
    assert_eq!(world.get(open.id).await.outcome().map(|outcome| &outcome.decision), Some(&answered("A")));
}

/// A server that is killed between deleting a secret and truncating the log leaves the value in the log. The next start has to
/// remove it.
#[tokio::test]
async fn log_with_a_deleted_secret_is_truncated_at_the_next_start() {
    let world = World::new().await;
    let session = world.session().await;
    let asked = world.agent_asks(&session, 0, ask_of(&session, "1", secret())).await;
    world.resolve(asked.id, answered(VALUE)).await.unwrap();
    // An open read transaction prevents the truncation of the log.
    let reader = rusqlite::Connection::open(world.path()).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let _: i64 = reader.query_row("SELECT count(*) FROM secret", [], |row| row.get(0)).unwrap();
    let rows = world.outbox().iter().map(|row| row.id).collect();
    world.step(&session, 1, rows, vec![]).await;
    // Copies the files as after a crash.
    let crashed = tempfile::tempdir().unwrap();
    for name in ["sayso.db", "sayso.db-wal"] {
        std::fs::copy(world.dir().join(name), crashed.path().join(name)).unwrap();
    }
    assert!(!files_with_it(crashed.path()).is_empty(), "the search must be able to find it");
    let (store, _) = crate::world::open(crashed.path().join("sayso.db")).unwrap();
    for number in 2..4 {
        store.write(crate::world::advance(&session, number, vec![], vec![])).await.unwrap();
    }
    assert_eq!(files_with_it(crashed.path()), Vec::<String>::new());
}

#[tokio::test]
async fn secret_sent_to_a_process_is_in_no_file_afterwards() {
    let world = World::new().await;
    let session = running(&world).await;
    let ask = ask_of(&session, "1", secret());
    let id = ask.id;
    step(&world, &session, 2, vec![], vec![ConnectionChange::OpenAsk(Box::new(ask))], ProcessChange::Same).await;
    world.resolve(id, answered(VALUE)).await.unwrap();
    let message = format!("{{\"answer\":\"{VALUE}\"}}");
    step(&world, &session, 3, ids(&world), vec![send(&session, Some(id), &message, true)], ProcessChange::Same).await;
    let world = world.reopen().await;
    assert!(!files_with_it(world.dir()).is_empty(), "the search must be able to find it");
    let rows = load(&world, &session).await.outbox;
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    let OutboxPayload::Send { message: kept, .. } = &row.payload else { panic!("{row:?}") };
    assert_eq!(*kept, Raw::of(&message));
    step(&world, &session, 4, vec![row.id], vec![], ProcessChange::Same).await;
    assert_eq!(delivery(&world, id).await, Delivery::Delivered);
    no_file_has_it(world.dir()).await;
}
