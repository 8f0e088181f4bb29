//! The event streams.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use sayso_api::error::Problem;
use sayso_api::event::StreamQuery;

use super::sse::SseBody;
use super::{ApiError, Authorized, Params};
use crate::app::App;
use crate::runtime::feed::Native;
use crate::service::sessions;

/// Returns the position from which a client continues. A header that is not a number becomes a position that never existed,
/// which the stream answers with a reset.
fn since(headers: &HeaderMap, query: &StreamQuery) -> Option<i64> {
    match headers.get("last-event-id") {
        Some(id) => Some(id.to_str().ok().and_then(|id| id.parse().ok()).unwrap_or(i64::MAX)),
        None => query.since,
    }
}

/// Stream every event that the token can see, as server-sent events.
#[utoipa::path(get, path = "/v1/events", tag = "events", params(StreamQuery),
    responses((status = 200, description = "A stream of `Event`", content_type = "text/event-stream", body = sayso_api::event::FeedEvent),
              (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn all(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    headers: HeaderMap,
    Params(query): Params<StreamQuery>,
) -> Result<Response, ApiError> {
    let cursor = app.runtime.stream_events(&authorized.caller, since(&headers, &query), Native)?;
    Ok(SseBody::new(cursor, authorized.still_allowed(&app)).into_response())
}

/// Stream the outcomes of the asks that you opened, as server-sent events: `question.resolved`, `approval.resolved` and
/// `link.resolved`.
///
/// One stream serves any number of waiting asks. While it is open, asks with `keep` are not parked. Without `since` the stream
/// starts with a `reset` that contains the position: read the asks that you wait for once, then follow the stream.
#[utoipa::path(get, path = "/v1/outcomes", tag = "events", params(StreamQuery),
    responses((status = 200, description = "A stream of `Event`", content_type = "text/event-stream", body = sayso_api::event::FeedEvent),
              (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn outcomes(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    headers: HeaderMap,
    Params(query): Params<StreamQuery>,
) -> Result<Response, ApiError> {
    let (first, cursor) = app.runtime.stream_outcomes(&authorized.caller, since(&headers, &query)).await?;
    Ok(SseBody::after(first, cursor, authorized.still_allowed(&app)).into_response())
}

/// Stream the events of one session.
#[utoipa::path(get, path = "/v1/sessions/{id}/events", tag = "events", params(("id" = String, Path), StreamQuery),
    responses((status = 200, description = "A stream of `Event`", content_type = "text/event-stream", body = sayso_api::event::FeedEvent),
              (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn of_session(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    headers: HeaderMap,
    Params(query): Params<StreamQuery>,
) -> Result<Response, ApiError> {
    let caller = &authorized.caller;
    let session = sessions::get(&app.services, caller, &id).await?;
    let cursor = app.runtime.stream_session(caller, &session, since(&headers, &query), Native);
    Ok(SseBody::new(cursor, authorized.still_allowed(&app)).into_response())
}
