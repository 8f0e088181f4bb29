//! Bearer tokens. The server stores and keeps only their hashes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use sayso_api::token::{Role, Token};
use sayso_core::id::TokenId;
use sayso_core::scope::{AskerIdentity, Scope};
use sayso_core::time::Time;
use sayso_store::WorkspaceId;
use sayso_store::ops::TokenRow;
use sha2::{Digest, Sha256};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::role::{Permission, role_of};

/// The prefix of every secret, which lets scanners recognize a leaked one.
pub(crate) const SECRET_PREFIX: &str = "sayso_";

/// Hashes a secret for storage. Secrets are 32 random bytes, so an unsalted hash is enough, and a lookup by hash reveals
/// nothing about other secrets.
pub(crate) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// An authenticated caller.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) token: TokenId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) role: Role,
    pub(crate) name: String,
    pub(crate) scope: Scope,
    /// What an agent with this token may claim about itself.
    pub(crate) identity: AskerIdentity,
    expires_at: Option<Time>,
    revoked: CancellationToken,
    /// When the token was last used, in milliseconds; 0 if not since the server started.
    used: Arc<AtomicI64>,
}

impl Caller {
    /// Returns whether the token is still valid. Streams check this repeatedly.
    pub(crate) fn is_valid(&self, now: Time) -> bool {
        !self.revoked.is_cancelled() && self.expires_at.is_none_or(|end| now < end)
    }

    /// Completes when the token is revoked.
    pub(crate) fn revoked(&self) -> WaitForCancellationFutureOwned {
        self.revoked.clone().cancelled_owned()
    }

    /// How long the token is still valid unless it is revoked. `None` if it does not expire.
    pub(crate) fn valid_for(&self, now: Time) -> Option<Duration> {
        self.expires_at.map(|end| end.since(now))
    }
}

/// The valid tokens by hash. Loaded at start; every change goes through this type.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    by_hash: RwLock<HashMap<[u8; 32], Arc<Caller>>>,
}

impl Tokens {
    /// Adds a token, or removes it if it is revoked.
    pub(crate) fn put(&self, row: &TokenRow) {
        let mut tokens = self.by_hash.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if row.revoked_at.is_some() {
            if let Some(caller) = tokens.remove(&row.hash) {
                caller.revoked.cancel();
            }
            return;
        }
        let role = role_of(&row.role);
        let scope = match role {
            // An agent can see only what it opened, whatever the stored scope says.
            Role::Agent => Scope::OpenedBy { token: row.id },
            Role::Admin | Role::Answerer | Role::Viewer => row.scope.clone(),
        };
        let identity = match (role, &row.scope) {
            (Role::Agent, Scope::Asker { identity }) => identity.clone(),
            (Role::Agent, Scope::Labels { labels }) => AskerIdentity { labels: labels.clone(), ..AskerIdentity::default() },
            _ => AskerIdentity::default(),
        };
        let caller = Caller {
            token: row.id,
            workspace: row.workspace,
            role,
            name: row.actor.clone(),
            scope,
            identity,
            expires_at: row.expires_at,
            // Requests that hold an earlier copy of this caller share its revocation.
            revoked: tokens.get(&row.hash).map(|known| known.revoked.clone()).unwrap_or_default(),
            used: Arc::default(),
        };
        tokens.insert(row.hash, Arc::new(caller));
    }

    /// Returns the caller with this secret, if its token is valid now.
    pub(crate) fn find(&self, secret: &str, now: Time) -> Option<Arc<Caller>> {
        let hash = hash(secret);
        let found = self.by_hash.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(&hash).cloned();
        found.filter(|caller| caller.is_valid(now)).inspect(|caller| caller.used.store(now.as_millis(), Ordering::Relaxed))
    }

    /// Returns the caller with this token id, if the token is valid now.
    pub(crate) fn by_id(&self, id: TokenId, now: Time) -> Option<Arc<Caller>> {
        let tokens = self.by_hash.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        tokens.values().find(|caller| caller.token == id && caller.is_valid(now)).cloned()
    }

    /// Returns all callers that have this permission now.
    pub(crate) fn with(&self, permission: Permission, now: Time) -> Vec<Arc<Caller>> {
        let tokens = self.by_hash.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let may = |caller: &&Arc<Caller>| caller.is_valid(now) && permission.granted_to(caller.role);
        tokens.values().filter(may).cloned().collect()
    }

    /// Converts the token for clients.
    pub(crate) fn to_api(&self, row: &TokenRow) -> Token {
        let tokens = self.by_hash.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let used = tokens.get(&row.hash).map_or(0, |caller| caller.used.load(Ordering::Relaxed));
        api_token(row, Some(used).filter(|used| *used > 0).map(Time::from_millis))
    }
}

fn api_token(row: &TokenRow, last_used_at: Option<Time>) -> Token {
    let (session_id, identity) = match &row.scope {
        Scope::All | Scope::OpenedBy { .. } => (None, AskerIdentity::default()),
        Scope::Session { session } => (Some(session.to_string()), AskerIdentity::default()),
        Scope::Labels { labels } => (None, AskerIdentity { labels: labels.clone(), ..AskerIdentity::default() }),
        Scope::Asker { identity } => (None, identity.clone()),
    };
    let AskerIdentity { agent, project, labels } = identity;
    Token {
        id: row.id.to_string(),
        role: role_of(&row.role),
        actor: row.actor.clone(),
        device: row.device.clone(),
        session_id,
        labels,
        agent,
        project,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at,
    }
}
