//! Byte quotas: how much text one token and one session may have stored.
//!
//! A quota refills as time passes, so an agent that is refused can try again later. Without quotas one `agent` token
//! fills the disk with asks that are each below their own limits.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sayso_api::token::Role;
use sayso_core::id::{SessionId, TokenId};
use sayso_core::time::Time;

use super::ServiceError;
use crate::auth::Caller;
use crate::auth::rate::RateLimit;

/// KiB that can be stored at once.
const BURST_KIB: u32 = 32 * 1024;
/// How long it takes until one more KiB can be stored: 16 KiB a second.
const KIB_EVERY: Duration = Duration::from_micros(62_500);

/// The quota for the asks of one kind of asker.
#[derive(Debug)]
pub(crate) struct ByteQuota<K>(RateLimit<K>);

impl<K: Eq + std::hash::Hash> Default for ByteQuota<K> {
    fn default() -> Self {
        Self(RateLimit::new(BURST_KIB, KIB_EVERY))
    }
}

/// Every row costs one KiB at least: small ones have keys and events too.
fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).max(1)
}

impl<K: Eq + std::hash::Hash> ByteQuota<K> {
    /// Whether so many bytes may be stored. They are counted if they may.
    pub(crate) fn take(&mut self, key: K, bytes: usize, now: Time) -> bool {
        self.0.allow_many(key, kib(bytes), now)
    }

    fn give_back(&mut self, key: &K, bytes: usize) {
        self.0.give_back(key, kib(bytes));
    }
}

/// The quotas of `agent` tokens and of the sessions that they ask in. Other tokens belong to people.
#[derive(Debug, Default)]
pub(crate) struct ByteQuotas {
    tokens: Mutex<ByteQuota<TokenId>>,
    sessions: Mutex<ByteQuota<SessionId>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ByteQuotas {
    /// Counts what a caller is about to store.
    pub(crate) fn take(&self, caller: &Caller, session: Option<SessionId>, bytes: usize, now: Time) -> Result<(), ServiceError> {
        if caller.role != Role::Agent {
            return Ok(());
        }
        if !locked(&self.tokens).take(caller.token, bytes, now) {
            return Err(ServiceError::ByteQuota);
        }
        if let Some(session) = session
            && !locked(&self.sessions).take(session, bytes, now)
        {
            locked(&self.tokens).give_back(&caller.token, bytes);
            return Err(ServiceError::ByteQuota);
        }
        Ok(())
    }

    /// Takes back what was counted and is not stored after all.
    pub(crate) fn give_back(&self, caller: &Caller, session: Option<SessionId>, bytes: usize) {
        locked(&self.tokens).give_back(&caller.token, bytes);
        if let Some(session) = session {
            locked(&self.sessions).give_back(&session, bytes);
        }
    }
}
