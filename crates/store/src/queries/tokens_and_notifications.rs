//! Queries of tokens, stored policy, notifications and push subscriptions.

use sayso_core::id::{AskId, GrantId, TokenId};
use sayso_core::time::Time;

use crate::columns::decode::{self, raw};
use crate::columns::numbers::is_pending;
use crate::columns::value::{Columns, column, params};
use crate::error::StoreError;
use crate::ops::notifications::{NotificationRow, NotificationState};
use crate::ops::push_subscriptions::PushSubscriptionRow;
use crate::ops::tokens::TokenRow;
use crate::read::{
    GetNotification, ListPushSubscriptions, ListTokens, Query, ReadNotifications, ReadStoredPolicy, StoredNotifications,
    StoredPolicy,
};
use crate::snapshot::{Snapshot, all, one};

impl Query for ListTokens {
    type Found = Vec<TokenRow>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let sql = format!("SELECT {} FROM token ORDER BY created_ms DESC, id DESC", decode::TOKEN);
        all(db, &sql, &[], decode::token)
    }
}

impl Query for ReadStoredPolicy {
    type Found = StoredPolicy;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let space = params![self.workspace.0];
        let grants = all(db, "SELECT id, until_ms, data FROM grant_rule WHERE workspace = ?1 ORDER BY id", space, |row| {
            let until = column::<Option<i64>>(row, 1)?.map(Time::from_millis);
            Ok((GrantId::from_bytes(column(row, 0)?), until, raw("grant", column(row, 2)?)?))
        })?;
        let settings = all(db, "SELECT key, value FROM setting WHERE workspace = ?1 ORDER BY key", space, |row| {
            Ok((column(row, 0)?, raw("setting", column(row, 1)?)?))
        })?;
        let trusted = all(db, "SELECT path, hash FROM trust WHERE workspace = ?1 ORDER BY path", space, |row| {
            Ok((column(row, 0)?, column(row, 1)?))
        })?;
        Ok(StoredPolicy { grants, settings, trusted })
    }
}

fn note(row: &dyn Columns) -> Result<NotificationRow, StoreError> {
    let state = match column::<i64>(row, 2)? {
        0 => NotificationState::Again(Time::from_millis(column(row, 4)?)),
        1 => NotificationState::Told,
        _ => NotificationState::GivenUp,
    };
    Ok(NotificationRow {
        ask: AskId::from_bytes(column(row, 0)?),
        channel: column(row, 1)?,
        state,
        attempts: column(row, 3)?,
        message: column(row, 5)?,
    })
}

impl Query for ReadNotifications {
    type Found = StoredNotifications;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let space = params![self.workspace.0];
        let pending = concat!("SELECT id, opened_ms FROM ask WHERE workspace = ?1 AND ", is_pending!(), " ORDER BY seq");
        let pending =
            all(db, pending, space, |row| Ok((AskId::from_bytes(column(row, 0)?), Time::from_millis(column(row, 1)?))))?;
        let sql = "SELECT ask, channel, state, attempts, due_ms, message FROM note WHERE workspace = ?1";
        Ok(StoredNotifications { pending, notes: all(db, sql, space, note)? })
    }
}

impl Query for GetNotification {
    type Found = Option<NotificationRow>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let sql = "SELECT ask, channel, state, attempts, due_ms, message FROM note
            WHERE workspace = ?1 AND ask = ?2 AND channel = ?3";
        one(db, sql, params![self.workspace.0, self.ask.as_bytes(), self.channel], note)
    }
}

impl Query for ListPushSubscriptions {
    type Found = Vec<PushSubscriptionRow>;
    fn run(self, db: &dyn Snapshot) -> Result<Self::Found, StoreError> {
        let sql = "SELECT token, endpoint, public_key, auth FROM push WHERE workspace = ?1";
        all(db, sql, params![self.workspace.0], |row| {
            Ok(PushSubscriptionRow {
                token: TokenId::from_bytes(column(row, 0)?),
                endpoint: column(row, 1)?,
                public_key: column(row, 2)?,
                auth: column(row, 3)?,
            })
        })
    }
}
