//! Messages to agents.

use sayso_agents::translator::Command;
use sayso_api::session::{IfPending, MessageRequest};
use sayso_core::actor::Actor;
use sayso_core::ask::Ask;
use sayso_core::id::BlockId;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::transcript::{Block, BlockBody, Role};
use sayso_store::ops::{IdempotencyKey, SendMessage, SendMessageResult};

use super::read::{find, session_id};
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::{ServiceError, Services, authorize};

/// Maximum size of a prompt or message, in bytes.
pub(super) const MAX_MESSAGE: usize = 1024 * 1024;

/// A message that was queued for the agent.
pub(crate) struct Delivered {
    /// The block of the message in the transcript.
    pub(crate) message: BlockId,
    /// The ask that the message answered, if any.
    pub(crate) answered: Option<Box<Ask>>,
}

/// Sends a message to the agent of a session. If exactly one question is pending, the message answers it; otherwise it is a
/// prompt.
pub(crate) async fn send_message(
    services: &Services,
    caller: &Caller,
    via: &str,
    id: &str,
    message: MessageRequest,
    key: Option<IdempotencyKey>,
) -> Result<Delivered, ServiceError> {
    authorize(caller, Permission::Answer)?;
    let session = session_id(id)?;
    let MessageRequest { text, if_pending } = message;
    if text.trim().is_empty() {
        return Err(ServiceError::invalid("text is empty"));
    }
    limits::check("the message", text.len(), MAX_MESSAGE)?;
    let now = services.clock.now();
    let block = Block {
        id: BlockId::new(now, entropy::id()),
        at: now,
        subagent: None,
        body: BlockBody::Message { role: Role::User, text: text.clone() },
    };
    let found = find(services, caller, id).await?;
    let typed = services.agents.get(&found.session.agent).map(|agent| agent.capabilities.typed).unwrap_or_default();
    let by = Actor::Message { name: caller.name.clone(), via: via.to_owned(), token: caller.token, message: block.id };
    let send = SendMessage {
        workspace: caller.workspace,
        session,
        scope: caller.scope.clone(),
        block,
        command: Raw::of(&Command::Prompt { session, text: text.clone() }),
        text,
        by,
        queue: if_pending == IfPending::Queue,
        typed,
        key,
    };
    match services.store.write(send).await? {
        SendMessageResult::Prompt(message) => Ok(Delivered { message, answered: None }),
        SendMessageResult::Answered(message, ask) => Ok(Delivered { message, answered: Some(ask) }),
        SendMessageResult::Pending(asks) => Err(ServiceError::MessageBlocked(asks)),
        SendMessageResult::External => Err(ServiceError::ExternalSession),
        SendMessageResult::Ended => Err(ServiceError::SessionEnded),
        SendMessageResult::NotFound => Err(ServiceError::SessionNotFound),
        SendMessageResult::KeyReused => Err(ServiceError::KeyReused),
    }
}
