//! Decisions about asks: answer, reject, approve, deny, snooze.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use sayso_api::ask::{AnswerRequest, ApproveRequest, Ask, NoRequest, SnoozeRequest};
use sayso_api::error::Problem;
use sayso_core::ask::Decision;
use sayso_core::digest::{InvalidDigest, ShaDigest};
use sayso_core::raw::Raw;
use sayso_store::ops::IdempotencyKey;

use super::{ApiError, Authorized, JsonBody, OptionalJson};
use crate::app::App;
use crate::auth::Permission;
use crate::service::asks::{self, DecisionRequest};

async fn resolve(
    app: &App,
    authorized: &Authorized,
    id: &str,
    decision: Decision,
    key: Option<IdempotencyKey>,
    content: Option<ShaDigest>,
) -> Result<Json<Ask>, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let resolution = DecisionRequest { ask: asks::ask_id(id)?, session: None, decision, via: authorized.via(), key, content };
    let ask = asks::resolve(&app.services, caller, resolution).await?;
    Ok(Json(Ask::from(&*ask)))
}

/// Answer the questions of an ask.
#[utoipa::path(post, path = "/v1/asks/{id}/answer", tag = "asks", params(("id" = String, Path)), request_body = AnswerRequest,
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    body: JsonBody<AnswerRequest>,
) -> Result<Json<Ask>, ApiError> {
    let key = body.key(&authorized.caller);
    let decision = Decision::Answered { answers: body.value.answers, note: body.value.note };
    resolve(&app, &authorized, &id, decision, key, None).await
}

/// Reject the questions of an ask.
#[utoipa::path(post, path = "/v1/asks/{id}/reject", tag = "asks", params(("id" = String, Path)), request_body(content = NoRequest),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn reject(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    OptionalJson(body): OptionalJson<NoRequest>,
) -> Result<Json<Ask>, ApiError> {
    let key = body.key(&authorized.caller);
    resolve(&app, &authorized, &id, rejected(body.value), key, None).await
}

/// Approve a tool call, or confirm that a link was opened.
#[utoipa::path(post, path = "/v1/asks/{id}/approve", tag = "asks", params(("id" = String, Path)), request_body(content = ApproveRequest),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn approve(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    OptionalJson(body): OptionalJson<ApproveRequest>,
) -> Result<Json<Ask>, ApiError> {
    let key = body.key(&authorized.caller);
    let content = body.value.content_digest.as_deref().map(str::parse).transpose();
    let content = content.map_err(|error: InvalidDigest| ApiError::invalid(format!("contentDigest: {error}")))?;
    let decision = Decision::Approved { choice: body.value.choice, input: body.value.input.as_ref().map(Raw::of) };
    resolve(&app, &authorized, &id, decision, key, content).await
}

/// Deny a tool call, or decline a link.
#[utoipa::path(post, path = "/v1/asks/{id}/deny", tag = "asks", params(("id" = String, Path)), request_body(content = NoRequest),
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn deny(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    OptionalJson(body): OptionalJson<NoRequest>,
) -> Result<Json<Ask>, ApiError> {
    let key = body.key(&authorized.caller);
    resolve(&app, &authorized, &id, denied(body.value), key, None).await
}

/// Snooze an ask: hide it from the inbox for a while without deciding it.
#[utoipa::path(post, path = "/v1/asks/{id}/snooze", tag = "asks", params(("id" = String, Path)), request_body = SnoozeRequest,
    responses((status = 200, body = Ask), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn snooze(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    body: JsonBody<SnoozeRequest>,
) -> Result<Json<Ask>, ApiError> {
    let ask = asks::snooze(&app.services, &authorized.caller, &id, body.value.until).await?;
    Ok(Json(Ask::from(&*ask)))
}

/// Converts the body of a rejection.
pub(crate) fn rejected(no: NoRequest) -> Decision {
    Decision::Rejected { message: no.message.unwrap_or_default(), stop: no.stop }
}

/// Converts the body of a denial.
pub(crate) fn denied(no: NoRequest) -> Decision {
    Decision::Denied { message: no.message.unwrap_or_default(), stop: no.stop }
}
