//! What was acknowledged, on the clients' side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many problems are told in words.
const TOLD: usize = 20;

/// Everything that somebody was told, and everything that should not have been said.
#[derive(Debug, Default)]
pub(crate) struct ChaosJournal {
    inner: Mutex<ChaosRecords>,
}

/// The contents, to be compared at the end.
#[derive(Debug, Default)]
pub(crate) struct ChaosRecords {
    /// Asks that callers opened (201).
    pub(crate) opened: BTreeSet<String>,
    /// Asks that anybody saw in a list or in the stream.
    pub(crate) seen: BTreeSet<String>,
    /// Answers that were acknowledged (200), by ask. More than one is one too many.
    pub(crate) answered: BTreeMap<String, BTreeSet<String>>,
    /// Winners that losers were told of (409), by ask: the name and the moment.
    pub(crate) winners: BTreeMap<String, BTreeSet<String>>,
    /// What callers got as the outcome of their asks.
    pub(crate) received: BTreeMap<String, String>,
    /// Calls that were sent more than once.
    pub(crate) retried: u64,
    /// Calls that came too late.
    pub(crate) conflicts: u64,
    /// Replies that nobody should get.
    pub(crate) unexpected: u64,
    problems: Vec<String>,
}

impl ChaosJournal {
    pub(crate) fn write(&self) -> MutexGuard<'_, ChaosRecords> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn summary(&self) -> String {
        let inner = self.write();
        format!("{} asks seen, {} answered, {} calls sent again", inner.seen.len(), inner.answered.len(), inner.retried)
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        self.write().problems.clone()
    }
}

impl ChaosRecords {
    /// Notes how a call went.
    pub(crate) fn sent(&mut self, times: u32) {
        self.retried += u64::from(times > 1);
    }

    /// Notes a reply that should not have come.
    pub(crate) fn unexpected(&mut self, what: String) {
        self.unexpected += 1;
        self.problem(what);
    }

    /// Says what is wrong; the first of them are printed.
    pub(crate) fn problem(&mut self, what: String) {
        if self.problems.len() < TOLD {
            self.problems.push(what);
        }
    }
}
