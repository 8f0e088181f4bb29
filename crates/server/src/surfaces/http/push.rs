//! Push subscriptions of browsers.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use sayso_api::error::Problem;
use sayso_api::notify::{NewPush, PushInfo};

use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::auth::Permission;
use crate::runtime::notify::PushKey;
use crate::service::push;

/// Read the public key that a browser needs to subscribe to push notifications.
#[utoipa::path(get, path = "/v1/push", tag = "push",
    responses((status = 200, body = PushInfo), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn key(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<PushInfo>, ApiError> {
    authorized.may(Permission::Read)?;
    Ok(Json(PushInfo { public_key: app.runtime.push_key.as_ref().map(PushKey::public) }))
}

/// Subscribe this browser to push notifications, until its token is revoked.
#[utoipa::path(post, path = "/v1/push", tag = "push", request_body = NewPush,
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn wake(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewPush>,
) -> Result<StatusCode, ApiError> {
    push::subscribe(&app.services, &authorized.caller, body.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Unsubscribe this browser from push notifications.
#[utoipa::path(delete, path = "/v1/push", tag = "push",
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn forget(State(app): State<Arc<App>>, authorized: Authorized) -> Result<StatusCode, ApiError> {
    push::unsubscribe(&app.services, &authorized.caller).await?;
    Ok(StatusCode::NO_CONTENT)
}
