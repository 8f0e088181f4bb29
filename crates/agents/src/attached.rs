//! Shared parts of the translators for attached servers: servers that the user started, with their own conversations.
//!
//! Such a translator is a hub. It follows the conversations that ask something and runs a single-session translator for
//! each of them. Calls and requests of all sessions share one number space: the bits from [`SLOT`] up are the slot of
//! the session, and slot 0 is the hub itself.

use sayso_core::id::SessionId;

use crate::out::Out;
use crate::translator::{AgentEvent, Command, Output};

/// The lowest bit of the session's slot in a call or request number.
pub(crate) const SLOT: u32 = 32;
/// How many sessions are followed at a time. The first idle session is dropped to make room.
pub(crate) const SESSIONS: usize = 64;
/// After this many failed attempts in a row to open the server's stream, open asks are withdrawn.
pub(crate) const GONE: u8 = 3;
/// Maximum length of a title in characters.
pub(crate) const TITLE: usize = 200;
/// Maximum length of a directory in bytes.
const PATH: usize = 4096;

/// Whether a path that the server sent is usable as the project directory of a session.
pub(crate) fn is_directory(path: &str) -> bool {
    path.starts_with('/') && path.len() <= PATH
}

/// A conversation of the server that has a session in Sayso.
pub(crate) trait FollowedSession: Sized {
    /// The agent's product name.
    const AGENT: &'static str;

    fn session(&self) -> Option<SessionId>;

    /// Whether the conversation has no open asks and no outcomes in transit.
    fn is_idle(&self) -> bool;

    /// Withdraws the open asks and forgets all pending work.
    fn lose(&mut self, reason: &str, out: &mut Out);

    /// Converts outputs of the session into outputs of the hub.
    fn pass_on(&self, outputs: Vec<Output>, all: &mut Vec<Output>) {
        all.extend(outputs);
    }

    /// Lets the session emit outputs that are not the result of its own input.
    fn emit_outputs(&mut self, say: impl FnOnce(&mut Self, &mut Out), all: &mut Vec<Output>) {
        let Some(session) = self.session() else { return };
        let mut out = Out::new(session);
        say(self, &mut out);
        self.pass_on(out.into_outputs(), all);
    }
}

/// Makes room for one more session. The evicted session ends; it is followed again when it asks something.
pub(crate) fn evict_idle<F: FollowedSession>(followed: &mut Vec<F>, all: &mut Vec<Output>) {
    if followed.len() < SESSIONS {
        return;
    }
    let quiet = followed.iter().position(F::is_idle).unwrap_or_default();
    let reason = format!("Other sessions of this {} asked more recently. This one is followed again when it asks.", F::AGENT);
    followed.remove(quiet).emit_outputs(
        |session, out| {
            session.lose(&reason, out);
            out.event(AgentEvent::Ended { reason: reason.clone(), failed: false, resumable: false });
        },
        all,
    );
}

/// Withdraws all open asks because the server is gone. The sessions are found again if the server returns.
pub(crate) fn withdraw_all_sessions<F: FollowedSession>(followed: &mut [F], place: &str, all: &mut Vec<Output>) {
    let reason = format!("{} at {place} is gone.", F::AGENT);
    for session in followed {
        session.emit_outputs(|session, out| session.lose(&reason, out), all);
    }
}

/// Finds the session that a command addresses. If the session is not followed, an outcome for it is undeliverable.
pub(crate) fn find<'a, F: FollowedSession>(followed: &'a mut [F], command: &Command, all: &mut Vec<Output>) -> Option<&'a mut F> {
    let found = followed.iter_mut().find(|followed| followed.session() == Some(command.session()));
    if let (None, Command::Outcome { ask, .. }) = (&found, command) {
        let reason = format!("This session of your {} is no longer followed.", F::AGENT);
        all.push(Output::Undeliverable { ask: *ask, reason });
    }
    found
}
