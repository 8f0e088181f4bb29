//! The stale timer: detects an agent that is silent in the middle of a turn.
//!
//! Every message to or from the agent restarts the timer. The timer stops while an ask is pending.

use sayso_agents::translator::{Command, Input};
use sayso_core::id::SessionId;
use sayso_core::session::SessionStatus;
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_core::transcript::BlockBody;
use sayso_store::EventKind;
use sayso_store::ops::ConnectionChange;

use super::state::ConnectionState;
use super::work::Step;
use crate::config::agents::OnStale;

impl ConnectionState {
    /// Returns when the agent counts as stalled if it stays silent. `None` while no turn is running or an ask is pending.
    pub(super) fn stale_at(&self) -> Option<Time> {
        let running = || self.sessions.values().any(|carried| carried.session.status == SessionStatus::Running);
        (self.pending == 0 && running()).then(|| self.heard_at.plus(self.stale_after))
    }

    /// Marks the running sessions as stalled, and interrupts them if the agent is configured that way.
    pub(super) fn stall(&mut self, now: Time, step: &mut Step) {
        for session in self.sessions_with(&SessionStatus::Running) {
            self.set_status(session, SessionStatus::Stalled, &mut step.changes);
            if self.on_stale == OnStale::Interrupt {
                let block = self.new_block(now, BlockBody::Notice { text: texts::WITHDRAWN_INTERRUPTED.to_owned() });
                step.changes.push(ConnectionChange::Block { session, block, event: EventKind::Notice });
                step.inputs.push(Input::Command(Command::Interrupt { session }));
            }
        }
    }

    /// Marks stalled sessions as running, because the agent sent something.
    pub(super) fn heard_from_agent(&mut self, now: Time, changes: &mut Vec<ConnectionChange>) {
        self.heard_at = now;
        for session in self.sessions_with(&SessionStatus::Stalled) {
            self.set_status(session, SessionStatus::Running, changes);
        }
    }

    fn sessions_with(&self, status: &SessionStatus) -> Vec<SessionId> {
        let with = self.sessions.iter().filter(|(_, carried)| carried.session.status == *status);
        with.map(|(id, _)| *id).collect()
    }
}
