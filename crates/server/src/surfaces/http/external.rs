//! Reports about agents that people run in their own terminal or editor.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sayso_api::ask::{ExternalNews as ApiNews, ExternalNewsTaken};
use sayso_api::error::Problem;

use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::service::sessions;

/// Report what happened in an agent that a person runs in their own terminal or editor.
///
/// Asks that were decided there are withdrawn. An unknown session has nothing to withdraw.
#[utoipa::path(post, path = "/v1/external", tag = "asks", request_body = ApiNews,
    responses((status = 200, body = ExternalNewsTaken), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn tell(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<ApiNews>,
) -> Result<Json<ExternalNewsTaken>, ApiError> {
    let withdrawn = sessions::report_external(&app.services, &authorized.caller, body.value).await?;
    Ok(Json(ExternalNewsTaken { withdrawn: withdrawn.iter().map(ToString::to_string).collect() }))
}
