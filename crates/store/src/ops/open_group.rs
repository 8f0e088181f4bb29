//! Opens the asks of one pause of a suspended run, all or none.

use std::sync::Arc;

use sayso_core::ask::{Ask, AskState};
use sayso_core::group::Group;
use sayso_core::id::AskId;
use sayso_core::limits;
use sayso_core::scope::Scope;

use super::{open_ask, session_rows};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, PendingOf, Read, Reads};
use crate::rows::OwnerId;
use crate::unit::Unit;

#[derive(Debug)]
pub struct OpenGroup {
    pub workspace: WorkspaceId,
    /// Sessions outside this scope are not found.
    pub scope: Scope,
    /// The group with the ids of its asks. Some asks may have been opened before.
    pub group: Box<Group>,
    /// The new asks. Asks that the policy decided have their outcome.
    pub asks: Vec<Ask>,
    /// The encrypted state.
    pub state: Option<Vec<u8>>,
    /// The limit of pending asks of the caller.
    pub max_pending: usize,
}

/// The result of [`OpenGroup`].
#[derive(Debug, Clone, PartialEq)]
pub enum OpenGroupResult {
    /// A new group, or the earlier one with the same key.
    Group { group: Arc<Group>, asks: Vec<Arc<Ask>> },
    /// The caller or a session has too many pending asks.
    TooMany,
    /// The key belongs to a group that asks for something else.
    KeyReused,
    /// The session of an ask is unknown, outside the scope, or has ended.
    NoSession,
    /// The ask does not belong to this caller.
    ForeignAsk(AskId),
}

impl OpenGroup {
    fn owner(&self) -> OwnerId {
        self.group.opened_by.into()
    }

    /// Checks the limits and sessions. `None` if the group can be opened.
    fn refusal(&self, unit: &Unit) -> Result<Option<OpenGroupResult>, StoreError> {
        for id in self.group.asks.iter().filter(|id| !self.asks.iter().any(|ask| ask.id == **id)) {
            let own = |ask: &Ask| ask.origin.opened_by == Some(self.group.opened_by) && ask.origin.connection.is_none();
            if !unit.ask(*id)?.is_some_and(|row| own(&row.ask)) {
                return Ok(Some(OpenGroupResult::ForeignAsk(*id)));
            }
        }
        let new = self.asks.iter().filter(|ask| matches!(ask.state, AskState::Pending(_))).count();
        if unit.count_pending(PendingOf::Owner(self.owner()))? + new > self.max_pending {
            return Ok(Some(OpenGroupResult::TooMany));
        }
        for session in self.asks.iter().filter_map(|ask| ask.origin.session) {
            let found = unit.session(session)?;
            if found.is_none_or(|session| session.status.is_ended() || !session_rows::is_visible(session, &self.scope)) {
                return Ok(Some(OpenGroupResult::NoSession));
            }
            if unit.count_pending(PendingOf::Session(session))? + new > limits::PENDING {
                return Ok(Some(OpenGroupResult::TooMany));
            }
        }
        Ok(None)
    }
}

impl Operation for OpenGroup {
    type Output = OpenGroupResult;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Group(self.group.id));
        reads.add(Read::PendingIds(PendingOf::Owner(self.owner())));
        for id in &self.group.asks {
            reads.add(Read::Ask(*id));
        }
        for session in self.asks.iter().filter_map(|ask| ask.origin.session) {
            reads.add(Read::Session(session));
            reads.add(Read::PendingIds(PendingOf::Session(session)));
        }
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        // If the key was used, the result contains the asks of the earlier group.
        if let Ok(Some(earlier)) = unit.groups.get(&self.group.id) {
            earlier.asks.iter().for_each(|id| reads.add(Read::Ask(*id)));
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<OpenGroupResult, StoreError> {
        if let Some(earlier) = unit.groups.get(&self.group.id)?.cloned() {
            if earlier.digest != self.group.digest {
                return Ok(OpenGroupResult::KeyReused);
            }
            let asks = asks_of(unit, &earlier)?;
            return Ok(OpenGroupResult::Group { group: earlier, asks });
        }
        if let Some(refusal) = self.refusal(unit)? {
            return Ok(refusal);
        }
        for ask in &self.asks {
            open_ask::insert_ask(unit, ask.clone())?;
        }
        let asks = asks_of(unit, &self.group)?;
        let mut group = Group::clone(&self.group);
        if asks.iter().all(|ask| ask.outcome().is_some()) {
            group = group.complete(unit.now);
        }
        let group = Arc::new(group);
        unit.groups.insert(group.id, Arc::clone(&group))?;
        if let Some(state) = &self.state {
            unit.group_states.put(group.id, Arc::new(state.clone()));
        }
        Ok(OpenGroupResult::Group { group, asks })
    }
}

/// Returns the asks of a group, in the order of the group.
pub(super) fn asks_of(unit: &Unit, group: &Group) -> Result<Vec<Arc<Ask>>, StoreError> {
    let mut asks = Vec::with_capacity(group.asks.len());
    for id in &group.asks {
        asks.extend(unit.ask(*id)?.map(|row| Arc::clone(&row.ask)));
    }
    Ok(asks)
}
