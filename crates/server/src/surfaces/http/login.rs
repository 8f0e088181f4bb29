//! Browser logins: a one-time code is exchanged for a token of that browser. There are no cookies.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use sayso_api::error::Problem;
use sayso_api::token::{CreatedToken, LoginCode, LoginRequest, NewLoginCode};

use super::{AnyoneBody, ApiError, Authorized, OptionalJson, Peer};
use crate::app::App;
use crate::service::tokens;

/// Create a login code, which opens the page in a browser once, within ten minutes.
#[utoipa::path(post, path = "/v1/login-codes", tag = "tokens", request_body = Option<NewLoginCode>,
    responses((status = 201, body = LoginCode), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn code(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    OptionalJson(body): OptionalJson<NewLoginCode>,
) -> Result<(StatusCode, Json<LoginCode>), ApiError> {
    let services = &app.services;
    let tokens::LoginCode { code, expires_at } = tokens::create_login_code(services, &authorized.caller, body.value).await?;
    let url = format!("{}/#code={code}", services.public_url.as_ref().unwrap_or(&services.url));
    Ok((StatusCode::CREATED, Json(LoginCode { code, url, expires_at })))
}

/// Exchange a login code for a token of this browser.
#[utoipa::path(post, path = "/v1/login", tag = "tokens", request_body = LoginRequest,
    responses((status = 201, body = CreatedToken), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn redeem(
    State(app): State<Arc<App>>,
    Peer(from): Peer,
    AnyoneBody(login): AnyoneBody<LoginRequest>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    if !app.limits.login(from, app.services.clock.now()) {
        return Err(ApiError::rate_limited());
    }
    let issued = tokens::redeem_login_code(&app.services, login).await?;
    let info = app.services.tokens.to_api(&issued.row);
    Ok((StatusCode::CREATED, Json(CreatedToken { token: issued.secret, info })))
}
