//! The policy: reading it, explaining it, and what is set by hand.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_api::error::{ErrorCode, Problem};
use sayso_api::policy::{
    ActiveProfile, ExplainRequest, Explained, Explanation, Grant, NewGrant, PolicyView, SetPolicy, SetProfile, TrustRequest,
    Trusted,
};
use sayso_core::ask::{Ask, Decision};
use sayso_core::id::GrantId;
use sayso_core::policy::{self, Policy, Subject, Verdict, project_hash};
use sayso_core::raw::Raw;
use sayso_core::time::{Span, Time};
use sayso_store::EventKind;
use sayso_store::read::{GetAsk, GetSession, ListAsks, StatusFilter};
use sayso_store::write::{AddGrant, Announce, Once, PutSetting, RemoveGrant, TrustProject};

use super::asks::ask_id;
use super::{ApiError, Authorized, JsonBody};
use crate::app::{App, shown};
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::policies::{self, NotWritten, PROFILE, SessionScope, project_file};

fn span(what: &str, text: &str) -> Result<Span, ApiError> {
    text.parse().map_err(|error| ApiError::invalid(format!("{what}: {error}")))
}

fn view(app: &App) -> PolicyView {
    app.policies.reload();
    let in_force = app.policies.in_force();
    let now = app.clock.now();
    let is_on = |until: Option<Time>| until.is_none_or(|until| now < until);
    PolicyView {
        path: app.policies.path().display().to_string(),
        text: in_force.text.clone(),
        error: in_force.error.as_ref().map(ToString::to_string),
        fingerprint: app.policies.set(None, None).fingerprint(),
        text_fingerprint: project_hash(&in_force.text),
        profile: in_force
            .profile
            .as_ref()
            .filter(|profile| is_on(profile.until))
            .map(|p| ActiveProfile { name: p.name.clone(), until: p.until }),
        grants: in_force.grants.iter().filter(|grant| is_on(grant.until)).cloned().map(shown_grant).collect(),
    }
}

fn shown_grant(grant: policy::Grant) -> Grant {
    let policy::Grant { id, run, edit, read, fetch, mcp, tool, agent: _, project, until } = grant;
    Grant { id: id.to_string(), run, edit, read, fetch, mcp, tool, project, until }
}

/// Says on the feed that another policy is in force.
pub(crate) async fn announce(app: &App) -> Result<(), ApiError> {
    let fingerprint = app.policies.set(None, None).fingerprint();
    let data = Raw::of(&serde_json::json!({ "fingerprint": fingerprint, "valid": app.policies.in_force().error.is_none() }));
    let announce =
        Announce { workspace: sayso_store::WorkspaceId::MAIN, kind: EventKind::PolicyChanged, data, now: app.clock.now() };
    app.store.write(announce).await?;
    Ok(())
}

/// Read the policy in force.
#[utoipa::path(get, path = "/v1/policy", tag = "policy",
    responses((status = 200, body = PolicyView), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<PolicyView>, ApiError> {
    authorized.may(Permission::Read)?;
    Ok(Json(view(&app)))
}

/// Write another text into the policy file. It is in force at once.
///
/// A text that cannot be used is refused with its place, and the file stays as it is. So it does when somebody else wrote
/// it meanwhile: read it again then.
#[utoipa::path(put, path = "/v1/policy", tag = "policy", request_body = SetPolicy,
    responses((status = 200, body = PolicyView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<SetPolicy>,
) -> Result<Json<PolicyView>, ApiError> {
    authorized.may(Permission::Administer)?;
    let SetPolicy { text, if_fingerprint } = body.value;
    let policies = Arc::clone(&app);
    let written = tokio::task::spawn_blocking(move || policies.policies.write(text, &if_fingerprint)).await;
    written.unwrap_or_else(|stopped| Err(NotWritten::File(stopped.into()))).map_err(|error| match error {
        NotWritten::Invalid(error) => error.into(),
        NotWritten::Changed => {
            let again = "the policy file changed meanwhile; nothing was written. Read it again and bring your change into it";
            ApiError::new(StatusCode::CONFLICT, ErrorCode::PolicyChanged, again)
        }
        NotWritten::File(error) => {
            tracing::error!(%error, "policy.toml was not written");
            let path = app.policies.path().display();
            let detail = format!("{path} cannot be written: {error}; nothing changed");
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, detail)
        }
    })?;
    announce(&app).await?;
    Ok(Json(view(&app)))
}

/// Allow something for a while.
#[utoipa::path(post, path = "/v1/policy/grants", tag = "policy", request_body = NewGrant,
    responses((status = 201, body = Grant), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn grant(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewGrant>,
) -> Result<(StatusCode, Json<Grant>), ApiError> {
    let caller = authorized.may(Permission::Administer)?;
    let key = body.key(caller);
    let new = body.value;
    let now = app.clock.now();
    let until = match (&new.for_, new.until) {
        (Some(text), None) => now.plus(span("for", text)?.0),
        (None, Some(until)) if now < until => until,
        (None, Some(_)) => return Err(ApiError::invalid("until is over already")),
        (None, None) | (Some(_), Some(_)) => return Err(ApiError::invalid("a grant ends: say for or until, one of them")),
    };
    let NewGrant { run, edit, read, fetch, mcp, tool, project, .. } = new;
    let id = GrantId::new(now, entropy::id());
    let grant = policy::Grant { run, edit, read, fetch, mcp, tool, project, ..policy::Grant::new(id, Some(until)) };
    grant.check()?;
    let add = AddGrant { workspace: caller.workspace, id, until: grant.until, data: Raw::of(&grant), now, key };
    let id = match app.store.write(add).await? {
        Once::Done(id) => {
            app.policies.refresh(&app.store).await?;
            announce(&app).await?;
            id
        }
        Once::Before(id) => id,
        Once::Reused => return Err(ApiError::key_reused()),
    };
    let made = app.policies.in_force().grants.iter().find(|made| made.id == id).cloned();
    Ok((StatusCode::CREATED, Json(shown_grant(made.unwrap_or(policy::Grant { id, ..grant })))))
}

/// Take a grant back. It ends at once.
#[utoipa::path(delete, path = "/v1/policy/grants/{id}", tag = "policy", params(("id" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let caller = authorized.may(Permission::Administer)?;
    let missing = || ApiError::not_found("no such grant; it may have been taken back already");
    let remove = RemoveGrant { workspace: caller.workspace, id: id.parse().map_err(|_| missing())? };
    if !app.store.write(remove).await? {
        return Err(missing());
    }
    app.policies.refresh(&app.store).await?;
    announce(&app).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Switch a profile on or off.
#[utoipa::path(put, path = "/v1/policy/profile", tag = "policy", request_body = SetProfile,
    responses((status = 200, body = PolicyView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn profile(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<SetProfile>,
) -> Result<Json<PolicyView>, ApiError> {
    let caller = authorized.may(Permission::Administer)?;
    let value = match body.value {
        SetProfile { name: None, .. } => None,
        SetProfile { name: Some(name), for_ } => {
            let until = for_.map(|text| span("for", &text)).transpose()?.map(|span| app.clock.now().plus(span.0));
            app.policies.reload();
            // A profile that the file does not have is refused now, not when it is needed.
            app.policies.set(None, None).with_profile(&name, until)?;
            Some(Raw::of(&policies::ActiveProfile { name, until }))
        }
    };
    app.store.write(PutSetting { workspace: caller.workspace, key: PROFILE, value }).await?;
    app.policies.refresh(&app.store).await?;
    announce(&app).await?;
    Ok(Json(view(&app)))
}

/// Trust a project's `.sayso.toml` as it is now.
#[utoipa::path(post, path = "/v1/policy/trust", tag = "policy", request_body = TrustRequest,
    responses((status = 200, body = Trusted), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn trust(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<TrustRequest>,
) -> Result<Json<Trusted>, ApiError> {
    let caller = authorized.may(Permission::Administer)?;
    let directory = PathBuf::from(body.value.directory);
    let real = directory.canonicalize().map_err(|_| ApiError::invalid("directory is not there"))?;
    let path = project_file(&real.to_string_lossy());
    let text = std::fs::read_to_string(&path).map_err(|_| ApiError::invalid(format!("{path} cannot be read")))?;
    Policy::parse(&text)?;
    let hash = project_hash(&text);
    let trusted = TrustProject { workspace: caller.workspace, path: path.clone(), hash: hash.clone(), now: app.clock.now() };
    app.store.write(trusted).await?;
    app.policies.refresh(&app.store).await?;
    announce(&app).await?;
    Ok(Json(Trusted { path, hash }))
}

/// Ask what a policy does: to one ask, to what is pending, or to past asks.
#[utoipa::path(post, path = "/v1/policy/explain", tag = "policy", request_body = ExplainRequest,
    responses((status = 200, body = Explanation), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn explain(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<ExplainRequest>,
) -> Result<Json<Explanation>, ApiError> {
    let caller = authorized.may(Permission::Read)?;
    let request = body.value;
    app.policies.reload();
    let candidate = request.policy.as_deref().map(Policy::parse).transpose()?.map(Arc::new);
    let list = |status, limit| ListAsks { status, ..ListAsks::pending(caller.workspace, caller.scope.clone(), limit) };
    let mut asks = Vec::new();
    if let Some(id) = &request.ask_id {
        let find = GetAsk { workspace: caller.workspace, ask: ask_id(id)?, scope: caller.scope.clone() };
        asks.push(app.store.read(find).await?.ok_or_else(ApiError::no_ask)?);
    }
    if request.pending {
        asks.extend(app.store.read(list(StatusFilter::Pending, 1_000)).await?.rows);
    }
    if let Some(count) = request.history {
        if !(1..=1_000).contains(&count) {
            return Err(ApiError::invalid("history is 1 to 1000"));
        }
        asks.extend(app.store.read(list(StatusFilter::Resolved, count as usize)).await?.rows);
    }
    let whole = request.ask_id.is_some();
    let mut data = Vec::with_capacity(asks.len());
    for ask in &asks {
        data.push(explained(&app, caller, ask, candidate.clone(), whole).await?);
    }
    Ok(Json(Explanation { data }))
}

async fn explained(app: &App, caller: &Caller, ask: &Ask, user: Option<Arc<Policy>>, whole: bool) -> Result<Explained, ApiError> {
    let session = match ask.origin.session {
        None => None,
        Some(session) => {
            let find = GetSession { workspace: caller.workspace, session, scope: sayso_core::scope::Scope::All };
            app.store.read(find).await?.map(|found| SessionScope::from(&found.session))
        }
    };
    let set = app.policies.set(session.as_ref(), user);
    let subject = app.policies.subject(&ask.context.agent, ask.context.project.as_deref(), &ask.body);
    let subject = Subject { step: ask.context.step.is_some(), ..subject };
    let explanation = policy::explain(&set, &subject, app.clock.now());
    let (verdict, because) = match &explanation.verdict {
        Verdict::Person(note) => ("ask", note.why.clone().unwrap_or_else(|| "no rule decides it".to_owned())),
        Verdict::Decided { decision, rule } => (
            match decision {
                Decision::Answered { .. } => "answer",
                Decision::Rejected { .. } => "reject",
                Decision::Approved { .. } => "approve",
                Decision::Denied { .. } | Decision::Withdrawn { .. } => "deny",
            },
            rule.clone(),
        ),
    };
    Ok(Explained {
        ask_id: ask.id.to_string(),
        summary: ask.body.summary(),
        status: shown(ask).status,
        verdict: verdict.to_owned(),
        because,
        considered: if whole { serde_json::to_value(&explanation.considered).ok() } else { None },
    })
}
