//! Notices of agents.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use sayso_api::error::Problem;
use sayso_api::notice::NewNotice;

use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::service::notices;

/// Send people a message that needs no answer.
#[utoipa::path(post, path = "/v1/notices", tag = "asks", request_body = NewNotice,
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewNotice>,
) -> Result<StatusCode, ApiError> {
    notices::publish_notice(&app.services, &authorized.caller, body.value).await?;
    Ok(StatusCode::NO_CONTENT)
}
