//! The addresses of the server: listing, opening and closing.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_api::error::Problem;
use sayso_api::listener::{Listener, ListenerList, NewListener};
use sayso_store::StoreError;

use super::{ApiError, Authorized, OptionalJson};
use crate::app::App;
use crate::auth::Permission;
use crate::surfaces::listeners::{ListenerError, OpenRefusal, suggested_address};

fn to_api(app: &App, address: SocketAddr) -> Listener {
    let scheme = if app.tls.is_some() { "https" } else { "http" };
    Listener { address: address.to_string(), url: format!("{scheme}://{address}"), main: false }
}

/// The address with which the server was started.
fn main_listener(app: &App) -> Listener {
    Listener { address: app.address.to_string(), url: app.services.url.clone(), main: true }
}

/// List the addresses at which the server listens.
#[utoipa::path(get, path = "/v1/listeners", tag = "listeners",
    responses((status = 200, body = ListenerList), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<ListenerList>, ApiError> {
    authorized.may(Permission::Administer)?;
    let opened = app.listeners.list().await;
    let data = std::iter::once(main_listener(&app)).chain(opened.into_iter().map(|address| to_api(&app, address)));
    Ok(Json(ListenerList {
        data: data.collect(),
        public_url: app.services.public_url.clone(),
        suggested: suggested_address(app.address).map(|address| address.to_string()),
        certificate: app.tls.as_ref().map(|tls| tls.to_api()),
    }))
}

/// Make the server reachable at a network address, until the listener is closed or the server stops. Does nothing if the
/// address is already open.
#[utoipa::path(post, path = "/v1/listeners", tag = "listeners", request_body = Option<NewListener>,
    responses((status = 201, body = Listener), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    OptionalJson(body): OptionalJson<NewListener>,
) -> Result<(StatusCode, Json<Listener>), ApiError> {
    authorized.may(Permission::Administer)?;
    let opened = app.listeners.open_named(body.value.address.as_deref(), app.address).await.map_err(|refusal| match refusal {
        OpenRefusal::NotOpened { error: ListenerError::Stopping, .. } => StoreError::Closed.into(),
        OpenRefusal::NoNetwork | OpenRefusal::NotAnAddress | OpenRefusal::AllAddresses | OpenRefusal::NotOpened { .. } => {
            ApiError::invalid(refusal.to_string())
        }
    })?;
    Ok((StatusCode::CREATED, Json(Listener { main: opened.main, ..to_api(&app, opened.address) })))
}

/// Close an address that was opened with `POST /v1/listeners`. Connections to it are closed.
#[utoipa::path(delete, path = "/v1/listeners/{address}", tag = "listeners", params(("address" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn close(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(address): Path<String>,
) -> Result<StatusCode, ApiError> {
    authorized.may(Permission::Administer)?;
    let closed = match address.parse() {
        Ok(address) => app.listeners.close(address).await,
        Err(_) => false,
    };
    if closed { Ok(StatusCode::NO_CONTENT) } else { Err(ApiError::not_found("no such address is open")) }
}
