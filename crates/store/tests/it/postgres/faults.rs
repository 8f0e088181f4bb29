//! Faults between a store and PostgreSQL: nothing is lost and nothing takes effect twice.

use std::time::Duration;

use sayso_core::ask::Decision;
use sayso_core::policy::OnTimeout;
use sayso_core::scope::Scope;
use sayso_store::read::{ListAsks, ReadFeedHead};
use sayso_store::{Commit, EventPayload, OpenError, Store, StoreError};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::World;
use super::proxy::{Mode, Proxy};
use crate::world::{self, MAIN, TestDatabase, answered, ask, question, resolve, until};

/// Opens an ask in a separate task.
pub(super) fn opening(store: &Store) -> tokio::task::JoinHandle<Result<sayso_store::ops::OpenAskResult, StoreError>> {
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

/// Asserts that the sink received the stored feed without gaps.
pub(super) async fn assert_feed<D: TestDatabase>(world: &world::World<D>, told: &[i64]) {
    let stored: Vec<_> = world.events_after(0).await.iter().map(|event| event.seq).collect();
    assert_eq!(stored, (1..).take(stored.len()).collect::<Vec<_>>());
    assert_eq!(told, stored);
}

pub(super) fn seqs(told: &std::sync::Mutex<crate::world::Told>) -> Vec<i64> {
    told.lock().unwrap().events.iter().map(|event| event.seq).collect()
}

/// Waits until a sink has received this many events.
pub(super) async fn told_up_to(told: &std::sync::Mutex<crate::world::Told>, count: usize) {
    while seqs(told).len() < count {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn connection_error(address: &str) -> OpenError {
    Store::connect(super::options(address), |_: Commit| {}).await.unwrap_err()
}

async fn lock_workspace(client: &Client) {
    client.batch_execute("BEGIN; SELECT 1 FROM workspace FOR UPDATE").await.unwrap();
}

/// Waits until the writer waits for the lock of this client, and kills its backend. `killer` is not in a transaction, because
/// PostgreSQL's list of processes does not change inside one.
async fn kill_waiting_backend(holder: &Client, killer: &Client) {
    let holder: i32 = holder.query_typed_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))";
    while killer.query_typed_opt(kill, &[(&holder, Type::INT4)]).await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_is_repeated_after_its_connection_was_killed() {
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

/// The batch is stored once, whether the COMMIT without a reply took place or not.
#[tokio::test(flavor = "multi_thread")]
async fn batch_without_a_commit_reply_is_stored_once() {
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

/// While the result of a commit is unknown, its caller waits and other callers are refused.
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
    let address = format!("{}&application_name=through%20the%20proxy", world.database.address_in(&proxy.dir()));
    let (store, _) = world.database.connect(&address).await;
    opening(&store).await.unwrap().unwrap();
    assert_eq!(pending(&store).await, 1);
    proxy.set(Mode::Refuse);
    let client = world.database.client().await;
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'through the proxy'";
    client.batch_execute(end).await.unwrap();
    for _ in 0..2 {
        let refused = opening(&store).await.unwrap();
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert!(matches!(store.read(ReadFeedHead { workspace: MAIN }).await, Err(StoreError::Unavailable(_))));
    }
    proxy.set(Mode::Pass);
    opening(&store).await.unwrap().unwrap();
    assert_eq!(pending(&store).await, 2);
    store.close().await;
}

/// Two stores on one database, like two nodes.
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
    let head = world.events_after(0).await.len();
    for told in [&world.told, &told] {
        told_up_to(told, head).await;
        assert_feed(&world, &seqs(told)).await;
    }
    other.close().await;
}

/// A node that commits nothing receives the complete commits of others.
#[tokio::test(flavor = "multi_thread")]
async fn idle_store_receives_commits_of_other_stores() {
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

/// A server that accepts connections and does not reply, for example because its machine has stopped.
#[tokio::test(flavor = "multi_thread")]
async fn read_is_refused_while_the_server_does_not_reply() {
    let world = World::new().await;
    world.open(ask(question())).await;
    let proxy = Proxy::start(world.database.dir());
    let mut options = super::options(&world.database.address_in(&proxy.dir()));
    options.reply_timeout = Duration::from_secs(5);
    let store = Store::connect(options, |_: Commit| {}).await.unwrap();
    assert_eq!(pending(&store).await, 1);
    proxy.set(Mode::Swallow);
    let refused = store.read(ReadFeedHead { workspace: MAIN }).await;
    assert!(matches!(&refused, Err(StoreError::Unavailable(reason)) if reason.ends_with("no reply")), "{refused:?}");
    proxy.set(Mode::Pass);
    assert_eq!(pending(&store).await, 1);
    store.close().await;
}

#[tokio::test]
async fn unreachable_server_is_reported_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let address = format!("postgres:///postgres?user=sayso&host={}", dir.path().display());
    let error = connection_error(&address).await;
    assert!(matches!(error, OpenError::Postgres(_)), "{error:?}");
    assert!(error.to_string().contains("No such file or directory"), "{error}");
}

#[tokio::test]
async fn database_of_a_newer_version_is_refused() {
    let world = World::new().await;
    world.store.close().await;
    let client = world.database.client().await;
    client.batch_execute("INSERT INTO sayso_schema (version) VALUES (99)").await.unwrap();
    let error = connection_error(&world.database.address()).await;
    assert!(matches!(error, OpenError::NewerPostgres { found: 99, .. }), "{error:?}");
}
