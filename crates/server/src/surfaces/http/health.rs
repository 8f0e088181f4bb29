//! Health and numbers.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use sayso_api::error::Problem;
use sayso_api::policy::Health;
use sayso_store::WorkspaceId;
use sayso_store::read::CountPending;

use super::{ApiError, Authorized};
use crate::app::App;
use crate::auth::Permission;

/// Whether the server is up. Needs no token.
#[utoipa::path(get, path = "/v1/health", tag = "server", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}

/// Numbers for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, content_type = "text/plain", body = String), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn metrics(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Response, ApiError> {
    authorized.may(Permission::Read)?;
    let count = app.services.store.read(CountPending { workspace: WorkspaceId::MAIN }).await?;
    let oldest = count.oldest.map_or(0, |oldest| app.services.clock.now().since(oldest).as_secs());
    let mut text = app.runtime.metrics.render();
    let gauges = [
        ("sayso_asks_pending", "Asks that wait for a decision.", count.pending),
        ("sayso_oldest_pending_seconds", "Age of the oldest pending ask.", oldest),
        ("sayso_outbox", "Outcomes and commands that wait to be sent.", count.outbox),
        ("sayso_agents", "Processes of agents that the server is attached to.", *app.runtime.processes.running().borrow() as u64),
        (
            "sayso_connections_awake",
            "Connections whose agent works, is called or was heard of just now.",
            app.runtime.connections.awake() as u64,
        ),
        ("sayso_streams", "Open event streams.", app.runtime.feed.streams() as u64),
        ("sayso_feed_seq", "The last place of the feed.", u64::try_from(app.runtime.feed.head(WorkspaceId::MAIN)).unwrap_or(0)),
    ];
    for (name, help, value) in gauges {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
    }
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
