//! What was written last: asks, so that deciding one need not read and parse its row again.
//!
//! It is never wrong: one thread writes, every change of an ask passes through the event that tells
//! of it, and after a rollback everything here is forgotten.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sayso_core::ask::Ask;
use sayso_core::id::{AskId, SessionId};

use crate::event::{About, WorkspaceId};

/// How many are kept.
const KEPT: usize = 1024;
/// An ask with a larger payload is read again instead.
const HEAVY: usize = 16 * 1024;

/// What was written last, oldest out first.
#[derive(Debug, Default)]
pub(super) struct Recent {
    asks: HashMap<(WorkspaceId, AskId), Arc<Ask>>,
    order: VecDeque<(WorkspaceId, AskId)>,
    /// What never changes about a session.
    abouts: HashMap<SessionId, Arc<About>>,
}

impl Recent {
    pub(super) fn get(&self, workspace: WorkspaceId, id: AskId) -> Option<Arc<Ask>> {
        self.asks.get(&(workspace, id)).cloned()
    }

    pub(super) fn put(&mut self, workspace: WorkspaceId, ask: &Arc<Ask>) {
        let key = (workspace, ask.id);
        if ask.weight() > HEAVY {
            self.asks.remove(&key);
            return;
        }
        if self.asks.insert(key, Arc::clone(ask)).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.asks.remove(&oldest);
        }
    }

    pub(super) fn about(&self, session: SessionId) -> Option<Arc<About>> {
        self.abouts.get(&session).cloned()
    }

    pub(super) fn put_about(&mut self, session: SessionId, about: &Arc<About>) {
        if self.abouts.len() >= KEPT {
            self.abouts.clear();
        }
        self.abouts.insert(session, Arc::clone(about));
    }

    pub(super) fn forget(&mut self) {
        self.asks.clear();
        self.order.clear();
        self.abouts.clear();
    }
}
