//! Opening an ask: limits, then the policy, then the row.

use std::time::Duration;

use sayso_agents::translator::NewAsk as AgentAsk;
use sayso_api::ask::NewAsk;
use sayso_core::ask::{Ask, AskBody, AskContext, AskKind, AskState, Deadline, Link, Origin};
use sayso_core::id::{AskId, ConnectionId, SessionId, TokenId};
use sayso_core::limits::{self, LimitExceeded};
use sayso_core::plain_text::{self, ContainsNul};
use sayso_core::policy::{self, OnTimeout, PolicySet, Subject};
use sayso_core::session::Session;
use sayso_core::time::{Span, Time};
use sayso_store::ops::{IdempotencyKey, OpenAsk, Opened};

use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::policies::{SessionScope, state_after};
use crate::service::sessions::{self, ensure_external};
use crate::service::{ServiceError, Services, authorize};

/// The longest time that an ask is kept for a caller that has disconnected.
const LONGEST_KEEP: Duration = Duration::from_secs(86_400);
/// Pending asks of one token.
const MAX_PENDING: usize = 10_000;

/// The agent that opens an ask, and the policy that decides the ask first.
#[derive(Debug)]
pub(crate) struct AskingAgent<'a> {
    pub(crate) connection: ConnectionId,
    pub(crate) session: &'a Session,
    pub(crate) policy: &'a PolicySet,
    /// The person's home directory.
    pub(crate) home: Option<&'a str>,
}

/// Why an agent's request does not become an ask. The agent gets this sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AskRefused {
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    #[error(transparent)]
    ContainsNul(#[from] ContainsNul),
}

/// Checks the texts of an ask that lists are filtered by.
fn check_plain_text(agent: &str, project: Option<&str>, tool_call_id: Option<&str>) -> Result<(), ContainsNul> {
    plain_text::check("the name of the agent", agent)?;
    plain_text::check_optional("the project", project)?;
    plain_text::check_optional("the id of the tool call", tool_call_id)
}

/// Builds the ask that an agent opens, after the policy has looked at it. The connection commits it with everything else
/// that follows from the agent's message.
pub(crate) fn open_for_agent(agent: &AskingAgent<'_>, id: AskId, new: AgentAsk, now: Time) -> Result<Ask, AskRefused> {
    let session = agent.session;
    new.body.check_limits()?;
    plain_text::check("the id of the request", &new.native_id)?;
    check_plain_text(&session.agent, Some(&session.project), new.tool_call_id.as_deref())?;
    limits::check("the request", new.raw.as_ref().map_or(0, |raw| raw.as_str().len()), limits::RAW)?;
    let mut labels = session.labels.clone();
    labels.extend(new.labels);
    let context = AskContext {
        agent: session.agent.clone(),
        title: session.title.clone(),
        project: Some(session.project.clone()),
        branch: session.branch.clone(),
        subagent: new.subagent,
        context: new.context.map(|said| limits::tail(&said, limits::CONTEXT).to_owned()),
        tool_call_id: new.tool_call_id,
        blocking: new.blocking,
        run: session.step.as_ref().map(|of| of.run),
        step: session.step.as_ref().map(|of| of.step.clone()),
        labels,
        keep: None,
    };
    let subject = Subject {
        agent: &session.agent,
        project: Some(&session.project),
        home: agent.home,
        body: &new.body,
        step: session.step.is_some(),
    };
    let (state, policy) = state_after(policy::decide(agent.policy, &subject, now), now);
    tracing::debug!(ask = %id, kind = new.body.kind().as_str(), session = %session.id, "ask opened");
    Ok(Ask {
        id,
        origin: Origin {
            session: Some(session.id),
            connection: Some(agent.connection),
            native_id: Some(new.native_id),
            opened_by: session.opened_by,
        },
        body: new.body.into(),
        context: context.into(),
        policy,
        opened_at: now,
        snoozed_until: None,
        state,
        raw: new.raw,
    })
}

/// Opens an ask for a caller.
pub(crate) async fn open(
    services: &Services,
    caller: &Caller,
    new: NewAsk,
    key: Option<IdempotencyKey>,
) -> Result<Ask, ServiceError> {
    authorize(caller, Permission::Open)?;
    let policy_only = new.policy_only == Some(true);
    let wanted = wanted(services, caller, new).await?;
    let ask = build(services, wanted, services.clock.now())?;
    if policy_only && matches!(ask.state, AskState::Pending(_)) {
        return Err(ServiceError::NotDecided);
    }
    let id = ask.id;
    tracing::debug!(ask = %id, kind = ask.kind().as_str(), token = %caller.token, "ask opened");
    let scope = caller.scope.clone();
    let open = OpenAsk { workspace: caller.workspace, scope, ask: Box::new(ask), key, max_pending: MAX_PENDING };
    match services.store.write(open).await? {
        Opened::Ask(ask) => {
            if ask.id != id {
                tracing::debug!(ask = %ask.id, instead_of = %id, "ask is open already");
            }
            Ok(*ask)
        }
        Opened::TooMany => Err(ServiceError::TooManyPending),
        Opened::KeyReused => Err(ServiceError::KeyReused),
        Opened::NoSession => Err(ServiceError::SessionNotFound),
    }
}

/// What a caller wants to ask.
#[derive(Debug)]
struct RequestedAsk {
    body: AskBody,
    context: AskContext,
    session: Option<SessionId>,
    /// What the session adds to the policy.
    session_scope: Option<SessionScope>,
    dedupe_key: Option<String>,
    timeout: Option<Span>,
    opened_by: TokenId,
}

/// Reads the request. An external session that is named for the first time is created here.
async fn wanted(services: &Services, caller: &Caller, new: NewAsk) -> Result<RequestedAsk, ServiceError> {
    let found = match (&new.session_id, new.external) {
        (Some(_), Some(_)) => return Err(ServiceError::invalid("an ask has either a sessionId or an external session")),
        (Some(id), None) => Some(sessions::find(services, caller, id).await?.session),
        (None, Some(named)) => Some(ensure_external(services, caller, named).await?),
        (None, None) => None,
    };
    let body = match (new.questions, new.approval, new.link) {
        (Some(questions), None, None) => {
            limits::check("the number of questions", questions.len(), limits::QUESTIONS)?;
            AskBody::Question {
                questions: questions.into_iter().enumerate().map(|(index, question)| question.into_core(index)).collect(),
            }
        }
        (None, Some(approval), None) => AskBody::Approval(approval.into()),
        (None, None, Some(link)) => AskBody::Link(Link { url: link.url, message: link.message }),
        _ => return Err(ServiceError::invalid("an ask has either questions, or an approval, or a link")),
    };
    let timeout = span("timeout", new.timeout.as_deref())?;
    let keep = span("keep", new.keep.as_deref())?;
    if keep.is_some_and(|keep| keep.0 > LONGEST_KEEP) {
        return Err(ServiceError::invalid("keep is at most 1d"));
    }
    // The agent of an external session describes the session once, not with every ask.
    let session_says = found.as_ref().filter(|session| session.external.is_some());
    let title = new.title.or_else(|| session_says.map(|session| session.title.clone()).filter(|title| !title.is_empty()));
    let context = AskContext {
        title: title.unwrap_or_else(|| body.summary()),
        agent: session_says.map(|session| session.agent.clone()).or(new.agent).unwrap_or_else(|| caller.name.clone()),
        project: session_says.map(|session| session.project.clone()).or(new.project),
        branch: session_says.and_then(|session| session.branch.clone()).or(new.branch),
        subagent: new.subagent,
        context: new.context,
        tool_call_id: new.tool_call_id,
        blocking: new.blocking.unwrap_or(true),
        run: None,
        step: None,
        labels: new.labels,
        keep,
    };
    Ok(RequestedAsk {
        body,
        context,
        session: found.as_ref().map(|session| session.id),
        session_scope: found.as_ref().map(SessionScope::from),
        dedupe_key: new.dedupe_key,
        timeout,
        opened_by: caller.token,
    })
}

fn span(what: &str, text: Option<&str>) -> Result<Option<Span>, ServiceError> {
    text.map(str::parse::<Span>).transpose().map_err(|error| ServiceError::invalid(format!("{what}: {error}")))
}

/// Builds the ask of a caller, after the policy has looked at it. A timeout that the caller gives is the limit of the
/// caller's patience: it ends in a no, and can only shorten what the policy says.
fn build(services: &Services, wanted: RequestedAsk, now: Time) -> Result<Ask, ServiceError> {
    wanted.body.check_limits()?;
    if wanted.body.kind() == AskKind::Question && wanted.body.questions().is_empty() {
        return Err(ServiceError::invalid("an ask needs at least one question"));
    }
    limits::check("the number of labels", wanted.context.labels.len(), limits::LABELS)?;
    for (key, value) in &wanted.context.labels {
        limits::check("a label", key.len().max(value.len()), limits::LABEL)?;
    }
    limits::check("the title", wanted.context.title.len(), limits::TEXT)?;
    limits::check("the name of the agent", wanted.context.agent.len(), limits::NAME)?;
    limits::check("the context", wanted.context.context.as_ref().map_or(0, String::len), limits::TEXT)?;
    for name in [&wanted.context.subagent, &wanted.context.tool_call_id].into_iter().flatten() {
        limits::check("the name of the sub-agent or tool call", name.len(), limits::NAME)?;
    }
    limits::check("the dedupe key", wanted.dedupe_key.as_ref().map_or(0, String::len), limits::NAME)?;
    let context = &wanted.context;
    check_plain_text(&context.agent, context.project.as_deref(), context.tool_call_id.as_deref())?;
    plain_text::check_optional("the dedupe key", wanted.dedupe_key.as_deref())?;
    let set = services.policies.set(wanted.session_scope.as_ref(), None);
    let verdict = services.policies.decide(&set, &wanted.context.agent, wanted.context.project.as_deref(), &wanted.body, now);
    let (state, mut policy) = state_after(verdict, now);
    if let Some(after) = wanted.timeout {
        let at = now.plus(after.0);
        if policy.deadline.is_none_or(|deadline| at < deadline.at) {
            let then = match wanted.body.kind() {
                AskKind::Question => OnTimeout::Reject,
                AskKind::Approval | AskKind::Link => OnTimeout::Deny,
            };
            policy.deadline = Some(Deadline { at, after, then });
        }
    }
    Ok(Ask {
        id: AskId::new(now, entropy::id()),
        origin: Origin {
            session: wanted.session,
            connection: None,
            native_id: wanted.dedupe_key,
            opened_by: Some(wanted.opened_by),
        },
        body: wanted.body.into(),
        context: wanted.context.into(),
        policy,
        opened_at: now,
        snoozed_until: None,
        state,
        raw: None,
    })
}
