//! Tokens: making, listing, revoking.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_api::error::Problem;
use sayso_api::token::{CreatedToken, NewToken, Role, Token, TokenList};
use sayso_core::id::TokenId;
use sayso_core::limits;
use sayso_core::scope::Scope;
use sayso_core::time::Span;
use sayso_store::read::AllTokens;
use sayso_store::write::{CreateToken, Once, RevokeToken, TokenRow};

use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::auth::{Permission, hash, role_name};
use crate::entropy;

/// What every secret starts with, so that a leaked one can be recognised.
pub(crate) const SECRET_PREFIX: &str = "sayso_";

/// Make a token. Its secret is shown this once.
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens", request_body = NewToken,
    responses((status = 201, body = CreatedToken), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewToken>,
) -> Result<(StatusCode, Json<CreatedToken>), ApiError> {
    let caller = authorized.may(Permission::Administer)?;
    let key = body.key(caller);
    let new = body.value;
    if new.actor.trim().is_empty() {
        return Err(ApiError::invalid("actor is the name of the person or program; it is empty"));
    }
    limits::check("the name", new.actor.len(), limits::NAME)?;
    let scope = match (new.session_id, new.labels.is_empty()) {
        (Some(session), true) => Scope::Session { session: session.parse().map_err(|_| ApiError::no_session())? },
        (None, false) => Scope::Labels { labels: new.labels },
        (None, true) => Scope::All,
        (Some(_), false) => return Err(ApiError::invalid("a token is scoped by sessionId or by labels, not by both")),
    };
    if new.role == Role::Admin && scope != Scope::All {
        return Err(ApiError::invalid("an admin sees everything; choose another role for a scoped token"));
    }
    let now = app.clock.now();
    let expires_at = match new.expires_in {
        None => None,
        Some(text) => {
            let span: Span = text.parse().map_err(|error| ApiError::invalid(format!("expiresIn: {error}")))?;
            Some(now.plus(span.0))
        }
    };
    let secret = entropy::secret(SECRET_PREFIX);
    let row = TokenRow {
        id: TokenId::new(now, entropy::id()),
        workspace: caller.workspace,
        hash: hash(&secret),
        role: role_name(new.role).to_owned(),
        actor: new.actor,
        device: None,
        scope,
        created_at: now,
        expires_at,
        revoked_at: None,
    };
    let (row, token) = match app.store.write(CreateToken { token: row, key }).await? {
        Once::Done(row) => {
            app.tokens.put(&row);
            (row, Some(secret))
        }
        Once::Before(row) => (row, None),
        Once::Reused => return Err(ApiError::key_reused()),
    };
    Ok((StatusCode::CREATED, Json(CreatedToken { token, info: app.tokens.shown(&row) })))
}

/// List the tokens, without their secrets.
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens",
    responses((status = 200, body = TokenList), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<TokenList>, ApiError> {
    let caller = authorized.may(Permission::Administer)?;
    let rows = app.store.read(AllTokens).await?;
    let data = rows.iter().filter(|row| row.workspace == caller.workspace).map(|row| app.tokens.shown(row)).collect();
    Ok(Json(TokenList { data }))
}

/// Revoke a token. It ends at once.
#[utoipa::path(delete, path = "/v1/tokens/{id}", tag = "tokens", params(("id" = String, Path)),
    responses((status = 200, body = Token), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<Token>, ApiError> {
    let caller = authorized.may(Permission::Administer)?;
    let missing = || ApiError::not_found("no such token");
    let token: TokenId = id.parse().map_err(|_| missing())?;
    if token == caller.token {
        return Err(ApiError::invalid("a token does not revoke itself; use another admin's"));
    }
    let revoke = RevokeToken { workspace: caller.workspace, token, now: app.clock.now() };
    let row = app.store.write(revoke).await?.ok_or_else(missing)?;
    app.tokens.put(&row);
    // Streams look at their token before they go on; those of this one end now.
    app.feed.wake();
    Ok(Json(app.tokens.shown(&row)))
}
