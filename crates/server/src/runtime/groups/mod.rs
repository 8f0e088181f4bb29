//! Groups that have not ended: which are complete, when leases expire, and which callbacks are due.
//!
//! The rows in the database are the source of truth. The index is loaded at start and updated by commits.

mod claim;
mod index;
mod task;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sayso_core::group::{Group, GroupPhase};
use sayso_core::id::AskId;
use tokio::sync::Notify;

use super::notify::WebhookChannel;
use index::GroupIndex;

pub(crate) use claim::{claim, wait_until_ready};
pub(crate) use task::run;

/// The index, and a signal for the task.
#[derive(Debug)]
pub(crate) struct Groups {
    index: Mutex<GroupIndex>,
    /// Notified when the task has work.
    changed: Notify,
    targets: BTreeMap<String, WebhookChannel>,
}

impl Groups {
    pub(crate) fn new(targets: BTreeMap<String, WebhookChannel>) -> Self {
        Self { index: Mutex::default(), changed: Notify::new(), targets }
    }

    fn lock(&self) -> MutexGuard<'_, GroupIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the groups that a commit changed. Called on the writer's thread, so it must not block.
    pub(crate) fn changed(&self, groups: Vec<Arc<Group>>) {
        if groups.is_empty() {
            return;
        }
        let mut index = self.lock();
        for group in groups {
            index.put(group);
        }
        drop(index);
        self.changed.notify_one();
    }

    /// Handles the outcome of an ask. Called on the writer's thread, so it must not block.
    pub(crate) fn ask_resolved(&self, ask: AskId) {
        if self.lock().ask_resolved(ask) {
            self.changed.notify_one();
        }
    }

    /// Loads the groups of the previous server process. Their asks may have been decided just before it ended.
    pub(crate) fn resume(&self, groups: Vec<Group>) {
        let mut index = self.lock();
        for group in groups {
            let asks_may_be_decided = matches!(group.phase, GroupPhase::Pending | GroupPhase::Uncertain { .. });
            let id = group.id;
            index.put(Arc::new(group));
            if asks_may_be_decided {
                index.look_at(id);
            }
        }
        drop(index);
        self.changed.notify_one();
    }
}
