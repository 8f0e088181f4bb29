//! Settings and trusted projects.

use std::sync::Arc;

use sayso_core::raw::Raw;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Reads};
use crate::rows::TrustRow;
use crate::unit::Unit;

/// Stores a setting, or deletes it.
#[derive(Debug)]
pub struct PutSetting {
    pub workspace: WorkspaceId,
    pub key: &'static str,
    pub value: Option<Raw>,
}

impl Operation for PutSetting {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, _reads: &mut Reads) {}

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        match &self.value {
            Some(value) => unit.settings.put(self.key.to_owned(), Arc::new(value.clone())),
            None => unit.settings.remove(self.key.to_owned()),
        }
        Ok(())
    }
}

/// Records that a person trusts the current text of a project's policy file.
#[derive(Debug)]
pub struct TrustProject {
    pub workspace: WorkspaceId,
    pub path: String,
    pub hash: String,
}

impl Operation for TrustProject {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, _reads: &mut Reads) {}

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        unit.trusted.put(self.path.clone(), Arc::new(TrustRow { hash: self.hash.clone(), at: unit.now }));
        Ok(())
    }
}
