//! The order of events with concurrent writers, and stored events.

use std::sync::Arc;

use sayso_core::ask::{AskState, Reach};
use sayso_core::id::BlockId;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::SessionStatus;
use sayso_core::transcript::{Block, BlockBody, ToolStatus};
use sayso_store::RetentionLimits;
use sayso_store::ops::{AnnouncePolicy, ConnectionChange, NoticeSource, PostNotice, SnoozeAsk};
use sayso_store::read::{ReadEvents, ReadFeedHead};
use sayso_store::{EventKind, EventPayload};

use super::World;
use crate::world::{MAIN, advance, answered, approval, ask, ask_of, at, entropy, key, question, resolve, token};

/// `seq` has no gaps and follows commit order. Subscribers and later readers see the same events.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn seq_has_no_gaps_and_is_in_the_order_of_commits() {
    const WRITERS: usize = 16;
    const EACH: usize = 40;
    let world = World::new().await;
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
                // Some of these are refused. Refused operations use no `seq`.
                let _ = store.write(resolve(id, if n % 3 == 0 { approved_by_mistake() } else { answered("A") })).await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let told: Vec<_> =
        world.events().iter().map(|event| (event.seq, event.payload.kind(), event.payload.ask().map(|ask| ask.id))).collect();
    let seqs: Vec<i64> = told.iter().map(|(seq, ..)| *seq).collect();
    assert_eq!(seqs, (1..=i64::try_from(told.len()).unwrap()).collect::<Vec<_>>());
    let refused = WRITERS * EACH.div_ceil(3);
    assert_eq!(told.len(), WRITERS * EACH * 2 - refused);
    let read: Vec<_> = world
        .events_after(0)
        .await
        .iter()
        .map(|event| (event.seq, event.payload.kind(), event.payload.ask().map(|ask| ask.id)))
        .collect();
    assert_eq!(read, told);
    assert!(world.told.lock().unwrap().commits < WRITERS * EACH * 2, "commits are shared");
    let head = told.len();
    let world = world.reopen().await;
    assert_eq!(world.store.read(ReadFeedHead { workspace: MAIN }).await.unwrap(), i64::try_from(head).unwrap());
    world.open(ask(question())).await;
    assert_eq!(world.events()[0].seq, i64::try_from(head).unwrap() + 1, "it goes on where it was");
}

fn approved_by_mistake() -> sayso_core::ask::Decision {
    crate::world::approved()
}

/// An operation that the database refuses does not affect others in its transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn operation_that_fails_halfway_does_not_affect_its_batch() {
    let world = World::new().await;
    let session = world.session().await;
    world.agent_asks(&session, 0, ask_of(&session, "1", question())).await;
    let before = world.events().last().unwrap().seq;
    let mut calls = Vec::new();
    for n in 0..60 {
        let (store, session) = (world.store.clone(), session.clone());
        calls.push(tokio::spawn(async move {
            if n % 3 == 0 {
                // The request id is pending, so a constraint of the database stops the operation halfway.
                let changes = vec![
                    ConnectionChange::Block {
                        session: session.id,
                        block: crate::world::block("half"),
                        event: EventKind::MessageCompleted,
                    },
                    ConnectionChange::OpenAsk(Box::new(ask_of(&session, "1", question()))),
                ];
                store.write(advance(&session, 1, vec![], changes)).await.map(|_| ()).is_err()
            } else {
                let from = NoticeSource::Name("script".to_owned());
                store.write(PostNotice { workspace: MAIN, from, text: n.to_string() }).await.is_ok()
            }
        }));
    }
    for call in calls {
        assert!(call.await.unwrap());
    }
    let after: Vec<_> = world.events_after(before).await.iter().map(|event| (event.seq, event.payload.kind())).collect();
    let expected: Vec<_> = (before + 1..=before + 40).map(|seq| (seq, EventKind::Notice)).collect();
    assert_eq!(after, expected, "no gap where something failed");
}

#[tokio::test]
async fn stored_event_shows_the_ask_as_it_was() {
    let world = World::new().await;
    let ask = world.open(ask(approval())).await;
    world.resolve(ask.id, crate::world::approved()).await.unwrap();
    let live = world.events();
    let past = world.events_after(0).await;
    for (live, past) in live.iter().zip(&past) {
        assert_eq!((live.seq, live.at, live.session), (past.seq, past.at, past.session));
        assert_eq!(live.payload, past.payload);
    }
    assert_eq!(past[0].payload.ask().unwrap().state, AskState::Pending(Reach::Live));
}

/// An event is a snapshot. Later changes do not affect it.
#[tokio::test]
async fn past_events_equal_the_events_that_were_published() {
    let world = World::new().await;
    let session = world.session().await;
    let tool = |input: Option<Raw>, output: Option<&str>, status: ToolStatus, event: EventKind| {
        let (tool_call_id, name) = ("t1".to_owned(), "Bash".to_owned());
        let body = BlockBody::Tool { tool_call_id, name, input, output: output.map(str::to_owned), status };
        let block = Block { id: BlockId::new(at(0), [9; 10]), at: at(1), subagent: Some("s".to_owned()), body };
        ConnectionChange::Block { session: session.id, block, event }
    };
    let input = Raw::parse("{\"b\": 1.00,\n \"a\": []}".to_owned()).unwrap();
    let ended = SessionStatus::Ended { reason: "gone".to_owned(), failed: true, resumable: true };
    let changes = vec![
        tool(Some(input), None, ToolStatus::Running, EventKind::ToolStarted),
        tool(Some(Raw::of(&"later")), None, ToolStatus::Running, EventKind::ToolUpdated),
        tool(None, Some("done"), ToolStatus::Complete, EventKind::ToolCompleted),
        ConnectionChange::Status { session: session.id, status: SessionStatus::Stalled },
        ConnectionChange::Status { session: session.id, status: ended },
    ];
    world.step(&session, 0, vec![], changes).await;
    let block = BlockId::new(at(2), entropy());
    for from in [NoticeSource::Name("script".to_owned()), NoticeSource::Session { session: session.id, block }] {
        world.store.write(PostNotice { workspace: MAIN, from, text: "a\nb".to_owned() }).await.unwrap();
    }
    let ask = world.open(ask(question())).await;
    for until in [Some(at(90)), None] {
        let snooze = SnoozeAsk { workspace: MAIN, ask: ask.id, scope: Scope::All, until };
        world.store.write(snooze).await.unwrap().unwrap();
    }
    let kinds = world.kinds();
    let live: Vec<EventPayload> = world.events().into_iter().map(|event| event.payload).collect();
    let world = world.reopen().await;
    let past: Vec<EventPayload> = world.events_after(0).await.into_iter().map(|event| event.payload).collect();
    assert_eq!(past.iter().map(EventPayload::kind).collect::<Vec<_>>(), kinds);
    let snoozed = |payload: &EventPayload| match payload {
        EventPayload::AskSnoozed { until, .. } => Some(*until),
        _ => None,
    };
    for (live, past) in live.iter().zip(&past) {
        match snoozed(live) {
            // The ask is read from its row.
            Some(until) => assert_eq!(snoozed(past), Some(until)),
            None => assert_eq!(live, past),
        }
    }
}

#[tokio::test]
async fn stored_events_are_read_in_pages_and_by_session() {
    let world = World::new().await;
    let (one, two) = (world.session().await, world.session().await);
    for step in 0..5 {
        world.agent_asks(&one, step, ask_of(&one, &step.to_string(), question())).await;
        world.agent_asks(&two, step, ask_of(&two, &step.to_string(), question())).await;
    }
    let mut found = Vec::new();
    let mut after = 0;
    loop {
        let query = ReadEvents { workspace: MAIN, after, session: Some(one.id), limit: 3 };
        let piece = world.store.read(query).await.unwrap();
        assert_eq!((piece.oldest, piece.head), (1, 14));
        found.extend(piece.events.iter().map(|event| (event.seq, event.session)));
        if piece.scanned_to == after {
            break;
        }
        after = piece.scanned_to;
    }
    assert_eq!(after, 14);
    assert_eq!(found.len(), 7);
    assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0) && found.iter().all(|(_, session)| *session == Some(one.id)));
}

/// Retention deletes events but not asks.
#[tokio::test]
async fn old_events_and_keys_are_deleted_in_pieces() {
    let world = World::new().await;
    let mine = token();
    let mut opened = Vec::new();
    for n in 0..10 {
        let mut ask = ask(question());
        ask.opened_at = at(n);
        world.clock.set(at(n));
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
    let retain = || RetentionLimits { events_before: at(7), keys_before: at(7), at_most: 3 };
    let mut rounds = 1;
    while world.store.retain(retain()).await.unwrap() {
        rounds += 1;
    }
    assert_eq!(rounds, 3, "3 + 3 + 1");
    let query = ReadEvents { workspace: MAIN, after: 0, session: None, limit: 100 };
    let past = world.store.read(query).await.unwrap();
    assert_eq!((past.oldest, past.head, past.events.len()), (8, 10, 3));
    for ask in &opened {
        assert_eq!(world.get(ask.id).await, *ask);
    }
    // A deleted key can be used again, a stored one cannot.
    let again = |name: &str| sayso_store::ops::OpenAsk {
        workspace: MAIN,
        scope: sayso_core::scope::Scope::All,
        ask: Box::new(ask(question())),
        key: Some(key(mine, name, 2)),
        max_pending: 100,
    };
    assert!(matches!(world.store.write(again("0")).await.unwrap(), sayso_store::ops::OpenAskResult::Ask(_)));
    assert!(matches!(world.store.write(again("9")).await.unwrap(), sayso_store::ops::OpenAskResult::KeyReused));
    // All events are deleted. The position stays, so that a returning client learns that it missed events.
    let all = RetentionLimits { events_before: at(9_999), keys_before: at(0), at_most: 1_000 };
    world.store.retain(all).await.unwrap();
    let world = world.reopen().await;
    let past = world.store.read(ReadEvents { workspace: MAIN, after: 0, session: None, limit: 100 }).await.unwrap();
    assert_eq!((past.oldest, past.head, past.events.len()), (12, 11, 0));
    assert_eq!(past.scanned_to, 11);
}

#[tokio::test]
async fn announcement_is_an_event_without_a_session() {
    let world = World::new().await;
    let announce = AnnouncePolicy { workspace: MAIN, fingerprint: "abc".to_owned(), valid: true };
    world.clock.set(at(5));
    world.store.write(announce).await.unwrap();
    let past = world.events_after(0).await;
    let payload = EventPayload::PolicyChanged { fingerprint: "abc".to_owned(), valid: true };
    assert_eq!((past[0].seq, past[0].at, past[0].session, &past[0].payload), (1, at(5), None, &payload));
}

#[tokio::test]
async fn event_kinds_round_trip_through_their_numbers() {
    for number in 0..64 {
        if let Some(kind) = EventKind::from_number(number) {
            assert_eq!(kind as i64, number);
        }
    }
    assert_eq!((0..64).filter(|number| EventKind::from_number(*number).is_some()).count(), 25);
}
