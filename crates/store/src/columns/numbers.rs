//! The numbers of kinds and states in columns, and the conditions of queries that use them. Databases contain these numbers, so
//! never change one.

use sayso_core::ask::{AskKind, AskState, Delivery, OutcomeStatus, Reach};
use sayso_core::connection::ConnectionKind;

/// Asks with a smaller status number are pending. The partial indexes of the schema use the same number.
pub(crate) const FIRST_OUTCOME: i64 = 2;

/// The condition that an ask is pending. A literal, because SQLite uses partial indexes only for literals, not for parameters.
macro_rules! is_pending {
    () => {
        is_pending!("")
    };
    ($table:literal) => {
        concat!($table, "status < 2")
    };
}
pub(crate) use is_pending;

/// The condition that an ask is resolved.
macro_rules! is_resolved {
    () => {
        "status >= 2"
    };
}
pub(crate) use is_resolved;

/// The condition that a caller has not collected the outcome of an ask. The partial index has the same condition.
macro_rules! is_uncollected {
    () => {
        is_uncollected!("")
    };
    ($table:literal) => {
        concat!(
            $table,
            "status >= 2 AND ",
            $table,
            "delivery = 0 AND ",
            $table,
            "connection IS NULL AND ",
            $table,
            "native_id IS NOT NULL"
        )
    };
}
pub(crate) use is_uncollected;

/// The condition that a connection leads to an agent server that Sayso did not start.
macro_rules! is_attached {
    () => {
        "kind = 2"
    };
}
pub(crate) use is_attached;

pub(crate) const fn status_number(state: &AskState) -> i64 {
    match state {
        AskState::Pending(Reach::Live) => 0,
        AskState::Pending(Reach::Parked) => 1,
        AskState::Resolved { outcome, .. } => outcome_number(outcome.decision.status()),
    }
}

pub(crate) const fn outcome_number(status: OutcomeStatus) -> i64 {
    match status {
        OutcomeStatus::Answered => FIRST_OUTCOME,
        OutcomeStatus::Rejected => 3,
        OutcomeStatus::Approved => 4,
        OutcomeStatus::Denied => 5,
        OutcomeStatus::Withdrawn => 6,
    }
}

pub(crate) const fn kind_number(kind: AskKind) -> i64 {
    match kind {
        AskKind::Question => 0,
        AskKind::Approval => 1,
        AskKind::Link => 2,
    }
}

pub(crate) const DELIVERY_QUEUED: i64 = 0;
pub(crate) const DELIVERY_WITHHELD: i64 = 4;

pub(crate) const fn delivery_number(delivery: &Delivery) -> i64 {
    match delivery {
        Delivery::Queued => DELIVERY_QUEUED,
        Delivery::Delivered => 1,
        Delivery::Confirmed => 2,
        Delivery::Undeliverable { .. } => 3,
        Delivery::Withheld => DELIVERY_WITHHELD,
    }
}

pub(crate) const ATTACHED: i64 = 2;

pub(crate) const fn connection_number(kind: ConnectionKind) -> i64 {
    match kind {
        ConnectionKind::InProcess => 0,
        ConnectionKind::Supervised => 1,
        ConnectionKind::Attached => ATTACHED,
        ConnectionKind::Caller => 3,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutboxKind {
    Outcome = 0,
    FollowUp = 1,
    Command = 2,
    Send = 3,
    SendSecret = 4,
}
