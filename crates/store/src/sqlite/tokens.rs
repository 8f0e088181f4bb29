//! Tokens and login codes, stored as hashes.

use rusqlite::{Connection as Sqlite, OptionalExtension, Row, params};
use sayso_core::id::TokenId;
use sayso_core::time::Time;

use super::tx::{Earlier, Tx};
use super::{column, json, to_json};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::write::{CreateLoginCode, CreateToken, Once, Operation, RedeemLoginCode, RevokeToken, TokenRow};

const COLUMNS: &str = "id, workspace, hash, role, actor, scope, created_ms, expires_ms, revoked_ms, device";

fn read(row: &Row<'_>) -> Result<TokenRow, StoreError> {
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

/// Every token, newest first.
pub(crate) fn all_tokens(db: &Sqlite) -> Result<Vec<TokenRow>, StoreError> {
    let mut statement = db.prepare_cached(&format!("SELECT {COLUMNS} FROM token ORDER BY created_ms DESC, id DESC"))?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn insert(tx: &Tx<'_>, token: &TokenRow) -> Result<(), StoreError> {
    tx.db().prepare_cached(&format!("INSERT INTO token ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"))?.execute(
        params![
            token.id.as_bytes(),
            token.workspace.0,
            token.hash,
            token.role,
            token.actor,
            to_json("scope", &token.scope)?,
            token.created_at.as_millis(),
            token.expires_at.map(Time::as_millis),
            token.revoked_at.map(Time::as_millis),
            token.device,
        ],
    )?;
    Ok(())
}

impl Operation for CreateToken {
    type Output = Once<TokenRow>;
    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        match tx.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Other => return Ok(Once::Reused),
            Earlier::Same(id) => {
                let made = all_tokens(tx.db())?.into_iter().find(|token| token.id.to_string() == id);
                return Ok(made.map_or(Once::Reused, Once::Before));
            }
        }
        insert(tx, &self.token)?;
        tx.remember(self.key.as_ref(), &self.token.id.to_string(), self.token.created_at)?;
        Ok(Once::Done(self.token))
    }
}

impl Operation for RevokeToken {
    type Output = Option<TokenRow>;
    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        tx.db()
            .prepare_cached(&format!(
                "UPDATE token SET revoked_ms = coalesce(revoked_ms, ?3) WHERE id = ?1 AND workspace = ?2 RETURNING {COLUMNS}"
            ))?
            .query_row(params![self.token.as_bytes(), self.workspace.0, self.now.as_millis()], |row| Ok(read(row)))
            .optional()?
            .transpose()
    }
}

impl Operation for CreateLoginCode {
    type Output = ();
    fn apply(self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.db()
            .prepare_cached("INSERT INTO login_code (hash, workspace, role, actor, expires_ms) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![self.hash, self.workspace.0, self.role, self.actor, self.expires_at.as_millis()])?;
        Ok(())
    }
}

impl Operation for RedeemLoginCode {
    type Output = Option<TokenRow>;
    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let code: Option<(i64, String, String, i64)> = tx
            .db()
            .prepare_cached("DELETE FROM login_code WHERE hash = ?1 RETURNING workspace, role, actor, expires_ms")?
            .query_row([self.code], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .optional()?;
        let Some((workspace, role, actor, expires)) = code else { return Ok(None) };
        if expires <= self.now.as_millis() {
            return Ok(None);
        }
        let token = TokenRow { workspace: WorkspaceId(workspace), role, actor, ..self.token };
        insert(tx, &token)?;
        Ok(Some(token))
    }
}
