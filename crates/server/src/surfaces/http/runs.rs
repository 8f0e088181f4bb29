//! Runs of workflows: starting, reading, answering, cancelling.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_api::error::Problem;
use sayso_api::run::{NewRun, Run as ApiRun, RunAnswerRequest, RunAnswered, RunPage, RunQuery};
use sayso_core::ask::Decision;

use super::{ApiError, Authorized, JsonBody, LooseBody, Params};
use crate::app::App;
use crate::auth::Permission;
use crate::service::{ServiceError, runs};

/// The refusal of a body that has both answers and a rejection, or neither.
const ONE_OF_TWO: &str = "must provide answers or reject";

/// Start a run of a workflow.
#[utoipa::path(post, path = "/v1/runs", tag = "runs", request_body = NewRun,
    responses((status = 201, body = ApiRun), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewRun>,
) -> Result<Response, ApiError> {
    let key = body.key(&authorized.caller);
    let run = runs::create(&app.services, &authorized.caller, body.value, key).await?;
    let location = format!("/v1/runs/{}", run.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(ApiRun::of(&run, 0))).into_response())
}

/// List runs, newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(RunQuery),
    responses((status = 200, body = RunPage), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<RunQuery>,
) -> Result<Json<RunPage>, ApiError> {
    let page = runs::list(&app.services, &authorized.caller, query).await?;
    Ok(Json(RunPage {
        data: page.rows.iter().map(|(run, pending)| ApiRun::of(run, *pending)).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
        seq: page.seq,
        truncated: page.truncated,
    }))
}

/// Read one run with its steps, their outputs, and its pending asks.
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs", params(("id" = String, Path)),
    responses((status = 200, body = ApiRun), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiRun>, ApiError> {
    let found = runs::get(&app.services, &authorized.caller, &id).await?;
    let mut shown = ApiRun::with_pending(&found.run, &found.pending.asks, found.pending.count);
    shown.truncated = found.pending.truncated();
    shown.seq = Some(found.seq);
    Ok(Json(shown))
}

/// Cancel a run. Its agents are stopped and its asks withdrawn.
#[utoipa::path(post, path = "/v1/runs/{id}/cancel", tag = "runs", params(("id" = String, Path)),
    responses((status = 200, body = ApiRun), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiRun>, ApiError> {
    let run = runs::cancel(&app.services, &authorized.caller, &id).await?;
    Ok(Json(ApiRun::of(&run, 0)))
}

/// Answer or reject a pending question or checkpoint of a run.
#[utoipa::path(post, path = "/v1/runs/{id}/questions/{qid}", tag = "runs",
    params(("id" = String, Path), ("qid" = String, Path)), request_body = RunAnswerRequest,
    responses((status = 200, body = RunAnswered), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path((id, qid)): Path<(String, String)>,
    LooseBody(body): LooseBody<RunAnswerRequest>,
) -> Result<Json<RunAnswered>, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let key = body.key(caller);
    let RunAnswerRequest { answers, reject, message } = body.value;
    let decision = match (answers, reject.unwrap_or(false)) {
        (Some(answers), false) => Decision::Answered { answers, note: None },
        (None, true) => Decision::Rejected { message: message.unwrap_or_default(), stop: false },
        (Some(_), true) | (None, false) => return Err(ApiError::malformed(ONE_OF_TWO).with_error_text()),
    };
    let status = decision.status().as_str().to_owned();
    let answered = runs::answer_question(&app.services, caller, authorized.via(), &id, &qid, decision, key).await;
    answered.map_err(|error| match error {
        // These two errors have their code in `error`.
        ServiceError::RunNotFound | ServiceError::QuestionNotFound => ApiError::from(error),
        error => ApiError::from(error).with_error_text(),
    })?;
    Ok(Json(RunAnswered { status }))
}
