//! What the server acknowledged, as recorded by the clients.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many problems are printed.
const MAX_PRINTED: usize = 20;

/// Everything that clients were told, and every reply that should not have occurred.
#[derive(Debug, Default)]
pub(crate) struct ChaosJournal {
    inner: Mutex<ChaosRecords>,
}

/// The records, which are compared at the end.
#[derive(Debug, Default)]
pub(crate) struct ChaosRecords {
    /// Asks that callers opened (201).
    pub(crate) opened: BTreeSet<String>,
    /// Asks that appeared in a list or in the stream.
    pub(crate) seen: BTreeSet<String>,
    /// Acknowledged answers (200), by ask. More than one is an error.
    pub(crate) answered: BTreeMap<String, BTreeSet<String>>,
    /// Winners reported in conflicts (409), by ask: the name and the time.
    pub(crate) winners: BTreeMap<String, BTreeSet<String>>,
    /// The outcomes that callers received for their asks.
    pub(crate) received: BTreeMap<String, String>,
    /// Calls that were sent more than once.
    pub(crate) retried: u64,
    /// Calls that lost a race.
    pub(crate) conflicts: u64,
    /// Replies that should not occur.
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
    /// Records the number of attempts of a call.
    pub(crate) fn sent(&mut self, times: u32) {
        self.retried += u64::from(times > 1);
    }

    /// Records a reply that should not occur.
    pub(crate) fn unexpected(&mut self, what: String) {
        self.unexpected += 1;
        self.problem(what);
    }

    /// Records a problem; the first ones are printed.
    pub(crate) fn problem(&mut self, what: String) {
        if self.problems.len() < MAX_PRINTED {
            self.problems.push(what);
        }
    }
}
