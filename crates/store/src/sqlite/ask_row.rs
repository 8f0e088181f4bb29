//! The ask as a row, and back.

use rusqlite::{Connection, OptionalExtension, Row, params};
use sayso_core::ask::{Ask, AskBody, AskContext, AskKind, AskState, Delivery, Origin, Outcome, OutcomeStatus, Reach};
use sayso_core::id::{AskId, ConnectionId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::scope::{Scope, Visible};
use sayso_core::time::Time;

use super::{column, json, to_json};
use crate::error::StoreError;
use crate::event::WorkspaceId;

/// The columns that [`read`] takes, in its order, from a table with this prefix.
macro_rules! columns {
    ($p:literal) => {
        concat!(
            $p,
            "id, ",
            $p,
            "session, ",
            $p,
            "connection, ",
            $p,
            "native_id, ",
            $p,
            "opened_by, ",
            $p,
            "status, ",
            $p,
            "opened_ms, ",
            $p,
            "snoozed_ms, ",
            $p,
            "body, ",
            $p,
            "context, ",
            $p,
            "policy, ",
            $p,
            "outcome, ",
            $p,
            "delivery, ",
            $p,
            "delivery_reason, ",
            $p,
            "raw"
        )
    };
}
pub(super) use columns;

/// How many columns that is.
pub(super) const WIDTH: usize = 15;

/// The number of a state. `< 2` is pending.
pub(super) const fn status_number(state: &AskState) -> i64 {
    match state {
        AskState::Pending(Reach::Live) => 0,
        AskState::Pending(Reach::Parked) => 1,
        AskState::Resolved { outcome, .. } => outcome_number(outcome.decision.status()),
    }
}

pub(super) const fn outcome_number(status: OutcomeStatus) -> i64 {
    match status {
        OutcomeStatus::Answered => 2,
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

pub(super) const fn delivery_number(delivery: &Delivery) -> i64 {
    match delivery {
        Delivery::Queued => 0,
        Delivery::Delivered => 1,
        Delivery::Confirmed => 2,
        Delivery::Undeliverable { .. } => 3,
    }
}

/// Reads an ask from columns that begin at `at`.
pub(super) fn read(row: &Row<'_>, at: usize) -> Result<Ask, StoreError> {
    let text = |offset: usize| -> Result<&str, StoreError> {
        row.get_ref(at + offset)?.as_str().map_err(|error| StoreError::Unreadable { what: "ask", detail: error.to_string() })
    };
    let status: i64 = column(row, at + 5)?;
    let state = match status {
        0 => AskState::Pending(Reach::Live),
        1 => AskState::Pending(Reach::Parked),
        _ => {
            let outcome: Outcome = json("outcome", text(11)?)?;
            let delivery = match column(row, at + 12)? {
                0_i64 => Delivery::Queued,
                1 => Delivery::Delivered,
                2 => Delivery::Confirmed,
                _ => Delivery::Undeliverable { reason: column::<Option<String>>(row, at + 13)?.unwrap_or_default() },
            };
            AskState::Resolved { outcome, delivery }
        }
    };
    let raw: Option<String> = column(row, at + 14)?;
    Ok(Ask {
        id: AskId::from_bytes(column(row, at)?),
        origin: Origin {
            session: column::<Option<[u8; 16]>>(row, at + 1)?.map(SessionId::from_bytes),
            connection: column::<Option<[u8; 16]>>(row, at + 2)?.map(ConnectionId::from_bytes),
            native_id: column(row, at + 3)?,
            opened_by: column::<Option<[u8; 16]>>(row, at + 4)?.map(TokenId::from_bytes),
        },
        body: json::<AskBody>("ask body", text(8)?)?.into(),
        context: json::<AskContext>("ask context", text(9)?)?.into(),
        policy: json("policy note", text(10)?)?,
        opened_at: Time::from_millis(column(row, at + 6)?),
        snoozed_until: column::<Option<i64>>(row, at + 7)?.map(Time::from_millis),
        state,
        raw: raw
            .map(Raw::parse)
            .transpose()
            .map_err(|error| StoreError::Unreadable { what: "raw payload", detail: error.to_string() })?,
    })
}

/// Writes a new ask whose event will have this place.
pub(super) fn insert(db: &Connection, workspace: WorkspaceId, ask: &Ask, seq: i64) -> Result<(), StoreError> {
    let owner = ask.origin.connection.map(|id| *id.as_bytes()).or_else(|| ask.origin.opened_by.map(|id| *id.as_bytes()));
    let (outcome, delivery, reason) = match &ask.state {
        AskState::Pending(_) => (None, 0, None),
        AskState::Resolved { outcome, delivery } => (
            Some(to_json("outcome", outcome)?),
            delivery_number(delivery),
            match delivery {
                Delivery::Undeliverable { reason } => Some(reason.as_str()),
                Delivery::Queued | Delivery::Delivered | Delivery::Confirmed => None,
            },
        ),
    };
    db.prepare_cached(
        "INSERT INTO ask (id, workspace, session, connection, owner, native_id, opened_by, kind, status, seq, opened_ms, deadline_ms,
                          snoozed_ms, body, context, policy, outcome, delivery, delivery_reason, raw)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
    )?
    .execute(params![
        ask.id.as_bytes(),
        workspace.0,
        ask.origin.session.as_ref().map(SessionId::as_bytes),
        ask.origin.connection.as_ref().map(ConnectionId::as_bytes),
        owner,
        ask.origin.native_id,
        ask.origin.opened_by.as_ref().map(TokenId::as_bytes),
        kind_number(ask.kind()),
        status_number(&ask.state),
        seq,
        ask.opened_at.as_millis(),
        ask.policy.deadline.map(|deadline| deadline.at.as_millis()),
        ask.snoozed_until.map(Time::as_millis),
        to_json("ask body", &*ask.body)?,
        to_json("ask context", &*ask.context)?,
        to_json("policy note", &ask.policy)?,
        outcome,
        delivery,
        reason,
        ask.raw.as_ref().map(Raw::as_str),
    ])?;
    Ok(())
}

/// One ask of a workspace.
pub(super) fn get(db: &Connection, workspace: WorkspaceId, id: AskId) -> Result<Option<Ask>, StoreError> {
    db.prepare_cached(concat!("SELECT ", columns!(""), " FROM ask WHERE id = ?1 AND workspace = ?2"))?
        .query_row(params![id.as_bytes(), workspace.0], |row| Ok(read(row, 0)))
        .optional()?
        .transpose()
}

/// The pending ask of a connection with this request id.
pub(super) fn pending_by_native(db: &Connection, owner: &[u8; 16], native_id: &str) -> Result<Option<Ask>, StoreError> {
    db.prepare_cached(concat!("SELECT ", columns!(""), " FROM ask WHERE owner = ?1 AND native_id = ?2 AND status < 2"))?
        .query_row(params![owner, native_id], |row| Ok(read(row, 0)))
        .optional()?
        .transpose()
}

/// The pending asks of a session, oldest first.
pub(super) fn pending_of(db: &Connection, session: SessionId) -> Result<Vec<Ask>, StoreError> {
    let mut statement =
        db.prepare_cached(concat!("SELECT ", columns!(""), " FROM ask WHERE session = ?1 AND status < 2 ORDER BY n"))?;
    let mut rows = statement.query([session.as_bytes()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row, 0)?);
    }
    Ok(found)
}

/// Stores what changes about an ask after it was opened.
pub(super) fn update_state(db: &Connection, ask: &Ask) -> Result<(), StoreError> {
    let (outcome, delivery, reason) = match &ask.state {
        AskState::Pending(_) => (None, 0, None),
        AskState::Resolved { outcome, delivery } => (
            Some(to_json("outcome", outcome)?),
            delivery_number(delivery),
            match delivery {
                Delivery::Undeliverable { reason } => Some(reason.as_str()),
                Delivery::Queued | Delivery::Delivered | Delivery::Confirmed => None,
            },
        ),
    };
    db.prepare_cached("UPDATE ask SET status = ?2, outcome = ?3, delivery = ?4, delivery_reason = ?5 WHERE id = ?1")?
        .execute(params![ask.id.as_bytes(), status_number(&ask.state), outcome, delivery, reason])?;
    Ok(())
}

/// Whether this scope sees the ask.
pub(super) fn visible(ask: &Ask, scope: &Scope) -> bool {
    scope.sees(Visible { session: ask.origin.session, labels: &ask.context.labels, opened_by: ask.origin.opened_by })
}

/// The answers of a secret ask, in clear.
pub(super) fn secret(db: &Connection, id: AskId) -> Result<Option<sayso_core::ask::Answers>, StoreError> {
    let text: Option<String> = db
        .prepare_cached("SELECT answers FROM secret WHERE ask = ?1")?
        .query_row([id.as_bytes()], |row| row.get(0))
        .optional()?;
    text.map(|text| json("secret", &text)).transpose()
}
