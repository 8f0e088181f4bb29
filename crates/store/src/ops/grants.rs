//! Rules that a person grants for a while.

use std::sync::Arc;

use sayso_core::id::GrantId;
use sayso_core::raw::Raw;
use sayso_core::time::Time;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, Once, Operation, Read, Reads};
use crate::rows::GrantRow;
use crate::unit::{Earlier, Unit};

/// Stores a grant. Returns its id, or the id that the same call created before.
#[derive(Debug)]
pub struct AddGrant {
    pub workspace: WorkspaceId,
    pub id: GrantId,
    pub until: Option<Time>,
    /// The rule.
    pub data: Raw,
    pub key: Option<IdempotencyKey>,
}

impl Operation for AddGrant {
    type Output = Once<GrantId>;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.key(self.key.as_ref());
        reads.add(Read::Grant(self.id));
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        match unit.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Other => return Ok(Once::Reused),
            Earlier::Same(id) => return Ok(id.parse().map_or(Once::Reused, Once::Before)),
        }
        unit.grants.insert(self.id, Arc::new(GrantRow { until: self.until, data: self.data.clone() }))?;
        unit.remember(self.key.as_ref(), self.id.to_string());
        Ok(Once::Done(self.id))
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
