//! Records that the caller of an ask stopped waiting or waits again. Only questions without secrets are parked.

use sayso_core::ask::Reach;
use sayso_core::id::AskId;

use super::decide::set_reach;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Read, Reads};
use crate::unit::Unit;

#[derive(Debug)]
pub struct SetReach {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    pub reach: Reach,
}

impl Operation for SetReach {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Ask(self.ask));
    }

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        let Some(row) = unit.ask(self.ask)?.cloned() else { return Ok(()) };
        let ask = &row.ask;
        let parkable = ask.can_be_parked() && ask.origin.connection.is_none();
        let state = match self.reach {
            Reach::Parked if parkable => ask.state.park(),
            Reach::Parked => None,
            Reach::Live => ask.state.revive(),
        };
        if let Some(state) = state {
            set_reach(unit, &row, state, self.reach);
        }
        Ok(())
    }
}
