//! The order of events, however many write at once; and the past.

use std::sync::Arc;

use sayso_core::ask::{AskState, Reach};
use sayso_core::raw::Raw;
use sayso_store::EventKind;
use sayso_store::read::{EventsAfter, FeedHead};
use sayso_store::Retain;
use sayso_store::ops::{Announce, Change};

use crate::world::{MAIN, World, advance, answered, approval, ask, ask_of, at, key, question, resolve, token};

/// `seq` has no gaps and follows commit order. Subscribers and later readers see the same events.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn seq_has_no_gaps_and_is_in_the_order_of_commits() {
    const WRITERS: usize = 16;
    const EACH: usize = 40;
    let world = World::new();
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let store = world.store.clone();
        writers.push(tokio::spawn(async move {
            for n in 0..EACH {
                let mut ask = ask(question());
                Arc::make_mut(&mut ask.context).title = format!("{writer}-{n}");
                let id = ask.id;
                let open = sayso_store::ops::OpenAsk {
                    workspace: MAIN,
                    scope: sayso_core::scope::Scope::All,
                    ask: Box::new(ask),
                    key: None,
                    max_pending: 10_000,
                };
                store.write(open).await.unwrap();
                // Some of these are refused; what is refused takes no place in the feed.
                let _ = store.write(resolve(id, if n % 3 == 0 { approved_by_mistake() } else { answered("A") })).await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let told: Vec<_> = world.events().iter().map(|event| (event.seq, event.kind, event.ask.as_ref().map(|ask| ask.id))).collect();
    let seqs: Vec<i64> = told.iter().map(|(seq, ..)| *seq).collect();
    assert_eq!(seqs, (1..=i64::try_from(told.len()).unwrap()).collect::<Vec<_>>());
    let refused = WRITERS * EACH.div_ceil(3);
    assert_eq!(told.len(), WRITERS * EACH * 2 - refused);
    let read: Vec<_> =
        world.past(0).await.iter().map(|event| (event.seq, event.kind, event.ask.as_ref().map(|ask| ask.id))).collect();
    assert_eq!(read, told);
    assert!(world.told.lock().unwrap().commits < WRITERS * EACH * 2, "commits are shared");
    let head = told.len();
    let world = world.reopen().await;
    assert_eq!(world.store.read(FeedHead { workspace: MAIN }).await.unwrap(), i64::try_from(head).unwrap());
    world.open(ask(question())).await;
    assert_eq!(world.events()[0].seq, i64::try_from(head).unwrap() + 1, "it goes on where it was");
}

fn approved_by_mistake() -> sayso_core::ask::Decision {
    crate::world::approved()
}

/// One operation that the database refuses does not hurt those that share its transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_failing_operation_fails_alone() {
    let world = World::new();
    let session = world.session().await;
    world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let before = world.events().last().unwrap().seq;
    let mut calls = Vec::new();
    for n in 0..60 {
        let (store, session) = (world.store.clone(), session.clone());
        calls.push(tokio::spawn(async move {
            if n % 3 == 0 {
                // The request id is pending already: a constraint of the database stops it half way.
                let changes = vec![
                    Change::Block { session: session.id, block: crate::world::block("half"), event: EventKind::MessageCompleted },
                    Change::OpenAsk(Box::new(ask_of(&session, "1", question()))),
                ];
                store.write(advance(&session, 1, vec![], changes)).await.map(|_| ()).is_err()
            } else {
                let data = Raw::of(&serde_json::json!({ "n": n }));
                store.write(Announce { workspace: MAIN, kind: EventKind::Notice, data, now: at(3) }).await.is_ok()
            }
        }));
    }
    for call in calls {
        assert!(call.await.unwrap());
    }
    let after: Vec<_> = world.past(before).await.iter().map(|event| (event.seq, event.kind)).collect();
    let expected: Vec<_> = (before + 1..=before + 40).map(|seq| (seq, EventKind::Notice)).collect();
    assert_eq!(after, expected, "no gap where something failed");
}

#[tokio::test]
async fn the_past_shows_an_ask_as_it_was() {
    let world = World::new();
    let ask = world.open(ask(approval())).await;
    world.resolve(ask.id, crate::world::approved()).await.unwrap();
    let live = world.events();
    let past = world.past(0).await;
    for (live, past) in live.iter().zip(&past) {
        assert_eq!((live.seq, live.at, live.kind, live.session), (past.seq, past.at, past.kind, past.session));
        assert_eq!(live.ask, past.ask, "{:?}", live.kind);
    }
    assert_eq!(past[0].ask.as_ref().unwrap().state, AskState::Pending(Reach::Live));
}

#[tokio::test]
async fn the_past_is_read_in_pieces_and_by_session() {
    let world = World::new();
    let (one, two) = (world.session().await, world.session().await);
    for step in 0..5 {
        world.agent_asks(&one, step, ask_of(&one, &step.to_string(), question())).await;
        world.agent_asks(&two, step, ask_of(&two, &step.to_string(), question())).await;
    }
    let mut found = Vec::new();
    let mut after = 0;
    loop {
        let query = EventsAfter { workspace: MAIN, after, session: Some(one.id), limit: 3 };
        let piece = world.store.read(query).await.unwrap();
        assert_eq!((piece.oldest, piece.head), (1, 14));
        found.extend(piece.events.iter().map(|event| (event.seq, event.session)));
        if piece.looked_to == after {
            break;
        }
        after = piece.looked_to;
    }
    assert_eq!(after, 14);
    assert_eq!(found.len(), 7);
    assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0) && found.iter().all(|(_, session)| *session == Some(one.id)));
}

/// The feed forgets; asks do not.
#[tokio::test]
async fn old_events_and_keys_are_forgotten_a_piece_at_a_time() {
    let world = World::new();
    let mine = token();
    let mut opened = Vec::new();
    for n in 0..10 {
        let mut ask = ask(question());
        ask.opened_at = at(n);
        let open = sayso_store::ops::OpenAsk {
            workspace: MAIN,
            scope: sayso_core::scope::Scope::All,
            ask: Box::new(ask.clone()),
            key: Some(key(mine, &n.to_string(), 1)),
            max_pending: 100,
        };
        world.store.write(open).await.unwrap();
        opened.push(ask);
    }
    let retain = || Retain { events_before: at(7), keys_before: at(7), now: at(1_000), at_most: 3 };
    let mut rounds = 1;
    while world.store.retain(retain()).await.unwrap() {
        rounds += 1;
    }
    assert_eq!(rounds, 3, "3 + 3 + 1");
    let query = EventsAfter { workspace: MAIN, after: 0, session: None, limit: 100 };
    let past = world.store.read(query).await.unwrap();
    assert_eq!((past.oldest, past.head, past.events.len()), (8, 10, 3));
    for ask in &opened {
        assert_eq!(world.get(ask.id).await, *ask);
    }
    // A forgotten key is a new key, a kept one is not.
    let again = |name: &str| sayso_store::ops::OpenAsk {
        workspace: MAIN,
        scope: sayso_core::scope::Scope::All,
        ask: Box::new(ask(question())),
        key: Some(key(mine, name, 2)),
        max_pending: 100,
    };
    assert!(matches!(world.store.write(again("0")).await.unwrap(), sayso_store::ops::Opened::Ask(_)));
    assert!(matches!(world.store.write(again("9")).await.unwrap(), sayso_store::ops::Opened::KeyReused));
    // Everything gone: the place stays, so that a client that comes back learns that it missed something.
    let all = Retain { events_before: at(9_999), keys_before: at(0), now: at(9_999), at_most: 1_000 };
    world.store.retain(all).await.unwrap();
    let world = world.reopen().await;
    let past = world.store.read(EventsAfter { workspace: MAIN, after: 0, session: None, limit: 100 }).await.unwrap();
    assert_eq!((past.oldest, past.head, past.events.len()), (12, 11, 0));
    assert_eq!(past.looked_to, 11);
}

#[tokio::test]
async fn an_announcement_is_an_event_of_everybody() {
    let world = World::new();
    let data = Raw::of(&serde_json::json!({ "fingerprint": "abc" }));
    let announce = Announce { workspace: MAIN, kind: EventKind::PolicyChanged, data: data.clone(), now: at(5) };
    assert_eq!(world.store.write(announce).await.unwrap(), 1);
    let past = world.past(0).await;
    assert_eq!((past[0].kind, past[0].at, past[0].session, &past[0].data), (EventKind::PolicyChanged, at(5), None, &Some(data)));
}

#[tokio::test]
async fn every_kind_has_its_number_and_back() {
    for number in 0..64 {
        if let Some(kind) = EventKind::from_number(number) {
            assert_eq!(kind as i64, number);
        }
    }
    assert_eq!((0..64).filter(|number| EventKind::from_number(*number).is_some()).count(), 25);
}
