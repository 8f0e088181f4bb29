//! Reads rows from columns.

use sayso_core::ask::{Ask, AskBody, AskContext, AskState, Delivery, Origin, Outcome, Reach};
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position, WirePosition};
use sayso_core::id::{AskId, ConnectionId, SessionId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::time::Time;

use super::numbers::{ATTACHED, DELIVERY_WITHHELD, FIRST_OUTCOME, OutboxKind};
use super::value::{Columns, column, text};
use crate::error::StoreError;
use crate::event::{OutboxId, WorkspaceId};
use crate::ops::tokens::TokenRow;
use crate::rows::{AskRow, OutboxBody, OutboxEntry};

/// The columns that [`ask`] reads, in its order. The parameter is the alias of the table.
macro_rules! ask_columns {
    ($alias:literal) => {
        concat!(
            $alias,
            "id, ",
            $alias,
            "seq, ",
            $alias,
            "session, ",
            $alias,
            "connection, ",
            $alias,
            "native_id, ",
            $alias,
            "opened_by, ",
            $alias,
            "opened_ms, ",
            $alias,
            "body, ",
            $alias,
            "context, ",
            $alias,
            "policy, ",
            $alias,
            "raw, ",
            $alias,
            "status, ",
            $alias,
            "snoozed_ms, ",
            $alias,
            "outcome, ",
            $alias,
            "delivery, ",
            $alias,
            "delivery_reason"
        )
    };
}
pub(crate) use ask_columns;

/// The number of columns that [`ask`] reads.
pub(crate) const ASK_WIDTH: usize = 16;

/// Parses JSON that this crate stored.
pub(crate) fn json<T: serde::de::DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Unreadable { what, detail: error.to_string() })
}

pub(crate) fn raw(what: &'static str, text: String) -> Result<Raw, StoreError> {
    Raw::parse(text).map_err(|error| StoreError::Unreadable { what, detail: error.to_string() })
}

/// Reads an ask from the columns that start at `at`.
pub(crate) fn ask(row: &dyn Columns, at: usize) -> Result<AskRow, StoreError> {
    let text = |offset: usize| text(row, at + offset);
    let status: i64 = column(row, at + 11)?;
    let state = match status {
        0 => AskState::Pending(Reach::Live),
        1 => AskState::Pending(Reach::Parked),
        FIRST_OUTCOME.. => {
            let outcome: Outcome = json("outcome", &text(13)?)?;
            let delivery = match column(row, at + 14)? {
                0_i64 => Delivery::Queued,
                1 => Delivery::Delivered,
                2 => Delivery::Confirmed,
                DELIVERY_WITHHELD => Delivery::Withheld,
                _ => Delivery::Undeliverable { reason: column::<Option<String>>(row, at + 15)?.unwrap_or_default() },
            };
            AskState::Resolved { outcome, delivery }
        }
        other => return Err(StoreError::Unreadable { what: "ask", detail: format!("status {other}") }),
    };
    let ask = Ask {
        id: AskId::from_bytes(column(row, at)?),
        origin: Origin {
            session: column::<Option<[u8; 16]>>(row, at + 2)?.map(SessionId::from_bytes),
            connection: column::<Option<[u8; 16]>>(row, at + 3)?.map(ConnectionId::from_bytes),
            native_id: column(row, at + 4)?,
            opened_by: column::<Option<[u8; 16]>>(row, at + 5)?.map(TokenId::from_bytes),
        },
        opened_at: Time::from_millis(column(row, at + 6)?),
        body: json::<AskBody>("ask body", &text(7)?)?.into(),
        context: json::<AskContext>("ask context", &text(8)?)?.into(),
        policy: json("policy note", &text(9)?)?,
        raw: column::<Option<String>>(row, at + 10)?.map(|text| raw("raw payload", text)).transpose()?,
        snoozed_until: column::<Option<i64>>(row, at + 12)?.map(Time::from_millis),
        state,
    };
    Ok(AskRow { ask: ask.into(), seq: column(row, at + 1)? })
}

/// The columns that [`connection`] reads.
pub(crate) const CONNECTION: &str = "id, kind, agent, epoch, position, wire, state, wake_ms";

pub(crate) fn connection(row: &dyn Columns) -> Result<Connection, StoreError> {
    let kind = match column(row, 1)? {
        0_i64 => ConnectionKind::InProcess,
        1 => ConnectionKind::Supervised,
        ATTACHED => ConnectionKind::Attached,
        3 => ConnectionKind::Caller,
        other => return Err(StoreError::Unreadable { what: "connection", detail: format!("kind {other}") }),
    };
    Ok(Connection {
        id: ConnectionId::from_bytes(column(row, 0)?),
        kind,
        agent: column(row, 2)?,
        epoch: Epoch(column(row, 3)?),
        position: Position(column(row, 4)?),
        process: column::<Option<i64>>(row, 5)?.map(|read| WirePosition(read.unsigned_abs())),
        state: column::<Option<String>>(row, 6)?.map(|text| raw("translator state", text)).transpose()?,
        wake_at: column::<Option<i64>>(row, 7)?.map(Time::from_millis),
    })
}

/// The columns that [`outbox`] reads.
pub(crate) const OUTBOX: &str = "id, connection, session, kind, ask, body, tried";

pub(crate) fn outbox(row: &dyn Columns) -> Result<(OutboxId, OutboxEntry), StoreError> {
    let unreadable = |detail: String| StoreError::Unreadable { what: "outbox", detail };
    let ask = column::<Option<[u8; 16]>>(row, 4)?.map(AskId::from_bytes);
    let body = column::<Option<String>>(row, 5)?.map(|text| raw("outbox", text)).transpose()?;
    let tried: bool = column(row, 6)?;
    let kind: i64 = column(row, 3)?;
    let body = match (kind, ask, body) {
        (kind, Some(ask), _) if kind == OutboxKind::Outcome as i64 => OutboxBody::Outcome { ask, follow_up: false },
        (kind, Some(ask), _) if kind == OutboxKind::FollowUp as i64 => OutboxBody::Outcome { ask, follow_up: true },
        (kind, _, Some(command)) if kind == OutboxKind::Command as i64 => OutboxBody::Command(command),
        (kind, ask, Some(message)) if kind == OutboxKind::Send as i64 => OutboxBody::Send { ask, message: Some(message), tried },
        (kind, ask, None) if kind == OutboxKind::SendSecret as i64 => OutboxBody::Send { ask, message: None, tried },
        (kind, _, _) => return Err(unreadable(format!("kind {kind}"))),
    };
    let connection = ConnectionId::from_bytes(column(row, 1)?);
    let session = SessionId::from_bytes(column(row, 2)?);
    Ok((OutboxId(column(row, 0)?), OutboxEntry { connection, session, body }))
}

/// The columns that [`token`] reads.
pub(crate) const TOKEN: &str = "id, workspace, hash, role, actor, scope, created_ms, expires_ms, revoked_ms, device";

pub(crate) fn token(row: &dyn Columns) -> Result<TokenRow, StoreError> {
    Ok(TokenRow {
        id: TokenId::from_bytes(column(row, 0)?),
        workspace: WorkspaceId(column(row, 1)?),
        hash: column(row, 2)?,
        role: column(row, 3)?,
        actor: column(row, 4)?,
        scope: json("scope", &column::<String>(row, 5)?)?,
        created_at: Time::from_millis(column(row, 6)?),
        expires_at: column::<Option<i64>>(row, 7)?.map(Time::from_millis),
        revoked_at: column::<Option<i64>>(row, 8)?.map(Time::from_millis),
        device: column(row, 9)?,
    })
}
