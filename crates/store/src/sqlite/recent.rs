//! What was written last: asks, so that deciding one need not read and parse its row again.
//!
//! It is never wrong: one thread writes, every change of an ask passes through the event that tells
//! of it, and after a rollback everything here is forgotten.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sayso_core::ask::{Action, Ask, AskBody, Decision, Preview};
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
        if weight(ask) > HEAVY {
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

/// About how much memory the texts of an ask take.
fn weight(ask: &Ask) -> usize {
    let opt = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let body = match &ask.body {
        AskBody::Question { questions } => questions
            .iter()
            .map(|question| {
                let options = question.options().iter();
                question.text.len() + options.map(|o| o.label.len() + opt(&o.description) + opt(&o.preview)).sum::<usize>()
            })
            .sum(),
        AskBody::Approval(approval) => {
            let preview = match &approval.preview {
                None => 0,
                Some(Preview::Command { command, .. }) => command.len(),
                Some(Preview::Diff { files }) => files.iter().map(|file| file.path.len() + file.diff.len()).sum(),
                Some(Preview::Plan { text } | Preview::Text { text }) => text.len(),
            };
            let action = match &approval.action {
                Action::Run { command } => command.len(),
                Action::Edit { paths } | Action::Read { paths } => paths.iter().map(String::len).sum(),
                Action::Fetch { url } => url.len(),
                Action::Mcp { .. } | Action::Plan | Action::Mode | Action::Other => 0,
            };
            approval.input.as_str().len() + preview + action
        }
        AskBody::Link(link) => link.url.len() + opt(&link.message),
    };
    let outcome = ask.outcome().map_or(0, |outcome| match &outcome.decision {
        Decision::Answered { answers, note } => answers.iter().flatten().map(String::len).sum::<usize>() + opt(note),
        Decision::Approved { input, .. } => input.as_ref().map_or(0, |input| input.as_str().len()),
        Decision::Rejected { message, .. } | Decision::Denied { message, .. } => message.len(),
        Decision::Withdrawn { reason } => reason.len(),
    });
    body + outcome + opt(&ask.context.context) + ask.raw.as_ref().map_or(0, |raw| raw.as_str().len())
}
