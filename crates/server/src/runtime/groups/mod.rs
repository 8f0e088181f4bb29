//! Groups that are not over: which are complete, when leases expire, and which targets to call.
//!
//! Rows are the truth. The index follows the commits, and is loaded when the server starts.

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

/// See the module.
#[derive(Debug)]
pub(crate) struct Groups {
    index: Mutex<GroupIndex>,
    /// The task has something to do.
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

    /// Takes over the groups that a commit changed. Called on the writer's thread, so it must not block.
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

    /// An ask has its outcome. Called on the writer's thread, so it must not block.
    pub(crate) fn ask_resolved(&self, ask: AskId) {
        if self.lock().ask_resolved(ask) {
            self.changed.notify_one();
        }
    }

    /// Takes over the groups of the last process. Asks may have been decided just before it ended.
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
