//! The caller that opened an ask collects its outcome. A secret answer is returned in clear, once, and deleted.

use sayso_core::ask::{Answers, Delivery};
use sayso_core::id::AskId;

use super::decide::report_delivery;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, Operation, Read, Reads};
use crate::unit::{Earlier, Unit};

/// See the module.
#[derive(Debug)]
pub struct CallerHasOutcome {
    pub workspace: WorkspaceId,
    pub ask: AskId,
}

impl Operation for CallerHasOutcome {
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

/// The caller takes the outcome under a name of its own. An approval is given to one taker only, so two programs never act on
/// the same approval.
#[derive(Debug)]
pub struct TakeOutcome {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    /// Who takes it. The same taker may repeat the call.
    pub taker: IdempotencyKey,
}

/// The result of [`TakeOutcome`].
#[derive(Debug, Clone, PartialEq)]
pub enum Taken {
    /// The outcome is the caller's, with the secret answer if this is the first call.
    Outcome(Option<Answers>),
    /// Another taker has the approval.
    ByAnother,
}

impl Operation for TakeOutcome {
    type Output = Taken;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.key(Some(&self.taker));
        reads.add(Read::Ask(self.ask));
        reads.add(Read::Secret(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        match unit.earlier(Some(&self.taker))? {
            Earlier::Fresh => {}
            Earlier::Same(_) => return Ok(Taken::Outcome(None)),
            Earlier::Other => return Ok(Taken::ByAnother),
        }
        if unit.ask(self.ask)?.is_some_and(|row| row.ask.is_delivered_approval()) {
            return Ok(Taken::ByAnother);
        }
        let secret = unit.secret_answers(self.ask)?;
        report_delivery(unit, self.ask, Delivery::Delivered)?;
        unit.remember(Some(&self.taker), self.ask.to_string());
        Ok(Taken::Outcome(secret))
    }
}
