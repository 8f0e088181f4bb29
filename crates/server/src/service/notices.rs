//! Notices: messages of agents that need no answer.

use sayso_api::notice::NewNotice;
use sayso_core::id::BlockId;
use sayso_core::limits;
use sayso_store::ops::{NoticeSource, PostNotice};

use super::asks::identity::check_agent;
use super::sessions::ensure_external;
use super::{ServiceError, Services, authorize};
use crate::auth::{Caller, Permission};
use crate::entropy;

pub(crate) async fn publish_notice(services: &Services, caller: &Caller, notice: NewNotice) -> Result<(), ServiceError> {
    authorize(caller, Permission::Open)?;
    let NewNotice { text, agent, external } = notice;
    limits::check("the text", text.len(), limits::TEXT)?;
    limits::check("the name of the agent", agent.as_ref().map_or(0, String::len), limits::NAME)?;
    if text.trim().is_empty() {
        return Err(ServiceError::invalid("text is empty; send the text of the notice"));
    }
    if let Some(agent) = &agent {
        check_agent(caller, agent)?;
    }
    let session = match external {
        Some(named) => Some(ensure_external(services, caller, named).await?.id),
        None => None,
    };
    services.quotas.spend(caller, session, text.len(), services.clock.now())?;
    let from = match session {
        Some(session) => NoticeSource::Session { session, block: BlockId::new(services.clock.now(), entropy::id()) },
        None => {
            let known = agent.or_else(|| caller.identity.agent.clone());
            NoticeSource::Name(known.unwrap_or_else(|| caller.name.clone()))
        }
    };
    Ok(services.store.write(PostNotice { workspace: caller.workspace, from, text }).await?)
}
