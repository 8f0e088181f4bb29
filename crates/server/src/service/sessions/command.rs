//! Interrupting, resuming and closing sessions.

use sayso_agents::translator::Command;
use sayso_core::id::{BlockId, SessionId};
use sayso_core::policy::QuestionPolicy;
use sayso_core::raw::Raw;
use sayso_core::session::Session;
use sayso_core::texts;
use sayso_store::ops::{CommandSession, NoticeSource, PostNotice, SessionCommand, SessionCommandResult};

use super::read::find;
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::{ServiceError, Services, authorize};

/// Queues a command for the agent of a session. Returns the session and the number of its pending asks.
pub(crate) async fn command(
    services: &Services,
    caller: &Caller,
    id: &str,
    kind: SessionCommand,
) -> Result<(Session, u32), ServiceError> {
    authorize(caller, Permission::Answer)?;
    let found = find(services, caller, id).await?;
    let session = found.session.id;
    let command = match kind {
        SessionCommand::Interrupt => Command::Interrupt { session },
        SessionCommand::Close => Command::Close { session },
        SessionCommand::Resume => resume_command(&found.session),
    };
    let of_step = kind == SessionCommand::Interrupt && found.session.step.is_some();
    let wanted = CommandSession {
        workspace: caller.workspace,
        session,
        scope: caller.scope.clone(),
        command: Raw::of(&command),
        kind,
        said: of_step.then(|| interrupt_notice(services, caller, session)),
    };
    match services.store.write(wanted).await? {
        SessionCommandResult::Queued(session) => Ok((*session, found.pending.count)),
        SessionCommandResult::External => Err(ServiceError::ExternalSession),
        SessionCommandResult::Ended => Err(ServiceError::SessionEnded),
        SessionCommandResult::NotResumable => Err(ServiceError::NotResumable),
        SessionCommandResult::NotFound => Err(ServiceError::SessionNotFound),
    }
}

/// Builds the transcript notice for a step whose turn a person interrupts. The run reads it there, also after a restart.
fn interrupt_notice(services: &Services, caller: &Caller, session: SessionId) -> PostNotice {
    let from = NoticeSource::Session { session, block: BlockId::new(services.clock.now(), entropy::id()) };
    PostNotice { workspace: caller.workspace, from, text: texts::WITHDRAWN_INTERRUPTED.to_owned() }
}

/// Builds the command that resumes a session.
pub(crate) fn resume_command(session: &Session) -> Command {
    Command::Start {
        session: session.id,
        project: session.project.clone(),
        prompt: None,
        permission_mode: session.permission_mode.clone(),
        model: session.model.clone(),
        questions: session.policy.questions.policy != Some(QuestionPolicy::Reject),
    }
}
