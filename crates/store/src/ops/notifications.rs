//! Notifications about asks: which channel sent which message, and when to retry.

use std::sync::Arc;

use sayso_core::id::AskId;
use sayso_core::time::Time;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Reads};
use crate::unit::Unit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotificationState {
    /// Sending failed and is retried at this time.
    Again(Time),
    Told,
    /// Sending failed too often.
    GivenUp,
}

/// A notification about an ask in one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationRow {
    pub ask: AskId,
    pub channel: String,
    pub state: NotificationState,
    pub attempts: u32,
    /// The channel's id of the message, to edit it later.
    pub message: Option<String>,
}

/// Stores a notification.
#[derive(Debug)]
pub struct PutNotification {
    pub workspace: WorkspaceId,
    pub note: NotificationRow,
}

impl Operation for PutNotification {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, _reads: &mut Reads) {}

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        unit.notes.put((self.note.ask, self.note.channel.clone()), Arc::new(self.note.clone()));
        Ok(())
    }
}

/// Deletes a notification whose ask is resolved, after the channel was updated.
#[derive(Debug)]
pub struct DeleteNotification {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    pub channel: String,
}

impl Operation for DeleteNotification {
    type Output = ();

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, _reads: &mut Reads) {}

    fn apply(&self, unit: &mut Unit) -> Result<(), StoreError> {
        unit.notes.remove((self.ask, self.channel.clone()));
        Ok(())
    }
}
