//! Tokens and login codes. Only hashes are stored.

use std::sync::Arc;

use sayso_core::id::TokenId;
use sayso_core::scope::Scope;
use sayso_core::time::Time;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, IdempotentResult, Operation, Read, Reads};
use crate::rows::LoginCodeRow;
use crate::unit::{EarlierCall, Unit};

/// A stored bearer token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    pub id: TokenId,
    pub workspace: WorkspaceId,
    /// The SHA-256 hash of the secret.
    pub hash: [u8; 32],
    pub role: String,
    /// The name of the person or program that uses it.
    pub actor: String,
    /// Set for tokens of browsers that signed in.
    pub device: Option<String>,
    pub scope: Scope,
    pub created_at: Time,
    pub expires_at: Option<Time>,
    pub revoked_at: Option<Time>,
}

/// Stores a token.
#[derive(Debug)]
pub struct CreateToken {
    pub token: TokenRow,
    pub key: Option<IdempotencyKey>,
}

impl Operation for CreateToken {
    type Output = IdempotentResult<TokenRow>;

    fn workspace(&self) -> WorkspaceId {
        self.token.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.key(self.key.as_ref());
        read_uniqueness(&self.token, reads);
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        if let Some(token) = unit.earlier_call_target(self.key.as_ref()) {
            reads.add(Read::Token(token));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        match unit.find_earlier_call(self.key.as_ref())? {
            EarlierCall::Fresh => {}
            EarlierCall::Other => return Ok(IdempotentResult::Reused),
            EarlierCall::Same(id) => {
                let made = id.parse().ok().map(|id| unit.tokens.get(&id)).transpose()?.flatten();
                return Ok(made.map_or(IdempotentResult::Reused, |token| IdempotentResult::Repeated(TokenRow::clone(token))));
            }
        }
        insert_token(unit, &self.token)?;
        unit.remember_call(self.key.as_ref(), self.token.id.to_string());
        Ok(IdempotentResult::Done(self.token.clone()))
    }
}

fn read_uniqueness(token: &TokenRow, reads: &mut Reads) {
    reads.add(Read::Token(token.id));
    reads.add(Read::TokenByHash(token.hash));
}

/// Adds a token under a new id and a new hash.
fn insert_token(unit: &mut Unit, token: &TokenRow) -> Result<(), StoreError> {
    if unit.has_token_hash(token.hash)? {
        return Err(StoreError::Duplicate { what: "token" });
    }
    unit.tokens.insert(token.id, Arc::new(token.clone()))
}

/// Revokes a token. Returns the token if it exists.
#[derive(Debug)]
pub struct RevokeToken {
    pub workspace: WorkspaceId,
    pub token: TokenId,
}

impl Operation for RevokeToken {
    type Output = Option<TokenRow>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Token(self.token));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(token) = unit.tokens.get(&self.token)? else { return Ok(None) };
        let revoked_at = token.revoked_at.or(Some(unit.now));
        let token = TokenRow { revoked_at, ..TokenRow::clone(token) };
        unit.tokens.put(self.token, Arc::new(token.clone()));
        Ok(Some(token))
    }
}

/// Stores a login code.
#[derive(Debug)]
pub struct CreateLoginCode {
    pub workspace: WorkspaceId,
    /// The SHA-256 hash of the code.
    pub hash: [u8; 32],
    /// The role of the token that the code is exchanged for.
    pub role: String,
    /// The actor of that token.
    pub actor: String,
    pub expires_at: Time,
}

impl Operation for CreateLoginCode {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::LoginCode(self.hash));
    }

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let row = LoginCodeRow { role: self.role.clone(), actor: self.actor.clone(), expires_at: self.expires_at };
        unit.login_codes.insert(self.hash, Arc::new(row))
    }
}

/// Exchanges a login code for a token, once.
#[derive(Debug)]
pub struct RedeemLoginCode {
    /// The SHA-256 hash of the code.
    pub code: [u8; 32],
    /// The token to create. Role and actor come from the code.
    pub token: TokenRow,
}

impl Operation for RedeemLoginCode {
    type Output = Option<TokenRow>;

    fn workspace(&self) -> WorkspaceId {
        self.token.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::LoginCode(self.code));
        read_uniqueness(&self.token, reads);
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(code) = unit.login_codes.get(&self.code)?.cloned() else { return Ok(None) };
        unit.login_codes.remove(self.code);
        if code.expires_at <= unit.now {
            return Ok(None);
        }
        let token = TokenRow { role: code.role.clone(), actor: code.actor.clone(), ..self.token.clone() };
        insert_token(unit, &token)?;
        Ok(Some(token))
    }
}
