//! Changes of sessions and transcripts that several operations share.

use std::sync::Arc;

use sayso_core::id::SessionId;
use sayso_core::scope::{Scope, Visible};
use sayso_core::session::{Session, SessionStatus};
use sayso_core::snapshot::{SessionSnapshot, StatusChange};
use sayso_core::transcript::{Block, BlockBody};

use crate::error::StoreError;
use crate::event::EventKind;
use crate::payload::EventPayload;
use crate::rows::{BlockRow, SessionRow};
use crate::unit::Unit;

pub(crate) fn is_visible(session: &Session, scope: &Scope) -> bool {
    scope.sees(Visible { session: Some(session.id), labels: &session.labels, opened_by: session.opened_by })
}

/// Adds a session under a new id and announces it. The id must be loaded.
pub(super) fn insert_session(unit: &mut Unit, session: &Session) -> Result<(), StoreError> {
    let seq = unit.next_seq();
    unit.sessions.insert(session.id, Arc::new(SessionRow { session: session.clone(), seq }))?;
    let payload = EventPayload::SessionCreated(Box::new(SessionSnapshot::from(session)));
    unit.announce_session(session.id, payload)
}

/// Sets the status of a session, and announces it if it changed.
pub(super) fn set_status(unit: &mut Unit, id: SessionId, status: SessionStatus) -> Result<(), StoreError> {
    let Some(session) = unit.session(id)? else { return Ok(()) };
    if session.status == status {
        return Ok(());
    }
    let session = Session { status, updated_at: unit.now, ..session.clone() };
    let payload = EventPayload::SessionStatus(StatusChange::from(&session.status));
    unit.put_session(session)?;
    unit.announce_session(id, payload)
}

/// The permission mode and the model of a session. `None` leaves a setting as it is.
pub(super) struct NewSettings<'a> {
    pub(super) permission_mode: Option<&'a String>,
    pub(super) model: Option<&'a String>,
}

/// Stores the settings of a session, and announces them if they changed.
pub(super) fn set_settings(unit: &mut Unit, id: SessionId, new: &NewSettings<'_>) -> Result<(), StoreError> {
    let Some(session) = unit.session(id)? else { return Ok(()) };
    let permission_mode = new.permission_mode.filter(|mode| **mode != session.permission_mode).cloned();
    let model = new.model.filter(|model| Some(*model) != session.model.as_ref()).cloned();
    if permission_mode.is_none() && model.is_none() {
        return Ok(());
    }
    let mut session = Session { updated_at: unit.now, ..session.clone() };
    let mut change = StatusChange::from(&session.status);
    if let Some(mode) = &permission_mode {
        session.permission_mode.clone_from(mode);
    }
    if model.is_some() {
        session.model.clone_from(&model);
    }
    change.permission_mode = permission_mode;
    change.model = model;
    unit.put_session(session)?;
    unit.announce_session(id, EventPayload::SessionStatus(change))
}

/// Adds a block under a new id and announces it. The id of the block and the session must be loaded.
pub(super) fn add_block(unit: &mut Unit, session: SessionId, block: &Block, event: EventKind) -> Result<(), StoreError> {
    let row = BlockRow { session, seq: unit.next_seq(), block: block.clone() };
    unit.blocks.insert(block.id, Arc::new(row))?;
    unit.announce_session(session, EventPayload::of_block(block.clone(), event))
}

/// Adds a block or replaces the one with the same id, and announces it. The block and the session must be loaded.
pub(super) fn put_block(unit: &mut Unit, session: SessionId, block: &Block, event: EventKind) -> Result<(), StoreError> {
    let Some(before) = unit.blocks.get(&block.id)?.cloned() else {
        return add_block(unit, session, block, event);
    };
    let block = with_earlier_input(block.clone(), &before.block);
    let row = BlockRow { session: before.session, seq: before.seq, block: block.clone() };
    unit.blocks.put(block.id, Arc::new(row));
    unit.announce_session(session, EventPayload::of_block(block, event))
}

/// Keeps the input of a tool call, which agents report only once and not again with the result.
fn with_earlier_input(mut block: Block, before: &Block) -> Block {
    if let (BlockBody::Tool { input, .. }, BlockBody::Tool { input: earlier, .. }) = (&mut block.body, &before.body)
        && input.is_none()
    {
        input.clone_from(earlier);
    }
    block
}
