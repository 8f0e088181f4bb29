//! How sessions and their transcripts change. Several operations share these rules.

use std::sync::Arc;

use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::scope::{Scope, Visible};
use sayso_core::session::{Session, SessionStatus};
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody};

use crate::error::StoreError;
use crate::event::EventKind;
use crate::rows::{BlockRow, SessionRow};
use crate::unit::Unit;

pub(crate) fn is_visible(session: &Session, scope: &Scope) -> bool {
    scope.sees(Visible { session: Some(session.id), labels: &session.labels, opened_by: session.opened_by })
}

/// Adds a session and announces it.
pub(super) fn insert(unit: &mut Unit, session: &Session, announced: &Raw) -> Result<(), StoreError> {
    let seq = unit.next_seq();
    unit.sessions.put(session.id, Arc::new(SessionRow { session: session.clone(), seq }));
    unit.announce_session(EventKind::SessionCreated, session.created_at, session.id, announced.clone())
}

/// Stores what a session does now, and announces it if that is a change.
pub(super) fn set_status(unit: &mut Unit, id: SessionId, status: SessionStatus, now: Time) -> Result<(), StoreError> {
    let Some(session) = unit.session(id)? else { return Ok(()) };
    if session.status == status {
        return Ok(());
    }
    let session = Session { status, updated_at: now, ..session.clone() };
    let kind = if session.status.is_ended() { EventKind::SessionEnded } else { EventKind::SessionStatus };
    let data = Raw::of(&session.status.news());
    unit.put_session(session)?;
    unit.announce_session(kind, now, id, data)
}

/// Adds a block, or replaces the one with the same id, and announces it. Needs the block and the session.
pub(super) fn put_block(unit: &mut Unit, session: SessionId, block: &Block, event: EventKind) -> Result<(), StoreError> {
    let Some(before) = unit.blocks.get(&block.id)?.cloned() else {
        let data = Raw::of(block);
        let row = BlockRow { session, seq: unit.next_seq(), data: data.clone() };
        unit.blocks.put(block.id, Arc::new(row));
        return unit.announce_block(event, block.at, session, data);
    };
    let data = match with_earlier_input(block, &before.data) {
        Some(whole) => Raw::of(&whole),
        None => Raw::of(block),
    };
    unit.blocks.put(block.id, Arc::new(BlockRow { session: before.session, seq: before.seq, data: data.clone() }));
    unit.announce_session(event, block.at, session, data)
}

/// Agents report the input of a tool call once, and not again with its result. The earlier input is kept.
fn with_earlier_input(block: &Block, before: &Raw) -> Option<Block> {
    #[derive(serde::Deserialize)]
    struct Earlier {
        #[serde(default)]
        input: Option<Box<serde_json::value::RawValue>>,
    }
    let BlockBody::Tool { tool_call_id, name, input: None, output, status } = &block.body else { return None };
    let earlier: Earlier = serde_json::from_str(before.as_str()).ok()?;
    let input = earlier.input.filter(|input| input.get() != "null").map(Raw::from)?;
    let body = BlockBody::Tool {
        tool_call_id: tool_call_id.clone(),
        name: name.clone(),
        input: Some(input),
        output: output.clone(),
        status: *status,
    };
    Some(Block { body, ..block.clone() })
}
