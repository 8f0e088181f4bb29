//! Bearer tokens. Only their hashes are known here and on disk.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, RwLock};

use sayso_api::token::{Role, Token};
use sayso_core::id::TokenId;
use sayso_core::scope::Scope;
use sayso_core::time::Time;
use sayso_store::WorkspaceId;
use sayso_store::ops::TokenRow;
use sha2::{Digest, Sha256};

use super::role::{Permission, role_of};

/// Every secret starts with this, so that scanners recognise a leaked one.
pub(crate) const SECRET_PREFIX: &str = "sayso_";

/// The hash that is stored of a secret. Secrets are 32 random bytes, so a plain hash is enough, and
/// looking one up by its hash leaks nothing about others.
pub(crate) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// Who calls.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) token: TokenId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) role: Role,
    pub(crate) name: String,
    pub(crate) scope: Scope,
    expires_at: Option<Time>,
    revoked: Arc<AtomicBool>,
    /// When it was last used, in milliseconds; 0: not since the server started.
    used: Arc<AtomicI64>,
}

impl Caller {
    /// Whether the token is still good: also for what it opened earlier.
    pub(crate) fn is_valid(&self, now: Time) -> bool {
        !self.revoked.load(Ordering::Relaxed) && self.expires_at.is_none_or(|end| now < end)
    }
}

/// The tokens that are valid, by hash. Filled at start; every change passes through here.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    by_hash: RwLock<HashMap<[u8; 32], Arc<Caller>>>,
}

impl Tokens {
    /// Takes a token in, or out if it is revoked.
    pub(crate) fn put(&self, row: &TokenRow) {
        let mut tokens = self.by_hash.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        if row.revoked_at.is_some() {
            if let Some(caller) = tokens.remove(&row.hash) {
                caller.revoked.store(true, Ordering::Relaxed);
            }
            return;
        }
        let role = role_of(&row.role);
        let scope = match role {
            // An agent sees what it opened and nothing else, whatever its token says.
            Role::Agent => Scope::OpenedBy { token: row.id },
            Role::Admin | Role::Answerer | Role::Viewer => row.scope.clone(),
        };
        let caller = Caller {
            token: row.id,
            workspace: row.workspace,
            role,
            name: row.actor.clone(),
            scope,
            expires_at: row.expires_at,
            revoked: Arc::default(),
            used: Arc::default(),
        };
        tokens.insert(row.hash, Arc::new(caller));
    }

    /// Who this secret belongs to, if it is valid now.
    pub(crate) fn find(&self, secret: &str, now: Time) -> Option<Arc<Caller>> {
        let hash = hash(secret);
        let found = self.by_hash.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(&hash).cloned();
        found.filter(|caller| caller.is_valid(now)).inspect(|caller| caller.used.store(now.as_millis(), Ordering::Relaxed))
    }

    /// The token of this id, if it is valid now.
    pub(crate) fn by_id(&self, id: TokenId, now: Time) -> Option<Arc<Caller>> {
        let tokens = self.by_hash.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        tokens.values().find(|caller| caller.token == id && caller.is_valid(now)).cloned()
    }

    /// The names of all who may do this now, each once.
    pub(crate) fn names(&self, permission: Permission, now: Time) -> Vec<String> {
        let tokens = self.by_hash.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let may = |caller: &&Arc<Caller>| caller.is_valid(now) && permission.granted_to(caller.role);
        let names: BTreeSet<String> = tokens.values().filter(may).map(|caller| caller.name.clone()).collect();
        names.into_iter().collect()
    }

    /// The token as clients see it.
    pub(crate) fn shown(&self, row: &TokenRow) -> Token {
        let tokens = self.by_hash.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let used = tokens.get(&row.hash).map_or(0, |caller| caller.used.load(Ordering::Relaxed));
        api_token(row, Some(used).filter(|used| *used > 0).map(Time::from_millis))
    }
}

fn api_token(row: &TokenRow, last_used_at: Option<Time>) -> Token {
    let (session_id, labels) = match &row.scope {
        Scope::All | Scope::OpenedBy { .. } => (None, Default::default()),
        Scope::Session { session } => (Some(session.to_string()), Default::default()),
        Scope::Labels { labels } => (None, labels.clone()),
    };
    Token {
        id: row.id.to_string(),
        role: role_of(&row.role),
        actor: row.actor.clone(),
        device: row.device.clone(),
        session_id,
        labels,
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at,
    }
}
