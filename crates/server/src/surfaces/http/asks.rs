//! Listing, reading and opening asks.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_api::ask::{
    Ask, AskFiles, AskPage, AskQuery, GetAskQuery, NewAsk, ReceiptQuery, ShownAnswer, WithdrawByKeyQuery, WithdrawQuery,
};
use sayso_api::error::Problem;
use sayso_core::time::Span;

use super::{ApiError, Authorized, JsonBody, Params};
use crate::app::App;
use crate::runtime::waiters::wait_for_outcome;
use crate::service::asks;

/// The longest time that a request waits for a person.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// List asks.
///
/// Pending asks are sorted oldest first, all others newest first. Start a stream at `seq` to miss nothing.
#[utoipa::path(get, path = "/v1/asks", tag = "asks", params(AskQuery),
    responses((status = 200, body = AskPage), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<AskQuery>,
) -> Result<Json<AskPage>, ApiError> {
    let asks::AskList { page, pending } = asks::list(&app.services, &authorized.caller, query).await?;
    Ok(Json(AskPage {
        data: page.rows.iter().map(Ask::from).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
        seq: page.seq,
        pending,
        truncated: page.truncated,
    }))
}

/// Read one ask. With `wait`, wait for its outcome.
#[utoipa::path(get, path = "/v1/asks/{id}", tag = "asks", params(("id" = String, Path), GetAskQuery),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    Params(query): Params<GetAskQuery>,
) -> Result<Json<Ask>, ApiError> {
    let id = asks::ask_id(&id)?;
    let wait = match &query.wait {
        None => Duration::ZERO,
        Some(text) => text.parse::<Span>().map_err(|error| ApiError::invalid(format!("wait: {error}")))?.0.min(LONGEST_WAIT),
    };
    let ask = wait_for_outcome(&app.runtime, &authorized.caller, id, wait).await?;
    let mut body = Ask::from(&ask);
    if query.raw == Some(true) {
        body.raw = ask.raw.as_ref().and_then(|raw| serde_json::from_str(raw.as_str()).ok());
    }
    Ok(Json(body))
}

/// Open an ask: questions, an approval or a link.
#[utoipa::path(post, path = "/v1/asks", tag = "asks", request_body = NewAsk,
    responses((status = 201, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewAsk>,
) -> Result<Response, ApiError> {
    let key = body.key(&authorized.caller);
    let ask = asks::open(&app.services, &authorized.caller, body.value, key).await?;
    let mut headers = HeaderMap::new();
    if let Ok(value) = format!("/v1/asks/{}", ask.id).parse() {
        headers.insert(header::LOCATION, value);
    }
    Ok((StatusCode::CREATED, headers, Json(Ask::from(&ask))).into_response())
}

/// Read the current content of the files that the command of an approval executes.
///
/// Only for tokens that may answer. Content is available only in sessions that this server started.
#[utoipa::path(get, path = "/v1/asks/{id}/files", tag = "asks", params(("id" = String, Path)),
    responses((status = 200, body = AskFiles), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn files(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<AskFiles>, ApiError> {
    Ok(Json(asks::read_files(&app.services, &authorized.caller, &id).await?))
}

/// Collect the outcome of an ask that you opened. The outcome then counts as delivered.
///
/// A secret answer is returned in plain text, only once, and then deleted.
#[utoipa::path(post, path = "/v1/asks/{id}/receipt", tag = "asks", params(("id" = String, Path), ReceiptQuery),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn receipt(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    Params(query): Params<ReceiptQuery>,
) -> Result<Json<Ask>, ApiError> {
    Ok(Json(collected(asks::collect_outcome(&app.services, &authorized.caller, &id, query.taker).await?)))
}

/// Converts a collected ask, including secret answers in plain text.
pub(super) fn collected(collected: asks::Collected) -> Ask {
    let mut body = Ask::from(&collected.ask);
    if let (Some(secret), Some(outcome)) = (collected.secret, &mut body.outcome) {
        outcome.answers = Some(secret.into_iter().map(ShownAnswer::Entries).collect());
    }
    body
}

/// Withdraw the pending ask that you opened with this `dedupeKey`.
#[utoipa::path(delete, path = "/v1/asks", tag = "asks", params(WithdrawByKeyQuery),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn withdraw_by_key(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<WithdrawByKeyQuery>,
) -> Result<Json<Ask>, ApiError> {
    let ask = asks::withdraw_by_key(&app.services, &authorized.caller, query.dedupe_key, query.reason).await?;
    Ok(Json(Ask::from(&*ask)))
}

/// Withdraw an ask that you opened.
#[utoipa::path(delete, path = "/v1/asks/{id}", tag = "asks", params(("id" = String, Path), WithdrawQuery),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn withdraw(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    Params(query): Params<WithdrawQuery>,
) -> Result<Json<Ask>, ApiError> {
    let ask = asks::withdraw(&app.services, &authorized.caller, &id, query.reason).await?;
    Ok(Json(Ask::from(&*ask)))
}
