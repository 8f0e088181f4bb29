//! Reading asks.

use sayso_api::ask::{AskKind as ApiKind, AskQuery};
use sayso_core::ask::{Ask, AskKind, OutcomeStatus};
use sayso_core::id::{AskId, SessionId};
use sayso_core::plain_text;
use sayso_core::scope::Scope;
use sayso_store::read::{CountPending, FindToolCallAsk, GetAsk, ListAsks, Page, StatusFilter};

use super::resolve::ChannelDecider;
use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, Services, authorize, listing};

/// Parses an id. A malformed id is treated like an unknown one.
pub(crate) fn ask_id(text: &str) -> Result<AskId, ServiceError> {
    text.parse().map_err(|_| ServiceError::AskNotFound)
}

/// Allows people to read asks in their scope, and agents to read asks that they opened.
pub(crate) fn authorize_reading(caller: &Caller) -> Result<(), ServiceError> {
    authorize(caller, Permission::Read).or_else(|_| authorize(caller, Permission::Open))
}

/// A page of asks.
pub(crate) struct AskList {
    pub(crate) page: Page<Ask>,
    /// The number of all pending asks, for callers that see all of them.
    pub(crate) pending: Option<u64>,
}

/// Lists asks: pending ones oldest first, others newest first.
pub(crate) async fn list(services: &Services, caller: &Caller, query: AskQuery) -> Result<AskList, ServiceError> {
    authorize_reading(caller)?;
    let session = match &query.session {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| ServiceError::SessionNotFound)?),
    };
    for (what, text) in
        [("agent", &query.agent), ("project", &query.project), ("q", &query.q), ("idEndsWith", &query.id_ends_with)]
    {
        plain_text::check_optional(what, text.as_deref())?;
    }
    let wanted = ListAsks {
        workspace: caller.workspace,
        scope: caller.scope.clone(),
        status: status_filter(query.status.as_deref())?,
        session,
        kind: query.kind.map(|kind| match kind {
            ApiKind::Question => AskKind::Question,
            ApiKind::Approval => AskKind::Approval,
            ApiKind::Link => AskKind::Link,
        }),
        agent: query.agent,
        label: listing::label(query.label.as_deref())?,
        project: query.project,
        since: query.since,
        until: query.until,
        words: query.q.filter(|words| !words.is_empty()),
        id_ends_with: query.id_ends_with,
        limit: listing::page_size(query.limit)?,
        after: listing::cursor(query.cursor.as_deref())?,
    };
    let page = services.store.read(wanted).await?;
    let pending = match caller.scope {
        Scope::All => Some(services.store.read(CountPending { workspace: caller.workspace }).await?.pending),
        Scope::OpenedBy { .. } | Scope::Asker { .. } | Scope::Session { .. } | Scope::Labels { .. } => None,
    };
    Ok(AskList { page, pending })
}

fn status_filter(status: Option<&str>) -> Result<StatusFilter, ServiceError> {
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
            return Err(ServiceError::invalid(
                "status must be pending, resolved, answered, rejected, approved, denied or withdrawn",
            ));
        }
    })
}

/// Returns the ask if the caller's scope covers it.
pub(crate) async fn find(services: &Services, caller: &Caller, ask: AskId) -> Result<Ask, ServiceError> {
    authorize_reading(caller)?;
    let query = GetAsk { workspace: caller.workspace, ask, scope: caller.scope.clone() };
    services.store.read(query).await?.ok_or(ServiceError::AskNotFound)
}

/// Finds the ask of a tool call in a session that the caller sees. Prefers the pending one, then the latest, so that a late
/// answer learns who won.
pub(crate) async fn of_tool_call(
    services: &Services,
    caller: &Caller,
    session: SessionId,
    tool_call: &str,
    kind: AskKind,
) -> Result<Option<Ask>, ServiceError> {
    authorize(caller, Permission::Answer)?;
    plain_text::check("the id of the tool call", tool_call)?;
    let find = FindToolCallAsk { workspace: caller.workspace, session, tool_call_id: tool_call.to_owned(), kind };
    Ok(services.store.read(find).await?)
}

/// Returns the ask of a notification if the decider's scope covers it.
pub(crate) async fn ask_in_channel(
    services: &Services,
    decider: &ChannelDecider,
    ask: AskId,
) -> Result<Option<Ask>, sayso_store::StoreError> {
    services.store.read(GetAsk { workspace: services.workspace, ask, scope: decider.scope() }).await
}
