//! The job queue of a channel. Contains only ids; the rows in the database are the source of truth.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sayso_core::id::AskId;
use sayso_core::time::Time;
use tokio::sync::Notify;

/// A job about an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NoteJob {
    /// Notify that the ask is pending.
    Tell,
    /// Report that the ask is no longer pending.
    Over {
        /// Number of failed attempts.
        tries: u32,
    },
}

/// The jobs of one channel, ordered by time. Bounded by the number of pending asks.
#[derive(Debug, Default)]
pub(super) struct NoteQueue {
    state: Mutex<NoteQueueState>,
    pub(super) changed: Notify,
}

#[derive(Debug, Default)]
struct NoteQueueState {
    due: BTreeSet<(Time, AskId, NoteJob)>,
    /// Pending asks that have a row of this channel.
    noted: HashSet<AskId>,
}

impl NoteQueue {
    fn locked(&self) -> MutexGuard<'_, NoteQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, at: Time, ask: AskId, job: NoteJob) {
        let is_first = {
            let mut state = self.locked();
            state.due.insert((at, ask, job));
            state.due.first() == Some(&(at, ask, job))
        };
        if is_first {
            self.changed.notify_one();
        }
    }

    /// Records that the ask has a row.
    pub(super) fn noted(&self, ask: AskId) {
        self.locked().noted.insert(ask);
    }

    /// Returns whether the ask has a row.
    pub(super) fn is_noted(&self, ask: AskId) -> bool {
        self.locked().noted.contains(&ask)
    }

    /// Forgets the row of an ask. Returns true if there was one; the caller then has to report the outcome.
    pub(super) fn end(&self, ask: AskId) -> bool {
        self.locked().noted.remove(&ask)
    }

    /// Handles the outcome of an ask: cancels its notification, or reports the outcome if it was sent.
    pub(super) fn resolved(&self, ask: AskId, due: Time, now: Time) {
        let is_noted = {
            let mut state = self.locked();
            state.due.remove(&(due, ask, NoteJob::Tell));
            state.noted.remove(&ask)
        };
        if is_noted {
            self.add(now, ask, NoteJob::Over { tries: 0 });
        }
    }

    /// Returns when the next job is due.
    pub(super) fn first(&self) -> Option<Time> {
        self.locked().due.first().map(|(at, ..)| *at)
    }

    /// Removes and returns the next job that is due.
    pub(super) fn pop_due(&self, now: Time) -> Option<(AskId, NoteJob)> {
        let mut state = self.locked();
        state.due.first().filter(|(at, ..)| *at <= now)?;
        state.due.pop_first().map(|(_, ask, job)| (ask, job))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn resolved_ask_is_not_notified() {
        let (queue, one, two) = (NoteQueue::default(), AskId::from_bytes([1; 16]), AskId::from_bytes([2; 16]));
        queue.add(at(10), one, NoteJob::Tell);
        queue.add(at(5), two, NoteJob::Tell);
        assert_eq!((queue.first(), queue.pop_due(at(4))), (Some(at(5)), None));
        queue.resolved(two, at(5), at(4));
        assert_eq!((queue.pop_due(at(9)), queue.pop_due(at(10)), queue.first()), (None, Some((one, NoteJob::Tell)), None));
    }

    #[test]
    fn sent_note_is_updated_once_after_the_outcome() {
        let (queue, ask) = (NoteQueue::default(), AskId::from_bytes([1; 16]));
        queue.noted(ask);
        queue.resolved(ask, at(5), at(7));
        assert_eq!(queue.pop_due(at(7)), Some((ask, NoteJob::Over { tries: 0 })));
        queue.resolved(ask, at(5), at(8));
        assert!(!queue.end(ask) && queue.pop_due(at(9)).is_none());
    }
}
