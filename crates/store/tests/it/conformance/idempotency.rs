//! Idempotency keys: a repeated call takes effect once.

use sayso_core::scope::Scope;
use sayso_core::session::Labels;
use sayso_store::EventKind;
use sayso_store::ops::{IdempotentResult, KeyReused, OpenAsk, OpenAskResult, ResolveError};

use super::World;
use crate::world::{MAIN, answered, ask, key, new_session, question, rejected, resolve, token};

#[tokio::test]
async fn repeated_open_with_the_same_key_returns_the_same_ask() {
    let world = World::new().await;
    let mine = token();
    let open = |body| OpenAsk {
        workspace: MAIN,
        scope: Scope::All,
        ask: Box::new(ask(question())),
        key: Some(key(mine, "k", body)),
        max_pending: 10,
    };
    let OpenAskResult::Ask(first) = world.store.write(open(1)).await.unwrap() else { panic!("not opened") };
    assert_eq!(world.store.write(open(1)).await.unwrap(), OpenAskResult::Ask(first.clone()));
    assert_eq!(world.store.write(open(2)).await.unwrap(), OpenAskResult::KeyReused);
    // Also after a restart, and with the current state.
    let world = world.reopen().await;
    let resolved = world.resolve(first.id, answered("A")).await.unwrap();
    assert_eq!(world.store.write(open(1)).await.unwrap(), OpenAskResult::Ask(Box::new((*resolved).clone())));
    assert_eq!(world.events_after(0).await.len(), 2);
}

#[tokio::test]
async fn repeated_decision_with_the_same_key_succeeds() {
    let world = World::new().await;
    let (mine, other) = (token(), token());
    let opened = world.open(ask(question())).await;
    let decide = |token, body| {
        let mut call = resolve(opened.id, answered("A"));
        call.key = Some(key(token, "k", body));
        call
    };
    let first = world.store.write(decide(mine, 1)).await.unwrap().unwrap();
    let again = world.store.write(decide(mine, 1)).await.unwrap().unwrap();
    assert_eq!(first, again);
    assert_eq!(world.store.write(decide(mine, 2)).await.unwrap(), Err(ResolveError::KeyReused(KeyReused)));
    assert!(matches!(world.store.write(decide(other, 1)).await.unwrap(), Err(ResolveError::Refused(_))), "another caller's key");
    assert_eq!(world.kinds(), [EventKind::AskRequested, EventKind::AskResolved]);
}

#[tokio::test]
async fn refused_call_does_not_consume_its_key() {
    let world = World::new().await;
    let mine = token();
    let opened = world.open(ask(question())).await;
    let mut wrong = resolve(opened.id, answered(" "));
    wrong.key = Some(key(mine, "k", 1));
    assert!(world.store.write(wrong).await.unwrap().is_err());
    let mut right = resolve(opened.id, rejected());
    right.key = Some(key(mine, "k", 2));
    assert!(world.store.write(right).await.unwrap().is_ok());
}

#[tokio::test]
async fn repeated_start_with_the_same_key_returns_the_same_session() {
    let world = World::new().await;
    let mine = token();
    let start = |body| new_session(Labels::new(), None, Some(key(mine, "k", body)));
    let IdempotentResult::Done(first) = world.store.write(start(1)).await.unwrap() else { panic!("not started") };
    assert_eq!(world.store.write(start(1)).await.unwrap(), IdempotentResult::Repeated(first));
    assert_eq!(world.store.write(start(2)).await.unwrap(), IdempotentResult::Reused);
    assert_eq!(world.kinds(), [EventKind::SessionCreated, EventKind::MessageCompleted]);
    assert_eq!(world.outbox().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_calls_with_the_same_key_take_effect_once() {
    let world = World::new().await;
    let mine = token();
    for round in 0..50 {
        let name = round.to_string();
        let calls: Vec<_> = (0..5)
            .map(|_| {
                let (store, key) = (world.store.clone(), key(mine, &name, 1));
                tokio::spawn(async move {
                    let ask = Box::new(ask(question()));
                    let open = OpenAsk { workspace: MAIN, scope: Scope::All, ask, key: Some(key), max_pending: 1_000 };
                    store.write(open).await.unwrap()
                })
            })
            .collect();
        let mut opened = Vec::new();
        for call in calls {
            opened.push(call.await.unwrap());
        }
        assert!(opened.windows(2).all(|pair| pair[0] == pair[1]));
    }
    assert_eq!(world.events().len(), 50);
}
