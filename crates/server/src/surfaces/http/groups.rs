//! Groups: the asks of a suspended run, and the claims of workers.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use sayso_api::ask::Ask;
use sayso_api::error::Problem;
use sayso_api::group::{
    AckRequest, Claim, ClaimRequest, Group, NewGroup, ReadyGroups, ReadyQuery, ReleaseRequest, RenewRequest, WithdrawGroupQuery,
};
use sayso_core::time::Span;
use sayso_store::read::GroupDetail;

use super::asks::collected;
use super::{ApiError, Authorized, JsonBody, Params};
use crate::app::App;
use crate::runtime::groups::{claim as claim_group, wait_until_ready};
use crate::service::asks::Collected;
use crate::service::groups::{self, ClaimedRun, OpenedGroup};

/// The longest time that a request is held open.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

fn to_api(detail: &GroupDetail) -> Json<Group> {
    Json(Group::of(&detail.group, detail.asks.iter().map(|ask| Ask::from(&**ask)).collect()))
}

/// Open the asks of one pause of a suspended run.
///
/// All asks are opened or none. The reply is 200 if an earlier call with the same `key` opened the group.
#[utoipa::path(post, path = "/v1/groups", tag = "groups", request_body = NewGroup,
    responses((status = 201, body = Group), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewGroup>,
) -> Result<Response, ApiError> {
    let call = body.key(&authorized.caller).map(|key| key.key);
    let OpenedGroup { group, asks, before } = groups::open(&app.services, &authorized.caller, body.value, call).await?;
    let status = if before { StatusCode::OK } else { StatusCode::CREATED };
    let group = Group::of(&group, asks.iter().map(|ask| Ask::from(&**ask)).collect());
    Ok((status, Json(group)).into_response())
}

/// Wait until a group can be claimed.
///
/// Waiting does not claim a group. If several workers wait, one of them is woken for each group.
#[utoipa::path(get, path = "/v1/groups/ready", tag = "groups", params(ReadyQuery),
    responses((status = 200, body = ReadyGroups), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn ready(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<ReadyQuery>,
) -> Result<Json<ReadyGroups>, ApiError> {
    let wait = match &query.wait {
        None => Duration::ZERO,
        Some(text) => text.parse::<Span>().map_err(|error| ApiError::invalid(format!("wait: {error}")))?.0.min(LONGEST_WAIT),
    };
    let ready = wait_until_ready(&app.runtime, &authorized.caller, query.name, wait).await?;
    Ok(Json(ReadyGroups { ready }))
}

/// Claim a complete group. While you hold the claim, only you may resume the run.
///
/// The reply is 204 if no group with this name is complete. Acknowledge before the lease ends, or renew it. Groups belong to the
/// token that opened them.
#[utoipa::path(post, path = "/v1/groups/claim", tag = "groups", request_body = ClaimRequest,
    responses((status = 200, body = Claim), (status = 204, description = "No group is complete"),
              (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn claim(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<ClaimRequest>,
) -> Result<Response, ApiError> {
    let call = body.key(&authorized.caller).map(|key| key.key);
    let claimed = claim_group(&app.runtime, &authorized.caller, body.value, call).await?;
    let Some(ClaimedRun { group, asks, state }) = claimed else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let asks = asks.into_iter().map(|(ask, secret)| collected(Collected { ask: Arc::unwrap_or_clone(ask), secret })).collect();
    let (epoch, resume_ref) = (group.epoch, group.resume_ref.clone());
    Ok(Json(Claim { group: Group::of(&group, asks), epoch, state, resume_ref }).into_response())
}

/// Read a group that you opened.
#[utoipa::path(get, path = "/v1/groups/{id}", tag = "groups", params(("id" = String, Path)),
    responses((status = 200, body = Group), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<Group>, ApiError> {
    Ok(to_api(&groups::get(&app.services, &authorized.caller, &id).await?))
}

/// Withdraw a group that you opened. Its pending asks are withdrawn, and its state is deleted.
#[utoipa::path(delete, path = "/v1/groups/{id}", tag = "groups", params(("id" = String, Path), WithdrawGroupQuery),
    responses((status = 200, body = Group), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn withdraw(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    Params(query): Params<WithdrawGroupQuery>,
) -> Result<Json<Group>, ApiError> {
    Ok(to_api(&groups::withdraw(&app.services, &authorized.caller, &id, query.reason).await?))
}

/// Extend the lease of a claim.
#[utoipa::path(post, path = "/v1/groups/{id}/renew", tag = "groups", params(("id" = String, Path)), request_body = RenewRequest,
    responses((status = 200, body = Group), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn renew(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    body: JsonBody<RenewRequest>,
) -> Result<Json<Group>, ApiError> {
    let RenewRequest { epoch, lease } = body.value;
    Ok(to_api(&groups::renew(&app.services, &authorized.caller, &id, epoch, lease.as_deref()).await?))
}

/// Report that the run was resumed. The state is deleted, and the outcomes count as delivered.
#[utoipa::path(post, path = "/v1/groups/{id}/ack", tag = "groups", params(("id" = String, Path)), request_body = AckRequest,
    responses((status = 200, body = Group), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn ack(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    body: JsonBody<AckRequest>,
) -> Result<Json<Group>, ApiError> {
    Ok(to_api(&groups::acknowledge(&app.services, &authorized.caller, &id, body.value.epoch).await?))
}

/// Release a claim.
///
/// With `started`, the run may have called tools, so a person decides whether it is resumed again, unless the group has `retry`.
#[utoipa::path(post, path = "/v1/groups/{id}/release", tag = "groups", params(("id" = String, Path)), request_body = ReleaseRequest,
    responses((status = 200, body = Group), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn release(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    body: JsonBody<ReleaseRequest>,
) -> Result<Json<Group>, ApiError> {
    Ok(to_api(&groups::release(&app.services, &authorized.caller, &id, body.value).await?))
}
