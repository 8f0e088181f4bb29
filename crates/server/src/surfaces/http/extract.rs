//! Extractors: the caller, the body and the query of a request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use sayso_api::token::Role;
use sayso_store::ops::IdempotencyKey;
use serde::de::DeserializeOwned;
use sha2::Sha256;

use super::body::{BodyLimits, describe_json_error, read_body};
use super::error::ApiError;
use crate::app::App;
use crate::auth::{Caller, Permission};
use crate::service::ServiceError;
use crate::surfaces::http::sse::StillAllowed;

/// The IP address of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl FromRequestParts<Arc<App>> for Peer {
    type Rejection = std::convert::Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Self::Rejection> {
        let address = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
        Ok(Self(address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))))
    }
}

/// A caller with a valid token.
#[derive(Debug, Clone)]
pub(crate) struct Authorized {
    pub(crate) caller: Arc<Caller>,
    via: String,
}

impl FromRequestParts<Arc<App>> for Authorized {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let now = app.services.clock.now();
        let secret = parts
            .headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")))
            .map(|(_, secret)| secret.trim());
        let Some(caller) = secret.and_then(|secret| app.services.tokens.find(secret, now)) else {
            let Ok(Peer(from)) = Peer::from_request_parts(parts, app).await;
            let patience = app.limits.bad_token(from, now);
            return Err(if patience { ApiError::unauthorized() } else { ApiError::rate_limited() });
        };
        if caller.role == Role::Agent && !app.limits.agent(caller.token, now) {
            return Err(ApiError::rate_limited());
        }
        Ok(Self { caller, via: via(&parts.headers) })
    }
}

/// Returns the name of the person's surface, as the client reports it.
fn via(headers: &HeaderMap) -> String {
    let named = headers.get("x-sayso-via").and_then(|via| via.to_str().ok());
    named
        .filter(|via| via.len() <= 32 && via.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        .unwrap_or("http")
        .to_owned()
}

impl Authorized {
    /// Returns the caller if its role has this permission.
    pub(crate) fn may(&self, permission: Permission) -> Result<&Caller, ApiError> {
        if permission.granted_to(self.caller.role) { Ok(&self.caller) } else { Err(ServiceError::Forbidden.into()) }
    }

    /// Returns a check for streams that the token is still valid.
    pub(crate) fn still_allowed(&self, app: &App) -> StillAllowed {
        let (caller, clock) = (Arc::clone(&self.caller), app.services.clock.clone());
        let revoked = caller.revoked();
        StillAllowed::new(move || caller.is_valid(clock.now()), revoked)
    }

    /// Returns the name of the surface that the person uses.
    pub(crate) fn via(&self) -> &str {
        &self.via
    }
}

/// A JSON body with its idempotency key. Unknown fields and invalid values give 422, malformed JSON gives 400.
#[derive(Debug)]
pub(crate) struct JsonBody<T> {
    pub(crate) value: T,
    key: Option<IdempotencyHeader>,
}

/// Like [`JsonBody`], but an empty body means the default.
#[derive(Debug)]
pub(crate) struct OptionalJson<T>(pub(crate) JsonBody<T>);

/// The body of a compatibility dialect. Missing fields and invalid values give 400.
#[derive(Debug)]
pub(crate) struct LooseBody<T>(pub(crate) JsonBody<T>);

#[derive(Debug)]
struct IdempotencyHeader {
    key: String,
    route: String,
    fingerprint: [u8; 32],
}

impl<T> JsonBody<T> {
    /// Returns the idempotency key of the call, qualified by the caller.
    pub(crate) fn key(&self, caller: &Caller) -> Option<IdempotencyKey> {
        self.key.as_ref().map(|key| IdempotencyKey {
            token: caller.token,
            route: key.route.clone(),
            key: key.key.clone(),
            fingerprint: key.fingerprint,
        })
    }
}

struct ReadBody {
    bytes: Bytes,
    key: Option<IdempotencyHeader>,
}

async fn read(request: Request, app: &App, limits: BodyLimits) -> Result<ReadBody, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = read_body(body, limits).await?;
    let key = match parts.headers.get("idempotency-key") {
        None => None,
        Some(value) => {
            let key = value.to_str().ok().filter(|key| !key.is_empty() && key.len() <= 255);
            let key = key.ok_or_else(|| ApiError::invalid("an Idempotency-Key must have 1 to 255 visible characters"))?;
            Some(IdempotencyHeader {
                key: key.to_owned(),
                route: parts.uri.path().to_owned(),
                fingerprint: fingerprint(app, &bytes),
            })
        }
    };
    Ok(ReadBody { bytes, key })
}

fn fingerprint(app: &App, body: &[u8]) -> [u8; 32] {
    // Keys of any length are accepted, so this cannot fail.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&app.services.server_key) else { return [0; 32] };
    mac.update(body);
    mac.finalize().into_bytes().into()
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // Parsing may report an invalid value before malformed JSON further on, but malformed JSON takes precedence.
    let is_json = || serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        serde_json::error::Category::Data if is_json() => {
            ApiError::invalid(format!("the body is invalid: {}", describe_json_error(&error)))
        }
        serde_json::error::Category::Data
        | serde_json::error::Category::Io
        | serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof => {
            ApiError::malformed(format!("the body is not JSON: {}", describe_json_error(&error)))
        }
    })
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for JsonBody<T> {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let ReadBody { bytes, key } = read(request, app, BodyLimits::CALLER).await?;
        Ok(Self { value: parse(&bytes)?, key })
    }
}

impl<T: DeserializeOwned + Default> FromRequest<Arc<App>> for OptionalJson<T> {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let ReadBody { bytes, key } = read(request, app, BodyLimits::CALLER).await?;
        let value = if bytes.trim_ascii().is_empty() { T::default() } else { parse(&bytes)? };
        Ok(Self(JsonBody { value, key }))
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for LooseBody<T> {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let ReadBody { bytes, key } = read(request, app, BodyLimits::CALLER).await?;
        let value = serde_json::from_slice(&bytes).map_err(|error| {
            ApiError::malformed(format!("the body is invalid: {}", describe_json_error(&error))).with_error_text()
        })?;
        Ok(Self(JsonBody { value, key }))
    }
}

/// The JSON body of a request without a token: small, and read within seconds.
#[derive(Debug)]
pub(crate) struct AnyoneBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for AnyoneBody<T> {
    type Rejection = ApiError;
    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let ReadBody { bytes, .. } = read(request, app, BodyLimits::ANYONE).await?;
        parse(&bytes).map(Self)
    }
}

/// The maximum length of a query string, in bytes. Every filter and cursor fits, and no search becomes too long for the
/// database.
const MAX_QUERY: usize = 8 * 1024;

/// A query string. Invalid parameters give 422.
#[derive(Debug, Default)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Params<T> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        if parts.uri.query().map_or(0, str::len) > MAX_QUERY {
            return Err(ApiError::malformed(format!(
                "a query string can have at most {MAX_QUERY} bytes; search for fewer words"
            )));
        }
        axum::extract::Query::<T>::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|error| ApiError::invalid(format!("the query is invalid: {}", error.body_text())))
    }
}
