//! Byte quotas limit how much text one token and one session can store.
//!
//! A quota refills over time, so a refused agent can retry later. Without quotas, one `agent` token could fill the disk with
//! asks that are each within their own limits.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sayso_api::token::Role;
use sayso_core::id::{SessionId, TokenId};
use sayso_core::time::Time;

use super::ServiceError;
use crate::auth::Caller;
use crate::auth::rate::RateLimit;

/// Size of a full quota, in KiB.
const BURST_KIB: u32 = 32 * 1024;
/// Refill interval for one KiB: 16 KiB per second.
const KIB_EVERY: Duration = Duration::from_micros(62_500);

/// The quota for the asks of one kind of asker.
#[derive(Debug)]
pub(crate) struct ByteQuota<K>(RateLimit<K>);

impl<K: Eq + std::hash::Hash> Default for ByteQuota<K> {
    fn default() -> Self {
        Self(RateLimit::new(BURST_KIB, KIB_EVERY))
    }
}

/// Converts bytes to KiB. Each row costs at least one KiB, because it also has keys and events.
fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX).max(1)
}

impl<K: Eq + std::hash::Hash> ByteQuota<K> {
    /// Spends this many bytes. Returns false, and spends nothing, if the quota is too low.
    pub(crate) fn try_spend(&mut self, key: K, bytes: usize, now: Time) -> bool {
        self.0.allow_many(key, kib(bytes), now)
    }

    fn refund(&mut self, key: &K, bytes: usize) {
        self.0.refund(key, kib(bytes));
    }
}

/// The quotas of `agent` tokens and of their sessions. Other tokens belong to people and have none.
#[derive(Debug, Default)]
pub(crate) struct ByteQuotas {
    tokens: Mutex<ByteQuota<TokenId>>,
    sessions: Mutex<ByteQuota<SessionId>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ByteQuotas {
    /// Spends bytes of the caller's quota before they are stored.
    pub(crate) fn spend(&self, caller: &Caller, session: Option<SessionId>, bytes: usize, now: Time) -> Result<(), ServiceError> {
        if caller.role != Role::Agent {
            return Ok(());
        }
        if !locked(&self.tokens).try_spend(caller.token, bytes, now) {
            return Err(ServiceError::ByteQuota);
        }
        if let Some(session) = session
            && !locked(&self.sessions).try_spend(session, bytes, now)
        {
            locked(&self.tokens).refund(&caller.token, bytes);
            return Err(ServiceError::ByteQuota);
        }
        Ok(())
    }

    /// Refunds bytes that were spent but not stored.
    pub(crate) fn refund(&self, caller: &Caller, session: Option<SessionId>, bytes: usize) {
        locked(&self.tokens).refund(&caller.token, bytes);
        if let Some(session) = session {
            locked(&self.sessions).refund(&session, bytes);
        }
    }
}
