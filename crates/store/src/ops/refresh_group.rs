//! Operations on groups by the server and the caller: complete, expire, withdraw, and record callbacks.

use std::sync::Arc;

use sayso_core::ask::{Ask, Decision};
use sayso_core::group::{ClaimRefused, Group, GroupEnd, GroupPhase};
use sayso_core::id::{GroupId, TokenId};

use super::claim_group::{GroupRefused, interrupt_claim, put_group, read_asks, withdraw_ask};
use super::open_group::asks_of;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// The answer with which a person lets an uncertain run be resumed.
pub const RESUME_AGAIN: &str = "resume";

/// Moves a group to its next phase if its asks are decided, its lease has expired, or its own time is over.
#[derive(Debug)]
pub struct RefreshGroup {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    /// The question to a person, which is opened if the lease of a worker has expired.
    pub question: Box<Ask>,
}

impl Operation for RefreshGroup {
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
                if decided { group.complete(now) } else { group }
            }
            GroupPhase::Ready { .. } if is_due => group.end(GroupEnd::Expired, now),
            GroupPhase::Claimed { .. } if is_due => interrupt_claim(unit, group, &self.question, true)?,
            GroupPhase::Uncertain { ask, .. } => match unit.ask(*ask)?.map(|row| row.ask.outcome().cloned()) {
                Some(None) => group,
                Some(Some(outcome)) => group.decide_uncertain(resumes_again(&outcome.decision), now),
                None => group.decide_uncertain(false, now),
            },
            GroupPhase::Ready { .. } | GroupPhase::Claimed { .. } | GroupPhase::Ended { .. } => group,
        };
        if next == *stored {
            return Ok(Some(stored));
        }
        put_group(unit, next).map(Some)
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

/// Withdraws the pending asks of a group and ends the group.
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
            // The run continues, and its worker reports the end.
            GroupPhase::Claimed { .. } => return Ok(Err(ClaimRefused::NotReady.into())),
            GroupPhase::Ended { .. } => return Ok(Err(ClaimRefused::Ended.into())),
        };
        for ask in group.asks.iter().copied().chain(uncertain) {
            withdraw_ask(unit, Some(ask), &self.reason)?;
        }
        let now = unit.now;
        put_group(unit, group.end(GroupEnd::Withdrawn, now)).map(Ok)
    }
}

/// Records one attempt to call the target of a group.
#[derive(Debug)]
pub struct RecordCallback {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    pub sent: bool,
    /// Whether to retry after a failure.
    pub retry: bool,
}

impl Operation for RecordCallback {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Group(self.group));
    }

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        if let Some(group) = unit.groups.get(&self.group)?.cloned() {
            let group = Group::clone(&group).record_callback(self.sent, self.retry, unit.now);
            unit.groups.put(group.id, Arc::new(group));
        }
        Ok(())
    }
}
