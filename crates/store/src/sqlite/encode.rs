//! Rows as column values.

use rusqlite::types::Value;
use sayso_core::ask::{Ask, AskKind, AskState, Delivery, OutcomeStatus, Reach};
use sayso_core::connection::{Connection, ConnectionKind, WirePosition};
use sayso_core::raw::Raw;
use sayso_core::run::{StepRun, StepState};
use sayso_core::time::Time;
use sayso_core::transcript::BlockBody;

use super::event_row;
use super::search_text::SearchText;
use super::table::{RowChange, Table};
use crate::error::StoreError;
use crate::event::{StoredEvent, WorkspaceId};
use crate::ops::notes::NoteState;
use crate::payload::EventPayload;
use crate::rows::{AskRow, OutboxBody, OutboxEntry, owner_of};
use crate::unit::Unit;

/// Every staged change of a unit, events included. Secrets are returned apart: they must not be in the log.
pub(super) struct Encoded {
    pub(super) changes: Vec<RowChange>,
    pub(super) secrets: Vec<RowChange>,
}

/// Asks below this number are pending. The schema's partial indexes use the same number.
pub(super) const FIRST_OUTCOME: i64 = 2;

/// The condition that an ask is pending. A literal and no parameter: only so SQLite uses the partial indexes.
macro_rules! is_pending {
    () => {
        is_pending!("")
    };
    ($table:literal) => {
        concat!($table, "status < 2")
    };
}
pub(super) use is_pending;

/// The condition that an ask has its outcome.
macro_rules! is_resolved {
    () => {
        "status >= 2"
    };
}
pub(super) use is_resolved;

/// The condition that a caller has not collected the outcome of an ask. The partial index has the same words.
macro_rules! is_uncollected {
    () => {
        "status >= 2 AND delivery = 0 AND connection IS NULL AND native_id IS NOT NULL"
    };
}
pub(super) use is_uncollected;

/// The condition that a connection is to a server that someone else started.
macro_rules! is_attached {
    () => {
        "kind = 2"
    };
}
pub(super) use is_attached;

pub(super) const fn status_number(state: &AskState) -> i64 {
    match state {
        AskState::Pending(Reach::Live) => 0,
        AskState::Pending(Reach::Parked) => 1,
        AskState::Resolved { outcome, .. } => outcome_number(outcome.decision.status()),
    }
}

pub(super) const fn outcome_number(status: OutcomeStatus) -> i64 {
    match status {
        OutcomeStatus::Answered => FIRST_OUTCOME,
        OutcomeStatus::Rejected => 3,
        OutcomeStatus::Approved => 4,
        OutcomeStatus::Denied => 5,
        OutcomeStatus::Withdrawn => 6,
    }
}

pub(super) const fn kind_number(kind: AskKind) -> i64 {
    match kind {
        AskKind::Question => 0,
        AskKind::Approval => 1,
        AskKind::Link => 2,
    }
}

pub(super) const DELIVERY_QUEUED: i64 = 0;

const fn delivery_number(delivery: &Delivery) -> i64 {
    match delivery {
        Delivery::Queued => DELIVERY_QUEUED,
        Delivery::Delivered => 1,
        Delivery::Confirmed => 2,
        Delivery::Undeliverable { .. } => 3,
    }
}

pub(super) const ATTACHED: i64 = 2;

const fn connection_number(kind: ConnectionKind) -> i64 {
    match kind {
        ConnectionKind::InProcess => 0,
        ConnectionKind::Supervised => 1,
        ConnectionKind::Attached => ATTACHED,
        ConnectionKind::Caller => 3,
    }
}

/// The number of a kind of outbox entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutboxKind {
    Outcome = 0,
    FollowUp = 1,
    Command = 2,
    Send = 3,
    SendSecret = 4,
}

fn id(bytes: &[u8]) -> Value {
    Value::Blob(bytes.to_vec())
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn json<T: serde::Serialize>(what: &'static str, value: &T) -> Result<Value, StoreError> {
    json_text(what, value).map(Value::Text)
}

fn json_text<T: serde::Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unreadable { what, detail: error.to_string() })
}

fn raw(raw: &Raw) -> Value {
    text(raw.as_str())
}

fn time(time: Time) -> Value {
    Value::Integer(time.as_millis())
}

fn maybe<T>(value: Option<T>, encode: impl FnOnce(T) -> Value) -> Value {
    value.map_or(Value::Null, encode)
}

fn flag(flag: bool) -> Value {
    Value::Integer(i64::from(flag))
}

fn number(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(super) fn encode(unit: &Unit) -> Result<Encoded, StoreError> {
    let workspace = Value::Integer(unit.workspace.0);
    let mut found = Encoded { changes: Vec::with_capacity(8), secrets: Vec::new() };
    let changes = &mut found.changes;
    let mut row = |table: Table, mut key: Vec<Value>, rest: Option<Vec<Value>>| {
        key.insert(0, workspace.clone());
        changes.push(match rest {
            Some(rest) => {
                key.extend(rest);
                RowChange::Put { table, values: key }
            }
            None => RowChange::Delete { table, key },
        });
    };
    for (key, block) in unit.blocks.changes() {
        let rest = block
            .map(|block| {
                let data = json("block", &block.block)?;
                Ok::<_, StoreError>(vec![id(block.session.as_bytes()), Value::Integer(block.seq), data])
            })
            .transpose()?;
        row(Table::Block, vec![id(key.as_bytes())], rest);
    }
    for (key, connection) in unit.connections.changes() {
        row(Table::Connection, vec![id(key.as_bytes())], connection.map(|connection| connection_values(connection)));
    }
    for (key, session) in unit.externals.changes() {
        let native = vec![id(key.token.as_bytes()), text(&*key.agent), text(&*key.native_id)];
        row(Table::External, native, session.map(|session| vec![id(session.as_bytes())]));
    }
    for (key, grant) in unit.grants.changes() {
        row(Table::Grant, vec![id(key.as_bytes())], grant.map(|grant| vec![maybe(grant.until, time), raw(&grant.data)]));
    }
    for (key, made) in unit.idempotency.changes() {
        let rest = made.map(|made| vec![id(&made.fingerprint), text(&*made.target), time(made.at)]);
        row(Table::Idempotency, vec![id(key.token.as_bytes()), text(&*key.route), text(&*key.key)], rest);
    }
    for (hash, code) in unit.login_codes.changes() {
        let rest = code.map(|code| vec![text(&*code.role), text(&*code.actor), time(code.expires_at)]);
        row(Table::LoginCode, vec![id(hash)], rest);
    }
    for ((ask, channel), note) in unit.notes.changes() {
        let rest = note.map(|note| {
            let (state, due) = match note.state {
                NoteState::Again(at) => (0, at.as_millis()),
                NoteState::Told => (1, 0),
                NoteState::GivenUp => (2, 0),
            };
            let message = maybe(note.message.as_deref(), text);
            vec![Value::Integer(state), Value::Integer(note.attempts.into()), Value::Integer(due), message]
        });
        row(Table::Note, vec![id(ask.as_bytes()), text(&**channel)], rest);
    }
    for (key, entry) in unit.outbox.changes() {
        row(Table::Outbox, vec![Value::Integer(key.0)], entry.map(|entry| outbox_values(entry)));
    }
    for (token, push) in unit.pushes.changes() {
        let rest = push.map(|push| vec![text(&*push.endpoint), id(&push.public_key), id(&push.auth)]);
        row(Table::Push, vec![id(token.as_bytes())], rest);
    }
    for (key, setting) in unit.settings.changes() {
        row(Table::Setting, vec![text(&**key)], setting.map(|value| vec![raw(value)]));
    }
    for (path, trust) in unit.trusted.changes() {
        row(Table::Trust, vec![text(&**path)], trust.map(|trust| vec![text(&*trust.hash), time(trust.at)]));
    }
    for (key, token) in unit.tokens.changes() {
        let rest = token
            .map(|token| {
                Ok::<_, StoreError>(vec![
                    id(&token.hash),
                    text(&*token.role),
                    text(&*token.actor),
                    json("scope", &token.scope)?,
                    time(token.created_at),
                    maybe(token.expires_at, time),
                    maybe(token.revoked_at, time),
                    maybe(token.device.as_deref(), text),
                ])
            })
            .transpose()?;
        row(Table::Token, vec![id(key.as_bytes())], rest);
    }
    for (key, stored) in unit.sessions.changes() {
        let rest = stored
            .map(|stored| {
                let session = &stored.session;
                Ok::<_, StoreError>(vec![
                    Value::Integer(stored.seq),
                    id(session.connection.as_bytes()),
                    flag(session.status.is_ended()),
                    time(session.updated_at),
                    json("session", session)?,
                ])
            })
            .transpose()?;
        row(Table::Session, vec![id(key.as_bytes())], rest);
    }
    for (key, stored) in unit.runs.changes() {
        let Some(stored) = stored else { continue };
        let run = &stored.run;
        let rest = vec![
            Value::Integer(stored.seq),
            flag(run.status.is_over()),
            Value::Integer(stored.version),
            time(run.updated_at),
            json("run", run)?,
        ];
        row(Table::Run, vec![id(key.as_bytes())], Some(rest));
        for position in &stored.changed_steps {
            let Some(step) = run.steps.get(*position) else { continue };
            row(Table::RunStep, vec![id(key.as_bytes()), number(*position)], Some(step_values(step)?));
        }
    }
    for (_, stored) in unit.asks.changes() {
        if let Some(stored) = stored {
            changes.push(ask_change(unit, stored)?);
            if unit.is_new(stored.seq) {
                changes.extend(rule_hits(unit.workspace, &stored.ask));
            }
        }
    }
    for event in &unit.events {
        changes.push(event_change(unit, event)?);
    }
    for (ask, secret) in unit.secrets.changes() {
        let key = vec![workspace.clone(), id(ask.as_bytes())];
        found.secrets.push(match secret {
            Some(secret) => RowChange::Put { table: Table::Secret, values: [key, vec![raw(secret)]].concat() },
            None => RowChange::Delete { table: Table::Secret, key },
        });
    }
    Ok(found)
}

fn connection_values(connection: &Connection) -> Vec<Value> {
    let wire = connection.process.map(|WirePosition(read)| Value::Integer(i64::try_from(read).unwrap_or(i64::MAX)));
    vec![
        Value::Integer(connection_number(connection.kind)),
        text(&*connection.agent),
        Value::Integer(connection.epoch.0),
        Value::Integer(connection.position.0),
        wire.unwrap_or(Value::Null),
        maybe(connection.state.as_ref(), raw),
        maybe(connection.wake_at, time),
    ]
}

fn outbox_values(entry: &OutboxEntry) -> Vec<Value> {
    let (kind, body, tried) = match &entry.body {
        OutboxBody::Outcome { follow_up: false, .. } => (OutboxKind::Outcome, Value::Null, false),
        OutboxBody::Outcome { follow_up: true, .. } => (OutboxKind::FollowUp, Value::Null, false),
        OutboxBody::Command(command) => (OutboxKind::Command, raw(command), false),
        OutboxBody::Send { message: Some(message), tried, .. } => (OutboxKind::Send, raw(message), *tried),
        OutboxBody::Send { message: None, tried, .. } => (OutboxKind::SendSecret, Value::Null, *tried),
    };
    vec![
        id(entry.connection.as_bytes()),
        id(entry.session.as_bytes()),
        Value::Integer(kind as i64),
        maybe(entry.ask(), |ask| id(ask.as_bytes())),
        body,
        flag(tried),
    ]
}

fn step_values(step: &StepRun) -> Result<Vec<Value>, StoreError> {
    let (session, ask) = match &step.state {
        StepState::Running { session } => (id(session.as_bytes()), Value::Null),
        StepState::Asking { ask } => (Value::Null, id(ask.as_bytes())),
        StepState::Pending | StepState::Completed { .. } | StepState::Failed { .. } | StepState::Cancelled { .. } => {
            (Value::Null, Value::Null)
        }
    };
    Ok(vec![session, ask, json("step", step)?])
}

/// A new ask whole, an older one with what changes after it was opened.
fn ask_change(unit: &Unit, row: &AskRow) -> Result<RowChange, StoreError> {
    let state = ask_state(&row.ask)?;
    Ok(if unit.is_new(row.seq) {
        let mut values = ask_values(unit.workspace, row)?;
        values.extend(state);
        RowChange::Put { table: Table::Ask, values }
    } else {
        let mut values = vec![Value::Integer(unit.workspace.0), id(row.ask.id.as_bytes())];
        values.extend(state);
        RowChange::AskState { values }
    })
}

/// The rows of the rules that a new ask is counted for.
fn rule_hits(workspace: WorkspaceId, ask: &Ask) -> impl Iterator<Item = RowChange> {
    ask.policy.hits.iter().map(move |rule| {
        let values = vec![Value::Integer(workspace.0), text(&**rule), time(ask.opened_at), id(ask.id.as_bytes())];
        RowChange::Put { table: Table::RuleHit, values }
    })
}

pub(super) fn ask_values(workspace: WorkspaceId, row: &AskRow) -> Result<Vec<Value>, StoreError> {
    let ask = &row.ask;
    let (origin, context) = (&ask.origin, &ask.context);
    let (body_json, context_json) = (json_text("ask body", &*ask.body)?, json_text("ask context", &**context)?);
    let mut asked = SearchText::default();
    asked.add(&body_json);
    asked.add(&context_json);
    Ok(vec![
        Value::Integer(workspace.0),
        id(ask.id.as_bytes()),
        Value::Integer(row.seq),
        maybe(origin.session, |session| id(session.as_bytes())),
        maybe(origin.connection, |connection| id(connection.as_bytes())),
        maybe(owner_of(ask), |owner| id(&owner.0)),
        maybe(origin.native_id.as_deref(), text),
        maybe(origin.opened_by, |token| id(token.as_bytes())),
        Value::Integer(kind_number(ask.kind())),
        time(ask.opened_at),
        maybe(ask.policy.deadline, |deadline| time(deadline.at)),
        maybe(context.keep, |keep| Value::Integer(i64::try_from(keep.0.as_millis()).unwrap_or(i64::MAX))),
        text(&*context.agent),
        maybe(context.project.as_deref(), text),
        maybe(context.tool_call_id.as_deref(), text),
        text(body_json),
        text(context_json),
        json("policy note", &ask.policy)?,
        maybe(ask.raw.as_ref(), raw),
        text(asked.into_text()),
    ])
}

/// The columns of `ASK_STATE`.
pub(super) fn ask_state(ask: &Ask) -> Result<Vec<Value>, StoreError> {
    let (outcome, delivery, reason, decided) = match &ask.state {
        AskState::Pending(_) => (Value::Null, DELIVERY_QUEUED, Value::Null, Value::Null),
        AskState::Resolved { outcome, delivery } => {
            let outcome = json_text("outcome", outcome)?;
            let mut decided = SearchText::default();
            decided.add(&outcome);
            let reason = match delivery {
                Delivery::Undeliverable { reason } => text(&**reason),
                Delivery::Queued | Delivery::Delivered | Delivery::Confirmed => Value::Null,
            };
            (text(outcome), delivery_number(delivery), reason, text(decided.into_text()))
        }
    };
    let status = Value::Integer(status_number(&ask.state));
    Ok(vec![status, maybe(ask.snoozed_until, time), outcome, Value::Integer(delivery), reason, decided])
}

fn event_change(unit: &Unit, event: &StoredEvent) -> Result<RowChange, StoreError> {
    let data = if is_in_block(unit, event) { None } else { event_row::encode(&event.payload)? };
    let values = vec![
        Value::Integer(event.workspace.0),
        Value::Integer(event.seq),
        time(event.at),
        Value::Integer(event.payload.kind() as i64),
        maybe(event.session, |session| id(session.as_bytes())),
        maybe(event.payload.ask(), |ask| id(ask.id.as_bytes())),
        maybe(event.run, |run| id(run.as_bytes())),
        maybe(data, text),
    ];
    Ok(RowChange::Put { table: Table::Event, values })
}

/// Whether the row of a block at the same `seq` has the payload, so that it is not stored a second time. Blocks of tools
/// are replaced when the tool ends, and their first event must not change with them.
fn is_in_block(unit: &Unit, event: &StoredEvent) -> bool {
    let EventPayload::Block { block, .. } = &event.payload else { return false };
    match block.body {
        BlockBody::Tool { .. } => false,
        BlockBody::Message { .. } | BlockBody::Notice { .. } | BlockBody::Error { .. } => {
            unit.blocks.get(&block.id).is_ok_and(|row| row.is_some_and(|row| row.seq == event.seq))
        }
    }
}
