//! Tests of operations without a database: rows and an operation in, staged changes out.

mod uniqueness;

use std::sync::Arc;
use std::time::Duration;

use sayso_core::actor::Actor;
use sayso_core::ask::{
    Ask, AskBody, AskContext, AskState, Decision, Delivery, Input, Origin, PolicyNote, Question, Reach, Refused, ask_digest,
};
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position};
use sayso_core::id::{AskId, ConnectionId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::time::Time;

use super::{
    AdvanceConnection, AdvanceResult, ConnectionChange, OpenAsk, OpenAskResult, ProcessChange, ResolveAsk, ResolveError,
};
use crate::error::StoreError;
use crate::event::{EventKind, OutboxId, WorkspaceId};
use crate::operation::{MORE_READS, Operation, PendingOf, Read, Reads};
use crate::rows::{AskRow, OutboxBody, OutboxEntry, OwnerId};
use crate::unit::{Counters, Unit};

const SESSION: SessionId = SessionId::from_bytes([1; 16]);
const CONNECTION: ConnectionId = ConnectionId::from_bytes([2; 16]);
const CALLER: TokenId = TokenId::from_bytes([3; 16]);
const NOW: Time = Time::from_millis(1_700_000_000_000);

fn unit() -> Unit {
    Unit::new(WorkspaceId::MAIN, NOW, Counters { seq: 100, outbox: 50 })
}

fn ask(id: u8, origin: Origin) -> Ask {
    let question = Question {
        key: "0".to_owned(),
        header: None,
        text: "Which port?".to_owned(),
        input: Input::Text { secret: false },
        required: true,
        response_schema: None,
    };
    Ask {
        id: AskId::from_bytes([id; 16]),
        origin,
        body: AskBody::Question { questions: vec![question] }.into(),
        context: AskContext::default().into(),
        policy: PolicyNote::default(),
        opened_at: NOW,
        snoozed_until: None,
        state: AskState::Pending(Reach::Live),
        raw: None,
    }
}

fn of_agent(id: u8) -> Ask {
    let origin =
        Origin { session: Some(SESSION), connection: Some(CONNECTION), native_id: Some(format!("r-{id}")), opened_by: None };
    ask(id, origin)
}

fn of_caller(id: u8, native_id: &str) -> Ask {
    ask(id, Origin { session: None, connection: None, native_id: Some(native_id.to_owned()), opened_by: Some(CALLER) })
}

fn answer(id: u8) -> ResolveAsk {
    ResolveAsk {
        workspace: WorkspaceId::MAIN,
        ask: AskId::from_bytes([id; 16]),
        scope: Scope::All,
        session: None,
        decision: Decision::Answered { answers: vec![vec!["8080".to_owned()]], note: None },
        by: Actor::Agent,
        key: None,
        content: None,
        fits_schemas: false,
    }
}

fn load_ask(unit: &mut Unit, ask: Ask, seq: i64) {
    unit.asks.load(ask.id, Some(Arc::new(AskRow { ask: Arc::new(ask), seq })));
}

fn kinds(unit: &Unit) -> Vec<EventKind> {
    unit.events.iter().map(|event| event.payload.kind()).collect()
}

/// Applies an operation as a backend does, and rolls it back if it fails.
fn run<O: Operation>(unit: &mut Unit, operation: &O) -> Result<O::Output, StoreError> {
    let result = operation.apply(unit);
    if result.is_ok() {
        unit.keep();
    } else {
        unit.roll_back();
    }
    result
}

#[test]
fn answer_stages_the_outcome_one_event_and_one_outbox_entry() {
    let mut unit = unit();
    load_ask(&mut unit, of_agent(7), 40);
    let resolved = run(&mut unit, &answer(7)).unwrap().unwrap();
    assert!(matches!(&resolved.state, AskState::Resolved { delivery: Delivery::Queued, .. }));
    let stored: Vec<_> = unit.asks.changes().map(|(id, row)| (*id, row.map(|row| (row.seq, row.is_pending())))).collect();
    assert_eq!(stored, [(resolved.id, Some((40, false)))]);
    assert_eq!(kinds(&unit), [EventKind::AskResolved]);
    let entry = OutboxEntry {
        connection: CONNECTION,
        session: SESSION,
        body: OutboxBody::Outcome { ask: resolved.id, follow_up: false },
    };
    let queued: Vec<_> = unit.outbox.changes().map(|(id, entry)| (*id, entry.map(|entry| (**entry).clone()))).collect();
    assert_eq!(queued, [(OutboxId(51), Some(entry))]);
    assert_eq!(unit.counters, Counters { seq: 101, outbox: 51 });
}

#[test]
fn every_event_has_the_time_of_the_commit() {
    let mut unit = unit();
    load_connection(&mut unit, 4);
    let mut early = of_agent(7);
    early.opened_at = NOW.minus(Duration::from_secs(5));
    unit.asks.load(early.id, None);
    unit.sessions.load(SESSION, None);
    unit.mark_set_loaded(Read::PendingByNative(CONNECTION.into(), "r-7".to_owned()));
    run(&mut unit, &advance(vec![ConnectionChange::OpenAsk(Box::new(early.clone()))])).unwrap();
    let resolved = run(&mut unit, &answer(7)).unwrap().unwrap();
    assert_eq!((resolved.opened_at, resolved.outcome().map(|outcome| outcome.at)), (early.opened_at, Some(NOW)));
    let events: Vec<_> = unit.events.iter().map(|event| (event.payload.kind(), event.at)).collect();
    assert_eq!(events, [(EventKind::AskRequested, NOW), (EventKind::AskResolved, NOW)]);
}

#[test]
fn second_answer_in_the_same_batch_is_refused_and_stages_nothing() {
    let mut unit = unit();
    load_ask(&mut unit, of_agent(7), 40);
    run(&mut unit, &answer(7)).unwrap().unwrap();
    let refused = run(&mut unit, &answer(7)).unwrap().unwrap_err();
    assert!(matches!(refused, ResolveError::Refused(Refused::AlreadyResolved(_))));
    assert_eq!((kinds(&unit).len(), unit.outbox.changes().count()), (1, 1));
}

#[test]
fn operation_gives_the_same_result_when_it_is_applied_again() {
    let applied = || {
        let mut unit = unit();
        load_ask(&mut unit, of_agent(7), 40);
        run(&mut unit, &answer(7)).unwrap().unwrap();
        format!("{unit:?}")
    };
    assert_eq!(applied(), applied());
}

#[test]
fn reading_a_row_that_was_not_named_is_an_error() {
    let mut unit = unit();
    assert!(matches!(run(&mut unit, &answer(7)), Err(StoreError::NotLoaded { table: "ask" })));
}

#[test]
fn operations_name_all_rows_that_they_read() {
    let mut unit = unit();
    let open =
        OpenAsk { workspace: WorkspaceId::MAIN, scope: Scope::All, ask: Box::new(of_caller(9, "k")), key: None, max_pending: 2 };
    let mut reads = Reads::default();
    open.reads(&mut reads);
    let owner = OwnerId::from(CALLER);
    let named: Vec<_> = reads.drain().collect();
    let ids = [9, 10, 11].map(|id| AskId::from_bytes([id; 16]));
    let expected = [Read::Ask(ids[0]), Read::PendingIds(PendingOf::Owner(owner)), Read::PendingByNative(owner, "k".to_owned())];
    assert_eq!(named, expected);
    for id in ids {
        unit.asks.load(id, None);
    }
    unit.load_pending_ids(PendingOf::Owner(owner), [AskId::from_bytes([1; 16])].into());
    unit.mark_set_loaded(Read::PendingByNative(owner, "k".to_owned()));
    unit.mark_set_loaded(Read::PendingByNative(owner, "l".to_owned()));
    assert!(matches!(run(&mut unit, &open), Ok(OpenAskResult::Ask(_))));
    // The same request gets the ask of this batch, and another request exceeds the limit of two.
    let joined = run(&mut unit, &OpenAsk { ask: Box::new(of_caller(10, "k")), ..again(&open) }).unwrap();
    assert!(matches!(joined, OpenAskResult::Ask(ask) if ask.id == AskId::from_bytes([9; 16])));
    assert_eq!(run(&mut unit, &OpenAsk { ask: Box::new(of_caller(11, "l")), ..again(&open) }).unwrap(), OpenAskResult::TooMany);
}

#[test]
fn equal_request_ids_join_only_equal_asks() {
    let mut unit = unit();
    let owner = OwnerId::from(CALLER);
    for id in 9..=12 {
        unit.asks.load(AskId::from_bytes([id; 16]), None);
    }
    unit.load_pending_ids(PendingOf::Owner(owner), [].into());
    unit.mark_set_loaded(Read::PendingByNative(owner, "k".to_owned()));
    let with_digest = |mut ask: Ask| {
        let digest = Some(ask_digest(&ask.body, &ask.context, None));
        ask.context = AskContext { digest, ..AskContext::clone(&ask.context) }.into();
        ask
    };
    let in_project = |mut ask: Ask, project: &str| {
        ask.context = AskContext { project: Some(project.to_owned()), ..AskContext::default() }.into();
        ask
    };
    let titled = |mut ask: Ask| {
        ask.context = AskContext { title: "another title".to_owned(), ..AskContext::clone(&ask.context) }.into();
        ask
    };
    let mut open = |ask: Ask| {
        let open = OpenAsk { workspace: WorkspaceId::MAIN, scope: Scope::All, ask: Box::new(ask), key: None, max_pending: 9 };
        match run(&mut unit, &open).unwrap() {
            OpenAskResult::Ask(ask) => Ok(ask.id),
            refused => Err(refused),
        }
    };
    let first = AskId::from_bytes([9; 16]);
    // The first ask has no digest, like asks of earlier versions.
    assert_eq!(open(of_caller(9, "k")), Ok(first));
    assert_eq!(open(titled(with_digest(of_caller(10, "k")))), Ok(first));
    assert_eq!(open(with_digest(in_project(of_caller(11, "k"), "/p"))), Err(OpenAskResult::DedupeKeyReused));
    let mut other = of_caller(12, "k");
    other.body = AskBody::Question { questions: Vec::new() }.into();
    assert_eq!(open(with_digest(other)), Err(OpenAskResult::DedupeKeyReused));
}

fn again(open: &OpenAsk) -> OpenAsk {
    OpenAsk {
        workspace: open.workspace,
        scope: open.scope.clone(),
        ask: open.ask.clone(),
        key: None,
        max_pending: open.max_pending,
    }
}

fn advance(changes: Vec<ConnectionChange>) -> AdvanceConnection {
    AdvanceConnection {
        workspace: WorkspaceId::MAIN,
        connection: CONNECTION,
        epoch: Epoch(1),
        from: Position(4),
        to: Position(5),
        process: ProcessChange::Same,
        state: Raw::of(&5),
        wake_at: None,
        delivered: Vec::new(),
        sent: Vec::new(),
        trying: Vec::new(),
        changes,
    }
}

fn connection(id: ConnectionId, position: i64) -> Connection {
    Connection {
        id,
        kind: ConnectionKind::InProcess,
        agent: "mock".to_owned(),
        epoch: Epoch(1),
        position: Position(position),
        process: None,
        state: None,
        wake_at: None,
    }
}

fn load_connection(unit: &mut Unit, position: i64) {
    unit.connections.load(CONNECTION, Some(Arc::new(connection(CONNECTION, position))));
}

#[test]
fn repeated_input_is_stale() {
    let mut unit = unit();
    load_connection(&mut unit, 5);
    assert_eq!(run(&mut unit, &advance(Vec::new())).unwrap(), AdvanceResult::Stale);
    assert_eq!(unit.connections.changes().count(), 0);
}

#[test]
fn failed_operation_is_rolled_back_and_others_stay() {
    let mut unit = unit();
    load_connection(&mut unit, 4);
    load_ask(&mut unit, of_agent(7), 40);
    unit.mark_set_loaded(Read::PendingByNative(CONNECTION.into(), "r-7".to_owned()));
    unit.asks.load(AskId::from_bytes([8; 16]), None);
    let mut twin = of_agent(8);
    twin.origin.native_id = Some("r-7".to_owned());
    run(&mut unit, &answer(7)).unwrap().unwrap();
    let before = format!("{unit:?}");
    // The session of the ask is not loaded, so the operation fails after its first changes.
    assert!(run(&mut unit, &advance(vec![ConnectionChange::OpenAsk(Box::new(twin))])).is_err());
    assert_eq!(format!("{unit:?}"), before);
}
