//! Browsers that want to be woken.

use std::sync::Arc;

use sayso_core::id::TokenId;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Reads};
use crate::unit::Unit;

/// A push subscription of a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRow {
    /// The token that the browser signed in with.
    pub token: TokenId,
    pub endpoint: String,
    /// The browser's public key: an uncompressed point of P-256.
    pub public_key: [u8; 65],
    /// The secret that the browser shares with the server.
    pub auth: [u8; 16],
}

/// Stores the subscription of a token. It replaces an earlier one.
#[derive(Debug)]
pub struct PutPush {
    pub workspace: WorkspaceId,
    pub push: PushRow,
}

impl Operation for PutPush {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, _reads: &mut Reads) {}

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        unit.pushes.put(self.push.token, Arc::new(self.push.clone()));
        Ok(())
    }
}

/// Deletes the subscription of a token.
#[derive(Debug)]
pub struct DropPush {
    pub workspace: WorkspaceId,
    pub token: TokenId,
}

impl Operation for DropPush {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, _reads: &mut Reads) {}

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        unit.pushes.remove(self.token);
        Ok(())
    }
}
