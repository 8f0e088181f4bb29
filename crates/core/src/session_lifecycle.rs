//! Rules for changes of a session's status.
//!
//! The store applies these rules to the row that it loaded in its own transaction. A connection cannot apply them while it
//! plans a transition, because a person may close the session between the plan and the commit.
//!
//! A person can close a session of an external agent ([`Session::external`]). That ends the session in Sayso only. The agent
//! continues, and its next ask reopens the session.

use crate::session::{Session, SessionStatus};

/// A command of a person to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionCommand {
    /// Stop the turn. Approvals that have not been sent are cancelled.
    Interrupt,
    /// End the session. Like `Interrupt`, but the agent does nothing afterwards.
    Close,
    /// Start the agent of an ended session again.
    Resume,
}

/// The effect of a command on a session that accepts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEffect {
    /// Cancel approvals that have not been sent, and pass the command to the agent.
    StopAgent,
    /// End the session at once and withdraw its pending asks. No connection gets the command.
    CloseHere,
    /// Set the session to running and pass the command to the agent.
    ResumeAgent,
}

/// Why a session refuses a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandRefused {
    /// A person runs the agent, so Sayso cannot interrupt or resume it.
    External,
    Ended,
    /// The session has not ended, or its agent cannot resume it.
    NotResumable,
}

/// Decides what a command does to a session.
///
/// # Errors
/// If the session cannot follow the command.
pub const fn command_effect(session: &Session, command: SessionCommand) -> Result<CommandEffect, CommandRefused> {
    let resumable = matches!(session.status, SessionStatus::Ended { resumable: true, .. });
    match (command, session.status.is_ended(), session.external.is_some()) {
        (SessionCommand::Interrupt | SessionCommand::Resume, _, true) => Err(CommandRefused::External),
        (SessionCommand::Close, false, true) => Ok(CommandEffect::CloseHere),
        // Answers to its parked questions would otherwise resume it.
        (SessionCommand::Close, true, _) if resumable => Ok(CommandEffect::CloseHere),
        (SessionCommand::Interrupt | SessionCommand::Close, true, _) => Err(CommandRefused::Ended),
        (SessionCommand::Interrupt | SessionCommand::Close, false, false) => Ok(CommandEffect::StopAgent),
        (SessionCommand::Resume, _, false) if resumable => Ok(CommandEffect::ResumeAgent),
        (SessionCommand::Resume, _, false) => Err(CommandRefused::NotResumable),
    }
}

/// Returns the new status of a session after its agent opened an ask, or `None` if the status stays. An ask reopens an external
/// session that was closed in Sayso.
#[must_use]
pub fn status_after_ask(session: &Session) -> Option<SessionStatus> {
    is_closed_here(session).then_some(SessionStatus::Running)
}

/// Returns the new status of a session after its agent reported `reported`, or `None` if the status stays. An external session
/// that was closed in Sayso ignores reports; only an ask reopens it.
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
    fn ask_reopens_only_a_session_closed_in_sayso() {
        assert_eq!(status_after_ask(&session(ended(false), EXTERNAL)), Some(SessionStatus::Running));
        assert_eq!(status_after_ask(&session(SessionStatus::Idle, EXTERNAL)), None);
        assert_eq!(status_after_ask(&session(ended(false), OWN)), None);
        assert_eq!(status_after_ask(&session(SessionStatus::Idle, OWN)), None);
    }

    #[test]
    fn session_closed_in_sayso_ignores_reports() {
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
