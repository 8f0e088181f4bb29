//! Opening an ask: check limits, apply the policy, write the row.

use std::path::PathBuf;
use std::time::Duration;

use sayso_agents::known_tools::known_arguments;
use sayso_agents::translator::NewAsk as AgentAsk;
use sayso_api::ask::NewAsk;
use sayso_core::ask::{
    Ask, AskBody, AskContext, AskKind, AskState, Claims, Deadline, ExecutedFiles, Link, LinkSchemeRefused, Origin, Preview,
    ask_digest,
};
use sayso_core::id::{AskId, ConnectionId, SessionId, TokenId};
use sayso_core::limits::{self, LimitExceeded};
use sayso_core::plain_text::{self, ContainsNul};
use sayso_core::policy::{self, DiskFacts, OnTimeout, PolicySet, Subject};
use sayso_core::session::Session;
use sayso_core::time::{Span, Time};
use sayso_store::ops::{IdempotencyKey, OpenAsk, OpenAskResult};

use super::identity::{asker, asker_labels, check_agent, check_project};
use super::schemas::check_terms;
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::disk_facts::{AskPlace, look_at_disk};
use crate::service::policies::{SessionScope, state_after};
use crate::service::project::check_reported_place;
use crate::service::sessions::{self, ensure_external};
use crate::service::{ServiceError, Services, authorize};
use crate::small_file::read_apart;

/// The maximum of `keep`: how long an ask stays pending after its caller disconnected.
pub(crate) const LONGEST_KEEP: Duration = Duration::from_secs(90 * 86_400);
/// Maximum number of pending asks per token.
pub(crate) const MAX_PENDING: usize = 10_000;

/// The agent that opens an ask, and the policy that decides the ask first.
#[derive(Debug)]
pub(crate) struct AskingAgent<'a> {
    pub(crate) connection: ConnectionId,
    pub(crate) session: &'a Session,
    pub(crate) policy: &'a PolicySet,
    /// The person's home directory.
    pub(crate) home: Option<&'a str>,
    /// Schemes of links in addition to `http` and `https`.
    pub(crate) link_schemes: &'a [String],
}

impl<'a> AskingAgent<'a> {
    fn subject(&'a self, body: &'a AskBody, disk: Option<&'a DiskFacts>) -> Subject<'a> {
        Subject {
            agent: &self.session.agent,
            project: Some(&self.session.project),
            home: self.home,
            body,
            step: self.session.step.is_some(),
            disk,
        }
    }
}

/// Applies the policy again to an ask of [`open_for_agent`] if files on the disk change the decision. Called before the ask is
/// committed.
pub(crate) async fn decide_with_disk(agent: &AskingAgent<'_>, ask: &mut Ask, now: Time) {
    let place = AskPlace { project: Some(&agent.session.project), home: agent.home, config: agent.session.config.as_ref() };
    let disk = look_at_disk(place, &ask.body).await;
    if disk != DiskFacts::default() {
        let verdict = policy::decide(agent.policy, &agent.subject(&ask.body, Some(&disk)), now);
        (ask.state, ask.policy) = state_after(verdict, now);
    }
}

/// Why an agent's request does not become an ask. The agent receives this text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AskRefused {
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    #[error(transparent)]
    ContainsNul(#[from] ContainsNul),
    #[error(transparent)]
    Link(#[from] LinkSchemeRefused),
    #[error("this session has stored too much text in a short time; wait a few minutes")]
    ByteQuota,
}

/// Checks the fields that lists can be filtered by.
fn check_plain_text(agent: &str, project: Option<&str>, tool_call_id: Option<&str>) -> Result<(), ContainsNul> {
    plain_text::check("the name of the agent", agent)?;
    plain_text::check_optional("the project", project)?;
    plain_text::check_optional("the id of the tool call", tool_call_id)
}

/// Adds the digest of the body to the context.
fn with_digest(context: AskContext, body: &AskBody) -> AskContext {
    let known = match body {
        AskBody::Approval(approval) => known_arguments(&context.agent, approval),
        AskBody::Question { .. } | AskBody::Link(_) => None,
    };
    AskContext { digest: Some(ask_digest(body, &context, known.as_deref())), ..context }
}

/// Builds the ask of an agent and applies the policy to it. The connection commits the ask together with all other
/// consequences of the agent's message.
pub(crate) fn open_for_agent(agent: &AskingAgent<'_>, id: AskId, new: AgentAsk, now: Time) -> Result<Ask, AskRefused> {
    let session = agent.session;
    new.body.check_limits()?;
    if let AskBody::Link(link) = &new.body {
        link.check_scheme(agent.link_schemes)?;
    }
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
        asker: None,
        digest: None,
        executes: ExecutedFiles::of(&new.body, Some(&session.project), agent.home),
    };
    let context = with_digest(context, &new.body);
    let (state, policy) = state_after(policy::decide(agent.policy, &agent.subject(&new.body, None), now), now);
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
    let ask = prepare(services, caller, new).await?;
    if policy_only && matches!(ask.state, AskState::Pending(_)) {
        return Err(ServiceError::NotDecided);
    }
    let (id, session, bytes) = (ask.id, ask.origin.session, ask.memory_size());
    services.quotas.spend(caller, session, bytes, ask.opened_at)?;
    tracing::debug!(ask = %id, kind = ask.kind().as_str(), token = %caller.token, "ask opened");
    let scope = caller.scope.clone();
    let open = OpenAsk { workspace: caller.workspace, scope, ask: Box::new(ask), key, max_pending: MAX_PENDING };
    let opened = services.store.write(open).await;
    if !matches!(&opened, Ok(OpenAskResult::Ask(ask)) if ask.id == id) {
        services.quotas.refund(caller, session, bytes);
    }
    match opened? {
        OpenAskResult::Ask(ask) => {
            if ask.id != id {
                tracing::debug!(ask = %ask.id, instead_of = %id, "ask is open already");
            }
            Ok(*ask)
        }
        OpenAskResult::TooMany => Err(ServiceError::TooManyPending),
        OpenAskResult::KeyReused => Err(ServiceError::KeyReused),
        OpenAskResult::ApprovalDelivered => Err(ServiceError::ApprovalDelivered),
        OpenAskResult::DedupeKeyReused => Err(ServiceError::DedupeKeyReused),
        OpenAskResult::NoSession => Err(ServiceError::SessionNotFound),
    }
}

/// Builds the ask of a caller and applies the policy to it. Stores nothing except a new external session.
pub(crate) async fn prepare(services: &Services, caller: &Caller, new: NewAsk) -> Result<Ask, ServiceError> {
    let wanted = parse_request(services, caller, new).await?;
    check_terms(&wanted.body).await?;
    let project = wanted.context.project.as_deref();
    let config = wanted.session_scope.as_ref().and_then(|session| session.config.as_ref());
    let place = AskPlace { project, home: services.home.as_deref(), config };
    let disk = look_at_disk(place, &wanted.body).await;
    build(services, wanted, &disk, services.clock.now())
}

/// A parsed request to open an ask.
#[derive(Debug)]
struct RequestedAsk {
    body: AskBody,
    context: AskContext,
    session: Option<SessionId>,
    /// The policy of the session and its project.
    session_scope: Option<SessionScope>,
    dedupe_key: Option<String>,
    timeout: Option<Span>,
    opened_by: TokenId,
}

/// Parses the request. Creates the external session if the request names a new one.
async fn parse_request(services: &Services, caller: &Caller, new: NewAsk) -> Result<RequestedAsk, ServiceError> {
    let reported_directory = new.external.as_ref().map(|named| named.cwd.clone());
    let found = match (&new.session_id, new.external) {
        (Some(_), Some(_)) => return Err(ServiceError::invalid("send either sessionId or external, not both")),
        (Some(id), None) => Some(sessions::find(services, caller, id).await?.session),
        (None, Some(named)) => Some(ensure_external(services, caller, named).await?),
        (None, None) => None,
    };
    let mut body = match (new.questions, new.approval, new.link) {
        (Some(questions), None, None) => {
            limits::check("the number of questions", questions.len(), limits::QUESTIONS)?;
            AskBody::Question {
                questions: questions.into_iter().enumerate().map(|(index, question)| question.into_core(index)).collect(),
            }
        }
        (None, Some(approval), None) => AskBody::Approval(approval.into()),
        (None, None, Some(link)) => AskBody::Link(Link { url: link.url, message: link.message }),
        _ => return Err(ServiceError::invalid("send exactly one of questions, approval and link")),
    };
    if let (Some(session), Some(directory)) = (&found, reported_directory) {
        note_directory(&mut body, &session.project, directory).await;
    }
    let timeout = span("timeout", new.timeout.as_deref())?;
    let keep = span("keep", new.keep.as_deref())?;
    if keep.is_some_and(|keep| keep.0 > LONGEST_KEEP) {
        return Err(ServiceError::invalid("keep must be at most 90d"));
    }
    if let Some(agent) = &new.agent {
        check_agent(caller, agent)?;
    }
    if let Some(project) = &new.project {
        check_project(caller, project)?;
    }
    // The agent of an external session describes the session once, not with every ask.
    let session_says = found.as_ref().filter(|session| session.external.is_some());
    let title = new.title.or_else(|| session_says.map(|session| session.title.clone()).filter(|title| !title.is_empty()));
    let identity = &caller.identity;
    let agent = session_says.map(|session| session.agent.clone()).or(new.agent).or_else(|| identity.agent.clone());
    let agent = agent.unwrap_or_else(|| caller.name.clone());
    let project = session_says.map(|session| session.project.clone()).or(new.project).or_else(|| identity.project.clone());
    let context = AskContext {
        title: title.unwrap_or_else(|| body.summary()),
        asker: Some(asker(caller, &agent, project.as_deref())),
        agent,
        project,
        branch: session_says.and_then(|session| session.branch.clone()).or(new.branch),
        subagent: new.subagent,
        context: new.context,
        tool_call_id: new.tool_call_id,
        blocking: new.blocking.unwrap_or(true),
        run: None,
        step: None,
        labels: asker_labels(caller, new.labels)?,
        keep,
        digest: None,
        executes: None,
    };
    let executes = ExecutedFiles::of(&body, context.project.as_deref(), services.home.as_deref());
    let context = AskContext { executes, ..with_digest(context, &body) };
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

/// Adds the working directory to a command if the agent has left the directory in which its session began.
async fn note_directory(body: &mut AskBody, project: &str, reported: String) {
    let AskBody::Approval(approval) = body else { return };
    let Some(Preview::Command { cwd: cwd @ None, .. }) = &mut approval.preview else { return };
    if reported == project {
        return;
    }
    let path = PathBuf::from(&reported);
    let real = read_apart(move || path.canonicalize().ok()).await.flatten();
    let directory = real.map_or(reported, |real| real.to_string_lossy().into_owned());
    if directory != project {
        *cwd = Some(directory);
    }
}

pub(crate) fn span(what: &str, text: Option<&str>) -> Result<Option<Span>, ServiceError> {
    text.map(str::parse::<Span>).transpose().map_err(|error| ServiceError::invalid(format!("{what}: {error}")))
}

/// Builds an ask and applies the policy to it. The caller's `timeout` can only shorten the deadline of the policy, and always
/// rejects or denies.
fn build(services: &Services, wanted: RequestedAsk, disk: &DiskFacts, now: Time) -> Result<Ask, ServiceError> {
    wanted.body.check_limits()?;
    if let AskBody::Link(link) = &wanted.body {
        link.check_scheme(&services.config.link_schemes).map_err(|refused| ServiceError::invalid(refused.to_string()))?;
    }
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
    check_reported_place("the project", wanted.context.project.as_deref(), wanted.context.branch.as_deref())?;
    limits::check("the dedupe key", wanted.dedupe_key.as_ref().map_or(0, String::len), limits::NAME)?;
    let context = &wanted.context;
    check_plain_text(&context.agent, context.project.as_deref(), context.tool_call_id.as_deref())?;
    plain_text::check_optional("the dedupe key", wanted.dedupe_key.as_deref())?;
    let claims = wanted.context.asker.as_ref().map_or_else(Claims::default, |asker| asker.claims);
    let set = services.policies.set(wanted.session_scope.as_ref(), None).with_claims(claims);
    let subject = services.policies.subject(&wanted.context.agent, wanted.context.project.as_deref(), &wanted.body);
    let verdict = policy::decide(&set, &Subject { disk: Some(disk), ..subject }, now);
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
