//! What translators of attached servers have in common: servers that somebody else started, with conversations of their own.
//!
//! Such a translator is a hub. It follows the conversations that ask, and drives a translator for a single session for each
//! of them. Calls and requests of all sessions share one space of numbers: the upper half of a number is the slot of the
//! session, from [`SLOT`] on, and slot 0 is the hub itself.

use sayso_core::id::SessionId;

use crate::out::Out;
use crate::translator::{AgentEvent, Command, Output};

/// The lowest bit of a session's slot in the number of a call or request.
pub(crate) const SLOT: u32 = 32;
/// Sessions that are followed at once. The first one that waits for nothing makes room.
pub(crate) const SESSIONS: usize = 64;
/// Failed attempts in a row to open the server's stream after which open asks count as lost.
pub(crate) const GONE: u8 = 3;
/// Characters of a title.
pub(crate) const TITLE: usize = 200;
/// Bytes of a directory.
const PATH: usize = 4096;

/// Whether a server named a directory that can be the project of a session.
pub(crate) fn is_directory(path: &str) -> bool {
    path.starts_with('/') && path.len() <= PATH
}

/// A conversation of the server that has a session.
pub(crate) trait FollowedSession: Sized {
    /// What people call the agent.
    const AGENT: &'static str;

    fn session(&self) -> Option<SessionId>;

    /// Whether nothing is open in it or on its way to it.
    fn is_quiet(&self) -> bool;

    /// Withdraws the open asks and forgets what is under way.
    fn lose(&mut self, reason: &str, out: &mut Out);

    /// Turns outputs of the session into outputs of the hub.
    fn pass_on(&self, outputs: Vec<Output>, all: &mut Vec<Output>) {
        all.extend(outputs);
    }

    /// Lets the session emit something that does not follow from an input of its own.
    fn tell(&mut self, say: impl FnOnce(&mut Self, &mut Out), all: &mut Vec<Output>) {
        let Some(session) = self.session() else { return };
        let mut out = Out::new(session);
        say(self, &mut out);
        self.pass_on(out.into_outputs(), all);
    }
}

/// Makes room for one more session. The session that makes room ends, and is found again when it asks.
pub(crate) fn make_room<F: FollowedSession>(followed: &mut Vec<F>, all: &mut Vec<Output>) {
    if followed.len() < SESSIONS {
        return;
    }
    let quiet = followed.iter().position(F::is_quiet).unwrap_or_default();
    let reason = format!("Other sessions of this {} asked since; this one is followed again when it asks.", F::AGENT);
    followed.remove(quiet).tell(
        |session, out| {
            session.lose(&reason, out);
            out.event(AgentEvent::Ended { reason: reason.clone(), failed: false, resumable: false });
        },
        all,
    );
}

/// The server is gone: whatever is open in its sessions is withdrawn. If the server returns, it is found again.
pub(crate) fn lose_all<F: FollowedSession>(followed: &mut [F], place: &str, all: &mut Vec<Output>) {
    let reason = format!("{} at {place} is gone.", F::AGENT);
    for session in followed {
        session.tell(|session, out| session.lose(&reason, out), all);
    }
}

/// The session that a command is for. If it is not followed, an outcome is undeliverable.
pub(crate) fn find<'a, F: FollowedSession>(followed: &'a mut [F], command: &Command, all: &mut Vec<Output>) -> Option<&'a mut F> {
    let found = followed.iter_mut().find(|followed| followed.session() == Some(command.session()));
    if let (None, Command::Outcome { ask, .. }) = (&found, command) {
        let reason = format!("This session of your {} is not followed any more.", F::AGENT);
        all.push(Output::Undeliverable { ask: *ask, reason });
    }
    found
}
