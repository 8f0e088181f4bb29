//! Attaching to and detaching from servers that someone else started.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_agents::translator::Standing;
use sayso_api::error::Problem;
use sayso_api::session::{Attachment, AttachmentState, NewAttachment};

use super::agents::capabilities;
use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::runtime::attachments::{self, AttachedServer};

/// Attach to a server of an agent that someone else started. If the server cannot be reached, the attachment is removed again.
#[utoipa::path(post, path = "/v1/attachments", tag = "attachments", request_body = NewAttachment,
    responses((status = 201, body = Attachment), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewAttachment>,
) -> Result<(StatusCode, Json<Attachment>), ApiError> {
    let attached = attachments::attach(&app.runtime, &authorized.caller, body.value).await?;
    Ok((StatusCode::CREATED, Json(to_api(attached))))
}

/// Detach from a server. Its sessions end in Sayso; the server itself keeps running.
#[utoipa::path(delete, path = "/v1/attachments/{id}", tag = "attachments", params(("id" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    attachments::detach(&app.runtime, &authorized.caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Converts an attached server.
pub(super) fn to_api(server: AttachedServer) -> Attachment {
    let (state, problem, version) = match server.standing {
        Standing::Connecting => (AttachmentState::Connecting, None, None),
        Standing::Connected { version } => (AttachmentState::Connected, None, version),
        Standing::Unreachable { why } => (AttachmentState::Unreachable, Some(why), None),
    };
    Attachment {
        id: server.id.to_string(),
        agent: server.agent,
        place: server.place,
        state,
        problem,
        version,
        capabilities: capabilities(server.capabilities),
    }
}
