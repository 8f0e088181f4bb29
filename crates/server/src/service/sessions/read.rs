//! Reading sessions.

use sayso_api::session::SessionQuery;
use sayso_core::id::SessionId;
use sayso_core::plain_text;
use sayso_core::session::Session;
use sayso_store::read::{GetSession, ListSessions, Page, SessionDetail};

use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, Services, authorize, listing};

/// Parses an id. A malformed id is treated like an unknown one.
pub(crate) fn session_id(text: &str) -> Result<SessionId, ServiceError> {
    text.parse().map_err(|_| ServiceError::SessionNotFound)
}

/// Returns the session with its pending asks if the caller's scope covers it. The use case checks the permission.
pub(crate) async fn find(services: &Services, caller: &Caller, id: &str) -> Result<SessionDetail, ServiceError> {
    let query = GetSession { workspace: caller.workspace, session: session_id(id)?, scope: caller.scope.clone() };
    services.store.read(query).await?.ok_or(ServiceError::SessionNotFound)
}

/// Reads one session with its pending asks.
pub(crate) async fn get(services: &Services, caller: &Caller, id: &str) -> Result<SessionDetail, ServiceError> {
    authorize(caller, Permission::Read)?;
    find(services, caller, id).await
}

/// Lists sessions with the number of their pending asks, newest first.
pub(crate) async fn list(
    services: &Services,
    caller: &Caller,
    query: SessionQuery,
) -> Result<Page<(Session, u32)>, ServiceError> {
    authorize(caller, Permission::Read)?;
    plain_text::check_optional("idEndsWith", query.id_ends_with.as_deref())?;
    let wanted = ListSessions {
        workspace: caller.workspace,
        scope: caller.scope.clone(),
        open_only: query.open == Some(true),
        label: listing::label(query.label.as_deref())?,
        id_ends_with: query.id_ends_with.map(|suffix| suffix.to_ascii_lowercase()),
        limit: listing::page_size(query.limit)?,
        after: listing::cursor(query.cursor.as_deref())?,
    };
    Ok(services.store.read(wanted).await?)
}
