//! Opening an ask.

use std::sync::Arc;

use rusqlite::params;
use sayso_core::ask::{Ask, AskKind, AskState, Delivery, Reach};
use sayso_core::limits;
use sayso_core::time::Time;

use super::tx::{Earlier, Tx};
use super::{ask_row, kept, rule_hits};
use crate::error::StoreError;
use crate::event::{EventKind, WorkspaceId};
use crate::write::{OpenAsk, Opened, Operation};

/// Tells the run whose step asks a question that it was asked, or how it ended. A checkpoint is the
/// run's own question and has steps' events.
pub(super) fn trace(tx: &mut Tx<'_>, ask: &Arc<Ask>, now: Time) -> Result<(), StoreError> {
    if ask.context.run.is_none() || ask.origin.session.is_none() || ask.kind() != AskKind::Question {
        return Ok(());
    }
    let kind = match &ask.state {
        AskState::Pending(_) => EventKind::AgentQuestionAsked,
        AskState::Resolved { .. } => EventKind::AgentQuestionAnswered,
    };
    tx.event(kind, now, ask.origin.session, Some(Arc::clone(ask)), None)?;
    Ok(())
}

/// Writes a new ask with its event. What the policy decided is one event: it never shows as pending.
pub(super) fn open(tx: &mut Tx<'_>, workspace: WorkspaceId, ask: Ask) -> Result<Arc<Ask>, StoreError> {
    ask_row::insert(tx.db(), workspace, &ask, tx.next_seq())?;
    rule_hits::insert(tx.db(), workspace, &ask)?;
    let ask = Arc::new(ask);
    let kind = match &ask.state {
        AskState::Pending(_) => EventKind::AskRequested,
        AskState::Resolved { .. } => EventKind::AskResolved,
    };
    tx.event(kind, ask.opened_at, ask.origin.session, Some(Arc::clone(&ask)), None)?;
    trace(tx, &ask, ask.opened_at)?;
    match &ask.state {
        AskState::Pending(_) => {
            if let Some(deadline) = ask.policy.deadline {
                tx.deadline(ask.id, deadline.at);
            }
        }
        AskState::Resolved { outcome, delivery: Delivery::Queued } => {
            tx.send_outcome(&ask, outcome.decision.clone(), Reach::Live)?;
        }
        AskState::Resolved { .. } => {}
    }
    Ok(ask)
}

impl Operation for OpenAsk {
    type Output = Opened;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Opened, StoreError> {
        let reread = |tx: &Tx<'_>, id: &str| -> Result<Opened, StoreError> {
            let ask = id.parse().ok().map(|id| ask_row::get(tx.db(), self.workspace, id)).transpose()?.flatten();
            Ok(ask.map_or(Opened::KeyReused, |ask| Opened::Ask(Box::new(ask))))
        };
        match tx.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Same(id) => return reread(tx, &id),
            Earlier::Other => return Ok(Opened::KeyReused),
        }
        if let Some(session) = self.ask.origin.session {
            let found = super::sessions::get(tx.db(), self.workspace, session)?;
            if found.is_none_or(|session| session.status.is_ended() || !super::sessions::visible(&session, &self.scope)) {
                return Ok(Opened::NoSession);
            }
            let pending: i64 = tx
                .db()
                .prepare_cached("SELECT count(*) FROM ask WHERE session = ?1 AND status < 2")?
                .query_row([session.as_bytes()], |row| row.get(0))?;
            if usize::try_from(pending).unwrap_or(usize::MAX) >= limits::PENDING {
                return Ok(Opened::TooMany);
            }
        }
        let owner = self.ask.origin.opened_by.map(|id| *id.as_bytes());
        if let (Some(owner), Some(native)) = (&owner, &self.ask.origin.native_id)
            && let Some(pending) = ask_row::pending_by_native(tx.db(), owner, native)?
        {
            tx.remember(self.key.as_ref(), &pending.id.to_string(), self.ask.opened_at)?;
            return Ok(Opened::Ask(Box::new(pending)));
        }
        if let (Some(owner), Some(native), Some(keep)) = (&owner, &self.ask.origin.native_id, self.ask.context.keep)
            && let Some(untaken) = kept::untaken(tx.db(), owner, native, keep, self.ask.opened_at)?
        {
            tx.remember(self.key.as_ref(), &untaken.id.to_string(), self.ask.opened_at)?;
            return Ok(Opened::Ask(Box::new(untaken)));
        }
        if let Some(owner) = &owner {
            let pending: i64 = tx
                .db()
                .prepare_cached("SELECT count(*) FROM ask WHERE owner = ?1 AND status < 2")?
                .query_row(params![owner], |row| row.get(0))?;
            if usize::try_from(pending).unwrap_or(usize::MAX) >= self.max_pending {
                return Ok(Opened::TooMany);
            }
        }
        tx.remember(self.key.as_ref(), &self.ask.id.to_string(), self.ask.opened_at)?;
        let ask = open(tx, self.workspace, *self.ask)?;
        Ok(Opened::Ask(Box::new(Arc::unwrap_or_clone(ask))))
    }
}
