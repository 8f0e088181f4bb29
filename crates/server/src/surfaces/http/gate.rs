//! Middleware for every request: the guard, rate limits, and response headers.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sayso_api::error::ErrorCode;
use sayso_core::id::TokenId;
use sayso_store::StoreError;
use tracing::Instrument as _;

use super::error::ApiError;
use crate::app::App;
use crate::auth::Foreign;
use crate::auth::rate::{RateLimit, client_address};
use crate::surfaces::listener::Local;

/// Rate limits for untrusted input: bad tokens, login codes, and calls with agents' tokens.
#[derive(Debug)]
pub(crate) struct RateLimits {
    bad_tokens: Mutex<RateLimit<IpAddr>>,
    logins: Mutex<RateLimit<IpAddr>>,
    agents: Mutex<RateLimit<TokenId>>,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            bad_tokens: Mutex::new(RateLimit::new(60, Duration::from_secs(1))),
            logins: Mutex::new(RateLimit::new(10, Duration::from_secs(6))),
            agents: Mutex::new(RateLimit::new(600, Duration::from_millis(20))),
        }
    }
}

impl RateLimits {
    /// Counts a bad token from this address. Returns false if there were too many.
    pub(crate) fn bad_token(&self, from: IpAddr, now: sayso_core::time::Time) -> bool {
        self.bad_tokens.lock().unwrap_or_else(PoisonError::into_inner).allow(client_address(from), now)
    }

    /// Counts an attempt to redeem a login code. Returns false if there were too many.
    pub(crate) fn login(&self, from: IpAddr, now: sayso_core::time::Time) -> bool {
        self.logins.lock().unwrap_or_else(PoisonError::into_inner).allow(client_address(from), now)
    }

    /// Counts a call with an agent's token. Returns false if there were too many.
    pub(crate) fn agent(&self, token: TokenId, now: sayso_core::time::Time) -> bool {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner).allow(token, now)
    }
}

const CSP: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; \
                   object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

/// Runs requests that change state to completion, even if the client disconnects. Otherwise the database and the state in
/// memory could differ: a token revoked in the database would stay valid until the next start.
pub(crate) async fn to_the_end(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request).in_current_span()).await {
        Ok(response) => response,
        Err(stopped) => match stopped.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => ApiError::from(StoreError::Closed).into_response(),
        },
    }
}

/// Opens the tracing span of the request. It contains the route but never the path, because the path of an answer link is a
/// credential.
pub(crate) async fn gate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let number = app.runtime.metrics.request();
    let route = request.extensions().get::<MatchedPath>().map_or("page", MatchedPath::as_str);
    let span = tracing::debug_span!("request", number, method = %request.method(), route);
    async move {
        let response = admit(&app, request, next).await;
        tracing::debug!(status = response.status().as_u16(), "request answered");
        response
    }
    .instrument(span)
    .await
}

/// Refuses foreign hosts and origins, and sets the headers of every response.
async fn admit(app: &App, request: Request, next: Next) -> Response {
    let local = request.extensions().get::<Local>().map(|local| local.0);
    let refused = match app.guard.check(request.uri(), request.headers(), local) {
        Ok(()) => None,
        Err(Foreign::Host) => Some(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            ErrorCode::ForeignHost,
            "this server does not serve that host name; allow it with --allow-host, or in config.toml with allow_hosts",
        )),
        Err(Foreign::Origin) => Some(ApiError::new(
            StatusCode::FORBIDDEN,
            ErrorCode::ForeignOrigin,
            "pages of that origin may not call; allow it in config.toml with cors_origins",
        )),
    };
    let origin = app.guard.allowed_origin(request.headers()).cloned();
    let mut response = match refused {
        Some(refused) => refused.into_response(),
        None if origin.is_some() && request.method() == Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Pages may set a policy of their own.
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(CSP));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"));
        let allowed = HeaderValue::from_static(
            "authorization, content-type, idempotency-key, last-event-id, x-sayso-via, acp-connection-id, acp-session-id",
        );
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("acp-connection-id"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    response
}
