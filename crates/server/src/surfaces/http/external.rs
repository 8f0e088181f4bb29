//! Agents that a person runs themselves: their sessions, and news of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sayso_api::ask::{ExternalEvent, ExternalNews as ApiNews, ExternalNewsTaken, ExternalSession};
use sayso_api::error::Problem;
use sayso_api::session::Session as ApiSession;
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position};
use sayso_core::id::{ConnectionId, SessionId};
use sayso_core::limits;
use sayso_core::policy::SessionPolicy;
use sayso_core::raw::Raw;
use sayso_core::session::{External, Labels, Session, SessionStatus, title_of};
use sayso_store::read::GetExternal;
use sayso_store::write::{EnsureExternal, ExternalKey, ExternalNews, TellExternal};

use super::{ApiError, Authorized, JsonBody, look_at};
use crate::app::App;
use crate::auth::{Caller, Permission};
use crate::entropy;

/// The session's key, if its names can be names.
fn key(caller: &Caller, agent: &str, session_id: &str) -> Result<ExternalKey, ApiError> {
    for (what, name) in [("agent", agent), ("sessionId", session_id)] {
        limits::check(what, name.len(), limits::NAME)?;
        if name.trim().is_empty() || name.contains(char::is_control) {
            return Err(ApiError::invalid(format!("{what} is a name without control characters")));
        }
    }
    let (agent, native_id) = (agent.to_owned(), session_id.to_owned());
    Ok(ExternalKey { workspace: caller.workspace, token: caller.token, agent, native_id })
}

/// The session that this is, made if this is the first that is heard of it.
pub(crate) async fn ensure(app: &App, caller: &Caller, named: ExternalSession) -> Result<Session, ApiError> {
    let key = key(caller, &named.agent, &named.session_id)?;
    limits::check("cwd", named.cwd.len(), limits::TEXT)?;
    limits::check("the title", named.title.as_ref().map_or(0, String::len), limits::TEXT)?;
    limits::check("the branch", named.branch.as_ref().map_or(0, String::len), limits::NAME)?;
    if !Path::new(&named.cwd).is_absolute() {
        return Err(ApiError::invalid("cwd is an absolute path"));
    }
    let known = app.store.read(GetExternal { key: key.clone() }).await?;
    // The title may be heard of later than the session.
    if let Some(known) = known.filter(|known| !known.title.is_empty() || named.title.is_none()) {
        return Ok(known);
    }
    let cwd = PathBuf::from(&named.cwd);
    let looked = tokio::task::spawn_blocking(move || {
        // The agent may run where this server does not see; then its word is all there is.
        let real = cwd.canonicalize().unwrap_or(cwd);
        let (policy, branch) = look_at(&real);
        (real.to_string_lossy().into_owned(), policy, branch)
    });
    let (project, project_policy, branch) = looked.await.unwrap_or((named.cwd, None, None));
    let now = app.clock.now();
    let (id, connection) = (SessionId::new(now, entropy::id()), ConnectionId::new(now, entropy::id()));
    let session = Session {
        id,
        connection,
        agent: key.agent.clone(),
        title: named.title.as_deref().map(title_of).unwrap_or_default(),
        project,
        branch: named.branch.or(branch),
        status: SessionStatus::Running,
        permission_mode: "default".to_owned(),
        model: None,
        policy: SessionPolicy::default(),
        project_policy,
        external: Some(External { native_id: key.native_id.clone() }),
        step: None,
        labels: Labels::new(),
        opened_by: Some(caller.token),
        created_at: now,
        updated_at: now,
    };
    let connection = Connection {
        id: connection,
        kind: ConnectionKind::Caller,
        agent: key.agent.clone(),
        epoch: Epoch(1),
        position: Position(0),
        process: None,
        state: None,
        wake_at: None,
    };
    let announced = Raw::of(&ApiSession::of(&session, 0));
    Ok(*app.store.write(EnsureExternal { key, session, connection, announced, now }).await?)
}

/// Tell what happened where a person runs an agent themselves.
///
/// What was decided there is withdrawn here. A session that is not known has nothing to withdraw.
#[utoipa::path(post, path = "/v1/external", tag = "asks", request_body = ApiNews,
    responses((status = 200, body = ExternalNewsTaken), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn tell(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<ApiNews>,
) -> Result<Json<ExternalNewsTaken>, ApiError> {
    let caller = authorized.may(Permission::Open)?;
    let told = body.value;
    let key = key(caller, &told.agent, &told.session_id)?;
    let news = match (told.event, told.dedupe_key) {
        (ExternalEvent::ToolDone, Some(native_prefix)) if !native_prefix.is_empty() => ExternalNews::ToolDone { native_prefix },
        (ExternalEvent::ToolDone, _) => return Err(ApiError::invalid("toolDone needs a dedupeKey")),
        (ExternalEvent::Prompted, _) => ExternalNews::Prompted,
        (ExternalEvent::TurnEnded, _) => ExternalNews::TurnEnded,
        (ExternalEvent::Ended, _) => ExternalNews::Ended,
    };
    let withdrawn = app.store.write(TellExternal { key, news, now: app.clock.now() }).await?;
    Ok(Json(ExternalNewsTaken { withdrawn: withdrawn.iter().map(ToString::to_string).collect() }))
}
