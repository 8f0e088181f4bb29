//! Browsers that want to be woken.

use rusqlite::{Connection as Sqlite, params};
use sayso_core::id::TokenId;

use super::column;
use super::tx::Tx;
use crate::error::StoreError;
use crate::read::{AllPushes, Query};
use crate::write::{DropPush, Operation, PushRow, PutPush};

impl Query for AllPushes {
    type Output = Vec<PushRow>;

    fn run(self, db: &Sqlite) -> Result<Vec<PushRow>, StoreError> {
        let mut statement = db.prepare_cached("SELECT token, endpoint, public_key, auth FROM push WHERE workspace = ?1")?;
        let mut rows = statement.query([self.workspace.0])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(PushRow {
                token: TokenId::from_bytes(column(row, 0)?),
                endpoint: column(row, 1)?,
                public_key: column(row, 2)?,
                auth: column(row, 3)?,
            });
        }
        Ok(found)
    }
}

impl Operation for PutPush {
    type Output = ();

    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let PushRow { token, endpoint, public_key, auth } = self.push;
        tx.db()
            .prepare_cached(
                "INSERT OR REPLACE INTO push (token, workspace, endpoint, public_key, auth) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![token.as_bytes(), self.workspace.0, endpoint, public_key, auth])?;
        Ok(())
    }
}

impl Operation for DropPush {
    type Output = ();

    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.db()
            .prepare_cached("DELETE FROM push WHERE token = ?1 AND workspace = ?2")?
            .execute(params![self.token.as_bytes(), self.workspace.0])?;
        Ok(())
    }
}
