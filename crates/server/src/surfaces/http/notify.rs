//! The channels that reach people: which there are, and whether they work.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sayso_api::error::Problem;
use sayso_api::notify::{ChannelList, TestChannels, TestedList};

use super::{ApiError, Authorized, OptionalJson};
use crate::app::App;
use crate::auth::Permission;
use crate::runtime::notify;

/// List the channels, without their secrets.
#[utoipa::path(get, path = "/v1/notify", tag = "notify",
    responses((status = 200, body = ChannelList), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<ChannelList>, ApiError> {
    authorized.may(Permission::Administer)?;
    Ok(Json(ChannelList { data: app.runtime.notifier.shown() }))
}

/// Send a test note through one channel, or all of them.
#[utoipa::path(post, path = "/v1/notify/test", tag = "notify", request_body(content = TestChannels),
    responses((status = 200, body = TestedList), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn test(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    OptionalJson(body): OptionalJson<TestChannels>,
) -> Result<Json<TestedList>, ApiError> {
    authorized.may(Permission::Administer)?;
    let tested = notify::test(&app.runtime, body.value.name.as_deref()).await;
    Ok(Json(TestedList { data: tested.ok_or_else(|| ApiError::not_found("no such channel; see [[notify]] in config.toml"))? }))
}
