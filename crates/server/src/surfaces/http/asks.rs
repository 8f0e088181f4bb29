//! Listing, reading and opening asks.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_api::ask::{Ask, AskKind, AskPage, AskQuery, GetAskQuery, NewAsk, ShownAnswer, WithdrawQuery};
use sayso_api::error::{ErrorCode, Problem};
use sayso_core::ask::{Ask as StoredAsk, AskBody, AskContext, AskState, Link, OutcomeStatus, Reach};
use sayso_core::id::AskId;
use sayso_core::limits;
use sayso_core::scope::Scope;
use sayso_core::texts;
use sayso_core::time::Span;
use sayso_store::read::{CountPending, GetAsk, ListAsks, StatusFilter};
use sayso_store::write::{CallerHasOutcome, IdempotencyKey, OpenAsk, Opened, SetReach, WithdrawAsk};

use super::external;
use super::sessions::find;
use super::{ApiError, Authorized, JsonBody, Params};
use crate::app::{App, shown};
use crate::auth::{Caller, Permission};
use crate::service::open::{FromCaller, OpenError, open_for_caller};
use crate::service::policies::SessionScope;

/// The longest that a request is held open for a person.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The longest that an ask is kept for a caller that is gone.
const LONGEST_KEEP: Duration = Duration::from_secs(86_400);

/// A permission to look: people read what their scope sees, agents what they opened.
pub(super) fn reader(authorized: &Authorized) -> Result<&Caller, ApiError> {
    authorized.may(Permission::Read).or_else(|_| authorized.may(Permission::Open))
}

/// An id in a path. What is no id is as unknown as an id that names nothing.
pub(crate) fn ask_id(text: &str) -> Result<AskId, ApiError> {
    text.parse().map_err(|_| ApiError::no_ask())
}

/// `key=value`.
pub(super) fn label(text: Option<&str>) -> Result<Option<(String, String)>, ApiError> {
    text.map(|text| {
        let (key, value) = text.split_once('=').ok_or_else(|| ApiError::invalid("a label is written as key=value"))?;
        Ok((key.to_owned(), value.to_owned()))
    })
    .transpose()
}

/// A page's size.
pub(super) fn page_size(limit: Option<u32>) -> Result<usize, ApiError> {
    match limit {
        None => Ok(100),
        Some(limit @ 1..=500) => Ok(limit as usize),
        Some(_) => Err(ApiError::invalid("limit is 1 to 500")),
    }
}

/// A page's place.
pub(super) fn place(cursor: Option<&str>) -> Result<Option<i64>, ApiError> {
    cursor
        .map(|cursor| cursor.parse().map_err(|_| ApiError::invalid("cursor is what nextCursor of the last page says")))
        .transpose()
}

fn status_filter(status: Option<&str>) -> Result<StatusFilter, ApiError> {
    Ok(match status {
        None => StatusFilter::Any,
        Some("pending") => StatusFilter::Pending,
        Some("resolved") => StatusFilter::Resolved,
        Some("answered") => StatusFilter::Outcome(OutcomeStatus::Answered),
        Some("rejected") => StatusFilter::Outcome(OutcomeStatus::Rejected),
        Some("approved") => StatusFilter::Outcome(OutcomeStatus::Approved),
        Some("denied") => StatusFilter::Outcome(OutcomeStatus::Denied),
        Some("withdrawn") => StatusFilter::Outcome(OutcomeStatus::Withdrawn),
        Some(_) => {
            return Err(ApiError::invalid("status is pending, resolved, answered, rejected, approved, denied or withdrawn"));
        }
    })
}

/// List asks.
///
/// Pending ones oldest first, others newest first. `seq` is the place to stream from.
#[utoipa::path(get, path = "/v1/asks", tag = "asks", params(AskQuery),
    responses((status = 200, body = AskPage), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<AskQuery>,
) -> Result<Json<AskPage>, ApiError> {
    let caller = reader(&authorized)?;
    let session = match &query.session {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| ApiError::no_session())?),
    };
    let wanted = ListAsks {
        workspace: caller.workspace,
        scope: caller.scope.clone(),
        status: status_filter(query.status.as_deref())?,
        session,
        kind: query.kind.map(|kind| match kind {
            AskKind::Question => sayso_core::ask::AskKind::Question,
            AskKind::Approval => sayso_core::ask::AskKind::Approval,
            AskKind::Link => sayso_core::ask::AskKind::Link,
        }),
        agent: query.agent,
        label: label(query.label.as_deref())?,
        project: query.project,
        since: query.since,
        until: query.until,
        words: query.q.filter(|words| !words.is_empty()),
        id_ends_with: query.id_ends_with,
        tool_call_id: None,
        limit: page_size(query.limit)?,
        after: place(query.cursor.as_deref())?,
    };
    let page = app.store.read(wanted).await?;
    let pending = match caller.scope {
        Scope::All => Some(app.store.read(CountPending { workspace: caller.workspace }).await?.pending),
        _ => None,
    };
    Ok(Json(AskPage {
        data: page.rows.iter().map(shown).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
        seq: page.seq,
        pending,
    }))
}

/// Read one ask, and wait for its outcome if you like.
#[utoipa::path(get, path = "/v1/asks/{id}", tag = "asks", params(("id" = String, Path), GetAskQuery),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    Params(query): Params<GetAskQuery>,
) -> Result<Json<Ask>, ApiError> {
    let caller = reader(&authorized)?;
    let id = ask_id(&id)?;
    let wait = match &query.wait {
        None => Duration::ZERO,
        Some(text) => text.parse::<Span>().map_err(|error| ApiError::invalid(format!("wait: {error}")))?.0.min(LONGEST_WAIT),
    };
    let until = tokio::time::Instant::now() + wait;
    let waiter = app.waiters.wait_for(id);
    let mut attending = None;
    loop {
        let notified = waiter.notified();
        let find = GetAsk { workspace: caller.workspace, ask: id, scope: caller.scope.clone() };
        let ask = app.store.read(find).await?.ok_or_else(ApiError::no_ask)?;
        let pending = matches!(ask.state, AskState::Pending(_));
        if let (true, Some(keep), None) = (pending && !wait.is_zero(), ask.context.keep, &attending)
            && ask.origin.opened_by == Some(caller.token)
        {
            attending = Some(app.keeper.attend(id, keep.0, &app.clock));
            if matches!(ask.state, AskState::Pending(Reach::Parked)) {
                let back = SetReach { workspace: caller.workspace, ask: id, reach: Reach::Live, now: app.clock.now() };
                app.store.write(back).await?;
            }
        }
        if pending && tokio::time::timeout_at(until, notified).await.is_ok() {
            continue;
        }
        let mut body = shown(&ask);
        if query.raw == Some(true) {
            body.raw = ask.raw.as_ref().and_then(|raw| serde_json::from_str(raw.as_str()).ok());
        }
        return Ok(Json(body));
    }
}

/// Open an ask: questions, an approval or a link.
#[utoipa::path(post, path = "/v1/asks", tag = "asks", request_body = NewAsk,
    responses((status = 201, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewAsk>,
) -> Result<Response, ApiError> {
    let caller = authorized.may(Permission::Open)?;
    let key = body.key(caller);
    let ask = open_ask(&app, caller, body.value, key).await?;
    let mut headers = HeaderMap::new();
    if let Ok(value) = format!("/v1/asks/{}", ask.id).parse() {
        headers.insert(header::LOCATION, value);
    }
    Ok((StatusCode::CREATED, headers, Json(shown(&ask))).into_response())
}

/// Opens an ask for a caller: over HTTP, or through a door.
pub(crate) async fn open_ask(
    app: &Arc<App>,
    caller: &Caller,
    new: NewAsk,
    key: Option<IdempotencyKey>,
) -> Result<StoredAsk, ApiError> {
    let found = match (&new.session_id, new.external) {
        (Some(_), Some(_)) => return Err(ApiError::invalid("an ask has either a sessionId or an external session")),
        (Some(id), None) => Some(find(app, caller, id).await?.session),
        (None, Some(named)) => Some(external::ensure(app, caller, named).await?),
        (None, None) => None,
    };
    let (session, session_scope) = (found.as_ref().map(|session| session.id), found.as_ref().map(SessionScope::from));
    let asked = match (new.questions, new.approval, new.link) {
        (Some(questions), None, None) => {
            limits::check("the number of questions", questions.len(), limits::QUESTIONS)?;
            AskBody::Question {
                questions: questions.into_iter().enumerate().map(|(index, question)| question.into_core(index)).collect(),
            }
        }
        (None, Some(approval), None) => AskBody::Approval(approval.into()),
        (None, None, Some(link)) => AskBody::Link(Link { url: link.url, message: link.message }),
        _ => return Err(ApiError::invalid("an ask has either questions, or an approval, or a link")),
    };
    let span = |what: &str, text: Option<&str>| {
        text.map(str::parse::<Span>).transpose().map_err(|error| ApiError::invalid(format!("{what}: {error}")))
    };
    let timeout = span("timeout", new.timeout.as_deref())?;
    let keep = span("keep", new.keep.as_deref())?;
    if keep.is_some_and(|keep| keep.0 > LONGEST_KEEP) {
        return Err(ApiError::invalid("keep is at most 1d"));
    }
    // What an agent says of its own session is said once, for the session.
    let session_says = found.as_ref().filter(|session| session.external.is_some());
    let title = new.title.or_else(|| session_says.map(|session| session.title.clone()).filter(|title| !title.is_empty()));
    let context = AskContext {
        title: title.unwrap_or_else(|| asked.summary()),
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
    let wanted =
        FromCaller { body: asked, context, session, session_scope, dedupe_key: new.dedupe_key, timeout, opened_by: caller.token };
    let now = app.clock.now();
    let ask = open_for_caller(app, wanted, now).map_err(|error| match error {
        OpenError::Limit(limit) => limit.into(),
        OpenError::Invalid(detail) => ApiError::invalid(detail),
    })?;
    if new.policy_only == Some(true) && matches!(ask.state, AskState::Pending(_)) {
        return Err(ApiError::not_decided());
    }
    let open = OpenAsk { workspace: caller.workspace, scope: caller.scope.clone(), ask: Box::new(ask), key, max_pending: 10_000 };
    match app.store.write(open).await? {
        Opened::Ask(ask) => Ok(*ask),
        Opened::TooMany => Err(ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            ErrorCode::LimitExceeded,
            "too many asks of this token are pending; wait for some of them",
        )),
        Opened::KeyReused => Err(ApiError::key_reused()),
        Opened::NoSession => Err(ApiError::no_session()),
    }
}

/// Take the outcome of an ask that you opened: it counts as delivered from then on.
///
/// A secret answer comes in clear, this once, and is deleted.
#[utoipa::path(post, path = "/v1/asks/{id}/receipt", tag = "asks", params(("id" = String, Path)),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn receipt(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<Ask>, ApiError> {
    let caller = authorized.may(Permission::Open)?;
    let find = GetAsk { workspace: caller.workspace, ask: ask_id(&id)?, scope: Scope::OpenedBy { token: caller.token } };
    let ask = app.store.read(find).await?.filter(|ask| ask.origin.connection.is_none()).ok_or_else(ApiError::no_ask)?;
    if matches!(ask.state, AskState::Pending(_)) {
        return Err(ApiError::new(StatusCode::CONFLICT, ErrorCode::AskPending, "the ask has no outcome yet; wait for it first"));
    }
    let take = CallerHasOutcome { workspace: caller.workspace, ask: ask.id, now: app.clock.now() };
    let secret = app.store.write(take).await?;
    let find = GetAsk { workspace: caller.workspace, ask: ask.id, scope: Scope::All };
    let mut body = shown(&app.store.read(find).await?.ok_or_else(ApiError::no_ask)?);
    if let (Some(secret), Some(outcome)) = (secret, &mut body.outcome) {
        outcome.answers = Some(secret.into_iter().map(ShownAnswer::Entries).collect());
    }
    Ok(Json(body))
}

/// Take back an ask that you opened.
#[utoipa::path(delete, path = "/v1/asks/{id}", tag = "asks", params(("id" = String, Path), WithdrawQuery),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn withdraw(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    Params(query): Params<WithdrawQuery>,
) -> Result<Json<Ask>, ApiError> {
    let caller = authorized.may(Permission::Open)?;
    let reason = query.reason.filter(|reason| !reason.trim().is_empty());
    limits::check("the reason", reason.as_ref().map_or(0, String::len), limits::NAME)?;
    let withdraw = WithdrawAsk {
        workspace: caller.workspace,
        ask: ask_id(&id)?,
        scope: caller.scope.clone(),
        reason: reason.unwrap_or_else(|| texts::WITHDRAWN_BY_CALLER.to_owned()),
        now: app.clock.now(),
    };
    let ask = app.store.write(withdraw).await?.map_err(|error| ApiError::resolve(error, caller.token))?;
    Ok(Json(shown(&ask)))
}
