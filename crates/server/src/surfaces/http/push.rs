//! Browsers that want to be woken when something waits.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sayso_api::error::Problem;
use sayso_api::notify::{NewPush, PushInfo};
use sayso_core::limits;
use sayso_store::write::{DropPush, PushRow, PutPush};

use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::auth::Permission;
use crate::runtime::notify::PushKey;

/// The key that a browser needs to ask for being woken.
#[utoipa::path(get, path = "/v1/push", tag = "push",
    responses((status = 200, body = PushInfo), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn key(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<PushInfo>, ApiError> {
    authorized.may(Permission::Read)?;
    Ok(Json(PushInfo { public_key: app.push_key.as_ref().map(PushKey::public) }))
}

/// Wake this browser when something waits, until its token is revoked.
#[utoipa::path(post, path = "/v1/push", tag = "push", request_body = NewPush,
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn wake(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewPush>,
) -> Result<StatusCode, ApiError> {
    let caller = authorized.may(Permission::Read)?;
    let NewPush { endpoint, keys } = body.value;
    limits::check("the address of the push service", endpoint.len(), limits::TEXT)?;
    let is_web = endpoint.parse::<reqwest::Url>().is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
    let public_key = bytes(&keys.p256dh).and_then(|bytes| <[u8; 65]>::try_from(bytes).ok());
    let auth = bytes(&keys.auth).and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
    let (true, Some(public_key), Some(auth)) = (is_web, public_key, auth) else {
        return Err(ApiError::invalid("this is not a subscription of a browser"));
    };
    let push = PushRow { token: caller.token, endpoint, public_key, auth };
    app.store.write(PutPush { workspace: caller.workspace, push }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Do not wake this browser any more.
#[utoipa::path(delete, path = "/v1/push", tag = "push",
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn forget(State(app): State<Arc<App>>, authorized: Authorized) -> Result<StatusCode, ApiError> {
    let caller = authorized.may(Permission::Read)?;
    app.store.write(DropPush { workspace: caller.workspace, token: caller.token }).await?;
    Ok(StatusCode::NO_CONTENT)
}
