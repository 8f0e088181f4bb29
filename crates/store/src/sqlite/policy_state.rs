//! Grants, settings, trusted projects, and what is announced about them.

use rusqlite::{Connection as Sqlite, params};
use sayso_core::id::GrantId;
use sayso_core::raw::Raw;
use sayso_core::time::Time;

use super::column;
use super::tx::{Earlier, Tx};
use crate::error::StoreError;
use crate::payload::EventPayload;
use crate::read::{PolicyState, Query, StoredPolicy};
use crate::write::{AddGrant, AnnouncePolicy, Once, Operation, PutSetting, RemoveGrant, TrustProject};

fn raw(text: String) -> Result<Raw, StoreError> {
    Raw::parse(text).map_err(|error| StoreError::Unreadable { what: "setting", detail: error.to_string() })
}

impl Query for PolicyState {
    type Output = StoredPolicy;
    fn run(self, db: &Sqlite) -> Result<StoredPolicy, StoreError> {
        let mut found = StoredPolicy::default();
        let mut statement = db.prepare_cached("SELECT id, until_ms, data FROM grant_rule WHERE workspace = ?1 ORDER BY id")?;
        let mut rows = statement.query([self.workspace.0])?;
        while let Some(row) = rows.next()? {
            let until = column::<Option<i64>>(row, 1)?.map(Time::from_millis);
            found.grants.push((GrantId::from_bytes(column(row, 0)?), until, raw(column(row, 2)?)?));
        }
        let mut statement = db.prepare_cached("SELECT key, value FROM setting WHERE workspace = ?1 ORDER BY key")?;
        let mut rows = statement.query([self.workspace.0])?;
        while let Some(row) = rows.next()? {
            found.settings.push((column(row, 0)?, raw(column(row, 1)?)?));
        }
        let mut statement = db.prepare_cached("SELECT path, hash FROM trust WHERE workspace = ?1 ORDER BY path")?;
        let mut rows = statement.query([self.workspace.0])?;
        while let Some(row) = rows.next()? {
            found.trusted.push((column(row, 0)?, column(row, 1)?));
        }
        Ok(found)
    }
}

impl Operation for AddGrant {
    /// The id of the grant: this one, or the one that the same call made before.
    type Output = Once<GrantId>;
    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        match tx.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Other => return Ok(Once::Reused),
            Earlier::Same(id) => return Ok(id.parse().map_or(Once::Reused, Once::Before)),
        }
        tx.db()
            .prepare_cached("INSERT INTO grant_rule (id, workspace, until_ms, data) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![self.id.as_bytes(), self.workspace.0, self.until.map(Time::as_millis), self.data.as_str()])?;
        tx.remember(self.key.as_ref(), &self.id.to_string(), self.now)?;
        Ok(Once::Done(self.id))
    }
}

impl Operation for RemoveGrant {
    /// Whether there was one.
    type Output = bool;
    fn apply(self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let removed = tx
            .db()
            .prepare_cached("DELETE FROM grant_rule WHERE id = ?1 AND workspace = ?2")?
            .execute(params![self.id.as_bytes(), self.workspace.0])?;
        Ok(removed > 0)
    }
}

impl Operation for PutSetting {
    type Output = ();
    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        match self.value {
            Some(value) => tx
                .db()
                .prepare_cached("INSERT OR REPLACE INTO setting (workspace, key, value) VALUES (?1, ?2, ?3)")?
                .execute(params![self.workspace.0, self.key, value.as_str()])?,
            None => tx
                .db()
                .prepare_cached("DELETE FROM setting WHERE workspace = ?1 AND key = ?2")?
                .execute(params![self.workspace.0, self.key])?,
        };
        Ok(())
    }
}

impl Operation for TrustProject {
    type Output = ();
    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.db()
            .prepare_cached("INSERT OR REPLACE INTO trust (workspace, path, hash, at_ms) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![self.workspace.0, self.path, self.hash, self.now.as_millis()])?;
        Ok(())
    }
}

impl Operation for AnnouncePolicy {
    type Output = ();
    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.event(self.now, None, EventPayload::PolicyChanged { fingerprint: self.fingerprint, valid: self.valid })
    }
}
