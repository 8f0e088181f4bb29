//! Servers that somebody else started: to listen to one, and to stop it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_agents::translator::{Standing, Translator};
use sayso_api::error::{ErrorCode, Problem};
use sayso_api::session::{Attachment, AttachmentState, NewAttachment};
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position};
use sayso_core::id::ConnectionId;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_store::WorkspaceId;
use sayso_store::read::ListAttached;
use sayso_store::write::{AttachConnection, DetachConnection};

use super::agents::capabilities;
use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::auth::Permission;
use crate::config::agents::Agent;
use crate::entropy;

/// How long to wait until it is known how it stands. Less than clients wait for a reply.
const SETTLES: Duration = Duration::from_secs(15);
/// What sessions say that were followed there.
const DISCONNECTED: &str = "Sayso was disconnected from it; the agent goes on where it runs.";

/// Listen to a server of an agent that somebody else started. One that cannot be reached is not kept.
#[utoipa::path(post, path = "/v1/attachments", tag = "attachments", request_body = NewAttachment,
    responses((status = 201, body = Attachment), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewAttachment>,
) -> Result<(StatusCode, Json<Attachment>), ApiError> {
    let workspace = authorized.may(Permission::Administer)?.workspace;
    let NewAttachment { agent, place, user, password } = body.value;
    for (what, text) in [("the place", Some(&place)), ("the user", user.as_ref()), ("the password", password.as_ref())] {
        limits::check(what, text.map_or(0, String::len), limits::TEXT)?;
    }
    let agent = app.agents.get(&agent).ok_or_else(|| {
        let detail = format!("there is no agent `{agent}`; see GET /v1/agents");
        ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::UnknownAgent, detail)
    })?;
    let translator = agent.attach(&place, password.as_ref().map(|_| user)).map_err(ApiError::invalid)?;
    for connection in app.store.read(ListAttached { workspace }).await? {
        let same = connection.agent == agent.name && place_of(agent, &connection) == place_at(translator.as_ref());
        match app.attachments.standing(connection.id) {
            Standing::Connected { .. } if same => return Ok((StatusCode::CREATED, Json(shown(&app, agent, &connection)))),
            // It is not reached as it is, so it is tried as it is said now.
            Standing::Connecting | Standing::Unreachable { .. } if same => {
                detach(&app, workspace, connection.id).await.map(drop)?
            }
            Standing::Connecting | Standing::Connected { .. } | Standing::Unreachable { .. } => {}
        }
    }
    let connection = Connection {
        id: ConnectionId::new(app.clock.now(), entropy::id()),
        kind: ConnectionKind::Attached,
        agent: agent.name.clone(),
        epoch: Epoch(1),
        position: Position(0),
        process: None,
        state: Some(Raw::of(&translator.save())),
        wake_at: None,
    };
    if let Some(password) = password {
        app.attachments.keep_secret(connection.id, &password).map_err(|error| {
            tracing::error!(%error, "the password of an agent cannot be kept");
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, "the password cannot be kept")
        })?;
    }
    app.store.write(AttachConnection { workspace, connection: connection.clone() }).await?;
    app.connections.want(vec![connection.id]);
    if let Standing::Unreachable { why } = app.attachments.settled(connection.id, SETTLES).await {
        detach(&app, workspace, connection.id).await?;
        return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::AgentUnreachable, why));
    }
    Ok((StatusCode::CREATED, Json(shown(&app, agent, &connection))))
}

/// Stop listening to a server. Its sessions end here; whoever runs it is not disturbed.
#[utoipa::path(delete, path = "/v1/attachments/{id}", tag = "attachments", params(("id" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn remove(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let workspace = authorized.may(Permission::Administer)?.workspace;
    let none = || ApiError::not_found("there is no such attachment; see GET /v1/agents");
    let id = id.parse().map_err(|_| none())?;
    if detach(&app, workspace, id).await? { Ok(StatusCode::NO_CONTENT) } else { Err(none()) }
}

async fn detach(app: &App, workspace: WorkspaceId, id: ConnectionId) -> Result<bool, ApiError> {
    let reason = DISCONNECTED.to_owned();
    let gone = app.store.write(DetachConnection { workspace, connection: id, reason, now: app.clock.now() }).await?;
    app.connections.end(id);
    app.attachments.forget(id);
    Ok(gone)
}

/// Those of all agents.
pub(super) async fn all(app: &App, workspace: WorkspaceId) -> Result<Vec<Attachment>, ApiError> {
    let found = app.store.read(ListAttached { workspace }).await?;
    let known = found.iter().filter_map(|connection| Some((app.agents.get(&connection.agent)?, connection)));
    Ok(known.map(|(agent, connection)| shown(app, agent, connection)).collect())
}

fn place_at(translator: &dyn Translator) -> Option<String> {
    translator.attached().map(|attached| attached.place)
}

fn place_of(agent: &Agent, connection: &Connection) -> Option<String> {
    place_at(agent.attached(connection.state.as_ref())?.as_ref())
}

fn shown(app: &App, agent: &Agent, connection: &Connection) -> Attachment {
    let (state, problem, version) = match app.attachments.standing(connection.id) {
        Standing::Connecting => (AttachmentState::Connecting, None, None),
        Standing::Connected { version } => (AttachmentState::Connected, None, version),
        Standing::Unreachable { why } => (AttachmentState::Unreachable, Some(why), None),
    };
    Attachment {
        id: connection.id.to_string(),
        agent: agent.name.clone(),
        place: place_of(agent, connection).unwrap_or_default(),
        state,
        problem,
        version,
        capabilities: capabilities(agent.attached_capabilities()),
    }
}
