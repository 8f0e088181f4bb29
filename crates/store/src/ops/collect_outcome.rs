//! The caller that opened an ask collects its outcome. A secret answer is returned in clear, once, and deleted.

use sayso_core::ask::{Answers, Delivery};
use sayso_core::id::AskId;

use super::decide::report_delivery;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

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
