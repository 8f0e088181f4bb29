//! Push subscriptions of browsers.

use std::sync::Arc;

use sayso_core::id::TokenId;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Reads};
use crate::unit::Unit;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushSubscriptionRow {
    /// The token that the browser signed in with.
    pub token: TokenId,
    pub endpoint: String,
    /// The browser's public key: an uncompressed point of P-256.
    pub public_key: [u8; 65],
    /// The secret that the browser shares with the server.
    pub auth: [u8; 16],
}

/// Stores the subscription of a token and replaces an earlier one.
#[derive(Debug)]
pub struct PutPushSubscription {
    pub workspace: WorkspaceId,
    pub push: PushSubscriptionRow,
}

impl Operation for PutPushSubscription {
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
pub struct DeletePushSubscription {
    pub workspace: WorkspaceId,
    pub token: TokenId,
}

impl Operation for DeletePushSubscription {
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
