//! Sessions: starting, reading, talking, interrupting, resuming, ending.

use std::collections::BTreeMap;
use std::path::{Path as FsPath, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_agents::translator::Command;
use sayso_api::error::{ErrorCode, Problem};
use sayso_api::session::{
    IfPending, MessageAccepted, MessageRequest, NewSession, Session as ApiSession, SessionPage, SessionQuery,
};
use sayso_api::token::Role;
use sayso_core::actor::Actor;
use sayso_core::connection::{Connection, Epoch, Position};
use sayso_core::environment;
use sayso_core::id::{BlockId, ConnectionId, SessionId};
use sayso_core::limits;
use sayso_core::policy::QuestionPolicy;
use sayso_core::raw::Raw;
use sayso_core::scope::Scope;
use sayso_core::session::{Session, SessionStatus, title_of};
use sayso_core::texts;
use sayso_core::transcript::{Block, BlockBody, Role as Speaker};
use sayso_store::read::{GetSession, ListSessions, SessionDetail};
use sayso_store::write::{
    CommandSession, Commanded, CreateSession, IdempotencyKey, Once, SayNotice, SendMessage, Sent, SessionCommand,
};

use super::asks::{label, page_size, place};
use super::{ApiError, Authorized, JsonBody, Params};
use crate::app::{App, shown};
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::runtime::connection;
use crate::service::policies::project_file;

/// Bytes of a prompt or a message.
const MAX_MESSAGE: usize = 1024 * 1024;
/// Bytes of a project's policy file.
const MAX_PROJECT_POLICY: u64 = 256 * 1024;

/// An id in a path.
pub(crate) fn session_id(text: &str) -> Result<SessionId, ApiError> {
    text.parse().map_err(|_| ApiError::no_session())
}

/// The session, if this caller sees it.
pub(crate) async fn find(app: &App, caller: &Caller, id: &str) -> Result<SessionDetail, ApiError> {
    let query = GetSession { workspace: caller.workspace, session: session_id(id)?, scope: caller.scope.clone() };
    app.store.read(query).await?.ok_or_else(ApiError::no_session)
}

fn detail(found: &SessionDetail) -> ApiSession {
    let mut session = ApiSession::of(&found.session, u32::try_from(found.pending.len()).unwrap_or(u32::MAX));
    session.asks = Some(found.pending.iter().map(shown).collect());
    session.seq = Some(found.seq);
    session
}

/// Start a session.
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", request_body = NewSession,
    responses((status = 201, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewSession>,
) -> Result<Response, ApiError> {
    let key = body.key(&authorized.caller);
    let session = start(&app, &authorized, body.value, key).await?;
    let location = format!("/v1/sessions/{}", session.id);
    Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(session)).into_response())
}

/// Starts a session, whatever the door.
pub(crate) async fn start(
    app: &Arc<App>,
    authorized: &Authorized,
    new: NewSession,
    key: Option<IdempotencyKey>,
) -> Result<ApiSession, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let Some(agent) = app.agents.get(&new.agent) else {
        let known = app.agents.all().iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ");
        let detail = format!("there is no agent `{}`; there are: {known}", limits::head(&new.agent, 80));
        return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::UnknownAgent, detail));
    };
    let labels = scoped_labels(caller, new.labels)?;
    limits::check("the prompt", new.prompt.as_ref().map_or(0, String::len), MAX_MESSAGE)?;
    let mode = new.permission_mode.unwrap_or_else(|| "default".to_owned());
    limits::check("the permission mode", mode.len(), limits::NAME)?;
    limits::check("the model", new.model.as_ref().map_or(0, String::len), limits::NAME)?;
    let project = directory(app, caller, new.cwd.as_deref())?;
    let policy = new.policy.unwrap_or_default();
    policy.check()?;
    let environment = environment(caller, new.environment.unwrap_or_default())?;
    if let Some(program) = &agent.program {
        let path = environment.get("PATH").map(String::as_str).or_else(|| app.processes.variable("PATH"));
        if program.find(path).is_none() {
            let detail = program.missing(&agent.name);
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::AgentNotInstalled, detail));
        }
    }
    let project_text = project.to_string_lossy().into_owned();
    let looked = tokio::task::spawn_blocking(move || look_at(&project)).await;
    let (project_policy, branch) = looked.unwrap_or_default();
    let now = app.clock.now();
    let id = SessionId::new(now, entropy::id());
    let connection = ConnectionId::new(now, entropy::id());
    // Where the policy rejects every question, an agent that can be told so need not ask.
    let questions = policy.questions.policy != Some(QuestionPolicy::Reject);
    let prompt = new.prompt.filter(|prompt| !prompt.trim().is_empty());
    let session = Session {
        id,
        connection,
        agent: agent.name.clone(),
        title: prompt.as_deref().map(title_of).unwrap_or_default(),
        project: project_text.clone(),
        branch,
        status: SessionStatus::Running,
        permission_mode: mode.clone(),
        model: new.model.clone(),
        policy,
        project_policy,
        external: None,
        step: None,
        labels,
        opened_by: Some(caller.token),
        created_at: now,
        updated_at: now,
    };
    let block = prompt.clone().map(|text| Block {
        id: BlockId::new(now, entropy::id()),
        at: now,
        subagent: None,
        body: BlockBody::Message { role: Speaker::User, text },
    });
    let command =
        Command::Start { session: id, project: project_text, prompt, permission_mode: mode, model: new.model, questions };
    let create = CreateSession {
        workspace: caller.workspace,
        connection: Connection {
            id: connection,
            kind: agent.kind(),
            agent: agent.name.clone(),
            epoch: Epoch(1),
            position: Position(0),
            process: None,
            state: None,
            wake_at: None,
        },
        announced: Raw::of(&ApiSession::of(&session, 0)),
        session,
        command: Raw::of(&command),
        prompt: block,
        key,
    };
    // The agent may be launched before this call has its reply.
    app.processes.keep_variables(connection, environment);
    let created = app.store.write(create).await;
    if !matches!(created, Ok(Once::Done(_))) {
        app.processes.forget_variables(connection);
    }
    match created? {
        Once::Done(session) | Once::Before(session) => Ok(ApiSession::of(&session, 0)),
        Once::Reused => Err(ApiError::key_reused()),
    }
}

/// The caller's variables that an agent gets. `PATH` says which programs run, so only an admin may
/// send any.
pub(crate) fn environment(caller: &Caller, sent: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, ApiError> {
    if !sent.is_empty() && caller.role != Role::Admin {
        return Err(ApiError::new(StatusCode::FORBIDDEN, ErrorCode::Forbidden, "only an admin token may send `environment`"));
    }
    limits::check("the number of variables", sent.len(), environment::MOST)?;
    for value in sent.values() {
        limits::check("a variable", value.len(), environment::VALUE)?;
    }
    Ok(sent.into_iter().filter(|(name, value)| environment::passes(name) && !value.contains('\0')).collect())
}

/// A token that sees only some labels starts sessions only with them.
pub(crate) fn scoped_labels(
    caller: &Caller,
    mut labels: sayso_core::session::Labels,
) -> Result<sayso_core::session::Labels, ApiError> {
    limits::check("the number of labels", labels.len(), limits::LABELS)?;
    for (key, value) in &labels {
        limits::check("a label", key.len().max(value.len()), limits::LABEL)?;
    }
    match &caller.scope {
        Scope::All | Scope::OpenedBy { .. } => {}
        Scope::Labels { labels: own } => labels.extend(own.clone()),
        Scope::Session { .. } => return Err(ApiError::forbidden()),
    }
    Ok(labels)
}

/// The directory to work in: absolute, there, and inside a configured root unless an admin says so.
pub(crate) fn directory(app: &App, caller: &Caller, wanted: Option<&str>) -> Result<PathBuf, ApiError> {
    let refused = |detail: String| ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::DirectoryNotAllowed, detail);
    let home = app.home.clone().unwrap_or_else(|| "/".to_owned());
    let wanted = wanted.filter(|cwd| !cwd.is_empty()).unwrap_or(&home);
    let expand = |path: &str| match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let path = PathBuf::from(expand(wanted));
    if !path.is_absolute() {
        return Err(refused("cwd is an absolute path".to_owned()));
    }
    let shown = limits::head(wanted, 200).to_owned();
    let real =
        path.canonicalize().ok().filter(|real| real.is_dir()).ok_or_else(|| refused(format!("{shown} is not a directory")))?;
    if caller.role == Role::Admin {
        return Ok(real);
    }
    let mut roots: Vec<PathBuf> = app.config.roots.iter().map(|root| PathBuf::from(expand(root))).collect();
    if roots.is_empty() {
        roots.push(PathBuf::from(&home));
    }
    let inside = roots.iter().filter_map(|root| root.canonicalize().ok()).any(|root| real.starts_with(root));
    if inside { Ok(real) } else { Err(refused(format!("{shown} is outside the directories that config.toml names as roots"))) }
}

/// What the project says: its policy file and its branch.
pub(crate) fn look_at(project: &FsPath) -> (Option<String>, Option<String>) {
    let file = PathBuf::from(project_file(&project.to_string_lossy()));
    let small = std::fs::metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_PROJECT_POLICY);
    let policy = small.then(|| std::fs::read_to_string(&file).ok()).flatten();
    let head = project.ancestors().find_map(|dir| std::fs::read_to_string(dir.join(".git/HEAD")).ok());
    let branch = head.and_then(|head| head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned));
    (policy, branch)
}

/// List sessions, newest first.
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(SessionQuery),
    responses((status = 200, body = SessionPage), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<SessionQuery>,
) -> Result<Json<SessionPage>, ApiError> {
    let caller = authorized.may(Permission::Read)?;
    let wanted = ListSessions {
        workspace: caller.workspace,
        scope: caller.scope.clone(),
        open_only: query.open == Some(true),
        label: label(query.label.as_deref())?,
        id_ends_with: query.id_ends_with.map(|suffix| suffix.to_ascii_lowercase()),
        limit: page_size(query.limit)?,
        after: place(query.cursor.as_deref())?,
    };
    let page = app.store.read(wanted).await?;
    Ok(Json(SessionPage {
        data: page.rows.iter().map(|(session, pending)| ApiSession::of(session, *pending)).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
        seq: page.seq,
    }))
}

/// Read one session with its pending asks.
#[utoipa::path(get, path = "/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiSession>, ApiError> {
    let caller = authorized.may(Permission::Read)?;
    Ok(Json(detail(&find(&app, caller, &id).await?)))
}

/// Say something to the agent. It answers the one open question, or it is a prompt.
#[utoipa::path(post, path = "/v1/sessions/{id}/messages", tag = "sessions", params(("id" = String, Path)), request_body = MessageRequest,
    responses((status = 202, body = MessageAccepted), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn message(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    body: JsonBody<MessageRequest>,
) -> Result<Response, ApiError> {
    let key = body.key(&authorized.caller);
    let accepted = say(&app, &authorized, authorized.via(), &id, body.value, key).await?;
    Ok((StatusCode::ACCEPTED, Json(accepted)).into_response())
}

/// Says something to the agent, whatever the door.
pub(crate) async fn say(
    app: &App,
    authorized: &Authorized,
    via: &str,
    id: &str,
    message: MessageRequest,
    key: Option<IdempotencyKey>,
) -> Result<MessageAccepted, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let session = session_id(id)?;
    let MessageRequest { text, if_pending } = message;
    if text.trim().is_empty() {
        return Err(ApiError::invalid("text is empty"));
    }
    limits::check("the message", text.len(), MAX_MESSAGE)?;
    let now = app.clock.now();
    let block = Block {
        id: BlockId::new(now, entropy::id()),
        at: now,
        subagent: None,
        body: BlockBody::Message { role: Speaker::User, text: text.clone() },
    };
    let found = find(app, caller, id).await?;
    let typed = app.agents.get(&found.session.agent).map(|agent| agent.capabilities.typed).unwrap_or_default();
    let by = Actor::Message { name: caller.name.clone(), via: via.to_owned(), token: caller.token, message: block.id };
    let send = SendMessage {
        workspace: caller.workspace,
        session,
        scope: caller.scope.clone(),
        block,
        command: Raw::of(&Command::Prompt { session, text: text.clone() }),
        text,
        by,
        queue: if_pending == IfPending::Queue,
        typed,
        now,
        key,
    };
    let (message_id, answered) = match app.store.write(send).await? {
        Sent::Prompt(block) => (block, None),
        Sent::Answered(block, ask) => (block, Some(shown(&ask))),
        Sent::Pending(asks) => return Err(ApiError::pending(&asks)),
        Sent::External => return Err(ApiError::external()),
        Sent::Ended => return Err(ApiError::session_ended()),
        Sent::NotFound => return Err(ApiError::no_session()),
        Sent::KeyReused => return Err(ApiError::key_reused()),
    };
    Ok(MessageAccepted { message_id: message_id.to_string(), answered })
}

/// What the transcript of a step says when a person stops its turn; its run reads it there, also after a restart.
fn interrupted(app: &App, caller: &Caller, session: SessionId) -> SayNotice {
    let now = app.clock.now();
    let body = BlockBody::Notice { text: texts::WITHDRAWN_INTERRUPTED.to_owned() };
    let block = Block { id: BlockId::new(now, entropy::id()), at: now, subagent: None, body };
    SayNotice { workspace: caller.workspace, session: Some(session), data: Raw::of(&block), block }
}

async fn command(app: &App, authorized: &Authorized, id: &str, kind: SessionCommand) -> Result<Json<ApiSession>, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let found = find(app, caller, id).await?;
    let session = found.session.id;
    let command = match kind {
        SessionCommand::Interrupt => Command::Interrupt { session },
        SessionCommand::Close => Command::Close { session },
        SessionCommand::Resume => connection::resume(&found.session),
    };
    let wanted = CommandSession {
        workspace: caller.workspace,
        session,
        scope: caller.scope.clone(),
        command: Raw::of(&command),
        kind,
        said: (kind == SessionCommand::Interrupt && found.session.step.is_some()).then(|| interrupted(app, caller, session)),
        now: app.clock.now(),
    };
    match app.store.write(wanted).await? {
        Commanded::Queued(session) => Ok(Json(ApiSession::of(&session, u32::try_from(found.pending.len()).unwrap_or(u32::MAX)))),
        Commanded::External => Err(ApiError::external()),
        Commanded::Ended => Err(ApiError::session_ended()),
        Commanded::NotResumable => Err(ApiError::new(
            StatusCode::CONFLICT,
            ErrorCode::NotResumable,
            "the session is not over, or its agent cannot take it up again",
        )),
        Commanded::NotFound => Err(ApiError::no_session()),
    }
}

/// Stop the current turn.
#[utoipa::path(post, path = "/v1/sessions/{id}/interrupt", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn interrupt(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiSession>, ApiError> {
    command(&app, &authorized, &id, SessionCommand::Interrupt).await
}

/// Take up a session that is over.
#[utoipa::path(post, path = "/v1/sessions/{id}/resume", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiSession>, ApiError> {
    command(&app, &authorized, &id, SessionCommand::Resume).await
}

/// End a session.
#[utoipa::path(delete, path = "/v1/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = ApiSession), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn close(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiSession>, ApiError> {
    command(&app, &authorized, &id, SessionCommand::Close).await
}
