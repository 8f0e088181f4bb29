//! Health and metrics.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use sayso_api::error::Problem;
use sayso_api::policy::Health;

use super::{ApiError, Authorized};
use crate::app::App;
use crate::runtime::metrics;

/// Report whether the server is running. Needs no token.
#[utoipa::path(get, path = "/v1/health", tag = "server", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}

/// Metrics in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, content_type = "text/plain", body = String), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn metrics(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Response, ApiError> {
    let text = metrics::read(&app.runtime, &authorized.caller).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
