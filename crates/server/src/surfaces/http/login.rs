//! Signing a browser in: a one-time code becomes a token of that browser. No cookies.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use sayso_api::error::Problem;
use sayso_api::token::{CreatedToken, LoginCode, LoginRequest, NewLoginCode, Role};
use sayso_core::id::TokenId;
use sayso_core::limits;
use sayso_core::scope::Scope;
use sayso_store::write::{CreateLoginCode, RedeemLoginCode, TokenRow};

use super::tokens::SECRET_PREFIX;
use super::{ApiError, Authorized, JsonBody, OptionalJson, Peer};
use crate::app::App;
use crate::auth::{Permission, hash, role_name};
use crate::entropy;

/// How long a code can be used.
const LIFE: Duration = Duration::from_secs(600);

/// Make a code that opens the page in a browser, once, within ten minutes.
#[utoipa::path(post, path = "/v1/login-codes", tag = "tokens", request_body = Option<NewLoginCode>,
    responses((status = 201, body = LoginCode), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn code(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    OptionalJson(body): OptionalJson<NewLoginCode>,
) -> Result<(StatusCode, Json<LoginCode>), ApiError> {
    let caller = authorized.may(Permission::Administer)?;
    let role = body.value.role.unwrap_or(Role::Admin);
    if role == Role::Agent {
        return Err(ApiError::invalid("a browser signs in as admin, answerer or viewer"));
    }
    let code = entropy::hex(&entropy::bytes::<16>());
    let expires_at = app.clock.now().plus(LIFE);
    let create = CreateLoginCode {
        workspace: caller.workspace,
        hash: hash(&code),
        role: role_name(role).to_owned(),
        actor: caller.name.clone(),
        expires_at,
    };
    app.store.write(create).await?;
    let url = format!("{}/#code={code}", app.public_url.as_ref().unwrap_or(&app.url));
    Ok((StatusCode::CREATED, Json(LoginCode { code, url, expires_at })))
}

/// Redeem a code for a token of this browser.
#[utoipa::path(post, path = "/v1/login", tag = "tokens", request_body = LoginRequest,
    responses((status = 201, body = CreatedToken), (status = "4XX", body = Problem), (status = "5XX", body = Problem)))]
pub(crate) async fn redeem(
    State(app): State<Arc<App>>,
    Peer(from): Peer,
    body: JsonBody<LoginRequest>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    let now = app.clock.now();
    if !app.limits.login(from, now) {
        return Err(ApiError::rate_limited());
    }
    let LoginRequest { code, device } = body.value;
    limits::check("the name of the device", device.as_ref().map_or(0, String::len), limits::NAME)?;
    let secret = entropy::secret(SECRET_PREFIX);
    let token = TokenRow {
        id: TokenId::new(now, entropy::id()),
        workspace: sayso_store::WorkspaceId::MAIN,
        hash: hash(&secret),
        role: String::new(),
        actor: String::new(),
        device,
        scope: Scope::All,
        created_at: now,
        expires_at: None,
        revoked_at: None,
    };
    let redeemed = app.store.write(RedeemLoginCode { code: hash(&code), token, now }).await?;
    let row = redeemed.ok_or_else(|| {
        ApiError::unauthorized().saying("this code is wrong, used or too old; make a new one with `sayso login` or `sayso phone`")
    })?;
    app.tokens.put(&row);
    Ok((StatusCode::CREATED, Json(CreatedToken { token: Some(secret), info: app.tokens.shown(&row) })))
}
