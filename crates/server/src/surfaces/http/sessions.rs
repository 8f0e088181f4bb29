//! Sessions: starting, reading, messages, interrupting, resuming, closing.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_api::ask::Ask;
use sayso_api::error::Problem;
use sayso_api::session::{
    ChangeSession, MessageAccepted, MessageRequest, NewSession, Session as ApiSession, SessionPage, SessionQuery,
};
use sayso_core::session::Session;
use sayso_store::ops::SessionCommand;
use sayso_store::read::{Page, SessionDetail};

use super::{ApiError, Authorized, JsonBody, Params};
use crate::app::App;
use crate::service::sessions::{self, Delivered};

/// Converts a session with its pending asks.
pub(super) fn detail(found: &SessionDetail) -> ApiSession {
    let mut session = ApiSession::of(&found.session, found.pending.count);
    session.asks = Some(found.pending.asks.iter().map(Ask::from).collect());
    session.truncated = found.pending.truncated();
    session.seq = Some(found.seq);
    session
}

pub(super) fn page(page: &Page<(Session, u32)>) -> SessionPage {
    SessionPage {
        data: page.rows.iter().map(|(session, pending)| ApiSession::of(session, *pending)).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
        seq: page.seq,
        truncated: page.truncated,
    }
}

pub(super) fn accepted(delivered: &Delivered) -> MessageAccepted {
    MessageAccepted { message_id: delivered.message.to_string(), answered: delivered.answered.as_deref().map(Ask::from) }
}

/// Start a session.
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", request_body = NewSession,
    responses((status = 201, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewSession>,
) -> Result<Response, ApiError> {
    let key = body.key(&authorized.caller);
    let session = sessions::start(&app.services, &authorized.caller, body.value, key).await?;
    let location = format!("/v1/sessions/{}", session.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(ApiSession::of(&session, 0))).into_response())
}

/// List sessions, newest first.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(SessionQuery),
    responses((status = 200, body = SessionPage), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<SessionQuery>,
) -> Result<Json<SessionPage>, ApiError> {
    Ok(Json(page(&sessions::list(&app.services, &authorized.caller, query).await?)))
}

/// Read one session with its pending asks.
#[utoipa::path(get, path = "/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiSession>, ApiError> {
    Ok(Json(detail(&sessions::get(&app.services, &authorized.caller, &id).await?)))
}

/// Send a message to the agent. It answers the pending question if there is exactly one; without pending asks, it is a prompt.
#[utoipa::path(post, path = "/v1/sessions/{id}/messages", tag = "sessions", params(("id" = String, Path)), request_body = MessageRequest,
    responses((status = 202, body = MessageAccepted), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn message(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    body: JsonBody<MessageRequest>,
) -> Result<Response, ApiError> {
    let key = body.key(&authorized.caller);
    let caller = &authorized.caller;
    let delivered = sessions::send_message(&app.services, caller, authorized.via(), &id, body.value, key).await?;
    Ok((StatusCode::ACCEPTED, Json(accepted(&delivered))).into_response())
}

async fn command(app: &App, authorized: &Authorized, id: &str, kind: SessionCommand) -> Result<Json<ApiSession>, ApiError> {
    let (session, pending) = sessions::command(&app.services, &authorized.caller, id, kind).await?;
    Ok(Json(ApiSession::of(&session, pending)))
}

/// Change the permission mode or the model of a running session.
///
/// The change takes effect when the agent confirms it, which a `session.status` event reports. If the agent refuses, an `error`
/// event says why.
#[utoipa::path(patch, path = "/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path)), request_body = ChangeSession,
    responses((status = 202, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    body: JsonBody<ChangeSession>,
) -> Result<(StatusCode, Json<ApiSession>), ApiError> {
    let (session, pending) = sessions::configure(&app.services, &authorized.caller, &id, body.value).await?;
    Ok((StatusCode::ACCEPTED, Json(ApiSession::of(&session, pending))))
}

/// Interrupt the current turn.
#[utoipa::path(post, path = "/v1/sessions/{id}/interrupt", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn interrupt(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiSession>, ApiError> {
    command(&app, &authorized, &id, SessionCommand::Interrupt).await
}

/// Resume a session that has ended.
#[utoipa::path(post, path = "/v1/sessions/{id}/resume", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiSession>, ApiError> {
    command(&app, &authorized, &id, SessionCommand::Resume).await
}

/// Close a session.
#[utoipa::path(delete, path = "/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn close(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiSession>, ApiError> {
    command(&app, &authorized, &id, SessionCommand::Close).await
}
