//! Tokens: creating, listing, revoking.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_api::error::Problem;
use sayso_api::token::{CreatedToken, NewToken, Token, TokenList};

use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::service::tokens;

/// Create a token. Its secret is shown only in this response.
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens", request_body = NewToken,
    responses((status = 201, body = CreatedToken), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    let key = body.key(&authorized.caller);
    let issued = tokens::create(&app.services, &authorized.caller, body.value, key).await?;
    let info = app.services.tokens.to_api(&issued.row);
    Ok((StatusCode::CREATED, Json(CreatedToken { token: issued.secret, info })))
}

/// List the tokens, without their secrets.
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens",
    responses((status = 200, body = TokenList), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<TokenList>, ApiError> {
    let rows = tokens::list(&app.services, &authorized.caller).await?;
    Ok(Json(TokenList { data: rows.iter().map(|row| app.services.tokens.to_api(row)).collect() }))
}

/// Revoke a token. It becomes invalid at once.
#[utoipa::path(delete, path = "/v1/tokens/{id}", tag = "tokens", params(("id" = String, Path)),
    responses((status = 200, body = Token), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<Token>, ApiError> {
    let row = app.runtime.revoke_token(&authorized.caller, &id).await?;
    Ok(Json(app.services.tokens.to_api(&row)))
}
