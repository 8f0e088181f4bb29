//! Operations of workers on groups: claim a group, renew the lease, and report the result.

use std::sync::Arc;
use std::time::Duration;

use sayso_core::actor::Actor;
use sayso_core::ask::{Answers, Ask, Decision, Delivery};
use sayso_core::group::{ClaimRefused, Group, GroupEnd, GroupPhase};
use sayso_core::id::{AskId, GroupId, TokenId};
use sayso_core::texts;

use super::decide::{decide, report_delivery};
use super::open_ask;
use super::open_group::asks_of;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

/// Why a call of a worker or caller was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GroupRefused {
    /// The group is unknown or was opened with another token.
    #[error("no such group")]
    NotFound,
    #[error(transparent)]
    Claim(#[from] ClaimRefused),
}

/// Gives a complete group to one worker. The claim has a lease, which the worker renews.
#[derive(Debug)]
pub struct ClaimGroup {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    pub token: TokenId,
    pub worker: String,
    /// The worker's find_own_group name of this call.
    pub call: Option<String>,
    pub lease: Duration,
}

/// A claimed group with everything that the worker needs to resume the run.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedGroup {
    pub group: Arc<Group>,
    pub asks: Vec<ClaimedAsk>,
    /// The encrypted state.
    pub state: Option<Arc<Vec<u8>>>,
}

/// One ask of a claimed group.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedAsk {
    pub ask: Arc<Ask>,
    /// The secret answers in clear. They are stored until the claim is acknowledged.
    pub secret: Option<Answers>,
}

/// Names the asks of a loaded group and their secrets, for `more_reads`.
pub(super) fn read_asks(unit: &Unit, group: GroupId, reads: &mut Reads) {
    if let Ok(Some(group)) = unit.groups.get(&group) {
        for id in &group.asks {
            reads.add(Read::Ask(*id));
            reads.add(Read::Secret(*id));
        }
        if let GroupPhase::Uncertain { ask, .. } = &group.phase {
            reads.add(Read::Ask(*ask));
        }
    }
}

/// Finds a group that the token opened.
fn find_own_group(unit: &Unit, group: GroupId, token: TokenId) -> Result<Result<Arc<Group>, GroupRefused>, StoreError> {
    let found = unit.groups.get(&group)?.filter(|group| group.opened_by == token);
    Ok(found.cloned().ok_or(GroupRefused::NotFound))
}

/// Stores a group. If it has ended, its state and its secrets are deleted.
pub(super) fn put_group(unit: &mut Unit, group: Group) -> Result<Arc<Group>, StoreError> {
    let group = Arc::new(group);
    if let GroupPhase::Ended { end, .. } = group.phase {
        if group.state_size > 0 {
            unit.group_states.remove(group.id);
        }
        for id in &group.asks {
            let report = match end {
                GroupEnd::Acknowledged => Delivery::Delivered,
                GroupEnd::Abandoned | GroupEnd::Withdrawn | GroupEnd::Expired => {
                    Delivery::Undeliverable { reason: texts::RUN_NOT_RESUMED.to_owned() }
                }
            };
            report_delivery(unit, *id, report)?;
        }
    }
    unit.groups.put(group.id, Arc::clone(&group));
    Ok(group)
}

impl Operation for ClaimGroup {
    type Output = Result<ClaimedGroup, GroupRefused>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Group(self.group));
        reads.add(Read::GroupState(self.group));
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        read_asks(unit, self.group, reads);
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let group = match find_own_group(unit, self.group, self.token)? {
            Ok(group) => Group::clone(&group),
            Err(refused) => return Ok(Err(refused)),
        };
        let group = match group.claim(self.worker.clone(), self.call.clone(), self.lease, unit.now) {
            Ok(group) => put_group(unit, group)?,
            Err(refused) => return Ok(Err(refused.into())),
        };
        let mut asks = Vec::with_capacity(group.asks.len());
        for ask in asks_of(unit, &group)? {
            let secret = unit.secret_answers(ask.id)?;
            asks.push(ClaimedAsk { ask, secret });
        }
        let state = unit.group_states.get(&self.group)?.cloned();
        Ok(Ok(ClaimedGroup { group, asks, state }))
    }
}

#[derive(Debug)]
pub enum ClaimReport {
    /// The worker is still busy. Extends the lease to this duration from now.
    Renew(Duration),
    /// The run was resumed.
    Acknowledge,
    /// The worker did not start. Another worker can claim the group.
    Release,
    /// The worker failed while it resumed the run. `question` asks a person whether to resume again.
    Fail {
        question: Box<Ask>,
        /// Whether the group may be retried without the question, if its caller permitted retries.
        may_retry: bool,
    },
}

/// Applies the report of the worker whose claim has this epoch. Reports of earlier claims are refused.
#[derive(Debug)]
pub struct ReportClaim {
    pub workspace: WorkspaceId,
    pub group: GroupId,
    pub token: TokenId,
    pub epoch: u64,
    pub report: ClaimReport,
}

impl Operation for ReportClaim {
    type Output = Result<Arc<Group>, GroupRefused>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Group(self.group));
        if let ClaimReport::Fail { question, .. } = &self.report {
            reads.add(Read::Ask(question.id));
        }
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        read_asks(unit, self.group, reads);
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let group = match find_own_group(unit, self.group, self.token)? {
            Ok(group) => Group::clone(&group),
            Err(refused) => return Ok(Err(refused)),
        };
        let (epoch, now) = (self.epoch, unit.now);
        let next = match &self.report {
            ClaimReport::Renew(lease) => group.renew_claim(epoch, *lease, now),
            ClaimReport::Release => group.release_claim(epoch, now),
            ClaimReport::Acknowledge => match group.acknowledge(epoch, now) {
                Ok((group, asked)) => {
                    withdraw_ask(unit, asked, texts::RUN_WAS_RESUMED)?;
                    Ok(group)
                }
                Err(refused) => Err(refused),
            },
            // A renewal by zero seconds checks that the claim is valid.
            ClaimReport::Fail { question, may_retry } => match group.renew_claim(epoch, Duration::ZERO, now) {
                Ok(group) => Ok(interrupt_claim(unit, group, question, *may_retry)?),
                Err(refused) => Err(refused),
            },
        };
        match next {
            Ok(group) => Ok(Ok(put_group(unit, group)?)),
            Err(refused) => Ok(Err(refused.into())),
        }
    }
}

/// Ends a claim whose effect is unknown. Opens the question to a person, unless the group is retried.
pub(super) fn interrupt_claim(unit: &mut Unit, group: Group, question: &Ask, may_retry: bool) -> Result<Group, StoreError> {
    let group = group.interrupt(question.id, may_retry, unit.now);
    if let GroupPhase::Uncertain { .. } = group.phase {
        open_ask::insert_ask(unit, question.clone())?;
    }
    Ok(group)
}

pub(super) fn withdraw_ask(unit: &mut Unit, ask: Option<AskId>, reason: &str) -> Result<(), StoreError> {
    let row = ask.map(|id| unit.ask(id)).transpose()?.flatten().filter(|row| row.is_pending()).cloned();
    if let Some(row) = row {
        // Withdrawing a pending ask cannot fail.
        let _ = decide(unit, &row, Decision::Withdrawn { reason: reason.to_owned() }, Actor::Agent);
    }
    Ok(())
}
