//! What agents say to people without asking.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use sayso_api::error::Problem;
use sayso_api::notice::NewNotice;
use sayso_core::id::BlockId;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::transcript::{Block, BlockBody};
use sayso_store::write::SayNotice;

use super::{ApiError, Authorized, JsonBody, external};
use crate::app::App;
use crate::auth::{Caller, Permission};
use crate::entropy;

/// What the feed says of a notice that belongs to no session.
#[derive(serde::Serialize)]
struct Said<'a> {
    agent: &'a str,
    text: &'a str,
}

/// Say something to people, and wait for nothing.
#[utoipa::path(post, path = "/v1/notices", tag = "asks", request_body = NewNotice,
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewNotice>,
) -> Result<StatusCode, ApiError> {
    let caller = authorized.may(Permission::Open)?;
    say(&app, caller, body.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Says it: over HTTP, or through a door.
pub(crate) async fn say(app: &App, caller: &Caller, notice: NewNotice) -> Result<(), ApiError> {
    let NewNotice { text, agent, external } = notice;
    limits::check("the text", text.len(), limits::TEXT)?;
    limits::check("the name of the agent", agent.as_ref().map_or(0, String::len), limits::NAME)?;
    if text.trim().is_empty() {
        return Err(ApiError::invalid("a notice has a text"));
    }
    let session = match external {
        Some(named) => Some(external::ensure(app, caller, named).await?.id),
        None => None,
    };
    let data = Raw::of(&Said { agent: agent.as_deref().unwrap_or(&caller.name), text: &text });
    let now = app.clock.now();
    let block = Block { id: BlockId::new(now, entropy::id()), at: now, subagent: None, body: BlockBody::Notice { text } };
    Ok(app.store.write(SayNotice { workspace: caller.workspace, session, block, data }).await?)
}
