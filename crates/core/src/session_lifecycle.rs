//! How the status of a session changes.
//!
//! The store calls these rules with the row that it loaded in its own transaction. A connection could not decide them while
//! it plans a transition: a person may close the session between the plan and the commit.
//!
//! A person can close a session whose agent they run themselves ([`Session::external`]). That ends the session in Sayso
//! only; the agent goes on, and its next ask reopens the session.

use crate::session::{Session, SessionStatus};

/// What a person tells a session to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCommand {
    /// Stop the turn. Approvals that have not left yet do not leave any more.
    Interrupt,
    /// End the session. Cancels approvals like `Interrupt`, and nothing else follows.
    Close,
    /// Start the agent of an ended session again.
    Resume,
}

/// What a command does to a session that accepts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEffect {
    /// Approvals that have not left are cancelled, and the agent gets the command.
    StopAgent,
    /// The session ends at once and its pending asks are withdrawn. No agent of ours gets the command.
    CloseHere,
    /// The session is running again, and the agent gets the command.
    ResumeAgent,
}

/// Why a session refuses a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandRefused {
    /// A person runs the agent themselves, so Sayso cannot interrupt or resume it.
    External,
    /// The session has ended.
    Ended,
    /// The session has not ended, or its agent cannot resume it.
    NotResumable,
}

/// Decides what a person's command does to a session.
///
/// # Errors
/// If the session cannot follow the command.
pub const fn command_effect(session: &Session, command: SessionCommand) -> Result<CommandEffect, CommandRefused> {
    let resumable = matches!(session.status, SessionStatus::Ended { resumable: true, .. });
    match (command, session.status.is_ended(), session.external.is_some()) {
        (SessionCommand::Interrupt | SessionCommand::Resume, _, true) => Err(CommandRefused::External),
        (SessionCommand::Close, false, true) => Ok(CommandEffect::CloseHere),
        // Its parked questions would resume it.
        (SessionCommand::Close, true, _) if resumable => Ok(CommandEffect::CloseHere),
        (SessionCommand::Interrupt | SessionCommand::Close, true, _) => Err(CommandRefused::Ended),
        (SessionCommand::Interrupt | SessionCommand::Close, false, false) => Ok(CommandEffect::StopAgent),
        (SessionCommand::Resume, _, false) if resumable => Ok(CommandEffect::ResumeAgent),
        (SessionCommand::Resume, _, false) => Err(CommandRefused::NotResumable),
    }
}

/// The status of a session after its agent opened an ask; `None` if it stays. An ask reopens a session that was closed here.
#[must_use]
pub fn status_after_ask(session: &Session) -> Option<SessionStatus> {
    is_closed_here(session).then_some(SessionStatus::Running)
}

/// The status of a session after its agent reported `reported`; `None` if it stays. A session that was closed here ignores
/// the report: only an ask reopens it.
#[must_use]
pub fn status_after_report(session: &Session, reported: SessionStatus) -> Option<SessionStatus> {
    (!is_closed_here(session)).then_some(reported)
}

const fn is_closed_here(session: &Session) -> bool {
    session.external.is_some() && session.status.is_ended()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ConnectionId, SessionId};
    use crate::policy::SessionPolicy;
    use crate::session::{External, Labels};
    use crate::time::Time;

    const EXTERNAL: bool = true;
    const OWN: bool = false;

    fn ended(resumable: bool) -> SessionStatus {
        SessionStatus::Ended { reason: "closed".to_owned(), failed: false, resumable }
    }

    fn session(status: SessionStatus, external: bool) -> Session {
        Session {
            id: SessionId::from_bytes([1; 16]),
            connection: ConnectionId::from_bytes([2; 16]),
            agent: "mock".to_owned(),
            title: String::new(),
            project: "/".to_owned(),
            branch: None,
            status,
            permission_mode: String::new(),
            model: None,
            policy: SessionPolicy::default(),
            project_policy: None,
            config: None,
            external: external.then(|| External { native_id: "native".to_owned() }),
            step: None,
            labels: Labels::new(),
            opened_by: None,
            created_at: Time::from_millis(0),
            updated_at: Time::from_millis(0),
        }
    }

    #[test]
    fn an_ask_reopens_only_a_session_that_was_closed_here() {
        assert_eq!(status_after_ask(&session(ended(false), EXTERNAL)), Some(SessionStatus::Running));
        assert_eq!(status_after_ask(&session(SessionStatus::Idle, EXTERNAL)), None);
        assert_eq!(status_after_ask(&session(ended(false), OWN)), None);
        assert_eq!(status_after_ask(&session(SessionStatus::Idle, OWN)), None);
    }

    #[test]
    fn a_session_that_was_closed_here_ignores_reports() {
        assert_eq!(status_after_report(&session(ended(false), EXTERNAL), SessionStatus::Idle), None);
        assert_eq!(status_after_report(&session(ended(false), EXTERNAL), ended(true)), None);
        assert_eq!(
            status_after_report(&session(SessionStatus::Running, EXTERNAL), SessionStatus::Idle),
            Some(SessionStatus::Idle)
        );
        assert_eq!(status_after_report(&session(ended(true), OWN), SessionStatus::Running), Some(SessionStatus::Running));
    }

    #[test]
    fn each_command_has_one_effect_per_status() {
        use SessionCommand::{Close, Interrupt, Resume};
        let stop = Ok(CommandEffect::StopAgent);
        let close = Ok(CommandEffect::CloseHere);
        let resume = Ok(CommandEffect::ResumeAgent);
        let external = Err(CommandRefused::External);
        let over = Err(CommandRefused::Ended);
        let not_resumable = Err(CommandRefused::NotResumable);
        let table = [
            (SessionStatus::Running, OWN, [stop, stop, not_resumable]),
            (SessionStatus::Idle, OWN, [stop, stop, not_resumable]),
            (SessionStatus::Stalled, OWN, [stop, stop, not_resumable]),
            (ended(true), OWN, [over, close, resume]),
            (ended(false), OWN, [over, over, not_resumable]),
            (SessionStatus::Running, EXTERNAL, [external, close, external]),
            (ended(true), EXTERNAL, [external, close, external]),
            (ended(false), EXTERNAL, [external, over, external]),
        ];
        for (status, is_external, effects) in table {
            let session = session(status, is_external);
            let found = [Interrupt, Close, Resume].map(|command| command_effect(&session, command));
            assert_eq!(found, effects, "{:?}, external: {is_external}", session.status);
        }
    }
}
