//! Grants: rules that a person adds for a limited time.

use std::sync::Arc;

use sayso_core::id::GrantId;
use sayso_core::raw::Raw;
use sayso_core::time::Time;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, IdempotentResult, Operation, Read, Reads};
use crate::rows::GrantRow;
use crate::unit::{EarlierCall, Unit};

/// Stores a grant. Returns its id, or the id that the same call created before.
#[derive(Debug)]
pub struct AddGrant {
    pub workspace: WorkspaceId,
    pub id: GrantId,
    pub until: Option<Time>,
    /// The rule as JSON.
    pub data: Raw,
    pub key: Option<IdempotencyKey>,
}

impl Operation for AddGrant {
    type Output = IdempotentResult<GrantId>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.key(self.key.as_ref());
        reads.add(Read::Grant(self.id));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        match unit.find_earlier_call(self.key.as_ref())? {
            EarlierCall::Fresh => {}
            EarlierCall::Other => return Ok(IdempotentResult::Reused),
            EarlierCall::Same(id) => return Ok(id.parse().map_or(IdempotentResult::Reused, IdempotentResult::Repeated)),
        }
        unit.grants.insert(self.id, Arc::new(GrantRow { until: self.until, data: self.data.clone() }))?;
        unit.remember_call(self.key.as_ref(), self.id.to_string());
        Ok(IdempotentResult::Done(self.id))
    }
}

/// Removes a grant. Returns whether it existed.
#[derive(Debug)]
pub struct RemoveGrant {
    pub workspace: WorkspaceId,
    pub id: GrantId,
}

impl Operation for RemoveGrant {
    type Output = bool;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Grant(self.id));
    }

    fn apply(&self, unit: &mut Unit) -> Result<bool, StoreError> {
        let existed = unit.grants.get(&self.id)?.is_some();
        if existed {
            unit.grants.remove(self.id);
        }
        Ok(existed)
    }
}
