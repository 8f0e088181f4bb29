//! Notification channels: listing and testing.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sayso_api::error::Problem;
use sayso_api::notify::{ChannelList, TestChannels, TestedList};

use super::{ApiError, Authorized, OptionalJson};
use crate::app::App;
use crate::runtime::notify;

/// List the notification channels, without their secrets.
#[utoipa::path(get, path = "/v1/notify", tag = "notify",
    responses((status = 200, body = ChannelList), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<ChannelList>, ApiError> {
    Ok(Json(ChannelList { data: notify::list(&app.runtime, &authorized.caller)? }))
}

/// Send a test message through one channel, or through all channels.
#[utoipa::path(post, path = "/v1/notify/test", tag = "notify", request_body(content = TestChannels),
    responses((status = 200, body = TestedList), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn test(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    OptionalJson(body): OptionalJson<TestChannels>,
) -> Result<Json<TestedList>, ApiError> {
    let data = notify::test(&app.runtime, &authorized.caller, body.value.name.as_deref()).await?;
    Ok(Json(TestedList { data }))
}
