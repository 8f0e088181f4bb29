//! Opening an ask: limits, then the policy, then the row.

use sayso_agents::translator::NewAsk;
use sayso_core::ask::{Ask, AskBody, AskContext, AskKind, Deadline, Origin};
use sayso_core::id::{AskId, ConnectionId, TokenId};
use sayso_core::limits::{self, LimitExceeded};
use sayso_core::policy::{self, OnTimeout, PolicySet, Subject};
use sayso_core::session::Session;
use sayso_core::time::{Span, Time};

use crate::app::App;
use crate::entropy;
use crate::service::policies::{SessionScope, state_after};

/// Why an ask was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// Over a limit.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// Not a possible ask.
    #[error("{0}")]
    Invalid(String),
}

/// An ask that an agent made, after the policy looked at it.
pub(crate) fn open_for_agent(
    app: &App,
    set: &PolicySet,
    session: &Session,
    connection: ConnectionId,
    new: NewAsk,
    now: Time,
) -> Result<Ask, LimitExceeded> {
    new.body.check_limits()?;
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
    let subject = app.policies.subject(&session.agent, Some(&session.project), &new.body);
    let verdict = policy::decide(set, &Subject { step: session.step.is_some(), ..subject }, now);
    let (state, policy) = state_after(verdict, now);
    Ok(Ask {
        id: AskId::new(now, entropy::id()),
        origin: Origin {
            session: Some(session.id),
            connection: Some(connection),
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

/// What a caller wants asked.
#[derive(Debug)]
pub(crate) struct FromCaller {
    pub(crate) body: AskBody,
    pub(crate) context: AskContext,
    pub(crate) session: Option<sayso_core::id::SessionId>,
    /// What the session adds to the policy.
    pub(crate) session_scope: Option<SessionScope>,
    pub(crate) dedupe_key: Option<String>,
    pub(crate) timeout: Option<Span>,
    pub(crate) opened_by: TokenId,
}

/// An ask that a caller made over HTTP, after the policy looked at it. A timeout that the caller gives
/// is a limit of the caller's patience: it ends in a no, and only shortens what the policy says.
pub(crate) fn open_for_caller(app: &App, wanted: FromCaller, now: Time) -> Result<Ask, OpenError> {
    wanted.body.check_limits()?;
    if wanted.body.kind() == AskKind::Question && wanted.body.questions().is_empty() {
        return Err(OpenError::Invalid("an ask needs at least one question".to_owned()));
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
    let set = app.policies.set(wanted.session_scope.as_ref(), None);
    let verdict = app.policies.decide(&set, &wanted.context.agent, wanted.context.project.as_deref(), &wanted.body, now);
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
