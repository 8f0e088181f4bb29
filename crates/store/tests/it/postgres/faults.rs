//! What goes wrong between a store and PostgreSQL: nothing is lost and nothing happens twice.

use std::time::Duration;

use sayso_core::ask::Decision;
use sayso_core::policy::OnTimeout;
use sayso_core::scope::Scope;
use sayso_store::read::{FeedHead, ListAsks};
use sayso_store::{Commit, EventPayload, OpenError, PostgresOptions, Store, StoreError};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::World;
use super::proxy::{Mode, Proxy};
use crate::world::{MAIN, answered, ask, question, resolve, until};

/// Opens an ask in a task of its own.
fn opening(store: &Store) -> tokio::task::JoinHandle<Result<sayso_store::ops::Opened, StoreError>> {
    let open = sayso_store::ops::OpenAsk {
        workspace: MAIN,
        scope: Scope::All,
        ask: Box::new(ask(question())),
        key: None,
        max_pending: 1_000,
    };
    let store = store.clone();
    tokio::spawn(async move { store.write(open).await })
}

async fn pending(store: &Store) -> usize {
    store.read(ListAsks::pending(MAIN, Scope::All, 1_000)).await.unwrap().rows.len()
}

/// The feed as it is stored is what the sink was told, without a gap.
async fn assert_feed(world: &World, told: &[i64]) {
    let stored: Vec<_> = world.past(0).await.iter().map(|event| event.seq).collect();
    assert_eq!(stored, (1..).take(stored.len()).collect::<Vec<_>>());
    assert_eq!(told, stored);
}

fn seqs(told: &std::sync::Mutex<crate::world::Told>) -> Vec<i64> {
    told.lock().unwrap().events.iter().map(|event| event.seq).collect()
}

/// Waits until a sink was told of this many events.
async fn told_up_to(told: &std::sync::Mutex<crate::world::Told>, count: usize) {
    while seqs(told).len() < count {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn lock_workspace(client: &Client) {
    client.batch_execute("BEGIN; SELECT 1 FROM workspace FOR UPDATE").await.unwrap();
}

/// Waits until the writer waits for the lock of this client, and ends its process. `killer` is in no transaction: inside of
/// one, PostgreSQL's list of processes does not change.
async fn kill_waiting_backend(holder: &Client, killer: &Client) {
    let holder: i32 = holder.query_typed_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
    while killer.query_typed_opt(kill, &[(&holder, Type::INT4)]).await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_whose_connection_was_killed_is_repeated() {
    let world = World::new().await;
    world.open(ask(question())).await;
    let (holder, killer) = (world.database.client().await, world.database.client().await);
    lock_workspace(&holder).await;
    let call = opening(&world.store);
    kill_waiting_backend(&holder, &killer).await;
    holder.batch_execute("ROLLBACK").await.unwrap();
    call.await.unwrap().unwrap();
    assert_eq!(pending(&world.store).await, 2);
    assert_feed(&world, &seqs(&world.told)).await;
}

/// Whether the COMMIT whose reply is lost takes place or not, its batch is there once.
#[tokio::test(flavor = "multi_thread")]
async fn batch_whose_commit_had_no_reply_is_there_once() {
    for mode in [Mode::CutBeforeCommit, Mode::CutAfterCommit] {
        let world = World::new().await;
        let proxy = Proxy::start(world.database.dir());
        let (store, told) = world.database.connect(&world.database.address_in(&proxy.dir())).await;
        opening(&store).await.unwrap().unwrap();
        proxy.set(mode);
        opening(&store).await.unwrap().unwrap();
        assert_eq!(proxy.mode(), Mode::Pass, "a COMMIT was cut");
        opening(&store).await.unwrap().unwrap();
        assert_eq!(pending(&store).await, 3);
        assert_feed(&world, &seqs(&told)).await;
        store.close().await;
    }
}

/// While nobody knows whether the last batch was committed, its caller waits and others are refused.
#[tokio::test(flavor = "multi_thread")]
async fn unknown_commit_is_not_reported_before_it_is_settled() {
    let world = World::new().await;
    let proxy = Proxy::start(world.database.dir());
    let (store, told) = world.database.connect(&world.database.address_in(&proxy.dir())).await;
    proxy.set(Mode::CutAndRefuse);
    let unknown = opening(&store);
    while proxy.mode() != Mode::Refuse {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let refused = opening(&store).await.unwrap();
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(!unknown.is_finished());
    assert!(seqs(&told).is_empty());
    proxy.set(Mode::Pass);
    unknown.await.unwrap().unwrap();
    assert_eq!(pending(&store).await, 1);
    assert_feed(&world, &seqs(&told)).await;
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn store_works_again_after_the_database_was_unavailable() {
    let world = World::new().await;
    let proxy = Proxy::start(world.database.dir());
    let name = "application_name='through the proxy'";
    let (store, _) = world.database.connect(&format!("{} {name}", world.database.address_in(&proxy.dir()))).await;
    opening(&store).await.unwrap().unwrap();
    assert_eq!(pending(&store).await, 1);
    proxy.set(Mode::Refuse);
    let client = world.database.client().await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'through the proxy'";
    client.batch_execute(end).await.unwrap();
    for _ in 0..2 {
        let refused = opening(&store).await.unwrap();
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert!(matches!(store.read(FeedHead { workspace: MAIN }).await, Err(StoreError::Unavailable(_))));
    }
    proxy.set(Mode::Pass);
    opening(&store).await.unwrap().unwrap();
    assert_eq!(pending(&store).await, 2);
    store.close().await;
}

/// Two stores on one database, as two nodes have them.
#[tokio::test(flavor = "multi_thread")]
async fn two_stores_take_turns_and_an_ask_has_one_outcome() {
    let world = World::new().await;
    let (other, told) = world.database.connect(&world.database.address()).await;
    for _ in 0..20 {
        let asked = world.open(ask(question())).await;
        let answers = [(world.store.clone(), "A"), (other.clone(), "B")].map(|(store, entry)| {
            tokio::spawn(async move {
                store.write(resolve(asked.id, answered(entry))).await.unwrap().map(|ask| ask.outcome().cloned())
            })
        });
        let mut won = Vec::new();
        for answer in answers {
            won.extend(answer.await.unwrap().ok().flatten());
        }
        assert_eq!(won.len(), 1);
        let stored = world.get(asked.id).await;
        assert_eq!(stored.outcome(), won.first());
        assert!(matches!(won[0].decision, Decision::Answered { .. }));
    }
    let head = world.past(0).await.len();
    for told in [&world.told, &told] {
        told_up_to(told, head).await;
        assert_feed(&world, &seqs(told)).await;
    }
    other.close().await;
}

/// A node that commits nothing itself hears of what others commit, whole.
#[tokio::test(flavor = "multi_thread")]
async fn idle_store_is_told_of_commits_of_others() {
    let world = World::new().await;
    world.open(ask(question())).await;
    let (other, told) = world.database.connect(&world.database.address()).await;
    let deadline = until(ask(question()), 60, OnTimeout::Reject);
    let asked = world.open(deadline).await;
    told_up_to(&told, 1).await;
    {
        let told = told.lock().unwrap();
        assert!(matches!(&told.events[0].payload, EventPayload::AskRequested(ask) if **ask == asked));
        assert_eq!(told.events[0].seq, 2);
        assert_eq!(told.deadlines, world.told.lock().unwrap().deadlines);
    }
    other.close().await;
}

#[tokio::test]
async fn unreachable_server_is_reported_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let address = format!("host={} user=sayso dbname=postgres", dir.path().display());
    let error = Store::connect(PostgresOptions::parse(&address).unwrap(), |_: Commit| {}).await.unwrap_err();
    assert!(matches!(error, OpenError::Postgres(_)), "{error:?}");
    assert!(error.to_string().contains("No such file or directory"), "{error}");
}

#[tokio::test]
async fn database_of_a_newer_version_is_refused() {
    let world = World::new().await;
    world.store.close().await;
    let client = world.database.client().await;
    client.batch_execute("INSERT INTO sayso_schema (version) VALUES (99)").await.unwrap();
    let error = Store::connect(PostgresOptions::parse(&world.database.address()).unwrap(), |_: Commit| {}).await.unwrap_err();
    assert!(matches!(error, OpenError::NewerPostgres { found: 99, .. }), "{error:?}");
}
