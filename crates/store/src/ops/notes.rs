//! What notification channels were told about asks.

use std::sync::Arc;

use sayso_core::id::AskId;
use sayso_core::time::Time;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Reads};
use crate::unit::Unit;

/// The state of a note in one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteState {
    /// It is tried again at this time.
    Again(Time),
    Told,
    /// It was tried often enough.
    GivenUp,
}

/// A note about an ask in one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRow {
    pub ask: AskId,
    pub channel: String,
    pub state: NoteState,
    pub attempts: u32,
    /// The channel's own id of the message, to change it later.
    pub message: Option<String>,
}

/// Stores the state of a note.
#[derive(Debug)]
pub struct PutNote {
    pub workspace: WorkspaceId,
    pub note: NoteRow,
}

impl Operation for PutNote {
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

/// Deletes a note: the ask has its outcome, and the channel knows it.
#[derive(Debug)]
pub struct DropNote {
    pub workspace: WorkspaceId,
    pub ask: AskId,
    pub channel: String,
}

impl Operation for DropNote {
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
