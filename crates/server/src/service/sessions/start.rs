//! Starting a session.

use std::collections::BTreeMap;

use sayso_api::session::NewSession;
use sayso_api::token::Role;
use sayso_core::environment;
use sayso_core::id::{ConnectionId, SessionId};
use sayso_core::limits;
use sayso_core::policy::QuestionPolicy;
use sayso_core::scope::Scope;
use sayso_core::session::{Labels, Session};
use sayso_store::ops::{IdempotencyKey, IdempotentResult};

use super::configure::check_mode;
use super::construct::{SessionDraft, SessionStart};
use super::message::MAX_MESSAGE;
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::project::{allowed_directory, read_project};
use crate::service::{ServiceError, Services, authorize};

/// Starts a session with an agent of this server.
pub(crate) async fn start(
    services: &Services,
    caller: &Caller,
    new: NewSession,
    key: Option<IdempotencyKey>,
) -> Result<Session, ServiceError> {
    authorize(caller, Permission::Answer)?;
    let Some(agent) = services.agents.get(&new.agent) else {
        let known = services.agents.all().iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ");
        let detail = format!("there is no agent `{}`; there are: {known}", limits::head(&new.agent, 80));
        return Err(ServiceError::UnknownAgent(detail));
    };
    let labels = scoped_labels(caller, new.labels)?;
    limits::check("the prompt", new.prompt.as_ref().map_or(0, String::len), MAX_MESSAGE)?;
    check_mode(caller, new.permission_mode.as_deref())?;
    limits::check("the model", new.model.as_ref().map_or(0, String::len), limits::NAME)?;
    let directory = allowed_directory(services, caller, new.cwd.as_deref()).await?;
    let policy = new.policy.unwrap_or_default();
    policy.check()?;
    let environment = agent_environment(caller, new.environment.unwrap_or_default())?;
    if let Some(program) = &agent.program
        && program.find(services.environment.search_path(&environment)).is_none()
    {
        return Err(ServiceError::AgentNotInstalled(program.missing(&agent.name)));
    }
    // If the policy rejects all questions, tell agents that support it not to ask.
    let questions = policy.questions.policy != Some(QuestionPolicy::Reject);
    let prompt = new.prompt.filter(|prompt| !prompt.trim().is_empty());
    let draft = SessionDraft {
        title: prompt.clone(),
        permission_mode: new.permission_mode,
        model: new.model,
        policy,
        labels,
        opened_by: Some(caller.token),
        ..SessionDraft::new(&agent.name, read_project(directory, services.home.clone()).await)
    };
    let now = services.clock.now();
    let (id, connection) = (SessionId::new(now, entropy::id()), ConnectionId::new(now, entropy::id()));
    let start = SessionStart { workspace: caller.workspace, id, connection, agent, draft, prompt, questions, key };
    // Stored before the commit, because the agent may start before this call returns.
    services.environment.keep_for_connection(connection, environment);
    let created = services.store.write(start.into_commit(now)).await;
    if !matches!(created, Ok(IdempotentResult::Done(_))) {
        services.environment.forget_connection(connection);
    }
    match created? {
        IdempotentResult::Done(session) | IdempotentResult::Repeated(session) => Ok(*session),
        IdempotentResult::Reused => Err(ServiceError::KeyReused),
    }
}

/// Checks the environment variables that a caller sends for an agent. Requires an admin, because `PATH` selects programs.
pub(crate) fn agent_environment(
    caller: &Caller,
    sent: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ServiceError> {
    if !sent.is_empty() && caller.role != Role::Admin {
        return Err(ServiceError::EnvironmentForbidden);
    }
    limits::check("the number of variables", sent.len(), environment::MAX_VARIABLES)?;
    for value in sent.values() {
        limits::check("a variable", value.len(), environment::MAX_VALUE_BYTES)?;
    }
    Ok(sent.into_iter().filter(|(name, value)| environment::passes(name) && !value.contains('\0')).collect())
}

/// Returns the labels of a new session or run. A token that is limited to labels adds those.
pub(crate) fn scoped_labels(caller: &Caller, mut labels: Labels) -> Result<Labels, ServiceError> {
    limits::check("the number of labels", labels.len(), limits::LABELS)?;
    for (key, value) in &labels {
        limits::check("a label", key.len().max(value.len()), limits::LABEL)?;
    }
    match &caller.scope {
        Scope::All | Scope::OpenedBy { .. } => {}
        Scope::Labels { labels: own } => labels.extend(own.clone()),
        Scope::Session { .. } | Scope::Asker { .. } => return Err(ServiceError::Forbidden),
    }
    Ok(labels)
}
