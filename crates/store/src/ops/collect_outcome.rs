//! The caller that opened an ask collects its outcome. Secret answers are returned in clear once, and deleted.

use sayso_core::ask::{Answers, Delivery};
use sayso_core::id::AskId;

use super::decide::report_delivery;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, Operation, Read, Reads};
use crate::unit::{EarlierCall, Unit};

/// Marks the outcome of a caller's ask as delivered. Returns the secret answers on the first call.
#[derive(Debug)]
pub struct CollectOutcome {
    pub workspace: WorkspaceId,
    pub ask: AskId,
}

impl Operation for CollectOutcome {
    type Output = Option<Answers>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Ask(self.ask));
        reads.add(Read::Secret(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        let secret = unit.secret_answers(self.ask)?;
        report_delivery(unit, self.ask, Delivery::Delivered)?;
        Ok(secret)
    }
}

/// Collects an outcome for one of several programs that share a token. Only one of them gets an approval, so two programs never
/// act on the same one.
#[derive(Debug)]
pub struct ClaimOutcome {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// Identifies the program. It can repeat the call.
    pub taker: IdempotencyKey,
}

/// The result of [`ClaimOutcome`].
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimOutcomeResult {
    /// The outcome belongs to this program. The first call also returns the secret answers.
    Outcome(Option<Answers>),
    /// Another program has the approval.
    ByAnother,
}

impl Operation for ClaimOutcome {
    type Output = ClaimOutcomeResult;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.key(Some(&self.taker));
        reads.add(Read::Ask(self.ask));
        reads.add(Read::Secret(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        match unit.find_earlier_call(Some(&self.taker))? {
            EarlierCall::Fresh => {}
            EarlierCall::Same(_) => return Ok(ClaimOutcomeResult::Outcome(None)),
            EarlierCall::Other => return Ok(ClaimOutcomeResult::ByAnother),
        }
        if unit.ask(self.ask)?.is_some_and(|row| row.ask.is_delivered_approval()) {
            return Ok(ClaimOutcomeResult::ByAnother);
        }
        let secret = unit.secret_answers(self.ask)?;
        report_delivery(unit, self.ask, Delivery::Delivered)?;
        unit.remember_call(Some(&self.taker), self.ask.to_string());
        Ok(ClaimOutcomeResult::Outcome(secret))
    }
}
