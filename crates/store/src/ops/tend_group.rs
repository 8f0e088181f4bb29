//! What the server and the caller do with a group that no worker has: complete it, expire it, withdraw it, and call its
//! target.

use std::sync::Arc;

use sayso_core::ask::{Ask, Decision};
use sayso_core::group::{ClaimRefused, Group, GroupEnd, GroupPhase};
use sayso_core::id::{GroupId, TokenId};

use super::claim_group::{GroupRefused, interrupt, put, read_asks, withdraw};
use super::open_group::asks_of;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// The answer of a person that permits to resume an uncertain run.
pub const RESUME_AGAIN: &str = "resume";

/// Looks at a group: its asks may be decided, its lease may have expired, or its time may be over.
#[derive(Debug)]
pub struct TendGroup {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    /// Asks a person what to do if the lease of a worker has expired.
    pub question: Box<Ask>,
}

impl Operation for TendGroup {
    /// The group as it is now.
    type Output = Option<Arc<Group>>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Group(self.group));
        reads.add(Read::Ask(self.question.id));
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        read_asks(unit, self.group, reads);
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let Some(stored) = unit.groups.get(&self.group)?.cloned() else { return Ok(None) };
        let group = Group::clone(&stored);
        let is_due = group.due().is_some_and(|due| due <= unit.now);
        let now = unit.now;
        let next = match &group.phase {
            GroupPhase::Pending => {
                let decided = asks_of(unit, &group)?.iter().all(|ask| ask.outcome().is_some());
                if decided { group.completed(now) } else { group }
            }
            GroupPhase::Ready { .. } if is_due => group.ended(GroupEnd::Expired, now),
            GroupPhase::Claimed { .. } if is_due => interrupt(unit, group, &self.question, true)?,
            GroupPhase::Uncertain { ask, .. } => match unit.ask(*ask)?.map(|row| row.ask.outcome().cloned()) {
                // The person has not decided.
                Some(None) => group,
                Some(Some(outcome)) => group.decided(resumes_again(&outcome.decision), now),
                None => group.decided(false, now),
            },
            GroupPhase::Ready { .. } | GroupPhase::Claimed { .. } | GroupPhase::Ended { .. } => group,
        };
        if next == *stored {
            return Ok(Some(stored));
        }
        put(unit, next).map(Some)
    }
}

fn resumes_again(decision: &Decision) -> bool {
    match decision {
        Decision::Answered { answers, .. } => {
            answers.first().is_some_and(|entries| entries.iter().any(|entry| entry == RESUME_AGAIN))
        }
        Decision::Rejected { .. } | Decision::Approved { .. } | Decision::Denied { .. } | Decision::Withdrawn { .. } => false,
    }
}

/// Withdraws the pending asks of a group, and ends it.
#[derive(Debug)]
pub struct WithdrawGroup {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    pub token: TokenId,
    pub reason: String,
}

impl Operation for WithdrawGroup {
    type Output = Result<Arc<Group>, GroupRefused>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Group(self.group));
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        read_asks(unit, self.group, reads);
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let found = unit.groups.get(&self.group)?.filter(|group| group.opened_by == self.token);
        let Some(group) = found.map(|group| Group::clone(group)) else { return Ok(Err(GroupRefused::NotFound)) };
        let uncertain = match &group.phase {
            GroupPhase::Pending | GroupPhase::Ready { .. } => None,
            GroupPhase::Uncertain { ask, .. } => Some(*ask),
            // The run goes on; the worker reports its end.
            GroupPhase::Claimed { .. } => return Ok(Err(ClaimRefused::NotReady.into())),
            GroupPhase::Ended { .. } => return Ok(Err(ClaimRefused::Ended.into())),
        };
        for ask in group.asks.iter().copied().chain(uncertain) {
            withdraw(unit, Some(ask), &self.reason)?;
        }
        let now = unit.now;
        put(unit, group.ended(GroupEnd::Withdrawn, now)).map(Ok)
    }
}

/// Stores the result of one attempt to call the target of a group.
#[derive(Debug)]
pub struct CalledBack {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    pub sent: bool,
    /// Whether another attempt can help.
    pub retry: bool,
}

impl Operation for CalledBack {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Group(self.group));
    }

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        if let Some(group) = unit.groups.get(&self.group)?.cloned() {
            let group = Group::clone(&group).called_back(self.sent, self.retry, unit.now);
            unit.groups.put(group.id, Arc::new(group));
        }
        Ok(())
    }
}
